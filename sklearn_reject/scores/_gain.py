"""What a second opinion would gain: the difference of two conditional risks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._response import Response
from sklearn_reject._typing import (
    Estimator,
    FeaturesLike,
    MatrixLike,
    RandomState,
    TaskLossLike,
)
from sklearn_reject._validation import take_weight
from sklearn_reject.losses import losses_where_known
from sklearn_reject.scores._features import FeatureScore
from sklearn_reject.scores._learned import Predictions


class ExpectedGain(FeatureScore):
    """Expected loss of a classifier minus that of an expert.

    An estimate of r1(x) - r2(x), the conditional risks of the two, in units of the
    loss: negative where the expert is the worse of them. It is learned from samples for
    which the labels of both are known. Where all are, the difference of the losses is
    learned. Where some labels of the expert are missing, r1 is learned from all
    samples, and r2 from those with one.

    Parameters
    ----------
    base_learner : classifier, regressor or None, default=None
        What learns. A classifier, with `predict_proba`, learns losses of 0 and 1 only:
        the probabilities of a difference of -1, 0 and 1. A regressor learns any. None
        is a :class:`~sklearn.ensemble.HistGradientBoostingRegressor` of 30 to 100
        trees, one for 80 samples, with 16 leaves.

    features : {"auto", "input", "model_input", "response", "input+response", \
            "model_input+response"} or transformer, default="auto"
        Inputs of the score. "input" is the samples, "model_input" the inputs of the
        model inside a pipeline, "response" the probabilities, otherwise the decision
        values, otherwise the label of a classifier, or the prediction of a regressor;
        "+" joins two. Categories become codes or indicators, times numbers. "auto" is
        "input+response" if the samples can be converted to numbers, and "response" for
        text, and for sparse samples with many columns unless the learner supports them.
        A transformer is fitted on samples and losses.

    loss : {"zero_one", "absolute", "squared"}, array-like of shape \
            (n_classes, n_classes), callable or None, default=None
        Loss of a prediction. None takes the loss of the meta-estimator around it, and
        without one "zero_one" for classifiers and "squared" for regressors.

    random_state : int, RandomState instance or None, default=None
        Source of the default learner.

    Attributes
    ----------
    features_ : str or transformer
        What `features` stands for.

    learners_ : list
        The fitted learner of l1 - l2; or, where labels of the expert were missing, that
        of l1 and that of l2. A number stands for one where what there was to learn is
        the same for all samples.

    n_asked_ : int
        Number of samples with a label of the expert.

    Raises
    ------
    ValueError
        If no label of the expert is known, a parameter is invalid, a loss is neither 0
        nor 1 and `base_learner` is a classifier, or no numbers can be made of the
        samples.

    See Also
    --------
    ErrorProbability : The probability that the classifier is wrong, alone.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import ExpectedGain
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> expert = np.where(y < 5, y, 9)  # knows the first five digits, and no other
    >>> score, new = ExpectedGain(random_state=0), slice(600, 1200)
    >>> score = score.fit(
    ...     X[new], y[new], estimator=classifier, expert_labels=expert[new]
    ... )
    >>> gain = score.uncertainty(X[1200:])
    >>> bool(gain[y[1200:] < 5].mean() > 0 > gain[y[1200:] >= 5].mean())
    True
    """

    name = "gain"

    #: An estimator that knows of no expert cannot learn the score.
    needs_expert = True

    learner = "base_learner"

    learners_: list[Any]
    n_asked_: int

    def __init__(
        self,
        base_learner: Estimator | None = None,
        features: FeaturesLike = "auto",
        *,
        loss: TaskLossLike | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.base_learner = base_learner
        self.features = features
        self.loss = loss
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        estimator: Estimator,
        expert_labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn where an expert is better than an estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples that neither estimator nor expert was fitted on. On those that they
            were fitted on they err less than they will.

        y : array-like of shape (n_samples,)
            Their true labels, or the targets of a regressor.

        estimator : estimator
            Fitted classifier or regressor whose predictions the gain is about.

        expert_labels : array-like of shape (n_samples,)
            Labels of the expert; None or NaN where the expert was not asked.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        self : object
            The fitted score.

        Raises
        ------
        ValueError
            If a parameter is invalid, or the estimator lacks what the score needs.
        """
        check_is_fitted(estimator)
        given = {"expert_labels": expert_labels}
        self._collect_and_fit(X, y, estimator, sample_weight, **given)
        return self

    def collect(
        self, response: Response, y: np.ndarray, expert_labels: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what there is to learn from a response, and from what an expert says.

        Parameters
        ----------
        response : Response
            Response of an estimator to samples that it was not fitted on.

        y : ndarray of shape (n_samples,)
            Their true labels or targets.

        expert_labels : array-like of shape (n_samples,), default=None
            Labels of the expert; None or NaN where the expert was not asked.

        Returns
        -------
        outputs, labels, targets : ndarray
            Arrays with one entry per sample, which go to :meth:`fit_collected`, perhaps
            together with those of other folds. `targets`, of shape (n_samples, 2), are
            the losses of the estimator and of the expert, the latter NaN where the
            expert was not asked.
        """
        outputs, labels, first = super().collect(response, y)
        second = np.full(len(first), np.nan)
        if expert_labels is not None:
            second = losses_where_known(self.loss_, y, expert_labels, "expert_labels")
        return outputs, labels, np.column_stack([first, second])

    def _check_options(self, classes):
        given = self.base_learner
        is_object = hasattr(given, "__sklearn_tags__") and not isinstance(given, type)
        learns = is_object and (is_regressor(given) or hasattr(given, "predict_proba"))
        if not (given is None or learns):
            raise ValueError(
                "base_learner must be a regressor, or a classifier with "
                f"`predict_proba`, got {given!r}. Use CalibratedClassifierCV, or a "
                "regressor."
            )

    def _make_default(self, n_samples, *, classify):
        # On 37 cases of ten sets, with 1,000 to 3,000 samples, 30 trees improve the
        # area as much as 100 of 31 leaves of each value of the difference, in a 20th
        # of the time. On avila, with 6,000, 30 leave .35 of the excess area, 60 .24,
        # and 100 leave .17.
        return HistGradientBoostingRegressor(
            max_iter=int(np.clip(n_samples // 80, 30, 100)),
            max_leaf_nodes=16,
            early_stopping=False,
            categorical_features=self._map_.codes,
            random_state=self.random_state,
        )

    def learn(self, predictions: Predictions, targets: Any, sample_weight: Any) -> None:
        if targets.ndim != 2 or np.isnan(targets[:, 1]).all():
            raise ValueError(
                "ExpectedGain learns from the labels of an expert, but none is known. "
                "Pass expert_labels, or use it as gain_score of a DeferringClassifier, "
                "and not as uncertainty_score."
            )
        first, second = targets.T
        is_known = ~np.isnan(second)
        self.n_asked_ = np.count_nonzero(is_known)
        # The difference varies less than the losses that it is made of, as the two
        # often err on the same samples. What is known of one alone has to do for
        # the others, and then counts for more.
        parts = [(first, slice(None)), (second, is_known)]
        if is_known.all():
            parts = [(first - second, slice(None))]
        is_zero_one = np.isin(targets[~np.isnan(targets)], (0, 1)).all()
        learner = self.base_learner
        if not (is_zero_one or learner is None) and is_classifier(learner):
            raise ValueError(
                f"base_learner={learner!r} is a classifier, which can only learn "
                "losses of 0 and 1, but there are other losses. Use a regressor."
            )
        self._map_, self.learners_ = self.make_map(), []
        features = self._map_.fit(predictions, parts[0][0])
        for losses, rows in parts:
            known = features[rows], losses[rows], take_weight(sample_weight, rows)
            self.learners_.append(self._fit_learner(*known, classify=is_zero_one))

    def estimate(self, predictions: Predictions) -> np.ndarray:
        first, *second = self._expect(self.learners_, predictions)
        return np.full(len(predictions), first - sum(second))
