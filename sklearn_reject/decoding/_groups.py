"""Items that are grouped into sets by an identifier."""

import numpy as np
from sklearn.utils import check_array

from sklearn_reject._validation import check_same_length


def number_groups(groups, n_items):
    """Return the number of the set of each item, and how many sets there are.

    Parameters
    ----------
    groups : array-like of shape (n_items,) or None
        Items of equal value form a set. None makes one set of all.

    n_items : int
        Number of items.

    Returns
    -------
    numbers : ndarray of shape (n_items,), dtype int
        From zero, in the order of the sorted values.

    n_sets : int
        Number of sets.

    Raises
    ------
    ValueError
        If there is not one value an item, or one is missing.
    """
    if groups is None:
        return np.zeros(n_items, dtype=np.intp), 1
    groups = check_array(groups, input_name="groups", ensure_2d=False, dtype=None)
    if groups.ndim != 1:
        raise ValueError(
            "groups must be a vector with the set of each item, got an array of shape "
            f"{groups.shape}."
        )
    check_same_length(n_items, groups=groups)
    try:
        values, numbers = np.unique(groups, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            "groups must be values that can be sorted, all numbers or all strings, got "
            f"an array of dtype {groups.dtype}: {error}."
        ) from error
    return numbers, len(values)


def number_sets(shape, groups):
    """Return the number of the set of each item, and the sizes of the sets.

    Parameters
    ----------
    shape : tuple of one int or two
        Shape of the probabilities: of a vector of items, or of a matrix with a set in
        each row.

    groups : array-like of shape (n_items,) or None
        The set of each item of a vector.

    Returns
    -------
    numbers : ndarray, dtype int
        One an item, row by row, from zero.

    sizes : ndarray of shape (n_sets,), dtype int
        Number of items of each set.

    Raises
    ------
    ValueError
        If there are groups of a matrix, or not one value an item.
    """
    if len(shape) == 1:
        numbers, n_sets = number_groups(groups, *shape)
        return numbers, np.bincount(numbers, minlength=n_sets)
    _refuse_groups(shape, groups)
    return np.repeat(np.arange(shape[0]), shape[1]), np.full(*shape)


def sizes_of_sets(shape, groups):
    """Return the number of items of all sets alike, or of each of the groups.

    Parameters and errors are those of :func:`number_sets`.
    """
    if groups is None:
        return shape[-1]
    _refuse_groups(shape, groups)
    return number_sets(shape, groups)[1]


def _refuse_groups(shape, groups):
    if groups is not None and len(shape) == 2:
        raise ValueError(
            f"groups say which items of a vector form a set, but eta has shape {shape} "
            "and each row is a set. Leave groups out."
        )
