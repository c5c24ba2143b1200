"""ID and OOD samples with one score, or with two and all that combines them."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._validation import check_option, check_vector, take_weight
from sklearn_reject.curves._directions import checked_scale, combine, direction_grid
from sklearn_reject.curves._origins import check_origin_samples, group_origins_validated
from sklearn_reject.curves._sort import make_finite


@dataclass(frozen=True, eq=False)
class OriginSamples:
    """Validated samples of positive weight.

    Attributes
    ----------
    scores : list of ndarray of shape (n_samples,)
        One score, or a risk score and a novelty score.

    losses : ndarray of shape (n_samples,)
        Losses, zero for OOD samples.

    is_ood : ndarray of shape (n_samples,), dtype bool
        Origins.

    weight : ndarray of shape (n_samples,) or None
        Positive weights.
    """

    scores: list
    losses: np.ndarray
    is_ood: np.ndarray
    weight: np.ndarray | None

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
                "is_ood is False for all samples (of positive weight): at least one "
                f"OOD sample is needed for {what}."
            )

    def combinations(self, n_angles):
        """Yield the score, or the combined scores of each direction of the grid."""
        if len(self.scores) == 1:
            yield self.scores[0]
            return
        # Distinct values: what a row weighs does not matter for the grid.
        risk, novelty = (
            score / checked_scale(np.unique(score), name)
            for score, name in zip(self.scores, ("risk", "novelty"), strict=True)
        )
        for direction in direction_grid(n_angles):
            yield combine(risk, novelty, direction)

    def groups(self, n_angles):
        """Yield the samples grouped by each combined score, for rules."""
        for scores in self.combinations(n_angles):
            yield group_origins_validated(scores, self.losses, self.is_ood, self.weight)

    def rankings(self, n_angles, positive="id"):
        """Yield the samples grouped by each combined score, for areas.

        Infinity is an ordinary highest value here. With ``positive="ood"`` the order
        and the origins are turned around, so that what counts as ID in the groups are
        the OOD samples, the highest scores first.
        """
        is_negative = self.is_ood if positive == "id" else ~self.is_ood
        for scores in self.combinations(n_angles):
            scores = scores if positive == "id" else -scores
            yield group_origins_validated(
                make_finite(scores), self.losses, is_negative, self.weight
            )


def gather_samples(scores, losses, is_ood, sample_weight):
    """Validate one or two scores, losses of ID samples (None: all zero) and origins."""
    columns = _columns(scores)
    losses = np.zeros(len(columns[-1])) if losses is None else losses
    *first, last = columns
    last, *rest = check_origin_samples(last, losses, is_ood, sample_weight)
    scores = [*(check_vector(score, "the risk scores") for score in first), last]
    weight = rest[-1]
    if weight is None or weight.all():
        return OriginSamples(scores, *rest)
    present = weight > 0
    losses, is_ood = rest[0][present], rest[1][present]
    scores = [score[present] for score in scores]
    return OriginSamples(scores, losses, is_ood, take_weight(weight, present))


def _columns(scores):
    scores = np.asarray(scores)
    if scores.ndim != 2:
        return [scores]
    if scores.shape[1] != 2:
        raise ValueError(
            "scores must be a vector of shape (n_samples,), or risk and novelty scores "
            f"of shape (n_samples, 2), got an array of shape {scores.shape}."
        )
    return list(scores.T)


def check_positive(positive):
    """Return which class the positive one is; there is no default to mistake."""
    return check_option(positive, "positive", ("id", "ood"))
