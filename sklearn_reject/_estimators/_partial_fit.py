"""Rules that follow new samples: a summary of those so far, of a frozen estimator."""

from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._rejection_models import refuse_rows
from sklearn_reject._validation import take_weight
from sklearn_reject.selection import RiskCoverageSummary


def is_frozen(estimator):
    """Tell `available_if` whether only the rule has to follow new samples."""
    if isinstance(estimator.estimator, FrozenEstimator):
        return True
    raise AttributeError(
        f"{type(estimator).__name__} has partial_fit only for a fitted estimator: wrap "
        "it in FrozenEstimator. Otherwise the samples would not be out of sample."
    )


def summary_so_far(estimator):
    """Return what is known of the samples of earlier calls, or of a `fit`."""
    if not hasattr(estimator, "summary_"):
        return RiskCoverageSummary()
    is_other = estimator.estimator_ is not estimator.estimator
    if is_other or made_of(estimator) != estimator._summarized:
        raise ValueError(
            "The samples so far were evaluated with another estimator, "
            "uncertainty_score or loss. Call fit, which starts again, or use a clone."
        )
    if estimator.summary_ is not None:
        return estimator.summary_
    summary = RiskCoverageSummary()
    if estimator.calibration_ is None:
        return summary
    return summary.update(*estimator.calibration_.samples.values())


def made_of(estimator):
    """Return what scores and losses depend on beside the classifier, as text."""
    return f"{estimator.uncertainty_score!r}, {estimator.loss!r}"


def check_partial_fit(estimator, target, evaluation):
    """Raise for what cannot be solved on a summary."""
    refuse_rows(estimator, target)
    if evaluation.learns:
        raise ValueError(
            "partial_fit does not support a learned uncertainty_score, got "
            f"{estimator.uncertainty_score!r}, because new samples would change the "
            "scores of earlier ones. Fit the score first, and wrap the fitted score in "
            "FrozenEstimator."
        )


def add_samples(estimator, summary, evaluated, weight):
    """Return the summary with new samples, and keep it whatever comes after."""
    weight = take_weight(weight, evaluated.rows)
    new = RiskCoverageSummary().update(evaluated.scores, evaluated.losses, weight)
    estimator.summary_ = summary.merge(new)
    estimator.estimator_ = evaluated.estimator
    estimator._summarized = made_of(estimator)
    return estimator.summary_
