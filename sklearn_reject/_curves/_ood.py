"""Curves and areas of samples of two kinds: ROC, PR, frontiers, and PN.

They are in or out of distribution or, on a PN curve, rated positive or negative.
"""

import numpy as np
from scipy.integrate import trapezoid
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._curves._origins import (
    MARK_OOD,
    check_positive,
    gather_samples,
    group_origins_validated,
)
from sklearn_reject._validation import (
    check_flags,
    check_number,
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
)
from sklearn_reject.exceptions import warn_user


def ood_roc_curve(scores, is_ood, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.ood_roc_curve`.

    Of scores that may be infinite and flags, both of shape (n_samples,).
    """
    groups = _group_one_score(scores, is_ood, sample_weight, "a ROC curve")
    thresholds = np.append(-np.inf, groups.scores)
    rules = slice(groups.n_always, None)
    return (
        groups.false_positive_rates[rules],
        groups.true_positive_rates[rules],
        thresholds[rules],
    )


def ood_precision_recall_curve(scores, is_ood, *, ood_prior, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.ood_precision_recall_curve`."""
    if ood_prior is not None:
        ood_prior = check_ood_prior(ood_prior)
    what = "a precision-recall curve"
    groups = _group_one_score(scores, is_ood, sample_weight, what)
    thresholds = np.append(-np.inf, groups.scores)
    rules = slice(groups.n_always, None)
    precision = precisions(groups, ood_prior)
    return precision[rules], groups.true_positive_rates[rules], thresholds[rules]


def ood_auroc_score(scores, is_ood, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.ood_auroc_score`.

    Scores have shape (n_samples,), or (n_samples, 2): risk and novelty, of which the
    best weighted sum on a grid of directions counts, as in the functions below.
    """
    samples = gather_samples(scores, None, is_ood, sample_weight)
    if not samples.is_ood.any():
        return undefined_without_ood("The area under the ROC curve")
    return float(
        max(
            trapezoid(groups.true_positive_rates, groups.false_positive_rates)
            for groups in samples.rankings()
        )
    )


def ood_aupr_score(scores, is_ood, *, positive, ood_prior=None, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.ood_aupr_score` of one or two columns."""
    check_positive(positive)
    if ood_prior is not None:
        ood_prior = check_ood_prior(ood_prior, open_low=True)
    samples = gather_samples(scores, None, is_ood, sample_weight)
    if not samples.is_ood.any():
        return undefined_without_ood("The area under the precision-recall curve")
    if ood_prior is not None and positive == "ood":
        ood_prior = 1 - ood_prior  # of what is negative then

    def area(groups):
        recall, precision = groups.true_positive_rates, precisions(groups, ood_prior)
        return np.diff(recall) @ precision[1:]

    return float(max(map(area, samples.rankings(positive))))


def fpr_at_tpr_score(scores, is_ood, *, positive, tpr=0.95, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.fpr_at_tpr_score` of one or two columns."""
    check_positive(positive)
    tpr = check_number(tpr, "tpr", high=1.0, open_low=True)
    samples = gather_samples(scores, None, is_ood, sample_weight)
    if not samples.is_ood.any():
        return undefined_without_ood("The false positive rate")

    def rate(groups):
        wanted = tpr * groups.total_id * (1 - RELATIVE_TOLERANCE)
        n_groups = np.searchsorted(groups.accepted_id, wanted)
        return groups.false_positive_rates[n_groups]

    return float(min(map(rate, samples.rankings(positive))))


def check_ood_prior(ood_prior, *, open_low=False):
    """Return the prior as a float in [0, 1[, or ]0, 1[."""
    prior = check_number(ood_prior, "ood_prior", high=1.0, open_low=open_low)
    if prior == 1:
        interval = "]0, 1[" if open_low else "[0, 1["
        raise ValueError(
            f"ood_prior must be in {interval}, got {ood_prior!r}. Without ID samples "
            "there is nothing to accept."
        )
    return prior


def precisions(groups, ood_prior=None):
    """Return the precision of the first 0, 1, ... groups; 1 where they are empty."""
    if ood_prior is None:
        ood_prior = groups.total_ood / (groups.total_id + groups.total_ood)
    right = (1 - ood_prior) * groups.true_positive_rates
    accepted = right + ood_prior * groups.false_positive_rates
    return np.divide(right, accepted, out=np.ones_like(right), where=accepted > 0)


def undefined_without_ood(what):
    """Warn that a value needs OOD samples, and return NaN."""
    warn_user(
        f"{what} is undefined without OOD samples (of positive weight) and is set to "
        f"NaN. {MARK_OOD}",
        UndefinedMetricWarning,
    )
    return float("nan")


def _group_one_score(scores, is_ood, sample_weight, what):
    samples = gather_samples(scores, None, is_ood, sample_weight)
    samples.refuse_without_ood(what)
    return samples.group()


# With two scores and more samples, rates are taken on an even grid of so many steps.
_FINEST = 10_000


def roc_frontier(scores, is_ood, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.roc_frontier` of one or two columns."""
    samples = gather_samples(scores, None, is_ood, sample_weight)
    samples.refuse_without_ood("a ROC frontier")

    def points(groups):
        rules = slice(groups.n_always, None)
        return groups.false_positive_rates[rules], groups.true_positive_rates[rules]

    return _frontier(samples, points)


def precision_recall_frontier(scores, is_ood, *, ood_prior, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.precision_recall_frontier`."""
    samples = gather_samples(scores, None, is_ood, sample_weight)
    samples.refuse_without_ood("a precision-recall frontier")
    prior = samples.ood_share if ood_prior is None else check_ood_prior(ood_prior)

    def points(groups):
        return _of_increasing_cost(groups, precisions(groups, prior))

    cost, precision = _frontier(samples, points)
    return precision[::-1], -cost[::-1]


def risk_coverage_frontier(scores, losses, is_ood, *, max_fpr=1.0, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.risk_coverage_frontier` of losses."""
    max_fpr = check_number(max_fpr, "max_fpr", high=1.0)
    samples = gather_samples(scores, losses, is_ood, sample_weight)
    samples.refuse_without_ood("a bound on the FPR")

    def points(groups):
        # Where nothing is accepted, any value will do: such points are left out.
        accepted = np.where(groups.accepted_id > 0, groups.accepted_id, 1.0)
        return _of_increasing_cost(groups, -groups.accepted_losses / accepted, max_fpr)

    cost, value = _frontier(samples, points)
    return -cost[::-1], 0.0 - value[::-1]  # never -0.0


def _of_increasing_cost(groups, values, max_fpr=1.0):
    """Return the rules that accept ID samples, those of the largest TPR first."""
    tpr, fpr = groups.true_positive_rates, groups.false_positive_rates
    allowed = (tpr > 0) & (fpr <= max_fpr * (1 + RELATIVE_TOLERANCE))
    return -tpr[allowed][::-1], values[allowed][::-1]


def _frontier(samples, points):
    """Return the points, of all directions, that none of less cost is as good as."""
    is_coarse = len(samples.scores) == 2 and len(samples) > _FINEST
    front = np.empty(0), np.empty(0)
    for groups in samples.rules():
        costs, values = points(groups)
        if is_coarse:
            costs = np.ceil(costs * _FINEST - RELATIVE_TOLERANCE * _FINEST) / _FINEST
        front = _keep_best(*map(np.append, front, _keep_best(costs, values)))
    return front


def _keep_best(costs, values):
    """Drop points that another one of at most their cost is as good as.

    Differences that rounding explains do not count.
    """
    if not len(costs):
        return costs, values
    order = np.argsort(costs, kind="stable")  # linear for what is sorted already
    costs, best = costs[order], np.maximum.accumulate(values[order])
    last = np.diff(costs, append=np.inf) > RELATIVE_TOLERANCE
    costs, best = costs[last], best[last]
    gain = np.diff(best, prepend=-np.inf) > RELATIVE_TOLERANCE * abs(best)
    return costs[gain], best[gain]


def pn_curve(scores, is_positive, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.pn_curve` of scores and flags."""
    scores = check_vector(scores, "scores")
    is_positive = check_flags(is_positive, "is_positive")
    check_same_length(scores.size, is_positive=is_positive)
    weight = check_sample_weight(sample_weight, scores.size)
    counted = is_positive if weight is None else is_positive[weight > 0]
    if counted.all() or not counted.any():
        missing = "negative" if counted.all() else "positive"
        raise ValueError(
            f"is_positive is {bool(counted[0])} for all documents (of positive "
            f"weight). At least one {missing} is needed for a PN curve."
        )
    # By increasing negative scores; positives are what is "ID".
    losses = np.broadcast_to(0.0, scores.size)
    groups = group_origins_validated(-scores, losses, ~is_positive, weight)
    thresholds = np.append(np.inf, -groups.scores)
    return groups.accepted_ood, groups.accepted_id, thresholds


def pn_auc_score(
    scores, is_positive, *, max_fp=None, normalize=False, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.pn_auc_score` of scores and flags."""
    check_option(normalize, "normalize", (True, False))
    fp, tp, _ = pn_curve(scores, is_positive, sample_weight=sample_weight)
    positives = tp[-1]
    if max_fp is not None:
        fp, tp = _end_at(fp, tp, max_fp)
    largest = positives * fp[-1] if normalize else 1.0
    return float(trapezoid(tp, fp) / largest)


def _end_at(fp, tp, max_fp):
    """Return the curve up to so many false positives."""
    max_fp = check_number(max_fp, "max_fp", open_low=True)
    if max_fp > fp[-1] * (1 + RELATIVE_TOLERANCE):
        raise ValueError(
            f"max_fp={max_fp:g} is above the weight of all negatives, {fp[-1]:g}, "
            "where the curve ends. Pass a smaller value, or None for the whole area."
        )
    inside = np.searchsorted(fp, max_fp, side="right")
    around = slice(inside - 1, inside + 1)
    height = np.interp(max_fp, fp[around], tp[around])
    return np.append(fp[:inside], min(max_fp, fp[-1])), np.append(tp[:inside], height)
