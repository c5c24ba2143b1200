"""How joint thresholds are found: the path, and the operating point on it."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._validation import check_option
from sklearn_reject.thresholds._analytic import analytic_path
from sklearn_reject.thresholds._direct import direct_point
from sklearn_reject.thresholds._families import check_family
from sklearn_reject.thresholds._graph import SEARCHES, graph_path
from sklearn_reject.thresholds._grid import SPACINGS, check_n_thresholds
from sklearn_reject.thresholds._midway import place_midway
from sklearn_reject.thresholds._smoothing import SMOOTHINGS, point_on_path

PATH_METHODS = ("graph", "analytic")
# A smooth path of more classifiers takes longer than all else together.
_MOST_FITTED = 4

METHODS = (*PATH_METHODS, "direct")


@dataclass(frozen=True)
class Search:
    """Options of the search for joint thresholds.

    Attributes
    ----------
    method : {"graph", "analytic", "direct"}, default="graph"
        Where the operating point is looked for.

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier on the grid.

    spacing : {"quantile", "uniform"}, default="quantile"
        How the thresholds of the grid are chosen.

    search : {"auto", "grid", "pairs"}, default="auto"
        How the grid is searched.

    family : {"log_odds", "power"} or object, default="log_odds"
        Paths of the method "analytic".

    smoothing : {"concave", "isotonic"}, default="concave"
        How the derivative along a path is made free of noise.
    """

    method: str = "graph"
    n_thresholds: int = 100
    spacing: str = "quantile"
    search: str = "auto"
    family: object = "log_odds"
    smoothing: str = "concave"

    def check(self):
        """Raise for options that are unknown, whether they are needed or not."""
        check_option(self.method, "method", METHODS)
        check_option(self.spacing, "spacing", SPACINGS)
        check_option(self.search, "search", SEARCHES)
        check_option(self.smoothing, "smoothing", SMOOTHINGS)
        check_n_thresholds(self.n_thresholds)
        check_family(self.family)

    def find_path(self, documents):
        """Return the path of the largest area.

        Parameters
        ----------
        documents : RatedDocuments
            What counts.

        Returns
        -------
        path : ThresholdPath
            For the method "direct", the one of "graph".
        """
        if self.method == "analytic":
            path = analytic_path(documents, family=self.family)
        else:
            path = self._graph_path(documents)
        return place_midway(path, documents)

    def find_point(self, documents, derivative):
        """Return the operating point, and the path that it is on.

        Parameters
        ----------
        documents : RatedDocuments
            What counts.

        derivative : float > 0
            Target dTP/dFP.

        Returns
        -------
        path : ThresholdPath
            What `find_path` returns, but for the method "direct": the best path of
            "graph" that passes the point.

        vertex : int
            Where on the path the operating point is.

        Raises
        ------
        InfeasibleTargetError
            If the target is out of range.
        """
        is_direct = self.method == "direct"
        if not is_direct or documents.n_classifiers == 1:
            # One classifier has a single path, which nothing is better than.
            path = self.find_path(documents)
            smoothing = "concave" if is_direct else self.smoothing
            return path, point_on_path(path, derivative, smoothing)
        starts = self._starts(documents, derivative)
        point = direct_point(documents, derivative, starts)
        path = self._graph_path(documents, through=point)
        is_point = (path.thresholds == point).all(axis=1)
        return place_midway(path, documents), int(np.flatnonzero(is_point)[-1])

    def _starts(self, documents, derivative):
        """Return the best thresholds of a path, where the search may miss better."""
        if documents.n_classifiers <= 2:
            return []
        paths = [self._graph_path(documents)]
        if documents.n_classifiers <= _MOST_FITTED:
            paths.append(analytic_path(documents, family=self.family))
        return [
            path.thresholds[np.argmax(path.tp - derivative * path.fp)] for path in paths
        ]

    def _graph_path(self, documents, through=None):
        return graph_path(
            documents,
            n_thresholds=self.n_thresholds,
            spacing=self.spacing,
            search=self.search,
            through=through,
        )
