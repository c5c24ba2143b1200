"""Joint thresholds of two classifiers, one an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sklearn_reject._typing import Axes, Options
from sklearn_reject.metrics._plot._drawing import (
    find_axes,
    finish_axes,
    ink,
    is_wanted,
)

_PATH_STYLE = {"drawstyle": "steps-post", "clip_on": False, "zorder": 2.5}
_POINT_STYLE = {"marker": "o", "linestyle": "", "clip_on": False, "zorder": 3}
_BOUNDARY_STYLE = {"linestyle": "--", "linewidth": 1, "color": "0.55", "zorder": 2.5}
_DOCUMENT_STYLES = (
    {"label": "negative", "color": "0.6", "s": 6, "linewidths": 0},
    {"label": "positive", "color": "C3", "s": 9, "linewidths": 0},
)

# Of the range of finite values, what is left on either side of it.
_MARGIN = 0.06


def check_two(path, point=None, classifiers=None):
    """Raise unless path, operating point and names are those of two classifiers."""
    n_classifiers = path.thresholds.shape[1]
    if n_classifiers != 2:
        raise ValueError(
            "plot_thresholds draws the thresholds of two classifiers, one an axis, but "
            f"the path has {n_classifiers}. Use plot, which draws the counts of any "
            "number of them."
        )
    if point is not None and (len(point.thresholds), point.rule) != (2, path.rule):
        raise ValueError(
            f"operating_point is one of {len(point.thresholds)} classifiers and the "
            f"rule {point.rule!r}, but the path is of 2 and the rule {path.rule!r}."
        )
    if classifiers is not None and len(classifiers) != 2:
        raise ValueError(f"classifiers has {len(classifiers)} names for 2 classifiers.")


class ThresholdPicture:
    """The part of a display that draws a path through the space of thresholds."""

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
        self._is_wanted("thresholds", True, "path")
        check_two(self.path, self.operating_point, self.classifiers)
        plot_point = self._is_wanted("point", plot_point, "operating_point")
        self._is_wanted("documents", plot_documents, "scores")
        self.ax_ = find_axes(ax, "PNCurveDisplay", "the thresholds of the path")
        self.figure_ = self.ax_.figure
        shown = [self.path.thresholds]
        if plot_point:
            shown.append(self.operating_point.thresholds)
        if plot_documents:
            shown.append(self.scores)
        space = ThresholdSpace.around(self.ax_, *shown)
        self.path_ = self.tangent_ = self.documents_ = None
        self.point_ = self.boundary_ = None
        if plot_documents:
            self.documents_ = space.draw_documents(
                self.scores, self.is_positive, documents_kwargs
            )
        name = self.name if name is None else name
        name = name[0] if isinstance(name, list) else name
        style = {"label": name or "path", **(curve_kwargs or {})}
        self.line_ = space.draw_path(self.path, style)
        if plot_point:
            self.boundary_ = space.draw_boundary(self.operating_point)
            self.point_ = space.draw_point(self.operating_point, point_kwargs or {})
        first, second = self.classifiers or ("first classifier", "second classifier")
        names = {"xlabel": f"Threshold of {first}", "ylabel": f"Threshold of {second}"}
        finish_axes(self.ax_, **names)
        return self

    def _is_wanted(self, part, wanted, attribute):
        way_out = "call from_path, or from_estimator with an EnsembleThresholdTuner"
        return is_wanted(self, part, wanted, way_out, attribute=attribute)


@dataclass(frozen=True, eq=False)
class ThresholdSpace:
    """Axes of two thresholds, on whose upper borders infinite ones are drawn."""

    ax: object
    low: np.ndarray  # (2,) lower borders
    high: np.ndarray  # (2,) upper borders

    @classmethod
    def around(cls, ax, *points):
        """Choose the borders from thresholds and scores of shape (n_points, 2)."""
        points = np.vstack(points)
        finite = np.where(np.isfinite(points), points, np.nan)
        low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
        margin = _MARGIN * np.where(high > low, high - low, 1.0)
        (left, bottom), (right, top) = low - margin, high + margin
        ax.set(xlim=(left, right), ylim=(bottom, top))
        # Outside of the axes, where no label of a tick can be.
        place = {"transform": ax.transAxes, "fontsize": "large"}
        ax.text(1.01, 0, "∞", va="center", **place)
        ax.text(0, 1.01, "∞", ha="center", **place)
        return cls(ax, low - margin, high + margin)

    def draw_path(self, path, user):
        """Draw a path as steps, one classifier at a time."""
        x, y = np.minimum(path.thresholds, self.high).T
        return self.ax.plot(x, y, **{**_PATH_STYLE, **user})[0]

    def draw_point(self, point, user):
        """Draw an operating point."""
        x, y = np.minimum(point.thresholds, self.high)
        style = {"color": ink(), "label": "operating point", **_POINT_STYLE, **user}
        return self.ax.plot([x], [y], **style)[0]

    def draw_boundary(self, point):
        """Draw the border of what an operating point predicts positive."""
        x, y = np.minimum(point.thresholds, self.high)
        far_x, far_y = self.low if point.rule == "any" else self.high
        return self.ax.plot([far_x, x, x], [y, y, far_y], **_BOUNDARY_STYLE)[0]

    def draw_documents(self, scores, is_positive, user):
        """Draw negatives, and positives above them."""
        user = user if isinstance(user, list) else [user or {}] * 2
        if len(user) != 2:
            raise ValueError(
                f"documents_kwargs has {len(user)} entries. Pass one dict for all "
                "documents, or two: for negatives and for positives."
            )
        parts = scores[~is_positive], scores[is_positive]
        return [
            self.ax.scatter(*part.T, **{**default, **style})
            for part, default, style in zip(parts, _DOCUMENT_STYLES, user, strict=True)
        ]
