"""What all displays of curves share: their parts, and how each is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._sklearn import _safe_indexing, check_matplotlib_support
from sklearn_reject._typing import Axes, Figure, Line2D, Options, Other
from sklearn_reject._validation import check_option, check_sample_weight
from sklearn_reject.metrics._inside import find, locate

# Of several curves that are alike, such as those of folds.
_STYLE_OF_ALIKE = {"alpha": 0.6, "color": "C0"}
_POINT_STYLE = {"marker": "o", "linestyle": "", "clip_on": False, "zorder": 3}
_TARGET_STYLE = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.9}
# A grey that is seen on white and on black.
_ORACLE_STYLE = {"linestyle": ":", "color": "0.55"}
_RANDOM_STYLE = {"linestyle": "-.", "linewidth": 1.2, "color": "0.55"}

# What a legend says of the bounds of a rule.
_BOUNDS = {
    "target_risk": "risk ≤ {}",
    "max_risk": "risk ≤ {}",
    "target_coverage": "coverage ≥ {}",
    "target_failure_rate": "failure rate ≤ {}",
    "max_deferral": "deferral rate ≤ {}",
    "min_tpr": "TPR ≥ {}",
    "max_fpr": "FPR ≤ {}",
    "min_precision": "precision ≥ {}",
    "max_fp_per_tp": "FP per TP ≤ {}",
}


@dataclass(eq=False, repr=False, kw_only=True)
class CurveDisplay:
    """Base of the displays: curves, with what is drawn beside them.

    A display names the two attributes that hold x and y of each curve in `_axes`, the
    bounds that are lines across x and across y in `_bounds`.
    """

    area: Sequence[float] | None = None
    oracle: tuple[ArrayLike, ...] | None = None
    random: Any = None
    point: Any = None
    target: Mapping[str, float] | None = None
    name: str | None = None

    _area_name = "area"
    _xlim = -0.01, 1.01
    # The part of a curve, along x, that axes show as a whole.
    _shown = -np.inf, np.inf

    @classmethod
    def _of_samples(cls, samples, name):
        """Make the display of samples, one a curve, with the references of all."""
        drawn = [cls._curve(*sample) for sample in samples]
        x, y, areas = map(list, zip(*drawn, strict=True))
        together = (
            None if parts[0] is None else np.concatenate(parts)
            for parts in zip(*samples, strict=True)
        )
        oracle, random = cls._references(*together)
        return cls(x, y, area=areas, oracle=oracle, random=random, name=name)

    @classmethod
    def _of_rules(cls, estimators, judged, name):
        """Make the display of pairs of a sample and the point of an estimator's rule.

        Points are drawn where all estimators have one, and what was asked of all.
        """
        samples, points = zip(*judged, strict=True)
        display = cls._of_samples(samples, name)
        if None not in points:
            display.point = list(points)
            target, *others = map(find_target, estimators)
            display.target = target if all(o == target for o in others) else None
        return display

    @classmethod
    def _of_folds(cls, cv_results, name, X, y, sample_weight, *others, **options):
        """Make the display of the test rows of each fold, as `_judge` sees them."""
        if not {"estimator", "indices"} <= cv_results.keys():
            raise ValueError(
                "cv_results has no 'estimator' or no 'indices'. Call cross_validate "
                "with return_estimator=True and return_indices=True."
            )
        arrays = X, y, check_sample_weight(sample_weight, len(y)), *others
        estimators, rows = cv_results["estimator"], cv_results["indices"]["test"]
        judged = []
        for estimator, some in zip(estimators, rows, strict=True):
            held_out = (a if a is None else _safe_indexing(a, some) for a in arrays)
            judged.append(cls._judge(estimator, *held_out, **options))
        return cls._of_rules(estimators, judged, name)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        plot_point: bool | None = None,
        plot_target: bool | None = None,
        plot_oracle: bool = False,
        plot_random: bool = False,
        target: Mapping[str, float] | None = None,
        curve_kwargs: Options | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str, default=None
            Name of the curve, or of all. None takes that of the display.

        plot_point : bool, default=None
            Whether to draw the operating point. None does it where it is known.

        plot_target : bool, default=None
            Whether to draw the target. None does it where it is known.

        plot_oracle : bool, default=False
            Whether to draw the curve of a perfect score.

        plot_random : bool, default=False
            Whether to draw the line of a random score.

        target : dict of str to float, default=None
            Bounds to draw in place of those of the rule, such as
            ``{"target_risk": 0.02}`` or ``{"max_fpr": 0.2, "min_tpr": 0.7}``.

        curve_kwargs : dict, default=None
            Passed to matplotlib's `plot` for all curves. What is drawn can be styled
            afterwards, too, as attributes of the display.

        Returns
        -------
        display : object
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If something is wanted that the display does not have.
        """
        for bound in target or ():
            check_option(bound, "target", [*_BOUNDS, "confidence_level"])
        if ax is None:
            check_matplotlib_support(f"{type(self).__name__}.plot")
            import matplotlib.pyplot as plt

            ax = plt.subplots(layout="tight")[1]
        self.ax_: Axes = ax
        self.figure_: Figure = ax.figure
        self.line_: Line2D | Other = self._draw_curves(
            self.name if name is None else name, curve_kwargs
        )
        target = self.target if target is None else target
        self.point_: Other = self._draw("point", plot_point, self.point)
        self.target_: Line2D | Other = self._draw("target", plot_target, target)
        self.oracle_: Line2D | Other = self._draw("oracle", plot_oracle, self.oracle)
        self.random_: Line2D | Other = self._draw("random", plot_random, self.random)
        self.ax_.set(xlabel=self._labels[0], ylabel=self._labels[1])
        self.ax_.set_xlim(*self._xlim, auto=None in self._xlim)
        self.ax_.set_ylim(bottom=0, auto=True)
        if self.ax_.get_legend_handles_labels()[1]:
            self.ax_.legend(loc="best", fontsize="small")
        return self

    def _draw_curves(self, name, curve_kwargs):
        """Draw each curve; in the legend is the first one, with the area of all."""
        areas = self.area or []
        text = f"{self._area_name} = {short(np.mean(areas), 4)}" if areas else ""
        text += f" ± {short(np.std(areas), 2)}" if len(areas) > 1 else ""
        x, y = (getattr(self, axis) for axis in self._axes)
        style = {"label": f"{name} ({text})" if name and text else name or text or None}
        style |= _STYLE_OF_ALIKE if len(x) > 1 else {}
        # A single point would not be seen without a marker.
        style |= {"marker": "."} if min(map(len, x)) == 1 else {}
        style |= curve_kwargs or {}
        lines = []
        for curve in zip(x, y, strict=True):
            lines += self._add(self._shown, self.ax_.plot, *curve, **style)
            style["label"] = None
        return one_or_all(lines)

    def _add(self, shown, draw, x, *ys, **style):
        """Add something of which only the part `shown`, along x, sets the limits."""
        limits = self.ax_.dataLim.frozen()
        drawn = draw(x, *ys, **style)
        self.ax_.dataLim.set(limits)
        at = slice(np.searchsorted(x, shown[0]), np.searchsorted(x, shown[1], "right"))
        self.ax_.update_datalim(np.column_stack([x[at], ys[-1][at]]))
        return drawn

    def _draw(self, part, is_wanted, known):
        """Draw a part where it is known, unless it is not wanted, and return it."""
        if is_wanted and known is None:
            raise ValueError(
                f"plot_{part}=True, but the display has no {part}. Use from_estimator, "
                f"or pass {part}= to {type(self).__name__}."
            )
        is_drawn = known is not None and is_wanted is not False
        return getattr(self, f"_draw_{part}")(known) if is_drawn else None

    def _draw_point(self, points):
        """Draw the point of the rule of each curve, in its color."""
        label, drawn = "rules", []
        if len(points) == 1:
            label = f"rule ({self._rule.format(*map(short, points[0]))})"
        for line, point in zip(np.atleast_1d(self.line_), points, strict=True):
            style = {"color": line.get_color(), **_POINT_STYLE}
            drawn += self.ax_.plot(*point, label=self._once(label), **style)
        return one_or_all(drawn)

    def _draw_target(self, target):
        """Draw the bounds on x and on y that the axes show, both as a corner."""
        x, y = ([n for n in names if n in target][:1] for names in self._bounds)
        style = self._style_of_target(target, x + y)
        if x and y:
            far = [0.0 if "≤" in _BOUNDS[name] else 1.0 for name in x + y]
            x, y = target[x[0]], target[y[0]]
            corner = [(far[0], y), (x, y), (x, far[1])]
            if style["label"]:
                ink = {"color": style["color"], "alpha": 0.07, "linewidth": 0}
                self.ax_.fill(*zip(*corner, far, strict=True), **ink)
            return self.ax_.plot(*zip(*corner, strict=True), **style)[0]
        if x:
            return self.ax_.axvline(target[x[0]], **style)
        return self.ax_.axhline(target[y[0]], **style) if y else None

    def _style_of_target(self, target, names):
        """Return the style of the line of some bounds, with what a legend says."""
        text = ", ".join(_BOUNDS[name].format(short(target[name])) for name in names)
        label = f"target: {text}"
        if "confidence_level" in target:
            label = f"certified: {text} ({short(100 * target['confidence_level'], 4)}%)"
        color = self.ax_.xaxis.label.get_color()  # white in dark styles
        return {"label": self._once(label), "color": color, **_TARGET_STYLE}

    def _draw_oracle(self, curve):
        return self.ax_.plot(*curve, label=self._once("oracle"), **_ORACLE_STYLE)[0]

    def _draw_random(self, curve):
        return self.ax_.plot(*curve, label=self._once("random"), **_RANDOM_STYLE)[0]

    def _once(self, label):
        """Return a label, None where the legend of the axes has it already."""
        return None if label in self.ax_.get_legend_handles_labels()[1] else label


def find_target(estimator):
    """Return the bounds and the confidence level asked of a rule, or None.

    Those that are numbers: of bounds for each group there is no line.
    """
    asked = getattr(find(estimator, "rule_")[0], "_asked", {})
    names = *_BOUNDS, "confidence_level"
    target = {n: float(asked[n]) for n in names if isinstance(asked.get(n), Real)}
    return target if target.keys() & _BOUNDS.keys() else None


def acceptance(estimator, X, labels, scores):
    """Return how likely a rule accepts each sample, None where there is no rule.

    Labels and scores are those of the estimator for X, which need no second pass; the
    scores of two are the columns of a matrix.
    """
    inner, inner_X = locate(estimator, X, "accept_proba")
    if inner is None:
        return None
    takes_both = hasattr(inner, "risk_and_novelty")
    if hasattr(inner, "_probability") and np.ndim(scores) == 1 + takes_both:
        return np.asarray(inner._probability(inner_X, labels, scores))
    return np.asarray(inner.accept_proba(inner_X), dtype=np.float64)


def share_and_mean(probability, values, weight):
    """Return the share that is accepted, and the mean of values of what is, or NaN."""
    share = float(np.average(probability, weights=weight))
    if share == 0:
        return share, float("nan")
    mass = probability if weight is None else probability * weight
    return share, float(np.average(values, weights=mass))


def short(value, digits=3):
    """Return a number with some digits, and without powers of ten if it is large."""
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"


def one_or_all(drawn):
    """Return what was drawn, without a list where it is one thing, or None."""
    return drawn if len(drawn) > 1 else next(iter(drawn), None)
