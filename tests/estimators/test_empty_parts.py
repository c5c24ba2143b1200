"""Methods of rows about no rows: the same kind of answer, and nobody is asked."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning"),
    # Trees have probabilities of zero, of which there are logarithms, too.
    pytest.mark.filterwarnings("ignore:divide by zero encountered in log"),
]

X, DIGITS = load_digits(return_X_y=True)
X, DIGITS = X[:200, [10, 19, 21, 26, 36, 42, 61]] / 16, DIGITS[:200]
TWO, THREE = (DIGITS % 2, DIGITS % 3)
TEXT = np.array(["even", "odd"])[TWO]
SETS = make_multilabel_classification(200, X.shape[1], random_state=0)[1]
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
EXPERT = DecisionTreeClassifier(max_depth=6, random_state=0)

REJECTS = "uncertainty", "accept", "accept_proba", "predict_all", "predict"
PROBABILITIES = "predict_proba", "predict_log_proba"
CLASSIFIES = (*REJECTS, "predict_label", *PROBABILITIES)
DEFERS = (
    *("predict", "predict_first", "predict_all", "predict_proba"),
    *("defer", "defer_proba", "deferral_score"),
)
CASES = {
    "text": (SelectiveClassifier(TREE, target_coverage=0.7, cv=0.5), TEXT, CLASSIFIES),
    "three classes": (
        SelectiveClassifier(LogisticRegression(), reject_cost=0.3),
        THREE,
        (*CLASSIFIES, "decision_function"),
    ),
    "two classes": (
        SelectiveClassifier(LogisticRegression(), reject_cost=0.3),
        TWO,
        (*CLASSIFIES, "decision_function"),
    ),
    "no reject label": (
        SelectiveClassifier(TREE, reject_cost=0.2, reject_label=None),
        TEXT,
        CLASSIFIES,
    ),
    "bools": (SelectiveClassifier(TREE, reject_cost=0.2), TWO == 1, CLASSIFIES),
    "learned": (
        SelectiveClassifier(
            TREE, target_coverage=0.7, cv=0.5, uncertainty_score="sele_boosting"
        ),
        THREE,
        CLASSIFIES,
    ),
    "groups": (
        SelectiveClassifier(
            TREE, target_coverage=0.7, cv=0.5, group_by=lambda X: X[:, 0] > X[0, 0]
        ),
        THREE,
        CLASSIFIES,
    ),
    "regressor": (
        SelectiveRegressor(LinearRegression(), target_coverage=0.5, cv=0.5),
        DIGITS.astype(float),
        REJECTS,
    ),
    "outputs": (
        SelectiveRegressor(LinearRegression(), target_coverage=0.5, cv=0.5),
        np.column_stack([DIGITS, TWO]).astype(float),
        REJECTS,
    ),
    "double": (
        DoubleScoreOODClassifier(TREE, min_tpr=0.7, cv=0.5),
        np.where(DIGITS == 9, -1, THREE),
        (*CLASSIFIES, "risk_and_novelty"),
    ),
    "sets of samples": (
        ExpectedLossDecoder(GaussianNB(), loss="f_beta", calibration="sigmoid"),
        TEXT,
        ("predict", *PROBABILITIES),
    ),
    "sets of classes": (
        ExpectedLossDecoder(LogisticRegression(), loss="f_beta"),
        THREE,
        ("predict", "predict_set", *PROBABILITIES, "decision_function"),
    ),
    "sets of labels": (
        ExpectedLossDecoder(OneVsRestClassifier(LogisticRegression()), loss="f_beta"),
        SETS,
        ("predict", "predict_proba", "decision_function"),
    ),
    "forest of labels": (
        ExpectedLossDecoder(
            RandomForestClassifier(3, max_depth=3, random_state=0), loss="f_beta"
        ),
        SETS,
        ("predict", "predict_proba"),
    ),
    "defers": (
        DeferringClassifier(TREE, EXPERT, max_deferral=0.3, cv=3),
        TEXT,
        DEFERS,
    ),
    "defers to a person": (
        DeferringClassifier(TREE, None, max_deferral=0.3, cv=3),
        TEXT,
        ("predict", "predict_first", "predict_all", "defer", "deferral_score"),
    ),
    "tuner": (
        EnsembleThresholdTuner(
            [("tree", TREE), ("bayes", GaussianNB())], min_recall=0.5, cv=3
        ),
        TEXT,
        ("joint_scores", "predict", "decision_function"),
    ),
}


def fit(name):
    model, y, methods = CASES[name]
    params = {"expert_labels": y} if "person" in name else {}
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, y, **params), methods


def parts_of(answer):
    return list(answer) if isinstance(answer, (tuple, list)) else [answer]


class Deaf(BaseEstimator):
    """Cannot be asked anything."""

    def __init__(self, classes):
        self.classes_ = classes

    def __getattr__(self, name):
        if name.startswith("predict") or name == "decision_function":
            return self._fail
        raise AttributeError(name)

    def _fail(self, *_):
        raise AssertionError("the estimator inside was asked")


@pytest.mark.parametrize("name", CASES)
def test_no_rows(name):
    model, methods = fit(name)
    rows = X[:20]
    expected = {method: getattr(model, method)(rows) for method in methods}
    if hasattr(model, "estimator_"):
        model.estimator_ = Deaf(getattr(model.estimator_, "classes_", None))
    for method in methods:
        answer, full = getattr(model, method)(X[:0]), expected[method]
        assert type(answer) is type(full)
        for found, some in zip(parts_of(answer), parts_of(full), strict=True):
            assert found.shape == (0, *some.shape[1:]), method
            assert found.dtype == some.dtype, method


def test_empty_parts_change_nothing():
    model, methods = fit("text")
    for method in methods:
        bounds = (0, 0, 7, 7, 90, 200, 200)
        chunks = [getattr(model, method)(X[slice(*ends)]) for ends in pairwise(bounds)]
        whole = getattr(model, method)(X)
        for part, expected in zip(
            zip(*map(parts_of, chunks), strict=True), parts_of(whole), strict=True
        ):
            joined = np.concatenate(part)
            np.testing.assert_array_equal(joined, expected)
            assert joined.dtype == expected.dtype


def test_containers_without_rows():
    model, _ = fit("two classes")
    frame = pd.DataFrame(X).add_prefix("x")
    of_frames = fit("three classes")[0].fit(frame, TWO)
    assert model.predict([]).shape == (0,)
    assert model.accept(np.empty((0, 0))).dtype == bool
    assert model.predict_proba(sparse.csr_array(X[:0])).shape == (0, 2)
    assert of_frames.predict(frame.iloc[:0]).shape == (0,)
    assert of_frames.predict_all(frame.iloc[:0]).accepted.shape == (0,)
    texts = ["good day", "bad day", "good", "bad"] * 10
    of_text = SelectiveClassifier(
        make_pipeline(CountVectorizer(), TREE), reject_cost=0.2
    ).fit(texts, ["+", "-"] * 20)
    for none in ([], np.array([], dtype=str), pd.Series([], dtype=object)):
        assert of_text.predict(none).shape == (0,)


def test_columns_are_checked_without_rows():
    """As they are with rows: nothing is reordered or dropped silently."""
    model, _ = fit("two classes")
    frame = pd.DataFrame(X).add_prefix("x")
    of_frames = fit("three classes")[0].fit(frame, TWO)
    for rows in (slice(0), slice(5)):
        with pytest.raises(ValueError, match="X has 3 features, but"):
            model.predict(X[rows, :3])
        backwards = frame.iloc[rows, ::-1]
        with pytest.raises(ValueError, match="must be in the same order"):
            of_frames.predict(backwards)
        with pytest.raises(ValueError, match="unseen at fit time"):
            of_frames.accept(frame.iloc[rows].rename(columns={"x3": "z"}))
        with pytest.raises(ValueError, match="Feature names seen at fit time"):
            of_frames.predict_proba(frame.iloc[rows, 1:])


def test_other_arguments_are_checked_without_rows():
    model, _ = fit("text")
    assert model.accept(X[:0], keys=[]).shape == (0,)
    assert model.predict(X[:0], []).shape == (0,)
    with pytest.raises(
        ValueError, match="keys has 2 elements, but there are 0 samples"
    ):
        model.accept(X[:0], keys=[1, 2])
    with pytest.raises(TypeError, match="unexpected keyword argument 'key'"):
        model.accept(X[:0], key=[])
    with pytest.raises(NotFittedError):
        SelectiveClassifier(TREE).accept(X[:0])
    decoder, _ = fit("sets of samples")
    with pytest.raises(ValueError, match="predict_set is for multiclass"):
        decoder.predict_set(X[:0])


def apply_infer_dtype(method, rows):
    """Stand in for the function of Dask that asks about rows which it makes up."""
    return method(rows)


def test_made_up_rows_are_answered_without_asking(monkeypatch):
    model, _ = fit("defers")
    dtype = model.predict(X[:1]).dtype
    monkeypatch.setitem(globals(), "__name__", "dask.array.core")
    one = np.ones((1, 1))
    model.estimator_ = Deaf(model.estimator_.classes_)
    labels = apply_infer_dtype(model.predict, one)
    assert labels.shape == (1,)
    assert labels.dtype == dtype
    decisions = apply_infer_dtype(lambda rows: model.predict_all(rows), one)
    assert decisions.deferred.shape == (1,)
    assert decisions.deferral_score.dtype == np.float64
    monkeypatch.undo()
    with pytest.raises(AssertionError, match="asked"):
        apply_infer_dtype(model.predict, one)


@pytest.mark.parametrize("caller", ["dask.array.core", "dask.dataframe.core"])
def test_rows_of_the_user_are_answered_where_dask_asks(monkeypatch, caller):
    """What a function that Dask tries out asks of its own may be kept for later."""
    model, _ = fit("text")
    own = [X[:1], X[:2], sparse.csr_array(X[:2]), X[:2].tolist(), X[:1].tolist()]
    expected = [model.predict_proba(rows) for rows in own]
    assert all(probabilities.any() for probabilities in expected)
    monkeypatch.setitem(globals(), "__name__", caller)
    ask = apply_infer_dtype if "array" in caller else emulate
    for rows, probabilities in zip(own, expected, strict=True):
        found = ask(model.predict_proba, rows)
        np.testing.assert_array_equal(found, probabilities)


def emulate(method, rows):
    """Stand in for the function of Dask that asks about data frames it makes up."""
    return method(rows)


def test_made_up_rows_on_their_way(monkeypatch):
    """Scaled ones, and those with missing values, are not what the model has seen."""
    model, _ = fit("defers")
    model.estimator_ = Deaf(model.estimator_.classes_)
    monkeypatch.setitem(globals(), "__name__", "dask.array.core")
    for value in (0.0, 1.0, 0.1):
        assert len(apply_infer_dtype(model.predict, np.full((1, 1), value))) == 1
    zeros = np.zeros((1, X.shape[1]))
    assert len(apply_infer_dtype(model.predict, zeros)) == 1
    monkeypatch.setitem(globals(), "__name__", "dask.dataframe.core")
    rows = np.full((2, X.shape[1]), 0.3)
    rows[1, 0] = np.nan
    for made_up in (rows, rows.astype(object), sparse.csr_array(rows)):
        assert len(emulate(model.predict, made_up)) == 2
