"""Grids of thresholds, counts at all of them, and the best path through them."""

from dataclasses import replace
from decimal import Context, Decimal
from itertools import cycle, pairwise
from math import prod

import numpy as np
from sklearn import get_config

from sklearn_reject._validation import take_weight
from sklearn_reject.thresholds._point import path_of

# Counts of both classes, as integers and as sums of doubles. The search for the best
# path needs less: the sums, the best area up to a node, and some rows at a time.
BYTES_PER_NODE = 32

# Bits of the mantissa of a double that do not matter to its bucket: 40 of 52 leave 4096
# buckets to each power of two, of which there are at most 64.
_IGNORED_BITS = 40

_MOST_BUCKETS = 64 << 12

# Up to here the buckets cost more than they save.
_FEW_SCORES = 1 << 14


# Thresholds


def threshold_grid(documents, n_thresholds):
    """Choose increasing thresholds of each classifier, at most `n_thresholds`.

    All are scores of documents, from the lowest threshold of the classifier to
    infinity. Where all distinct scores fit, the grid has them all.
    """
    room, grid = n_thresholds - 2, []
    for base, scores in zip(documents.base, documents.scores.T, strict=True):
        classes = []
        for rows, weight in documents.classes:
            is_above = scores[rows] > base
            own = take_weight(weight, is_above)
            classes.append(_sort_class(scores[rows][is_above], own))
        distinct = [scores for scores, _ in classes]
        fits = max(map(len, distinct)) <= room
        chosen = np.union1d(*distinct) if fits else ()
        if not fits or len(chosen) > room:
            chosen = _quantiles_of_classes(classes, room)
        grid.append(np.concatenate([[base], chosen, [np.inf]]))
    return grid


def _sort_class(scores, weight):
    """Return the distinct scores of a class, and the weight of all up to each."""
    if weight is None:
        distinct, sizes = np.unique(scores, return_counts=True)
    else:
        distinct, group = np.unique(scores, return_inverse=True)
        sizes = np.bincount(group, weight)
    return distinct, np.cumsum(sizes, dtype=np.float64)


def _quantiles_of_classes(classes, room):
    """Return quantiles of negatives and of positives, so that both weigh the same."""
    # Quantiles of all documents would leave a handful of thresholds to the positives of
    # rare events, where the curve has all its steps. A class with fewer distinct scores
    # than its half leaves the rest to the other class.
    n_negative, n_positive = (len(distinct) for distinct, _ in classes)
    n_positive = min(n_positive, max((room + 1) // 2, room - n_negative))
    numbers = (min(n_negative, room - n_positive), n_positive)
    parts = zip(classes, numbers, strict=True)
    return np.union1d(*[_quantiles(*of_class, number) for of_class, number in parts])


def _quantiles(distinct, reached, number):
    """Return existing scores, the lowest and the highest among them."""
    if number >= len(distinct):
        return distinct
    # Half of them where the weight reaches levels in equal steps, and half in equal
    # ratios from the top: rare events are looked for among the highest scores.
    total = reached[-1]
    top = total - (reached[-2] if len(reached) > 1 else 0.0)
    top = max(top, np.finfo(np.float64).eps * total)  # if it was lost in the sum
    from_top = np.geomspace(top, total, number // 2)
    steps = np.linspace(0.0, total, number - number // 2)
    levels = np.append(steps, np.maximum(total - from_top, 0.0))
    chosen = np.unique(distinct[np.searchsorted(reached, levels)])
    # Quantiles in common leave room.
    others = np.setdiff1d(distinct, chosen, assume_unique=True)
    steps = np.linspace(0, len(others) - 1, number - len(chosen))
    return np.union1d(chosen, others[np.rint(steps).astype(np.intp)])


def locate_thresholds(grid, thresholds):
    """Return the position of a threshold of each classifier in a grid that has it."""
    pairs = zip(grid, thresholds, strict=True)
    return np.array([np.searchsorted(*pair) for pair in pairs])


# Ranks of scores


def rank_scores(scores, grid):
    """Return how many thresholds of its classifier each score reaches, by column.

    Thresholds increase, the last is infinite. A classifier predicts a document positive
    at the thresholds of index below its rank.
    """
    return [_rank(*pair) for pair in zip(grid, scores.T, strict=True)]


def _rank(thresholds, scores):
    """Return how many of increasing thresholds each score reaches."""
    if thresholds[0] == -np.inf:
        return _rank(thresholds[1:], scores) + ~np.isnan(scores)
    # A binary search among unordered scores mostly waits for wrong guesses of the
    # processor. Most scores need one comparison instead, with the threshold in the same
    # bucket; where there are more, they are searched. The width of a bucket is relative
    # to the distance from the lowest threshold, which most scores of rare events are
    # close to.
    scores = np.where(np.isnan(scores), -np.inf, scores)
    if len(scores) <= _FEW_SCORES or len(thresholds) == 1:
        return np.searchsorted(thresholds, scores, side="right")
    of_thresholds = _bucket(thresholds[:-1], thresholds[0])
    highest = of_thresholds[-1]
    lowest = max(highest - _MOST_BUCKETS, 0)
    bucket = np.clip(_bucket(scores, thresholds[0]), lowest, highest) - lowest
    n_inside = np.bincount(np.maximum(of_thresholds, lowest) - lowest)
    n_reached = (np.cumsum(n_inside) - n_inside)[bucket]
    n_reached += scores >= thresholds[n_reached]
    crowded = np.flatnonzero((n_inside > 1)[bucket])
    n_reached[crowded] = np.searchsorted(thresholds, scores[crowded], side="right")
    return n_reached


def _bucket(scores, origin):
    """Return the bucket of each score, none lower than that of a lower score."""
    # The bits of a double that is not negative, read as an integer, keep the order.
    # Those of a negative one read as a negative integer.
    with np.errstate(over="ignore"):
        distance = scores - origin
    return distance.view(np.int64) >> _IGNORED_BITS


# Counts at all combinations


def count_ranks(ranks, groups, shape, rule):
    """Count groups of documents on a grid, shape (n_groups, *shape).

    Those of the indices that a rank is above of, on any axis or on all. Groups are
    pairs of rows and weights, or None.
    """
    # Under "all" every document reaches the lowest thresholds: no rank is 0.
    is_any = rule == "any"
    code = np.zeros(len(ranks[0]), dtype=np.intp)
    for rank, length in zip(ranks, shape, strict=True):
        code *= length
        code += rank
        code -= not is_any
    counts = np.empty((len(groups), prod(shape)))
    for own, (rows, weight) in zip(counts, groups, strict=True):
        own[:] = np.bincount(code[rows], weight, len(own))
    counts = counts.reshape(-1, *shape)
    # Under "all" sum up, in place, from the end, which comes first in a view; under
    # "any" from the start, and take the sums from the totals.
    axes = tuple(range(1, counts.ndim))
    view = counts if is_any else np.flip(counts, axes)
    for axis in axes:
        np.cumsum(view, axis=axis, out=view)
    if is_any:
        totals = counts.reshape(len(groups), -1)[:, -1].copy()
        np.subtract(totals.reshape(-1, *[1] * len(axes)), counts, out=counts)
    return counts


def grid_fits(shape, bytes_per_node=BYTES_PER_NODE):
    """Tell whether a grid of this shape fits into scikit-learn's working memory."""
    return prod(shape) * bytes_per_node <= get_config()["working_memory"] * 2**20


def check_grid_fits(shape, bytes_per_node=BYTES_PER_NODE, name="n_thresholds"):
    """Raise unless a grid of this shape fits into scikit-learn's working memory.

    `name` is the parameter that made it, `n_thresholds` or `thresholds`.
    """
    if grid_fits(shape, bytes_per_node):
        return
    largest = 1
    while grid_fits([min(largest + 1, n) for n in shape], bytes_per_node):
        largest += 1
    way_out = "Use fewer classifiers"
    if largest > 1:
        way_out = f"Use at most {largest} {name} for each classifier"
    nodes, needed = prod(shape), -(-prod(shape) * bytes_per_node // 2**20)
    raise ValueError(
        f"{name} is too large: {len(shape)} classifiers with up to {max(shape)} each "
        f"make a grid of {_spell(nodes)} nodes, which takes {_spell(needed)} MiB, more "
        f"than working_memory={get_config()['working_memory']:g} MiB. {way_out}, or "
        f"allow it with sklearn.set_config(working_memory={_spell(needed)})."
    )


def _spell(number):
    # A float would not hold the nodes of hundreds of classifiers.
    is_short = number < 10**9
    return str(number) if is_short else f"{Decimal(number).normalize(Context(3)):g}"


# Paths

# Rows are worked on in parts of this many nodes, which fit into the processor's cache.
_NODES_AT_ONCE = 1 << 15

# Areas of weighted documents differ by rounding.
LEAST_GAIN = 1e-12


def best_lattice_path(fp, tp):
    """Find the path of the largest area under TP against FP, shape (n_nodes, N).

    It leads from the first node to the last, each step to the next index of one axis.
    Areas of counts are exact.
    """
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
    are_counts = (fp == np.rint(fp)).all() and (tp == np.rint(tp)).all()
    best, fp, tp = best.ravel().item, fp.ravel().item, tp.ravel().item
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    node, indices = prod(shape) - 1, [length - 1 for length in shape]
    # Of equal areas the one of the first axis; rounding must not choose between them.
    # Areas of counts are exact, and differ by half or more.
    slack = LEAST_GAIN * best(node)
    if are_counts:
        slack = min(slack, 0.5)
    nodes = [node]
    while node:
        fp_here, tp_here = fp(node), tp(node)
        latest, least = None, -np.inf
        for axis, stride in enumerate(strides):
            if indices[axis]:
                origin = node - stride
                area = best(origin) + (fp(origin) - fp_here) * (tp(origin) + tp_here)
                if area > least + slack:
                    latest, least = axis, area
        indices[latest] -= 1
        node -= strides[latest]
        nodes.append(node)
    return nodes[::-1]


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
    sums = np.indices(shape, dtype=np.int32).sum(axis=0).ravel()
    order = np.argsort(sums, kind="stable")
    stops = np.cumsum(np.bincount(sums))
    for start, stop in pairwise(stops):
        for first in range(start, stop, n_at_once):
            yield order[first : min(first + n_at_once, stop)]


# A second or two: beyond, pairs are much faster.
_LARGEST_GRID = 10**7

# Different starts end in different optima; more than these are rarely worth their time.
_MOST_STARTS = 8


def graph_path(documents, n_thresholds=100):
    """Find the path of the largest area on a grid of thresholds.

    All combinations of thresholds up to some ten million, and a local optimum beyond.
    """
    grid = threshold_grid(documents, n_thresholds)
    shape = tuple(map(len, grid))
    if prod(shape) > _LARGEST_GRID or not grid_fits(shape):
        return _best_pairwise_path(documents, grid)
    ranks = rank_scores(documents.scores, grid)
    counts = count_ranks(ranks, documents.classes, shape, documents.rule)
    return best_grid_path(grid, *counts, documents.rule)


def best_grid_path(grid, fp, tp, rule):
    """Find the path of the largest area through a table; of counts, exactly.

    Paths raise one threshold at a time, from the lowest to infinity.
    """
    nodes = tuple(best_lattice_path(fp, tp).T)
    thresholds = [values[index] for values, index in zip(grid, nodes, strict=True)]
    return path_of(np.column_stack(thresholds), fp[nodes], tp[nodes], rule)


# Passes over two axes of many


def _best_pairwise_path(documents, grid):
    """Improve a path by exact passes over two axes, until none is left to improve.

    No path is better that changes the thresholds of one classifier alone against those
    of the others. Never worse than a single classifier.
    """
    # The other classifiers, on their common path, act like one classifier whose
    # thresholds are the vertices of that path. A document reaches as many of them as
    # the most (the fewest, under the rule "all") that one of its scores reaches.
    search = _PairSearch(documents, grid)
    found = list(map(search.climb, search.starts()))
    least = max(path.area for path in found) * (1 - LEAST_GAIN)
    best = next(path for path in found if path.area >= least)
    pairs = zip(grid, best.thresholds.T, strict=True)
    return replace(best, thresholds=np.column_stack([v[k] for v, k in pairs]))


class _PairSearch:
    """Passes over pairs of paths of some classifiers, whose thresholds are numbers."""

    def __init__(self, documents, grid):
        self.documents = documents
        self.lengths = np.array(list(map(len, grid)))
        self.ranks = rank_scores(documents.scores, grid)
        self.is_any = documents.rule == "any"
        # Where a classifier that a path leaves out decides nothing.
        self.idle = self.lengths - 1 if self.is_any else 0 * self.lengths

    def starts(self):
        """Yield paths of all classifiers, merged one after the other."""
        # The first starts with the best and ends with the worst, the second starts with
        # the second best and ends with the best, and so on.
        singles = [self.single(member) for member in range(len(self.lengths))]
        areas = np.array([self.merge(nodes, self.idle[None]).area for nodes in singles])
        # Rounding must not choose between equal areas.
        unit = LEAST_GAIN * areas.max() or 1.0
        order = np.argsort(-np.rint(areas / unit), kind="stable")
        for first in range(min(len(order), _MOST_STARTS)):
            nodes = self.idle[None]
            for member in np.roll(order, -first):
                path = self.merge(nodes, singles[member])
                nodes = path.thresholds
            yield path

    def climb(self, path):
        """Move one classifier after the other until none improves the area."""
        n_stale, members = 0, cycle(range(len(self.lengths)))
        while n_stale < len(self.lengths):
            member = next(members)
            others = path.thresholds.copy()
            others[:, member] = self.idle[member]
            is_new = np.append(True, (others[1:] != others[:-1]).any(axis=1))
            merged = self.merge(others[is_new], self.single(member))
            n_stale += 1
            if merged.area > path.area * (1 + LEAST_GAIN):
                path, n_stale = merged, 0
        return path

    def single(self, member):
        """Return the nodes of the path of one classifier."""
        nodes = np.tile(self.idle, (self.lengths[member], 1))
        nodes[:, member] = np.arange(len(nodes))
        return nodes

    def merge(self, *branches):
        """Return the best path of two branches of nodes, which keep their order."""
        # The pass is a loop over the first axis.
        branches = sorted(branches, key=len)
        shape, rule = tuple(map(len, branches)), self.documents.rule
        check_grid_fits(shape)
        ranks = list(map(self.joint_rank, branches))
        fp, tp = count_ranks(ranks, self.documents.classes, shape, rule)
        index = tuple(best_lattice_path(fp, tp).T)
        parts = [nodes[own] for nodes, own in zip(branches, index, strict=True)]
        joint = (np.minimum if self.is_any else np.maximum)(*parts)
        return path_of(joint, fp[index], tp[index], rule)

    def joint_rank(self, nodes):
        """Return the number of nodes at which a branch predicts a document."""
        joint = np.full(len(self.documents.scores), 0 if self.is_any else len(nodes))
        for member in np.flatnonzero((nodes != self.idle).any(axis=0)):
            n_below = np.searchsorted(nodes[:, member], np.arange(self.lengths[member]))
            rank = n_below[self.ranks[member]]
            (np.maximum if self.is_any else np.minimum)(joint, rank, out=joint)
        return joint
