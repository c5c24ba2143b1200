"""Coverage that can be guaranteed a selective risk, beside other packages."""

import math
import warnings
from functools import partial

import numpy as np
from scipy.stats import binom

from benchmarks._report import NOT_INSTALLED, Row, at_least, at_most, show_time
from benchmarks._risk_curves import RISK_CURVES, draw_errors
from benchmarks._timing import interleaved_medians
from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import solve_target_risk

TITLE = "mean coverage with a selective risk of at most .1, at confidence .9"

_TARGET, _DELTA = 0.1, 0.1
_REPETITIONS = {10**3: 1000, 10**4: 300, 10**5: 60}

# Name of the method and the first coverage that is tested, in hundredths.
_MAPIE_METHODS = {
    "MAPIE Holm (default)": ("bonferroni_holm", 1),
    "MAPIE Bonferroni": ("bonferroni", 1),
    "MAPIE fixed sequence": ("fixed_sequence", 1),
    "MAPIE fixed sequence, 5 starts": ("five_starts", 1),
    "MAPIE fixed sequence from .1": ("fixed_sequence", 10),
}

# Shown only: one start is best where it suits the curve, and nothing where it does not.
_NOT_JUDGED = ("ours", "MAPIE fixed sequence from .1")


def run():
    """Return the rows of the table."""
    load = load_mapie()
    most_violations = {}
    for n_samples in _REPETITIONS:
        for curve in RISK_CURVES:
            thresholds = _thresholds(curve, n_samples, load)
            yield _coverage_row(f"{curve}, n = {n_samples}", thresholds)
            rates = {name: violation_rate(curve, t) for name, t in thresholds.items()}
            most_violations[curve, n_samples] = rates
    yield from _violation_rows(most_violations)
    yield from _time_rows(load)


# Contenders: each gets scores and errors and returns thresholds by name, 0 if none


def certify_ours(scores, errors):
    try:
        rule = solve_target_risk(scores, errors, _TARGET, confidence_level=1 - _DELTA)
    except InfeasibleTargetError:
        return {"ours": 0.0}
    return {"ours": min(rule.threshold, 1.0)}


def _sgr(scores, errors):
    """Bisect as Geifman and El-Yaniv (2017) do, on exact binomial tails."""
    order = np.argsort(scores)
    n_errors = np.cumsum(errors[order])
    n_steps = math.ceil(math.log2(len(scores)))
    low, high, threshold = 0, len(scores), 0.0
    for _ in range(n_steps):
        middle = math.ceil((low + high) / 2)
        p_value = binom.cdf(n_errors[middle - 1], middle, _TARGET)
        if p_value <= _DELTA / n_steps:
            low, threshold = middle, float(scores[order[middle - 1]])
        else:
            high = middle
    return {"SGR": threshold}


def load_mapie():
    """Return MAPIE's contender, None where it is not installed."""
    try:
        from mapie.risk_control import fwer_control
    except ImportError:
        return None
    five_starts = fwer_control.FWERFixedSequenceTesting(n_starts=5)

    def largest_coverage(p_values, method, first):
        method = five_starts if method == "five_starts" else method
        valid = fwer_control.control_fwer(p_values[first - 1 :], _DELTA, method)
        return (first + int(valid[-1])) / 100 if len(valid) else 0.0

    def contender(scores, errors):
        # The p-values are the same for each method, so they are computed once.
        p_values = _calibrate_mapie(scores, errors).p_values.ravel()
        return {
            name: largest_coverage(p_values, *method)
            for name, method in _MAPIE_METHODS.items()
        }

    return contender


def _calibrate_mapie(scores, errors):
    """Control the precision of the only class that is ever predicted.

    The largest probability is 1 - score / 2, and the thresholds on it are such that
    coverages .01, .02, ..., 1 are tested, from the safest on.
    """
    from mapie.risk_control import MultiClassificationLTTController, abstention_rate
    from mapie.risk_control.risks import build_precision_ovr

    controller = MultiClassificationLTTController(
        predict_function=lambda X: np.column_stack([X / 2, 1 - X / 2]),
        risks=build_precision_ovr([1]),
        target_level=[1 - _TARGET],
        confidence_level=1 - _DELTA,
        best_predict_param_choice=abstention_rate,
        list_predict_params=1 - np.arange(1, 101) / 200,
        classes=[0, 1],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return controller.calibrate(scores, (1 - errors).astype(int))


# Means over samples that all contenders share


def _contenders(load):
    return [certify_ours, _sgr] if load is None else [certify_ours, _sgr, load]


def _thresholds(curve, n_samples, load):
    """Return the thresholds of each contender, one a repetition."""
    found = {}
    for seed in range(_REPETITIONS[n_samples]):
        sample = draw_errors(curve, n_samples, seed)
        for contender in _contenders(load):
            for name, threshold in contender(*sample).items():
                found.setdefault(name, []).append(threshold)
    return {name: np.array(thresholds) for name, thresholds in found.items()}


def _coverage_row(what, thresholds):
    """Compare means: the coverage of a threshold is the threshold itself."""
    means = {name: float(values.mean()) for name, values in thresholds.items()}
    best = max(mean for name, mean in means.items() if name not in _NOT_JUDGED)
    details = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    return at_least(f"coverage, {what}", round(best, 4), means["ours"], "", details)


def violation_rate(curve, thresholds):
    """Return how often the risk of what a threshold accepts is over the target."""
    grid = (np.arange(10**5) + 0.5) / 10**5
    integral = np.append(0.0, np.cumsum(RISK_CURVES[curve](grid))) / 10**5
    losses = np.interp(thresholds, np.linspace(0, 1, 10**5 + 1), integral)
    return float(np.mean(losses > _TARGET * thresholds * (1 + 1e-6)))


def _violation_rows(rates):
    for n_samples, repetitions in _REPETITIONS.items():
        of_size = {curve: rates[curve, n_samples] for curve in RISK_CURVES}
        for name in ("ours", "SGR", *_MAPIE_METHODS):
            by_curve = {c: rate[name] for c, rate in of_size.items() if name in rate}
            what = f"most violations on a curve, n = {n_samples}, {name}"
            if not by_curve:
                yield Row(what, measured=NOT_INSTALLED)
                continue
            limit = _DELTA + 3 * math.sqrt(_DELTA * (1 - _DELTA) / repetitions)
            details = ", ".join(f"{c} {rate:.3f}" for c, rate in by_curve.items())
            yield at_most(what, round(limit, 3), max(by_curve.values()), "", details)


def _time_rows(load):
    sample = draw_errors("s^2", 10**5, seed=0)
    names = ("ours", "SGR", "MAPIE")
    contenders = zip(names, _contenders(load), strict=False)
    times = interleaved_medians({n: partial(c, *sample) for n, c in contenders}, 5)
    for name in names:
        measured = show_time(times[name]) if name in times else NOT_INSTALLED
        yield Row(f"time, n = {10**5}, {name}", measured=measured)
