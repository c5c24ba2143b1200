"""What both tables of FPP23 measure on a sample, for one score or for two.

One score is a vector, two are the columns risk and novelty of a matrix.
"""

from collections import namedtuple

import numpy as np

from benchmarks.papers._fpp23_oscr import oscr_score
from sklearn_reject import _curves as curves
from sklearn_reject._curves._directions import combine, score_directions
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)

_N_DIRECTIONS = 361

# Losses of OOD samples mean nothing.
Sample = namedtuple("Sample", "scores losses is_ood")

Areas = namedtuple("Areas", "auroc oscr_franc oscr_dhamija")


def take(sample, rows):
    """Return some rows of a sample."""
    return Sample(*(array[rows] for array in sample))


def tune(sample, **bounds):
    """Return the threshold rule of least risk within bounds, or None if there is none.

    Rules are deterministic, as in the paper.
    """
    scores, *others = sample
    solve = tune_single_score if scores.ndim == 1 else tune_double_score
    try:
        return solve(*_columns(scores), *others, randomize=False, **bounds)
    except InfeasibleTargetError:
        return None


def measure(rule, sample):
    """Return the rule with what it achieves on a sample."""
    return rule.measure(*_columns(sample.scores), sample.losses, sample.is_ood)


def _columns(scores):
    return (scores,) if scores.ndim == 1 else scores.T


def least_fpr(sample, min_tpr):
    """Return the least FPR where the TPR is at least `min_tpr`."""
    scores, _, is_ood = sample
    return curves.fpr_at_tpr_score(scores, is_ood, positive="id", tpr=min_tpr)


def largest_tpr(sample, max_fpr):
    """Return the largest TPR where the FPR is at most `max_fpr`.

    With OOD as the positive class, what is found is the least share of ID samples that
    are rejected where at least 1 - `max_fpr` of the OOD samples are.
    """
    scores, _, is_ood = sample
    return 1 - curves.fpr_at_tpr_score(scores, is_ood, positive="ood", tpr=1 - max_fpr)


def areas(sample):
    """Return the areas; for two scores each of them is that of the best direction."""
    scores, _, is_ood = sample
    return Areas(
        curves.ood_auroc_score(scores, is_ood),
        oscr_score(*sample, definition="franc"),
        oscr_score(*sample, definition="dhamija"),
    )


def aupr(sample, ood_prior):
    """Return the area under precision and recall of ID samples."""
    scores, _, is_ood = sample
    return curves.ood_aupr_score(scores, is_ood, positive="id", ood_prior=ood_prior)


def transferred_areas(sample, other):
    """Return the areas on `other` of the combined scores that are best on `sample`."""
    directions = score_directions(*sample.scores.T, _N_DIRECTIONS)
    found = [areas(_combine(sample, weights)) for weights in directions]
    best = np.argmax(found, axis=0)
    return Areas(
        *(
            areas(_combine(other, directions[position]))[number]
            for number, position in enumerate(best)
        )
    )


def _combine(sample, weights):
    return sample._replace(scores=combine(*sample.scores.T, weights))
