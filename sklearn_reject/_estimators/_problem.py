"""What a rule is solved for, and the rule of a fitted estimator for something else."""

from dataclasses import dataclass, replace

from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._base import store_fitted
from sklearn_reject._estimators._calibration import brief, warn_of_coarse_scores
from sklearn_reject._estimators._groups import (
    Groups,
    check_group_targets,
    groups_of_retarget,
)
from sklearn_reject._estimators._retarget import (
    check_target_names,
    copy_fitted,
    require_fit,
)
from sklearn_reject._estimators._targets import (
    Target,
    check_max_loss,
    find_target,
    warn_if_vacuous,
)
from sklearn_reject._fitting._experts import is_fixed
from sklearn_reject._fitting._folds import learns_from_samples
from sklearn_reject._fitting._routing import refuse_weights
from sklearn_reject._fitting._splits import cv_of, is_share
from sklearn_reject._validation import check_option
from sklearn_reject.selection import check_confidence_level

# What a rule depends on beside its target.
_OF_ANY = ("group_by", "confidence_level", "max_loss", "randomize")


@dataclass(frozen=True, eq=False)
class Problem:
    """What a rule is solved for: a target, for each of the groups if there are some.

    `score` orders the samples, and `seed` is that of decisions about them.
    """

    target: Target
    groups: Groups | None
    loss: object
    score: object
    seed: int
    max_loss: float | None = None

    def posed_by(self, estimator, weight, classes):
        """Return the problem as an estimator poses it, or raise if it has no solution.

        `weight` are the weights of its samples, and `classes` those of a classifier.
        """
        check_group_targets(self.target, self.groups)
        target = self.target.prepare(classes, self.loss)
        max_loss = check_max_loss(estimator, target, self.loss)
        _check_guarantee(estimator, target, self.score, weight)
        warn_if_vacuous(target, max_loss)
        return replace(self, target=target, max_loss=max_loss)


def solve_and_store(estimator, problem, evaluated, samples, calibration, **attributes):
    """Solve a problem, and set what a successful fit has found."""
    solved = estimator._solve(problem, calibration)
    store_fitted(
        estimator,
        evaluated.estimator,
        loss_=problem.loss,
        calibration_=calibration,
        group_by_=estimator.group_by,
        seed_=problem.seed,
        **attributes,
        **solved,
    )
    share, verb = getattr(solved["rule_"], estimator._share_name), estimator._verb
    X, weight = samples.X, samples.sample_weight
    warn_of_coarse_scores(estimator, evaluated, X, weight, share, verb)
    return estimator


def _check_guarantee(estimator, target, score, weight):
    """Raise where a confidence is asked for that nothing can be certified with.

    Or a bound that holds on average, which weights have no part in.
    """
    level = estimator.confidence_level
    if level is None:
        if target.holds_on_average:
            refuse_weights(weight, f"a {target.name}")
        return
    check_confidence_level(level)
    if not target.can_be_certified:
        raise ValueError(
            f"confidence_level={level!r} needs {target.promises} to guarantee. A "
            f"{target.name} has no bound."
        )
    refuse_weights(weight)
    is_frozen = isinstance(estimator.estimator, FrozenEstimator)
    is_frozen &= is_fixed(getattr(estimator, "expert", None))
    is_fresh = is_frozen and not learns_from_samples(score)
    if not is_fresh and not is_share(cv_of(estimator)):
        raise ValueError(
            f"confidence_level={level!r} needs samples on which neither {target.parts} "
            f"was fitted, and cv={brief(estimator.cv)} leaves none. Set cv=None, which "
            "holds half of the samples out, or a share such as cv=0.3, or "
            f"{target.way_out}."
        )


def retarget(estimator, changes):
    """Return a copy of a fitted estimator whose rule is solved for another target."""
    require_fit(estimator)
    names = estimator._targets.keys()
    check_target_names(changes, (*names, *_OF_ANY))
    if changes.keys() & names:
        changes = {**dict.fromkeys(names), **changes}
    other = copy_fitted(estimator, changes)
    check_option(other.randomize, "randomize", (True, False))
    groups = groups_of_retarget(estimator, changes, other)
    calibration = other.calibration_
    if groups is not None:
        calibration = groups.add_to(calibration)
    score = getattr(other, other._score_name)
    problem = Problem(find_target(other), groups, other.loss_, score, other.seed_)
    weight = getattr(calibration, "sample_weight", None)
    problem = problem.posed_by(other, weight, getattr(other, "classes_", None))
    level = other.confidence_level
    if level is not None and getattr(calibration, "draws", "") is None:
        raise ValueError(
            f"confidence_level={level!r} needs a random part of the samples, held out, "
            "but this fit held out none, or one drawn class by class. Call fit with a "
            "confidence_level."
        )
    other.calibration_ = calibration
    other.group_by_ = other.group_by if groups is None else groups.group_by
    vars(other).update(other._solve(problem, calibration))
    return other
