"""Figures 7 and 10 of RZMR20: F1 beside that of single classifiers, and two paths.

matplotlib is imported where a figure is made, as the tables do without it.
"""

import numpy as np

from benchmarks.papers._rzmr20_classifiers import score_split
from benchmarks.papers._rzmr20_data import load
from benchmarks.papers._rzmr20_measure import find_paths
from benchmarks.papers._rzmr20_published import TYPES
from benchmarks.papers._rzmr20_summary import experiments, mean_cells

# Where the paths of figure 10 are drawn: a set with few positives, all of them visible.
_EXAMPLE = ("mammography", "forest")

# False positives shown for each positive; there are forty times as many.
_SHOWN = 5

_RULE = "any"
_STYLES = {"analytic": {"color": "C0"}, "graph": {"color": "C1"}}


def draw_figure(path, records):
    """Draw F1 of all experiments, and the paths of one if it was measured.

    Parameters
    ----------
    path : Path
        File of the figure.

    records : dict
        {set: records of its seeds}.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 5), layout="constrained")
    f1, thresholds, counts = figure.subplots(1, 3)
    _draw_f1(f1, records)
    if _EXAMPLE in experiments(records):
        _draw_paths(thresholds, counts)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


def _draw_f1(ax, records):
    """Draw the F1 of the graph, beside both classifiers as usual and the chosen one."""
    cells = [mean_cells(of_seeds, _RULE) for of_seeds in experiments(records).values()]
    joint = [row["graph"]["f1"] for row in cells]
    usual = [
        np.mean([row[name]["f1"] for name in ("first", "second")]) for row in cells
    ]
    chosen = [row["chosen"]["f1"] for row in cells]
    ax.axline((0, 0), slope=1, color="0.6", linewidth=1)
    ax.plot(usual, joint, "o", color="0.6", label="mean of both, usual decision")
    ax.plot(chosen, joint, "o", color="C3", label="better one, threshold tuned")
    ax.set(xlabel="F1 of single classifiers", ylabel="F1 of both, graph")
    ax.set(xlim=(0, 1), ylim=(0, 1), title="samples held out")
    ax.legend()


def _draw_paths(thresholds, counts):
    from sklearn_reject.metrics import PNCurveDisplay

    name, kind = _EXAMPLE
    scored = score_split(load(name, 0), kind, 0)
    paths = find_paths(scored, _RULE)
    is_positive = scored.y_tuning == 1
    for rows, color, size in ((~is_positive, "0.6", 6), (is_positive, "C3", 9)):
        thresholds.scatter(*scored.tuning[rows].T, s=size, color=color, linewidths=0)
    thresholds.autoscale(False)
    # What is infinite is drawn on the border.
    high = thresholds.get_xlim()[1], thresholds.get_ylim()[1]
    for key, style in _STYLES.items():
        style = {"drawstyle": "steps-post", "label": key, **style}
        thresholds.plot(*np.minimum(paths[key].thresholds, high).T, **style)
        style = {"name": key, "curve_kwargs": _STYLES[key]}
        PNCurveDisplay.from_path(paths[key], ax=counts, **style)
    thresholds.legend()
    thresholds.set_title(f"{name}, {TYPES[kind]}")
    counts.set_xlim(right=_SHOWN * scored.y_tuning.sum())
    counts.set_title("its paths on scores out of fold, counted")
