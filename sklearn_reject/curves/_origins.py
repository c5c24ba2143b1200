"""ID and OOD samples grouped by equal score: what a threshold accepts of either."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sklearn_reject._validation import (
    check_extended_vector,
    check_flags,
    check_losses,
    check_same_length,
    check_sample_weight,
)
from sklearn_reject.curves._groups import running_sum, starts_of_ties
from sklearn_reject.curves._sort import argsort_scores


@dataclass(frozen=True, eq=False)
class OriginGroups:
    """ID and OOD samples grouped by equal score, in increasing order of the score.

    A rule accepts the first groups and maybe a share of the next one. Samples of score
    minus infinity are accepted by every rule, those of score infinity by none: the
    former are the first group, the latter no group at all but part of the totals.

    Attributes
    ----------
    scores : ndarray of shape (n_groups,)
        Distinct scores below infinity, increasing.

    id_weights, ood_weights : ndarray of shape (n_groups,)
        Weight of the ID and of the OOD samples of each group.

    losses : ndarray of shape (n_groups,)
        Weighted sum of the losses of the ID samples of each group.

    total_id, total_ood : float
        Weight of all ID and all OOD samples, rejected by every rule or not. The latter
        may be zero.

    Examples
    --------
    >>> from sklearn_reject.curves import group_by_origin
    >>> groups = group_by_origin([0.1, 0.4, 0.4, 0.8], [0, 1, 0, 0], [0, 0, 1, 1])
    >>> groups.scores, groups.id_weights, groups.ood_weights
    (array([0.1, 0.4, 0.8]), array([1., 1., 0.]), array([0., 1., 1.]))
    >>> groups.true_positive_rates, groups.false_positive_rates
    (array([0. , 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 1. ]))
    """

    scores: np.ndarray
    id_weights: np.ndarray
    ood_weights: np.ndarray
    losses: np.ndarray
    total_id: float
    total_ood: float

    def __len__(self):
        return len(self.scores)

    @property
    def n_always(self):
        """Number of groups that every rule accepts: one of score -inf, or none."""
        return int(len(self) > 0 and self.scores[0] == -np.inf)

    @cached_property
    def accepted_id(self):
        """ID weight of the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return _running_sum_from_zero(self.id_weights)

    @cached_property
    def accepted_ood(self):
        """OOD weight of the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return _running_sum_from_zero(self.ood_weights)

    @cached_property
    def accepted_losses(self):
        """Loss of the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return _running_sum_from_zero(self.losses)

    @property
    def true_positive_rates(self):
        """Share of ID weight in the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return self.accepted_id / self.total_id

    @property
    def false_positive_rates(self):
        """Share of OOD weight in the first 0, 1, ... groups; zero without OOD."""
        return self.accepted_ood / (self.total_ood or 1.0)


def _running_sum_from_zero(values):
    return np.append(0.0, running_sum(values))


def check_origin_samples(scores, losses, is_ood, sample_weight=None):
    """Validate scores that may be infinite, losses of ID samples, origins and weights.

    Losses of OOD samples mean nothing: whatever they are, they come back as zero.
    """
    scores = check_extended_vector(scores, "scores")
    is_ood = check_flags(is_ood, "is_ood")
    check_same_length(scores.size, is_ood=is_ood, losses=losses)
    losses = np.where(is_ood, 0.0, np.asarray(losses))
    losses = check_losses(losses)
    weight = check_sample_weight(sample_weight, scores.size)
    present = ~is_ood if weight is None else ~is_ood & (weight > 0)
    if not present.any():
        raise ValueError(
            "is_ood is True for all samples (of positive weight): at least one ID "
            "sample is needed to measure what is accepted of them."
        )
    return scores, losses, is_ood, weight


def group_by_origin(scores, losses, is_ood, sample_weight=None):
    """Group ID and OOD samples by equal score.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores, higher = rejected first. Infinite ones are allowed: see
        :class:`OriginGroups`.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. Samples of zero weight count as absent.

    Returns
    -------
    groups : OriginGroups
        One group a distinct score below infinity.

    Raises
    ------
    ValueError
        If an array is empty, NaN or of another length than the others, if a loss or
        weight is negative, or if there is no ID sample.

    Examples
    --------
    >>> from sklearn_reject.curves import group_by_origin
    >>> groups = group_by_origin([0.5, 0.1, float("inf")], [1, 0, 0], [0, 0, 1])
    >>> groups.false_positive_rates
    array([0., 0., 0.])
    """
    return group_origins_validated(
        *check_origin_samples(scores, losses, is_ood, sample_weight)
    )


def group_origins_validated(scores, losses, is_ood, weight):
    """Group arrays that have been through `check_origin_samples`."""
    weight = np.ones(len(scores)) if weight is None else weight
    never = np.flatnonzero(scores == np.inf)
    never_ood = weight[never] @ is_ood[never]
    never_id = weight[never] @ ~is_ood[never]
    order, scores = _order_below_infinity(scores, weight)
    is_ood, weight, losses = is_ood[order], weight[order], losses[order]
    starts = np.flatnonzero(starts_of_ties(scores))
    add = partial(_add_groups, starts=starts)
    id_weights = add(np.where(is_ood, 0.0, weight))
    ood_weights = add(np.where(is_ood, weight, 0.0))
    return OriginGroups(
        scores[starts],
        id_weights,
        ood_weights,
        add(losses * weight),
        _total(id_weights) + float(never_id),
        _total(ood_weights) + float(never_ood),
    )


def _add_groups(values, starts):
    return np.add.reduceat(values, starts) if len(starts) else values


def _total(values):
    """Add up as the running sum does, so that the last rate is 1 and not nearly 1."""
    return float(_running_sum_from_zero(values)[-1])


def _order_below_infinity(scores, weight):
    """Return the rows of positive weight by increasing score, and their scores."""
    always = np.flatnonzero((scores == -np.inf) & (weight > 0))
    rows = np.flatnonzero(np.isfinite(scores) & (weight > 0))
    if not len(rows):
        return always, scores[always]
    order, finite = argsort_scores(scores[rows])
    return (
        np.concatenate([always, rows[order]]),
        np.concatenate([np.full(len(always), -np.inf), finite]),
    )
