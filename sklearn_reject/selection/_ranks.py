"""A calibration sample in the order in which thresholds are tested."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject.curves._groups import running_sum, starts_of_ties
from sklearn_reject.curves._sort import argsort_scores


@dataclass(frozen=True, eq=False)
class RankedSample:
    """Samples by increasing score, ties in the order of noise.

    Attributes
    ----------
    order : ndarray of shape (n_samples,), dtype intp
        Row of each rank.

    scores : ndarray of shape (n_samples,)
        Score of each rank, non-decreasing.

    losses : ndarray of shape (n_samples,)
        Loss of each rank.

    noise : ndarray of shape (n_samples,)
        Draws from [0, 1[ that break ties. NaN where the score occurs only once: such a
        threshold is tested without noise, so that nothing is random without ties.
    """

    order: np.ndarray
    scores: np.ndarray
    losses: np.ndarray
    noise: np.ndarray

    def __len__(self):
        return len(self.scores)

    @cached_property
    def loss_sums(self):
        """Loss of the first 0, 1, ... samples, ndarray of shape (n_samples + 1,)."""
        return np.append(0.0, running_sum(self.losses))

    def accepted_counts(self, randomize):
        """Return how many samples each threshold accepts, increasing up to all.

        A threshold is a sample, and accepts what is strictly before it. Without noise
        only the first of each tie group is one. The last threshold accepts everything.
        """
        if randomize:
            return np.arange(len(self) + 1)
        return np.append(np.flatnonzero(starts_of_ties(self.scores)), len(self))

    def shuffled(self, random_state):
        """Return the ranks and losses in random order.

        The order of the rows would do as well if they were always drawn one by one, but
        some samples come sorted.
        """
        ranks = random_state.permutation(len(self))
        return ranks, self.losses[ranks]


def rank_samples(scores, losses, noise=None):
    """Sort samples by score and noise.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Finite scores.

    losses : ndarray of shape (n_samples,)
        Finite losses.

    noise : ndarray of shape (n_samples,), default=None
        What breaks ties. None leaves them as they come.

    Returns
    -------
    ranked : RankedSample
        The sample.
    """
    order, ranked_scores = argsort_scores(scores)
    is_start = starts_of_ties(ranked_scores)
    if noise is None or is_start.all():
        no_noise = np.full(len(scores), np.nan)
        return RankedSample(order, ranked_scores, losses[order], no_noise)
    order = order[np.lexsort((noise[order], np.cumsum(is_start)))]
    is_single = is_start & np.append(is_start[1:], True)
    noise = np.where(is_single, np.nan, noise[order])
    return RankedSample(order, ranked_scores, losses[order], noise)
