"""A score that is the probability of an error, learned by a classifier."""

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from sklearn_reject.scores._features import (
    FeatureMap,
    learner_takes_sparse,
    refuse_sparse,
)
from sklearn_reject.scores._learned import LearnedScore, weight_for


class ErrorProbability(LearnedScore):
    """Probability that a prediction is wrong, learned by a second classifier.

    For losses of 0 and 1, whose expectation is the probability of an error, so that the
    score estimates the conditional risk. Works for any classifier with `predict`.

    Parameters
    ----------
    classifier : classifier or None, default=None
        What learns to tell errors from correct predictions, with `predict_proba`. None
        is a :class:`~sklearn.ensemble.HistGradientBoostingClassifier`.

    features : {"input", "response", "both"} or transformer, default="both"
        What it sees: "input" is the samples, "response" the probabilities, else
        decision values, else label of the classifier judged, "both" the two. A
        transformer is fitted on samples and losses.

    loss : {"zero_one"}, array-like of shape (n_classes, n_classes), callable or None, \
            default=None
        Loss of a prediction, 0 or 1. None takes the loss of the meta-estimator around
        it, and "zero_one" without one.

    random_state : int, RandomState instance or None, default=None
        Source of the default classifier.

    Attributes
    ----------
    classifier_ : classifier or None
        The fitted classifier. None where all losses are equal and there is nothing to
        tell apart: the uncertainty is that loss, then.

    Raises
    ------
    ValueError
        If a loss is neither 0 nor 1, a parameter is invalid, features are not numbers,
        or `classifier` has no `predict_proba`.

    See Also
    --------
    LossRegression : The same for any loss.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import aurc_score
    >>> from sklearn_reject.scores import ConditionalRisk, ErrorProbability
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> score = ErrorProbability(random_state=0)
    >>> score = score.fit(X[600:1200], y[600:1200], estimator=classifier)
    >>> labels = classifier.predict(X[1200:])
    >>> own = ConditionalRisk().fit(estimator=classifier).uncertainty(X[1200:])
    >>> learned = score.uncertainty(X[1200:])
    >>> aurc_score(y[1200:], labels, learned) < 0.7 * aurc_score(y[1200:], labels, own)
    True
    """

    estimates_risk = True

    def __init__(
        self, classifier=None, features="both", *, loss=None, random_state=None
    ):
        self.classifier = classifier
        self.features = features
        self.loss = loss
        self.random_state = random_state

    @property
    def takes_sparse(self):
        """Whether the score works on a sparse matrix of samples."""
        return learner_takes_sparse(self.classifier, self.features)

    def _learn(self, observations, aims, sample_weight, context):
        classifier = self._make_classifier()
        _check_zero_one(aims)
        self._map_ = FeatureMap(self.features).fit(observations, aims)
        self._constant_ = float(aims[0])
        if np.ptp(aims) == 0:
            self.classifier_ = None
            return
        given = weight_for(classifier, sample_weight, "classifier")
        features = self._map_.transform(observations)
        if self.classifier is None:
            refuse_sparse(features, "classifier")
        self.classifier_ = classifier.fit(features, aims > 0, **given)

    def _predict(self, observations):
        if self.classifier_ is None:
            return np.full(len(observations), self._constant_)
        features = self._map_.transform(observations)
        column = list(self.classifier_.classes_).index(True)
        return self.classifier_.predict_proba(features)[:, column]

    def _make_classifier(self):
        if self.classifier is None:
            return HistGradientBoostingClassifier(random_state=self.random_state)
        if not hasattr(self.classifier, "predict_proba"):
            raise ValueError(
                f"classifier must have `predict_proba`, got {self.classifier!r}. "
                "Use CalibratedClassifierCV, or LossRegression with a regressor."
            )
        return clone(self.classifier)


def _check_zero_one(losses):
    other = losses[(losses != 0) & (losses != 1)]
    if len(other):
        raise ValueError(
            f"ErrorProbability needs losses of 0 and 1, got {other[0]:g}. Use "
            "LossRegression or SELE for other losses."
        )
