"""From the names, callables and objects that a user gives to score objects."""

from __future__ import annotations

from sklearn.base import OutlierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._typing import Decorated
from sklearn_reject._validation import check_takes
from sklearn_reject.scores._automatic import automatic_score
from sklearn_reject.scores._base import UncertaintyScore
from sklearn_reject.scores._plug_in import (
    CallableScore,
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
)
from sklearn_reject.scores.learned import (
    SELE,
    ErrorProbability,
    ExpectedGain,
    LossRegression,
    SELEBoosting,
    TrueClassProbability,
)
from sklearn_reject.scores.novelty import (
    GEN,
    KNN,
    MSP,
    ODIN,
    SIRC,
    CallableNovelty,
    Energy,
    FrozenNovelty,
    LikelihoodRatio,
    Mahalanobis,
    MaxLogit,
    NoveltyScore,
    NoveltyUncertainty,
    OutlierDetector,
    ReAct,
    RelativeMahalanobis,
    UncertaintyNovelty,
    ViM,
)

_UNCERTAINTY_SCORES = {
    score.name: score
    for score in (
        ConditionalRisk,
        Entropy,
        ErrorProbability,
        LossRegression,
        Margin,
        SELE,
        SELEBoosting,
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


# What `uncertainty_score` or `gain_score` calls something that is in neither table.
_RESERVED = ("auto", "confidence", ExpectedGain.name)


def register_score(score: Decorated) -> Decorated:
    """Register a score class under its name.

    From then on `uncertainty_score` or `novelty_score` take the name, in this process:
    one that loads a pickled estimator has to import the class, too.

    Parameters
    ----------
    score : type
        Subclass of :class:`UncertaintyScore` or :class:`NoveltyScore` with a class
        attribute `name`, that can be made without arguments.

    Returns
    -------
    score : type
        The same, so that this serves as a decorator.

    Raises
    ------
    ValueError
        If it is no such class, has no name, or the name is that of another score.

    Examples
    --------
    >>> from sklearn_reject.scores import Entropy, register_score, resolve_score
    >>> register_score(Entropy)  # known already, which does no harm
    <class 'sklearn_reject.scores._plug_in.Entropy'>
    >>> resolve_score(Entropy.name, None)
    Entropy()
    """
    known = _find_table(score)
    name = score.name
    if not isinstance(name, str) or not name:
        raise ValueError(
            f"{score.__name__} must have a class attribute `name`, the name to use it "
            f"by, got {name!r}."
        )
    if name in _RESERVED or known.get(name, score) is not score:
        raise ValueError(
            f"The name {name!r} of {score.__name__} is taken. Choose a name that is "
            f"neither in {list(_RESERVED)} nor in {sorted(known)}."
        )
    known[name] = score
    return score


def _find_table(score):
    """Return the names of the kind of a score class."""
    if isinstance(score, type) and issubclass(score, UncertaintyScore):
        return _UNCERTAINTY_SCORES
    if isinstance(score, type) and issubclass(score, NoveltyScore):
        return _NOVELTY_SCORES
    raise ValueError(
        "score must be a subclass of PlugInScore, LearnedScore or NoveltyScore, got "
        f"{score!r}."
    )


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
     'sele', 'sele_boosting', 'top_two_gap', 'true_class_probability']
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
