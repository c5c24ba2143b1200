"""Tests of a bound on what all samples together lose, over the prefixes of a sample.

The loss of a sample that is not accepted is zero here, so that every prefix is judged
by all n samples, and a longer one loses more. Each p-value rises with each loss and
takes them in no order: then it rises with the prefix, and a bisection finds the longest
one that passes.
"""

import math

import numpy as np

from sklearn_reject._curves import running_sum
from sklearn_reject.selection._bounds import (
    binomial_p_values,
    hoeffding_bentkus_p_values,
)

# Half as many stakes, or four times as many, change the coverage by less than .005.
_N_STAKES = 8

# Of the stake that a single loss of 1 ruins.
_LARGEST_STAKE = 0.95

_ROUNDING = 1e-12


class _OfSums:
    """A bound that knows the sum of the losses only."""

    is_binary = False

    def tests(self, losses, rate, delta):
        """Return the p-value of a prefix as a function of its length."""
        sums = np.append(0.0, running_sum(losses))
        return self.tests_of_sums(sums, len(losses), rate)

    def tests_of_sums(self, sums, n_samples, rate):
        """Return the p-value of a prefix as a function of the index of its sum."""
        size = np.array([n_samples])
        return lambda index: float(self._p_values(size, sums[[index]], rate)[0])

    def lowest_rate(self, n_samples, delta):
        """Return the smallest rate that samples without any loss can certify."""
        return -math.expm1(math.log(delta) / n_samples)

    def fewest(self, rate, delta):
        """Return how many samples without any loss can certify a rate."""
        return _round_up(math.log(delta) / math.log1p(-rate))


class FailureBinomial(_OfSums):
    """Exact, for losses that are 0 or 1."""

    name = "binomial"
    is_binary = True
    _p_values = staticmethod(binomial_p_values)


class FailureHoeffdingBentkus(_OfSums):
    """For losses in [0, 1]."""

    name = "hoeffding_bentkus"
    _p_values = staticmethod(hoeffding_bentkus_p_values)


class FailureBetting:
    """For losses in [0, 1]: the mean capital of gamblers with stakes of their own.

    The capital of each is multiplied by 1 + stake * (rate - loss) at each sample, and
    so does not grow on average where the mean loss is at least the rate. The chance
    that the mean of all reaches c is at most 1 / c (Markov). The stakes are fixed
    beforehand, as those that learn from the losses so far would make p-values that may
    fall with a loss.
    """

    name = "betting"
    is_binary = False

    def tests(self, losses, rate, delta):
        """Return the p-value of a prefix as a function of its length."""
        stakes = _stakes(len(losses), rate, delta)
        # What a loss takes off the logarithm of each capital, and what none leaves.
        taken = [
            np.append(0.0, running_sum(np.log1p(-stake * losses / (1 + stake * rate))))
            for stake in stakes
        ]
        logs = len(losses) * np.log1p(stakes * rate) - math.log(len(stakes))

        def p_value(count):
            grown = logs + [sums[count] for sums in taken]
            largest = grown.max()
            total = largest + math.log(np.exp(grown - largest).sum())
            return math.exp(min(0.0, -total))

        return p_value

    def lowest_rate(self, n_samples, delta):
        """Return about the smallest rate that samples without any loss can certify."""
        growth = math.expm1(math.log(_N_STAKES / delta) / n_samples)
        return growth / (_LARGEST_STAKE + growth)

    def fewest(self, rate, delta):
        """Return about how many samples without any loss can certify a rate."""
        growth = math.log1p(_LARGEST_STAKE * rate / (1 - rate))
        return _round_up(math.log(_N_STAKES / delta) / growth)


def _stakes(n_samples, rate, delta):
    """Return stakes for losses of any variance, the smallest for losses of 0 and 1."""
    largest = _LARGEST_STAKE / (1 - rate)
    variance = rate * (1 - rate)
    smallest = math.sqrt(-math.log(delta) / (2 * n_samples * variance))
    return np.geomspace(min(smallest, largest), largest, _N_STAKES)


def _round_up(value):
    return max(1, math.ceil(value * (1 - _ROUNDING)))


FAILURE_BOUNDS = {
    bound.name: bound()
    for bound in (FailureBinomial, FailureHoeffdingBentkus, FailureBetting)
}


def find_longest(p_value, counts, level):
    """Return the largest of increasing counts that passes, None if none does."""
    low, high = -1, len(counts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if p_value(int(counts[middle])) <= level:
            low = middle
        else:
            high = middle - 1
    return None if low < 0 else int(counts[low])
