"""Paths and points for a target, on all documents or fold by fold."""

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._travel import Carried
from sklearn_reject._validation import check_level, check_option
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._analytic import analytic_path
from sklearn_reject.thresholds._direct import direct_point, direct_thresholds
from sklearn_reject.thresholds._graph import graph_path
from sklearn_reject.thresholds._grid import check_n_thresholds
from sklearn_reject.thresholds._path import place_midway, recount_path
from sklearn_reject.thresholds._point import CrossValidatedPoint, describe, make_point
from sklearn_reject.thresholds._targets import Target

PATH_METHODS = ("graph", "analytic")

METHODS = (*PATH_METHODS, "direct")

# A smooth path of more classifiers takes longer than all else together.
_MOST_FITTED = 4


@dataclass(frozen=True)
class Tuning:
    """What is tuned, and how; without a target, a path alone."""

    target: Target | None
    method: str = "graph"
    n_thresholds: int = 100
    confidence_level: float = 0.95

    def __post_init__(self):
        check_option(self.method, "method", METHODS)
        check_n_thresholds(self.n_thresholds)
        check_level(self.confidence_level, "confidence_level")

    def tune(self, documents, path=None):
        """Return a path and the operating point on it.

        The path may be one that was found before, on the same documents.
        """
        path, vertex = self.find_point(documents, path)
        level = self.confidence_level
        return path, make_point(documents, self.target, path, vertex, level)

    def find_point(self, documents, path=None):
        """Return a path, and the vertex on it that is the operating point.

        For the method "direct" it is the best path of "graph" that passes the point.
        """
        target = self.target
        target.check(documents.census)
        # One classifier has a single path, which nothing is better than.
        if self.method != "direct" or documents.n_classifiers == 1:
            if path is None:
                path = place_midway(self.find_path(documents), documents)
            return path, documents.best_vertex(target, path)
        if target.name == "max_fp_per_tp":
            starts = self._starts(documents, target.derivative)
            point = direct_point(documents, target.derivative, starts)
        else:
            point = direct_thresholds(documents, target, self.find_path(documents))
        path = graph_path(documents, self.n_thresholds, through=point)
        vertex = int(np.flatnonzero((path.thresholds == point).all(axis=1))[-1])
        path = place_midway(path, documents)
        if target.name != "max_fp_per_tp":
            vertex = documents.best_vertex(target, path)
        return path, vertex

    def find_path(self, documents):
        """Return the path of the largest area; of "graph" for the method "direct".

        Its thresholds are scores.
        """
        if self.method == "analytic":
            return analytic_path(documents)
        return graph_path(documents, self.n_thresholds)

    def _starts(self, documents, derivative):
        """Return the best thresholds of a path, where the search may miss better."""
        if documents.n_classifiers <= 2:
            return []
        paths = [self.find_path(documents)]
        if documents.n_classifiers <= _MOST_FITTED:
            paths.append(analytic_path(documents))
        return [
            path.thresholds[np.argmax(path.tp - derivative * path.fp)] for path in paths
        ]

    def cross_validate(self, documents, folds, n_jobs=None):
        """Tune thresholds on training parts, and count on test parts.

        `folds` are pairs of masks of the documents, each with both classes in its
        training part; None without folds. Where that part cannot meet the target,
        nothing is predicted.
        """
        if not folds:
            return None
        shared = Carried((self, replace(documents)))  # without what it has cached
        found = Parallel(n_jobs=n_jobs)(
            delayed(_tune_and_judge)(shared, *map(np.packbits, fold)) for fold in folds
        )
        thresholds, sums, census, areas = zip(*found, strict=True)
        known = [area for area in areas if not np.isnan(area)]
        return CrossValidatedPoint(
            np.array(thresholds),
            normalized_area=float(np.mean(known)) if known else float("nan"),
            **describe(sum(sums), reduce(add, census), self.confidence_level),
        )


def _tune_and_judge(shared, *fold):
    """Return thresholds, and sums, census and normalized area of the test part."""
    tuning, documents = shared.value
    masks = (np.unpackbits(mask, count=len(documents)).astype(bool) for mask in fold)
    train, test = map(documents.take, masks)
    share = train.census.n_given / documents.census.n_given
    tuning = replace(tuning, target=tuning.target.of_share(share))
    try:
        path, vertex = tuning.find_point(train)
    except InfeasibleTargetError:
        # What can be met by all documents may be out of reach of a part of them.
        path, vertex = place_midway(tuning.find_path(train), train), -1
    path, thresholds = recount_path(path, test), path.thresholds[vertex]
    largest = path.fp[0] * path.tp[0]
    area = path.area / largest if largest else np.nan
    return thresholds, test.sums_at(thresholds), test.census, area
