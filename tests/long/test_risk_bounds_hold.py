"""Certified bounds on several parts, judged on the law that samples are drawn from.

The score s is uniform on [0, 1], the true class has given shares at every s, and an
error of class y has probability r_y(s). With two classes an error predicts the other
one, so that the risk of a predicted class is known in closed form, too. Integrals are
sums over a fine grid, and thresholds between its points are interpolated.
"""

import numpy as np
import pytest

from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import solve_risk_bounds

N_REPETITIONS = 2000
DELTA = 0.1
GRID = (np.arange(20000) + 0.5) / 20000

CURVES = {
    "line": lambda s: 0.15 * s,
    "floor": lambda s: 0.05 + 0.4 * s**2,
    "square": lambda s: s**2,
    "u_shape": lambda s: 0.3 * (2 * s - 0.8) ** 2,
    "bump": lambda s: 0.02 + 0.35 * np.exp(-(((s - 0.25) / 0.06) ** 2)) + 0.3 * s**6,
    # Every threshold breaks the target, but hardly.
    "flat": lambda s: 0.1001 + 0 * s,
}

# Shares of the classes, the curve of each, and the least mean coverage expected with
# random draws at ties.
CASES = {
    "two": ((0.85, 0.15), ("line", "floor"), 0.05),
    "both_hard": ((0.5, 0.5), ("u_shape", "bump"), 0.3),
    "bump_and_floor": ((0.7, 0.3), ("bump", "floor"), 0.01),
    "three": ((0.6, 0.3, 0.1), ("square", "line", "u_shape"), 0.03),
    "flat": ((0.8, 0.2), ("line", "flat"), 0.0),
    "both_flat": ((0.5, 0.5), ("flat", "flat"), 0.0),
    "ten": ((0.15,) * 5 + (0.05,) * 5, ("square",) * 5 + ("line",) * 5, 0.05),
    "ten_equal": ((0.1,) * 10, ("square",) * 8 + ("line", "flat"), 0.0),
}

# Every class has to be large enough for a test.
SIZES = dict.fromkeys(CASES, 1500) | {"ten": 6000, "ten_equal": 6000}


def risks_by_part(shares, curves):
    """Return the mass and the loss up to each point of the grid, by kind and label."""
    parts = {}
    for label, (share, curve) in enumerate(zip(shares, curves, strict=True)):
        wrong = share * CURVES[curve](GRID)
        parts["class", label] = share + 0 * GRID, wrong
    if len(shares) == 2:
        for label in (0, 1):
            mass, wrong = parts["class", label]
            other = parts["class", 1 - label][1]
            parts["prediction", label] = mass - wrong + other, other
    return {
        key: [np.append(0, np.cumsum(sums)) / len(GRID) for sums in pair]
        for key, pair in parts.items()
    }


def true_risk(rule, mass_and_loss, n_groups):
    """Integrate acceptance and loss of a part up to the threshold."""
    points = np.linspace(0, 1, len(GRID) + 1)
    mass, loss = (
        lambda s, sums=sums: np.interp(s, points, sums) for sums in mass_and_loss
    )
    below = min(rule.threshold, 1.0)
    above = below if n_groups is None else min(below + 1 / n_groups, 1.0)
    share = rule.proba_at_threshold
    covered = mass(below) + share * (mass(above) - mass(below))
    return (loss(below) + share * (loss(above) - loss(below))) / covered


def draw_sample(rng, n_samples, shares, curves, n_groups):
    s = rng.random(n_samples)
    y = rng.choice(len(shares), n_samples, p=shares)
    chance = np.choose(y, [CURVES[curve](s) for curve in curves])
    wrong = (rng.random(n_samples) < chance).astype(float)
    scores = s if n_groups is None else np.floor(n_groups * s) / n_groups
    return scores, wrong, y


def rates(
    case, n_samples, *, kinds=("class",), n_groups=None, max_loss=None, **options
):
    """Return how often any bound is exceeded, and the mean coverage."""
    shares, curves, _ = CASES[case]
    risks = risks_by_part(shares, curves)
    rng, source = np.random.default_rng(0), np.random.RandomState(0)
    targets = dict.fromkeys(range(len(shares)), 0.1)
    violations, coverage = 0, 0.0
    for _ in range(N_REPETITIONS):
        scores, wrong, y = draw_sample(rng, n_samples, shares, curves, n_groups)
        labels = {"class": y, "prediction": np.where(wrong, 1 - y, y)}
        losses = wrong
        if max_loss is not None:  # losses between, of the same mean
            losses = wrong * rng.choice([0.5, 1.5], n_samples)
        try:
            rule = solve_risk_bounds(
                scores,
                losses,
                {kind: (labels[kind], targets) for kind in kinds},
                confidence_level=1 - DELTA,
                random_state=source,
                max_loss=max_loss,
                **options,
            )
        except InfeasibleTargetError:
            continue
        coverage += rule.coverage
        violations += any(
            true_risk(rule, sums, n_groups) > 0.1 * (1 + 1e-6)
            for (kind, _), sums in risks.items()
            if kind in kinds
        )
    return violations / N_REPETITIONS, coverage / N_REPETITIONS


@pytest.fixture(autouse=True)
def no_search_for_the_smallest_factor(monkeypatch):
    """Spare the time for the text of an error that nobody reads here."""
    monkeypatch.setattr("sklearn_reject.selection._certify_parts._N_HALVINGS", 0)


def assert_kept(rate):
    assert rate <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / N_REPETITIONS)


TIES = [(None, True), (10, True), (10, False)]


@pytest.mark.parametrize(("n_groups", "randomize"), TIES)
@pytest.mark.parametrize("case", CASES)
def test_true_classes(case, n_groups, randomize):
    rate, coverage = rates(case, SIZES[case], n_groups=n_groups, randomize=randomize)
    print(f"{case}, {n_groups} groups: violations {rate}, coverage {coverage:.3f}")
    assert_kept(rate)
    assert coverage >= CASES[case][2] or not randomize


@pytest.mark.parametrize(("n_groups", "randomize"), TIES)
@pytest.mark.parametrize("case", [c for c in CASES if len(CASES[c][0]) == 2])
def test_precision_and_recall(case, n_groups, randomize):
    kinds = "class", "prediction"
    rate, coverage = rates(
        case, 1500, kinds=kinds, n_groups=n_groups, randomize=randomize
    )
    print(f"{case}, {n_groups} groups: violations {rate}, coverage {coverage:.3f}")
    assert_kept(rate)
    assert coverage > 0.2 or case != "both_hard" or not randomize


@pytest.mark.parametrize("bound", ["hoeffding_bentkus", "betting"])
@pytest.mark.parametrize("case", ["two", "both_hard", "both_flat"])
def test_bounded_losses(case, bound):
    rate, coverage = rates(case, 1500, bound=bound, max_loss=1.5)
    print(f"{case}, {bound}: violations {rate}, coverage {coverage:.3f}")
    assert_kept(rate)


@pytest.mark.parametrize("case", ["two", "bump_and_floor", "both_flat"])
def test_small_and_large_samples(case):
    for n_samples in (200, 6000):
        rate, coverage = rates(case, n_samples)
        print(f"{case}, {n_samples} samples: {rate}, coverage {coverage:.3f}")
        assert_kept(rate)
