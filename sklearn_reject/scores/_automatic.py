"""The score that "auto" stands for, which follows from the methods of a classifier."""

from sklearn.base import is_regressor

from sklearn_reject.scores._plug_in import ConditionalRisk, Margin, PlugInScore
from sklearn_reject.scores.learned import LossRegression


def automatic_score(estimator, parameter):
    """Return the score for an estimator, or one that will see when it is fitted."""
    score = _find(estimator)
    if score is None and hasattr(estimator, "__sklearn_tags__"):
        score = LossRegression() if is_regressor(estimator) else None
    if score is None and hasattr(estimator, "fit"):
        return AutomaticScore(parameter=parameter)
    return score or _refuse(estimator, parameter)


def _find(estimator):
    if hasattr(estimator, "predict_proba"):
        return ConditionalRisk()
    return Margin() if hasattr(estimator, "decision_function") else None


# What a parameter calls the score, where that is not "auto".
_CALLED = {"gain_score": "confidence"}


def _refuse(estimator, parameter):
    raise ValueError(
        f"{parameter}={_CALLED.get(parameter, 'auto')!r} needs a classifier with "
        f"`predict_proba` or `decision_function`, and {type(estimator).__name__} has "
        "neither. Pass a learned score such as 'error_probability', or a callable "
        f"(estimator, X) -> (n_samples,), as {parameter}."
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
        score = _find(estimator) or _refuse(estimator, self.parameter)
        return score.set_params(loss=self.loss) if score.estimates_risk else score

    def _check(self, estimator):
        self._choose(estimator)._check(estimator)

    def _uncertainty(self, response):
        return self._choose(response.estimator)._uncertainty(response)
