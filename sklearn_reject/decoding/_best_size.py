"""How many of the most probable items to predict."""

from typing import NamedTuple

import numpy as np

from sklearn_reject.decoding._candidates import candidate_curves
from sklearn_reject.decoding._certified import certified_optimum
from sklearn_reject.decoding._curves import (
    DEFAULT_TOL,
    independent_curves,
    is_dense,
)
from sklearn_reject.decoding._multinomial import multinomial_curves
from sklearn_reject.losses import RecallLoss, SetLoss

# Expected losses that differ by less, relative to the largest, are taken for equal:
# rounding makes as much.
_TIE = 1e-12


class BestSize(NamedTuple):
    """The size of the least expected loss.

    Parameters
    ----------
    loss : SetLoss
        The loss.

    distribution : {"independent", "multinomial"}
        As :func:`expected_loss_curve` has it.

    min_positive, max_positive : int
        Bounds on the size.
    """

    loss: SetLoss
    distribution: str
    min_positive: int
    max_positive: int

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
        return self.distribution == "multinomial" or not self.loss.spares_negatives

    def curves(self, eta, n_negatives=0):
        """Return the expected loss of each size, for rows sorted decreasing."""
        if self.distribution == "multinomial":
            return multinomial_curves(eta, self.loss)
        return independent_curves(eta, self.loss, n_negatives=n_negatives)

    def choose(self, eta, n_negatives=0):
        """Return the size of each row, and its expected loss.

        Of sizes whose losses differ by no more than rounding the smallest.

        Parameters
        ----------
        eta : ndarray of shape (n_rows, n_columns)
            Probabilities, in each row sorted decreasing.

        n_negatives : int, default=0
            Number of further items of each row that are surely negative and are not
            to be predicted.

        Returns
        -------
        sizes, expected_losses : ndarray of shape (n_rows,)
            The sizes and their losses.
        """
        if self._is_certified(eta):
            padded = _add_negatives(eta, n_negatives)
            found = [self._certified_size(row, eta.shape[1]) for row in padded]
            sizes, losses = map(np.array, zip(*found, strict=True))
            return sizes, losses
        curves = self._candidate_curves(eta, n_negatives)
        known = np.where(np.isfinite(curves), curves, 0.0)
        largest = np.abs(known).max(axis=1, keepdims=True)
        tie = _TIE * np.maximum(largest, self.loss.largest)
        curves = curves[:, self.min_positive : self.max_positive + 1]
        near = curves <= curves.min(axis=1, keepdims=True) + tie
        best = near.argmax(axis=1)
        return best + self.min_positive, curves[np.arange(len(eta)), best]

    def losses_at(self, eta, sizes, n_negatives=0):
        """Return the expected loss of one size of each row."""
        if self._is_certified(eta):
            fixed = [self._replace(min_positive=k, max_positive=k) for k in sizes]
            pairs = zip(fixed, _add_negatives(eta, n_negatives), strict=True)
            return np.array([at._certified_size(row)[1] for at, row in pairs])
        return self.curves(eta, n_negatives)[np.arange(len(eta)), sizes]

    def _candidate_curves(self, eta, n_negatives):
        """Return the curves, infinite for sizes that cannot be the best."""
        expansion = self.loss.expansion(eta.shape[1] + n_negatives)
        if self.distribution == "multinomial" or expansion is None:
            return self.curves(eta, n_negatives)
        return candidate_curves(
            eta, expansion, n_negatives=n_negatives, min_positive=self.min_positive
        )

    def _is_certified(self, eta):
        """Tell whether all sizes would take long, and bounds rule most of them out."""
        is_long = self.distribution == "independent" and not is_dense(*eta.shape)
        return is_long and self.loss.is_mean_of_rates

    def _certified_size(self, eta, largest=np.inf):
        tpr, tnr = expected_rates(eta, self.loss.zero_division)
        return certified_optimum(
            eta,
            self.loss,
            self.loss.mean_of_rates(tpr, tnr),
            DEFAULT_TOL,
            self.min_positive,
            min(self.max_positive, len(eta), largest),
        )


class ThresholdSize(NamedTuple):
    """The number of items that reach a threshold, within the bounds.

    Parameters
    ----------
    threshold : float
        Items of at least this probability count.

    problem : BestSize
        Bounds, and how the expected loss is computed.

    tells_loss : bool, default=True
        Whether the expected loss is of interest. It takes longer than all else.
    """

    threshold: float
    problem: BestSize
    tells_loss: bool = True

    @property
    def min_positive(self):
        """Lower bound on the size."""
        return self.problem.min_positive

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
        return self.threshold <= 0 or self.problem.needs_all_items

    def curves(self, eta, n_negatives=0):
        """Return the expected loss of each size, for rows sorted decreasing."""
        return self.problem.curves(eta, n_negatives)

    def choose(self, eta, n_negatives=0):
        """Return the size of each row, and its expected loss; see `BestSize`.

        The loss is NaN where it is not of interest.
        """
        sizes = np.count_nonzero(eta >= self.threshold, axis=1)
        bounds = self.problem.min_positive, self.problem.max_positive
        sizes = np.clip(sizes, *bounds)
        if not self.tells_loss:
            return sizes, np.full(len(sizes), np.nan)
        return sizes, self.problem.losses_at(eta, sizes, n_negatives)


def _add_negatives(eta, n_negatives):
    """Return the rows with items that surely are negative at their ends."""
    return np.hstack([eta, np.zeros((len(eta), n_negatives))]) if n_negatives else eta


def expected_rates(eta, zero_division):
    """Return the expected TPR and TNR of the top k items, for all k.

    Parameters
    ----------
    eta : ndarray of shape (n_items,)
        Probabilities, sorted decreasing.

    zero_division : float
        The rate of a class that is absent.

    Returns
    -------
    tpr, tnr : ndarray of shape (n_items + 1,)
        Both in [0, 1].
    """
    missed = RecallLoss(zero_division=zero_division)
    # What is not predicted is the prediction of the other class.
    tpr = 1 - independent_curves(eta[None], missed)[0]
    tnr = 1 - independent_curves(1 - eta[None, ::-1], missed)[0, ::-1]
    return np.clip(tpr, 0.0, 1.0), np.clip(tnr, 0.0, 1.0)
