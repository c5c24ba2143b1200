"""The deferral curve: system risk against how often the second opinion is asked.

Deferral is a rejection of the samples with the lowest of minus the gain, and the loss
of what is rejected is that of the second opinion.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from sklearn_reject._curves._prefixes import (
    RELATIVE_TOLERANCE,
    Prefixes,
    prefix_sums,
    running_sum,
)
from sklearn_reject._curves._risk_coverage import normalize_area
from sklearn_reject._validation import (
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
    find_missing_labels,
    take_weight,
)
from sklearn_reject.exceptions import gather_warnings, warn_user


class DeferralSamples(NamedTuple):
    """Validated samples, of which some count: those of a known loss and some weight.

    All have shape (n_samples,), `weight` may be None.
    """

    scores: np.ndarray
    loss_first: np.ndarray
    loss_second: np.ndarray
    weight: np.ndarray | None
    is_used: np.ndarray

    def take(self, rows):
        """Return those in some rows."""
        return DeferralSamples(*(take_weight(each, rows) for each in self))

    @property
    def used(self):
        """Those that count."""
        return self if self.is_used.all() else self.take(self.is_used)


def check_deferral_samples(
    scores, loss_first, loss_second, sample_weight=None, *, name="scores"
):
    """Validate what deferral is judged on, and tell what counts.

    Scores of any sign, higher = deferred first. `loss_second` is NaN or None where the
    second opinion was not asked. A warning says so where those asked were evidently
    not drawn at random. `name` is what messages call the scores.
    """
    scores = check_vector(scores, name)
    loss_first = check_vector(loss_first, "loss_first", non_negative=True)
    loss_second, is_known = _check_answers(loss_second)
    check_same_length(scores.size, loss_first=loss_first, loss_second=loss_second)
    weight = check_sample_weight(sample_weight, scores.size)
    counts = np.ones(scores.size, dtype=bool) if weight is None else weight > 0
    is_used = is_known & counts
    if not is_used.any():
        raise ValueError(
            "sample_weight is zero wherever loss_second is known. Pass samples with a "
            "second opinion and a positive weight."
        )
    if not is_known[counts].all():
        _warn_of_choice(scores[counts], loss_first[counts], is_known[counts])
    return DeferralSamples(scores, loss_first, loss_second, weight, is_used)


def _check_answers(losses):
    """Return the losses of the second opinion, zero where missing, and which are."""
    array = losses if np.ma.isMaskedArray(losses) else np.asarray(losses)
    missing = find_missing_labels(array)
    if array.ndim == 1 and missing.any():
        if missing.all():
            raise ValueError(
                f"loss_second is missing in all {len(array)} samples. Ask the second "
                "opinion about a random part of them."
            )
        array = np.where(missing, 0.0, np.asarray(array))
    return check_vector(array, "loss_second", non_negative=True), ~missing


# Twice exp of minus this is how rarely chance alone leads to a warning.
_SURPRISE = np.log(2e6)


def _warn_of_choice(scores, loss_first, is_known):
    """Warn where the samples with a second opinion cannot be a random draw of all.

    Bernstein's inequality bounds how far the mean rank of random draws is off, which
    holds for draws without replacement, too (Hoeffding, 1963, theorem 4). Ranks,
    because a few large losses say little.
    """
    n_samples, n_known = len(is_known), np.count_nonzero(is_known)
    # What is left out differs as much, and may be less.
    fewer = min(n_known, n_samples - n_known)
    for name, values in (("loss of the first opinion", loss_first), ("gain", scores)):
        # Their mean is known without rounding: all of them are zero where all tie.
        ranks = (rankdata(values) - (n_samples + 1) / 2) / n_samples
        difference = ranks[is_known].sum()
        spread = 2 * fewer * ranks.var() + np.abs(ranks).max() * abs(difference) * 2 / 3
        if difference**2 > _SURPRISE * spread:
            warn_user(
                f"The second opinion is known for {n_known} of {n_samples} samples, "
                f"and the {name} is {'higher' if difference > 0 else 'lower'} in these "
                "than in the others, by more than chance: rates and risks describe "
                "them only. Ask about a random draw, or pass those alone, weighted by "
                "the inverse of their probability of being asked."
            )
            return


def join_opinions(samples, *, near=False, **columns):
    """Return prefixes of minus the scores: the first groups are deferred first.

    The losses of both opinions are the columns "first" and "second". With `near`,
    scores tie that differ by rounding.
    """
    columns |= {"first": samples.loss_first, "second": samples.loss_second}
    return Prefixes.of(-samples.scores, samples.weight, near=near, **columns)


def deferral_curve(scores, loss_first, loss_second, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.deferral_curve` of losses.

    >>> from sklearn_reject._curves._deferral import deferral_curve
    >>> deferral_curve([0.8, 0.2], [1, 0], [0, 1])
    (array([0. , 0.5, 1. ]), array([0.5, 0. , 0.5]), array([inf, 0.8, 0.2]))
    """
    samples = check_deferral_samples(scores, loss_first, loss_second, sample_weight)
    prefixes = join_opinions(samples.used)
    total = prefixes.total("weight")
    # Sums of what is kept and of what is deferred: nothing cancels.
    losses = prefix_sums(prefixes.columns["second"])
    losses[:-1] += running_sum(prefixes.columns["first"][::-1])[::-1]
    thresholds = np.append(np.inf, -prefixes.scores)
    return prefixes.sums("weight") / total, losses / total, thresholds


def deferral_area_score(
    scores, loss_first, loss_second, *, sample_weight=None, normalize=None
):
    """Compute :func:`sklearn_reject.metrics.deferral_area_score` of losses.

    A sample is kept at deferral rates below its place in the order, and deferred above
    it. So its place, of a tie group the middle, weighs the loss of the first opinion,
    and the rest up to 1 that of the second.

    >>> from sklearn_reject._curves._deferral import deferral_area_score
    >>> deferral_area_score([0.8, 0.2], [1, 0], [0, 1])
    0.25
    """
    check_option(normalize, "normalize", (None, "excess", "prr"))
    samples = check_deferral_samples(scores, loss_first, loss_second, sample_weight)
    samples = samples.used
    area = _area(samples)
    if normalize is None:
        return area
    losses = samples.loss_first, samples.loss_second
    oracle = _area(samples._replace(scores=losses[0] - losses[1]))
    random = sum(np.average(each, weights=samples.weight) / 2 for each in losses)
    reason = "The difference of the losses is the same in all samples"
    return normalize_area(area, oracle, random, normalize, reason)


def _area(samples):
    """Return the integral of the system risk over the deferral rate."""
    prefixes = join_opinions(samples)
    total, place = prefixes.total("weight"), _places(prefixes)
    kept = (prefixes.columns["first"] / total) @ place
    return float(kept + (prefixes.columns["second"] / total) @ (1 - place))


def _places(prefixes):
    """Return the deferral rate at the middle of each group."""
    middle = prefixes.sums("weight")[:-1] + prefixes.columns["weight"] / 2
    return middle / prefixes.total("weight")


# Scores that are no better replace the confidence in one case of twenty. On fourteen
# real sets 0 to 2 errors make little difference on average, but below 1.6 some are
# worse off than with the confidence.
_ERRORS_OF_AREAS = 1.645


def choose_by_area(scores, loss_first, loss_second, *, sample_weight=None):
    """Return the name of the score with the least area, and the areas by name.

    `scores` is a dict of name to (n_samples,), higher = deferred first. "confidence"
    is left only for scores whose area is less by more than noise, 1.645 standard
    errors of the paired difference. Without it among them, the least area wins.
    Samples without a second opinion (NaN) or without weight count for nothing.

    >>> import numpy as np
    >>> from sklearn_reject._curves._deferral import choose_by_area
    >>> loss_first = np.tile([1.0, 0.0], 50)
    >>> scores = {"confidence": 1 - loss_first, "gain": loss_first}
    >>> choose_by_area(scores, loss_first, np.zeros(100))
    ('gain', {'confidence': 0.375, 'gain': 0.125})
    """
    with gather_warnings():  # that samples were chosen is for others to tell
        orders, rest = {}, (loss_first, loss_second, sample_weight)
        for name, values in scores.items():
            orders[name] = check_deferral_samples(values, *rest, name=name).used
    areas = {name: _area(order) for name, order in orders.items()}
    if "confidence" not in areas:
        return min(areas, key=areas.get), areas
    usual = orders["confidence"]
    influence = area_influence(usual)
    # What a sample adds as a pair with itself: two or three may show no noise at all.
    difference = np.abs(usual.loss_first - usual.loss_second)
    least = np.average(difference, weights=usual.weight) / len(difference)

    def is_better(name):
        change = area_influence(orders[name]) - influence
        if usual.weight is not None:
            change *= usual.weight / usual.weight.mean()
        noise = _ERRORS_OF_AREAS * np.sqrt(np.sum(change**2)) / len(change)
        # Where all losses are alike, areas differ by rounding only.
        largest = areas["confidence"] * (1 - RELATIVE_TOLERANCE)
        return largest - areas[name] > noise + least

    candidates = [name for name in areas if name == "confidence" or is_better(name)]
    return min(candidates, key=areas.get), areas


def area_influence(samples):
    r"""Return how much each of some samples, which all count, moves their area.

    With shares p_i of the weight, differences d_i of the losses, and h_ij one where the
    score of i is above that of j, a half where they tie, the area is

    .. math::

        \sum_i p_i l_{1i} - \sum_{ij} p_i p_j d_i h_{ij},

    a statistic of pairs. Its derivative in direction of sample k is

    .. math::

        l_{1k} - \sum_j p_j d_k h_{kj} - \sum_i p_i d_i h_{ik}

    less its mean; sqrt(sum p_k^2 influence_k^2) is the standard error.
    """
    prefixes = join_opinions(samples)
    gains = prefixes.columns["first"] - prefixes.columns["second"]
    gains /= prefixes.total("weight")
    below = 1 - _places(prefixes)
    above = running_sum(gains) - gains / 2
    place = np.searchsorted(prefixes.scores, -samples.scores)
    difference = samples.loss_first - samples.loss_second
    influence = samples.loss_first - difference * below[place] - above[place]
    return influence - np.average(influence, weights=samples.weight)
