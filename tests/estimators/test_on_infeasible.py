"""Targets that cannot be met: an error, or the end of what can be attained."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DoubleScoreOODClassifier,
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject._estimators._nearest import relax
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    solve_nearest_risk,
    solve_target_risk,
    tune_double_score,
)
from tests.samples import samples

X, y = make_blobs(240, 6, centers=4, cluster_std=9.0, random_state=1)
Y_OOD = np.where(y == 3, -1, y)
NUMBERS = X @ np.arange(6) + 10 * np.sin(X[:, 0])
MODEL = GaussianNB()


def by_first_feature(estimator, X):
    """Order samples by something that says nothing about errors."""
    return 1.0 * (np.asarray(X)[:, 0] > 0)


SELECTIVE = SelectiveClassifier(
    MODEL, target_risk=0.01, uncertainty_score=by_first_feature, random_state=0
)
DOUBLE = DoubleScoreOODClassifier(MODEL, method="grid", n_directions=11, random_state=0)


def both(model, *data, **params):
    """Return the error of "raise", and what "nearest" fits instead."""
    model = clone(model).set_params(**params)
    with pytest.raises(InfeasibleTargetError) as error:
        clone(model).fit(*data)
    model.set_params(on_infeasible="nearest")
    with pytest.warns(RejectionWarning, match="on_infeasible='nearest'") as warnings:
        model.fit(*data)
    assert str(error.value) in str(warnings[-1].message)
    return error.value, model


# Selective estimators


@pytest.mark.parametrize("randomize", [True, False])
def test_lowest_risk_of_the_sample(randomize):
    error, model = both(SELECTIVE, X, y, randomize=randomize)
    assert error.lowest_risk > 0.01
    np.testing.assert_allclose(model.rule_.selective_risk, error.lowest_risk)
    np.testing.assert_allclose(model.rule_.coverage, error.coverage)
    assert model.target_risk == 0.01  # what was asked for stays to be read
    calibration = model.calibration_
    accepted = calibration.scores[model.rule_.accept_proba(calibration.scores) == 1]
    rows = np.isin(calibration.scores, accepted)
    assert calibration.losses[rows].mean() == pytest.approx(error.lowest_risk)


def test_lowest_risk_of_a_regressor():
    model = SelectiveRegressor(
        LinearRegression(), target_risk=1e-9, uncertainty_score=by_first_feature
    )
    error, model = both(model, X, NUMBERS)
    np.testing.assert_allclose(model.rule_.selective_risk, error.lowest_risk)


@given(samples(max_size=20), st.integers(0, 2**32))
def test_lowest_risk_can_always_be_solved_again(sample, seed):
    scores, losses, weights = sample
    losses = (losses + 0.1) * np.random.default_rng(seed).random(len(losses))
    for randomize in (True, False):
        options = {"sample_weight": weights, "randomize": randomize}
        try:
            solve_target_risk(scores, losses, 0.0, **options)
        except InfeasibleTargetError as error:
            again = solve_target_risk(scores, losses, error.lowest_risk, **options)
            np.testing.assert_allclose(again.selective_risk, error.lowest_risk)


@pytest.mark.parametrize(
    "params",
    [
        {"cv": 0.4},
        {"cv": 0.4, "target_risk": 0.0},  # which no sample certifies
        {"cv": 0.05},  # too few for any
        {"cv": 0.4, "loss": "absolute", "max_loss": 3.0, "target_risk": 0.1},
        {"cv": 0.4, "randomize": False},
    ],
    ids=["losses", "zero", "few", "betting", "no draws"],
)
def test_smallest_risk_that_can_be_certified(params):
    params = {"uncertainty_score": "auto", "confidence_level": 0.8, **params}
    _, model = both(SELECTIVE, X, y, **params)
    rule = model.rule_
    certificate = rule.certificate
    assert rule.selective_risk < certificate.target < params.get("max_loss", 1.0)
    assert (certificate.quantity, certificate.confidence_level) == ("risk", 0.8)
    calibration = model.calibration_
    accepted = model.rule_.accept(calibration.scores, draws=calibration.draws)
    assert accepted.sum() == certificate.n_accepted
    assert calibration.losses[accepted].mean() == pytest.approx(rule.selective_risk)
    np.testing.assert_array_equal(accepted, model.accept(X[calibration.rows]))


def test_nothing_can_be_certified_where_every_prediction_is_wrong():
    wrong = FrozenEstimator(MODEL.fit(X, (y + 1) % 4))
    model = clone(SELECTIVE).set_params(estimator=wrong, confidence_level=0.9)
    for on_infeasible in ("raise", "nearest"):
        model.set_params(on_infeasible=on_infeasible)
        with pytest.raises(InfeasibleTargetError, match="can be certified"):
            model.fit(X, (wrong.predict(X) + 1) % 4)


@pytest.mark.parametrize(
    # Betting has no upper bound, and takes that of Hoeffding and Bentkus.
    "name",
    [
        "binomial",
        pytest.param("hoeffding_bentkus", marks=pytest.mark.slow),
        pytest.param("betting", marks=pytest.mark.slow),
    ],
)
def test_the_risk_found_holds_as_often_as_it_says(name):
    rng = np.random.default_rng(0)
    n_samples, broken, n_runs = 40, 0, 200
    for _ in range(n_runs):
        # The risk is .3 whatever is accepted, so that the luckiest part is chosen.
        losses = (rng.random(n_samples) < 0.3).astype(float)
        rule = solve_nearest_risk(
            rng.random(n_samples),
            losses,
            confidence_level=0.7,
            bound=name,
            max_loss=1.0,
        )
        broken += rule.certificate.target < 0.3
    # At a chance of .3 this many are seen once in a thousand times.
    assert broken <= 80
    if name == "binomial":
        assert broken > 5  # not by bounds that say nothing


# Rules for OOD samples


@pytest.mark.parametrize(
    "method",
    ["grid", *(pytest.param(m, marks=pytest.mark.slow) for m in ("exact", "auto"))],
)
@pytest.mark.parametrize(
    "bounds",
    [
        {"min_tpr": 0.9, "max_fpr": 0.05},
        {"min_tpr": 0.9, "max_risk": 0.05},
        {"min_recall": 0.9, "min_precision": 0.85, "ood_prior": 0.3},
    ],
    ids=lambda bounds: "-".join(bounds),
)
def test_what_protects_is_kept_beside_the_largest_tpr(bounds, method):
    error, model = both(DOUBLE, X, Y_OOD, **bounds, method=method)
    rule = model.rule_
    most = error.attainable["max_recall" if "min_recall" in bounds else "max_tpr"]
    assert 0 < most < 0.9
    np.testing.assert_allclose(rule.tpr, most, rtol=2e-3)
    assert not rule.fpr > bounds.get("max_fpr", 1) + 1e-9
    assert not rule.selective_risk > bounds.get("max_risk", 1) + 1e-9
    assert not rule.precision < bounds.get("min_precision", 0) - 1e-9
    assert model.get_params()["on_infeasible"] == "nearest"


def test_what_protects_gives_way_where_nothing_can_be_accepted_beside_it():
    first = np.array([True] + [False] * 9)  # the surest sample of all is OOD
    novelty = np.arange(10.0)

    def evaluated(estimator, X):
        return X[:, 1]

    data = np.column_stack([np.zeros(10), novelty])
    labels = np.where(first, -1, np.arange(10) % 2)
    frozen = FrozenEstimator(GaussianNB().fit(data[1:], labels[1:]))
    double = DoubleScoreOODClassifier(
        frozen,
        uncertainty_score=evaluated,
        novelty_score=evaluated,
        min_tpr=0.5,
        max_fpr=0.0,
        randomize=False,
    )
    error, model = both(double, data, labels)
    assert not error.attainable["max_tpr"] > 0
    assert model.rule_.fpr == error.attainable["min_fpr"] == 1.0
    assert model.rule_.tpr >= 0.5


def test_tpr_alone_is_lowered_to_what_is_not_infinitely_novel():
    def novelty(estimator, X):
        return np.where(X[:, 0] > 0, np.inf, X[:, 1])

    double = clone(DOUBLE).set_params(novelty_score=novelty, min_tpr=0.9)
    error, model = both(double, X, y)
    assert model.rule_.tpr == pytest.approx(error.attainable["max_tpr"])
    assert model.accept(X).mean() == pytest.approx(np.mean(X[:, 0] <= 0))


CERTIFIED = {
    "fpr": {"min_tpr": 0.5, "max_fpr": 0.02},
    "risk": {"min_tpr": 0.5, "max_risk": 0.02},
    "precision": {"min_recall": 0.5, "min_precision": 0.99, "ood_prior": 0.3},
    "tpr": {"min_tpr": 0.999},
}


@pytest.mark.parametrize("asked", CERTIFIED)
@pytest.mark.parametrize("cv", [pytest.param(0.25, marks=pytest.mark.slow), 0.5])
def test_certified_rules_keep_the_tpr(asked, cv):
    bounds = CERTIFIED[asked]
    _, model = both(DOUBLE, X, Y_OOD, **bounds, confidence_level=0.8, cv=cv)
    rule, certificate = model.rule_, model.rule_.certificate
    wanted = bounds.get("min_tpr", bounds.get("min_recall"))
    if asked == "tpr":
        assert certificate.min_tpr < wanted  # as the number of samples says
        assert certificate.n_accepted_id == certificate.n_id
        assert certificate.max_fpr is None
    else:
        assert certificate.min_tpr == wanted
        assert bounds.get("max_fpr", 0) < certificate.max_fpr < 1
        assert rule.fpr <= certificate.max_fpr
    if asked == "risk":
        assert bounds["max_risk"] < certificate.max_risk < 1
    assert rule.tpr >= certificate.min_tpr
    held_out = model.calibration_.held_out
    accepted = rule.accept(*held_out.scores.T, draws=held_out.draws)
    assert np.sum(accepted & held_out.is_ood) == certificate.n_accepted_ood


def test_too_few_samples_to_certify_anything_are_an_error():
    bounds = {"min_tpr": 0.5, "max_fpr": 0.02, "confidence_level": 0.9, "cv": 0.01}
    model = clone(DOUBLE).set_params(on_infeasible="nearest", **bounds)
    with pytest.raises(InfeasibleTargetError, match="samples cannot certify"):
        model.fit(X, Y_OOD)


@given(st.integers(0, 2**32), st.sampled_from(["grid", "exact", "auto"]))
def test_relaxed_bounds_can_always_be_met(seed, method):
    rng = np.random.default_rng(seed)
    risk, novelty = rng.integers(0, 5, 12) / 4, rng.integers(0, 5, 12) / 4
    losses, is_ood = rng.random(12), np.arange(12) % 3 == 0
    bounds = {"min_tpr": 0.95}
    name = rng.choice(["max_fpr", "max_risk", "min_precision"])
    bounds[str(name)] = float(rng.choice([0.0, 0.01, 0.2]))
    if name == "min_precision":
        bounds = {"min_recall": 0.95, "min_precision": 0.97, "ood_prior": 0.4}

    def solve(bounds):
        return tune_double_score(risk, novelty, losses, is_ood, method=method, **bounds)

    for keeps_tpr in (False, True):
        met, rule = relax(solve, bounds, keeps_tpr=keeps_tpr)
        assert rule.tpr >= met.get("min_tpr", met.get("min_recall")) - 1e-9
        assert not rule.fpr > met.get("max_fpr", 1) + 1e-9


# Both


@pytest.mark.parametrize(
    ("model", "labels", "harder", "easier"),
    [
        (SELECTIVE, y, {"target_risk": 0.01}, {"target_risk": 0.9}),
        (DOUBLE, Y_OOD, {"min_tpr": 0.9, "max_fpr": 0.05}, {"max_fpr": 0.95}),
    ],
    ids=["selective", "double"],
)
def test_retarget_is_fit(model, labels, harder, easier):
    _, fitted = both(model, X, labels, **harder)
    feasible = clone(fitted).set_params(**easier)
    feasible.fit(X, labels)  # no warning
    with pytest.warns(RejectionWarning, match="on_infeasible"):
        again = feasible.retarget(**harder)
    assert repr(again.rule_) == repr(fitted.rule_)  # NaN is not equal to NaN
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    with pytest.raises(InfeasibleTargetError):
        feasible.retarget(**harder, on_infeasible="raise")
    with pytest.raises(ValueError, match="on_infeasible"):
        feasible.retarget(**easier, on_infeasible="closest")
    restored = pickle.loads(pickle.dumps(fitted))
    assert repr(restored.rule_) == repr(fitted.rule_)
    np.testing.assert_array_equal(restored.predict(X), fitted.predict(X))


def test_targets_that_can_be_met_do_not_depend_on_it():
    options = {"target_risk": 0.7, "uncertainty_score": "auto"}
    plain = clone(SELECTIVE).set_params(**options).fit(X, y)
    nearest = clone(plain).set_params(on_infeasible="nearest").fit(X, y)
    assert nearest.rule_ == plain.rule_


@pytest.mark.parametrize(
    "model", [SELECTIVE, clone(DOUBLE).set_params(min_tpr=0.5)], ids=["one", "two"]
)
def test_unknown_options_are_refused(model):
    with pytest.raises(ValueError, match=r"on_infeasible must be .*got 'closest'"):
        clone(model).set_params(on_infeasible="closest").fit(X, Y_OOD)


def test_search_over_targets_survives():
    search = GridSearchCV(
        clone(SELECTIVE).set_params(on_infeasible="nearest"),
        {"target_risk": [0.01, 0.9]},
        cv=2,
        error_score="raise",
    )
    with pytest.warns(RejectionWarning, match="on_infeasible"):
        search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
