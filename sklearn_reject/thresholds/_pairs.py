"""The best path of many classifiers, found for one against the others in turn."""

from dataclasses import dataclass
from functools import reduce
from itertools import cycle

import numpy as np

from sklearn_reject.thresholds._grid import locate_thresholds
from sklearn_reject.thresholds._grid_memory import check_grid_fits
from sklearn_reject.thresholds._lattice import best_lattice_path
from sklearn_reject.thresholds._path import ThresholdPath, area_under
from sklearn_reject.thresholds._ranks import ranks
from sklearn_reject.thresholds._table import count_ranks

# Different starts end in different optima; more than these are rarely worth their time.
_MOST_STARTS = 8

# Areas of weighted documents differ by rounding.
_LEAST_GAIN = 1e-12


def best_pairwise_path(documents, grid, through=None):
    """Improve a path by exact passes over two axes, until none is left to improve.

    The other classifiers, on their common path, act like one classifier whose
    thresholds are the vertices of that path. A document reaches as many of them as the
    most (the fewest, under the rule "all") that one of its scores reaches.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    grid : list of n_classifiers ndarrays
        Increasing thresholds of each classifier, from `documents.base` to infinity.

    through : ndarray of shape (n_classifiers,), default=None
        Thresholds of the grid that are to be a vertex of the path.

    Returns
    -------
    path : ThresholdPath
        A local optimum: no path is better that changes the thresholds of one classifier
        alone against those of the others. Never worse than a single classifier.
    """
    search = _PairSearch(documents, grid, through)
    best = max(map(search.climb, search.starts()), key=lambda branch: branch.area)
    order = np.argsort(best.members)
    pairs = zip(grid, best.nodes.T[order], strict=True)
    thresholds = np.column_stack([values[index] for values, index in pairs])
    return ThresholdPath(thresholds, best.fp, best.tp, best.area, documents.rule)


@dataclass(frozen=True, eq=False)
class _Branch:
    """A path of some of the classifiers.

    The columns of `nodes`, of shape (n_nodes, n_members), are indices of the grid, in
    the order of `members`.
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
        self.ranks = ranks(documents, grid).T
        self.through = through
        if through is not None:
            self.through = locate_thresholds(grid, through)

    def starts(self):
        """Yield paths of all classifiers, merged one after the other.

        The first starts with the best and ends with the worst, the second starts with
        the second best and ends with the best, and so on.
        """
        none = _Branch((), np.zeros((1, 0), dtype=np.intp))
        singles = [self.merge(none, self.single(a)) for a in range(len(self.lengths))]
        singles.sort(key=lambda branch: -branch.area)
        for first in range(min(len(singles), _MOST_STARTS)):
            yield reduce(self.merge, singles[first:] + singles[:first])

    def climb(self, branch):
        """Move one classifier after the other until none improves the area."""
        n_stale, members = 0, cycle(range(len(self.lengths)))
        while n_stale < len(self.lengths):
            member = next(members)
            merged = self.merge(branch.without(member), self.single(member))
            n_stale += 1
            if merged.area > branch.area * (1 + _LEAST_GAIN):
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
        check_grid_fits(shape)
        fp, tp = count_ranks(map(self.joint_rank, branches), self.documents, shape)
        nodes = best_lattice_path(fp, tp, self.waypoint(branches)).T
        fp, tp = fp[tuple(nodes)], tp[tuple(nodes)]
        pairs = zip(branches, nodes, strict=True)
        joint = np.hstack([branch.nodes[index] for branch, index in pairs])
        members = branches[0].members + branches[1].members
        return _Branch(members, joint, fp, tp, area_under(fp, tp))

    def joint_rank(self, branch):
        """Return the number of nodes at which the branch predicts a document."""
        is_any = self.documents.rule == "any"
        worst = 0 if is_any else len(branch.nodes)
        joint = np.full(self.ranks.shape[1], worst, dtype=np.intp)
        for member, column in zip(branch.members, branch.nodes.T, strict=True):
            n_below = np.searchsorted(column, np.arange(self.lengths[member]))
            rank = n_below[self.ranks[member]]
            (np.maximum if is_any else np.minimum)(joint, rank, out=joint)
        return joint

    def waypoint(self, branches):
        """Return where each branch has the thresholds that the path has to pass."""
        if self.through is None:
            return None
        return np.array([self.position(branch) for branch in branches])

    def position(self, branch):
        """Return the node of a branch that the path has to pass."""
        is_there = branch.nodes == self.through[list(branch.members)]
        return np.flatnonzero(is_there.all(axis=1))[0]
