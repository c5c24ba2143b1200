"""Areas under the risk-coverage curve and their relatives."""

import warnings

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import digamma
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._validation import check_option, check_samples
from sklearn_reject.curves._digamma import digamma_increment
from sklearn_reject.curves._groups import group_by_score, group_validated
from sklearn_reject.curves._zero_one import groups_with_errors, is_zero_one

_BATCH_SIZE = 2**14


def aurc_score(
    scores, losses, *, sample_weight=None, interpolation="mean", normalize=None
):
    r"""Compute the area under the risk-coverage curve. Lower is better.

    The mean of the n selective risks, one a prefix of the samples in the order of their
    score (FPV23, eq. 27), in expectation over the random order of tied samples. So the
    value does not depend on the order of the rows.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Integer weights equal repeated (tied) rows. Scaling
        all weights changes the value with ``interpolation="mean"``, as repeating all
        rows does.

    interpolation : {"mean", "trapezoid"}, default="mean"
        "mean" is the definition above. "trapezoid" integrates the curve between its
        distinct points, from the first one to coverage 1.

    normalize : {None, "excess", "prr"}, default=None
        "excess" subtracts the area of the oracle, which sorts the samples by their
        loss: zero is perfect, never negative. "prr", the prediction rejection ratio, is
        (random - area) / (random - oracle): 1 is perfect, 0 is as good as random,
        **higher is better**. With ``interpolation="trapezoid"`` both references are
        taken at the coverages of the curve.

    Returns
    -------
    area : float
        The area. NaN with a warning where random and oracle agree under "prr".

    Raises
    ------
    ValueError
        If an option is unknown, or an array is empty, not finite or of another length,
        or if a loss or weight is negative or all weights are zero.

    Notes
    -----
    With group g covering the cumulative weight from a to b and W the total weight, each
    unit of its loss adds

    .. math::

        \frac{1}{W} \left(\psi(W + 1) + 1
        - \frac{b \psi(b + 1) - a \psi(a + 1)}{b - a}\right),

    where psi is the digamma function. For 0/1 losses without weights only the ranks of
    the errors are needed, and the samples are not fully sorted.

    References
    ----------
    V. Franc, D. Prusa, V. Voracek. Optimal Strategies for Reject Option Classifiers.
    JMLR 24(11), 2023.

    Examples
    --------
    >>> from sklearn_reject.curves import aurc_score
    >>> aurc_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    0.2083333333333333
    >>> aurc_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], normalize="prr")
    1.0
    >>> round(aurc_score([0.4, 0.3, 0.2, 0.1], [0, 0, 1, 1], normalize="prr"), 6)
    -1.0
    """
    check_option(interpolation, "interpolation", ("mean", "trapezoid"))
    check_option(normalize, "normalize", (None, "excess", "prr"))
    samples = check_samples(scores, losses, sample_weight)
    if interpolation == "mean":
        area, oracle, random = _mean_areas(*samples, references=normalize is not None)
    else:
        area, oracle, random = _trapezoid_areas(*samples)
    return _normalize(area, oracle, random, normalize)


def _normalize(area, oracle, random, normalize):
    if normalize is None:
        return float(area)
    # The oracle is the minimum over all orders; only rounding gets below it.
    area = max(area, oracle)
    if normalize == "excess":
        return float(area - oracle)
    if not random > oracle:
        warnings.warn(
            "All losses are equal, so that no score can be better than a random one "
            "and normalize='prr' is undefined. The value is set to NaN.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return float("nan")
    return float((random - area) / (random - oracle))


def _mean_areas(scores, losses, weight, *, references):
    area = _mean_area(scores, losses, weight)
    if not references:
        return area, None, None
    counted = losses if weight is None else losses[weight > 0]
    if counted.min() == counted.max():
        return area, area, area
    oracle = _mean_area(losses, losses, weight)
    return area, oracle, np.average(losses, weights=weight)


def _mean_area(scores, losses, weight):
    if weight is None and is_zero_one(losses):
        return _weigh_losses(len(scores), *groups_with_errors(scores, losses))
    groups = group_validated(scores, losses, weight)
    if weight is None and len(groups) == len(scores):
        return np.mean(groups.cumulative_losses / np.arange(1, len(groups) + 1))
    below = groups.cumulative_weights - groups.weights
    return _weigh_losses(groups.total_weight, below, groups.weights, groups.losses)


def _weigh_losses(total, below, weights, losses):
    """Add up what the losses of each group contribute to the mean selective risk."""
    # Batches keep the temporary arrays in the cache.
    return sum(
        _weigh_batch(total, below[batch], weights[batch], losses[batch])
        for batch in _batches(len(below))
    )


def _batches(n_groups):
    starts = range(0, n_groups, _BATCH_SIZE)
    return [slice(start, start + _BATCH_SIZE) for start in starts]


def _weigh_batch(total, below, weights, losses):
    shares = digamma(total + 1.0) - digamma(below + 1.0)
    rows = np.flatnonzero(weights != 1)  # elsewhere the rest is zero
    if rows.size:
        below, weights = below[rows], weights[rows]
        increment = digamma_increment(below + 1.0, weights)
        shares[rows] += 1 - (below + weights) * (increment / weights)
    return (losses * shares).sum() / total


def _trapezoid_areas(scores, losses, weight):
    groups = group_validated(scores, losses, weight)
    weights = groups.cumulative_weights
    coverage = weights / groups.total_weight
    oracle = _lowest_loss_within(weights, losses, weight)
    random = groups.cumulative_losses[-1] / groups.total_weight
    return (
        trapezoid(groups.cumulative_losses / weights, coverage),
        trapezoid(oracle / weights, coverage),
        random * (1 - coverage[0]),
    )


def _lowest_loss_within(weights, losses, sample_weight):
    """Return the least loss that samples of each total weight can have."""
    best = group_validated(losses, losses, sample_weight)
    return np.interp(
        weights,
        np.append(0.0, best.cumulative_weights),
        np.append(0.0, best.cumulative_losses),
    )


def augrc_score(scores, losses, *, sample_weight=None):
    """Compute the area under the generalized risk-coverage curve. Lower is better.

    The integral of coverage times selective risk over the coverage, which is the mean
    risk of failures that go undetected (Traub et al. 2024), as a trapezoid from (0, 0).
    It equals the SELE statistic with mid-rank ties,
    ``sele_score(scores, losses, ties="midrank")``, and for 0/1 losses
    (1 - AUROC) acc (1 - acc) + (1 - acc)^2 / 2, where AUROC tells failures from
    successes. The mean over the n prefixes, which some libraries report, is larger by
    mean(losses) / (2 n).

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights; a pair of samples weighs the product.

    Returns
    -------
    area : float
        The area, at most the mean loss.

    Raises
    ------
    ValueError
        If an array is empty, not finite or of another length, or if a loss or weight
        is negative or all weights are zero.

    References
    ----------
    J. Traub et al. Overcoming Common Flaws in the Evaluation of Selective
    Classification Systems. NeurIPS 2024.

    Examples
    --------
    >>> from sklearn_reject.curves import augrc_score
    >>> augrc_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    0.125
    """
    return sele_score(scores, losses, ties="midrank", sample_weight=sample_weight)


def sele_score(scores, losses, *, ties="inclusive", sample_weight=None):
    """Compute the SELE statistic, a pairwise relative of AuRC. Lower is better.

    The mean over all pairs (i, j) of l_i [s_i <= s_j] (FPV23, eq. 29). For distinct
    scores sele <= AuRC <= H_n sele with H_n the n-th harmonic number. With ties only
    the mid-rank form stays at or below AuRC.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    ties : {"inclusive", "midrank"}, default="inclusive"
        Whether a pair of tied samples, a sample with itself included, counts in full
        as in the paper, or one half. The mid-rank form equals :func:`augrc_score`.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights; a pair of samples weighs the product.

    Returns
    -------
    value : float
        The statistic.

    Raises
    ------
    ValueError
        If `ties` is unknown, an array is empty, not finite or of another length, or if
        a loss or weight is negative or all weights are zero.

    Examples
    --------
    >>> from sklearn_reject.curves import sele_score
    >>> sele_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    0.1875
    >>> sele_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], ties="midrank")
    0.125
    """
    check_option(ties, "ties", ("inclusive", "midrank"))
    groups = group_by_score(scores, losses, sample_weight)
    tied_share = 0.0 if ties == "inclusive" else 0.5
    below = groups.cumulative_weights - (1 - tied_share) * groups.weights
    after = groups.total_weight - below
    total = groups.total_weight
    return float((groups.losses / total) @ (after / total))
