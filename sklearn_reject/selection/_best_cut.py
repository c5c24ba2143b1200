"""The best among cuts: what a rule accepts when it ends at a group, or within it."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject.curves._groups import RELATIVE_TOLERANCE


@dataclass(frozen=True)
class Cut:
    """What a rule accepts, and how good that is.

    Attributes
    ----------
    price : float
        What the problem minimises.

    id_weight, ood_weight : float
        Weight of the accepted ID and OOD samples.

    index : int
        Number of the group at which the rule ends.

    share : float
        Share of that group which is accepted, in ]0, 1].

    threshold : float
        Score of that group, where it is known.
    """

    price: float
    id_weight: float
    ood_weight: float
    index: int = 0
    share: float = 1.0
    threshold: float = float("nan")

    def beats(self, other, problem):
        """Tell if the price is lower or, where it is equal, the bounds kept better."""
        if other is None:
            return True
        slack = problem.slack(other.price)
        if abs(self.price - other.price) > slack:
            return self.price < other.price
        slack = RELATIVE_TOLERANCE * other.id_weight
        if abs(self.id_weight - other.id_weight) > slack:
            return self.id_weight > other.id_weight
        return self.ood_weight < other.ood_weight * (1 - RELATIVE_TOLERANCE)


def may_match(cut, problem, id_weight, ood_weight, loss):
    """Tell which boxes may hold a feasible cut that is as good as a known one.

    Parameters
    ----------
    cut : Cut or None
        The best that is known.

    problem : OODProblem
        What to minimise.

    id_weight : ndarray of shape (n_boxes,)
        Most ID weight in each box.

    ood_weight, loss : ndarray of shape (n_boxes,)
        Least OOD weight and loss in each box.

    Returns
    -------
    may_match : ndarray of shape (n_boxes,), dtype bool
        Whether a box has to be opened.
    """
    feasible = problem.is_feasible(id_weight, ood_weight)
    if cut is None:
        return feasible
    price = problem.price(id_weight, ood_weight, loss)
    slack = problem.slack(cut.price)
    enough = id_weight >= cut.id_weight * (1 - RELATIVE_TOLERANCE)
    equal = (price <= cut.price + slack) & enough
    return feasible & (equal | (price < cut.price - slack))


def find_best_cut(problem, after, sizes, randomize):
    """Return the best cut at or within groups.

    Parameters
    ----------
    problem : OODProblem
        What to minimise.

    after : tuple of three ndarrays of shape (n_groups,)
        ID weight, OOD weight and loss that are accepted up to the end of each group.

    sizes : tuple of three ndarrays of shape (n_groups,) or floats
        The same sums over each group.

    randomize : bool
        Whether a share of a group may be accepted. As the price is monotone in it, only
        the shares at which a bound is met exactly can be better than none and all.

    Returns
    -------
    cut : Cut or None
        Least price, of equal ones most ID, then least OOD weight, then the first. None
        if no cut is feasible.
    """
    index = np.flatnonzero(problem.is_feasible(after[0], after[1]))
    share = np.ones(len(index))
    sums = [part[index] for part in after]
    if randomize:
        # From what is below a group on: a small share of a large one would be lost in
        # the difference from its end.
        before = [a - s for a, s in zip(after, sizes, strict=True)]
        split, split_share = _shares_at_bounds(problem, before, sizes)
        parts = zip(before, sizes, strict=True)
        rest = [b[split] + split_share * _take(s, split) for b, s in parts]
        index, share = np.append(index, split), np.append(share, split_share)
        sums = [np.append(*pair) for pair in zip(sums, rest, strict=True)]
    return _best_of(problem, index, share, sums)


def _best_of(problem, index, share, sums):
    feasible = problem.is_feasible(sums[0], sums[1])
    if not feasible.any():
        return None
    price = np.where(feasible, problem.price(*sums), np.inf)
    lowest = price.min()
    rows = np.flatnonzero(price <= lowest + problem.slack(lowest))
    if len(rows) > 1:
        rows = rows[sums[0][rows] >= sums[0][rows].max() * (1 - RELATIVE_TOLERANCE)]
        rows = rows[np.lexsort((index[rows], sums[1][rows]))]
    row = rows[0]
    return Cut(
        float(price[row]),
        float(sums[0][row]),
        float(sums[1][row]),
        int(index[row]),
        float(share[row]),
    )


def _take(values, rows):
    return values[rows] if np.ndim(values) else values


def _shares_at_bounds(problem, before, sizes):
    """Return groups within which a bound is crossed, and the share at which it is."""
    room = before[0] - problem.min_id
    found = [_crossings(room, sizes[0])]
    if np.isfinite(problem.max_ood):
        room = problem.max_ood + problem.ood_per_id * before[0] - before[1]
        found.append(_crossings(room, problem.ood_per_id * sizes[0] - sizes[1]))
    index, share = zip(*found, strict=True)
    return np.concatenate(index), np.concatenate(share)


def _crossings(room, change):
    crossed = np.flatnonzero((room < 0) != (room + change < 0))
    share = -room[crossed] / _take(change, crossed)
    # What is next to nothing or next to all comes from rounding.
    inside = (share > RELATIVE_TOLERANCE) & (share < 1 - RELATIVE_TOLERANCE)
    return crossed[inside], share[inside]
