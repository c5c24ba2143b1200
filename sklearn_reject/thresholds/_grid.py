"""Thresholds of each classifier that a search compares."""

from numbers import Integral

import numpy as np

from sklearn_reject._validation import check_option, take_weight
from sklearn_reject.curves._groups import starts_of_ties

SPACINGS = ("quantile", "uniform")


def threshold_grid(documents, n_thresholds, spacing="quantile"):
    """Choose the thresholds of each classifier.

    All of them are scores of documents, from the lowest threshold of the classifier to
    infinity. Where all distinct scores fit, the grid has them all.

    With quantiles, one half of the thresholds are quantiles of the scores of positives,
    the other half of negatives, so that both classes weigh the same: quantiles of all
    documents would leave a handful of thresholds to the positives of rare events, where
    the curve has all its steps. One half of each is in equal steps, the other in equal
    ratios of what is above, as rare events are looked for among the highest scores. A
    class with fewer distinct scores than its half leaves the rest to the other class.

    Parameters
    ----------
    documents : RatedDocuments
        What counts. Sample weights count in the quantiles.

    n_thresholds : int >= 2
        Largest number of thresholds of a classifier, the two extremes included.

    spacing : {"quantile", "uniform"}, default="quantile"
        Quantiles, or equal steps from the lowest threshold to the highest score, each
        of which ends at the next score above.

    Returns
    -------
    grid : list of n_classifiers ndarrays
        Increasing thresholds of each classifier, at most `n_thresholds`.

    Raises
    ------
    ValueError
        If `n_thresholds` is no int of at least 2, or `spacing` is unknown.
    """
    n_thresholds = check_n_thresholds(n_thresholds)
    check_option(spacing, "spacing", SPACINGS)
    choose = _quantiles_of_classes if spacing == "quantile" else _equal_steps
    columns = zip(documents.base, documents.scores.T, strict=True)
    return [
        _choose(base, _classes_above(base, column, documents), n_thresholds - 2, choose)
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
    """Return quantiles of negatives and of positives."""
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
    n_below_top = np.searchsorted(scores, scores[-1])
    top = reached[-1] - (reached[n_below_top - 1] if n_below_top else 0.0)
    from_top = np.geomspace(top, reached[-1], number // 2)
    levels = np.linspace(0.0, reached[-1], number - number // 2)
    return np.append(levels, np.maximum(reached[-1] - from_top, 0.0))


def _equal_steps(base, classes, distinct, room):
    """Return the next score above each step from the base to the highest score."""
    scores = np.union1d(*distinct)
    share = np.linspace(0.0, 1.0, room + 1)[1:]
    # The difference of two scores might overflow, and rounding end above the highest.
    steps = np.minimum(base * (1 - share) + scores[-1] * share, scores[-1])
    return np.unique(scores[np.searchsorted(scores, steps)])


def locate_thresholds(grid, thresholds):
    """Return the position of thresholds in a grid that has them.

    Parameters
    ----------
    grid : sequence of n_classifiers ndarrays
        Increasing thresholds of each classifier.

    thresholds : ndarray of shape (n_classifiers,)
        One of each.

    Returns
    -------
    indices : ndarray of shape (n_classifiers,), dtype intp
        Positions.
    """
    pairs = zip(grid, thresholds, strict=True)
    return np.array([np.searchsorted(*pair) for pair in pairs])
