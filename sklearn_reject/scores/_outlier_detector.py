"""Novelty by an outlier detector."""

from sklearn.base import clone
from sklearn.ensemble import IsolationForest

from sklearn_reject._validation import check_option
from sklearn_reject.scores._learned import weight_for
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import find_features


class OutlierDetector(NoveltyScore):
    """How abnormal an outlier detector finds the samples.

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
        the last hidden layer of an MLPClassifier and, for another classifier, what
        reaches it.

    random_state : int, RandomState instance or None, default=None
        Source of randomness of the default detector.

    Attributes
    ----------
    detector_ : outlier detector
        The fitted detector.

    Raises
    ------
    ValueError
        If `on` is invalid, if the detector cannot judge new samples, or if it does not
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

    needs_samples = True

    def __init__(self, detector=None, on="features", features=None, random_state=None):
        self.detector = detector
        self.on = on
        self.features = features
        self.random_state = random_state

    def _fit(self, response, y, sample_weight, X_ood):
        check_option(self.on, "on", ("features", "input"))
        if self.on == "input" and self.features is not None:
            raise ValueError(
                "features is given, and on='input' does not use it: use on='features'."
            )
        detector = self._make_detector()
        samples = self._find_samples(response)
        options = weight_for(detector, sample_weight, "detector")
        # The labels are passed for the sake of a frozen detector.
        self.detector_ = detector.fit(samples, None, **options)
        _check_judges(self.detector_)

    def _make_detector(self):
        if self.detector is None:
            return IsolationForest(random_state=self.random_state)
        if not hasattr(self.detector, "fit"):
            raise ValueError(
                "detector must be an outlier detector with `fit` and `score_samples`, "
                f"got {self.detector!r}."
            )
        return clone(self.detector)

    def _find_samples(self, response):
        if self.on == "input":
            return response.X
        return find_features(response, self.features, accept_sparse=True)

    def _novelty(self, response):
        samples = self._find_samples(response)
        if hasattr(self.detector_, "score_samples"):
            return -self.detector_.score_samples(samples)
        return self.detector_.decision_function(samples)


def _check_judges(detector):
    if hasattr(detector, "score_samples"):
        return
    if getattr(detector, "novelty", None) is False:
        raise ValueError(
            f"detector {detector!r} cannot judge new samples: set its novelty=True."
        )
    if not hasattr(detector, "decision_scores_"):
        raise ValueError(
            f"detector {detector!r} has neither `score_samples`, as scikit-learn's "
            "have, nor `decision_scores_`, as PyOD's have: which way its values go is "
            "not known. Pass a callable (estimator, X) -> (n_samples,) as "
            "novelty_score."
        )
