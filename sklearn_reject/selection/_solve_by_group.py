"""Solving a rule of deferral for each group."""

import numpy as np

from sklearn_reject._curves._deferral import check_deferral_samples
from sklearn_reject._validation import (
    check_same_length,
    check_sample_weight,
    check_vector,
    take_weight,
)
from sklearn_reject.exceptions import InfeasibleTargetError, gather_warnings
from sklearn_reject.selection._grouped_deferral import (
    DEFER_ALL,
    GroupedDeferralRule,
    measure_quietly,
    unmeasured_deferral,
)
from sklearn_reject.selection._groups import (
    as_labels,
    encode_labels,
    make_partition,
    targets_by_group,
)
from sklearn_reject.selection._solver import collect_rules, options_by_group

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
