"""What the methods of NKRD16 lose on the test samples, which form one set of items.

The fixed threshold and the sets of least expected loss take probabilities of a logistic
regression on all training samples, as it is or calibrated. A threshold is tuned on a
third of them that is held out, as in the paper, or on probabilities out of fold, by
which none is lost to the classifier.
"""

import warnings
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.papers._nkrd16_classifier import (
    choose_strength,
    fitted_probabilities,
    hold_out,
    logistic_regression,
    out_of_fold,
)
from benchmarks.papers._nkrd16_data import ALL_ARTICLES, load
from benchmarks.papers._nkrd16_published import TITLES
from benchmarks.papers._nkrd16_structured import decision, fit_structured_svms, realized
from sklearn_reject.decoding import decode, tune_threshold
from sklearn_reject.losses import check_set_loss

LOSSES = {name: check_set_loss(name) for name in TITLES}

# Constants C of the structured SVM, of which one is chosen for each problem and loss.
SVM_STRENGTHS = (10.0, 100.0, 1000.0)

_HALF = 0.5


def measure_split(key):
    """Return what all methods lose on a set; the key is its name and a seed, "image-0".

    The articles with several topics are too many for the structured SVM.
    """
    name, seed = key.rsplit("-", 1)
    return measure(load(name, int(seed)), int(seed), with_svm=name != ALL_ARTICLES)


def measure(split, seed, with_svm=True):
    """Return the strength chosen, and a record for each problem."""
    start = perf_counter()
    strength = choose_strength(split.X_train, split.Y_train, seed)
    problems = [
        {"name": name, **_measure_problem(split, column, strength, seed, with_svm)}
        for column, name in enumerate(split.names)
    ]
    seconds = perf_counter() - start
    return {"strength": strength, "problems": problems, "seconds": seconds}


def _measure_problem(split, column, strength, seed, with_svm):
    train = split.X_train, split.Y_train[:, column]
    y_test = split.Y_test[:, column]
    eta = fitted_probabilities(train, split.X_test, strength, seed)
    found = {
        **_decided(eta, y_test),
        **_fixed(eta, y_test),
        "tuned": _tuned(train, split.X_test, y_test, strength, seed),
        "tuned, folds": _tuned_out_of_fold(train, eta, y_test, strength, seed),
    }
    if with_svm:
        found["S-SVM"] = _structured(train, split.X_test, y_test, seed)
    return {
        "positives": [int(train[1].sum()), int(y_test.sum())],
        "losses": found,
        "expected": {method: _expected(of) for method, of in eta.items()},
    }


def _decided(eta, y_test):
    """Return the losses of the sets of least expected loss."""
    return {
        method: _losses(
            y_test, {name: decode(of, loss=loss)[0] for name, loss in LOSSES.items()}
        )
        for method, of in eta.items()
    }


def _expected(eta):
    return {name: decode(eta, loss=loss)[1] for name, loss in LOSSES.items()}


def _fixed(eta, y_test):
    names = {"plain": "0.5", "sigmoid": "0.5, sigmoid"}
    return {
        title: _losses(y_test, dict.fromkeys(LOSSES, eta[method] >= _HALF))
        for method, title in names.items()
    }


def _losses(y_test, chosen):
    """Return {loss: value} of one predicted set for each loss."""
    return {
        name: realized(LOSSES[name], y_test, is_in) for name, is_in in chosen.items()
    }


def _tuned(train, X_test, y_test, strength, seed):
    """Return the losses at thresholds tuned on samples that are held out."""
    X, y = train
    is_fitted, is_held_out = hold_out(y, seed)
    classifier = logistic_regression(X, strength).fit(X[is_fitted], y[is_fitted])
    eta = classifier.predict_proba(X_test)[:, 1]
    held_out = classifier.predict_proba(X[is_held_out])[:, 1]
    return _losses_at_thresholds((y[is_held_out], held_out), eta, y_test)


def _tuned_out_of_fold(train, eta, y_test, strength, seed):
    X, y = train
    if y.sum() == 1:
        return _losses(y_test, dict.fromkeys(LOSSES, eta["plain"] >= _HALF))
    held_out = out_of_fold(X, y, strength, seed)
    return _losses_at_thresholds((y, held_out), eta["plain"], y_test)


def _losses_at_thresholds(tuning, eta, y_test):
    return _losses(
        y_test,
        {name: eta >= _threshold(*tuning, loss) for name, loss in LOSSES.items()},
    )


def _threshold(y, eta, loss):
    # Without a positive nothing speaks for any threshold.
    return tune_threshold(y, eta, loss=loss).threshold if y.any() else _HALF


def _structured(train, X_test, y_test, seed):
    chosen = {
        name: decision(_structured_svm(*train, loss, seed), X_test) > 0
        for name, loss in LOSSES.items()
    }
    return _losses(y_test, chosen)


def _structured_svm(X, y, loss, seed):
    """Return the weights, of the strength that is best on samples held out."""
    is_fitted, is_held_out = hold_out(y, seed)
    X_held_out, y_held_out = X[is_held_out], y[is_held_out]
    with warnings.catch_warnings():
        # Of strengths so great that all training samples are fitted.
        warnings.simplefilter("ignore", ConvergenceWarning)
        candidates = fit_structured_svms(
            X[is_fitted], y[is_fitted], loss, SVM_STRENGTHS
        )
        risks = [
            realized(loss, y_held_out, decision(weights, X_held_out) > 0)
            for weights in candidates
        ]
        best = SVM_STRENGTHS[np.argmin(risks)]
        return fit_structured_svms(X, y, loss, [best])[0]
