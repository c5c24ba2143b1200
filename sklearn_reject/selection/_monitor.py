"""Monitors of a deployed rule: alarms and intervals that hold at all times."""

from __future__ import annotations

import math
from copy import copy
from inspect import signature
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import check_fields, check_type
from sklearn_reject._interval import Interval
from sklearn_reject._typing import Options
from sklearn_reject._validation import (
    as_real_array,
    check_flags,
    check_level,
    check_number,
    check_option,
    check_other,
    check_same_length,
    refuse_unread,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._bets import FALLS, RISES, Bets, Restarts, log_capital

_Since = Literal["start", "any"]

# Losses and probabilities in single precision, or such as 1 - 0.9, may be beyond their
# bounds by so much, relatively.
_ROUNDING = 1e-6

# Chance below which a number of audits is taken for a mistake.
_INCREDIBLE = 1e-6


class Monitor:
    """What monitors share: bets on values in [0, 1], which are `_scale` times as large.

    One writes `update`, and a constructor that calls the one here with the bounds that
    are bet against, as arguments of `Bets.log_gains`. Each has an equal part of the
    capital.
    """

    _scale = 1.0
    _largest = 1.0

    def __init__(self, confidence_level: float, since: _Since, bounds: list) -> None:
        self.confidence_level = check_level(confidence_level, "confidence_level")
        self.since = check_option(since, "since", ("start", "any"))
        self._bounds = bounds
        self._bets = Bets()
        self._restarts = [Restarts() for _ in bounds] if self.since == "any" else []
        self._alarm = False

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
        for name, ours in self._settings().items():
            if ours != getattr(other, name):
                raise ValueError(
                    f"other has {name}={getattr(other, name)!r}, but this monitor has "
                    f"{ours!r}. Merge monitors with the same parameters."
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
        state = {"type": type(self).__name__, **self._settings(), "alarm": self._alarm}
        restarts = [each.to_dict() for each in self._restarts]
        return state | {"bets": self._bets.to_dict(), "restarts": restarts}

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
        parameters = signature(cls).parameters
        expected = {"type", *parameters, "alarm", "bets", "restarts"}
        check_fields(cls.__name__, state.keys(), expected, expected)
        if not isinstance(state["alarm"], bool):
            raise ValueError(f"alarm must be True or False, got {state['alarm']!r}.")
        monitor = cls(**{name: state[name] for name in parameters})
        monitor._bets = Bets.from_dict(state["bets"])
        monitor._bets.check()
        monitor._restarts = monitor._restore(state["restarts"])
        monitor._alarm = state["alarm"]
        return monitor

    def __repr__(self):
        """Return the parameters and what is known so far."""
        settings = (f"{name}={value!r}" for name, value in self._settings().items())
        return (
            f"<{type(self).__name__}({', '.join(settings)}): n_samples={self.n_samples}"
            f", mean={self.mean:.4g}, e_value={self.e_value:.4g}, alarm={self.alarm}>"
        )

    def _settings(self):
        """Return the parameters of the constructor by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def _restore(self, restarts):
        """Return restarts of dictionaries, as many as there have to be."""
        wanted = len(self._restarts)
        if not isinstance(restarts, list) or len(restarts) != wanted:
            raise ValueError(
                f"restarts must be a list of {wanted} with since={self.since!r}, got "
                f"{restarts!r}."
            )
        restored = [Restarts.from_dict(each) for each in restarts]
        for each, (_, bound) in zip(restored, self._bounds, strict=False):
            each.check(self.n_samples, bound)
        return restored

    def _take(self, bets):
        """Add the bets on the values of one update."""
        n_before = self.n_samples
        self._bets = self._bets.merge(bets)
        self._restarts = [
            each.after(n_before, bets.log_gains(*bound))
            for each, bound in zip(self._restarts, self._bounds, strict=False)
        ]
        threshold = -math.log1p(-self.confidence_level)
        self._alarm = self._alarm or self._log_e_value() >= threshold

    def _log_e_value(self):
        logs = [each.log_capital() for each in self._restarts] or [
            log_capital(self._bets.log_gains(*bound)) for bound in self._bounds
        ]
        return float(np.logaddexp.reduce(logs)) - math.log(len(logs))


class RiskMonitor(Monitor):
    """Watch the losses of accepted samples for a risk above a target.

    At each sample a gambler bets that the risk is above the target. While it is not,
    the capital, called e-value, does not grow on average, and the chance that it *ever*
    reaches 1 / (1 - `confidence_level`) is at most 1 - `confidence_level`, however
    often one looks (Ville 1939; Waudby-Smith, Ramdas 2024). Then the alarm is raised.
    The risk of a sample is its expected loss given all samples before it. It may go up
    and down as long as its mean so far never is above the target.

    Samples that share their outcome, such as rows of one customer or sensor, are not
    covered one by one: the first tells of the others, and the alarm is false far more
    often. Feed the mean loss of such a cluster as one value.

    Memory does not grow with the number of samples, nor does the time of an update.

    Parameters
    ----------
    target : float in ]0, max_loss[
        Largest risk that is tolerated: expected loss of an accepted sample.

    confidence_level : float in ]0, 1[, default=0.95
        Probability that there is never a false alarm, and that the interval always
        holds.

    max_loss : float > 0, default=1.0
        Largest possible loss, known beforehand.

    min_inclusion_proba : float in ]0, 1], default=1.0
        Smallest probability of a sample to be labeled, if only a random part is. The
        smaller it is, the more samples are needed to detect a risk above the target.

    since : {"start", "any"}, default="start"
        Samples that the alarm is about: all since the start, whose mean may be good
        although the last ones are bad, or those since any one update. "any" detects a
        change after many samples much earlier, and needs a few more samples at the
        start.

    Attributes
    ----------
    alarm : bool
        Whether the risk was found to be above the target. Once raised, it stays.

    e_value : float
        Capital of the bets, 1 at the start. Infinite beyond float64.

    n_samples : int
        Number of samples so far, also of those whose label was not looked up.

    mean : float
        Mean loss so far, estimated where labels are looked up at random. NaN without
        samples.

    See Also
    --------
    CoverageMonitor : Watches the share of accepted samples, without labels.
    RejectionRule.monitor : A monitor of what a rule was certified for.
    GroupedRule.monitor : A monitor for each group.

    Notes
    -----
    By default the alarm is about the mean over all samples since the start, and after
    many good ones it takes longer until bad ones are noticed. With `since` "any", half
    of the capital is held back, and a bit of it is laid anew before each update, as if
    another monitor started then; the alarm is at the capital of them all. It comes
    soon, and is false only if the mean risk since *no* update ever was above the
    target: what is worse for a while is not outweighed by what was better before. The
    interval is about the mean since the start all the same.

    The alarm looks at the capital at the end of an update, which does not depend on the
    order of the samples in it. What comes in which update must not depend on losses
    that are known already: feed those of a day when all of them are known, not the
    errors first. Threads that update the same monitor lose samples: give each its own,
    and merge them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import RiskMonitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = RiskMonitor(0.05, confidence_level=0.99)
    >>> for risk in (0.04, 0.04, 0.15, 0.15):
    ...     monitor = monitor.update(rng.random(250) < risk)
    ...     low, high = monitor.interval()[1:3]
    ...     print(f"{monitor.mean:.3f} in [{low:.3f}, {high:.3f}], {monitor.alarm}")
    0.036 in [0.007, 0.096], False
    0.028 in [0.009, 0.064], False
    0.065 in [0.037, 0.104], False
    0.080 in [0.051, 0.116], True

    A label in five looked up, drawn at random:

    >>> monitor = RiskMonitor(0.05, min_inclusion_proba=0.2)
    >>> losses = (rng.random(1000) < 0.04).astype(float)
    >>> losses[rng.random(1000) >= 0.2] = np.nan
    >>> monitor.update(losses, inclusion_proba=0.2).alarm
    False
    """

    def __init__(
        self,
        target: float,
        *,
        confidence_level: float = 0.95,
        max_loss: float = 1.0,
        min_inclusion_proba: float = 1.0,
        since: Literal["start", "any"] = "start",
    ) -> None:
        self.max_loss = check_number(max_loss, "max_loss", open_low=True)
        self.min_inclusion_proba = check_number(
            min_inclusion_proba, "min_inclusion_proba", high=1, open_low=True
        )
        self.target = check_number(target, "target", open_low=True)
        if self.target >= self.max_loss:
            raise ValueError(
                f"target={self.target:g} is not below max_loss={self.max_loss:g}, so "
                "no risk could exceed it. Pass the largest possible loss as max_loss "
                "of the monitor."
            )
        self._largest = self.max_loss
        self._scale = self.max_loss / self.min_inclusion_proba
        bounds = [(RISES, self.target / self._scale)]
        super().__init__(confidence_level, since, bounds)

    def update(
        self, losses: ArrayLike, inclusion_proba: ArrayLike | None = None
    ) -> Self:
        """Update the monitor with further samples.

        Parameters
        ----------
        losses : float or array-like of shape (n_samples,)
            Loss of each accepted sample of the period, in [0, `max_loss`]. NaN where
            the label was not looked up, with `inclusion_proba` only. It may be empty.

        inclusion_proba : float or array-like of shape (n_samples,), default=None
            Probability with which the label of each sample was to be looked up, also
            of those that were not, at least `min_inclusion_proba`. It is known before
            the draw, and each sample has a draw of its own: no quota, no whole days.
            None if all labels are known.

        Returns
        -------
        monitor : RiskMonitor
            The monitor itself.

        Raises
        ------
        ValueError
            If a loss is negative or above `max_loss`, or NaN where it should be known,
            or a probability is not in [`min_inclusion_proba`, 1]. Nothing is taken
            then.

        Warns
        -----
        RejectionWarning
            If far more or far fewer samples have a loss than the probabilities let
            expect.
        """
        losses, proba = _as_vector(losses, "losses"), 1.0
        if inclusion_proba is None:
            _refuse_rows(
                np.isnan(losses),
                "losses has NaN",
                ". Pass samples when their labels are known. If you label a random "
                "part only, pass the probability of each sample to be labeled as "
                "inclusion_proba.",
            )
        else:
            proba = self._check_proba(inclusion_proba, losses)
        _refuse_rows(
            (losses < 0) | (losses > self.max_loss * (1 + _ROUNDING)),
            f"losses must be in [0, max_loss={self.max_loss:g}]",
            ". The guarantee depends on the largest loss. Pass the largest possible "
            "loss as max_loss of the monitor.",
            losses,
        )
        values = np.nan_to_num(losses) * (self.min_inclusion_proba / proba)
        self._take(Bets.of(np.minimum(values / self.max_loss, 1.0)))
        return self

    def _check_proba(self, proba, losses):
        """Return the probabilities as a vector, if they fit to what is known."""
        proba = _as_vector(proba, "inclusion_proba")
        if len(proba) == 1:
            proba = np.full(len(losses), proba[0])
        check_same_length(len(losses), inclusion_proba=proba)
        least, is_known = self.min_inclusion_proba, ~np.isnan(losses)
        _refuse_rows(
            ~((proba >= least * (1 - _ROUNDING)) & (proba <= 1)),
            f"inclusion_proba must be in [min_inclusion_proba={least:g}, 1]",
            ". Pass the smallest possible probability as min_inclusion_proba of the "
            "monitor. Samples that are never labeled cannot be monitored.",
            proba,
        )
        _refuse_rows(
            ~is_known & (proba == 1),
            "losses has NaN",
            ", although inclusion_proba is 1. Pass the loss, or the probability that "
            "the sample was to be labeled.",
        )
        _warn_of_odd_audit(int(is_known.sum()), proba)
        return proba


class CoverageMonitor(Monitor):
    """Watch the share of accepted samples for a change. It needs no labels.

    The bets are those of a :class:`RiskMonitor`, on whether a sample is accepted. By
    default half of the capital is on a larger coverage, and half on a smaller one.

    The coverage of a rule on its calibration set is an estimate, and new samples have
    another one. Watched without a `tolerance`, it alarms sooner or later.

    Parameters
    ----------
    coverage : float in ]0, 1[
        Share of samples that is expected to be accepted.

    tolerance : float >= 0, default=0.0
        How far the coverage may be from `coverage` without an alarm, to either side.
        For a rule that was solved on n samples, some 3 / sqrt(n) is chance.

    confidence_level : float in ]0, 1[, default=0.95
        Probability that there is never a false alarm, and that the interval always
        holds.

    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        What raises the alarm: any other coverage, a smaller, or a larger one. A
        certified coverage promises a least one: watch it with "less" and no tolerance.

    since : {"start", "any"}, default="start"
        Samples that the alarm is about: all since the start, whose mean may be good
        although the last ones are bad, or those since any one update. "any" detects a
        change after many samples much earlier, and needs a few more samples at the
        start.

    Attributes
    ----------
    alarm : bool
        Whether the coverage was found to have changed. Once raised, it stays.

    e_value : float
        Capital of the bets, 1 at the start. Infinite beyond float64.

    n_samples : int
        Number of samples so far.

    mean : float
        Share of accepted samples so far, NaN without samples.

    See Also
    --------
    RiskMonitor : Watches the losses of accepted samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import CoverageMonitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = CoverageMonitor(0.8, tolerance=0.05)
    >>> monitor.update(rng.random(1000) < 0.8).alarm
    False
    >>> monitor.update(rng.random(1000) < 0.6).alarm
    True
    """

    def __init__(
        self,
        coverage: float,
        *,
        tolerance: float = 0.0,
        confidence_level: float = 0.95,
        alternative: Literal["two-sided", "less", "greater"] = "two-sided",
        since: Literal["start", "any"] = "start",
    ) -> None:
        ends = {"open_low": True, "open_high": True}
        self.coverage = check_number(coverage, "coverage", high=1, **ends)
        self.tolerance = check_number(tolerance, "tolerance")
        sides = ("two-sided", "less", "greater")
        self.alternative = check_option(alternative, "alternative", sides)
        low, high = self.coverage - self.tolerance, self.coverage + self.tolerance
        bounds = []
        if self.alternative != "less":
            self._check_tolerance(high < 1, 1, other="less")
            bounds.append((RISES, high))
        if self.alternative != "greater":
            self._check_tolerance(low > 0, 0, other="greater")
            bounds.append((FALLS, 1 - low))
        super().__init__(confidence_level, since, bounds)

    def _check_tolerance(self, leaves_room, end, other):
        if not leaves_room:
            raise ValueError(
                f"tolerance={self.tolerance:g} is too large: no coverage is outside of "
                f"{self.coverage:g} +- {self.tolerance:g} on the side of {end}. Pass a "
                f"smaller one, or watch the other side with alternative={other!r}."
            )

    def update(self, accepted: ArrayLike) -> Self:
        """Update the monitor with further samples.

        Parameters
        ----------
        accepted : bool or array-like of shape (n_samples,)
            Whether each sample of the period was accepted, as booleans or 0 and 1. It
            may be empty.

        Returns
        -------
        monitor : CoverageMonitor
            The monitor itself.

        Raises
        ------
        ValueError
            If `accepted` holds anything but True and False, or 1 and 0. Nothing is
            taken then.
        """
        refuse_unread(accepted, "accepted")
        accepted = check_flags(np.atleast_1d(np.asarray(accepted)), "accepted")
        self._take(Bets.of(accepted.astype(np.float64)))
        return self


def _as_vector(values, name):
    """Return one number or a vector of them, of which some may be NaN, as float64."""
    array = np.atleast_1d(as_real_array(values, name)).astype(np.float64)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be a number or a vector of shape (n_samples,), got an array "
            f"of shape {array.shape}. Pass one number per sample, for example with "
            "`.ravel()`."
        )
    return array


def _refuse_rows(is_bad, what, way_out, values=None):
    """Raise for bad rows, naming the first one, with its value if there are values."""
    rows = np.flatnonzero(is_bad)
    if rows.size:
        what = what if values is None else f"{what}, got {values[rows[0]]}"
        rows = f"row {rows[0]} ({rows.size} such values)"
        raise ValueError(f"{what} in {rows}{way_out}")


def _warn_of_odd_audit(n_known, proba):
    """Warn of a number of known labels that the draws would hardly ever yield.

    By Bernstein's inequality. Whoever leaves out the rows without label, or has lost
    labels, would otherwise watch another mean.
    """
    expected, variance = float(proba.sum()), float(proba @ (1 - proba))
    distance = abs(n_known - expected)
    if distance**2 > 2 * math.log(2 / _INCREDIBLE) * (variance + distance / 3):
        warn_user(
            f"{n_known} of {len(proba)} losses are known, but inclusion_proba implies "
            f"about {expected:.1f}. Pass NaN for each accepted sample without a label, "
            "and the probability of each sample to be labeled."
        )
