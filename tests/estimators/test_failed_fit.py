"""A `fit` that fails changes nothing, and what was fitted before can go on."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from tests.estimators import models
from tests.estimators.models import BAYES, constant

X, y = make_blobs(120, 4, centers=3, cluster_std=5.0, random_state=0)
ROWS, BINARY = np.arange(120), (y == 0).astype(int)


class Broken(BaseEstimator):
    """Fails once it is asked to fit."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        raise ValueError("out of memory")

    def predict(self, X):
        raise AssertionError("it never was fitted")


class BrokenRegressor(RegressorMixin, Broken):
    pass


class BrokenClassifier(ClassifierMixin, Broken):
    predict_proba = decision_function = Broken.predict


class Improper(GaussianNB):
    """Has probabilities that are none."""

    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


def detectors(second):
    return [("first", BAYES, slice(0, 2)), ("second", second, slice(2, 4))]


BREAKS = {"estimator": BrokenClassifier()}
COVERAGE = {"target_coverage": 0.8}
NO_RISK = {"target_coverage": None, "target_risk": 0.0, "uncertainty_score": constant}
CERTIFIED = {"target_risk": 0.9, "confidence_level": 0.8, "cv": 0.5}
NO_DEFERRAL = {"expert": DummyClassifier(), "deferral_cost": 0.0}
PRICE = {"estimators": detectors(BAYES), "max_fp_per_tp": 1.0}


def other(model, **params):
    return clone(model).set_params(**params)


ESTIMATORS = {
    "selective": (other(models.CLASSIFIER, **COVERAGE), y),
    "groups": (other(models.CLASSIFIER, group_by="prediction", **COVERAGE), y),
    "certified": (other(models.CLASSIFIER, **CERTIFIED), y),
    "regressor": (other(models.REGRESSOR, **COVERAGE), X @ [1, 2, 3, 4]),
    "double": (other(models.DOUBLE, min_tpr=0.7), np.where(y == 2, -1, y)),
    "deferring": (other(models.DEFERRING, **NO_DEFERRAL), y),
    "decoder": (other(models.DECODER, strategy="eum"), BINARY),
    "tuner": (other(models.TUNER, **PRICE), BINARY),
}
NO_EXPERT = {"expert": BrokenClassifier()}
# Parameters that fail once all is fitted, in the middle of that, and at once.
BAD_PARAMS = {
    "selective": (NO_RISK, BREAKS, {"randomize": "maybe"}),
    "groups": (NO_RISK, BREAKS, {"group_by": 9}),
    "certified": ({"target_risk": 1e-9}, BREAKS, {"confidence_level": 2}),
    "regressor": (NO_RISK, {"estimator": BrokenRegressor()}, {"target_coverage": 2}),
    "double": ({"min_tpr": 1.0, "max_fpr": 0.0}, BREAKS, {"costs": (1, 2, 0)}),
    "deferring": (
        {"deferral_cost": None, "target_risk": 0.0},
        NO_EXPERT,
        {"max_deferral": 2},
    ),
    "decoder": ({"estimator": Improper()}, BREAKS, {"strategy": "best"}),
    "tuner": (
        {"estimators": detectors(DummyClassifier())},
        {"estimators": detectors(BrokenClassifier())},
        {"rule": "some"},
    ),
}


def failures(name):
    """Return X, y, parameters and what else `fit` gets, of each way to fail."""
    _, labels = ESTIMATORS[name]
    infeasible, broken, invalid = BAD_PARAMS[name]
    # The detectors of a tuner are given columns, all of which have to be there.
    few = X if name == "tuner" else X[:, :2]
    holes = np.where(ROWS[:, np.newaxis] == 3, np.nan, X)
    return {
        "infeasible": (few, labels, infeasible),
        "NaN in X": (holes, labels, {}),
        "NaN in y": (few, np.where(ROWS == 3, np.nan, labels), {}),
        "no labels": (few, None, {}),
        "fewer labels": (few, labels[:-1], {}),
        "one row": (few[:1], labels[:1], {}),
        "no rows": (few[:0], labels[:0], {}),
        "a broken estimator": (few, labels, broken),
        "a bad parameter": (few, labels, invalid),
        "wrong options": (few, labels, {}, {"sample_weight": -np.ones(len(X))}),
    }


def state_of(model):
    """Return all attributes but the parameters."""
    params = model.get_params(deep=False)
    return {name: value for name, value in vars(model).items() if name not in params}


def answers_of(model):
    methods = ("predict", "predict_proba", "accept", "uncertainty", "joint_scores")
    found = [getattr(model, method) for method in methods if hasattr(model, method)]
    return [np.asarray(method(X)) for method in found]


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    model, labels = ESTIMATORS[request.param]
    return request.param, clone(model).fit(X, labels)


@pytest.mark.parametrize("way", failures("selective"))
def test_fit_that_fails_leaves_what_was_fitted(fitted, way):
    name, model = fitted
    if (name, way) == ("tuner", "NaN in y"):
        pytest.skip("a missing value is a document that was not rated")
    before, answers = state_of(model), answers_of(model)
    params = model.get_params(deep=False)
    bad_X, bad_y, bad_params, *options = failures(name)[way]
    model.set_params(**bad_params)
    with pytest.raises((ValueError, TypeError)):
        model.fit(bad_X, bad_y, **(options[0] if options else {}))
    model.set_params(**params)
    after = state_of(model)
    assert after.keys() == before.keys()
    assert all(after[key] is value for key, value in before.items())
    assert model.n_features_in_ == 4
    for value, expected in zip(answers_of(model), answers, strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_names_of_features_stay(name):
    pd = pytest.importorskip("pandas")
    (model, labels), infeasible = ESTIMATORS[name], BAD_PARAMS[name][0]
    first = other(model, **infeasible)
    frame = pd.DataFrame(X, columns=[*"abcd"])
    model = clone(model).fit(frame, labels)
    params = model.get_params(deep=False)
    model.set_params(**infeasible)
    for data in (X, pd.DataFrame(X, columns=[*"efgh"])):
        with pytest.raises(ValueError, match=r".+"):
            model.fit(data, labels)
    model.set_params(**params)
    np.testing.assert_array_equal(model.feature_names_in_, [*"abcd"])
    model.predict(frame)  # without a warning of names that do not match
    # A first fit that fails leaves nothing.
    with pytest.raises(ValueError, match=r".+"):
        first.fit(X, labels)
    assert state_of(first) == {}
    assert not first.__sklearn_is_fitted__()
    # Another fit leaves no names.
    assert not hasattr(model.fit(X, labels), "feature_names_in_")
