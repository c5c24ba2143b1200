"""The softmax joined with what features tell of OOD samples."""

import numpy as np
from scipy.special import entr

from sklearn_reject._validation import check_option
from sklearn_reject.scores._logit_scores import miss_probability
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import find_features, find_probabilities
from sklearn_reject.scores._residual import find_origin, fit_residual_space


class SIRC(NoveltyScore):
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
        of an MLPClassifier and, for another classifier, what reaches it.

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

    needs_samples = True
    takes_sparse = False

    def __init__(
        self,
        confidence="msp",
        feature_score="l1_norm",
        n_components=None,
        features=None,
        logits=None,
    ):
        self.confidence = confidence
        self.feature_score = feature_score
        self.n_components = n_components
        self.features = features
        self.logits = logits

    def _fit(self, response, y, sample_weight, X_ood):
        check_option(self.confidence, "confidence", ("msp", "entropy"))
        check_option(self.feature_score, "feature_score", ("l1_norm", "residual"))
        features = find_features(response, self.features)
        self.space_ = None
        if self.feature_score == "residual":
            head = response.head if self.features is None else None
            origin = find_origin(features, head, sample_weight)
            self.space_ = fit_residual_space(
                features, origin, self.n_components, sample_weight
            )
        usual = self._score_features(features)
        mean = np.average(usual, weights=sample_weight)
        spread = np.sqrt(np.average((usual - mean) ** 2, weights=sample_weight))
        self._check_spread(spread, np.abs(usual).max())
        self.location_, self.slope_ = float(mean - 3 * spread), float(1 / spread)

    def _check_spread(self, spread, scale):
        if spread <= scale * 1e-12:
            raise ValueError(
                f"feature_score={self.feature_score!r} is the same for all training "
                "samples, so that there is nothing to scale it by. Use the other one, "
                "other `features`, or novelty_score='msp'."
            )

    def _score_features(self, features):
        if self.space_ is None:
            return np.abs(features).sum(axis=1)
        return -self.space_.norms(features)

    def _novelty(self, response):
        features = find_features(response, self.features)
        exponent = -self.slope_ * (self._score_features(features) - self.location_)
        with np.errstate(divide="ignore"):
            logarithm = np.log(self._find_doubt(response))
        return np.logaddexp(0, logarithm + np.logaddexp(0, exponent))

    def _find_doubt(self, response):
        """Return S1max - S1."""
        probabilities = find_probabilities(response, self.logits)
        if self.confidence == "msp":
            return miss_probability(probabilities)
        return entr(probabilities).sum(axis=1)
