"""What a rule achieves on samples of two scores, of which cells are known."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sklearn_reject._interval import Interval
from sklearn_reject._short_repr import short_repr
from sklearn_reject._validation import (
    as_real_array,
    check_flags,
    check_option,
    check_part_weight,
    check_same_length,
    check_vector,
)
from sklearn_reject.selection._ood_rule import (
    DoubleScoreRule,
    SingleScoreRule,
    check_two_scores,
    precision_of,
)
from sklearn_reject.selection._plane_bounds import Cells, bound_mean
from sklearn_reject.selection._plane_cells import PLACES

_NAN = float("nan")


class RuleIntervals(NamedTuple):
    """What a rule achieves on a summarized sample, each as a certified interval.

    Attributes
    ----------
    tpr : Interval
        Share of the ID samples that is accepted.

    fpr : Interval
        Share of the OOD samples that is accepted, NaN without any.

    precision : Interval
        Share of ID samples among the accepted ones at the `ood_prior` of the rule, NaN
        without a prior.

    selective_risk : Interval
        Mean loss of the accepted ID samples, of all arrangements in which any is
        accepted. NaN if there are none.

    Examples
    --------
    >>> from sklearn_reject.selection import DoubleScoreRule, DoubleScoreSummary
    >>> summary = DoubleScoreSummary().update([[0.1, 2], [0.3, 1]], [0, 1], [0, 0])
    >>> rule = DoubleScoreRule(threshold=0.2, proba_at_threshold=1, novelty_weight=0)
    >>> summary.measure(rule).selective_risk.high
    0.0
    """

    tpr: Interval
    fpr: Interval
    precision: Interval
    selective_risk: Interval

    __repr__ = short_repr


def check_part(scores, losses, is_ood, sample_weight=None):
    """Return risk, novelty, losses, origin and weight of samples, of none as well."""
    scores = as_real_array(scores, "scores")
    if scores.shape == (0,):
        scores = scores.reshape(0, 2)
    if scores.ndim != 2 or scores.shape[1] != 2:
        raise ValueError(
            "scores must be of shape (n_samples, 2), risk and novelty, got "
            f"{scores.shape}. Stack them with np.column_stack([risk, novelty])."
        )
    check_same_length(len(scores), losses=losses, is_ood=is_ood)
    weight = check_part_weight(sample_weight, len(scores))
    if not len(scores):
        return (*np.empty((3, 0)), np.empty(0, dtype=bool), np.empty(0))
    risk, novelty = check_two_scores(*np.ascontiguousarray(scores.T))
    is_ood = check_flags(is_ood, "is_ood")
    losses = np.where(is_ood, 0.0, np.asarray(losses))
    losses = check_vector(losses, "losses", non_negative=True)
    weight = np.ones(len(risk)) if weight is None else weight
    return risk, novelty, losses, is_ood, weight


def view_cells(rule, score, cells):
    """Return the cells as a rule sees them, and its weights of both scores."""
    if type(rule) is DoubleScoreRule and score is None:
        return cells, (rule.risk_weight, rule.novelty_weight)
    if type(rule) is DoubleScoreRule:
        raise ValueError(f"score={score!r} is only for rules of a single score.")
    if not isinstance(rule, SingleScoreRule):
        raise ValueError(
            "rule must be a DoubleScoreRule or a SingleScoreRule, got "
            f"{type(rule).__name__}. The cells cannot certify other rules."
        )
    if score is None:
        raise ValueError(
            "score is None, but a SingleScoreRule can be for either score. Pass 'risk' "
            "or 'novelty'."
        )
    if check_option(score, "score", ("risk", "novelty")) == "novelty":
        return cells, (0.0, 1.0)
    table = cells.table.copy()
    table[PLACES["novelty_low"] : PLACES["novelty_high"] + 1] = 0.0
    return Cells(table), (1.0, 0.0)


def sum_accepted(rule, score, risk, novelty, losses, is_ood, weight):
    """Return ID weight, OOD weight and loss of what a rule accepts of samples."""
    scores = (risk, novelty)
    if score is not None:
        scores = (risk,) if score == "risk" else (novelty,)
    accepted = rule.accept_proba(*scores) * weight
    sums = accepted.sum(where=~is_ood), accepted.sum(where=is_ood), accepted @ losses
    return np.array(sums)


def measure_intervals(rule, cells, shares, at_least, at_most, fetched=None):
    """Return the intervals; exact ones where sums `fetched` are accepted as well."""
    n_rows = [int(rows.sum()) for rows in (cells.id_rows, cells.ood_rows)]
    sums = [
        np.array(
            [share @ cells.id_weight, share @ cells.ood_weight, share @ cells.loss]
        )
        + (0.0 if fetched is None else fetched)
        for share in (shares, at_least, at_most)
    ]
    totals = cells.id_weight.sum(), cells.ood_weight.sum()
    (tpr, least_tpr, most_tpr), (fpr, least_fpr, most_fpr) = (
        [float(each[of] / totals[of]) if totals[of] else _NAN for each in sums]
        for of in (0, 1)
    )
    precision = partial(precision_of, ood_prior=rule.ood_prior)
    # Where nothing may be accepted, it is that of what else may be.
    other = precision(most_tpr, most_fpr)
    kept = precision(tpr, fpr), precision(least_tpr, most_fpr)
    kept = *kept, precision(most_tpr, least_fpr)
    risks = [float(sums[0][2] / sums[0][0]) if sums[0][0] else _NAN] * 3
    if fetched is None:
        kept = [other if np.isnan(each) else each for each in kept]
        risks[1:] = (
            bound_mean(cells, at_least, at_most, largest=largest)
            for largest in (False, True)
        )
        risks[0] = risks[1] if np.isnan(risks[0]) else risks[0]
    return RuleIntervals(
        Interval(tpr, least_tpr, most_tpr, n_rows[0]),
        Interval(fpr, least_fpr, most_fpr, n_rows[1]),
        Interval(*_clip_first(*kept), sum(n_rows)),
        Interval(*_clip_first(*risks), n_rows[0]),
    )


def _clip_first(value, low, high):
    # Not `clip`, which takes NaN for no bound in old NumPy.
    return float(np.minimum(np.maximum(value, low), high)), low, high


def with_worst(rule, intervals):
    """Return the rule with what it achieves at the worst."""
    return replace(
        rule,
        tpr=intervals.tpr.low,
        fpr=intervals.fpr.high,
        precision=intervals.precision.low,
        selective_risk=intervals.selective_risk.high,
    )
