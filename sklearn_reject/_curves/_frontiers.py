"""What the best of all thresholds attains, for one score or for two together."""

import numpy as np

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._curves._ood import check_ood_prior, precisions
from sklearn_reject._curves._origins import gather_samples
from sklearn_reject._validation import check_number

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
