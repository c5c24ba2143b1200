"""Documents with scores of several classifiers, rated or not, validated and counted."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d

from sklearn_reject._labels import split_ratings
from sklearn_reject._validation import (
    as_real_array,
    check_option,
    check_part_weight,
    check_same_length,
    check_sample_weight,
    check_vector,
    take_weight,
)

RULES = ("any", "all")


@dataclass(frozen=True, eq=False)
class Census:
    """What is known of documents, whatever the thresholds."""

    #: Number of documents that were given, but for rated ones of weight zero.
    n_given: int
    #: Weight of all rated positives, of those that the lowest thresholds predict, and
    #: of those that only lower ones would.
    total_positive: float
    reached_positive: float
    missed_positive: float
    #: The lowest thresholds.
    lowest: list
    #: The least and the largest weight among those that may be predicted, drawn or not:
    #: infinity and zero where there are none.
    weight_range: tuple
    #: Whether nothing is unrated but where a sample was rated.
    is_complete: bool
    #: The positive class, None where nothing tells which it is.
    pos_label: object = None

    def __add__(self, other):
        (low, high), (lower, higher) = self.weight_range, other.weight_range
        return Census(
            self.n_given + other.n_given,
            self.total_positive + other.total_positive,
            self.reached_positive + other.reached_positive,
            self.missed_positive + other.missed_positive,
            self.lowest,
            (min(low, lower), max(high, higher)),
            self.is_complete and other.is_complete,
            self.pos_label if other.pos_label is None else other.pos_label,
        )


@dataclass(frozen=True, eq=False)
class RatedDocuments:
    """Documents, of which those count that are rated and reach the lowest thresholds.

    No other is a true or a false positive: not one that nobody has rated, and not one
    that is never predicted. A rating of weight zero counts as absent.
    """

    #: Higher = more likely positive, shape (n_documents, n_classifiers). NaN where a
    #: classifier did not run.
    all_scores: np.ndarray
    #: 1 and 0, and -1 where nobody has rated a document, shape (n_documents,).
    ratings: np.ndarray
    #: The lowest thresholds, and what none is to be below, wherever it is placed.
    base: np.ndarray
    floor: np.ndarray
    #: "any" or "all".
    rule: str
    #: Whether nothing is unrated but where a sample was rated.
    is_complete: bool
    #: None where all documents weigh one.
    all_weights: np.ndarray | None = None
    #: Which were drawn to be rated, or might have been, by a known chance; None where
    #: no chance is known.
    is_sampled: np.ndarray | None = None
    #: The positive class, None where nothing tells which it is.
    pos_label: object = None

    def take(self, rows):
        """Return the documents of some rows, as if no others had been given."""
        return replace(
            self,
            all_scores=self.all_scores[rows],
            ratings=self.ratings[rows],
            all_weights=take_weight(self.all_weights, rows),
            is_sampled=take_weight(self.is_sampled, rows),
        )

    @cached_property
    def _weights(self):
        weights = self.all_weights
        return np.ones(len(self.ratings)) if weights is None else weights

    @cached_property
    def is_rated(self):
        """Which documents have a rating, but for those of weight zero."""
        return (self.ratings >= 0) & (self._weights > 0)

    @cached_property
    def is_given(self):
        """Which documents are there: all but rated ones of weight zero."""
        return (self.ratings < 0) | self.is_rated

    @cached_property
    def levels(self):
        """Sorted scores of each classifier, of all documents that are there."""
        given = self.all_scores[self.is_given].T
        return [np.sort(column[~np.isnan(column)]) for column in given]

    @cached_property
    def rows(self):
        """Positions of the documents that count."""
        is_reached = predict_positive(self.all_scores, self.base, self.rule)
        return np.flatnonzero(is_reached & self.is_rated)

    @cached_property
    def scores(self):
        """Scores of the documents that count, shape (n_rated, n_classifiers)."""
        return self.all_scores[self.rows]

    @cached_property
    def is_positive(self):
        """Which of these are positive, shape (n_rated,)."""
        return self.ratings[self.rows] == 1

    @cached_property
    def weight(self):
        """Their weights, or None where all weigh one."""
        return take_weight(self.all_weights, self.rows)

    @cached_property
    def census(self):
        """What is known of the documents, whatever the thresholds."""
        weight, below = self._weights, self.is_rated & (self.ratings == 1)
        total = float(weight[below].sum())
        reached = float(weight[self.rows[self.is_positive]].sum())
        below[self.rows] = False
        lowest = np.full_like(self.base, -np.inf)
        below &= predict_positive(self.all_scores, lowest, self.rule)
        possible = weight[self.rows]
        if self.is_sampled is not None:
            # Those that a draw has left out are as possible as those it has taken.
            drawn = self.is_sampled & (self.ratings < 0) & (weight > 0)
            drawn &= predict_positive(self.all_scores, self.floor, self.rule)
            possible = np.append(possible, weight[drawn])
        return Census(
            n_given=int(self.is_given.sum()),
            total_positive=total,
            reached_positive=reached,
            lowest=self.base.tolist(),
            missed_positive=float(weight[below].sum()),
            weight_range=(possible.min(initial=np.inf), possible.max(initial=0.0)),
            is_complete=self.is_complete,
            pos_label=self.pos_label,
        )

    @cached_property
    def classes(self):
        """Rows and weights, or None, of false and of true positives among these."""
        masks = ~self.is_positive, self.is_positive
        return [(mask, take_weight(self.weight, mask)) for mask in masks]

    @cached_property
    def others(self):
        """Scores of documents that do not count, but may be predicted."""
        # Thresholds may be placed below what the lowest ones do not reach.
        is_reached = predict_positive(self.all_scores, self.floor, self.rule)
        return self.all_scores[is_reached & ~self.is_rated]

    def sums_at(self, thresholds):
        """Return the sums over what each vertex of a path predicts, shape (6, ...).

        The weights of false and of true positives, the squares of these weights, and
        numbers of documents: of both, and of others, which do not count.
        """
        reached = count_reached(thresholds, self.scores, self.rule)
        others = count_reached(thresholds, self.others, self.rule)
        groups = self.classes if self.weight is None else groups_of(self.classes)
        n_vertices = len(thresholds)
        sums = [count_from(reached[rows], own, n_vertices) for rows, own in groups]
        if self.weight is None:
            sums = [*sums, *sums, sums[0] + sums[1]]
        return np.stack([*sums, count_from(others, None, n_vertices)])


def groups_of(classes):
    """Return the groups whose weights an operating point needs, of both classes."""
    squares = [(rows, None if w is None else w * w) for rows, w in classes]
    return [*classes, *squares, (slice(None), None)]


def predict_positive(scores, thresholds, rule):
    """Return which documents, shape (n_documents,), are predicted positive.

    A score reaches its threshold if it is at least as large.
    """
    # Column by column is several times faster than a reduction along a short axis.
    combine = np.logical_or if rule == "any" else np.logical_and
    is_predicted = scores[:, 0] >= thresholds[0]
    for column, threshold in zip(scores.T[1:], thresholds[1:], strict=True):
        combine(is_predicted, column >= threshold, out=is_predicted)
    return is_predicted


def count_reached(thresholds, scores, rule):
    """Return how many vertices of a path, which are the first, predict each document.

    The thresholds have shape (n_vertices, n_classifiers).
    """
    if len(thresholds) == 1:
        return predict_positive(scores, thresholds[0], rule).astype(np.intp)
    columns = zip(thresholds.T, scores.T, strict=True)
    reached = [np.searchsorted(*pair, side="right") for pair in columns]
    # A classifier that did not run has reached nothing.
    reached = np.where(np.isnan(scores.T), 0, reached)
    return (np.maximum if rule == "any" else np.minimum).reduce(reached)


def count_from(reached, weight, n_vertices):
    """Return the number or weight of documents that each vertex of a path predicts."""
    of_last = np.bincount(reached, weight, n_vertices + 1)
    return np.cumsum(of_last[:0:-1], dtype=np.float64)[::-1]


# Validation


def check_documents(
    scores,
    y,
    rule="any",
    unrated_label=-1,
    sample_weight=None,
    pos_label=None,
    inclusion_proba=None,
    *,
    names=None,
    grid=None,
):
    """Validate scores and ratings, and find down to where the ratings are known.

    Parameters are those of `operating_point`. `names` are numbers of the rows for
    errors. With a grid, its first thresholds are the lowest, and the documents may be a
    part, which lacks a class or has no rows.
    """
    check_option(rule, "rule", RULES)
    is_part = grid is not None
    if is_part and np.shape(scores) in ((0,), (0, len(grid))):
        scores, inclusion_proba = np.zeros((0, len(grid))), None
    else:
        scores = check_scores(scores, len(grid) if is_part else None)
    check_same_length(len(scores), y=y)
    labels = {"unrated_label": unrated_label, "pos_label": pos_label}
    ratings, classes = split_ratings(y, is_part=is_part, **labels)
    check_weight = check_part_weight if is_part else check_sample_weight
    weight = check_weight(sample_weight, len(scores))
    weight, is_sampled = _weigh_sampled(ratings, weight, inclusion_proba)
    # A rating of weight zero counts as absent. But a document that nobody has rated
    # says that ratings are incomplete, whatever its weight.
    is_rated = ratings >= 0 if weight is None else (ratings >= 0) & (weight > 0)
    is_unknown = ratings < 0 if is_sampled is None else (ratings < 0) & ~is_sampled
    is_complete = not is_unknown.any()
    if is_part:
        base = floor = np.array([values[0] for values in grid])
        _check_rated_from(base, scores, is_unknown, rule)
    else:
        _check_columns_vary(scores[is_rated])
        names = np.arange(len(scores)) if names is None else names
        base = _find_base(scores[is_rated], scores[is_unknown], names[is_unknown], rule)
        # Where nothing is unknown, thresholds may be placed below all scores.
        floor = np.full_like(base, -np.inf) if is_complete else base
    documents = RatedDocuments(
        *(scores, ratings, base, floor, rule, is_complete, weight, is_sampled),
        pos_label=classes.tolist()[1],
    )
    if not is_part:
        sizes = np.bincount(documents.is_positive, minlength=2)
        refuse_one_class(*sizes, "y", base)
    return documents


def check_scores(scores, n_classifiers=None):
    """Return scores as a float64 matrix, one column a classifier, NaN where none ran.

    They are finite or NaN.
    """
    if issparse(scores):
        raise ValueError("scores must be dense, got a sparse matrix. Use `.toarray()`.")
    array = as_real_array(fill_missing(scores), "scores")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            "scores must be a matrix of shape (n_documents, n_classifiers) with at "
            f"least one of each, got an array of shape {np.shape(scores)}."
        )
    array = array.astype(np.float64)
    bad = np.argwhere(np.isinf(array))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"scores must be finite, got {array[row, column]} in row {row}, column "
            f"{column} ({len(bad)} such values). Use NaN where a classifier has not "
            "seen a document, and a large finite score where it is certain."
        )
    if n_classifiers not in (None, array.shape[1]):
        raise ValueError(
            f"scores must have one column for each of the {n_classifiers} classifiers, "
            f"got {array.shape[1]}."
        )
    return array


def fill_missing(scores):
    """Return scores with NaN in place of what is masked, or NA in columns of pandas."""
    if np.ma.is_masked(scores):
        return scores.astype(np.float64).filled(np.nan)
    if hasattr(scores, "notna") and np.asarray(scores).dtype == object:
        return scores.astype(object).where(scores.notna(), np.nan)
    return scores


def _check_columns_vary(rated):
    """Raise where a classifier tells no rated documents apart."""
    for column, values in enumerate(rated.T):
        if np.isnan(values).all() or (values == values[0]).all():
            raise ValueError(
                f"scores in column {column} are {values[0]:g} in every rated document, "
                "so no threshold separates them. Remove this classifier."
            )


def _weigh_sampled(ratings, weight, inclusion_proba):
    """Return weights over probabilities, and which documents have one, or None."""
    if inclusion_proba is None:
        return weight, None
    chance = check_inclusion_proba(inclusion_proba, ratings)
    is_sampled = ~np.isnan(chance)
    with np.errstate(over="ignore"):
        weight = (1.0 if weight is None else weight) / np.where(is_sampled, chance, 1.0)
    # A rounded zero would make weights that nobody can sum up.
    name = "sample_weight / inclusion_proba"
    return check_vector(weight, name, non_negative=True), is_sampled


def check_inclusion_proba(inclusion_proba, ratings):
    """Return the probability of each document to be rated, NaN where it is unknown."""
    chance = np.asarray(as_real_array(inclusion_proba, "inclusion_proba"), np.float64)
    chance = np.full(len(ratings), chance) if chance.ndim == 0 else column_or_1d(chance)
    check_same_length(len(ratings), inclusion_proba=chance)
    outside = np.flatnonzero(~np.isnan(chance) & ~((chance > 0) & (chance <= 1)))
    if outside.size:
        raise ValueError(
            "inclusion_proba must be in (0, 1], or NaN where no draw could select a "
            f"document, got {chance[outside[0]]} in row {outside[0]}."
        )
    unknown = np.flatnonzero(np.isnan(chance) & (ratings >= 0))
    if unknown.size:
        raise ValueError(
            f"inclusion_proba is NaN in row {unknown[0]}, which is rated "
            f"({unknown.size} such rows). Use 1 for documents that were certain to be."
        )
    return chance


# Down to where ratings are known


def _find_base(rated, unknown, names, rule):
    """Return the lowest thresholds that no document of unknown rating reaches.

    With "any" there is one choice; with "all", one threshold is raised above all of
    them, the one that leaves most rated documents. `names` are numbers of rows.
    """
    base = np.nanmin(rated, axis=0)
    is_inside = predict_positive(unknown, base, rule)
    if not is_inside.any():
        return base
    # A classifier that did not run has reached nothing.
    unknown = np.where(np.isnan(unknown), -np.inf, unknown)
    columns = range(len(base))
    if rule == "all":
        unknown, names = unknown[is_inside], names[is_inside]
        columns = [np.argmax((rated > unknown.max(axis=0)).sum(axis=0))]
    for column in columns:
        highest = unknown[:, column].max()
        left = rated[:, column] > highest
        if not left.any():
            where = "any column, as in" if rule == "all" else "column"
            raise ValueError(
                f"y: no rated document scores above all unrated ones in {where} "
                f"{column}: row {names[np.argmax(unknown[:, column])]} is unrated and "
                f"scores {highest:g}. Rate such documents, pass inclusion_proba= if a "
                "sample was rated, or add classifiers that selected what was rated."
            )
        base[column] = rated[left, column].min()
    return base


def refuse_one_class(fp, tp, name, lowest):
    """Raise where the lowest thresholds leave one class; `name` is what lacks it."""
    if not (fp > 0 and tp > 0):
        missing = "negatives" if tp > 0 else "positives"
        raise ValueError(
            f"{name} has one class: no rated {missing} of positive weight that the "
            f"lowest thresholds {[float(each) for each in lowest]} reach. Rate more, "
            "pass lower thresholds or, if a sample was rated, its inclusion_proba."
        )


def _check_rated_from(base, scores, is_unknown, rule):
    """Raise where documents of unknown rating reach the lowest thresholds."""
    inside = np.flatnonzero(is_unknown & predict_positive(scores, base, rule))
    if inside.size:
        raise ValueError(
            f"y: row {inside[0]} is unrated and scores {scores[inside[0]].tolist()}, "
            f"which the lowest thresholds {base.tolist()} predict positive. Pass "
            "thresholds that start higher. If only a sample was rated, pass "
            "inclusion_proba= (its probabilities)."
        )
