"""The best threshold of one score."""

from dataclasses import replace

import numpy as np

from sklearn_reject.selection._best_cut import find_best_cut


def find_threshold(groups, problem, randomize):
    """Return the best cut of all thresholds, None if none is feasible.

    Parameters
    ----------
    groups : OriginGroups
        The sample in the order of the score.

    problem : OODProblem
        What to minimise.

    randomize : bool
        Whether the samples at the threshold may be accepted with a probability.

    Returns
    -------
    cut : Cut or None
        Least price, of equal ones the most ID and then the fewest OOD samples. Its
        threshold is minus infinity where no group is accepted but that of this score.
    """
    start = groups.n_always
    after = groups.accepted_id, groups.accepted_ood, groups.accepted_losses
    sizes = groups.id_weights, groups.ood_weights, groups.losses
    cut = find_best_cut(
        problem,
        [sums[start:] for sums in after],
        # Group zero stands for what is accepted in any case.
        [np.append(0.0, part[start:]) for part in sizes],
        randomize,
    )
    if cut is None:
        return None
    scores = np.append(-np.inf, groups.scores[start:])
    return replace(cut, threshold=float(scores[cut.index]))


def threshold_and_nu(cut, largest):
    """Return where a rule accepts, given the largest finite score of the sample."""
    if cut.threshold == -np.inf:
        return float("-inf"), 0.0
    if cut.threshold >= largest and cut.share == 1:
        # The largest score seen would reject larger ones to come.
        return float("inf"), 1.0
    return cut.threshold, cut.share
