"""Rules whose target holds for the population with high probability."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Real

import numpy as np
from scipy.stats import beta, binom

from sklearn_reject._curves._groups import (
    argsort_scores,
    prefix_sums,
    snap_sorted,
    starts_of_ties,
)
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._bounds import BOUNDS
from sklearn_reject.selection._rule import Certificate


@dataclass(frozen=True, eq=False)
class RankedSample:
    """Samples by increasing score, ties in the order of their draws.

    Draws are NaN where ties are not broken or a score occurs only once: such a
    threshold needs no draw, so that nothing is random without ties.
    """

    scores: np.ndarray
    losses: np.ndarray
    draws: np.ndarray
    # Which row of the sample each is.
    order: np.ndarray | None = None

    def __len__(self):
        return len(self.scores)

    @cached_property
    def loss_sums(self):
        """Loss of the first 0, 1, ... samples, ndarray of shape (n_samples + 1,)."""
        return prefix_sums(self.losses)

    @cached_property
    def accepted_counts(self):
        """How many samples each threshold accepts, increasing up to all.

        A threshold is a score, with a draw where ties are broken, and accepts what is
        strictly below: samples equal in both are accepted together. The last threshold
        accepts everything.
        """
        is_start = starts_of_ties(self.scores)
        is_start[1:] |= self.draws[1:] > self.draws[:-1]
        return np.append(np.flatnonzero(is_start), len(self))

    def shuffle(self, random_state):
        """Return the losses of the first samples, in random order, as a function.

        The order of the rows would do as well if they were always drawn one by one, but
        some samples come sorted.
        """
        ranks = random_state.permutation(len(self))
        losses = self.losses[ranks]
        return lambda count: losses[ranks < count]


def rank_samples(scores, losses, draws=None):
    """Sort samples by score, up to rounding, and by draw; None leaves ties together."""
    order, ranked_scores = argsort_scores(scores)
    ranked_scores = snap_sorted(ranked_scores)
    is_start = starts_of_ties(ranked_scores)
    if draws is None or is_start.all():
        draws = np.broadcast_to(np.nan, len(scores))
        return RankedSample(ranked_scores, losses[order], draws, order)
    order = order[np.lexsort((draws[order], np.cumsum(is_start)))]
    is_single = is_start & np.append(is_start[1:], True)
    draws = np.where(is_single, np.nan, draws[order])
    return RankedSample(ranked_scores, losses[order], draws, order)


# Halvings, on a logarithmic scale, of the interval of the smallest certifiable risk.
_N_HALVINGS = 12


# Where that interval starts for a target of zero.
_LEAST_RISK = 1e-9


def check_confidence_level(confidence_level, sample_weight=None):
    """Return the confidence as a float, after refusing weights."""
    is_number = isinstance(confidence_level, Real) and not isinstance(
        confidence_level, bool
    )
    if not is_number or not 0 < confidence_level < 1:
        raise ValueError(
            f"confidence_level must be a number in ]0, 1[, got {confidence_level!r}. "
            "Pass for example 0.9, or None for a rule without a guarantee."
        )
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot be combined with confidence_level, because the "
            "guarantee needs samples from one distribution. Pass sample_weight=None, "
            "or confidence_level=None."
        )
    return float(confidence_level)


def choose_bound(losses, name, max_loss, bounds=BOUNDS, of_many="betting"):
    """Return the bound of a name and the largest loss, after checking them.

    "auto" is the binomial for losses that are 0 or 1, else that called `of_many`.
    """
    check_option(name, "bound", ("auto", *bounds))
    largest = 1.0
    if max_loss is not None:
        largest = check_number(max_loss, "max_loss", open_low=True)
    between = losses[~np.isin(losses, (0.0, largest))]
    if max_loss is None and between.size:
        raise ValueError(
            "max_loss is needed to certify losses that are not all 0 or 1, got "
            f"{between[0]}. Pass the largest possible loss, not the largest one in the "
            "sample, because the guarantee depends on it."
        )
    if losses.max() > largest:
        raise ValueError(
            f"losses holds {losses.max():g}, above max_loss={largest:g}. Pass the "
            "largest possible loss, or clip the losses to max_loss."
        )
    if name == "auto":
        # What losses are possible decides, not what losses were seen: a choice between
        # two tests that looks at the sample would add up their errors.
        name = "binomial" if max_loss is None else of_many
    bound = bounds[name]
    if bound.is_binary and between.size:
        others = [f"bound={other!r}" for other in bounds if not bounds[other].is_binary]
        raise ValueError(
            f"bound={name!r} is for losses that are 0 or {largest:g}, got "
            f"{between[0]}. Pass {' or '.join(others)}."
        )
    return bound, largest


@dataclass(frozen=True, eq=False)
class Prefixes:
    """What a bound may know of the first samples: sums, and losses in random order."""

    loss_sums: np.ndarray
    shuffled_losses: object


def certify_risk(ranked, risk, *, confidence_level, bound, max_loss, random_state):
    """Find the threshold of largest coverage whose risk can be certified.

    Returns the certificate of the rule that accepts the first `n_accepted` samples. The
    random state gives the order of the bets.
    """
    prefixes, delta = None, 1 - confidence_level
    if risk < max_loss:
        scaled = ranked
        if max_loss != 1:
            scaled = replace(ranked, losses=ranked.losses / max_loss)
        prefixes = Prefixes(scaled.loss_sums, scaled.shuffle(random_state))

    def p_values(counts, risk):
        return bound.p_values(prefixes, counts, risk, delta)

    return certify_counts(
        ranked.accepted_counts, p_values, risk, confidence_level, bound, max_loss
    )


def certify_counts(counts, p_values, risk, confidence_level, bound, max_loss):
    """Return the certificate of the last threshold that passes, by what each accepts.

    `p_values` maps numbers of samples and a risk, in multiples of the largest loss.
    """
    n_samples, delta = int(counts[-1]), 1 - confidence_level
    certificate = partial(
        Certificate, "risk", risk, confidence_level, bound.name, n_samples
    )
    if risk >= max_loss:
        return certificate(n_samples, 0.0)

    def find(risk):
        """Return how many samples the last threshold that passes accepts, or None."""
        test = partial(p_values, risk=risk)
        return find_last_passing(test, counts, delta, bound, risk)

    n_accepted = find(risk / max_loss) if risk / max_loss > 0 else None
    if n_accepted is None:
        raise _nothing_passes(find, n_samples, risk, max_loss, confidence_level, bound)
    p_value = p_values(np.array([n_accepted]), risk / max_loss)
    return certificate(n_accepted, float(p_value[0]))


def explain_hopeless(n_samples, risk, max_loss, bound, delta):
    """Return why even a sample without any loss would pass no test, "" if it might."""
    if risk == 0:
        return (
            "The target risk is 0, which no finite sample can certify, because with a "
            "small risk a sample may have no loss at all"
        )
    fewest = bound.fewest(risk / max_loss, delta)
    if n_samples >= fewest:
        return ""
    return (
        f"{n_samples} samples cannot certify the target risk {risk} at "
        f"confidence_level={1 - delta:g}, even without any loss: at least {fewest} "
        "are needed, and many more if there are losses"
    )


def _nothing_passes(find, n_samples, risk, max_loss, confidence_level, bound):
    """Return the error of a target that no threshold passes, with one that does."""
    delta = 1 - confidence_level
    problem = explain_hopeless(n_samples, risk, max_loss, bound, delta) or (
        f"No threshold can be certified for the target risk {risk} with "
        f"confidence_level={confidence_level:g} on {n_samples} samples"
    )
    way_out = (
        "a target_failure_rate instead of the risk, a lower confidence, more "
        "calibration samples, or a score that ranks the errors better."
    )
    lowest, n_accepted = find_least_risk(find, risk / max_loss, n_samples)
    if lowest == 1:
        return InfeasibleTargetError(
            f"{problem}; nor can any risk below the largest loss", f"Use {way_out}"
        )
    lowest *= max_loss
    coverage = n_accepted / n_samples
    return InfeasibleTargetError(
        f"{problem}; the smallest risk that can be certified is about "
        f"{round_up(lowest)}, at coverage {round_down(coverage)}",
        f"Use at least this risk, {way_out}",
        {"target_risk": lowest},
        coverage,
    )


def find_least_risk(find, failing, at_most):
    """Return about the smallest risk, in ]0, 1], that something is found for, and that.

    `failing` is one that nothing is found for, and `at_most` what there is for 1.
    """
    failing, passing, found = max(failing, _LEAST_RISK), 1.0, at_most
    for _ in range(_N_HALVINGS):
        middle = (failing * passing) ** 0.5
        at_middle = find(middle)
        if at_middle is None:
            failing = middle
        else:
            passing, found = middle, at_middle
    return passing, found


def certify_coverage(n_samples, coverage, *, confidence_level):
    """Find the smallest rank whose score, as a threshold, has a certified coverage.

    The coverage of what is up to the sample of rank k has the law Beta(k, n + 1 - k).
    """
    # Beta(k, n + 1 - k) >= om is as likely as fewer than k of n samples below om.
    rank = n_samples + 1
    if coverage < 1:
        rank = int(binom.ppf(confidence_level, n_samples, coverage)) + 1
    p_value = beta.cdf(coverage, rank, n_samples + 1 - rank) if rank <= n_samples else 0
    return Certificate(
        "coverage",
        coverage,
        confidence_level,
        "order_statistic",
        n_samples,
        min(rank, n_samples),
        float(p_value),
    )


# Where the fixed sequences start, as shares of the sample, and their shares of delta.
# A risk with a floor or a bump is over the target at low coverage for a while, and a
# start beyond must do with its own share. The first has most as most risks increase.
_STARTS = (0.1, 0.25, 0.5, 0.75)


_WEIGHTS = (0.4, 0.2, 0.2, 0.2)


# In multiples of the fewest that pass, where a single error ends the sequence already.
# More than twice leaves a small sample with no start but the whole of it.
_FIRST_START = 2


def find_last_passing(p_values, counts, delta, bound, risk):
    """Return the count at the last threshold that passes, or None (Wiens' fallback).

    Thresholds are tested one after the other, from several starts. Each start brings
    its share of `delta`, on top of the running level if every threshold since the last
    start has passed. A failure sets the level to zero until the next start.
    """
    n_samples = counts[-1]
    shares = np.ceil(np.multiply(_STARTS, n_samples)).astype(int)
    fewest = _FIRST_START * bound.fewest(risk, delta)
    wanted = np.minimum(np.maximum(shares, fewest), n_samples)
    if bound.most_tests is not None:
        # Tests take time: a grid of thresholds, and the starts.
        some = np.append(grid_counts(n_samples, bound.most_tests), wanted)
        counts = counts[np.unique(locate_counts(counts, some))]
    starts = locate_counts(counts, wanted)

    def find_failure(start, end, level):
        return start + count_passes(p_values, counts[start:end], level)

    last = walk_from_starts(starts, len(counts), _WEIGHTS, delta, find_failure)
    return None if last is None else int(counts[last])


def walk_from_starts(starts, n_tests, weights, delta, find_failure):
    """Return the last of a sequence of tests that passes, or None.

    `find_failure` returns the first test, from one to before another, that does not
    pass at a level, or the latter.
    """
    ends = np.append(starts[1:], n_tests)
    level, last = 0.0, None
    for start, end, weight in zip(starts, ends, weights, strict=True):
        level += weight * delta
        failure = find_failure(start, end, level)
        if failure > start:
            last = int(failure) - 1
        if failure < end:
            level = 0.0
    return last


def locate_counts(counts, wanted):
    """Return the threshold at each wanted number of samples, or the last one before.

    With ties it is the group that the next sample belongs to: given which one that is,
    the samples below it are independent. Those below the first group with enough of
    them are not, as their number decides which group that is.
    """
    return np.searchsorted(counts, wanted, side="right") - 1


def count_passes(p_values, counts, level):
    """Return how many thresholds pass before the first that does not."""
    done, size = 0, 16
    while done < len(counts):
        passed = p_values(counts[done : done + size]) <= level
        if not passed.all():
            return done + int(np.argmin(passed))
        # P-values beyond the first failure are wasted, so start with few of them.
        done, size = done + len(passed), 2 * size
    return done


def grid_counts(n_samples, size):
    """Return numbers of samples spread evenly from few to all."""
    return np.unique(-(-np.arange(1, size + 1) * n_samples // size))
