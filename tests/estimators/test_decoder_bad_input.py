"""Errors of the estimator that predicts sets say what is wrong, and the way out."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import get_selective_scorer

X = np.arange(60.0)[:, None]
TWO, THREE = np.tile([0, 1], 30), np.arange(60) % 3
LABELS = np.column_stack([TWO, THREE == 0, np.arange(60) % 5 == 0]).astype(int)
LOGISTIC, NEAREST = LogisticRegression(), KNeighborsClassifier(3)
LISTS = [["a"], ["a", "b"], []] * 20
FROZEN = {
    name: FrozenEstimator(NEAREST.__class__().fit(X, y))
    for name, y in (("two", TWO), ("labels", LABELS))
}
STACK = StackingClassifier([("near", NEAREST)], final_estimator=NEAREST)


class Liar(ClassifierMixin, BaseEstimator):
    def __init__(self, probability):
        self.probability = probability

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))

    def predict_proba(self, X):
        return np.full((len(X), 2), self.probability)


# What is given to the constructor and to `fit`, and what it says. Where no label is
# given, y has two classes.
BAD_FITS = [
    ({"strategy": "best"}, {}, r"number in \[0, 1\], must be .* \['auto', 'dta', "),
    ({"strategy": 1.5}, {}, "strategy, as a threshold"),
    ({"strategy": True}, {}, "strategy, as a threshold"),
    ({"min_positive": -1}, {}, "min_positive must be"),
    ({"min_positive": 3, "max_positive": 2}, {}, "above max_positive=2"),
    ({"pos_label": "yes"}, {}, r"'yes' is not among the labels \[0, 1\]"),
    ({"pos_label": 2}, {}, "pos_label=2 is not among the labels"),
    ({"pos_label": "1"}, {"y": np.zeros(60)}, "pos_label='1' is not among"),
    ({"pos_label": 1}, {"y": THREE}, "pos_label=1 is for binary .* to None"),
    ({"average": "weighted"}, {"y": LABELS}, "average must be one of"),
    ({"average": "macro"}, {}, r"average='macro' is for multilabel.* to 'samples'"),
    ({"cv": 1}, {}, "cv must be"),
    ({"random_state": "a"}, {}, "seed"),
    ({"estimator": LinearSVC()}, {}, "`predict_proba`"),
    ({"estimator": LinearSVC(), "strategy": "dta"}, {}, "`predict_proba`"),
    ({"estimator": LinearRegression()}, {}, "a classifier, got Linear"),
    ({"estimator": FROZEN["two"], "cv": 3}, {}, "no meaning for a FrozenEstimator"),
    ({"estimator": FROZEN["two"]}, {"y": TWO + 5}, "not one of the classes"),
    ({"estimator": FROZEN["labels"]}, {}, r"label 0, which is not one .* \[\[0, 1\]"),
    (
        {"estimator": FROZEN["labels"]},
        {"y": LABELS[:, :2]},
        r"\(60, 3\), but y of `fit",
    ),
    ({"estimator": STACK}, {"y": LABELS}, r"Stack within each label.*MultiOutput"),
    ({}, {"y": LABELS}, "y should be a 1d array"),
    ({"estimator": NEAREST}, {"y": csr_matrix(LABELS)}, r"y\.toarray"),
    ({}, {"y": X[:, 0] / 7}, "Unknown label type"),
    ({}, {"y": np.tile([[0, 3], [1, 2]], (30, 1))}, "indicators, 0 and 1"),
    ({"estimator": NEAREST}, {"y": 2 * LABELS - 1}, "got -1. Pass `y > 0`"),
    ({}, {"groups": [1, 2, 3]}, "groups"),
    ({}, {"y": THREE, "groups": TWO}, "Omit groups"),
    ({"estimator": NEAREST}, {"y": LABELS, "groups": TWO}, "Omit groups"),
    ({"estimator": Liar(0.9)}, {}, r"add up to one.* and 1\.8 in row 0"),
    ({"estimator": Liar(0.5)}, {"y": THREE}, r"for each of 3 classes.*2\)"),
    *(
        ({"estimator": Liar(p), "strategy": strategy}, {}, "probabilities in \\[0")
        for strategy, p in (("auto", 2), ("eum", -0.1), ("auto", np.nan), ("dta", 2))
    ),
]


@pytest.mark.parametrize(("options", "arguments", "message"), BAD_FITS)
def test_bad_fits(options, arguments, message):
    decoder = ExpectedLossDecoder(**{"estimator": LOGISTIC, **options})
    with pytest.raises(ValueError, match=message):
        decoder.fit(X, **{"y": TWO, **arguments})


def test_labels_in_other_forms():
    decoder = ExpectedLossDecoder(NEAREST).fit(X, LABELS)
    scorer = partial(get_selective_scorer("neg_set_loss"), decoder)
    masked = np.ma.masked_equal(LABELS, 1)
    for call in (decoder.score, scorer, decoder.fit):
        for wrong, message in (
            (LISTS, "MultiLabelBinarizer"),
            (masked, "y is a masked"),
        ):
            with pytest.raises(ValueError, match=message):
                call(X, wrong)


# What a decoder was fitted on, a method, its arguments, and what it says.
BAD_CALLS = [
    (TWO, "score", {"y": TWO + 5}, r"label 5, which is not one .* \[0, 1\]"),
    (TWO, "score", {"y": np.array(["a", "b"])[TWO]}, "not one of the classes"),
    (TWO, "score", {"y": LABELS}, "labels of `fit` were binary"),
    (LABELS, "score", {"y": TWO}, "labels of `fit` were multilabel"),
    (LABELS, "score", {"y": LABELS[:, :2]}, r"same shape, got \(60, 2\) and"),
    (TWO, "score", {"y": TWO, "sample_weight": np.ones(60)}, "weighs sets"),
    (TWO, "predict", {"groups": [1, 2, 3]}, "groups has 3 elements"),
    (THREE, "predict", {"groups": [1, 2, 3]}, "each sample is one here. Omit groups"),
    (THREE, "expected_loss", {"groups": THREE}, "Omit groups"),
    (TWO, "expected_loss", {"groups": [1, 2, 3]}, "groups has 3 elements"),
    (TWO, "expected_loss", {"groups": [None] * 60}, "values that can be sorted"),
    (TWO, "predict_set", {}, "for multiclass .* was binary"),
    (LABELS, "predict_set", {}, "for multiclass .* was multilabel"),
]


@pytest.mark.parametrize(("y", "method", "arguments", "message"), BAD_CALLS)
def test_bad_calls(y, method, arguments, message):
    decoder = ExpectedLossDecoder(NEAREST).fit(X, y)
    with pytest.raises(ValueError, match=message):
        getattr(decoder, method)(X, **arguments)
    weighed = {"sample_weight": np.ones(60)}
    for average in ("macro", "micro") if y is LABELS else ():
        with pytest.raises(ValueError, match="samples are the items"):
            decoder.set_params(average=average).fit(X, y).score(X, y, **weighed)
