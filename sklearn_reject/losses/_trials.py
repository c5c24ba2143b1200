"""Losses of sets are tried out on all confusion matrices of a few items."""

from itertools import product

import numpy as np

from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses._expansion import Cells, values_of

# Tables of so many items tell whether a loss falls where true positives are gained.
_N_ITEMS = 10

# Relative to the largest loss: what rounding may add to one.
_ROUNDING = 1e-12

# How far an expansion may be from the loss, relative to the largest one.
_TOLERANCE = 1e-9


def try_out(loss):
    """Check what a loss of the user says about itself, on all tables of ten items."""
    change = _change_with_tp(loss)
    if change.max() > 0:
        warn_of_other_optima(loss._shown, is_score=change.min() >= 0)
    counts = _tables()
    expansion, losses = loss.expansion(_N_ITEMS), loss(*counts)
    if expansion is None:
        return
    error = np.abs(values_of(expansion, counts) - losses)
    if not (error <= _TOLERANCE * np.abs(losses).max()).all():
        odd = ", ".join(map("{}={:g}".format, Cells._fields, counts[:, error.argmax()]))
        raise ValueError(
            f"{loss._shown} has an `_expansion` that differs from `_losses` at {odd}. "
            "Correct it, or remove it."
        )


def warn_of_other_optima(what, *, is_score=False):
    """Warn that the best set need not be one of the most probable items."""
    hint = (
        " It increases with true positives, as a score does. Lower must be better, so "
        "pass one minus the score."
    )
    warn_user(
        f"{what} does not decrease whenever a true positive is gained and the numbers "
        "of predicted and of positive items stay the same. The returned set, which "
        "consists of the k most probable items, may then not be the best "
        f"one.{hint if is_score else ''}"
    )


def falls_with_tp(loss):
    """Tell whether no swap of a false positive and a false negative does harm.

    All confusion matrices of a few items are tried.
    """
    return bool(_change_with_tp(loss).max() <= 0)


def _change_with_tp(loss):
    """Return by how much such swaps change the loss, rounding taken for none."""
    counts = _tables()
    before = loss(*counts)
    can_swap = (counts[1] > 0) & (counts[2] > 0)
    after = loss(*(counts[:, can_swap] + [[1], [-1], [-1], [1]]))
    change = after - before[can_swap]
    return np.where(np.abs(change) <= _ROUNDING * np.abs(before).max(), 0.0, change)


def _tables():
    """Return all confusion matrices of a few items, an array a count."""
    n_items = _N_ITEMS
    tables = [
        (*table, n_items - sum(table))
        for table in product(range(n_items + 1), repeat=3)
        if sum(table) <= n_items
    ]
    return np.array(tables, dtype=np.float64).T
