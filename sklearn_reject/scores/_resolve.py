"""From the names, callables and objects that a user gives to score objects."""

from __future__ import annotations

from sklearn.base import OutlierMixin, clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._validation import check_takes
from sklearn_reject.losses import ZeroOneLoss
from sklearn_reject.scores._adapters import (
    CallableNovelty,
    FrozenNovelty,
    NoveltyUncertainty,
    UncertaintyNovelty,
)
from sklearn_reject.scores._detectors import LikelihoodRatio, OutlierDetector
from sklearn_reject.scores._gain import ExpectedGain
from sklearn_reject.scores._logits import GEN, MSP, ODIN, Energy, MaxLogit, ReAct
from sklearn_reject.scores._mahalanobis import Mahalanobis, RelativeMahalanobis
from sklearn_reject.scores._neighbors import KNN
from sklearn_reject.scores._plug_in import (
    AutomaticScore,
    CallableScore,
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
    _find,
    _refuse,
)
from sklearn_reject.scores._regression import (
    ErrorProbability,
    LossRegression,
    TrueClassProbability,
)
from sklearn_reject.scores._sele import SELE
from sklearn_reject.scores._subspace import SIRC, ViM

_UNCERTAINTY_SCORES = {
    score.name: score
    for score in (
        ConditionalRisk,
        Entropy,
        ErrorProbability,
        LossRegression,
        Margin,
        SELE,
        TopTwoGap,
        TrueClassProbability,
    )
}

_NOVELTY_SCORES = {
    score.name: score
    for score in (
        GEN,
        KNN,
        MSP,
        ODIN,
        SIRC,
        Energy,
        LikelihoodRatio,
        Mahalanobis,
        MaxLogit,
        OutlierDetector,
        ReAct,
        RelativeMahalanobis,
        ViM,
    )
}


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
    ['conditional_risk', 'entropy', 'error_probability', 'loss_regression', 'margin',
     'sele', 'top_two_gap', 'true_class_probability']
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
    if _is_novelty(uncertainty_score):
        novelty = resolve_novelty(uncertainty_score, random_state=random_state)
        return NoveltyUncertainty(novelty)
    score = _to_score(uncertainty_score, estimator, name)
    if isinstance(score, FrozenEstimator):
        check_is_fitted(score.estimator, "estimator_")
    elif getattr(score, "needs_expert", False):
        raise ValueError(
            f"{name}={uncertainty_score!r} learns from the labels of an expert and can "
            "only be the gain_score of a DeferringClassifier. Use 'error_probability', "
            "or fit the score with expert_labels and pass FrozenEstimator(score)."
        )
    return with_defaults(score, loss=loss, random_state=random_state)


def with_defaults(score, **given):
    """Set the parameters of a score that were left at None, and return it."""
    parameters = score.get_params(deep=False)
    for key, value in given.items():
        if value is not None and parameters.get(key, value) is None:
            score.set_params(**{key: value})
    return score


def is_score_name(name):
    """Tell whether a score of uncertainty or novelty is found by a name."""
    return name in _UNCERTAINTY_SCORES or name in _NOVELTY_SCORES


def _is_novelty(given):
    """Tell whether a name or an object stands for a novelty score."""
    if isinstance(given, str):
        return given in _NOVELTY_SCORES and given not in _UNCERTAINTY_SCORES
    return not isinstance(given, type) and callable(getattr(given, "novelty", None))


def _to_score(given, estimator, parameter):
    """Return the score that a name, a score object or a callable stands for."""
    if isinstance(given, str) and given == "auto":
        return automatic_score(estimator, parameter)
    if isinstance(given, str) and given == ExpectedGain.name:
        return ExpectedGain()
    if isinstance(given, str) and given in _UNCERTAINTY_SCORES:
        return _UNCERTAINTY_SCORES[given]()
    if hasattr(given, "evaluate") and not isinstance(given, type):
        return clone(given)
    if callable(given) and not isinstance(given, type):
        check_takes(given, parameter, "estimator", "X")
        return CallableScore(given)
    raise ValueError(
        f"{parameter} must be 'auto', one of {get_score_names()}, a novelty score such "
        f"as {get_novelty_names()}, a score object or a callable (estimator, X) -> "
        f"(n_samples,), got {given!r}."
    )


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


def _to_novelty(given):
    """Return the novelty score that a name, an object or a callable stands for."""
    if isinstance(given, str) and given in _NOVELTY_SCORES:
        return _NOVELTY_SCORES[given]()
    score = None if isinstance(given, (str, type)) else given
    has_novelty = callable(getattr(score, "novelty", None))
    if isinstance(score, FrozenEstimator) and (
        has_novelty or hasattr(score, "evaluate")
    ):
        return FrozenNovelty(score)
    if has_novelty:
        return clone(score)
    if hasattr(score, "evaluate"):
        return UncertaintyNovelty(clone(score))
    if callable(score):
        check_takes(score, "novelty_score", "estimator", "X")
        return CallableNovelty(score)
    if isinstance(score, OutlierMixin) or hasattr(score, "score_samples"):
        raise ValueError(
            f"novelty_score={score!r} is an outlier detector and not a score. Wrap it: "
            "OutlierDetector(detector)."
        )
    raise ValueError(
        f"novelty_score must be one of {get_novelty_names()}, a score object or a "
        f"callable (estimator, X) -> (n_samples,), got {given!r}."
    )


def automatic_score(estimator, parameter):
    """Return the score for an estimator, or one that will see when it is fitted."""
    score = _find(estimator)
    if score is None and hasattr(estimator, "__sklearn_tags__"):
        score = LossRegression() if is_regressor(estimator) else None
    if score is None and hasattr(estimator, "fit"):
        return AutomaticScore(parameter=parameter)
    return score or _refuse(estimator, parameter)


CONFIDENCE = "confidence"


def resolve_gain(
    gain_score, estimator, *, loss=None, random_state=None, name="gain_score"
):
    """Turn what a user gives as `gain_score` into candidates to choose from.

    Parameters
    ----------
    gain_score : str, score object or callable
        "auto" has three candidates: "confidence", which falls out where the fitted
        classifier has neither probabilities nor decision values; the learned loss of
        the classifier, "error_probability" for the 0/1 loss and "loss_regression" for
        others; and "gain". "confidence" is what "auto" is as an uncertainty score.
        Anything else is the one candidate, and is what it is as an uncertainty score.

    estimator : estimator
        The classifier that answers first, fitted or not.

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
    given = {"loss": loss, "random_state": random_state}
    if not _is_text(gain_score, "auto"):
        score = _resolve_one(gain_score, estimator, name, given)
        is_name = isinstance(gain_score, str)
        return {gain_score if is_name else type(score).__name__: score}
    learned = ErrorProbability if _is_zero_one(loss) else LossRegression
    names = CONFIDENCE, learned.name, ExpectedGain.name
    return {key: _resolve_one(key, estimator, name, given) for key in names}


def _resolve_one(gain_score, estimator, name, given):
    """Return the one score that something other than "auto" stands for."""
    if _is_text(gain_score, CONFIDENCE):
        gain_score = "auto"
    elif _is_text(gain_score, ExpectedGain.name):
        return with_defaults(ExpectedGain(), **given)
    elif isinstance(gain_score, ExpectedGain):
        return with_defaults(clone(gain_score), **given)
    elif isinstance(gain_score, str) and not is_score_name(gain_score):
        raise ValueError(
            f"{name} must be 'auto', {CONFIDENCE!r}, {ExpectedGain.name!r}, one of "
            f"{get_score_names()}, a score object or a callable (estimator, X) -> "
            f"(n_samples,), got {gain_score!r}."
        )
    return resolve_score(gain_score, estimator, name=name, **given)


def _is_zero_one(loss):
    return loss is None or type(loss) is ZeroOneLoss or _is_text(loss, "zero_one")


def _is_text(given, text):
    return isinstance(given, str) and given == text
