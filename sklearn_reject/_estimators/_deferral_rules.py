"""Whom a deferring classifier may ask, and the rule that meets what is asked of it."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sklearn_reject._estimators._calibration import draws_of
from sklearn_reject._estimators._groups import Groups
from sklearn_reject._estimators._rejection_models import bound_options
from sklearn_reject._estimators._targets import DeferralCost, MaxDeferral
from sklearn_reject._fitting._deferral import Opinions
from sklearn_reject._fitting._experts import asks_person, is_fixed
from sklearn_reject._validation import check_takes, take_weight
from sklearn_reject.exceptions import gather_warnings, warn_user
from sklearn_reject.losses import labels_or_none
from sklearn_reject.selection import enumerate_labels


def check_expert(expert):
    """Raise for what cannot be asked."""
    if expert is None:
        return
    if isinstance(expert, type) or not _can_be_asked(expert):
        raise ValueError(
            "expert must be a classifier, an object with `predict`, a callable X -> "
            f"labels, or None for a person, got {expert!r}."
        )
    if not hasattr(expert, "predict"):
        check_takes(expert, "expert", "X")
    if hasattr(expert, "__sklearn_tags__") and is_regressor(expert):
        raise ValueError(f"expert must be a classifier, got the regressor {expert!r}.")
    _check_last_step(expert)


def _can_be_asked(expert):
    if not hasattr(expert, "fit"):
        return hasattr(expert, "predict") or callable(expert)
    # Some classifiers have `predict` only when they are fitted.
    is_known = hasattr(expert, "__sklearn_tags__") and is_classifier(expert)
    return is_known or hasattr(expert, "predict")


def _check_last_step(expert):
    """Raise for what hides what a cascade leaves to a person, and what it pays."""
    last = expert
    while hasattr(last, "steps") or hasattr(last, "refit"):  # pipelines and searches
        last = last.steps[-1][1] if hasattr(last, "steps") else last.estimator
    if last is not expert and hasattr(last, "expert"):
        raise ValueError(
            f"expert is a {type(expert).__name__} around a DeferringClassifier, which "
            "hides what it defers to a person and what it pays for asking. Pass the "
            "DeferringClassifier itself as expert, with the other steps inside: "
            "DeferringClassifier(make_pipeline(..., estimator), ...), or the best "
            "estimator of a search."
        )


def check_expert_labels(expert, expert_labels, y):
    """Return the labels that are given for an expert as objects, or None."""
    if expert_labels is None:
        if asks_person(expert):
            raise ValueError(
                "expert_labels is required if the last expert is a person. Call fit(X, "
                "y, expert_labels=...) with the person's label of each sample, NaN or "
                "None where nobody was asked. If the second opinion is a model, pass "
                "it as expert. Cross-validation and searches pass the labels on if "
                "metadata routing is enabled and `set_fit_request(expert_labels=True)` "
                "was called."
            )
        return None
    if not (asks_person(expert) or is_fixed(expert)):
        raise ValueError(
            f"expert_labels were given, but the expert {expert!r} is fitted here, and "
            "its labels are predicted out of sample. Omit expert_labels, or pass the "
            "expert as a FrozenEstimator."
        )
    labels = labels_or_none(expert_labels, len(y), "expert_labels")
    if all(label is None for label in labels):
        raise ValueError(
            "expert_labels has no label at all, so nothing can be learned about the "
            "expert. Ask about a random part of the samples at least."
        )
    return labels


def refuse_labels(expert):
    """Raise for labels of an expert that is asked itself."""
    raise ValueError(
        f"expert_labels were given, but the expert {expert!r} is not a person and is "
        "asked here. Omit expert_labels."
    )


@dataclass(frozen=True, eq=False)
class DeferralCalibration(Opinions):
    """What a rule of deferral is solved on: opinions on samples not fitted on.

    Attributes
    ----------
    gain : ndarray of shape (n_calibration,)
        Score of what asking gains, higher = deferred first.

    predictions, expert_labels : ndarray of shape (n_calibration,)
        Labels by the first classifier, and by the expert: None where not asked.

    loss_first, loss_second : ndarray of shape (n_calibration,)
        Loss of each by the first classifier, and by the expert: NaN where the expert
        was not asked.

    cost_second : ndarray of shape (n_calibration,)
        What the expert has paid for asking others in turn.

    rows : ndarray of shape (n_calibration,)
        Which of the samples given to `fit` they are.

    sample_weight : ndarray of shape (n_calibration,) or None
        Their weights.

    draws : ndarray of shape (n_calibration,) or None
        Draws in [0, 1[ that break ties for a certificate; None where nothing can be
        certified.

    pilot : Opinions or None
        What was found out of fold of the samples fitted on, where others are held out:
        it tells which thresholds to test.

    groups : ndarray of shape (n_calibration,) or None
        Group of each, None without `group_by`.

    grouping : Groups or None
        The groups of all samples given to `fit`.
    """

    sample_weight: np.ndarray | None = None
    draws: np.ndarray | None = None
    pilot: Opinions | None = None
    groups: np.ndarray | None = None
    grouping: Groups | None = None

    @property
    def samples(self):
        """What every solver takes."""
        names = "gain", "loss_first", "loss_second", "sample_weight"
        return {name: getattr(self, name) for name in names}


def deferral_calibration_of(evaluated, samples, seed, groups):
    """Return what was evaluated out of sample as a :class:`DeferralCalibration`."""
    calibration = DeferralCalibration(
        **vars(evaluated.calibration),
        sample_weight=take_weight(samples.sample_weight, evaluated.rows),
        draws=draws_of(evaluated, samples, seed),
        pilot=evaluated.pilot,
        grouping=groups,
    )
    return calibration if groups is None else groups.add_to(calibration)


def warn_of_useless_expert(rule):
    """Warn of an expert who is no better than the first, wherever it is asked."""
    # Nobody is missed where the first makes no error.
    if not min(rule.second_risk, rule.system_risk) >= rule.first_risk > 0:
        return
    what, way_out = "Nothing is deferred", ""
    where = (
        ", and for no part that the gain score selects does asking reduce the loss by "
        "more than its cost"
    )
    if rule.deferral_rate > 0:
        what = f"Deferring {rule.deferral_rate:.3g} of the samples saves nothing"
        where, way_out = "", "a smaller max_deferral, "
    warn_user(
        f"{what}: on the calibration set the expert has risk {rule.second_risk:.3g} "
        f"and the first classifier {rule.first_risk:.3g}{where}. Use another expert, "
        f"{way_out}or more samples to learn where this one is better.",
        once=True,
    )


def warn_of_unknown_labels(calibration, classes):
    """Warn where the expert says what is no class, which counts as a wrong label."""
    known = {*classes.tolist(), None}
    unknown = [label for label in calibration.expert_labels if label not in known]
    if unknown:
        warn_user(
            f"The expert returned {enumerate_labels(dict.fromkeys(unknown))} about "
            f"{len(unknown)} of {len(calibration.gain)} samples, which is not a class "
            "and counts as a wrong label. An expert that rejects samples itself needs "
            "reject_label=None. An expert that defers to a person must be a "
            "DeferringClassifier with expert=None. Use None for labels that a person "
            "does not know.",
            once=True,
        )


def solve_deferral_rule(estimator, problem, calibration):
    """Return the attribute that the rule of a problem is kept in."""
    target, groups, level = problem.target, problem.groups, estimator.confidence_level
    options = {"randomize": estimator.randomize}
    options |= bound_options(problem, level, calibration.draws)
    if groups is not None:
        options |= {"groups": calibration.groups, "all_groups": groups.known}
    if level is not None:
        options["pilot"] = _pilot_of(calibration, groups)
    if isinstance(target, DeferralCost):
        rule = _solve_cost(target, calibration, options)
    else:
        rule = target.solve(calibration.samples, options)
    # A bound on the risk, or on the share, may be why nothing is deferred.
    if isinstance(target, DeferralCost) or (
        isinstance(target, MaxDeferral)
        and rule.certificate is None
        and max(target.values) > 0
    ):
        warn_of_useless_expert(rule)
    return {"rule_": rule}


def _pilot_of(calibration, groups):
    """Return the opinions that tell which thresholds to test, None without any."""
    pilot = calibration.pilot
    if pilot is None:
        return None
    arrays = pilot.gain, pilot.loss_first, pilot.loss_second
    if groups is None:
        return arrays
    return *arrays, groups.of_rows(pilot.predictions, pilot.rows)


def _solve_cost(target, calibration, options):
    """Return the rule of least cost, that of what the expert asks in turn included.

    A learned gain could be compared with the cost as it is. On six real sets, with four
    draws and four costs, the best cut saves as much with 100 samples, and more with
    1,000: .0039 of the loss of the better opinion alone, instead of .0022.
    """
    samples = calibration.samples
    paid = dict(samples, loss_second=samples["loss_second"] + calibration.cost_second)
    rule = target.solve(paid, options)
    groups = {"groups": options["groups"]} if "groups" in options else {}
    with gather_warnings():  # of what the solver has said
        return rule.measure(**samples, **groups)
