"""The best path on a grid of thresholds: the best way through a lattice of counts."""

from dataclasses import dataclass
from functools import reduce
from itertools import cycle, pairwise
from math import prod

import numpy as np

from sklearn_reject.thresholds._grid import (
    count_documents,
    count_ranks,
    grid_fits,
    locate_thresholds,
    rank_scores,
    threshold_grid,
)
from sklearn_reject.thresholds._path import (
    ThresholdPath,
    are_exact,
    area_under,
    only_path,
)

# Rows are worked on in parts of this many nodes, which fit into the processor's cache.
_NODES_AT_ONCE = 1 << 15

# Areas of weighted documents differ by rounding.
LEAST_GAIN = 1e-12


def best_lattice_path(fp, tp, through=None):
    """Find the path of the largest area under TP against FP, shape (n_nodes, N).

    It leads from the first node, by way of the node `through` if there is one, to the
    last, each step to the next index of one axis. Areas of counts are exact.
    """
    if through is not None:
        before = tuple(slice(index + 1) for index in through)
        after = tuple(slice(index, None) for index in through)
        first = best_lattice_path(fp[before], tp[before])
        second = best_lattice_path(fp[after], tp[after])
        return np.concatenate([first, second[1:] + through])
    # A step from u to v adds (FP(u) - FP(v)) (TP(u) + TP(v)) / 2 (RZMR20). As no step
    # leads back, one pass over the nodes finds the best of all paths.
    n_axes = fp.ndim
    fp, tp = np.atleast_2d(fp, tp)
    shape = fp.shape
    fp, tp = (counts.reshape(-1, shape[-1]) for counts in (fp, tp))
    if len(shape) == 2:
        best = best_areas_by_rows(fp, tp)
    else:
        best = best_areas_by_wavefronts(fp, tp, shape[:-1])
    nodes = _trace_back(best, fp, tp, shape)
    return np.stack(np.unravel_index(nodes, shape), axis=1)[:, -n_axes:]


def _trace_back(best, fp, tp, shape):
    """Return the nodes, numbered row by row, that lead to the area of the last."""
    best, fp, tp = best.ravel(), fp.ravel(), tp.ravel()
    # Of equal areas the one of the first axis; rounding must not choose between them.
    slack = 0.0
    if not are_exact(fp, tp):
        slack = LEAST_GAIN * best.item(prod(shape) - 1)
    follow = _trace_back_rows if len(shape) == 2 else _trace_back_axes
    return follow(best, fp, tp, shape, slack)[::-1]


def _trace_back_rows(best, fp, tp, shape, slack):
    """Return the nodes of two axes from the last to the first."""
    # As that of any number of axes, in a third of the time: for pairs it is most of it.
    stride, node = shape[1], prod(shape) - 1
    nodes, best, fp, tp = [node], best.item, fp.item, tp.item
    while node >= stride and node % stride:
        above, before = node - stride, node - 1
        fp_here, tp_here = fp(node), tp(node)
        area_above = best(above) + (fp(above) - fp_here) * (tp(above) + tp_here)
        area_before = best(before) + (fp(before) - fp_here) * (tp(before) + tp_here)
        node = above if area_above >= area_before - slack else before
        nodes.append(node)
    # Along the border there is one way.
    nodes.extend(
        range(node - stride, -1, -stride) if node >= stride else range(node - 1, -1, -1)
    )
    return nodes


def _trace_back_axes(best, fp, tp, shape, slack):
    """Return the nodes from the last to the first."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    indices = [length - 1 for length in shape]
    nodes = [prod(shape) - 1]
    while nodes[-1]:
        fp_here, tp_here = fp.item(nodes[-1]), tp.item(nodes[-1])
        axes = [axis for axis, index in enumerate(indices) if index]
        origins = [nodes[-1] - strides[axis] for axis in axes]
        areas = [
            best.item(node) + (fp.item(node) - fp_here) * (tp.item(node) + tp_here)
            for node in origins
        ]
        least = max(areas) - slack
        latest = next(k for k, area in enumerate(areas) if area >= least)
        indices[axes[latest]] -= 1
        nodes.append(origins[latest])
    return nodes


def best_areas_by_rows(fp, tp):
    """Find twice the best area under TP against FP up to each node, row by row."""
    # With V the best area up to a node, W the area along its row from the start, and U
    # the best area that arrives from the row before, V_i = W_i + max_(j <= i) (U_j -
    # W_j).
    best = np.empty(fp.shape)
    best[0] = _areas_along(fp[:1], tp[:1])[0]
    n_at_once = max(1, _NODES_AT_ONCE // fp.shape[1])
    for start in range(1, len(fp), n_at_once):
        part = slice(start - 1, start + n_at_once)
        f, t = fp[part], tp[part]
        along = _areas_along(f, t)[1:]
        change = (f[:-1] - f[1:]) * (t[:-1] + t[1:]) - along
        for row in range(len(along)):
            here = best[start + row]
            np.add(best[start + row - 1], change[row], out=here)
            np.maximum.accumulate(here, out=here)
            here += along[row]
    return best


def best_areas_by_wavefronts(fp, tp, shape):
    """Find twice the best area up to each node, many rows at once.

    One more row at the end is -inf, for rows that nothing leads to.
    """
    # Rows along the last axis whose other indices have the same sum do not lead to one
    # another. All of them follow from those whose sum is one less.
    best = np.full((len(fp) + 1, fp.shape[1]), -np.inf)
    best[0] = _areas_along(fp[:1], tp[:1])[0]
    for rows in _wavefronts(shape, max(1, _NODES_AT_ONCE // fp.shape[1])):
        fp_here, tp_here = fp[rows], tp[rows]
        best_here = -np.inf
        for axis, index in enumerate(np.unravel_index(rows, shape)):
            before = np.where(index > 0, rows - prod(shape[axis + 1 :]), -1)
            area = fp[before]
            area -= fp_here
            area *= tp[before] + tp_here
            area += best[before]
            best_here = np.maximum(best_here, area)
        along = _areas_along(fp_here, tp_here)
        best_here -= along
        np.maximum.accumulate(best_here, axis=1, out=best_here)
        best_here += along
        best[rows] = best_here
    return best


def _areas_along(fp, tp):
    """Return twice the areas along rows, from the start of each row."""
    areas = np.zeros(fp.shape)
    steps = (fp[:, :-1] - fp[:, 1:]) * (tp[:, :-1] + tp[:, 1:])
    np.cumsum(steps, axis=1, out=areas[:, 1:])
    return areas


def _wavefronts(shape, n_at_once):
    """Yield rows whose indices have the same sum, all rows but the first."""
    indices = [np.arange(length, dtype=np.int32) for length in shape]
    sums = reduce(np.add.outer, indices).ravel()
    order = np.argsort(sums, kind="stable")
    stops = np.cumsum(np.bincount(sums))
    for start, stop in pairwise(stops):
        for first in range(start, stop, n_at_once):
            yield order[first : min(first + n_at_once, stop)]


# A second or two: beyond, pairs are much faster.
_LARGEST_GRID = 10**7

# Different starts end in different optima; more than these are rarely worth their time.
_MOST_STARTS = 8


def graph_path(documents, n_thresholds=100, through=None):
    """Find the path of the largest area on a grid of thresholds.

    All combinations of thresholds up to some ten million, and a local optimum beyond.
    Thresholds `through` are to be a vertex of the path: scores from the lowest
    thresholds on, or infinite.
    """
    # One classifier needs no grid: its only path has all its scores.
    if documents.n_classifiers == 1:
        return only_path(documents, () if through is None else through)
    if through is None:
        grid = threshold_grid(documents, n_thresholds)
    else:  # which takes up to one threshold of each classifier
        grid = threshold_grid(documents, max(2, n_thresholds - 1))
        grid = [np.union1d(*pair) for pair in zip(grid, through, strict=True)]
    shape = tuple(map(len, grid))
    if prod(shape) > _LARGEST_GRID or not grid_fits(shape):
        return _best_pairwise_path(documents, grid, through)
    counts = count_documents(documents, grid)
    return best_grid_path(grid, *counts, documents.rule, through)


def best_grid_path(grid, fp, tp, rule, through=None):
    """Find the path of the largest area through a table; of counts, exactly.

    Paths raise one threshold at a time, from the lowest to infinity.
    """
    if through is not None:
        through = locate_thresholds(grid, through)
    nodes = tuple(best_lattice_path(fp, tp, through).T)
    thresholds = [values[index] for values, index in zip(grid, nodes, strict=True)]
    fp, tp = fp[nodes], tp[nodes]
    return ThresholdPath(np.column_stack(thresholds), fp, tp, area_under(fp, tp), rule)


# Passes over two axes of many


def _best_pairwise_path(documents, grid, through=None):
    """Improve a path by exact passes over two axes, until none is left to improve.

    No path is better that changes the thresholds of one classifier alone against those
    of the others. Never worse than a single classifier.
    """
    # The other classifiers, on their common path, act like one classifier whose
    # thresholds are the vertices of that path. A document reaches as many of them as
    # the most (the fewest, under the rule "all") that one of its scores reaches.
    search = _PairSearch(documents, grid, through)
    found = list(map(search.climb, search.starts()))
    least = max(branch.area for branch in found) * (1 - LEAST_GAIN)
    best = next(branch for branch in found if branch.area >= least)
    order = np.argsort(best.members)
    pairs = zip(grid, best.nodes.T[order], strict=True)
    thresholds = np.column_stack([values[index] for values, index in pairs])
    return ThresholdPath(thresholds, best.fp, best.tp, best.area, documents.rule)


@dataclass(frozen=True, eq=False)
class _Branch:
    """A path of some of the classifiers.

    `nodes`, of shape (n_nodes, n_members), are indices of the grid, in the order of
    `members`.
    """

    members: tuple
    nodes: np.ndarray
    fp: np.ndarray = None
    tp: np.ndarray = None
    area: float = 0.0

    def without(self, member):
        """Return the path of the other classifiers."""
        column = self.members.index(member)
        others = self.members[:column] + self.members[column + 1 :]
        nodes = np.delete(self.nodes, column, axis=1)
        is_new = np.ones(len(nodes), dtype=bool)
        is_new[1:] = (nodes[1:] != nodes[:-1]).any(axis=1)
        return _Branch(others, nodes[is_new])


class _PairSearch:
    """Passes over pairs of branches, on one grid."""

    def __init__(self, documents, grid, through):
        self.documents = documents
        self.lengths = list(map(len, grid))
        self.ranks = rank_scores(documents.scores, grid)
        self.through = through
        if through is not None:
            self.through = locate_thresholds(grid, through)

    def starts(self):
        """Yield paths of all classifiers, merged one after the other."""
        # The first starts with the best and ends with the worst, the second starts with
        # the second best and ends with the best, and so on.
        none = _Branch((), np.zeros((1, 0), dtype=np.intp))
        singles = [self.merge(none, self.single(a)) for a in range(len(self.lengths))]
        # Rounding must not choose between equal areas.
        unit = LEAST_GAIN * max(branch.area for branch in singles) or 1.0
        singles.sort(key=lambda branch: -np.rint(branch.area / unit))
        for first in range(min(len(singles), _MOST_STARTS)):
            yield reduce(self.merge, singles[first:] + singles[:first])

    def climb(self, branch):
        """Move one classifier after the other until none improves the area."""
        n_stale, members = 0, cycle(range(len(self.lengths)))
        while n_stale < len(self.lengths):
            member = next(members)
            merged = self.merge(branch.without(member), self.single(member))
            n_stale += 1
            if merged.area > branch.area * (1 + LEAST_GAIN):
                branch, n_stale = merged, 0
        return branch

    def single(self, member):
        """Return the branch of one classifier."""
        nodes = np.arange(self.lengths[member])[:, np.newaxis]
        return _Branch((member,), nodes)

    def merge(self, *branches):
        """Return the best path of two branches that keep their order."""
        # The pass is a loop over the first axis.
        branches = sorted(branches, key=lambda branch: len(branch.nodes))
        shape = tuple(len(branch.nodes) for branch in branches)
        fp, tp = count_ranks(
            map(self.joint_rank, branches),
            self.documents.is_positive,
            self.documents.weight,
            shape,
            self.documents.rule,
        )
        through = None
        if self.through is not None:
            through = np.array(list(map(self.position, branches)))
        nodes = best_lattice_path(fp, tp, through).T
        fp, tp = fp[tuple(nodes)], tp[tuple(nodes)]
        pairs = zip(branches, nodes, strict=True)
        joint = np.hstack([branch.nodes[index] for branch, index in pairs])
        members = branches[0].members + branches[1].members
        return _Branch(members, joint, fp, tp, area_under(fp, tp))

    def joint_rank(self, branch):
        """Return the number of nodes at which the branch predicts a document."""
        is_any = self.documents.rule == "any"
        worst = 0 if is_any else len(branch.nodes)
        joint = np.full(len(self.documents.scores), worst, dtype=np.intp)
        for member, column in zip(branch.members, branch.nodes.T, strict=True):
            n_below = np.searchsorted(column, np.arange(self.lengths[member]))
            rank = n_below[self.ranks[member]]
            (np.maximum if is_any else np.minimum)(joint, rank, out=joint)
        return joint

    def position(self, branch):
        """Return the node of a branch that the path has to pass."""
        is_there = branch.nodes == self.through[list(branch.members)]
        return np.flatnonzero(is_there.all(axis=1))[0]
