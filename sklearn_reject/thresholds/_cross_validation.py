"""Operating points, cross-validated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._travel import Carried
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._path import place_midway, recount_path
from sklearn_reject.thresholds._point import HasCounts


@dataclass(frozen=True, eq=False)
class CrossValidatedPoint(HasCounts, DictMixin):
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
    >>> tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1, cv=5)
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


def cross_validate_point(
    documents, target, search, splits, confidence_level=0.95, n_jobs=None
):
    """Tune joint thresholds on training parts, and count on test parts.

    `splits` are pairs of masks of the documents, each with both classes in its training
    part; None without splits. Where that part cannot meet the target, nothing is
    predicted.
    """
    if not splits:
        return None
    shared = Carried((documents, target, search))
    found = Parallel(n_jobs=n_jobs)(
        delayed(_tune_and_judge)(shared, *map(np.packbits, split)) for split in splits
    )
    thresholds, evidence, areas = zip(*found, strict=True)
    evidence = reduce(add, evidence)
    fp, tp = evidence.counts.tolist()
    known = [area for area in areas if not np.isnan(area)]
    return CrossValidatedPoint(
        np.array(thresholds),
        fp,
        tp,
        evidence.n_predicted,
        evidence.rated_share,
        *evidence.intervals(confidence_level),
        float(np.mean(known)) if known else float("nan"),
    )


def _tune_and_judge(shared, *split):
    """Return thresholds, and evidence and normalized area on the test part."""
    documents, target, search = shared.value
    n_documents = len(documents.ratings)
    train, test = (
        documents.take(np.unpackbits(mask, count=n_documents).astype(bool))
        for mask in split
    )
    target = target.of_share(train.census.n_given / documents.census.n_given)
    try:
        path, vertex = search.find_point(train, target)
    except InfeasibleTargetError:
        # What can be met by all documents may be out of reach of a part of them.
        path, vertex = place_midway(search.find_path(train), train), -1
    thresholds = path.thresholds[vertex]
    path = recount_path(path, test)
    largest = path.fp[0] * path.tp[0]
    area = path.area / largest if largest else np.nan
    return thresholds, test.evidence_at(thresholds), area
