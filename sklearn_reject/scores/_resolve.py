"""From what a user gives as `uncertainty_score` to a score object."""

from sklearn.base import clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject.scores._callable import CallableScore
from sklearn_reject.scores._error_probability import ErrorProbability
from sklearn_reject.scores._plug_in import (
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
)
from sklearn_reject.scores._regression import LossRegression, TrueClassProbability
from sklearn_reject.scores._sele import SELE
from sklearn_reject.scores._sele_boosting import SELEBoosting

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
    if hasattr(uncertainty_score, "judge") and not isinstance(uncertainty_score, type):
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
