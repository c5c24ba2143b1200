"""Operating points, cross-validated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._travel import Carried, pack_rows, unpack_rows
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._intervals import count_intervals
from sklearn_reject.thresholds._path import place_midway
from sklearn_reject.thresholds._point import count_predicted
from sklearn_reject.thresholds._targets import as_target


@dataclass(frozen=True, eq=False)
class CrossValidatedPoint(DictMixin):
    """What joint thresholds attain on documents that did not tune them.

    Attributes
    ----------
    thresholds : ndarray of shape (n_folds, n_classifiers)
        Thresholds tuned without each fold.

    fp, tp : float
        False and true positives, summed over the folds.

    n_predicted : int
        How many of all documents given are predicted positive, rated or not, summed
        over the folds.

    rated_share : float
        Share of these that `fp` and `tp` are made of. NaN if there are none.

    fp_interval, tp_interval : tuple of float
        Intervals of the expected sums, with the thresholds fixed, as an OperatingPoint
        has them. Thresholds that are tuned on other documents again vary, too, and
        false positives with them.

    precision_interval : tuple of float
        Confidence interval of the precision, with the thresholds fixed.

    normalized_area : float
        Area of the paths on the folds that did not tune them, over the number of
        positives times that of negatives: the mean over the folds with both, NaN
        without such folds. In [0, 1], higher is better.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_reject import EnsembleThresholdTuner
    >>> scores, y = make_classification(
    ...     1000, 2, n_informative=2, n_redundant=0, weights=[0.9], random_state=0
    ... )
    >>> tuner = EnsembleThresholdTuner(None, target_derivative=1, cv=5)
    >>> point = tuner.fit(scores, y).cross_validated_point_
    >>> point.fp, point.tp, round(point.precision, 2), round(point.normalized_area, 2)
    (30.0, 81.0, 0.73, 0.96)
    """

    thresholds: np.ndarray
    fp: float
    tp: float
    n_predicted: int
    rated_share: float
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    normalized_area: float

    @property
    def precision(self) -> float:
        """Share of true positives among what is predicted, NaN if nothing is."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float("nan")


def cross_validate_point(
    documents,
    target,
    search,
    splits,
    confidence_level=0.95,
    n_jobs=None,
):
    """Tune joint thresholds on training parts, and count on test parts.

    `splits` are pairs of positions among the documents that were given; None without
    splits. A part without positives, or of an infeasible target, predicts nothing, and
    one without negatives all down to the lowest thresholds.
    """
    if not splits:
        return None
    target = as_target(target)
    parts = [tuple(map(documents.take, split)) for split in splits]
    _warn_of_missing_classes([train for train, _ in parts])
    shared = Carried((documents, target, search))
    n_rows = 1 + int(documents.given_rows.max(initial=0))
    found = Parallel(n_jobs=n_jobs)(
        delayed(_tune_and_count)(
            shared, n_rows, *(pack_rows(rows, n_rows) for rows in split)
        )
        for split in splits
    )
    thresholds, counts, areas = zip(*found, strict=True)
    tests = [test for _, test in parts]
    intervals = count_intervals(tests, thresholds, confidence_level)
    fp, tp = np.sum(counts, axis=0).tolist()
    known = [area for area in areas if not np.isnan(area)]
    area = float(np.mean(known)) if known else float("nan")
    predicted = count_predicted(tests, thresholds)
    return CrossValidatedPoint(
        np.array(thresholds), fp, tp, *predicted, *intervals, area
    )


def _warn_of_missing_classes(trains):
    """Warn of training parts that have nothing to be tuned on."""
    for number, train in enumerate(trains):
        if has_both(train):
            continue
        missing = "negatives" if train.is_positive.any() else "positives"
        decision = "all" if train.is_positive.any() else "nothing"
        warn_user(
            f"cv: fold {number} leaves no rated {missing} to tune the thresholds on, "
            f"so its test part is counted as if {decision} down to the lowest "
            "thresholds were predicted positive. Use fewer or stratified folds, or "
            "rate more documents.",
        )


def has_both(documents):
    """Tell whether there are positives and negatives."""
    return bool(documents.is_positive.any() and not documents.is_positive.all())


def _tune_and_count(shared, n_rows, train, test):
    """Return thresholds, and counts and normalized area on the test part."""
    documents, target, search = shared.value
    train, test = (documents.take(unpack_rows(rows, n_rows)) for rows in (train, test))
    target = target.of_part(train, documents)
    path = None
    if has_both(train):
        path, thresholds = _tune(train, target, search)
    else:
        lowest = np.maximum(train.base, train.floor)
        thresholds = lowest if train.is_positive.any() else np.full_like(lowest, np.inf)
    counts = test.count(predict_positive(test.scores, thresholds, test.rule))
    if path is None:
        return thresholds, counts, np.nan
    path = path.recount(test)
    largest = path.fp[0] * path.tp[0]
    return thresholds, counts, path.area / largest if largest else np.nan


def _tune(train, target, search):
    """Return the path, and the thresholds of the operating point on it."""
    try:
        path, vertex = search.find_point(train, target)
    except InfeasibleTargetError:
        # What can be met by all documents may be out of reach of a part of them.
        path, vertex = place_midway(search.find_path(train), train), -1
    return path, path.thresholds[vertex]
