"""Linear scores, with weights of their own for each predicted label (FPV23, eq. 37)."""

import operator
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from sklearn_reject._response import row_products
from sklearn_reject._validation import check_number, check_option, take_weight
from sklearn_reject.curves import aurc_score
from sklearn_reject.scores.learned._base import PER_LABEL, FeatureMap


class LabelledFeatures:
    """Standardised features of samples, with or without weights by label."""

    def __init__(self, features):
        self.is_per_label = isinstance(features, str) and features == PER_LABEL
        self.map = FeatureMap(features, others=(PER_LABEL,))

    def fit_design(self, predictions, targets, sample_weight):
        """Learn means and scales, and return the design of the samples."""
        self.map.fit(predictions, targets)
        matrix = self._matrix(predictions)
        self.scaler = StandardScaler(with_mean=not sparse.issparse(matrix))
        self.scaler.fit(matrix, sample_weight=sample_weight)
        self.n_labels = predictions.n_labels if self.is_per_label else 1
        return self._design(matrix, predictions)

    def design(self, predictions):
        """Return the :class:`Design` of other samples."""
        return self._design(self._matrix(predictions), predictions)

    def _design(self, matrix, predictions):
        matrix = self.scaler.transform(matrix)
        labels = predictions.labels
        if not self.is_per_label:
            labels = np.zeros(len(labels), dtype=np.intp)
        return Design(matrix, labels, self.n_labels)

    def _matrix(self, predictions):
        features = self.map.transform(predictions)
        values = features.data if sparse.issparse(features) else features
        if not np.isfinite(values).all():
            raise ValueError(
                f"features={self.map.features!r} holds values that are not finite, "
                "which a linear score cannot use. Impute them, for example by a "
                "transformer as `features`."
            )
        return features


class Design:
    """The linear map from weights (n_labels, n_features + 1) to scores.

    Of a matrix of features, dense or sparse, whose rows are sorted by predicted label.
    """

    def __init__(self, matrix, labels, n_labels):
        self.order = np.argsort(labels, kind="stable") if n_labels > 1 else None
        self.matrix = matrix if self.order is None else matrix[self.order]
        ends = np.cumsum(np.bincount(labels, minlength=n_labels))
        self.groups = list(zip(np.append(0, ends[:-1]), ends, strict=True))
        self.shape = (n_labels, matrix.shape[1] + 1)

    def sort(self, values):
        """Return values of the samples in the order of the rows."""
        return values if self.order is None else values[self.order]

    def unsort(self, values):
        """Return values of the rows in the order of the samples."""
        if self.order is None:
            return values
        result = np.empty_like(values)
        result[self.order] = values
        return result

    def predict(self, weights):
        """Return the score of each sample, whatever the others are."""
        return self.unsort(self.scores(weights, product=row_products))

    def scores(self, weights, product=operator.matmul):
        """Return the score of each row."""
        scores = np.empty(self.matrix.shape[0])
        for (start, end), row in zip(self.groups, weights, strict=True):
            scores[start:end] = product(self.matrix[start:end], row[:-1]) + row[-1]
        return scores

    def adjoint(self, values):
        """Return the derivatives by the weights, from those by the scores."""
        result = np.empty(self.shape)
        for (start, end), row in zip(self.groups, result, strict=True):
            row[:-1] = self.matrix[start:end].T @ values[start:end]
            row[-1] = values[start:end].sum()
        return result


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear score: weights (n_labels, n_features + 1), the intercept last."""

    features: LabelledFeatures
    weights: np.ndarray
    alpha: float

    def predict(self, predictions):
        """Return the scores of samples."""
        return self.features.design(predictions).predict(self.weights)


@dataclass(frozen=True)
class LinearFit:
    """How to fit a linear score, with the options that the scores have.

    `make_solver` gets a design, targets and weights in the order of its rows, and
    returns ``solve(alpha, start)``, which returns weights for a penalty.
    """

    make_solver: Callable
    features: object
    alphas: tuple
    validation_fraction: float
    refit: bool
    random_state: object

    def fit(self, predictions, targets, losses, weight, task=nullcontext):
        """Return a model, its penalty that of least area, and the areas by penalty.

        They are empty where there is nothing to choose, or too little to choose by.
        Each fit of one penalty runs within ``task()``.
        """
        alphas = check_alphas(self.alphas)
        parts = split_off(losses, self.validation_fraction, self.random_state)
        if parts is None or len(alphas) == 1:
            [model] = self._fit_path(predictions, targets, weight, alphas[:1], task)
            return model, {}
        train, held = parts
        models = self._fit_path(
            predictions.take(train),
            targets[train],
            take_weight(weight, train),
            alphas,
            task,
        )
        # All models of a path have the same features.
        design = models[0].features.design(predictions.take(held))
        samples = design, losses[held], take_weight(weight, held)
        areas = [_area(model.weights, *samples) for model in models]
        best = models[int(np.argmin(areas))]
        if self.refit:
            [best] = self._fit_path(
                predictions, targets, weight, [best.alpha], start=best.weights
            )
        return best, dict(zip(alphas, areas, strict=True))

    def _fit_path(
        self, predictions, targets, weight, alphas, task=nullcontext, start=None
    ):
        """Fit one score a penalty, each starting from the one before."""
        features = LabelledFeatures(self.features)
        design = features.fit_design(predictions, targets, weight)
        weight = None if weight is None else design.sort(weight)
        solve = self.make_solver(design, design.sort(targets), weight)
        models = []
        for alpha in alphas:
            start = np.zeros(design.shape) if start is None else start
            with task():
                start = solve(alpha, start)
            weights = _fill_unseen(start, design, weight)
            models.append(LinearModel(features, weights, alpha))
        return models


def _area(weights, design, losses, sample_weight):
    return aurc_score(design.predict(weights), losses, sample_weight=sample_weight)


def _fill_unseen(weights, design, sample_weight):
    """Make labels that were not seen as uncertain as the average sample."""
    unseen = [start == end for start, end in design.groups]
    filled = weights.copy()
    filled[unseen] = 0.0
    filled[unseen, -1] = np.average(design.scores(weights), weights=sample_weight)
    return filled


def check_alphas(alphas):
    """Return penalties from the strongest to the weakest."""
    values = np.atleast_1d(np.asarray(alphas, dtype=object))
    valid = [
        isinstance(a, Real) and not isinstance(a, bool) and 0 <= a < np.inf
        for a in values.ravel()
    ]
    if values.ndim != 1 or not valid or not all(valid):
        raise ValueError(
            "alphas must be finite, non-negative numbers, at least one, got "
            f"{alphas!r}."
        )
    return sorted({float(a) for a in values}, reverse=True)


def check_linear_options(alphas, validation_fraction, refit):
    """Raise unless the options of a linear fit are valid."""
    check_alphas(alphas)
    check_fraction(validation_fraction)
    check_option(refit, "refit", (True, False))


def make_ridge_solver(design, targets, weight):
    """Return what minimises 1/n sum_i w_i (target_i - s_i)^2 + alpha ||w||^2.

    Each label has a problem of its own, of which one eigendecomposition solves all
    penalties; intercepts are free. The start does not matter.
    """
    weight = np.ones(len(targets)) if weight is None else weight
    total = weight.sum()
    labels = [
        _decompose(design.matrix[start:end], targets[start:end], weight[start:end])
        for start, end in design.groups
    ]

    def solve(alpha, start):
        return np.stack([_solve_label(label, alpha * total) for label in labels])

    return solve


def _decompose(matrix, targets, weight):
    """Return means and eigendecomposition of the centred normal equations."""
    if not len(targets):
        return np.zeros(matrix.shape[1]), 0.0, np.zeros(0), np.zeros((0, 0)), 0.0
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    mean, mean_target = np.average(matrix, axis=0, weights=weight), weight @ targets
    mean_target /= weight.sum()
    root = np.sqrt(weight)[:, np.newaxis]
    centred = (matrix - mean) * root
    values, vectors = np.linalg.eigh(centred.T @ centred)
    moments = vectors.T @ (centred.T @ ((targets - mean_target) * root[:, 0]))
    return mean, mean_target, values, vectors, moments


def _solve_label(label, penalty):
    mean, mean_target, values, vectors, moments = label
    if not len(values):
        return np.append(np.zeros(len(mean)), 0.0)
    # Directions without spread would get any slope if there is no penalty.
    least = values.max() * len(values) * np.finfo(np.float64).eps
    spread = np.maximum(values, 0) + penalty
    usable = spread > max(least, np.finfo(np.float64).tiny)
    slopes = vectors[:, usable] @ (moments[usable] / spread[usable])
    return np.append(slopes, mean_target - mean @ slopes)


# Samples that a part needs so that there is anything to order.
_FEWEST = 2


def split_off(losses, fraction, random_state):
    """Return the rows to learn from and to validate on, None if there are too few.

    Both parts get their share of the samples with a loss.
    """
    check_fraction(fraction)
    has_loss = losses > 0
    n_with, n_without = has_loss.sum(), (~has_loss).sum()
    if n_with < _FEWEST or len(losses) * min(fraction, 1 - fraction) < _FEWEST:
        return None
    kind = ShuffleSplit if n_without < _FEWEST else StratifiedShuffleSplit
    splitter = kind(1, test_size=fraction, random_state=random_state)
    return next(splitter.split(np.zeros(len(losses)), has_loss))


def check_fraction(fraction):
    """Raise unless the share of the validation part leaves something to learn from."""
    check_number(fraction, "validation_fraction", high=1.0, open_low=True)
    if fraction == 1:
        raise ValueError("validation_fraction must be below 1, or nothing is learned.")
