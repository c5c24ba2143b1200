"""Samples of which some are out of distribution, sorted and grouped by score."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject._curves._directions import (
    all_tie,
    combine,
    lift_risk,
    score_directions,
    sizes_of_sums,
)
from sklearn_reject._curves._groups import (
    argsort_scores,
    first_thresholds,
    make_finite,
    prefix_sums,
    snap,
    starts_of_ties,
)
from sklearn_reject._validation import (
    check_extended_vector,
    check_flags,
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
)

# What to do where OOD samples are needed and there are none.
MARK_OOD = (
    "Mark OOD samples: in curves with is_ood, in metrics and scorers with ood_label "
    "('auto' is 'ood' for strings and -1 for numbers, unless -1 is one of two "
    "classes; pass ood_label=-1 if it is not a class). In cross-validation, use "
    "stratified folds, so that each has OOD samples: StratifiedKFold treats the "
    "ood_label as one more class."
)


@dataclass(frozen=True, eq=False)
class OriginGroups:
    """ID and OOD samples grouped by equal score, as arrays of shape (n_groups,).

    A rule accepts the first groups and maybe a share of the next one. Samples of score
    minus infinity are accepted by every rule, those of score infinity by none: the
    former are the first group, the latter no group at all but part of the totals.
    Scores increase, `losses` are sums over ID samples, and `total_ood` may be zero.

    >>> from sklearn_reject._curves._origins import gather_samples
    >>> samples = gather_samples([0.1, 0.4, 0.4, 0.8], None, [0, 0, 1, 1], None)
    >>> groups = samples.group()
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
        return prefix_sums(self.id_weights)

    @cached_property
    def accepted_ood(self):
        """OOD weight of the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return prefix_sums(self.ood_weights)

    @cached_property
    def accepted_losses(self):
        """Loss of the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return prefix_sums(self.losses)

    @property
    def true_positive_rates(self):
        """Share of ID weight in the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return self.accepted_id / self.total_id

    @property
    def false_positive_rates(self):
        """Share of OOD weight in the first 0, 1, ... groups; zero without OOD."""
        return self.accepted_ood / (self.total_ood or 1.0)


def check_origin_samples(scores, losses, is_ood, sample_weight=None):
    """Validate scores that may be infinite, losses of ID samples, origins and weights.

    Losses of OOD samples mean nothing: whatever they are, they come back as zero.
    """
    scores = check_extended_vector(scores, "scores")
    is_ood = check_flags(is_ood, "is_ood")
    check_same_length(scores.size, is_ood=is_ood, losses=losses)
    losses = np.where(is_ood, 0.0, np.asarray(losses))
    losses = check_vector(losses, "losses", non_negative=True)
    weight = check_sample_weight(sample_weight, scores.size)
    if weight is None:
        weight = np.broadcast_to(1.0, scores.shape)
    if not (~is_ood & (weight > 0)).any():
        raise ValueError(
            "is_ood is True for all samples (of positive weight). At least one ID "
            "sample is needed to measure the share that is accepted."
        )
    return scores, losses, is_ood, weight


def group_origins_validated(scores, losses, is_ood, weight, *, near=False, sizes=None):
    """Group arrays that have been through `check_origin_samples`.

    With `near` what differs by rounding is grouped by `snap`. With the `sizes` of sums
    each sample is in the first group that a rule accepts it with.
    """
    scores = snap(scores) if near else scores
    weight = np.ones(len(scores)) if weight is None else weight
    never = np.flatnonzero(scores == np.inf)
    never_ood = weight[never] @ is_ood[never]
    never_id = weight[never] @ ~is_ood[never]
    rows = np.flatnonzero((scores < np.inf) & (weight > 0))
    order, scores = argsort_scores(scores[rows])
    order = rows[order]
    if sizes is not None and len(order):
        order, scores = _sort_by_first_threshold(order, scores, sizes[order])
    is_ood, weight, losses = is_ood[order], weight[order], losses[order]
    starts = np.flatnonzero(starts_of_ties(scores))
    id_weights, ood_weights, losses = (
        np.add.reduceat(values, starts)
        for values in (
            np.where(is_ood, 0.0, weight),
            np.where(is_ood, weight, 0.0),
            losses * weight,
        )
    )
    return OriginGroups(
        scores[starts],
        id_weights,
        ood_weights,
        losses,
        # As the running sum does, so that the last rate is 1 and not nearly 1.
        float(prefix_sums(id_weights)[-1] + never_id),
        float(prefix_sums(ood_weights)[-1] + never_ood),
    )


def _sort_by_first_threshold(order, scores, sizes):
    scores = first_thresholds(scores, sizes)
    if (scores[1:] >= scores[:-1]).all():
        return order, scores
    again = np.argsort(scores)
    return order[again], scores[again]


@dataclass(frozen=True, eq=False)
class OriginSamples:
    """Validated samples of positive weight, arrays of shape (n_samples,).

    `scores` is a list of one score, or of a risk score and a novelty score; `losses`
    are zero for OOD samples.
    """

    scores: list
    losses: np.ndarray
    is_ood: np.ndarray
    weight: np.ndarray

    def __len__(self):
        return len(self.is_ood)

    @property
    def ood_share(self):
        """Share of the weight that is OOD."""
        return float(np.average(self.is_ood, weights=self.weight))

    def refuse_without_ood(self, what):
        """Raise where nothing can be said about accepted OOD samples."""
        if not self.is_ood.any():
            raise ValueError(
                "is_ood is False for all samples (of positive weight). At least one "
                f"OOD sample is needed for {what}. {MARK_OOD}"
            )

    def group(self):
        """Return the samples grouped by the one score."""
        return group_origins_validated(
            *self.scores, self.losses, self.is_ood, self.weight
        )

    def rules(self):
        """Yield, for each combined score, the samples grouped as rules tell them apart.

        These accept together what differs by rounding, and each sample is in the group
        that it is first accepted with. No rule rests on sums that rounding alone
        tells apart, so where all do there is none.
        """
        rest = self.losses, self.is_ood, self.weight
        snapped = [snap(score) for score in self.scores]
        if len(snapped) == 1:
            yield group_origins_validated(*snapped, *rest)
            return
        pair, snapped = _lift(*self.scores), _lift(*snapped)
        finite = np.isfinite(snapped[1])
        rows = slice(None) if finite.all() else finite
        ranges = [np.ptp(s[rows]) if finite.any() else 0.0 for s in snapped]
        for weights in score_directions(*pair):
            scores = combine(*snapped, weights)
            if finite.any() and all_tie(scores[rows], ranges, weights):
                continue
            sizes = None if 0.0 in weights else sizes_of_sums(*snapped, weights)
            yield group_origins_validated(scores, *rest, sizes=sizes)

    def rankings(self, positive="id"):
        """Yield the samples grouped by each combined score, for areas.

        Infinity is an ordinary highest value here. With ``positive="ood"`` the order
        and the origins are turned around, so that what counts as ID in the groups are
        the OOD samples, the highest scores first.
        """
        is_negative = self.is_ood if positive == "id" else ~self.is_ood
        combined = self.scores
        if len(self.scores) == 2:
            pair = _lift(*self.scores)
            combined = (combine(*pair, weights) for weights in score_directions(*pair))
        for scores in combined:
            scores = scores if positive == "id" else -scores
            yield group_origins_validated(
                make_finite(scores), self.losses, is_negative, self.weight
            )


def _lift(risk, novelty):
    return lift_risk(risk)[0], novelty


def gather_samples(scores, losses, is_ood, sample_weight):
    """Validate one or two scores, losses of ID samples (None: all zero) and origins."""
    scores = np.asarray(scores)
    *first, last = scores.T if scores.ndim == 2 else [scores]
    losses = np.zeros(len(last)) if losses is None else losses
    last, *rest = check_origin_samples(last, losses, is_ood, sample_weight)
    scores = [*(check_vector(score, "the risk scores") for score in first), last]
    present = rest[-1] > 0
    if present.all():
        return OriginSamples(scores, *rest)
    scores = [score[present] for score in scores]
    return OriginSamples(scores, *(column[present] for column in rest))


def check_positive(positive):
    """Return which class the positive one is; there is no default to mistake."""
    return check_option(positive, "positive", ("id", "ood"))
