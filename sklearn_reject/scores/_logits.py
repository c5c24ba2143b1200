"""Novelty scores of logits and probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from sklearn_reject._response._network import (
    find_activations,
    log_sum_exp,
    pull_back,
    row_sums,
    softmax,
)
from sklearn_reject._response._response import Response
from sklearn_reject._validation import check_count, check_number
from sklearn_reject.scores._novelty import ClassNovelty, call, refuse_sparse
from sklearn_reject.scores._plug_in import probability_of_others


class MSP(ClassNovelty):
    """One minus the maximum softmax probability: 1 - max_y p(y given x).

    The baseline of Hendrycks and Gimpel (2017). In [0, 1 - 1 / n_classes], higher =
    more novel. It is summed up from the other probabilities, so that confident
    predictions do not tie at zero.

    Parameters
    ----------
    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``, whose softmax is taken. None
        takes the classifier's `predict_proba`.

    Raises
    ------
    ValueError
        If the classifier has no `predict_proba`, or `logits` returns another shape or
        values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import MSP
    >>> X, y = load_iris(return_X_y=True)
    >>> score = MSP().fit(estimator=GaussianNB().fit(X, y))
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.  , 0.15])
    """

    name = "msp"

    def __init__(self, logits: Callable[..., Any] | None = None) -> None:
        self.logits = logits

    def compute(self, response):
        return miss_probability(self.find_probabilities(response))


class MaxLogit(ClassNovelty):
    """Minus the largest logit: - max_y z_y (Hendrycks et al., 2022).

    In units of the logits, higher = more novel.

    With two classes and one decision value f it is a function of abs(f), from which the
    probability of an error follows, too. It then adds almost nothing to the conditional
    risk, and `fit` warns.

    Parameters
    ----------
    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``. None takes the classifier's
        `decision_function`, or the inputs of the output activation of an MLPClassifier.
        The single value f for two classes is used as (-f/2, f/2).

    Raises
    ------
    ValueError
        If the classifier has no logits, or `logits` returns another shape or values
        that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import MaxLogit
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> MaxLogit().fit(estimator=clf).novelty(X[[0, 70]]).round(1)
    array([-7.3, -1.9])
    """

    name = "max_logit"

    def __init__(self, logits: Callable[..., Any] | None = None) -> None:
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        self.warn_of_two_classes(response)

    def compute(self, response):
        return -self.find_logits(response).max(axis=1)


class Energy(ClassNovelty):
    """Free energy of the logits: - T log sum_y exp(z_y / T) (Liu et al., 2020).

    In units of the logits, higher = more novel. It tends to :class:`MaxLogit` as T
    tends to zero.

    With two classes and one decision value f it is a function of abs(f), from which the
    probability of an error follows, too. It then adds almost nothing to the conditional
    risk, and `fit` warns.

    Parameters
    ----------
    temperature : float, default=1.0
        The positive T.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``. None takes the classifier's
        `decision_function`, or the inputs of the output activation of an MLPClassifier.
        The single value f for two classes is used as (-f/2, f/2).

    Raises
    ------
    ValueError
        If `temperature` is not positive, if the classifier has no logits, or if
        `logits` returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import Energy
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> Energy().fit(estimator=clf).novelty(X[[0, 70]]).round(1)
    array([-7.4, -2.5])
    """

    name = "energy"

    def __init__(
        self, temperature: float = 1.0, logits: Callable[..., Any] | None = None
    ) -> None:
        self.temperature = temperature
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_number(self.temperature, "temperature", open_low=True)
        self.warn_of_two_classes(response)

    def compute(self, response):
        return free_energy(self.find_logits(response), self.temperature)


class GEN(ClassNovelty):
    """Generalized entropy of the class probabilities (Liu et al., 2023).

    sum_y p_y^gamma (1 - p_y)^gamma over the largest probabilities p_y. A small gamma
    makes it sensitive to probabilities that are close to zero or one; at gamma = 1, of
    all classes, it is the Gini impurity. At least 0, higher = more novel. The largest
    probability is taken from one as the sum of the others, so that confident
    predictions do not tie.

    With two classes it is a function of one probability, as the probability of an error
    is. It then adds nothing to the conditional risk, and `fit` warns.

    Parameters
    ----------
    gamma : float, default=0.1
        The exponent, in ]0, 1].

    n_largest : int, default=100
        How many of the largest probabilities count, all if there are fewer classes. The
        many small ones of a large number of classes are not known well.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``, whose softmax is taken. None
        takes the classifier's `predict_proba`.

    Raises
    ------
    ValueError
        If a parameter is invalid, if the classifier has no `predict_proba`, or if
        `logits` returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import GEN
    >>> X, y = load_iris(return_X_y=True)
    >>> score = GEN().fit(estimator=GaussianNB().fit(X, y))
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.04, 1.63])
    """

    name = "gen"

    def __init__(
        self,
        gamma: float = 0.1,
        n_largest: int = 100,
        logits: Callable[..., Any] | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_largest = n_largest
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_number(self.gamma, "gamma", high=1, open_low=True)
        check_count(self.n_largest, "n_largest")
        self.warn_of_two_classes(response)

    def compute(self, response):
        given = self.find_probabilities(response)
        probabilities = np.array(given, dtype=np.float64, order="C")
        others = 1 - probabilities
        largest = probabilities.argmax(axis=1)[:, np.newaxis]
        miss = miss_probability(probabilities)[:, np.newaxis]
        np.put_along_axis(others, largest, miss, axis=1)
        order = probabilities.argsort(axis=1)[:, -self.n_largest :]
        products = np.take_along_axis(probabilities * others, order, axis=1)
        return row_sums(products**self.gamma)


class ODIN(ClassNovelty):
    """Softmax at a high temperature, for inputs moved towards higher confidence.

    The input x is moved to x' = x - epsilon sign(d L(x) / dx), where L(x) = - log max_y
    softmax_y(z(x) / T) is small for sure predictions; the score is 1 - max_y
    softmax_y(z(x') / T) (Liang et al., 2018). In [0, 1 - 1 / n_classes], higher = more
    novel. At a high temperature all values are close to the upper end, but they differ
    by about the differences of the logits divided by T, which float64 resolves.

    With two classes and one decision value f the score is a function of abs(f) at x',
    next to which it is at x, and the probability of an error follows from it. It then
    adds almost nothing to the conditional risk, and `fit` warns.

    Within a pipeline, x is what reaches the classifier: `epsilon` is in units of, for
    example, the standardized features.

    Parameters
    ----------
    temperature : float, default=1000.0
        The positive T.

    epsilon : float, default=0.0014
        How far each feature is moved.

    input_gradient : callable, default=None
        ``(estimator, X, temperature) -> gradient``, of the shape of X: the derivative
        of L at the samples, or anything of the same sign. None takes the closed form
        for MLPClassifier and the linear classifiers of scikit-learn.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``, used with `input_gradient`. None
        takes those of the classifier.

    Raises
    ------
    ValueError
        If a parameter is invalid, if there is no gradient, or if a callable returns
        another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import ODIN
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> ODIN(temperature=10).fit(estimator=clf).novelty(X[[0, 70]]).round(2)
    array([0.46, 0.61])
    """

    name = "odin"

    takes_sparse = False

    def __init__(
        self,
        temperature: float = 1000.0,
        epsilon: float = 0.0014,
        input_gradient: Callable[..., Any] | None = None,
        logits: Callable[..., Any] | None = None,
    ) -> None:
        self.temperature = temperature
        self.epsilon = epsilon
        self.input_gradient = input_gradient
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_number(self.epsilon, "epsilon")
        check_number(self.temperature, "temperature", open_low=True)
        if self.input_gradient is None:
            self.find_head(response, "`input_gradient`")
            if self.logits is not None:
                raise ValueError(
                    "logits is a function, whose gradient is unknown. Pass a callable "
                    "(estimator, X, temperature) -> gradient as `input_gradient`."
                )
        elif not callable(self.input_gradient):
            raise ValueError(
                "input_gradient must be a callable (estimator, X, temperature) -> "
                f"gradient of the shape of X, or None, got {self.input_gradient!r}."
            )
        self.warn_of_two_classes(response)

    def compute(self, response):
        # Without a function, x is what reaches the classifier.
        seen = response.innermost if self.input_gradient is None else response
        X = seen.model_input if self.input_gradient is None else response.X
        if sparse.issparse(X):
            refuse_sparse("The samples")
        X = np.asarray(X)
        gradient = self._find_gradient(seen, X)
        # A network may insist on the type of its inputs.
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        moved = X - (self.epsilon * np.sign(gradient)).astype(dtype)
        if self.input_gradient is None:
            logits = seen.head(find_activations(seen.model, moved)[-1])
        else:
            logits = self.find_logits(Response(response.estimator, moved))
        return miss_probability(softmax(logits / self.temperature))

    def _find_gradient(self, response, X):
        if self.input_gradient is None:
            directions = uphill_directions(response.logits / self.temperature)
            return pull_back(response.model, X, directions)
        gradient = self.input_gradient(response.estimator, X, self.temperature)
        options = {"input_name": "what input_gradient returned", "allow_nd": True}
        gradient = check_array(gradient, ensure_2d=False, **options)
        if gradient.shape != X.shape:
            raise ValueError(
                f"input_gradient returned an array of shape {gradient.shape}, expected "
                f"the shape of X, {X.shape}."
            )
        return gradient


class ReAct(ClassNovelty):
    """Free energy of the logits of features clipped from above (Sun et al., 2021).

    Features larger than c are set to c, a percentile of all features of all training
    samples together; the last layer makes logits z of them, and the score is - log
    sum_y exp(z_y). In units of the logits, higher = more novel. It is meant for the
    last hidden layer of a network, whose units share a scale; before a linear
    classifier, scale the features alike.

    Parameters
    ----------
    percentile : float, default=90.0
        In [0, 100]. c is the least value such that at least so many percent of all
        features, by sample weight, are not larger.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``, used with `head`. None takes the
        last hidden layer of an MLPClassifier, and the inputs of any other classifier.

    head : callable, default=None
        ``(estimator, features) -> (n_samples, n_classes)``, the last layer. None takes
        that of an MLPClassifier or of a linear classifier of scikit-learn.

    Attributes
    ----------
    threshold_ : float
        The c above which features are clipped.

    Raises
    ------
    ValueError
        If `percentile` is invalid, if the last layer is not known, if features are
        sparse, or if a callable returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import ReAct
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = ReAct().fit(X, y, estimator=clf)
    >>> score.threshold_
    6.2
    >>> score.novelty(X[[0, 70]]).round(1)
    array([-7.4, -2.5])
    """

    name = "react"

    needs_samples = True
    takes_sparse = False

    threshold_: float

    def __init__(
        self,
        percentile: float = 90.0,
        features: Callable[..., Any] | None = None,
        head: Callable[..., Any] | None = None,
    ) -> None:
        self.percentile = percentile
        self.features = features
        self.head = head

    def learn(self, response, y, sample_weight, X_ood):
        percentile = check_number(self.percentile, "percentile", high=100)
        if self.head is None:
            self.find_head(response, "`head`")
            if self.features is not None:
                raise ValueError(
                    "features is a function, so the last layer is unknown. Pass a "
                    "callable (estimator, features) -> (n_samples, n_classes) as head."
                )
        features = self.find_features(response)
        self.threshold_ = _find_percentile(features, percentile, sample_weight)

    def compute(self, response):
        clipped = np.minimum(self.find_features(response), self.threshold_)
        if self.head is None:
            return free_energy(response.head(clipped))
        n_classes = len(response.classes)
        return free_energy(
            call(self.head, "head", response.estimator, clipped, n_classes)
        )


def miss_probability(probabilities):
    """Return one minus the largest probability, as the sum of the others."""
    return probability_of_others(probabilities, probabilities.argmax(axis=1))


def free_energy(logits, temperature=1.0):
    """Return minus the temperature times the logarithm of the partition function."""
    # The largest is taken out first: over a tiny temperature it would overflow.
    largest = logits.max(axis=1)
    with np.errstate(over="ignore"):
        lower = (logits - largest[:, np.newaxis]) / temperature
    return -(largest + temperature * log_sum_exp(lower))


def uphill_directions(logits):
    """Return the gradient of - log max softmax, scaled by one minus that maximum.

    The probabilities of the other classes are scaled to sum to one. Their sign is the
    same, and a sure prediction has a gradient that does not vanish.
    """
    if logits.shape[1] == 1:
        return np.zeros_like(logits)
    largest = logits.argmax(axis=1)[:, np.newaxis]
    others = logits.copy()
    np.put_along_axis(others, largest, -np.inf, axis=1)
    directions = softmax(others)
    np.put_along_axis(directions, largest, -1.0, axis=1)
    return directions


def _find_percentile(features, percentile, weight):
    """Return the least value with such a share of weight at or below it."""
    n_samples, n_features = features.shape
    weight = np.ones(n_samples) if weight is None else weight
    order = features.ravel().argsort()
    shares = np.cumsum(np.repeat(weight, n_features)[order])
    # What rounding adds to a share must not shift it to the next value.
    goal = percentile / 100 * shares[-1] * (1 - 1e-12)
    position = min(np.searchsorted(shares, goal), features.size - 1)
    return float(features.ravel()[order[position]])
