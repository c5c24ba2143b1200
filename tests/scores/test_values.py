"""A score that fails on some rows says on which, and nothing is decided."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.scores import (
    CallableNovelty,
    CallableScore,
    Entropy,
    LearnedScore,
    PlugInScore,
    UncertaintyScore,
)
from sklearn_reject.scores._values import check_scores

X, Y = load_iris(return_X_y=True)
# Seen in `predict` only: no flower is that large.
STRANGE = np.where(np.isin(np.arange(40), [7, 31])[:, None], 1e3, X[:40])
ROWS = r"in rows 7, 31 \(2 of the 40 samples"
METHODS = "predict", "accept", "accept_proba", "uncertainty"


def first_column(X):
    """Return the uncertainty of rows, NaN where they are strange."""
    return np.where(X[:, 0] > 100, np.nan, X[:, 0])


class Derived(PlugInScore):
    def _uncertainty(self, response):
        return first_column(response.X)


class Learned(LearnedScore):
    def _learn(self, predictions, targets, sample_weight, context):
        pass

    def _predict(self, predictions):
        return first_column(predictions.X)


class Ducktyped(BaseEstimator):
    """Nothing but `evaluate`, and `fit`, as it is no frozen score."""

    def fit(self, X=None, y=None, *, estimator):
        self.estimator_ = estimator
        return self

    def evaluate(self, response):
        return response.labels, first_column(response.X)


def by_function(estimator, X):
    return first_column(X)


FROZEN = Derived().fit(estimator=GaussianNB().fit(X, Y))
SCORES = {
    "callable": by_function,
    "score object": CallableScore(by_function),
    "derived": Derived(),
    "learned": Learned(),
    "duck-typed": Ducktyped(),
    "frozen": FrozenEstimator(FROZEN),
    "frozen, duck-typed": FrozenEstimator(Ducktyped().fit(estimator=FROZEN.estimator_)),
}


@pytest.mark.parametrize("kind", SCORES)
def test_a_row_without_a_score_is_named_and_nothing_is_decided(kind):
    selective = SelectiveClassifier(
        GaussianNB(), target_coverage=0.8, cv=2, uncertainty_score=SCORES[kind]
    ).fit(X, Y)
    for method in METHODS:
        assert len(getattr(selective, method)(X)) == len(X)
        with pytest.raises(ValueError, match=f"uncertainty_score must .*nan {ROWS}"):
            getattr(selective, method)(STRANGE)
    np.testing.assert_array_equal(
        selective.predict_label(X), selective.estimator_.predict(X)
    )


@pytest.mark.parametrize("kind", SCORES)
def test_errors_of_a_double_score_name_the_uncertainty_score(kind):
    double = DoubleScoreOODClassifier(
        GaussianNB(),
        min_tpr=0.8,
        uncertainty_score=SCORES[kind],
        novelty_score="msp",
        cv=2,
    ).fit(X, Y)
    for method in (*METHODS, "risk_and_novelty"):
        with pytest.raises(ValueError, match=f"uncertainty_score must be .* {ROWS}"):
            getattr(double, method)(STRANGE)


def test_regressors_and_novelty_alike():
    regressor = SelectiveRegressor(
        LinearRegression(), target_coverage=0.8, cv=2, uncertainty_score=by_function
    ).fit(X, np.sin(50 * X[:, 1]))
    with pytest.raises(ValueError, match=f"uncertainty_score must be finite.* {ROWS}"):
        regressor.accept(STRANGE)
    double = DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.8, novelty_score=by_function, cv=2
    ).fit(X, Y)
    with pytest.raises(ValueError, match=f"novelty_score must not be NaN.* {ROWS}"):
        double.predict(STRANGE)


def test_rows_of_a_fold_are_named_in_fit():
    with pytest.raises(ValueError, match=r"in row 3 \(1 of the 75 samples"):
        SelectiveClassifier(
            GaussianNB(),
            target_coverage=0.8,
            cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))],
            uncertainty_score=lambda e, X: np.where(np.arange(len(X)) == 3, np.inf, 1),
        ).fit(X, Y)


def series(values, index):
    return pytest.importorskip("pandas").Series(values, index=index)


READ = [0.0, 2.0, 1.0]


@pytest.mark.parametrize(
    "values",
    [
        READ,
        tuple(READ),
        np.array(READ, dtype=np.float32),
        np.array(READ, dtype=np.longdouble),
        np.array(READ, dtype=np.uint8),
        np.array(READ, dtype=object),
        [0, np.float64(2), True],
        np.ma.array(READ, mask=[False] * 3),
        lambda: series(READ, [2, 1, 0]),
    ],
    ids=[
        *("list", "tuple", "float32", "longdouble", "uint8", "objects", "mixed"),
        *("unmasked", "series by position"),
    ],
)
def test_numbers_are_read_by_position(values):
    values = values() if callable(values) else values
    read = check_scores(values, 3, "uncertainty_score")
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, READ)


def test_flags_are_coarse_scores():
    read = check_scores(np.array([False, True]), 2, "uncertainty_score")
    np.testing.assert_array_equal(read, [0.0, 1.0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\), expected one number for each of the 3"),
        ([[1.0], [2.0], [3.0]], r"shape \(3, 1\)"),
        (1.0, r"shape \(\)"),
        (None, r"shape \(\)"),
        ([[1.0], [2.0, 3.0], 4.0], r"must return a vector of shape \(3,\)"),
        (np.array([1j, 0, 0]), "must hold real numbers, .* complex128"),
        (["1", "2", "3"], "must hold real numbers, .* <U1"),
        (np.array([1, 2, 3], "m8[s]"), "must hold real numbers"),
        (np.array([1, "2", 3], object), r"must hold numbers, got '2' in row 1 "),
        (np.array([1, None, None], object), r"numbers, got None in rows 1, 2 \(2 of"),
        (np.array([1, 1j, 3], object), r"must hold numbers, got 1j in row 1"),
        (np.array([1, 2**53 + 1, 3]), r"got 9007199254740993 in row 1"),
        (np.array([1, 2, 2**64 - 1], np.uint64), r"2\*\*53, got 18\d+ in row 2"),
        (np.array([1, -(2**63), 3]), r"got -9223372036854775808 in row 1"),
        (np.array([1, 10**400, 3], object), r"2\*\*53, got 1000\d+ in row 1"),
        ([1.0, np.nan, np.inf], r"finite, got nan in rows 1, 2 \(2 of the 3"),
        (np.ma.array(READ, mask=[0, 0, 1]), r"finite, got nan in row 2 \(1 of the 3"),
        (sparse.csr_array([READ]), r"sparse matrix.*toarray\(\).ravel\(\)"),
        (sparse.csc_matrix([READ]).T, "sparse matrix"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_no_number_a_sample_is_refused(values, message):
    with pytest.raises(ValueError, match=f"(?s)uncertainty_score .*{message}"):
        check_scores(values, 3, "uncertainty_score")


def test_no_sample_is_no_batch():
    with pytest.raises(ValueError, match="uncertainty_score is empty"):
        check_scores([], 0, "uncertainty_score")


def test_numbers_whose_sum_is_too_large_are_finite():
    largest = np.full(3, np.finfo(float).max)
    np.testing.assert_array_equal(
        check_scores(largest, 3, "uncertainty_score"), largest
    )


def test_only_the_first_rows_are_listed():
    with pytest.raises(ValueError, match=r"rows 0, 1, 2, 3, 4, \.\.\. \(60 of the 60"):
        check_scores(np.full(60, np.nan), 60, "uncertainty_score")


def test_infinite_novelty_is_a_number():
    score = CallableNovelty(lambda e, X: np.where(X[:, 0] > 5, np.inf, X[:, 0]))
    assert np.isinf(score.fit(estimator=FROZEN.estimator_).novelty(X)).any()


def test_labels_of_a_score_are_counted():
    class OneLabel(UncertaintyScore):
        def fit(self, X=None, y=None, *, estimator):
            self.estimator_ = estimator
            return self

        def labels(self, response):
            return response.labels[:1]

        def _uncertainty(self, response):
            return Entropy()._uncertainty(response)

    selective = SelectiveClassifier(
        GaussianNB(), uncertainty_score=OneLabel(), target_coverage=0.5
    )
    with pytest.raises(ValueError, match="uncertainty_score, by its labels, has 1 el"):
        selective.fit(X, Y)
