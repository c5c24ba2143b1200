"""Documents with scores of several classifiers, rated or not."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from sklearn_reject._labels import split_ratings
from sklearn_reject._validation import (
    as_real_array,
    check_option,
    check_same_length,
    check_sample_weight,
    take_weight,
)
from sklearn_reject.thresholds._evidence import Evidence

RULES = ("any", "all")

# As for sample_weight: sums of weights, and products of two sums, stay finite.
_LARGEST_WEIGHT = 1e100


@dataclass(frozen=True, eq=False)
class RatedDocuments:
    """The rated documents that the lowest thresholds predict positive.

    No other document counts: one that is not rated is neither a true nor a false
    positive, and one that the lowest thresholds do not reach is never predicted.
    """

    #: Higher = more likely positive, shape (n_documents, n_classifiers). NaN where a
    #: classifier did not run.
    scores: np.ndarray
    #: Ratings, shape (n_documents,).
    is_positive: np.ndarray
    #: Weight of each document, None where all weigh one.
    weight: np.ndarray
    #: The lowest thresholds; each is the score of a document.
    base: np.ndarray
    #: "any" or "all".
    rule: str
    #: Position of each document among all.
    rows: np.ndarray
    #: Number of documents that were given, rated or not, reached or not, but for rated
    #: ones of weight zero; their scores, which thresholds are placed between; their
    #: positions.
    n_given: int
    given: np.ndarray = None
    given_rows: np.ndarray = None
    #: What no threshold is to be below, whatever the scores.
    floor: np.ndarray = None
    #: Scores and positions of documents that do not count, unrated or of weight zero,
    #: from the floor on; which of them are of weight zero.
    others: np.ndarray = None
    other_rows: np.ndarray = None
    #: False for all where weights of zero leave out positives, too.
    is_weightless: np.ndarray = None
    #: Weights of those among them that might have been rated, by a known chance.
    drawable_weight: np.ndarray = None
    drawable_rows: np.ndarray = None
    #: Positions and weights of rated positives that the lowest thresholds do not reach.
    missed_rows: np.ndarray = None
    missed_weight: np.ndarray = None
    #: Which of these no thresholds reach, however low, as a classifier did not run.
    is_unreachable: np.ndarray = None
    #: Whether nothing is unrated but where a sample was rated.
    is_complete: bool = True
    #: Whether weights stand for all that might have been rated, by a known chance.
    is_drawn: bool = False
    #: Whether weights of zero leave out positives, too.
    leaves_out_positives: bool = False
    #: The positive class, None where nothing tells which it is.
    pos_label: object = None

    @property
    def n_classifiers(self):
        """Number of classifiers."""
        return self.scores.shape[1]

    def take(self, rows):
        """Return the documents of some rows, as if no others had been given."""
        chosen = np.isin(self.rows, rows)
        present = np.isin(self.given_rows, rows)
        other = np.isin(self.other_rows, rows)
        drawable = np.isin(self.drawable_rows, rows)
        missed = np.isin(self.missed_rows, rows)
        return replace(
            self,
            scores=self.scores[chosen],
            is_positive=self.is_positive[chosen],
            weight=take_weight(self.weight, chosen),
            rows=self.rows[chosen],
            n_given=int(present.sum()),
            given=self.given[present],
            given_rows=self.given_rows[present],
            others=self.others[other],
            other_rows=self.other_rows[other],
            is_weightless=self.is_weightless[other],
            drawable_weight=self.drawable_weight[drawable],
            drawable_rows=self.drawable_rows[drawable],
            missed_rows=self.missed_rows[missed],
            missed_weight=self.missed_weight[missed],
            is_unreachable=self.is_unreachable[missed],
        )

    def reweigh(self, weight):
        """Return the documents with other weights."""
        return replace(self, weight=weight)

    def stand_in(self, scores, is_positive):
        """Return other documents, which weigh one, in the place of these."""
        return replace(self, scores=scores, is_positive=is_positive, weight=None)

    @property
    def predictable(self):
        """Scores of what the lowest thresholds reach; first of what counts."""
        is_reached = predict_positive(self.others, self.base, self.rule)
        return np.concatenate([self.scores, self.others[is_reached]])

    @property
    def total_positive(self):
        """Weight of all rated positives, reached by the lowest thresholds or not."""
        weight = 1.0 if self.weight is None else self.weight
        reached = float((self.is_positive * weight).sum())
        return reached + float(self.missed_weight.sum())

    @property
    def unreachable_positive(self):
        """Weight of those of them that no thresholds reach, however low."""
        return float(self.missed_weight.sum(where=self.is_unreachable))

    @property
    def weight_range(self):
        """The least and the largest weight of a document that may be predicted.

        Those that a draw has left out are as possible as those that it has taken.
        """
        if self.weight is None and len(self.scores):
            return 1.0, 1.0
        weight = np.ones(0) if self.weight is None else self.weight
        if self.drawable_weight is not None:
            weight = np.concatenate([weight, self.drawable_weight])
        weight = weight[weight > 0]
        return weight.min(initial=np.inf), weight.max(initial=0.0)

    def count_alerts(self, path):
        """Return how many of all documents given each vertex of a path predicts."""
        scores = np.concatenate([self.scores, self.others])
        last = locate_last(path.thresholds, scores, self.rule)
        n_last = np.bincount(last + 1, minlength=len(path) + 1)
        return np.cumsum(n_last[:0:-1])[::-1]

    def evidence_at(self, thresholds):
        """Return what is known of the documents that thresholds predict positive."""
        chosen = predict_positive(self.scores, thresholds, self.rule)
        others = predict_positive(self.others, thresholds, self.rule)
        weight = np.ones(len(chosen)) if self.weight is None else self.weight
        weight, is_positive = weight[chosen], self.is_positive[chosen]
        classes = weight[~is_positive], weight[is_positive]
        return Evidence(
            counts=np.array([of_class.sum() for of_class in classes]),
            squares=np.array([np.sum(of_class**2) for of_class in classes]),
            n_counted=len(weight),
            n_others=int(others.sum()),
            n_weightless=int((others & self.is_weightless).sum()),
            n_given=self.n_given,
            weight_range=self.weight_range,
        )

    def count(self, is_predicted):
        """Return the weights of false and of true positives, as floats."""
        weight = 1.0 if self.weight is None else self.weight
        counted = is_predicted * weight
        return (
            float(counted[~self.is_positive].sum()),
            float(counted[self.is_positive].sum()),
        )


def check_documents(
    scores,
    y,
    rule="any",
    base_thresholds=None,
    unrated_label=-1,
    sample_weight=None,
    pos_label=None,
    inclusion_proba=None,
    names=None,
):
    """Validate scores and ratings, and find the region where the ratings are known.

    Parameters are those of `operating_point`, and `names` the numbers of the rows for
    errors.
    """
    check_option(rule, "rule", RULES)
    scores = check_scores(scores)
    check_same_length(len(scores), y=y)
    is_positive, is_negative, classes = split_ratings(
        y, unrated_label=unrated_label, pos_label=pos_label
    )
    ratings = weigh_ratings(
        is_positive,
        is_negative,
        check_sample_weight(sample_weight, len(scores)),
        inclusion_proba,
    )
    check_weighted_classes(is_positive, is_negative, ratings.weight)
    rated, unrated = scores[ratings.is_rated], scores[ratings.is_unrated]
    _check_columns_vary(rated)
    names = np.arange(len(scores)) if names is None else names
    names = names[ratings.is_unrated]
    region = _find_region(base_thresholds, rated, unrated, names, rule)
    positive = classes[1].item()
    documents = gather_documents(scores, ratings, region, rule, positive)
    _check_classes_reached(documents.is_positive, documents.base, base_thresholds)
    return documents


class WeighedRatings(NamedTuple):
    """Labels of documents, and what each counts; arrays of shape (n_documents,)."""

    is_positive: np.ndarray
    #: Labeled, and not of weight zero.
    is_rated: np.ndarray
    #: Says that ratings are incomplete.
    is_unrated: np.ndarray
    is_labeled: np.ndarray
    #: Not labeled, but might have been, by a known chance.
    is_drawable: np.ndarray
    is_weightless: np.ndarray
    #: None where all weigh one.
    weight: np.ndarray
    is_drawn: bool


def weigh_ratings(is_positive, is_negative, weight, inclusion_proba=None):
    """Return what each document counts, by label, weight and inclusion_proba."""
    is_labeled = is_positive | is_negative
    is_sampled = np.zeros(len(is_labeled), dtype=bool)
    if inclusion_proba is not None:
        chance = check_inclusion_proba(inclusion_proba, is_labeled)
        is_sampled = ~np.isnan(chance)
        weight = _weigh_drawn(weight, chance)
    # A rating of weight zero counts as absent. But a document that nobody has rated
    # says that ratings are incomplete, whatever its weight.
    is_weightless = np.full(len(is_labeled), False) if weight is None else weight == 0
    return WeighedRatings(
        is_positive=is_positive,
        is_rated=is_labeled & ~is_weightless,
        is_unrated=~is_labeled & ~is_sampled,
        is_labeled=is_labeled,
        is_drawable=is_sampled & ~is_labeled,
        is_weightless=is_weightless,
        weight=weight,
        is_drawn=inclusion_proba is not None,
    )


def gather_documents(scores, ratings, region, rule, pos_label=None):
    """Return the documents that count in a region, as `_find_region` returns it."""
    base, floor, is_complete = region
    is_positive, is_rated = ratings.is_positive, ratings.is_rated
    is_weightless, weight = ratings.is_weightless, ratings.weight
    # Nobody calls unrated documents positive: where weights of zero leave out positives
    # as well, as in bagging, they are not there to leave out what is unrated.
    leaves_out_positives = bool((is_weightless & is_positive).any())
    looks_unrated = is_weightless & (not leaves_out_positives)
    is_reached = predict_positive(scores, base, rule)
    rows = np.flatnonzero(is_rated & is_reached)
    # Thresholds may be placed below what the lowest ones do not reach.
    other_rows = np.flatnonzero(~is_rated & predict_positive(scores, floor, rule))
    drawable_rows = other_rows[ratings.is_drawable[other_rows]]
    missed_rows = np.flatnonzero(is_rated & is_positive & ~is_reached)
    lowest = np.full_like(base, -np.inf)
    counted_as = np.ones(len(scores)) if weight is None else weight
    is_given = is_rated | ~ratings.is_labeled
    return RatedDocuments(
        scores=scores[rows],
        is_positive=is_positive[rows],
        weight=take_weight(weight, rows),
        base=base,
        rule=rule,
        rows=rows,
        n_given=int(is_given.sum()),
        given=scores[is_given],
        given_rows=np.flatnonzero(is_given),
        floor=floor,
        others=scores[other_rows],
        other_rows=other_rows,
        is_weightless=looks_unrated[other_rows],
        drawable_weight=counted_as[drawable_rows],
        drawable_rows=drawable_rows,
        missed_rows=missed_rows,
        missed_weight=counted_as[missed_rows],
        is_unreachable=~predict_positive(scores[missed_rows], lowest, rule),
        is_complete=is_complete,
        is_drawn=ratings.is_drawn,
        leaves_out_positives=leaves_out_positives,
        pos_label=pos_label,
    )


def _find_region(base_thresholds, rated, unrated, unrated_rows, rule):
    """Return the lowest thresholds, what none is to be below, and if all is known.

    The latter is whether nothing is unrated but where a sample was rated.
    """
    if base_thresholds is not None:
        floor, base = _check_base(base_thresholds, rated)
        return base, floor, bool(predict_positive(unrated, floor, rule).all())
    base = _find_base(rated, unrated, unrated_rows, rule)
    # Where everything is rated, nothing is unknown below the lowest score.
    floor = base if len(unrated) else np.full_like(base, -np.inf)
    return base, floor, not len(unrated)


def check_scores(scores):
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
    bad = np.isinf(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"scores must be finite, got {array[row, column]} in row {row}, column "
            f"{column} ({bad.sum()} such values). Use NaN for documents that a "
            "classifier has not seen, and a large finite score where it is certain."
        )
    return array


def fill_missing(scores):
    """Return scores with NaN in place of what is masked, or NA in columns of pandas."""
    if np.ma.is_masked(scores):
        return scores.astype(np.float64).filled(np.nan)
    if hasattr(scores, "notna") and np.asarray(scores).dtype == object:
        return scores.astype(object).where(scores.notna(), np.nan)
    return scores


def _weigh_drawn(weight, chance):
    """Return weights over probabilities; those that are None or NaN are one."""
    chance = np.where(np.isnan(chance), 1.0, chance)
    with np.errstate(over="ignore"):
        weight = (1.0 if weight is None else weight) / chance
    if weight.max() > _LARGEST_WEIGHT:
        raise ValueError(
            "inclusion_proba: the weights of documents, sample_weight / "
            f"inclusion_proba, are up to {weight.max():g}, which is too large to be "
            f"summed. The smallest inclusion_proba is {chance.min():g}. Check that it "
            "is not a rounded zero, or rescale sample_weight."
        )
    return weight


def check_inclusion_proba(inclusion_proba, is_rated):
    """Return the probability of each document to be rated, NaN where it is unknown."""
    chance = np.asarray(
        as_real_array(inclusion_proba, "inclusion_proba"), dtype=np.float64
    )
    if chance.ndim == 0:
        chance = np.full(len(is_rated), chance)
    check_same_length(len(is_rated), inclusion_proba=chance)
    outside = np.flatnonzero(~np.isnan(chance) & ~((chance > 0) & (chance <= 1)))
    if chance.ndim != 1 or outside.size:
        got = chance[outside[0]] if outside.size else f"shape {chance.shape}"
        row = f" in row {outside[0]}" if outside.size else ""
        raise ValueError(
            "inclusion_proba must hold one probability in ]0, 1] for each document, or "
            f"NaN where no draw could select it, got {got}{row}."
        )
    unknown = np.flatnonzero(np.isnan(chance) & is_rated)
    if unknown.size:
        raise ValueError(
            f"inclusion_proba is NaN in row {unknown[0]}, which is rated "
            f"({unknown.size} such rows). Use a inclusion_proba of 1 for documents "
            "that were certain to be rated."
        )
    return chance


def _check_columns_vary(rated):
    """Raise where a classifier tells no rated documents apart."""
    for column, values in enumerate(rated.T):
        ran = values[~np.isnan(values)]
        if not len(ran):
            raise ValueError(
                f"scores in column {column} are NaN for every rated document, so "
                "nothing is known about this classifier. Remove it."
            )
        if len(ran) == len(values) and ran.min() == ran.max():
            raise ValueError(
                f"scores in column {column} are constant, {ran[0]:g} for every rated "
                "document, so no threshold separates them. Remove this classifier."
            )


def _check_classes_reached(is_positive, base, base_thresholds):
    """Raise where the lowest thresholds leave one class."""
    if not is_positive.all() and is_positive.any():
        return
    missing = "negatives" if len(is_positive) and is_positive.all() else "positives"
    reason = ", as given by base_thresholds"
    if base_thresholds is None:
        reason = ", below which ratings are incomplete"
    raise ValueError(
        f"y has no rated {missing} that the lowest thresholds {base.tolist()} "
        f"reach{reason}. Rate more documents, or pass base_thresholds, the scores "
        "above which a sample was rated."
    )


def check_columns(scores, n_classifiers):
    """Return scores as :func:`check_scores`, one column for each classifier."""
    scores = check_scores(scores)
    if scores.shape[1] != n_classifiers:
        raise ValueError(
            f"scores must have one column for each of the {n_classifiers} classifiers, "
            f"got {scores.shape[1]}."
        )
    return scores


def check_weighted_classes(is_positive, is_negative, weight):
    """Raise if weights of zero leave a class without rated documents."""
    if weight is None:
        return
    for flags, name in ((is_positive, "positives"), (is_negative, "negatives")):
        if not weight[flags].any():
            raise ValueError(
                f"sample_weight is zero for all rated {name}, which leaves one class "
                "only. Give documents of both classes a positive weight."
            )


def _check_base(base_thresholds, rated):
    """Return base thresholds as float64, one a classifier, and the ones they stand for.

    These are the lowest scores of rated documents at or above them.
    """
    try:
        base = np.atleast_1d(np.asarray(base_thresholds, dtype=np.float64))
    except (TypeError, ValueError):
        base = np.full(1, np.nan)
    if base.shape != rated.shape[1:] or np.isnan(base).any():
        raise ValueError(
            "base_thresholds must be one number for each of the "
            f"{rated.shape[1]} classifiers, got {base_thresholds!r}."
        )
    reached = np.where(rated >= base, rated, np.inf).min(axis=0)
    out = np.flatnonzero(np.isinf(reached))
    if out.size:
        raise ValueError(
            f"base_thresholds: no rated document reaches {base[out[0]]:g} in column "
            f"{out[0]}, so nothing is known about thresholds of this classifier. Lower "
            "it, or remove the classifier."
        )
    return base, reached


def _find_base(rated, unrated, unrated_rows, rule):
    """Return the lowest thresholds that no unrated document reaches."""
    base = np.nanmin(rated, axis=0)
    is_inside = predict_positive(unrated, base, rule)
    if not is_inside.any():
        return base
    # A classifier that did not run has reached nothing.
    known = np.where(np.isnan(unrated), -np.inf, unrated)
    if rule == "any":
        columns = range(len(base))
    else:
        # One threshold above all of them is enough: that which leaves most documents.
        known, unrated_rows = known[is_inside], unrated_rows[is_inside]
        columns = [np.argmax((rated > known.max(axis=0)).sum(axis=0))]
    for column in columns:
        highest = known[:, column].max()
        left = rated[:, column] > highest
        if not left.any():
            row = unrated_rows[np.argmax(known[:, column])]
            _refuse_region(column, row, highest, rule)
        base[column] = rated[left, column].min()
    return base


def _refuse_region(column, row, highest, rule):
    """Raise as all rated documents are below an unrated one."""
    where = f"column {column}" if rule == "any" else f"any column, as in {column}"
    raise ValueError(
        f"y: no rated document scores above all unrated ones in {where}: row {row} is "
        f"unrated and scores {highest:g} there, so there is no threshold above which "
        "all documents are rated. Rate this document and the other missing ones. If "
        "only a sample was rated, pass base_thresholds= (the scores above which it was "
        "drawn) or inclusion_proba= (its probabilities). If other classifiers selected "
        "the documents to rate, add them to the ensemble."
    )


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


def locate_last(thresholds, scores, rule):
    """Return the last vertex that predicts each document positive, or -1."""
    columns = zip(thresholds.T, scores.T, strict=True)
    left = [np.searchsorted(*pair, side="right") - 1 for pair in columns]
    # A classifier that did not run has reached nothing.
    left = np.where(np.isnan(scores.T), -1, left)
    return (np.maximum if rule == "any" else np.minimum).reduce(left)
