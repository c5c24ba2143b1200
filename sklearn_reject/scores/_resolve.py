"""From the names, callables and objects that a user gives to score objects."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin, clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._response import Response
from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject._validation import check_takes
from sklearn_reject.scores._base import UncertaintyScore, forget
from sklearn_reject.scores._distances import (
    KNN,
    LikelihoodRatio,
    Mahalanobis,
    OutlierDetector,
    RelativeMahalanobis,
)
from sklearn_reject.scores._gain import ExpectedGain
from sklearn_reject.scores._linear import SELE
from sklearn_reject.scores._logits import (
    GEN,
    MSP,
    ODIN,
    SIRC,
    Energy,
    MaxLogit,
    ReAct,
    ViM,
)
from sklearn_reject.scores._novelty import NoveltyScore
from sklearn_reject.scores._plug_in import (
    CallableScore,
    ConditionalRisk,
    Margin,
    PlugInScore,
)
from sklearn_reject.scores._regression import (
    ErrorProbability,
    LossRegression,
    TrueClassProbability,
)

# What `gain_score` calls the score that is "auto" elsewhere.
CONFIDENCE = "confidence"

_UNCERTAINTY_SCORES = {
    score.name: score
    for score in (
        *(ConditionalRisk, ErrorProbability, LossRegression, Margin, SELE),
        TrueClassProbability,
    )
}

_NOVELTY_SCORES = {
    score.name: score
    for score in (
        *(GEN, KNN, MSP, ODIN, SIRC, Energy, LikelihoodRatio, Mahalanobis, MaxLogit),
        *(OutlierDetector, ReAct, RelativeMahalanobis, ViM),
    )
}

_CALLABLE = "a score object or a callable (estimator, X) -> (n_samples,)"


def get_score_names() -> list[str]:
    """Return the names that `uncertainty_score` accepts besides "auto".

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.scores import get_score_names
    >>> get_score_names()
    ['conditional_risk', 'error_probability', 'loss_regression', 'margin', 'sele',
     'true_class_probability']
    """
    return sorted(_UNCERTAINTY_SCORES)


def resolve_score(
    uncertainty_score,
    estimator,
    *,
    loss=None,
    random_state=None,
    name="uncertainty_score",
):
    """Turn a name, a score object or a callable into an unfitted score.

    Parameters
    ----------
    uncertainty_score : str, score object or callable
        "auto" takes a loss regression for regressors, and for classifiers the
        conditional risk where they have `predict_proba`, else the margin. Of one that
        has neither before it is fitted, the score finds out in its `fit`. The name or
        object of a novelty score becomes a :class:`NoveltyUncertainty`. A callable is
        ``(estimator, X) -> (n_samples,)``.

    estimator : estimator
        The classifier, fitted or not.

    loss : str, array-like or callable, default=None
        Loss for a score that has a `loss` parameter left at None.

    random_state : int or None, default=None
        Source of randomness for a score that has a `random_state` left at None.

    name : str, default="uncertainty_score"
        How the user calls the parameter, for errors.

    Returns
    -------
    score : UncertaintyScore
        A new, unfitted score.

    Raises
    ------
    ValueError
        If the name is unknown, "auto" finds no method to build on, nor a `fit` that may
        bring one, a frozen score is not fitted, or a score learns from an expert.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from sklearn_reject.scores import resolve_score
    >>> resolve_score("auto", LinearSVC())
    Margin()
    """
    given, frozen = uncertainty_score, isinstance(uncertainty_score, FrozenEstimator)
    known = {**_UNCERTAINTY_SCORES, ExpectedGain.name: ExpectedGain}
    if isinstance(given, str) and given == "auto":
        score = _automatic_score(estimator, name)
    elif isinstance(given, str) and given in known:
        score = known[given]()
    elif _is_novelty(given):
        return NoveltyUncertainty(resolve_novelty(given, random_state=random_state))
    elif hasattr(given, "evaluate") and not isinstance(given, type):
        score = clone(given)
    elif callable(given) and not isinstance(given, type):
        check_takes(given, name, "estimator", "X")
        score = CallableScore(given)
    else:
        raise ValueError(
            f"{name} must be 'auto', one of {get_score_names()}, a novelty score such "
            f"as {get_novelty_names()}, {_CALLABLE}, got {given!r}."
        )
    if frozen:
        check_is_fitted(score.estimator, "estimator_")
    elif getattr(score, "needs_expert", False):
        raise ValueError(
            f"{name}={given!r} learns from the labels of an expert and can only be the "
            "gain_score of a DeferringClassifier. Use 'error_probability', or "
            "FrozenEstimator(score) of one fitted with expert_labels."
        )
    return with_defaults(score, loss=loss, random_state=random_state)


def with_defaults(score, **given):
    """Set the parameters of a score that were left at None, and return it."""
    parameters = score.get_params(deep=False)
    for key, value in given.items():
        if value is not None and parameters.get(key, value) is None:
            score.set_params(**{key: value})
    return score


def _is_novelty(given):
    """Tell whether a name or an object stands for a novelty score."""
    if isinstance(given, str):
        return given in _NOVELTY_SCORES and given not in _UNCERTAINTY_SCORES
    return not isinstance(given, type) and callable(getattr(given, "novelty", None))


def get_novelty_names() -> list[str]:
    """Return the names that `novelty_score` accepts.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.scores import get_novelty_names
    >>> get_novelty_names()
    ['energy', 'gen', 'knn', 'likelihood_ratio', 'mahalanobis', 'max_logit', 'msp',
     'odin', 'outlier_detector', 'react', 'relative_mahalanobis', 'sirc', 'vim']
    """
    return sorted(_NOVELTY_SCORES)


def resolve_novelty(novelty_score, estimator=None, random_state=None):
    """Turn a name, a score object or a callable into an unfitted novelty score.

    Parameters
    ----------
    novelty_score : str, score object or callable
        One of :func:`get_novelty_names`; a :class:`NoveltyScore`, which is cloned; a
        plug-in uncertainty score, whose uncertainty is taken for novelty; a
        :class:`~sklearn.frozen.FrozenEstimator` around a fitted score of either kind,
        which is never fitted again; or a callable ``(estimator, X) -> (n_samples,)``.

    estimator : estimator, default=None
        Not used, present so that all scores are resolved alike.

    random_state : int or None, default=None
        Source of randomness for a score that has a `random_state` left at None.

    Returns
    -------
    score : NoveltyScore
        A new, unfitted score.

    Raises
    ------
    ValueError
        If the name is unknown, or the object is nothing of these.

    Examples
    --------
    >>> from sklearn_reject.scores import Margin, resolve_novelty
    >>> resolve_novelty("knn")
    KNN()
    >>> resolve_novelty(Margin())
    UncertaintyNovelty(uncertainty_score=Margin())
    """
    given, is_novelty = novelty_score, _is_novelty(novelty_score)
    if isinstance(given, str) and given in _NOVELTY_SCORES:
        score = _NOVELTY_SCORES[given]()
    elif is_novelty or (hasattr(given, "evaluate") and not isinstance(given, type)):
        score = clone(given)
        if isinstance(given, FrozenEstimator):
            score = FrozenNovelty(given)
        elif not is_novelty:
            score = UncertaintyNovelty(score)
    elif callable(given) and not isinstance(given, type):
        check_takes(given, "novelty_score", "estimator", "X")
        score = UncertaintyNovelty(CallableScore(given))
    else:
        is_detector = isinstance(given, OutlierMixin) or hasattr(given, "score_samples")
        wrap = " Wrap it: OutlierDetector(detector)." if is_detector else ""
        raise ValueError(
            f"novelty_score must be one of {get_novelty_names()}, {_CALLABLE}, got "
            f"{given!r}.{wrap}"
        )
    return with_defaults(score, random_state=random_state)


def _automatic_score(estimator, parameter):
    """Return the score for an estimator, or one that will see when it is fitted."""
    methods = "predict_proba", "decision_function"
    if hasattr(estimator, "fit") and not any(hasattr(estimator, m) for m in methods):
        if hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator):
            return LossRegression()
        return AutomaticScore(parameter=parameter)
    return _find_plug_in(estimator, parameter)


# With fewer samples, a learned gain was never chosen on six sets.
_FEWEST_LEARNED = 1000


def resolve_gain(
    gain_score,
    estimator,
    *,
    n_samples=np.inf,
    loss=None,
    random_state=None,
    name="gain_score",
):
    """Turn what a user gives as `gain_score` into candidates to choose from.

    Parameters
    ----------
    gain_score : str, score object or callable
        "auto" has two candidates: "confidence", unless the classifier has neither
        probabilities nor decision values, and "gain", unless samples are few and there
        is the other one. "confidence" is what "auto" is as an uncertainty
        score. Anything else is the one candidate, and is what it is as an uncertainty
        score.

    estimator : estimator
        The classifier that answers first, fitted or not.

    n_samples : int, default=inf
        Number of samples that there are to learn from.

    loss : str, array-like or callable, default=None
        Loss for a score that has a `loss` parameter left at None.

    random_state : int or None, default=None
        Source of randomness for a score that has a `random_state` left at None.

    name : str, default="gain_score"
        How the user calls the parameter, for errors.

    Returns
    -------
    candidates : dict of str to UncertaintyScore
        New, unfitted scores. The name of one that is no text is that of its class.

    Raises
    ------
    ValueError
        If the name is unknown, or "confidence" finds no method to build on.
    """
    names, options = [gain_score], {"loss": loss, "random_state": random_state}
    if isinstance(gain_score, str) and gain_score == "auto":
        methods = "predict_proba", "decision_function"
        has_confidence = any(hasattr(estimator, method) for method in methods)
        names = [CONFIDENCE] * has_confidence
        if n_samples >= _FEWEST_LEARNED or not has_confidence:
            names.append(ExpectedGain.name)
    elif isinstance(gain_score, str) and gain_score not in {
        *(CONFIDENCE, ExpectedGain.name),
        *(*_UNCERTAINTY_SCORES, *_NOVELTY_SCORES),
    }:
        raise ValueError(
            f"{name} must be 'auto', {CONFIDENCE!r}, {ExpectedGain.name!r}, one of "
            f"{get_score_names()}, {_CALLABLE}, got {gain_score!r}."
        )
    candidates = {}
    for given in names:
        if isinstance(given, str) and given == ExpectedGain.name:
            candidates[given] = with_defaults(ExpectedGain(), **options)
        elif isinstance(given, ExpectedGain):
            candidates["ExpectedGain"] = with_defaults(clone(given), **options)
        else:
            is_plain = isinstance(given, str) and given == CONFIDENCE
            known = "auto" if is_plain else given
            score = resolve_score(known, estimator, name=name, **options)
            called = given if isinstance(given, str) else type(score).__name__
            candidates[called] = score
    return candidates


def _find_plug_in(estimator, parameter):
    """Return the conditional risk or the margin, whichever an estimator has."""
    if hasattr(estimator, "predict_proba"):
        return ConditionalRisk()
    if hasattr(estimator, "decision_function"):
        return Margin()
    called = CONFIDENCE if parameter == "gain_score" else "auto"
    raise ValueError(
        f"{parameter}={called!r} needs a classifier with `predict_proba` or "
        f"`decision_function`, and {type(estimator).__name__} has neither. Pass "
        "'error_probability', or a callable (estimator, X) -> (n_samples,)."
    )


class AutomaticScore(PlugInScore):
    """The conditional risk, or the margin: which one shows on the fitted classifier.

    A stack, or a search, may have its methods only when it is fitted.
    """

    def __init__(self, loss=None, parameter="uncertainty_score"):
        self.loss = loss
        self.parameter = parameter

    @property
    def estimates_risk(self):
        """Whether the score, once it is fitted, estimates the conditional risk."""
        estimator = getattr(self, "estimator_", None)
        return estimator is not None and self._choose(estimator).estimates_risk

    def _choose(self, estimator):
        score = _find_plug_in(estimator, self.parameter)
        return score.set_params(loss=self.loss) if score.estimates_risk else score

    def _check(self, estimator):
        self._choose(estimator)._check(estimator)

    def compute(self, response: Response) -> np.ndarray:
        return self._choose(response.estimator).compute(response)


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
    >>> from sklearn_reject.scores import ConditionalRisk, UncertaintyNovelty
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GaussianNB().fit(X, y)
    >>> score = UncertaintyNovelty(ConditionalRisk()).fit(estimator=clf)
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.  , 0.15])
    """

    def __init__(self, uncertainty_score: PlugInScore) -> None:
        self.uncertainty_score = uncertainty_score

    def learn(self, response, y, sample_weight, X_ood):
        score = self.uncertainty_score
        if getattr(score, "learns", True):
            raise ValueError(
                f"novelty_score must be a novelty or a plug-in score, got {score!r}. "
                "Fit it on samples that are new to the classifier, and pass "
                "FrozenEstimator(score)."
            )
        self.uncertainty_score_ = clone(score).fit(estimator=response.estimator)

    def compute(self, response):
        # A novelty may be infinite, which an uncertainty must not.
        return self.uncertainty_score_.evaluate(response)[1]


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

    def learn(self, response, y, sample_weight, X_ood):
        check_is_fitted(self.score.estimator, "estimator_")

    def compute(self, response):
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
        y: Any = None,
        *,
        estimator: Estimator,
        **given: Any,
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

        **given : object
            What else :meth:`NoveltyScore.fit` takes.

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
        self.novelty_score_ = clone(score).fit(X, y, estimator=estimator, **given)
        self.estimator_ = estimator
        return self

    def compute(self, response: Response) -> np.ndarray:
        return self.novelty_score_.from_response(response)
