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

    @property
    def is_partial(self):
        """Whether some documents are not rated, or out of reach."""
        return len(self.rows) < self.n_given

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
    *,
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
    is_present = np.full(len(scores), True) if weight is None else weight > 0
    is_rated = (is_positive | is_negative) & is_present
    check_weighted_classes(is_positive, is_negative, weight)
    _check_varies(scores[is_rated])
    unrated = scores[is_present & ~is_rated]
    if base_thresholds is None:
        base = _find_base(scores[is_rated], unrated, rule)
        # Where everything is rated, nothing is unknown below the lowest score.
        floor = base if len(unrated) else np.full_like(base, -np.inf)
    else:
        floor = check_base(base_thresholds, scores)
        base = _snap(floor, scores[is_rated])
    counts = np.flatnonzero(is_rated & predict_positive(scores, base, rule))
    _check_both_classes(is_positive[counts], base)
    return RatedDocuments(
        scores[counts],
        is_positive[counts],
        take_weight(weight, counts),
        base,
        rule,
        counts,
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


def _check_varies(scores):
    constant = np.flatnonzero(scores.min(axis=0) == scores.max(axis=0))
    if constant.size:
        raise ValueError(
            f"scores in column {constant[0]} are constant, {scores[0, constant[0]]:g} "
            "for every rated document, so no threshold tells them apart. Leave this "
            "classifier out."
        )


def check_base(base_thresholds, scores):
    """Return base thresholds as float64, one a classifier."""
    try:
        base = np.atleast_1d(np.asarray(base_thresholds, dtype=np.float64))
    except (TypeError, ValueError):
        base = np.full(1, np.nan)
    if base.shape != scores.shape[1:] or np.isnan(base).any():
        raise ValueError(
            "base_thresholds must be one number for each of the "
            f"{scores.shape[1]} classifiers, got {base_thresholds!r}."
        )
    return base


def _snap(base, scores):
    """Return the lowest score of a rated document at or above each base threshold."""
    reached = np.where(scores >= base, scores, np.inf).min(axis=0)
    out = np.flatnonzero(np.isinf(reached))
    if out.size:
        raise ValueError(
            f"base_thresholds: no rated document reaches {base[out[0]]:g} in column "
            f"{out[0]}, so nothing is known about thresholds of that classifier. Lower "
            "it, or leave the classifier out."
        )
    return reached


def _find_base(rated, unrated, rule):
    """Return the lowest thresholds that no unrated document reaches."""
    base = rated.min(axis=0)
    if not predict_positive(unrated, base, rule).any():
        return base
    if rule == "all":
        inside = unrated[predict_positive(unrated, base, rule)]
        return _raise_one(rated, inside.max(axis=0), base)
    above = unrated.max(axis=0)
    base = np.where(rated > above, rated, np.inf).min(axis=0)
    out = np.flatnonzero(np.isinf(base))
    if out.size:
        _refuse_region(f"column {out[0]}", above[out[0]])
    return base


def _raise_one(rated, above, base):
    """Raise the lowest threshold of one classifier above all unrated documents.

    The classifier is the one that this leaves most rated documents to.
    """
    left = rated > above
    column = int(np.argmax(left.sum(axis=0)))
    if not left[:, column].any():
        _refuse_region("any column", above.max())
    base[column] = rated[left[:, column], column].min()
    return base


def _refuse_region(where, highest):
    raise ValueError(
        f"y: no rated document scores above all unrated ones in {where}, whose unrated "
        f"scores reach {highest:g}: there is no threshold down to which ratings are "
        "known. Rate what is missing; where only a sample was rated, say from where on "
        "by base_thresholds; where other classifiers chose what to rate, make them "
        "part of the ensemble."
    )


def _check_both_classes(is_positive, base):
    if is_positive.all() or not is_positive.any():
        missing = "negatives" if is_positive.all() else "positives"
        raise ValueError(
            f"y has no rated {missing} that the lowest thresholds {base.tolist()} "
            "reach, below which ratings are incomplete. Rate more documents, or say "
            "from where on a sample was rated by base_thresholds."
        )


def predict_positive(scores, thresholds, rule):
    """Return which documents, shape (n_documents,), are predicted positive.

    A score reaches its threshold if it is at least as large.
    """
    return combine(scores >= thresholds, rule)


def combine(flags, rule):
    """Return whether any or all classifiers say so, row by row."""
    # Column by column is several times faster than a reduction along a short axis.
    reduce = np.logical_or if rule == "any" else np.logical_and
    combined = flags[:, 0].copy()
    for column in flags.T[1:]:
        reduce(combined, column, out=combined)
    return combined


def normalize_scores(documents):
    """Return the mid-rank in ]0, 1[ of each score, both classes weighing the same.

    NaN for a score below the lowest threshold, which predicts no document positive.
    """
    weight = _balance(documents)
    columns = zip(documents.scores.T, documents.base, strict=True)
    return np.column_stack([_mid_ranks(*column, weight) for column in columns])


def _balance(documents):
    """Return weights whose sum is a half in each class.

    Otherwise rare positives would share next to no room on the scale.
    """
    weight = documents.weight
    if weight is None:
        weight = np.ones(len(documents.scores))
    sums = np.bincount(documents.is_positive, weight)
    return weight / (2 * sums[documents.is_positive.astype(np.intp)])


def _mid_ranks(scores, base, weight):
    reached = scores >= base
    _, group = np.unique(scores[reached], return_inverse=True)
    sizes = np.bincount(group, weight[reached])
    ends = np.cumsum(sizes)
    middles = (ends - sizes / 2) / ends[-1]
    ranks = np.full(len(scores), np.nan)
    # Weights may be so small that a rank is rounded to an end.
    eps = np.finfo(np.float64).eps
    ranks[reached] = np.clip(middles, eps, 1 - eps)[group]
    return ranks
