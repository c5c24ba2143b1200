"""Novelty scores from the residual space of features: ViM, SIRC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sklearn_reject._response._network import row_norms, row_products, row_sums
from sklearn_reject._validation import check_count, check_option
from sklearn_reject.scores._logits import free_energy, miss_probability
from sklearn_reject.scores._novelty import ClassNovelty
from sklearn_reject.scores._plug_in import entropies

# What is smaller than this, relative to what it is made of, is nothing but rounding.
_ROUNDING = 1e-12

# Weights of a softmax may sum to zero over the classes, up to rounding.
_SMALLEST_SINGULAR_VALUE = 1e-8


class ViM(ClassNovelty):
    """Virtual-logit matching (Wang et al., 2022).

    alpha r(x) - log sum_y exp(z_y(x)), where r(x) is the distance of the features to
    their principal subspace on the training sample, and alpha makes the mean of alpha
    r there equal to the mean of max_y z_y. In units of the logits, higher = more novel.

    Parameters
    ----------
    n_components : int, default=None
        Dimension of the principal subspace. None follows the authors: 1000 of at least
        2048 features, 512 of at least 768, else half of them.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier, and the inputs of any other classifier.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``. None takes those of the
        classifier.

    Attributes
    ----------
    space_ : ResidualSpace
        The origin and what is orthogonal to the principal subspace. The origin is minus
        the pseudo-inverse of the last layer's weights times its intercepts. Without a
        known last layer, and with `features`, it is the mean of the features.

    alpha_ : float
        Factor of the distance.

    Raises
    ------
    ValueError
        If a parameter is invalid, if the classifier has no logits, if the training
        features lie in the principal subspace, if the mean of the largest logit is not
        positive, or if a callable returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import ViM
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = ViM().fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([ -7., 122.])
    """

    name = "vim"

    needs_samples = True
    takes_sparse = False

    space_: ResidualSpace
    alpha_: float

    def __init__(
        self,
        n_components: int | None = None,
        features: Callable[..., Any] | None = None,
        logits: Callable[..., Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.features = features
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        features = self.find_features(response)
        self.space_ = _fit_space(self, response, features, sample_weight)
        largest = self.find_logits(response).max(axis=1)
        logit = np.average(largest, weights=sample_weight)
        residual = np.average(self.space_.norms(features), weights=sample_weight)
        if residual <= _ROUNDING * np.abs(features - self.space_.origin).max():
            raise ValueError(
                "n_components is so large that all training features lie in the "
                f"principal subspace (their mean residual is {residual:g}). Lower it."
            )
        if logit <= 0:
            raise ValueError(
                f"The mean of the largest logit is {logit:g} on the training samples, "
                "and must be positive. Pass other `logits` or another novelty_score."
            )
        self.alpha_ = float(logit / residual)

    def compute(self, response):
        residual = self.space_.norms(self.find_features(response))
        return self.alpha_ * residual + free_energy(self.find_logits(response))


class SIRC(ClassNovelty):
    """Softmax information retaining combination (Xia and Bouganis, 2022).

    Their confidence C = - (S1max - S1) (1 + exp(- b (S2 - a))) joins a softmax score S1
    with a score S2 of the features, both higher for ID samples: where S2 is as usual
    the softmax decides, where it is low the sample counts as novel. a is three standard
    deviations below the mean of S2 on the training sample, and b one over its standard
    deviation. The score is log(1 - C), which orders samples as -C does and does not
    overflow. At least 0, higher = more novel.

    Parameters
    ----------
    confidence : {"msp", "entropy"}, default="msp"
        S1: the largest class probability, or minus the entropy in nats.

    feature_score : {"l1_norm", "residual"}, default="l1_norm"
        S2: the sum of the magnitudes of the features, or minus their distance to the
        principal subspace of :class:`ViM`.

    n_components : int, default=None
        Dimension of the principal subspace, as in :class:`ViM`.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier, and the inputs of any other classifier.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``, whose softmax is taken. None
        takes the classifier's `predict_proba`.

    Attributes
    ----------
    location_, slope_ : float
        The a and b above.

    space_ : ResidualSpace or None
        What is orthogonal to the principal subspace, where it is used.

    Raises
    ------
    ValueError
        If a parameter is invalid, if S2 is the same for all training samples, if the
        classifier has no `predict_proba`, or if a callable returns another shape or
        values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import SIRC
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = SIRC().fit(X, y, estimator=clf)
    >>> score.novelty([[5.9, 3.2, 4.8, 1.8], [0.0, 0.0, 2.0, 1.0]]).round(1)
    array([0.4, 0.1])
    """

    name = "sirc"

    needs_samples = True
    takes_sparse = False

    location_: float
    slope_: float
    space_: ResidualSpace | None

    def __init__(
        self,
        confidence: Literal["msp", "entropy"] = "msp",
        feature_score: Literal["l1_norm", "residual"] = "l1_norm",
        n_components: int | None = None,
        features: Callable[..., Any] | None = None,
        logits: Callable[..., Any] | None = None,
    ) -> None:
        self.confidence = confidence
        self.feature_score = feature_score
        self.n_components = n_components
        self.features = features
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_option(self.confidence, "confidence", ("msp", "entropy"))
        check_option(self.feature_score, "feature_score", ("l1_norm", "residual"))
        features, self.space_ = self.find_features(response), None
        if self.feature_score == "residual":
            self.space_ = _fit_space(self, response, features, sample_weight)
        usual = self._score_features(features)
        mean = np.average(usual, weights=sample_weight)
        spread = np.sqrt(np.average((usual - mean) ** 2, weights=sample_weight))
        if spread <= _ROUNDING * np.abs(usual).max():
            raise ValueError(
                f"feature_score={self.feature_score!r} is the same for all training "
                "samples. Use the other one, other `features`, or novelty_score='msp'."
            )
        self.location_, self.slope_ = float(mean - 3 * spread), float(1 / spread)

    def _score_features(self, features):
        if self.space_ is None:
            return row_sums(np.abs(features))
        return -self.space_.norms(features)

    def compute(self, response):
        score = self._score_features(self.find_features(response))
        # This is S1max - S1.
        find_doubt = miss_probability if self.confidence == "msp" else entropies
        with np.errstate(divide="ignore"):
            doubt = np.log(find_doubt(self.find_probabilities(response)))
        exponent = -self.slope_ * (score - self.location_)
        return np.logaddexp(0, doubt + np.logaddexp(0, exponent))


@dataclass(frozen=True, eq=False)
class ResidualSpace:
    """Orthogonal complement of a principal subspace through `origin` (n_features,).

    `basis` (n_features, n_features - n_components) has orthonormal columns.
    """

    origin: np.ndarray
    basis: np.ndarray

    def norms(self, features):
        """Return the distance of features to the principal subspace."""
        return row_norms(row_products(features - self.origin, self.basis))


def _fit_space(score, response, features, weight):
    """Return the space of the least second moments of ID features about an origin.

    That is where the logits are as close to zero as can be: for weights W and
    intercepts b minus the pseudo-inverse of W times b. Without a head it is the mean.
    """
    n_features, head = features.shape[1], None
    n_residual = n_features - _count_components(score.n_components, n_features)
    if score.features is None:
        head = score.find_head(response, "`features`", is_needed=False)
    if head is None:
        origin = np.average(features, axis=0, weights=weight)
    else:
        inverse = np.linalg.pinv(head.weights.T, rcond=_SMALLEST_SINGULAR_VALUE)
        origin = -inverse @ head.intercepts
    weight = np.ones(len(features)) if weight is None else weight
    centered = (features - origin) * np.sqrt(weight / weight.sum())[:, np.newaxis]
    _, vectors = np.linalg.eigh(centered.T @ centered)
    # Eigenvalues increase: the first vectors span what is left over.
    return ResidualSpace(origin, np.ascontiguousarray(vectors[:, :n_residual]))


def _count_components(n_components, n_features):
    if n_components is None:
        if n_features >= 2048:
            return 1000
        return 512 if n_features >= 768 else n_features // 2
    if check_count(n_components, "n_components") >= n_features:
        raise ValueError(
            f"n_components={n_components} leaves no residual of {n_features} features. "
            f"Use at most {n_features - 1}."
        )
    return n_components
