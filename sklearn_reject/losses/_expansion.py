"""What losses of sets are made of: ratios of counts, and what 0/0 is."""

from typing import NamedTuple

import numpy as np


class Cells(NamedTuple):
    """A number for each cell of the confusion matrix."""

    tp: float = 0.0
    fp: float = 0.0
    fn: float = 0.0
    tn: float = 0.0


class Ratio(NamedTuple):
    """``coefficient * numerator * factor / (denominator**power * k**size_power)``.

    With k = tp + fp, and with `Cells` for weights of the counts: not negative in the
    denominator, of fn and tn only in a `factor`, whose numerator is of tp and fp only.
    Zero where the denominator or, for a positive `size_power`, k is zero.
    """

    coefficient: float
    numerator: Cells
    denominator: Cells
    factor: Cells | None = None
    power: float = 1.0
    size_power: float = 0.0


class Absence(NamedTuple):
    """``constant + slope * k`` where no item is in the cells marked True, else zero."""

    cells: Cells
    constant: float
    slope: float = 0.0


class Expansion(NamedTuple):
    """A set loss as ``constant`` plus ratios, plus what is apart, mostly for 0/0."""

    constant: float
    ratios: tuple
    absences: tuple = ()


def values_of(expansion, counts):
    """Return the value of an expansion for each confusion matrix."""
    k = counts[0] + counts[1]
    values = np.full(k.shape, float(expansion.constant))
    for ratio in expansion.ratios:
        above = ratio.coefficient * (ratio.numerator @ counts)
        if ratio.factor is not None:
            above = above * (ratio.factor @ counts)
        below = (ratio.denominator @ counts) ** ratio.power * k**ratio.size_power
        values += np.divide(above, below, out=np.zeros(k.shape), where=below > 0)
    for absence in expansion.absences:
        is_absent = counts[np.array(absence.cells, dtype=bool)].sum(axis=0) == 0
        values += is_absent * (absence.constant + absence.slope * k)
    return values
