"""Parts of the documents, counted on thresholds that are given."""

import numpy as np

from sklearn_reject._labels import split_some_ratings
from sklearn_reject._validation import (
    as_real_array,
    check_option,
    check_part_weight,
    check_same_length,
)
from sklearn_reject.thresholds._documents import (
    RULES,
    check_scores,
    gather_documents,
    predict_positive,
    weigh_ratings,
)


def check_grid(thresholds):
    """Return increasing thresholds of each classifier, infinity the last of each.

    A vector of numbers are those of a single classifier.
    """
    try:
        is_vector = np.ndim(next(iter(thresholds))) == 0
        grid = [thresholds] if is_vector else list(thresholds)
    except (TypeError, StopIteration, ValueError):
        grid = []
    if not grid:
        raise ValueError(
            "thresholds must hold one vector of increasing numbers for each "
            f"classifier, such as the thresholds of a PNTable, got {thresholds!r}."
        )
    return [_check_axis(values, column) for column, values in enumerate(grid)]


def _check_axis(values, column):
    values = as_real_array(values, "thresholds").astype(np.float64)
    is_vector = values.ndim == 1 and len(values) > 0
    # Comparisons with NaN are false.
    if not is_vector or not (np.diff(values) > 0).all() or np.isnan(values).any():
        raise ValueError(
            f"thresholds of classifier {column} must be a vector of increasing "
            f"numbers, none of them NaN, got {values.tolist()}. Sort them and remove "
            "duplicates, as np.unique does."
        )
    if values[0] == np.inf:
        raise ValueError(
            f"thresholds of classifier {column} contain only infinity, which no score "
            "reaches. Add the lowest threshold, or -inf for all scores."
        )
    return values if values[-1] == np.inf else np.append(values, np.inf)


def check_partition(
    scores,
    y,
    grid,
    rule,
    base_thresholds,
    unrated_label,
    sample_weight,
    pos_label,
    inclusion_proba,
):
    """Validate a part of the documents, which may lack a class or have no rows.

    As `check_documents`, with the first thresholds of the grid as the lowest.
    """
    check_option(rule, "rule", RULES)
    scores = _as_columns(scores, len(grid))
    check_same_length(len(scores), y=y)
    is_positive, is_negative, pos_label = split_some_ratings(
        y, unrated_label=unrated_label, pos_label=pos_label
    )
    weight = check_part_weight(sample_weight, len(scores))
    if not len(scores):
        inclusion_proba = None
    ratings = weigh_ratings(is_positive, is_negative, weight, inclusion_proba)
    base = np.array([values[0] for values in grid])
    unrated = scores[ratings.is_unrated]
    if base_thresholds is None:
        _check_rated_from(base, unrated, np.flatnonzero(ratings.is_unrated), rule)
        is_complete = not len(unrated)
    else:
        floor = _check_floor(base_thresholds, base)
        is_complete = bool(predict_positive(unrated, floor, rule).all())
    return gather_documents(scores, ratings, (base, base, is_complete), rule, pos_label)


def _as_columns(scores, n_classifiers):
    """Return scores, one column a classifier, of maybe no document."""
    shape = np.shape(scores)
    if shape in ((0,), (0, n_classifiers)):
        return np.zeros((0, n_classifiers))
    scores = check_scores(scores)
    if scores.shape[1] != n_classifiers:
        raise ValueError(
            f"thresholds are for {n_classifiers} classifiers, but scores have "
            f"{scores.shape[1]} columns. Pass one vector of thresholds for each column."
        )
    return scores


def _check_rated_from(base, unrated, rows, rule):
    """Raise where unrated documents reach the lowest thresholds."""
    inside = np.flatnonzero(predict_positive(unrated, base, rule))
    if not inside.size:
        return
    first = inside[0]
    raise ValueError(
        f"y: row {rows[first]} is unrated and scores {unrated[first].tolist()}, which "
        f"the lowest thresholds {base.tolist()} predict positive ({inside.size} such "
        "rows), so ratings are incomplete above them. Pass thresholds that start "
        "higher. If only a sample was rated, pass base_thresholds= (the scores above "
        "which it was drawn) or inclusion_proba= (its probabilities)."
    )


def _check_floor(base_thresholds, base):
    """Return from where on documents were rated, none above the lowest thresholds."""
    floor = np.atleast_1d(as_real_array(base_thresholds, "base_thresholds"))
    if floor.shape != base.shape or np.isnan(floor).any():
        raise ValueError(
            f"base_thresholds must be one number for each of the {len(base)} "
            f"classifiers, got {base_thresholds!r}."
        )
    below = np.flatnonzero(base < floor)
    if below.size:
        column = below[0]
        raise ValueError(
            f"thresholds of classifier {column} start at {base[column]:g}, below "
            f"{floor[column]:g}, its base_thresholds, above which documents were "
            "rated. Let them start there, or lower base_thresholds."
        )
    return floor
