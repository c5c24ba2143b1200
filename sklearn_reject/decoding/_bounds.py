"""Bounds on how many items a set may have."""

from numbers import Integral

import numpy as np


def check_bounds(loss, n_items, min_positive, max_positive):
    """Return the least and the largest number of items to predict.

    Parameters
    ----------
    loss : SetLoss or None
        The loss, which may need bounds. None where it does not decide on the size.

    n_items : int or ndarray of shape (n_sets,)
        Number of items, or that of each set.

    min_positive : int >= 0
        Least number of items to predict, at most the number of items of each set.

    max_positive : int >= 0 or None
        Largest number of items to predict. None, and any number above that of the
        items, is no bound.

    Returns
    -------
    min_positive : int
        The lower bound.

    max_positive : int or ndarray of shape (n_sets,)
        The upper bound, at most `n_items`.

    Raises
    ------
    ValueError
        If a bound is no int or negative, the lower one above the upper one or above the
        number of items, or if the loss needs a bound that is not given.
    """
    if loss is not None:
        _check_needs(loss, min_positive, max_positive)
    min_positive = _check_bound(min_positive, "min_positive")
    if min_positive > np.min(n_items):
        raise ValueError(
            f"min_positive={min_positive} is above the number of items, "
            f"{np.min(n_items)}{' in the smallest set' if np.ndim(n_items) else ''}. "
            "Lower it, or leave out sets of fewer items."
        )
    if max_positive is None:
        return min_positive, n_items
    max_positive = _check_bound(max_positive, "max_positive")
    if min_positive > max_positive:
        raise ValueError(
            f"min_positive={min_positive} is above max_positive={max_positive}. Swap "
            "them, or drop one."
        )
    return min_positive, np.minimum(n_items, max_positive)


def _check_needs(loss, min_positive, max_positive):
    given = {
        "min_positive": min_positive != 0,
        "max_positive": max_positive is not None,
    }
    missing = [name for name in loss.needs_bounds if not given[name]]
    if missing:
        raise ValueError(
            f"{loss!r} needs {' and '.join(missing)}: without, the best set is the "
            "same whatever the probabilities. Pass "
            f"{' and '.join(f'{name}=' for name in missing)} as well, or take a loss "
            "that weighs both kinds of errors."
        )


def _check_bound(value, name):
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be an int >= 0, got {value!r}.")
    return int(value)
