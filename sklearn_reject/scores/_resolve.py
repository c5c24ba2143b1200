"""From what a user gives as `uncertainty_score` to a score object."""

from sklearn.base import OutlierMixin, clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject.scores._plug_in import (
    CallableScore,
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
)
from sklearn_reject.scores.learned._boosting import SELEBoosting
from sklearn_reject.scores.learned._regression import (
    ErrorProbability,
    LossRegression,
    TrueClassProbability,
)
from sklearn_reject.scores.learned._sele import SELE
from sklearn_reject.scores.novelty._base import (
    CallableNovelty,
    FrozenNovelty,
    UncertaintyNovelty,
)
from sklearn_reject.scores.novelty._detectors import LikelihoodRatio, OutlierDetector
from sklearn_reject.scores.novelty._distances import KNN, Mahalanobis
from sklearn_reject.scores.novelty._logits import MSP, ODIN, Energy, MaxLogit, ReAct
from sklearn_reject.scores.novelty._subspace import SIRC, ViM

_SCORES = {
    "conditional_risk": ConditionalRisk,
    "entropy": Entropy,
    "error_probability": ErrorProbability,
    "loss_regression": LossRegression,
    "margin": Margin,
    "sele": SELE,
    "sele_boosting": SELEBoosting,
    "top_two_gap": TopTwoGap,
    "true_class_probability": TrueClassProbability,
}


def get_score_names():
    """Return the names that `uncertainty_score` accepts beside "auto".

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.scores import get_score_names
    >>> get_score_names()
    ['conditional_risk', 'entropy', 'error_probability', 'loss_regression', 'margin',
     'sele', 'sele_boosting', 'top_two_gap', 'true_class_probability']
    """
    return sorted(_SCORES)


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
        conditional risk where they have `predict_proba`, else the margin. A callable is
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
        If the name is unknown, "auto" finds no method to build on, or a frozen score is
        not fitted.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from sklearn_reject.scores import resolve_score
    >>> resolve_score("auto", LinearSVC())
    Margin()
    """
    score = _to_score(uncertainty_score, estimator, name)
    if isinstance(score, FrozenEstimator):
        check_is_fitted(score.estimator, "estimator_")
    parameters = score.get_params(deep=False)
    for key, value in {"loss": loss, "random_state": random_state}.items():
        if value is not None and parameters.get(key, value) is None:
            score.set_params(**{key: value})
    return score


def _to_score(uncertainty_score, estimator, parameter):
    if isinstance(uncertainty_score, str):
        return _named_score(uncertainty_score, estimator, parameter)
    if hasattr(uncertainty_score, "evaluate") and not isinstance(
        uncertainty_score, type
    ):
        return clone(uncertainty_score)
    if callable(uncertainty_score) and not isinstance(uncertainty_score, type):
        return CallableScore(uncertainty_score)
    raise ValueError(
        f"{parameter} must be 'auto', one of {get_score_names()}, a score object or a "
        f"callable (estimator, X) -> (n_samples,), got {uncertainty_score!r}."
    )


def _named_score(name, estimator, parameter):
    if name == "auto":
        return _automatic_score(estimator, parameter)
    if name not in _SCORES:
        raise ValueError(
            f"{parameter} must be 'auto', one of {get_score_names()}, a score object "
            f"or a callable, got {name!r}."
        )
    return _SCORES[name]()


def _automatic_score(estimator, parameter):
    if hasattr(estimator, "predict_proba"):
        return ConditionalRisk()
    if hasattr(estimator, "decision_function"):
        return Margin()
    if hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator):
        return LossRegression()
    raise ValueError(
        f"{parameter}='auto' needs a classifier with `predict_proba` or "
        f"`decision_function`, and {type(estimator).__name__} has neither. Pass a "
        "learned score such as 'error_probability', or a callable (estimator, X) -> "
        f"(n_samples,), as {parameter}."
    )


_NOVELTY_SCORES = {
    "energy": Energy,
    "knn": KNN,
    "likelihood_ratio": LikelihoodRatio,
    "mahalanobis": Mahalanobis,
    "max_logit": MaxLogit,
    "msp": MSP,
    "odin": ODIN,
    "outlier_detector": OutlierDetector,
    "react": ReAct,
    "sirc": SIRC,
    "vim": ViM,
}


def get_novelty_names():
    """Return the names that `novelty_score` accepts.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.scores import get_novelty_names
    >>> get_novelty_names()
    ['energy', 'knn', 'likelihood_ratio', 'mahalanobis', 'max_logit', 'msp', 'odin',
     'outlier_detector', 'react', 'sirc', 'vim']
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
    >>> from sklearn_reject.scores import Entropy, resolve_novelty
    >>> resolve_novelty("knn")
    KNN()
    >>> resolve_novelty(Entropy())
    UncertaintyNovelty(uncertainty_score=Entropy())
    """
    score = _to_novelty(novelty_score)
    parameters = score.get_params(deep=False)
    is_free = parameters.get("random_state", random_state) is None
    if random_state is not None and is_free:
        score.set_params(random_state=random_state)
    return score


def _to_novelty(novelty_score):
    if isinstance(novelty_score, str):
        return _named_novelty(novelty_score)
    score = None if isinstance(novelty_score, type) else novelty_score
    if isinstance(score, FrozenEstimator) and _is_score(score):
        return FrozenNovelty(score)
    if callable(getattr(score, "novelty", None)):
        return clone(score)
    if hasattr(score, "evaluate"):
        return UncertaintyNovelty(clone(score))
    if callable(score):
        return CallableNovelty(score)
    if isinstance(score, OutlierMixin) or hasattr(score, "score_samples"):
        raise ValueError(
            f"novelty_score={score!r} is no score but an outlier detector. Wrap it: "
            "OutlierDetector(detector)."
        )
    raise ValueError(
        f"novelty_score must be one of {get_novelty_names()}, a score object or a "
        f"callable (estimator, X) -> (n_samples,), got {novelty_score!r}."
    )


def _is_score(frozen):
    return callable(getattr(frozen, "novelty", None)) or hasattr(frozen, "evaluate")


def _named_novelty(name):
    if name not in _NOVELTY_SCORES:
        raise ValueError(
            f"novelty_score must be one of {get_novelty_names()}, a score object or a "
            f"callable, got {name!r}."
        )
    return _NOVELTY_SCORES[name]()
