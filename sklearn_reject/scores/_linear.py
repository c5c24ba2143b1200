"""Linear scores, with weights of their own for each predicted label (FPV23, eq. 37)."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
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

    validation_fraction : float in (0, 1), default=0.25
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
        task = partial(self._task, "fit-alpha")
        samples = predictions, targets, targets, sample_weight
        model, self.areas_ = fit_linear(self, self._minimize, *samples, task)
        self._model_, self.alpha_, self.n_iter_ = model, model.alpha, model.n_iter
        self.coef_, self.intercept_ = model.weights[:, :-1], model.weights[:, -1]
        if self.n_iter_ >= self.max_iter:
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

    def _minimize(self, design, losses, weight, alpha, start):
        """Return weights of least penalized loss, and the number of iterations."""
        # Penalties then mean the same whatever the unit and the rate of the errors.
        losses = losses / (np.average(losses, weights=weight) or 1.0)
        sele = exact_sele
        if self.method == "chunked":
            chunks = make_chunks(len(losses), self.chunk_size, self.random_state)
            sele = partial(chunked_sele, chunks=chunks, n_jobs=self.n_jobs)

        def objective(flat):
            scores = design.scores(flat.reshape(design.shape))
            value, gradient = sele(scores, losses, weight)
            penalty = alpha / 2 * (flat @ flat)
            return value + penalty, design.adjoint(gradient).ravel() + alpha * flat

        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": self.tol / 10}
        found = minimize(
            objective, start.ravel(), jac=True, method="L-BFGS-B", options=options
        )
        return found.x.reshape(design.shape), int(found.nit)


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
        self.matrix, ends = matrix[self.order], np.cumsum(sizes)
        self.groups = list(zip(ends - sizes, ends, strict=True))
        self.shape = (n_labels, matrix.shape[1] + 1)

    def scores(self, weights, product=operator.matmul):
        """Return the score of each row."""
        scores = np.empty(self.matrix.shape[0])
        for (start, end), row in zip(self.groups, weights, strict=True):
            scores[start:end] = product(self.matrix[start:end], row[:-1]) + row[-1]
        return scores

    def predict(self, weights):
        """Return the score of each sample, whatever the others are."""
        scores = np.empty(self.matrix.shape[0])
        scores[self.order] = self.scores(weights, row_products)
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
    n_iter: int

    def predict(self, predictions):
        """Return the scores of samples."""
        return self.design(predictions).predict(self.weights)

    def design(self, predictions):
        """Return the :class:`Design` of samples."""
        matrix = self.scaler.transform(self.map.transform(predictions))
        return Design(matrix, predictions.labels, len(self.weights))


def fit_linear(score, solve, predictions, targets, losses, weight, task=nullcontext):
    """Return a model, its penalty that of least area, and the areas by penalty.

    They are empty where there is nothing to choose, or too little to choose by.
    ``solve(design, targets, weight, alpha, start)`` returns weights, and the number of
    iterations; each fit of one penalty runs within ``task()``.
    """
    alphas = sorted({float(a) for a in np.atleast_1d(score.alphas)}, reverse=True)
    samples = predictions, targets, weight
    parts = _split_off(losses, score.validation_fraction, score.random_state)
    if parts is None or len(alphas) == 1:
        with task():
            return next(_fit_path(score, solve, *samples, alphas)), {}
    train, held = parts
    inner = predictions.take(train), targets[train], take_weight(weight, train)
    path, models = _fit_path(score, solve, *inner, alphas), []
    for _ in alphas:
        with task():
            models.append(next(path))
    # All models of a path have the same features.
    design = models[0].design(predictions.take(held))
    scores = [design.predict(model.weights) for model in models]
    weight_held = take_weight(weight, held)
    areas = [aurc_score(s, losses[held], sample_weight=weight_held) for s in scores]
    best = models[int(np.argmin(areas))]
    if score.refit:
        best = next(_fit_path(score, solve, *samples, [best.alpha], best.weights))
    return best, dict(zip(alphas, areas, strict=True))


def _fit_path(score, solve, predictions, targets, weight, alphas, start=None):
    """Yield a model for each penalty, whose fit starts from the one before."""
    features = score.make_map()
    matrix = features.fit(predictions, targets)
    scaler = StandardScaler(with_mean=not sparse.issparse(matrix))
    scaler.set_output(transform="default").fit(matrix, sample_weight=weight)
    has_labels = is_per_label(score.features) and score.classes_ is not None
    n_labels = len(score.classes_) if has_labels else 1
    design = Design(scaler.transform(matrix), predictions.labels, n_labels)
    weight = np.ones(len(targets)) if weight is None else weight
    targets, weight = targets[design.order], weight[design.order]
    is_unseen = [first == end for first, end in design.groups]
    # Categories that a part lacks are columns that its weights lack.
    if start is None or start.shape != design.shape:
        start = np.zeros(design.shape)
    for alpha in alphas:
        start, n_iter = solve(design, targets, weight, alpha, start)
        # Labels that were not seen are as uncertain as the average sample.
        weights = start.copy()
        weights[is_unseen, :-1] = 0.0
        weights[is_unseen, -1] = np.average(design.scores(start), weights=weight)
        yield LinearModel(features, scaler, weights, alpha, n_iter)


def solve_ridge(design, targets, weight, alpha, start):
    """Return the weights of a ridge regression for each label, and no iterations.

    They minimize 1/n sum_i w_i (target_i - s_i)^2 + alpha ||w||^2, intercepts free.
    """
    weights = np.zeros_like(start)
    for (first, end), row in zip(design.groups, weights, strict=True):
        part = slice(first, end)
        matrix = design.matrix[part]
        matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
        # Without a penalty, directions without spread get no slope.
        ridge = Ridge(alpha * weight.sum()) if alpha > 0 else LinearRegression()
        if first < end:
            ridge.fit(matrix, targets[part], weight[part])
            row[:] = *ridge.coef_, ridge.intercept_
    return weights, 0


def check_linear_options(options):
    """Raise unless the options of a linear fit are valid."""
    alphas = np.atleast_1d(np.asarray(options.alphas, dtype=object))
    is_valid = [isinstance(a, Real) and 0 <= a < np.inf for a in alphas.flat]
    if alphas.ndim != 1 or not is_valid or not all(is_valid):
        raise ValueError(
            "alphas must be finite, non-negative numbers, at least one, got "
            f"{options.alphas!r}."
        )
    check_level(options.validation_fraction, "validation_fraction")
    check_option(options.refit, "refit", (True, False))


def _split_off(losses, fraction, random_state):
    """Return the rows to learn from and to validate on, None if there are too few.

    Both parts get their share of the samples with a loss.
    """
    has_loss = losses > 0
    n_with, n_without = has_loss.sum(), (~has_loss).sum()
    # Of fewer than two there is nothing to order.
    if n_with < 2 or len(losses) * min(fraction, 1 - fraction) < 2:
        return None
    kind = ShuffleSplit if n_without < 2 else StratifiedShuffleSplit
    splitter = kind(1, test_size=fraction, random_state=random_state)
    return next(splitter.split(np.zeros(len(losses)), has_loss))
