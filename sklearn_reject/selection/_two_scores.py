"""The best direction and threshold of two scores."""

from dataclasses import replace

import numpy as np

from sklearn_reject._curves import (
    check_origin_samples,
    direction_grid,
    snap,
)
from sklearn_reject._validation import check_option
from sklearn_reject.selection._ood_model import check_model
from sklearn_reject.selection._ood_problem import check_wild_share
from sklearn_reject.selection._ood_rule import (
    DoubleScoreRule,
    check_two_scores,
    standard_error_of_risk,
)
from sklearn_reject.selection._ood_solve import check_risk_tolerance, find_best_rule
from sklearn_reject.selection._sweep_exact import arc_around, sweep_all, sweep_near
from sklearn_reject.selection._sweep_grid import (
    make_plane,
    settle_direction,
    sweep_grid,
)

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
    max_risk=None,
    min_precision=None,
    min_recall=None,
    costs=None,
    ood_prior=None,
    risk_tolerance=0.0,
    wild_share=None,
    n_directions=181,
    method="auto",
    randomize=True,
    sample_weight=None,
    n_jobs=None,
):
    """Find the best weights and threshold of two scores for ID and OOD samples.

    Solves one of four models (FPP23): least selective risk at a bounded TPR and FPR,
    least FPR at a bounded TPR and risk, least selective risk at a bounded precision and
    recall, or least expected cost, among the rules that accept where
    cos(a) r + sin(a) g is below a threshold, for an angle a in [0, pi]. Each score on
    its own is among them, so on the tuning sample two scores are never worse than one.
    All thresholds of a direction are compared, with more than the least TPR too. Of
    equally good rules the one of the largest TPR is taken, then of the smallest FPR,
    then of the smallest angle.

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
        Whether a sample is out of distribution or, with `wild_share`, of the mixture.
        Without any (of positive weight) the FPR is NaN, and what needs it is refused.

    min_tpr : float in ]0, 1], default=None
        Least share of the ID samples to accept.

    max_fpr : float in [0, 1], default=None
        Largest share of the OOD samples to accept, beside `min_tpr`. None for no bound.

    max_risk : float >= 0, default=None
        Largest selective risk, in units of the loss, beside `min_tpr` and in the place
        of `max_fpr`: the rule of least FPR is found then.

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

    risk_tolerance : float >= 0 or "standard_error", default=0.0
        Of the rules whose risk exceeds the least one by at most that, in units of the
        loss, the one of least FPR is taken, or of largest precision where that is
        bounded; of equal ones that of the largest TPR. Zero leaves the rule of least
        risk. "standard_error" is that of the mean loss of what this rule accepts: the
        root of the variance of these losses over their number, with weights the
        effective one. Costs and `max_risk` minimise something
        else, and have no tolerance; without OOD samples it is not used.

    wild_share : float in ]0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. The FPR is then
        estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
        `wild_share`, and may be slightly negative; a share that is too small makes it
        too small, as long as more is accepted of ID than of OOD samples. None, as 1,
        where all are OOD.

    n_directions : int >= 2, default=181
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
    directions = direction_grid(n_directions)
    risk, novelty = check_two_scores(risk_scores, novelty_scores)
    # What rounding alone tells apart must not be what a direction rests on.
    risk, novelty = snap(risk), snap(novelty)
    _, id_losses, is_ood, weight = check_origin_samples(
        novelty, losses, is_ood, sample_weight
    )
    plane = make_plane(risk, novelty, id_losses, is_ood, weight)
    same_losses = np.ptp(id_losses[~is_ood & (weight > 0)]) == 0
    del id_losses  # an array less while the search holds many

    def search(problem):
        if problem.is_mean and problem.loss_price and same_losses:
            # Of rules of equal risk the one of the largest TPR is taken. Said like
            # this, the search can tell good rules from bad ones.
            problem = replace(problem, loss_price=0.0, id_price=-1.0, is_mean=False)
        cut = _find_cut(plane, directions, problem, method, randomize, n_jobs)
        if cut is None:
            return None
        rule = DoubleScoreRule(
            threshold=cut.threshold,
            proba_at_threshold=cut.share,
            ood_prior=ood_prior,
            risk_weight=cut.weights[0],
            novelty_weight=cut.weights[1],
        )
        return rule.measure(
            risk,
            novelty,
            losses,
            is_ood,
            sample_weight=weight,
            wild_share=wild_share,
        )

    return find_best_rule(
        model,
        [float(weight.sum(where=inside)) for inside in (~is_ood, is_ood)],
        search,
        tolerance=tolerance,
        wild_share=share,
        standard_error=lambda rule: standard_error_of_risk(
            rule, (risk, novelty), losses, is_ood, weight
        ),
    )


def _find_cut(plane, directions, problem, method, randomize, n_jobs):
    """Return the best cut and its weights, None if none is feasible.

    `directions` are for scores divided by their scales, weights for scores as they are.
    """
    grid = [
        (float(np.sign(cosine)), sine / abs(cosine) * plane.ratio if cosine else 1.0)
        for cosine, sine in directions.tolist()
    ]
    best = sweep_grid(plane, grid, problem, randomize)
    if method == "exact" or (method == "auto" and len(plane.risk) <= _MOST_FOR_EXACT):
        best = sweep_all(plane, best, problem, randomize, n_jobs)
    elif method == "auto" and best is not None:
        cosine, sine = directions[grid.index(best.weights)]
        step = np.pi / (len(directions) - 1)
        arc = arc_around(np.arctan2(sine, cosine), step, plane.ratio)
        budget = _BUDGET * len(plane.risk)
        best = sweep_near(plane, arc, best, problem, randomize, budget=budget)
    return None if best is None else _settle(plane, best, grid, problem, randomize)


def _settle(plane, best, grid, problem, randomize):
    """Return the best cut where sums that differ by rounding tie, as they do in use.

    The sweeps tell them apart. Where the best of them rests on that, which takes sums
    that coincide, the directions of the grid are looked at once more.
    """
    settled = settle_direction(plane, best.weights, problem, best, randomize)
    if settled is not None and not best.beats(settled, problem):
        return settled
    for weights in grid:
        if not plane.ties(weights):
            cut = settle_direction(plane, weights, problem, None, randomize)
            if cut is not None and cut.beats(settled, problem):
                settled = cut
    return settled
