"""A population of few distinct rows, each with a key of its own, so that rows repeat.

Score and draw of a row are the same at calibration and in use. So what a rule accepts
of the population follows from the rows, and a certificate either holds or does not.
"""

import numpy as np

from sklearn_reject.selection import (
    DoubleScoreRule,
    InfeasibleTargetError,
    certify_double_score,
    keyed_draws,
    solve_target_coverage,
    solve_target_risk,
)

N_SAMPLES = 400
TARGET_RISK, TARGET_COVERAGE, MIN_TPR, MAX_FPR = 0.1, 0.7, 0.6, 0.3
SUM = DoubleScoreRule(threshold=0.0, proba_at_threshold=1.0, novelty_weight=1.0)

# Score, chance of an error, and share of ID and OOD samples of each row. Most rows tie
# with others, and the risk passes the target in the middle of a tie group.
ROWS = {
    "one_group": ([1] * 6, [0, 0, 0.1, 0.2, 0.5, 0.9]),
    "groups": ([1, 1, 1, 2, 2, 2, 2, 3], [0, 0.1, 0, 0.1, 0.2, 0.3, 0.5, 0.9]),
    "not_monotone": ([1, 1, 2, 2, 2, 3, 3], [0.2, 0.1, 0, 0, 0, 0.02, 0.4]),
    # All thresholds break the target, but hardly.
    "flat": ([1, 1, 1, 2, 2, 2], [0.1001] * 6),
}


def _draw_rows(rng, name):
    scores, chances = (np.array(column, float) for column in ROWS[name])
    return scores, chances, keyed_draws(rng.integers(2**63), np.arange(len(scores)))


def risk_is_broken(rng, name, **options):
    """Tell if a certified risk is, None if nothing can be certified."""
    scores, chances, draws = _draw_rows(rng, name)
    rows = rng.integers(0, len(scores), N_SAMPLES)
    losses = (rng.random(N_SAMPLES) < chances[rows]).astype(float)
    options = {
        "confidence_level": 0.8,
        "draws": draws[rows],
        "random_state": 0,
    } | options
    try:
        rule = solve_target_risk(scores[rows], losses, TARGET_RISK, **options)
    except InfeasibleTargetError:
        return None
    accepted = rule.accept(scores, draws=draws)
    return bool(accepted.any() and chances[accepted].mean() > TARGET_RISK)


def coverage_is_broken(rng, name):
    """Tell if a certified coverage is."""
    scores, chances, draws = _draw_rows(rng, name)
    rows = rng.integers(0, len(scores), N_SAMPLES)
    rule = solve_target_coverage(
        scores[rows],
        chances[rows],
        TARGET_COVERAGE,
        confidence_level=0.8,
        draws=draws[rows],
    )
    return bool(rule.accept(scores, draws=draws).mean() < TARGET_COVERAGE)


def double_is_broken(rng, name):
    """Tell if any of a certified TPR, FPR and risk is, None if nothing is certified."""
    scores, chances, draws = _draw_rows(rng, name)
    # OOD samples more often are the rows of high score and draw.
    order = np.lexsort((draws, scores))
    of_ood = np.empty(len(scores))
    of_ood[order] = np.linspace(0.2, 1.8, len(scores)) ** 3
    of_ood /= of_ood.sum()
    rows = np.append(
        rng.integers(0, len(scores), N_SAMPLES),
        rng.choice(len(scores), N_SAMPLES, p=of_ood),
    )
    is_ood = np.arange(2 * N_SAMPLES) >= N_SAMPLES
    losses = (rng.random(len(rows)) < chances[rows]).astype(float)
    try:
        rule = certify_double_score(
            SUM,
            scores[rows],
            np.zeros(len(rows)),
            losses,
            is_ood,
            min_tpr=MIN_TPR,
            max_fpr=MAX_FPR,
            confidence_level=0.8,
            draws=draws[rows],
        )
    except InfeasibleTargetError:
        return None
    accepted = rule.accept(scores, np.zeros(len(scores)), draws=draws)
    return bool(
        accepted.mean() < MIN_TPR
        or of_ood[accepted].sum() > MAX_FPR
        or chances[accepted].mean() > rule.certificate.max_risk
    )


def assert_holds(is_broken, n_repetitions, *args, delta=0.2, certified=0.0, **options):
    """Repeat, and compare the rate of violations with the level."""
    rng = np.random.default_rng(0)
    found = [is_broken(rng, *args, **options) for _ in range(n_repetitions)]
    rate = sum(broken is True for broken in found) / n_repetitions
    assert rate <= delta + 3 * np.sqrt(delta * (1 - delta) / n_repetitions)
    assert sum(broken is not None for broken in found) >= certified * n_repetitions
