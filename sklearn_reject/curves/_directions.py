"""Directions in the plane of a risk score and a novelty score."""

import numpy as np

from sklearn_reject._validation import check_count

# Less robust to outliers than the quartiles, but the risk of a confident classifier is
# next to zero for most samples, and not where the rules differ.
_QUANTILES = (0.05, 0.95)

# Beyond it, weighted sums of scores would come near the limits of float64.
_LARGEST_SCORE = 1e100


def direction_grid(n_angles):
    """Return directions of even angles in [0, pi], the axes exactly among them.

    Parameters
    ----------
    n_angles : int >= 3
        Number of directions. The steps are equal on either side of pi / 2, and the same
        on both if the number is odd.

    Returns
    -------
    directions : ndarray of shape (n_angles, 2)
        Cosine and sine of increasing angles: weights of the risk score and of the
        novelty score, each divided by its scale. Contains (1, 0), (0, 1) and (-1, 0).

    Raises
    ------
    ValueError
        If `n_angles` is not an int of at least three.

    Examples
    --------
    >>> from sklearn_reject.curves._directions import direction_grid
    >>> direction_grid(5).round(3) + 0.0
    array([[ 1.   ,  0.   ],
           [ 0.707,  0.707],
           [ 0.   ,  1.   ],
           [-0.707,  0.707],
           [-1.   ,  0.   ]])
    """
    if check_count(n_angles, "n_angles") < 3:
        raise ValueError(
            f"n_angles must be at least 3, got {n_angles}: each score on its own, and "
            "the risk score reversed, are always among the directions."
        )
    middle = n_angles // 2
    first = np.linspace(0, np.pi / 2, middle + 1)
    second = np.linspace(np.pi / 2, np.pi, n_angles - middle)
    angles = np.append(first, second[1:])
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    directions[[0, middle, -1]] = [(1, 0), (0, 1), (-1, 0)]
    return directions


def scale_of(scores):
    """Return a typical difference of scores, to make two scores comparable.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Scores. Infinite ones are left out.

    Returns
    -------
    scale : float > 0
        The range of the finite scores without the lowest and the highest 5 %. Where
        that is zero the whole range, and 1 where all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.curves._directions import scale_of
    >>> scale_of(np.append(np.arange(101.0), np.inf)), scale_of(np.ones(9))
    (90.0, 1.0)
    """
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return 1.0
    low, high = np.quantile(finite, _QUANTILES)
    if low == high:
        low, high = finite.min(), finite.max()
    return float(high - low) or 1.0


def checked_scale(scores, name, of=None):
    """Return the scale of scores, after refusing those that cannot be added up.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Scores. Infinite ones are left out.

    name : str
        How they are called in the error.

    of : ndarray, default=None
        Scores whose scale is taken. None takes all.

    Returns
    -------
    scale : float > 0
        What :func:`scale_of` returns.

    Raises
    ------
    ValueError
        If weighted sums would come near the limits of float64.
    """
    scale = scale_of(scores if of is None else of)
    largest = np.abs(scores).max(where=np.isfinite(scores), initial=0.0)
    if largest > _LARGEST_SCORE or scale < 1 / _LARGEST_SCORE:
        raise ValueError(
            f"{name}_scores hold finite values up to {largest:g} in magnitude, which "
            f"differ by {scale:g}: their sums would come near the limits of float64. "
            "Rescale them or, where novelty is extreme, make it infinite, which is "
            "rejected always."
        )
    return scale


def combine(risk, novelty, weights):
    """Return the weighted sum of two scores; infinite novelty stays as it is.

    Parameters
    ----------
    risk : ndarray of shape (n_samples,)
        Finite risk scores.

    novelty : ndarray of shape (n_samples,)
        Novelty scores, may be infinite.

    weights : tuple of two floats
        Weight of the risk score, at most 1 in magnitude, and of the novelty score.

    Returns
    -------
    combined : ndarray of shape (n_samples,)
        Infinite where the novelty is, even if its weight is zero or negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.curves._directions import combine
    >>> combine(np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0, np.inf]), (1.0, 0.0))
    array([ 1.,  2., inf])
    """
    combined = weighted_sum(risk, novelty, weights)
    infinite = np.isinf(novelty)
    if infinite.any():
        combined[infinite] = novelty[infinite]
    return combined


def weighted_sum(risk, novelty, weights):
    """Return the weighted sum of finite scores.

    Rounding keeps the order here: what is not lower in both scores, each times its
    weight, has no lower sum.
    """
    risk_weight, novelty_weight = weights
    with np.errstate(over="ignore", invalid="ignore"):
        combined = novelty_weight * novelty
        combined += risk_weight * risk
    return combined
