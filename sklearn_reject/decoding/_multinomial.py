"""Expected losses of sets of classes, of which exactly one is true."""

import numpy as np


def multinomial_curves(eta, loss):
    """Return the expected loss of the k most probable classes, for all k.

    The true class is among them or not, so that only two confusion matrices can occur
    (NKRD16, section 4).

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_classes)
        Probabilities of the classes, in each row sorted decreasing.

    loss : SetLoss
        The loss.

    Returns
    -------
    curves : ndarray of shape (n_rows, n_classes + 1)
        For k = 0, ..., n_classes.
    """
    n_classes = eta.shape[1]
    k = np.arange(n_classes + 1)
    hit, miss = np.zeros((2, n_classes + 1))
    hit[1:] = loss(1, k[1:] - 1, 0, n_classes - k[1:])
    miss[:-1] = loss(0, k[:-1], 1, n_classes - 1 - k[:-1])
    covered = np.zeros((len(eta), n_classes + 1))
    np.cumsum(eta, axis=1, out=covered[:, 1:])
    missed = np.zeros_like(covered)
    missed[:, :-1] = np.cumsum(eta[:, ::-1], axis=1)[:, ::-1]
    return covered * hit + missed * miss
