"""Whom a deferring classifier may ask, and the rule that meets what is asked of it."""

from dataclasses import replace

from sklearn.base import is_classifier, is_regressor

from sklearn_reject._estimators._calibration import draws_of
from sklearn_reject._estimators._targets import DeferralCost, MaxDeferral
from sklearn_reject._fitting._experts import asks_person, is_fixed, read_labels
from sklearn_reject._validation import check_takes, take_weight
from sklearn_reject.exceptions import gather_warnings, warn_user
from sklearn_reject.selection import enumerate_labels


def check_expert(expert):
    """Raise for what cannot be asked, or hides what a cascade leaves to a person."""
    if expert is None:
        return
    has_tags, can_fit = hasattr(expert, "__sklearn_tags__"), hasattr(expert, "fit")
    can_be_asked = hasattr(expert, "predict") or (callable(expert) and not can_fit)
    if has_tags and not isinstance(expert, type):
        # Some classifiers have `predict` only when they are fitted.
        can_be_asked = not is_regressor(expert) and (
            can_be_asked or is_classifier(expert)
        )
    if isinstance(expert, type) or not can_be_asked:
        raise ValueError(
            "expert must be a classifier, an object with `predict`, a callable X -> "
            f"labels, or None for a person, got {expert!r}."
        )
    if not (can_fit or hasattr(expert, "predict")):
        check_takes(expert, "expert", "X")
    last = expert
    while hasattr(last, "steps") or hasattr(last, "refit"):  # pipelines and searches
        last = last.steps[-1][1] if hasattr(last, "steps") else last.estimator
    if last is not expert and hasattr(last, "expert"):
        raise ValueError(
            f"expert is a {type(expert).__name__} around a DeferringClassifier, which "
            "hides what that defers to a person and pays. Pass the DeferringClassifier "
            "itself, with the other steps inside, or the best estimator of a search."
        )


def check_expert_labels(expert, expert_labels, y, classes):
    """Return the labels that are given for an expert as objects, or None."""
    if expert_labels is None:
        if asks_person(expert):
            raise ValueError(
                "expert_labels is required if the last expert is a person: the label "
                "of each sample, NaN or None where nobody was asked. With metadata "
                "routing, call `set_fit_request(expert_labels=True)`."
            )
        return None
    if not (asks_person(expert) or is_fixed(expert)):
        raise ValueError(
            f"expert_labels were given, but the expert {expert!r} is fitted here and "
            "predicts them. Omit expert_labels, or pass the expert as a "
            "FrozenEstimator."
        )
    labels = read_labels(expert_labels, len(y), classes)
    if all(label is None for label in labels):
        raise ValueError(
            "expert_labels has no label at all, so nothing can be learned about the "
            "expert. Ask about a random part of the samples at least."
        )
    return labels


def deferral_calibration_of(evaluated, samples, seed, groups):
    """Return what was evaluated with weights, draws and groups of its samples."""
    calibration = replace(
        evaluated.calibration,
        sample_weight=take_weight(samples.sample_weight, evaluated.rows),
        draws=draws_of(evaluated, samples, seed),
        grouping=groups,
    )
    return calibration if groups is None else groups.add_to(calibration)


def warn_of_useless_expert(rule):
    """Warn of an expert who is no better than the first, wherever it is asked."""
    # Nobody is missed where the first makes no error.
    if not min(rule.second_risk, rule.system_risk) >= rule.first_risk > 0:
        return
    what, way_out = (
        "Nothing is deferred, as no part of high gain is worth the cost of asking",
        "",
    )
    if rule.deferral_rate > 0:
        what = f"Deferring {rule.deferral_rate:.3g} of the samples saves nothing"
        way_out = "a smaller max_deferral, "
    warn_user(
        f"{what}: on the calibration set the expert has risk {rule.second_risk:.3g} "
        f"and the first classifier {rule.first_risk:.3g}. Use another expert, {way_out}"
        "or more samples to learn where this one is better.",
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
            "and counts as a wrong label. Use None for labels that a person does not "
            "know, and reject_label=None for an expert that rejects samples itself.",
            once=True,
        )


def solve_deferral_rule(estimator, problem, calibration):
    """Return the attribute that the rule of a problem is kept in."""
    target, groups, level = problem.target, problem.groups, estimator.confidence_level
    options = problem.options(level, calibration.draws, estimator.randomize)
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
