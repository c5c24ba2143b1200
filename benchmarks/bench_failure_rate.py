"""Coverage under a bound on failures, on average and certified, beside certified risks.

No package that is compared with elsewhere controls what is accepted and wrong.
"""

import math
import warnings

import numpy as np

from benchmarks._report import Row, at_least, at_most, show_time
from benchmarks._risk_curves import RISK_CURVES, draw_errors
from benchmarks._timing import interleaved_medians
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_target_failure_rate,
    solve_target_risk,
)

TITLE = "what is accepted and wrong at most, of all samples: .03 and .005"

_DELTA = 0.1
_REPETITIONS = 2000
_SIZES = (20, 50, 200, 1000)
_TARGETS = (0.03, 0.005)

_GRID = (np.arange(10**5) + 0.5) / 10**5
_EDGES = np.linspace(0, 1, 10**5 + 1)


def run():
    """Return the rows of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        for target in _TARGETS:
            for curve in RISK_CURVES:
                for n_samples in _SIZES:
                    yield from _compare(curve, n_samples, target)
        yield from _time_rows()


# Contenders: each gets scores, errors and a target, and returns a threshold


def _ours(scores, errors, target, confidence_level=None):
    try:
        rule = solve_target_failure_rate(
            scores, errors, target, confidence_level=confidence_level
        )
    except InfeasibleTargetError:
        return 0.0
    return rule.threshold


def _certain(scores, errors, target):
    return _ours(scores, errors, target, 1 - _DELTA)


def _certified_risk(scores, errors, target):
    try:
        rule = solve_target_risk(scores, errors, target, confidence_level=1 - _DELTA)
    except InfeasibleTargetError:
        return 0.0
    return rule.threshold


_CONTENDERS = {
    "on average": _ours,
    "at confidence .9": _certain,
    "certified risk": _certified_risk,
}


def _compare(curve, n_samples, target):
    integral = np.append(0.0, np.cumsum(RISK_CURVES[curve](_GRID))) / 10**5
    found = {name: np.empty((_REPETITIONS, 2)) for name in _CONTENDERS}
    for seed in range(_REPETITIONS):
        sample = draw_errors(curve, n_samples, seed)
        for name, contender in _CONTENDERS.items():
            found[name][seed] = _measure(contender(*sample, target), integral)
    coverage = {name: float(each[:, 0].mean()) for name, each in found.items()}
    failures = {name: each[:, 1] for name, each in found.items()}
    what = f"{target:g}, {curve}, n = {n_samples}"
    mean, error = failures["on average"].mean(), failures["on average"].std()
    limit = target + 3 * error / math.sqrt(_REPETITIONS)
    yield at_most(f"failures on average, {what}", round(limit, 4), mean)
    most = _DELTA + 3 * math.sqrt(_DELTA * (1 - _DELTA) / _REPETITIONS)
    rate = float(np.mean(failures["at confidence .9"] > target * (1 + 1e-6)))
    yield at_most(f"violations at confidence .9, {what}", round(most, 3), rate)
    details = ", ".join(f"{name} {mean:.3f}" for name, mean in coverage.items())
    yield at_least(
        f"coverage, {what}",
        round(coverage["certified risk"], 4),
        coverage["on average"],
        "",
        details,
    )


def _measure(threshold, integral):
    """Return true coverage and failure rate: the score is uniform."""
    coverage = min(threshold, 1.0)
    return coverage, np.interp(coverage, _EDGES, integral)


def _time_rows():
    sample = draw_errors("s^2", 10**5, seed=0)
    times = interleaved_medians(
        {
            name: lambda contender=contender: contender(*sample, _TARGETS[0])
            for name, contender in _CONTENDERS.items()
        },
        5,
    )
    for name, time in times.items():
        yield Row(f"time, n = {10**5}, {name}", measured=show_time(time))
