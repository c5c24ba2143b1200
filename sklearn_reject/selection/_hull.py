"""The slope of the lower convex hull of the prefixes of a sample."""

import numpy as np

# Groups whose sums tell whether one of them has to be looked at.
_BLOCK_SIZE = 2**10


def hull_slope(groups, n_groups):
    """Return the reject cost at which accepting some groups is optimal, 0 for none.

    It is the slope of the lower convex hull of the prefixes at the last of them: the
    largest over all first groups up to it of the smallest over all last groups from it
    on of their mean loss. That is the isotonic regression of the losses there, which
    would take four arrays to know it at all the groups that are not asked for.
    """
    if n_groups == 0:
        return 0.0
    losses, weights = groups.losses, groups.weights
    last = n_groups - 1
    before = _Side(losses[:last][::-1], weights[:last][::-1])
    after = _Side(losses[n_groups:], weights[n_groups:])
    # Tangents from one side to the other: the higher slope falls and the lower one
    # rises until they meet, after two to four rounds on data.
    stop, slope = n_groups, np.inf
    while True:
        inside = losses[last:stop].sum(), weights[last:stop].sum()
        n_before, highest = before.extend(*inside, 1)
        first = last - n_before
        inside = losses[first:n_groups].sum(), weights[first:n_groups].sum()
        n_after, lowest = after.extend(*inside, -1)
        stop = n_groups + n_after
        if not lowest < highest < slope:
            return float(losses[first:stop].sum() / weights[first:stop].sum())
        slope = highest


class _Side:
    """The groups before or after one, the nearest first. Losses are >= 0."""

    def __init__(self, losses, weights):
        self.losses, self.weights = losses, weights
        self.loss_sums, self.weight_sums = _sum_blocks(losses), _sum_blocks(weights)

    def extend(self, loss, weight, sign):
        """Return how many groups make the mean loss of others and these most extreme.

        And that mean: the largest with sign 1, the smallest with -1.
        """
        losses, weights = loss + self.loss_sums, weight + self.weight_sums
        means = sign * losses / weights
        index = int(np.argmax(means))
        n_best, best = min(index * _BLOCK_SIZE, len(self.losses)), means[index]
        # No mean in a block is beyond that of all its losses and none of its weights,
        # or none of its losses and all its weights. So most need no look inside.
        bounds = (losses[1:] / weights[:-1], losses[:-1] / weights[1:])[sign < 0] * sign
        for block in np.flatnonzero(bounds > best).tolist():
            if bounds[block] > best:  # still
                rows = slice(block * _BLOCK_SIZE, (block + 1) * _BLOCK_SIZE)
                means = np.cumsum(self.losses[rows]) + losses[block]
                means /= np.cumsum(self.weights[rows]) + weights[block]
                means *= sign
                index = int(np.argmax(means))
                if means[index] > best:
                    n_best, best = rows.start + index + 1, means[index]
        return n_best, sign * float(best)


def _sum_blocks(values):
    """Return the sums of the first 0, 1, ... blocks of values."""
    if len(values) == 0:
        return np.zeros(1)
    starts = np.arange(0, len(values), _BLOCK_SIZE)
    return np.append(0.0, np.cumsum(np.add.reduceat(values, starts)))
