"""From the names, callables and objects that order samples for a second opinion."""

from sklearn.base import clone

from sklearn_reject.losses import ZeroOneLoss
from sklearn_reject.scores._resolve import (
    get_score_names,
    is_score_name,
    resolve_score,
    with_defaults,
)
from sklearn_reject.scores.learned import ErrorProbability, ExpectedGain, LossRegression

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
