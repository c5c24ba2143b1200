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
from functools import reduce

import numpy as np
from scipy.optimize import brentq

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_number

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

# What gamblers who start anew lay at the start, and how fast the rest follows: of the
# cash, (1 + n)^-1/10 is left before value n + 1. Most is laid when a change comes if
# the exponent is 1 / log(n): 0.145 for 1e3 values, 0.07 for 1e6.
_SHARE_AT_START, _DECAY = 0.5, 0.1
LAID_AT_START = _LOG_SHARES + np.log(_SHARE_AT_START)

# Values that are taken at once: caches hold the logarithms of so many, 0.1 MB.
_BLOCK = 256

# Splits a float64 into two halves of 26 bits, whose products with counts are exact.
_SPLITTER = 2.0**27 + 1

# Columns of the sums that bets on a larger mean need, and those on a smaller one, which
# are bets on a larger mean of 1 - x.
RISES = slice(1, 1 + len(STAKES))
FALLS = slice(1 + len(STAKES), None)
_WIDTH = 1 + 2 * len(STAKES)


@dataclass(frozen=True, eq=False)
class Bets(DictMixin):
    """The sums behind the capital of bets on values in [0, 1].

    `sums` are those of the values, of log(1 + c x) and of log(1 + c (1 - x)) for each
    stake c, as floats and what they miss, shape (2, 57). So sums of many values do not
    depend on the order, nor on how the values come in parts, but for the last digit.

    Where a part of the capital is laid anew with each update, `log_capitals` is what
    that on each stake is now, shape (n_bounds, 28), and `cash` what is not laid yet.
    When and how much is known before the values are, so it is a bet as any other.
    """

    n_samples: int = 0
    sums: np.ndarray = field(default_factory=lambda: np.zeros((2, _WIDTH)))
    log_capitals: np.ndarray = field(default_factory=lambda: np.zeros(0))
    cash: float = 1 - _SHARE_AT_START

    def checked(self, fresh):
        """Refuse other shapes than those of fresh bets, and numbers out of range."""
        # No sums of more values are exact.
        n_samples = check_number(self.n_samples, "n_samples", high=2**53)
        check_number(self.cash, "cash", high=1 - _SHARE_AT_START, open_low=True)
        most = n_samples * (1 + 1e-9) * np.append(1, np.log1p(np.tile(STAKES, 2)))
        shapes, wanted = ((x.sums.shape, x.log_capitals.shape) for x in (self, fresh))
        sums, are_finite = self.sums.sum(axis=0), np.isfinite(self.log_capitals).all()
        if shapes != wanted or not (are_finite & (sums >= 0) & (sums <= most)).all():
            raise ValueError(
                f"sums and log_capitals must be of the shapes {wanted} and those of "
                f"{n_samples:g} values in [0, 1]. Restore them as they were written."
            )
        return self

    @classmethod
    def of(cls, values):
        """Return the bets on some values."""
        distinct = np.array(np.unique(values, return_counts=True))
        starts = range(0, distinct.shape[1], _BLOCK)
        sums = (_sums_of(*distinct[:, i : i + _BLOCK]) for i in starts)
        return cls(len(values), reduce(_add, sums, np.zeros((2, _WIDTH))))

    def merge(self, other, bounds=()):
        """Return the bets on the values of both, those of `other` in one update."""
        logs, cash = self.log_capitals, self.cash
        if len(logs):
            cash = min(cash, (1 - _SHARE_AT_START) * (1 + self.n_samples) ** -_DECAY)
            if cash < self.cash:
                logs = np.logaddexp(logs, _LOG_SHARES + np.log(self.cash - cash))
            logs = logs + [other.log_gains(*bound) for bound in bounds]
        n_samples = self.n_samples + other.n_samples
        return Bets(n_samples, _add(self.sums, other.sums), logs, cash)

    @property
    def mean(self):
        """The mean of the values, NaN if there are none."""
        total = float(self.sums[:, 0].sum())
        return total / self.n_samples if self.n_samples else np.nan

    def log_gains(self, part, bound):
        """Return the logs of what bets on a mean above a bound have won, one a stake.

        Those on a smaller mean than m are bets on `FALLS`, with the bound 1 - m.
        """
        high, low = self.sums[:, part]
        return (high - self.n_samples * np.log1p(STAKES * bound)) + low

    def log_capital(self, part, bound):
        """Return the log of the capital, laid on the stakes before all values."""
        return _log_sum(self.log_gains(part, bound) + _LOG_SHARES)

    def log_e_value(self, bounds):
        """Return the log of the capital that is laid in equal parts against bounds."""
        cash = np.log(self.cash)
        logs = [_log_sum(np.append(each, cash)) for each in self.log_capitals] or [
            self.log_capital(*bound) for bound in bounds
        ]
        return float(np.logaddexp.reduce(logs) - np.log(len(logs)))

    def interval(self, delta):
        """Return the means against which no bet of either direction has won 2 / delta.

        The capital falls with the mean that it is laid against.
        """
        low = self._root(RISES, self.mean, delta / 2)
        return low, 1 - self._root(FALLS, 1 - self.mean, delta / 2)

    def _root(self, part, mean, delta):
        """Return the bound at which the capital is 1 / delta, below the mean."""

        def excess(bound):
            return self.log_capital(part, bound) + np.log(delta)

        # At the mean itself no capital has grown, as the logarithm is concave.
        return float(brentq(excess, 0, mean, xtol=1e-16)) if excess(0) > 0 else 0.0


def _log_sum(logs):
    """Return the log of a sum of numbers whose logs are given."""
    largest = logs.max()
    return float(largest + np.log(np.exp(logs - largest).sum()))


def _sums_of(values, counts):
    """Return the sums of values that occur so many times, and what they miss."""
    gains = (np.log1p(np.multiply.outer(x, STAKES)) for x in (values, 1 - values))
    terms = np.column_stack([values, *gains])
    halves = _SPLITTER * terms
    halves -= halves - terms
    counts = counts[:, np.newaxis]
    terms = np.concatenate([counts * halves, counts * (terms - halves)])
    lost = np.zeros_like(terms)
    while half := len(terms) // 2:
        terms[:half], missed = _two_sum(terms[:half], terms[-half:])
        lost[:half] += lost[-half:] + missed
        terms, lost = terms[:-half], lost[:-half]
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
