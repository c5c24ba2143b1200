"""Solving a rule for each group, and what is said where a group has none."""

from dataclasses import replace
from functools import wraps

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._curves._deferral import check_deferral_samples
from sklearn_reject._validation import (
    check_same_length,
    check_sample_weight,
    check_samples,
    check_vector,
    take_weight,
)
from sklearn_reject.exceptions import InfeasibleTargetError, gather_warnings, warn_user
from sklearn_reject.selection._certify import check_confidence_level
from sklearn_reject.selection._grouped import REJECT_ALL, is_present, sum_up
from sklearn_reject.selection._grouped_deferral import (
    DEFER_ALL,
    GroupedDeferralRule,
    measure_quietly,
    unmeasured_deferral,
)
from sklearn_reject.selection._partition import (
    as_labels,
    encode_labels,
    enumerate_labels,
    enumerate_texts,
    make_partition,
    share_confidence,
    targets_by_group,
)
from sklearn_reject.selection._rule import check_draws

# What certifies the rule of a group is its own.
_OF_CONFIDENCE = ("confidence_level", "draws", "random_state")


def is_by_group(groups, all_groups):
    """Tell whether each group gets a rule; raise for their names without samples'."""
    if groups is None and all_groups is not None:
        raise ValueError(
            "all_groups needs groups. Pass the group of each sample as groups."
        )
    return groups is not None


def by_group(solve):
    """Decorate a solver of one rule, so that it solves one for each of `groups`."""

    @wraps(solve)
    def solved(scores, losses, target, *, groups=None, all_groups=None, **options):
        if not is_by_group(groups, all_groups):
            return solve(scores, losses, target, **options)
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

    return solved


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


_FATE = (
    "use the rule of the lowest system risk, or defer everything if nothing is known"
)


def solve_deferral_by_group(
    solve, samples, target, groups, all_groups, sample_weight, pilot=None, **certified
):
    """Return the deferral rules that a solver finds for the samples of each group.

    `samples` are gain and losses, `target` is its name and value. Where there is no
    rule that meets it, the one of least risk is used. `certified` are
    `confidence_level`, `draws` and `random_state`.
    """
    gain, first, second, is_known = _read(*samples, sample_weight)
    weight = check_sample_weight(sample_weight, len(gain))
    partition = make_partition(groups, len(gain), all_groups)
    name, value = target
    targets = targets_by_group(value, partition.labels, name)
    options = options_by_group(partition, len(gain), sample_weight, **certified)
    pilots = _pilots_by_group(pilot, partition.labels)

    def take(rows):
        arrays = gain[rows], first[rows], second[rows]
        return arrays, {"sample_weight": take_weight(weight, rows)}

    def solve_one(label, rows):
        if not is_known[rows].any():
            raise InfeasibleTargetError(
                "the second opinion is unknown for all its samples"
            )
        arrays, weights = take(rows)
        given = {name: targets[label], "pilot": pilots.get(label)}
        return solve(*arrays, **given, **weights, **options(label, rows))

    def give_up(label, rows):
        if not is_known[rows].any():
            return unmeasured_deferral(DEFER_ALL, len(rows))
        arrays, weights = take(rows)
        with gather_warnings():
            return solve(*arrays, deferral_cost=0.0, **weights)

    rules = collect_rules(partition, solve_one, give_up, targets, _FATE, weight)
    rule = GroupedDeferralRule(rules)
    return measure_quietly(
        rule, gain, first, second, groups, sample_weight=sample_weight
    )


def _read(gain, loss_first, loss_second, sample_weight):
    """Return validated arrays, and where both losses are known and have a weight."""
    with gather_warnings():  # said of each group
        used = check_deferral_samples(
            gain, loss_first, loss_second, sample_weight, name="gain"
        )
    second = np.full(len(used.is_used), np.nan)
    second[used.is_used] = used.loss_second
    first = check_vector(loss_first, "loss_first")
    return check_vector(gain, "gain"), first, second, used.is_used


def _pilots_by_group(pilot, labels):
    """Return the pilot of each group that there is one of, as three arrays."""
    if pilot is None:
        return {}
    if not isinstance(pilot, (tuple, list)) or len(pilot) != 4:
        raise ValueError(
            "with groups, pilot must be a tuple of four arrays, gain, loss_first, "
            f"loss_second and groups, got {type(pilot).__name__}. Pass these, or None "
            "to set a fifth of each group aside."
        )
    *arrays, groups = (*map(np.asarray, pilot[:3]), as_labels(pilot[3], "pilot"))
    codes = encode_labels(groups, labels)
    check_same_length(len(codes), **{"gain of the pilot": arrays[0]})
    members = {label: codes == k for k, label in enumerate(labels)}
    return {
        label: tuple(each[rows] for each in arrays)
        for label, rows in members.items()
        if rows.any()
    }
