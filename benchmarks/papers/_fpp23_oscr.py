"""The open-set classification rate, of which FPP23 tables two definitions."""

import numpy as np

from sklearn_reject._curves._ood import gather_samples, undefined_without_ood
from sklearn_reject._validation import check_option


def oscr_score(scores, losses, is_ood, *, definition="dhamija", sample_weight=None):
    r"""Compute the area under correct classification against accepted OOD samples.

    Losses are 0 or 1. "dhamija" counts the correct share of all ID samples, "franc"
    that of the accepted ones.

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
    """
    check_option(definition, "definition", ("dhamija", "franc"))
    samples = gather_samples(scores, losses, is_ood, sample_weight)
    weight, _, losses = samples.sums
    others = np.flatnonzero((losses != 0) & (losses != weight))
    if others.size:
        odd = losses[others[0]] / weight[others[0]]
        raise ValueError(
            f"losses holds {odd:g}, but the open-set classification rate counts "
            "correct labels. Pass 1 for a wrong label and 0 for a correct one."
        )
    if not samples.has_ood:
        return undefined_without_ood("The open-set classification rate")
    area = _area_of_all if definition == "dhamija" else _area_of_accepted
    return float(max(map(area, samples.rankings())))


def _area_of_all(groups):
    correct = groups.sums("id") - groups.sums("loss")
    heights = (correct[1:] + correct[:-1]) / (2 * groups.total("id"))
    return heights @ groups.columns["ood"] / groups.total("ood")


def _area_of_accepted(groups):
    correct = groups.columns["id"] - groups.columns["loss"]
    before = groups.sums("id")[:-1]
    here = _ratio(correct, groups.columns["id"])
    below = _ratio(before - groups.sums("loss")[:-1], before)
    # How much of the mean over the group is old: log(1 + x) / x, 1 for x = 0.
    growth = _ratio(groups.columns["id"], before)
    old = np.ones_like(growth)
    np.divide(np.log1p(growth), growth, out=old, where=growth > 0)
    heights = here + (below - here) * np.where(before > 0, old, 0.0)
    return heights @ groups.columns["ood"] / groups.total("ood")


def _ratio(part, whole):
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
