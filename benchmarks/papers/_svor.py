"""Support vector ordinal regression with implicit constraints (FPV23, 5.2.2).

In the objective each threshold y of each sample i is an example of a linear support
vector machine without intercept: the vector (x_i, -e_y), with label +1 where y < y_i
and -1 elsewhere. The hinge is smoothed,

    h_mu(m) = mu log(1 + exp((1 - m) / mu)),

so that Newton's method applies: the Hessian has only as many rows as there are features
and thresholds. Its slopes, which lie in [0, 1], are a feasible point of the dual of the
problem *without* smoothing. Hence the distance to the optimum is known, and mu is
lowered until it is small enough.
"""

import warnings
from collections import namedtuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

_FIRST_MU, _MU_FACTOR = 1.0, 0.3
_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_STEP = 2.0**-30

# What is known about a vector of parameters, for one smoothness.
_State = namedtuple("_State", "theta mu margins slopes smooth gradient")


class SVOR(ClassifierMixin, BaseEstimator):
    """Linear classifier of ordered classes, parallel hyper-planes for thresholds.

    Minimizes, with K classes and theta = (w, b),

        alpha/2 ||theta||^2 + 1/n sum_i (sum_{y < y_i} max(0, 1 - <w, x_i> + b_y)
                                         + sum_{y >= y_i} max(0, 1 + <w, x_i> - b_y))

    over y in 1..K-1, and predicts class 1 + sum_y [<w, x> > b_y].

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularization, positive.

    tol : float, default=1e-3
        Largest distance of the objective from its minimum, relative to the objective.

    max_iter : int, default=500
        Largest number of Newton steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in increasing order.

    coef_ : ndarray of shape (n_features,)
        w.

    thresholds_ : ndarray of shape (n_classes - 1,)
        b.

    objective_, duality_gap_ : float
        Value reached, and how far it is at most above the minimum.

    n_iter_ : int
        Number of Newton steps.
    """

    def __init__(self, alpha=1e-3, tol=1e-3, max_iter=500):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y):
        """Find the parameters for samples of shape (n_samples, n_features)."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, ranks = np.unique(y, return_inverse=True)
        problem = _Problem(X, ranks, len(self.classes_) - 1, self.alpha)
        state, gap, self.n_iter_ = _minimize(problem, self.tol, self.max_iter)
        self.coef_, self.thresholds_ = np.split(state.theta, [X.shape[1]])
        self.objective_, self.duality_gap_ = problem.objective(state), gap
        return self

    def latent(self, X):
        """Return <w, x> for each sample."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_

    def predict(self, X):
        """Return the label of each sample."""
        return self.classes_[(self._distances(X) > 0).sum(axis=1)]

    def margin(self, X):
        """Return min_y |<w, x> - b_y|, the confidence of the paper's baseline."""
        return np.abs(self._distances(X)).min(axis=1)

    def _distances(self, X):
        return self.latent(X)[:, np.newaxis] - self.thresholds_


class _Problem:
    """Objective, gradient and Hessian; a column of an array is a threshold."""

    def __init__(self, X, ranks, n_thresholds, alpha):
        self.X, self.alpha = X, alpha
        self.n_samples, self.n_features = X.shape
        self.signs = np.where(ranks[:, np.newaxis] > np.arange(n_thresholds), 1.0, -1.0)
        self.n_parameters = self.n_features + n_thresholds

    def evaluate(self, theta, mu):
        w, b = np.split(theta, [self.n_features])
        margins = self.signs * ((self.X @ w)[:, np.newaxis] - b)
        shortfalls = (1 - margins) / mu
        smooth = mu * np.logaddexp(0, shortfalls).sum() / self.n_samples
        slopes = expit(shortfalls)
        gradient = self.alpha * theta - self._pull(slopes)
        return _State(
            theta, mu, margins, slopes, self._penalty(theta) + smooth, gradient
        )

    def _penalty(self, theta):
        return self.alpha / 2 * theta @ theta

    def _pull(self, slopes):
        """Return the mean over samples of slope * label * example, summed over y."""
        signed = self.signs * slopes
        towards_w = signed.sum(axis=1) @ self.X
        return np.concatenate([towards_w, -signed.sum(axis=0)]) / self.n_samples

    def newton_step(self, state):
        hessian = self._hessian(state.slopes * (1 - state.slopes) / state.mu)
        return -cho_solve(cho_factor(hessian, overwrite_a=True), state.gradient)

    def _hessian(self, curvatures):
        d = self.n_features
        hessian = np.empty((self.n_parameters, self.n_parameters))
        hessian[:d, :d] = (self.X.T * curvatures.sum(axis=1)) @ self.X
        hessian[:d, d:] = -self.X.T @ curvatures
        hessian[d:, :d] = hessian[:d, d:].T
        hessian[d:, d:] = np.diag(curvatures.sum(axis=0))
        hessian /= self.n_samples
        hessian.flat[:: self.n_parameters + 1] += self.alpha
        return hessian

    def objective(self, state):
        hinges = np.maximum(0, 1 - state.margins).sum() / self.n_samples
        return self._penalty(state.theta) + hinges

    def duality_gap(self, state):
        pull = self._pull(state.slopes)
        dual = state.slopes.sum() / self.n_samples - pull @ pull / (2 * self.alpha)
        return self.objective(state) - dual


def _minimize(problem, tol, max_iter):
    """Return a state of small relative duality gap, the gap, the number of steps."""
    state = problem.evaluate(np.zeros(problem.n_parameters), _FIRST_MU)
    for n_iter in range(max_iter):
        gap = problem.duality_gap(state)
        if gap <= tol * problem.objective(state):
            return state, gap, n_iter
        state = _advance(problem, state, tol)
    warnings.warn(
        f"SVOR took max_iter={max_iter} steps and is up to {gap:.2g} above the minimum "
        f"of its objective. Increase max_iter, tol or alpha.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return state, gap, max_iter


def _advance(problem, state, tol):
    """Take one step, after lowering mu where the minimum for this mu is found."""
    # What the gradient adds to the duality gap: beyond it, only mu is to blame.
    if state.gradient @ state.gradient / (2 * problem.alpha) <= tol / 10 * state.smooth:
        state = problem.evaluate(state.theta, _MU_FACTOR * state.mu)
    return _line_search(problem, state, problem.newton_step(state))


def _line_search(problem, state, step):
    decrease = -_SUFFICIENT_DECREASE * step @ state.gradient
    size = 1.0
    while size > _SMALLEST_STEP:
        moved = problem.evaluate(state.theta + size * step, state.mu)
        if moved.smooth <= state.smooth - size * decrease:
            return moved
        size /= 2
    return state
