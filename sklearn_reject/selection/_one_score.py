"""The best threshold of one score, with out-of-distribution samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._curves._origins import (
    check_origin_samples,
    group_origins_validated,
)
from sklearn_reject._validation import check_option, of_arrays
from sklearn_reject.selection._ood_model import check_model, solve_model
from sklearn_reject.selection._ood_problem import total_weights
from sklearn_reject.selection._ood_rule import SingleScoreRule


@of_arrays
def tune_single_score(
    scores: ArrayLike,
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
) -> SingleScoreRule:
    """Find the best threshold of one score for ID and OOD samples.

    Solves one of four models (FPP23): least selective risk at a bounded TPR and FPR, or
    at a bounded TPR and precision, least FPR at a bounded TPR and risk, or least
    expected cost. With `min_tpr` alone the risk of all that is accepted is least, OOD
    samples included: each loses the largest loss of the ID samples. All thresholds
    are compared. Of equally good ones the one of the largest TPR is taken, then of the
    smallest FPR.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores, higher = rejected first. Minus infinity is always accepted, infinity
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
    rule : SingleScoreRule
        The rule, with what it achieves on the sample.

    Raises
    ------
    InfeasibleTargetError
        If no threshold meets both bounds. Its `attainable` says how far each can be met
        while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range or needs OOD
        samples that are not there, an array is invalid, or there is no ID sample.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_single_score
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> losses, is_ood = [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]
    >>> rule = tune_single_score(scores, losses, is_ood, min_tpr=0.75, max_fpr=0.5)
    >>> rule.threshold, rule.tpr, rule.fpr, round(rule.selective_risk, 3)
    (0.4, 0.75, 0.5, 0.333)
    """
    model = check_model(
        min_tpr=min_tpr,
        max_fpr=max_fpr,
        max_risk=max_risk,
        min_precision=min_precision,
        costs=costs,
        ood_prior=ood_prior,
    )
    check_option(randomize, "randomize", (True, False))
    sample = check_origin_samples(scores, losses, is_ood, sample_weight)
    groups = group_origins_validated(*sample, near=True)
    # A rule ends at a finite score, or below all of them, as if at a group of nothing.
    finite = slice(groups.n_always, None)
    ends = np.append(-np.inf, groups.scores[finite])
    after = groups.accepted_id, groups.accepted_ood, groups.accepted_losses
    after = np.array([part[finite] for part in after])
    sizes = groups.id_weights, groups.ood_weights, groups.losses
    sizes = np.array([np.append(0.0, part[finite]) for part in sizes])

    totals = total_weights(*sample[1:], wild_share)

    def solve(problem):
        problem = problem.of_mixture(totals)
        cut = find_best_cut(problem, after, sizes, randomize)
        if cut is None:
            return None
        threshold, proba = float(ends[cut.index]), cut.share
        if cut.index == 0:
            proba = 0.0
        elif cut.index == len(ends) - 1 and proba == 1:
            # The largest score seen would reject larger ones to come.
            threshold = float("inf")
        rule = SingleScoreRule(
            threshold=threshold, proba_at_threshold=proba, ood_prior=model.ood_prior
        )
        return rule.measure(*sample[:3], sample_weight=sample[3], wild_share=wild_share)

    return solve_model(model, totals, solve)


@dataclass(frozen=True)
class Cut:
    """What a rule accepts up to a share of the group `index`, and how good that is.

    `threshold` is the score of that group, and `weights` are those of risk and novelty,
    the former 1 or 0, where they are known.
    """

    price: float
    id_weight: float
    ood_weight: float
    index: int
    share: float
    threshold: float = float("nan")
    weights: tuple = (1.0, 0.0)

    def beats(self, other, problem):
        """Tell if the price is lower, else the bounds kept better, else the angle."""
        if other is None:
            return True
        if abs(self.price - other.price) > problem.slack(other.price):
            return self.price < other.price
        if abs(self.id_weight - other.id_weight) > RELATIVE_TOLERANCE * other.id_weight:
            return self.id_weight > other.id_weight
        slack = RELATIVE_TOLERANCE * other.ood_weight
        if abs(self.ood_weight - other.ood_weight) > slack:
            return self.ood_weight < other.ood_weight
        # A pair that increases with the angle.
        return (-self.weights[0], self.weights[1]) < (
            -other.weights[0],
            other.weights[1],
        )


def may_match(cut, problem, id_weight, ood_weight, loss):
    """Tell which boxes may hold a feasible cut that is as good as a known one.

    A box is given by its most ID weight and its least OOD weight and loss.
    """
    feasible = problem.is_feasible(id_weight, ood_weight, loss)
    if cut is None:
        return feasible
    price = problem.price(id_weight, ood_weight, loss)
    slack = problem.slack(cut.price)
    enough = id_weight >= cut.id_weight * (1 - RELATIVE_TOLERANCE)
    equal = (price <= cut.price + slack) & enough
    return feasible & (equal | (price < cut.price - slack))


def find_best_cut(problem, after, sizes, randomize):
    """Return the best cut at or, with `randomize`, within groups; None if infeasible.

    `after` and `sizes`, of shape (3, n_groups), hold ID weight, OOD weight and loss, up
    to the end of each group and of the group alone. As the price is monotone in the
    share of a group, only the shares at which a bound is met exactly can be better than
    none and all. Of equal prices: most ID, then least OOD weight, then the first.
    """
    index = np.flatnonzero(problem.is_feasible(*after))
    share, sums = np.ones(len(index)), after.take(index, axis=1)
    if randomize:
        # From what is below a group on: a small share of a large one would be lost in
        # the difference from its end.
        before = after - sizes
        split, split_share = _shares_at_bounds(problem, before, sizes)
        rest = before[:, split] + split_share * sizes[:, split]
        kept = problem.is_feasible(*rest)
        index = np.append(index, split[kept])
        share = np.append(share, split_share[kept])
        sums = np.hstack([sums, rest[:, kept]])
    if not len(index):
        return None
    price = problem.price(*sums)
    lowest = price.min()
    rows = np.flatnonzero(price <= lowest + problem.slack(lowest))
    id_weight = sums[0, rows]
    rows = rows[id_weight >= id_weight.max() * (1 - RELATIVE_TOLERANCE)]
    row = rows[np.lexsort((index[rows], sums[1, rows]))[0]]
    return Cut(
        float(price[row]),
        float(sums[0, row]),
        float(sums[1, row]),
        int(index[row]),
        float(share[row]),
    )


def _shares_at_bounds(problem, before, sizes):
    """Return groups within which a bound is crossed, and the share at which it is."""
    index, shares = [], []
    rooms, changes = problem.rooms(*before), problem.changes_of_rooms(*sizes)
    for room, change in zip(rooms, changes, strict=True):
        crossed = np.flatnonzero((room < 0) != (room + change < 0))
        share = -room[crossed] / change[crossed]
        # What is next to nothing or next to all comes from rounding.
        inside = (share > RELATIVE_TOLERANCE) & (share < 1 - RELATIVE_TOLERANCE)
        index.append(crossed[inside])
        shares.append(share[inside])
    return np.concatenate(index), np.concatenate(shares)
