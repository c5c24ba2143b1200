"""Coverage certified under a bound on the risk of each true class, by one threshold."""

import math
import warnings
from functools import partial

import numpy as np
from scipy.stats import binom

from benchmarks._report import NOT_INSTALLED, Row, at_least, at_most, show_time
from benchmarks._timing import interleaved_medians
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_risk_bounds,
    solve_target_risk,
)

TITLE = "mean coverage with every class at a risk of at most .1, at confidence .9"

_TARGET, _DELTA = 0.1, 0.1
_REPETITIONS = {1500: 400, 6000: 400, 20000: 200}
_REPETITIONS_OF_MAPIE = 40

# Share of each class, chance of an error at a score s in [0, 1], and a: scores have the
# density a s^(a - 1), so that of a large a they are high.
_CASES = {
    "rare class with a floor": (
        (0.85, lambda s: 0.15 * s, 1),
        (0.15, lambda s: 0.05 + 0.4 * s**2, 1),
    ),
    "rare class uncertain": (
        (0.9, lambda s: 0.3 * s**2, 1),
        (0.1, lambda s: 0.3 * s**2, 3),
    ),
    "three classes": (
        (0.6, lambda s: s**2, 1),
        (0.3, lambda s: 0.25 * s, 1),
        (0.1, lambda s: 0.03 + 0.6 * s**2, 1),
    ),
    "bump and U-shape": (
        (
            0.5,
            lambda s: 0.02 + 0.35 * np.exp(-(((s - 0.25) / 0.06) ** 2)) + 0.3 * s**6,
            1,
        ),
        (0.5, lambda s: 0.3 * (2 * s - 0.8) ** 2, 1),
    ),
}

_GRID = np.linspace(0, 1, 100001)

_OURS, _OF_ALL, _BONFERRONI = "ours", "starts at shares of all", "Bonferroni, 100"
_MAPIE = "MAPIE"


def run():
    """Return the rows of the table."""
    load = _load_mapie()
    for case in _CASES:
        for n_samples in _REPETITIONS:
            yield from _rows_of(case, n_samples, load)
    yield from _time_rows()


def _rows_of(case, n_samples, load):
    found = {name: [] for name in (_OURS, _OF_ALL, _BONFERRONI, _MAPIE)}
    for seed in range(_REPETITIONS[n_samples]):
        sample = _draw(case, n_samples, seed)
        found[_OURS].append(_ours(*sample))
        p_values = _p_values(*sample)
        found[_OF_ALL].append(_from_shares_of_all(sample[0], p_values))
        found[_BONFERRONI].append(_bonferroni(sample[0], p_values))
        if load is not None and seed < _REPETITIONS_OF_MAPIE:
            found[_MAPIE].append(load(*sample))
    found = {name: np.array(values) for name, values in found.items() if values}
    means = {name: _coverage(case, values).mean() for name, values in found.items()}
    best = 0.98 * max(mean for name, mean in means.items() if name != _OURS)
    possible = _coverage(case, _best_threshold(case))
    details = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    details += "" if load is not None else f", {_MAPIE} {NOT_INSTALLED}"
    what = f"{case}, n = {n_samples}"
    yield at_least(
        f"coverage, {what}",
        round(float(best), 4),
        float(means[_OURS]),
        "",
        f"possible {possible:.3f}, {details}",
    )
    rates = {name: _violation_rate(case, values) for name, values in found.items()}
    limit = _DELTA + 3 * math.sqrt(_DELTA * (1 - _DELTA) / _REPETITIONS[n_samples])
    details = ", ".join(f"{name} {rate:.3f}" for name, rate in rates.items())
    yield at_most(f"violations, {what}", round(limit, 3), rates[_OURS], "", details)


# What the samples are drawn from


def _draw(case, n_samples, seed):
    rng = np.random.default_rng(seed)
    shares, curves, powers = zip(*_CASES[case], strict=True)
    y = rng.choice(len(shares), n_samples, p=shares)
    scores = rng.random(n_samples) ** (1 / np.array(powers)[y])
    chance = np.choose(y, [curve(scores) for curve in curves])
    return scores, (rng.random(n_samples) < chance).astype(np.float64), y


def _coverage(case, thresholds):
    """Return the share of the population below thresholds."""
    return sum(share * thresholds**power for share, _, power in _CASES[case])


def _worst_risks(case):
    """Return the largest risk of a class at each threshold of the grid but zero."""
    middles = (_GRID[1:] + _GRID[:-1]) / 2
    risks = []
    for _, curve, power in _CASES[case]:
        mass = np.diff(_GRID**power)
        risks.append(np.cumsum(mass * curve(middles)) / np.cumsum(mass))
    return np.max(risks, axis=0)


def _best_threshold(case):
    return _GRID[1:][np.flatnonzero(_worst_risks(case) <= _TARGET)[-1]]


def _violation_rate(case, thresholds):
    """Return how often a class has a risk over the target."""
    risks = np.interp(thresholds, _GRID[1:], _worst_risks(case))
    return float(np.mean((thresholds > 0) & (risks > _TARGET * (1 + 1e-6))))


# Contenders: each returns a threshold, 0 if none


def _ours(scores, errors, y):
    targets = dict.fromkeys(range(y.max() + 1), _TARGET)
    try:
        rule = solve_risk_bounds(
            scores, errors, {"class": (y, targets)}, confidence_level=1 - _DELTA
        )
    except InfeasibleTargetError:
        return 0.0
    return min(rule.threshold, 1.0)


def _p_values(scores, errors, y):
    """Return the largest p-value of a class at the prefixes of 1, 2, ... samples."""
    order = np.argsort(scores)
    found = np.zeros(len(scores))
    for label in range(y.max() + 1):
        members = y[order] == label
        count, wrong = np.cumsum(members), np.cumsum(members * errors[order])
        np.maximum(found, binom.cdf(wrong, count, _TARGET), out=found)
    return found


def _from_shares_of_all(scores, p_values):
    """Walk from .1, .25, .5 and .75 of all samples (fallback of Wiens)."""
    n_samples = len(scores)
    starts = np.ceil(np.multiply((0.1, 0.25, 0.5, 0.75), n_samples)).astype(int)
    level, last = 0.0, 0
    ends = [*starts[1:], n_samples + 1]
    for start, end, weight in zip(starts, ends, (0.4, 0.2, 0.2, 0.2), strict=True):
        level += weight * _DELTA
        passed = p_values[start - 1 : end - 1] <= level
        n_passed = len(passed) if passed.all() else int(np.argmin(passed))
        last = start + n_passed - 1 if n_passed else last
        level = level if n_passed == len(passed) else 0.0
    return _threshold(scores, last)


def _bonferroni(scores, p_values, size=100):
    counts = np.unique(-(-np.arange(1, size + 1) * len(scores) // size))
    passed = counts[p_values[counts - 1] <= _DELTA / size]
    return _threshold(scores, passed[-1] if passed.size else 0)


def _threshold(scores, count):
    """Return the score of the sample after so many, the first not accepted."""
    if count == 0:
        return 0.0
    return 1.0 if count == len(scores) else float(np.partition(scores, count)[count])


def _load_mapie():
    """Return MAPIE's contender, None where it is not installed."""
    try:
        from mapie.risk_control.risks import ClassSpecificRisk
    except ImportError:
        return None

    def contender(scores, errors, y):
        n_classes = int(y.max()) + 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller = _controller(ClassSpecificRisk, n_classes)
            labels = np.where(errors > 0, (y + 1) % n_classes, y)
            controller.calibrate(np.column_stack([scores, labels]), y)
        best = controller.best_predict_param
        return 0.0 if best is None else float(2 * (1 - best))

    return contender


def _controller(make_risk, n_classes):
    """Return a controller of the recall of every class among what is accepted.

    Its own recall counts abstentions as errors, so that no threshold would do. The
    largest probability is 1 - score / 2, and 100 thresholds on it are tested.
    """
    from mapie.risk_control import MultiClassificationLTTController, abstention_rate

    def probabilities(X):
        rest = X[:, :1] / 2 / (n_classes - 1)
        found = np.repeat(rest, n_classes, axis=1)
        found[np.arange(len(X)), X[:, 1].astype(int)] = 1 - X[:, 0] / 2
        return found

    def is_right(y_true, y_pred):
        return y_pred.ravel() == y_true.ravel()

    def is_accepted_of(label, y_true, y_pred):
        return (y_true.ravel() == label) & ~np.isnan(y_pred.ravel())

    risks = [
        make_risk(label, is_right, partial(is_accepted_of, label), True)
        for label in range(n_classes)
    ]
    return MultiClassificationLTTController(
        predict_function=probabilities,
        risks=risks,
        target_level=[1 - _TARGET] * n_classes,
        confidence_level=1 - _DELTA,
        best_predict_param_choice=abstention_rate,
        list_predict_params=1 - np.arange(1, 101) / 200,
        classes=list(range(n_classes)),
    )


def _time_rows():
    """Return rows of the time of ten bounds on a million samples, beside one bound."""
    rng = np.random.default_rng(0)
    scores, y = rng.random(10**6), rng.integers(0, 10, 10**6)
    errors = (rng.random(10**6) < scores**2 / 2).astype(np.float64)
    bounds = {"class": (y, dict.fromkeys(range(10), 0.05))}
    for confidence_level in (None, 0.9):
        options = {"confidence_level": confidence_level}
        contenders = {
            "ours": partial(solve_risk_bounds, scores, errors, bounds, **options),
            "one": partial(solve_target_risk, scores, errors, 0.05, **options),
        }
        times = interleaved_medians(contenders, 5)
        yield Row(
            f"time, ten classes, n = {10**6}, {confidence_level=}",
            measured=show_time(times["ours"]),
            details=f"solve_target_risk {show_time(times['one'])}",
        )
