"""The pairwise loss of a score that orders samples by their risk (FPV23, eq. 30)."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._validation import check_count, check_option, check_samples
from sklearn_reject.losses._pair_sums import sum_over_pairs

# Losses are at most 1e100, and sums over pairs have to stay finite.
_WIDEST = 1e200


def sele_loss_and_gradient(
    scores,
    losses,
    *,
    method="exact",
    chunk_size=500,
    sample_weight=None,
    n_jobs=None,
    random_state=None,
):
    """Smooth upper bound on SELE, and its gradient with respect to the scores.

    psi(s) = 1/n^2 sum_i sum_j l_i log(1 + exp(s_j - s_i)) (FPV23, eq. 30). It is convex
    in the scores, and where a score minimises its expectation, the score orders the
    samples as their conditional risk does.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    method : {"exact", "chunked"}, default="exact"
        "exact" sums over all pairs in time O(n), up to a relative rounding error of
        about 1e-13. "chunked" is the approximation of the paper: the mean over random
        chunks of their own losses, in time O(n `chunk_size`).

    chunk_size : int, default=500
        Approximate number of samples in a chunk.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. A pair weighs the product of its two.

    n_jobs : int, default=None
        Number of jobs that share the chunks.

    random_state : int, RandomState instance or None, default=None
        Source of the partition into chunks.

    Returns
    -------
    value : float
        Lower is better; without weights, at least log(2) / n times the mean loss.

    gradient : ndarray of shape (n_samples,)
        Derivative of the value with respect to each score. It sums to zero.

    Raises
    ------
    ValueError
        If an array or an option is invalid.

    References
    ----------
    V. Franc, D. Prusa, V. Voracek. Optimal Strategies for Reject Option Classifiers.
    JMLR 24(11), 2023.

    Examples
    --------
    >>> from sklearn_reject.losses import sele_loss_and_gradient
    >>> value, gradient = sele_loss_and_gradient([0.0, 1.0, 2.0], [0, 0, 1])
    >>> round(value, 4)
    0.1259
    >>> gradient.round(3)
    array([ 0.013,  0.03 , -0.043])
    """
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    check_option(method, "method", ("exact", "chunked"))
    check_count(chunk_size, "chunk_size")
    if weight is None:
        weight = np.ones(len(scores))
    present = np.flatnonzero(weight)
    sample = scores[present], losses[present], weight[present] / weight.max()
    with np.errstate(over="ignore"):
        spread = np.ptp(sample[0])
    if not spread < _WIDEST / len(present):
        raise ValueError(
            f"scores range from {sample[0].min():g} to {sample[0].max():g}, so wide "
            "that sums of their differences overflow. Rescale them."
        )
    gradient = np.zeros(len(scores))
    if method == "exact":
        value, gradient[present] = exact_sele(*sample)
    else:
        chunks = make_chunks(len(present), chunk_size, random_state)
        value, gradient[present] = chunked_sele(*sample, chunks, n_jobs=n_jobs)
    return value, gradient


def exact_sele(scores, losses, weight):
    """Return value and gradient of the loss over all pairs of valid samples."""
    total, gradient, _ = sum_over_pairs(scores, weight, weight * losses)
    n_pairs = float(weight.sum()) ** 2
    return total / n_pairs, gradient / n_pairs


def sele_gradient_and_curvature(scores, losses, weight):
    """Return gradient and diagonal of the Hessian of the loss over all pairs."""
    _, gradient, curvature = sum_over_pairs(
        scores, weight, weight * losses, curvature=True
    )
    n_pairs = weight.sum() ** 2
    return gradient / n_pairs, curvature / n_pairs


def make_chunks(n_samples, chunk_size, random_state):
    """Return a random partition of the rows into chunks of about equal size."""
    n_chunks = max(1, round(n_samples / chunk_size))
    rows = check_random_state(random_state).permutation(n_samples)
    return np.array_split(rows, n_chunks)


def chunked_sele(scores, losses, weight, chunks, *, n_jobs=None):
    """Return the mean over chunks of their losses, and its gradient."""
    # A gradient takes less time than to send its samples anywhere.
    parts = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_dense_sele)(scores[rows], losses[rows], weight[rows])
        for rows in chunks
    )
    gradient = np.empty(len(scores))
    for rows, (_, part) in zip(chunks, parts, strict=True):
        gradient[rows] = part / len(chunks)
    return sum(value for value, _ in parts) / len(chunks), gradient


def _dense_sele(scores, losses, weight):
    """Return value and gradient of the loss of one chunk, pair by pair."""
    rows = np.flatnonzero(losses)
    difference = scores - scores[rows, np.newaxis]
    small = np.exp(-np.abs(difference))
    sigma = np.where(difference > 0, 1.0, small) / (1 + small)
    bound = np.maximum(difference, 0) + np.log1p(small)
    loss = (losses * weight)[rows]
    pull = loss[:, np.newaxis] * sigma * weight
    gradient = pull.sum(axis=0)
    gradient[rows] -= pull.sum(axis=1)
    n_pairs = weight.sum() ** 2
    return float(loss @ (bound @ weight)) / n_pairs, gradient / n_pairs
