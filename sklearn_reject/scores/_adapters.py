"""A score of one kind, or a function, where another kind is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject.scores._base import UncertaintyScore, forget
from sklearn_reject.scores._novelty import NoveltyScore
from sklearn_reject.scores._plug_in import PlugInScore


class CallableNovelty(NoveltyScore):
    """A function ``(estimator, X) -> novelty of shape (n_samples,)``.

    Parameters
    ----------
    function : callable
        Gets the fitted classifier and the samples, returns one number per sample,
        higher = more novel. It may be infinite.

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

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def _novelty(self, response):
        return self.function(response.estimator, response.X)


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

    def __init__(self, uncertainty_score: PlugInScore) -> None:
        self.uncertainty_score = uncertainty_score

    def _fit(self, response, y, sample_weight, X_ood):
        score = self.uncertainty_score
        if getattr(score, "learns", True):
            raise ValueError(
                "novelty_score must be a plug-in score if it is an uncertainty score, "
                f"got {score!r}. Fit it on samples that the classifier has not seen, "
                "and pass FrozenEstimator(score)."
            )
        self.uncertainty_score_ = clone(score).fit(estimator=response.estimator)

    def _novelty(self, response):
        return self.uncertainty_score_.from_response(response)


class FrozenNovelty(NoveltyScore):
    """A score that is fitted already and stays as it is.

    It goes by the classifier that it was fitted with, whatever classifier is around it
    now.

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

    def __init__(self, score: Estimator) -> None:
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
        score = inner.novelty if hasattr(inner, "novelty") else inner.uncertainty
        return score(response.X)


def _thaw(estimator):
    while type(estimator) is FrozenEstimator:
        estimator = estimator.estimator
    return estimator


class NoveltyUncertainty(UncertaintyScore):
    """A novelty score, taken for a measure of uncertainty.

    Samples unlike those that the classifier was fitted on are the uncertain ones. What
    is ambiguous, and nothing new, is not: see
    :class:`~sklearn_reject.DoubleScoreOODClassifier` for both together.

    Parameters
    ----------
    novelty_score : NoveltyScore
        Score that learns from no OOD samples. It is cloned.

    Attributes
    ----------
    novelty_score_ : NoveltyScore
        The fitted score.

    Raises
    ------
    ValueError
        If the score needs OOD samples or, of a regressor, class labels, if the
        classifier lacks what it needs, or if the novelty of a sample is infinite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import Mahalanobis, NoveltyUncertainty
    >>> X, y = load_iris(return_X_y=True)
    >>> score = NoveltyUncertainty(Mahalanobis())
    >>> score = score.fit(X, y, estimator=GaussianNB().fit(X, y))
    >>> score.uncertainty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([   0., 1816.])
    """

    def __init__(self, novelty_score: NoveltyScore) -> None:
        self.novelty_score = novelty_score

    @property
    def needs_samples(self) -> bool:
        """Whether `fit` needs the samples that the classifier was fitted on."""
        return self.novelty_score.needs_samples

    @property
    def takes_sparse(self) -> bool:
        """Whether the score works on a sparse matrix of samples as it is."""
        return self.novelty_score.takes_sparse

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
            As :meth:`NoveltyScore.check` does.
        """
        self.novelty_score.check(estimator, X)

    def fit(
        self,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        estimator: Estimator,
        sample_weight: ArrayLike | None = None,
        share: float = 1.0,
        least_share: float = 1.0,
    ) -> Self:
        """Fit the novelty score.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), \
                default=None
            Samples, normally those that the classifier was fitted on.

        y : array-like of shape (n_samples,), default=None
            Their labels.

        estimator : estimator
            Fitted classifier.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Samples of weight zero are left out.

        share : float > 0, default=1.0
            How many samples these are, as a share of those that the score will be
            fitted on in the end, as in :meth:`NoveltyScore.fit`.

        least_share : float > 0, default=1.0
            The least such share that any of these fits has.

        Returns
        -------
        self : object
            The fitted score.
        """
        forget(self)
        score = self.novelty_score
        if score.needs_ood:
            raise ValueError(
                f"uncertainty_score={score!r} learns from OOD samples, but there are "
                "none here. Use another score, or DoubleScoreOODClassifier."
            )
        is_of_classes = score.needs_labels or score.needs_classes
        if is_of_classes and is_regressor(estimator):
            raise ValueError(
                f"uncertainty_score={score!r} needs class labels or logits, which a "
                "regressor does not have. Use 'knn' or 'outlier_detector'."
            )
        self.novelty_score_ = clone(score).fit(
            X,
            y,
            estimator=estimator,
            sample_weight=sample_weight,
            share=share,
            least_share=least_share,
        )
        self.estimator_ = estimator
        return self

    def _uncertainty(self, response):
        return self.novelty_score_.from_response(response)
