"""Errors of the estimator that predicts sets say what is wrong, and the way out."""

import re
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import get_selective_scorer


@pytest.fixture
def labels():
    return make_multilabel_classification(60, n_classes=4, random_state=0)


X = np.arange(20.0)[:, None]
y = np.tile([0, 1], 10)
logistic = LogisticRegression()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "f2"}, "loss must be one of"),
        ({"loss": "zero_one"}, "Pass 'hamming' for the share"),
        ({"beta": 2.0}, "Use loss='f_beta'"),
        ({"loss": [[0, 1]]}, "loss must be one of"),
        ({"loss": "auc"}, "min_positive and max_positive"),
        ({"loss": "auc", "min_positive": 1}, "max_positive"),
        ({"loss": "recall"}, "max_positive"),
        ({"beta": 0}, "beta must be"),
        ({"beta": -1.0}, "beta must be"),
        ({"beta": "1"}, "beta must be"),
        ({"zero_division": 2}, "zero_division must be"),
        ({"strategy": "best"}, "strategy must be one of"),
        ({"calibration": "platt"}, "calibration must be one of"),
        ({"calibration": True}, "calibration must be one of"),
        ({"batch_size": 0}, "batch_size must be None or an int > 0, got 0"),
        ({"batch_size": 2.5}, "batch_size must be"),
        ({"strategy": 1.5}, "strategy, as a threshold"),
        ({"strategy": True}, "strategy must be one of"),
        ({"strategy": None}, "strategy must be one of"),
        ({"min_positive": -1}, "min_positive must be"),
        ({"min_positive": 1.5}, "min_positive must be"),
        ({"min_positive": 3, "max_positive": 2}, "above max_positive=2"),
        ({"pos_label": "yes"}, "pos_label='yes' is not among the classes [0, 1]"),
        ({"cv": 1}, "cv must be"),
        ({"cv": 1.5}, "cv as a float"),
        ({"random_state": "a"}, "seed"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ExpectedLossDecoder(logistic, **parameters).fit(X, y)


def test_classifier_without_probabilities():
    for strategy in ("dta", "eum", 0.5):
        decoder = ExpectedLossDecoder(LinearSVC(), strategy=strategy)
        with pytest.raises(ValueError, match="`predict_proba`"):
            decoder.fit(X, y)


def test_regressor():
    with pytest.raises(ValueError, match="must be a classifier, got the regressor"):
        ExpectedLossDecoder(LinearRegression()).fit(X, y)


@pytest.mark.parametrize(
    "target",
    [np.linspace(0, 1, 20), np.tile([[0, 3], [1, 2]], (10, 1)), np.ones((20, 2)) / 3],
)
def test_targets_that_are_no_classes(target):
    with pytest.raises(ValueError, match=r"Unknown label type|indicators"):
        ExpectedLossDecoder(logistic).fit(X, target)


def test_indicators_of_minus_one_and_one(labels):
    X, y = labels
    decoder = ExpectedLossDecoder(KNeighborsClassifier())
    for form in (np.asarray, csr_matrix):
        with pytest.raises(ValueError, match=r"got -1 in a matrix.*Pass `y > 0`"):
            decoder.fit(X, form(2 * y - 1))


@pytest.mark.parametrize("odd", [lambda y: 2 * y - 1, lambda y: y + 1, lambda y: 2 * y])
def test_indicators_that_are_not_zero_and_one(labels, odd):
    X, y = labels
    decoder = ExpectedLossDecoder(KNeighborsClassifier())
    with pytest.raises(ValueError, match="indicators, 0 and 1"):
        decoder.fit(X, odd(y))


LISTS = [["a"], ["a", "b"], []] * 20


def as_objects(lists):
    objects = np.empty(len(lists), dtype=object)
    objects[:] = lists
    return objects


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (LISTS, "y holds lists of labels.*MultiLabelBinarizer"),
        (as_objects(LISTS), "y holds lists of labels.*MultiLabelBinarizer"),
        ([set(labels) for labels in LISTS], "y holds lists of labels"),
        (np.ma.masked_equal(np.tile([0, 1, 2], 20), 2), "y is a masked array"),
        (np.ma.masked_equal(np.ones((60, 4), int), 1), "y is a masked array"),
    ],
    ids=["lists", "objects", "sets", "masked", "masked matrix"],
)
def test_labels_in_other_forms(labels, wrong, message):
    X, y = labels
    decoder = ExpectedLossDecoder(KNeighborsClassifier())
    with pytest.raises(ValueError, match=message):
        decoder.fit(X, wrong)
    decoder.fit(X, y)
    for score in (
        decoder.score,
        partial(get_selective_scorer("neg_set_loss"), decoder),
    ):
        with pytest.raises(ValueError, match=message):
            score(X, wrong)


def test_labels_that_are_not_those_of_fit(labels):
    X_labels, y_labels = labels
    binary = ExpectedLossDecoder(logistic).fit(X, y)
    with pytest.raises(
        ValueError, match=r"label 5, which is not one of the classes \[0, 1\]"
    ):
        binary.score(X, y + 5)
    with pytest.raises(ValueError, match="labels of `fit` were binary"):
        binary.score(X, np.column_stack([y, y]))
    several = ExpectedLossDecoder(KNeighborsClassifier()).fit(X_labels, y_labels)
    with pytest.raises(ValueError, match="labels of `fit` were multilabel"):
        several.score(X_labels, y_labels[:, 0])
    with pytest.raises(ValueError, match="3 labels per sample"):
        several.score(X_labels, y_labels[:, :3])


def test_frozen_classifier_of_other_labels(labels):
    X_labels, y_labels = labels
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="not one of the classes"):
        ExpectedLossDecoder(frozen, strategy="eum").fit(X, y + 5)
    several = FrozenEstimator(KNeighborsClassifier().fit(X_labels, y_labels))
    with pytest.raises(ValueError, match="vector with one label"):
        ExpectedLossDecoder(several).fit(X_labels, y_labels[:, 0])
    for strategy in ("auto", "dta"):
        decoder = ExpectedLossDecoder(several, strategy=strategy, calibration=None)
        with pytest.raises(ValueError, match="y of `fit` had 3"):
            decoder.fit(X_labels, y_labels[:, :3]).predict(X_labels)


def test_stacked_labels_are_upside_down_in_scikit_learn(labels):
    X, y = labels
    stack = StackingClassifier(
        [("near", KNeighborsClassifier())], final_estimator=KNeighborsClassifier()
    )
    decoder = ExpectedLossDecoder(stack)
    with pytest.raises(ValueError, match="StackingClassifier cannot be used"):
        decoder.fit(X, y)


def test_classifier_that_misreads_sparse_labels(labels):
    X, y = labels
    decoder = ExpectedLossDecoder(KNeighborsClassifier())
    with pytest.raises(ValueError, match=r"y\.toarray"):
        decoder.fit(X, csr_matrix(y))


def test_frozen_classifier_has_no_folds():
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="no meaning for a FrozenEstimator"):
        ExpectedLossDecoder(frozen, strategy="eum", cv=3).fit(X, y)


def test_groups_of_another_length():
    decoder = ExpectedLossDecoder(logistic).fit(X, y)
    for method in (decoder.predict, decoder.expected_loss):
        with pytest.raises(ValueError, match="groups has 3 elements"):
            method(X, groups=[1, 2, 3])
    tuned = ExpectedLossDecoder(logistic, strategy="eum")
    with pytest.raises(ValueError, match="groups"):
        tuned.fit(X, y, groups=[1, 2, 3])


def test_groups_that_cannot_be_sorted():
    decoder = ExpectedLossDecoder(logistic).fit(X, y)
    with pytest.raises(ValueError, match="groups must be values that can be sorted"):
        decoder.predict(X, groups=[None] * 20)


def test_weights_of_items():
    decoder = ExpectedLossDecoder(logistic).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight weighs sets"):
        decoder.score(X, y, sample_weight=np.ones(20))


def test_groups_where_samples_are_sets():
    X, y = make_classification(60, n_classes=3, n_informative=3, random_state=0)
    with pytest.raises(ValueError, match="Omit groups"):
        ExpectedLossDecoder(logistic).fit(X, y, groups=y)
    decoder = ExpectedLossDecoder(logistic).fit(X, y)
    with pytest.raises(ValueError, match="Omit groups"):
        decoder.predict(X, groups=y)
    with pytest.raises(ValueError, match="Omit groups"):
        decoder.expected_loss(X, groups=y)


@pytest.mark.parametrize(
    "wrapper", [OneVsRestClassifier, MultiOutputClassifier, ClassifierChain]
)
def test_errors_of_a_classifier_a_label_are_its_own(labels, wrapper):
    X, y = labels
    y[:, 0] = np.arange(60) % 30 == 0
    classifier = wrapper(CalibratedClassifierCV(logistic, cv=3))
    for inner in (classifier, make_pipeline(StandardScaler(), classifier)):
        with pytest.raises(ValueError, match=r"^Requesting 3-fold cross-validation"):
            ExpectedLossDecoder(inner).fit(X, y)


def test_positive_label_where_there_is_none():
    X, y = make_classification(60, n_classes=3, n_informative=3, random_state=0)
    with pytest.raises(ValueError, match="is for two classes"):
        ExpectedLossDecoder(logistic, pos_label=1).fit(X, y)


def test_sets_of_classes_where_there_are_none():
    with pytest.raises(ValueError, match="predict_set is for multiclass"):
        ExpectedLossDecoder(logistic).fit(X, y).predict_set(X)
    X_labels, y_labels = make_multilabel_classification(30, random_state=0)
    decoder = ExpectedLossDecoder(OneVsRestClassifier(logistic))
    with pytest.raises(ValueError, match="sets consist of labels"):
        decoder.fit(X_labels, y_labels).predict_set(X_labels)


def test_more_positives_wanted_than_there_are_samples():
    decoder = ExpectedLossDecoder(logistic, strategy=0.5, min_positive=5).fit(X, y)
    with pytest.warns(RejectionWarning, match="min_positive=5 is above .*items, 3"):
        labels = decoder.predict(X[:3])
    assert (labels == decoder.classes_[1]).all()


class Liar(ClassifierMixin, BaseEstimator):
    """Classifier whose probabilities are what it is told."""

    def __init__(self, probability=2.0):
        self.probability = probability

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))

    def predict_proba(self, X):
        return np.full((len(X), 2), self.probability)


def test_probabilities_that_do_not_add_up():
    for strategy in ("auto", "dta"):
        decoder = ExpectedLossDecoder(Liar(0.9), strategy=strategy, calibration=None)
        with pytest.raises(ValueError, match=r"add up to one .* got 1\.8 in row 0"):
            decoder.fit(X, y).predict(X)


@pytest.mark.parametrize("probability", [2.0, -0.1, np.nan])
def test_probabilities_that_are_none(probability):
    for strategy in ("auto", "dta"):
        options = {"strategy": strategy, "calibration": None}
        decoder = ExpectedLossDecoder(Liar(probability), **options)
        with pytest.raises(ValueError, match=r"predict_proba .* probabilities in \[0"):
            decoder.fit(X, y).predict(X)


def test_callable_that_is_no_set_loss():
    def total(tp, fp, fn, tn):
        return np.sum(fp)

    with pytest.raises(ValueError, match="one number for each confusion"):
        ExpectedLossDecoder(logistic, loss=total).fit(X, y)

    def rising(tp, fp, fn, tn):
        return tp + 0.0

    with pytest.warns(UserWarning, match="may then not be the best one"):
        ExpectedLossDecoder(logistic, loss=rising).fit(X, y)


def test_batch_size_beside_what_says_as_much(labels):
    decoder = ExpectedLossDecoder(logistic, batch_size=5)
    with pytest.raises(ValueError, match="batch_size=5 and groups were both given"):
        decoder.fit(X, y, groups=np.arange(20) // 4)
    X_labels, y_labels = labels
    with pytest.raises(ValueError, match="y is multilabel"):
        ExpectedLossDecoder(KNeighborsClassifier(), batch_size=5).fit(*labels)
    with pytest.raises(ValueError, match="y is multiclass"):
        decoder.fit(X_labels, y_labels.sum(axis=1))


def test_calibration_of_classes():
    X, y = make_classification(60, n_classes=3, n_informative=3, random_state=0)
    for method in ("isotonic", "sigmoid"):
        decoder = ExpectedLossDecoder(logistic, calibration=method)
        with pytest.raises(ValueError, match="CalibratedClassifierCV"):
            decoder.fit(X, y)
