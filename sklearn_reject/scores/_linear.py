"""Linear scores, with weights of their own for each predicted label (FPV23, eq. 37)."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from sklearn_reject._curves._risk_coverage import aurc_score
from sklearn_reject._response._network import row_products
from sklearn_reject._typing import FeaturesLike, RandomState, TaskLossLike
from sklearn_reject._validation import (
    check_count,
    check_level,
    check_number,
    check_option,
    check_vector,
    take_weight,
)
from sklearn_reject.losses import chunked_sele, exact_sele, make_chunks
from sklearn_reject.scores._features import (
    PER_LABEL,
    FeatureMap,
    FeatureScore,
    is_per_label,
)
from sklearn_reject.scores._learned import Predictions

_ALPHAS = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)


class SELE(FeatureScore):
    """Linear score that minimizes the pairwise loss SELE.

    Minimizes psi(s) / mean(l) + alpha / 2 ||w||^2 over linear scores s, where psi is
    :func:`~sklearn_reject.losses.sele_loss_and_gradient` (FPV23, section 3.4), w holds
    the intercepts too, and the features are standardized; sparse ones are only scaled.
    The score only orders the samples by their risk; it is scaled to mean 0 and standard
    deviation 1 on the samples learned from.

    Parameters
    ----------
    alphas : float or sequence of float, default=(0.0, 1e-05, 0.0001, 0.001, 0.01)
        Strengths of the penalty. Among several, that of the least area under the
        risk-coverage curve of a validation part is chosen.

    features : {"per_label_linear", "auto", "input", "model_input", "response", \
            "input+response", "model_input+response"} or transformer, \
            default="per_label_linear"
        "per_label_linear" gives each predicted label weights of its own (FPV23, eq.
        37), of the samples as they reach the model inside a pipeline or, before it, the
        first step that learns from labels. The others have one weight per feature, and
        are those of :class:`LossRegression`. Categories become indicators, and means
        stand for numbers that are missing.

    method : {"exact", "chunked"}, default="exact"
        "exact" sums over all pairs; "chunked" is the approximation of the paper.

    chunk_size : int, default=500
        Number of samples in a chunk.

    loss : {"zero_one", "absolute", "squared"}, array-like of shape \
            (n_classes, n_classes), callable or None, default=None
        Loss of a prediction. None takes the loss of the meta-estimator around it, and
        without one "zero_one" for classifiers and "squared" for regressors.

    validation_fraction : float in ]0, 1[, default=0.25
        Share of the samples that alpha is chosen on.

    refit : bool, default=True
        Whether to fit again on all samples with the alpha chosen.

    max_iter : int, default=500
        Most iterations of L-BFGS a penalty.

    tol : float, default=1e-06
        L-BFGS stops where no derivative of the objective is larger, or where an
        iteration improves it by less than a tenth of that.

    n_jobs : int, default=None
        Number of jobs that share the chunks.

    random_state : int, RandomState instance or None, default=None
        Source of the validation part and of the chunks.

    Attributes
    ----------
    features_ : str or transformer
        What `features` stands for.

    alpha_ : float
        The penalty chosen.

    areas_ : dict of float to float
        Area on the validation part by alpha, lower is better. Empty where there was
        nothing to choose, or fewer than two samples with a loss to choose by, when the
        strongest penalty is taken.

    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the standardized features; one row unless they are by label. Labels
        that were never predicted have none, and the mean score.

    intercept_ : ndarray of shape (n_labels,)
        Intercepts.

    center_, scale_ : float
        Mean and standard deviation of the linear score on the samples learned from.

    n_iter_ : int
        Number of iterations that the last fit took.

    Raises
    ------
    ValueError
        If a parameter is invalid, or no finite numbers can be made of the samples.

    References
    ----------
    V. Franc, D. Prusa, V. Voracek. Optimal Strategies for Reject Option Classifiers.
    JMLR 24(11), 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import aurc_score
    >>> from sklearn_reject.scores import SELE, ConditionalRisk
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> score = SELE(random_state=0).fit(X[600:1200], y[600:1200], estimator=classifier)
    >>> labels = classifier.predict(X[1200:])
    >>> own = ConditionalRisk().fit(estimator=classifier).uncertainty(X[1200:])
    >>> learned = score.uncertainty(X[1200:])
    >>> aurc_score(y[1200:], labels, learned) < 0.5 * aurc_score(y[1200:], labels, own)
    True
    """

    name = "sele"

    only_orders = True
    has_per_label = True

    features_: Any
    alpha_: float
    areas_: dict[float, float]
    coef_: np.ndarray
    intercept_: np.ndarray
    center_: float
    scale_: float
    n_iter_: int

    def __init__(
        self,
        alphas: float | Sequence[float] = _ALPHAS,
        features: FeaturesLike | Literal["per_label_linear"] = PER_LABEL,
        *,
        method: Literal["exact", "chunked"] = "exact",
        chunk_size: int = 500,
        loss: TaskLossLike | None = None,
        validation_fraction: float = 0.25,
        refit: bool = True,
        max_iter: int = 500,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.alphas = alphas
        self.features = features
        self.method = method
        self.chunk_size = chunk_size
        self.loss = loss
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_options(self, classes):
        check_linear_options(self)
        check_option(self.method, "method", ("exact", "chunked"))
        check_count(self.chunk_size, "chunk_size")
        check_count(self.max_iter, "max_iter")
        check_number(self.tol, "tol", open_low=True)

    def learn(self, predictions: Predictions, targets: Any, sample_weight: Any) -> None:
        results = {}
        make_solver = partial(self._make_solver, results)
        task = partial(self._task, "fit-alpha")
        samples = predictions, targets, targets, sample_weight
        self._model_, self.areas_ = fit_linear(self, make_solver, *samples, task)
        self.alpha_ = self._model_.alpha
        self.coef_ = self._model_.weights[:, :-1]
        self.intercept_ = self._model_.weights[:, -1]
        self.n_iter_ = int(results[self.alpha_].nit)
        # Status 1 is that of iterations used up.
        if results[self.alpha_].status == 1:
            warnings.warn(
                f"SELE did not converge in max_iter={self.max_iter} iterations at "
                f"alpha={self.alpha_:g}. Increase max_iter or tol, or remove the "
                "smallest of the alphas.",
                ConvergenceWarning,
                stacklevel=2,
            )

    def estimate(self, predictions: Predictions) -> np.ndarray:
        return self._model_.predict(predictions)

    def _count_tasks(self):
        return np.size(self.alphas)

    def _make_solver(self, results, design, losses, weight):
        """Return what minimizes the penalized loss, and keeps its results by alpha."""
        weight = np.ones(len(losses)) if weight is None else weight
        # Penalties then mean the same whatever the unit and the rate of the errors.
        mean = np.average(losses, weights=weight)
        losses = losses / mean if mean > 0 else losses
        sele = exact_sele
        if self.method == "chunked":
            chunks = make_chunks(len(losses), self.chunk_size, self.random_state)
            sele = partial(chunked_sele, chunks=chunks, n_jobs=self.n_jobs)
        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": self.tol / 10}

        def objective(flat, alpha):
            scores = design.scores(flat.reshape(design.shape))
            value, gradient = sele(scores, losses, weight)
            penalty = alpha / 2 * (flat @ flat)
            return value + penalty, design.adjoint(gradient).ravel() + alpha * flat

        def solve(alpha, start):
            results[alpha] = minimize(
                objective,
                start.ravel(),
                args=(alpha,),
                jac=True,
                method="L-BFGS-B",
                options=options,
            )
            return results[alpha].x.reshape(design.shape)

        return solve


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
    check_vector(np.atleast_1d(options.alphas), "alphas", non_negative=True)
    check_level(options.validation_fraction, "validation_fraction")
    check_option(options.refit, "refit", (True, False))


def make_ridge_solver(design, targets, weight):
    """Return what minimizes 1/n sum_i w_i (target_i - s_i)^2 + alpha ||w||^2.

    Each label has a problem of its own, of which one eigendecomposition solves all
    penalties; intercepts are free. The start does not matter.
    """
    weight = np.ones(len(targets)) if weight is None else weight
    total, parts = weight.sum(), [slice(*group) for group in design.groups]
    labels = [
        _solver_of_label(design.matrix[part], targets[part], weight[part])
        for part in parts
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
