"""What a score returned, checked before anything is decided by it."""

from numbers import Integral, Real

import numpy as np
from scipy import sparse

from sklearn_reject._validation import LARGEST_EXACT_INTEGER

_N_SHOWN = 5


def check_scores(values, n_samples, name, *, finite=True):
    """Return one float64 number a sample, or say which samples have none.

    A vector is read by position, whatever index it has. Without `finite`, infinity is
    a number, too.
    """
    array = _as_vector(values, n_samples, name)
    if array.dtype.kind in "iuO":
        _check_exact(array, name)
    numbers = np.asarray(array, dtype=np.float64)
    if np.ma.isMaskedArray(values):
        numbers = np.where(np.ma.getmaskarray(values), np.nan, numbers)
    # A finite sum proves finite terms; an infinite one may also be an overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        total = numbers.sum()
    if not np.isfinite(total):
        rule = "must be finite" if finite else "must not be NaN"
        is_bad = ~np.isfinite(numbers) if finite else np.isnan(numbers)
        _refuse_rows(numbers, is_bad, name, rule)
    return numbers


def _check_exact(array, name):
    """Raise for objects that are no numbers, and for integers that float64 has not."""
    limit = LARGEST_EXACT_INTEGER
    if array.dtype.kind == "O":
        # Text, None and what stands for missing; a bool is a coarse score.
        objects = array.tolist()
        is_real = np.array([isinstance(x, (Real, np.bool_)) for x in objects])
        _refuse_rows(array, ~is_real, name, "must hold numbers")
        is_inexact = [isinstance(x, Integral) and abs(int(x)) > limit for x in objects]
    else:
        is_inexact = (array > limit) | (array < -limit)
    _refuse_rows(array, is_inexact, name, "must hold integers of at most 2**53")


def _as_vector(values, n_samples, name):
    """Return what may be numbers, in an array of the right shape."""
    if n_samples == 0:
        raise ValueError(f"{name} is empty. At least one sample is needed.")
    if sparse.issparse(values):
        raise ValueError(
            f"{name} returned a sparse matrix. Return a dense vector: "
            "`.toarray().ravel()`."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name} must return a vector of shape ({n_samples},): {error}"
        ) from error
    if array.shape != (n_samples,):
        raise ValueError(
            f"{name} returned an array of shape {array.shape}, expected one number for "
            f"each of the {n_samples} samples: shape ({n_samples},)."
        )
    if array.dtype.kind not in "biufO":
        raise ValueError(
            f"{name} must hold real numbers, got an array of dtype {array.dtype}. "
            "Convert it before you return it."
        )
    return array


def _refuse_rows(array, is_bad, name, rule):
    """Raise if some rows are bad, and say which."""
    rows = np.flatnonzero(is_bad)
    if not len(rows):
        return
    more = ", ..." if len(rows) > _N_SHOWN else ""
    shown = ", ".join(map(str, rows[:_N_SHOWN]))
    raise ValueError(
        f"{name} {rule}, got {array[rows].tolist()[0]!r} in row{'s' * (len(rows) > 1)} "
        f"{shown}{more} ({len(rows)} of the {len(array)} samples), so no decision is "
        "made. Return a finite number for every possible sample, and a large one if "
        "nothing is known about it."
    )
