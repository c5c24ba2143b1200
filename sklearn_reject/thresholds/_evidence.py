"""What is known of documents, in sums that add up over parts, and its intervals."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, chi2


@dataclass(frozen=True, eq=False)
class Census:
    """What is known of documents, whatever the thresholds."""

    #: Number of documents that were given, but for rated ones of weight zero.
    n_given: int
    #: Weight of all rated positives, and of those that no thresholds reach, however
    #: low, as a classifier did not run.
    total_positive: float
    unreachable_positive: float
    #: The least and the largest weight among those that may be predicted, drawn or not:
    #: infinity and zero where there are none.
    weight_range: tuple
    #: Whether nothing is unrated but where a sample was rated.
    is_complete: bool
    #: Whether weights of zero leave out positives, too.
    leaves_out_positives: bool
    #: The positive class, None where nothing tells which it is.
    pos_label: object = None

    def __add__(self, other):
        (low, high), (lower, higher) = self.weight_range, other.weight_range
        return Census(
            self.n_given + other.n_given,
            self.total_positive + other.total_positive,
            self.unreachable_positive + other.unreachable_positive,
            (min(low, lower), max(high, higher)),
            self.is_complete and other.is_complete,
            self.leaves_out_positives or other.leaves_out_positives,
            self.pos_label if other.pos_label is None else other.pos_label,
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Documents that given thresholds predict positive, as far as intervals need them.

    Arrays have shape (2,), for false and for true positives.
    """

    #: Sums of the weights, and of their squares.
    counts: np.ndarray
    squares: np.ndarray
    #: Number of documents that these are made of; of others, which do not count, and
    #: of those of weight zero among these.
    n_counted: int
    n_others: int
    n_weightless: int
    census: Census

    def __add__(self, other):
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Evidence(*(one + two for one, two in pairs))

    def describe(self, confidence_level):
        """Return counts and their intervals, by name."""
        fp, tp = map(float, self.counts)
        n_predicted = self.n_counted + self.n_others
        nothing = float("nan")
        names = "fp_interval", "tp_interval", "precision_interval"
        return {
            "fp": fp,
            "tp": tp,
            "n_predicted": n_predicted,
            "rated_share": self.n_counted / n_predicted if n_predicted else nothing,
            **dict(zip(names, self._intervals(confidence_level), strict=True)),
        }

    def _intervals(self, confidence_level):
        """Return intervals of FP, TP and the precision.

        Those of counts cover the expected count of a sample of this size. The precision
        is NaN if nothing is predicted positive.
        """
        tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
        smallest, largest = self.census.weight_range
        if not largest:  # no document could be predicted
            smallest = largest = 1.0
        # In units of the largest weight, whose squares stay far from what float64
        # holds.
        totals, squares = self.counts / largest, self.squares / largest / largest
        if smallest == largest:
            n = self.census.n_given
            counts = [
                (n * largest * share for share in _share_interval(np.rint(k), n, tails))
                for k in totals
            ]
        else:
            pairs = zip(totals, squares, strict=True)
            counts = [
                (largest * bound for bound in _weighted_interval(*pair, tails))
                for pair in pairs
            ]
        fp, tp = (tuple(map(float, bounds)) for bounds in counts)
        return fp, tp, _precision_interval(*totals, squares.sum(), tails)


def _share_interval(successes, n, tails):
    """Return the bounds of Clopper and Pearson of a share; numbers may be broken."""
    failures = n - successes
    low = beta.ppf(tails[0], successes, failures + 1) if successes else 0.0
    high = beta.ppf(tails[1], successes + 1, failures) if failures > 0 else 1.0
    return float(low), float(high)


def _weighted_interval(total, squares, tails):
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


def _precision_interval(fp, tp, squares, tails):
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
