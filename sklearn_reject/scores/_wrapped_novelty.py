"""Novelty by functions, uncertainty scores, and scores that are fitted already."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject.scores._novelty_base import NoveltyScore


class CallableNovelty(NoveltyScore):
    """A function ``(estimator, X) -> novelty of shape (n_samples,)``.

    Parameters
    ----------
    function : callable
        Gets the fitted classifier and the samples, returns one number a sample, higher
        = more novel. It may be infinite.

    Raises
    ------
    ValueError
        If the function returns another shape, or NaN.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_reject.scores import CallableNovelty
    >>> X, y = load_iris(return_X_y=True)
    >>> distance = CallableNovelty(lambda knn, X: knn.kneighbors(X)[0].mean(axis=1))
    >>> score = distance.fit(estimator=KNeighborsClassifier().fit(X, y))
    >>> score.novelty(X[:2]).round(2)
    array([0.1 , 0.12])
    """

    def __init__(self, function):
        self.function = function

    def _novelty(self, response):
        values = np.asarray(self.function(response.estimator, response.X))
        n_samples = response.n_samples
        if values.shape != (n_samples,):
            raise ValueError(
                f"novelty_score returned an array of shape {values.shape}, expected "
                f"one number for each of the {n_samples} samples: shape "
                f"({n_samples},)."
            )
        return values


class UncertaintyNovelty(NoveltyScore):
    """A plug-in uncertainty score, taken for a measure of novelty.

    Parameters
    ----------
    uncertainty_score : PlugInScore
        Score that needs nothing but a fitted classifier. It is cloned. One that is
        learned has to be fitted on samples that the classifier has not seen, and to be
        passed to :func:`resolve_novelty` inside a
        :class:`~sklearn.frozen.FrozenEstimator`.

    Attributes
    ----------
    uncertainty_score_ : PlugInScore
        The fitted score.

    Raises
    ------
    ValueError
        If the score is learned, or if the classifier lacks what it needs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import Entropy, UncertaintyNovelty
    >>> X, y = load_iris(return_X_y=True)
    >>> score = UncertaintyNovelty(Entropy()).fit(estimator=GaussianNB().fit(X, y))
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.  , 0.43])
    """

    def __init__(self, uncertainty_score):
        self.uncertainty_score = uncertainty_score

    def _fit(self, response, y, sample_weight, X_ood):
        score = self.uncertainty_score
        if getattr(score, "learns", True):
            raise ValueError(
                "novelty_score must be a plug-in score where it is an uncertainty "
                f"score, got {score!r}. Fit it on samples that the classifier has not "
                "seen, and pass FrozenEstimator(score)."
            )
        self.uncertainty_score_ = clone(score).fit(estimator=response.estimator)

    def _novelty(self, response):
        return self.uncertainty_score_.from_response(response)


class FrozenNovelty(NoveltyScore):
    """A score that is fitted already and stays as it is.

    It judges samples by the classifier that it was fitted with, whatever classifier is
    around it now.

    Parameters
    ----------
    score : FrozenEstimator
        Around a fitted :class:`NoveltyScore` or :class:`UncertaintyScore`.

    Raises
    ------
    ValueError
        If `score` is something else.

    NotFittedError
        If the score is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import MSP, FrozenNovelty
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GaussianNB().fit(X, y)
    >>> fitted = MSP().fit(estimator=clf)
    >>> score = FrozenNovelty(FrozenEstimator(fitted)).fit(estimator=clf)
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.  , 0.15])
    """

    def __init__(self, score):
        self.score = score

    def _fit(self, response, y, sample_weight, X_ood):
        is_frozen = isinstance(self.score, FrozenEstimator)
        inner = self.score.estimator if is_frozen else None
        if not (hasattr(inner, "novelty") or hasattr(inner, "uncertainty")):
            raise ValueError(
                "score must be a FrozenEstimator around a fitted novelty or "
                f"uncertainty score, got {self.score!r}."
            )
        check_is_fitted(inner, "estimator_")

    def _novelty(self, response):
        inner = self.score.estimator
        if _thaw(inner.estimator_) is _thaw(response.estimator):
            return inner.from_response(response)
        judge = inner.novelty if hasattr(inner, "novelty") else inner.uncertainty
        return judge(response.X)


def _thaw(estimator):
    while type(estimator) is FrozenEstimator:
        estimator = estimator.estimator
    return estimator
