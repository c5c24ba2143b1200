"""What each item adds to the denominator of a ratio, above and below the cut."""

from typing import NamedTuple

import numpy as np


class Half(NamedTuple):
    """What the items on one side of the cut add to a denominator and a numerator.

    Each is a positive or a negative item, in one cell of the confusion matrix or the
    other; the heavy cell is the one that adds more to the denominator.

    Parameters
    ----------
    base : float
        What each item adds to the denominator at least.

    extra : float >= 0
        What it adds beyond in the heavy cell.

    gain, extra_gain : float
        The same for the numerator; of either sign.

    positive_is_heavy : bool
        Whether the heavy cell is that of the positive items.
    """

    base: float
    extra: float
    gain: float
    extra_gain: float
    positive_is_heavy: bool

    @property
    def factor(self):
        """What the factor of an item under an exponential depends on, but its base."""
        return self.extra, self.positive_is_heavy

    def chances(self, eta):
        """Return how likely each item is to be in the heavy and in the light cell."""
        return (eta, 1 - eta) if self.positive_is_heavy else (1 - eta, eta)


def predicted_half(ratio):
    """Return what the items above the cut add to a ratio: tp or fp."""
    return _half(
        (ratio.denominator.tp, ratio.numerator.tp),
        (ratio.denominator.fp, ratio.numerator.fp),
    )


def other_half(ratio):
    """Return what the items below the cut add to a ratio: fn or tn."""
    above = ratio.numerator if ratio.factor is None else ratio.factor
    return _half(
        (ratio.denominator.fn, above.fn),
        (ratio.denominator.tn, above.tn),
    )


def _half(positive, negative):
    positive_is_heavy = positive[0] >= negative[0]
    heavy, light = (positive, negative) if positive_is_heavy else (negative, positive)
    return Half(
        base=light[0],
        extra=heavy[0] - light[0],
        gain=light[1],
        extra_gain=heavy[1] - light[1],
        positive_is_heavy=positive_is_heavy,
    )


def range_of_denominator(eta, ratio, n_negatives, chance):
    """Return an interval for the denominator, over all k and rows.

    It leaves out values for which the numerator is zero, and values that are less
    likely than `chance` on either side, by Bernstein's inequalities.

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_items)
        Probabilities.

    ratio : Ratio
        The ratio.

    n_negatives : int
        Number of further items that are surely negative.

    chance : float > 0
        Probability that may be left out.

    Returns
    -------
    low, high : float
        Positive.
    """
    top, rest = predicted_half(ratio), other_half(ratio)
    n_items = eta.shape[1]
    k = np.arange(n_items + 1)
    base = k * top.base + (n_items - k) * rest.base + n_negatives * ratio.denominator.tn
    heavy_top = _prefix(top.chances(eta)[0])
    heavy_rest = heavy_top
    if rest.positive_is_heavy != top.positive_is_heavy:
        heavy_rest = _prefix(rest.chances(eta)[0])
    heavy_rest = heavy_rest[:, -1:] - heavy_rest
    mean = base + top.extra * heavy_top + rest.extra * heavy_rest
    square = 2 * (top.extra**2 * heavy_top + rest.extra**2 * heavy_rest)
    nats, largest = -np.log(chance), max(top.extra, rest.extra)
    below = np.sqrt(nats * square)
    above = largest * nats / 3 + np.sqrt((largest * nats / 3) ** 2 + nats * square)
    low = max(_least_positive(ratio), (mean - below).min())
    return low, max(low, (mean + above).max())


def _prefix(chances):
    sums = np.zeros((len(chances), chances.shape[1] + 1))
    np.cumsum(chances, axis=1, out=sums[:, 1:])
    return sums


def _least_positive(ratio):
    """Return the least denominator where the numerator is not zero."""
    least = _least_weight(ratio.numerator, ratio.denominator)
    if ratio.factor is not None:
        least += _least_weight(ratio.factor, ratio.denominator)
    return least


def _least_weight(numerator, denominator):
    pairs = zip(numerator, denominator, strict=True)
    # Where the numerator is zero throughout, any denominator will do.
    return min((below for above, below in pairs if above), default=max(denominator))
