"""What a score returned, checked before anything is decided by it."""

from numbers import Integral, Real

import numpy as np
from scipy import sparse

from sklearn_reject._validation import check_extended_vector, check_vector

# Integers beyond it do not survive the conversion to float64.
_LARGEST_EXACT_INTEGER = 2**53

_N_SHOWN = 5


def check_scores(values, n_samples, name, *, finite=True):
    """Return one float64 number a sample, or say which samples have none.

    A vector is read by position, whatever index it has. Without `finite`, infinity is
    a number, too.
    """
    array = _as_vector(values, n_samples, name)
    if array.dtype.kind == "O":
        # Text, None and what stands for missing; a bool is a coarse score.
        is_real = [isinstance(value, (Real, np.bool_)) for value in array.tolist()]
        _refuse_rows(array, ~np.array(is_real), name, "must hold numbers")
        too_large = np.array([_is_inexact(value) for value in array.tolist()])
    elif array.dtype.kind in "iu":
        limit = _LARGEST_EXACT_INTEGER
        too_large = (array > limit) | (array < -limit)
    else:
        too_large = np.zeros(n_samples, dtype=bool)
    _refuse_rows(array, too_large, name, "must hold integers of at most 2**53")
    numbers = array.astype(np.float64)
    is_bad = ~np.isfinite(numbers) if finite else np.isnan(numbers)
    hidden = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else False
    if np.any(hidden):
        numbers = np.where(hidden, np.nan, numbers)
    rule = "must be finite" if finite else "must not be NaN"
    _refuse_rows(numbers, is_bad | hidden, name, rule)
    check = check_vector if finite else check_extended_vector
    return check(numbers, name)


def _as_vector(values, n_samples, name):
    """Return what may be numbers, in an array of the right shape."""
    if sparse.issparse(values):
        raise ValueError(
            f"{name} returned a sparse matrix. Return a dense vector: "
            "`.toarray().ravel()`."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name} returned what is no vector of shape ({n_samples},): {error}"
        ) from error
    if array.shape != (n_samples,):
        raise ValueError(
            f"{name} returned an array of shape {array.shape}, expected one number for "
            f"each of the {n_samples} samples: shape ({n_samples},)."
        )
    if array.dtype.kind not in "biufO":
        raise ValueError(
            f"{name} must hold numbers, real ones, got an array of dtype "
            f"{array.dtype}. Convert it before it is returned."
        )
    return array


def _is_inexact(value):
    return isinstance(value, Integral) and abs(int(value)) > _LARGEST_EXACT_INTEGER


def _refuse_rows(array, is_bad, name, rule):
    """Raise if some rows are bad, and say which."""
    rows = np.flatnonzero(is_bad)
    if not len(rows):
        return
    more = ", ..." if len(rows) > _N_SHOWN else ""
    shown = ", ".join(map(str, rows[:_N_SHOWN]))
    raise ValueError(
        f"{name} {rule}, got {array[rows].tolist()[0]!r} in row{'s' * (len(rows) > 1)} "
        f"{shown}{more} ({len(rows)} of the {len(array)} samples it was given), and "
        "nothing is decided about any. Return a finite number for every sample that "
        "may come, a large one where nothing is known of it."
    )
