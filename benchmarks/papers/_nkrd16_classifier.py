"""Logistic regressions of NKRD16, section 5.2, and their calibration.

The strength of the L2 penalty and the maps that calibrate are chosen by probabilities
out of fold, on training samples. The intercept is not penalized: so the probabilities
of the training samples sum to the number of positives, which the expected loss of a set
depends on.
"""

import numpy as np
from scipy.sparse import issparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

STRENGTHS = tuple(10.0**exponent for exponent in range(-3, 4))  # scikit-learn's C
N_FOLDS = 5
CALIBRATIONS = ("sigmoid", "isotonic")


def logistic_regression(X, strength):
    """Return the classifier, not fitted, with the solver that suits the features."""
    solver = "lbfgs" if issparse(X) else "newton-cholesky"
    # At the default tolerance rare topics are hardly fitted at all.
    return LogisticRegression(C=strength, solver=solver, tol=1e-6, max_iter=10_000)


def choose_strength(X, Y, seed):
    """Return the C of the least log loss out of fold, one for all problems of a set.

    Problems with fewer positives than folds have no say.
    """
    problems = [y for y in Y.T if y.sum() >= N_FOLDS]
    risks = [
        sum(_log_loss(X, y, strength, seed) for y in problems) for strength in STRENGTHS
    ]
    return STRENGTHS[np.argmin(risks)]


def _log_loss(X, y, strength, seed):
    eta = out_of_fold(X, y, strength, seed)
    return log_loss(y, eta, labels=[False, True], normalize=False)


def out_of_fold(X, y, strength, seed):
    """Return the probability of each sample by a classifier fitted on others."""
    classifier = logistic_regression(X, strength)
    cv = _folds(y, seed)
    return cross_val_predict(classifier, X, y, cv=cv, method="predict_proba")[:, 1]


def fitted_probabilities(train, X_test, strength, seed):
    """Return {calibration: probabilities of test samples}, uncalibrated ones first.

    With a single positive nothing can be calibrated.
    """
    X, y = train
    classifier = logistic_regression(X, strength)
    plain = classifier.fit(X, y).predict_proba(X_test)[:, 1]
    eta = {"plain": plain, **dict.fromkeys(CALIBRATIONS, plain)}
    if y.sum() == 1:
        return eta
    for method in CALIBRATIONS:
        calibrated = CalibratedClassifierCV(
            classifier, method=method, cv=_folds(y, seed), ensemble=False
        )
        eta[method] = calibrated.fit(X, y).predict_proba(X_test)[:, 1]
    return eta


def _folds(y, seed):
    n_folds = min(N_FOLDS, int(y.sum()))
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed)


def hold_out(y, seed):
    """Return masks of two parts: two thirds of each class to fit on, and the rest.

    Of one or two positives none is held out.
    """
    rng = np.random.default_rng(seed)
    is_held_out = np.zeros(len(y), dtype=bool)
    for is_member in (y, ~y):
        rows = rng.permutation(np.flatnonzero(is_member))
        is_held_out[rows[2::3]] = True
    return ~is_held_out, is_held_out
