"""TPR, FPR and risk that were certified hold for the population, all of them together.

Scores are uniform, so that what a threshold does to the population is known exactly.
"""

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_reject.selection import (
    DoubleScoreRule,
    InfeasibleTargetError,
    certify_double_score,
)

N_REPETITIONS = 2000
DELTA = 0.1
SUM = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=1.0
)

# ID scores are uniform on [0, 1], OOD scores on [OFFSET, 1 + OFFSET].
OFFSET = 0.5  # on the grid of the ties

# Share of OOD samples among wild ones.
WILD_SHARE = 0.6


def population(rule, n_levels):
    """Return TPR, FPR and risk of a rule; the risk at score s is s / 2."""
    if n_levels is None:
        t = min(rule.threshold, 1.0)
        return t, max(0.0, t - OFFSET), t / 4
    levels = np.arange(n_levels) / n_levels
    accepted = np.where(levels < rule.threshold, 1.0, 0.0)
    accepted[np.isclose(levels, rule.threshold)] = rule.proba_at_threshold
    of_ood = np.where(levels < OFFSET, 0.0, accepted).sum() / n_levels
    return accepted.mean(), of_ood, (accepted * levels / 2).sum() / accepted.sum()


def draw(rng, n_id, n_ood, n_levels):
    scores = np.concatenate([rng.random(n_id), OFFSET + rng.random(n_ood)])
    if n_levels is not None:
        scores = np.floor(scores * n_levels) / n_levels
    is_ood = np.arange(n_id + n_ood) >= n_id
    return scores, rng.random(len(scores)) < scores / 2, is_ood


def make_wild(rng, scores, is_ood, n_levels):
    """Put scores of ID samples in the place of some of those flagged as OOD."""
    of_id = is_ood & (rng.random(len(scores)) >= WILD_SHARE)
    scores[of_id] = draw(rng, of_id.sum(), 0, n_levels)[0]


@pytest.mark.parametrize("n_levels", [None, 10], ids=["distinct", "ties"])
@pytest.mark.parametrize(
    ("n_id", "n_ood", "wild_share"),
    [(60, 40, None), (400, 400, None), (400, 800, WILD_SHARE)],
)
@pytest.mark.parametrize("asked", [{"max_fpr": 0.25}, {"max_risk": 0.25}], ids=str)
def test_all_bounds_hold_together(asked, n_id, n_ood, wild_share, n_levels):
    bounds = {"min_tpr": 0.6, "wild_share": wild_share} | asked
    rng = np.random.default_rng(n_id)
    n_broken = n_certified = 0
    for _ in range(N_REPETITIONS):
        scores, losses, is_ood = draw(rng, n_id, n_ood, n_levels)
        if wild_share is not None:
            make_wild(rng, scores, is_ood, n_levels)
        try:
            rule = certify_double_score(
                SUM,
                scores,
                np.zeros(len(scores)),
                losses,
                is_ood,
                confidence_level=1 - DELTA,
                random_state=rng.integers(2**31),
                **bounds,
            )
        except InfeasibleTargetError:
            continue
        n_certified += 1
        tpr, fpr, risk = population(rule, n_levels)
        certificate = rule.certificate
        broken = fpr > certificate.max_fpr or risk > certificate.max_risk
        n_broken += broken or tpr < certificate.min_tpr
    assert n_certified > N_REPETITIONS / 20
    assert n_broken <= binom.ppf(0.999, N_REPETITIONS, DELTA)
