"""What must hold for every score, callable on any class: `check_score_contract`."""

import pickle
import warnings
from contextlib import ExitStack, suppress
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import NoveltyScore

N_NEW = 75
_X, _Y = load_digits(return_X_y=True)
X, Y = _X[_Y < 5][:220] / 16, _Y[_Y < 5][:220]
X_OOD = _X[_Y > 6][:60] / 16
X_NEW = np.vstack([_X[_Y < 5][220:260], _X[_Y > 6][60:95]]) / 16
#: The rows that scores are fitted on, which are new to the classifiers.
LEARN = slice(110, None)

# Fewer trees show the same.
_CHEAPER = {
    "outlier_detector": {"detector": IsolationForest(n_estimators=10, random_state=0)},
    # Probabilities that a last bit of a sparse product moves grow other trees.
    "true_class_probability": {"features": "per_label_linear", "alphas": 0.1},
}


@cache
def fit_classifier(name):
    """Return a classifier of five digits, or of two classes called by text."""
    classifier = {
        "logistic": LogisticRegression(),
        "network": MLPClassifier((20, 9), max_iter=60, random_state=0),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "bayes": GaussianNB(var_smoothing=1e-2),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
        "binary": LogisticRegression(),
    }[name]
    return classifier.fit(X[:110], labels_for(name)[:110])


def labels_for(name):
    return np.where(Y > 2, "high", "low") if name == "binary" else Y


def values_of(score):
    return score.novelty if isinstance(score, NoveltyScore) else score.uncertainty


def make_score(score_class):
    """Return an unfitted score that draws the same in each fit."""
    score = score_class()
    options = {"random_state": 0} if "random_state" in score.get_params() else {}
    return score.set_params(**options, **_CHEAPER.get(score_class.name, {}))


def fit(score, name="logistic", rows=LEARN, convert=np.asarray, **given):
    """Fit a score on samples that are new to the classifier, and return it."""
    given = {"estimator": fit_classifier(name)} | given
    if isinstance(score, NoveltyScore):
        given["X_ood"] = convert(X_OOD)
    with warnings.catch_warnings():
        if name == "binary":  # some scores then are of little use
            warnings.simplefilter("ignore", RejectionWarning)
        return score.fit(convert(X[rows]), labels_for(name)[rows], **given)


@cache
def fitted(score_class, name="logistic"):
    return fit(make_score(score_class), name)


def check_one_number_a_sample(score_class):
    for name in ("logistic", "pipeline", "binary"):
        values = values_of(fitted(score_class, name))(X_NEW)
        assert values.shape == (N_NEW,)
        assert values.dtype == np.float64
        assert not np.isnan(values).any()


def check_pickled_and_frozen(score_class):
    values = values_of(fitted(score_class))(X_NEW)
    again = pickle.loads(pickle.dumps(fitted(score_class)))
    np.testing.assert_array_equal(values_of(again)(X_NEW), values)
    frozen = FrozenEstimator(fit_classifier("logistic"))
    score = fit(make_score(score_class), estimator=frozen)
    np.testing.assert_array_equal(values_of(score)(X_NEW), values)


def check_is_an_estimator(score_class):
    score = make_score(score_class)
    assert str(clone(score).get_params()) == str(score.get_params())
    with pytest.raises(NotFittedError):
        values_of(score)(X_NEW)
    with pytest.raises(NotFittedError):
        score.fit(X, Y, estimator=GaussianNB())
    before = vars(score).copy()
    found = fitted(score_class)
    assert str(found.get_params()) == str(score.get_params())
    assert all(key.endswith("_") for key in set(vars(found)) - set(before))


def check_a_failed_fit_leaves_nothing_of_its_own(score_class):
    """After it, a score is as it was, or not fitted."""
    if not learns(score_class):
        return
    score = fit(make_score(score_class))
    before = values_of(score)(X_NEW)
    with pytest.raises(ValueError, match=r"y has 3 elements|inconsistent numbers"):
        fit(score, rows=slice(110, 113), convert=lambda _: X)
    with suppress(NotFittedError):
        np.testing.assert_array_equal(values_of(score)(X_NEW), before)


def learns(score_class):
    """Tell whether a score learns from samples."""
    return getattr(score_class, "learns", getattr(score_class, "needs_samples", False))


def check_weights(score_class):
    """Compare samples of weight zero with none, and weights of two units."""
    if not learns(score_class):
        return
    weight = np.where(np.arange(110) % 3 > 0, 2.0**40, 0.0)
    found = [
        values_of(fit(make_score(score_class), **given))(X_NEW)
        for given in (
            {"rows": np.arange(110, 220)[weight > 0]},
            {"sample_weight": weight},
            {"sample_weight": weight / 2**80},
        )
    ]
    np.testing.assert_allclose(found[2], found[1], rtol=1e-9, atol=1e-9)
    # Weights make forests draw, and boosting bin, in a way of their own.
    if score_class.name not in ("likelihood_ratio", "outlier_detector"):
        np.testing.assert_allclose(found[1], found[0], rtol=1e-6, atol=1e-6)


class one_row_at_a_time(ExitStack):
    """Have classifiers of scikit-learn predict each row by itself.

    Their own sums may round otherwise with other rows beside: no matter of a score.
    """

    def __enter__(self):
        for kind in (LogisticRegression, MLPClassifier, GaussianNB):
            for name in ("predict", "predict_proba", "decision_function"):
                if hasattr(kind, name):
                    self.enter_context(patch.object(kind, name, _by_row(kind, name)))
        return super().__enter__()


def _by_row(kind, name):
    original = getattr(kind, name)

    def method(self, X):
        rows = X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)
        parts = [original(self, rows[k : k + 1]) for k in range(rows.shape[0])]
        return np.concatenate(parts)

    return method


def check_rows_do_not_depend_on_each_other(score_class, name="logistic"):
    """Compare all bits: one row, chunks of 7, permuted, Fortran order, float32."""
    values = values_of(fitted(score_class, name))
    permuted = np.random.default_rng(0).permutation(N_NEW)
    with one_row_at_a_time():
        for X_new in (X_NEW, X_NEW.astype(np.float32)):
            expected = values(X_new)
            chunks = [values(X_new[k : k + 7]) for k in range(0, N_NEW, 7)]
            np.testing.assert_array_equal(np.concatenate(chunks), expected)
            np.testing.assert_array_equal(values(X_new[permuted]), expected[permuted])
            np.testing.assert_array_equal(values(np.asfortranarray(X_new)), expected)
            single = [values(X_new[row : row + 1])[0] for row in (5, 41, 74)]
            np.testing.assert_array_equal(single, expected[[5, 41, 74]])


def check_sparse(score_class):
    """Sparse samples are refused, or taken with the same bits in any chunk."""
    rows, score = sparse.csr_matrix(X_NEW), make_score(score_class)
    if not getattr(score, "takes_sparse", True):
        with pytest.raises(ValueError, match="sparse matrix, "):
            values_of(fit(score, convert=sparse.csr_matrix))(rows)
        return
    values = values_of(fit(score, convert=sparse.csr_matrix))
    with one_row_at_a_time():
        chunks = [values(rows[k : k + 7]) for k in range(0, N_NEW, 7)]
        np.testing.assert_array_equal(np.concatenate(chunks), values(rows))
    if score_class.name != "sele":  # which does not center what is sparse
        dense = values_of(fitted(score_class))(X_NEW)
        np.testing.assert_allclose(values(rows), dense)


CHECKS = (
    check_one_number_a_sample,
    check_pickled_and_frozen,
    check_is_an_estimator,
    check_a_failed_fit_leaves_nothing_of_its_own,
    check_weights,
    check_rows_do_not_depend_on_each_other,
    check_sparse,
)


def check_score_contract(score_class):
    """Run every check on a score that can be made without arguments."""
    for check in CHECKS:
        check(score_class)
