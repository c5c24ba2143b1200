"""Figures 1 to 3 of FPV23: ranks with the Nemenyi test, and improvements.

matplotlib is imported where a figure is made, as the tables do without it.
"""

import numpy as np

from benchmarks.papers._experiments import EXPERIMENTS
from benchmarks.papers._ranks import indistinct_groups
from benchmarks.papers._summary import (
    improvements,
    is_complete,
    measured_ranking,
    published_ranking,
    rows,
    spread,
)

_COLOURS = {"SELE": "C0", "REG": "C1", "TCP": "C2"}
_ROW_HEIGHT = 0.5
_GROUP_COLOUR = "0.25"


def draw_figures(results, sets, folder):
    """Draw figures 1 to 3 into a folder, as far as there are measurements."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = {table: rows(results, table, sets[table]) for table in ("3a", "3b", "4")}
    _save(_figure_of_ranks(measured, ("3a", "3b")), folder / "figure1.png")
    _save(_figure_of_improvements(results, measured), folder / "figure2.png")
    _save(_figure_of_ordinal(results, measured), folder / "figure3.png")


def _save(figure, path):
    if figure is None:
        print(f"not drawn, as there are too few measurements: {path.name}")
        return
    figure.savefig(path, dpi=150, bbox_inches="tight")
    print(f"drawn: {path}")


def _new_figure(*shape, size):
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*shape, squeeze=False)


def _figure_of_ranks(measured, tables):
    if not all(_has_ranks(measured[table]) for table in tables):
        return None
    figure, axes = _new_figure(len(tables), 2, size=(10, 2.2 * len(tables)))
    for pair, table in zip(axes, tables, strict=True):
        _draw_both_rankings(pair, table, measured[table])
    return figure


def _figure_of_improvements(results, measured):
    if not (measured["3a"] and measured["3b"]):
        return None
    figure, axes = _new_figure(2, 1, size=(10, 7))
    _draw_improvements(axes[0, 0], results, "3a", measured["3a"])
    _draw_improvements(axes[1, 0], results, "3b", measured["3b"])
    return figure


def _figure_of_ordinal(results, measured):
    if not _has_ranks(measured["4"]):
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplot_mosaic("ab;cc", height_ratios=(1, 2))
    _draw_both_rankings((axes["a"], axes["b"]), "4", measured["4"])
    _draw_improvements(axes["c"], results, "4", measured["4"])
    return figure


# Ranks


def _has_ranks(rows):
    return sum(map(is_complete, rows.values())) > 1


def _draw_both_rankings(axes, table, rows):
    complete = {name: row for name, row in rows.items() if is_complete(row)}
    here, published = (
        measured_ranking(table, complete),
        published_ranking(table, complete),
    )
    what = f"on {EXPERIMENTS[table].classifier}, {len(complete)} sets"
    _draw_ranking(axes[0], here, f"average ranks {what}, here")
    _draw_ranking(axes[1], published, f"average ranks {what}, the paper")


def _draw_ranking(ax, ranking, title):
    """Draw a critical difference diagram: ranks on an axis, similar methods joined."""
    ranks = ranking.ranks
    groups = indistinct_groups(ranks, ranking.critical_difference)
    for level, group in enumerate(groups, start=1):
        ends = [ranks[group[0]] - 0.03, ranks[group[-1]] + 0.03]
        ax.plot(ends, [-_ROW_HEIGHT * level] * 2, color=_GROUP_COLOUR, linewidth=4)
    n_levels = _draw_names(ax, ranks, len(groups) + 1)
    _draw_critical_difference(ax, ranking.critical_difference)
    _style_ranks(ax, len(ranks), n_levels, title)


def _draw_names(ax, ranks, first_level):
    """Hang names below their ranks, the outer ones higher, and return the lowest."""
    names = sorted(ranks, key=ranks.get)
    for position, name in enumerate(names):
        depth = min(position, len(names) - 1 - position)
        is_left = position < len(names) / 2
        height = -_ROW_HEIGHT * (first_level + depth)
        ax.plot([ranks[name]] * 2, [0, height], color=_GROUP_COLOUR, linewidth=1)
        text = f"{name} {ranks[name]:.2f} "
        side = {"ha": "right"} if is_left else {"ha": "left"}
        ax.text(ranks[name], height, text if is_left else f" {text}", **side)
    return first_level + (len(names) - 1) // 2


def _draw_critical_difference(ax, difference):
    height = 2.2 * _ROW_HEIGHT
    ax.plot([1, 1 + difference], [height, height], "|-", color="C3")
    ax.text(1 + difference + 0.05, height, f"CD {difference:.2f}", va="center")


def _style_ranks(ax, n_methods, n_levels, title):
    ax.set_title(title, fontsize="medium")
    ax.set_xlim(0.4, n_methods + 0.6)
    ax.set_ylim(-_ROW_HEIGHT * (n_levels + 0.3), 2.8 * _ROW_HEIGHT)
    ax.set_xticks(range(1, n_methods + 1))
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_position(("data", 0))
    ax.xaxis.tick_top()
    ax.yaxis.set_visible(False)


# Improvements


def _draw_improvements(ax, results, table, rows):
    """Draw bars of the relative improvement over the baseline, in percent."""
    baseline, *methods = EXPERIMENTS[table].methods
    places = np.arange(len(rows))
    width = 0.8 / len(methods)
    for number, method in enumerate(methods):
        spreads = [
            spread(improvements(results.records(table, name), baseline, method))
            for name in rows
        ]
        ax.bar(
            places + (number - (len(methods) - 1) / 2) * width,
            [one.mean for one in spreads],
            width,
            yerr=[one.sd for one in spreads],
            capsize=2,
            color=_COLOURS[method],
            label=f"{EXPERIMENTS[table].classifier}+{method}",
        )
    _style_improvements(ax, table, baseline, rows)


def _style_improvements(ax, table, baseline, rows):
    labels = [
        name if is_complete(row) else f"{name}\n({row.share:.0%})"
        for name, row in rows.items()
    ]
    ax.set_xticks(np.arange(len(rows)), labels, rotation=30, ha="right")
    ax.axhline(0, color="0.4", linewidth=0.8)
    ax.set_ylabel("improvement of AuRC, %")
    classifier = EXPERIMENTS[table].classifier
    ax.set_title(f"improvement over {classifier}+{baseline}", fontsize="medium")
    ax.legend()
