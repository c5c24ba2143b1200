"""How the expectation of a set loss is made of ratios of counts."""

from typing import NamedTuple


class Cells(NamedTuple):
    """A number for each cell of the confusion matrix."""

    tp: float = 0.0
    fp: float = 0.0
    fn: float = 0.0
    tn: float = 0.0


class Ratio(NamedTuple):
    """A weighted sum of counts over a power of another one.

    It is ``coefficient * numerator * factor / (denominator**power * k**size_power)``,
    with k = tp + fp, each but `coefficient` and the powers a sum of the four counts
    with these weights, and zero where the denominator or, for a positive
    `size_power`, k is zero.

    Parameters
    ----------
    coefficient : float
        Of either sign.

    numerator : Cells
        Weights of the counts.

    denominator : Cells
        Weights of the counts, not negative.

    factor : Cells, default=None
        Weights of fn and tn only, for a numerator of tp and fp only. None is no factor.

    power : float > 0, default=1.0
        Power of the denominator.

    size_power : float >= 0, default=0.0
        Power of k.
    """

    coefficient: float
    numerator: Cells
    denominator: Cells
    factor: Cells | None = None
    power: float = 1.0
    size_power: float = 0.0


class Absence(NamedTuple):
    """What the loss gains where no item is in certain cells.

    It is ``constant + slope * k`` there, and zero elsewhere.

    Parameters
    ----------
    cells : Cells
        True for the cells that are empty.

    constant, slope : float
        Of either sign.
    """

    cells: Cells
    constant: float
    slope: float = 0.0


class Expansion(NamedTuple):
    """A set loss as ``constant`` plus the sum of its parts.

    Parameters
    ----------
    constant : float
        The part without counts.

    ratios : tuple of Ratio
        Ratios of counts.

    absences : tuple of Absence, default=()
        What is defined apart, mostly 0/0.
    """

    constant: float
    ratios: tuple
    absences: tuple = ()
