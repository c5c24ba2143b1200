"""Documents, and their counts at all thresholds and on all paths; slow and exact."""

from fractions import Fraction
from itertools import pairwise, product
from math import inf, isnan

import numpy as np
from hypothesis import strategies as st

from sklearn_reject.thresholds import pn_table

DECIDE = {"any": any, "all": all}


@st.composite
def samples(draw, max_classifiers=3, max_documents=10, weights=True, missing=True):
    """Draw arguments of the public functions: few distinct scores, partly rated."""
    n_classifiers = draw(st.integers(1, max_classifiers))
    n_documents = draw(st.integers(0, max_documents))
    highest = draw(st.sampled_from([1, 3, 8]))
    score = st.integers(0, highest).map(float)
    if missing:
        score = st.one_of(score, st.just(np.nan))

    def column(values, size=n_documents):
        return draw(st.lists(values, min_size=size, max_size=size))

    rows = column(st.lists(score, min_size=n_classifiers, max_size=n_classifiers))
    # Both classes are known above all others, and no classifier is constant.
    ends = [[highest + 1.0] * n_classifiers] * 2 + [[0.0] * n_classifiers]
    y = [*column(st.sampled_from([0, 1, 1, 0, -1])), 1, 0, draw(st.integers(0, 1))]
    sample = {
        "scores": np.array([*rows, *ends]) / 4,
        "y": np.array(y),
        "rule": draw(st.sampled_from(["any", "all"])),
    }
    if weights and draw(st.booleans()):
        weight = [*column(st.integers(0, 8)), 4, 4, 1]
        sample["sample_weight"] = np.array(weight) / 4
    if draw(st.booleans()):
        chance = [*column(st.sampled_from([0.25, 0.5, 1.0])), 1.0, 1.0, 0.5]
        sample["inclusion_proba"] = np.array(chance)
    return sample


class Counted:
    """What thresholds predict, document by document."""

    def __init__(self, scores, y, rule="any", sample_weight=None, inclusion_proba=None):
        n = len(y)
        weight = np.ones(n) if sample_weight is None else sample_weight
        chance = np.ones(n) if inclusion_proba is None else inclusion_proba
        chance = np.broadcast_to(np.nan_to_num(chance, nan=1.0), n)
        self.rows = np.asarray(scores, dtype=float).reshape(n, -1).tolist()
        self.y, self.decide = list(y), DECIDE[rule]
        pairs = zip(np.asarray(weight).tolist(), chance.tolist(), strict=True)
        self.weight = [Fraction(w) / Fraction(c) for w, c in pairs]
        self.total = sum(np.array(self.weight)[np.asarray(y) == 1], Fraction(0))
        options = {"sample_weight": sample_weight, "inclusion_proba": inclusion_proba}
        table = pn_table(scores, y, rule=rule, n_thresholds=2, **options)
        self.base = [float(values[0]) for values in table.thresholds]

    def predict(self, thresholds):
        thresholds = list(thresholds)
        return [
            self.decide(s >= t for s, t in zip(row, thresholds, strict=True))
            for row in self.rows
        ]

    def count(self, thresholds):
        """Return false and true positives, and the number of all predicted."""
        predicted = self.predict(thresholds)
        counts = {0: Fraction(0), 1: Fraction(0), -1: 0}
        for is_in, rating, weight in zip(predicted, self.y, self.weight, strict=True):
            counts[rating] += weight * is_in
        return counts[0], counts[1], sum(predicted)

    def all_points(self):
        """Return the counts at all combinations of scores, from the lowest on."""
        columns = zip(*self.rows, strict=True)
        choices = [
            sorted({s for s in column if not isnan(s) and s >= base} | {base, inf})
            for column, base in zip(columns, self.base, strict=True)
        ]
        return {self.count(thresholds) for thresholds in product(*choices)}


def best_points(target, points, total):
    """Return the counts that are best for a target, a set of fp and tp; or the limit.

    The limit is what the target could be met for, where it cannot.
    """
    [(name, value)] = target.items()
    if name in ("max_fp_per_tp", "min_precision", "min_recall"):
        # As it is meant: the float of 1/3 is less than it, and a tie would be none.
        value = Fraction(value).limit_denominator(1000)
    found = {point for point in points if point[1] > 0}
    if name == "max_fp_per_tp":
        slope = 1 / value
        ratios = [Fraction(fp) / Fraction(tp) for fp, tp, _ in found]
        if slope * min(ratios) > 1:
            return None, min(ratios)
        key, allowed = lambda p: (p[1] - slope * p[0], p[1]), points
    elif name == "max_alerts":
        allowed = {point for point in found if point[2] <= value}
        key, limit = lambda p: (p[1], -p[0]), min(point[2] for point in found)
    elif name == "min_precision":
        share = {p: Fraction(p[1]) / Fraction(p[0] + p[1]) for p in found}
        allowed = {p for p in found if share[p] >= value}
        key, limit = lambda p: (p[1], -p[0]), max(share.values())
    elif name == "min_recall":
        allowed = {p for p in points if p[1] >= value * total}
        key, limit = lambda p: (-p[0], p[1]), max(p[1] for p in points) / total
    else:
        key, allowed = lambda p: (2 * p[1] / (p[0] + p[1] + total), p[1]), points
    if not allowed:
        return None, limit
    best = max(map(key, allowed))
    return {point[:2] for point in allowed if key(point) == best}, None


def trapezoids(fp, tp):
    points = [[*map(Fraction, map(float, each))] for each in zip(fp, tp, strict=True)]
    steps = (abs(f - g) * (t + u) / 2 for (f, t), (g, u) in pairwise(points))
    return sum(steps, Fraction(0))


def best_area(fp, tp):
    """Return the largest area of all paths through a table, by enumeration."""
    last = tuple(length - 1 for length in fp.shape)

    def extend(path):
        if path[-1] == last:
            yield path
        for axis, index in enumerate(path[-1]):
            if index < last[axis]:
                step = (*path[-1][:axis], index + 1, *path[-1][axis + 1 :])
                yield from extend([*path, step])

    curves = (
        [[c[n] for n in path] for c in (fp, tp)] for path in extend([(0,) * fp.ndim])
    )
    return max(trapezoids(*curve) for curve in curves)
