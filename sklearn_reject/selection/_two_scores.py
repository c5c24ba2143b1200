"""The best direction and threshold of two scores."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._validation import check_option
from sklearn_reject.curves import (
    check_origin_samples,
    checked_scale,
    direction_grid,
    snap,
)
from sklearn_reject.selection._one_score import threshold_and_nu
from sklearn_reject.selection._ood_model import check_model
from sklearn_reject.selection._ood_rule import (
    DoubleScoreRule,
    check_two_scores,
    total_weights,
)
from sklearn_reject.selection._sweep_exact import Solution, sweep_arcs, sweep_near
from sklearn_reject.selection._sweep_grid import (
    Plane,
    all_arcs,
    arc_around,
    make_plane,
    settle_direction,
    sweep_grid,
)

METHODS = ("auto", "exact", "grid")


# Up to it "auto" is exact, which takes a second or a few.
_MOST_FOR_EXACT = 10_000


# Points that the search near the best of the grid may look at, a sample.
_BUDGET = 16


def tune_double_score(
    risk_scores,
    novelty_scores,
    losses,
    is_ood,
    *,
    min_tpr=None,
    max_fpr=None,
    min_precision=None,
    min_recall=None,
    costs=None,
    ood_prior=None,
    n_angles=361,
    method="auto",
    randomize=True,
    sample_weight=None,
    n_jobs=None,
):
    """Find the best weights and threshold of two scores for ID and OOD samples.

    Solves one of three models (FPP23): least selective risk at a bounded TPR and FPR,
    least selective risk at a bounded precision and recall, or least expected cost,
    among the rules that accept where cos(a) r + sin(a) g is below a threshold, for an
    angle a in [0, pi]. Each score on its own is among them, so on the tuning sample two
    scores are never worse than one. All thresholds of a direction are compared, with
    more than the least TPR too. Of equally good rules the one of the largest TPR is
    taken, then of the smallest FPR, then of the smallest angle.

    Parameters
    ----------
    risk_scores : array-like of shape (n_samples,)
        Finite risk scores, higher = more likely wrong.

    novelty_scores : array-like of shape (n_samples,)
        Novelty scores, higher = more novel. Minus infinity is always accepted, infinity
        never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution. Without any such sample the FPR is
        zero.

    min_tpr : float in ]0, 1], default=None
        Least share of the ID samples to accept.

    max_fpr : float in [0, 1], default=None
        Largest share of the OOD samples to accept, beside `min_tpr`. None for no bound.

    min_precision : float in ]0, 1], default=None
        Least share of ID samples among the accepted ones. Needs `min_recall` and
        `ood_prior`.

    min_recall : float in ]0, 1], default=None
        Least share of the ID samples to accept, beside `min_precision`.

    costs : tuple of three floats >= 0, default=None
        Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting one,
        in units of the loss. The second must be above the third. Needs `ood_prior`.

    ood_prior : float in [0, 1[, default=None
        Share of OOD samples in use, which may differ from that in the tuning sample.

    n_angles : int >= 3, default=361
        Number of directions of the grid. The scores are divided by their scales first:
        the ranges of the ID samples without the lowest and the highest 5 %.

    method : {"auto", "exact", "grid"}, default="auto"
        "grid" is the best direction of the grid. "exact" is the best of all directions,
        except for the few at which different samples happen to tie: there a rule that
        draws would depend on rounding. Directions at which all samples tie are left out
        of both. "auto" is exact up to 10,000 samples, and beyond
        the best of the grid and of the directions next to the best of the grid, as many
        as can be searched in about the time that the grid takes.

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

    Raises
    ------
    InfeasibleTargetError
        If no rule meets both bounds. Its `attainable` says how far each can be met, by
        the same method, while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range or an array
        invalid, there is no ID sample, or scores are too large or too close to each
        other to be added up.

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
        min_tpr, max_fpr, min_precision, min_recall, costs, ood_prior
    )
    check_option(randomize, "randomize", (True, False))
    check_option(method, "method", METHODS)
    directions = direction_grid(n_angles)
    risk, novelty = check_two_scores(risk_scores, novelty_scores)
    # What rounding alone tells apart must not be what a direction rests on.
    risk, novelty = snap(risk), snap(novelty)
    _, *sample = check_origin_samples(novelty, losses, is_ood, sample_weight)
    # Of the samples: a plane may hold repeated ones once.
    ratio = _scale_ratio(risk, novelty, *sample[1:])
    plane = make_plane(risk, novelty, *sample)
    search = _Search(plane, directions, ratio, method, randomize, n_jobs)

    def solve(problem):
        best = search.solve(problem)
        return best and _rule(best, plane, ood_prior).measure(
            risk, novelty, *sample[:2], sample_weight=sample[2]
        )

    totals = total_weights(*sample[1:])
    problem = model.problem(*totals)
    rule = solve(_without_losses(problem) if _is_constant(*sample) else problem)
    if rule is None:
        raise model.infeasible(solve, *totals)
    return rule


def _is_constant(losses, is_ood, weight):
    """Tell whether all ID samples have the same loss."""
    inside = ~is_ood if weight is None else ~is_ood & (weight > 0)
    return bool(np.ptp(losses[inside]) == 0)


def _without_losses(problem):
    """Return a problem of the same solution where all rules have the same risk."""
    if not problem.is_mean:
        return problem
    # Of rules of equal risk the one of the largest TPR is taken. Said like this, the
    # search can tell good rules from bad ones.
    return replace(problem, loss_price=0.0, id_price=-1.0, is_mean=False)


def _rule(solution, plane, ood_prior):
    """Return the rule of a solution, not measured yet."""
    largest = plane.largest_sum(solution.weights)
    threshold, nu = threshold_and_nu(solution.cut, largest)
    return DoubleScoreRule(
        threshold=threshold,
        proba_at_threshold=nu,
        ood_prior=ood_prior,
        risk_weight=solution.weights[0],
        novelty_weight=solution.weights[1],
    )


def _scale_ratio(risk, novelty, is_ood, weight):
    """Return a typical difference of risk over one of novelty, on the ID samples."""
    present = np.isfinite(novelty)
    if weight is not None:
        present &= weight > 0
    inside = present & ~is_ood
    of_risk = checked_scale(risk[present], "risk", risk[inside])
    return of_risk / checked_scale(novelty[present], "novelty", novelty[inside])


@dataclass(frozen=True, eq=False)
class _Search:
    """How the best weights are looked for."""

    plane: Plane
    directions: np.ndarray
    ratio: float
    method: str
    randomize: bool
    n_jobs: int | None

    def solve(self, problem):
        """Return the best solution, None if none is feasible."""
        weights = [self._weights(*direction) for direction in self.directions.tolist()]
        cut, index = sweep_grid(self.plane, weights, problem, self.randomize)
        best = Solution(cut, weights[index])
        if self._is_exact:
            arcs = all_arcs(self.ratio)
            args = self.plane, arcs, best, problem, self.randomize
            best = sweep_arcs(*args, self.n_jobs)
        elif self.method == "auto" and cut is not None:
            budget = _BUDGET * len(self.plane.risk)
            args = self.plane, self._arc(index), best, problem, self.randomize
            best = sweep_near(*args, budget=budget)
        best = self._settle(best, weights, problem)
        return None if best.cut is None else best

    def _settle(self, best, grid, problem):
        """Return the best where sums that differ by rounding tie, as they do in use.

        The sweeps tell them apart. Where the best of them rests on that, which takes
        sums that coincide, the directions of the grid are looked at once more.
        """
        if best.cut is None:
            return best
        args = self.plane, problem, best.cut, self.randomize
        settled = Solution(settle_direction(best.weights, *args), best.weights)
        if settled.cut is not None and not best.cut.beats(settled.cut, problem):
            return settled
        for weights in grid:
            if not self.plane.ties(weights):
                cut = settle_direction(weights, *args[:2], None, self.randomize)
                solution = Solution(cut, weights)
                settled = solution if solution.beats(settled, problem) else settled
        return settled

    @property
    def _is_exact(self):
        is_small = len(self.plane.risk) <= _MOST_FOR_EXACT
        return self.method == "exact" or (self.method == "auto" and is_small)

    def _weights(self, cosine, sine):
        """Return weights of the scores as they are, that of the risk 1, 0 or -1."""
        if cosine == 0:
            return 0.0, 1.0
        return (1.0 if cosine > 0 else -1.0), sine / abs(cosine) * self.ratio

    def _arc(self, index):
        cosine, sine = self.directions[index]
        step = np.pi / (len(self.directions) - 1)
        return arc_around(np.arctan2(sine, cosine), step, self.ratio)
