"""Rules for ID and OOD samples, of one score or of two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import Amount, DictMixin, Number, Probability, Share, Size
from sklearn_reject._curves._directions import combine, sizes_of_sums
from sklearn_reject._curves._ood import check_origin_samples
from sklearn_reject._validation import (
    check_extended_vector,
    check_same_length,
    check_vector,
)
from sklearn_reject.selection._ood_model import check_wild_share
from sklearn_reject.selection._rule import Accepting, compare

_NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class _OODRule(Accepting, DictMixin):
    """What the rules have in common: a threshold, and what it achieves."""

    threshold: Number
    proba_at_threshold: Probability
    tpr: Share = _NAN
    fpr: float = _NAN
    precision: Share = _NAN
    selective_risk: Amount = _NAN
    ood_prior: Probability | None = None
    certificate: DictMixin | None = None

    def _compare_sums(self, scores, sizes=None):
        is_below, is_at = compare(scores, self.threshold, sizes)
        # No rule rejects minus infinity; infinity is at no threshold.
        is_always = scores == -np.inf
        return is_below | is_always, is_at & ~is_always, self.proba_at_threshold

    def _measure(self, scores, losses, is_ood, sample_weight, wild_share):
        accepted = self.accept_proba(*scores)
        sample = scores[-1], losses, is_ood, sample_weight
        _, losses, is_ood, weight = check_origin_samples(*sample)
        accepted = accepted * weight
        of_id, total_ood = accepted.sum(where=~is_ood), weight.sum(where=is_ood)
        tpr, fpr = float(of_id / weight.sum(where=~is_ood)), _NAN
        share = check_wild_share(wild_share)
        if total_ood > 0:
            of_wild = float(accepted.sum(where=is_ood) / total_ood)
            fpr = (of_wild - (1 - share) * tpr) / share
        return replace(
            self,
            tpr=tpr,
            fpr=fpr,
            precision=precision_of(tpr, fpr, self.ood_prior),
            selective_risk=float(accepted @ losses / of_id) if of_id else _NAN,
        )


def precision_of(tpr, fpr, ood_prior):
    """Return the share of ID samples among the accepted, NaN if there are none.

    It is 1 where the FPR is negative, as that of a mixture may be by chance, and NaN
    where it is unknown and matters.
    """
    if ood_prior is None:
        return _NAN
    of_id = (1 - ood_prior) * tpr
    of_ood = ood_prior * max(fpr, 0.0) if ood_prior else 0.0
    return of_id / (of_id + of_ood) if of_id + of_ood else _NAN


@dataclass(frozen=True, kw_only=True)
class SingleScoreRule(_OODRule):
    """Accept below a threshold of one score, at random at it, reject above.

    Scores of minus infinity are always accepted, scores of infinity never, whatever the
    threshold is. A finite score is at the threshold if they differ by at most 2^-40 of
    the score's magnitude.

    Attributes
    ----------
    threshold : float
        Scores below it are accepted, scores above it rejected. Infinite where all
        finite scores of the calibration set are accepted, minus infinity where none is.

    proba_at_threshold : float
        Probability in [0, 1] that a score equal to the threshold is accepted.

    tpr : float, default=nan
        Share of the ID samples of the calibration set that is accepted, higher is
        better. This and what follows is NaN if the rule was made without a sample.

    fpr : float, default=nan
        Share of the OOD samples that is accepted, lower is better. NaN without OOD
        samples. Where it is estimated from a mixture (`wild_share`), chance may make it
        slightly negative, or larger than 1.

    precision : float, default=nan
        Share of ID samples among the accepted ones where `ood_prior` of all samples are
        OOD, higher is better. NaN without a prior, if nothing is accepted or, unless
        the prior is zero, without OOD samples.

    selective_risk : float, default=nan
        Mean loss of the accepted ID samples, lower is better. NaN if there are none.

    ood_prior : float, default=None
        Share of OOD samples in use.

    certificate : OODCertificate, default=None
        Certificate of the guarantee, if there is a confidence.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_single_score
    >>> scores, is_ood = [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 0]
    >>> rule = tune_single_score(scores, [0, 0, 0, 1], is_ood, min_tpr=0.6)
    >>> rule.threshold, rule.proba_at_threshold, rule.selective_risk
    (0.2, 1.0, 0.0)
    >>> rule.accept([0.1, 0.2, 0.21])
    array([ True,  True, False])
    """

    def _compare(self, scores):
        return self._compare_sums(check_extended_vector(scores, "scores"))

    def measure(
        self,
        scores: ArrayLike,
        losses: ArrayLike,
        is_ood: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        wild_share: float | None = None,
    ) -> Self:
        """Return the rule with what it achieves on another sample.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Scores, higher = rejected first. May be infinite.

        losses : array-like of shape (n_samples,)
            Non-negative losses of the ID samples. Those of OOD samples are not used.

        is_ood : array-like of shape (n_samples,), dtype bool
            Whether a sample is out of distribution or, with `wild_share`, of the
            mixture.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        wild_share : float in (0, 1], default=None
            Share of OOD samples among those flagged by `is_ood`, where these are a wild
            mixture of OOD samples and of ID samples like the others. The FPR is then
            estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
            `wild_share`. None, as 1, where all of them are OOD.

        Returns
        -------
        rule : SingleScoreRule
            The same rule; `tpr`, `fpr`, `precision` and `selective_risk` are the
            expected ones on the sample given. Without OOD samples of positive weight
            the FPR is NaN.
        """
        return self._measure((scores,), losses, is_ood, sample_weight, wild_share)


@dataclass(frozen=True, kw_only=True)
class DoubleScoreRule(_OODRule):
    """Rule that accepts by a weighted sum of a risk and a novelty score.

    The sum is s = risk_weight * r + novelty_weight * g (FPP23: s = r + mu g), in the
    units of the two scores as they are given. Tuned rules have a risk weight of 1, or
    of 0 where the novelty decides alone; no weight is negative. An infinite novelty is
    the sum whatever the weights are: minus infinity is always accepted, infinity never.
    A finite sum is at the threshold if they differ by at most 2^-40 of the magnitudes
    of its two terms together: where these cancel, the sum is less exact than it is
    small.

    Attributes
    ----------
    threshold : float
        Sums below it are accepted, sums above it rejected. Infinite where all finite
        sums of the calibration set are accepted, minus infinity where none is.

    proba_at_threshold : float
        Probability in [0, 1] that a sum equal to the threshold is accepted.

    tpr : float, default=nan
        Share of the ID samples of the calibration set that is accepted, higher is
        better. This and what follows is NaN if the rule was made without a sample.

    fpr : float, default=nan
        Share of the OOD samples that is accepted, lower is better. NaN without OOD
        samples. Where it is estimated from a mixture (`wild_share`), chance may make it
        slightly negative, or larger than 1.

    precision : float, default=nan
        Share of ID samples among the accepted ones where `ood_prior` of all samples are
        OOD, higher is better. NaN without a prior, if nothing is accepted or, unless
        the prior is zero, without OOD samples.

    selective_risk : float, default=nan
        Mean loss of the accepted ID samples, lower is better. NaN if there are none.

    ood_prior : float, default=None
        Share of OOD samples in use.

    certificate : OODCertificate, default=None
        Certificate of the guarantee, if there is a confidence.

    risk_weight : float, default=1.0
        Weight of the risk score, at most 1 in magnitude.

    novelty_weight : float, default=0.0
        Weight of the novelty score.

    Examples
    --------
    >>> from sklearn_reject.selection import DoubleScoreRule
    >>> rule = DoubleScoreRule(
    ...     threshold=0.3, proba_at_threshold=1.0, novelty_weight=0.1
    ... )
    >>> rule.mu
    0.1
    >>> rule.accept([0.1, 0.1, 0.1], [1.0, 3.0, float("inf")])
    array([ True, False, False])
    """

    risk_weight: Number = 1.0
    novelty_weight: Number = 0.0

    @property
    def mu(self) -> float:
        """Novelty weight in units of the risk weight; infinite where that is 0."""
        if self.risk_weight == 0:
            return float("inf")
        return self.novelty_weight / self.risk_weight

    def combine(
        self, uncertainty_scores: ArrayLike, novelty_scores: ArrayLike
    ) -> np.ndarray:
        """Return the score that the rule compares with its threshold.

        Parameters
        ----------
        uncertainty_scores : array-like of shape (n_samples,)
            Finite risk scores, higher = more likely wrong.

        novelty_scores : array-like of shape (n_samples,)
            Novelty scores, higher = more novel. May be infinite.

        Returns
        -------
        combined : ndarray of shape (n_samples,)
            Higher = rejected first. Infinite where the novelty is.
        """
        return self._combine_with_sizes(uncertainty_scores, novelty_scores)[0]

    def _terms(self, uncertainty_scores, novelty_scores):
        """Return what the weights are of: both scores, checked."""
        return check_two_scores(uncertainty_scores, novelty_scores)

    def _combine_with_sizes(self, uncertainty_scores, novelty_scores):
        """Return the sums, and the magnitudes that they are rounded at."""
        terms = self._terms(uncertainty_scores, novelty_scores)
        weights = self.risk_weight, self.novelty_weight
        return combine(*terms, weights), sizes_of_sums(*terms, weights)

    def _compare(self, uncertainty_scores, novelty_scores):
        return self._compare_sums(
            *self._combine_with_sizes(uncertainty_scores, novelty_scores)
        )

    def measure(
        self,
        uncertainty_scores: ArrayLike,
        novelty_scores: ArrayLike,
        losses: ArrayLike,
        is_ood: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        wild_share: float | None = None,
    ) -> Self:
        """Return the rule with what it achieves on another sample.

        Parameters
        ----------
        uncertainty_scores : array-like of shape (n_samples,)
            Finite risk scores, higher = more likely wrong.

        novelty_scores : array-like of shape (n_samples,)
            Novelty scores, higher = more novel. May be infinite.

        losses : array-like of shape (n_samples,)
            Non-negative losses of the ID samples. Those of OOD samples are not used.

        is_ood : array-like of shape (n_samples,), dtype bool
            Whether a sample is out of distribution or, with `wild_share`, of the
            mixture.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        wild_share : float in (0, 1], default=None
            Share of OOD samples among those flagged by `is_ood`, where these are a wild
            mixture of OOD samples and of ID samples like the others. The FPR is then
            estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
            `wild_share`. None, as 1, where all of them are OOD.

        Returns
        -------
        rule : DoubleScoreRule
            The same rule; `tpr`, `fpr`, `precision` and `selective_risk` are the
            expected ones on the sample given. Without OOD samples of positive weight
            the FPR is NaN.
        """
        scores = uncertainty_scores, novelty_scores
        return self._measure(scores, losses, is_ood, sample_weight, wild_share)


def check_two_scores(uncertainty_scores, novelty_scores):
    """Return a finite risk score and a novelty score that may be infinite."""
    risk = check_vector(uncertainty_scores, "uncertainty_scores")
    novelty = check_extended_vector(novelty_scores, "novelty_scores")
    check_same_length(risk.size, novelty_scores=novelty)
    return risk, novelty


# Knots are so far apart, at least: a thousand or so are enough for any sample.
_STEP = 0.01

# Beyond the sample the tail goes on as it did over the last so many of its samples.
_TAIL = 0.1


@dataclass(frozen=True)
class Tail(DictMixin):
    """Minus the logarithm of the share of ID samples that score higher.

    It is linear between knots, and grows linearly beyond the last one, as the tail of
    an exponential distribution does: however novel a sample is, one that is more novel
    counts for more.

    Attributes
    ----------
    scores : tuple of float
        Knots, increasing.

    values : tuple of float
        Their minus log shares, at least zero, not decreasing.

    slope : float
        Growth by score beyond the last knot.

    Examples
    --------
    >>> from sklearn_reject.selection import Tail
    >>> tail = Tail(scores=(0.0, 1.0), values=(0.0, 2.0), slope=3.0)
    >>> tail([-1.0, 0.5, 2.0, float("inf")])
    array([ 0.,  1.,  5., inf])
    """

    scores: tuple = field(repr=False)
    values: tuple = field(repr=False)
    slope: Size

    def __post_init__(self):
        """Refuse what no tail is."""
        super().__post_init__()
        steps = np.diff(self.scores, append=np.inf)
        growth = np.diff(np.asarray(self.values, dtype=np.float64), prepend=0.0)
        is_curve = len(steps) == len(growth) > 0
        if not (is_curve and (steps > 0).all() and (growth >= 0).all()):
            raise ValueError(
                "scores of a Tail must be finite and increasing, with as many values, "
                "of at least 0, that do not decrease."
            )

    def __call__(self, scores: ArrayLike) -> np.ndarray:
        """Return the values of scores, ndarray of shape (n_samples,)."""
        scores = np.asarray(scores, dtype=np.float64)
        beyond = np.where(scores > self.scores[-1], scores - self.scores[-1], 0.0)
        values = np.interp(scores, self.scores, self.values) + self.slope * beyond
        # What every rule accepts or rejects stays as it is.
        return np.where(np.isinf(scores), scores, values)


def fit_tail(scores, weight):
    """Return the tail of finite scores of positive weight; ties count half."""
    values, inverse = np.unique(scores, return_inverse=True)
    of_value = np.bincount(inverse, weights=weight)
    above = of_value.sum() - np.cumsum(of_value) + of_value / 2
    # At least half of a sample is left above the highest.
    least = of_value[-1] / 2
    logs = -np.log(np.maximum(above, least) / of_value.sum())
    _, knots = np.unique(np.floor(logs / _STEP), return_index=True)
    knots = np.unique(np.append(knots, len(values) - 1))
    slope, first = 1.0, np.searchsorted(logs, -np.log(_TAIL))
    if len(values) > 1:  # a single value has no scale
        first = min(max(first - 1, 0), len(values) - 2)
        slope = float((logs[-1] - logs[first]) / (values[-1] - values[first]))
    return Tail(tuple(values[knots].tolist()), tuple(logs[knots].tolist()), slope)


@dataclass(frozen=True, kw_only=True)
class TailScoreRule(DoubleScoreRule):
    """Accept below a threshold of a weighted sum of the tails of risk and novelty.

    The sum is s = risk_weight * t_r(r) + novelty_weight * t_g(g), where t of a score is
    minus the logarithm of the share of ID samples of the calibration set that score
    higher: Fisher's combination of two p-values. The units of the scores, and any
    monotone transformation within the calibration set, make no difference.

    Attributes
    ----------
    threshold : float
        Sums below it are accepted, sums above it rejected. Infinite where all finite
        sums of the calibration set are accepted, minus infinity where none is.

    proba_at_threshold : float
        Probability in [0, 1] that a sum equal to the threshold is accepted.

    risk_tail, novelty_tail : Tail
        What the scores are turned into before they are added.

    tpr, fpr, precision, selective_risk, ood_prior, certificate : optional
        As in :class:`DoubleScoreRule`.

    risk_weight, novelty_weight : float, optional
        One minus the share of the novelty, and that share.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_tail_score
    >>> risk, novelty = [0.1, 0.2, 0.3, 0.4], [7.0, 5.0, 6.0, 8.0]
    >>> rule = tune_tail_score(risk, novelty, [0, 0, 0, 1], [0] * 4, min_tpr=0.75)
    >>> rule.accept(risk, novelty)
    array([ True,  True,  True, False])
    >>> rule.accept([0.1], [100.0])
    array([False])
    """

    risk_tail: Tail
    novelty_tail: Tail

    def _terms(self, uncertainty_scores, novelty_scores):
        """Return the tails of both scores."""
        risk, novelty = check_two_scores(uncertainty_scores, novelty_scores)
        return self.risk_tail(risk), self.novelty_tail(novelty)
