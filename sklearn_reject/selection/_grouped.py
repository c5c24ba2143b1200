"""A rejection rule for each group of samples."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, isnan

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import (
    check_level,
    check_number,
    check_same_length,
    check_samples,
    check_vector,
    take_weight,
)
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    gather_warnings,
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
from sklearn_reject.selection._rule import (
    RejectionRule,
    Thinning,
    check_draws,
    compare,
    decide,
)


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
    >>> rule.accept([0.9, 0.9], ["north", "south"])
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
    def failure_rate(self):
        """Expected loss of all samples of the calibration set, zero where rejected."""
        return self.coverage * self.selective_risk if self.coverage else 0.0

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
            1 below the threshold of the group, or what its `thinning` says, its
            `proba_at_threshold` at it, 0 above and in a group without a rule.
        """
        scores, codes = self._locate(scores, groups)
        return self._probability(scores, codes)

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
        scores, codes = self._locate(scores, groups)
        return compare(scores, self._thresholds(codes))[1]

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
        probability = self.accept_proba(scores, groups)
        is_open = (probability > 0) & (probability < 1)
        return decide(probability == 1, is_open, probability, draws, random_state)

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

    def monitor(
        self, target=None, *, confidence=0.95, max_loss=1.0, min_inclusion_proba=1.0
    ):
        """Return a monitor of the losses of what is accepted, for each group.

        All of them together have a false alarm with a probability of at most 1 -
        `confidence`, and all intervals hold together with `confidence`: of G monitors
        each has the confidence 1 - (1 - `confidence`) / G.

        Parameters
        ----------
        target : float in ]0, max_loss[ or dict of group to float, default=None
            Largest risk that is tolerated, in all groups or in each. None takes, group
            by group, the certified one. If the certificate is not about a risk, or
            there is none, it takes the selective risk on the calibration set. That is
            optimistic, as the rule was chosen by the same samples: an alarm then may
            say no more than that.

        confidence : float in ]0, 1[, default=0.95
            Least probability that there never is a false alarm in any group, and of all
            intervals together.

        max_loss : float > 0, default=1.0
            Largest loss that is possible, known beforehand.

        min_inclusion_proba : float in ]0, 1], default=1.0
            Where the labels of a random part of the samples are looked up only, the
            smallest probability with which one is. The smaller it is, the more samples
            it takes to see a risk above the target.

        Returns
        -------
        monitors : dict of group to RiskMonitor
            Each watches the risk of the accepted samples of its group. Groups that
            accept nothing have none, and count for nothing.

        Raises
        ------
        ValueError
            If no group accepts anything, if no target is given and the selective risk
            of a group is NaN or zero, if a target is not below `max_loss`, or if a dict
            lacks a group.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_reject.selection import solve_target_risk
        >>> scores, groups = np.arange(400) / 400, np.tile(["north", "south"], 200)
        >>> rule = solve_target_risk(
        ...     scores, scores > 0.8, 0.1, groups=groups, confidence=0.9)
        >>> monitors = rule.monitor(confidence=0.98)
        >>> monitors["north"]
        <RiskMonitor(target=0.1, confidence=0.99, ...): n_samples=0, ...>
        >>> losses, groups = np.array([0, 1, 1]), np.array(["north", "south", "south"])
        >>> for group, monitor in monitors.items():
        ...     monitor = monitor.update(losses[groups == group])
        ...     print(group, monitor.n_samples, monitor.mean)
        north 1 0.0
        south 2 1.0
        """
        confidence = check_level(confidence, "confidence")
        watched = [label for label in self.rules if self.rules[label].threshold > -inf]
        if not watched:
            raise ValueError(
                "No group accepts anything, so that there is no risk to watch. Solve "
                "the rules for another target."
            )
        if isinstance(target, Mapping):
            unwatched = self.rules.keys() - set(watched)
            target = {k: v for k, v in target.items() if as_plain(k) not in unwatched}
        targets = targets_by_group(target, watched)
        monitors, level = {}, share_confidence(confidence, len(watched))
        for label in watched:
            try:
                monitors[label] = self.rules[label].monitor(
                    targets[label],
                    confidence=level,
                    max_loss=max_loss,
                    min_inclusion_proba=min_inclusion_proba,
                )
            except ValueError as error:
                raise ValueError(f"group {label!r}: {error}") from None
        return monitors

    def _locate(self, scores, groups):
        """Return the scores as a vector, and the position of the rule of each."""
        scores = check_vector(scores, "scores")
        labels = as_labels(groups, "groups")
        check_same_length(len(scores), groups=labels)
        return scores, self._find(labels)

    def _thresholds(self, codes):
        # Number -1, the last one, is what has no rule.
        rules = [*self.rules.values(), _REJECT_ALL]
        return np.array([rule.threshold for rule in rules])[codes]

    def _probability(self, scores, codes):
        """Return how likely scores are accepted by the rules at some positions."""
        rules = [*self.rules.values(), _REJECT_ALL]
        is_below, is_at = compare(scores, self._thresholds(codes))
        chances = np.array([rule.proba_at_threshold for rule in rules])[codes]
        probability = is_below.astype(np.float64)
        if any(rule.thinning is not None for rule in rules):
            probability *= _thin(rules, codes, scores)
        return np.where(is_at, chances, probability)

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


def _thin(rules, codes, scores):
    """Return how likely scores below the threshold of their rule are accepted."""
    # A start above all scores, where all that is below the threshold is accepted.
    parts = [rule.thinning or Thinning(inf, 1.0, 1.0) for rule in rules]
    parts = np.array([[each.start, each.proba_at_start, each.proba] for each in parts])
    return Thinning(*parts[codes].T).accept_proba(scores)


_REJECT_ALL = RejectionRule(threshold=float("-inf"), proba_at_threshold=0.0)


def solve_by_group(partition, solve, weight=None):
    """Return the rule of each group that `solve` finds for its label and its rows.

    A group without a rule, or without a sample, is rejected, and named in one warning.
    """
    rules, failures, remarks = {}, {}, {}
    for label, rows in partition:
        try:
            if not _is_present(rows, take_weight(weight, rows)):
                raise InfeasibleTargetError("there is no calibration sample of it")
            with gather_warnings() as messages:
                rules[label] = solve(label, rows)
            for giver, (first, *_) in messages.items():
                remarks.setdefault(giver, {})[label] = first
        except InfeasibleTargetError as error:
            failures[label] = error
            rules[label] = replace(_unmeasured(_REJECT_ALL), reject_cost=0.0)
            if _is_present(rows, take_weight(weight, rows)):
                rules[label] = replace(rules[label], coverage=0.0)
    if failures:
        _report(failures, len(partition))
    for messages in remarks.values():
        _remark(messages)
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


def _remark(messages):
    """Warn once of what is said of several groups, given as label to message."""
    (label, message), *others = messages.items()
    if others:
        others = enumerate_labels(label for label, _ in others)
        message = f"{message} Much the same holds in the groups {others}."
    warn_user(f"group {label!r}: {message}")


def _report(failures, n_groups):
    """Warn of groups that are rejected as a whole, or raise where all of them are."""
    texts = [f"{label!r}: {_explain(error)}" for label, error in failures.items()]
    texts = enumerate_texts(texts, "; ")
    if len(failures) == n_groups:
        raise InfeasibleTargetError(
            f"No group has a rule that meets its target. {texts}. Ask for a risk of at "
            "least that, as a dict with a target for each group, for fewer groups, or "
            "for less confidence, or give more samples.",
            attainable={label: error.lowest_risk for label, error in failures.items()},
        )
    warn_user(
        f"{len(failures)} of {n_groups} groups have no rule that meets the target, and "
        f"are rejected as a whole. {texts}. Give more samples of them, or another "
        "target, as a dict with one for each group."
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
            "group."
        )
    for label in labels:
        check_number(given[label], f"{name} of the group {label!r}")
    return {label: given[label] for label in labels}


def is_by_group(groups, all_groups):
    """Tell whether each group gets a rule; raise for their names without samples'."""
    if groups is None and all_groups is not None:
        raise ValueError(
            "all_groups is not used without groups. Pass the group of each sample as "
            "groups."
        )
    return groups is not None


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
