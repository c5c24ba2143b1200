"""The best threshold of one score, with out-of-distribution samples."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._curves import (
    RELATIVE_TOLERANCE,
    check_origin_samples,
    group_origins_validated,
)
from sklearn_reject._validation import check_option
from sklearn_reject.selection._ood_model import check_model
from sklearn_reject.selection._ood_rule import SingleScoreRule


def tune_single_score(
    scores,
    losses,
    is_ood,
    *,
    min_tpr=None,
    max_fpr=None,
    min_precision=None,
    min_recall=None,
    costs=None,
    ood_prior=None,
    randomize=True,
    sample_weight=None,
):
    """Find the best threshold of one score for ID and OOD samples.

    Solves one of three models (FPP23): least selective risk at a bounded TPR and FPR,
    least selective risk at a bounded precision and recall, or least expected cost. All
    thresholds are compared. Of equally good ones the one of the largest TPR is taken,
    then of the smallest FPR.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores, higher = rejected first. Minus infinity is always accepted, infinity
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
        If not exactly one model is asked for, a parameter is out of range or an array
        invalid, or there is no ID sample.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_single_score
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> losses, is_ood = [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]
    >>> rule = tune_single_score(scores, losses, is_ood, min_tpr=0.75, max_fpr=0.5)
    >>> rule.threshold, rule.tpr, rule.fpr, round(rule.selective_risk, 3)
    (0.4, 0.75, 0.5, 0.333)
    """
    model, ood_prior = check_model(
        min_tpr, max_fpr, min_precision, min_recall, costs, ood_prior
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

    def solve(problem):
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
            threshold=threshold, proba_at_threshold=proba, ood_prior=ood_prior
        )
        return rule.measure(*sample[:3], sample_weight=sample[3])

    totals = groups.total_id, groups.total_ood
    rule = solve(model.problem(*totals))
    if rule is None:
        raise model.infeasible(solve, *totals)
    return rule


@dataclass(frozen=True)
class Cut:
    """What a rule accepts up to a share of the group `index`, and how good that is.

    `threshold` is the score of that group, and `weights` are those of risk and novelty,
    the former 1, 0 or -1, where they are known.
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
        # Pairs that increase with the angle.
        mine, theirs = ((-r, r * g) for r, g in (self.weights, other.weights))
        return mine < theirs


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
