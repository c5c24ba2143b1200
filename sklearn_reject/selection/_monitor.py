"""Monitors of a deployed rule: alarms and intervals that hold at all times.

A gambler doubts that the mean of values in [0, 1] is at most m. At each value x the
capital is multiplied by

    1 + b (x - m) = (1 + c x) / (1 + c m),   b = c / (1 + c m),

which does not grow on average if the doubt is wrong. For c from 0 to infinity the
stake b goes through all of (0, 1/m). The logarithm of the capital after n values is

    sum_i log(1 + c x_i) - n log(1 + c m):

the sums do not know m. So a few sums, one a stake c, hold the capital against all m,
whatever the number of values was, and those of two gamblers are added. Bets on a mean
of at least m are the same on 1 - x.

After many small values it takes as many large ones until the capital is back. So a part
of it may be held back and laid later, a bit before each update, as if the gambler
started anew then. All that has been laid on one stake is one number, whenever that was:
the next values multiply it by the same.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from sklearn_reject._as_dict import Accumulator, DictMixin, Probability
from sklearn_reject._interval import Interval
from sklearn_reject._validation import (
    as_real_array,
    check_flags,
    check_level,
    check_number,
    check_option,
    check_part_weight,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._weights import check_inclusion_proba, shares_of

# Powers of two are the same on all machines. Against errors of a chance q in place of
# m, the best c + 1 is the odds ratio of q and m, whatever m is: 2 is the best where the
# odds have doubled. The smallest serve intervals of 1e6 values and more, the largest
# are for values that vary little or are far below the largest possible one.
STAKES = 2.0 ** np.arange(-10, 18)

# The capital that is laid on each stake: a Cauchy distribution of log c, largest at
# c = 1. Median number of values until an alarm, in multiples of what it takes who knows
# the chance, means over m = .001 to .3 and chances of 1.2, 1.5, 2, 3 and 10 m: 1.49 for
# scales of 1 and of 1.5, 1.57 for 2.3, and 1.88 for equal shares; 1.5 and 1.6 for the
# largest share at c = 2 and at 4. The smaller scale is quicker at odds of 1.5 to 2, the
# larger one at all others.
_SHARES = 1 / (1 + (np.log(STAKES) / 1.5) ** 2)
_LOG_SHARES = np.log(_SHARES / _SHARES.sum())

# What gamblers who start anew hold back at the start, and how fast the rest follows: of
# this cash, (1 + n)^-1/10 is left before value n + 1. Most is laid when a change comes
# if the exponent is 1 / log(n): 0.145 for 1e3 values, 0.07 for 1e6.
_CASH, _DECAY = 0.5, 0.1

# Values that are taken at once: caches hold the logarithms of so many, 0.1 MB.
_BLOCK = 256

# Columns of the sums that bets on a larger mean need, and those on a smaller one, which
# are bets on a larger mean of 1 - x. First come the number of values and their sum.
RISES = slice(2, 2 + len(STAKES))
FALLS = slice(2 + len(STAKES), 2 + 2 * len(STAKES))


@dataclass(frozen=True, eq=False)
class Bets(DictMixin):
    """Bets on values in [0, 1], against one bound or several.

    `log_capitals` is what has been laid on each stake against each bound, shape
    (n_bounds, 28), `cash` what is not laid yet, and `sums` those of all values.

    Where a part of the capital is held back, a bit is laid anew with each update. When
    and how much is known before the values are, so it is a bet as any other.
    """

    log_capitals: np.ndarray
    cash: Probability
    sums: np.ndarray
    alarm: bool

    @classmethod
    def start(cls, n_bounds, anew):
        """Return bets without values, which hold something back to start `anew`."""
        cash = _CASH if anew else 0.0
        laid = _LOG_SHARES + np.log(1 - cash)
        capitals = np.full((n_bounds, len(STAKES)), laid)
        return cls(capitals, cash, np.zeros(FALLS.stop), alarm=False)

    def continues(self, start):
        """Tell whether these are of as many bounds as others, and of all stakes."""
        shapes = ((bets.log_capitals.shape, bets.sums.shape) for bets in (self, start))
        return len({*shapes}) == 1

    def add(self, sums, bounds, limit):
        """Return the bets after one update by values of these sums.

        There is an alarm once the capital is at the limit.
        """
        logs, cash = self.log_capitals, self.cash
        left = min(cash, _CASH * (1 + self.sums[0]) ** -_DECAY)
        if left < cash:
            logs = np.logaddexp(logs, _LOG_SHARES + np.log(cash - left))
        logs = logs + [_log_gains(sums, *bound) for bound in bounds]
        alarm = self.alarm or _capital(logs, left) >= limit
        return Bets(logs, left, self.sums + sums, alarm)

    @property
    def mean(self):
        """The mean of the values, NaN if there are none."""
        return float(self.sums[1] / self.sums[0]) if self.sums[0] else np.nan

    @property
    def e_value(self):
        """The capital, of which each bound has an equal part."""
        return _capital(self.log_capitals, self.cash)

    def interval(self, delta):
        """Return the means against which no bet of either direction has won 2 / delta.

        The capital falls with the mean that it is laid against.
        """
        low = self._root(RISES, self.mean, delta / 2)
        return low, 1 - self._root(FALLS, 1 - self.mean, delta / 2)

    def _root(self, part, mean, delta):
        """Return the bound, below the mean, at which all laid first is 1 / delta."""

        def excess(bound):
            logs = _log_gains(self.sums, part, bound) + _LOG_SHARES
            return np.logaddexp.reduce(logs) + np.log(delta)

        # At the mean itself no capital has grown, as the logarithm is concave.
        return float(brentq(excess, 0, mean, xtol=1e-16)) if excess(0) > 0 else 0.0


def sums_of(values):
    """Return the number of values, their sum, and those behind bets on each stake."""
    values, counts = np.unique(values, return_counts=True)
    sums = np.zeros(FALLS.stop)
    for start in range(0, len(values), _BLOCK):
        some = slice(start, start + _BLOCK)
        x = values[some]
        gains = (np.log1p(np.multiply.outer(each, STAKES)) for each in (x, 1 - x))
        sums += counts[some] @ np.column_stack([np.ones_like(x), x, *gains])
    return sums


def _capital(log_capitals, cash):
    """Return the mean over all bounds, infinite beyond float64."""
    with np.errstate(over="ignore"):
        return float(np.exp(log_capitals).sum() / len(log_capitals) + cash)


def _log_gains(sums, part, bound):
    """Return the logs of what bets on a mean above a bound have won, one a stake.

    Those on a smaller mean than m are bets on `FALLS`, with the bound 1 - m.
    """
    return sums[part] - sums[0] * np.log1p(STAKES * bound)


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
    def _of_values(self):
        """Bets on the values themselves, where others raise alarms."""
        return self._state

    @property
    def n_samples(self) -> int:
        """Number of samples so far."""
        return int(self._state.sums[0])

    @property
    def mean(self) -> float:
        """Mean of the samples so far, NaN where there are none, or it is not known."""
        return self._scale * self._of_values.mean

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

        Raises
        ------
        ValueError
            If samples had a `sample_weight`.
        """
        if self.n_samples and np.isnan(self.mean):
            raise ValueError(
                "interval is exact, and samples had a sample_weight, whose mean over "
                "the population is not known. Pass the samples to bootstrap_interval."
            )
        low, high = self._of_values.interval(1 - self.confidence_level)
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
    often. Feed the mean loss of the accepted rows of such a cluster as one value, with
    their share of its rows as `sample_weight` and 1 as `max_weight`.

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

    max_weight : float > 0, default=None
        Largest possible `sample_weight` over `inclusion_proba` of an update, known
        beforehand: one over the smallest chance of a label, where only a random part of
        the samples is labeled. The larger it is, the more samples are needed to detect
        a risk above the target. None if all samples count alike.

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
        samples, and where these had weights, whose mean is not known.

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

    >>> monitor = RiskMonitor(0.05, max_weight=5)
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
        max_weight: float | None = None,
        since: Literal["start", "any"] = "start",
    ) -> None:
        self.max_loss = check_number(max_loss, "max_loss", open_low=True)
        self.max_weight = max_weight
        if max_weight is not None:
            self.max_weight = check_number(max_weight, "max_weight", open_low=True)
        self.target = check_number(target, "target", open_low=True)
        if self.target >= self.max_loss:
            raise ValueError(
                f"target={self.target:g} is not below max_loss={self.max_loss:g}. Pass "
                "the largest possible loss as max_loss."
            )
        self._scale, self._largest = self.max_loss * (max_weight or 1.0), self.max_loss
        self._share = self.target / self.max_loss
        super().__init__(confidence_level, since, [(RISES, self._share)])
        if max_weight is not None:
            # Beside the sums of what bets are about, those of the weighted losses.
            self._state = replace(self._state, sums=np.zeros(2 * FALLS.stop))

    @property
    def _of_values(self):
        return replace(self._state, sums=self._state.sums[-FALLS.stop :])

    def update(
        self,
        losses: ArrayLike,
        inclusion_proba: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the monitor with further samples.

        Parameters
        ----------
        losses : float or array-like of shape (n_samples,)
            Loss of each accepted sample of the period, in [0, `max_loss`]. NaN where
            the label was not looked up, with `inclusion_proba` only. It may be empty.

        inclusion_proba : float or array-like of shape (n_samples,), default=None
            Probability with which the label of each sample was to be looked up, also
            of those that were not. It is known before the draw, and each sample has a
            draw of its own: no quota, no whole days. None if all labels are known.

        sample_weight : float or array-like of shape (n_samples,), default=None
            Non-negative weights: the risk is that of the weighted population.

        Returns
        -------
        monitor : RiskMonitor
            The monitor itself.

        Raises
        ------
        ValueError
            If a loss is negative or above `max_loss`, or NaN where it should be known,
            a probability is not in (0, 1], or a weight over it is above `max_weight`.
            Nothing is taken then.

        Warns
        -----
        RejectionWarning
            If far more or far fewer samples have a loss than the probabilities let
            expect.
        """
        losses, is_sampled = _as_vector(losses, "losses"), inclusion_proba is not None
        is_known, weight = ~np.isnan(losses), np.ones(len(losses))
        is_in_range = (losses >= 0) & (losses <= self.max_loss * (1 + _ROUNDING))
        _refuse_rows(
            ~is_in_range & (is_known | (not is_sampled)),
            losses,
            f"losses must be in [0, {self.max_loss:g}], or NaN where inclusion_proba "
            "is below 1 (pass the largest possible loss as max_loss of the monitor)",
        )
        values = np.minimum(np.nan_to_num(losses) / self.max_loss, 1.0)
        is_weighted = is_sampled or sample_weight is not None or self.max_weight
        if not len(losses):
            sums = np.zeros_like(self._state.sums)
        elif not is_weighted:
            sums = sums_of(values)
        else:
            if sample_weight is not None:
                weight = check_part_weight(sample_weight, len(losses))
            if is_sampled:
                weight = weight / check_inclusion_proba(inclusion_proba, is_known)
            shares = is_known * shares_of(weight, self.max_weight, "A RiskMonitor")
            values = shares * values
            estimated = sums_of(values)
            if sample_weight is not None:
                estimated *= np.nan
            values += (1 - shares) * self._share
            sums = np.concatenate([sums_of(values), estimated])
        self._take(sums)
        return self


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
