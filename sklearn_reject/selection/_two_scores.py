"""The best direction and threshold of two scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._curves import (
    check_n_directions,
    check_origin_samples,
    lift_risk,
    score_directions,
    weighted_sum,
)
from sklearn_reject._validation import check_option, of_arrays
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._one_score import find_best_cut
from sklearn_reject.selection._ood_model import check_model
from sklearn_reject.selection._ood_problem import check_wild_share
from sklearn_reject.selection._ood_rule import (
    DoubleScoreRule,
    check_two_scores,
    standard_error_of_risk,
)
from sklearn_reject.selection._ood_solve import check_risk_tolerance, find_best_rule
from sklearn_reject.selection._sweep_exact import Search, slopes_of, sweep_all
from sklearn_reject.selection._sweep_grid import (
    make_plane,
    settle_direction,
    sweep_grid,
)

# Up to it "auto" is exact, in a tenth of a second or two.
_MOST_FOR_EXACT = 1000


# Share of its price by which "auto" may miss the least one beyond.
_GAP = 2e-3


# Points that "auto" may look at once a feasible rule is known: a number in any case, so
# many a sample up to another number, and so many a sample. On 36 kinds of 10,000
# samples it lost at most .4 % of the risk of "exact" by that.
_BUDGET = 2_000_000, 200, 20_000_000, 40


# Directions that are enough to cut arcs by.
_FEWEST_SLOPES = 61


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
    min_recall: float | None = None,
    costs: tuple[float, float, float] | None = None,
    ood_prior: float | None = None,
    risk_tolerance: float | Literal["standard_error"] = 0.0,
    wild_share: float | None = None,
    n_directions: int = 181,
    allow_reversed: bool = False,
    method: Literal["auto", "exact", "grid"] = "auto",
    randomize: bool = True,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> DoubleScoreRule:
    """Find the best weights and threshold of two scores for ID and OOD samples.

    Solves one of four models (FPP23): least selective risk at a bounded TPR and FPR,
    least FPR at a bounded TPR and risk, least selective risk at a bounded precision and
    recall, or least expected cost, among the rules that accept where a sum of both
    scores, neither weight negative, is below a threshold. Each score on its own is
    among them, so on the tuning sample two scores are never worse than one. All
    thresholds of a direction are compared, with more than the least TPR too. Of equally
    good rules the one of the largest TPR is taken, then of the smallest FPR, then of
    the smallest weight of the novelty.

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
        Least share of the ID samples to accept.

    max_fpr : float in [0, 1], default=None
        Largest share of the OOD samples to accept, in addition to `min_tpr`. None for
        no bound.

    max_risk : float >= 0, default=None
        Largest selective risk, in units of the loss, in addition to `min_tpr` and
        instead of `max_fpr`. The rule with the lowest FPR is then found.

    min_precision : float in ]0, 1], default=None
        Smallest share of ID samples among the accepted ones. Needs `min_recall` and
        `ood_prior`.

    min_recall : float in ]0, 1], default=None
        Smallest share of the ID samples to accept, in addition to `min_precision`.

    costs : tuple of three floats >= 0, default=None
        Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting one,
        in units of the loss. The second must be above the third. Needs `ood_prior`.

    ood_prior : float in [0, 1[, default=None
        Share of OOD samples in production, which may differ from that in the tuning
        sample.

    risk_tolerance : float >= 0 or "standard_error", default=0.0
        Of the rules whose risk exceeds the lowest one by at most this value, in units
        of the loss, the one with the lowest FPR is taken (or with the largest
        precision, if that is bounded); of equal ones that with the largest TPR. Zero
        takes the rule with the lowest risk. "standard_error" is the standard error of
        the mean loss of the samples that this rule accepts, with the effective number
        of samples if there are weights. Not used with costs, with `max_risk` and
        without OOD samples.

    wild_share : float in ]0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. The FPR is then
        estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
        `wild_share`, and may be slightly negative; a share that is too small makes it
        too small, as long as more is accepted of ID than of OOD samples. None, as 1,
        where all are OOD.

    n_directions : int >= 2, default=181
        Number of directions of the grid, from the risk alone to the novelty alone. From
        each to the next about equally many pairs of samples change their order, so
        units and tails of the scores do not matter.

    allow_reversed : bool, default=False
        Whether as many directions with a risk weight of -1 are searched, too, in which
        samples of *high* risk score are accepted first. That fits noise unless the risk
        score is wrong, and a rule that ends up there warns.

    method : {"auto", "exact", "grid"}, default="auto"
        "grid" is the best direction of the grid. "exact" is the best of all directions,
        except for the few at which different samples happen to tie: there a rule that
        draws would depend on rounding. Directions at which all samples tie are left out
        of both. "auto" is exact up to 1,000 samples. Beyond, it leaves out directions
        that cannot lower the risk, or the cost, by more than 0.2 % of it, and stops
        when it has looked at as many samples as the grid takes, about, or at 20
        million, but never before it has found a rule that meets the bounds, or has
        searched all directions for one.

    randomize : bool, default=True
        Whether samples at the threshold may be accepted with a probability between 0
        and 1, which then meets a bound exactly. If False, ties are accepted together.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    n_jobs : int, default=None
        Number of jobs of the exact method. The grid takes less time than it takes to
        share it out.

    Returns
    -------
    rule : DoubleScoreRule
        The rule, with what it achieves on the sample.

    Warns
    -----
    RejectionWarning
        If the rule found has a negative risk weight.

    Raises
    ------
    InfeasibleTargetError
        If no rule meets both bounds. Its `attainable` says how far each can be met, by
        the same method, while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range or needs OOD
        samples that are not there, an array is invalid, there is no ID sample, or
        scores are too large or too close to each other to be added up.

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
    model, ood_prior = check_model(
        min_tpr=min_tpr,
        max_fpr=max_fpr,
        max_risk=max_risk,
        min_precision=min_precision,
        min_recall=min_recall,
        costs=costs,
        ood_prior=ood_prior,
    )
    tolerance = check_risk_tolerance(risk_tolerance, model)
    share = check_wild_share(wild_share)
    check_option(randomize, "randomize", (True, False))
    check_option(method, "method", ("auto", "exact", "grid"))
    check_option(allow_reversed, "allow_reversed", (True, False))
    check_n_directions(n_directions)
    risk, novelty = check_two_scores(uncertainty_scores, novelty_scores)
    _, id_losses, is_ood, weight = check_origin_samples(
        novelty, losses, is_ood, sample_weight
    )
    lifted, power = lift_risk(risk)
    samples = _Samples(lifted, novelty, id_losses, is_ood, weight)
    options = method, n_directions, allow_reversed, randomize, n_jobs
    find_cut = _make_search(samples, *options)

    same_losses = np.ptp(id_losses[~is_ood & (weight > 0)]) == 0
    measured = {"sample_weight": weight, "wild_share": wild_share}

    def search(problem, **options):
        if problem.is_mean and problem.loss_price and same_losses:
            # Of rules of equal risk the one of the largest TPR is taken. Said like
            # this, the search can tell good rules from bad ones.
            problem = replace(problem, loss_price=0.0, id_price=-1.0, is_mean=False)
        cut = find_cut(problem, **options)
        if cut is None:
            return None
        rule = replace(_lower(_rule_of(cut), power), ood_prior=ood_prior)
        return rule.measure(risk, novelty, losses, is_ood, **measured)

    rule = find_best_rule(
        model,
        [float(weight.sum(where=inside)) for inside in (~is_ood, is_ood)],
        search,
        search_all=partial(search, is_exact=True),
        tolerance=tolerance,
        wild_share=share,
        standard_error=lambda rule: standard_error_of_risk(
            rule, (risk, novelty), losses, is_ood, weight
        ),
    )
    _warn_if_reversed(rule)
    return rule


def _warn_if_reversed(rule):
    if rule.risk_weight < 0:
        warn_user(
            "The rule has risk_weight=-1: among samples of equal novelty, those with a "
            "HIGH risk score are accepted first. This fits noise unless the risk score "
            "is wrong about these samples. Check the score, or pass "
            "allow_reversed=False."
        )


def _make_search(samples, method, n_directions, allow_reversed, randomize, n_jobs):
    """Return a function that maps a problem to its best cut, or to None."""
    plane = samples.make_plane(snapped=True)
    directions = samples.directions(n_directions, allow_reversed)
    slopes = directions
    if len(directions) < _FEWEST_SLOPES:
        slopes = samples.directions(_FEWEST_SLOPES, allow_reversed)
    slopes = slopes_of(slopes)
    known = []  # directions that were the best ones for other problems

    def find_cut(problem, *, is_exact=False):
        best = sweep_grid(plane, directions + known, problem, randomize)
        if method != "grid":
            search = Search(plane, problem, randomize, slopes)
            if not (
                is_exact or method == "exact" or len(plane.risk) <= _MOST_FOR_EXACT
            ):
                search = replace(search, gap=_GAP, budget=_budget(len(plane.risk)))
            best = sweep_all(search, best, n_jobs)
        if best is not None:
            best = _settle(samples, best, directions + known, problem, randomize)
        if best is not None:
            known.append(best.weights)
        return best

    return find_cut


def _budget(n_samples):
    least, a_few, most, a_sample = _BUDGET
    return max(least, min(a_few * n_samples, most), a_sample * n_samples)


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


@dataclass(frozen=True, eq=False)
class _Samples:
    """Validated samples, arrays of shape (n_samples,)."""

    risk: np.ndarray
    novelty: np.ndarray
    losses: np.ndarray
    is_ood: np.ndarray
    weight: np.ndarray

    def directions(self, n_directions, allow_reversed):
        """Return the directions of a grid."""
        present = self.weight > 0
        rows = slice(None) if present.all() else present
        return score_directions(
            self.risk[rows],
            self.novelty[rows],
            n_directions,
            allow_reversed=allow_reversed,
        )

    def make_plane(self, *, snapped):
        """Return the plane, where wanted without what rounding alone tells apart."""
        return make_plane(
            self.risk,
            self.novelty,
            self.losses,
            self.is_ood,
            self.weight,
            snapped=snapped,
        )

    def apply(self, cut, problem):
        """Return a cut as its rule is applied, None where that keeps no bound."""
        accepted = _rule_of(cut).accept_proba(self.risk, self.novelty)
        accepted *= self.weight
        of_id, of_ood = (
            accepted.sum(where=~self.is_ood),
            accepted.sum(where=self.is_ood),
        )
        sums = np.array([[of_id], [of_ood], [accepted @ self.losses]])
        found = find_best_cut(problem, sums, None, randomize=False)
        if found is None:
            return None
        keys = "threshold", "share", "weights"
        return replace(found, **{key: getattr(cut, key) for key in keys})

    def open_end(self, cut):
        """Return the cut with an infinite threshold where it accepts all samples.

        The largest score seen would reject larger ones to come.
        """
        if cut is None or cut.share < 1 or cut.threshold == -np.inf:
            return cut
        rows = np.isfinite(self.novelty) & (self.weight > 0)
        sums = weighted_sum(self.risk[rows], self.novelty[rows], cut.weights)
        is_all = sums.max(initial=-np.inf) <= cut.threshold
        return replace(cut, threshold=np.inf) if is_all else cut


def _settle(samples, best, directions, problem, randomize):
    """Return the best cut among rules as they are applied.

    The sweeps tell apart what differs by rounding. Where their best cut rests on that,
    which takes sums that coincide, the directions of the grid are looked at once more.
    """
    applied = samples.apply(best, problem)
    if applied is not None and not best.beats(applied, problem):
        return samples.open_end(best)
    plane = samples.make_plane(snapped=False)
    settled = settle_direction(plane, best.weights, problem, randomize)
    if settled is None or best.beats(settled, problem):
        for weights in directions:
            cut = settle_direction(plane, weights, problem, randomize)
            if cut is not None and cut.beats(settled, problem):
                settled = cut
    return samples.open_end(settled)
