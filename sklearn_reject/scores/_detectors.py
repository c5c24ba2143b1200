"""Novelty scores from outlier detectors and from samples of both origins."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest

from sklearn_reject._response._response import Response
from sklearn_reject._typing import Estimator, MatrixLike, RandomState
from sklearn_reject._validation import check_option
from sklearn_reject.scores._inputs import Inputs, InputScore
from sklearn_reject.scores._learned import check_classifier, weight_for
from sklearn_reject.scores._novelty import Function


class OutlierDetector(InputScore):
    """Anomaly score of an outlier detector.

    Minus the `score_samples` of a detector or density of scikit-learn, such as
    IsolationForest, OneClassSVM, LocalOutlierFactor or KernelDensity. A detector
    without `score_samples` is one of PyOD if it has `decision_scores_` once it is
    fitted; its `decision_function` is higher for abnormal samples and taken as it is.
    In units of the detector, higher = more novel.

    Parameters
    ----------
    detector : outlier detector, default=None
        It is cloned and fitted on the ID samples. None takes an IsolationForest (Liu et
        al., 2008). LocalOutlierFactor needs ``novelty=True``.

    on : {"features", "input"}, default="features"
        What the detector sees: the features of the classifier, or the samples as they
        are.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``, for ``on="features"``. None takes
        the last hidden layer of an MLPClassifier, and the inputs of any other
        classifier.

    random_state : int, RandomState instance or None, default=None
        Source of randomness of the default detector.

    Attributes
    ----------
    detector_ : outlier detector
        The fitted detector.

    Raises
    ------
    ValueError
        If `on` is invalid, if the detector cannot score new samples, or if it does not
        take `sample_weight` where it is given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import LocalOutlierFactor
    >>> from sklearn_reject.scores import OutlierDetector
    >>> X, y = load_iris(return_X_y=True)
    >>> score = OutlierDetector(LocalOutlierFactor(novelty=True))
    >>> score = score.fit(X, y, estimator=GaussianNB().fit(X, y))
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([ 1., 11.])
    """

    name = "outlier_detector"

    def __init__(
        self,
        detector: Estimator | None = None,
        on: Literal["features", "input"] = "features",
        features: Function | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.detector = detector
        self.on = on
        self.features = features
        self.random_state = random_state

    def learn(self, response, y, sample_weight, X_ood):
        check_option(self.on, "on", ("features", "input"))
        default = IsolationForest(random_state=self.random_state)
        detector = clone(default if self.detector is None else self.detector)
        self._inputs_ = Inputs(self.features, learner=detector)
        samples = response.X if self.on == "input" else self._inputs_.fit(response)
        options = weight_for(detector, sample_weight, "detector")
        # The labels are passed for the sake of a frozen detector.
        self.detector_ = detector.fit(samples, None, **options)
        scores = "score_samples", "decision_scores_"
        if not any(hasattr(self.detector_, name) for name in scores):
            raise ValueError(
                f"detector {detector!r} has neither `score_samples`, as "
                "LocalOutlierFactor has with novelty=True, nor PyOD's "
                "`decision_scores_`. Use another, or a callable as novelty_score."
            )

    def check(self, estimator: Estimator, X: MatrixLike) -> None:
        if self.on == "features":
            super().check(estimator, X)

    def compute(self, response):
        is_input = self.on == "input"
        samples = response.X if is_input else self._inputs_.complete(response)
        if hasattr(self.detector_, "score_samples"):
            return -self.detector_.score_samples(samples)
        return self.detector_.decision_function(samples)


# Half of the digits of a risk are lost beside it many times over.
_LARGEST_RATIO = 1e100


class LikelihoodRatio(InputScore):
    """Likelihood ratio of OOD to ID, from a classifier that separates the two.

    The ideal novelty g(x) = p_O(x) / p_I(x) (FPP23, theorem 2), estimated by P(O given
    x) / P(I given x) n_I / n_O. At least 0, higher = more novel; infinite where the
    classifier is certain that a sample is OOD. It knows OOD samples of the kind that it
    was fitted on, and only as far as the features tell them from ID samples. Each OOD
    sample weighs one; ratios above 1e100 count as infinite.

    Parameters
    ----------
    classifier : classifier, default=None
        Binary classifier with `predict_proba`; it is cloned. None takes a
        HistGradientBoostingClassifier.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier, and the inputs of any other classifier.

    random_state : int, RandomState instance or None, default=None
        Source of randomness of the default classifier.

    Attributes
    ----------
    classifier_ : classifier
        Fitted on labels 0 for ID and 1 for OOD.

    odds_ : float
        The n_I / n_O of the samples that it was fitted on.

    Raises
    ------
    ValueError
        If the classifier has no `predict_proba`, or does not take `sample_weight`
        where it is given, or if no numbers can be made of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import LikelihoodRatio
    >>> rng = np.random.default_rng(0)
    >>> X, X_ood = rng.normal(0, 1, (4000, 1)), rng.normal(1, 1, (1000, 1))
    >>> y = X[:, 0] > 0
    >>> score = LikelihoodRatio(LogisticRegression())
    >>> score = score.fit(X, y, estimator=GaussianNB().fit(X, y), X_ood=X_ood)
    >>> score.novelty([[-1.0], [0.5], [2.0]]).round(1)
    array([0.2, 1. , 4.8])
    """

    name = "likelihood_ratio"

    needs_ood = True

    def __init__(
        self,
        classifier: Estimator | None = None,
        features: Function | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.classifier = classifier
        self.features = features
        self.random_state = random_state

    def learn(self, response, y, sample_weight, X_ood):
        check_classifier(self.classifier, "CalibratedClassifierCV adds it.")
        default = HistGradientBoostingClassifier(random_state=self.random_state)
        classifier = clone(default if self.classifier is None else self.classifier)
        self._inputs_ = Inputs(self.features, learner=classifier)
        inside = self._inputs_.fit(response)
        outside = self._inputs_.complete(Response(response.estimator, X_ood))
        if sample_weight is not None:
            # Of mean one, they leave the balance of the two as it is.
            weights = sample_weight / sample_weight.mean()
            sample_weight = np.append(weights, np.ones(outside.shape[0]))
        options = weight_for(classifier, sample_weight, "classifier")
        is_ood = np.repeat([0, 1], [inside.shape[0], outside.shape[0]])
        stack = sparse.vstack if sparse.issparse(inside) else np.vstack
        samples = stack([inside, outside])
        self.classifier_ = classifier.fit(samples, is_ood, **options)
        self.odds_ = inside.shape[0] / outside.shape[0]

    def compute(self, response):
        features = self._inputs_.complete(response)
        probabilities = self.classifier_.predict_proba(features)
        inside, outside = np.asarray(probabilities, dtype=np.float64).T
        with np.errstate(divide="ignore", over="ignore"):
            ratio = outside / inside * self.odds_
        # Beyond what can be added to a risk, it is as good as infinite.
        return np.where(ratio > _LARGEST_RATIO, np.inf, ratio)
