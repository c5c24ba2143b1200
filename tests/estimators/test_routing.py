"""Weights, groups and other metadata reach whoever asks for them, and nobody else."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
)
from sklearn_reject.metrics import get_selective_scorer

# Experts that are no better than the first are said to be so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Nothing is deferred:sklearn_reject.exceptions.RejectionWarning",
    "ignore:Deferring .* saves nothing:sklearn_reject.exceptions.RejectionWarning",
)

X, y = make_classification(300, n_features=4, flip_y=0.2, random_state=0)
WITH_OOD = np.where(np.arange(300) % 5 == 0, -1, y)
WEIGHT = 1.0 + np.arange(300) % 3


class Recalling(GaussianNB):
    """Naive Bayes that remembers what it was given."""

    def fit(self, X, y, sample_weight=None):
        self.weight_ = sample_weight
        return super().fit(X, y, sample_weight)


def selective(estimator, **options):
    return SelectiveClassifier(estimator, target_coverage=0.5, **options)


def double(estimator, **options):
    options = {"min_tpr": 0.5, "novelty_score": "msp", **options}
    return DoubleScoreOODClassifier(estimator, **options)


def deferring(estimator, expert=None, **options):
    options = {"gain_score": "confidence", "max_deferral": 0.3, **options}
    expert = Majority() if expert is None else expert
    return DeferringClassifier(estimator, expert, **options)


def labels_of(make):
    return WITH_OOD if make is double else y


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(
    ("of_inner", "of_outer"), [(True, True), (True, False), (False, True), ("w", "w")]
)
@pytest.mark.parametrize("make", [selective, double])
def test_weights_reach_the_classifier_and_the_rule_as_asked(make, of_inner, of_outer):
    labels, name = labels_of(make), "w" if of_inner == "w" else "sample_weight"
    splits = list(StratifiedKFold(3).split(X, labels))
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Recalling().set_fit_request(sample_weight=of_inner)
        model = make(inner, cv=splits).set_fit_request(sample_weight=of_outer)
        model.fit(X, labels, **{name: WEIGHT})
    inside = labels >= 0
    if of_inner:
        np.testing.assert_array_equal(model.estimator_.weight_, WEIGHT[inside])
    else:
        assert model.estimator_.weight_ is None
    kept = model.calibration_
    expected = WEIGHT[kept.rows] if of_outer else None
    np.testing.assert_array_equal(kept.sample_weight, expected)
    if of_outer is False:  # so that a guarantee can be had
        with sklearn.config_context(enable_metadata_routing=True):
            sure = model.set_params(confidence_level=0.8, cv=0.5)
            assert sure.fit(X, labels, sample_weight=WEIGHT).rule_.certificate
    if of_inner and of_outer:
        plain = make(Recalling(), cv=splits).fit(X, labels, sample_weight=WEIGHT)
        assert repr(model.rule_) == repr(plain.rule_)


@pytest.mark.usefixtures("routing")
def test_what_nobody_decided_on_is_refused():
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        selective(GaussianNB()).fit(X, y, sample_weight=WEIGHT)


@pytest.mark.parametrize("is_routed", [True, False])
@pytest.mark.parametrize("make", [selective, double, deferring])
def test_groups_reach_the_splitter(make, is_routed):
    groups, labels = np.arange(300) % 10, labels_of(make)
    model = make(GaussianNB(), cv=GroupKFold(3))
    with sklearn.config_context(enable_metadata_routing=is_routed):
        model.fit(X, labels, groups=groups)
    splits = list(GroupKFold(3).split(X, labels, groups))
    same = clone(model).set_params(cv=splits).fit(X, labels)
    assert repr(model.rule_) == repr(same.rule_)
    for inner in (GaussianNB(), make_pipeline(GaussianNB())):
        words = "groups are used neither by cv=KFold.* nor.* Pass a splitter such as"
        with pytest.raises(ValueError, match=words):
            make(inner, cv=KFold(3)).fit(X, labels, groups=groups)


# Both classifiers of a DeferringClassifier


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the label of most weight, and remembers what it was given."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.given_ = {"sample_weight": sample_weight, "note": note}
        self.label_ = self.classes_[np.bincount(codes, sample_weight).argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


def given(model):
    """Return what both classifiers and the rule were given."""
    both = model.estimator_.given_, model.expert_.given_
    return *both, model.calibration_.sample_weight is not None


@pytest.mark.parametrize("is_routed", [False, True])
def test_metadata_of_both_classifiers(is_routed):
    notes = np.arange(300)
    first, expert = Majority(), Majority()
    model = deferring(first, expert, gain_score=lambda _, X: X[:, 0])
    with sklearn.config_context(enable_metadata_routing=is_routed):
        if is_routed:
            first.set_fit_request(sample_weight=True, note=False)
            expert.set_fit_request(sample_weight=False, note=True)
            model.set_fit_request(sample_weight=False)
        model.fit(X, y, sample_weight=WEIGHT, note=notes)
    both = {"sample_weight": WEIGHT, "note": notes}
    weights, others = (both | {name: None} for name in ("note", "sample_weight"))
    # Weights go to both, and what else there is to the first, unless it is asked for.
    expected = (weights, others, False) if is_routed else (both, weights, True)
    assert repr(given(model)) == repr(expected)


def test_an_expert_that_takes_no_weights():
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit does not take it"):
        deferring(GaussianNB(), KNeighborsClassifier()).fit(X, y, sample_weight=WEIGHT)


def person(estimator):
    options = {"gain_score": "confidence", "max_deferral": 0.3}
    return DeferringClassifier(estimator, **options).set_fit_request(expert_labels=True)


@pytest.mark.usefixtures("routing")
def test_labels_of_a_person_are_requested():
    model = person(GaussianNB()).set_score_request(expert_labels=True)
    scorer = get_selective_scorer("neg_deferral_area")
    splits = list(StratifiedKFold(3).split(X, y))
    found = cross_validate(
        make_pipeline(StandardScaler(), model),
        X,
        y,
        scoring=scorer.set_score_request(expert_labels=True),
        cv=splits,
        params={"expert_labels": y},
        return_estimator=True,
    )
    both = zip(found["estimator"], found["test_score"], strict=True)
    for (fitted, score), (_, test) in zip(both, splits, strict=True):
        own = fitted.score(X[test], y[test], expert_labels=y[test])
        assert score == pytest.approx(own)


@pytest.mark.usefixtures("routing")
def test_labels_of_a_person_reach_a_cascade():
    model = deferring(LogisticRegression(), person(GaussianNB()))
    model.set_fit_request(expert_labels=True).fit(X, y, expert_labels=y)
    assert model.rule_.n_asked == 300
