"""What every display of curves does."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject._typing import Axes, Figure, Line2D, Other
from sklearn_reject.metrics._arrays import is_table
from sklearn_reject.metrics._plot._targets import (
    LINES,
    draw_bound,
    find_target,
    keep_one,
    short,
)

# Of several curves that are alike, such as those of folds.
_STYLE_OF_ALIKE = {"alpha": 0.6, "color": "C0"}

# Of what a rule does, in the color of its curve.
_POINT_STYLE = {"marker": "o", "linestyle": "", "clip_on": False, "zorder": 3}

# Of the references: a grey that is seen on white and on black.
_RANDOM_STYLE = {
    "label": "random",
    "linestyle": "-.",
    "linewidth": 1.2,
    "color": "0.55",
}
_ORACLE_STYLE = {"label": "oracle", "linestyle": ":", "color": "0.55"}


class CurveDisplay:
    """Base of the displays: curves, the point of a rule, its target and references.

    A display names the attributes that hold x and y of each curve in `_axes`, and in
    `_function` what gives these numbers without matplotlib. `_rule` says what the point
    of a rule is.
    """

    line_: Line2D | Other
    point_: Any
    target_: Line2D | Other
    oracle_: Line2D | Other
    random_: Line2D | Other
    path_: Line2D | Other
    tangent_: Line2D | Other
    ax_: Axes
    figure_: Figure

    # The attribute that holds the area of each curve, and its name in the legend.
    _area, _area_name = "area", "area"
    # Whether several curves are those of folds, one like the other.
    _are_alike = True
    _way_out = "Pass it to the constructor, or use from_estimator."

    @classmethod
    def _of_samples(cls, samples, name):
        """Make the display of samples, one a curve, with the references of all."""
        drawn = [cls._curve(*sample) for sample in samples]
        x, y, areas = map(list, zip(*drawn, strict=True))
        together = [
            None if parts[0] is None else np.concatenate(parts)
            for parts in zip(*samples, strict=True)
        ]
        oracle, random = cls._references(*together)
        options = {cls._area: areas, "oracle": oracle, "random": random}
        return cls(x, y, **options, name=name)

    @classmethod
    def _of_rules(cls, estimators, judged, name):
        """Make the display of pairs of a sample and the point of an estimator's rule.

        Points are drawn where all estimators have one, and what was asked of all.
        """
        samples, points = zip(*judged, strict=True)
        display = cls._of_samples(samples, name)
        if all(point is not None for point in points):
            display.point = list(points)
            target, *others = [find_target(each, LINES) for each in estimators]
            display.target = target if all(o == target for o in others) else None
        return display

    @classmethod
    def _of_folds(cls, cv_results, arrays, loss, labels, name):
        """Make the display of the test rows of each fold; `_judge` takes the arrays."""
        if not {"estimator", "indices"} <= cv_results.keys():
            raise ValueError(
                "cv_results has no 'estimator' or no 'indices'. Call cross_validate "
                "with return_estimator=True and return_indices=True."
            )
        if is_table(loss) and labels is None:
            labels = np.unique(arrays["y"])  # a fold may lack a class
        estimators, judged = cv_results["estimator"], []
        for fold in zip(estimators, cv_results["indices"]["test"], strict=True):
            estimator, rows = fold
            held_out = {
                key: None if array is None else _safe_indexing(array, rows)
                for key, array in arrays.items()
            }
            judged.append(cls._judge(estimator, **held_out, loss=loss, labels=labels))
        return cls._of_rules(estimators, judged, name)

    def _plot(self, ax, name, curve_kwargs, parts, **limits):
        """Draw the curves and their parts, with a legend where something has a name.

        Of each part, drawn by the method `_draw_{part}`: whether it is wanted, None
        where it is known, and what is known of it.
        """
        shown = {part: self._shows(part, *known) for part, known in parts.items()}
        self._use_axes(ax)
        self.line_ = self._draw_curves(name, curve_kwargs)
        for part, (_, data) in parts.items():
            draw = getattr(self, f"_draw_{part}")
            setattr(self, f"{part}_", draw(data) if shown[part] else None)
        xlabel, ylabel = self._labels
        self.ax_.set_ylim(bottom=0, auto=True)
        self.ax_.set(xlabel=xlabel, ylabel=ylabel, **limits)
        self._add_legend()
        return self

    def _shows(self, part, wanted, data):
        """Tell whether to draw a part, or raise where its data is not known."""
        if wanted and data is None:
            raise ValueError(
                f"plot_{part}=True, but the display has no {part}. {self._way_out}"
            )
        return data is not None if wanted is None else wanted

    def _use_axes(self, ax):
        """Draw on the axes given, or on those of a new figure with whole labels."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError(
                    f"{type(self).__name__}.plot needs matplotlib. Install it with "
                    "`pip install matplotlib`, or use "
                    f"{self._function} for the numbers."
                ) from error
            ax = plt.subplots(layout="tight")[1]
        self.ax_, self.figure_ = ax, ax.figure

    def _add_legend(self):
        if self.ax_.get_legend_handles_labels()[1]:
            self.ax_.legend(loc="best", fontsize="small")

    def _draw_curves(self, name, curve_kwargs):
        """Draw each curve; options in a list, one dict a curve, are complete."""
        x, y = (getattr(self, axis) for axis in self._axes)
        if not isinstance(curve_kwargs, list):
            shared = _STYLE_OF_ALIKE if self._are_alike and len(x) > 1 else {}
            curve_kwargs = [{**shared, **(curve_kwargs or {})}] * len(x)
        if len(curve_kwargs) != len(x):
            raise ValueError(
                f"curve_kwargs has {len(curve_kwargs)} entries for {len(x)} curves. "
                "Pass one dict for all, or one for each."
            )
        labels = self._label_curves(self.name if name is None else name, len(x))
        lines = []
        for *curve, label, style in zip(x, y, labels, curve_kwargs, strict=True):
            # A single point would not be seen without a marker.
            marker = {"marker": "."} if len(curve[0]) == 1 else {}
            lines += self.ax_.plot(*curve, **{"label": label, **marker, **style})
        return one_or_all(lines)

    def _label_curves(self, name, n_curves):
        """Return "name (area)" of each curve, or of the first with the area of all.

        A curve with neither has None, which leaves it out of the legend.
        """
        names = name if isinstance(name, list) else [name] + [None] * (n_curves - 1)
        if len(names) != n_curves:
            raise ValueError(f"name has {len(names)} entries for {n_curves} curves.")
        areas = getattr(self, self._area, None) or []
        shown = [f"{self._area_name} = {short(area, 4)}" for area in areas]
        if self._are_alike and len(areas) > 1 and names is not name:
            mean, spread = short(np.mean(areas), 4), short(np.std(areas), 2)
            shown = [f"{self._area_name} = {mean} ± {spread}"]
        shown += [None] * (n_curves - len(shown))
        return [
            f"{name} ({area})" if name and area else name or area
            for name, area in zip(names, shown, strict=True)
        ]

    def _draw_point(self, points):
        """Draw the point of the rule of each curve, in its color."""
        labels = ["rules"] + [None] * (len(points) - 1)
        if len(points) == 1:
            labels = [f"rule ({self._describe_rule(*points[0])})"]
        drawn = []
        lines = np.atleast_1d(self.line_)[: len(points)]
        for line, (x, y), label in zip(lines, points, labels, strict=True):
            style = {"label": label, "color": line.get_color(), **_POINT_STYLE}
            drawn += self.ax_.plot([x], [y], **style)
        return one_or_all(drawn)

    def _describe_rule(self, x, y):
        return self._rule.format(short(x), short(y))

    def _draw_target(self, target):
        return draw_bound(self.ax_, target)

    def _draw_oracle(self, curve):
        line = self.ax_.plot(*curve, **_ORACLE_STYLE)[0]
        return keep_one(self.ax_, line)

    def _draw_random(self, ends):
        """Draw what chance has between the left and the right end, or one value."""
        line = self.ax_.plot([0, 1], np.broadcast_to(ends, 2), **_RANDOM_STYLE)[0]
        return keep_one(self.ax_, line)


def one_or_all(drawn):
    """Return what was drawn, without a list where it is one thing."""
    return drawn[0] if len(drawn) == 1 else drawn
