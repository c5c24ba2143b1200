"""What a fitted rule achieves on new samples, ID and OOD, with exact intervals."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from sklearn_reject._interval import Interval
from sklearn_reject._short_repr import short_repr
from sklearn_reject._validation import check_same_length
from sklearn_reject.selection import (
    BOUNDS,
    binomial_upper,
    check_confidence_level,
    precision_of,
)


@dataclass(frozen=True)
class OODMeasurement:
    """What a rule achieves on samples that it was not tuned on.

    Each interval holds with `confidence_level` by itself, over the draw of the samples.
    Those of shares of 0/1 outcomes are exact ones of Clopper and Pearson (1934).

    Attributes
    ----------
    tpr : Interval
        Share of the ID samples that is accepted, higher is better.

    fpr : Interval
        Share of the OOD samples that is accepted, lower is better.

    selective_risk : Interval
        Mean loss of the accepted ID samples, lower is better.

    precision : Interval
        Share of ID samples among the accepted ones, for the `ood_prior` of the
        classifier, higher is better. NaN without a prior.

    confidence_level : float
        Least probability of each interval.

    fpr_by_group : dict, optional
        The share of the OOD samples of each group that is accepted, an
        :class:`Interval`; empty where no groups were given.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import DoubleScoreOODClassifier, OODMeasurement
    >>> X, y = make_blobs(400, centers=4, random_state=0)
    >>> y[y == 3] = -1
    >>> model = DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.7)
    >>> measured = model.fit(X[:200], y[:200]).measure(X[200:], y[200:])
    >>> isinstance(measured, OODMeasurement)
    True
    >>> measured.tpr.n_samples, measured.fpr.n_samples
    (150, 50)
    """

    tpr: Interval
    fpr: Interval
    selective_risk: Interval
    precision: Interval
    confidence_level: float
    fpr_by_group: dict[Any, Interval] = field(default_factory=dict)

    __repr__ = short_repr


def measure_rule(
    accepted,
    losses,
    is_ood,
    is_wild,
    *,
    confidence_level,
    ood_prior,
    wild_share,
    bound,
    max_loss,
    groups=None,
):
    """Return the measurement of what is accepted, flags of shape (n_samples,).

    `losses` count for ID samples. Wild ones, which are unlabeled, tell the FPR where
    no sample is labeled as OOD.
    """
    confidence_level = check_confidence_level(confidence_level)
    of_id, of_ood = accepted[~is_ood & ~is_wild], accepted[is_ood]

    def fpr(confidence_level):
        if len(of_ood) or not is_wild.any():
            return share_of(of_ood, confidence_level)
        return _fpr_of_wild(of_id, accepted[is_wild], wild_share, confidence_level)

    # Of two intervals that are combined, each gets half of the error.
    both = (1 + confidence_level) / 2
    accepted_losses = losses[accepted & ~is_ood & ~is_wild]
    return OODMeasurement(
        tpr=share_of(of_id, confidence_level),
        fpr=fpr(confidence_level),
        selective_risk=risk_of(accepted_losses, bound, max_loss, confidence_level),
        precision=_precision(share_of(of_id, both), fpr(both), ood_prior),
        confidence_level=confidence_level,
        fpr_by_group=_by_group(accepted, is_ood, groups, confidence_level),
    )


def share_of(accepted, confidence_level):
    """Return the share of flags that are set, with its Clopper-Pearson interval."""
    n_samples = len(accepted)
    if not n_samples:
        return Interval(np.nan, 0.0, 1.0, 0)
    count, tail = int(np.count_nonzero(accepted)), (1 - confidence_level) / 2
    low = 1 - binomial_upper(n_samples - count, n_samples, tail)
    return Interval(
        count / n_samples, low, binomial_upper(count, n_samples, tail), n_samples
    )


def _fpr_of_wild(of_id, of_wild, wild_share, confidence_level):
    """Return the FPR that what is accepted of a mixture and of ID samples imply."""
    both = (1 + confidence_level) / 2
    wild, inside = share_of(of_wild, both), share_of(of_id, both)
    # The more of the ID samples are accepted, the fewer of the OOD ones are.
    pairs = zip(wild[:3], (inside.value, inside.high, inside.low), strict=True)
    value, low, high = (
        (mixed - (1 - wild_share) * known) / wild_share for mixed, known in pairs
    )
    return Interval(
        float(value), *np.clip((low, high), 0.0, 1.0).tolist(), wild.n_samples
    )


def risk_of(losses, bound, max_loss, confidence_level):
    """Return the mean loss with an interval, of no end where losses have none."""
    value = float(losses.mean()) if len(losses) else np.nan
    if max_loss is None or not len(losses):
        return Interval(
            value, 0.0, np.inf if max_loss is None else max_loss, len(losses)
        )
    scaled, tail = losses / max_loss, (1 - confidence_level) / 2
    high = BOUNDS[bound].upper(scaled, tail)
    low = 1 - BOUNDS[bound].upper(1 - scaled, tail)
    return Interval(value, max_loss * low, max_loss * high, len(losses))


def _precision(tpr, fpr, ood_prior):
    """Return the precision, which grows with the TPR and falls with the FPR."""
    if ood_prior is None:
        return Interval(np.nan, 0.0, 1.0, 0)
    pairs = (tpr.value, fpr.value), (tpr.low, fpr.high), (tpr.high, fpr.low)
    value, low, high = (precision_of(*pair, ood_prior) for pair in pairs)
    return Interval(
        value,
        0.0 if np.isnan(low) else low,
        1.0 if np.isnan(high) else high,
        tpr.n_samples + fpr.n_samples,
    )


def _by_group(accepted, is_ood, groups, confidence_level):
    """Return the FPR of each group of OOD samples."""
    if groups is None:
        return {}
    groups = column_or_1d(np.asarray(groups), warn=True)
    check_same_length(len(accepted), groups=groups)
    # As Python objects, so that names of any kind may stand beside each other.
    of_ood = np.array(groups[is_ood].tolist(), dtype=object)
    if any(group is None or (group == group) is not True for group in of_ood):
        raise ValueError(
            "groups has no value for an OOD sample (None or NaN). Pass the group of "
            "each OOD sample; the groups of other samples are not used."
        )
    return {
        group: share_of(accepted[is_ood][of_ood == group], confidence_level)
        for group in sorted(set(of_ood), key=lambda group: (str(type(group)), group))
    }
