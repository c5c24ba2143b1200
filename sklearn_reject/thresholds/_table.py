"""Counts at all combinations of thresholds, which add up over parts of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._validation import as_real_array, check_level
from sklearn_reject.exceptions import warn_user
from sklearn_reject.thresholds._documents import Census, Evidence
from sklearn_reject.thresholds._graph import best_grid_path
from sklearn_reject.thresholds._grid import locate_thresholds
from sklearn_reject.thresholds._path import ThresholdPath
from sklearn_reject.thresholds._point import OperatingPoint, make_point
from sklearn_reject.thresholds._targets import find_vertex, resolve_target

# Of positives, beyond what rounding of sums of weights may come to.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class PNTable:
    """False and true positives at all combinations of thresholds.

    Tables of parts of the documents that share the thresholds add up, by ``+`` and
    ``sum``: to the table of all documents, exactly where nothing has a weight and up to
    rounding otherwise. A table is all that a path and an operating point on its grid
    need, so that documents may stay where they are.

    Attributes
    ----------
    thresholds : tuple of n_classifiers ndarrays
        Increasing thresholds of each classifier, from the lowest, below which ratings
        are incomplete, to infinity.

    fp, tp : ndarray of shape (n_thresholds_1, ..., n_thresholds_N)
        False and true positives, counts or sums of weights, float64. None rises along
        an axis.

    rule : {"any", "all"}
        How the classifiers decide together.

    census, extra : optional
        What else operating points need: how many documents were given, sums of squared
        weights, and so on. Private, may change.

    Examples
    --------
    >>> from sklearn_reject.thresholds import pn_table
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> table = pn_table(scores, [1, 1, 0, 0, 0])
    >>> table.thresholds[0], table.tp.shape
    (array([0.1, 0.3, 0.4, 0.6, 0.9, inf]), (6, 6))
    >>> float(table.tp[4, 4]), float(table.fp[4, 4])  # at 0.9 and 0.7
    (2.0, 0.0)
    """

    thresholds: tuple[np.ndarray, ...]
    fp: np.ndarray
    tp: np.ndarray
    rule: str
    census: Census | None = None
    #: At each node the squared weights of false and true positives, the number of both,
    #: and those of documents that do not count, first but for those of weight zero,
    #: then these. None where all documents count, and weigh one.
    extra: np.ndarray | None = None

    def __add__(self, other: PNTable) -> PNTable:
        if not isinstance(other, PNTable):
            return NotImplemented
        _check_same(self, other)
        census = extra = None
        if self.census is not None and other.census is not None:
            census = self.census + other.census
        if self.extra is not None or other.extra is not None:
            extra = self._extra_at() + other._extra_at()
        fp, tp = self.fp + other.fp, self.tp + other.tp
        return PNTable(self.thresholds, fp, tp, self.rule, census, extra)

    def __radd__(self, other: Any) -> PNTable:
        # The start of `sum`.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def count_at(self, thresholds: ArrayLike) -> tuple[float, float]:
        """Return false and true positives at one combination of thresholds.

        Such as those tuned on the tables of other parts of the documents.

        Parameters
        ----------
        thresholds : array-like of shape (n_classifiers,)
            One threshold a classifier, each one of the table.

        Returns
        -------
        fp, tp : float
            False and true positives.

        Raises
        ------
        ValueError
            If a threshold is not one of the table.
        """
        thresholds = np.atleast_1d(as_real_array(thresholds, "thresholds"))
        shape = (len(self.thresholds),)
        pairs = zip(self.thresholds, thresholds, strict=False)
        is_there = thresholds.shape == shape and all(t in grid for grid, t in pairs)
        if not is_there:
            raise ValueError(
                "thresholds must be one of those of the table for each of the "
                f"{shape[0]} classifiers, got {thresholds.tolist()}. Nothing was "
                "counted between them."
            )
        node = tuple(locate_thresholds(self.thresholds, thresholds))
        return float(self.fp[node]), float(self.tp[node])

    def optimal_path(self) -> ThresholdPath:
        """Find the path of the largest area on the grid of the table.

        That of :func:`~sklearn_reject.thresholds.optimal_path` by the method "graph",
        with these thresholds.
        No document is at hand to place thresholds midway between scores: they are those
        of the table.

        Returns
        -------
        path : ThresholdPath
            Thresholds, false and true positives of each vertex, and the area.

        Raises
        ------
        ValueError
            If the lowest thresholds reach no positive or no negative.

        Examples
        --------
        >>> from sklearn_reject.thresholds import pn_table
        >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
        >>> pn_table(scores, [1, 1, 0, 0, 0]).optimal_path().area
        6.0
        """
        self._check_classes()
        return best_grid_path(self.thresholds, self.fp, self.tp, self.rule)

    def operating_point(
        self,
        *,
        max_fp_per_tp: float | None = None,
        max_alerts: int | None = None,
        min_recall: float | None = None,
        min_precision: float | None = None,
        objective: Literal["f1"] | None = None,
        confidence_level: float = 0.95,
    ) -> OperatingPoint:
        """Find the joint thresholds that are best for a target.

        That of :func:`~sklearn_reject.thresholds.operating_point` by the method "graph"
        on a grid with these thresholds, with the same counts and intervals. No document
        is at hand to place thresholds midway between scores: they are those of the
        table. Nor can anything warn of documents that look as if a high score had
        selected them.

        Parameters
        ----------
        max_fp_per_tp : float > 0, default=None
            False positives that one more true positive may cost, 1 / d: the point
            maximizes TP - FP * d, where d = dTP/dFP is the slope of the curve. The
            share of true positives among the last documents predicted is then d / (1 +
            d). Exactly one of this and the next four must be given.

        max_alerts : int >= 1, default=None
            The most true positives with at most this number of documents predicted
            positive, of all documents given, rated or not.

        min_recall : float in ]0, 1], default=None
            The fewest false positives with at least this share of all positives found.
            Only where all documents are rated, or a sample of all of them, see
            `inclusion_proba` of :func:`~sklearn_reject.thresholds.pn_table`. Positives
            below the lowest thresholds of the table count as missed.

        min_precision : float in ]0, 1], default=None
            The most true positives with at least this precision, TP / (TP + FP) of the
            rated documents.

        objective : {"f1"}, default=None
            The best F1 of the rated documents.

        confidence_level : float in ]0, 1[, default=0.95
            Coverage of the intervals of counts and precision.

        Returns
        -------
        point : OperatingPoint
            Thresholds, which are those of the table, counts, precision and their
            intervals.

        Raises
        ------
        InfeasibleTargetError
            If the target cannot be met.
        ValueError
            If not exactly one target is given, a parameter is invalid, or the lowest
            thresholds reach no positive or no negative.

        Warns
        -----
        RejectionWarning
            If lower thresholds than those of the table might be better.

        Examples
        --------
        >>> from sklearn_reject.thresholds import pn_table
        >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
        >>> point = pn_table(scores, [1, 1, 0, 0, 0]).operating_point(max_alerts=3)
        >>> point.thresholds, point.fp, point.tp
        (array([0.9, 0.7]), 0.0, 2.0)
        """
        target = resolve_target(
            max_fp_per_tp=max_fp_per_tp,
            max_alerts=max_alerts,
            min_recall=min_recall,
            min_precision=min_precision,
            objective=objective,
        )
        check_level(confidence_level, "confidence_level")
        path = self.optimal_path()
        if self.census is None:
            raise ValueError(
                "The table was not made by pn_table, so nobody knows the number of "
                "documents. Make it with pn_table(scores, y, thresholds=)."
            )
        target.check(self.census)
        documents = _Tabulated(self)
        vertex = find_vertex(target, path, documents)
        self._warn_of_missed(float(path.tp[vertex]))
        return make_point(documents, target, path, vertex, confidence_level)

    def _extra_at(self, node=...):
        """Return what `extra` has at some nodes, where it is None, too."""
        if self.extra is not None:
            return self.extra[:, *(node if isinstance(node, tuple) else (node,))]
        fp, tp = self.fp[node], self.tp[node]
        return np.stack([fp, tp, fp + tp, np.zeros_like(fp), np.zeros_like(fp)])

    def _check_classes(self):
        """Raise where the lowest thresholds leave one class."""
        for counts, missing in ((self.tp, "positives"), (self.fp, "negatives")):
            if not counts.flat[0] > 0:
                lowest = [float(values[0]) for values in self.thresholds]
                raise ValueError(
                    f"The table has no rated {missing} that the lowest thresholds "
                    f"{lowest} reach. Add tables of other parts, or lower thresholds."
                )

    def _warn_of_missed(self, tp):
        """Warn where all is predicted that the table has, and there is more below."""
        census = self.census
        if not census.is_complete or tp < self.tp.flat[0]:
            return
        missed = census.total_positive - tp - census.unreachable_positive
        if missed > _LEAST_SHARE * tp:
            warn_user(
                "At the operating point, all positives of the table are predicted "
                f"positive, but {missed:g} more positives are rated below its lowest "
                "thresholds. Start it at lower thresholds, or at -inf."
            )


class _Tabulated:
    """Stands for RatedDocuments where a target and a point ask for them."""

    def __init__(self, table):
        self.table, self.census = table, table.census

    def count_alerts(self, thresholds):
        """Return how many of all documents given each vertex of a path predicts."""
        *_, n_counted, n_others, n_weightless = self._sums_at(thresholds.T)
        return np.rint(n_counted + n_others + n_weightless).astype(np.int64)

    def evidence_at(self, thresholds):
        """Return what is known of the documents that thresholds predict positive."""
        fp, tp, *squares, n_counted, n_others, n_weightless = self._sums_at(thresholds)
        return Evidence(
            np.array([fp, tp]),
            np.array(squares),
            int(n_counted),
            int(n_others + n_weightless),
            int(n_weightless),
            self.census,
        )

    def _sums_at(self, thresholds):
        table = self.table
        node = tuple(locate_thresholds(table.thresholds, thresholds))
        return table.fp[node], table.tp[node], *table._extra_at(node)


def _check_same(*tables):
    """Raise for tables that do not add up, with what differs."""
    labels = [table.census and table.census.pos_label for table in tables]
    for what, (one, two), same in (
        ("rules", [table.rule for table in tables], "the same rule"),
        (
            "numbers of classifiers",
            [len(table.thresholds) for table in tables],
            "the same thresholds",
        ),
        ("positive classes", labels, "pos_label, as a part may lack a class"),
    ):
        if None not in (one, two) and one != two:
            raise ValueError(
                f"Tables of different {what} do not add up: {one!r} and {two!r}. Make "
                f"both with pn_table(..., thresholds=) and {same}."
            )
    pairs = zip(*(table.thresholds for table in tables), strict=True)
    for column, (one, two) in enumerate(pairs):
        if not np.array_equal(one, two):
            raise ValueError(
                f"Tables of different thresholds do not add up: classifier {column} "
                f"has {_describe(one, two)} and {_describe(two, one)}. Make both with "
                "pn_table(..., thresholds=) and those of the first."
            )


def _describe(values, others):
    """Return the number of thresholds, and the first that is not among others."""
    own = np.setdiff1d(values, others)
    return f"{len(values)}" + (f" with {own[0].item()!r}" if len(own) else "")
