"""A linear score that orders samples by their risk (FPV23, section 3.4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from sklearn_reject._typing import FeaturesLike, RandomState, TaskLossLike
from sklearn_reject._validation import check_count, check_number, check_option
from sklearn_reject.losses import chunked_sele, exact_sele, make_chunks
from sklearn_reject.scores._features import PER_LABEL, FeatureScore
from sklearn_reject.scores._linear import check_linear_options, fit_linear

ALPHAS = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)


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
        alphas: float | Sequence[float] = ALPHAS,
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

    def _learn(self, predictions, targets, sample_weight, context):
        results = {}
        make_solver = partial(self._make_solver, results)
        task = partial(self._task, context, "fit-alpha")
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

    def _predict(self, predictions):
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
