"""What a rule is solved for, and the rule of a fitted estimator for something else."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._calibration import brief, warn_of_coarse_scores
from sklearn_reject._estimators._groups import (
    Groups,
    check_group_targets,
    groups_of_retarget,
)
from sklearn_reject._estimators._targets import Target, find_target
from sklearn_reject._fitting._experts import is_fixed
from sklearn_reject._fitting._folds import Samples, learns_from_samples
from sklearn_reject._fitting._routing import refuse_weights
from sklearn_reject._fitting._splits import cv_of, is_share
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import CostMatrixLoss, ZeroOneLoss
from sklearn_reject.selection import check_confidence_level, shares_of

# What a rule depends on beside its target.
_OF_ANY = ("group_by", "confidence_level", "max_loss", "max_weight", "randomize")


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

    def posed_by(self, estimator, samples, classes):
        """Return the problem as an estimator poses it, or raise if it has no solution.

        `weight` are the weights of its samples, and `classes` those of a classifier.
        """
        check_group_targets(self.target, self.groups)
        target = self.target.prepare(classes, self.loss)
        largest = _check_max_loss(estimator, target, self.loss)
        _check_guarantee(estimator, target, self.score, samples)
        if largest and target.vacuous is not None and min(target.values) >= largest:
            warn_user(
                f"{target} is not below the largest loss, {largest:g}: "
                f"{target.vacuous}. Pass a smaller value, in units of the loss."
            )
        return replace(self, target=target, max_loss=largest)

    def options(self, confidence_level, calibration, estimator):
        """Return what a solver needs to know to draw, certify or promise on average."""
        target, options = self.target, {"randomize": estimator.randomize}
        if confidence_level is not None:
            options |= {"confidence_level": confidence_level}
            options["draws"] = calibration.draws
            options["random_state"] = self.seed  # of the order of bets
        is_bounded = target.bounds_losses and confidence_level is not None
        if is_bounded or target.holds_on_average:
            options |= bound_of_losses(self.loss, self.max_loss)
        if target.takes_units:
            sampling = calibration.sample_weight, calibration.clusters
            if "bound" in options and any(each is not None for each in sampling):
                options["bound"] = "betting"
            options["clusters"] = calibration.clusters
            options["max_weight"] = estimator.max_weight
        return options


def bound_of_losses(loss, max_loss, general="betting"):
    """Return how to bound a risk, given the largest loss that is possible.

    It is `general` where some loss may be neither zero nor the largest.
    """
    values = (0.0, 1.0) if type(loss) is ZeroOneLoss else None
    if type(loss) is CostMatrixLoss:
        values = loss.costs
    is_binary = values is not None and np.isin(values, (0.0, max_loss)).all()
    return {"bound": "binomial" if is_binary else general, "max_loss": max_loss or 1.0}


def solve_and_store(estimator, problem, evaluated, samples, calibration, **attributes):
    """Solve a problem, and set what a successful fit has found."""
    solved = estimator._solve(problem, calibration)
    estimator._store(
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


def _check_max_loss(estimator, target, loss):
    """Return the largest loss that is possible, None where it need not be known."""
    if estimator.max_loss is not None:
        largest = check_number(estimator.max_loss, "max_loss", open_low=True)
        if loss.max_loss is not None and loss.max_loss > largest:
            raise ValueError(
                f"max_loss={estimator.max_loss!r} is below {loss.max_loss:g}, which "
                "the loss can reach. Set it to None, or pass at least this value."
            )
        return largest
    is_certified = estimator.confidence_level is not None and target.bounds_losses
    if loss.max_loss is None and (is_certified or target.holds_on_average):
        verb = "certify" if is_certified else "promise"
        raise ValueError(
            f"max_loss is needed to {verb} a {target.name} with {loss!r}. Pass the "
            "largest possible loss, in units of the loss. Labels that are not in y may "
            "cost more than those that are."
        )
    return loss.max_loss


def _check_guarantee(estimator, target, score, samples):
    """Raise where a confidence is asked for that nothing can be certified with.

    Or a bound that holds on average, which not every target has for weights.
    """
    level = estimator.confidence_level
    what = f"a {target.name}" if level is None else "confidence_level"
    weight, clusters = samples.sample_weight, samples.clusters
    if level is not None or target.holds_on_average:
        if not target.takes_units:
            refuse_weights(weight, what, clusters)
        elif weight is not None:
            shares_of(weight, estimator.max_weight, what)
    if level is None:
        return
    check_confidence_level(level)
    if not target.can_be_certified:
        raise ValueError(
            f"confidence_level={level!r} needs {target.promises} to guarantee. A "
            f"{target.name} has no bound."
        )
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
    names = estimator._targets.keys()
    if changes.keys() & names:
        changes = {**dict.fromkeys(names), **changes}
    other = estimator._copy_fitted(changes, (*names, *_OF_ANY))
    check_option(other.randomize, "randomize", (True, False))
    groups = groups_of_retarget(estimator, other)
    calibration = other.calibration_
    if groups is not None:
        calibration = groups.add_to(calibration)
    score = getattr(other, other._score_name)
    problem = Problem(find_target(other), groups, other.loss_, score, other.seed_)
    samples = Samples(None, None) if calibration is None else calibration
    problem = problem.posed_by(other, samples, getattr(other, "classes_", None))
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
