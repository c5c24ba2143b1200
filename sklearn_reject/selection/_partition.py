"""The groups that samples belong to, and what the rules of groups share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any, Literal

import numpy as np

from sklearn_reject._as_dict import check_state
from sklearn_reject._typing import Target
from sklearn_reject._validation import (
    check_level,
    check_number,
    check_same_length,
    check_vector,
    is_missing,
    refuse_unread,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._monitor import RiskMonitor
from sklearn_reject.selection._rule import Certificate

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
            f"groups holds {enumerate_labels(unknown)}, which is not in all_groups. "
            "Add every group there, or pass all_groups=None."
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
    if kind == "O" and any(
        issubclass(each, np.generic) for each in set(map(type, labels))
    ):
        return [as_plain(label) for label in labels]
    return labels


def as_plain(label):
    """Return a label of NumPy as Python has it, but for dates, and any other as is."""
    is_plain = not isinstance(label, np.generic) or label.dtype.kind in "mM"
    return label if is_plain else label.item()


def distinct_labels(labels, name):
    """Return the labels that occur, as the keys of a dict, or raise for missing ones.

    They are in the order of their first occurrence.
    """
    distinct = _hashed(lambda: dict.fromkeys(labels), labels, name)
    if any(map(is_missing, distinct)):
        rows = [row for row, label in enumerate(labels) if is_missing(label)]
        raise ValueError(
            f"{name} has no label ({labels[rows[0]]}) in row {rows[0]} ({len(rows)} "
            "such rows). Give these rows their own group, such as 'missing', or remove "
            "them."
        )
    return distinct


def sort_labels(labels):
    """Return labels in an order that does not depend on that of the samples."""
    try:
        return tuple(sorted(labels))
    except TypeError:  # of several types
        return tuple(sorted(labels, key=lambda x: (type(x).__name__, repr(x))))


def encode_labels(labels, known):
    """Return the position of each label among the known ones, -1 where it is unknown.

    ndarray of shape (n_samples,), dtype intp.
    """
    find = {label: number for number, label in enumerate(known)}.get
    return _hashed(
        lambda: np.fromiter(map(find, labels, repeat(-1)), np.intp, len(labels)),
        labels,
        "groups",
    )


def _hashed(look_up, labels, name):
    """Return what a look-up finds, or raise for the first label that has no hash."""
    try:
        return look_up()
    except TypeError:
        for row, label in enumerate(labels):
            try:
                hash(label)
            except TypeError:
                raise ValueError(
                    f"{name} must hold labels such as numbers or strings, one per "
                    f"sample, got {label!r} in row {row}, which cannot be hashed. Pass "
                    "a string or a tuple."
                ) from None
        raise


def enumerate_labels(labels):
    """Return the first of some labels as text, and how many others there are."""
    return enumerate_texts([repr(label) for label in labels])


def count_labels(labels):
    """Return labels as text, each with how often it occurs, the most frequent first."""
    # By text, as one NaN is not equal to the next.
    counts = Counter(map(repr, labels)).most_common()
    return enumerate_texts([f"{text} ({count})" for text, count in counts])


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


class RulesByGroup:
    """Dataclass of `rules`, a dict of group to rule, and of what they achieve together.

    `_kind` is the name of a rule's class, `_shares` and `_amounts` are what they
    achieve, and `_fate` says what happens to samples of a group without a rule, as the
    rule `_otherwise` has it. `_compare_with` tells what is beyond and at a threshold.
    """

    def __post_init__(self):
        if not isinstance(self.rules, Mapping) or not self.rules:
            raise ValueError(
                f"rules must be a dict of group to {self._kind}, got {self.rules!r}."
            )
        for label, rule in self.rules.items():
            if type(rule).__name__ != self._kind:
                raise ValueError(
                    f"rules[{label!r}] must be a {self._kind}, got {rule!r}."
                )
        check_state(self, shares=self._shares, amounts=self._amounts)
        labels = [as_plain(label) for label in self.rules]
        distinct_labels(labels, "rules")
        rules = dict(zip(labels, self.rules.values(), strict=True))
        object.__setattr__(self, "rules", rules)

    def __getstate__(self):
        # Pairs, as skops writes keys as text.
        return vars(self) | {"rules": list(self.rules.items())}

    def __setstate__(self, state):
        vars(self).update(state | {"rules": dict(state["rules"])})

    def __hash__(self):
        values = [getattr(self, each.name) for each in fields(self)]
        return hash((frozenset(self.rules.items()), *values[1:]))

    @property
    def certificate(self) -> dict[Any, Certificate] | None:
        """Certificates by group, dict of group to Certificate; None if there is none.

        They hold all together with the probability that was asked for: the
        `confidence_level` of each is that of its own.
        """
        found = {label: rule.certificate for label, rule in self.rules.items()}
        found = {label: each for label, each in found.items() if each is not None}
        return found or None

    def _locate(self, values, groups, name="scores"):
        """Return the scores as a vector, and the position of the rule of each."""
        values = check_vector(values, name)
        labels = as_labels(groups, "groups")
        check_same_length(len(values), groups=labels)
        return values, self._find(labels)

    def _find(self, labels):
        """Return the position of the rule of each sample, -1 after a warning."""
        codes = encode_labels(labels, self.rules)
        unseen = (codes < 0).nonzero()[0].tolist()
        if unseen:
            warn_user(
                f"{len(unseen)} of {len(labels)} samples are in groups without a rule, "
                f"and are {self._fate}: {count_labels(labels[row] for row in unseen)}. "
                "Add samples of these groups to the calibration set."
            )
        return codes

    def monitor(
        self,
        target: Target | None = None,
        *,
        confidence_level: float = 0.95,
        max_loss: float = 1.0,
        min_inclusion_proba: float = 1.0,
        since: Literal["start", "any"] = "start",
    ) -> dict[Any, RiskMonitor]:
        """Return a monitor of each group: of accepted samples or, of a system, of all.

        All of them together have a false alarm with a probability of at most 1 -
        `confidence_level`, and all intervals hold together with `confidence_level`: of
        G monitors each has the confidence 1 - (1 - `confidence_level`) / G.

        Parameters
        ----------
        target : float in ]0, max_loss[ or dict of group to float, default=None
            Largest risk that is tolerated, in all groups or in each. None takes, group
            by group, the certified one. It is required where no risk was certified.

        confidence_level : float in ]0, 1[, default=0.95
            Least probability that there never is a false alarm in any group, and of all
            intervals together.

        max_loss : float > 0, default=1.0
            Largest possible loss, known beforehand.

        min_inclusion_proba : float in ]0, 1], default=1.0
            Smallest probability of a sample to be labeled, if only a random part is.
            The smaller it is, the more samples are needed to detect a risk above the
            target.

        since : {"start", "any"}, default="start"
            Samples that the alarm is about: all since the start, whose mean may be good
            although the last ones are bad, or those since any one update. "any" detects
            a change after many samples much earlier, and needs a few more samples at
            the start.

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
        confidence_level = check_level(confidence_level, "confidence_level")
        if isinstance(target, Mapping):
            unwatched = self.rules.keys() - set(watched)
            target = {k: v for k, v in target.items() if as_plain(k) not in unwatched}
        targets = targets_by_group(target, watched)
        monitors, level = {}, share_confidence(confidence_level, len(watched))
        for label in watched:
            try:
                monitors[label] = self.rules[label].monitor(
                    targets[label],
                    confidence_level=level,
                    max_loss=max_loss,
                    min_inclusion_proba=min_inclusion_proba,
                    since=since,
                )
            except ValueError as error:
                raise ValueError(f"group {label!r}: {error}") from None
        return monitors

    def _accepting(self):
        """Return the groups that accept something."""
        return list(self.rules)

    def _compare(self, values, codes):
        """Return what is beyond and at the threshold of its rule, and the chance at it.

        Position -1, the last one, is what has no rule.
        """
        rules = [*self.rules.values(), self._otherwise]
        thresholds = np.array([rule.threshold for rule in rules])[codes]
        chances = np.array([rule.proba_at_threshold for rule in rules])[codes]
        return *self._compare_with(values, thresholds), chances
