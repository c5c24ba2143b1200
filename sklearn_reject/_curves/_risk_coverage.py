"""The risk-coverage curve, points on it, and areas: AuRC, AuGRC, SELE.

At the end are those of samples that are there several times each, as a bootstrap has
them. They are sorted once. A resample is then a number of times that each sample is
there, and costs some passes over these counts, whatever the number of resamples.
"""

from functools import partial

import numpy as np
from scipy.special import digamma
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves._cut import best_cut, reaching_coverage, within_risk
from sklearn_reject._curves._ood import gather_samples
from sklearn_reject._curves._prefixes import (
    BATCH_SIZE,
    RELATIVE_TOLERANCE,
    Prefixes,
    join_ties,
    prefix_sums,
    starts_of_ties,
)
from sklearn_reject._validation import (
    check_number,
    check_option,
    check_samples,
    take_weight,
)
from sklearn_reject.exceptions import warn_user


def risk_coverage_curve(
    scores, losses, is_ood=None, *, max_fpr=None, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.risk_coverage_curve` of losses.

    Scores may be infinite where `is_ood` is given; losses of OOD samples are not used.
    """
    if is_ood is not None:
        return _curve_of_id(scores, losses, is_ood, max_fpr, sample_weight)
    if max_fpr is not None:
        raise ValueError(
            f"max_fpr={max_fpr} needs marked OOD samples. Pass is_ood (ood_label)."
        )
    prefixes = join_ties(scores, losses, sample_weight)
    weights, losses = prefixes.sums("weight")[1:], prefixes.sums("loss")[1:]
    # In place, as nothing else is made of these sums.
    losses /= weights
    weights /= weights[-1]
    return weights, losses, prefixes.scores


def _curve_of_id(scores, losses, is_ood, max_fpr, sample_weight):
    limit, needed_for = 1.0, None
    if max_fpr is not None:
        limit = check_number(max_fpr, "max_fpr", high=1.0)
        needed_for = "a bound on the FPR"
    groups = gather_samples(scores, losses, is_ood, sample_weight, needed_for).group()
    accepted = groups.accepted("id")
    points = groups.false_positive_rates <= limit * (1 + RELATIVE_TOLERANCE)
    points &= np.diff(accepted, prepend=0.0) > 0
    risk = groups.accepted("loss")[points] / accepted[points]
    return groups.true_positive_rates[points], risk, groups.thresholds[points]


def selective_risk_at_coverage_score(
    scores, losses, *, coverage, randomize=False, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.selective_risk_at_coverage_score`."""
    coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    prefixes = join_ties(scores, losses, sample_weight)
    model = reaching_coverage(coverage, prefixes.total("weight"))
    cut = best_cut(prefixes, model, randomize)
    return prefixes.at("loss", *cut) / prefixes.at("weight", *cut)


def coverage_at_risk_score(
    scores, losses, *, risk, randomize=False, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.coverage_at_risk_score` of losses."""
    risk = check_number(risk, "risk")
    prefixes = join_ties(scores, losses, sample_weight)
    cut = best_cut(prefixes, within_risk(risk), randomize)
    if cut.n_groups == 0:
        warn_user(
            f"No threshold has a selective risk of at most risk={risk:g}: the coverage "
            "is undefined and set to NaN. Pass a larger risk.",
            UndefinedMetricWarning,
        )
        return float("nan")
    return prefixes.at("weight", *cut) / prefixes.total("weight")


def aurc_score(scores, losses, *, sample_weight=None, normalize=None):
    r"""Compute :func:`sklearn_reject.metrics.aurc_score` of losses, shape (n_samples,).

    With n samples of weights that sum to n, and group g covering the cumulative weight
    from a to b, each unit of its loss adds

    .. math::

        \frac{1}{n} \left(\psi(n + 1) + 1
        - \frac{b \psi(b + 1) - a \psi(a + 1)}{b - a}\right),

    where psi is the digamma function. Of many samples without weights, of which few
    have a loss, most only have to be counted, and are not sorted.

    >>> from sklearn_reject._curves._risk_coverage import aurc_score
    >>> round(aurc_score([0.4, 0.3, 0.2, 0.1], [0, 0, 1, 1], normalize="prr"), 6)
    -1.0
    """
    check_option(normalize, "normalize", (None, "excess", "prr"))
    samples = _with_weights_of_mean_one(*check_samples(scores, losses, sample_weight))
    area = _mean_area(*samples)
    if normalize is None:
        return float(area)
    _, losses, weight = samples
    is_constant = losses.min() == losses.max()
    oracle = area if is_constant else _mean_area(losses, losses, weight)
    random = area if is_constant else np.average(losses, weights=weight)
    return normalize_area(area, oracle, random, normalize, "All losses are equal")


def normalize_area(area, oracle, random, normalize, reason):
    """Return by how much an area exceeds that of the oracle, or what share it wins.

    `reason` is why no order is better than a random one, where none is.
    """
    # The oracle is the minimum over all orders; only rounding gets below it.
    area = max(area, oracle)
    if normalize == "excess":
        return float(area - oracle)
    if not random - oracle > RELATIVE_TOLERANCE * random:
        warn_user(
            f"{reason}, so no score is better than a random one, and normalize='prr' "
            "is undefined and set to NaN.",
            UndefinedMetricWarning,
        )
        return float("nan")
    return float((random - area) / (random - oracle))


def _with_weights_of_mean_one(scores, losses, weight):
    """Return samples of positive weight, None for weights that are all equal.

    Only relative weights matter: harmonic sums would read their size as a number of
    samples.
    """
    if weight is None:
        return scores, losses, None
    weight = weight * (np.count_nonzero(weight) / weight.sum())
    present = weight > 0  # now, as the smallest may have become zero
    if not present.all():
        scores, losses, weight = scores[present], losses[present], weight[present]
    return scores, losses, None if weight.min() == weight.max() else weight


def _mean_area(scores, losses, weight):
    """Return the mean of the selective risks of all prefixes."""
    if weight is None and len(scores) >= _FEWEST_TO_COUNT:
        n_losses = np.count_nonzero(losses)
        if 0 < n_losses <= _LARGEST_LOSS_RATE * len(scores):
            cut = _cut_into_cells(scores, n_losses)
            if cut is not None:
                return _mean_area_of_few_losses(scores, losses, cut)
    prefixes = Prefixes.of(scores, weight, loss=losses)
    if weight is None and len(prefixes) == len(scores):
        risks = np.arange(1.0, len(scores) + 1)
        np.divide(prefixes.sums("loss")[1:], risks, out=risks)
        return risks.mean()
    return mean_area(prefixes)


def mean_area(prefixes):
    """Return the mean of the selective risks of all prefixes of whole samples."""
    ends = prefixes.sums("weight")[1:]
    return _weigh_losses(ends[-1], ends, **prefixes.columns)


# From so many samples, and below this share of losses, counting most of them is faster
# than sorting them all: at 1e5 samples it takes .5 to .7 of the time, at 3e4 as long.
_FEWEST_TO_COUNT, _LARGEST_LOSS_RATE = 2**16, 0.15

# Many cells leave few samples to sort, few cells keep the tables in the cache.
_CELLS_PER_LOSS, _FEWEST_CELLS, _MOST_CELLS = 16, 2**10, 2**20


def _mean_area_of_few_losses(scores, losses, cut):
    """Return the area without sorting all samples.

    Those in cells of the scores without a loss only have to be counted.
    """
    cells = _cells_of(scores, *cut)
    passed_over = np.bincount(cells)
    has_loss = np.zeros(len(passed_over), dtype=bool)
    has_loss[cells[np.flatnonzero(losses > 0)]] = True
    passed_over[has_loss] = 0
    np.cumsum(passed_over, out=passed_over)
    rows = np.flatnonzero(has_loss[cells])
    del cells
    prefixes = Prefixes.of(scores[rows], loss=losses[rows])
    # Only groups with a loss add to the area.
    some = np.flatnonzero(prefixes.columns["loss"])
    cells = _cells_of(prefixes.scores[some], *cut)
    ends = prefixes.sums("weight")[some + 1] + passed_over[cells]
    columns = {name: values[some] for name, values in prefixes.columns.items()}
    return _weigh_losses(len(scores), ends, **columns)


def _cut_into_cells(scores, n_losses):
    """Return how `_cells_of` cuts scores into cells, None where too many share one.

    Cells of equal width are tried first. Scores that pile up near zero, as those of a
    confident classifier do, are told apart by cells that are even in the floating-point
    representation, so about as wide as the score is large.
    """
    n_cells = np.clip(_CELLS_PER_LOSS * n_losses, _FEWEST_CELLS, _MOST_CELLS)
    some = scores[:: max(1, len(scores) >> 15)]  # enough to see where they are dense
    for keys in (np.asarray, float_keys):
        low, high = keys(np.array([scores.min(), scores.max()]))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scale = (n_cells - 1) / (high - low)
        if 0 < scale < np.inf:  # else constant or infinite, or as wide as floats get
            _, counts = np.unique(_cells_of(some, keys, low, scale), return_counts=True)
            # On average as many as there are samples for each loss may share a cell.
            if counts @ (counts - 1) * n_losses <= len(some) ** 2:
                return keys, low, scale
    return None


def _cells_of(scores, keys, low, scale):
    """Return the cells of scores, of equal width in their keys from the lowest on."""
    return ((keys(scores) - low) * scale).astype(np.int64)


def float_keys(values):
    """Return unsigned integers in the order of the floats."""
    bits = (values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    # Flips all bits of negative floats, else the sign only.
    bits ^= (bits >> 63) | np.int64(-(2**63))
    return bits.view(np.uint64)


def _weigh_losses(total, ends, weight, loss):
    """Add up what the losses of each group contribute to the mean selective risk."""
    area, weights, losses = 0.0, weight, loss
    for start in range(0, len(ends), BATCH_SIZE):
        batch = slice(start, start + BATCH_SIZE)
        weight = weights[batch]
        low = ends[batch] - weight
        factors = digamma(total + 1.0) - digamma(low + 1.0)
        tied = np.flatnonzero(weight != 1)  # elsewhere the rest is zero
        if tied.size:
            low, weight = low[tied], weight[tied]
            increment = digamma_increment(low + 1.0, weight)
            factors[tied] += 1 - (low + weight) * (increment / weight)
        area += (losses[batch] * factors).sum() / total
    return area


def augrc_score(scores, losses, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.augrc_score` of losses."""
    return sele_score(scores, losses, ties="midrank", sample_weight=sample_weight)


def sele_score(scores, losses, *, ties="inclusive", sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.sele_score` of losses, shape (n_samples,).

    With weights the mean over all pairs (i, j) of l_i [s_i <= s_j] (FPV23, eq. 29) is
    one of weights w_i w_j.
    """
    check_option(ties, "ties", ("inclusive", "midrank"))
    prefixes = join_ties(scores, losses, sample_weight)
    return pair_area(prefixes, 0.0 if ties == "inclusive" else 0.5)


def pair_area(prefixes, tied_part=0.5):
    """Return the mean over all pairs of the loss of the one that is accepted first.

    It has none in the `tied_part` of those that are tied.
    """
    total = prefixes.total("weight")
    # The share of what is after, in place: each array is one number a sample.
    after = (1 - tied_part) * prefixes.columns["weight"]
    after -= prefixes.sums("weight")[1:]
    after += total
    after /= total
    return float(prefixes.columns["loss"] @ after / total)


# The asymptotic series below is exact to 1e-16 from here on.
_ASYMPTOTIC_FROM = 20

# Of the powers -2, -4, ...
_SERIES = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720, 511 / 67584)


def digamma_increment(x, step):
    """Return digamma(x + step) - digamma(x), at least 1-d, for x >= 1 and step > 0.

    The plain difference loses all digits for steps far below 1, which weights that
    are normalized to a sum of one do have. Here the relative error stays near 1e-15.
    """
    x, step = np.broadcast_arrays(*np.atleast_1d(x, step))
    small = x < _ASYMPTOTIC_FROM
    # digamma(z + 1/2) = log(z) + sum_k c_k / z^(2k), an even series in z.
    z = np.where(small, x + _ASYMPTOTIC_FROM, x) - 0.5
    growth = np.log1p(step / z)
    increment = growth.copy()
    for k, coefficient in enumerate(_SERIES, start=1):
        increment += coefficient * z ** (-2 * k) * np.expm1(-2 * k * growth)
    # digamma(x) = digamma(x + 1) - 1 / x leads back to the small ones.
    x, step = x[small], step[small]
    for shift in range(_ASYMPTOTIC_FROM if x.size else 0):
        increment[small] += step / ((x + shift) * (x + shift + step))
    return increment


class CountedSamples:
    r"""Areas and risks of rows that are repeated, from the number of times of each.

    With n rows in all, the loss at rank p of them adds s_p / n: the harmonic sum of
    1/p to 1/n to the AuRC, and (n - p + 1/2) / n to the AUGRC. A tie group at the ranks
    a + 1 to b shares its losses among them, so that each adds
    (S(b) - S(a)) / (b - a) / n, with S(m) = s_1 + ... + s_m.

    Counts are integers of shape (n_resamples, n_samples), with columns in the order of
    the samples as they came.

    Parameters
    ----------
    scores, losses : ndarray of shape (n_samples,)
        Validated, see `check_samples`.

    weight : ndarray of shape (n_samples,), default=None
        Positive weight of each sample, each time it is there. Areas have none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject._curves._risk_coverage import CountedSamples
    >>> from sklearn_reject._curves._risk_coverage import aurc_score
    >>> scores, losses = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 0.0])
    >>> area = CountedSamples(scores, losses).aurc(np.array([[2, 1, 0]]))
    >>> bool(np.isclose(area[0], aurc_score([0.1, 0.1, 0.2], [0, 0, 1])))
    True
    """

    def __init__(self, scores, losses, weight=None):
        self._order = order = np.argsort(scores)
        self._losses, self._weight = losses[order], take_weight(weight, order)
        starts = np.flatnonzero(starts_of_ties(scores[order]))
        self._has_ties = len(starts) < len(losses)
        # Groups with a loss or, summed by parts, single samples with another one than
        # the next.
        if self._has_ties:
            self._sum_groups = partial(np.add.reduceat, indices=starts, axis=-1)
            changes = self._sum_groups(self._losses)
        else:
            self._sum_groups = np.asarray
            changes = -np.diff(self._losses, append=0.0)
        self._some = np.flatnonzero(changes)
        self._changes = changes[self._some]
        self._tabulate(len(losses))

    def _tabulate(self, size):
        """Keep the sums of 1/(m + 1) to 1/size for each m."""
        self._tails = prefix_sums(1 / np.arange(size, 0.0, -1))[::-1]

    def aurc(self, counts):
        """Return the AuRC of each resample."""
        return self._areas(counts, self._harmonic_sums)

    def augrc(self, counts):
        """Return the AUGRC of each resample."""
        return self._areas(counts, lambda ranks, n: ranks - ranks * (ranks / (2.0 * n)))

    def _harmonic_sums(self, ranks, n):
        """Return S(m) = m (1 + 1/(m + 1) + ... + 1/n), from a table."""
        if n.max() >= len(self._tails):
            self._tabulate(n.max())
        sums = self._tails[ranks]
        sums -= self._tails[n] - 1
        sums *= ranks
        return sums

    def _areas(self, counts, sums):
        """Return areas, of which `sums` is S, a function of ranks and of n."""
        counts = counts.take(self._order, axis=1)
        weights = self._sum_groups(counts)
        stops = weights.cumsum(axis=1)
        n = stops[:, -1:]
        # With `take`, sums over rows do not depend on how many there are.
        stops = stops.take(self._some, axis=1)
        if not self._has_ties:
            return (sums(stops, n) * self._changes).sum(axis=1) / n[:, 0]
        losses = self._sum_groups(counts * self._losses).take(self._some, axis=1)
        weights = weights.take(self._some, axis=1)
        # A group that is left out has no loss.
        losses /= np.maximum(weights, 1) * n
        return (losses * (sums(stops, n) - sums(stops - weights, n))).sum(axis=1)

    def risks(self, counts, coverage):
        """Return risks at coverages in (0, 1], shape (n_resamples, n_coverages).

        Of a tie group, the share is accepted that makes the coverage exact.
        """
        counts = counts.take(self._order, axis=1)
        weights = counts if self._weight is None else counts * self._weight
        losses = self._sum_groups(weights * self._losses).cumsum(axis=1)
        weights = self._sum_groups(weights).cumsum(axis=1)
        risks = np.multiply.outer(weights[:, -1], coverage)
        for risk, weight, loss in zip(risks, weights, losses, strict=True):
            ends = np.append(0.0, weight), np.append(0.0, loss)
            risk[:] = np.interp(risk, *ends) / risk
        return risks
