"""Documents with scores of several classifiers, rated or not."""

from dataclasses import dataclass, replace

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

RULES = ("any", "all")


@dataclass(frozen=True, eq=False)
class RatedDocuments:
    """The rated documents that the lowest thresholds predict positive.

    No other document counts: one that is not rated is neither a true nor a false
    positive, and one that the lowest thresholds do not reach is never predicted.
    """

    #: Finite scores, higher = more likely positive, shape (n_documents, n_classifiers).
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
    #: Number of documents of positive weight that were given, rated or not, reached or
    #: not; their scores, which thresholds are placed between; their positions.
    n_given: int
    given: np.ndarray = None
    given_rows: np.ndarray = None
    #: What no threshold is to be below, whatever the scores.
    floor: np.ndarray = None

    @property
    def n_classifiers(self):
        """Number of classifiers."""
        return self.scores.shape[1]

    def take(self, rows):
        """Return the documents of some rows, as if no others had been given."""
        chosen = np.isin(self.rows, rows)
        present = np.isin(self.given_rows, rows)
        return replace(
            self,
            scores=self.scores[chosen],
            is_positive=self.is_positive[chosen],
            weight=take_weight(self.weight, chosen),
            rows=self.rows[chosen],
            n_given=int(present.sum()),
            given=self.given[present],
            given_rows=self.given_rows[present],
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
):
    """Validate scores and ratings, and find the region where the ratings are known.

    Parameters are those of `operating_point`.
    """
    check_option(rule, "rule", RULES)
    scores = check_scores(scores)
    check_same_length(len(scores), y=y)
    is_positive, is_negative, _ = split_ratings(y, unrated_label=unrated_label)
    weight = check_sample_weight(sample_weight, len(scores))
    check_weighted_classes(is_positive, is_negative, weight)
    # Documents of weight zero count as absent.
    is_present = np.full(len(scores), True) if weight is None else weight > 0
    is_rated = (is_positive | is_negative) & is_present
    rated, unrated = scores[is_rated], scores[is_present & ~is_rated]
    constant = np.flatnonzero(rated.min(axis=0) == rated.max(axis=0))
    if constant.size:
        raise ValueError(
            f"scores in column {constant[0]} are constant, {rated[0, constant[0]]:g} "
            "for every rated document, so no threshold tells them apart. Leave this "
            "classifier out."
        )
    # The lowest thresholds, and the rated documents that reach them.
    if base_thresholds is None:
        base = _find_base(rated, unrated, rule)
        # Where everything is rated, nothing is unknown below the lowest score.
        floor = base if len(unrated) else np.full_like(base, -np.inf)
    else:
        floor, base = _check_base(base_thresholds, rated)
    rows = np.flatnonzero(is_rated & predict_positive(scores, base, rule))
    is_positive = is_positive[rows]
    if is_positive.all() or not is_positive.any():
        missing = "negatives" if is_positive.all() else "positives"
        raise ValueError(
            f"y has no rated {missing} that the lowest thresholds {base.tolist()} "
            "reach, below which ratings are incomplete. Rate more documents, or say "
            "from where on a sample was rated by base_thresholds."
        )
    return RatedDocuments(
        scores[rows],
        is_positive,
        take_weight(weight, rows),
        base,
        rule,
        rows,
        int(is_present.sum()),
        scores[is_present],
        np.flatnonzero(is_present),
        floor,
    )


def check_scores(scores):
    """Return scores as a finite float64 matrix, one column a classifier."""
    if issparse(scores):
        raise ValueError("scores must be dense, got a sparse matrix. Use `.toarray()`.")
    array = as_real_array(scores, "scores")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            "scores must be a matrix of shape (n_documents, n_classifiers) with at "
            f"least one of each, got an array of shape {np.shape(scores)}."
        )
    array = array.astype(np.float64)
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"scores must be finite, got {array[row, column]} in row {row}, column "
            f"{column} ({bad.sum()} such values). Remove these rows, or give a "
            "document that a classifier has not seen its lowest score."
        )
    return array


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
            f"{out[0]}, so nothing is known about thresholds of that classifier. Lower "
            "it, or leave the classifier out."
        )
    return base, reached


def _find_base(rated, unrated, rule):
    """Return the lowest thresholds that no unrated document reaches."""
    base = rated.min(axis=0)
    inside = unrated[predict_positive(unrated, base, rule)]
    if not len(inside):
        return base
    if rule == "any":
        columns, highest = range(len(base)), unrated.max(axis=0)
    else:
        # One threshold above all of them is enough: that which leaves most documents.
        highest = inside.max(axis=0)
        columns = [np.argmax((rated > highest).sum(axis=0))]
    for column in columns:
        left = rated[:, column] > highest[column]
        if not left.any():
            _refuse_region(column, highest, rule)
        base[column] = rated[left, column].min()
    return base


def _refuse_region(column, highest, rule):
    """Raise as all rated documents are below unrated ones."""
    where = f"column {column}" if rule == "any" else "any column"
    highest = highest[column] if rule == "any" else highest.max()
    raise ValueError(
        f"y: no rated document scores above all unrated ones in {where}, whose unrated "
        f"scores reach {highest:g}: there is no threshold down to which ratings are "
        "known. Rate what is missing; where only a sample was rated, say from where on "
        "by base_thresholds; where other classifiers chose what to rate, make them "
        "part of the ensemble."
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
