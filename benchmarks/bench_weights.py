"""Three ways to read the weights of samples in the area under the risk-coverage curve.

As numbers of rows, the size of all weights says how many samples there are. As relative
weights, they are brought to a mean of one first. As shares, the sample is cut into ever
smaller pieces: an integral over the coverage, which knows no number of samples.
"""

from collections import namedtuple
from itertools import combinations

import numpy as np
from scipy.special import digamma, entr
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from benchmarks._real_sets import available_sets, load_set, missing_sets
from benchmarks._report import Row, at_most
from sklearn_reject._curves._prefixes import join_ties
from sklearn_reject._curves._risk_coverage import aurc_score

TITLE = "area under the risk-coverage curve by three readings of the weights"

_N_TRAIN, _FEWEST_LEFT = 1000, 1000
_SIZES = (50, 200, 1000)
_DRAWS = 40

# Scores of what a classifier has not seen, by name, its losses, and the labels.
Pool = namedtuple("Pool", "scores losses y")

READINGS = ("rows", "relative", "shares")


def run():
    """Return the rows of the table."""
    if missing_sets():
        yield Row("sets that are not there", measured=", ".join(missing_sets()))
    pools = [pool for pool in map(_make_pool, available_sets()) if pool]
    if pools:
        for n_samples in _SIZES:
            yield from _equal_rows(n_samples, pools)
            yield from _balanced_rows(n_samples, pools)


# Readings: each gets weights and losses of groups, in the order of their scores


def _as_rows(weights, losses):
    """Return the mean of the risks after each row, ties in random order (eq. 27)."""
    before, after = _bounds(weights)
    return _add_up(weights, losses, digamma(after + 1) - digamma(before + 1))


def _as_shares(weights, losses):
    """Return the integral of the risk over the coverage, groups spread out evenly."""
    before, after = _bounds(weights)
    # The first group has the same risk all along.
    growth = np.log(after / np.where(before > 0, before, after))
    return _add_up(weights, losses, growth)


def _bounds(weights):
    after = np.cumsum(weights)
    return np.append(0.0, after[:-1]), after


def _add_up(weights, losses, growth):
    before, after = _bounds(weights)
    means = losses / weights
    lost_before = np.append(0.0, np.cumsum(losses)[:-1])
    areas = (lost_before - means * before) * growth + means * weights
    return areas.sum() / after[-1]


def _read(scores, sample_losses, sample_weight):
    """Return the area by each reading of the weights; "relative" is the package's."""
    columns = join_ties(scores, sample_losses, sample_weight).columns
    weights, losses = np.array(columns["weight"]), np.array(columns["loss"])
    return {
        "rows": _as_rows(weights, losses),
        "relative": aurc_score(scores, sample_losses, sample_weight=sample_weight),
        "shares": _as_shares(weights, losses),
    }


# Samples


def _make_pool(name):
    """Return scores of the predictions of a logistic regression, None if too few.

    Four of them order its errors well or less well, one is random.
    """
    X, y = load_set(name)
    if len(y) < _N_TRAIN + _FEWEST_LEFT:
        return None
    train, rest = slice(_N_TRAIN), slice(_N_TRAIN, None)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    models = (logistic, GaussianNB(), RandomForestClassifier(50, random_state=0))
    says = [model.fit(X[train], y[train]).predict_proba(X[rest]) for model in models]
    places = says[0].argmax(axis=1)
    taken = [1 - np.take_along_axis(p, places[:, np.newaxis], 1)[:, 0] for p in says]
    scores = dict(zip(("logistic", "naive Bayes", "forest"), taken, strict=True))
    scores["entropy"] = entr(says[0]).sum(axis=1)
    scores["random"] = np.random.default_rng(0).random(len(places))
    losses = (logistic.classes_[places] != y[rest]).astype(np.float64)
    return Pool(scores, losses, y[rest])


def _draw(pool, n_samples):
    """Yield samples of a pool in which some losses are zero and some are not."""
    for seed in range(_DRAWS):
        rows = np.random.default_rng(seed).permutation(len(pool.y))[:n_samples]
        if 0 < pool.losses[rows].mean() < 1:
            scores = {name: values[rows] for name, values in pool.scores.items()}
            yield Pool(scores, pool.losses[rows], pool.y[rows])


def _areas(pool, weights):
    """Return the areas by reading, an array over scores."""
    areas = [_read(scores, pool.losses, weights) for scores in pool.scores.values()]
    return {reading: np.array([a[reading] for a in areas]) for reading in READINGS}


# Rows


def _equal_rows(n_samples, pools):
    """Compare equal weights of some size with none, which are rows of weight 1."""
    samples = [sample for pool in pools for sample in _draw(pool, n_samples)]
    plain = [_areas(sample, np.ones(n_samples))["rows"] for sample in samples]
    for size, weight in (("1/n", 1 / n_samples), ("1e-6", 1e-6), ("3", 3.0)):
        areas = [_areas(sample, np.full(n_samples, weight)) for sample in samples]
        apart, details = _compare(areas, plain)
        what = f"{n_samples:,} samples, weights {size}: relative, off the plain area"
        yield at_most(what, 1e-9, apart, "", details)
    areas = [_areas(_repeat(sample, 3), np.ones(3 * n_samples)) for sample in samples]
    apart, details = _compare(areas, plain)
    what = f"{n_samples:,} samples, rows thrice: relative, off the plain area"
    yield Row(what, measured=f"{apart:.3g}", details=details)


def _repeat(sample, times):
    scores = {name: np.repeat(values, times) for name, values in sample.scores.items()}
    return Pool(scores, np.repeat(sample.losses, times), np.repeat(sample.y, times))


def _compare(areas, plain):
    """Return how far relative areas are from those without weights, and all readings.

    Beside the mean ratio of a reading stand its range, and the share of the pairs of
    scores that it puts in another order.
    """
    ratios = {
        reading: np.array([a[reading] / p for a, p in zip(areas, plain, strict=True)])
        for reading in READINGS
    }
    details = []
    for reading, values in ratios.items():
        pairs = [_swaps(a[reading], p) for a, p in zip(areas, plain, strict=True)]
        details.append(
            f"{reading} {values.mean():.3f} x ({values.min():.2f} to "
            f"{values.max():.2f}, {100 * np.mean(pairs):.1f} % swapped)"
        )
    return float(np.abs(ratios["relative"] - 1).max()), ", ".join(details)


def _swaps(areas, others):
    """Return the share of the pairs of scores that two areas order differently."""
    pairs = combinations(range(len(areas)), 2)
    return np.mean([_sign(areas, *pair) * _sign(others, *pair) < 0 for pair in pairs])


def _sign(areas, i, j):
    """Return which of two areas is larger, 0 if they differ by rounding only."""
    return np.sign(areas[i] - areas[j]) * (not np.isclose(areas[i], areas[j], 1e-9))


def _balanced_rows(n_samples, pools):
    """Compare class-balanced weights of a sample with those of the whole pool."""
    for size, factor in (("1", 1.0), ("1/n", 1 / n_samples)):
        of_pools = [_balanced_errors(pool, n_samples, factor) for pool in pools]
        spread, details = {}, []
        for reading in READINGS:
            errors = [of_pool[reading] for of_pool in of_pools if of_pool is not None]
            bias = np.mean([e.mean() for e in errors])
            spread[reading] = float(np.sqrt(np.mean([(e**2).mean() for e in errors])))
            details.append(f"{reading} {spread[reading]:.3f} (bias {bias:+.3f})")
        what = f"{n_samples:,} samples, balanced, of mean {size}: relative, error"
        limit = round(min(spread.values()) + 0.03, 3)
        yield at_most(what, limit, spread["relative"], "", ", ".join(details))


def _balanced_errors(pool, n_samples, factor):
    """Return relative errors of the areas of each reading, None without samples.

    They are errors against the area of the pool, on which the readings agree.
    """
    truth = _areas(pool, compute_sample_weight("balanced", pool.y))["shares"]
    areas = [
        _areas(sample, factor * compute_sample_weight("balanced", sample.y))
        for sample in _draw(pool, n_samples)
    ]
    if not areas:
        return None
    return {
        reading: np.array([a[reading] / truth - 1 for a in areas])
        for reading in READINGS
    }
