"""Figure 1 of NKRD16: the best set of one draw of ten points, for each loss.

matplotlib is imported where a figure is made, as the tables do without it.
"""

import numpy as np

from benchmarks.papers._nkrd16_synthetic import (
    N_ITEMS,
    NAMES,
    all_sets,
    bounds,
    draw,
    expected_losses,
)

_SEED = 11  # a draw in which the losses differ in their best sets


def draw_figure(path):
    """Draw probabilities in decreasing order, and the best of all sets, into a file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5.5), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    eta = np.sort(draw(1, _SEED))[:, ::-1]
    for panel, name in zip(panels, NAMES, strict=False):
        _draw_panel(panel, eta[0], best_set(name, eta), NAMES[name])
    panels[-1].axis("off")
    panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")
    figure.supxlabel("point, the most probable first")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


def best_set(name, eta):
    """Return the mask of the set of least expected loss among all sets of one draw."""
    expected = expected_losses(name, eta)[0]
    if bounds(name):
        expected[[0, -1]] = np.inf
    return all_sets()[np.argmin(expected)]


def _draw_panel(panel, eta, is_in, title):
    points = np.arange(1, N_ITEMS + 1)
    panel.bar(points, is_in, width=0.9, color="0.85", label="best set of all")
    panel.plot(points, eta, "o-", color="C0", label="P(Y = 1 | x)")
    panel.set(title=f"{title}: {is_in.sum()} points", xticks=points, ylim=(0, 1.03))
