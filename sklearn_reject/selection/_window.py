"""Which thresholds may be good, told from cells of samples instead of samples."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject.selection._best_cut import may_match


@dataclass(frozen=True, eq=False)
class Window:
    """The thresholds of one direction, or of several, that may be good enough.

    Attributes
    ----------
    bound : float
        No threshold has a lower price.

    low, high : float
        Only thresholds in [low, high[ may be good enough.

    below, around : ndarray of shape (n_cells,), dtype bool
        Cells that all of these thresholds accept, and those that they may cut.
    """

    bound: float
    low: float
    high: float
    below: np.ndarray
    around: np.ndarray


def find_window(plane, ranges, problem, cut):
    """Return the window of thresholds that may be as good as a known cut, or None.

    A threshold between the lower ends of two cells accepts at most the cells up to the
    first of them, and at least those that end below it.

    Parameters
    ----------
    plane : Plane
        The sample.

    ranges : tuple of two ndarrays of shape (n_cells,)
        Lower and upper bounds of the combined score in each cell.

    problem : OODProblem
        What to minimise.

    cut : Cut or None
        The best that is known.

    Returns
    -------
    window : Window or None
        None if no threshold is good enough.
    """
    low, high = ranges
    by_low, by_high = np.argsort(low), np.argsort(high)
    sorted_low = low[by_low]
    n_inside = np.searchsorted(high[by_high], sorted_low)
    of_id, of_ood, loss = plane.cell_sums
    most_id = plane.always[0] + np.cumsum(of_id[by_low])
    least = [
        first + np.append(0.0, np.cumsum(part[by_high]))[n_inside]
        for first, part in zip(plane.always[1:], (of_ood, loss), strict=True)
    ]
    possible = np.flatnonzero(may_match(cut, problem, most_id, *least))
    if not len(possible):
        return None
    bounds = problem.price(most_id[possible], *(part[possible] for part in least))
    first, following = possible[0], possible[-1] + 1
    start = sorted_low[first]
    end = sorted_low[following] if following < len(sorted_low) else np.inf
    below = high < start
    return Window(float(bounds.min()), start, end, below, ~below & (low < end))


def guaranteed_price(plane, ranges, problem):
    """Return a price that some threshold of a direction has or undercuts.

    Parameters
    ----------
    plane, ranges, problem
        See :func:`find_window`.

    Returns
    -------
    price : float
        Infinite if cells do not tell whether any threshold is feasible.
    """
    low, high = ranges
    by_low, by_high = np.argsort(low), np.argsort(high)
    ends = high[by_high]
    n_touched = np.searchsorted(low[by_low], ends, side="right")
    of_id, of_ood, loss = plane.cell_sums
    least_id = plane.always[0] + np.cumsum(of_id[by_high])
    most = [
        first + np.cumsum(part[by_low])[n_touched - 1]
        for first, part in zip(plane.always[1:], (of_ood, loss), strict=True)
    ]
    feasible = problem.is_feasible(least_id, most[0])
    prices = problem.price(least_id[feasible], *(part[feasible] for part in most))
    return float(prices.min(initial=np.inf))
