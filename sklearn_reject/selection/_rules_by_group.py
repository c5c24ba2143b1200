"""What the rules of groups share: labels, certificates, monitors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sklearn_reject._as_dict import check_state
from sklearn_reject._validation import check_level, check_same_length, check_vector
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._partition import (
    as_labels,
    as_plain,
    count_labels,
    distinct_labels,
    encode_labels,
    share_confidence,
    targets_by_group,
)
from sklearn_reject.selection._rule import Certificate


class RulesByGroup:
    """Dataclass of `rules`, a dict of group to rule, and of what they achieve together.

    `_kind` is the name of a rule's class, `_shares` and `_amounts` are what they
    achieve, and `_fate` says what happens to samples of a group without a rule.
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

    def _monitors(self, watched, target, confidence_level, **options):
        """Return a monitor for each of some groups, which share the false alarms."""
        confidence_level = check_level(confidence_level, "confidence_level")
        if isinstance(target, Mapping):
            unwatched = self.rules.keys() - set(watched)
            target = {k: v for k, v in target.items() if as_plain(k) not in unwatched}
        targets = targets_by_group(target, watched)
        monitors, level = {}, share_confidence(confidence_level, len(watched))
        for label in watched:
            try:
                monitors[label] = self.rules[label].monitor(
                    targets[label], confidence_level=level, **options
                )
            except ValueError as error:
                raise ValueError(f"group {label!r}: {error}") from None
        return monitors
