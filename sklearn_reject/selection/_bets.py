"""Bets against a bound on a mean, for every bound at once.

A gambler doubts that the mean of values in [0, 1] is at most m. At each value x the
capital is multiplied by

    1 + b (x - m) = (1 + c x) / (1 + c m),   b = c / (1 + c m),

which does not grow on average if the doubt is wrong. For c from 0 to infinity the
stake b goes through all of ]0, 1/m[. The logarithm of the capital after n values is

    sum_i log(1 + c x_i) - n log(1 + c m):

the sums do not know m. So a few sums, one a stake c, hold the capital against all m,
whatever the number of values was, and those of two gamblers are added. Bets on a mean
of at least m are the same on 1 - x.

After many small values it takes as many large ones until the capital is back. So a part
of it may be held back and laid later, a bit before each update, as if the gambler
started anew then. All that has been laid on one stake is one number, whenever that was:
the next values multiply it by the same.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from sklearn_reject._as_dict import DictMixin

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
_SCALE = 1.5
_SHARES = 1 / (1 + (np.log(STAKES) / _SCALE) ** 2)
_LOG_SHARES = np.log(_SHARES / _SHARES.sum())

# What gamblers who start anew lay at the start, and how fast the rest follows: of the
# cash, (1 + n)^-1/10 is left before value n + 1. Most is laid when a change comes if
# the exponent is 1 / log(n): 0.145 for 1e3 values, 0.07 for 1e6.
_SHARE_AT_START, _DECAY = 0.5, 0.1

# Values that are taken at once: the logarithms of so many are 2 MB.
_BLOCK = 4096

# No sums of more values are exact, and by how much those of one may be off.
_MOST_SAMPLES, _ROUNDING = 2**53, 1e-9

# Splits a float64 into two halves of 26 bits, whose products with counts are exact.
_SPLITTER = 2.0**27 + 1

_RISES = slice(1, 1 + len(STAKES))
_FALLS = slice(1 + len(STAKES), None)
_WIDTH = 1 + 2 * len(STAKES)


@dataclass(frozen=True, eq=False)
class Bets(DictMixin):
    """The sums behind the capital of bets on values in [0, 1].

    `sums` are those of the values, of log(1 + c x) and of log(1 + c (1 - x)) for each
    stake c, as floats and what they miss, shape (2, 57). So sums of many values do not
    depend on the order, nor on how the values come in parts, but for the last digit.
    """

    n_samples: int = 0
    sums: np.ndarray = field(default_factory=lambda: np.zeros((2, _WIDTH)))

    def __post_init__(self):
        """Refuse what sums of other stakes are, as those of another version may be."""
        if self.sums.shape != (2, _WIDTH) or not np.isfinite(self.sums).all():
            raise ValueError(
                f"sums must be finite and of shape {(2, _WIDTH)}, got the shape "
                f"{self.sums.shape}. Restore them with the version that wrote them."
            )
        if not 0 <= self.n_samples <= _MOST_SAMPLES:
            raise ValueError(f"n_samples must be in [0, 2**53], got {self.n_samples}.")
        if not self._are_possible():
            raise ValueError(
                f"sums are not those of {self.n_samples} values in [0, 1]. Restore "
                "them as they were written."
            )

    def _are_possible(self):
        """Tell whether there are values of these sums: log(1 + c x) is concave in x."""
        total, *logs = self.sums.sum(axis=0)
        n_samples, slack = self.n_samples, _ROUNDING * (1 + self.n_samples)
        mean = total / n_samples if n_samples else 0.0
        if abs(total - np.clip(total, 0, n_samples)) > slack:
            return False
        shares = np.repeat([mean, 1 - mean], len(STAKES)).clip(0, 1)
        stakes = np.tile(STAKES, 2)
        least = n_samples * shares * np.log1p(stakes)
        most = n_samples * np.log1p(stakes * shares)
        return ((logs >= least - slack) & (logs <= most + slack)).all()

    @classmethod
    def of(cls, values):
        """Return the bets on some values."""
        distinct, counts = np.unique(values, return_counts=True)
        sums = np.zeros((2, _WIDTH))
        for start in range(0, len(distinct), _BLOCK):
            part = slice(start, start + _BLOCK)
            sums = _add(sums, _sums_of(distinct[part], counts[part]))
        return cls(len(values), sums)

    def merge(self, other):
        """Return the bets on the values of both."""
        return Bets(self.n_samples + other.n_samples, _add(self.sums, other.sums))

    @property
    def mean(self):
        """The mean of the values, NaN if there are none."""
        if self.n_samples == 0:
            return float("nan")
        return float(self.sums[:, 0].sum()) / self.n_samples

    def log_gains_above(self, mean):
        """Return the logs of what bets on a larger mean have won, one a stake."""
        return self._log_gains(_RISES, mean)

    def log_gains_below(self, mean):
        """Return the logs of what bets on a smaller mean have won, one a stake."""
        return self._log_gains(_FALLS, 1 - mean)

    def interval(self, delta):
        """Return the means against which no bet of either direction has won 2 / delta.

        The capital falls with the mean that it is laid against.
        """
        if self.n_samples == 0:
            return 0.0, 1.0
        low = self._root(_RISES, self.mean, delta / 2)
        return low, 1 - self._root(_FALLS, 1 - self.mean, delta / 2)

    def _root(self, part, mean, delta):
        """Return the bound at which the capital is 1 / delta, below the mean."""

        def excess(bound):
            return log_capital(self._log_gains(part, bound)) + np.log(delta)

        if excess(0.0) <= 0:
            return 0.0
        # At the mean itself no capital has grown, as the logarithm is concave.
        return float(brentq(excess, 0.0, mean, xtol=1e-16))

    def _log_gains(self, part, bound):
        high, low = self.sums[:, part]
        return (high - self.n_samples * np.log1p(STAKES * bound)) + low


def log_capital(log_gains):
    """Return the log of the capital, laid on the stakes when nothing had been won."""
    return _log_sum(log_gains + _LOG_SHARES)


@dataclass(frozen=True, eq=False)
class Restarts(DictMixin):
    """Capital against one bound, of which a part is laid anew with each update.

    When and how much is known before the values are, so it is a bet as any other.

    `log_capitals` is what the capital on each stake is now, shape (28,), and `cash`
    what is not laid yet.
    """

    log_capitals: np.ndarray = field(
        default_factory=lambda: _LOG_SHARES + np.log(_SHARE_AT_START)
    )
    cash: float = 1 - _SHARE_AT_START

    def __post_init__(self):
        """Refuse what capitals of other stakes are."""
        shape = self.log_capitals.shape
        if shape != STAKES.shape or not np.isfinite(self.log_capitals).all():
            raise ValueError(
                f"log_capitals must be finite and of shape {STAKES.shape}, got the "
                f"shape {shape}. Restore them with the version that wrote them."
            )
        if not 0 <= self.cash <= 1 - _SHARE_AT_START:
            raise ValueError(f"cash must be in [0, 0.5], got {self.cash}.")

    def after(self, n_before, log_gains):
        """Return the capital after an update, with so many values before it."""
        cash = (1 - _SHARE_AT_START) * (1 + n_before) ** -_DECAY
        logs = self.log_capitals
        if cash < self.cash:
            laid = np.log(self.cash - cash)
            logs = np.logaddexp(logs, _LOG_SHARES + laid)
        return Restarts(logs + log_gains, min(cash, self.cash))

    def is_possible(self, n_samples, least, most):
        """Tell whether so many values lead here, given the gains of one at each stake.

        The cash is what was left before some of the values.
        """
        least_cash = (1 - _SHARE_AT_START) * (1 + n_samples) ** -_DECAY
        laid = _LOG_SHARES + np.log1p(-self.cash)
        slack = _ROUNDING * (1 + n_samples)
        return (
            self.cash >= least_cash * (1 - _ROUNDING)
            and (self.log_capitals >= laid + n_samples * least - slack).all()
            and (self.log_capitals <= laid + n_samples * most + slack).all()
        )

    def log_capital(self):
        """Return the log of all capital, laid or not."""
        return _log_sum(np.append(self.log_capitals, np.log(self.cash)))


def _log_sum(logs):
    """Return the log of a sum of numbers whose logs are given."""
    largest = logs.max()
    return float(largest + np.log(np.exp(logs - largest).sum()))


def _sums_of(values, counts):
    """Return the sums of values that occur so many times, and what they miss."""
    terms = np.empty((len(values), _WIDTH))
    terms[:, 0] = values
    np.log1p(np.multiply.outer(values, STAKES), out=terms[:, _RISES])
    np.log1p(np.multiply.outer(1 - values, STAKES), out=terms[:, _FALLS])
    halves = _SPLITTER * terms
    halves -= halves - terms
    counts = counts[:, np.newaxis]
    return _fold(np.concatenate([counts * halves, counts * (terms - halves)]))


def _fold(terms):
    """Sum the rows, and what is lost to rounding, by adding halves to each other."""
    lost = np.zeros_like(terms)
    while len(terms) > 1:
        half = len(terms) // 2
        odd = slice(2 * half, None)
        total, missed = _two_sum(terms[:half], terms[half : 2 * half])
        missed += lost[:half] + lost[half : 2 * half]
        terms = np.concatenate([total, terms[odd]])
        lost = np.concatenate([missed, lost[odd]])
    return np.concatenate([terms, lost])


def _add(one, other):
    """Add sums with what they miss."""
    total, missed = _two_sum(one[0], other[0])
    return np.array(_two_sum(total, missed + (one[1] + other[1])))


def _two_sum(one, other):
    """Return the rounded sum, and what rounding has taken off it (Knuth)."""
    total = one + other
    part = total - one
    return total, (one - (total - part)) + (other - part)
