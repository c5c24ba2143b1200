"""Groups of samples: their labels and rows, and the rules of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import repeat
from math import inf
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import Amount, DictMixin, Share
from sklearn_reject._short_repr import align, cell_of
from sklearn_reject._typing import Target
from sklearn_reject._validation import (
    check_level,
    check_number,
    check_same_length,
    check_samples,
    check_vector,
    is_missing,
    refuse_unread,
    take_weight,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._monitor import RiskMonitor
from sklearn_reject.selection._rule import (
    Accepting,
    Certificate,
    RejectionRule,
    compare,
)

# How many groups a message names.
_MOST_NAMED = 10


@dataclass(frozen=True, eq=False)
class Partition:
    """The rows of each group, sorted once.

    `labels` are those of all groups, of which some may have no row; `order` has the
    rows of one group after those of the other, and `starts` where each begins.
    """

    labels: tuple
    order: np.ndarray
    starts: np.ndarray

    def __len__(self):
        return len(self.labels)

    def __iter__(self):
        """Yield the label of each group and its rows, in the order of the samples."""
        for number, label in enumerate(self.labels):
            yield label, self.order[self.starts[number] : self.starts[number + 1]]


def make_partition(groups, n_samples, all_groups=None):
    """Return the rows of each of `all_groups`, None for those that occur."""
    labels = as_labels(groups, "groups")
    check_same_length(n_samples, groups=labels)
    seen = distinct_labels(labels, "groups")
    known = seen
    if all_groups is not None:
        known = distinct_labels(as_labels(all_groups, "all_groups"), "all_groups")
    unknown = [label for label in seen if label not in known]
    if unknown:
        raise ValueError(
            f"groups holds {enumerate_labels(unknown)}, not in all_groups. Add it."
        )
    known = sort_labels(known)
    return sort_rows(encode_labels(labels, known), known)


def sort_rows(codes, labels):
    """Return the partition of rows whose groups are `labels[code]`; -1 is in none."""
    # Few groups have small numbers, which NumPy sorts by counting.
    small = codes.astype(np.int16 if len(labels) < 2**15 else np.int64)
    order = np.argsort(small, kind="stable")
    sizes = np.bincount(codes + 1, minlength=len(labels) + 1)
    return Partition(tuple(labels), order, np.cumsum(sizes))


def as_labels(groups, name):
    """Return labels, one a sample, as a list of plain values.

    Equal ones meet whatever array they come from: 1, 1.0 and NumPy's 1 are one group.
    """
    refuse_unread(groups, name)
    if hasattr(groups, "__array__"):
        return _labels_of_array(np.asarray(groups), name)
    # A set has no order, and a dict may be one of group to value.
    is_vector = not isinstance(groups, (str, bytes, Set, Mapping))
    if not is_vector or not isinstance(groups, Iterable):
        raise ValueError(f"{name} must be a vector of labels, got {groups!r}.")
    return [as_plain(label) for label in groups]


def _labels_of_array(groups, name):
    if groups.ndim != 1:
        raise ValueError(
            f"{name} must be a vector with one label per sample, got an array of shape "
            f"{groups.shape}. Pass a single column, for example with `.ravel()`."
        )
    kind = groups.dtype.kind
    if kind in "mM":
        return list(groups.astype(f"{kind}8[ns]"))
    labels = groups.tolist()
    kinds = set(map(type, labels)) if kind == "O" else ()
    is_plain = not any(issubclass(each, np.generic) for each in kinds)
    return labels if is_plain else [as_plain(label) for label in labels]


def as_plain(label):
    """Return a label of NumPy as Python has it, but for dates, and any other as is."""
    is_plain = not isinstance(label, np.generic) or label.dtype.kind in "mM"
    return label if is_plain else label.item()


def distinct_labels(labels, name):
    """Return the labels that occur, as the keys of a dict, or raise for missing ones.

    They are in the order of their first occurrence.
    """
    with _hashing(labels, name):
        distinct = dict.fromkeys(labels)
    if any(map(is_missing, distinct)):
        rows = [row for row, label in enumerate(labels) if is_missing(label)]
        raise ValueError(
            f"{name} has no label ({labels[rows[0]]}) in row {rows[0]} ({len(rows)} "
            "such rows). Give them a group such as 'missing', or remove them."
        )
    return distinct


def sort_labels(labels):
    """Return labels in an order that does not depend on that of the samples."""
    try:
        return tuple(sorted(labels))
    except TypeError:  # of several types
        return tuple(sorted(labels, key=lambda x: (type(x).__name__, repr(x))))


def encode_labels(labels, known, name="groups"):
    """Return the position of each label among the known ones, -1 where it is unknown.

    ndarray of shape (n_samples,), dtype intp.
    """
    find = {label: number for number, label in enumerate(known)}.get
    with _hashing(labels, name):
        return np.fromiter(map(find, labels, repeat(-1)), np.intp, len(labels))


@contextmanager
def _hashing(labels, name):
    """Raise a clear error where labels have no hash."""
    try:
        yield
    except TypeError as error:
        kinds = enumerate_texts(sorted({type(label).__name__ for label in labels}))
        raise ValueError(
            f"{name} must hold labels such as numbers or strings, one per sample, got "
            f"{kinds}, which cannot be hashed. Pass strings or tuples."
        ) from error


def enumerate_labels(labels):
    """Return the first of some labels as text, and how many others there are."""
    return enumerate_texts([repr(label) for label in labels])


def enumerate_texts(texts, separator=", "):
    """Return the first of some texts, and how many others there are."""
    shown = separator.join(texts[:_MOST_NAMED])
    others = len(texts) - _MOST_NAMED
    return f"{shown} and {others} others" if others > 0 else shown


def share_confidence(confidence_level, n_groups):
    """Return the confidence in each group with which all of them hold together."""
    return confidence_level if n_groups == 1 else 1 - (1 - confidence_level) / n_groups


def targets_by_group(target, labels, name="target"):
    """Return the target of each group: a number for all, or a dict with all of them."""
    if not isinstance(target, Mapping):
        return dict.fromkeys(labels, target)
    given = {as_plain(label): value for label, value in target.items()}
    known = dict.fromkeys(labels)
    unknown = [label for label in given if label not in known]
    if unknown:
        raise ValueError(
            f"{name} has a value for {enumerate_labels(unknown)}, which is no group. "
            f"The groups are {enumerate_labels(labels)}."
        )
    missing = [label for label in labels if label not in given]
    if missing:
        raise ValueError(
            f"{name} has no value for {enumerate_labels(missing)}. Add one for each."
        )
    for label in labels:
        check_number(given[label], f"{name} of the group {label!r}")
    return {label: given[label] for label in labels}


class RulesByGroup(DictMixin):
    """Dataclass of `rules`, a dict of group to rule, and of what they achieve together.

    `_kind` is a rule's class, and `_fate` says what happens to samples of a group
    without a rule, as the rule `_otherwise` has it.
    """

    def __post_init__(self):
        rules, kind = self.rules, self._kind.__name__
        if not isinstance(rules, Mapping) or not rules:
            raise ValueError(f"rules must be a dict of group to {kind}, got {rules!r}.")
        for label, rule in rules.items():
            if type(rule) is not self._kind:
                raise ValueError(f"rules[{label!r}] must be a {kind}, got {rule!r}.")
        super().__post_init__()
        labels = distinct_labels([as_plain(label) for label in rules], "rules")
        rules = dict(zip(labels, rules.values(), strict=True))
        object.__setattr__(self, "rules", rules)

    def __str__(self):
        """Return a table of what each rule is and achieves, and of all together."""
        named = [*self.rules.items(), ("all", self)]
        columns = [["group", *(str(label) for label, _ in named)]]
        for name in (each.name for each in fields(self._kind)):
            found = [getattr(rule, name, None) for _, rule in named]
            if name != "certificate" and {*map(cell_of, found)} != {"-"}:
                columns.append([name.replace("_", " "), *map(cell_of, found)])
        return "\n".join(align(list(zip(*columns, strict=True))))

    def __getstate__(self):
        # Pairs, as skops writes keys as text.
        return vars(self) | {"rules": list(self.rules.items())}

    def __setstate__(self, state):
        vars(self).update(state | {"rules": dict(state["rules"])})

    @property
    def certificate(self) -> dict[Any, Certificate] | None:
        """Certificates by group, dict of group to Certificate; None if there is none.

        They hold all together with the probability that was asked for: the
        `confidence_level` of each is that of its own.
        """
        found = {label: rule.certificate for label, rule in self.rules.items()}
        found = {label: each for label, each in found.items() if each is not None}
        return found or None

    def _find(self, groups, n_samples):
        """Return the position of the rule of each sample, -1 after a warning."""
        labels = as_labels(groups, "groups")
        check_same_length(n_samples, groups=labels)
        codes = encode_labels(labels, self.rules)
        unseen = (codes < 0).nonzero()[0].tolist()
        if unseen:
            # By text, as one NaN is not equal to the next.
            counts = Counter(repr(labels[row]) for row in unseen).most_common()
            counts = enumerate_texts([f"{text} ({count})" for text, count in counts])
            warn_user(
                f"{len(unseen)} of {len(labels)} samples are in groups that the "
                f"calibration set lacks, and are {self._fate}: {counts}. Add samples "
                "of these groups to it, or map them to one that is there."
            )
        return codes

    def _compare_with(self, values, codes):
        """Return what is beyond and at the threshold of its rule, and the chance at it.

        Position -1, the last one, is what has no rule.
        """
        rules = [*self.rules.values(), self._otherwise]
        thresholds = np.array([rule.threshold for rule in rules])[codes]
        chances = np.array([rule.proba_at_threshold for rule in rules])[codes]
        return *compare(self._sign * values, self._sign * thresholds), chances

    def _compare(self, scores, groups=None):
        if groups is None:
            raise TypeError(f"{type(self).__name__} needs groups, one for each score.")
        scores = check_vector(scores, self._name)
        return self._compare_with(scores, self._find(groups, len(scores)))

    def monitor(
        self, target: Target | None = None, **options: Any
    ) -> dict[Any, RiskMonitor]:
        """Return a monitor of each group: of accepted samples or, of a system, of all.

        All of them together have a false alarm with a probability of at most 1 -
        `confidence_level`, and all intervals hold together with `confidence_level`: of
        G monitors each has the confidence 1 - (1 - `confidence_level`) / G.

        Parameters
        ----------
        target : float in (0, max_loss) or dict of group to float, default=None
            Largest risk that is tolerated, in all groups or in each. None takes, group
            by group, the certified one. It is required where no risk was certified.

        **options : dict
            `confidence_level`, of all groups together, `max_loss`,
            `max_weight` and `since`, as :class:`RiskMonitor` takes them.

        Returns
        -------
        monitors : dict of group to RiskMonitor
            Each watches the risk of its group. Groups that accept nothing have none,
            and count for nothing.

        Raises
        ------
        ValueError
            If no group accepts anything, if no target is given and no risk of a group
            was certified, if a target is not below `max_loss`, or if a dict lacks a
            group.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_reject.selection import solve_target_risk
        >>> scores, groups = np.arange(400) / 400, np.tile(["north", "south"], 200)
        >>> rule = solve_target_risk(
        ...     scores, scores > 0.8, 0.1, groups=groups, confidence_level=0.9)
        >>> monitors = rule.monitor(confidence_level=0.98)
        >>> monitors["north"]
        <RiskMonitor(target=0.1, confidence_level=0.99, ...): n_samples=0, ...>
        >>> losses, groups = np.array([0, 1, 1]), np.array(["north", "south", "south"])
        >>> for group, monitor in monitors.items():
        ...     monitor = monitor.update(losses[groups == group])
        ...     print(group, monitor.n_samples, monitor.mean)
        north 1 0.0
        south 2 1.0
        """
        watched = self._accepting()
        level = options.get("confidence_level", 0.95)
        level = check_level(level, "confidence_level")
        options["confidence_level"] = share_confidence(level, len(watched))
        if isinstance(target, Mapping):
            unwatched = self.rules.keys() - set(watched)
            target = {k: v for k, v in target.items() if as_plain(k) not in unwatched}
        monitors = {}
        for label, of_group in targets_by_group(target, watched).items():
            try:
                monitors[label] = self.rules[label].monitor(of_group, **options)
            except ValueError as error:
                raise ValueError(f"group {label!r}: {error}") from None
        return monitors

    def _accepting(self):
        """Return the groups that accept something."""
        return list(self.rules)


REJECT_ALL = RejectionRule(threshold=float("-inf"), proba_at_threshold=0.0)


@dataclass(frozen=True)
class GroupedRule(Accepting, RulesByGroup):
    """One rule per group; samples of unknown groups are rejected.

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
    coverage: Share = float("nan")
    selective_risk: Amount = float("nan")

    _kind, _fate, _otherwise = RejectionRule, "rejected", REJECT_ALL

    failure_rate = RejectionRule.failure_rate

    def measure(
        self,
        scores: ArrayLike,
        losses: ArrayLike,
        groups: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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
        >>> from sklearn_reject.selection import GroupedRule, RejectionRule
        >>> rule = GroupedRule({"a": RejectionRule(0.2, 1), "b": RejectionRule(0.5, 1)})
        >>> rule = rule.measure([0.1, 0.3, 0.3], [0, 0, 1], ["a", "a", "b"])
        >>> rule.rules["a"].coverage, rule.rules["b"].selective_risk
        (0.5, 1.0)
        """
        scores, losses, weight = check_samples(scores, losses, sample_weight)
        rules, partition = {}, sort_rows(self._find(groups, len(scores)), self.rules)
        for label, rows in partition:
            rule, of_group = self.rules[label], take_weight(weight, rows)
            if is_present(rows, of_group):
                rules[label] = rule.measure(
                    scores[rows], losses[rows], sample_weight=of_group
                )
            else:
                rules[label] = replace(
                    rule, coverage=np.nan, selective_risk=np.nan, reject_cost=np.nan
                )
        total = len(scores) if weight is None else weight.sum()
        return sum_up(rules, partition, weight, total)

    def _accepting(self):
        """Return the groups that accept something."""
        found = [label for label in self.rules if self.rules[label].threshold > -inf]
        if not found:
            raise ValueError(
                "No group accepts a sample, so none has a risk. Solve another target."
            )
        return found


def is_present(rows, weight):
    """Tell whether a group has a sample, one of zero weight being none."""
    return len(rows) > 0 and (weight is None or bool(weight.any()))


def sum_up(rules, partition, weight, total=None):
    """Return measured rules as one; `total` is the weight of all samples, if more."""
    sizes = np.diff(partition.starts).astype(np.float64)
    if weight is not None:
        sizes = np.array([weight[rows].sum() for _, rows in partition])
    present = np.flatnonzero(sizes > 0)
    found = list(rules.values())
    covered = np.array([found[k].coverage for k in present]) * sizes[present]
    risks = np.array([found[k].selective_risk for k in present])
    some = covered > 0
    accepted, loss = covered.sum(), covered[some] @ risks[some]
    return GroupedRule(
        rules,
        coverage=float(accepted / (sizes.sum() if total is None else total)),
        selective_risk=float(loss / accepted) if accepted else float("nan"),
    )
