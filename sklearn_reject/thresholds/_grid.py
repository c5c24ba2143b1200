"""Thresholds of each classifier that a search compares, and counts at all of them."""

from decimal import Context, Decimal
from math import prod
from numbers import Integral

import numpy as np
from sklearn import get_config

from sklearn_reject._validation import take_weight

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


def check_n_thresholds(n_thresholds):
    """Raise unless the number of thresholds is an int of at least two."""
    is_int = isinstance(n_thresholds, Integral) and not isinstance(n_thresholds, bool)
    if not is_int or n_thresholds < 2:
        raise ValueError(
            "n_thresholds must be an int >= 2, for the lowest threshold and infinity, "
            f"got {n_thresholds!r}."
        )


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
