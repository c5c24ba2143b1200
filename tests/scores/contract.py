"""What must hold for every score, callable on any class: `check_score_contract`."""

import pickle
import warnings
from functools import cache

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

from sklearn_reject._response import Response
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import NoveltyScore, resolve_novelty, resolve_score

N_NEW = 75
_X, _Y = load_digits(return_X_y=True)
X, Y = _X[_Y < 5][:220] / 16, _Y[_Y < 5][:220]
X_OOD = _X[_Y > 6][:60] / 16
X_NEW = np.vstack([_X[_Y < 5][220:260], _X[_Y > 6][60:95]]) / 16


# Fewer trees show the same.
_CHEAPER = {
    "outlier_detector": {"detector": IsolationForest(n_estimators=10, random_state=0)},
    "sele_boosting": {"n_estimators": 10},
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


def is_novelty(score_class):
    return issubclass(score_class, NoveltyScore)


def values_of(score):
    return score.novelty if isinstance(score, NoveltyScore) else score.uncertainty


def make_score(score_class):
    """Return an unfitted score, found by its name."""
    resolve = resolve_novelty if is_novelty(score_class) else resolve_score
    score = resolve(score_class.name, fit_classifier("logistic"), random_state=0)
    assert type(score) is score_class
    return score.set_params(**_CHEAPER.get(score_class.name, {}))


@cache
def fit_score(score_class, name="logistic", is_frozen=False, convert=np.asarray):
    """Return a score that is fitted on samples that are new to the classifier."""
    classifier = fit_classifier(name)
    given = {"estimator": FrozenEstimator(classifier) if is_frozen else classifier}
    if is_novelty(score_class):
        given["X_ood"] = convert(X_OOD)
    score = make_score(score_class)
    with warnings.catch_warnings():
        if name == "binary":  # some scores then are of little use
            warnings.simplefilter("ignore", RejectionWarning)
        return score.fit(convert(X[110:]), labels_for(name)[110:], **given)


def check_one_number_a_sample(score_class):
    for name in ("logistic", "pipeline", "binary"):
        score = fit_score(score_class, name)
        values = values_of(score)(X_NEW)
        assert values.shape == (N_NEW,)
        assert values.dtype == np.float64
        assert not np.isnan(values).any()
        response = Response(fit_classifier(name), X_NEW)
        np.testing.assert_array_equal(score.from_response(response), values)


def check_pickled_and_frozen(score_class):
    score = fit_score(score_class)
    values = values_of(score)(X_NEW)
    again = pickle.loads(pickle.dumps(score))
    np.testing.assert_array_equal(values_of(again)(X_NEW), values)
    score = fit_score(score_class, is_frozen=True)
    np.testing.assert_array_equal(values_of(score)(X_NEW), values)


def check_is_an_estimator(score_class):
    score = make_score(score_class)
    assert str(clone(score).get_params()) == str(score.get_params())
    with pytest.raises(NotFittedError):
        values_of(score)(X_NEW)
    with pytest.raises(NotFittedError):
        score.fit(X, Y, estimator=GaussianNB())
    before = vars(score).copy()
    fitted = fit_score(score_class)
    assert str(fitted.get_params()) == str(score.get_params())
    assert all(key.endswith("_") for key in set(vars(fitted)) - set(before))


def check_evaluate(score_class):
    if is_novelty(score_class):
        return
    classifier = fit_classifier("logistic")
    score = fit_score(score_class)
    labels, uncertainty = score.evaluate(Response(classifier, X_NEW))
    np.testing.assert_array_equal(labels, score.labels(Response(classifier, X_NEW)))
    np.testing.assert_array_equal(uncertainty, score.uncertainty(X_NEW))


def respond(classifier, X_new, rows, layout):
    """Return the response to some rows, with what the classifier says about all.

    Its own sums may round otherwise with other rows beside: not a matter of the score.
    """
    part = Response(classifier, layout(X_new[rows]))
    part.__dict__["labels"] = classifier.predict(X_new)[rows]
    if hasattr(classifier, "predict_proba"):
        part.__dict__["probabilities"] = layout(classifier.predict_proba(X_new)[rows])
    if hasattr(classifier, "decision_function"):
        values = classifier.decision_function(X_new)[rows]
        part.__dict__["decision_values"] = layout(values)
    return part


def check_rows_do_not_depend_on_each_other(score_class, names=("logistic",)):
    """Compare all bits: one row, chunks of 7, permuted, Fortran order, float32."""
    for name in names:
        classifier, score = fit_classifier(name), fit_score(score_class, name)
        check_bits(score, classifier, X_NEW)
        check_bits(score, classifier, X_NEW.astype(np.float32))


def check_bits(score, classifier, X_new):
    def values(rows, layout=np.ascontiguousarray):
        return score.from_response(respond(classifier, X_new, rows, layout))

    every, permuted = np.arange(N_NEW), np.random.default_rng(0).permutation(N_NEW)
    expected = values(every)
    chunks = [values(every[start : start + 7]) for start in range(0, N_NEW, 7)]
    np.testing.assert_array_equal(np.concatenate(chunks), expected)
    np.testing.assert_array_equal(values(permuted), expected[permuted])
    np.testing.assert_array_equal(values(every, np.asfortranarray), expected)
    single = [values(every[row : row + 1])[0] for row in (5, 41, 74)]
    np.testing.assert_array_equal(single, expected[[5, 41, 74]])


def check_sparse(score_class):
    """Sparse samples are refused, or taken with the same bits in any chunk."""
    rows, every = sparse.csr_matrix(X_NEW), np.arange(N_NEW)
    if not getattr(make_score(score_class), "takes_sparse", True):
        with pytest.raises(ValueError, match="sparse matrix"):
            values_of(fit_score(score_class, convert=sparse.csr_matrix))(rows)
        return
    classifier = fit_classifier("logistic")
    score = fit_score(score_class, convert=sparse.csr_matrix)

    def values(part):
        return score.from_response(respond(classifier, rows, part, lambda x: x))

    chunks = [values(every[start : start + 7]) for start in range(0, N_NEW, 7)]
    np.testing.assert_array_equal(np.concatenate(chunks), values(every))


CHECKS = (
    check_one_number_a_sample,
    check_pickled_and_frozen,
    check_is_an_estimator,
    check_evaluate,
    check_rows_do_not_depend_on_each_other,
    check_sparse,
)


def check_score_contract(score_class):
    """Run every check on a class that is registered under its name."""
    for check in CHECKS:
        check(score_class)
