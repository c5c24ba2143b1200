"""Counts at all combinations of thresholds, which add up over parts of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._validation import as_real_array, check_level, check_option
from sklearn_reject.exceptions import warn_user
from sklearn_reject.thresholds._counted import (
    CountedDocuments,
    TabulatedDocuments,
    add_counted,
)
from sklearn_reject.thresholds._graph import best_grid_path
from sklearn_reject.thresholds._grid import locate_thresholds
from sklearn_reject.thresholds._path import ThresholdPath
from sklearn_reject.thresholds._point import SMOOTHINGS, OperatingPoint, make_point
from sklearn_reject.thresholds._targets import resolve_target

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

    counted : CountedDocuments, optional
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
    counted: CountedDocuments | None = None

    def __add__(self, other: PNTable) -> PNTable:
        if not isinstance(other, PNTable):
            return NotImplemented
        _check_same(self, other)
        return PNTable(
            self.thresholds,
            self.fp + other.fp,
            self.tp + other.tp,
            self.rule,
            add_counted(self, other),
        )

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

    def optimal_path(self, *, method: Literal["graph"] = "graph") -> ThresholdPath:
        """Find the path of the largest area on the grid of the table.

        That of :func:`~sklearn_reject.thresholds.optimal_path` with these thresholds.
        No document is at hand to place thresholds midway between scores: they are those
        of the table.

        Parameters
        ----------
        method : {"graph"}, default="graph"
            The only method that counts are enough for.

        Returns
        -------
        path : ThresholdPath
            Thresholds, false and true positives of each vertex, and the area.

        Raises
        ------
        ValueError
            If the method needs the scores of documents, or the lowest thresholds reach
            no positive or no negative.

        Examples
        --------
        >>> from sklearn_reject.thresholds import pn_table
        >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
        >>> pn_table(scores, [1, 1, 0, 0, 0]).optimal_path().area
        6.0
        """
        _check_method(method)
        self._check_classes()
        return best_grid_path(self)

    def operating_point(
        self,
        *,
        target_derivative: float | None = None,
        marginal_precision: float | None = None,
        max_fp_per_tp: float | None = None,
        max_alerts: int | None = None,
        min_recall: float | None = None,
        objective: Literal["f1"] | None = None,
        method: Literal["graph"] = "graph",
        smoothing: Literal["concave", "isotonic"] = "concave",
        confidence_level: float = 0.95,
    ) -> OperatingPoint:
        """Find the joint thresholds that are best for a target.

        That of :func:`~sklearn_reject.thresholds.operating_point` on a grid with these
        thresholds, with the same counts and intervals. No document is at hand to place
        thresholds midway between scores: they are those of the table. Nor can anything
        warn of documents that look as if a high score had selected them.

        Parameters
        ----------
        target_derivative : float > 0, default=None
            Slope dTP/dFP: true positives that one more false positive must bring.
            Exactly one of this and the next five parameters must be given, of which two
            are other names of the same number.

        marginal_precision : float in ]0, 1[, default=None
            Share d / (1 + d) of true positives among the last documents predicted.

        max_fp_per_tp : float > 0, default=None
            False positives 1 / d that one more true positive may cost.

        max_alerts : int >= 1, default=None
            The most true positives with at most this number of documents predicted
            positive, of all documents given, rated or not.

        min_recall : float in ]0, 1], default=None
            The fewest false positives with at least this share of all positives found.
            Only where all documents are rated, or a sample of all of them, see
            `inclusion_proba` of :func:`~sklearn_reject.thresholds.pn_table`. Positives
            below the lowest thresholds of the table count as missed.

        objective : {"f1"}, default=None
            The best F1 of the rated documents.

        method : {"graph"}, default="graph"
            The only method that counts are enough for.

        smoothing : {"concave", "isotonic"}, default="concave"
            What makes slopes of a path.

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
            If not exactly one target is given, a parameter is invalid, the method needs
            the scores of documents, or the lowest thresholds reach no positive or no
            negative.

        Warns
        -----
        RejectionWarning
            If lower thresholds than those of the table might be better, or much of what
            is predicted positive was not rated.

        Examples
        --------
        >>> from sklearn_reject.thresholds import pn_table
        >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
        >>> point = pn_table(scores, [1, 1, 0, 0, 0]).operating_point(max_alerts=3)
        >>> point.thresholds, point.fp, point.tp
        (array([0.9, 0.7]), 0.0, 2.0)
        """
        target = resolve_target(
            target_derivative=target_derivative,
            marginal_precision=marginal_precision,
            max_fp_per_tp=max_fp_per_tp,
            max_alerts=max_alerts,
            min_recall=min_recall,
            objective=objective,
        )
        check_option(smoothing, "smoothing", SMOOTHINGS)
        check_level(confidence_level, "confidence_level")
        documents = TabulatedDocuments(self)
        path = self.optimal_path(method=method)
        self._check_counted()
        target.check(documents)
        vertex = target.find_vertex(path, documents, smoothing)
        self._warn_of_missed(float(path.tp[vertex]))
        return make_point(documents, target, path, vertex, confidence_level)

    def _warn_of_missed(self, tp):
        """Warn where all is predicted that the table has, and there is more below."""
        if self.counted.is_complete and tp == self.tp.flat[0]:
            missed = self.counted.total_positive - tp
            missed -= self.counted.unreachable_positive
            if missed > _LEAST_SHARE * tp:
                warn_user(
                    "At the operating point, all positives that reach the lowest "
                    f"thresholds of the table are predicted positive, but {missed:g} "
                    "more positives are rated below them. Lower thresholds might meet "
                    "the target, too. Start the table at lower thresholds, or at -inf."
                )

    def _check_classes(self):
        """Raise where the lowest thresholds leave one class."""
        lowest = (0,) * self.fp.ndim
        for counts, missing in ((self.tp, "positives"), (self.fp, "negatives")):
            if not counts[lowest] > 0:
                raise ValueError(
                    f"The table has no rated {missing} that the lowest thresholds "
                    f"{[float(values[0]) for values in self.thresholds]} reach. Add "
                    "the tables of other parts of the documents, or use lower "
                    "thresholds."
                )

    def _check_counted(self):
        """Raise where counts are all that is known."""
        if self.counted is None:
            raise ValueError(
                "The table was not made by pn_table, so the number of documents is "
                "unknown, and an operating point has no intervals. Make it with "
                "pn_table(scores, y, thresholds=table.thresholds)."
            )


def _check_method(method):
    """Raise for what needs the scores of documents."""
    if method in ("analytic", "direct"):
        raise ValueError(
            f"method={method!r} needs the scores of documents, which a table does not "
            "have. Use method='graph', or call the function of the same name with the "
            "scores and labels of a sample that fits into memory."
        )
    check_option(method, "method", ("graph",))


def _check_same(first, second):
    """Raise for tables that do not add up, with what differs."""
    way_out = "Make both with pn_table(..., thresholds=) and the same"
    if first.rule != second.rule:
        raise ValueError(
            f"Tables of different rules do not add up: rule={first.rule!r} and "
            f"rule={second.rule!r}. {way_out} rule."
        )
    lengths = len(first.thresholds), len(second.thresholds)
    if lengths[0] != lengths[1]:
        raise ValueError(
            "Tables of different numbers of classifiers do not add up: thresholds of "
            f"{lengths[0]} and of {lengths[1]}. {way_out} thresholds."
        )
    pairs = zip(first.thresholds, second.thresholds, strict=True)
    for column, (one, two) in enumerate(pairs):
        if not np.array_equal(one, two):
            raise ValueError(
                f"Tables of different thresholds do not add up: classifier {column} "
                f"has {_describe(one, two)} and {_describe(two, one)}. {way_out} "
                "thresholds, such as table.thresholds of the first."
            )
    _check_same_class(first.counted, second.counted)


def _describe(values, others):
    """Return the number of thresholds, and the first that is not among others."""
    own = np.setdiff1d(values, others)
    return f"{len(values)}" + (f" with {own[0].item()!r}" if len(own) else "")


def _check_same_class(first, second):
    """Raise where the class that is positive differs; unknown is no difference."""
    labels = [part and part.pos_label for part in (first, second)]
    if None not in labels and labels[0] != labels[1]:
        raise ValueError(
            "Tables of different positive classes do not add up: the class "
            f"{labels[0]!r} and the class {labels[1]!r}. Pass pos_label to pn_table, "
            "as a part of the documents may lack a class."
        )
