"""Metadata and callbacks reach both classifiers of DeferringClassifier."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DeferringClassifier
from sklearn_reject.metrics import get_selective_scorer

# Experts that are no better than the first are said to be so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Nothing is deferred:sklearn_reject.exceptions.RejectionWarning"
)

X, y = make_classification(200, n_features=4, flip_y=0.2, random_state=0)
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, 200)


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the label of most weight, and remembers what it was given."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.given_ = {"sample_weight": sample_weight, "note": note}
        self.label_ = self.classes_[np.bincount(codes, sample_weight).argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


def deferring(first, expert, **options):
    options = {"gain_score": "confidence", "max_deferral": 0.3, **options}
    return DeferringClassifier(first, expert, **options)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_weights_go_to_both_and_others_to_the_first():
    model = deferring(Majority(), Majority(), gain_score=lambda clf, X: X[:, 0])
    model.fit(X, y, sample_weight=WEIGHT, note=np.arange(200))
    np.testing.assert_array_equal(model.estimator_.given_["sample_weight"], WEIGHT)
    np.testing.assert_array_equal(model.estimator_.given_["note"], np.arange(200))
    np.testing.assert_array_equal(model.expert_.given_["sample_weight"], WEIGHT)
    assert model.expert_.given_["note"] is None
    assert model.calibration_.sample_weight is not None


def test_expert_that_takes_no_weights():
    model = deferring(GaussianNB(), KNeighborsClassifier())
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit does not take it"):
        model.fit(X, y, sample_weight=WEIGHT)


@pytest.mark.usefixtures("routing")
def test_metadata_go_where_they_are_requested():
    first = Majority().set_fit_request(sample_weight=True, note=False)
    expert = Majority().set_fit_request(sample_weight=False, note=True)
    model = deferring(first, expert, gain_score=lambda clf, X: X[:, 0])
    model.set_fit_request(sample_weight=False)
    model.fit(X, y, sample_weight=WEIGHT, note=np.arange(200))
    np.testing.assert_array_equal(model.estimator_.given_["sample_weight"], WEIGHT)
    assert model.estimator_.given_["note"] is None
    assert model.expert_.given_["sample_weight"] is None
    np.testing.assert_array_equal(model.expert_.given_["note"], np.arange(200))
    assert model.calibration_.sample_weight is None


def person():
    options = {"gain_score": "confidence", "max_deferral": 0.3}
    return DeferringClassifier(GaussianNB(), **options)


@pytest.mark.usefixtures("routing")
def test_labels_of_a_person_are_requested():
    model = person().set_fit_request(expert_labels=True)
    model.set_score_request(expert_labels=True)
    pipeline = make_pipeline(StandardScaler(), model)
    scorer = get_selective_scorer("neg_deferral_area").set_score_request(
        expert_labels=True
    )
    options = {"params": {"expert_labels": y}, "return_estimator": True}
    options["cv"] = list(StratifiedKFold(3).split(X, y))
    found = cross_validate(pipeline, X, y, scoring=scorer, **options)
    for fitted, (_, test), score in zip(
        found["estimator"], options["cv"], found["test_score"], strict=True
    ):
        own = fitted.score(X[test], y[test], expert_labels=y[test])
        assert score == pytest.approx(own)


@pytest.mark.usefixtures("routing")
def test_labels_of_a_person_reach_a_cascade():
    inner = person().set_fit_request(expert_labels=True)
    model = deferring(LogisticRegression(), inner).set_fit_request(expert_labels=True)
    model.fit(X, y, expert_labels=y)
    assert model.rule_.n_asked == 200


@pytest.mark.usefixtures("routing")
def test_groups_of_a_splitter():
    model = deferring(GaussianNB(), LogisticRegression(), cv=GroupKFold(4))
    groups = np.arange(200) // 10
    model.fit(X, y, groups=groups)
    folds = np.split(groups[model.calibration_.rows], 4)
    assert all(
        not set(one) & set(other) for k, one in enumerate(folds) for other in folds[:k]
    )
