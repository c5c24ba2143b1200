"""Rules that follow new samples, against one fit on all of them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_reject import (
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)

TARGETS = [
    {"reject_cost": 0.2},
    {"target_risk": 0.05},
    {"target_risk": 0.2, "confidence_level": 0.9},
    {"target_coverage": 0.7},
    {"target_coverage": 0.7, "confidence_level": 0.9},
    {"target_failure_rate": 0.05},
]
NAMES = ["-".join(target) for target in TARGETS]


def make(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


X, y = make()
X_new, y_new = make(600, seed=1)
FROZEN = FrozenEstimator(LogisticRegression().fit(X, y))


def in_parts(estimator, *arrays, n_parts=5):
    for part in zip(*(np.array_split(a, n_parts) for a in arrays), strict=True):
        estimator.partial_fit(*part)
    return estimator


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_near_one_fit_on_all_samples(target):
    model = SelectiveClassifier(FROZEN, random_state=0, **target)
    parts = in_parts(model, X_new, y_new)
    at_once = clone(model).partial_fit(X_new, y_new)
    assert parts.rule_ == at_once.rule_
    assert parts.summary_.n_samples == 600
    fitted = clone(model).fit(X_new, y_new)
    # A cell has few of the samples.
    assert parts.rule_.coverage == pytest.approx(fitted.rule_.coverage, abs=0.02)
    assert fitted.summary_ is None


def test_rule_meets_its_target_on_all_samples_so_far():
    model = SelectiveClassifier(FROZEN, target_risk=0.04, random_state=0)
    in_parts(model, X_new, y_new)
    losses = model.loss_(y_new, model.predict_label(X_new))
    measured = model.rule_.measure(model.uncertainty(X_new), losses)
    assert measured.selective_risk <= 0.04 + 1e-12
    assert measured.coverage == pytest.approx(model.rule_.coverage)


def test_goes_on_after_fit_and_after_a_way_through_pickle():
    model = SelectiveClassifier(FROZEN, target_risk=0.05, random_state=0)
    model.fit(X_new[:200], y_new[:200])
    seed = model.seed_
    model = pickle.loads(pickle.dumps(model))
    model.partial_fit(X_new[200:], y_new[200:])
    other = clone(model).partial_fit(X_new, y_new)
    assert model.rule_ == other.rule_
    assert model.seed_ == seed


def test_retarget_solves_on_the_summary():
    model = in_parts(
        SelectiveClassifier(FROZEN, target_risk=0.05, random_state=0), X_new, y_new
    )
    other = model.retarget(target_coverage=0.5)
    asked = SelectiveClassifier(FROZEN, target_coverage=0.5, random_state=0)
    assert other.rule_ == in_parts(asked, X_new, y_new).rule_
    # A copy that goes on leaves the other one as it was.
    other.partial_fit(X, y)
    assert (model.summary_.n_samples, other.summary_.n_samples) == (600, 1000)
    with pytest.raises(
        ValueError, match="partial_fit cannot be combined with group_by"
    ):
        model.retarget(group_by="prediction")


def test_weights_are_repeated_rows():
    weight = np.arange(len(y_new)) % 3
    model = SelectiveClassifier(FROZEN, target_risk=0.05, random_state=0)
    weighted = clone(model).partial_fit(X_new, y_new, sample_weight=weight)
    rows = np.repeat(np.arange(len(y_new)), weight)
    repeated = clone(model).partial_fit(X_new[rows], y_new[rows])
    assert weighted.rule_.threshold == repeated.rule_.threshold
    assert weighted.rule_.coverage == pytest.approx(repeated.rule_.coverage)


def test_regressor():
    model = FrozenEstimator(LinearRegression().fit(X, X[:, 0]))
    selective = SelectiveRegressor(
        model,
        target_coverage=0.5,
        uncertainty_score=lambda estimator, X: np.abs(X[:, 1]),
    )
    in_parts(selective, X_new, X_new[:, 0] + X_new[:, 1])
    assert selective.rule_.coverage == pytest.approx(0.5, abs=0.01)


def test_samples_count_where_no_rule_can_be_had_yet():
    model = SelectiveClassifier(FROZEN, target_risk=0.2, confidence_level=0.9)
    with pytest.raises(InfeasibleTargetError, match="samples"):
        model.partial_fit(X_new[:5], y_new[:5])
    assert not hasattr(model, "rule_")
    model.partial_fit(X_new[5:], y_new[5:])
    assert model.rule_.certificate.n_samples == 600


def test_only_what_is_frozen():
    model = SelectiveClassifier(LogisticRegression())
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"group_by": "prediction"}, "partial_fit cannot be combined with group_by"),
        ({"uncertainty_score": "sele"}, "uncertainty_score, got 'sele'"),
        ({"min_precision": 0.9}, "cannot be combined with min_precision"),
        ({"reject_cost": 0.1, "cv": "plug_in"}, "cannot be combined with cv='plug_in'"),
    ],
    ids=["groups", "learned", "bounds", "plug-in"],
)
def test_what_does_not_go_with_a_summary(params, message):
    target = {"target_risk": 0.1} if len(params) < 2 else {}
    if "min_precision" in params:
        target = {}
    model = SelectiveClassifier(FROZEN, **target, **params)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X_new, y_new)
    assert not hasattr(model, "summary_")


def test_samples_of_another_score_or_classifier():
    model = SelectiveClassifier(FROZEN, target_risk=0.1).partial_fit(X_new, y_new)
    model.set_params(uncertainty_score="margin")
    with pytest.raises(ValueError, match="another estimator, uncertainty_score"):
        model.partial_fit(X_new, y_new)
    other = FrozenEstimator(LogisticRegression().fit(X, y))
    model.set_params(uncertainty_score="auto", estimator=other)
    with pytest.raises(ValueError, match="another estimator, uncertainty_score"):
        model.partial_fit(X_new, y_new)
    assert model.summary_.n_samples == 600
