"""Isotonic curves that make probabilities of items honest."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.isotonic import IsotonicRegression

from sklearn_reject._validation import take_weight


@dataclass(frozen=True, eq=False)
class Curves:
    """An isotonic curve for each column of probabilities, None where there is none.

    A calibrated probability is the mean of the curve and of the probability as it is,
    which weigh sqrt(n_samples) to one: on few samples steps are noise, and within a
    step the order stays. Zeros that `keep_zeros` are those that a sparse matrix does
    not store; rows of one true class each `add_up` to one.
    """

    curves: tuple
    n_samples: float
    keep_zeros: bool = False
    add_up: bool = False

    def __call__(self, eta):
        """Return calibrated probabilities, of the same form."""
        if issparse(eta):
            return self._calibrate_stored(eta)
        columns = zip(self.curves, np.atleast_2d(eta.T), strict=True)
        calibrated = np.column_stack([self._of_column(*pair) for pair in columns])
        if self.add_up:
            calibrated /= calibrated.sum(axis=1, keepdims=True)
        if self.keep_zeros:
            calibrated = np.where(eta > 0, calibrated, 0.0)
        return calibrated.reshape(eta.shape)

    def _of_column(self, curve, eta):
        if curve is None:
            return eta
        weight = np.sqrt(self.n_samples)
        return (weight * curve.predict(eta) + eta) / (weight + 1)

    def _calibrate_stored(self, eta):
        eta = eta.tocsc(copy=True)
        ends = zip(eta.indptr[:-1], eta.indptr[1:], strict=True)
        for curve, (start, stop) in zip(self.curves, ends, strict=True):
            if stop > start:
                eta.data[start:stop] = self._of_column(curve, eta.data[start:stop])
        return eta.tocsr()


def fit_curves(eta, truth, *, weight=None, keep_zeros=False, add_up=False):
    """Return curves for a vector of probabilities, or for each column of a matrix.

    Items of a set count alike, and rows that are sets by their weight. A column with
    one class has no curve.
    """
    n_samples = len(eta)
    if weight is not None:
        eta, truth, weight = eta[weight > 0], truth[weight > 0], weight[weight > 0]
        n_samples = weight.sum()
    columns = zip(np.atleast_2d(eta.T), np.atleast_2d(truth.T), strict=True)
    curves = tuple(_fit_curve(*column, weight, keep_zeros) for column in columns)
    return Curves(curves, n_samples, keep_zeros, add_up)


def _fit_curve(eta, truth, weight, keep_zeros):
    if keep_zeros:
        stored = eta > 0
        eta, truth, weight = eta[stored], truth[stored], take_weight(weight, stored)
    if truth.all() or not truth.any():
        return None
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return curve.fit(eta, truth.astype(np.float64), sample_weight=weight)
