"""A rejection rule for each group of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._typing import Draws, RandomState
from sklearn_reject._validation import check_same_length, check_samples, take_weight
from sklearn_reject.selection._partition import RulesByGroup, as_labels, sort_rows
from sklearn_reject.selection._rule import RejectionRule, compare, decide, weigh

REJECT_ALL = RejectionRule(threshold=float("-inf"), proba_at_threshold=0.0)


@dataclass(frozen=True)
class GroupedRule(RulesByGroup, DictMixin):
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
    coverage: float = float("nan")
    selective_risk: float = float("nan")

    __hash__ = RulesByGroup.__hash__
    _kind = "RejectionRule"
    _shares = ("coverage",)
    _amounts = ("selective_risk",)
    _fate = "rejected"
    _otherwise = REJECT_ALL
    _compare_with = staticmethod(compare)

    @property
    def failure_rate(self) -> float:
        """Mean loss over all samples of the calibration set, zero for rejected ones."""
        return self.coverage * self.selective_risk if self.coverage else 0.0

    def accept_proba(self, scores: ArrayLike, groups: ArrayLike) -> np.ndarray:
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
        return weigh(*self._compare(*self._locate(scores, groups)))

    def at_threshold(self, scores: ArrayLike, groups: ArrayLike) -> np.ndarray:
        """Return which samples are at the threshold of their group.

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
        return self._compare(*self._locate(scores, groups))[1]

    def accept(
        self,
        scores: ArrayLike,
        groups: ArrayLike,
        *,
        draws: Draws | None = None,
        random_state: RandomState | None = None,
    ) -> np.ndarray:
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
            Seed of the draws if `draws` is None. Decisions then depend on the call: the
            same row may be accepted in one batch and not in another.

        Returns
        -------
        accepted : ndarray of shape (n_samples,), dtype bool
            Whether the sample is accepted.

        Raises
        ------
        ValueError
            If `draws` are not in [0, 1[, or given together with `random_state`.
        """
        compared = self._compare(*self._locate(scores, groups))
        return decide(*compared, draws, random_state)

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
        labels = as_labels(groups, "groups")
        check_same_length(len(scores), groups=labels)
        codes = self._find(labels)
        rules, partition = {}, sort_rows(codes, self.rules)
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
                "No group accepts any sample, so there is no risk to monitor. Solve "
                "the rules for another target."
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
