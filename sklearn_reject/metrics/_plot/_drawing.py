"""What the displays have in common."""

import numpy as np

from sklearn_reject.metrics._plot._legend import add_legend

# Of several curves that are alike, such as those of folds.
_STYLE_OF_ALIKE = {"alpha": 0.6, "color": "C0"}

# Of the references: a grey that is seen on white and on black.
RANDOM_STYLE = {"linestyle": "-.", "linewidth": 1.2, "color": "0.55"}
ORACLE_STYLE = {"linestyle": ":", "color": "0.55"}

# Of what a rule does, in the color of its curve.
POINT_STYLE = {"marker": "o", "linestyle": "", "clip_on": False, "zorder": 3}


def folds_of(cv_results):
    """Return pairs of the estimator of each fold and the rows held out of it."""
    if not {"estimator", "indices"} <= cv_results.keys():
        raise ValueError(
            "cv_results has no 'estimator' or no 'indices'. Call cross_validate "
            "with return_estimator=True and return_indices=True."
        )
    rows = cv_results["indices"]["test"]
    return list(zip(cv_results["estimator"], rows, strict=True))


def find_axes(ax, display, numbers):
    """Return the axes given, or those of a new figure, which keeps labels whole."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display}.plot needs matplotlib. Install it with "
            f"`pip install matplotlib`, or use {numbers} for the numbers."
        ) from error
    return plt.subplots(layout="tight")[1]


def is_wanted(display, part, wanted, way_out, *, attribute=None):
    """Return whether to draw a part: where `wanted` is None, if its data is known."""
    attribute = attribute or part
    is_known = getattr(display, attribute) is not None
    if wanted and not is_known:
        raise ValueError(
            f"plot_{part}=True, but the display has no `{attribute}`. Pass it to the "
            f"constructor, or {way_out}."
        )
    return is_known if wanted is None else wanted


def draw_curves(ax, points, legend, curve_kwargs, *, alike=False):
    """Draw each (x, y) with its label, and return the line or the list of lines.

    Options for all curves are added to the style of those that are alike; those given
    in a list, one dict a curve, are complete.
    """
    if not isinstance(curve_kwargs, list):
        shared = _STYLE_OF_ALIKE if alike and len(points) > 1 else {}
        curve_kwargs = [{**shared, **(curve_kwargs or {})}] * len(points)
    if len(curve_kwargs) != len(points):
        raise ValueError(
            f"curve_kwargs has {len(curve_kwargs)} entries for {len(points)} curves. "
            "Pass one dict for all, or one for each."
        )
    lines = [
        ax.plot(*curve, **{"label": label, **mark_single(curve[0]), **style})[0]
        for curve, label, style in zip(points, legend, curve_kwargs, strict=True)
    ]
    return lines[0] if len(lines) == 1 else lines


def mark_single(x):
    """Return the style of a line that would not be seen, as it has a single point."""
    return {"marker": "."} if len(x) == 1 else {}


def label_curves(name, each, summary=None):
    """Return "name (value)" of each curve, or of the first with the value of all.

    A curve with neither has None, which leaves it out of the legend.
    """
    n_curves = len(each)
    if isinstance(name, list):
        if len(name) != n_curves:
            raise ValueError(f"name has {len(name)} entries for {n_curves} curves.")
        return [_label(*pair) for pair in zip(name, each, strict=True)]
    if summary is not None and n_curves > 1:
        each = [summary] + [None] * (n_curves - 1)
    names = [name] + [None] * (n_curves - 1)
    return [_label(*pair) for pair in zip(names, each, strict=True)]


def _label(name, value):
    if name is None or value is None:
        return value if name is None else name
    return f"{name} ({value})"


def short(value, digits=3):
    """Return a number with some digits, and without powers of ten if it is large."""
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"


def ink():
    """Return the color of text: black on white, and white in dark styles."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def draw_points(ax, lines, points, legend, user):
    """Draw the point of a rule on each line in its color, and return one or a list."""
    drawn = []
    for line, point, label in zip(lines, points, legend, strict=True):
        style = {"label": label, "color": line.get_color(), **POINT_STYLE}
        drawn += ax.plot(*([x] for x in point), **{**style, **(user or {})})
    return drawn[0] if len(drawn) == 1 else drawn


def keep_one(ax, line):
    """Return a line like this one that is on the axes before it, or this one.

    The targets of several displays on the same axes are drawn once.
    """
    for other in ax.lines:
        if other is not line and _are_alike(other, line):
            line.remove()
            return other
    return line


def _are_alike(*lines):
    labels = {line.get_label() for line in lines}
    first, second = (np.asarray(line.get_xydata()) for line in lines)
    return len(labels) == 1 and np.array_equal(first, second)


def finish_axes(ax, **settings):
    """Set names and limits of the axes, and add a legend where something has a name."""
    ax.set(**settings)
    add_legend(ax)
