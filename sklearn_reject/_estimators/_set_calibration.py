"""Probabilities of items made honest by predictions out of sample."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

CALIBRATIONS = ("sigmoid", "isotonic")

# Logits of probabilities that are rounded to 0 or 1 end here.
_LEAST = 1e-15

# Isotonic steps need so many samples before they are better than a curve with two
# parameters; with fewer, "auto" does not look at them.
_FEWEST_FOR_STEPS = 1000

# A more flexible calibration has to be better by so many standard errors: with two,
# curves that the expected loss needs go unnoticed on a few hundred samples.
_ERRORS_BETTER = 1.0

# Newton's method on two numbers. A LogisticRegression on weighted copies takes seven
# times as long: 1.7 s instead of .2 s for 150 labels in five folds.
_MOST_STEPS = 100
_SHORTEST_STEP = 1e-12


@dataclass(frozen=True, eq=False)
class Sigmoid:
    """A logistic curve on the log odds of a probability."""

    slope: float
    intercept: float

    def __call__(self, eta):
        """Return calibrated probabilities."""
        return expit(self.slope * _log_odds(eta) + self.intercept)


@dataclass(frozen=True, eq=False)
class Steps:
    """An isotonic curve, and a sigmoid that counts as one sample of `n_samples` + 1.

    It keeps the order of the probabilities within a step, and steps off 0 and 1, which
    no number of samples proves.
    """

    isotonic: IsotonicRegression
    sigmoid: Sigmoid
    n_samples: int

    def __call__(self, eta):
        """Return calibrated probabilities."""
        steps = self.n_samples * self.isotonic.predict(eta.ravel()).reshape(eta.shape)
        return (steps + self.sigmoid(eta)) / (self.n_samples + 1)


@dataclass(frozen=True, eq=False)
class LabelCurves:
    """A curve a label, None where the label had one class and stays as it is.

    Zeros that `keep_zeros` are those that a sparse matrix does not store.
    """

    curves: tuple
    keep_zeros: bool = False

    def __call__(self, eta):
        """Return calibrated probabilities, of shape (n_samples, n_labels)."""
        if issparse(eta):
            return self._calibrate_stored(eta)
        columns = zip(self.curves, eta.T, strict=True)
        calibrated = np.column_stack(
            [p if curve is None else curve(p) for curve, p in columns]
        )
        return np.where(eta > 0, calibrated, 0.0) if self.keep_zeros else calibrated

    def _calibrate_stored(self, eta):
        eta = eta.tocsc(copy=True)
        for curve, *ends in zip(
            self.curves, eta.indptr[:-1], eta.indptr[1:], strict=True
        ):
            stored = slice(*ends)
            if curve is not None and len(eta.data[stored]):
                eta.data[stored] = curve(eta.data[stored])
        return eta.tocsr()


def fit_calibration(method, eta, truth, *, keep_zeros=False):
    """Return the curve that a method fits to probabilities; None for none.

    A matrix has a column a label, each with a curve of its own. All samples count
    alike, as they do in the counts of a set, but for zeros that are to be kept.
    """
    if method is None:
        return None
    if eta.ndim == 2:
        columns = zip(eta.T, truth.T, strict=True)
        if keep_zeros:
            columns = ((p[p > 0], is_true[p > 0]) for p, is_true in columns)
        curves = tuple(fit_calibration(method, *pair) for pair in columns)
        return LabelCurves(curves, keep_zeros)
    if truth.all() or not truth.any():
        return None
    sigmoid = _fit_sigmoid(eta, truth)
    if method == "sigmoid":
        return sigmoid
    isotonic = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return Steps(isotonic.fit(eta, truth.astype(np.float64)), sigmoid, len(eta))


def cross_calibrate(method, eta, truth, parts, *, keep_zeros=False):
    """Return probabilities that are calibrated by samples of the other parts.

    `parts` are pairs (train, test) of positions.
    """
    if method is None:
        return eta
    calibrated = eta.copy()
    for train, test in parts:
        curve = fit_calibration(method, eta[train], truth[train], keep_zeros=keep_zeros)
        if curve is not None:
            calibrated[test] = curve(eta[test])
    return calibrated


def choose_calibration(calibrated, truth):
    """Return the method whose probabilities predict samples of other parts best.

    `calibrated` returns those of a method. It is compared by the log loss, which sees
    all of a curve and not one point of it; a more flexible one has to be better by more
    than noise.
    """
    enough = len(truth) >= _FEWEST_FOR_STEPS
    best, least = None, _log_losses(calibrated(None), truth)
    for method in CALIBRATIONS if enough else CALIBRATIONS[:1]:
        losses = _log_losses(calibrated(method), truth)
        gain = least - losses
        if gain.mean() > _ERRORS_BETTER * gain.std() / np.sqrt(len(gain)):
            best, least = method, losses
    return best


def _log_losses(eta, truth):
    """Return the log loss of each sample, summed over its labels."""
    losses = -np.log(np.maximum(np.where(truth, eta, 1 - eta), _LEAST))
    return losses if losses.ndim == 1 else losses.sum(axis=1)


def _log_odds(eta):
    return logit(np.clip(eta, _LEAST, 1 - _LEAST))


def _fit_sigmoid(eta, truth):
    """Fit a logistic curve, which rises, to labels that are smoothed.

    A class of m samples counts as (m + 1) / (m + 2) of itself: the curve is finite
    where the classes are apart, and steps off 0 and 1 on few samples.
    """
    n_samples, n_positive = len(truth), np.count_nonzero(truth)
    share = np.where(
        truth, (n_positive + 1) / (n_positive + 2), 1 / (n_samples - n_positive + 2)
    )
    flat = Sigmoid(0.0, float(logit(share.mean())))
    odds = _log_odds(eta)
    center, scale = odds.mean(), odds.std()
    if scale == 0:
        return flat
    slope, intercept = _newton((odds - center) / scale, share, flat.intercept)
    if slope <= 0:
        return flat
    slope /= scale
    return Sigmoid(slope, intercept - slope * center)


def _newton(odds, share, intercept):
    """Return slope and intercept of the least log loss of labels that are shares.

    The loss is convex; a step that overshoots is halved.
    """
    design = np.column_stack([odds, np.ones_like(odds)])
    point = np.array([0.0, intercept])
    loss = _log_loss(design @ point, share)
    for _ in range(_MOST_STEPS):
        p = expit(design @ point)
        curvature = design.T @ (design * (p * (1 - p))[:, np.newaxis])
        step = np.linalg.lstsq(curvature, design.T @ (share - p), rcond=None)[0]
        while (following := _log_loss(design @ (point + step), share)) > loss:
            step /= 2
            if np.abs(step).max() < _SHORTEST_STEP:
                return tuple(map(float, point))
        point, gain, loss = point + step, loss - following, following
        if gain <= _SHORTEST_STEP * loss:
            break
    return tuple(map(float, point))


def _log_loss(values, share):
    return float(np.mean(np.logaddexp(0, values) - share * values))
