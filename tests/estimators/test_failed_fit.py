"""A `fit` that fails changes nothing, and what was fitted before can go on."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
)

X, y = make_blobs(120, 4, centers=3, cluster_std=5.0, random_state=0)
NOVEL = np.where(y == 2, -1, y)
BINARY = (y == 0).astype(int)
OTHER_X = X[:, :2]  # of another number of features


def constant(estimator, X):
    """Tell no sample from another."""
    return np.zeros(len(X))


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


def detectors(first, second):
    return [("first", first, slice(0, 2)), ("second", second, slice(2, 4))]


NO_RISK = {"target_coverage": None, "target_risk": 0.0, "uncertainty_score": constant}
# Estimators with their labels, and parameters that fail once everything is fitted, in
# the middle of that, and at once.
CASES = {
    "selective": (
        SelectiveClassifier(GaussianNB(), target_coverage=0.8, random_state=0),
        y,
        NO_RISK,
        {"estimator": BrokenClassifier()},
        {"randomize": "maybe"},
    ),
    "groups": (
        SelectiveClassifier(
            GaussianNB(), target_coverage=0.8, group_by="prediction", random_state=0
        ),
        y,
        NO_RISK,
        {"estimator": BrokenClassifier()},
        {"group_by": 9},
    ),
    "certified": (
        SelectiveClassifier(
            GaussianNB(), target_risk=0.9, confidence_level=0.8, cv=0.5, random_state=0
        ),
        y,
        {"target_risk": 1e-9},
        {"estimator": BrokenClassifier()},
        {"confidence_level": 2},
    ),
    "regressor": (
        SelectiveRegressor(LinearRegression(), target_coverage=0.8, random_state=0),
        X @ [1, 2, 3, 4],
        NO_RISK,
        {"estimator": BrokenRegressor()},
        {"target_coverage": 2},
    ),
    "double": (
        DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.7, random_state=0),
        NOVEL,
        {"min_tpr": 1.0, "max_fpr": 0.0},
        {"estimator": BrokenClassifier()},
        {"costs": (1, 2, 0)},
    ),
    "deferring": (
        DeferringClassifier(
            GaussianNB(),
            DummyClassifier(),
            gain_score="confidence",
            deferral_cost=0.0,
            random_state=0,
        ),
        y,
        {"deferral_cost": None, "target_risk": 0.0},
        {"expert": BrokenClassifier()},
        {"max_deferral": 2},
    ),
    "decoder": (
        ExpectedLossDecoder(GaussianNB(), strategy="eum"),
        BINARY,
        {"estimator": Improper()},
        {"estimator": BrokenClassifier()},
        {"strategy": "best"},
    ),
    "tuner": (
        EnsembleThresholdTuner(
            detectors(GaussianNB(), GaussianNB()), max_fp_per_tp=1.0
        ),
        BINARY,
        {"estimators": detectors(GaussianNB(), DummyClassifier())},
        {"estimators": detectors(GaussianNB(), BrokenClassifier())},
        {"rule": "some"},
    ),
}


def failures(name):
    """Return X, y and parameters of each way to fail."""
    labels, infeasible, broken, invalid = CASES[name][1:]
    # The detectors of a tuner are given columns, all of which have to be there.
    other_X = X if name == "tuner" else OTHER_X
    holes = np.where(np.arange(len(X))[:, np.newaxis] == 3, np.nan, X)
    missing = np.where(np.arange(len(X)) == 3, np.nan, labels)
    return {
        "infeasible": (other_X, labels, infeasible),
        "NaN in X": (holes, labels, {}),
        "NaN in y": (other_X, missing, {}),
        "no labels": (other_X, None, {}),
        "fewer labels": (other_X, labels[:-1], {}),
        "one row": (other_X[:1], labels[:1], {}),
        "no rows": (other_X[:0], labels[:0], {}),
        "a broken estimator": (other_X, labels, broken),
        "a bad parameter": (other_X, labels, invalid),
        "wrong options": (other_X, labels, {}, {"sample_weight": -np.ones(len(X))}),
    }


WAYS = list(failures("selective"))


def state_of(model):
    """Return all attributes but the parameters."""
    return {
        name: value
        for name, value in vars(model).items()
        if name not in model.get_params(deep=False)
    }


def answers_of(model):
    methods = ("predict", "predict_proba", "accept", "uncertainty", "joint_scores")
    return [
        np.asarray(getattr(model, method)(X))
        for method in methods
        if hasattr(model, method)
    ]


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    model, labels = CASES[request.param][:2]
    return request.param, clone(model).fit(X, labels)


@pytest.mark.parametrize("way", WAYS)
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


@pytest.mark.parametrize("name", CASES)
def test_names_of_features_stay(name):
    pd = pytest.importorskip("pandas")
    model, labels, infeasible = CASES[name][:3]
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = clone(model).fit(frame, labels)
    params = model.get_params(deep=False)
    model.set_params(**infeasible)
    for other in (X, pd.DataFrame(X, columns=list("efgh"))):
        with pytest.raises(ValueError, match=r".+"):
            model.fit(other, labels)
    model.set_params(**params)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcd"))
    model.predict(frame)  # without a warning of names that do not match


@pytest.mark.parametrize("name", CASES)
def test_first_fit_that_fails_leaves_nothing(name):
    model, labels, infeasible = CASES[name][:3]
    model = clone(model).set_params(**infeasible)
    with pytest.raises(ValueError, match=r".+"):
        model.fit(X, labels)
    assert state_of(model) == {}
    assert not model.__sklearn_is_fitted__()
