"""The best direction and threshold as far as cells of two scores tell."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sklearn_reject._curves import (
    RELATIVE_TOLERANCE,
    TIE_TOLERANCE,
    combine,
    running_sum,
    score_directions,
)

# Steps of a search for the root of a convex function that is nearly linear; as a rule
# three or four are enough.
_MOST_STEPS = 60

# Of scales of directions: beyond, digits are lost.
_LEAST_RATIO = 1e-200


@dataclass(frozen=True)
class CellCut:
    """A threshold of a direction, its price, and the ID and OOD weight it is due to."""

    price: float
    id_weight: float
    ood_weight: float
    threshold: float
    weights: tuple


@dataclass(frozen=True, eq=False)
class Borders:
    """From which threshold on a cell may be cut, and from which on it is accepted.

    The first are those at which samples of the cell may be accepted. With `is_worst`
    all of it is accepted from the second ones on, and `thresholds` are to be compared;
    otherwise all of it is accepted beyond.
    """

    weights: tuple
    first: np.ndarray
    last: np.ndarray
    thresholds: np.ndarray
    is_worst: bool

    def counts(self):
        """Return at each threshold how many cells are touched, and how many inside."""
        side = "right" if self.is_worst else "left"
        touched = np.searchsorted(np.sort(self.first), self.thresholds, side="right")
        inside = np.searchsorted(np.sort(self.last), self.thresholds, side=side)
        return touched, inside

    def split(self, threshold):
        """Return which cells are inside at a threshold, and which are cut by it."""
        inside = self.last <= threshold if self.is_worst else self.last < threshold
        return inside, (self.first <= threshold) & ~inside


def directions_of(cells, n_directions, allow_reversed):
    """Return the directions of a grid, told by the cells."""
    risk = (cells.risk_low + cells.risk_high) / 2
    novelty = (cells.novelty_low + cells.novelty_high) / 2
    return score_directions(risk, novelty, n_directions, allow_reversed=allow_reversed)


def rule_borders(cells, directions):
    """Yield the borders of each direction for rules that accept at their threshold."""
    for weights in directions:
        low, high, least, most = cells.sums(weights)
        thresholds = np.append(-np.inf, np.unique(high))
        low, inner = low - TIE_TOLERANCE * most, high - TIE_TOLERANCE * least
        yield Borders(weights, low, inner, thresholds, is_worst=True)


def arc_borders(cells, directions):
    """Yield borders for all rules of directions from each one to the next.

    Any direction in between is a mixture of both, so its sums are between theirs, and
    so are they over those of a point in the middle, which change less. The margin is
    twice that of ties, so that rounding has room.
    """
    spreads = _spreads_of(cells)
    for pair in pairwise(directions):
        scaled = _on_one_scale(*pair, spreads)
        ends = [_sums_over_middle(cells, weights) for weights in scaled]
        first = np.minimum(*(low for low, _ in ends))
        last = np.maximum(*(high for _, high in ends))
        thresholds = np.append(-np.inf, np.unique(first))
        yield Borders(pair[0], first, last, thresholds, is_worst=False)


def _sums_over_middle(cells, weights):
    """Return bounds of sums in each cell less that of the median of the cells."""
    low, high, _, most = cells.sums(weights)
    middle = np.sort([cells.risk_low, cells.novelty_low], axis=1)
    middle = combine(*middle[:, [low.size // 2]], weights) if low.size else 0.0
    margin = 2 * TIE_TOLERANCE * (most + np.abs(middle))
    return low - middle - margin, high - middle + margin


def find_window(cells, always, problem, weights):
    """Return a cut of a direction that is certain, and where a better one may be.

    These are the ends of the thresholds; None if there is no such cut, or no threshold.
    """
    known = find_cell_cut(cells, always, problem, rule_borders(cells, [weights]))
    low, high, _, most = cells.sums(weights)
    margin = 2 * TIE_TOLERANCE * most
    first, last = low - margin, high + margin
    thresholds = np.append(-np.inf, np.unique(first))
    borders = Borders(weights, first, last, thresholds, is_worst=False)
    sums = _Sums(cells, always, problem, borders)
    possible = sums.is_feasible()
    if known is not None:
        slack = problem.slack(known.price)
        slack = slack * (sums.id_weight if problem.is_mean else 1.0)
        possible &= sums.excess(known.price) <= slack
    places = np.flatnonzero(possible)
    if not len(places):
        return known, None
    return known, (thresholds[places[0]], np.append(thresholds, np.inf)[places[-1] + 1])


def split_cells(cells, weights, start, end):
    """Return which cells any threshold from start to end accepts, and which it cuts."""
    low, high, _, most = cells.sums(weights)
    margin = 2 * TIE_TOLERANCE * most
    inside = high + margin < start
    return inside, ~inside & (low - margin <= end)


def _on_one_scale(first, second, spreads):
    """Return weights of two directions, of which that of one score is the same.

    Weights may have any scale, and each scale bounds the sums in between. They change
    least where it is the score that matters more that has the same weight.
    """
    matters = np.sqrt(np.abs(first)) * np.sqrt(np.abs(second)) * spreads
    if first[0] == 0 or second[0] == 0 or matters[1] > matters[0]:
        scale = abs(first[1]), abs(second[1])
    else:
        scale = abs(first[0]), abs(second[0])
    ratio = scale[0] / (scale[1] or np.inf)
    if not _LEAST_RATIO < ratio < 1 / _LEAST_RATIO:
        return first, second
    return first, tuple(weight * ratio for weight in second)


def _spreads_of(cells):
    """Return between which quartiles both scores are."""
    if not cells.risk_low.size:
        return np.zeros(2)
    low, high = np.quantile([cells.risk_low, cells.novelty_low], [0.25, 0.75], axis=1)
    return high - low


def find_cell_cut(cells, always, problem, borders):
    """Return the cut of the least price among those that keep all bounds, or None.

    With the borders of rules each price is the largest that the samples of the cells
    may have, and the bounds are kept whatever these are; with those of arcs it is the
    least, and the bounds may be kept. `cells` hold finite scores, and `always` those
    samples that every rule accepts.
    """
    best = None
    for each in borders:
        best = _search(_Sums(cells, always, problem, each), best)
    return best


class _Sums:
    """Sums of what is accepted at each threshold of a direction or of an arc."""

    def __init__(self, cells, always, problem, borders):
        self.cells, self.always, self.problem = cells, always, problem
        self.borders = borders
        self.by_first = np.argsort(borders.first)
        self.by_last = np.argsort(borders.last)
        self.touched, self.inside = borders.counts()
        id_weights = [
            self._up_to(cells.id_weight, order, counts, always.id_weight)
            for order, counts in self._orders()
        ]
        ood_weights = [
            self._up_to(cells.ood_weight, order, counts, always.ood_weight)
            for order, counts in self._orders()
        ]
        most, least = 0, 1
        if borders.is_worst:
            self.id_weight, self.ood_weight = id_weights[least], ood_weights[most]
        else:
            self.id_weight, self.ood_weight = id_weights[most], ood_weights[least]

    def _orders(self):
        return (self.by_first, self.touched), (self.by_last, self.inside)

    @staticmethod
    def _up_to(values, order, counts, start):
        sums = np.append(0.0, running_sum(values[order]))
        return sums[counts] + start.sum()

    def extreme(self, loss_price, id_price):
        """Return the extreme of a price a unit of loss and of ID weight."""
        cells, always = self.cells, self.always
        whole = loss_price * cells.loss + id_price * cells.id_weight
        start = loss_price * always.loss + id_price * always.id_weight
        parts = self._parts(cells, loss_price, id_price).sum(axis=0)
        found = self._up_to(whole - parts, self.by_last, self.inside, start)
        return found + self._up_to(parts, self.by_first, self.touched, np.zeros(1))

    def _parts(self, cells, loss_price, id_price):
        """Return what the two parts of cut cells add if each is as bad, or good."""
        prices = np.array([cells.least_loss, cells.most_loss]) * loss_price + id_price
        bound = np.maximum if self.borders.is_worst else np.minimum
        return bound(prices, 0.0) * cells.parts()

    def is_feasible(self):
        """Tell at which thresholds the bounds are kept, or may be kept."""
        problem = self.problem
        loss = np.zeros_like(self.id_weight)
        if problem.max_loss < np.inf:
            loss = self.extreme(1.0, -problem.loss_per_id)
            loss += problem.loss_per_id * self.id_weight
        return problem.is_feasible(self.id_weight, self.ood_weight, loss)

    def excess(self, price):
        """Return the extreme of what is paid over a price for each unit of ID weight.

        Without a mean it is what is paid over a price at all.
        """
        problem = self.problem
        rest = problem.ood_price * self.ood_weight + problem.offset
        if not problem.is_mean:
            return self.extreme(problem.loss_price, problem.id_price) + rest - price
        return self.extreme(problem.loss_price, problem.id_price - price) + rest

    def price_at(self, place):
        """Return the extreme price at one threshold."""
        inside, cut = self.borders.split(self.borders.thresholds[place])
        whole, cut = self.cells.take(inside), self.cells.take(cut)
        loss, id_weight = (
            getattr(whole, name).sum() + getattr(self.always, name).sum()
            for name in ("loss", "id_weight")
        )
        problem = self.problem
        rest = problem.ood_price * self.ood_weight[place] + problem.offset

        sums = problem.loss_price * loss + rest, id_weight

        def paid(price):
            id_price = problem.id_price - price
            parts = self._parts(cut, problem.loss_price, id_price)
            slope = sums[1] + cut.parts().sum(where=parts != 0)
            return sums[0] + id_price * sums[1] + parts.sum(), slope

        if not problem.is_mean:
            return float(paid(0.0)[0])
        # The price of all that is touched is one that the extreme is beyond.
        loss, id_weight = loss + cut.loss.sum(), id_weight + cut.id_weight.sum()
        start = problem.price(id_weight, self.ood_weight[place], loss)
        return _find_root(paid, float(start))


def _find_root(paid, price):
    """Return the price at which nothing is left to pay, from one on this side of it.

    `paid` returns what is left and by how much a unit of the price lowers it; it is
    piecewise linear, and convex or concave.
    """
    for _ in range(_MOST_STEPS):
        left, slope = paid(price)
        following = price + left / slope if slope > 0 else price
        if abs(following - price) <= np.spacing(abs(price)):
            break
        price = following
    return price


def _search(sums, best):
    """Return the best of a cut known and of those of a direction or of an arc."""
    feasible = sums.is_feasible()
    if not feasible.any():
        return best
    while (place := _better_place(sums, feasible, best)) is not None:
        found = CellCut(
            sums.price_at(place),
            float(sums.id_weight[place]),
            float(sums.ood_weight[place]),
            float(sums.borders.thresholds[place]),
            sums.borders.weights,
        )
        feasible[place] = False
        if _beats(found, best, sums.problem):
            best = found
    return best


def _better_place(sums, feasible, best):
    """Return the threshold most below the best price, else that of most ID weight."""
    possible = np.flatnonzero(feasible)
    if not len(possible):
        return None
    if best is None:
        return possible[np.argmax(sums.id_weight[possible])]
    excess = sums.excess(best.price)[possible]
    slack = sums.problem.slack(best.price)
    slack = slack * (sums.id_weight[possible] if sums.problem.is_mean else 1.0)
    if (excess < -slack).any():
        return possible[np.argmin(excess)]
    most = best.id_weight * (1 + RELATIVE_TOLERANCE)
    equal = (excess <= slack) & (sums.id_weight[possible] > most)
    if not equal.any():
        return None
    possible = possible[equal]
    return possible[np.argmax(sums.id_weight[possible])]


def _beats(found, best, problem):
    """Tell if a cut has a lower price, else accepts more ID samples for certain."""
    if best is None:
        return True
    slack = problem.slack(best.price)
    if abs(found.price - best.price) > slack:
        return found.price < best.price
    return found.id_weight > best.id_weight * (1 + RELATIVE_TOLERANCE)
