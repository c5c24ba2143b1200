"""A rejection rule for each group of samples."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import (
    check_number,
    check_same_length,
    check_samples,
    check_vector,
    take_weight,
)
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    round_down,
    round_up,
    warn_user,
)
from sklearn_reject.selection._certify import check_confidence
from sklearn_reject.selection._partition import (
    as_labels,
    as_plain,
    count_labels,
    distinct_labels,
    encode_labels,
    enumerate_labels,
    enumerate_texts,
    make_partition,
    sort_rows,
)
from sklearn_reject.selection._rule import RejectionRule, check_draws, compare, decide


@dataclass(frozen=True)
class GroupedRule(DictMixin):
    """A rule for each of several groups, all others rejected.

    A group is a label that is known when a sample is to be accepted or rejected: the
    predicted class, or a column of the data, but not the true class. Labels are equal
    as Python's are, so that 1, 1.0 and True name one group. Samples of a group that has
    no rule, or whose group is missing, are rejected with a warning that counts them.

    Attributes
    ----------
    rules : dict of group to RejectionRule
        The rule of each group, with its coverage, selective risk and certificate. One
        with the threshold minus infinity accepts nothing.

    coverage : float, default=nan
        Expected share of accepted samples of all groups on the calibration set, higher
        is better.

    selective_risk : float, default=nan
        Expected loss over the expected coverage of all groups on the calibration set,
        lower is better. NaN if nothing is accepted.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_risk
    >>> scores, losses = [0.1, 0.4, 0.2, 0.8], [0, 0, 0, 1]
    >>> groups = ["north", "north", "south", "south"]
    >>> rule = solve_target_risk(scores, losses, 0.0, groups=groups)
    >>> {group: each.coverage for group, each in rule.rules.items()}
    {'north': 1.0, 'south': 0.5}
    >>> rule.coverage
    0.75
    >>> rule.accept([0.3, 0.3], ["north", "south"])
    array([ True, False])
    """

    rules: dict[object, RejectionRule]
    coverage: float = float("nan")
    selective_risk: float = float("nan")

    def __post_init__(self):
        if not isinstance(self.rules, Mapping) or not self.rules:
            raise ValueError(
                f"rules must be a dict of group to RejectionRule, got {self.rules!r}."
            )
        labels = [as_plain(label) for label in self.rules]
        distinct_labels(labels, "rules")
        rules = dict(zip(labels, self.rules.values(), strict=True))
        object.__setattr__(self, "rules", rules)

    def __hash__(self):
        rules = frozenset(self.rules.items())
        return hash((rules, self.coverage, self.selective_risk))

    @property
    def certificate(self):
        """Certificates by group, dict of group to Certificate; None if there is none.

        They hold all together with the probability that was asked for: the
        `confidence` of each is that of its own.
        """
        found = {label: rule.certificate for label, rule in self.rules.items()}
        found = {label: each for label, each in found.items() if each is not None}
        return found or None

    def accept_proba(self, scores, groups):
        """Return the probability that each sample is accepted.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Finite uncertainty scores, higher = more uncertain.

        groups : array-like of shape (n_samples,)
            Group of each sample.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            1 below the threshold of the group, its `proba_at_threshold` at it, 0 above
            and in a group without a rule.
        """
        is_below, is_at, probability = self._compare(scores, groups)
        return np.where(is_at, probability, is_below.astype(np.float64))

    def at_threshold(self, scores, groups):
        """Tell which samples are at the threshold of their group.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Finite uncertainty scores, higher = more uncertain.

        groups : array-like of shape (n_samples,)
            Group of each sample.

        Returns
        -------
        is_at : ndarray of shape (n_samples,), dtype bool
            Whether the sample is accepted with the `proba_at_threshold` of its group.
        """
        return self._compare(scores, groups)[1]

    def accept(self, scores, groups, *, draws=None, random_state=None):
        """Accept or reject each sample, at random only at the threshold of its group.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Finite uncertainty scores, higher = more uncertain.

        groups : array-like of shape (n_samples,)
            Group of each sample.

        draws : array-like of shape (n_samples,) or callable, default=None
            Numbers in [0, 1[, as :func:`keyed_draws` makes them. At the threshold a
            sample is accepted if its number is below `proba_at_threshold`; the others
            are not used. A callable maps the indices of the samples at the threshold to
            their numbers, and is not called where `proba_at_threshold` is 0 or 1.

        random_state : int, RandomState instance or None, default=None
            Source of the draws where `draws` is None. A decision then belongs to the
            call: the same row may be accepted in one batch and not in another.

        Returns
        -------
        accepted : ndarray of shape (n_samples,), dtype bool
            Whether the sample is accepted.

        Raises
        ------
        ValueError
            If `draws` are not in [0, 1[, or given together with `random_state`.
        """
        return decide(*self._compare(scores, groups), draws, random_state)

    def measure(self, scores, losses, groups, *, sample_weight=None):
        """Return the rule with what it achieves on another sample.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Uncertainty scores, higher = more uncertain.

        losses : array-like of shape (n_samples,)
            Non-negative losses.

        groups : array-like of shape (n_samples,)
            Group of each sample.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        rule : GroupedRule
            Each rule measured on the samples of its group, NaN where there are none,
            and `coverage` and `selective_risk` of all samples, of which those in groups
            without a rule are rejected.

        Examples
        --------
        >>> from sklearn_reject.selection import GroupedRule, chow_rule
        >>> rule = GroupedRule({"a": chow_rule(0.2), "b": chow_rule(0.5)})
        >>> rule = rule.measure([0.1, 0.3, 0.3], [0, 0, 1], ["a", "a", "b"])
        >>> rule.rules["a"].coverage, rule.rules["b"].selective_risk
        (0.5, 1.0)
        """
        scores, losses, weight = check_samples(scores, losses, sample_weight)
        labels = as_labels(groups, "groups")
        check_same_length(len(scores), groups=labels)
        codes = self._find(labels)
        rules = {}
        for label, rows in sort_rows(codes, self.rules):
            rule, of_group = self.rules[label], take_weight(weight, rows)
            if _is_present(rows, of_group):
                rules[label] = rule.measure(
                    scores[rows], losses[rows], sample_weight=of_group
                )
            else:
                rules[label] = _unmeasured(rule)
        total = len(scores) if weight is None else weight.sum()
        return _sum_up(rules, _sizes(codes, weight, len(rules)), total)

    def _compare(self, scores, groups):
        """Return what is below its threshold, what is at it, and the chances there."""
        scores = check_vector(scores, "scores")
        labels = as_labels(groups, "groups")
        check_same_length(len(scores), groups=labels)
        codes = self._find(labels)
        # Number -1, the last one, is what has no rule.
        rules = [*self.rules.values(), _REJECT_ALL]
        thresholds = np.array([rule.threshold for rule in rules])[codes]
        chances = np.array([rule.proba_at_threshold for rule in rules])[codes]
        return *compare(scores, thresholds), chances

    def _find(self, labels):
        """Return the position of the rule of each sample, -1 after a warning."""
        codes = encode_labels(labels, self.rules)
        unseen = np.flatnonzero(codes < 0).tolist()
        if unseen:
            warn_user(
                f"{len(unseen)} of {len(labels)} samples are in groups without a rule, "
                f"and are rejected: {count_labels(labels[row] for row in unseen)}. "
                "Calibrate with samples of these groups."
            )
        return codes


_REJECT_ALL = RejectionRule(threshold=float("-inf"), proba_at_threshold=0.0)


def solve_by_group(partition, solve, weight=None):
    """Return the rule of each group that `solve` finds for its label and its rows.

    A group without a rule, or without a sample, is rejected, and named in one warning.
    """
    rules, failures = {}, {}
    for label, rows in partition:
        try:
            if not _is_present(rows, take_weight(weight, rows)):
                raise InfeasibleTargetError("there is no calibration sample of it")
            rules[label] = solve(label, rows)
        except InfeasibleTargetError as error:
            failures[label] = error
            rules[label] = replace(_unmeasured(_REJECT_ALL), reject_cost=0.0)
            if _is_present(rows, take_weight(weight, rows)):
                rules[label] = replace(rules[label], coverage=0.0)
    if failures:
        _report(failures, is_all=len(failures) == len(partition))
    return sum_up_rules(rules, partition, weight)


def _is_present(rows, weight):
    """Tell whether a group has a sample, one of zero weight being none."""
    return len(rows) > 0 and (weight is None or bool(weight.any()))


def _unmeasured(rule):
    nan = float("nan")
    return replace(rule, coverage=nan, selective_risk=nan, reject_cost=nan)


def sum_up_rules(rules, partition, weight=None):
    """Return rules that know what they achieve, each on the rows of its group."""
    sizes = np.diff(partition.starts).astype(np.float64)
    if weight is not None:
        sizes = np.array([weight[rows].sum() for _, rows in partition])
    return _sum_up(rules, sizes, sizes.sum())


def _sum_up(rules, sizes, total):
    """Return rules as one, given the weight of each group, and of all samples."""
    present = np.flatnonzero(sizes > 0)
    found = list(rules.values())
    covered = np.array([found[k].coverage for k in present]) * sizes[present]
    risks = np.array([found[k].selective_risk for k in present])
    some = covered > 0
    accepted, loss = covered.sum(), covered[some] @ risks[some]
    return GroupedRule(
        rules,
        coverage=float(accepted / total),
        selective_risk=float(loss / accepted) if accepted else float("nan"),
    )


def _sizes(codes, weight, n_groups):
    """Return the weight of the samples of each group."""
    return np.bincount(codes + 1, weight, minlength=n_groups + 1)[1:].astype(np.float64)


def _report(failures, *, is_all):
    """Warn of groups that are rejected as a whole, or raise where all of them are."""
    texts = [f"{label!r}: {_explain(error)}" for label, error in failures.items()]
    texts = enumerate_texts(texts, "; ")
    if is_all:
        raise InfeasibleTargetError(
            f"No group has a rule that meets its target. {texts}. Ask for a risk of at "
            "least that, as a dict with a target for each group, for fewer groups, or "
            "for less confidence, or give more samples.",
            attainable={label: error.lowest_risk for label, error in failures.items()},
        )
    warn_user(
        f"{len(failures)} groups have no rule that meets the target, and are rejected "
        f"as a whole. {texts}. Give more samples of them, or another target, as a dict "
        "with one for each group."
    )


def _explain(error):
    """Return what can be attained instead, as half a sentence."""
    if isnan(error.lowest_risk):
        return str(error).partition(". ")[0]
    return (
        f"the smallest risk is about {round_up(error.lowest_risk)}, at coverage "
        f"{round_down(error.coverage)}"
    )


def share_confidence(confidence, n_groups):
    """Return the confidence in each group with which all of them hold together."""
    return confidence if n_groups == 1 else 1 - (1 - confidence) / n_groups


def targets_by_group(target, labels, name="target"):
    """Return the target of each group: a number for all, or a dict with all of them."""
    if not isinstance(target, Mapping):
        return dict.fromkeys(labels, target)
    given = {as_plain(label): value for label, value in target.items()}
    known = dict.fromkeys(labels)
    unknown = [label for label in given if label not in known]
    if unknown:
        raise ValueError(
            f"{name} has a value for {enumerate_labels(unknown)}, but there is no such "
            f"group. The groups are {enumerate_labels(labels)}."
        )
    missing = [label for label in labels if label not in given]
    if missing:
        raise ValueError(
            f"{name} has no value for {enumerate_labels(missing)}. Add one for each "
            "group; one as large as the largest loss accepts everything in it."
        )
    for label in labels:
        check_number(given[label], f"{name} of the group {label!r}")
    return {label: given[label] for label in labels}


def solve_arrays_by_group(
    solve, scores, losses, target, groups, all_groups, sample_weight, **certified
):
    """Return the rules that a solver finds for the samples of each group.

    `certified` are `confidence`, `draws` and `random_state`, of solvers that take them.
    """
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    partition = make_partition(groups, len(scores), all_groups)
    targets = targets_by_group(target, partition.labels)
    options = _options_by_group(partition, len(scores), sample_weight, **certified)

    def solve_one(label, rows):
        return solve(
            scores[rows],
            losses[rows],
            targets[label],
            sample_weight=take_weight(weight, rows),
            **options(label, rows),
        )

    return solve_by_group(partition, solve_one, weight)


def _options_by_group(
    partition, n_samples, weight, confidence=None, draws=None, random_state=None
):
    """Return what certifies the rule of a group, as a function of label and rows."""
    if confidence is None:
        return lambda label, rows: {}
    level = share_confidence(check_confidence(confidence, weight), len(partition))
    draws = None if draws is None else check_draws(draws, n_samples)
    # A group's own, so that it does not matter what those before it have drawn.
    limit = np.iinfo(np.int32).max
    seeds = check_random_state(random_state).randint(limit, size=len(partition))
    seeds = dict(zip(partition.labels, seeds.tolist(), strict=True))
    return lambda label, rows: {
        "confidence": level,
        "draws": None if draws is None else draws[rows],
        "random_state": seeds[label],
    }
