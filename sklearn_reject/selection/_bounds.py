"""Tests of a bound on a mean, or on failures: p-values, and the samples needed.

A new bound is one class here with a `name` and an entry in `BOUNDS`, over which
`tests/selection/test_bounds.py` runs.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy
from scipy.stats import beta, binom

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE, prefix_sums
from sklearn_reject.selection._sample import ROWS

# Accuracy of an upper bound that has to be searched.
_TINY = 1e-12


def most_successes(n_trials, share, delta):
    """Return the largest count that is as small with a chance of delta, or -1."""
    count = int(binom.ppf(delta, n_trials, share))
    return count if binom.cdf(count, n_trials, share) <= delta else count - 1


def binomial_upper(count, n_samples, delta):
    """Return the upper confidence bound of a share of which `count` were seen."""
    if count >= n_samples:
        return 1.0
    return float(beta.ppf(1 - delta, count + 1, n_samples - count))


class _Bound:
    """What bounds share; each has a `name`, and `of_sums` or `of_losses` of its own.

    Those of a risk are about the mean of the accepted losses, those of failures about
    the mean of all losses, zero where rejected. It writes `upper`, too, unless its
    p-values need not fall with the risk.
    """

    is_binary = False
    # How many thresholds of a sequence to test, where that takes time.
    most_tests = None
    # Share of the capital that a loss takes, for a p-value that is one over it, of a
    # risk and of failures, on which as many gamblers bet.
    stake = failure_stake = 1.0
    n_stakes = 1
    upper = None
    # P-values from numbers of samples, sums of losses and the risk, if that is enough.
    of_sums = None

    def test(self, losses, random_state, units=ROWS):
        """Return the p-values of prefixes as a function of lengths, risk and level.

        Bets are made in a random order: that of the rows would do if they were always
        drawn one by one, but some samples come sorted.
        """
        if units.shares is None:
            sums = prefix_sums(losses)
            return lambda counts, risk, level: self.of_sums(counts, sums[counts], risk)
        lost, shares = map(prefix_sums, (units.shares * losses, units.shares))

        def p_values(counts, risk, level):
            n_units = units.count(counts)
            sums = risk * (n_units - shares[counts]) + lost[counts]
            return self.of_sums(n_units, sums, risk)

        return p_values

    def fewest(self, risk, level, stake=None):
        """Return about the number of samples below which no p-value reaches a level."""
        # By this factor a sample without loss shrinks it: 1 - risk for a stake of 1.
        rate = math.log1p((stake or self.stake) * risk / (1 - risk))
        # Quotients of logarithms miss whole numbers by a few ulp.
        return max(1, math.ceil(-math.log(level) / rate * (1 - RELATIVE_TOLERANCE)))

    def failure_test(self, sums, n_samples, rate, delta, units=ROWS):
        """Return the p-value of a prefix as a function of the index of its sum."""
        size = np.array([n_samples])
        return lambda index: float(self.of_sums(size, sums[[index]], rate)[0])

    def lowest_rate(self, n_samples, delta):
        """Return about the smallest rate that samples without any loss can certify."""
        growth = math.expm1(-math.log(delta / self.n_stakes) / n_samples)
        return growth / (self.failure_stake + growth)

    def fewest_of_rate(self, rate, delta):
        """Return about how many samples without any loss can certify a rate."""
        return self.fewest(rate, delta / self.n_stakes, self.failure_stake)


class Binomial(_Bound):
    """Exact, for losses that are 0 or 1."""

    name = "binomial"
    is_binary = True

    def of_sums(self, n_accepted, loss_sums, risk):
        """Return the chance of as few errors."""
        return binom.cdf(loss_sums, n_accepted, risk)

    def upper(self, losses, delta):
        """Return a bound that the mean is above with a chance of at most delta."""
        return binomial_upper(round(float(losses.sum())), len(losses), delta)


class HoeffdingBentkus(_Bound):
    """For losses in [0, 1]."""

    name = "hoeffding_bentkus"

    def of_sums(self, n_accepted, loss_sums, risk):
        """Return the smaller of two bounds on the chance of as small a sum.

        They are exp(-m kl) with the relative entropy kl of the mean loss and the risk,
        and e times the binomial tail (Bates et al., "Distribution-free,
        risk-controlling prediction sets", Journal of the ACM 68(6), 2021, proposition
        1).
        """
        p_values = np.ones(len(n_accepted))
        below = loss_sums < risk * n_accepted
        count, total = n_accepted[below], loss_sums[below]
        mean = total / count
        entropy = (1 - mean) * np.log((1 - mean) / (1 - risk))
        entropy += xlogy(mean, mean / risk)
        bentkus = math.e * binom.cdf(np.ceil(total), count, risk)
        p_values[below] = np.minimum(np.exp(-count * entropy), bentkus)
        return p_values

    def upper(self, losses, delta):
        """Return a bound that the mean is above with a chance of at most delta."""
        count, total = np.array([len(losses)]), np.array([float(losses.sum())])

        def excess(risk):
            return float(self.of_sums(count, total, risk)[0]) - delta

        if total >= count or excess(1 - _TINY) >= 0:
            return 1.0
        low = max(float(losses.mean()), _TINY)
        return float(brentq(excess, low, 1 - _TINY, xtol=_TINY)) + _TINY


class Betting(_Bound):
    """For losses in [0, 1], sharp where they vary little. Slow, so few are tested."""

    name = "betting"
    # Twice as many thresholds of a sequence cover .0015 more of 1e5 samples.
    most_tests = 200
    # Stakes depend on the risk, so that p-values need not fall with it: no `upper`.
    stake, failure_stake = 0.75, 0.95
    # Half as many stakes, or four times as many, change the coverage by less than .005.
    n_stakes = 8

    def of_losses(self, losses, risk, level):
        """Return the p-value of a gambler who bets on losses below the bound.

        The capital starts at 1 and is multiplied by 1 + stake * (risk - loss) at each
        sample. It cannot grow on average if the mean loss is above the bound, so that
        it ever reaches c with a probability of at most 1 / c (Ville). The stakes are
        those of the predictable plug-in, large where the losses so far vary little, and
        made for `level`; the p-value is valid whatever that is (Waudby-Smith, Ramdas,
        "Estimating means of bounded random variables by betting", JRSS B 86(1), 2024).

        The order of the losses must not depend on them: never that of the scores, in
        which the first are the best.
        """
        count = np.arange(1.0, len(losses) + 1)
        # Squared deviations from the means so far, after a loss imagined at the risk.
        squares = ((np.cumsum(losses) + risk) / (count + 1) - losses) ** 2
        variance = (np.cumsum(squares) - squares + risk * (1 - risk)) / count
        stakes = np.sqrt(-2 * math.log(level) / np.maximum(len(losses), 1) / variance)
        stakes = np.minimum(stakes, self.stake / (1 - risk))
        capital = np.cumsum(np.log1p(stakes * (risk - losses)))
        return math.exp(-capital.max(initial=0.0))

    def test(self, losses, random_state, units=ROWS):
        """Return the p-values of prefixes as a function of lengths, risk and level."""
        order = random_state.permutation(int(units.count(len(losses))))
        shuffled = losses[order] if units.shares is None else None

        def p_value(count, risk, level):
            if shuffled is not None:
                return self.of_losses(shuffled[order < count], risk, level)
            values = units.values(losses[:count], risk)
            return self.of_losses(values[order[order < len(values)]], risk, level)

        # One after the other: each is an array.
        return lambda counts, risk, level: np.array(
            [p_value(count, risk, level) for count in counts]
        )

    def failure_test(self, sums, n_samples, rate, delta, units=ROWS):
        """Return the p-value of a prefix: the mean capital of several gamblers.

        The capital of each is multiplied by 1 + stake * (rate - loss) at each sample,
        and so does not grow on average where the mean loss is at least the rate. The
        chance that the mean of all reaches c is at most 1 / c (Markov). The stakes are
        fixed beforehand, as those that learn from the losses so far would make p-values
        that may fall with a loss: for losses of any variance, the smallest stake for
        losses of 0 and 1.
        """
        losses, largest = np.diff(sums), self.failure_stake / (1 - rate)
        before = units.before(losses)
        smallest = math.sqrt(-math.log(delta) / (2 * n_samples * (rate * (1 - rate))))
        stakes = np.geomspace(min(smallest, largest), largest, self.n_stakes)
        # What a loss takes off the logarithm of each capital, and what none leaves.
        taken = [
            prefix_sums(np.log1p(x * (before + losses)) - np.log1p(x * before))
            for x in -stakes / (1 + stakes * rate)
        ]
        logs = n_samples * np.log1p(stakes * rate) - math.log(len(stakes))

        def p_value(count):
            total = np.logaddexp.reduce(logs + [sums[count] for sums in taken])
            return math.exp(min(0.0, -total))

        return p_value


class Conformal(_Bound):
    """On average, without a confidence: the new sample may lose as much as any can."""

    name = "conformal"

    def lowest_rate(self, n_samples, delta):
        """Return the smallest rate that samples without any loss can promise."""
        return 1 / (n_samples + 1)

    def fewest_of_rate(self, rate, delta):
        """Return how many samples without any loss can promise a rate."""
        return math.ceil((1 / rate) * (1 - RELATIVE_TOLERANCE)) - 1


BOUNDS = {bound.name: bound() for bound in (Binomial, HoeffdingBentkus, Betting)}
# Of sums of losses, and with an upper bound.
BOUNDS_OF_SUMS = {name: bound for name, bound in BOUNDS.items() if bound.upper}
