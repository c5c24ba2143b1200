"""Sums of losses over sets as a threshold falls, without drift."""

import numpy as np

#: What rounding may add to a loss, relative to the numbers that it is made of.
ROUNDING = 2.0**-52

# Sums of integers stay below it.
_BITS_OF_SUM = 62

# Losses that reach further above the least sum are cut off.
_WIDEST_RANGE = 2.0**16


def sum_exactly(table, losses):
    """Return the sum over the sets of the losses at each cut, less a constant.

    Losses become whole numbers of a tiny unit, so that the sum after a million changes
    is as exact as the first. The unit goes by what can occur at the best cut: a loss so
    large that its cut cannot be the best may be any other such number.

    Parameters
    ----------
    table : PrefixTable
        The sets.

    losses : ndarray of shape (n_entries,)
        Loss of each entry.

    Returns
    -------
    totals : ndarray of shape (n_values + 1,), dtype int
        The sums, in units.

    slack : int
        What rounding may add to a sum, in units.
    """
    excess = losses - np.minimum.reduceat(losses, table.first)[table.set_of]
    # Losses of up to one are made of numbers of about one, such as 1 - F.
    rounded = min(1.0, np.abs(losses).max())
    while True:
        totals, exponent = _sum_in_units(table, excess)
        least = excess[table.entries_at(totals.argmin())].sum()
        cap = 2 * max(least, rounded)
        if excess.max() <= _WIDEST_RANGE * cap:
            break
        excess = np.minimum(excess, cap)
    error = 1 + ROUNDING * np.ldexp(max(excess.max(), rounded), exponent)
    return totals, int(min(len(table.first) * np.ceil(error), 2.0**_BITS_OF_SUM))


def _sum_in_units(table, values):
    """Return the sums, and the power of two that a value was multiplied by."""
    largest = int(np.frexp(values.max())[1])
    exponent = _BITS_OF_SUM - len(table.first).bit_length() - largest
    units = np.rint(np.ldexp(values, exponent)).astype(np.int64)
    return table.sum_over_sets(units), exponent
