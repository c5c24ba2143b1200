"""What the best of all thresholds attains, for one score or for two together."""

import numpy as np

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._curves._ood import check_ood_prior, precisions
from sklearn_reject._curves._origins import gather_samples
from sklearn_reject._validation import check_number

# With two scores and more samples, rates are taken on an even grid of so many steps.
_FINEST = 10_000


def roc_frontier(scores, is_ood, *, n_angles=361, sample_weight=None):
    """Compute the largest TPR that a threshold reaches at each bound on the FPR.

    For one score these are the upper left corners of its ROC curve, for two scores the
    best of the corners of all their weighted sums: which bounds `min_tpr` and `max_fpr`
    can be met together (FPP23, section 3.2).

    In full: :func:`sklearn_reject.metrics.roc_frontier`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,) or (n_samples, 2)
        Scores, higher = rejected first, or risk and novelty scores in two columns.
        Minus infinity is always accepted, infinity never.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution.

    n_angles : int >= 3, default=361
        Number of directions for two scores.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    fpr : ndarray of shape (n_points,)
        Shares of OOD samples accepted, increasing. With two scores and more than 10,000
        samples rounded up to multiples of 0.0001.

    tpr : ndarray of shape (n_points,)
        Largest share of ID samples accepted, increasing. Between two points the value
        of the first one holds.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import roc_frontier
    >>> risk, novelty = [0.1, 0.4, 0.2, 0.8], [0.3, 0.1, 0.7, 0.4]
    >>> is_ood = [False, False, True, True]
    >>> roc_frontier(risk, is_ood)
    (array([0. , 0.5]), array([0.5, 1. ]))
    >>> roc_frontier(list(zip(risk, novelty)), is_ood)
    (array([0.]), array([1.]))
    """
    samples = gather_samples(scores, None, is_ood, sample_weight)
    samples.refuse_without_ood("a ROC frontier")

    def points(groups):
        rules = slice(groups.n_always, None)
        return groups.false_positive_rates[rules], groups.true_positive_rates[rules]

    return _frontier(samples, n_angles, points)


def precision_recall_frontier(
    scores, is_ood, *, ood_prior, n_angles=361, sample_weight=None
):
    """Compute the largest precision that a threshold reaches at each least recall.

    Recall is the share of the ID samples that are accepted, precision the share of ID
    among what is accepted: which bounds `min_precision` and `min_recall` can be met
    together (FPP23, section 3.3).

    In full: :func:`sklearn_reject.metrics.precision_recall_frontier`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,) or (n_samples, 2)
        Scores, higher = rejected first, or risk and novelty scores in two columns.
        Minus infinity is always accepted, infinity never.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution.

    ood_prior : float in [0, 1[ or None
        Share of OOD that the precision is for. None takes the share in the sample.

    n_angles : int >= 3, default=361
        Number of directions for two scores.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    precision : ndarray of shape (n_points,)
        Largest precision at that recall or more, decreasing. Between two points the
        value of the second one holds.

    recall : ndarray of shape (n_points,)
        Shares of ID samples accepted, positive and increasing. With two scores and more
        than 10,000 samples rounded down to multiples of 0.0001.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import precision_recall_frontier
    >>> scores, is_ood = [0.1, 0.4, 0.2, 0.8], [False, False, True, True]
    >>> precision, recall = precision_recall_frontier(scores, is_ood, ood_prior=0.25)
    >>> precision.round(3), recall
    (array([1.   , 0.857]), array([0.5, 1. ]))
    """
    samples = gather_samples(scores, None, is_ood, sample_weight)
    samples.refuse_without_ood("a precision-recall frontier")
    prior = samples.ood_share if ood_prior is None else check_ood_prior(ood_prior)

    def points(groups):
        return _of_increasing_cost(groups, precisions(groups, prior))

    cost, precision = _frontier(samples, n_angles, points)
    return precision[::-1], -cost[::-1]


def risk_coverage_frontier(
    scores, losses, is_ood, *, max_fpr=1.0, n_angles=361, sample_weight=None
):
    """Compute the least selective risk that a threshold reaches at each least TPR.

    Only thresholds count that accept at most the share `max_fpr` of the OOD samples:
    the points are what the bounded TPR-FPR model can attain (FPP23, section 3.2).

    In full: :func:`sklearn_reject.metrics.risk_coverage_frontier`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,) or (n_samples, 2)
        Scores, higher = rejected first, or risk and novelty scores in two columns.
        Minus infinity is always accepted, infinity never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution.

    max_fpr : float in [0, 1], default=1.0
        Largest share of OOD samples to accept.

    n_angles : int >= 3, default=361
        Number of directions for two scores.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    tpr : ndarray of shape (n_points,)
        Shares of ID samples accepted, positive and increasing; empty where no rule
        keeps `max_fpr`. With two scores and more than 10,000 samples rounded down to
        multiples of 0.0001.

    risk : ndarray of shape (n_points,)
        Least mean loss of accepted ID samples at that TPR or more, increasing. Between
        two points the value of the second one holds.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import risk_coverage_frontier
    >>> scores, losses = [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 0]
    >>> is_ood = [False, True, False, True]
    >>> risk_coverage_frontier(scores, losses, is_ood, max_fpr=0.5)
    (array([0.5, 1. ]), array([0. , 0.5]))
    >>> risk_coverage_frontier(scores, losses, is_ood, max_fpr=0.0)
    (array([0.5]), array([0.]))
    """
    max_fpr = check_number(max_fpr, "max_fpr", high=1.0)
    samples = gather_samples(scores, losses, is_ood, sample_weight)
    samples.refuse_without_ood("a bound on the FPR")

    def points(groups):
        # Where nothing is accepted, any value will do: such points are left out.
        accepted = np.where(groups.accepted_id > 0, groups.accepted_id, 1.0)
        return _of_increasing_cost(groups, -groups.accepted_losses / accepted, max_fpr)

    cost, value = _frontier(samples, n_angles, points)
    return -cost[::-1], 0.0 - value[::-1]  # never -0.0


def _of_increasing_cost(groups, values, max_fpr=1.0):
    """Return the rules that accept ID samples, those of the largest TPR first."""
    tpr, fpr = groups.true_positive_rates, groups.false_positive_rates
    allowed = (tpr > 0) & (fpr <= max_fpr * (1 + RELATIVE_TOLERANCE))
    return -tpr[allowed][::-1], values[allowed][::-1]


def _frontier(samples, n_angles, points):
    """Return the points, of all directions, that none of less cost is as good as."""
    is_coarse = len(samples.scores) == 2 and len(samples) > _FINEST
    front = np.empty(0), np.empty(0)
    for groups in samples.groups(n_angles):
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
