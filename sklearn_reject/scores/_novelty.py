"""What novelty scores have in common."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._network import softmax
from sklearn_reject._response._response import Response
from sklearn_reject._response._steps import find_steps
from sklearn_reject._sklearn import _num_samples, _safe_indexing
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


class NoveltyScore(BaseEstimator):
    """Base class of novelty scores: how unlike the training samples a sample is.

    A subclass writes `_novelty`, which gets a `Response` (what the classifier says
    about the samples) and returns one number per sample, higher = more novel, and, if
    it learns from samples, `_fit`. That gets the response to the ID samples, their
    labels, their positive weights, and the OOD samples. What is not given is None, the
    `X` of the response too. It sets attributes whose names end with an underscore.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import NoveltyScore
    >>> class DistanceFromMean(NoveltyScore):
    ...     needs_samples = True
    ...
    ...     def _fit(self, response, y, sample_weight, X_ood):
    ...         features = response.features
    ...         self.mean_ = np.average(features, axis=0, weights=sample_weight)
    ...
    ...     def _novelty(self, response):
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
                f"The samples are a sparse matrix, which {type(self).__name__} cannot "
                "take. Make them dense, for example with TruncatedSVD in a pipeline "
                "before the classifier, or use another novelty_score, such as 'knn'."
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
        for name, is_needed, given, meaning in (
            ("X", self.needs_samples, X, "ID samples, normally the training samples"),
            ("y", self.needs_labels, y, "labels of the ID samples"),
            (
                "X_ood",
                self.needs_ood,
                X_ood,
                "OOD samples, of which each fold needs some",
            ),
        ):
            if is_needed and given is None:
                raise ValueError(
                    f"{name} is None: {type(self).__name__} is fitted on {meaning}. "
                    f"Pass them as `{name}` to fit."
                )
        NoveltyScore.check(self, estimator, X)  # what others add, `_fit` will find out
        X, y, weight = _take_present(X, y, sample_weight)
        self.share_ = check_number(share, "share", open_low=True)
        self.least_share_ = check_number(least_share, "least_share", open_low=True)
        if self.needs_samples and self.least_share_ < 1:
            _warn_of_kernel(self, estimator)
        self._fit(Response(estimator, X), y, weight, X_ood)
        self.estimator_ = estimator
        return self

    def _fit(self, response, y, sample_weight, X_ood):
        """Learn from ID samples and, maybe, OOD samples."""

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
        check_is_fitted(self, "estimator_")
        values = self._novelty(response)
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
            f"X is a kernel or distance matrix, and {type(score).__name__} uses its "
            "columns as features. The final fit has more of them than the folds that "
            "tune the rule, so fewer samples may be accepted in production. Pass "
            "samples and a kernel function, or hold a share out, for example with "
            "cv=0.3.",
            once=True,
        )


def _take_present(X, y, sample_weight):
    """Return the samples, labels and weights where the weight is positive."""
    if X is None:
        return None, None, None
    y = None if y is None else np.asarray(y)
    n_samples = _num_samples(X)
    if y is not None:
        check_same_length(n_samples, y=y)
    weight = check_sample_weight(sample_weight, n_samples)
    if weight is None or weight.all():
        return X, y, weight
    rows = np.flatnonzero(weight)
    return _safe_indexing(*indexable(X), rows), take_weight(y, rows), weight[rows]


def own_features(response, function):
    """Return finite features (n_samples, n_features), of a function or the response."""
    if function is not None:
        return call(function, "features", response.estimator, response.X)
    features = response.features
    if sparse.issparse(features):
        raise ValueError(
            "The features are a sparse matrix, which this novelty_score cannot take. "
            "Reduce them, for example with TruncatedSVD in a pipeline before the "
            "classifier, or pass a callable (estimator, X) -> (n_samples, n_features) "
            "as `features`."
        )
    return features


def find_logits(response, function):
    """Return finite logits (n_samples, n_classes), of a function or the response."""
    if function is None:
        return response.logits
    logits = call(function, "logits", response.estimator, response.X)
    return check_columns(logits, "logits", response)


def find_probabilities(response, function):
    """Return class probabilities: the softmax of a function, else of the response."""
    if function is None:
        return response.probabilities
    return softmax(find_logits(response, function))


def check_columns(logits, name, response):
    """Raise unless there is one column a class."""
    n_classes = len(response.classes)
    if logits.shape[1] != n_classes:
        raise ValueError(
            f"{name} returned an array of shape {logits.shape}, expected a column for "
            f"each of the {n_classes} classes. For two classes return both logits."
        )
    return logits


def call(function, name, estimator, X):
    """Return what a user's function makes of samples: a finite float64 matrix."""
    if not callable(function):
        raise ValueError(
            f"{name} must be a callable (estimator, X) -> (n_samples, n_columns) or "
            f"None, got {function!r}."
        )
    check_takes(function, name, "estimator", "X")
    values = function(estimator, X)
    if sparse.issparse(values):
        raise ValueError(
            f"{name} returned a sparse matrix. Return a dense array: `.toarray()`."
        )
    values = np.asarray(values, dtype=np.float64)
    n_samples = _num_samples(X)
    if values.ndim != 2 or len(values) != n_samples:
        raise ValueError(
            f"{name} returned an array of shape {values.shape}, expected one row for "
            f"each of the {n_samples} samples: shape ({n_samples}, n_columns)."
        )
    return check_finite(values, name)


def check_finite(values, name):
    """Raise unless all values that a user's function returned are finite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} returned values that are not finite. Check the function, or its "
            "input for extreme values."
        )
    return values


# Rows that tell whether the logits of two classes are one value and its negative.
_N_LOOKED_AT = 10


def only_head(response, score, functions):
    """Return the last layer, if one is known, or raise for several classifiers."""
    if len(response.members) > 1:
        model = type(response.model).__name__
        raise ValueError(
            f"{type(score).__name__} needs the last layer of one classifier, but "
            f"{model} has {len(response.members)} classifiers. Set ensemble=False of "
            f"the CalibratedClassifierCV, pass {functions}, or use another "
            "novelty_score, such as 'knn'."
        )
    return response.head


def warn_of_one_decision_value(score, response):
    """Warn where a score has the one decision value of two classes to go by."""
    if score.logits is None and _is_one_value(response):
        _warn_of_one(score, "decision value")


def warn_of_one_probability(score, response):
    """Warn where a score has the probabilities of two classes to go by."""
    if score.logits is None and len(response.classes) == 2:
        _warn_of_one(score, "probability")


def _warn_of_one(score, quantity):
    warn_user(
        f"{type(score).__name__} for two classes is a function of one {quantity} and "
        "ranks samples like the error probability, so it adds almost nothing to the "
        "conditional risk. Use 'knn' or 'mahalanobis', which use the features.",
        once=True,
    )


def _is_one_value(response):
    if len(response.classes) != 2:
        return False
    if response.X is None:  # scikit-learn asks for one of all decision functions
        return True
    first = _safe_indexing(*indexable(response.X), slice(_N_LOOKED_AT))
    logits = Response(response.estimator, first).logits
    return np.array_equal(logits[:, 0], -logits[:, 1])
