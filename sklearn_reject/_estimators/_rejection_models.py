"""The three rejection models of selective estimators: targets and their rules."""

from dataclasses import dataclass

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._fitting import is_share, learns, refuse_weights
from sklearn_reject._response import row_keys
from sklearn_reject._validation import check_number, take_weight
from sklearn_reject.scores import resolve_score
from sklearn_reject.selection import (
    check_confidence,
    chow_rule,
    keyed_draws,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)

_TARGETS = ("reject_cost", "target_risk", "target_coverage")


@dataclass(frozen=True)
class Target:
    """What is asked for: the name of a parameter, and its value."""

    name: str
    value: float


def find_target(estimator, default):
    """Return the one target that is given, or a default reject cost."""
    given = [name for name in _TARGETS if getattr(estimator, name) is not None]
    if len(given) > 1:
        values = ", ".join(f"{name}={getattr(estimator, name)!r}" for name in given)
        raise ValueError(
            f"At most one of reject_cost, target_risk and target_coverage may be "
            f"given, got {values}. Keep the one that matters and leave the others "
            "at None."
        )
    if not given and default is None:
        raise ValueError(
            "One of reject_cost, target_risk and target_coverage must be given: in the "
            "units of a regression no default fits all."
        )
    name = given[0] if given else "reject_cost"
    value = getattr(estimator, name) if given else default
    is_coverage = name == "target_coverage"
    high = 1.0 if is_coverage else np.inf
    return Target(name, check_number(value, name, high=high, open_low=is_coverage))


def is_comparable(target, given, score):
    """Tell whether a score is in units of the reject cost already, as Chow's rule asks.

    `given` is the score as the user gave it. One with a loss of its own only orders the
    samples, and a frozen one may have been learned for another loss.
    """
    if isinstance(score, FrozenEstimator):
        return False
    inherits_loss = getattr(given, "loss", None) is None
    estimates_risk = getattr(score, "estimates_risk", False)
    return target.name == "reject_cost" and estimates_risk and inherits_loss


def check_guarantee(estimator, target, score, weight):
    """Raise where a confidence is asked for that nothing can be certified with."""
    confidence = estimator.confidence
    if confidence is None:
        return
    check_confidence(confidence)
    if target.name == "reject_cost":
        raise ValueError(
            f"confidence={confidence!r} needs a target_risk or a "
            "target_coverage to guarantee; a reject_cost has no bound to hold."
        )
    refuse_weights(weight)
    is_frozen = isinstance(estimator.estimator, FrozenEstimator)
    is_fresh = is_frozen and not learns(score)
    if not is_fresh and not is_share(estimator.cv):
        raise ValueError(
            f"confidence={confidence!r} needs samples on which neither the "
            "estimator nor the uncertainty score was fitted, and "
            f"cv={_brief(estimator.cv)} keeps none. Hold a share out, for example with "
            "cv=0.3, or freeze what was fitted on other samples with "
            "FrozenEstimator."
        )


def _brief(value):
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def bound_of_losses(loss, classes, general):
    """Return how to bound a risk, given all losses that are possible.

    It is `general` where some loss is neither zero nor the largest.
    """
    losses = loss.matrix(classes)
    largest = losses.max()
    is_binary = np.isin(losses, (0.0, largest)).all()
    return {"bound": "binomial" if is_binary else general, "max_loss": largest or 1.0}


def solve_rule(estimator, target, evaluated, X, weight, *, is_chow, seed, bound):
    """Return the rule that meets a target on the calibration set.

    `bound` returns the options of a guarantee on the risk, where one is asked for. Its
    ties are broken by the draws that the fitted estimator will make for the same rows.
    """
    if evaluated.scores is None:
        return chow_rule(target.value)
    samples = {
        "scores": evaluated.scores,
        "losses": evaluated.losses,
        "sample_weight": take_weight(weight, evaluated.rows),
    }
    if is_chow:
        return chow_rule(target.value).measure(**samples)
    if target.name == "reject_cost":
        return solve_reject_cost(target=target.value, **samples)
    options = {"randomize": estimator.randomize}
    if estimator.confidence is not None:
        options["confidence"] = estimator.confidence
        options["draws"] = keyed_draws(seed, row_keys(X, evaluated.rows))
        options["random_state"] = seed  # of the order of bets
    if target.name == "target_coverage":
        return solve_target_coverage(target=target.value, **samples, **options)
    if estimator.confidence is not None:
        options |= bound()
    return solve_target_risk(target=target.value, **samples, **options)


def takes_sparse(score, estimator, resolve=resolve_score):
    """Tell whether a score, as the user gave it, works on sparse samples."""
    try:
        score = resolve(score, estimator)
    except (TypeError, ValueError):  # `fit` will say what is wrong with it
        return True
    return getattr(score, "takes_sparse", True)
