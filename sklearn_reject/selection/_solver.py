"""What all solvers on arrays share: their checks, groups, and the order of scores."""

from dataclasses import replace
from functools import wraps
from inspect import signature

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._validation import check_samples, refuse_arrays, take_weight
from sklearn_reject.exceptions import InfeasibleTargetError, gather_warnings, warn_user
from sklearn_reject.selection._certify import check_confidence_level
from sklearn_reject.selection._grouped import REJECT_ALL, is_present, sum_up
from sklearn_reject.selection._groups import (
    enumerate_labels,
    enumerate_texts,
    make_partition,
    share_confidence,
    targets_by_group,
)
from sklearn_reject.selection._order import (
    IS_TOLD,
    warn_of_backward_gain,
    warn_of_backward_scores,
)
from sklearn_reject.selection._rule import check_draws

# What certifies the rule of a group is its own.
_OF_CONFIDENCE = ("confidence_level", "draws", "random_state")


def solver(solve):
    """Decorate a solver on arrays.

    It refuses arrays that NumPy would misread, solves a rule for each of `groups`, and
    warns of scores in the wrong order unless somebody else does.
    """
    names = list(signature(solve).parameters)
    is_deferral = names[0] == "gain"
    warn = warn_of_backward_gain if is_deferral else warn_of_backward_scores
    of_groups = "groups", "all_groups"
    of_order = [*names[: 3 if is_deferral else 2], "sample_weight"]

    @wraps(solve)
    def solved(*args, **kwargs):
        given = dict(zip(names, args, strict=False)) | kwargs
        refuse_arrays(given)
        token = IS_TOLD.set(True)
        try:
            if "target" in given and is_by_group(*map(given.get, of_groups)):
                rule = _solve_groups(solve, **given)
            else:
                rule = solve(*args, **kwargs)
        finally:
            IS_TOLD.reset(token)
        if not IS_TOLD.get():
            warn(*map(given.get, of_order), groups=given.get("groups"))
        return rule

    return solved


def is_by_group(groups, all_groups):
    """Tell whether each group gets a rule; raise for their names without samples'."""
    if groups is None and all_groups is not None:
        raise ValueError(
            "all_groups needs groups. Pass the group of each sample as groups."
        )
    return groups is not None


def _solve_groups(solve, scores, losses, target, groups, all_groups=None, **options):
    """Return the rule of each group of samples as one."""
    scores, losses, weight = check_samples(
        scores, losses, options.pop("sample_weight", None)
    )
    partition = make_partition(groups, len(scores), all_groups)
    targets = targets_by_group(target, partition.labels)
    certified = {k: options.pop(k) for k in _OF_CONFIDENCE if k in options}
    more = options_by_group(partition, len(scores), weight, **certified)

    def solve_one(label, rows):
        return solve(
            scores[rows],
            losses[rows],
            targets[label],
            sample_weight=take_weight(weight, rows),
            **options,
            **more(label, rows),
        )

    return solve_by_group(partition, solve_one, targets, weight)


def options_by_group(
    partition, n_samples, weight, confidence_level=None, draws=None, random_state=None
):
    """Return what certifies the rule of a group, as a function of label and rows."""
    if confidence_level is None:
        return lambda label, rows: {}
    level = share_confidence(
        check_confidence_level(confidence_level, weight), len(partition)
    )
    draws = None if draws is None else check_draws(draws, n_samples)
    # A group's own, so that it does not matter what those before it have drawn.
    limit = np.iinfo(np.int32).max
    seeds = check_random_state(random_state).randint(limit, size=len(partition))
    seeds = dict(zip(partition.labels, seeds.tolist(), strict=True))
    return lambda label, rows: {
        "confidence_level": level,
        "draws": None if draws is None else draws[rows],
        "random_state": seeds[label],
    }


def solve_by_group(partition, solve, targets, weight=None):
    """Return the rule of each group that `solve` finds for its label and its rows.

    A group without a rule that meets its target, or without a sample, is rejected, and
    named in one warning.
    """

    def reject(label, rows):
        coverage = 0.0 if is_present(rows, take_weight(weight, rows)) else np.nan
        return replace(REJECT_ALL, coverage=coverage, reject_cost=0.0)

    fate = "are rejected as a whole"
    rules = collect_rules(partition, solve, reject, targets, fate, weight)
    return sum_up(rules, partition, weight)


def collect_rules(partition, solve, give_up, targets, fate, weight=None):
    """Return the rule of each group, and say once what there is to say of several.

    `solve` finds it for the label and the rows; where it finds none, `give_up` does.
    `fate` is what such groups do.
    """
    rules, failures, remarks = {}, {}, {}
    for label, rows in partition:
        try:
            if not is_present(rows, take_weight(weight, rows)):
                raise InfeasibleTargetError("it has no calibration sample")
            with gather_warnings() as messages:
                rules[label] = solve(label, rows)
            for topic, (first, *_) in messages.items():
                remarks.setdefault(topic, {})[label] = first
        except InfeasibleTargetError as error:
            failures[label] = error
            rules[label] = give_up(label, rows)
    if failures:
        _report_failures(failures, targets, fate)
    for messages in remarks.values():
        _remark(messages)
    return rules


def _remark(messages):
    """Warn once of what is said of several groups, given as label to message."""
    (label, message), *others = messages.items()
    if others:
        others = enumerate_labels(label for label, _ in others)
        message = f"{message} The same applies to the groups {others}."
    warn_user(f"group {label!r}: {message}")


def _report_failures(failures, targets, fate):
    """Warn of groups without a rule that meets its target, or raise where none has."""
    texts = [f"{label!r}: {error.problem}" for label, error in failures.items()]
    texts = enumerate_texts(texts, "; ")
    if len(failures) == len(targets):
        raise InfeasibleTargetError(
            f"No group has a rule that meets its target. {texts}",
            "Use a larger risk (a dict sets a target for each group), fewer groups, as "
            "they share the confidence, a lower confidence, or more samples.",
            _attainable_by_group(failures, targets),
        )
    warn_user(
        f"{len(failures)} of {len(targets)} groups have no rule that meets the target, "
        f"and {fate}. {texts}. Add samples of these groups, or pass a dict with a "
        "target for each group."
    )


def _attainable_by_group(failures, targets):
    """Return what each group can meet, by parameter, or its target if nothing."""
    names = {name for error in failures.values() for name in error.attainable}
    return {
        name: {
            label: error.attainable.get(name, targets[label])
            for label, error in failures.items()
        }
        for name in names
    }
