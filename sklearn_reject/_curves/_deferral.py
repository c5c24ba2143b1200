"""The deferral curve: system risk against how often the second opinion is asked."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from sklearn_reject._curves._groups import (
    argsort_scores,
    prefix_sums,
    running_sum,
    snap_sorted,
    starts_of_ties,
)
from sklearn_reject._curves._risk_coverage import normalize_area
from sklearn_reject._validation import (
    as_real_array,
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
    find_missing_labels,
    take_weight,
)
from sklearn_reject.exceptions import warn_user


class DeferralSamples(NamedTuple):
    """Validated samples of which both losses are known, all of positive weight.

    All have shape (n_used,), `weight` may be None; `is_used`, of shape (n_samples,),
    tells which of all samples they are.
    """

    scores: np.ndarray
    loss_first: np.ndarray
    loss_second: np.ndarray
    weight: np.ndarray | None
    is_used: np.ndarray


def check_deferral_samples(
    scores, loss_first, loss_second, sample_weight=None, *, name="scores"
):
    """Validate what deferral is judged on, and leave out what is not known.

    Scores of any sign, higher = deferred first. `loss_second` is NaN or None where the
    second opinion was not asked. A warning says so where those asked were evidently
    not drawn at random. `name` is what messages call the scores.
    """
    scores = check_vector(scores, name)
    loss_first = check_vector(loss_first, "loss_first", non_negative=True)
    loss_second, is_known = _check_answers(loss_second)
    check_same_length(scores.size, loss_first=loss_first, loss_second=loss_second)
    weight = check_sample_weight(sample_weight, scores.size)
    counts = np.ones(scores.size, dtype=bool) if weight is None else weight > 0
    is_used = is_known & counts
    if not is_used.any():
        raise ValueError(
            "sample_weight is zero wherever loss_second is known. The second opinion "
            "must be known for some samples of positive weight."
        )
    if not is_known[counts].all():
        _warn_of_choice(scores[counts], loss_first[counts], is_known[counts])
    if is_used.all():
        return DeferralSamples(scores, loss_first, loss_second, weight, is_used)
    arrays = (array[is_used] for array in (scores, loss_first, loss_second))
    return DeferralSamples(*arrays, take_weight(weight, is_used), is_used)


def _check_answers(losses):
    """Return the losses of the second opinion, zero where missing, and which are."""
    array = losses if np.ma.isMaskedArray(losses) else np.asarray(losses)
    missing = find_missing_labels(array)
    if array.ndim != 1 or not missing.any():
        array = check_vector(array, "loss_second", non_negative=True)
        return array, np.ones(len(array), dtype=bool)
    if missing.all():
        raise ValueError(
            f"loss_second is missing in all {len(array)} samples. The second opinion "
            "must be known for some of them. Ask it about a random sample."
        )
    array = np.where(missing, 0.0, np.asarray(array))
    array = as_real_array(array, "loss_second")
    return check_vector(array, "loss_second", non_negative=True), ~missing


# Chance alone leads to a warning less often than this.
_CHANCE = 1e-6


def _warn_of_choice(scores, loss_first, is_known):
    """Warn where the samples with a second opinion cannot be a random draw of all."""
    what = ("loss of the first opinion", loss_first), ("deferral score", scores)
    for name, values in what:
        bound, is_higher = _bound_of_chance(values, is_known)
        if bound < _CHANCE:
            warn_user(
                f"The second opinion is known for {np.count_nonzero(is_known)} of "
                f"{len(is_known)} samples, and the {name} is "
                f"{'higher' if is_higher else 'lower'} in these than in the others, by "
                "more than chance. The others are ignored, as if the known ones had "
                "been drawn at random, so rates and risks describe only the samples "
                "that were chosen. Ask about samples drawn at random, or pass only the "
                "known ones, with the inverse of their probability of being asked as "
                "sample_weight."
            )
            return


def _bound_of_chance(values, is_drawn):
    """Bound the probability that random draws differ as much in the mean rank.

    Bernstein's inequality, which holds for draws without replacement, too (Hoeffding,
    1963, theorem 4), at both ends. Ranks, because a few large losses say little.
    """
    # Their mean is known without rounding, so that all of them are zero where all tie.
    ranks = (rankdata(values) - (len(values) + 1) / 2) / len(values)
    n_drawn = np.count_nonzero(is_drawn)
    difference = ranks[is_drawn].sum()
    # What is left out differs as much, and may be less.
    fewer = min(n_drawn, len(ranks) - n_drawn)
    spread = 2 * fewer * ranks.var() + np.abs(ranks).max() * abs(difference) * 2 / 3
    return (2 * np.exp(-(difference**2) / spread) if spread else 1.0), difference > 0


@dataclass(frozen=True, eq=False)
class DeferralGroups:
    """Samples grouped by equal score: arrays of shape (n_groups,), scores decreasing.

    The first groups are those that a rule defers first. `weights`, which are positive,
    and the losses of both opinions are sums over the samples of a group.

    >>> from sklearn_reject._curves._deferral import (
    ...     check_deferral_samples, group_deferral)
    >>> samples = check_deferral_samples([0.1, 0.4, 0.4], [0, 1, 1], [1, 0, 1])
    >>> groups = group_deferral(samples)
    >>> groups.scores, groups.loss_first, groups.loss_second
    (array([0.4, 0.1]), array([2., 0.]), array([1., 1.]))
    >>> groups.system_losses
    array([2., 1., 2.])
    """

    scores: np.ndarray
    weights: np.ndarray
    loss_first: np.ndarray
    loss_second: np.ndarray
    # Change of loss of each sample by deferring it, and where groups start; None where
    # each sample is a group.
    changes: np.ndarray | None = None
    starts: np.ndarray | None = None

    def __len__(self):
        return len(self.scores)

    @cached_property
    def squared_changes(self):
        """Squared changes of loss by deferring a sample, added up over each group."""
        if self.starts is None:
            return (self.loss_second - self.loss_first) ** 2
        return np.add.reduceat(self.changes**2, self.starts)

    @cached_property
    def cumulative_weights(self):
        """Weight of the first 0, 1, ... groups, ndarray of shape (n_groups + 1,)."""
        return prefix_sums(self.weights)

    @property
    def total_weight(self):
        """Weight of all samples."""
        return self.cumulative_weights[-1]

    @cached_property
    def system_losses(self):
        """Loss of whoever answers where the first 0, 1, ... groups are deferred.

        Sums of what is kept and of what is deferred: nothing cancels.
        """
        losses = prefix_sums(self.loss_second)
        losses[:-1] += running_sum(self.loss_first[::-1])[::-1]
        return losses


def group_deferral(samples, *, near=False):
    """Group what `check_deferral_samples` returns; `near`: scores up to rounding."""
    order, scores = argsort_scores(-samples.scores)
    scores = -(snap_sorted(scores) if near else scores)
    losses = [losses[order] for losses in (samples.loss_first, samples.loss_second)]
    weight = samples.weight
    if weight is not None:
        weight = weight[order]
        losses = [weight * losses for losses in losses]
    is_start = starts_of_ties(scores)
    if is_start.all():
        weight = np.broadcast_to(1.0, len(scores)) if weight is None else weight
        return DeferralGroups(scores, weight, *losses)
    starts = np.flatnonzero(is_start)
    if weight is None:
        weight = np.diff(starts, append=len(scores)).astype(np.float64)
    else:
        weight = np.add.reduceat(weight, starts)
    changes = losses[1] - losses[0]
    losses = [np.add.reduceat(losses, starts) for losses in losses]
    return DeferralGroups(scores[starts], weight, *losses, changes, starts)


def deferral_curve(scores, loss_first, loss_second, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.deferral_curve` of losses.

    >>> from sklearn_reject._curves._deferral import deferral_curve
    >>> deferral_curve([0.8, 0.2], [1, 0], [0, 1])
    (array([0. , 0.5, 1. ]), array([0.5, 0. , 0.5]), array([inf, 0.8, 0.2]))
    """
    groups = group_deferral(
        check_deferral_samples(scores, loss_first, loss_second, sample_weight)
    )
    total = groups.total_weight
    thresholds = np.append(np.inf, groups.scores)
    return groups.cumulative_weights / total, groups.system_losses / total, thresholds


def deferral_area_score(
    scores, loss_first, loss_second, *, sample_weight=None, normalize=None
):
    """Compute :func:`sklearn_reject.metrics.deferral_area_score` of losses.

    A sample is kept at deferral rates below its place in the order, and deferred above
    it. So its place, of a tie group the middle, weighs the loss of the first opinion,
    and the rest up to 1 that of the second.

    >>> from sklearn_reject._curves._deferral import deferral_area_score
    >>> deferral_area_score([0.8, 0.2], [1, 0], [0, 1])
    0.25
    """
    check_option(normalize, "normalize", (None, "excess", "prr"))
    samples = check_deferral_samples(scores, loss_first, loss_second, sample_weight)
    area = _area(samples)
    if normalize is None:
        return area
    oracle = _area(samples._replace(scores=samples.loss_first - samples.loss_second))
    random = sum(
        float(np.average(losses, weights=samples.weight)) / 2
        for losses in (samples.loss_first, samples.loss_second)
    )
    reason = (
        "The loss of the first opinion minus that of the second is the same in all "
        "samples"
    )
    return normalize_area(area, oracle, random, normalize, reason)


def _area(samples):
    """Return the integral of the system risk over the deferral rate."""
    groups = group_deferral(samples)
    total = groups.total_weight
    place = (groups.cumulative_weights[:-1] + groups.weights / 2) / total
    kept = (groups.loss_first / total) @ place
    return float(kept + (groups.loss_second / total) @ (1 - place))
