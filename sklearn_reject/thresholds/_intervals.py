"""Intervals of counts and of the precision at given thresholds."""

from functools import reduce
from operator import add

import numpy as np
from scipy.stats import beta, chi2


def count_intervals(parts, thresholds, confidence_level=0.95):
    """Return intervals of FP, TP and the precision at given thresholds.

    Each part of the documents has its own thresholds; counts are sums over all parts.
    """
    pairs = zip(parts, thresholds, strict=True)
    evidence = reduce(add, (part.evidence_at(own) for part, own in pairs))
    return intervals_of(evidence, confidence_level)


def intervals_of(evidence, confidence_level=0.95):
    """Return intervals of FP, TP and the precision from what is predicted positive.

    Intervals of counts cover the expected count of a sample of this size. The precision
    is NaN if nothing is predicted positive.
    """
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    smallest, largest = evidence.weight_range
    if not largest:  # no document could be predicted
        smallest = largest = 1.0
    # In units of the largest weight, whose squares stay far from what float64 holds.
    totals, squares = evidence.counts / largest, evidence.squares / largest / largest
    counts = []
    for total, square in zip(totals, squares, strict=True):
        if smallest == largest:
            n_given = evidence.n_given
            shares = binomial_interval(np.rint(total), n_given, tails)
            interval = [n_given * largest * share for share in shares]
        else:
            interval = [largest * x for x in weighted_interval(total, square, tails)]
        counts.append(tuple(map(float, interval)))
    return (*counts, precision_interval(*totals, squares.sum(), tails))


def binomial_interval(successes, n, tails):
    """Return the bounds of Clopper and Pearson of a share; numbers may be broken."""
    failures = n - successes
    low = beta.ppf(tails[0], successes, failures + 1) if successes else 0.0
    high = beta.ppf(tails[1], successes + 1, failures) if failures > 0 else 1.0
    return float(low), float(high)


def weighted_interval(total, squares, tails):
    """Return the bounds of the expected sum of a Poisson number of weights.

    Those of M. P. Fay and E. J. Feuer (1997), from gamma distributions of the mean and
    variance of the sum, for the upper bound with one more document of the largest
    weight. Where all weights are equal they are the exact ones of F. Garwood (1936).
    The sums of the weights, and of their squares, are in units of the largest.
    """
    low = _gamma_quantile(tails[0], total, squares) if total else 0.0
    return low, _gamma_quantile(tails[1], total + 1, squares + 1)


def _gamma_quantile(level, mean, variance):
    """Return a quantile of the gamma distribution of this mean and variance."""
    return variance / (2 * mean) * chi2.ppf(level, 2 * mean**2 / variance)


def precision_interval(fp, tp, squares, tails):
    """Return the bounds of Clopper and Pearson of what is predicted positive.

    Each bound with one more document of the largest weight and of the class that is
    against it: with equal weights that is what they are. The sums of the weights, and
    of their squares, are in units of the largest.
    """
    if not fp + tp:
        return float("nan"), float("nan")
    bounds = []
    for own, other, tail in ((tp, fp, tails[0]), (fp, tp, 1 - tails[1])):
        # Weights that differ say less than their number: as much as the square of their
        # sum over the sum of their squares (L. Kish, 1965).
        known, against = own, other + 1
        scale = (known + against) / (squares + 1)
        bound = beta.ppf(tail, scale * known, scale * against) if known else 0.0
        bounds.append(float(bound))
    return bounds[0], 1 - bounds[1]
