"""Tests of a bound on a mean: p-values and the fewest samples that could show it."""

import math

import numpy as np
from scipy.stats import binom

# Share of the largest stake that cannot ruin: a bet of everything loses everything.
_LARGEST_STAKE = 0.75


# Quotients of logarithms miss whole numbers by a few ulp.
_ROUNDING = 1e-12


_MOST_SAMPLES = 2**53


def binomial_p_values(n_accepted, loss_sums, risk):
    """Return the exact p-values of losses that are 0 or 1.

    The number of errors is binomial: the p-value is the chance of as few of them.

    Parameters
    ----------
    n_accepted : ndarray of shape (n_hypotheses,), dtype int
        Number of accepted samples. Without any, the p-value is 1.

    loss_sums : ndarray of shape (n_hypotheses,)
        Number of errors among them.

    risk : float
        The bound, in ]0, 1[.

    Returns
    -------
    p_values : ndarray of shape (n_hypotheses,)
        In [0, 1].
    """
    p_values = np.ones(len(n_accepted))
    some = n_accepted > 0
    p_values[some] = binom.cdf(loss_sums[some], n_accepted[some], risk)
    return p_values


def hoeffding_bentkus_p_values(n_accepted, loss_sums, risk):
    """Return the Hoeffding-Bentkus p-values of losses in [0, 1].

    The smaller of two bounds on the chance of as small a sum: exp(-m kl) with the
    relative entropy kl of the mean loss and the bound, and e times the binomial tail
    (Bates et al. 2021, proposition 1).

    Parameters
    ----------
    n_accepted : ndarray of shape (n_hypotheses,), dtype int
        Number of accepted samples. Without any, the p-value is 1.

    loss_sums : ndarray of shape (n_hypotheses,)
        Sum of their losses.

    risk : float
        The bound, in ]0, 1[.

    Returns
    -------
    p_values : ndarray of shape (n_hypotheses,)
        In [0, 1].

    References
    ----------
    Bates, Angelopoulos, Lei, Malik, Jordan, "Distribution-free, risk-controlling
    prediction sets", Journal of the ACM 68(6), 2021.
    """
    p_values = np.ones(len(n_accepted))
    below = loss_sums < risk * n_accepted
    count, total = n_accepted[below], loss_sums[below]
    hoeffding = np.exp(-count * _relative_entropy(total / count, risk))
    bentkus = math.e * binom.cdf(np.ceil(total), count, risk)
    p_values[below] = np.minimum(hoeffding, bentkus)
    return p_values


def _relative_entropy(mean, risk):
    """Return the relative entropy of two coins, for means below the risk."""
    tails = (1 - mean) * np.log((1 - mean) / (1 - risk))
    heads = mean * np.log(np.where(mean > 0, mean, 1.0) / risk)
    return tails + np.where(mean > 0, heads, 0.0)


def betting_p_value(losses, risk, level):
    """Return the p-value of a gambler who bets on losses below the bound.

    The capital starts at 1 and is multiplied by 1 + stake * (risk - loss) at each
    sample. It cannot grow on average if the mean loss is above the bound, so that it
    ever reaches c with a probability of at most 1 / c (Ville). The stakes are those of
    the predictable plug-in: large where the losses so far vary little.

    Parameters
    ----------
    losses : ndarray of shape (n_accepted,)
        Losses in [0, 1], in an order that does not depend on them: never that of the
        scores, in which the first are the best.

    risk : float
        The bound, in ]0, 1[.

    level : float
        P-value that the stakes are made for, in ]0, 1[. Valid whatever it is.

    Returns
    -------
    p_value : float
        In [0, 1].

    References
    ----------
    Waudby-Smith, Ramdas, "Estimating means of bounded random variables by betting",
    Journal of the Royal Statistical Society B 86(1), 2024.
    """
    if len(losses) == 0:
        return 1.0
    stakes = np.sqrt(-2 * math.log(level) / len(losses) / _variances(losses, risk))
    np.minimum(stakes, _LARGEST_STAKE / (1 - risk), out=stakes)
    growth = np.cumsum(np.log1p(stakes * (risk - losses)))
    return math.exp(-max(0.0, float(growth.max())))


def _variances(losses, risk):
    """Return the variance of the losses before each, after one imagined at the risk."""
    count = np.arange(1, len(losses) + 1)
    means = (risk + np.cumsum(losses)) / (count + 1)
    squares = np.cumsum((losses - means) ** 2)
    variances = np.empty(len(losses))
    variances[0] = risk * (1 - risk)
    variances[1:] = (variances[0] + squares[:-1]) / count[1:]
    return variances


def fewest_to_pass(bound, risk, level):
    """Return the number of samples below which no p-value reaches a level.

    Parameters
    ----------
    bound : {"binomial", "hoeffding_bentkus", "betting"}
        Where the p-values come from.

    risk : float
        The bound on the mean loss, in ]0, 1[.

    level : float
        Level of the test, in ]0, 1[.

    Returns
    -------
    n_accepted : int
        As many samples without any loss pass, or nearly so for bets.
    """
    stake = _LARGEST_STAKE if bound == "betting" else 1.0
    # Without any loss, a p-value shrinks by this factor a sample: 1 - risk for stake 1.
    rate = math.log1p(stake * risk / (1 - risk))
    if rate == 0:
        return _MOST_SAMPLES
    fewest = -math.log(level) / rate * (1 - _ROUNDING)
    return max(1, math.ceil(min(fewest, _MOST_SAMPLES)))
