"""The threshold that has the least loss on data: empirical utility maximisation."""

from dataclasses import dataclass

from sklearn_reject.decoding._bounds import check_bounds
from sklearn_reject.decoding._groups import number_sets
from sklearn_reject.decoding._indicators import check_indicators
from sklearn_reject.decoding._probabilities import check_probabilities
from sklearn_reject.decoding._threshold_cuts import cut_one_set, cut_sets
from sklearn_reject.losses import check_set_loss


@dataclass(frozen=True)
class TunedThreshold:
    """A threshold on probabilities, and how good it is.

    Attributes
    ----------
    threshold : float
        Items of at least this probability are predicted. Infinite if none is, zero if
        all are.

    loss : float
        Mean loss over the sets that it was tuned on, lower is better.

    Examples
    --------
    >>> from sklearn_reject.decoding import tune_threshold
    >>> tune_threshold([0, 1, 1], [0.2, 0.4, 0.9], loss="f_beta")
    TunedThreshold(threshold=0.3..., loss=0.0)
    """

    threshold: float
    loss: float


def tune_threshold(
    y,
    eta,
    *,
    loss,
    beta=1.0,
    zero_division=0.0,
    groups=None,
    min_positive=0,
    max_positive=None,
):
    """Find the threshold on probabilities that has the least mean loss on data.

    Empirical utility maximisation (NKRD16, section 5): items of probability
    ``eta >= threshold`` are predicted, and all thresholds are compared, by one sort.
    Take data on which the probabilities were not fitted.

    Of equally good thresholds the one is taken that leaves least to `min_positive` and
    `max_positive`, and of these the highest, which predicts the fewest items. Losses
    are equal if they differ by no more than rounding. The threshold is midway between
    the probabilities that it separates.

    Parameters
    ----------
    y : {array-like, sparse matrix} of shape (n_items,) or (n_sets, n_items)
        Whether each item is positive, as 0 and 1. A vector is one set, or one for each
        of the `groups`; in a matrix each row is a set.

    eta : array-like of the same shape
        Probability of each item to be positive.

    loss : str, array-like of shape (2, 4), callable or SetLoss
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0.

    groups : array-like of shape (n_items,), default=None
        The set of each item of a vector.

    min_positive : int >= 0, default=0
        Least number of items to predict. A set where fewer reach the threshold is
        filled up with the most probable others, of equally probable ones with the
        first.

    max_positive : int >= 0, default=None
        Largest number of items to predict. A set where more reach the threshold keeps
        the most probable, of equally probable ones the first. None for no bound.

    Returns
    -------
    tuned : TunedThreshold
        The threshold, and its mean loss over the sets.

    Raises
    ------
    ValueError
        If `y` holds anything but 0 and 1, a probability is NaN or not in [0, 1], the
        shapes differ, `groups` has another length or comes with a matrix, there is no
        item, a bound is invalid, or the loss is degenerate without bounds.

    See Also
    --------
    sklearn_reject.decoding.decode : The set of the least expected loss, without labels.

    Examples
    --------
    >>> from sklearn_reject.decoding import tune_threshold
    >>> y, eta = [1, 0, 1, 0, 0, 0], [0.9, 0.6, 0.5, 0.3, 0.2, 0.1]
    >>> tuned = tune_threshold(y, eta, loss="f_beta")
    >>> round(tuned.threshold, 3), round(tuned.loss, 3)
    (0.4, 0.2)

    The first three and the last three items, each a set of its own:

    >>> groups = [0, 0, 0, 1, 1, 1]
    >>> tuned = tune_threshold(y, eta, loss="f_beta", zero_division=1.0, groups=groups)
    >>> round(tuned.threshold, 3), round(tuned.loss, 3)
    (0.4, 0.1)
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    y, eta, sets, sizes = _check_items(y, eta, groups)
    if len(sizes) == 1:
        bounds = check_bounds(loss, len(y), min_positive, max_positive)
        cuts = cut_one_set(y, eta, loss, bounds)
    else:
        bounds = check_bounds(loss, sizes, min_positive, max_positive)
        cuts = cut_sets(y, eta, sets, loss, bounds)
    best = cuts.best()
    return TunedThreshold(cuts.threshold(best), float(cuts.mean_loss(best)))


def _check_items(y, eta, groups):
    """Return label, probability and set of each item, and the sizes of the sets."""
    eta = check_probabilities(eta)
    y = check_indicators(y, eta.shape)
    sets, sizes = number_sets(eta.shape, groups)
    return y.ravel(), eta.ravel(), sets, sizes
