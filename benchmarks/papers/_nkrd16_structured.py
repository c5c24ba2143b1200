"""Structured support vector machine for losses of whole sets (Joachims, 2005).

One slack variable stands for all sets s' that could be predicted instead of the true
set of positives:

    min_w  ||w||^2 / 2 + C xi   subject to  xi >= 0  and, for all s',
    xi >= loss(s') - 1/P (sum of <w, x> over the positives that are not in s'
                          - sum of <w, x> over the negatives that are in s')

Of these constraints, one for each set, few matter. Cutting planes add the one that is
violated most until none is violated by more than `tol` beyond the slack, and solve the
dual of the few. Unlike in the paper's implementation, sums are divided by the number P
of positives, so that C means about the same in sets of all sizes.

For a given number of true positives the right-hand side is concave in the number of
false positives under F1, Jaccard, AM and G-TP/PR, so that the most violated constraint
is found by bisection rather than among all pairs of the two numbers.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

_LARGEST_GAP = 0.1  # of the dual of the few, relative to `tol`
_CHANGES = 10  # of free variables, for each variable: more would be going in circles
_RIDGE = 1e-12


def fit_structured_svms(X, y, loss, strengths, *, tol=5e-3, max_planes=200):
    """Return for each strength the weights of the features and, last, the constant's.

    Constraints found for one strength serve the next one too.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.

    y : ndarray of shape (n_samples,), dtype bool
        Labels, both of which occur.

    loss : SetLoss
        Concave in fp at fixed tp, tp + fn and fp + tn.

    strengths : sequence of float
        C, the larger the closer to the training samples, in increasing order.

    tol : float, default=5e-3
        How far the objective may be from the minimum, in units of C: a loss.

    max_planes : int, default=200
        Largest number of constraints added for one strength.
    """
    planes = _Planes(X.shape[1] + 1)
    return [_fit(planes, X, y, loss, C, tol, max_planes) for C in strengths]


def _fit(planes, X, y, loss, strength, tol, max_planes):
    planes.strengthen(strength, _LARGEST_GAP * tol)
    for _ in range(max_planes):
        is_in = most_violated(decision(planes.weights, X), y, loss)
        plane = _plane(X, y, is_in), realized(loss, y, is_in)
        if planes.excess(*plane) <= tol:
            return planes.weights
        planes.add(*plane)
        planes.solve(_LARGEST_GAP * tol)
    warnings.warn(
        f"The structured SVM took max_planes={max_planes} constraints and did not "
        f"reach tol={tol:g} with a strength of {strength:g}. Increase either of them.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return planes.weights


def decision(weights, X):
    """Return <w, x> of each sample; those above zero are predicted."""
    return X @ weights[:-1] + weights[-1]


def realized(loss, y, is_in):
    """Return the loss of predicting a set where `y` are the positives."""
    tp, n_in, n_positive = (y & is_in).sum(), is_in.sum(), y.sum()
    fp, fn = n_in - tp, n_positive - tp
    return float(loss(tp, fp, fn, len(y) - tp - fp - fn))


def most_violated(scores, y, loss):
    """Return the set, as a mask, of the largest right-hand side."""
    positives, negatives = (_by_score(scores, rows) for rows in (y, ~y))
    gains = [_gains(scores[rows]) / len(positives) for rows in (positives, negatives)]
    tp = np.arange(len(positives) + 1)
    fp = _best_false_positives(tp, gains[1], loss)
    values = _delta(loss, tp, fp, gains) + gains[0] + gains[1][fp]
    best = np.argmax(values)
    is_in = np.zeros(len(y), dtype=bool)
    is_in[positives[: tp[best]]] = is_in[negatives[: fp[best]]] = True
    return is_in


def _by_score(scores, is_member):
    rows = np.flatnonzero(is_member)
    return rows[np.argsort(-scores[rows], kind="stable")]


def _gains(scores):
    return np.append(0.0, np.cumsum(scores))


def _delta(loss, tp, fp, gains):
    n_positive, n_negative = (len(gain) - 1 for gain in gains)
    return loss(tp, fp, n_positive - tp, n_negative - fp)


def _best_false_positives(tp, gain, loss):
    """Return, for each number of true positives, the best number of false ones."""
    gains = tp, gain
    low, high = np.zeros_like(tp), np.full_like(tp, len(gain) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        fp = np.array([middle, np.minimum(middle + 1, len(gain) - 1)])
        here, after = _delta(loss, tp, fp, gains) + gain[fp]
        rises = after > here
        low, high = np.where(rises, fp[1], low), np.where(rises, high, middle)
    return low


def _plane(X, y, is_in):
    """Return the vector that <w, .> is taken of, with the constant feature last."""
    signs = (y.astype(np.float64) - is_in) / y.sum()
    return np.append(signs @ X, signs.sum())


class _Planes:
    """The constraints so far, and the weights that are best under them.

    The dual has a variable a_j >= 0 for each constraint, and one for xi >= 0, a plane
    of zeros without loss; their sum is C. Few of them are above zero. Given which, the
    best are found from linear equations; the set changes by one variable at a time.
    """

    def __init__(self, n_weights):
        self.vectors, self.losses = [np.zeros(n_weights)], np.zeros(1)
        self.gram, self.duals = np.zeros((1, 1)), np.ones(1)
        self.weights = np.zeros(n_weights)

    def strengthen(self, strength, tol):
        """Find the weights for another C from the solution for the last one."""
        self.duals *= strength / self.duals.sum()
        self.solve(tol)

    def excess(self, vector, loss):
        """Return how far a constraint lies above the slack of the others."""
        return loss - vector @ self.weights - self._slopes().max()

    def add(self, vector, loss):
        self.vectors.append(vector)
        products = np.array([of @ vector for of in self.vectors])
        gram = np.vstack([self.gram, products[:-1]])
        self.gram = np.column_stack([gram, products])
        self.losses = np.append(self.losses, loss)
        self.duals = np.append(self.duals, 0.0)

    def solve(self, tol):
        """Find the weights whose objective is within `tol` C of the minimum."""
        is_free = self.duals > 0
        for _ in range(_CHANGES * len(self.duals)):
            if self._advance(is_free):
                continue
            slopes = self._slopes()
            if slopes.max() - slopes[is_free].min() <= tol:
                break
            is_free[np.argmax(slopes)] = True
        used = np.flatnonzero(self.duals)
        self.weights = self.duals[used] @ np.array([self.vectors[j] for j in used])

    def _slopes(self):
        """Return the slack that each constraint asks for, the slope of its variable."""
        return self.losses - self.gram @ self.duals

    def _advance(self, is_free):
        """Go to the best free variables; stop where one falls to zero, and say so."""
        old, new = self.duals[is_free], self._best(is_free)
        falls = new <= 0
        if not falls.any():
            self.duals[is_free] = new
            return False
        shares = np.where(falls, old / np.where(falls, old - new, 1.0), np.inf)
        first = np.argmin(shares)
        self.duals[is_free] = old + shares[first] * (new - old)
        dropped = np.flatnonzero(is_free)[first]
        self.duals[dropped], is_free[dropped] = 0.0, False
        return True

    def _best(self, is_free):
        """Return the free variables of the best dual that may be negative."""
        gram = self.gram[np.ix_(is_free, is_free)]
        size = len(gram)
        system = np.ones((size + 1, size + 1))
        # More planes than dimensions are dependent; the ridge picks a solution.
        system[:size, :size] = gram + _RIDGE * self.gram.max() * np.eye(size)
        system[size, size] = 0.0
        right = np.append(self.losses[is_free], self.duals.sum())
        return np.linalg.solve(system, right)[:size]
