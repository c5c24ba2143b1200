"""The set of items with the least expected loss."""

import numpy as np

from sklearn_reject._validation import check_option
from sklearn_reject.decoding._best_size import BestSize
from sklearn_reject.decoding._bounds import check_bounds
from sklearn_reject.decoding._curves import DISTRIBUTIONS
from sklearn_reject.decoding._groups import sizes_of_sets
from sklearn_reject.decoding._probabilities import (
    check_distribution,
    check_probabilities,
)
from sklearn_reject.decoding._sets import choose_sets
from sklearn_reject.losses import check_set_loss


def decode(
    eta,
    *,
    loss,
    beta=1.0,
    zero_division=0.0,
    distribution="independent",
    groups=None,
    min_positive=0,
    max_positive=None,
    n_jobs=None,
):
    r"""Find the set of items with the least expected loss.

    It is the set of the k most probable items for some k (NKRD16, theorems 1 and 2),
    and all k are compared; see :func:`expected_loss_curve`. Sizes that an upper bound
    of the score rules out are left out, for "g_mean" and "h_mean" of many items
    :math:`E[f(TPR, TNR)] \le f(E\,TPR, E\,TNR)`.

    Parameters
    ----------
    eta : {array-like, sparse matrix} of shape (n_items,) or (n_sets, n_items)
        Probability of each item to be positive, in any order; a row a set.

    loss : str, array-like of shape (2, 4), callable or SetLoss
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it. "auc",
        "precision" and "recall" need bounds on the size of the set, without which their
        best set is the same whatever the probabilities.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0. At 0 an empty set is never rewarded.

    distribution : {"independent", "multinomial"}, default="independent"
        Whether items are positive independently of each other, or exactly one of them
        is, such as one class of many.

    groups : array-like of shape (n_items,), default=None
        The set of each item of a vector.

    min_positive : int >= 0, default=0
        Least number of items of a set to predict.

    max_positive : int >= 0, default=None
        Largest number of items of a set to predict. None for no bound.

    n_jobs : int, default=None
        Number of chunks of rows that are worked on in parallel. Expected losses may
        differ in their last digits, as rows of a chunk share a quadrature.

    Returns
    -------
    mask : {ndarray, csr_matrix} of the shape of `eta`, dtype bool
        The items to predict. Of equally probable ones those that come first, and of
        sets that are equally good but for rounding the smallest. Sparse for sparse
        `eta`.

    expected_loss : float or ndarray of shape (n_sets,)
        Expected loss of the set, or of each, lower is better. Groups are in the order
        of their sorted values.

    Raises
    ------
    ValueError
        If probabilities are NaN or not in [0, 1], there are no items, `groups` has
        another length or comes with a matrix, an option or a bound is invalid, or the
        loss needs bounds.

    Warns
    -----
    UserWarning
        If the loss may rise with the number of true positives: then the best set need
        not be one of the most probable items.

    References
    ----------
    N. Natarajan, O. Koyejo, P. Ravikumar, I. Dhillon. Optimal Classification with
    Multivariate Losses. ICML, 2016.

    Examples
    --------
    >>> from sklearn_reject.decoding import decode
    >>> mask, expected_loss = decode([0.1, 0.9, 0.6], loss="f_beta")
    >>> mask
    array([False,  True,  True])
    >>> round(expected_loss, 3)
    0.198

    Labels of several samples, a sample a row:

    >>> mask, expected_loss = decode([[0.9, 0.5, 0.1], [0.2, 0.1, 0.1]], loss="jaccard")
    >>> mask
    array([[ True,  True, False],
           [ True, False, False]])
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    check_option(distribution, "distribution", DISTRIBUTIONS)
    eta = check_probabilities(eta, accept_sparse=True)
    sizes = sizes_of_sets(eta.shape, groups)
    if distribution == "multinomial":
        check_distribution(eta, groups)
    least, largest = check_bounds(loss, sizes, min_positive, max_positive)
    chooser = BestSize(loss, distribution, least, np.max(largest))
    mask, losses = choose_sets(eta, chooser, groups=groups, n_jobs=n_jobs)
    is_one_set = eta.ndim == 1 and groups is None
    return mask, float(losses[0]) if is_one_set else losses
