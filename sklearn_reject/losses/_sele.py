"""The pairwise loss of a score that orders samples by their risk (FPV23, eq. 30)."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._validation import check_option, check_samples
from sklearn_reject.losses._pair_sums import sum_over_pairs


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
        At least log(2) / n times the mean loss, lower is better.

    gradient : ndarray of shape (n_samples,)
        Derivative of the value with respect to each score. It sums to zero.

    Raises
    ------
    ValueError
        If an array or an option is invalid.

    See Also
    --------
    sklearn_reject.curves.sele_score : The sum that this bounds, up to a factor.

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
    if weight is None:
        weight = np.ones(len(scores))
    if method == "exact":
        return exact_sele(scores, losses, weight)
    chunks = make_chunks(len(scores), chunk_size, random_state)
    return chunked_sele(scores, losses, weight, chunks, n_jobs=n_jobs)


def exact_sele(scores, losses, weight):
    """Return value and gradient of the loss over all pairs of valid samples."""
    sums = sum_over_pairs(scores, weight, weight * losses)
    n_pairs = float(weight.sum()) ** 2
    return sums.total / n_pairs, sums.gradient / n_pairs


def sele_gradient_and_curvature(scores, losses, weight):
    """Return gradient and diagonal of the Hessian of the loss over all pairs."""
    sums = sum_over_pairs(scores, weight, weight * losses, curvature=True)
    n_pairs = weight.sum() ** 2
    return sums.gradient / n_pairs, sums.curvature / n_pairs


def make_chunks(n_samples, chunk_size, random_state):
    """Return a random partition of the rows into chunks of about equal size."""
    if (
        isinstance(chunk_size, bool)
        or not isinstance(chunk_size, Integral)
        or chunk_size < 1
    ):
        raise ValueError(f"chunk_size must be a positive int, got {chunk_size!r}.")
    n_chunks = max(1, round(n_samples / chunk_size))
    rows = check_random_state(random_state).permutation(n_samples)
    return np.array_split(rows, n_chunks)


def chunked_sele(scores, losses, weight, chunks, *, n_jobs=None):
    """Return the mean over chunks of their losses, and its gradient."""
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_dense_sele)(scores[rows], losses[rows], weight[rows])
        for rows in chunks
    )
    gradient = np.empty(len(scores))
    for rows, (_, part) in zip(chunks, parts, strict=True):
        gradient[rows] = part / len(chunks)
    return sum(value for value, _ in parts) / len(chunks), gradient


def _dense_sele(scores, losses, weight):
    """Return value and gradient of the loss of one chunk, pair by pair."""
    rows = np.flatnonzero(losses * weight)
    gradient = np.zeros(len(scores))
    if not len(rows):
        return 0.0, gradient
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
