"""Display of a monitor over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._interval import Interval
from sklearn_reject._typing import Axes, Figure, Line2D, Options, Other
from sklearn_reject._validation import check_option, check_same_length
from sklearn_reject.metrics._plot._drawing import (
    find_axes,
    finish_axes,
    ink,
    is_wanted,
    keep_one,
    label_curves,
    mark_single,
    short,
)
from sklearn_reject.selection import CoverageMonitor, RiskMonitor

_QUANTITIES = {"risk": "Risk", "coverage": "Coverage (share accepted)"}

_BAND_STYLE = {"alpha": 0.2, "linewidth": 0, "label": "interval"}
_TARGET_STYLE = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.9}
_ALARM_STYLE = {"linestyle": ":", "color": "C3", "label": "alarm"}

# Of a new figure: the share of intervals that may be cut off, and the margin.
_CUT = 0.1
_ROOM = 0.05


class MonitorDisplay:
    """Mean and interval of a monitor over time, with its target and its alarm.

    A monitor keeps no history. So make the display with :meth:`from_updates`, of
    samples that are still there, or keep what :meth:`RiskMonitor.interval
    <sklearn_reject.selection.RiskMonitor.interval>` returns after each update and pass
    that to the constructor.

    Parameters
    ----------
    intervals : list of Interval, or array-like of shape (n_updates, 4)
        Interval after each update, in the order of time: value, low, high and the
        number of samples.

    target : float, default=None
        What was promised.

    alarms : array-like of shape (n_updates,), dtype bool, default=None
        The alarm after each update.

    times : array-like of shape (n_updates,), default=None
        When the updates were: numbers, dates or names. None takes the number of
        samples.

    quantity : {"risk", "coverage"}, default="risk"
        What is watched.

    name : str, default=None
        Name of the curve.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The mean so far.

    band_ : matplotlib PolyCollection
        The interval.

    target_, alarm_ : matplotlib Line2D or None
        The target, and the time of the first alarm.

    ax_, figure_ : matplotlib Axes and Figure
        Axes with the curve, and their figure.

    See Also
    --------
    sklearn_reject.selection.RiskMonitor : Watches the risk of accepted samples.
    sklearn_reject.selection.CoverageMonitor : Watches the share that is accepted.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_reject.metrics import MonitorDisplay
    >>> from sklearn_reject.selection import RiskMonitor
    >>> rng = np.random.default_rng(0)
    >>> days = [rng.random(100) < 0.05 for _ in range(30)]
    >>> display = MonitorDisplay.from_updates(RiskMonitor(0.06), days)
    >>> plt.show()
    """

    line_: Line2D
    band_: Any
    target_: Line2D | Other
    alarm_: Line2D | Other
    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        intervals: Sequence[Interval] | ArrayLike,
        *,
        target: float | None = None,
        alarms: ArrayLike | None = None,
        times: ArrayLike | None = None,
        quantity: Literal["risk", "coverage"] = "risk",
        name: str | None = None,
    ) -> None:
        self.intervals = intervals
        self.target = target
        self.alarms = alarms
        self.times = times
        self.quantity = quantity
        self.name = name

    @classmethod
    def from_updates(
        cls,
        monitor: RiskMonitor | CoverageMonitor,
        updates: Iterable[Any],
        *,
        times: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw what a monitor says after each of some updates.

        Parameters
        ----------
        monitor : RiskMonitor or CoverageMonitor
            A monitor, new or with samples. A copy of it is updated.

        updates : iterable of array-like, or of dict
            What `update` of the monitor takes, in the order of time: losses, or
            whether samples are accepted; or a dict of its arguments, such as
            ``{"losses": losses, "inclusion_proba": 0.1}``.

        times : array-like of shape (n_updates,), default=None
            When the updates were: numbers, dates or names. None takes the number of
            samples.

        name : str, default=None
            Name in the legend.

        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : MonitorDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no update, one that the monitor refuses, or another number of
            `times`.
        """
        monitor, intervals, alarms = copy(monitor), [], []
        for update in updates:
            if isinstance(update, dict):
                monitor.update(**update)
            else:
                monitor.update(update)
            intervals.append(monitor.interval())
            alarms.append(monitor.alarm)
        is_risk = hasattr(monitor, "target")
        display = cls(
            intervals,
            target=monitor.target if is_risk else monitor.coverage,
            alarms=alarms,
            times=times,
            quantity="risk" if is_risk else "coverage",
            name=name,
        )
        return display.plot(ax, **plot_options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        plot_target: bool | None = None,
        plot_alarm: bool | None = None,
        line_kwargs: Options | None = None,
        interval_kwargs: Options | None = None,
        target_kwargs: Options | None = None,
        alarm_kwargs: Options | None = None,
    ) -> Self:
        """Draw the mean so far and its interval.

        On a new figure, the wide intervals of the first updates are cut off.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        name : str, default=None
            Name of the curve. None takes that of the display.

        plot_target : bool, default=None
            Whether to draw the target. None does it where it is known.

        plot_alarm : bool, default=None
            Whether to mark the first alarm, if there is one. None does it where alarms
            are known.

        line_kwargs : dict, default=None
            Passed to matplotlib's `plot` for the mean.

        interval_kwargs : dict, default=None
            Passed to matplotlib's `fill_between` for the interval.

        target_kwargs : dict, default=None
            Passed to matplotlib for the line of the target.

        alarm_kwargs : dict, default=None
            Passed to matplotlib's `axvline` for the alarm.

        Returns
        -------
        display : MonitorDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the arrays do not fit together, or something is wanted that the display
            does not have.
        """
        value, low, high, x = self._arrays()
        plot_target = is_wanted(self, "target", plot_target, "use from_updates")
        plot_alarm = is_wanted(
            self, "alarm", plot_alarm, "use from_updates", attribute="alarms"
        )
        self.ax_ = find_axes(ax, "MonitorDisplay", "the intervals of the monitor")
        self.figure_ = self.ax_.figure
        label = label_curves(self.name if name is None else name, ["mean so far"])[0]
        style = {"label": label, **mark_single(x), **(line_kwargs or {})}
        self.line_ = self.ax_.plot(x, value, **style)[0]
        style = {"color": self.line_.get_color(), **_BAND_STYLE}
        self.band_ = self.ax_.fill_between(
            x, low, high, **{**style, **(interval_kwargs or {})}
        )
        self.target_ = self.alarm_ = None
        if plot_target:
            label = f"target {short(self.target)}"
            style = {"label": label, "color": ink(), **_TARGET_STYLE}
            line = self.ax_.axhline(self.target, **{**style, **(target_kwargs or {})})
            self.target_ = keep_one(self.ax_, line)
        if plot_alarm and np.any(self.alarms):
            style = {**_ALARM_STYLE, **(alarm_kwargs or {})}
            self.alarm_ = self.ax_.axvline(x[int(np.argmax(self.alarms))], **style)
        if ax is None:
            self._zoom(value, low, high)
            if x.dtype.kind not in "iuf":  # names and dates are long
                for label in self.ax_.get_xticklabels():
                    label.set(rotation=30, ha="right")
        finish_axes(
            self.ax_,
            xlabel="Number of samples" if self.times is None else "Time",
            ylabel=_QUANTITIES[self.quantity],
        )
        return self

    def _arrays(self):
        """Return means, ends and times, of equal lengths."""
        check_option(self.quantity, "quantity", list(_QUANTITIES))
        table = np.asarray(self.intervals, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 4:
            raise ValueError(
                "intervals must hold value, low, high and n_samples of each update, "
                f"got an array of shape {table.shape}. Pass what `interval()` of the "
                "monitor returned after each update, at least one."
            )
        value, low, high, n_samples = table.T
        x = n_samples if self.times is None else self.times
        check_same_length(len(table), times=x)
        if self.alarms is not None:
            check_same_length(len(table), alarms=self.alarms)
        return value, low, high, np.asarray(x)

    def _zoom(self, value, low, high):
        """Show all means, the target, the last interval and most of the others."""
        shown = [*value[~np.isnan(value)], low[-1], high[-1]]
        shown += [*np.quantile(low, [_CUT]), *np.quantile(high, [1 - _CUT])]
        if self.target is not None:
            shown.append(self.target)
        bottom, top = min(shown), max(shown)
        room = _ROOM * (top - bottom)
        is_risk = self.quantity == "risk"
        self.ax_.set_ylim(0 if is_risk else max(bottom - room, 0), top + room)
