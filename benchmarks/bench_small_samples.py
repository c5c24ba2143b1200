"""How far a target risk is missed, where the rule is solved on few samples."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import available_sets, load_set, missing_sets
from benchmarks._report import Row, at_most
from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import solve_target_risk

TITLE = "selective risk in use, of rules solved on few samples"

_SIZES = (50, 100, 200, 300, 1000)
_CONFIDENCE = 0.9

# Scores uniform on [0, 1], errors of the chance score^2.
_TARGET = 0.1
_REPETITIONS = 1000

# Real sets: half of the error rate of the classifier is asked for.
_CLASSIFIERS = {
    "logistic": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=300)
    ),
    "naive Bayes": GaussianNB,
    "forest": lambda: RandomForestClassifier(50, random_state=0),
}
_SHARE_ASKED = 0.5
_N_TRAIN = 1000
_FEWEST_LEFT = 2500  # of which some calibrate, and the others are the population
_LEAST_ERROR = 0.04  # below, a hundred samples show hardly an error
_DRAWS = 100


def run():
    """Return the rows of the table."""
    yield from _curve_rows()
    if missing_sets():
        yield Row("sets that are not there", measured=", ".join(missing_sets()))
    pools = [pool for name in available_sets() for pool in _pools(name)]
    if pools:
        yield from _real_rows(pools)


# A risk curve whose population is known


def _curve_rows():
    for n_samples in _SIZES:
        for confidence_level in (None, _CONFIDENCE):
            coverages = np.array(
                [
                    _certain_coverage(n_samples, confidence_level, s)
                    for s in range(_REPETITIONS)
                ]
            )
            yield _curve_row(n_samples, confidence_level, coverages)


def _certain_coverage(n_samples, confidence_level, seed):
    """Return the threshold, which is the coverage; 0 where the target is infeasible."""
    rng = np.random.default_rng(seed)
    scores = rng.random(n_samples)
    errors = rng.random(n_samples) < scores**2
    rule = _solve(scores, errors, _TARGET, confidence_level)
    return 0.0 if rule is None else min(rule.threshold, 1.0)


def _solve(scores, losses, target, confidence_level):
    try:
        return solve_target_risk(
            scores, losses, target, confidence_level=confidence_level, random_state=0
        )
    except InfeasibleTargetError:
        return None


def _curve_row(n_samples, confidence_level, coverages):
    """Judge rules by their risk in the population, a third of the squared coverage."""
    found = coverages[coverages > 0]
    over = float((coverages**2 / 3 > _TARGET).mean())
    what = f"risk s^2, target .1, {n_samples} samples, {_say(confidence_level)}"
    if not len(found):
        return Row(what, measured="nothing can be certified")
    pooled = (found**3 / 3).sum() / found.sum()
    details = (
        f"errors among all accepted {pooled:.3f}, over the target in {over:.2f} of "
        f"runs, no rule in {1 - len(found) / len(coverages):.2f}, coverage "
        f"{coverages.mean():.2f}"
    )
    if confidence_level is None:
        what = f"{what}: mean risk"
        return at_most(what, _TARGET, float((found**2 / 3).mean()), "", details)
    return _over_row(what, over, confidence_level, details)


def _over_row(what, over, confidence_level, details):
    limit = round(1 - confidence_level, 6)
    return at_most(f"{what}: share of rules over it", limit, over, "", details)


def _say(confidence_level):
    return (
        "no confidence"
        if confidence_level is None
        else f"confidence {confidence_level:g}"
    )


# Real sets: rules solved on a part of what the classifier has not seen


def _pools(name):
    """Yield name, scores and errors of each classifier on what it has not seen."""
    X, y = load_set(name)
    if len(y) < _N_TRAIN + _FEWEST_LEFT:
        return
    for classifier, make in _CLASSIFIERS.items():
        fitted = make().fit(X[:_N_TRAIN], y[:_N_TRAIN])
        probabilities = fitted.predict_proba(X[_N_TRAIN:])
        labels = fitted.classes_[probabilities.argmax(axis=1)]
        errors = (labels != y[_N_TRAIN:]).astype(np.float64)
        if errors.mean() >= _LEAST_ERROR:
            yield f"{name}, {classifier}", 1 - probabilities.max(axis=1), errors


def _real_rows(pools):
    for n_samples in (100, 300, 1000):
        for confidence_level in (None, _CONFIDENCE):
            measured = {
                what: _measure(scores, errors, n_samples, confidence_level)
                for what, scores, errors in pools
            }
            yield from _pool_rows(n_samples, confidence_level, measured)


def _measure(scores, errors, n_samples, confidence_level):
    """Return risks in multiples of the target, and the mean coverage over draws.

    The risk is that of the samples not drawn. There is none where there is no rule, or
    nothing is accepted.
    """
    target = _SHARE_ASKED * errors.mean()
    ratios, coverages = [], []
    for seed in range(_DRAWS):
        rows = np.random.default_rng(seed).permutation(len(scores))
        drawn, rest = rows[:n_samples], rows[n_samples:]
        rule = _solve(scores[drawn], errors[drawn], target, confidence_level)
        if rule is None:
            coverages.append(0.0)
            continue
        accepted = rule.accept_proba(scores[rest])
        coverages.append(accepted.mean())
        if coverages[-1]:
            ratios.append(accepted @ errors[rest] / accepted.sum() / target)
    return np.array(ratios), float(np.mean(coverages))


def _pool_rows(n_samples, confidence_level, measured):
    means = {
        what: ratios.mean() for what, (ratios, _) in measured.items() if len(ratios)
    }
    what = f"half of the error, {n_samples} samples, {_say(confidence_level)}"
    if not means:
        yield Row(what, measured="nothing can be certified")
        return
    over = [(ratios > 1).sum() / _DRAWS for ratios, _ in measured.values()]
    nothing = [1 - len(ratios) / _DRAWS for ratios, _ in measured.values()]
    coverage = np.mean([coverage for _, coverage in measured.values()])
    low, high = min(means, key=means.get), max(means, key=means.get)
    details = (
        f"{len(measured)} classifiers, over the target in {np.mean(over):.2f} of draws "
        f"(at most {max(over):.2f}), no rule in {np.mean(nothing):.2f}, coverage "
        f"{coverage:.2f}"
    )
    if confidence_level is not None:
        yield _over_row(what, float(np.mean(over)), confidence_level, details)
        return
    quartiles = np.quantile([*means.values()], (0.25, 0.5, 0.75)).round(2)
    details = (
        f"quartiles {', '.join(map(str, quartiles))}, from {means[low]:.2f} ({low}) to "
        f"{means[high]:.2f} ({high}); {details}"
    )
    mean = float(np.mean([*means.values()]))
    yield at_most(f"{what}: mean risk", 1.0, mean, " x", details)
