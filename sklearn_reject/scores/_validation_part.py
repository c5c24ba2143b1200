"""The samples that a score keeps back to choose its own settings."""

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from sklearn_reject._validation import check_number

# Samples that a part needs so that there is anything to order.
_FEWEST = 2


def split_off(aims, fraction, random_state):
    """Return the rows to learn from and the rows to validate on.

    Both parts get their share of the samples with a loss.

    Parameters
    ----------
    aims : ndarray of shape (n_samples,)
        Losses.

    fraction : float in ]0, 1[
        Share of the samples to validate on.

    random_state : int, RandomState instance or None
        Source of the draw.

    Returns
    -------
    rows : tuple of two ndarrays, or None
        None where there are too few samples, or too few with a loss, to learn from
        some and validate on others.
    """
    check_fraction(fraction)
    has_loss = aims > 0
    n_with, n_without = has_loss.sum(), (~has_loss).sum()
    if n_with < _FEWEST or len(aims) * min(fraction, 1 - fraction) < _FEWEST:
        return None
    kind = ShuffleSplit if n_without < _FEWEST else StratifiedShuffleSplit
    splitter = kind(1, test_size=fraction, random_state=random_state)
    return next(splitter.split(np.zeros(len(aims)), has_loss))


def check_fraction(fraction):
    """Raise unless the share of the validation part leaves something to learn from."""
    check_number(fraction, "validation_fraction", high=1.0, open_low=True)
    if fraction == 1:
        raise ValueError("validation_fraction must be below 1, or nothing is learned.")
