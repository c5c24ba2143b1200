"""PN metrics are the curves of the rated documents, whoever was not rated."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import _curves as curves
from sklearn_reject.metrics import pn_auc_score, pn_curve

RESPONSES = ("decision_function", "predict_proba")


@st.composite
def partly_rated(draw, max_size=12):
    """Draw (y_true, y_score, weights) with ties and some documents not rated."""
    n = draw(st.integers(2, max_size))
    column = lambda low, high: np.array(  # noqa: E731
        draw(st.lists(st.integers(low, high), min_size=n, max_size=n))
    )
    y_true = column(-1, 1)
    y_true[:2] = [1, 0]
    weights = None
    if draw(st.booleans()):
        weights = column(0, 3).astype(float)
        weights[:2] = 1
    return y_true, column(-3, 3) / 4, weights


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@given(partly_rated(), st.booleans())
def test_metrics_are_the_curves_of_rated_documents(sample, normalize):
    y_true, y_score, weights = sample
    rated = y_true != -1
    arguments = y_score[rated], y_true[rated] == 1
    weight = {"sample_weight": None if weights is None else weights[rated]}
    curve = pn_curve(y_true, y_score, sample_weight=weights)
    assert_same(curve, curves.pn_curve(*arguments, **weight))
    options = {"normalize": normalize, "max_fp": 0.5}
    area = pn_auc_score(y_true, y_score, sample_weight=weights, **options)
    assert area == curves.pn_auc_score(*arguments, **weight, **options)


@given(partly_rated(), st.lists(st.floats(-9, 9), max_size=6), st.integers(0, 99))
def test_unrated_rows_change_nothing(sample, scores, seed):
    y_true, y_score, weights = sample
    weights = np.ones(len(y_true)) if weights is None else weights
    more = np.append(y_true, np.full(len(scores), -1))
    rows = np.random.default_rng(seed).permutation(len(more))
    samples = (
        more[rows],
        np.append(y_score, scores)[rows],
        np.append(weights, np.full(len(scores), 7.0))[rows],
    )
    assert_same(
        pn_curve(*samples[:2], sample_weight=samples[2]),
        pn_curve(y_true, y_score, sample_weight=weights),
    )
    assert pn_auc_score(*samples[:2]) == pn_auc_score(y_true, y_score)


@given(partly_rated())
def test_normalized_area_is_that_under_the_roc_curve(sample):
    y_true, y_score, weights = sample
    rated = y_true != -1
    area = pn_auc_score(y_true, y_score, normalize=True, sample_weight=weights)
    weights = None if weights is None else weights[rated]
    theirs = roc_auc_score(y_true[rated], y_score[rated], sample_weight=weights)
    assert area == pytest.approx(theirs, abs=1e-14)


@given(partly_rated())
def test_the_other_class_and_the_score_turned_around_keep_the_area(sample):
    y_true, y_score, _ = sample
    area = pn_auc_score(y_true, y_score)
    assert pn_auc_score(y_true, -y_score, pos_label=0) == area


@pytest.mark.parametrize(
    ("y_true", "options"),
    [
        ([1, 0, 1, -1, 0], {}),
        ([1, 0, 1, np.nan, 0], {}),
        ([1, 0, 1, None, 0], {}),
        ([1, 0, 1, None, 0], {"unrated_label": None}),
        ([-1, 1, -1, 0, 1], {"unrated_label": 0, "pos_label": -1}),
        (["yes", "no", "yes", "?", "no"], {"unrated_label": "?"}),
        (["a", "b", "a", "?", "b"], {"unrated_label": "?", "pos_label": "a"}),
        (pd.Series([1, 0, 1, None, 0], dtype="Int64"), {}),
        (pd.Series([True, False, True, None, False], dtype=object), {}),
    ],
    ids=str,
)
def test_ratings_of_all_kinds(y_true, options):
    fp, tp, thresholds = pn_curve(y_true, [0.9, 0.7, 0.7, 0.5, 0.2], **options)
    assert fp.tolist() == [0, 0, 1, 2]
    assert tp.tolist() == [0, 1, 2, 2]
    assert thresholds.tolist() == [np.inf, 0.9, 0.7, 0.2]
    assert pn_auc_score(y_true, [0.9, 0.7, 0.7, 0.5, 0.2], **options) == 3.5


# Scorers

X, y = make_classification(
    600, n_features=6, weights=[0.8], class_sep=0.5, flip_y=0.1, random_state=0
)
# Nobody has rated what the first feature makes look harmless.
PARTLY = np.where(X[:, 0] > -0.5, y, -1)


class OnRated(ClassifierMixin, BaseEstimator):
    """Logistic regression that leaves out documents that were not rated."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        rated = y != -1
        self.model_ = LogisticRegression(C=self.C).fit(X[rated], y[rated])
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X):
        return self.model_.decision_function(X)


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()], ids=str)
def test_scorer(model):
    scorer = make_scorer(pn_auc_score, response_method=RESPONSES, normalize=True)
    model.fit(X[::2], y[::2])
    held_out = X[1::2], y[1::2]
    area = scorer(model, *held_out)
    response = getattr(model, RESPONSES[not hasattr(model, RESPONSES[0])])
    values = response(held_out[0])
    values = values if values.ndim == 1 else values[:, 1]
    assert area == pytest.approx(roc_auc_score(held_out[1], values), abs=1e-14)
    assert area > 0.6


def test_scorer_of_partly_rated_documents():
    scorer = make_scorer(pn_auc_score, response_method=RESPONSES, max_fp=5)
    model = OnRated().fit(X[::2], PARTLY[::2])
    rated = PARTLY[1::2] != -1
    expected = scorer(model, X[1::2][rated], PARTLY[1::2][rated])
    assert scorer(model, X[1::2], PARTLY[1::2]) == expected
    values = model.decision_function(X[1::2])
    assert expected == pn_auc_score(PARTLY[1::2], values, max_fp=5)


def test_grid_search():
    scorer = make_scorer(pn_auc_score, response_method=RESPONSES, normalize=True)
    model = make_pipeline(StandardScaler(), OnRated())
    folds = StratifiedKFold(3)
    grid = {"onrated__C": [1e-6, 1e-3, 1.0]}
    search = GridSearchCV(model, grid, scoring=scorer, cv=folds).fit(X, PARTLY)
    for C, mean in zip(
        grid["onrated__C"], search.cv_results_["mean_test_score"], strict=True
    ):
        candidate = model.set_params(onrated__C=C)
        areas = cross_val_score(candidate, X, PARTLY, scoring=scorer, cv=folds)
        assert mean == areas.mean()
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_pos_label_in_a_scorer():
    names = np.array(["rare", "usual"])[1 - y]
    scorer = make_scorer(
        pn_auc_score, response_method=RESPONSES, pos_label="rare", normalize=True
    )
    model = LogisticRegression().fit(X[::2], names[::2])
    theirs = roc_auc_score(y[1::2], -model.decision_function(X[1::2]))
    assert scorer(model, X[1::2], names[1::2]) == pytest.approx(theirs, abs=1e-14)


def test_folds_without_rated_positives_are_told():
    scorer = make_scorer(pn_auc_score, response_method=RESPONSES)
    few = np.where(np.arange(len(y)) < 400, y, 0)
    with pytest.warns(UserWarning, match="y_true has no rated positives"):
        scores = cross_validate(
            LogisticRegression(),
            X,
            few,
            scoring=scorer,
            cv=[(np.arange(300), np.arange(450, 600))],
        )
    assert np.isnan(scores["test_score"]).all()


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [1, 0]}, "y_true has 2 elements, but there are 3 samples"),
        ({"y_true": [-1, -1, -1]}, "y_true has no rated documents"),
        ({"y_true": [1, -1, 1]}, "y_true has no rated negatives"),
        ({"y_true": [0, -1, 0]}, "y_true has no rated positives"),
        ({"y_true": [0, 1, 2]}, "y_true must have two classes"),
        ({"pos_label": 2}, "pos_label=2 is not among the rated classes of y_true"),
        ({"y_score": [1, np.nan, 2]}, "y_score must be finite, got nan in row 1"),
        ({"y_score": [1, 2, -np.inf]}, "y_score must be finite, got -inf in row 2"),
        ({"y_score": [[0.1, 0.9]] * 3}, r"y_score must be a vector .*\(3, 2\)"),
        ({"y_score": ["a", "b", "c"]}, "y_score must hold numbers"),
        ({"sample_weight": [1, 2]}, "sample_weight has 2 elements"),
        ({"sample_weight": [1, -2, 1]}, "sample_weight must be non-negative"),
        ({"sample_weight": [0, 0, 1]}, "sample_weight is zero for every sample"),
        ({"sample_weight": [0, 1, 1]}, "is_positive is False for all documents"),
    ],
    ids=str,
)
@pytest.mark.parametrize("metric", [pn_curve, pn_auc_score])
def test_bad_input(metric, arguments, message):
    arguments = {"y_true": [1, 0, -1], "y_score": [0.3, 0.2, 0.1], **arguments}
    with pytest.raises(ValueError, match=message):
        metric(**arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_fp": 3}, "max_fp=3 is above the weight of all negatives, 1,"),
        ({"max_fp": 0}, "max_fp must be in"),
        ({"normalize": "yes"}, "normalize must be one of"),
    ],
    ids=str,
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        pn_auc_score([1, 0, -1], [0.3, 0.2, 0.1], **options)
