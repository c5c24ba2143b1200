"""Certificates of summaries hold as often as they say, also with ties and bumps."""

import numpy as np
import pytest

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection import RiskCoverageSummary

REPEATS, DELTA = 2000, 0.1
RISKS = {
    "square": lambda s: s**2,
    "bump": lambda s: np.where((s > 0.2) & (s < 0.3), 0.6, 0.5 * s**2),
    "floor": lambda s: np.full(len(s), 0.15),
}
GRID = (np.arange(200_000) + 0.5) / 200_000


def true_values(risk, rule, ties):
    """Coverage and selective risk of a rule in the population, scores uniform."""
    grid = np.floor(GRID * ties) / ties if ties else GRID
    accepted = rule.accept_proba(grid)
    covered = accepted.mean()
    return covered, (accepted * RISKS[risk](grid)).mean() / max(covered, 1e-300)


@pytest.mark.parametrize("n_bits", [13, 22])
@pytest.mark.parametrize("ties", [0, 40])
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("risk", RISKS)
def test_violations(risk, n, ties, n_bits):
    rng = np.random.default_rng(0)
    known, broken = {}, np.zeros(3)
    for _ in range(REPEATS):
        scores = rng.random(n)
        scores = np.floor(scores * ties) / ties if ties else scores
        losses = (rng.random(n) < RISKS[risk](scores)).astype(float)
        summary = RiskCoverageSummary(n_bits).update(scores, losses)
        for number, name in enumerate(("risk", "coverage", "failure_rate")):
            target = {"risk": 0.1, "coverage": 0.6, "failure_rate": 0.05}[name]
            try:
                rule = getattr(summary, f"solve_target_{name}")(
                    target, confidence_level=1 - DELTA
                )
            except InfeasibleTargetError:
                continue
            key = rule.threshold
            if key not in known:
                known[key] = true_values(risk, rule, ties)
            coverage, true_risk = known[key]
            broken[number] += {
                "risk": coverage > 0 and true_risk > target,
                "coverage": coverage < target,
                "failure_rate": coverage * true_risk > target,
            }[name]
    allowed = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / REPEATS)
    assert (broken / REPEATS <= allowed).all(), broken / REPEATS
