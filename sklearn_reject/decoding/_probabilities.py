"""Checks of probabilities of items."""

import numpy as np
from scipy.sparse import csr_matrix, issparse

from sklearn_reject.decoding._groups import number_groups

# What rounding may add to a probability: such values are taken for 0 or 1.
_ROUNDING = 1e-9

# How far the probabilities of the classes of a row may be from adding up to one.
_MISSING_MASS = 1e-3


def check_probabilities(eta, name="eta", *, ndim=(1, 2), accept_sparse=False):
    """Return probabilities as float64, with at least one item.

    Values beyond 0 and 1 by no more than 1e-9 are rounding, and become 0 and 1.

    Parameters
    ----------
    eta : array-like or sparse matrix
        Probabilities.

    name : str, default="eta"
        Name in errors.

    ndim : tuple of int, default=(1, 2)
        Numbers of axes that are fine.

    accept_sparse : bool, default=False
        Whether a sparse matrix is fine; it is returned in CSR form.

    Returns
    -------
    eta : ndarray or csr_matrix
        The probabilities.

    Raises
    ------
    ValueError
        If they are not in [0, 1], or NaN, or there are none.
    """
    if issparse(eta):
        return _check_sparse(eta, name, accept_sparse)
    eta = np.asarray(eta)
    _check_dtype(eta.dtype, name)
    if eta.ndim not in ndim:
        shapes = {1: "(n_items,)", 2: "(n_sets, n_items)"}
        raise ValueError(
            f"{name} must have shape {' or '.join(shapes[n] for n in ndim)}, got "
            f"{eta.shape}."
        )
    _check_not_empty(eta.shape, name)
    return _check_values(eta.astype(np.float64), name)


def check_sorted(eta):
    """Raise unless probabilities decrease along the last axis."""
    if (eta[..., 1:] > eta[..., :-1]).any():
        raise ValueError(
            "eta must be sorted decreasing, as k counts the most probable items. Pass "
            "`np.sort(eta)[..., ::-1]`, or call decode, which takes any order."
        )


def check_distribution(eta, groups=None):
    """Raise unless the probabilities of the classes of each set add up to one."""
    if groups is None:
        total = np.asarray(eta.sum(axis=-1)).ravel()
    else:
        total = np.bincount(number_groups(groups, len(eta))[0], weights=eta)
    odd = total[np.abs(total - 1) > _MISSING_MASS]
    if len(odd):
        raise ValueError(
            "eta must add up to one over the classes of each set for "
            f"distribution='multinomial', got {odd[0]:g}. For labels of which several "
            "may be true, use distribution='independent'."
        )


def _check_sparse(eta, name, accept_sparse):
    if not accept_sparse:
        raise ValueError(f"{name} must be dense here: pass `{name}.toarray()`.")
    _check_dtype(eta.dtype, name)
    if len(eta.shape) != 2:
        raise ValueError(
            f"{name} must have shape (n_sets, n_items) where it is sparse, got "
            f"{eta.shape}: pass `{name}.toarray()`."
        )
    _check_not_empty(eta.shape, name)
    eta = csr_matrix(eta, dtype=np.float64, copy=True)
    eta.sum_duplicates()
    eta.data = _check_values(eta.data, name)
    eta.eliminate_zeros()
    return eta


def _check_dtype(dtype, name):
    if dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, got an array of dtype {dtype}.")


def _check_not_empty(shape, name):
    if 0 in shape:
        raise ValueError(
            f"{name} is empty, of shape {shape}: a set needs at least one item."
        )


def _check_values(values, name):
    fine = (values >= -_ROUNDING) & (values <= 1 + _ROUNDING)
    if not fine.all():
        odd = values[~fine].ravel()[0]
        raise ValueError(
            f"{name} must hold probabilities in [0, 1], got {odd}. Turn scores into "
            "probabilities first, for example with CalibratedClassifierCV."
        )
    return np.clip(values, 0.0, 1.0, out=values)
