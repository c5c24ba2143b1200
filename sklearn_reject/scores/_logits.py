"""Novelty scores of logits and probabilities, and of features beside them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.utils import check_array

from sklearn_reject._response._network import row_norms, row_products, row_sums, softmax
from sklearn_reject._response._response import Response
from sklearn_reject._validation import check_count, check_number, check_option
from sklearn_reject.scores._novelty import ClassNovelty, Function, call
from sklearn_reject.scores._plug_in import entropies, probability_of_others

# What is smaller than this, relative to what it is made of, is nothing but rounding.
_ROUNDING = 1e-12

# Weights of a softmax may sum to zero over the classes, up to rounding.
_SMALLEST_SINGULAR_VALUE = 1e-8


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

    def compute(self, response):
        return miss_probability(self._find_probabilities(response))


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

    def learn(self, response, y, sample_weight, X_ood):
        self._warn_of_two_classes(response)

    def compute(self, response):
        return -self._find_logits(response).max(axis=1)


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
        self, temperature: float = 1.0, logits: Function | None = None
    ) -> None:
        self.temperature = temperature
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_number(self.temperature, "temperature", open_low=True)
        self._warn_of_two_classes(response)

    def compute(self, response):
        return free_energy(self._find_logits(response), self.temperature)


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
        The exponent, in (0, 1].

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
        self, gamma: float = 0.1, n_largest: int = 100, logits: Function | None = None
    ) -> None:
        self.gamma = gamma
        self.n_largest = n_largest
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_number(self.gamma, "gamma", high=1, open_low=True)
        check_count(self.n_largest, "n_largest")
        self._warn_of_two_classes(response)

    def compute(self, response):
        ordered = np.sort(self._find_probabilities(response).astype(float), axis=1)
        others = 1 - ordered
        others[:, -1] = row_sums(ordered[:, :-1])
        products = (ordered * others)[:, -self.n_largest :]
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
        input_gradient: Function | None = None,
        logits: Function | None = None,
    ) -> None:
        self.temperature = temperature
        self.epsilon = epsilon
        self.input_gradient = input_gradient
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_number(self.epsilon, "epsilon")
        check_number(self.temperature, "temperature", open_low=True)
        self._check_network(response, "input_gradient", "logits")
        self._warn_of_two_classes(response)

    def compute(self, response):
        if self.input_gradient is None:
            # x is what reaches the classifier.
            [seen] = response.inner or [response]
            X, network = check_array(seen.model_input), response.network
            # The gradient of - log max softmax, however sure the classifier is.
            directions = softmax(network.logits(X) / self.temperature)
            largest = directions.argmax(axis=1)[:, np.newaxis]
            miss = miss_probability(directions)[:, np.newaxis]
            np.put_along_axis(directions, largest, -miss, axis=1)
            logits = network.logits(self._move(X, network.pull_back(X, directions)))
        else:
            X = check_array(response.X, ensure_2d=False, allow_nd=True)
            given = "input_gradient", response.estimator, X, self.temperature
            gradient = call(self.input_gradient, *given, columns=X.shape[1:])
            moved = Response(response.estimator, self._move(X, gradient))
            logits = self._find_logits(moved)
        return miss_probability(softmax(logits / self.temperature))

    def _move(self, X, gradient):
        # A network may insist on the type of its inputs.
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        return X - (self.epsilon * np.sign(gradient)).astype(dtype)


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

    needs_samples, takes_sparse = True, False

    def __init__(
        self,
        percentile: float = 90.0,
        features: Function | None = None,
        head: Function | None = None,
    ) -> None:
        self.percentile = percentile
        self.features = features
        self.head = head

    def learn(self, response, y, sample_weight, X_ood):
        percentile = check_number(self.percentile, "percentile", high=100)
        self._check_network(response, "head", "features")
        features = self._find_features(response)
        self.threshold_ = _find_percentile(features, percentile, sample_weight)

    def compute(self, response):
        clipped = np.minimum(self._find_features(response), self.threshold_)
        if self.head is None:
            return free_energy(response.network.head(clipped))
        given, columns = (response.estimator, clipped), response.classes.shape
        return free_energy(call(self.head, "head", *given, columns=columns))


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

    needs_samples, takes_sparse = True, False

    def __init__(
        self,
        n_components: int | None = None,
        features: Function | None = None,
        logits: Function | None = None,
    ) -> None:
        self.n_components = n_components
        self.features = features
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        features = self._find_features(response)
        self.space_ = ResidualSpace(self, response, features, sample_weight)
        largest = self._find_logits(response).max(axis=1)
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
        residual = self.space_.norms(self._find_features(response))
        return self.alpha_ * residual + free_energy(self._find_logits(response))


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

    needs_samples, takes_sparse = True, False

    def __init__(
        self,
        confidence: Literal["msp", "entropy"] = "msp",
        feature_score: Literal["l1_norm", "residual"] = "l1_norm",
        n_components: int | None = None,
        features: Function | None = None,
        logits: Function | None = None,
    ) -> None:
        self.confidence = confidence
        self.feature_score = feature_score
        self.n_components = n_components
        self.features = features
        self.logits = logits

    def learn(self, response, y, sample_weight, X_ood):
        check_option(self.confidence, "confidence", ("msp", "entropy"))
        check_option(self.feature_score, "feature_score", ("l1_norm", "residual"))
        features, self.space_ = self._find_features(response), None
        if self.feature_score == "residual":
            self.space_ = ResidualSpace(self, response, features, sample_weight)
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
        score = self._score_features(self._find_features(response))
        # This is S1max - S1.
        find_doubt = miss_probability if self.confidence == "msp" else entropies
        with np.errstate(divide="ignore"):
            doubt = np.log(find_doubt(self._find_probabilities(response)))
        exponent = -self.slope_ * (score - self.location_)
        return np.logaddexp(0, doubt + np.logaddexp(0, exponent))


def miss_probability(probabilities):
    """Return one minus the largest probability, as the sum of the others."""
    return probability_of_others(probabilities, probabilities.argmax(axis=1))


def free_energy(logits, temperature=1.0):
    """Return minus the temperature times the logarithm of the partition function."""
    # The largest is taken out first: over a tiny temperature it would overflow.
    largest = logits.argmax(axis=1)[:, np.newaxis]
    top = np.take_along_axis(logits, largest, axis=1)
    with np.errstate(over="ignore"):
        powers = np.exp((logits - top) / temperature)
    np.put_along_axis(powers, largest, 0.0, axis=1)
    return -(top[:, 0] + temperature * np.log1p(row_sums(powers)))


def _find_percentile(features, percentile, weight):
    """Return the least value with such a share of weight at or below it."""
    weight = np.ones(len(features)) if weight is None else weight
    order = features.ravel().argsort()
    values = features.ravel()[order]
    shares = np.cumsum(np.repeat(weight, features.shape[1])[order])
    # What rounding adds to a share must not shift it to the next value.
    goal = percentile / 100 * shares[-1] * (1 - 1e-12)
    return float(values[min(np.searchsorted(shares, goal), len(values) - 1)])


class ResidualSpace:
    """Orthogonal complement of a principal subspace through `origin` (n_features,).

    That is of the least second moments of ID features about the origin, where the
    logits are as close to zero as can be: for weights W and intercepts b minus the
    pseudo-inverse of W times b. Where they are not known, it is their mean. `basis`
    (n_features, n_features - n_components) has orthonormal columns.
    """

    def __init__(self, score, response, features, weight):
        n_features, n_components = features.shape[1], score.n_components
        if n_components is None:
            n_components = 512 if n_features >= 768 else n_features // 2
            n_components = 1000 if n_features >= 2048 else n_components
        elif check_count(n_components, "n_components") >= n_features:
            raise ValueError(
                f"n_components={n_components} leaves no residual of {n_features} "
                f"features. Use at most {n_features - 1}."
            )
        network = response.network if score.features is None else None
        if network is None:
            self.origin = np.average(features, axis=0, weights=weight)
        else:
            inverse = np.linalg.pinv(network.weights.T, rcond=_SMALLEST_SINGULAR_VALUE)
            self.origin = -inverse @ network.intercepts
        centered = features - self.origin
        weighted = centered if weight is None else centered * weight[:, np.newaxis]
        _, vectors = np.linalg.eigh(weighted.T @ centered)
        # Eigenvalues increase: the first vectors span what is left over.
        self.basis = np.ascontiguousarray(vectors[:, : n_features - n_components])

    def norms(self, features):
        """Return the distance of features to the principal subspace."""
        return row_norms(row_products(features - self.origin, self.basis))
