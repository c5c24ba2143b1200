"""Pictures of monitors show what these say after each update."""

import math

import matplotlib as mpl
import numpy as np
import pytest

from sklearn_reject import Interval
from sklearn_reject.metrics import MonitorDisplay
from sklearn_reject.selection import CoverageMonitor, RiskMonitor

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
DAYS = [RNG.random(100) < (0.05 if day < 10 else 0.3) for day in range(20)]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def history(monitor, updates):
    """Return the intervals and alarms after each update."""
    said = [(monitor.update(each).interval(), monitor.alarm) for each in updates]
    return [np.array(each) for each in zip(*said, strict=True)]


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def drawn_band(display):
    """Return the smallest and the largest height of the band at each of its times."""
    points = display.band_.get_paths()[0].vertices
    times = np.unique(points[:, 0])
    heights = [points[points[:, 0] == time, 1] for time in times]
    return times, [h.min() for h in heights], [h.max() for h in heights]


@pytest.mark.parametrize(
    "monitor", [RiskMonitor(0.06), CoverageMonitor(0.06)], ids=["risk", "coverage"]
)
def test_what_is_drawn_is_what_the_monitor_said(monitor):
    display = MonitorDisplay.from_updates(monitor, DAYS)
    assert monitor.n_samples == 0
    intervals, alarms = history(monitor, DAYS)
    value, low, high, n_samples = intervals.T
    np.testing.assert_array_equal(display.line_.get_xydata(), np.c_[n_samples, value])
    for drawn, said in zip(drawn_band(display), (n_samples, low, high), strict=True):
        np.testing.assert_array_equal(drawn, said)
    assert alarms[-1]
    assert display.alarm_.get_xdata()[0] == n_samples[np.argmax(alarms)]
    assert display.target_.get_ydata()[0] == 0.06
    is_risk = isinstance(monitor, RiskMonitor)
    label = "Risk" if is_risk else "Coverage (share accepted)"
    assert display.ax_.get_ylabel() == label
    assert display.ax_.get_xlabel() == "Number of samples"
    assert legend_of(display) == ["mean so far", "interval", "target 0.06", "alarm"]


def test_intervals_that_were_kept():
    monitor = RiskMonitor(0.06)
    intervals, alarms = history(monitor, DAYS)
    rows = intervals.tolist()  # as they come from a file
    display = MonitorDisplay(rows, target=0.06, alarms=alarms.tolist()).plot()
    other = MonitorDisplay.from_updates(RiskMonitor(0.06), DAYS)
    assert legend_of(display) == legend_of(other)
    np.testing.assert_array_equal(display.line_.get_xydata(), other.line_.get_xydata())
    frame = pytest.importorskip("pandas").DataFrame(rows, columns=Interval._fields)
    framed = MonitorDisplay(frame).plot()
    np.testing.assert_array_equal(framed.line_.get_xydata(), other.line_.get_xydata())
    alone = MonitorDisplay(intervals, name="north").plot()
    assert legend_of(alone) == ["north (mean so far)", "interval"]
    assert alone.target_ is alone.alarm_ is None


def test_axes_and_styles_are_those_given():
    ax = plt.subplots()[1]
    ax.set_ylim(0, 3)
    display = MonitorDisplay.from_updates(
        RiskMonitor(0.9),
        DAYS,
        ax=ax,
        name="first",
        line_kwargs={"color": "red"},
        interval_kwargs={"alpha": 0.5, "label": None},
        target_kwargs={"color": "blue"},
        plot_alarm=True,
    )
    assert display.ax_ is ax
    assert ax.get_ylim() == (0, 3)
    assert display.line_.get_color() == "red"
    np.testing.assert_allclose(display.band_.get_facecolor(), [[1, 0, 0, 0.5]])
    assert display.target_.get_color() == "blue"
    assert display.alarm_ is None
    assert display.plot(ax, plot_target=False, name="again").target_ is None
    assert legend_of(display)[-1] == "interval"


def test_new_figures_show_what_matters():
    display = MonitorDisplay.from_updates(RiskMonitor(0.06), [[1], *DAYS])
    bottom, top = display.ax_.get_ylim()
    assert bottom == 0
    assert top > 1
    display = MonitorDisplay.from_updates(CoverageMonitor(0.06), DAYS)
    bottom, top = display.ax_.get_ylim()
    value, low, high, _ = np.array(display.intervals).T
    assert bottom < min(value.min(), 0.06)
    assert max(value.max(), high[-1]) < top < 0.6
    assert np.mean((low < bottom) | (high > top)) <= 0.2


@pytest.mark.parametrize(
    "times",
    [
        np.arange("2026-01", "2026-01-21", dtype="datetime64[D]"),
        [f"day {day}" for day in range(20)],
        range(20),
    ],
    ids=["dates", "names", "numbers"],
)
def test_times(times):
    display = MonitorDisplay.from_updates(RiskMonitor(0.06), DAYS, times=times)
    assert display.ax_.get_xlabel() == "Time"
    first = int(np.argmax(display.alarms))
    marked, drawn = display.alarm_.get_xdata(orig=False)[0], display.line_
    assert marked == drawn.get_xdata(orig=False)[first]
    display.figure_.canvas.draw()


def test_audits_and_days_without_samples():
    audit = {"losses": [0, math.nan, 1, math.nan], "inclusion_proba": 0.5}
    monitor = RiskMonitor(0.1, min_inclusion_proba=0.5)
    display = MonitorDisplay.from_updates(monitor, iter([[], audit, audit]))
    assert [each.n_samples for each in display.intervals] == [0, 4, 8]
    assert display.line_.get_ydata()[1:].tolist() == [0.5, 0.5]
    only_empty = MonitorDisplay.from_updates(monitor, [[]])
    assert only_empty.ax_.get_ylim()[1] > 1


def test_monitors_go_on():
    monitor = RiskMonitor(0.06).update(np.zeros(500))
    display = MonitorDisplay.from_updates(monitor, DAYS)
    assert display.line_.get_xdata()[0] == 600
    assert monitor.n_samples == 500


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"intervals": []}, "intervals must hold value, low, high and n_samples"),
        ({"intervals": [[0.1, 0.2]]}, r"got an array of shape \(1, 2\)"),
        ({"intervals": RiskMonitor(0.1).interval()}, r"got an array of shape \(4,\)"),
        ({"times": [1, 2]}, "times has 2 elements"),
        ({"alarms": [True, False]}, "alarms has 2 elements"),
        ({"quantity": "loss"}, "quantity must be one of"),
    ],
    ids=["none", "pairs", "single", "times", "alarms", "quantity"],
)
def test_what_does_not_fit_together(options, match):
    display = MonitorDisplay(**{"intervals": [[0.1, 0.0, 0.5, 10]], **options})
    with pytest.raises(ValueError, match=match):
        display.plot()


@pytest.mark.parametrize(("part", "lacks"), [("target", "target"), ("alarm", "alarms")])
def test_what_is_not_known_cannot_be_drawn(part, lacks):
    display = MonitorDisplay([[0.1, 0.0, 0.5, 10]])
    with pytest.raises(ValueError, match=f"has no `{lacks}`"):
        display.plot(**{f"plot_{part}": True})


def test_a_single_update_is_seen():
    display = MonitorDisplay([[0.1, 0.0, 0.3, 50]]).plot()
    assert display.line_.get_marker() == "."
    two = MonitorDisplay([[0.1, 0.0, 0.3, 50], [0.1, 0.0, 0.2, 100]]).plot()
    assert two.line_.get_marker() == "None"
