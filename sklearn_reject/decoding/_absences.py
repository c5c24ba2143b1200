"""How likely it is that no item lies in certain cells of the confusion matrix."""

import numpy as np

from sklearn_reject.curves._groups import running_sum

# Rounding adds up over so many equal summands.
_LONG = 4096


def absence_curves(eta, absence, *, n_negatives=0):
    """Return what an absence adds to the expected loss, for all k.

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_columns)
        Probabilities of independent items, in each row sorted decreasing.

    absence : Absence
        The empty cells, and what the loss gains by them.

    n_negatives : int, default=0
        Number of further items of each row that are surely negative.

    Returns
    -------
    curves : ndarray of shape (n_rows, n_columns + 1)
        For k = 0, ..., n_columns.
    """
    k = np.arange(eta.shape[1] + 1)
    value = absence.constant + absence.slope * k
    cells = absence.cells
    curves = np.zeros((len(eta), len(k)))
    if not value.any() or (n_negatives and cells.tn):
        return curves
    of_rest = _log_chance(eta, cells.fn, cells.tn)[:, ::-1]
    curves[:, 1:] = _running_sums(_log_chance(eta, cells.tp, cells.fp))
    curves[:, :-1] += _running_sums(of_rest)[:, ::-1]
    return value * np.exp(curves)


def _running_sums(logs):
    """Return cumulative sums of rows; of long ones without drift."""
    if logs.shape[1] < _LONG:
        return np.cumsum(logs, axis=1)
    return np.array([running_sum(row) for row in logs])


def _log_chance(eta, no_positive, no_negative):
    """Return the logarithm of the chance that an item is in neither empty cell."""
    if no_positive and no_negative:
        return np.full_like(eta, -np.inf)
    if not (no_positive or no_negative):
        return np.zeros_like(eta)
    with np.errstate(divide="ignore"):
        return np.log1p(-eta) if no_positive else np.log(eta)
