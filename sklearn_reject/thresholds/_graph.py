"""The best path on a grid of thresholds."""

from dataclasses import dataclass
from functools import reduce
from itertools import cycle
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
from sklearn_reject.thresholds._lattice import LEAST_GAIN, best_lattice_path
from sklearn_reject.thresholds._path import ThresholdPath, area_under, only_path

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
        return only_path(documents, through)
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
