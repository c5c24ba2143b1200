"""An operating point, and how reliable it is."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import ridder
from scipy.stats import beta, binom
from sklearn.utils import check_random_state

from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    round_down,
    round_up,
    warn_user,
)
from sklearn_reject.thresholds._documents import check_columns, predict_positive

# Slopes and targets that differ by no more than rounding are equal.
RELATIVE_TOLERANCE = 1e-12

# Products of slopes up to here and sums of weights stay far from what float64 holds.
_LARGEST_SLOPE = 1e100

_TO_DERIVATIVE = {
    "target_derivative": float,
    "marginal_precision": lambda precision: precision / (1 - precision),
    # A price of next to nothing has no finite reciprocal.
    "max_fp_per_tp": lambda price: 1 / max(price, 1e-300),
}

# What rounding of sums of weights may come to, relative to the total.
_ROUNDING = 1e-11

# Wider than rounding and Ridders' tolerance, as a share of the documents.
_SAME_PLACE = 1e-9

_N_DRAWS = 2000

# Documents that are drawn at a time.
_LARGEST_CHUNK = 1 << 20

SMOOTHINGS = ("concave", "isotonic")


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """Joint thresholds for a target, and what they attain.

    Attributes
    ----------
    thresholds : ndarray of shape (n_classifiers,)
        One threshold a classifier, infinite where one never predicts anything.

    rule : {"any", "all"}
        How the classifiers decide together.

    fp, tp : float
        False and true positives on the documents that tuned the thresholds, counts or
        sums of weights.

    target_derivative : float
        Target slope dTP/dFP.

    vertex : int
        Number of the vertex on the path that has these thresholds.

    fp_interval, tp_interval : tuple of float
        Interval of the counts by the bootstrap, with the thresholds fixed: how far they
        vary among samples of as many documents.

    precision_interval : tuple of float
        Bounds of the precision by Clopper and Pearson; approximate, from an effective
        number of documents, where weights differ. NaN if nothing is predicted positive.
        As the same documents tuned the thresholds, the truth is rather in the lower
        part; cross-validation shows it.

    confidence_level : float
        Coverage of each interval.

    Examples
    --------
    >>> from sklearn_reject.thresholds import operating_point
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> point = operating_point(scores, [1, 1, 0, 0, 0], marginal_precision=0.5)
    >>> point.thresholds, point.fp, point.tp, point.precision
    (array([0.75, 0.65]), 0.0, 2.0, 1.0)
    >>> point.predict([[0.95, 0.1], [0.5, 0.5]])
    array([ True, False])
    """

    thresholds: np.ndarray
    rule: str
    fp: float
    tp: float
    target_derivative: float
    vertex: int
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    confidence_level: float

    @property
    def precision(self):
        """Share of true positives among what is predicted, NaN if nothing is."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float("nan")

    @property
    def marginal_precision(self):
        """The target as a share of true positives among the last predicted."""
        return precision_at(self.target_derivative)

    @property
    def max_fp_per_tp(self):
        """The target as false positives for one more true positive."""
        return 1 / self.target_derivative

    def predict(self, scores):
        """Tell which documents are predicted positive.

        Parameters
        ----------
        scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
            Finite scores, higher = more likely positive. A vector is one classifier.

        Returns
        -------
        is_predicted : ndarray of shape (n_documents,), dtype bool
            The predictions.

        Raises
        ------
        ValueError
            If there is not one column for each classifier, or a score is not finite.
        """
        scores = check_columns(scores, len(self.thresholds))
        return predict_positive(scores, self.thresholds, self.rule)


def make_point(
    documents, derivative, path, vertex, confidence_level=0.95, random_state=None
):
    """Return the operating point at a vertex of a path.

    Warns if all rated positives are predicted, although not all documents were rated.
    """
    thresholds = path.thresholds[vertex]
    is_partial = len(documents.rows) < documents.n_given
    if is_partial and path.tp[vertex] == path.tp[0]:
        warn_user(
            "At the operating point all rated positives are predicted positive. Lower "
            f"thresholds than {path.thresholds[0].tolist()} might meet the target, "
            "too, but ratings are incomplete below. Rate more documents, or ask for a "
            "larger derivative.",
        )
    intervals = count_intervals(
        [documents], [thresholds], confidence_level, random_state
    )
    return OperatingPoint(
        thresholds,
        path.rule,
        float(path.fp[vertex]),
        float(path.tp[vertex]),
        float(derivative),
        int(vertex),
        *intervals,
        confidence_level,
    )


def resolve_target(target_derivative=None, marginal_precision=None, max_fp_per_tp=None):
    """Return the target slope of the PN curve, between 1e-100 and 1e100.

    The three parameters are names of one number; exactly one must be given.
    """
    given = {
        "target_derivative": target_derivative,
        "marginal_precision": marginal_precision,
        "max_fp_per_tp": max_fp_per_tp,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) != 1:
        raise ValueError(
            "Exactly one of target_derivative, marginal_precision and max_fp_per_tp "
            f"must be given: they are three names of one number. Got {given or 'none'}."
        )
    (name, value), *_ = given.items()
    high = 1 if name == "marginal_precision" else np.inf
    value = check_number(value, name, high=high, open_low=True, open_high=True)
    derivative = _TO_DERIVATIVE[name](value)
    if not 1 / _LARGEST_SLOPE <= derivative <= _LARGEST_SLOPE:
        raise ValueError(
            f"{name}={value!r} is a slope dTP/dFP of {derivative:g}. It must be "
            f"between {1 / _LARGEST_SLOPE:g} and {_LARGEST_SLOPE:g}, or its products "
            "with counts may overflow."
        )
    return derivative


def check_attainable(derivative, lowest, highest):
    """Raise unless a target is within the slopes that a curve attains.

    The lowest is that where everything down to the lowest thresholds is predicted
    positive, the highest that where next to nothing is.
    """
    if derivative < lowest * (1 - RELATIVE_TOLERANCE):
        reason = (
            "Below it, all documents down to the lowest thresholds would be predicted "
            "positive, and nothing is known of those further down. Ask for a larger "
            "derivative, or rate more documents."
        )
    elif derivative > highest * (1 + RELATIVE_TOLERANCE):
        reason = (
            "Above it, no document would be predicted positive. Ask for a smaller "
            "derivative, or use scores that rank more positives first."
        )
    else:
        return
    # What can be met, in each of the three names.
    ends = lowest, highest
    precisions = [end if np.isinf(end) else precision_at(end) for end in ends]
    prices = [np.inf if end == 0 else 1 / end for end in reversed(ends)]
    raise InfeasibleTargetError(
        f"target_derivative={derivative:.6g} (marginal_precision="
        f"{derivative / (1 + derivative):.6g}, max_fp_per_tp={1 / derivative:.6g}) "
        "cannot be met on these documents: target_derivative can be "
        f"{_interval(*ends)}; this is a marginal_precision of "
        f"{_interval(*precisions)}, or a max_fp_per_tp of {_interval(*prices)}. "
        f"{reason}",
        attainable={"min_derivative": lowest, "max_derivative": highest},
    )


def precision_at(slope):
    """Return the marginal precision at a slope dTP/dFP, which may be infinite."""
    return 1.0 if np.isinf(slope) else float(slope / (1 + slope))


def _interval(low, high):
    """Describe an interval, rounded such that what it names is inside."""
    if high == np.inf:
        return f"at least {round_up(low)}"
    if low == 0:
        return f"at most {round_down(high)}"
    texts = round_up(low), round_down(high)
    if float(texts[0]) > float(texts[1]):
        texts = repr(float(low)), repr(float(high))
    return f"{texts[0]} to {texts[1]}"


def point_on_path(path, derivative, smoothing="concave"):
    """Find the vertex of a path at which one more false positive just pays.

    Of vertices with equal counts it is the one of the highest thresholds.
    """
    # The curve of a path is a step function, and its raw slopes are noise. The slopes
    # that count are those of its concave majorant, which are the isotonic regression of
    # the labels in the order of the path. They replace steps 7 and 8 of the analytic
    # approach in RZMR20, where a derivative is estimated from differences.
    vertices, slopes, rounding = _find_segments(path)
    check_attainable(derivative, float(slopes[0]), float(slopes[-1]))
    if smoothing == "isotonic":
        return _nearest_to_interpolated(path, vertices, slopes, derivative)
    # It maximises TP - FP * derivative. At a slope that equals the target, true
    # positives are worth their price.
    return int(vertices[np.sum(slopes < derivative * (1 - rounding))])


def _find_segments(path):
    """Return the vertices between segments of the majorant, and the slopes of these.

    The last array has by how much, relatively, each slope may be off.
    """
    vertices = path.majorant
    slopes, rounding = _slopes_between(path, vertices)
    if path.is_rounded:
        # Sums of weights part what would be one segment in counts.
        is_new = slopes[1:] * (1 - rounding[1:]) > slopes[:-1] * (1 + rounding[:-1])
        vertices = vertices[np.concatenate([[True], is_new, [True]])]
        slopes, rounding = _slopes_between(path, vertices)
    return vertices, slopes, rounding


def _slopes_between(path, vertices):
    up, right = -np.diff(path.tp[vertices]), -np.diff(path.fp[vertices])
    slopes = np.divide(up, right, out=np.full(len(up), np.inf), where=right > 0)
    rounding = np.full(len(up), RELATIVE_TOLERANCE)
    if path.is_rounded:
        # Sums of many weights are off by a share of the total. Nothing is if it is not
        # between the two vertices.
        both = (up > 0) & (right > 0)
        parts = path.tp[0] / up[both] + path.fp[0] / right[both]
        rounding[both] = np.minimum(rounding[both] + _ROUNDING * parts, 0.5)
    return slopes, rounding


def _nearest_to_interpolated(path, vertices, slopes, derivative):
    """Return the vertex nearest to where the interpolated slope meets the target.

    Of two that are equally near the lower one; it need not be on the majorant.
    """
    # The precision dTP / (dTP + dFP) of each segment of the majorant belongs to its
    # middle and is interpolated between, in the number of documents predicted positive.
    position = (path.fp + path.tp) / (path.fp[0] + path.tp[0])
    ends = position[vertices[::-1]]
    middles = (ends[:-1] + ends[1:]) / 2
    precisions = np.array([precision_at(slope) for slope in slopes[::-1]])
    wanted = np.clip(precision_at(derivative), precisions[-1], precisions[0])
    found = middles[0]
    if len(precisions) > 1:
        found = ridder(
            lambda x: np.interp(x, middles, precisions) - wanted, found, middles[-1]
        )
    distance = np.abs(position - found)
    # Rounding must not decide between two that are equally near.
    nearest = np.flatnonzero(distance <= distance.min() + _SAME_PLACE)
    return int(nearest[position[nearest] == position[nearest[0]]][-1])


def count_intervals(parts, thresholds, confidence_level=0.95, random_state=None):
    """Return intervals of FP, TP and the precision at given thresholds.

    Each part of the documents has its own thresholds; counts are sums over all parts.
    The precision is NaN if nothing is predicted positive.
    """
    # The bootstrap draws as many documents as were given, with replacement. Where all
    # weigh the same, the number of true positives among them is binomial, and so is
    # that of false positives: their quantiles are exact and need no drawing. Otherwise
    # weights are drawn. The precision has the bounds of Clopper and Pearson.
    labels, weights = [], []
    for part, own in zip(parts, thresholds, strict=True):
        chosen = predict_positive(part.scores, own, part.rule)
        weight = np.ones(len(chosen)) if part.weight is None else part.weight
        labels.append(part.is_positive[chosen])
        weights.append(weight[chosen])
    is_positive, weight = np.concatenate(labels), np.concatenate(weights)
    n_given = sum(part.n_given for part in parts)
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    if len(np.unique(weight)) <= 1:
        unit = weight[0] if len(weight) else 1.0
        chances = np.array([np.sum(~is_positive), np.sum(is_positive)]) / n_given
        counts = unit * binom.ppf(tails, n_given, chances[:, np.newaxis])
    else:
        draws = _draw(is_positive, weight, n_given, check_random_state(random_state))
        counts = np.quantile(draws, tails, axis=1).T
    precision = _precision_interval(is_positive, weight, tails)
    return (*map(tuple, counts.tolist()), precision)


def _precision_interval(is_positive, weight, tails):
    """Return the bounds of Clopper and Pearson of what is predicted positive."""
    if not len(weight):
        return float("nan"), float("nan")
    # Weights that differ say less than their number: as much as the square of their sum
    # over the sum of their squares (L. Kish, 1965).
    n_effective = weight.sum() ** 2 / np.sum(weight**2)
    precision = weight[is_positive].sum() / weight.sum()
    fp, tp = n_effective * (1 - precision), n_effective * precision
    low = beta.ppf(tails[0], tp, fp + 1) if tp else 0.0
    high = beta.ppf(tails[1], tp + 1, fp) if fp else 1.0
    return float(low), float(high)


def _draw(is_positive, weight, n_given, random_state):
    """Return false and true positives of samples drawn with replacement."""
    # Only how often documents predicted positive are drawn matters: a binomial number
    # of draws falls on them, each on any of them.
    sizes = random_state.binomial(n_given, len(weight) / n_given, _N_DRAWS)
    n_chunks = 1 + int(sizes.sum()) // _LARGEST_CHUNK
    columns = np.where(is_positive, 0, weight), np.where(is_positive, weight, 0)
    sums = []
    for chunk in np.array_split(sizes, min(n_chunks, _N_DRAWS)):
        drawn = random_state.randint(len(weight), size=chunk.sum())
        sample = np.repeat(np.arange(len(chunk)), chunk)
        sums.append([np.bincount(sample, w[drawn], len(chunk)) for w in columns])
    return np.concatenate(sums, axis=1)
