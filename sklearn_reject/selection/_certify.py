"""Rules whose target holds for the population with high probability."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import beta, binom

from sklearn_reject._curves._cut import Cut
from sklearn_reject._curves._prefixes import Prefixes, snap_sorted, starts_of_ties
from sklearn_reject._validation import check_level, check_number, check_option
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._bounds import BOUNDS, Conformal
from sklearn_reject.selection._groups import enumerate_texts
from sklearn_reject.selection._rule import Certificate, check_draws, make_rule
from sklearn_reject.selection._sample import ROWS, Units


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
    order: np.ndarray
    units: Units = ROWS
    # What a pilot counts, as much as all others together, None without one.
    pilot: np.ndarray | None = None

    @cached_property
    def accepted_counts(self):
        """How many samples each threshold accepts, increasing up to all.

        A threshold is a score, with a draw where ties are broken, and accepts what is
        strictly below: samples equal in both are accepted together. The last threshold
        accepts everything.
        """
        is_start = starts_of_ties(self.scores)
        is_start[1:] |= self.draws[1:] > self.draws[:-1]
        return np.append(np.flatnonzero(is_start), len(self.scores))

    def make_rule(self, certificate, n_accepted=None, *, single_is_in=False):
        """Return the rule of the first samples, as many as a certificate says.

        The threshold is at the next sample: its score and, where that ties, its draw.
        With `single_is_in` it is at the last one that is accepted.
        """
        prefixes = Prefixes.of_sorted(self.scores, loss=self.losses)
        n_accepted = certificate.n_accepted if n_accepted is None else n_accepted
        if n_accepted == len(self.scores):
            return make_rule(prefixes, Cut(len(prefixes)), certificate=certificate)
        sample = n_accepted - single_is_in
        group = int(np.searchsorted(prefixes.scores, self.scores[sample]))
        share = self.draws[sample]
        if single_is_in:
            # Draws are multiples of 2^-53, and accepted below the probability only.
            share = np.nextafter(share, 1.0)
        share = float(np.nan_to_num(share, nan=float(single_is_in)))
        cut = Cut(group + 1) if share == 1 else Cut(group, share)
        return make_rule(prefixes, cut, to_next=share < 1, certificate=certificate)


def rank(scores, losses, randomize, draws, random_state, units=ROWS):
    """Sort samples by score, up to rounding, and ties by draws if that is wanted."""
    if draws is not None:
        draws = check_draws(draws, len(scores))
    elif randomize:
        draws = random_state.random_sample(len(scores))
    order = np.argsort(scores)
    scores = snap_sorted(scores[order])
    is_start = starts_of_ties(scores)
    if not randomize or is_start.all():
        draws = np.broadcast_to(np.nan, len(scores))
    else:
        order = order[np.lexsort((draws[order], np.cumsum(is_start)))]
        is_single = is_start & np.append(is_start[1:], True)
        draws = np.where(is_single, np.nan, draws[order])
    return RankedSample(scores, losses[order], draws, order, units.take(order))


def rank_to_test(sample, randomize, draws, random_state):
    """Return a sample by score of which, if rows count unequally, units are a pilot.

    A few of them say where the sequence of tests starts, and count nothing in the
    tests: up to a fixed number of rows, units of several rows are not as good as drawn
    below a threshold, nor are rows up to a fixed amount of what they count.
    """
    options = randomize, draws, random_state, sample.units
    ranked = rank(sample.scores, sample.losses, *options)
    if ranked.units.alike:
        return ranked
    shares, codes = ranked.units.shares, ranked.units.codes
    numbers = np.arange(len(shares)) if codes is None else codes
    order = random_state.permutation(np.unique(numbers[shares > 0]))
    is_pilot = np.isin(numbers, order[: math.isqrt(len(order))])
    tested, pilot = np.where(is_pilot, 0.0, shares), np.where(is_pilot, shares, 0.0)
    pilot *= tested.sum() / max(pilot.sum(), np.finfo(np.float64).tiny)
    units = replace(ranked.units, shares=tested)
    return replace(ranked, units=units, pilot=pilot)


def check_confidence_level(confidence_level, **sampling):
    """Return the confidence as a float, after refusing weights and the like."""
    refuse_weights("confidence_level", "confidence_level=None", **sampling)
    return check_level(confidence_level, "confidence_level")


def refuse_weights(what, way_out, **sampling):
    """Raise for weights, or clusters, where something is to be guaranteed."""
    for name, values in sampling.items():
        if values is not None:
            raise ValueError(
                f"{name} cannot be combined with {what}, as a guarantee is for "
                f"samples drawn alike. Pass {name}=None, or {way_out}."
            )


def check_bound(name, max_loss, bounds=BOUNDS):
    """Raise unless a bound is one, or "auto", and a largest loss is given or None."""
    check_option(name, "bound", ("auto", *bounds))
    if max_loss is not None:
        check_number(max_loss, "max_loss", open_low=True)


def choose_test(losses, confidence_level, name, max_loss, bounds=BOUNDS, units=ROWS):
    """Return how to certify the mean of losses, after checking the options.

    "auto" is the binomial for losses that are 0 or 1, of independent rows that count
    alike, else the last of the bounds. What losses are possible decides, not what
    losses were seen: a choice between two tests that looks at the sample would add up
    their errors. Without a confidence the mean is bounded on average.
    """
    check_bound(name, max_loss, bounds)
    largest = 1.0 if max_loss is None else float(max_loss)
    between, general = losses[(losses != 0) & (losses != largest)], list(bounds)[-1]
    if max_loss is None and between.size:
        raise ValueError(
            "max_loss is needed to certify losses that are not all 0 or 1, got "
            f"{between[0]}. Pass the largest possible loss, not the largest one seen."
        )
    if losses.max() > largest:
        raise ValueError(
            f"losses holds {losses.max():g}, above max_loss={largest:g}. Pass the "
            "largest possible loss, or clip the losses to max_loss."
        )
    if name == "auto":
        name = "binomial" if max_loss is None and units.alike else general
    if bounds[name].is_binary and not units.alike:
        raise ValueError(
            f"bound={name!r} is for rows that are independent and count alike, which "
            f"weights or clusters change. Pass bound={general!r}."
        )
    if bounds[name].is_binary and between.size:
        raise ValueError(
            f"bound={name!r} is for losses that are 0 or {largest:g}, got "
            f"{between[0]}. Pass bound={general!r}."
        )
    if confidence_level is None:
        return RiskTest(None, Conformal(), largest)
    return RiskTest(check_confidence_level(confidence_level), bounds[name], largest)


@dataclass(frozen=True)
class RiskTest:
    """How a bound on a mean loss is certified: a `bound` makes the p-values."""

    confidence_level: float | None
    bound: object
    max_loss: float

    @property
    def delta(self):
        """Chance of an error, 1 for a bound that holds on average only."""
        return 1 - (self.confidence_level or 0.0)

    def certificate(self, quantity, target, n_samples, n_accepted, p_value=None):
        """Return what holds of a rule that accepts so many samples."""
        p_value = None if p_value is None else float(p_value)
        asked = quantity, target, self.confidence_level, self.bound.name
        return Certificate(*asked, n_samples, int(n_accepted), p_value)


# No number of samples is enough for a smaller share of the largest loss.
_LEAST_SHARE = 1e-15


@dataclass(frozen=True, eq=False)
class Asked:
    """A target for the mean loss of so many samples: all, or those of a part."""

    target: float
    n_samples: int
    test: RiskTest
    part: object = None

    quantity, name = "risk", "target risk"

    def __str__(self):
        return f"{self.part or 'target_risk'}={self.target:.6g}"

    @property
    def largest(self):
        """The largest loss."""
        return self.test.max_loss

    @property
    def share(self):
        """The target in multiples of the largest loss."""
        return self.target / self.largest

    def fewest(self):
        """Return about how many samples without any loss can certify the target."""
        return self.test.bound.fewest(self.share, self.test.delta)

    @property
    def hopeless(self):
        """Why so many samples are too few whatever they lose, "" if they are not."""
        needed = 0 if self.share >= 1 else math.inf
        if _LEAST_SHARE < self.share < 1:
            needed = self.fewest()
        if self.n_samples >= needed:
            return ""
        of = f" of {self.part}" if self.part else ""
        level = self.test.confidence_level
        at_level = f" at confidence_level={level:g}" if level else ""
        many = f"at least {needed}" if needed < math.inf else "infinitely many"
        return (
            f"{self.n_samples} samples{of} cannot certify the {self.name} "
            f"{self.target:.6g}{at_level}, even without any loss: {many} are needed"
        )

    def raised(self, share):
        """Return a target of this share or, of a part, one larger by this share."""
        start = self.target if self.part else 0.0
        return replace(self, target=start + share * self.largest)

    def certificate(self, n_accepted, p_value=None):
        """Return what holds of a rule that accepts so many of all samples."""
        asked = self.quantity, self.target, self.n_samples
        return self.test.certificate(*asked, n_accepted, p_value)


def by_parameter(name, values):
    """Return values, by part or None, as a dict a kind of part or one by its name."""
    if None in values:
        return {name: values[None]}
    found = {}
    for part, value in values.items():
        found.setdefault(part.kind, {})[part.label] = value
    return found


def list_risks(risks):
    """Return risks by part as text; that of all samples is a number."""
    texts = {part: round_up(risk) for part, risk in risks.items()}
    return texts.get(None) or enumerate_texts([f"{k}={x}" for k, x in texts.items()])


# Halvings, on a logarithmic scale, of the interval of the smallest certifiable risk,
# and where that starts for a target of zero.
_N_HALVINGS, _LEAST_RISK = 12, 1e-9


def infeasible(problem, asked, find, describe, way_out):
    """Return the error of what nothing passes, with targets that something does.

    They are what is asked for, `raised` by about the smallest share for which `find`
    returns something. `describe` returns of that what a risk is called, with what it
    comes, and the coverage.
    """
    failing = max(0.0 if asked[0].part else asked[0].share, _LEAST_RISK)
    passing, found = 1.0, None
    for _ in range(_N_HALVINGS):
        middle = (failing * passing) ** 0.5
        at_middle = find(middle)
        if at_middle is None:
            failing = middle
        else:
            passing, found = middle, at_middle
    if found is None:
        problem = f"{problem}; nor can any risk below the largest loss"
        return InfeasibleTargetError(problem, f"Use {way_out}")
    largest = asked[0].test.max_loss
    met = {each.part: min(each.raised(passing).target, largest) for each in asked}
    name, beside, coverage = describe(found)
    return InfeasibleTargetError(
        f"{problem}; the smallest {name} that can be certified is about "
        f"{list_risks(met)}, at {beside}",
        f"Use at least this risk, {way_out}",
        by_parameter("target_risk", met),
        coverage,
    )


# Where the fixed sequences start, as shares of the samples, and their shares of delta.
# A risk with a floor or a bump is over the target at low coverage for a while, and a
# start beyond must do with its own share. The first has most as most risks increase.
_OF_ALL = (0.1, 0.25, 0.5, 0.75), (0.4, 0.2, 0.2, 0.2)


# As shares of the members of every part. See benchmarks/bench_risk_bounds.py.
_OF_PARTS = (0.1, 0.3, 0.7), (0.2, 0.4, 0.4)


# In multiples of the fewest that pass, where a single error ends the sequence already.
# More than twice leaves a small sample with no start but the whole of it.
_FIRST_START = 2


@dataclass(frozen=True, eq=False)
class Tested(Asked):
    """A risk of what is accepted, of samples by increasing score.

    `p_values_of` maps numbers of the first of them, a risk in shares of the largest
    loss, and a level.
    """

    p_values_of: object = None
    # Which rows count, None for all, and their units.
    members: np.ndarray | None = None
    units: Units = ROWS
    # Of all first rows, what members count as far as a pilot tells, None without one.
    foreseen: np.ndarray | None = None

    @classmethod
    def of(cls, ranked, target, test, random_state, part=None):
        """Return how the first of some samples, or of a part of them, are tested."""
        losses, units = ranked.losses / test.max_loss, ranked.units
        rows, p_values, foreseen = None if part is None else part.rows, None, None
        if ranked.pilot is not None:
            foreseen = np.zeros(len(losses))
            members = slice(None) if part is None else rows
            foreseen[members] = ranked.pilot[members]
            foreseen = np.cumsum(foreseen)
        if units.shares is not None:
            rows = np.arange(len(losses)) if part is None else rows
            rows = rows[units.shares[rows] > 0]
        if rows is not None:
            losses, units = losses[rows], units.take(rows)
        n_units = int(units.count(len(losses)))
        if target < test.max_loss:
            p_values = test.bound.test(losses, random_state, units)
        return cls(target, n_units, test, part, p_values, rows, units, foreseen)

    def rows(self, counts):
        """Return how many of them are among the first samples."""
        return counts if self.members is None else np.searchsorted(self.members, counts)

    def count(self, counts):
        """Return how many units of them are among the first samples."""
        return self.units.count(self.rows(counts))

    def p_values(self, counts, level):
        """Return the p-values of those among the first samples."""
        if self.part is None:
            # Bets are made for all of delta, whatever a start brings.
            level = self.test.delta
        if self.members is None:
            return self.p_values_of(counts, self.share, level)
        rows = self.rows(counts)
        is_new = starts_of_ties(rows)
        p_values = self.p_values_of(rows[is_new], self.share, level)
        return p_values[np.cumsum(is_new) - 1]

    def p_value(self, count):
        """Return the p-value of those among so many samples, 0 for what is no bound."""
        if self.share >= 1:
            return 0.0
        return float(self.p_values(np.array([count]), self.test.delta)[0])

    def wanted(self):
        """Return how many the starts have, at least, and what each start brings.

        A small part is not asked for nearly all of its members: half are enough, unless
        that is fewer than pass without any loss.
        """
        shares, weights = _OF_ALL if self.part is None else _OF_PARTS
        size, fewest = self.n_samples, _FIRST_START * self.fewest()
        if self.foreseen is not None:
            size = self.foreseen[-1] or math.inf
        if self.part is not None:
            level = weights[0] * self.test.delta
            needed = self.test.bound.fewest(self.share, level)
            fewest = min(fewest, max(needed, size // 2))
        enough = np.multiply(shares, size)
        if self.foreseen is None:
            enough = np.ceil(enough)
        return np.minimum(np.maximum(enough, fewest), size), weights


def certify(counts, everything):
    """Return the certificate of the last threshold that passes, and what it accepts.

    `counts` are what each threshold accepts. The certificate counts units.
    """
    n_accepted, (p_value,) = certify_all(counts, [everything])
    n_units = everything.count(np.array([n_accepted]))[0]
    return everything.certificate(n_units, p_value), n_accepted


def certify_all(counts, tested):
    """Return how many samples the last threshold that passes accepts, and p-values."""
    n_accepted = find_last(counts, tested)
    if n_accepted is not None:
        return n_accepted, [each.p_value(n_accepted) for each in tested]
    n_samples = int(counts[-1])

    def find(share):
        return find_last(counts, [each.raised(share) for each in tested])

    def describe(n_accepted):
        coverage, (first, *_) = n_accepted / n_samples, tested
        if first.part is None and first.units.shares is not None:
            shares = first.units.shares
            coverage = float(shares[: first.rows(n_accepted)].sum() / shares.sum())
        return "risk", f"coverage {round_down(coverage)}", coverage

    hopeless = filter(None, (each.hopeless for each in tested))
    raise infeasible(
        next(hopeless, None) or _nothing_passes(counts, tested),
        tested,
        find,
        describe,
        "a bound on the failure rate instead of the risk, a lower confidence, more "
        "calibration samples, or a score that ranks the errors better.",
    )


def _nothing_passes(counts, tested):
    """Return what nothing passes and, of several targets, which is the hardest."""
    tested = [each for each in tested if each.share < 1]
    n_samples = counts[-1] if tested[0].part else tested[0].n_samples
    problem = (
        f"No threshold can be certified for {enumerate_texts(list(map(str, tested)))} "
        f"with confidence_level={tested[0].test.confidence_level:g} on {n_samples} "
        "samples"
    )
    if tested[0].part is None:
        return problem
    starts, delta = counts[find_starts(counts, tested)[0]], tested[0].test.delta
    hardest = max(tested, key=lambda each: each.p_values(starts, delta).min())
    return f"{problem}; the hardest target is that of {hardest.part}"


def certify_coverage(n_samples, coverage, *, confidence_level):
    """Find the smallest rank whose score, as a threshold, has a certified coverage.

    The coverage of what is up to the sample of rank k has the law Beta(k, n + 1 - k).
    """
    # Beta(k, n + 1 - k) >= om is as likely as fewer than k of n samples below om.
    rank, p_value = n_samples + 1, 0.0
    if coverage < 1:
        rank = int(binom.ppf(confidence_level, n_samples, coverage)) + 1
    if rank <= n_samples:
        p_value = float(beta.cdf(coverage, rank, n_samples + 1 - rank))
    counts, bound = (n_samples, min(rank, n_samples)), "order_statistic"
    return Certificate("coverage", coverage, confidence_level, bound, *counts, p_value)


def find_last(counts, tested):
    """Return how many samples the last threshold that passes accepts, or None.

    `counts` are what each threshold accepts, of which everything that is `tested` has
    to pass.
    """
    tested = [each for each in tested if each.share < 1]  # no rule breaks another bound
    if not tested:
        return int(counts[-1])
    if not all(each.n_samples and each.share > _LEAST_SHARE for each in tested):
        return None
    if tested[0].part is None and tested[0].members is not None:
        # Up to the next row that counts, all thresholds are the same test.
        rows = tested[0].rows(counts)
        counts = counts[np.append(rows[1:] > rows[:-1], True)]
    starts, weights = find_starts(counts, tested)
    test = tested[0].test
    if test.bound.most_tests is not None:
        # Tests take time: a grid of thresholds, and the starts.
        size = test.bound.most_tests
        grid = -(-np.arange(1, size + 1) * counts[-1] // size)
        kept = np.unique(np.append(_locate(counts, grid), starts))
        counts, starts = counts[kept], np.searchsorted(kept, starts)

    def p_values(rows, level):
        return np.max([each.p_values(counts[rows], level) for each in tested], axis=0)

    last = walk(p_values, starts, len(counts), weights, test)
    return None if last is None else int(counts[last])


def find_starts(counts, tested):
    """Return the first tests that accept enough of everything, and their shares.

    Which they are depends on scores and members, never on a loss. Parts of one kind are
    disjoint. Those of several kinds may overlap, and their members are counted in the
    union, as members of one would not be independent given when those of another are
    enough.
    """
    wanted, (weights, *_) = zip(*(each.wanted() for each in tested), strict=True)
    if tested[0].foreseen is not None:
        pairs = zip(tested, wanted, strict=True)
        n_rows = [np.searchsorted(each.foreseen, size) + 1 for each, size in pairs]
        places = np.searchsorted(counts, np.max(n_rows, axis=0))
        return np.minimum(places, len(counts) - 1), weights
    accepted = [each.count(counts) for each in tested]
    if len({each.part and each.part.kind for each in tested}) > 1:
        union = np.unique(np.concatenate([each.part.rows for each in tested]))
        sizes = np.array([[each.n_samples] for each in tested])
        accepted = [np.searchsorted(union, counts)]
        wanted = [np.ceil((len(union) * np.array(wanted) / sizes).max(axis=0))]
    return np.max(list(map(_locate, accepted, wanted)), axis=0), weights


def walk(p_values, starts, n_tests, weights, test):
    """Return the last of a sequence of tests that passes, or None (Wiens' fallback).

    Tests, of which `p_values` maps a slice and a level, follow one another from several
    starts. Each start brings its share of the chance of an error, on top of the running
    level if every test since the last start has passed. A failure sets the level to
    zero until the next start.
    """
    ends = np.append(starts[1:], n_tests)
    level, last = 0.0, None
    for start, end, weight in zip(starts, ends, weights, strict=True):
        level += weight * test.delta
        failure = _first_failure(p_values, int(start), int(end), level)
        if failure > start:
            last = failure - 1
        if failure < end:
            level = 0.0
    return last


def _first_failure(p_values, start, end, level):
    """Return the first test, from one to before another, that does not pass a level."""
    size = 16
    while start < end:
        rows = slice(start, min(start + size, end))
        passed = p_values(rows, level) <= level
        if not passed.all():
            return start + int(np.argmin(passed))
        # P-values beyond the first failure are wasted, so start with few of them.
        start, size = rows.stop, 2 * size
    return end


def _locate(counts, wanted):
    """Return the threshold at each wanted number of samples, or the last one before.

    With ties it is the group that the next sample belongs to: given which one that is,
    the samples below it are independent. Those below the first group with enough of
    them are not, as their number decides which group that is. Only where nothing is
    below is that group taken as a whole: given how many tie for the best score, these
    are independent.
    """
    first = np.searchsorted(counts, 0, side="right")
    found = np.searchsorted(counts, wanted, side="right") - 1
    return np.minimum(np.maximum(found, first), len(counts) - 1)
