"""A novelty score where an uncertainty score is asked for."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import clone, is_regressor

from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject.scores._base import UncertaintyScore, forget
from sklearn_reject.scores.novelty._base import NoveltyScore


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
