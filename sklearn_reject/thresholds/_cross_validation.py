"""Operating points evaluated on documents that did not tune them."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._point import count_intervals


@dataclass(frozen=True, eq=False)
class CrossValidatedPoint:
    """What joint thresholds attain on documents that did not tune them.

    Attributes
    ----------
    thresholds : ndarray of shape (n_folds, n_classifiers)
        Thresholds tuned without each fold.

    fp, tp : float
        False and true positives, summed over the folds.

    fp_interval, tp_interval : tuple of float
        Bootstrap intervals of these sums, with the thresholds fixed. Thresholds that
        are tuned on other documents again vary, too, and false positives with them.

    precision_interval : tuple of float
        Confidence interval of the precision, with the thresholds fixed.

    normalized_area : float
        Area of the paths on the folds that did not tune them, over the number of
        positives times that of negatives: the mean over the folds with both. In [0, 1],
        higher is better.

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
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    normalized_area: float

    @property
    def precision(self):
        """Share of true positives among what is predicted, NaN if nothing is."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float("nan")


def cross_validate_point(
    documents,
    derivative,
    search,
    splits,
    *,
    confidence_level=0.95,
    random_state=None,
    n_jobs=None,
):
    """Tune joint thresholds on training parts, and count on test parts.

    `splits` are pairs of positions among the documents that were given; None without
    splits.
    """
    if not splits:
        return None
    parts = [
        (*map(documents.take, split), number) for number, split in enumerate(splits)
    ]
    found = Parallel(n_jobs=n_jobs)(
        delayed(_tune_and_count)(*part, derivative, search) for part in parts
    )
    thresholds, counts, areas = zip(*found, strict=True)
    tests = [test for _, test, _ in parts]
    intervals = count_intervals(
        tests, thresholds, confidence_level=confidence_level, random_state=random_state
    )
    fp, tp = np.sum(counts, axis=0).tolist()
    return CrossValidatedPoint(
        np.array(thresholds), fp, tp, *intervals, _mean_of_known(areas)
    )


def _tune_and_count(train, test, number, derivative, search):
    if train.is_positive.all() or not train.is_positive.any():
        missing = "negatives" if train.is_positive.any() else "positives"
        raise ValueError(
            f"cv: fold {number} leaves no rated {missing} to tune the thresholds on. "
            "Use fewer or stratified folds, or rate more documents."
        )
    try:
        path, vertex = search.find_point(train, derivative)
    except InfeasibleTargetError as error:
        # What is best for all documents may be out of range for a part of them.
        path = search.find_path(train)
        vertex = 0 if derivative < error.attainable["min_derivative"] else -1
    thresholds = path.thresholds[vertex]
    counts = test.count(predict_positive(test.scores, thresholds, test.rule))
    return thresholds, counts, _normalized_area(path, test)


def _normalized_area(path, documents):
    path = path.recount(documents)
    product = path.fp[0] * path.tp[0]
    return path.area / product if product else np.nan


def _mean_of_known(areas):
    known = [area for area in areas if not np.isnan(area)]
    return float(np.mean(known)) if known else float("nan")
