"""Intervals of counts and of the precision at given thresholds."""

import numpy as np
from scipy.stats import beta, chi2

from sklearn_reject.thresholds._documents import predict_positive


def count_intervals(parts, thresholds, confidence_level=0.95):
    """Return intervals of FP, TP and the precision at given thresholds.

    Each part of the documents has its own thresholds; counts are sums over all parts.
    Intervals of counts cover the expected count of a sample of this size. The precision
    is NaN if nothing is predicted positive.
    """
    labels, weights = [], []
    for part, own in zip(parts, thresholds, strict=True):
        chosen = predict_positive(part.scores, own, part.rule)
        weight = np.ones(len(chosen)) if part.weight is None else part.weight
        labels.append(part.is_positive[chosen])
        weights.append(weight[chosen])
    is_positive, weight = np.concatenate(labels), np.concatenate(weights)
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    smallest, largest = _weight_range(parts)
    counts = []
    for of_class in (weight[~is_positive], weight[is_positive]):
        if smallest == largest:
            n_given = sum(part.n_given for part in parts)
            shares = binomial_interval(len(of_class), n_given, tails)
            interval = [n_given * largest * share for share in shares]
        else:
            interval = weighted_interval(of_class, largest, tails)
        counts.append(tuple(map(float, interval)))
    return (*counts, precision_interval(is_positive, weight, largest, tails))


def _weight_range(parts):
    """Return the least and the largest weight of a document that may be predicted.

    Those that a draw has left out are as possible as those that it has taken.
    """
    weights = [np.ones(1) if part.weight is None else part.weight for part in parts]
    weights += [
        part.drawable_weight for part in parts if part.drawable_weight is not None
    ]
    weights = [weight[weight > 0] for weight in weights]
    weights = [weight for weight in weights if len(weight)]
    if not weights:
        return 1.0, 1.0
    return min(w.min() for w in weights), max(w.max() for w in weights)


def binomial_interval(successes, n, tails):
    """Return the bounds of Clopper and Pearson of a share; numbers may be broken."""
    failures = n - successes
    low = beta.ppf(tails[0], successes, failures + 1) if successes else 0.0
    high = beta.ppf(tails[1], successes + 1, failures) if failures > 0 else 1.0
    return float(low), float(high)


def weighted_interval(weight, largest, tails):
    """Return the bounds of the expected sum of a Poisson number of weights.

    Those of M. P. Fay and E. J. Feuer (1997), from gamma distributions of the mean and
    variance of the sum, for the upper bound with one more document of the largest
    weight. Where all weights are equal they are the exact ones of F. Garwood (1936).
    """
    unit = weight / largest  # whose squares stay far from what float64 holds
    total, squares = unit.sum(), np.sum(unit**2)
    low = _gamma_quantile(tails[0], total, squares) if total else 0.0
    high = _gamma_quantile(tails[1], total + 1, squares + 1)
    return largest * low, largest * high


def _gamma_quantile(level, mean, variance):
    """Return a quantile of the gamma distribution of this mean and variance."""
    return variance / (2 * mean) * chi2.ppf(level, 2 * mean**2 / variance)


def precision_interval(is_positive, weight, largest, tails):
    """Return the bounds of Clopper and Pearson of what is predicted positive.

    Each bound with one more document of the largest weight and of the class that is
    against it: with equal weights that is what they are.
    """
    if not len(weight):
        return float("nan"), float("nan")
    unit = weight / largest
    squares = np.sum(unit**2) + 1
    bounds = []
    for own, tail in ((is_positive, tails[0]), (~is_positive, 1 - tails[1])):
        # Weights that differ say less than their number: as much as the square of their
        # sum over the sum of their squares (L. Kish, 1965).
        known, against = unit[own].sum(), unit[~own].sum() + 1
        scale = (known + against) / squares
        bound = beta.ppf(tail, scale * known, scale * against) if known else 0.0
        bounds.append(float(bound))
    return bounds[0], 1 - bounds[1]
