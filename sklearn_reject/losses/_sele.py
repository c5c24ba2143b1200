"""The pairwise loss of a score that orders samples by their risk (FPV23, eq. 30)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state, gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._typing import RandomState
from sklearn_reject._validation import (
    check_count,
    check_option,
    check_samples,
    of_arrays,
)
from sklearn_reject.losses._pair_sums import sum_over_pairs

# Losses are at most 1e100, and sums over pairs have to stay finite.
_WIDEST = 1e200


@of_arrays
def sele_loss_and_gradient(
    scores: ArrayLike,
    losses: ArrayLike,
    *,
    method: Literal["exact", "chunked"] = "exact",
    chunk_size: int = 500,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: RandomState | None = None,
) -> tuple[float, np.ndarray]:
    """Smooth upper bound on SELE, and its gradient with respect to the scores.

    psi(s) = 1/n^2 sum_i sum_j l_i log(1 + exp(s_j - s_i)) (FPV23, eq. 30). It is convex
    in the scores, and where a score minimizes its expectation, the score orders the
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
            f"scores range from {sample[0].min():g} to {sample[0].max():g}, so sums of "
            "their differences would overflow. Rescale them."
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
    total, gradient = sum_over_pairs(scores, weight, weight * losses)
    n_pairs = float(weight.sum()) ** 2
    return total / n_pairs, gradient / n_pairs


def make_chunks(n_samples, chunk_size, random_state):
    """Return a random partition of the rows into chunks of about equal size."""
    n_chunks = max(1, round(n_samples / chunk_size))
    rows = check_random_state(random_state).permutation(n_samples)
    return np.array_split(rows, n_chunks)


def chunked_sele(scores, losses, weight, chunks, *, n_jobs=None):
    """Return the mean over chunks of their losses, and its gradient."""
    # A gradient takes less time than to send its samples anywhere.
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem")
    n_parts = min(effective_n_jobs(parallel.n_jobs), len(chunks))
    found = parallel(
        delayed(_sele_of_chunks)(scores, losses, weight, chunks[part])
        for part in gen_even_slices(len(chunks), n_parts)
    )
    parts = [part for of_job in found for part in of_job]
    gradient = np.empty(len(scores))
    for rows, (_, part) in zip(chunks, parts, strict=True):
        gradient[rows] = part / len(chunks)
    return sum(value for value, _ in parts) / len(chunks), gradient


def _sele_of_chunks(scores, losses, weight, chunks):
    """Return value and gradient of the loss of each chunk, all in the same memory.

    What is allocated anew for each chunk may take most of the time, as in workers of
    Dask, whose environment tells malloc to hand back whatever is freed.
    """
    n_pairs = max(len(rows) * np.count_nonzero(losses[rows]) for rows in chunks)
    memory = np.empty((3, n_pairs)), np.empty(n_pairs, dtype=bool)
    return [
        _dense_sele(scores[rows], losses[rows], weight[rows], memory) for rows in chunks
    ]


def _dense_sele(scores, losses, weight, memory):
    """Return value and gradient of the loss of one chunk, pair by pair."""
    rows = np.flatnonzero(losses)
    shape = len(rows), len(scores)
    n_entries = len(rows) * len(scores)
    bound, small, pull = (part[:n_entries].reshape(shape) for part in memory[0])
    is_above = memory[1][:n_entries].reshape(shape)

    difference = np.subtract(scores, scores[rows, np.newaxis], out=bound)
    np.greater(difference, 0, out=is_above)
    np.exp(np.negative(np.abs(difference, out=small), out=small), out=small)
    # log(1 + exp(difference))
    np.maximum(difference, 0, out=bound)
    bound += np.log1p(small, out=pull)
    # Its derivative, the logistic function.
    np.copyto(pull, small)
    np.copyto(pull, 1.0, where=is_above)
    pull /= np.add(small, 1, out=small)
    loss = (losses * weight)[rows]
    pull *= loss[:, np.newaxis]
    pull *= weight
    gradient = pull.sum(axis=0)
    gradient[rows] -= pull.sum(axis=1)
    n_pairs = weight.sum() ** 2
    return float(loss @ (bound @ weight)) / n_pairs, gradient / n_pairs
