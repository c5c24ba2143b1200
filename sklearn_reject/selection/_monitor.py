"""Monitors of a deployed rule: alarms and intervals that hold at all times."""

from __future__ import annotations

from copy import copy
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import Accumulator
from sklearn_reject._interval import Interval
from sklearn_reject._validation import (
    as_real_array,
    check_flags,
    check_level,
    check_number,
    check_option,
    check_same_length,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._bets import FALLS, RISES, Bets, sums_of

# Losses and probabilities in single precision, or such as 1 - 0.9, may be beyond their
# bounds by so much, relatively.
_ROUNDING = 1e-6


class Monitor(Accumulator):
    """What monitors share: bets on values in [0, 1], which are `_scale` times as large.

    One writes `update`, and a constructor that calls the one here with the bounds that
    are bet against, as `Bets.add` takes them. Each has an equal part of the capital.
    """

    _scale = _largest = 1.0
    _known = "n_samples", "mean", "e_value", "alarm"

    def __init__(
        self, confidence_level: float, since: Literal["start", "any"], bounds: list
    ) -> None:
        self.confidence_level = check_level(confidence_level, "confidence_level")
        self.since = check_option(since, "since", ("start", "any"))
        self._bounds = bounds
        self._state = Bets.start(len(bounds), anew=self.since == "any")

    @property
    def n_samples(self) -> int:
        """Number of samples so far."""
        return int(self._state.sums[0])

    @property
    def mean(self) -> float:
        """Mean of the samples so far, NaN where there are none."""
        return self._scale * self._state.mean

    @property
    def e_value(self) -> float:
        """Capital of the bets that the promise is broken, 1 at the start."""
        return self._state.e_value

    @property
    def alarm(self) -> bool:
        """Whether the promise was found to be broken. Once raised, it stays."""
        return self._state.alarm

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
        low, high = self._state.interval(1 - self.confidence_level)
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
        self._check_other(other)
        merged = copy(self)
        merged._take(other._state.sums)
        if other.alarm and not merged.alarm:
            warn_user(
                "other has raised an alarm, but the merged monitor has not. It is "
                "still valid: check it before you discard `other`."
            )
        return merged

    def _take(self, sums):
        """Bet on the values of one update, of which these are the sums."""
        limit = 1 / (1 - self.confidence_level)
        self._state = self._state.add(sums, self._bounds, limit)


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
    target : float in (0, max_loss)
        Largest risk that is tolerated: expected loss of an accepted sample.

    confidence_level : float in (0, 1), default=0.95
        Probability that there is never a false alarm, and that the interval always
        holds.

    max_loss : float > 0, default=1.0
        Largest possible loss, known beforehand.

    min_inclusion_proba : float in (0, 1], default=1.0
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
                f"target={self.target:g} is not below max_loss={self.max_loss:g}. Pass "
                "the largest possible loss as max_loss."
            )
        self._largest = self.max_loss
        self._scale = self.max_loss / self.min_inclusion_proba
        super().__init__(confidence_level, since, [(RISES, self.target / self._scale)])

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
        is_known = ~np.isnan(losses)
        if inclusion_proba is not None:
            proba = self._check_proba(inclusion_proba, is_known)
        is_in_range = (losses >= 0) & (losses <= self.max_loss * (1 + _ROUNDING))
        _refuse_rows(
            ~is_in_range & (is_known | (proba == 1)),
            losses,
            f"losses must be in [0, {self.max_loss:g}], or NaN where inclusion_proba "
            "is below 1 (pass the largest possible loss as max_loss of the monitor)",
        )
        values = np.nan_to_num(losses) * (self.min_inclusion_proba / proba)
        self._take(sums_of(np.minimum(values / self.max_loss, 1.0)))
        return self

    def _check_proba(self, proba, is_known):
        """Return the probabilities as a vector, and warn if they cannot be.

        By Bernstein's inequality, of a number of known labels that the draws yield
        with a chance below 1e-6. Whoever leaves out the rows without label, or has lost
        labels, would otherwise watch another mean.
        """
        proba, least = _as_vector(proba, "inclusion_proba"), self.min_inclusion_proba
        proba = np.repeat(proba, len(is_known)) if len(proba) == 1 else proba
        check_same_length(len(is_known), inclusion_proba=proba)
        _refuse_rows(
            ~((proba >= least * (1 - _ROUNDING)) & (proba <= 1)),
            proba,
            f"inclusion_proba must be in [{least:g}, 1] (pass the smallest possible "
            "one as min_inclusion_proba of the monitor)",
        )
        n_known, expected = int(is_known.sum()), float(proba.sum())
        distance, variance = abs(n_known - expected), float(proba @ (1 - proba))
        if distance**2 > 2 * np.log(2 / 1e-6) * (variance + distance / 3):
            warn_user(
                f"{n_known} of {len(proba)} losses are known, but inclusion_proba "
                f"implies about {expected:.1f}. Pass NaN for those without a label."
            )
        return proba


class CoverageMonitor(Monitor):
    """Watch the share of accepted samples for a change. It needs no labels.

    The bets are those of a :class:`RiskMonitor`, on whether a sample is accepted. By
    default half of the capital is on a larger coverage, and half on a smaller one.

    The coverage of a rule on its calibration set is an estimate, and new samples have
    another one. Watched without a `tolerance`, it alarms sooner or later.

    Parameters
    ----------
    coverage : float in (0, 1)
        Share of samples that is expected to be accepted.

    tolerance : float >= 0, default=0.0
        How far the coverage may be from `coverage` without an alarm, to either side.
        For a rule that was solved on n samples, some 3 / sqrt(n) is chance.

    confidence_level : float in (0, 1), default=0.95
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
        self.coverage = check_level(coverage, "coverage")
        self.tolerance = check_number(tolerance, "tolerance")
        rises = RISES, self.coverage + self.tolerance
        falls = FALLS, 1 - (self.coverage - self.tolerance)
        sides = {"two-sided": [rises, falls], "less": [falls], "greater": [rises]}
        self.alternative = check_option(alternative, "alternative", tuple(sides))
        bounds = sides[self.alternative]
        if any(bound >= 1 for _, bound in bounds):
            raise ValueError(
                f"tolerance={self.tolerance:g} is too large beside {self.coverage:g}. "
                "Pass a smaller one, or watch the other side only by alternative."
            )
        super().__init__(confidence_level, since, bounds)

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
        values = accepted if np.ndim(accepted) else [accepted]
        self._take(sums_of(check_flags(values, "accepted").astype(np.float64)))
        return self


def _as_vector(values, name):
    """Return one number or a vector of them, of which some may be NaN, as float64."""
    array = np.atleast_1d(as_real_array(values, name)).astype(np.float64)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be a number or a vector, got an array of shape "
            f"{array.shape}. Pass one number per sample, such as by `.ravel()`."
        )
    return array


def _refuse_rows(is_bad, values, what):
    """Raise for bad rows, naming the value of the first one."""
    rows = np.flatnonzero(is_bad)
    if rows.size:
        raise ValueError(
            f"{what}, got {values[rows[0]]} in row {rows[0]} ({rows.size} such values)."
        )
