"""Display of true against false positives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import trapezoid
from sklearn.utils.validation import check_is_fitted

from sklearn_reject import _curves as curves
from sklearn_reject._labels import is_automatic, rate
from sklearn_reject._response._positive import positive_score
from sklearn_reject._typing import Axes, Estimator, Label, MatrixLike, Options
from sklearn_reject._validation import check_same_length, of_ratings
from sklearn_reject.metrics._arrays import rated_documents
from sklearn_reject.metrics._inside import (
    check_pos_label,
    find_tuner,
    names_of_classifiers,
    recount,
)
from sklearn_reject.metrics._plot._base import CurveDisplay
from sklearn_reject.metrics._plot._targets import ink
from sklearn_reject.thresholds import OperatingPoint, ThresholdPath

_PATH_STYLE = {"linewidth": 6, "alpha": 0.25, "solid_capstyle": "butt"}
_POINT_STYLE = {"fmt": "o", "capsize": 3, "zorder": 3}
_TANGENT_STYLE = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.9}

# Of the false positives at the operating point, or of the upper end of their interval,
# how many fit into the axes: the point is in the left part, and not in a corner.
_VIEW = 4

# By how much, relatively, axes are higher than what is in them.
_ROOM = 1.05

# By which sums of weights in another order may differ, relative to them.
_ROUNDING = 1e-12


@dataclass(eq=False, repr=False)
class PNCurveDisplay(CurveDisplay):
    """True positives against false positives, both counted; up and left is better.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or :meth:`from_path`;
    the parameters below are what they compute.

    Parameters
    ----------
    fp, tp : list of ndarray of shape (n_thresholds,)
        False and true positives, one array a curve, increasing. Those of a tuner end
        at its base thresholds, as nothing is known of what is below them: that of the
        path at all of them, that of each classifier at its own.

    area : list of float, default=None
        Area under each curve, as :func:`pn_auc_score` has it, as far as the curve is
        known, shown in the legend.

    path : ThresholdPath, default=None
        Path through the space of joint thresholds, with the counts of the documents.

    operating_point : OperatingPoint, default=None
        Joint thresholds, with the counts of the documents.

    name : str or list of str, default=None
        Name of the curve, or of each curve.

    Attributes
    ----------
    line_ : matplotlib Line2D or list of them
        The curve, a list where there are several.

    path_ : matplotlib Line2D or None
        The part of the first curve that belongs to the path.

    point_ : matplotlib ErrorbarContainer or None
        The operating point, with its intervals.

    tangent_ : matplotlib Line2D or None
        The line of the target derivative through the operating point.

    ax_ : matplotlib Axes
        Axes with the curves.

    figure_ : matplotlib Figure
        Figure with these axes.

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
    area: Sequence[float] | None = None
    path: ThresholdPath | None = None
    operating_point: OperatingPoint | None = None
    name: str | Sequence[str] | None = None

    _are_alike = False
    _way_out = (
        "Call from_path with what it takes, or from_estimator with an "
        "EnsembleThresholdTuner."
    )
    _axes = "fp", "tp"
    _labels = "False positives", "True positives"
    _function = "pn_curve"

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
        sample = rated_documents(
            y_true, y_score, pos_label, unrated_label, sample_weight
        )
        display = cls._of_counts([_known_curve(*sample)], name=name)
        return display.plot(ax, **plot_options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        plot_single: bool = False,
        pos_label: Label = None,
        unrated_label: Label = "auto",
        sample_weight: ArrayLike | None = None,
        name: str | Sequence[str] | None = None,
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

        plot_single : bool, default=False
            Whether to draw, beside the curve of a tuner, that of each classifier in it.

        pos_label : label, default=None
            The positive class. None is that of a tuner, and else 1 where the classes
            are 0 and 1, or the last of two sorted classes.

        unrated_label : label, default="auto"
            What stands for a document that was not rated. "auto" is that of a tuner,
            and else -1.

        sample_weight : array-like of shape (n_documents,), default=None
            Non-negative weights.

        name : str or list of str, default=None
            Name in the legend, or one a curve. None takes the class name of the
            estimator, and the names of the classifiers in it.

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
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If the classifier has other classes or no score, single curves are wanted of
            what is no tuner, or a class has no rated documents.
        """
        check_is_fitted(estimator)
        kind = type(estimator).__name__
        tuner, inner_X = find_tuner(estimator, X)
        if tuner is not None:
            pos_label = check_pos_label(tuner, pos_label)
        elif plot_single:
            raise ValueError(
                "plot_single=True draws the curve of each classifier of an "
                f"EnsembleThresholdTuner, got {kind}."
            )
        if is_automatic(unrated_label):
            unrated_label = getattr(tuner, "unrated_label", -1)
        labels = {"pos_label": pos_label, "unrated_label": unrated_label}
        ratings = rate(y, sample_weight=sample_weight, **labels)
        score = positive_score(estimator, X, ratings.classes, name=kind)
        check_same_length(len(score), y=y)
        columns, known, joint = [score[ratings.rows]], [None], {}
        if tuner is not None:
            scores = tuner.joint_scores(inner_X)
            path, point = recount(tuner, scores, ratings)
            joint = {"path": path, "operating_point": point}
            scores = scores[ratings.rows]
            known = _find_known(scores, path)
        name = kind if name is None else name
        if plot_single:
            columns += list(scores.T)
            names = names_of_classifiers(tuner)
            name = [name, *names] if isinstance(name, str) else name
        counts = [
            _known_curve(column, ratings.is_positive, ratings.weight, some)
            for column, some in zip(columns, known, strict=False)
        ]
        return cls._of_counts(counts, name=name, **joint).plot(ax, **plot_options)

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
            If `path` is none, or something is wanted that is not given.
        """
        if not isinstance(path, ThresholdPath):
            raise ValueError(
                f"path must be a ThresholdPath, such as optimal_path returns, got "
                f"{path!r}."
            )
        display = cls(
            [path.fp[::-1]],
            [path.tp[::-1]],
            area=[path.area],
            path=path,
            operating_point=operating_point,
            name=name,
        )
        return display.plot(ax, **plot_options)

    @classmethod
    def _of_counts(cls, counts, **options):
        fp, tp = map(list, zip(*counts, strict=True))
        areas = [float(trapezoid(*each)) for each in zip(tp, fp, strict=True)]
        return cls(fp, tp, area=areas, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | Sequence[str] | None = None,
        plot_path: bool | None = None,
        plot_point: bool | None = None,
        plot_tangent: bool | None = None,
        curve_kwargs: Options | Sequence[Options] | None = None,
    ) -> Self:
        """Draw the curves.

        Where an operating point is drawn, the axes show four times its false positives,
        which may be few of all; ``display.ax_.autoscale()`` shows the whole curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str or list of str, default=None
            Name of the curve, or of each curve. None takes that of the display.

        plot_path : bool, default=None
            Whether to mark the part of the first curve that belongs to the path; the
            rest are documents below the lowest thresholds. None does it where there is
            such a rest.

        plot_point : bool, default=None
            Whether to draw the operating point, with its intervals as error bars. None
            does it where it is known.

        plot_tangent : bool, default=None
            Whether to draw the line of the target derivative through the operating
            point. None does it where the point is drawn.

        curve_kwargs : dict or list of dict, default=None
            Passed to matplotlib's `plot` for all curves, or for each. The rest of what
            is drawn can be styled afterwards, as attributes of the display.

        Returns
        -------
        display : PNCurveDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are not as many names or `curve_kwargs` as curves, or something is
            wanted that the display does not have.
        """
        point = self.operating_point
        if plot_path is None and self.path is not None:
            plot_path = self._goes_on_below_path()
        if plot_tangent is None:
            plot_tangent = plot_point
        parts = {
            "path": (plot_path, self.path),
            "point": (plot_point, point),
            "tangent": (plot_tangent, point),
        }
        shown = 0.0 if ax is None or not ax.has_data() else ax.get_xlim()[1]
        self._plot(ax, name, curve_kwargs, parts)
        self.ax_.set_xlim(left=0, auto=True)
        if self.point_ is not None:
            self._show_point(shown)
        return self

    def _goes_on_below_path(self):
        """Tell whether documents of the first curve are below the path's thresholds."""
        reached = self.path.fp[0] + self.path.tp[0]
        rated = self.fp[0][-1] + self.tp[0][-1]
        return reached < rated * (1 - _ROUNDING)

    def _draw_path(self, path):
        color = np.atleast_1d(self.line_)[0].get_color()
        style = {"label": "path", "color": color, **_PATH_STYLE}
        return self.ax_.plot(path.fp, path.tp, **style)[0]

    def _draw_tangent(self, point):
        """Draw the line of the target derivative through a point; None without one."""
        slope = point.target_derivative
        if np.isnan(slope):
            return None  # targets that are no slopes have no tangent
        label = f"target: dTP/dFP = {slope:.3g}"
        style = {"label": label, "color": ink(), **_TANGENT_STYLE}
        return self.ax_.axline((point.fp, point.tp), slope=slope, **style)

    def _draw_point(self, point):
        """Draw an operating point, with its intervals as error bars."""
        done = f"precision = {point.precision:.3g}"
        done = "predicts nothing" if np.isnan(point.precision) else done
        label = f"operating point ({done})"
        style = {"label": label, "color": ink(), **_POINT_STYLE}
        across = _lengths(point.fp, point.fp_interval)
        up = _lengths(point.tp, point.tp_interval)
        return self.ax_.errorbar(point.fp, point.tp, up, across, **style)

    def _show_point(self, shown):
        """Set limits near the operating point, not below what was shown before."""
        point = self.operating_point
        right = max(_VIEW * _upper_end(point.fp, point.fp_interval), shown)
        if not 0 < right < max(fp[-1] for fp in self.fp):
            return
        heights = map(partial(np.interp, right), self.fp, self.tp)
        top = max(*heights, _upper_end(point.tp, point.tp_interval))
        before = self.ax_.get_ylim()[1] if shown else 0.0
        self.ax_.set(xlim=(0, right), ylim=(0, max(_ROOM * top, before)))


def _known_curve(scores, is_positive, weight, known=None):
    """Return false and true positives of a score down to the documents not known."""
    if known is None:
        return curves.pn_curve(scores, is_positive, sample_weight=weight)[:2]
    # Ranks, so that any document can be below all others.
    ranks = np.unique(scores, return_inverse=True)[1] + 1.0
    ranks[~known] = 0.0
    fp, tp, thresholds = curves.pn_curve(ranks, is_positive, sample_weight=weight)
    return fp[thresholds > 0], tp[thresholds > 0]


def _find_known(scores, path):
    """Return which documents the curve of a path, and of each score, can count.

    Below its base, a detector sees documents that others have chosen, and with the rule
    "all" only documents that all of them have.
    """
    reached = scores >= path.thresholds[0]
    if path.rule == "all":
        return [reached.all(axis=1)] * (1 + scores.shape[1])
    return [reached.any(axis=1), *reached.T]


def _lengths(value, interval):
    """Return how far error bars reach to either side."""
    low, high = interval
    return [[max(value - low, 0.0)], [max(high - value, 0.0)]]


def _upper_end(value, interval):
    """Return the larger of a count and the upper end of its interval."""
    return max(float(value), float(np.nan_to_num(interval[1], posinf=0.0)))
