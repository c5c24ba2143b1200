"""Expected losses of the sizes that a bound on the score does not rule out."""

import numpy as np

from sklearn_reject.decoding._curves import expansion_curves


def candidate_curves(eta, expansion, *, n_negatives=0, min_positive=0):
    r"""Return the expected loss of each size, infinite for some that are not best.

    Of many items most have small probabilities. They count in the expected losses of
    all sizes, but sets that have them need not be looked at where smaller ones are
    better than

    .. math::

        E[F_k] \le (1 + \beta^2) \frac{\sum_{i \le k} \eta_i}{k + \beta^2}

    allows for, and likewise for other scores that are a share of true positives.

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_columns)
        Probabilities, in each row sorted decreasing.

    expansion : Expansion
        Parts of the loss.

    n_negatives : int, default=0
        Number of further items of each row that are surely negative.

    min_positive : int, default=0
        Smallest size that may be taken. The bound is of use for zero only.

    Returns
    -------
    curves : ndarray of shape (n_rows, n_columns + 1)
        For k = 0, ..., n_columns.
    """
    most_ahead = None
    if min_positive == 0 and _is_share_of_positives(expansion):
        most_ahead = _most_ahead(eta, *expansion.ratios)
    return expansion_curves(
        eta, expansion, n_negatives=n_negatives, most_ahead=most_ahead
    )


def _is_share_of_positives(expansion):
    """Tell whether the loss falls with a ratio of tp, but for the empty set."""
    if len(expansion.ratios) != 1:
        return False
    [ratio] = expansion.ratios
    above, below = ratio.numerator, ratio.denominator
    falls = ratio.coefficient < 0 < above.tp and not any(above[1:])
    grows = min(below.tp, below.fp) > 0 and not ratio.size_power
    # Nothing but the empty set has no item above the cut.
    of_empty = all(part.cells.tp and part.cells.fp for part in expansion.absences)
    gains = all(part.constant <= 0 and not part.slope for part in expansion.absences)
    return falls and grows and of_empty and gains


def _most_ahead(eta, ratio):
    """Return an upper bound of the ratio for all sizes above k, for all k."""
    below = ratio.denominator
    k = np.arange(1, eta.shape[1] + 1)
    least = (below.tp + (k - 1) * min(below.tp, below.fp)) ** ratio.power
    bounds = np.zeros((len(eta), eta.shape[1] + 1))
    bounds[:, :-1] = ratio.numerator.tp * np.cumsum(eta, axis=1) / least
    # The largest of those that follow.
    return np.maximum.accumulate(bounds[:, ::-1], axis=1)[:, ::-1]
