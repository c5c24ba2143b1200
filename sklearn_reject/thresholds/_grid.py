"""Thresholds of each classifier that a search compares, and counts at all of them."""

from dataclasses import dataclass
from decimal import Context, Decimal
from math import prod
from numbers import Integral

import numpy as np
from sklearn import get_config

from sklearn_reject._validation import check_option, take_weight
from sklearn_reject.curves import starts_of_ties
from sklearn_reject.thresholds._documents import check_documents

# Counts of both classes, as integers and as sums of doubles. The search for the best
# path needs less: the sums, the best area up to a node, and some rows at a time.
BYTES_PER_NODE = 32

# Bits of the mantissa of a double that do not matter to its bucket: 40 of 52 leave 4096
# buckets to each power of two, of which there are at most 64.
_IGNORED_BITS = 40

_MOST_BUCKETS = 64 << 12

# Up to here the buckets cost more than they save.
_FEW_SCORES = 1 << 14


def pn_table(
    scores,
    y,
    *,
    rule="any",
    n_thresholds=100,
    spacing="quantile",
    base_thresholds=None,
    unrated_label=-1,
    sample_weight=None,
):
    """Count false and true positives at all combinations of thresholds.

    Only rated documents count (RZMR20). One histogram and its cumulative sums along
    each classifier take the place of a count for each combination: the time is
    proportional to the number of documents plus n_classifiers times the number of
    combinations.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Finite scores, higher = more likely positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others. Two other classes are taken in sorted order.

    rule : {"any", "all"}, default="any"
        Whether one score that reaches its threshold is enough for a document to be
        predicted positive (union), or all have to (intersection).

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier, the two extremes included.

    spacing : {"quantile", "uniform"}, default="quantile"
        Whether the thresholds are quantiles of the scores, half of them of positives
        and half of negatives, or equal steps. All distinct scores where they fit.

    base_thresholds : array-like of shape (n_classifiers,), default=None
        Documents from here on were rated, all or a sample of them. None finds the
        lowest thresholds that no unrated document reaches.

    unrated_label : label, default=-1
        What stands for unrated.

    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    Returns
    -------
    table : PNTable
        Thresholds of each classifier, false and true positives.

    Raises
    ------
    ValueError
        If scores are not finite or constant, a class has no rated documents, there are
        no thresholds down to which ratings are known, or the table would take more than
        scikit-learn's ``working_memory``.

    Examples
    --------
    >>> from sklearn_reject.thresholds import pn_table
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> table = pn_table(scores, [1, 1, 0, 0, 0], n_thresholds=4)
    >>> [values.tolist() for values in table.thresholds]
    [[0.1, 0.3, 0.4, inf], [0.2, 0.3, 0.7, inf]]
    >>> table.tp
    array([[2., 2., 2., 2.],
           [2., 2., 2., 2.],
           [2., 2., 2., 1.],
           [2., 1., 1., 0.]])
    """
    documents = check_documents(
        scores,
        y,
        rule=rule,
        base_thresholds=base_thresholds,
        unrated_label=unrated_label,
        sample_weight=sample_weight,
    )
    return count_table(documents, threshold_grid(documents, n_thresholds, spacing))


@dataclass(frozen=True, eq=False)
class PNTable:
    """False and true positives at all combinations of thresholds.

    Attributes
    ----------
    thresholds : tuple of n_classifiers ndarrays
        Increasing thresholds of each classifier, from the lowest, below which ratings
        are incomplete, to infinity.

    fp, tp : ndarray of shape (n_thresholds_1, ..., n_thresholds_N)
        False and true positives, counts or sums of weights, float64. None rises along
        an axis.

    rule : {"any", "all"}
        How the classifiers decide together.

    Examples
    --------
    >>> from sklearn_reject.thresholds import pn_table
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> table = pn_table(scores, [1, 1, 0, 0, 0])
    >>> table.thresholds[0], table.tp.shape
    (array([0.1, 0.3, 0.4, 0.6, 0.9, inf]), (6, 6))
    >>> float(table.tp[4, 4]), float(table.fp[4, 4])  # at 0.9 and 0.7
    (2.0, 0.0)
    """

    thresholds: tuple
    fp: np.ndarray
    tp: np.ndarray
    rule: str


def count_table(documents, grid):
    """Count false and true positives on a grid."""
    shape = tuple(map(len, grid))
    check_grid_fits(shape)
    fp, tp = count_ranks(ranks(documents, grid).T, documents, shape)
    return PNTable(tuple(grid), fp, tp, documents.rule)


def count_ranks(columns, documents, shape):
    """Count false and true positives, shape (2, *shape), from ranks on each axis.

    They are those of the indices that a rank is above of, on any axis or on all.
    """
    # Under "all" every document reaches the lowest thresholds: no rank is 0.
    shift = documents.rule == "all"
    code = documents.is_positive.astype(np.intp)
    for column, length in zip(columns, shape, strict=True):
        code *= length
        code += column
        code -= shift
    size = 2 * int(np.prod(shape))
    counts = np.bincount(code, documents.weight, size).astype(np.float64, copy=False)
    return _accumulate(counts.reshape(2, *shape), documents.rule)


def _accumulate(counts, rule):
    """Sum up, in place, the nodes above an index, or all but those below."""
    axes = range(1, counts.ndim)
    # A view in opposite order sums from the end.
    view = counts if rule == "any" else np.flip(counts, tuple(axes))
    for axis in axes:
        np.cumsum(view, axis=axis, out=view)
    if rule == "any":
        totals = counts.reshape(2, -1)[:, -1].copy()
        np.subtract(totals.reshape(2, *[1] * len(axes)), counts, out=counts)
    return counts


def threshold_grid(documents, n_thresholds, spacing="quantile"):
    """Choose increasing thresholds of each classifier, at most `n_thresholds`.

    All are scores of documents, from the lowest threshold of the classifier to
    infinity. Where all distinct scores fit, the grid has them all.
    """
    n_thresholds = check_n_thresholds(n_thresholds)
    check_option(spacing, "spacing", SPACINGS)
    columns = zip(documents.base, documents.scores.T, strict=True)
    return [
        _choose(
            base,
            _classes_above(base, column, documents),
            n_thresholds - 2,
            SPACINGS[spacing],
        )
        for base, column in columns
    ]


def check_n_thresholds(n_thresholds):
    """Return the number of thresholds as an int of at least two."""
    is_int = isinstance(n_thresholds, Integral) and not isinstance(n_thresholds, bool)
    if not is_int or n_thresholds < 2:
        raise ValueError(
            "n_thresholds must be an int >= 2, for the lowest threshold and infinity, "
            f"got {n_thresholds!r}."
        )
    return int(n_thresholds)


def _classes_above(base, scores, documents):
    """Return sorted scores above the base, and their weights, of both classes."""
    is_above = scores > base
    rows = (
        is_above & flags for flags in (~documents.is_positive, documents.is_positive)
    )
    return [_sort(scores[row], take_weight(documents.weight, row)) for row in rows]


def _sort(scores, weight):
    if weight is None:
        return np.sort(scores), None
    order = np.argsort(scores)
    return scores[order], weight[order]


def _choose(base, classes, room, choose):
    """Return the base, at most `room` scores above it, and infinity."""
    distinct = [_distinct(scores) for scores, _ in classes]
    chosen = np.union1d(*distinct) if max(map(len, distinct)) <= room else None
    if chosen is None or len(chosen) > room:
        chosen = choose(base, classes, distinct, room) if room else []
    return np.concatenate([[base], chosen, [np.inf]])


def _distinct(ordered):
    return ordered[starts_of_ties(ordered)]


def _quantiles_of_classes(base, classes, distinct, room):
    """Return quantiles of negatives and of positives, so that both weigh the same."""
    # Quantiles of all documents would leave a handful of thresholds to the positives of
    # rare events, where the curve has all its steps. A class with fewer distinct scores
    # than its half leaves the rest to the other class.
    n_negative, n_positive = map(len, distinct)
    n_positive = min(n_positive, max((room + 1) // 2, room - n_negative))
    numbers = (min(n_negative, room - n_positive), n_positive)
    parts = zip(classes, distinct, numbers, strict=True)
    return np.union1d(*[_quantiles(*part) for part in parts])


def _quantiles(of_class, distinct, number):
    """Return existing scores, the lowest and the highest among them."""
    if number >= len(distinct):
        return distinct
    scores, weight = of_class
    reached = np.arange(1.0, len(scores) + 1) if weight is None else np.cumsum(weight)
    chosen = np.unique(
        scores[np.searchsorted(reached, _levels(scores, reached, number))]
    )
    # Quantiles in common leave room.
    others = np.setdiff1d(distinct, chosen, assume_unique=True)
    steps = np.linspace(0, len(others) - 1, number - len(chosen))
    return np.union1d(chosen, others[np.rint(steps).astype(np.intp)])


def _levels(scores, reached, number):
    """Return weights to reach: in equal steps, and in equal ratios from the top."""
    # Rare events are looked for among the highest scores.
    n_below_top = np.searchsorted(scores, scores[-1])
    top = reached[-1] - (reached[n_below_top - 1] if n_below_top else 0.0)
    from_top = np.geomspace(top, reached[-1], number // 2)
    levels = np.linspace(0.0, reached[-1], number - number // 2)
    return np.append(levels, np.maximum(reached[-1] - from_top, 0.0))


def _equal_steps(base, classes, distinct, room):
    """Return the next score above each step from the base to the highest score."""
    scores = np.union1d(*distinct)
    part = np.linspace(0.0, 1.0, room + 1)[1:]
    # The difference of two scores might overflow, and rounding end above the highest.
    steps = np.minimum(base * (1 - part) + scores[-1] * part, scores[-1])
    return np.unique(scores[np.searchsorted(scores, steps)])


SPACINGS = {"quantile": _quantiles_of_classes, "uniform": _equal_steps}


def ranks(documents, grid):
    """Return how many thresholds of each classifier a document reaches.

    Shape (n_documents, n_classifiers), with contiguous columns. A document is predicted
    positive by a classifier at the thresholds of index below its rank.
    """
    columns = zip(grid, documents.scores.T, strict=True)
    return np.array([count_reached(*pair) for pair in columns], dtype=np.intp).T


def count_reached(thresholds, scores):
    """Return the number of increasing thresholds that are at most each finite score.

    All thresholds are finite but the last.
    """
    # A binary search among unordered scores mostly waits for wrong guesses of the
    # processor. Most scores need one comparison instead, with the threshold in the same
    # bucket; where there are more, they are searched. The width of a bucket is relative
    # to the distance from the lowest threshold, which most scores of rare events are
    # close to.
    scores = np.ascontiguousarray(scores)
    if len(scores) <= _FEW_SCORES:
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


def locate_thresholds(grid, thresholds):
    """Return the position of a threshold of each classifier in a grid that has it."""
    pairs = zip(grid, thresholds, strict=True)
    return np.array([np.searchsorted(*pair) for pair in pairs])


def grid_fits(shape):
    """Tell whether a grid of this shape fits into scikit-learn's working memory."""
    return prod(shape) * BYTES_PER_NODE <= _working_bytes()


def check_grid_fits(shape):
    """Raise unless a grid of this shape fits into scikit-learn's working memory."""
    if grid_fits(shape):
        return
    needed = -(-prod(shape) * BYTES_PER_NODE // 2**20)
    raise ValueError(
        f"n_thresholds is too large: {len(shape)} classifiers with up to {max(shape)} "
        f"thresholds each make a grid of {_spell(prod(shape))} nodes, which takes "
        f"{_spell(needed)} MiB, more than scikit-learn's working_memory of "
        f"{get_config()['working_memory']:g} MiB. {_largest_that_fits(shape)}, allow "
        f"more by sklearn.set_config(working_memory={_spell(needed)}), or, for a path "
        'of more than two classifiers, take search="pairs".'
    )


def _working_bytes():
    return get_config()["working_memory"] * 2**20


def _spell(number):
    if number < 10**9:
        return str(number)
    # A float would not hold the nodes of hundreds of classifiers.
    return f"{Decimal(number).normalize(Context(prec=3)):g}"


def _largest_that_fits(shape):
    largest = 1
    while grid_fits([min(largest + 1, length) for length in shape]):
        largest += 1
    if largest == 1:
        return "Not even n_thresholds=2 fits: take fewer classifiers"
    return f"Take n_thresholds={largest} at most"
