"""What novelty scores have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._network import softmax
from sklearn_reject._response._response import Response
from sklearn_reject._response._steps import find_members, find_steps
from sklearn_reject._sklearn import _num_samples, take_rows
from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject._validation import (
    check_number,
    check_same_length,
    check_sample_weight,
    check_takes,
    take_weight,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.scores._base import check_scores, forget

# What a user may give in place of what the classifier says.
Function = Callable[..., Any]


class NoveltyScore(BaseEstimator):
    """Base class of novelty scores: how unlike the training samples a sample is.

    A subclass writes :meth:`compute` and, if it learns from samples, :meth:`learn`.
    Both get a :class:`Response`: what the classifier says about the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import NoveltyScore
    >>> class DistanceFromMean(NoveltyScore):
    ...     needs_samples = True
    ...
    ...     def learn(self, response, y, sample_weight, X_ood):
    ...         features = response.features
    ...         self.mean_ = np.average(features, axis=0, weights=sample_weight)
    ...
    ...     def compute(self, response):
    ...         return np.linalg.norm(response.features - self.mean_, axis=1)
    >>> X, y = load_iris(return_X_y=True)
    >>> score = DistanceFromMean().fit(X, y, estimator=GaussianNB().fit(X, y))
    >>> score.novelty(X[[0, 70]]).round(2)
    array([2.7 , 1.21])
    """

    #: What `novelty_score` calls it; one of your own needs no name.
    name: str | None = None

    #: Whether `fit` needs ID samples.
    needs_samples = False

    #: Whether `fit` needs the labels of the ID samples.
    needs_labels = False

    #: Whether it is about classes: logits or probabilities, which regressors lack.
    needs_classes = False

    #: Whether `fit` needs OOD samples.
    needs_ood = False

    #: Whether the score works on a sparse matrix of samples as it is.
    takes_sparse = True

    def check(self, estimator: Estimator, X: MatrixLike) -> None:
        """Raise for samples that the score cannot see, before anything is fitted.

        Parameters
        ----------
        estimator : estimator
            Classifier, fitted or not.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Raises
        ------
        ValueError
            If the score does not take a sparse matrix, and one would reach it, or if
            no numbers can be made of the samples and it needs some.
        TypeError
            If samples hold objects that are neither numbers nor text.
        """
        is_refused = sparse.issparse(X) and not self.takes_sparse
        if is_refused and sees_samples(estimator):
            raise ValueError(
                f"X is a sparse matrix, which {type(self).__name__} cannot take. Use "
                "another novelty_score, such as 'knn', or TruncatedSVD in a pipeline."
            )

    def fit(
        self,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        estimator: Estimator,
        X_ood: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
        share: float = 1.0,
        least_share: float = 1.0,
    ) -> Self:
        """Learn from the training samples of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), \
                default=None
            ID samples, normally those that the classifier was fitted on.

        y : array-like of shape (n_samples,), default=None
            Their labels.

        estimator : estimator
            Fitted classifier.

        X_ood : {array-like, sparse matrix, dataframe} of shape (n_ood, n_features), \
                default=None
            OOD samples.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the ID samples. Those of weight zero are left out.

        share : float > 0, default=1.0
            How many samples these are, as a share of those that the score will be
            fitted on in the end. Folds pass it to scores that count samples, as the
            fifth of 80 is like the fourth of 64; a subclass finds it in `share_`.

        least_share : float > 0, default=1.0
            The least such share that any of these fits has, the final one included; in
            `least_share_`.

        Returns
        -------
        self : object
            The fitted score.

        Raises
        ------
        ValueError
            If a parameter is invalid, if something is missing that the score needs, or
            if the classifier lacks it.
        """
        check_is_fitted(estimator)
        forget(self)
        needs = self.needs_samples, self.needs_labels, self.needs_ood
        given = {"X": X, "y": y, "X_ood": X_ood}
        for is_needed, (name, value) in zip(needs, given.items(), strict=True):
            if is_needed and value is None:
                raise ValueError(
                    f"{name} is None: {type(self).__name__} learns from it. Pass ID "
                    "samples as X, their labels as y, and OOD samples as X_ood."
                )
        NoveltyScore.check(self, estimator, X)  # what others add, `learn` finds out
        X, y, weight = _take_present(X, y, sample_weight)
        self.share_ = check_number(share, "share", open_low=True)
        self.least_share_ = check_number(least_share, "least_share", open_low=True)
        if self.needs_samples and self.least_share_ < 1:
            _warn_of_kernel(self, estimator)
        self.learn(Response(estimator, X), y, weight, X_ood)
        self.estimator_ = estimator
        return self

    def learn(
        self,
        response: Response,
        y: np.ndarray | None,
        sample_weight: np.ndarray | None,
        X_ood: MatrixLike | None,
    ) -> None:
        """Set attributes whose names end with an underscore; nothing by default.

        What is not given to `fit` is None here, the `X` of the response too.

        Parameters
        ----------
        response : Response
            What the classifier says about the ID samples.

        y : ndarray of shape (n_samples,) or None
            Their labels.

        sample_weight : ndarray of shape (n_samples,) or None
            Their positive weights.

        X_ood : {array-like, sparse matrix, dataframe} of shape (n_ood, n_features) \
                or None
            OOD samples.
        """

    def compute(self, response: Response) -> np.ndarray:
        """Return one number a sample, higher = more novel.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        novelty : array-like of shape (n_samples,)
            May be infinite, never NaN, and must not depend on the other samples.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `compute(response)`.")

    def novelty(self, X: MatrixLike) -> np.ndarray:
        """Return how unlike the training samples each sample is.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            Higher = more novel. May be infinite: minus infinity is accepted by every
            threshold, infinity by none.
        """
        check_is_fitted(self, "estimator_")
        return self.from_response(Response(self.estimator_, X))

    def from_response(self, response: Response) -> np.ndarray:
        """Return the novelty of samples whose response is computed already.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            Higher = more novel. May be infinite, never NaN.
        """
        values = self.compute(response)
        return check_scores(values, response.n_samples, "novelty_score", finite=False)


def sees_samples(estimator):
    """Tell whether samples reach the model as they are: no other estimator is inside.

    One in a search or a calibration may be a pipeline, which changes them first.
    """
    steps = find_steps(estimator)
    model = steps.model
    inside = model.get_params() if hasattr(model, "get_params") else {}
    is_alone = not any(hasattr(value, "fit") for value in inside.values())
    return is_alone and not steps.transformers


def _warn_of_kernel(score, estimator):
    """Warn where folds and the final fit look at different numbers of columns."""
    has_tags = hasattr(estimator, "__sklearn_tags__")
    if has_tags and get_tags(estimator).input_tags.pairwise:
        warn_user(
            f"The columns of a kernel or distance matrix are the features of {score!r}."
            " The final fit has more of them than folds, and may accept less. Pass "
            "samples and a kernel function, or use cv=0.3.",
            once=True,
        )


def _take_present(X, y, sample_weight):
    """Return the samples, labels and weights where the weight is positive."""
    if X is None:
        return None, None, None
    weight = check_sample_weight(sample_weight, _num_samples(X))
    if y is not None:
        y = np.asarray(y)
        check_same_length(_num_samples(X), y=y)
    if weight is not None and not weight.all():
        rows = np.flatnonzero(weight)
        X, y, weight = take_rows(X, rows), take_weight(y, rows), weight[rows]
    return X, y, weight


def call(function, name, estimator, X, *temperature, columns=None):
    """Return the finite float64 array that a user's function makes of samples.

    It has a row for each of them, of the shape `columns`.
    """
    arguments = ("estimator", "X", "temperature")[: 2 + len(temperature)]
    check_takes(function, name, *arguments)
    options = {"input_name": f"what {name} returned", "ensure_2d": False}
    values = function(estimator, X, *temperature)
    values = check_array(values, dtype=np.float64, allow_nd=True, **options)
    expected = _num_samples(X), *(columns or values.shape[-1:])
    if values.ndim < 2 or values.shape != expected:
        wanted = expected if columns else f"({expected[0]}, n_columns)"
        raise ValueError(
            f"{name} returned an array of shape {values.shape}, expected {wanted}: a "
            "row for each sample and, of logits, a column for each class, of two both."
        )
    return values


class ClassNovelty(NoveltyScore):
    """Base of scores of logits, probabilities and the features of a last layer.

    Each is what the classifier says, unless the parameter of that name is a function.
    """

    needs_classes = True
    features = None

    def __init__(self, logits: Function | None = None) -> None:
        self.logits = logits

    def _find_logits(self, response):
        """Return logits (n_samples, n_classes)."""
        if self.logits is None:
            return response.logits
        given, columns = (response.estimator, response.X), response.classes.shape
        return call(self.logits, "logits", *given, columns=columns)

    def _find_probabilities(self, response):
        """Return class probabilities, the softmax of logits that are given."""
        if self.logits is None:
            return response.probabilities
        return softmax(self._find_logits(response))

    def _find_features(self, response):
        """Return dense features (n_samples, n_features)."""
        if self.features is not None:
            return call(self.features, "features", response.estimator, response.X)
        return check_array(response.features, input_name="the features")

    def _check_network(self, response, function, beside):
        """Raise if neither the function nor a network that makes logits is known.

        With a function for the parameter `beside` it would not be that network.
        """
        if getattr(self, function) is not None:
            return
        members = find_members(response.estimator)
        got = f"{len(members)} x {type(members[0].model).__name__}"
        if getattr(self, beside) is not None:
            got = f"a function as `{beside}`"
        elif response.network is not None:
            return
        raise ValueError(
            f"{type(self).__name__} needs the last layer of one MLPClassifier or "
            f"linear classifier of scikit-learn, got {got}. Pass `{function}`, "
            "calibrate with ensemble=False, or use novelty_score='knn'."
        )

    def _warn_of_two_classes(self, response):
        """Warn where the score is a function of one decision value."""
        if self.logits is None and len(response.classes) == 2:
            warn_user(
                f"{type(self).__name__} for two classes is a function of one value, as "
                "the risk is, to which it adds almost nothing. Use 'knn' or "
                "'mahalanobis', which use the features.",
                once=True,
            )
