"""Uncertainty scores that need nothing but a fitted classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._network import row_products, row_sums
from sklearn_reject._response._response import Response
from sklearn_reject._typing import Estimator, MatrixLike, TaskLossLike
from sklearn_reject._validation import check_option
from sklearn_reject.losses import ZeroOneLoss, check_loss
from sklearn_reject.scores._base import UncertaintyScore


class PlugInScore(UncertaintyScore):
    """Base class of scores that only need a fitted classifier.

    A subclass writes `compute`, which gets a :class:`Response` and returns one number
    per sample, higher = more uncertain.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import PlugInScore
    >>> class GiniImpurity(PlugInScore):
    ...     def compute(self, response: Response) -> np.ndarray:
    ...         return 1 - (response.probabilities**2).sum(axis=1)
    >>> X, y = load_iris(return_X_y=True)
    >>> score = GiniImpurity().fit(estimator=GaussianNB().fit(X, y))
    >>> score.uncertainty(X[[0, 70]]).round(2)
    array([0.  , 0.26])
    """

    def fit(
        self, X: MatrixLike | None = None, y: Any = None, *, estimator: Estimator
    ) -> Self:
        """Remember the classifier; a plug-in score learns nothing else.

        Parameters
        ----------
        X, y : object, default=None
            Ignored, present so that all scores are fitted alike.

        estimator : estimator
            Fitted classifier whose predictions the uncertainty is about.

        Returns
        -------
        self : object
            The score.
        """
        check_is_fitted(estimator)
        self._check(estimator)
        self.estimator_ = estimator
        return self

    def _check(self, estimator):
        """Raise for options that the score cannot work with."""


class ConditionalRisk(PlugInScore):
    """Expected loss of the prediction under the classifier's probabilities.

    The plug-in estimate of the ideal score, sum_y p(y given x) l(y, h(x)) (FPV23,
    section 3.2), in units of the loss. For the 0/1 loss it is one minus the probability
    of the predicted class, the maximum class probability rule.

    Parameters
    ----------
    loss : {"zero_one", "absolute", "squared"}, {array-like, dataframe} of shape \
            (n_classes, n_classes), callable or None, default=None
        Loss of a prediction; a matrix has true labels by row and predicted labels by
        column, in the order of `classes_`, and a data frame is read by its labels. None
        takes the loss of the meta-estimator around it, and "zero_one" without one.

    decision : {"predict", "bayes"}, default="predict"
        Which prediction the risk is of: "predict" is the classifier's own, "bayes" the
        label of least expected loss, argmin_k sum_y p(y given x) l(y, k).

    Raises
    ------
    ValueError
        If the classifier has no `predict_proba`, or an argument is invalid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import ConditionalRisk
    >>> X, y = load_iris(return_X_y=True)
    >>> score = ConditionalRisk().fit(estimator=GaussianNB().fit(X, y))
    >>> score.uncertainty(X[[0, 70]]).round(2)
    array([0.  , 0.15])
    """

    name = "conditional_risk"

    def __init__(
        self,
        loss: TaskLossLike | None = None,
        decision: Literal["predict", "bayes"] = "predict",
    ) -> None:
        self.loss = loss
        self.decision = decision

    estimates_risk = True

    def evaluate(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions, and how uncertain they are.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        labels, uncertainty : ndarray of shape (n_samples,)
            What :meth:`labels` and :meth:`from_response` return.
        """
        if self.decision != "bayes":
            return super().evaluate(response)
        # Both are read off the same matrix of risks, a product of n K^2 steps.
        costs = self._task_loss(response.classes).matrix(response.classes)
        risks = row_products(response.probabilities, costs)
        return response.classes[risks.argmin(axis=1)], risks.min(axis=1)

    def labels(self, response: Response) -> np.ndarray:
        """Return the predictions that the uncertainty is about.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The classifier's own predictions or, with ``decision="bayes"``, the labels
            of least expected loss.
        """
        is_own = self.decision != "bayes"
        return response.labels if is_own else self.evaluate(response)[0]

    def compute(self, response: Response) -> np.ndarray:
        if self.decision == "bayes":
            return self.evaluate(response)[1]
        # The probabilities come first: labels may follow from them without a pass.
        probabilities, chosen = response.probabilities, response.label_indices
        loss = self._task_loss(response.classes)
        if type(loss) is ZeroOneLoss:  # a subclass may cost anything
            return probability_of_others(probabilities, chosen)
        costs = loss.matrix(response.classes).T
        return row_sums(probabilities * costs[chosen])

    def _check(self, estimator):
        check_option(self.decision, "decision", ("predict", "bayes"))
        if not hasattr(estimator, "classes_"):
            raise ValueError(
                f"{self!r} needs a classifier with `predict_proba`, got "
                f"{type(estimator).__name__}. Use 'loss_regression' for a regressor, "
                "or a callable (estimator, X) -> (n_samples,)."
            )
        self._task_loss(estimator.classes_).matrix(estimator.classes_)

    def _task_loss(self, classes):
        loss = "zero_one" if self.loss is None else self.loss
        return check_loss(loss, labels=classes)


class Margin(PlugInScore):
    """Negative margin between the largest decision values of the classifier.

    With one decision value f a sample it is -abs(f). With one a class it depends on
    `kind`. In units of the decision function.

    Parameters
    ----------
    kind : {"top_two", "max"}, default="top_two"
        With more than two classes, minus the gap between the two largest values, or
        minus the largest value (the baseline of FPV23 for support vector machines).

    Raises
    ------
    ValueError
        If the classifier has no `decision_function` with one value per class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn_reject.scores import Margin
    >>> X, y = load_iris(return_X_y=True)
    >>> score = Margin().fit(estimator=RidgeClassifier().fit(X, y))
    >>> score.uncertainty(X[[0, 70]]).round(2)
    array([-1.7 , -0.94])
    """

    name = "margin"

    def __init__(self, kind: Literal["top_two", "max"] = "top_two") -> None:
        self.kind = kind

    def _check(self, estimator):
        check_option(self.kind, "kind", ("top_two", "max"))

    def compute(self, response: Response) -> np.ndarray:
        self._check(response.estimator)
        values = response.decision_values
        if values.ndim == 1:
            return -np.abs(values)
        if self.kind == "max":
            return -values.max(axis=1)
        second, first = np.partition(values, -2, axis=1)[:, -2:].T
        return second - first


class CallableScore(PlugInScore):
    """A function ``(estimator, X) -> uncertainty of shape (n_samples,)``.

    Parameters
    ----------
    function : callable
        Gets the fitted classifier and the samples, returns one finite number a sample,
        higher = more uncertain.

    Raises
    ------
    ValueError
        If the function returns another shape, or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_reject.scores import CallableScore
    >>> X, y = load_iris(return_X_y=True)
    >>> distance = CallableScore(lambda knn, X: knn.kneighbors(X)[0].mean(axis=1))
    >>> distance.fit(estimator=KNeighborsClassifier().fit(X, y))
    CallableScore(function=<function <lambda> at ...>)
    >>> distance.uncertainty(X[:2]).round(2)
    array([0.1 , 0.12])
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def compute(self, response: Response) -> np.ndarray:
        return self.function(response.estimator, response.X)


def probability_of_others(probabilities, chosen):
    """Return what all classes but the chosen one have together, shape (n_samples,)."""
    # One minus the largest would round confident predictions to ties at zero.
    if probabilities.shape[1] == 2:
        return np.where(chosen == 0, probabilities[:, 1], probabilities[:, 0])
    others = np.array(probabilities, dtype=np.float64, order="C")
    others[np.arange(len(others)), chosen] = 0.0
    return row_sums(others)


def entropies(probabilities):
    """Return the entropy of each row, in nats, shape (n_samples,)."""
    return row_sums(entr(np.asarray(probabilities, dtype=np.float64)))
