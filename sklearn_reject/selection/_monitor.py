"""Monitors of a deployed rule: alarms and intervals that hold at all times."""

from __future__ import annotations

import math
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._validation import (
    as_real_array,
    check_flags,
    check_number,
    check_option,
    check_same_length,
    refuse_unread,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._bets import Bets
from sklearn_reject.selection._monitor_base import Monitor

_SIDES = ("two-sided", "less", "greater")

# Losses and probabilities in single precision, or such as 1 - 0.9, may be beyond their
# bounds by so much, relatively.
_ROUNDING = 1e-6

# Chance below which a number of audits is taken for a mistake.
_INCREDIBLE = 1e-6


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

    _SETTINGS = (
        "target",
        "confidence_level",
        "max_loss",
        "min_inclusion_proba",
        "since",
    )

    def __init__(
        self,
        target: float,
        *,
        confidence_level: float = 0.95,
        max_loss: float = 1.0,
        min_inclusion_proba: float = 1.0,
        since: Literal["start", "any"] = "start",
    ) -> None:
        super().__init__(confidence_level, since)
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
        self._start()

    @property
    def _largest(self):
        return self.max_loss

    @property
    def _scale(self):
        return self.max_loss / self.min_inclusion_proba

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
        losses = _as_vector(losses, "losses")
        if inclusion_proba is None:
            _refuse_gaps(losses)
            values = losses
        else:
            proba = self._check_proba(inclusion_proba, losses)
            values = np.nan_to_num(losses) * (self.min_inclusion_proba / proba)
        self._check_range(losses)
        if inclusion_proba is None:
            values = values * self.min_inclusion_proba
        self._take(Bets.of(np.minimum(values / self.max_loss, 1.0)))
        return self

    def _check_range(self, losses):
        largest = self.max_loss * (1 + _ROUNDING)
        bad = np.flatnonzero((losses < 0) | (losses > largest))
        if bad.size:
            raise ValueError(
                f"losses must be in [0, max_loss={self.max_loss:g}], got "
                f"{losses[bad[0]]} in row {bad[0]} ({bad.size} such values). The "
                "guarantee depends on the largest loss. Pass the largest possible loss "
                "as max_loss of the monitor."
            )

    def _check_proba(self, proba, losses):
        """Return the probabilities as a vector, if they fit to what is known."""
        proba = _as_vector(proba, "inclusion_proba")
        if len(proba) == 1:
            proba = np.full(len(losses), proba[0])
        check_same_length(len(losses), inclusion_proba=proba)
        least = self.min_inclusion_proba * (1 - _ROUNDING)
        bad = np.flatnonzero(~((proba >= least) & (proba <= 1)))
        if bad.size:
            raise ValueError(
                "inclusion_proba must be in "
                f"[min_inclusion_proba={self.min_inclusion_proba:g}, 1], got "
                f"{proba[bad[0]]} in row {bad[0]} ({bad.size} such values). Pass the "
                "smallest possible probability as min_inclusion_proba of the monitor. "
                "Samples that are never labeled cannot be monitored."
            )
        is_known = ~np.isnan(losses)
        lost = np.flatnonzero(~is_known & (proba == 1))
        if lost.size:
            raise ValueError(
                f"losses has NaN in row {lost[0]} ({lost.size} such values), although "
                "inclusion_proba is 1. Pass the loss, or the probability that the "
                "sample was to be labeled."
            )
        _warn_of_odd_audit(int(is_known.sum()), proba)
        return proba

    def _log_gains(self, bets):
        return [bets.log_gains_above(self.target / self._scale)]


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

    _SETTINGS = ("coverage", "tolerance", "confidence_level", "alternative", "since")

    def __init__(
        self,
        coverage: float,
        *,
        tolerance: float = 0.0,
        confidence_level: float = 0.95,
        alternative: Literal["two-sided", "less", "greater"] = "two-sided",
        since: Literal["start", "any"] = "start",
    ) -> None:
        super().__init__(confidence_level, since)
        ends = {"open_low": True, "open_high": True}
        self.coverage = check_number(coverage, "coverage", high=1, **ends)
        self.tolerance = check_number(tolerance, "tolerance")
        self.alternative = check_option(alternative, "alternative", _SIDES)
        if self.alternative != "greater" and self.coverage <= self.tolerance:
            raise self._too_tolerant(0, other="greater")
        if self.alternative != "less" and self.coverage + self.tolerance >= 1:
            raise self._too_tolerant(1, other="less")
        self._start()

    def _too_tolerant(self, end, other):
        return ValueError(
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

    def _log_gains(self, bets):
        log_gains = []
        if self.alternative != "less":
            log_gains.append(bets.log_gains_above(self.coverage + self.tolerance))
        if self.alternative != "greater":
            log_gains.append(bets.log_gains_below(self.coverage - self.tolerance))
        return log_gains


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


def _refuse_gaps(losses):
    gaps = np.flatnonzero(np.isnan(losses))
    if gaps.size:
        raise ValueError(
            f"losses has NaN in row {gaps[0]} ({gaps.size} such values). Pass samples "
            "when their labels are known. If you label a random part only, pass the "
            "probability of each sample to be labeled as inclusion_proba."
        )


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
