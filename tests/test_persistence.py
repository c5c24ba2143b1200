"""Fitted objects come back from files and decide as they did."""

import inspect
import io
import json
import pickle
import zipfile
from copy import copy
from functools import cache
from importlib import import_module

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
    trusted_types,
)
from sklearn_reject.selection import (
    CoverageMonitor,
    RiskCoverageSummary,
    RiskMonitor,
    solve_deferral,
    solve_target_risk,
)

X, y = load_breast_cancer(return_X_y=True)
# Rounded, so that scores tie and some rows are at the threshold.
X = np.round(X[:, :4] / X[:, :4].std(axis=0))
WITH_NOVEL = np.where(np.arange(len(y)) % 7 == 0, -1, y)
AMOUNT = X @ [1.0, 2.0, 0.0, 0.0]


def selective(**options):
    options = {"cv": 2, "random_state": 0, "target_coverage": 0.9} | options
    return SelectiveClassifier(LogisticRegression(), **options)


def held_out(**options):
    return selective(cv=0.5, target_coverage=None, **options)


def double(novelty_score):
    return DoubleScoreOODClassifier(
        LogisticRegression(), novelty_score=novelty_score, min_tpr=0.8, random_state=0
    )


def tuner(method):
    classifiers = [("linear", LogisticRegression()), ("bayes", GaussianNB())]
    return EnsembleThresholdTuner(classifiers, max_fp_per_tp=3, cv=2, method=method)


def deferring(**options):
    return DeferringClassifier(
        LogisticRegression(), GaussianNB(), cv=2, random_state=0, **options
    )


FORESTS = {"sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"}
TREES, NUMBERS = {"sklearn.tree._tree.Tree"}, {"numpy.dtype"}

NO_TARGET = {"target_coverage": None}
# Name: estimator, labels, and the types of other packages that skops asks about.
FITTED = {
    "plug-in": (selective(**NO_TARGET, reject_cost=0.2, cv="plug_in"), y, set()),
    "coverage": (selective(), y, set()),
    "risk certified": (held_out(target_risk=0.2, confidence_level=0.9), y, set()),
    "failure rate": (held_out(target_failure_rate=0.05), y, set()),
    "by prediction": (selective(group_by="prediction"), y, set()),
    "by class": (held_out(target_failure_rate=0.05, group_by="class"), y, set()),
    "precision": (selective(**NO_TARGET, min_precision=0.9, min_recall=0.8), y, set()),
    "sele": (selective(uncertainty_score="sele"), y, NUMBERS),
    "text labels": (selective(), np.array(["benign", "malignant"])[y], set()),
    "pipeline": (make_pipeline(StandardScaler(), selective()), y, set()),
    "msp": (double("msp"), WITH_NOVEL, set()),
    "mahalanobis": (double("mahalanobis"), WITH_NOVEL, NUMBERS),
    "knn": (double("knn"), WITH_NOVEL, NUMBERS),
    "dta": (ExpectedLossDecoder(LogisticRegression(), strategy="dta"), y, set()),
    "eum": (ExpectedLossDecoder(LogisticRegression(), strategy="eum"), y, set()),
    "analytic": (tuner("analytic"), y, set()),
    "direct": (tuner("direct"), y, set()),
    "budget": (deferring(max_deferral=0.2, gain_score="confidence"), y, set()),
    "gain": (deferring(max_deferral=0.2), y, FORESTS),
    "regressor": (SelectiveRegressor(Ridge(), target_coverage=0.9), AMOUNT, TREES),
    "errors": (selective(uncertainty_score="error_probability"), y, TREES),
}
IS_HEAVY = {
    *("gain", "regressor", "errors", "by class", "analytic", "knn"),
    *("failure rate", "by prediction", "sele", "dta", "mahalanobis"),
}

rng = np.random.default_rng(0)
scores = rng.random(300)
losses = (rng.random(300) < 0.2 * scores).astype(float)

OBJECTS = {
    "rule": solve_target_risk(scores, losses, 0.1),
    "rules by group": solve_target_risk(scores, losses, 0.2, groups=scores > 0.5),
    "deferral rule": solve_deferral(scores, losses, 0 * losses, max_deferral=0.2),
    "risk monitor": RiskMonitor(0.1).update(losses),
    "coverage monitor": CoverageMonitor(0.9).update(losses == 0),
    "summary": RiskCoverageSummary().update(scores, losses),
}


def by_pickle(value, _):
    return pickle.loads(pickle.dumps(value))


def by_joblib(value, _):
    file = io.BytesIO()
    joblib.dump(value, file)
    file.seek(0)
    return joblib.load(file)


def by_skops(value, others):
    sio = pytest.importorskip("skops.io", reason="skops is not installed")
    if FORESTS & others and parse_version(np.__version__) < parse_version("1.25"):
        pytest.skip("skops cannot write the random generators of an old numpy")
    data = sio.dumps(value)
    names = set(trusted_types())
    asked = set(sio.get_untrusted_types(data=data))
    assert asked & names, "nothing of this package is in the file"
    # Newer and older skops trust some of scikit-learn's types on their own.
    assert asked - names <= others
    return sio.loads(data, trusted=[*names, *others])


WAYS = [by_pickle, by_joblib, by_skops]


@cache
def fit(name):
    estimator, labels, others = FITTED[name]
    return estimator.fit(X, labels), others


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] if n in IS_HEAVY else [])
        for n in FITTED
    ],
)
@pytest.mark.filterwarnings("ignore:Fits to the folds", "ignore:Deferring .* saves")
def test_decisions_are_the_same(name, way):
    fitted, others = fit(name)
    restored = way(fitted, others)
    rows = slice(0, 200)
    assert type(restored) is type(fitted)
    np.testing.assert_array_equal(restored.predict(X[rows]), fitted.predict(X[rows]))
    for method in ("accept", "uncertainty", "defer"):
        if hasattr(fitted, method):
            expected = getattr(fitted, method)(X[rows])
            np.testing.assert_array_equal(getattr(restored, method)(X[rows]), expected)


@pytest.mark.parametrize("name", ["coverage", "msp", "budget", "plain regressor"])
@pytest.mark.filterwarnings("ignore:Fits to the folds", "ignore:Deferring .* saves")
def test_without_calibration_all_but_retarget_works(name):
    if name == "plain regressor":
        model = SelectiveRegressor(Ridge(), uncertainty_score=lambda _, X: X[:, 0])
        model.set_params(target_coverage=0.9).fit(X, AMOUNT)
    else:
        model = copy(fit(name)[0])
    decided = model.predict(X)
    model.calibration_ = None
    np.testing.assert_array_equal(model.predict(X), decided)
    model.report(X, AMOUNT if name == "plain regressor" else FITTED[name][1])
    with pytest.raises(ValueError, match="retarget needs `calibration_`, which is N"):
        model.retarget()


@pytest.mark.parametrize("way", WAYS)
def test_what_is_decided_at_the_threshold(way):
    fitted = SelectiveClassifier(
        DecisionTreeClassifier(max_depth=2, random_state=0),
        target_coverage=0.5,
        cv=0.5,
        random_state=0,
    ).fit(X, y)
    restored = way(fitted, {"sklearn.tree._tree.Tree"})
    at_threshold = fitted.rule_.at_threshold(fitted.uncertainty(X))
    accepted = fitted.accept(X)[at_threshold]
    assert 0 < accepted.sum() < len(accepted)
    assert restored.seed_ == fitted.seed_
    np.testing.assert_array_equal(restored.accept(X)[at_threshold], accepted)
    keys = np.arange(len(X))
    np.testing.assert_array_equal(
        restored.accept(X, keys=keys), fitted.accept(X, keys=keys)
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OBJECTS)
def test_rules_monitors_and_summaries(name, way):
    value = OBJECTS[name]
    restored = way(value, set())
    assert type(restored) is type(value)
    assert restored.to_dict() == value.to_dict()


@pytest.mark.parametrize("way", WAYS)
def test_keys_that_are_no_text(way):
    """Tuples are no keys to skops, and False is True."""
    rule = OBJECTS["rules by group"]
    assert list(way(rule, set()).rules.items()) == list(rule.rules.items())
    fitted = selective(target_coverage=None, min_precision={1: 0.9}).fit(X, y)
    assert way(fitted, set()).bounds_ == fitted.bounds_
    assert list(fitted.bounds_) == [("min_precision", 1)]
    # A frozen classifier takes a later target.
    frozen = FrozenEstimator(LogisticRegression().fit(X[:200], y[:200]))
    fitted = SelectiveClassifier(frozen, target_coverage=0.9, random_state=0)
    again = way(fitted.fit(X[200:], y[200:]), set()).retarget(target_coverage=0.7)
    assert again.rule_ == fitted.retarget(target_coverage=0.7).rule_


def test_trusted_types_are_classes_of_this_package():
    names = trusted_types()
    assert len(set(names)) == len(names) > 100
    for name in names:
        module, _, cls = name.rpartition(".")
        value = getattr(import_module(module), cls)
        assert inspect.isclass(value)
        assert value.__module__ == module
        assert module.partition(".")[0] == "sklearn_reject"
    # Modules have more names than these, which a file must not reach.
    assert "sklearn_reject.import_module" not in names


def from_elsewhere(estimator, X):
    return 1 - estimator.predict_proba(X).max(axis=1)


def test_what_is_not_trusted_is_not_loaded():
    """A filter of names by the package would let a file call what modules import."""
    sio = pytest.importorskip("skops.io", reason="skops is not installed")
    from skops.io.exceptions import UntrustedTypesFoundException

    fitted = selective(uncertainty_score=from_elsewhere).fit(X, y)
    with pytest.raises(UntrustedTypesFoundException, match="from_elsewhere"):
        sio.loads(sio.dumps(fitted), trusted=trusted_types())
    state = json.loads(zipfile.ZipFile(io.BytesIO(sio.dumps(len))).read("schema.json"))
    names = {"__class__": "import_module", "__module__": "sklearn_reject"}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("schema.json", json.dumps(state | names))
    data = file.getvalue()
    asked = sio.get_untrusted_types(data=data)
    assert asked == ["sklearn_reject.import_module"]
    assert sio.loads(data, trusted=asked) is import_module
    with pytest.raises(UntrustedTypesFoundException):
        sio.loads(data, trusted=trusted_types())
