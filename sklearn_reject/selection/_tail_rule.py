"""A stated combination of risk and novelty, for want of OOD samples to tune one on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import DictMixin, Size
from sklearn_reject._curves._ood import check_ood_prior, check_origin_samples
from sklearn_reject._validation import check_number, of_arrays
from sklearn_reject.exceptions import InfeasibleTargetError, round_down
from sklearn_reject.selection._ood_model import Totals
from sklearn_reject.selection._ood_rule import DoubleScoreRule, check_two_scores
from sklearn_reject.selection._sweep import ThresholdSearch

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
    return Tail(
        scores=tuple(values[knots].tolist()),
        values=tuple(logs[knots].tolist()),
        slope=_final_slope(values, logs),
    )


def _final_slope(values, logs):
    """Return by how much the logarithms grow a unit of score over the last samples."""
    first = np.searchsorted(logs, -np.log(_TAIL))
    first = min(max(first - 1, 0), len(values) - 2)
    if first < 0:
        return 1.0  # a single value, of no scale
    return float((logs[-1] - logs[first]) / (values[-1] - values[first]))


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


@of_arrays
def tune_tail_score(
    uncertainty_scores,
    novelty_scores,
    losses,
    is_ood,
    *,
    min_tpr,
    ood_prior=None,
    wild_share=None,
    sample_weight=None,
):
    """Accept a share of the ID samples by a stated combination of two scores.

    For want of OOD samples nothing can be tuned but the threshold. Risk and novelty are
    each turned into minus the logarithm of the share of ID samples that score higher,
    and added with equal weights. The rule meets `min_tpr` exactly: of what is novel the
    less is accepted, the lower the threshold is.

    Parameters
    ----------
    uncertainty_scores : array-like of shape (n_samples,)
        Finite risk scores, higher = more likely wrong.

    novelty_scores : array-like of shape (n_samples,)
        Novelty scores, higher = more novel. Minus infinity is always accepted, infinity
        never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. They do not change the rule, only what it
        reports. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution. Such samples do not change the rule,
        only what it reports.

    min_tpr : float in (0, 1]
        Share of the ID samples to accept.

    ood_prior : float in [0, 1), default=None
        Share of OOD samples in use. It does not change the rule, which reports the
        precision there.

    wild_share : float in (0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. The FPR is then
        estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
        `wild_share`. None, as 1, where all of them are OOD.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    rule : TailScoreRule
        The rule, with what it achieves on the sample.

    Raises
    ------
    InfeasibleTargetError
        If too many ID samples have infinite novelty.
    ValueError
        If a parameter is out of range or an array invalid, or there is no ID sample.

    References
    ----------
    R. A. Fisher. Statistical methods for research workers. Section 21.1, 1932.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_tail_score
    >>> risk, novelty = [0.1, 0.2, 0.3, 0.4], [7.0, 5.0, 6.0, 8.0]
    >>> rule = tune_tail_score(risk, novelty, [0, 0, 0, 1], [0] * 4, min_tpr=0.75)
    >>> rule.tpr, rule.selective_risk
    (0.75, 0.0)
    """
    min_tpr = check_number(min_tpr, "min_tpr", high=1.0, open_low=True)
    ood_prior = check_ood_prior(ood_prior)
    risk, novelty = check_two_scores(uncertainty_scores, novelty_scores)
    samples = check_origin_samples(novelty, losses, is_ood, sample_weight)
    _, id_losses, is_ood, weight = samples
    present = ~is_ood & (weight > 0)
    finite = present & np.isfinite(novelty)
    # Where every rule decides alike about all samples, any tail will do.
    known = finite if finite.any() else present
    usual = np.where(np.isfinite(novelty), novelty, 0.0)
    rule = TailScoreRule(
        threshold=0.0,
        proba_at_threshold=1.0,
        ood_prior=ood_prior,
        risk_weight=0.5,
        novelty_weight=0.5,
        risk_tail=fit_tail(risk[known], weight[known]),
        novelty_tail=fit_tail(usual[known], weight[known]),
    )
    combined, sizes = rule._combine_with_sizes(risk, novelty)
    search = ThresholdSearch(combined, id_losses, is_ood, weight, True, sizes)
    totals = Totals.of_samples(id_losses, is_ood, weight, wild_share)
    cut = search.find_cut(totals.reach(min_tpr))
    if cut is None:
        most = float(weight.sum(where=present & (novelty < np.inf))) / totals.of_id
        raise InfeasibleTargetError(
            f"No threshold attains min_tpr={min_tpr:g}: only {round_down(most)} of the "
            "ID samples have a finite novelty",
            "Use at most this value, or another novelty_score.",
            {"min_tpr": most} if most > 0 else None,
        )
    rule = replace(rule, threshold=cut.threshold, proba_at_threshold=cut.share or 1.0)
    return rule.measure(
        risk, novelty, id_losses, is_ood, sample_weight=weight, wild_share=wild_share
    )
