"""Areas and risks of samples that are there several times each, as a bootstrap has it.

The samples are sorted once. A resample is then a number of times that each one is
there, and costs some passes over these counts, whatever the number of resamples.
"""

import numpy as np

from sklearn_reject._curves._prefixes import prefix_sums
from sklearn_reject._curves._ties import starts_of_ties


class _CountedSamples:
    """Losses in the order of the scores, and where groups of equal scores start."""

    def __init__(self, scores, losses):
        self.order = np.argsort(scores)
        self.losses = losses[self.order]
        self.starts = np.flatnonzero(starts_of_ties(scores[self.order]))
        self.has_ties = len(self.starts) < len(self.losses)

    def _sum_groups(self, values):
        """Return the sums along the last axis over each group of equal scores."""
        if not self.has_ties:
            return values
        return np.add.reduceat(values, self.starts, axis=-1)


class CountedArea(_CountedSamples):
    r"""AuRC or AUGRC of rows that are repeated, from the number of times of each.

    With n rows in all, the loss at rank p of them adds s_p / n: the harmonic sum of
    1/p to 1/n to the AuRC, and (n - p + 1/2) / n to the AUGRC. A tie group at the ranks
    a + 1 to b shares its losses among them, so that each adds
    (S(b) - S(a)) / (b - a) / n, with S(m) = s_1 + ... + s_m.

    Parameters
    ----------
    scores, losses : ndarray of shape (n_samples,)
        Validated, see `check_samples`.

    kind : {"aurc", "augrc"}
        Which area.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject._curves._resampled import CountedArea
    >>> from sklearn_reject._curves._risk_coverage import aurc_score
    >>> scores, losses = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 0.0])
    >>> area = CountedArea(scores, losses, "aurc").areas(np.array([[2, 1, 0]]))
    >>> bool(np.isclose(area[0], aurc_score([0.1, 0.1, 0.2], [0, 0, 1])))
    True
    """

    def __init__(self, scores, losses, kind):
        super().__init__(scores, losses)
        self._sums = _HarmonicSums(len(scores)) if kind == "aurc" else _linear_sums
        # Groups with a loss or, summed by parts, single samples with another one than
        # the next.
        changes = -np.diff(self.losses, append=0.0)
        if self.has_ties:
            changes = self._sum_groups(self.losses)
        self._groups = np.flatnonzero(changes)
        self._changes = changes[self._groups]

    def areas(self, counts):
        """Return the area of each resample: counts of shape (n_resamples, n_samples).

        The columns are in the order of the samples as they came, the counts integers.
        """
        counts = counts.take(self.order, axis=1)
        weights = self._sum_groups(counts)
        stops = weights.cumsum(axis=1)
        total = stops[:, -1]
        stops = stops[:, self._groups]
        if not self.has_ties:
            return self._sums(stops, total) @ self._changes / total
        losses = self._sum_groups(counts * self.losses)[:, self._groups]
        weights = weights[:, self._groups]
        sums = self._sums(stops, total) - self._sums(stops - weights, total)
        # A group that is left out has no loss.
        return (losses / np.maximum(weights, 1) * sums).sum(axis=1) / total


class _HarmonicSums:
    """S(m), the sum over p <= m of 1/p + ... + 1/n, from a table."""

    def __init__(self, size):
        self._tabulate(size)

    def _tabulate(self, size):
        # To the largest n; what is the same for all ranks is taken off for others.
        self._tails = prefix_sums(1 / np.arange(size, 0.0, -1))[::-1]
        self._table = prefix_sums(self._tails[:-1])

    def __call__(self, ranks, total):
        if total.max() >= len(self._tails):
            self._tabulate(int(total.max()))
        sums, excess = self._table[ranks], self._tails[total]
        if excess.any():
            sums -= ranks * excess[:, np.newaxis]
        return sums


def _linear_sums(ranks, total):
    """Return S(m), the sum over p <= m of (n - p + 1/2) / n."""
    return ranks - ranks * (ranks / (2.0 * total[:, np.newaxis]))


class CountedRisks(_CountedSamples):
    """Selective risks at given coverages of rows that are repeated.

    At a coverage within a tie group, the share of it is accepted that makes the
    coverage exact.

    Parameters
    ----------
    scores, losses : ndarray of shape (n_samples,)
        Validated, see `check_samples`.

    weight : ndarray of shape (n_samples,) or None
        Positive weight of each sample, each time it is there.

    coverage : ndarray of shape (n_coverages,)
        In ]0, 1].
    """

    def __init__(self, scores, losses, weight, coverage):
        super().__init__(scores, losses)
        self.weight = None if weight is None else weight[self.order]
        self.coverage = coverage

    def risks(self, counts):
        """Return risks, shape (n_resamples, n_coverages), of counts as of an area."""
        counts = counts.take(self.order, axis=1)
        weights = counts if self.weight is None else counts * self.weight
        losses = self._sum_groups(weights * self.losses).cumsum(axis=1)
        weights = self._sum_groups(weights).cumsum(axis=1)
        risks = np.empty((len(counts), len(self.coverage)))
        for risk, weight, loss in zip(risks, weights, losses, strict=True):
            wanted = self.coverage * weight[-1]
            ends = np.append(0.0, weight), np.append(0.0, loss)
            np.divide(np.interp(wanted, *ends), wanted, out=risk)
        return risks
