"""Joint thresholds of two classifiers, one an axis."""

from dataclasses import dataclass

import numpy as np

_PATH_STYLE = {"drawstyle": "steps-post", "clip_on": False, "zorder": 2.5}
_POINT_STYLE = {"marker": "o", "color": "black", "linestyle": "", "clip_on": False}
_BOUNDARY_STYLE = {"linestyle": "--", "linewidth": 1, "color": "0.4", "zorder": 2.5}
_DOCUMENT_STYLES = (
    {"label": "negative", "color": "0.7", "s": 6, "linewidths": 0},
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
        style = {**_POINT_STYLE, "label": "operating point", **user}
        return self.ax.plot([x], [y], **{"zorder": 3, **style})[0]

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
