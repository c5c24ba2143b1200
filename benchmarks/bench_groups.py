"""Promises per group: rules of their own, one common threshold, and MAPIE's."""

import math
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import available_sets, load_set, missing_sets
from benchmarks._report import NOT_INSTALLED, Row, at_least, at_most
from sklearn_reject import SelectiveClassifier
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_risk_bounds,
    solve_target_risk,
)

TITLE = "selective risk of at most .1 in each group, all groups at confidence .9"

_TARGET, _DELTA = 0.1, 0.1

# Groups of unequal size, and the chance of an error at a score that is uniform on
# [0, 1]: in one group it is below the target all over, in another one nowhere.
_SHARES = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
_GRID = (np.arange(10**4) + 0.5) / 10**4


def _bump(s, place):
    return 0.25 * np.exp(-(((s - place) / 0.08) ** 2))


_CURVES = {
    "rising": [lambda s, a=a: a * s**2 for a in (0.05, 0.2, 0.4, 0.8, 1.0)],
    "floors": [
        lambda s, a=a: a + (1 - a) * s**2 for a in (0.0, 0.02, 0.04, 0.06, 0.15)
    ],
    "bumps": [
        lambda s, p=p: np.minimum(1, 0.02 + _bump(s, p) + 0.5 * s**4)
        for p in (0.1, 0.25, 0.4, 0.6, 0.9)
    ],
}
_N_SAMPLES = 6000
_REPETITIONS = 200
_MAPIE_REPETITIONS = 20
_MAPIE_THRESHOLDS = 20

# Real sets: so much trains, and as much as that calibrates; the others judge.
_CLASSIFIERS = {
    "logistic": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=300)
    ),
    "naive Bayes": GaussianNB,
    "forest": lambda: RandomForestClassifier(50, random_state=0, n_jobs=1),
}
_SHARE_OF_PART = 0.3
_FEWEST_ROWS = 4000
_DRAWS = 20


def run():
    """Return the rows of the table."""
    load = _load_mapie()
    for curves in _CURVES:
        yield from _simulated_rows(curves, load)
    if missing_sets():
        yield Row("sets that are not there", measured=", ".join(missing_sets()))
    sets = [name for name in available_sets() if len(load_set(name)[1]) > _FEWEST_ROWS]
    for group_by in ("prediction", "class"):
        yield from _real_rows(sets, group_by)


# Groups whose risk is known


@dataclass(frozen=True)
class _Outcome:
    """Coverage of the population, and the largest risk of what a group accepts."""

    coverage: float
    risk: float


def _simulated_rows(curves, load):
    contenders = {"each": _each, "common": _common, "overall": _overall}
    found = {
        name: _outcomes(curves, contender, _REPETITIONS)
        for name, contender in contenders.items()
    }
    limit = round(_DELTA + 3 * math.sqrt(_DELTA * (1 - _DELTA) / _REPETITIONS), 3)
    for name, what in (("each", "a rule for each"), ("common", "a common threshold")):
        rate = np.mean([each.risk > _TARGET * (1 + 1e-6) for each in found[name]])
        yield at_most(f"{curves}: violations in any group, {what}", limit, float(rate))
    means = {name: np.mean([each.coverage for each in x]) for name, x in found.items()}
    worst = np.median([each.risk for each in found["overall"]])
    details = f"common {means['common']:.3f}, one rule for all {means['overall']:.3f}"
    yield at_least(
        f"{curves}: coverage of a rule for each group",
        round(1.5 * means["common"], 3),
        means["each"],
        details=f"{details} with a risk of {worst:.2f} in the worst group",
    )
    if load is None:
        yield Row(f"{curves}: MAPIE, precision per class", measured=NOT_INSTALLED)
        return
    outcomes = _outcomes(curves, load, _MAPIE_REPETITIONS)
    coverages = np.array([each.coverage for each in outcomes])
    yield Row(
        f"{curves}: MAPIE, precision per class",
        measured=f"{np.count_nonzero(coverages)} of {len(coverages)}",
        details=f"certified, mean coverage {coverages.mean():.3f}",
    )


def _outcomes(curves, contender, repetitions):
    return [_judge(curves, contender(*_draw(curves, s))) for s in range(repetitions)]


def _draw(curves, seed):
    rng = np.random.default_rng(seed)
    groups = rng.choice(len(_SHARES), size=_N_SAMPLES, p=_SHARES)
    scores = rng.random(_N_SAMPLES)
    chance = np.select(
        [groups == g for g in range(len(_SHARES))], [c(scores) for c in _CURVES[curves]]
    )
    return scores, (rng.random(_N_SAMPLES) < chance).astype(np.float64), groups


def _judge(curves, thresholds):
    """Return what thresholds, one a group, lead to in the population."""
    thresholds = np.minimum(thresholds, 1.0)
    risks = [
        curve(_GRID[t > _GRID]).mean() if t > _GRID[0] else 0.0
        for curve, t in zip(_CURVES[curves], thresholds, strict=True)
    ]
    return _Outcome(float(_SHARES @ np.maximum(thresholds, 0)), float(max(risks)))


# Contenders: each gets scores, errors and groups, and returns thresholds by group


def _each(scores, errors, groups):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a group that is rejected as a whole
        try:
            rule = solve_target_risk(
                scores, errors, _TARGET, groups=groups, confidence_level=1 - _DELTA
            )
        except InfeasibleTargetError:
            return np.zeros(len(_SHARES))
    return np.array([rule.rules[g].threshold for g in range(len(_SHARES))])


def _common(scores, errors, groups):
    bounds = {"group": (groups, dict.fromkeys(range(len(_SHARES)), _TARGET))}
    solve = partial(
        solve_risk_bounds, scores, errors, bounds, confidence_level=1 - _DELTA
    )
    return _threshold_of(solve)


def _overall(scores, errors, groups):
    solve = partial(
        solve_target_risk, scores, errors, _TARGET, confidence_level=1 - _DELTA
    )
    return _threshold_of(solve)


def _threshold_of(solve):
    try:
        return np.full(len(_SHARES), solve().threshold)
    except InfeasibleTargetError:
        return np.zeros(len(_SHARES))


def _load_mapie():
    """Return MAPIE's contender, None where it is not installed."""
    try:
        from mapie.risk_control import MultiClassificationLTTController, abstention_rate
        from mapie.risk_control.risks import build_precision_ovr
    except ImportError:
        return None
    classes = np.arange(len(_SHARES))
    coverages = np.arange(1, _MAPIE_THRESHOLDS + 1) / _MAPIE_THRESHOLDS

    def contender(scores, errors, groups):
        """Control the precision of each predicted class, which are the groups.

        The largest probability is 1 - score / 2, and the thresholds on it are such that
        equidistant coverages are tested.
        """
        probabilities = np.repeat(scores[:, np.newaxis] / 2, len(classes), axis=1)
        probabilities /= len(classes) - 1
        probabilities[np.arange(len(scores)), groups] = 1 - scores / 2
        y = np.where(errors > 0, (groups + 1) % len(classes), groups)
        controller = MultiClassificationLTTController(
            predict_function=lambda X: probabilities,
            risks=build_precision_ovr(classes.tolist()),
            target_level=[1 - _TARGET] * len(classes),
            confidence_level=1 - _DELTA,
            best_predict_param_choice=abstention_rate,
            list_predict_params=1 - coverages / 2,
            classes=classes,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller.calibrate(scores, y)
        found = controller.best_predict_param
        return np.full(len(classes), 0.0 if found is None else 2 * (1 - found))

    return contender


# Real sets, of which a part stands for the population


def _real_rows(sets, group_by):
    """Compare the risk of each group with the promise, by set and by classifier."""
    found = {}
    for dataset in sets:
        for name, make in _CLASSIFIERS.items():
            pool = _pool(dataset, make)
            if pool is not None:
                each = _achieved(*pool, group_by)
                plain = _achieved(*pool, None, judged_by=group_by)
                found[dataset, name] = pool[-1], each, plain
        yield _set_row(dataset, group_by, found)
    for name in _CLASSIFIERS:
        yield _real_row(name, group_by, [x for (_, k), x in found.items() if k == name])


def _set_row(dataset, group_by, found):
    """Show the largest risk of a group by classifier, as a multiple of the target."""
    shown = [
        f"{name} {_show_risk(each)} of {target:.3f} (one rule for all "
        f"{_show_risk(plain)})"
        for (where, name), (target, each, plain) in found.items()
        if where == dataset
    ]
    return Row(f"worst group by {group_by}, {dataset}", details=", ".join(shown))


def _show_risk(achieved):
    """Return the largest risk as text, if anything is accepted in any draw."""
    _, risk, coverage = achieved
    return f"{risk:.2f}" if coverage else "nothing"


def _real_row(name, group_by, found):
    each, plain = (np.mean([x[k] for x in found], axis=0) for k in (1, 2))
    n_draws = _DRAWS * len(found)
    limit = round(_DELTA + 3 * math.sqrt(_DELTA * (1 - _DELTA) / n_draws), 3)
    return at_most(
        f"{len(found)} real sets, by {group_by}, {name}: any group over its target",
        limit,
        float(each[0]),
        details=f"worst group {each[1]:.2f} of the target at coverage {each[2]:.2f}; "
        f"one rule for all: broken {plain[0]:.2f}, worst {plain[1]:.2f}, "
        f"coverage {plain[2]:.2f}",
    )


def _pool(dataset, make):
    """Return a fitted classifier and the rows it has not seen, None if it is too good.

    Where it hardly errs there is nothing to promise.
    """
    X, y = load_set(dataset)
    n_train = int(_SHARE_OF_PART * len(y))
    model = make().fit(X[:n_train], y[:n_train])
    X, y = X[n_train:], y[n_train:]
    target = round(float(np.mean(model.predict(X) != y)) / 2, 3)
    return (model, X, y, target) if target > 0.01 else None


def _achieved(model, X, y, target, group_by, judged_by=None):
    """Return how often a group breaks its promise, the worst share of it, coverage.

    A group breaks it where its errors in use are more than chance makes of a risk that
    is the target, in one of a hundred cases.
    """
    outcomes = [
        _achieved_once(model, X, y, target, group_by, judged_by or group_by, seed)
        for seed in range(_DRAWS)
    ]
    return np.mean(outcomes, axis=0)


def _achieved_once(model, X, y, target, group_by, judged_by, seed):
    rows = np.random.default_rng(seed).permutation(len(y))
    fit, use = np.split(rows, [len(rows) // 2])
    selective = SelectiveClassifier(
        FrozenEstimator(model),
        target_risk=target,
        confidence_level=1 - _DELTA,
        group_by=group_by,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            decisions = selective.fit(X[fit], y[fit]).predict_all(X[use])
        except InfeasibleTargetError:
            return 0.0, 0.0, 0.0
    groups = decisions.label if judged_by == "prediction" else y[use]
    wrong = decisions.label != y[use]
    return *_worst(wrong, groups, decisions.accepted, target), decisions.accepted.mean()


def _worst(wrong, groups, accepted, target):
    """Return whether a group is beyond its target, and the largest risk by target."""
    risks, broken = [0.0], False
    for group in np.unique(groups):
        inside = wrong[accepted & (groups == group)]
        if len(inside):
            risks.append(inside.mean() / target)
            broken |= _is_beyond(inside, target)
    return float(broken), max(risks)


def _is_beyond(errors, target):
    return binom.sf(errors.sum() - 1, len(errors), target) < 0.01
