"""The deferral curve: system risk against how often the second opinion is asked."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves._asked import check_deferral_samples
from sklearn_reject._curves._groups import (
    RELATIVE_TOLERANCE,
    argsort_scores,
    running_sum,
    snap_sorted,
    starts_of_ties,
)
from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import warn_user


@dataclass(frozen=True, eq=False)
class DeferralGroups:
    """Samples grouped by equal score: arrays of shape (n_groups,), scores decreasing.

    The first groups are those that a rule defers first. `weights`, which are positive,
    and the losses of both opinions are sums over the samples of a group.

    >>> from sklearn_reject._curves import check_deferral_samples, group_deferral
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

    def __len__(self):
        return len(self.scores)

    @cached_property
    def cumulative_weights(self):
        """Weight of the first 0, 1, ... groups, ndarray of shape (n_groups + 1,)."""
        return np.append(0.0, running_sum(self.weights))

    @property
    def total_weight(self):
        """Weight of all samples."""
        return self.cumulative_weights[-1]

    @cached_property
    def system_losses(self):
        """Loss of whoever answers where the first 0, 1, ... groups are deferred.

        Sums of what is kept and of what is deferred: nothing cancels.
        """
        losses = np.append(0.0, running_sum(self.loss_second))
        losses[:-1] += running_sum(self.loss_first[::-1])[::-1]
        return losses


def group_deferral(samples, *, near=False):
    """Group what `check_deferral_samples` returns; `near`: scores up to rounding."""
    order, scores = argsort_scores(samples.scores)
    order, scores = order[::-1], (snap_sorted(scores) if near else scores)[::-1]
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
    losses = [np.add.reduceat(losses, starts) for losses in losses]
    return DeferralGroups(scores[starts], weight, *losses)


def deferral_curve(scores, loss_first, loss_second, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.deferral_curve` of losses.

    >>> from sklearn_reject._curves import deferral_curve
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

    >>> from sklearn_reject._curves import deferral_area_score
    >>> deferral_area_score([0.8, 0.2], [1, 0], [0, 1])
    0.25
    """
    check_option(normalize, "normalize", (None, "excess", "prr"))
    samples = check_deferral_samples(scores, loss_first, loss_second, sample_weight)
    area = _area(samples)
    if normalize is None:
        return area
    oracle = _area(samples._replace(scores=samples.loss_first - samples.loss_second))
    # The oracle is the minimum over all orders; only rounding gets below it.
    area = max(area, oracle)
    if normalize == "excess":
        return area - oracle
    random = sum(
        float(np.average(losses, weights=samples.weight)) / 2
        for losses in (samples.loss_first, samples.loss_second)
    )
    if not random - oracle > RELATIVE_TOLERANCE * random:
        warn_user(
            "The loss of the first opinion minus that of the second is the same in all "
            "samples, so no score can be better than a random one, and normalize='prr' "
            "is undefined. The value is set to NaN.",
            UndefinedMetricWarning,
        )
        return float("nan")
    return (random - area) / (random - oracle)


def _area(samples):
    """Return the integral of the system risk over the deferral rate."""
    groups = group_deferral(samples)
    total = groups.total_weight
    place = (groups.cumulative_weights[:-1] + groups.weights / 2) / total
    kept = (groups.loss_first / total) @ place
    return float(kept + (groups.loss_second / total) @ (1 - place))
