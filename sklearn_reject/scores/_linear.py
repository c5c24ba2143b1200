"""Linear scores, with weights of their own for each predicted label (FPV23, eq. 37)."""

import operator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from sklearn_reject._curves._risk_coverage import aurc_score
from sklearn_reject._response._network import row_products
from sklearn_reject._validation import check_level, check_option, take_weight
from sklearn_reject.scores._features import FeatureMap, is_per_label


class Design:
    """The linear map from weights (n_labels, n_features + 1) to scores.

    Of a matrix of features, dense or sparse, whose rows are put in the `order` of their
    labels: each label has weights of its own. With one label there is no order.
    """

    def __init__(self, matrix, labels, n_labels):
        self.order, sizes = slice(None), [len(labels)]
        if n_labels > 1:
            self.order = np.argsort(labels, kind="stable")
            sizes = np.bincount(labels, minlength=n_labels)
            matrix = matrix[self.order]
        self.matrix = matrix
        ends = np.cumsum(sizes)
        self.groups = list(zip(ends - sizes, ends, strict=True))
        self.shape = (n_labels, matrix.shape[1] + 1)

    def predict(self, weights):
        """Return the score of each sample, whatever the others are."""
        scores = np.empty(self.matrix.shape[0])
        scores[self.order] = self.scores(weights, product=row_products)
        return scores

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
    """A linear score of standardized features; sparse ones are only scaled.

    Of weights (n_labels, n_features + 1), the intercept last.
    """

    map: FeatureMap
    scaler: StandardScaler
    weights: np.ndarray
    alpha: float

    def predict(self, predictions):
        """Return the scores of samples."""
        return self.design(predictions).predict(self.weights)

    def design(self, predictions):
        """Return the :class:`Design` of samples."""
        matrix = self.scaler.transform(self.map.transform(predictions))
        return Design(matrix, predictions.labels, len(self.weights))


def fit_linear(
    options, make_solver, predictions, targets, losses, weight, task=nullcontext
):
    """Return a model, its penalty that of least area, and the areas by penalty.

    They are empty where there is nothing to choose, or too little to choose by.
    `options` is a score that has the parameters. ``make_solver(design, targets,
    weight)`` returns ``solve(alpha, start)``, which returns weights; each fit of one
    penalty runs within ``task()``.
    """
    alphas = sorted({float(a) for a in np.atleast_1d(options.alphas)}, reverse=True)
    fit_path = partial(_fit_path, options, make_solver)
    parts = _split_off(losses, options.validation_fraction, options.random_state)
    if parts is None or len(alphas) == 1:
        [model] = fit_path(predictions, targets, weight, alphas[:1], task)
        return model, {}
    train, held = parts
    samples = predictions.take(train), targets[train], take_weight(weight, train)
    models = fit_path(*samples, alphas, task)
    # All models of a path have the same features.
    design = models[0].design(predictions.take(held))
    weight_held = take_weight(weight, held)
    scores = (design.predict(model.weights) for model in models)
    areas = [aurc_score(s, losses[held], sample_weight=weight_held) for s in scores]
    best = models[int(np.argmin(areas))]
    if options.refit:
        start = best.weights
        [best] = fit_path(predictions, targets, weight, [best.alpha], start=start)
    return best, dict(zip(alphas, areas, strict=True))


def _fit_path(
    options,
    make_solver,
    predictions,
    targets,
    weight,
    alphas,
    task=nullcontext,
    start=None,
):
    """Return a model for each penalty, whose fit starts from the one before."""
    features = options.make_map()
    matrix = features.fit(predictions, targets)
    scaler = StandardScaler(with_mean=not sparse.issparse(matrix))
    scaler.set_output(transform="default").fit(matrix, sample_weight=weight)
    matrix = scaler.transform(matrix)
    has_labels = is_per_label(features.features) and options.classes_ is not None
    n_labels = len(options.classes_) if has_labels else 1
    design = Design(matrix, predictions.labels, n_labels)
    weight = take_weight(weight, design.order)
    solve = make_solver(design, targets[design.order], weight)
    is_unseen = [first == end for first, end in design.groups]
    # Categories that a part lacks are columns that its weights lack.
    if start is None or start.shape != design.shape:
        start = np.zeros(design.shape)
    models = []
    for alpha in alphas:
        with task():
            start = solve(alpha, start)
        # Labels that were not seen are as uncertain as the average sample.
        weights = start.copy()
        weights[is_unseen, :-1] = 0.0
        weights[is_unseen, -1] = np.average(design.scores(start), weights=weight)
        models.append(LinearModel(features, scaler, weights, alpha))
    return models


def check_linear_options(options):
    """Raise unless the options of a linear fit are valid."""
    alphas = np.atleast_1d(np.asarray(options.alphas, dtype=object))
    is_valid = [
        isinstance(a, Real) and not isinstance(a, bool) and 0 <= a < np.inf
        for a in alphas.ravel()
    ]
    if alphas.ndim != 1 or not is_valid or not all(is_valid):
        raise ValueError(
            "alphas must be finite, non-negative numbers, at least one, got "
            f"{options.alphas!r}."
        )
    check_level(options.validation_fraction, "validation_fraction")
    check_option(options.refit, "refit", (True, False))


def make_ridge_solver(design, targets, weight):
    """Return what minimizes 1/n sum_i w_i (target_i - s_i)^2 + alpha ||w||^2.

    Each label has a problem of its own, of which one eigendecomposition solves all
    penalties; intercepts are free. The start does not matter.
    """
    weight = np.ones(len(targets)) if weight is None else weight
    total = weight.sum()
    labels = [
        _solver_of_label(
            design.matrix[start:end], targets[start:end], weight[start:end]
        )
        for start, end in design.groups
    ]
    return lambda alpha, start: np.stack([solve(alpha * total) for solve in labels])


def _solver_of_label(matrix, targets, weight):
    """Return the function of the penalty that returns slopes and intercept of a label.

    The centered normal equations are decomposed once for all penalties.
    """
    if not len(targets):
        return lambda penalty: np.zeros(matrix.shape[1] + 1)
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    mean = np.average(matrix, axis=0, weights=weight)
    mean_target = weight @ targets / weight.sum()
    root = np.sqrt(weight)[:, np.newaxis]
    centered = (matrix - mean) * root
    values, vectors = np.linalg.eigh(centered.T @ centered)
    moments = vectors.T @ (centered.T @ ((targets - mean_target) * root[:, 0]))
    # Directions without spread would get any slope if there is no penalty.
    least = values.max() * len(values) * np.finfo(np.float64).eps
    least = max(least, np.finfo(np.float64).tiny)

    def solve(penalty):
        spread = np.maximum(values, 0) + penalty
        usable = spread > least
        slopes = vectors[:, usable] @ (moments[usable] / spread[usable])
        return np.append(slopes, mean_target - mean @ slopes)

    return solve


# Samples that a part needs so that there is anything to order.
_FEWEST = 2


def _split_off(losses, fraction, random_state):
    """Return the rows to learn from and to validate on, None if there are too few.

    Both parts get their share of the samples with a loss.
    """
    has_loss = losses > 0
    n_with, n_without = has_loss.sum(), (~has_loss).sum()
    if n_with < _FEWEST or len(losses) * min(fraction, 1 - fraction) < _FEWEST:
        return None
    kind = ShuffleSplit if n_without < _FEWEST else StratifiedShuffleSplit
    splitter = kind(1, test_size=fraction, random_state=random_state)
    return next(splitter.split(np.zeros(len(losses)), has_loss))
