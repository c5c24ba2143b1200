"""Scores of few levels, which each fold has of its own and the final fit has not."""

from dataclasses import replace

import numpy as np

from sklearn_reject._curves import snap
from sklearn_reject._fitting._splits import DEFAULT_FOLDS, plan_to_hold_out
from sklearn_reject._validation import take_weight

# Ties count from so many samples, and from this share of the calibration set on. Where
# more than that share of all samples are in such ties, at scores that the final
# estimator never gives, a target of .8 gave new samples a coverage of .03 to 1: on six
# sets with 1,000 samples, of ten kinds of classifiers. Otherwise it was .71 to .89.
_FEWEST_TIED = 5
_LEAST_TIE = 0.01
_LARGEST_SHARE = 0.4

# Of each class. With fewer, the half that is fitted would have none for a fold.
_FEWEST_TO_HOLD_OUT = 2 * DEFAULT_FOLDS


def avoid_coarse_scores(evaluate, plan, X, y, sample_weight, random_state):
    """Return what `evaluate` finds by a plan, or by another one if scores are coarse.

    A threshold on levels that only folds have means nothing to the final estimator: of
    new samples it accepts any share. If the folds were left to us, a share is held out,
    unless there are too few samples.
    """
    evaluated = evaluate(plan=plan)
    if not plan.folds:
        return evaluated
    columns = evaluated.scores.reshape(len(evaluated.scores), -1).T
    weight = take_weight(sample_weight, evaluated.rows)
    weight = np.ones(len(columns[0])) if weight is None else weight
    limit = _LARGEST_SHARE * weight.sum()
    if all(weight @ _are_tied(snap(column), weight) <= limit for column in columns):
        return evaluated
    final, *labels = evaluated.evaluate_final(X, y)
    final = final.reshape(len(final), -1).T
    are_coarse = np.array(
        [
            weight @ _are_foreign(*pair, weight) > limit
            for pair in zip(columns, final, strict=True)
        ]
    )
    if not are_coarse.any():
        return evaluated
    members = np.unique(y, return_counts=True)[1] if plan.is_stratified else [len(y)]
    if plan.is_default and min(members) >= _FEWEST_TO_HOLD_OUT:
        return evaluate(plan=plan_to_hold_out(y, plan.is_stratified, random_state))
    # Other scores may know the samples that they were fitted on.
    rows = evaluated.rows
    scores = np.where(are_coarse, final[:, rows].T, columns.T)
    scores = scores.reshape(evaluated.scores.shape)
    return replace(evaluated, final=(scores, *(each[rows] for each in labels)))


def _are_foreign(scores, others, weight):
    """Tell which scores are in large ties, and not among others."""
    scores, others = np.split(snap(np.append(scores, others)), [len(scores)])
    return _are_tied(scores, weight) & ~np.isin(scores, others)


def _are_tied(scores, weight):
    """Tell which scores are in large ties."""
    _, groups, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    totals = np.bincount(groups, weights=weight)
    is_large = (sizes >= _FEWEST_TIED) & (totals >= _LEAST_TIE * weight.sum())
    return is_large[groups]
