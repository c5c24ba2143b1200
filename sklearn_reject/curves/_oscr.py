"""The area under the open-set classification rate."""

import numpy as np

from sklearn_reject._validation import check_option
from sklearn_reject.curves._ood import undefined_without_ood
from sklearn_reject.curves._origin_samples import gather_samples


def oscr_score(
    scores,
    losses,
    is_ood,
    *,
    definition="dhamija",
    n_angles=361,
    sample_weight=None,
):
    r"""Compute the area under correct classification against accepted OOD samples.

    Higher is better. The curve is that of all threshold rules, those that accept a
    share of tied samples included, from FPR 0 to FPR 1.

    Parameters
    ----------
    scores : array-like of shape (n_samples,) or (n_samples, 2)
        Scores, higher = rejected first; infinite ones are the lowest and the highest.
        Two columns are a risk score and a novelty score, of which the best direction
        counts: the largest area over all weighted sums on the grid.

    losses : array-like of shape (n_samples,)
        1 for ID samples of a wrong label, 0 for those of the right one. Values of OOD
        samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution.

    definition : {"dhamija", "franc"}, default="dhamija"
        "dhamija" takes the share of **all** ID samples that are accepted and correct,
        as is usual: at FPR 1 it is the accuracy without rejection. "franc" takes the
        accuracy among the **accepted** ID samples, zero before there is one: it judges
        the score as one of misclassification, too, and says nothing of how many ID
        samples are lost.

    n_angles : int >= 3, default=361
        Number of directions for two scores, from the risk score over the novelty score
        to the risk score reversed.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    area : float
        In [0, 1]. NaN with a warning without OOD samples.

    Raises
    ------
    ValueError
        If the definition is unknown, a loss is neither 0 nor 1, an array is empty, NaN
        or of another length, a weight is negative, or there are no ID samples.

    Notes
    -----
    Let a group of tied samples hold the ID weight i, of which c is correct, and the
    share o of the OOD weight, and let I and C be the ID weight and the correct weight
    below the group. It adds to the area, for the two definitions,

    .. math::

        o \, \frac{C + c / 2}{n_I}
        \quad\text{and}\quad
        o \int_0^1 \frac{C + \nu c}{I + \nu i} d\nu
        = o \left( \frac{c}{i} + \left( \frac{C}{I} - \frac{c}{i} \right)
        \frac{\log (1 + i / I)}{i / I} \right),

    with n_I the weight of all ID samples. Without ties both are plain sums over the OOD
    samples.

    References
    ----------
    A. R. Dhamija, M. Günther, T. E. Boult. Reducing Network Agnostophobia. NeurIPS
    2018.

    V. Franc, D. Prusa, J. Paplham. Reject option models comprising out-of-distribution
    detection. 2023.

    Examples
    --------
    >>> from sklearn_reject.curves import oscr_score
    >>> scores, losses = [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 0]
    >>> is_ood = [False, True, False, True]
    >>> oscr_score(scores, losses, is_ood)
    0.5
    >>> oscr_score(scores, losses, is_ood, definition="franc")
    0.75
    """
    check_option(definition, "definition", ("dhamija", "franc"))
    samples = gather_samples(scores, losses, is_ood, sample_weight)
    _refuse_other_losses(samples.losses)
    if not samples.is_ood.any():
        return undefined_without_ood("The open-set classification rate")
    area = _area_of_all if definition == "dhamija" else _area_of_accepted
    return float(max(map(area, samples.rankings(n_angles))))


def _refuse_other_losses(losses):
    others = losses[(losses != 0) & (losses != 1)]
    if others.size:
        raise ValueError(
            f"losses holds {others[0]:g}, but the open-set classification rate counts "
            "correct labels: pass 1 for a wrong label and 0 for the right one."
        )


def _area_of_all(groups):
    correct = groups.accepted_id - groups.accepted_losses
    heights = (correct[1:] + correct[:-1]) / (2 * groups.total_id)
    return heights @ groups.ood_weights / groups.total_ood


def _area_of_accepted(groups):
    correct = groups.id_weights - groups.losses
    before = groups.accepted_id[:-1]
    here = _ratio(correct, groups.id_weights)
    below = _ratio(before - groups.accepted_losses[:-1], before)
    share = _share_of_below(groups.id_weights, before)
    heights = here + (below - here) * share
    return heights @ groups.ood_weights / groups.total_ood


def _share_of_below(weights, before):
    """Return log(1 + x) / x with x = weights / before: how much of a mean is old."""
    growth = _ratio(weights, before)
    old = np.divide(
        np.log1p(growth), growth, out=np.ones_like(growth), where=growth > 0
    )
    return np.where(before > 0, old, 0.0)


def _ratio(part, whole):
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
