"""Thresholds of each classifier that a search compares, and counts at all of them."""

from dataclasses import dataclass
from decimal import Context, Decimal
from math import prod
from numbers import Integral

import numpy as np
from sklearn import get_config

from sklearn_reject._validation import check_option, of_arrays, take_weight
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


@of_arrays
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
    pos_label=None,
    propensity=None,
):
    """Count false and true positives at all combinations of thresholds.

    Only rated documents count (RZMR20). One histogram and its cumulative sums along
    each classifier take the place of a count for each combination: the time is
    proportional to the number of documents plus n_classifiers times the number of
    combinations.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Scores, higher = more likely positive. NaN where a classifier did not run,
        which reaches no threshold: under "any" the others decide, and under "all" the
        document is not predicted positive.

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

    pos_label : label, default=None
        The positive class. None is 1 where the classes are 0 and 1, and the last of
        two sorted classes otherwise.

    propensity : float or array-like of shape (n_documents,), default=None
        Probability in ]0, 1] of each document to be rated, where that was left to
        chance, and NaN where it was not. Rated documents weigh the inverse, times
        `sample_weight`, and stand for unrated ones that were as likely to be rated.
        Only unrated documents without a propensity say that ratings are incomplete.

    Returns
    -------
    table : PNTable
        Thresholds of each classifier, false and true positives.

    Raises
    ------
    ValueError
        If scores are infinite or constant, a class has no rated documents, there are
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
    check_n_thresholds(n_thresholds)
    check_option(spacing, "spacing", SPACINGS)
    documents = check_documents(
        scores,
        y,
        rule,
        base_thresholds,
        unrated_label,
        sample_weight,
        pos_label,
        propensity,
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
    columns = zip(grid, documents.scores.T, strict=True)
    ranks = [count_reached(*pair) for pair in columns]
    fp, tp = count_ranks(ranks, documents, tuple(map(len, grid)))
    return PNTable(tuple(grid), fp, tp, documents.rule)


def count_ranks(ranks, documents, shape):
    """Count false and true positives, shape (2, *shape), from ranks on each axis.

    They are those of the indices that a rank is above of, on any axis or on all.
    """
    check_grid_fits(shape)
    # Under "all" every document reaches the lowest thresholds: no rank is 0.
    is_any = documents.rule == "any"
    code = documents.is_positive.astype(np.intp)
    for rank, length in zip(ranks, shape, strict=True):
        code *= length
        code += rank
        code -= not is_any
    counts = np.bincount(code, documents.weight, 2 * prod(shape))
    counts = counts.astype(np.float64, copy=False).reshape(2, *shape)
    # Under "all" sum up, in place, from the end, which comes first in a view; under
    # "any" from the start, and take the sums from the totals.
    axes = tuple(range(1, counts.ndim))
    view = counts if is_any else np.flip(counts, axes)
    for axis in axes:
        np.cumsum(view, axis=axis, out=view)
    if is_any:
        totals = counts.reshape(2, -1)[:, -1].copy()
        np.subtract(totals.reshape(2, *[1] * len(axes)), counts, out=counts)
    return counts


def threshold_grid(documents, n_thresholds, spacing="quantile"):
    """Choose increasing thresholds of each classifier, at most `n_thresholds`.

    All are scores of documents, from the lowest threshold of the classifier to
    infinity. Where all distinct scores fit, the grid has them all.
    """
    room, grid = n_thresholds - 2, []
    of_class = ~documents.is_positive, documents.is_positive
    for base, scores in zip(documents.base, documents.scores.T, strict=True):
        is_above = scores > base
        classes = [
            _sort_class(scores[rows], take_weight(documents.weight, rows))
            for rows in (is_above & is_class for is_class in of_class)
        ]
        distinct = [scores for scores, _ in classes]
        fits = max(map(len, distinct)) <= room
        chosen = np.union1d(*distinct) if fits else ()
        if not fits or len(chosen) > room:
            chosen = SPACINGS[spacing](base, classes, room)
        grid.append(np.concatenate([[base], chosen, [np.inf]]))
    return grid


def check_n_thresholds(n_thresholds):
    """Raise unless the number of thresholds is an int of at least two."""
    is_int = isinstance(n_thresholds, Integral) and not isinstance(n_thresholds, bool)
    if not is_int or n_thresholds < 2:
        raise ValueError(
            "n_thresholds must be an int >= 2, for the lowest threshold and infinity, "
            f"got {n_thresholds!r}."
        )


def _sort_class(scores, weight):
    """Return the distinct scores of a class, and the weight of all up to each."""
    if weight is None:
        distinct, sizes = np.unique(scores, return_counts=True)
    else:
        distinct, group = np.unique(scores, return_inverse=True)
        sizes = np.bincount(group, weight)
    return distinct, np.cumsum(sizes, dtype=np.float64)


def _quantiles_of_classes(base, classes, room):
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


def _equal_steps(base, classes, room):
    """Return the next score above each step from the base to the highest score."""
    scores = np.union1d(*(distinct for distinct, _ in classes))
    part = np.linspace(0.0, 1.0, room + 1)[1:]
    # The difference of two scores might overflow, and rounding end above the highest.
    steps = np.minimum(base * (1 - part) + scores[-1] * part, scores[-1])
    return np.unique(scores[np.searchsorted(scores, steps)])


SPACINGS = {"quantile": _quantiles_of_classes, "uniform": _equal_steps}


def count_reached(thresholds, scores):
    """Return how many of increasing thresholds each score reaches: its rank.

    All thresholds are finite but the last. A classifier predicts a document positive at
    the thresholds of index below its rank.
    """
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


def locate_thresholds(grid, thresholds):
    """Return the position of a threshold of each classifier in a grid that has it."""
    pairs = zip(grid, thresholds, strict=True)
    return np.array([np.searchsorted(*pair) for pair in pairs])


def grid_fits(shape):
    """Tell whether a grid of this shape fits into scikit-learn's working memory."""
    return prod(shape) * BYTES_PER_NODE <= get_config()["working_memory"] * 2**20


def check_grid_fits(shape):
    """Raise unless a grid of this shape fits into scikit-learn's working memory."""
    if grid_fits(shape):
        return
    largest = 1
    while grid_fits([min(largest + 1, length) for length in shape]):
        largest += 1
    way_out = f"Take n_thresholds={largest} at most"
    if largest == 1:
        way_out = "Not even n_thresholds=2 fits: take fewer classifiers"
    needed = -(-prod(shape) * BYTES_PER_NODE // 2**20)
    raise ValueError(
        f"n_thresholds is too large: {len(shape)} classifiers with up to {max(shape)} "
        f"thresholds each make a grid of {_spell(prod(shape))} nodes, which takes "
        f"{_spell(needed)} MiB, more than scikit-learn's working_memory of "
        f"{get_config()['working_memory']:g} MiB. {way_out}, allow "
        f"more by sklearn.set_config(working_memory={_spell(needed)}), or, for a path "
        'of more than two classifiers, take search="pairs".'
    )


def _spell(number):
    if number < 10**9:
        return str(number)
    # A float would not hold the nodes of hundreds of classifiers.
    return f"{Decimal(number).normalize(Context(prec=3)):g}"
