"""Legends hide no data, labels are whole, and all is seen on black and on white."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection

from sklearn_reject.metrics import (
    DeferralCurveDisplay,
    ExpectedLossDisplay,
    MonitorDisplay,
    OODFrontierDisplay,
    PNCurveDisplay,
    RiskCoverageDisplay,
)
from sklearn_reject.thresholds import operating_point, optimal_path

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
GRID = np.linspace(0.01, 1, 60)
SIZES = [pytest.param((6.4, 4.8), marks=pytest.mark.slow), (4, 3)]
STYLES = {"dark_background": "black", "default": "white"}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def risk_coverage(ax=None, shape=GRID**2, name="SelectiveClassifier"):
    return RiskCoverageDisplay(
        [GRID],
        [0.2 * shape],
        aurc=[0.0123],
        oracle=(GRID, 0.2 * GRID**8),
        random=0.2,
        band=[(GRID, 0.15 * shape, 0.05 + 0.2 * shape)],
        point=[(0.8, 0.13)],
        target={"target_risk": 0.14, "confidence_level": 0.95},
        name=name,
    ).plot(ax, plot_oracle=True, plot_random=True)


def many_folds(ax=None):
    risks = [RNG.random(60) for _ in range(20)]
    points = [(0.5, 0.5)] * 20
    return RiskCoverageDisplay(
        [GRID] * 20, risks, aurc=[0.1] * 20, point=points, name="twenty folds"
    ).plot(ax)


def deferral(ax=None):
    return DeferralCurveDisplay(
        [GRID],
        [0.3 - 0.2 * np.sqrt(GRID)],
        area=[0.123],
        oracle=(GRID, 0.1 + 0.2 * (1 - GRID) ** 4),
        random=(0.3, 0.1),
        point=[(0.2, 0.21)],
        target={"max_deferral": 0.2},
        name="DeferringClassifier",
    ).plot(ax, plot_oracle=True, plot_random=True)


def frontier(ax=None, kind="roc", power=0.5):
    shape = GRID**power if power > 0 else 1 - 0.5 * GRID**-power
    bounds = {
        "roc": {"min_tpr": 0.8, "max_fpr": 0.4},
        "precision_recall": {"min_recall": 0.8, "min_precision": 0.7},
        "risk_coverage": {"min_tpr": 0.7, "max_risk": 0.8},
    }
    return OODFrontierDisplay(
        [GRID, GRID],
        [shape, shape**2],
        kind=kind,
        random=(0, 1) if kind == "roc" else (0.5, 0.5),
        point=(0.3, 0.6),
        target=bounds[kind],
        name=["DoubleScoreOODClassifier", "risk alone"],
    ).plot(ax)


def precision_recall(ax=None):
    return frontier(ax, "precision_recall", -4)


def risk_frontier(ax=None):
    return frontier(ax, "risk_coverage", 2)


def tuned(ax=None, thresholds=False):
    is_positive = np.arange(200) % 4 == 0
    scores = RNG.random((200, 2)) + 0.3 * is_positive[:, np.newaxis]
    path = optimal_path(scores, is_positive, n_thresholds=8)
    point = operating_point(scores, is_positive, max_fp_per_tp=3)
    display = PNCurveDisplay.from_path(
        path, operating_point=point, scores=scores, y=is_positive, name="tuner", ax=ax
    )
    if not thresholds:
        return display
    plt.close(display.figure_)
    return display.plot_thresholds(ax, plot_documents=True)


def threshold_space(ax=None):
    return tuned(ax, thresholds=True)


def expected_loss(ax=None):
    eta = RNG.random((20, 30))
    y = RNG.random((20, 30)) < eta
    return ExpectedLossDisplay.from_probabilities(eta, y=y, name="decoder", ax=ax)


def monitor(ax=None):
    value = np.linspace(0.05, 0.1, 40)
    low, high = value - 0.04, value + 0.04
    return MonitorDisplay(
        np.c_[value, low, high, 100 * np.arange(1, 41)],
        target=0.06,
        alarms=np.arange(40) > 20,
        name="accepted samples of all wards",
    ).plot(ax)


# One of each kind, and in the slow tests all.
def monitor_by_day(ax=None):
    value = 0.8 + 0.05 * np.cos(np.arange(30)) / np.arange(1, 31)
    low, high = value - 0.1, value + 0.03
    return MonitorDisplay(
        np.c_[value, low, high, 100 * np.arange(1, 31)],
        target=0.8,
        quantity="coverage",
        times=np.arange("2026-01-01", "2026-01-31", dtype="datetime64[D]"),
    ).plot(ax)


KINDS = [
    risk_coverage,
    deferral,
    frontier,
    tuned,
    threshold_space,
    expected_loss,
    monitor,
]
DRAWN = KINDS + [
    pytest.param(draw, marks=pytest.mark.slow)
    for draw in (many_folds, precision_recall, risk_frontier, monitor_by_day)
]


def points_of_data(ax):
    """Return points in pixels that lie closely on all that is drawn of data."""
    for line in ax.lines:
        if line.get_transform() == ax.transData:
            points = line.get_xydata()
            points = ax.transData.transform(points[np.isfinite(points).all(axis=1)])
            yield along(points) if line.get_linestyle() != "None" else points
    for collection in ax.collections:
        if isinstance(collection, PathCollection):
            yield ax.transData.transform(collection.get_offsets())
        else:
            for path in collection.get_paths():
                yield along(ax.transData.transform(path.vertices))


def along(points):
    steps = np.linspace(0, 1, 50)[:, np.newaxis, np.newaxis]
    return ((1 - steps) * points[:-1] + steps * points[1:]).reshape(-1, 2)


def hidden(display):
    """Return how many points of data are below the legend, once it is all drawn."""
    display.figure_.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent()
    seen = display.ax_.bbox
    points = np.vstack(list(points_of_data(display.ax_)))
    inside = points[((points >= seen.min) & (points <= seen.max)).all(axis=1)]
    assert len(inside) > 10
    return ((inside > box.min) & (inside < box.max)).all(axis=1).sum()


def is_whole(figure):
    """Tell whether all that is drawn, labels and legend too, is within the figure."""
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    slack = 0.02
    return (
        min(box.x0, box.y0) >= -slack
        and box.x1 <= width + slack
        and box.y1 <= height + slack
    )


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("draw", DRAWN)
def test_legends_hide_no_data_and_labels_are_whole(draw, size):
    with mpl.rc_context({"figure.figsize": size}):
        display = draw()
        assert hidden(display) == 0
        assert is_whole(display.figure_)


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_legends_on_axes_of_the_user(layout):
    figure, ax = plt.subplots(figsize=(4, 3), layout=layout)
    for name in ("margin", "conditional risk"):
        display = risk_coverage(ax, name=name)
    assert hidden(display) == 0
    assert ax.get_legend().get_window_extent().y0 >= 0
    assert is_whole(figure)


def test_without_room_below_legends_stay_inside():
    _, axes = plt.subplots(2, 1, figsize=(4, 3))
    display = risk_coverage(axes[0])
    display.figure_.draw_without_rendering()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.y0 >= axes[1].bbox.y1


@pytest.mark.parametrize(
    "style", ["dark_background", pytest.param("default", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("draw", KINDS)
def test_lines_are_seen_on_black_and_on_white(draw, style):
    with plt.style.context(style):
        ax = draw().ax_
    assert ax.get_facecolor() == mpl.colors.to_rgba(STYLES[style])
    drawn = [line.get_color() for line in ax.lines]
    for collection in ax.collections:
        drawn += [*collection.get_edgecolor()[:1]]
    assert min(contrast(color, STYLES[style]) for color in drawn) > 1.5


def contrast(color, background):
    """Return the contrast of two colors by the guidelines for the web."""
    bright, dark = sorted(map(luminance, (color, background)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(color):
    parts = np.array(mpl.colors.to_rgb(color))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
