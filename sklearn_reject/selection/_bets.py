"""Bets against a bound on a mean, for every bound at once.

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

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from sklearn_reject._as_dict import DictMixin, Probability

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
