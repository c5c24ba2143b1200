"""The best direction and threshold of two scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._curves._directions import lift_risk, score_directions, weighted_sum
from sklearn_reject._curves._origins import check_origin_samples
from sklearn_reject._validation import check_option, of_arrays
from sklearn_reject.selection._one_score import find_best_cut
from sklearn_reject.selection._ood_model import check_model, solve_model
from sklearn_reject.selection._ood_problem import total_weights
from sklearn_reject.selection._ood_rule import (
    DoubleScoreRule,
    check_two_scores,
    standard_error_of_risk,
)
from sklearn_reject.selection._sweep_grid import (
    make_plane,
    refine_grid,
    settle_direction,
    sweep_grid,
)
from sklearn_reject.selection._sweep_pivots import sweep_pivots

# Up to it the search is exact, in half a second or less.
_MOST_FOR_EXACT = 2000


# Directions of the grid where the search is exact, and beyond.
_N_DIRECTIONS = 91, 541


@of_arrays
def tune_double_score(
    uncertainty_scores: ArrayLike,
    novelty_scores: ArrayLike,
    losses: ArrayLike,
    is_ood: ArrayLike,
    *,
    min_tpr: float | None = None,
    max_fpr: float | None = None,
    max_risk: float | None = None,
    min_precision: float | None = None,
    costs: tuple[float, float, float] | None = None,
    ood_prior: float | None = None,
    wild_share: float | None = None,
    randomize: bool = True,
    sample_weight: ArrayLike | None = None,
) -> DoubleScoreRule:
    """Find the best weights and threshold of two scores for ID and OOD samples.

    Solves one of four models (FPP23): least selective risk at a bounded TPR and FPR, or
    at a bounded TPR and precision, least FPR at a bounded TPR and risk, or least
    expected cost, among the rules that accept where a sum of both scores, neither
    weight negative, is below a threshold. With `min_tpr` alone the risk of all that is
    accepted is least, OOD samples included: each loses the largest loss of the ID
    samples. Each score on its own is among them, so on
    the tuning sample two scores are never worse than one. All thresholds of a direction
    are compared, with more than the least TPR too. Of equally good rules the one of the
    largest TPR is taken, then of the smallest FPR, then of the smallest weight of the
    novelty.

    Parameters
    ----------
    uncertainty_scores : array-like of shape (n_samples,)
        Finite risk scores, higher = more likely wrong.

    novelty_scores : array-like of shape (n_samples,)
        Novelty scores, higher = more novel. Minus infinity is always accepted, infinity
        never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution or, with `wild_share`, of the mixture.
        Without any (of positive weight) the FPR is NaN, and targets that need it raise
        an error.

    min_tpr : float in ]0, 1], default=None
        Least share of the ID samples to accept (the recall of ID samples). Where
        nothing is asked for beside it, an accepted OOD sample is an error.

    max_fpr : float in [0, 1], default=None
        Largest share of the OOD samples to accept, in addition to `min_tpr`. With 1 any
        share will do, and the risk of the ID samples alone is least.

    max_risk : float >= 0, default=None
        Largest selective risk, in units of the loss, in addition to `min_tpr` and
        instead of `max_fpr`. The rule with the lowest FPR is then found.

    min_precision : float in ]0, 1], default=None
        Smallest share of ID samples among the accepted ones, in addition to `min_tpr`
        and instead of `max_fpr`. Needs `ood_prior`.

    costs : tuple of three floats >= 0, default=None
        Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting one,
        in units of the loss. The second must be above the third. Needs `ood_prior`.

    ood_prior : float in [0, 1[, default=None
        Share of OOD samples in production, which may differ from that in the tuning
        sample. None stands for the latter where `min_tpr` is alone.

    wild_share : float in ]0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. The FPR is then
        estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
        `wild_share`, and may be slightly negative; a share that is too small makes it
        too small, as long as more is accepted of ID than of OOD samples. None, as 1,
        where all are OOD.

    randomize : bool, default=True
        Whether samples at the threshold may be accepted with a probability between 0
        and 1, which then meets a bound exactly. If False, ties are accepted together.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    rule : DoubleScoreRule
        The rule, with what it achieves on the sample.

    Raises
    ------
    InfeasibleTargetError
        If no rule meets both bounds. Its `attainable` says how far each can be met
        while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range or needs OOD
        samples that are not there, an array is invalid, there is no ID sample, or
        scores are too large or too close to each other to be added up.

    Notes
    -----
    Up to 2,000 samples, or points that many samples share, the search finds the best of
    all directions, except for the few at which different samples happen to tie: there a
    rule that draws would depend on rounding. Beyond, it compares 541 directions, from
    the risk alone to the novelty alone, with all their thresholds, and then looks
    closer and closer around the best. From each direction to the next about equally
    many pairs of samples change their order, so units and tails of the scores do not
    matter. On 54 kinds of 3,000 and 8,000 samples this came within 0.4 % of the least
    risk or cost, but for one FPR that was 6 % above.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_double_score
    >>> risk = [0.1, 0.4, 0.2, 0.3, 0.1, 0.2]
    >>> novelty = [1.0, 2.0, 3.0, 1.0, 4.0, 5.0]
    >>> losses, is_ood = [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]
    >>> rule = tune_double_score(
    ...     risk, novelty, losses, is_ood, min_tpr=0.75, max_fpr=0.1
    ... )
    >>> rule.selective_risk, rule.tpr, rule.fpr
    (0.0, 0.75, 0.0)
    >>> rule.accept(risk, novelty)
    array([ True, False,  True,  True, False, False])
    """
    model = check_model(
        min_tpr=min_tpr,
        max_fpr=max_fpr,
        max_risk=max_risk,
        min_precision=min_precision,
        costs=costs,
        ood_prior=ood_prior,
    )
    return find_double_score_rule(
        model,
        uncertainty_scores,
        novelty_scores,
        losses,
        is_ood,
        wild_share=wild_share,
        randomize=randomize,
        sample_weight=sample_weight,
    )


def find_double_score_rule(
    model,
    uncertainty_scores,
    novelty_scores,
    losses,
    is_ood,
    *,
    wild_share=None,
    randomize=True,
    sample_weight=None,
    spares_ood=False,
):
    """Return the best rule of a model.

    With `spares_ood` it is, where the risk of ID samples is minimized, the rule of the
    lowest FPR (or of the largest precision) among those whose risk is within a standard
    error of the lowest one.
    """
    check_option(randomize, "randomize", (True, False))
    risk, novelty = check_two_scores(uncertainty_scores, novelty_scores)
    _, id_losses, is_ood, weight = check_origin_samples(
        novelty, losses, is_ood, sample_weight
    )
    lifted, power = lift_risk(risk)
    search = _CutSearch(lifted, novelty, id_losses, is_ood, weight, randomize)
    lost = id_losses[~is_ood & (weight > 0)]
    same_losses = np.ptp(lost) == 0
    totals = total_weights(id_losses, is_ood, weight, wild_share)

    def solve(problem):
        problem = problem.of_mixture(totals)
        is_risk = problem.is_mean and problem.loss_price > 0
        if is_risk and same_losses and (lost[0] > 0 or not problem.ood_in_mean):
            # Of rules of equal risk the one of the largest TPR is taken. Said like
            # this, the search can tell good rules from bad ones.
            priced = {"loss_price": 0.0, "ood_price": 0.0, "id_price": -1.0}
            problem = replace(problem, **priced, is_mean=False)
        cut = search.find_cut(problem)
        if cut is None:
            return None
        rule = replace(_lower(_rule_of(cut), power), ood_prior=model.ood_prior)
        return rule.measure(
            risk, novelty, losses, is_ood, sample_weight=weight, wild_share=wild_share
        )

    rule = solve_model(model, totals, solve)
    if not (spares_ood and totals.of_ood and model.spares_ood):
        return rule
    error = standard_error_of_risk(rule, (risk, novelty), losses, is_ood, weight)
    other = solve(model.least_ood(totals, rule.selective_risk + error))
    # A search that is not exhaustive may have come across the first rule only.
    if other is None or model.accepts_less_ood(rule, other):
        return rule
    return other


def _rule_of(cut):
    return DoubleScoreRule(
        threshold=cut.threshold,
        proba_at_threshold=cut.share,
        risk_weight=cut.weights[0],
        novelty_weight=cut.weights[1],
    )


def _lower(rule, power):
    """Return the rule for risks, from that for risks times a power of two."""
    if rule.risk_weight == 0 or power == 1:
        return rule
    return replace(
        rule,
        threshold=rule.threshold / power,
        novelty_weight=rule.novelty_weight / power,
    )


class _CutSearch:
    """Validated samples, arrays of shape (n_samples,), and the directions to search."""

    def __init__(self, risk, novelty, losses, is_ood, weight, randomize):
        self.risk, self.novelty = risk, novelty
        self.losses, self.is_ood, self.weight = losses, is_ood, weight
        self.randomize = randomize
        self.plane = make_plane(risk, novelty, losses, is_ood, weight, snapped=True)
        rows = slice(None) if (weight > 0).all() else weight > 0
        # What counts are points, of which many samples may have few.
        self.is_exact = len(self.plane.risk) <= _MOST_FOR_EXACT
        few, many = _N_DIRECTIONS
        n_directions = few if self.is_exact else many
        self.directions = score_directions(risk[rows], novelty[rows], n_directions)

    def find_cut(self, problem):
        """Return the best cut of a problem, None if there is none.

        Its direction is tried first for the problems that follow.
        """
        best = sweep_grid(self.plane, self.directions, problem, self.randomize)
        if self.is_exact:
            best = sweep_pivots(self.plane, problem, self.randomize, best)
        elif best is not None:
            best = refine_grid(
                self.plane, self.directions, problem, self.randomize, best
            )
        if best is not None:
            best = self._settle(best, problem)
        if best is not None:
            self.directions.append(best.weights)
        return best

    def _settle(self, best, problem):
        """Return the best cut among rules as they are applied.

        The sweeps tell apart what differs by rounding. Where their best cut rests on
        that, which takes sums that coincide, the grid is looked at once more.
        """
        applied = self._apply(best, problem)
        if applied is not None and not best.beats(applied, problem):
            return self._open_end(best)
        plane = make_plane(
            self.risk, self.novelty, self.losses, self.is_ood, self.weight
        )
        settled = settle_direction(plane, best.weights, problem, self.randomize)
        if settled is None or best.beats(settled, problem):
            for weights in self.directions:
                cut = settle_direction(plane, weights, problem, self.randomize)
                if cut is not None and cut.beats(settled, problem):
                    settled = cut
        return self._open_end(settled)

    def _apply(self, cut, problem):
        """Return a cut as its rule is applied, None where that keeps no bound."""
        accepted = _rule_of(cut).accept_proba(self.risk, self.novelty) * self.weight
        of_id = accepted.sum(where=~self.is_ood)
        of_ood = accepted.sum(where=self.is_ood)
        sums = np.array([[of_id], [of_ood], [accepted @ self.losses]])
        found = find_best_cut(problem, sums, None, randomize=False)
        if found is None:
            return None
        keys = "threshold", "share", "weights"
        return replace(found, **{key: getattr(cut, key) for key in keys})

    def _open_end(self, cut):
        """Return the cut with an infinite threshold where it accepts all samples.

        The largest score seen would reject larger ones to come.
        """
        if cut is None or cut.share < 1 or cut.threshold == -np.inf:
            return cut
        rows = np.isfinite(self.novelty) & (self.weight > 0)
        sums = weighted_sum(self.risk[rows], self.novelty[rows], cut.weights)
        is_all = sums.max(initial=-np.inf) <= cut.threshold
        return replace(cut, threshold=np.inf) if is_all else cut
