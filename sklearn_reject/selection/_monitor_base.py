"""What monitors share: their bets, the alarm, merging and strict JSON."""

from __future__ import annotations

import math
from copy import copy
from typing import Any, Literal, Self

import numpy as np

from sklearn_reject._as_dict import check_fields, check_type
from sklearn_reject._interval import Interval
from sklearn_reject._typing import Options
from sklearn_reject._validation import check_level, check_option, check_other
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._bets import Bets, Restarts, log_capital

_SINCE = ("start", "any")


class Monitor:
    """What monitors share: bets on values in [0, 1], which are `_scale` times as large.

    One writes `update` and `_log_gains`, and names the parameters of its constructor.
    Where the bets go in two directions, each has half of the capital.
    """

    _SETTINGS = ()
    _scale = 1.0
    _largest = 1.0

    def __init__(self, confidence_level: float, since: Literal["start", "any"]) -> None:
        self.confidence_level = check_level(confidence_level, "confidence_level")
        self.since = check_option(since, "since", _SINCE)
        self._bets = Bets()
        self._restarts = []  # one a direction, with since="any" only
        self._alarm = False

    def _start(self):
        """Lay the capital, when all parameters are known."""
        if self.since == "any":
            self._restarts = [Restarts() for _ in self._log_gains(self._bets)]

    @property
    def n_samples(self) -> int:
        """Number of samples so far."""
        return self._bets.n_samples

    @property
    def mean(self) -> float:
        """Mean of the samples so far, NaN where there are none."""
        return self._scale * self._bets.mean

    @property
    def e_value(self) -> float:
        """Capital of the bets that the promise is broken, 1 at the start."""
        with np.errstate(over="ignore"):
            return float(np.exp(self._log_e_value()))

    @property
    def alarm(self) -> bool:
        """Whether the promise was found to be broken, now or after an update before."""
        return self._alarm

    def interval(self) -> Interval:
        """Return the mean so far, and where that of the population may be.

        Returns
        -------
        interval : Interval
            With the `mean` so far as `value`. That of the population is in [`low`,
            `high`] at all times, with a probability of at least `confidence_level`; if
            it changes over time, its mean over the samples so far is. Without samples,
            (nan, 0, largest possible value, 0).
        """
        low, high = self._bets.interval(1 - self.confidence_level)
        low, high = (min(self._scale * end, self._largest) for end in (low, high))
        return Interval(self.mean, low, high, self.n_samples)

    def merge(self, other: Monitor) -> Self:
        """Return a monitor of the samples of both.

        Parameters
        ----------
        other : monitor
            One of the same class and with the same parameters, of other samples.

        Returns
        -------
        merged : monitor
            A new one, as if the samples of `other` had come after those of this one in
            one update. So an alarm of this monitor is kept, and is raised if
            the samples of both call for it. An alarm of `other` is not taken over, as
            any of several monitors has a false alarm more often than one.

        Raises
        ------
        ValueError
            If `other` is of another class, has other parameters, or is this monitor
            itself.

        Warns
        -----
        RejectionWarning
            If `other` has raised an alarm that the merged monitor does not.
        """
        check_other(self, other, "monitor", "monitors")
        for name in self._SETTINGS:
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                raise ValueError(
                    f"other has {name}={theirs!r}, but this monitor has {ours!r}. "
                    "Merge monitors with the same parameters."
                )
        merged = copy(self)
        merged._take(other._bets)
        if other.alarm and not merged.alarm:
            warn_user(
                "other has raised an alarm, but the merged monitor has not. The alarm "
                "of `other` is still valid. Check it before you discard `other`."
            )
        return merged

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for strict JSON, from which `from_dict` restores this.

        Returns
        -------
        state : dict
            The parameters, the alarm and the sums: as large after a million samples
            as at the start.
        """
        settings = {name: getattr(self, name) for name in self._SETTINGS}
        state = {"alarm": self._alarm, "bets": self._bets.to_dict()}
        state["restarts"] = [each.to_dict() for each in self._restarts]
        return {"type": type(self).__name__, **settings, **state}

    @classmethod
    def from_dict(cls, state: Options) -> Self:
        """Return the monitor that `to_dict` has written.

        Parameters
        ----------
        state : dict
            What `to_dict` returned, maybe after a way through JSON.

        Returns
        -------
        monitor : monitor
            Equal to what was written, bit for bit.

        Raises
        ------
        ValueError
            If the dictionary is of another type, or a field is unknown, missing or no
            such value as it has to be.
        """
        check_type(state, cls)
        expected = {"type", *cls._SETTINGS, "alarm", "bets", "restarts"}
        check_fields(cls.__name__, state.keys(), expected, expected)
        if not isinstance(state["alarm"], bool):
            raise ValueError(f"alarm must be True or False, got {state['alarm']!r}.")
        monitor = cls(**{name: state[name] for name in cls._SETTINGS})
        monitor._bets = Bets.from_dict(state["bets"])
        monitor._restarts = monitor._restore(state["restarts"])
        monitor._alarm = state["alarm"]
        return monitor

    def __repr__(self):
        """Return the parameters and what is known so far."""
        settings = (f"{name}={getattr(self, name)!r}" for name in self._SETTINGS)
        known = (f"{name}={getattr(self, name):.4g}" for name in ("mean", "e_value"))
        return (
            f"<{type(self).__name__}({', '.join(settings)}): "
            f"n_samples={self.n_samples}, {', '.join(known)}, alarm={self.alarm}>"
        )

    def _restore(self, restarts):
        """Return restarts of dictionaries, as many as there have to be."""
        wanted = len(self._restarts)
        if not isinstance(restarts, list) or len(restarts) != wanted:
            raise ValueError(
                f"restarts must be a list of {wanted} with since={self.since!r}, got "
                f"{restarts!r}."
            )
        restored = [Restarts.from_dict(each) for each in restarts]
        # What one value can win or lose, at either end of its range.
        ends = [self._log_gains(Bets.of(np.array([x]))) for x in (0.0, 1.0)]
        for each, *gains in zip(restored, *ends, strict=False):
            least, most = np.min(gains, axis=0), np.max(gains, axis=0)
            if not each.is_possible(self.n_samples, least, most):
                raise ValueError(
                    f"restarts are not those of {self.n_samples} samples. Restore them "
                    "as they were written."
                )
        return restored

    def _take(self, bets):
        """Add the bets on the values of one update."""
        n_before = self.n_samples
        self._bets = self._bets.merge(bets)
        if self._restarts:
            directions = zip(self._restarts, self._log_gains(bets), strict=True)
            self._restarts = [each.after(n_before, won) for each, won in directions]
        threshold = -math.log1p(-self.confidence_level)
        self._alarm = self._alarm or self._log_e_value() >= threshold

    def _log_e_value(self):
        logs = [each.log_capital() for each in self._restarts] or [
            log_capital(log_gains) for log_gains in self._log_gains(self._bets)
        ]
        return float(np.logaddexp.reduce(logs)) - math.log(len(logs))
