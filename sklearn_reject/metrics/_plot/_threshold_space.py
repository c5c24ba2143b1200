"""Joint thresholds of two classifiers, one an axis, and counts of rated documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sklearn_reject import _curves as curves
from sklearn_reject._labels import rate
from sklearn_reject._typing import Axes, Line2D, Options, Other
from sklearn_reject._validation import check_same_length
from sklearn_reject.metrics._inside import names_of_classifiers, recount
from sklearn_reject.metrics._plot._base import POINT_STYLE, CurveDisplay, Part
from sklearn_reject.metrics._plot._targets import ink


def known_curve(scores, is_positive, weight, known=None):
    """Return false and true positives of a score down to the documents not known."""
    if known is None:
        return curves.pn_curve(scores, is_positive, sample_weight=weight)[:2]
    # Ranks, so that any document can be below all others.
    ranks = np.unique(scores, return_inverse=True)[1] + 1.0
    ranks[~known] = 0.0
    fp, tp, thresholds = curves.pn_curve(ranks, is_positive, sample_weight=weight)
    return fp[thresholds > 0], tp[thresholds > 0]


def find_known(scores, path):
    """Return which documents the curve of a path, and of each score, can count.

    Below its base, a detector sees documents that others have chosen, and with the rule
    "all" only documents that all of them have.
    """
    reached = scores >= path.thresholds[0]
    if path.rule == "all":
        return [reached.all(axis=1)] * (1 + scores.shape[1])
    return [reached.any(axis=1), *reached.T]


def describe_tuner(tuner, X, ratings):
    """Return what a tuner's display has beyond that of any classifier."""
    scores = tuner.joint_scores(X)
    path, point = recount(tuner, scores, ratings)
    scores = scores[ratings.rows]
    return {
        "path": path,
        "operating_point": point,
        "scores": scores,
        "is_positive": ratings.is_positive,
        "classifiers": names_of_classifiers(tuner),
    }


def shown_documents(path, scores, y, options):
    """Return scores and ratings of the documents that were rated."""
    if scores is None or y is None:
        raise ValueError("scores and y belong together: pass both, or neither of them.")
    path.locate(scores)  # raises unless finite, one column for each classifier
    scores = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
    check_same_length(len(scores), y=y)
    ratings = rate(y, **options)
    return {"scores": scores[ratings.rows], "is_positive": ratings.is_positive}


_PATH_STYLE = {"drawstyle": "steps-post", "clip_on": False, "zorder": 2.5}

_BOUNDARY_STYLE = {"linestyle": "--", "linewidth": 1, "color": "0.55", "zorder": 2.5}

_DOCUMENT_STYLES = (
    {"label": "negative", "color": "0.6", "s": 6, "linewidths": 0},
    {"label": "positive", "color": "C3", "s": 9, "linewidths": 0},
)

# Of the range of finite values, what is left on either side of it.
_MARGIN = 0.06


class ThresholdPicture(CurveDisplay):
    """The part of a display that draws a path through the space of thresholds."""

    path_: Line2D | Other
    tangent_: Line2D | Other
    boundary_: Line2D | Other
    documents_: list[Any] | Other

    _are_alike = False
    _way_out = (
        "Call from_path with what it takes, or from_estimator with an "
        "EnsembleThresholdTuner."
    )

    def plot_thresholds(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        plot_point: bool | None = None,
        plot_documents: bool = False,
        curve_kwargs: Options | None = None,
        point_kwargs: Options | None = None,
        documents_kwargs: Options | Sequence[Options] | None = None,
    ) -> Self:
        """Draw the path through the space of the thresholds of two classifiers.

        Infinite thresholds, which no score reaches, are drawn on the upper and on the
        right border of the axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str, default=None
            Name of the path in the legend. None takes that of the display.

        plot_point : bool, default=None
            Whether to draw the operating point, and the border of what it predicts
            positive. None does it where it is known.

        plot_documents : bool, default=False
            Whether to draw the rated documents.

        curve_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the path.

        point_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the operating point.

        documents_kwargs : dict or list of two dict, default=None
            Passed to matplotlib's `scatter` for all documents, or for negatives and
            for positives.

        Returns
        -------
        display : PNCurveDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are not exactly two classifiers, or something is wanted that the
            display does not have.
        """
        if self.path is None:
            raise ValueError(f"plot_thresholds draws a path. {self._way_out}")
        self._check_two()
        point = self.operating_point
        plot_point = self._shows(Part("point", plot_point, point, None))
        self._shows(Part("documents", plot_documents, self.scores, None))
        self._use_axes(ax, "the thresholds of the path")
        shown = [self.path.thresholds]
        shown += [point.thresholds] if plot_point else []
        shown += [self.scores] if plot_documents else []
        low, high = self._frame(np.vstack(shown))
        self.path_ = self.tangent_ = self.documents_ = None
        self.point_ = self.boundary_ = None
        if plot_documents:
            self.documents_ = self._draw_documents(documents_kwargs)
        name = self.name if name is None else name
        name = (name[0] if isinstance(name, list) else name) or "path"
        style = {"label": name, **_PATH_STYLE, **(curve_kwargs or {})}
        # What is infinite is drawn on the upper borders.
        self.line_ = self.ax_.plot(*np.minimum(self.path.thresholds, high).T, **style)[
            0
        ]
        if plot_point:
            x, y = np.minimum(point.thresholds, high)
            far_x, far_y = low if point.rule == "any" else high
            border = [far_x, x, x], [y, y, far_y]
            self.boundary_ = self.ax_.plot(*border, **_BOUNDARY_STYLE)[0]
            style = {"label": "operating point", "color": ink(), **POINT_STYLE}
            self.point_ = self.ax_.plot([x], [y], **{**style, **(point_kwargs or {})})[
                0
            ]
        names = self.classifiers or ("first classifier", "second classifier")
        xlabel, ylabel = (f"Threshold of {name}" for name in names)
        self.ax_.set(xlabel=xlabel, ylabel=ylabel)
        self._add_legend()
        return self

    def _check_two(self):
        """Raise unless path, operating point and names are those of two classifiers."""
        point, rule = self.operating_point, self.path.rule
        n_classifiers = self.path.thresholds.shape[1]
        if n_classifiers != 2:
            raise ValueError(
                "plot_thresholds draws the thresholds of two classifiers, one an axis, "
                f"but the path has {n_classifiers}. Use plot, which draws the counts "
                "of any number of them."
            )
        if point is not None and (len(point.thresholds), point.rule) != (2, rule):
            raise ValueError(
                f"operating_point is one of {len(point.thresholds)} classifiers and "
                f"the rule {point.rule!r}, but the path is of 2 and the rule {rule!r}."
            )
        names = self.classifiers
        if names is not None and len(names) != 2:
            raise ValueError(f"classifiers has {len(names)} names for 2 classifiers.")

    def _frame(self, points):
        """Set limits around all that is finite, and return the lower and the upper."""
        finite = np.where(np.isfinite(points), points, np.nan)
        low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
        margin = _MARGIN * np.where(high > low, high - low, 1.0)
        low, high = low - margin, high + margin
        self.ax_.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        # Outside of the axes, where no label of a tick can be.
        place = {"transform": self.ax_.transAxes, "fontsize": "large"}
        self.ax_.text(1.01, 0, "∞", va="center", **place)
        self.ax_.text(0, 1.01, "∞", ha="center", **place)
        return low, high

    def _draw_documents(self, options):
        """Draw negatives, and positives above them."""
        options = options if isinstance(options, list) else [options or {}] * 2
        if len(options) != 2:
            raise ValueError(
                f"documents_kwargs has {len(options)} entries. Pass one dict for all "
                "documents, or two: for negatives and for positives."
            )
        parts = self.scores[~self.is_positive], self.scores[self.is_positive]
        return [
            self.ax_.scatter(*part.T, **{**default, **of_user})
            for part, default, of_user in zip(
                parts, _DOCUMENT_STYLES, options, strict=True
            )
        ]
