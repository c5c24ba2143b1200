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
_SCALE = 1.5
_SHARES = 1 / (1 + (np.log(STAKES) / _SCALE) ** 2)
_LOG_SHARES = np.log(_SHARES / _SHARES.sum())

# What gamblers who start anew lay at the start, and how fast the rest follows: of the
# cash, (1 + n)^-1/10 is left before value n + 1. Most is laid when a change comes if
# the exponent is 1 / log(n): 0.145 for 1e3 values, 0.07 for 1e6.
_SHARE_AT_START, _DECAY = 0.5, 0.1

# Values that are taken at once: caches hold the logarithms of so many, 0.1 MB.
_BLOCK = 256

# No sums of more values are exact, and by how much those of one may be off.
_MOST_SAMPLES, _ROUNDING = 2**53, 1e-9

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
    """

    n_samples: int = 0
    sums: np.ndarray = field(default_factory=lambda: np.zeros((2, _WIDTH)))

    def check(self):
        """Refuse sums of other stakes, as of another version, or of no values.

        Logarithms of 1 + c x are concave in x, so their sums are between those of as
        many zeros and ones and those of values that are all equal to the mean.
        """
        _check_shape("sums", self.sums, (2, _WIDTH))
        n_samples = self.n_samples
        check_number(n_samples, "n_samples", high=_MOST_SAMPLES)
        sums, slack = self.sums.sum(axis=0), _ROUNDING * (1 + n_samples)
        mean = np.clip(sums[0] / max(n_samples, 1), 0, 1)
        shares = np.repeat([mean, 1 - mean], len(STAKES))
        stakes = np.tile(STAKES, 2)
        least = n_samples * np.append(mean, shares * np.log1p(stakes))
        most = n_samples * np.append(mean, np.log1p(stakes * shares))
        if not ((sums >= least - slack) & (sums <= most + slack)).all():
            raise ValueError(
                f"sums are not those of {n_samples} values in [0, 1]. Restore them as "
                "they were written."
            )

    @classmethod
    def of(cls, values):
        """Return the bets on some values."""
        distinct, counts = np.unique(values, return_counts=True)
        starts = range(0, len(distinct), _BLOCK)
        parts = (slice(start, start + _BLOCK) for start in starts)
        sums = (_sums_of(distinct[part], counts[part]) for part in parts)
        return cls(len(values), reduce(_add, sums, np.zeros((2, _WIDTH))))

    def merge(self, other):
        """Return the bets on the values of both."""
        return Bets(self.n_samples + other.n_samples, _add(self.sums, other.sums))

    @property
    def mean(self):
        """The mean of the values, NaN if there are none."""
        total = float(self.sums[:, 0].sum())
        return total / self.n_samples if self.n_samples else float("nan")

    def log_gains(self, part, bound):
        """Return the logs of what bets on a mean above a bound have won, one a stake.

        Those on a smaller mean than m are bets on `FALLS`, with the bound 1 - m.
        """
        high, low = self.sums[:, part]
        return (high - self.n_samples * np.log1p(STAKES * bound)) + low

    def interval(self, delta):
        """Return the means against which no bet of either direction has won 2 / delta.

        The capital falls with the mean that it is laid against.
        """
        if self.n_samples == 0:
            return 0.0, 1.0
        low = self._root(RISES, self.mean, delta / 2)
        return low, 1 - self._root(FALLS, 1 - self.mean, delta / 2)

    def _root(self, part, mean, delta):
        """Return the bound at which the capital is 1 / delta, below the mean."""

        def excess(bound):
            return log_capital(self.log_gains(part, bound)) + np.log(delta)

        # At the mean itself no capital has grown, as the logarithm is concave.
        return float(brentq(excess, 0, mean, xtol=1e-16)) if excess(0) > 0 else 0.0


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

    def after(self, n_before, log_gains):
        """Return the capital after an update, with so many values before it."""
        cash, logs = min(self.cash, _cash_before(n_before)), self.log_capitals
        if cash < self.cash:
            logs = np.logaddexp(logs, _LOG_SHARES + np.log(self.cash - cash))
        return Restarts(logs + log_gains, cash)

    def check(self, n_samples, bound):
        """Refuse where so many values, of bets against a bound, do not lead.

        The cash is what was left before some of them, and each has won or lost no more
        than a one or a zero does.
        """
        logs, slack = self.log_capitals, _ROUNDING * (1 + n_samples)
        _check_shape("log_capitals", logs, STAKES.shape)
        check_number(self.cash, "cash", high=1 - _SHARE_AT_START)
        laid = _LOG_SHARES + np.log1p(-self.cash)
        least = laid - n_samples * np.log1p(STAKES * bound)
        most = least + n_samples * np.log1p(STAKES)
        fits = (logs >= least - slack) & (logs <= most + slack)
        if self.cash < _cash_before(n_samples) * (1 - _ROUNDING) or not fits.all():
            raise ValueError(
                f"restarts are not those of {n_samples} samples. Restore them as they "
                "were written."
            )

    def log_capital(self):
        """Return the log of all capital, laid or not."""
        return _log_sum(np.append(self.log_capitals, np.log(self.cash)))


def _cash_before(n_samples):
    """Return what is not laid yet before an update, after so many values."""
    return (1 - _SHARE_AT_START) * (1 + n_samples) ** -_DECAY


def _check_shape(name, values, shape):
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must be finite and of shape {shape}, got the shape "
            f"{values.shape}. Restore them with the version that wrote them."
        )


def _log_sum(logs):
    """Return the log of a sum of numbers whose logs are given."""
    largest = logs.max()
    return float(largest + np.log(np.exp(logs - largest).sum()))


def _sums_of(values, counts):
    """Return the sums of values that occur so many times, and what they miss."""
    terms = np.empty((len(values), _WIDTH))
    terms[:, 0] = values
    np.log1p(np.multiply.outer(values, STAKES), out=terms[:, RISES])
    np.log1p(np.multiply.outer(1 - values, STAKES), out=terms[:, FALLS])
    halves = _SPLITTER * terms
    halves -= halves - terms
    counts = counts[:, np.newaxis]
    terms = np.concatenate([counts * halves, counts * (terms - halves)])
    lost = np.zeros_like(terms)
    while (n_terms := len(terms)) > 1:
        half = (n_terms + 1) // 2
        total, missed = _two_sum(terms[: n_terms - half], terms[half:])
        terms[: n_terms - half] = total
        lost[: n_terms - half] += lost[half:] + missed
        terms, lost = terms[:half], lost[:half]
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
