"""Display of true against false positives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import trapezoid

from sklearn_reject import _curves as curves
from sklearn_reject._labels import is_automatic, rate
from sklearn_reject._response._positive import positive_score
from sklearn_reject._typing import Axes, Estimator, Label, MatrixLike
from sklearn_reject._validation import check_same_length, of_ratings
from sklearn_reject.metrics import _inside as inside
from sklearn_reject.metrics._arrays import rated_documents
from sklearn_reject.metrics._plot._base import CurveDisplay
from sklearn_reject.thresholds import OperatingPoint, ThresholdPath


@dataclass(eq=False, repr=False)
class PNCurveDisplay(CurveDisplay):
    """True positives against false positives, both counted; up and left is better.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or :meth:`from_path`;
    the parameters below are what they compute. Where there is an operating point, the
    axes show four times its false positives, which may be few of all:
    ``display.ax_.relim(); display.ax_.autoscale()`` shows the whole curve.

    Parameters
    ----------
    fp, tp : list of ndarray of shape (n_thresholds,)
        False and true positives, one array a curve, increasing. Those of a path of
        joint thresholds end at the lowest, as nothing is known of what is below.

    area : list of float, default=None
        Area under each curve, as :func:`pn_auc_score` has it, as far as the curve is
        known, shown in the legend.

    oracle : tuple of ndarray, default=None
        None: a perfect score counts all true positives first.

    random : tuple of ndarray, default=None
        False and true positives of a random score.

    point : OperatingPoint, default=None
        Joint thresholds, with the counts of the documents.

    target : dict of str to float, default=None
        What was asked of the thresholds, `max_fp_per_tp`.

    name : str, default=None
        Name of the curve.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.

    point_ : matplotlib ErrorbarContainer or None
        The operating point, with its intervals.

    target_ : matplotlib Line2D or None
        The price through the operating point, or through the origin: the slope is
        1 / `max_fp_per_tp`.

    random_ : matplotlib Line2D or None
        The line of a random score.

    ax_, figure_ : matplotlib Axes and Figure
        Axes with the curve, and their figure.

    See Also
    --------
    sklearn_reject.metrics.pn_curve : The numbers behind a curve.
    sklearn_reject.thresholds.optimal_path : The path of joint thresholds.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_reject.metrics import PNCurveDisplay
    >>> y_true = [1, 1, 0, 1, 0, -1, 0]
    >>> y_score = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    >>> display = PNCurveDisplay.from_predictions(y_true, y_score, name="detector")
    >>> display.area
    [8.0]
    >>> plt.show()
    """

    fp: Sequence[ArrayLike]
    tp: Sequence[ArrayLike]
    _: KW_ONLY
    point: OperatingPoint | None = None

    _axes = "fp", "tp"
    _labels = "False positives", "True positives"
    _xlim = 0, None

    @property
    def _shown(self):
        """As many false positives as leave the point, or what is there, in view."""
        if self.point is None:
            return 0, self.ax_.dataLim.x1 if self.ax_.has_data() else np.inf
        ends = self.point.fp, self.point.fp_interval[1]
        right = 4 * max(end for end in ends if np.isfinite(end))
        return 0, right or np.inf

    @classmethod
    @of_ratings
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        unrated_label: Label = -1,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Ratings: two classes, and `unrated_label` or a missing value for documents
            that were not rated, which never count.

        y_score : array-like of shape (n_documents,)
            Finite scores, higher = more likely positive.

        pos_label, unrated_label, sample_weight : optional
            As in :func:`pn_curve`.

        name : str, default=None
            Name of the curve in the legend.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : PNCurveDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If a score is not finite, a class has no rated documents, or there are more
            than two.
        """
        given = y_true, y_score, pos_label, unrated_label, sample_weight
        scores, is_positive, weight = rated_documents(*given)
        fp, tp, _ = curves.pn_curve(scores, is_positive, sample_weight=weight)
        return cls._of_counts(fp, tp, name).plot(ax, **plot_options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        pos_label: Label = None,
        unrated_label: Label = "auto",
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            Fitted classifier of two classes with `decision_function` or
            `predict_proba`. For an :class:`~sklearn_reject.EnsembleThresholdTuner`,
            also inside a pipeline or a search, its path and its operating point are
            drawn as they turn out on these documents.

        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents.

        y : array-like of shape (n_documents,)
            Ratings: two classes, and `unrated_label` or a missing value for documents
            that were not rated, which never count.

        pos_label : label, default=None
            The positive class. None is that of a tuner, and else 1 where the classes
            are 0 and 1, or the last of two sorted classes.

        unrated_label : label, default="auto"
            What stands for a document that was not rated. "auto" is that of a tuner,
            and else -1.

        sample_weight : array-like of shape (n_documents,), default=None
            Non-negative weights.

        name : str, default=None
            Name in the legend. None takes the class name of the estimator.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : PNCurveDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the classifier is not fitted, has other classes or no score, or a class
            has no rated documents.
        """
        kind = type(estimator).__name__
        options = {"name": name or kind, "ax": ax, **plot_options}
        labels = {"pos_label": pos_label, "sample_weight": sample_weight}
        tuner, inner_X = inside.locate(estimator, X, "joint_scores")
        if tuner is not None:
            labels["pos_label"] = inside.check_pos_label(tuner, pos_label)
        own = getattr(tuner, "unrated_label", -1)
        labels["unrated_label"] = own if is_automatic(unrated_label) else unrated_label
        ratings = rate(y, **labels)
        if tuner is None:
            scores = positive_score(estimator, X, ratings.classes, name=kind)
            check_same_length(len(scores), y=y)
            return cls.from_predictions(y, scores, **labels, **options)
        scores = tuner.joint_scores(inner_X)
        check_same_length(len(scores), y=y)
        path, point = inside.recount(tuner, scores, ratings)
        return cls.from_path(path, operating_point=point, **options)

    @classmethod
    def from_path(
        cls,
        path: ThresholdPath,
        *,
        operating_point: OperatingPoint | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the curve of a path of joint thresholds, as it was counted.

        Parameters
        ----------
        path : ThresholdPath
            The path.

        operating_point : OperatingPoint, default=None
            Point on it, or from elsewhere.

        name : str, default=None
            Name of the curve in the legend.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : PNCurveDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If something is wanted that is not given.
        """
        display = cls._of_counts(path.fp[::-1], path.tp[::-1], name)
        display.point = operating_point
        slope = getattr(operating_point, "target_derivative", np.nan)
        display.target = None if np.isnan(slope) else {"max_fp_per_tp": 1 / slope}
        return display.plot(ax, **plot_options)

    @classmethod
    def _of_counts(cls, fp, tp, name):
        area, random = float(trapezoid(tp, fp)), ([0, fp[-1]], [0, tp[-1]])
        return cls([fp], [tp], area=[area], random=random, name=name)

    def _draw_target(self, target):
        """Draw the line of the price through the operating point, or the origin."""
        style = self._style_of_target(target, ["max_fp_per_tp"])
        at = (0, 0) if self.point is None else (self.point.fp, self.point.tp)
        return self.ax_.axline(at, slope=1 / target["max_fp_per_tp"], **style)

    def _draw_point(self, point):
        """Draw an operating point, with its intervals as error bars."""
        label = f"operating point (precision = {point.precision:.3g})"
        ends = np.array([point.tp_interval, point.fp_interval])
        bars = abs(ends - [[point.tp], [point.fp]])[:, :, np.newaxis]
        style = {"color": self.ax_.xaxis.label.get_color(), "fmt": "o", "capsize": 3}
        counts = point.fp, point.tp
        return self.ax_.errorbar(*counts, *bars, label=label, zorder=3, **style)
