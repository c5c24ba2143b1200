"""The operating point of joint thresholds among true and false positives."""

from functools import partial

import numpy as np

from sklearn_reject.metrics._plot._drawing import ink

_POINT_STYLE = {"fmt": "o", "capsize": 3, "zorder": 3}
_TANGENT_STYLE = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.9}

# Of the false positives at the operating point, or of the upper end of their interval,
# how many fit into the axes: the point is in the left part, and not in a corner.
_VIEW = 4

# By how much, relatively, axes are higher than what is in them.
_ROOM = 1.05


def draw_point(ax, point, user):
    """Draw an operating point, with its intervals as error bars."""
    done = f"precision = {point.precision:.3g}"
    done = "predicts nothing" if np.isnan(point.precision) else done
    label = f"operating point ({done})"
    style = {"label": label, "color": ink(), **_POINT_STYLE, **user}
    return ax.errorbar(
        point.fp,
        point.tp,
        xerr=_lengths(point.fp, point.fp_interval),
        yerr=_lengths(point.tp, point.tp_interval),
        **style,
    )


def draw_tangent(ax, point, user):
    """Draw the line of the target derivative through a point; None without one."""
    slope = point.target_derivative
    if np.isnan(slope):
        return None  # targets that are no slopes have no tangent
    label = f"target: dTP/dFP = {slope:.3g}"
    style = {"label": label, "color": ink(), **_TANGENT_STYLE, **user}
    return ax.axline((point.fp, point.tp), slope=slope, **style)


def show_point(ax, point, curves, shown):
    """Set limits near an operating point, not below what was shown before.

    `curves` are the false and true positives of each.
    """
    right = max(_VIEW * _upper_end(point.fp, point.fp_interval), shown)
    if not 0 < right < max(fp[-1] for fp in curves[0]):
        return
    heights = map(partial(np.interp, right), *curves)
    top = max(*heights, _upper_end(point.tp, point.tp_interval))
    before = ax.get_ylim()[1] if shown else 0.0
    ax.set(xlim=(0, right), ylim=(0, max(_ROOM * top, before)))


def _lengths(value, interval):
    """Return how far error bars reach to either side."""
    low, high = interval
    return [[max(value - low, 0.0)], [max(high - value, 0.0)]]


def _upper_end(value, interval):
    """Return the larger of a count and the upper end of its interval."""
    return max(float(value), float(np.nan_to_num(interval[1], posinf=0.0)))
