"""The rejection models with OOD samples, solved for one score (FPP23)."""

import numpy as np

from sklearn_reject._validation import check_option
from sklearn_reject.curves._origins import check_origin_samples, group_origins_validated
from sklearn_reject.selection._best_prefix import find_threshold, threshold_and_nu
from sklearn_reject.selection._ood_model import check_model
from sklearn_reject.selection._ood_rule import SingleScoreRule


def tune_single_score(
    scores,
    losses,
    is_ood,
    *,
    min_tpr=None,
    max_fpr=None,
    min_precision=None,
    min_recall=None,
    costs=None,
    ood_prior=None,
    randomize=True,
    sample_weight=None,
):
    """Find the best threshold of one score for ID and OOD samples.

    Solves one of three models (FPP23): least selective risk at a bounded TPR and FPR,
    least selective risk at a bounded precision and recall, or least expected cost. All
    thresholds are compared. Of equally good ones the one of the largest TPR is taken,
    then of the smallest FPR.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores, higher = rejected first. Minus infinity is always accepted, infinity
        never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution. Without any such sample the FPR is
        zero.

    min_tpr : float in ]0, 1], default=None
        Least share of the ID samples to accept.

    max_fpr : float in [0, 1], default=None
        Largest share of the OOD samples to accept, beside `min_tpr`. None for no bound.

    min_precision : float in ]0, 1], default=None
        Least share of ID samples among the accepted ones. Needs `min_recall` and
        `ood_prior`.

    min_recall : float in ]0, 1], default=None
        Least share of the ID samples to accept, beside `min_precision`.

    costs : tuple of three floats >= 0, default=None
        Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting one,
        in units of the loss. The second must be above the third. Needs `ood_prior`.

    ood_prior : float in [0, 1[, default=None
        Share of OOD samples in use, which may differ from that in the tuning sample.

    randomize : bool, default=True
        Whether samples at the threshold may be accepted with a probability between 0
        and 1, which then meets a bound exactly. If False, ties are accepted together.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    rule : SingleScoreRule
        The rule, with what it achieves on the sample.

    Raises
    ------
    InfeasibleTargetError
        If no threshold meets both bounds. Its `attainable` says how far each can be met
        while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range or an array
        invalid, or there is no ID sample.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_single_score
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> losses, is_ood = [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]
    >>> rule = tune_single_score(scores, losses, is_ood, min_tpr=0.75, max_fpr=0.5)
    >>> rule.threshold, rule.tpr, rule.fpr, round(rule.selective_risk, 3)
    (0.4, 0.75, 0.5, 0.333)
    """
    model, ood_prior = check_model(
        min_tpr, max_fpr, min_precision, min_recall, costs, ood_prior
    )
    check_option(randomize, "randomize", (True, False))
    sample = check_origin_samples(scores, losses, is_ood, sample_weight)
    groups = group_origins_validated(*sample)

    largest = groups.scores[-1] if len(groups) else -np.inf

    def solve(problem):
        cut = find_threshold(groups, problem, randomize)
        if cut is None:
            return None
        threshold, nu = threshold_and_nu(cut, largest)
        rule = SingleScoreRule(threshold=threshold, nu=nu, ood_prior=ood_prior)
        return rule.measure(*sample[:3], sample_weight=sample[3])

    totals = groups.total_id, groups.total_ood
    rule = solve(model.problem(*totals))
    if rule is None:
        raise model.infeasible(solve, *totals)
    return rule
