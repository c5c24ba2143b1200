"""Novelty by the softmax at a high temperature, of inputs moved along the gradient."""

import numpy as np
from scipy import sparse
from scipy.special import softmax

from sklearn_reject._network import find_features, find_head, pull_back
from sklearn_reject._response import Response
from sklearn_reject._validation import check_number
from sklearn_reject.scores._logit_scores import miss_probability
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import check_finite, find_logits


class ODIN(NoveltyScore):
    """Softmax at a high temperature, of inputs moved to be predicted more surely.

    The input x is moved to x' = x - epsilon sign(d L(x) / dx), where L(x) = - log max_y
    softmax_y(z(x) / T) is small for sure predictions; the score is 1 - max_y
    softmax_y(z(x') / T) (Liang et al., 2018). In [0, 1 - 1 / n_classes], higher = more
    novel. At a high temperature all values are close to the upper end, but they differ
    by about the differences of the logits divided by T, which float64 resolves.

    Within a pipeline, x is what reaches the classifier: `epsilon` is in units of, for
    example, the standardised features.

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

    takes_sparse = False

    def __init__(
        self, temperature=1000.0, epsilon=0.0014, input_gradient=None, logits=None
    ):
        self.temperature = temperature
        self.epsilon = epsilon
        self.input_gradient = input_gradient
        self.logits = logits

    def _fit(self, response, y, sample_weight, X_ood):
        self._check_options()
        if self.input_gradient is None:
            _check_has_gradient(response, self.logits)

    def _check_options(self):
        check_number(self.epsilon, "epsilon")
        check_number(self.temperature, "temperature", open_low=True)
        if self.input_gradient is not None and not callable(self.input_gradient):
            raise ValueError(
                "input_gradient must be a callable (estimator, X, temperature) -> "
                f"gradient of the shape of X, or None, got {self.input_gradient!r}."
            )

    def _novelty(self, response):
        self._check_options()
        if self.input_gradient is None:
            logits = self._logits_in_closed_form(response)
        else:
            logits = self._logits_by_function(response)
        return miss_probability(softmax(logits / self.temperature, axis=1))

    def _logits_in_closed_form(self, response):
        _check_has_gradient(response, self.logits)
        model, X = response.model, _check_dense(response.model_input)
        directions = uphill_directions(response.logits / self.temperature)
        moved = X - self.epsilon * np.sign(pull_back(model, X, directions))
        return find_head(model)(find_features(model, moved))

    def _logits_by_function(self, response):
        X = np.asarray(_check_dense(response.X))
        gradient = self.input_gradient(response.estimator, X, self.temperature)
        gradient = check_finite(np.asarray(gradient), "input_gradient")
        if gradient.shape != X.shape:
            raise ValueError(
                f"input_gradient returned an array of shape {gradient.shape}, expected "
                f"the shape of X, {X.shape}."
            )
        # A network may insist on the type of its inputs.
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        moved = X - (self.epsilon * np.sign(gradient)).astype(dtype)
        if hasattr(response.X, "iloc"):  # a network may know its columns by name
            frame = response.X
            moved = type(frame)(moved, index=frame.index, columns=frame.columns)
        return find_logits(Response(response.estimator, moved), self.logits)


def _check_has_gradient(response, logits):
    if logits is not None:
        raise ValueError(
            "logits is a function, whose gradient is not known. Pass a callable "
            "(estimator, X, temperature) -> gradient as `input_gradient` too."
        )
    if response.head is None:
        raise ValueError(
            f"ODIN needs the gradient with respect to the input, which is not known "
            f"for {type(response.model).__name__}. Use an MLPClassifier or a linear "
            "classifier of scikit-learn, pass a callable (estimator, X, temperature) "
            "-> gradient as `input_gradient`, or use another novelty_score."
        )


def _check_dense(X):
    if sparse.issparse(X):
        raise ValueError(
            "The samples are a sparse matrix, of which ODIN moves every entry. Pass a "
            "dense array, or use another novelty_score."
        )
    return X


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
    directions = softmax(others, axis=1)
    np.put_along_axis(directions, largest, -1.0, axis=1)
    return directions
