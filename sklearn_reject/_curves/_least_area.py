"""Which of several scores orders samples best for a second opinion, beyond noise."""

import numpy as np

from sklearn_reject._curves._deferral import (
    check_deferral_samples,
    deferral_area_score,
    group_deferral,
)
from sklearn_reject._curves._groups import running_sum
from sklearn_reject._validation import (
    check_same_length,
    check_sample_weight,
    check_vector,
    find_missing_labels,
    take_weight,
)

# A score replaces the baseline where its area is less by so many standard errors:
# scores that are no better do in one case of twenty. On fourteen real sets 0 to 2 make
# little difference on average, but below 1.6 some are worse off than with the baseline.
N_ERRORS = 1.645


def choose_by_area(
    scores, loss_first, loss_second, *, sample_weight=None, baseline="confidence"
):
    """Return the name of the score with the least area, and the areas by name.

    `scores` is a dict of name to (n_samples,), higher = deferred first. The baseline
    is left only for scores whose area is less by more than noise, `N_ERRORS` standard
    errors of the paired difference. Without a baseline among them, the least area wins.
    Samples without a second opinion (NaN) or without weight count for nothing.

    >>> import numpy as np
    >>> from sklearn_reject._curves._least_area import choose_by_area
    >>> loss_first = np.tile([1.0, 0.0], 50)
    >>> scores = {"confidence": 1 - loss_first, "gain": loss_first}
    >>> choose_by_area(scores, loss_first, np.zeros(100))
    ('gain', {'confidence': 0.375, 'gain': 0.125})
    """
    weight = check_sample_weight(sample_weight, len(loss_first))
    # Scores are checked as a whole: those of samples with no second opinion, too.
    scores = {name: check_vector(values, name) for name, values in scores.items()}
    check_same_length(len(loss_first), loss_second=loss_second, **scores)
    rows = _find_asked(loss_second, weight)
    scores = {name: values[rows] for name, values in scores.items()}
    losses = [
        np.asarray(losses, np.float64)[rows] for losses in (loss_first, loss_second)
    ]
    weight = take_weight(weight, rows)
    areas = {
        name: deferral_area_score(values, *losses, sample_weight=weight)
        for name, values in scores.items()
    }
    if baseline not in areas:
        return min(areas, key=areas.get), areas
    influence = {
        name: area_influence(values, *losses, sample_weight=weight)
        for name, values in scores.items()
    }
    candidates = {baseline: areas[baseline]}
    # What a sample adds as a pair with itself: two or three may show no noise at all.
    least = np.average(np.abs(losses[0] - losses[1]), weights=weight) / len(rows)
    for name, area in areas.items():
        error = standard_error(influence[name] - influence[baseline], weight)
        if areas[baseline] - area > N_ERRORS * error + least:
            candidates[name] = area
    return min(candidates, key=candidates.get), areas


def standard_error(influence, weight):
    """Return the standard error of a mean of influences."""
    if weight is not None:
        influence = influence * (weight / weight.mean())
    return np.sqrt(np.sum(influence**2)) / len(influence)


def _find_asked(loss_second, sample_weight):
    """Return the rows of which both losses are known, without a word on the others.

    It is for who takes risks of them to tell that they were not drawn at random. All
    rows where none is left, which is an error elsewhere.
    """
    is_asked = ~find_missing_labels(np.asarray(loss_second))
    if sample_weight is not None:
        is_asked &= sample_weight > 0
    return np.flatnonzero(is_asked if is_asked.any() else ~is_asked)


def area_influence(scores, loss_first, loss_second, *, sample_weight=None):
    r"""Return how much each sample moves the area of a score, shape (n_samples,).

    With shares p_i of the weight, differences d_i of the losses, and h_ij one where the
    score of i is above that of j, a half where they tie, the area is

    .. math::

        \sum_i p_i l_{1i} - \sum_{ij} p_i p_j d_i h_{ij},

    a statistic of pairs. Its derivative in direction of sample k is

    .. math::

        l_{1k} - \sum_j p_j d_k h_{kj} - \sum_i p_i d_i h_{ik}

    less its mean; sqrt(sum p_k^2 influence_k^2) is the standard error.
    """
    samples = check_deferral_samples(scores, loss_first, loss_second, sample_weight)
    groups = group_deferral(samples)
    total = groups.total_weight
    gains = (groups.loss_first - groups.loss_second) / total
    below = 1 - (groups.cumulative_weights[:-1] + groups.weights / 2) / total
    above = running_sum(gains) - gains / 2
    # Groups come in decreasing order of their scores.
    place = np.searchsorted(-groups.scores, -samples.scores)
    difference = samples.loss_first - samples.loss_second
    influence = samples.loss_first - difference * below[place] - above[place]
    influence -= np.average(influence, weights=samples.weight)
    values = np.zeros(len(samples.is_used))
    values[samples.is_used] = influence
    return values
