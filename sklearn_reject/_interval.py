"""A number with the interval that that of the population may be in."""

from typing import NamedTuple

from sklearn_reject._short_repr import short_repr


class Interval(NamedTuple):
    """A share or a mean that was measured, and where that of the population may be.

    Attributes
    ----------
    value : float
        What was measured. NaN where there were no samples.

    low, high : float
        The ends of the interval.

    n_samples : int
        Number of samples that it was measured on.

    is_approximate : bool
        Whether the ends are those of an approximation, as in reports with weights or on
        losses without a bound.

    Examples
    --------
    >>> from sklearn_reject import Interval
    >>> interval = Interval(0.25, 0.1, 0.5, n_samples=20)
    >>> interval.low <= interval.value <= interval.high
    True
    """

    value: float
    low: float
    high: float
    n_samples: int
    is_approximate = False

    __repr__ = short_repr


class ApproximateInterval(Interval):
    """An interval that contains the number of the population about as often as said."""

    __slots__ = ()
    is_approximate = True
