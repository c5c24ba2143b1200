"""One threshold for which bounds on several parts hold with high probability.

A threshold is rejected unless it passes the test of each bound: a rule that breaks one
of them passes that one with a chance of at most the level, so that the level need not
be split among the bounds.

Let t be the first threshold, from a start on, at which the risk of some part is at its
bound or above. A sequence that tests every sample accepts nothing from t on unless the
first test there passes, and that one sees just the samples below t. Given how many of
each part these are, losses are independent, of a risk at the bound. That the start is
below t follows from such numbers, too. That an interval with a broken bound, ended by
a threshold t' < t, is below the start means at most so many samples below t', where
this part is within its bound: then more of its members are from between, where its risk
is larger, and the test passes more rarely. On a grid of ranks (betting) the first test
beyond t may also see samples from t on.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._bounds import BOUNDS
from sklearn_reject.selection._certify import (
    Prefixes,
    RankedSample,
    count_passes,
    grid_counts,
    locate_counts,
    walk_from_starts,
)
from sklearn_reject.selection._parts import RiskBoundsCertificate, name_targets

# Where sequences start, as shares of the members of every part, and their shares of
# delta. See benchmarks/bench_risk_bounds.py.
_STARTS = (0.1, 0.3, 0.7)


_WEIGHTS = (0.2, 0.4, 0.4)


# No start has fewer members than this multiple of the fewest that pass.
_FIRST_START = 2


# Halvings, on a logarithmic scale, of the interval of the smallest common factor.
_N_HALVINGS = 12


# Shares of every part up to which the smallest factor that holds is looked for.
_NEAREST = (0.1, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class _Entries:
    """When the tests of a sequence, each of more samples, accept which members."""

    # First test that accepts each member, increasing; of tests in all.
    tests: np.ndarray
    n_tests: int

    def __len__(self):
        return len(self.tests)

    def count(self, tests):
        """Return how many members some tests accept."""
        return np.searchsorted(self.tests, tests, side="right")

    def find_test(self, n_members):
        """Return the last test before the member after so many, or the last of all.

        It is the threshold at that member's score: given the score, the members below
        it are independent, and so are those of a part that has no member in common.
        Those of a part that is inside are, given how many they are.
        """
        if n_members >= len(self):
            return self.n_tests - 1
        return int(self.tests[n_members]) - 1

    def changes(self, start, end):
        """Return the first of some tests and those that accept more, and how many."""
        low, high = self.count([start, end - 1])
        later = self.tests[low:high]
        is_last = np.append(later[1:] != later[:-1], True)[: len(later)]
        counts = np.append(low, low + 1 + np.flatnonzero(is_last))
        return np.append(start, later[is_last]), counts


@dataclass(frozen=True, eq=False)
class RankedPart:
    """The members of a part by increasing score, losses in shares of the largest."""

    part: object
    entries: _Entries
    prefixes: Prefixes
    losses: np.ndarray

    def __len__(self):
        return len(self.entries)

    def p_values(self, counts, bound, risk, level):
        """Return the p-value of each number of members, for a risk."""
        if risk >= 1:
            return np.zeros(len(counts))
        return bound.p_values(self.prefixes, counts, risk, level)

    def find_failure(self, start, end, bound, risk, level):
        """Return the first test that does not pass a level, else the end."""
        tests, counts = self.entries.changes(start, end)
        p_values = partial(self.p_values, bound=bound, risk=risk, level=level)
        passes = count_passes(p_values, counts, level)
        return end if passes == len(counts) else int(tests[passes])


@dataclass(frozen=True, eq=False)
class PartsProblem:
    """Samples and parts of them by increasing score, and how to test the bounds."""

    ranked: RankedSample
    parts: list
    confidence_level: float
    bound: object
    max_loss: float
    random_state: object

    @property
    def delta(self):
        """Chance of an error."""
        return 1 - self.confidence_level

    @cached_property
    def binding(self):
        """Parts whose bound is below the largest loss; any rule meets the others."""
        return [part for part in self.parts if part.target < self.max_loss]

    @cached_property
    def members(self):
        """Ranks of the members of each binding part."""
        return [np.flatnonzero(part.members) for part in self.binding]

    @cached_property
    def shuffled(self):
        """Samples of each binding part, and their losses in random order."""
        scores, draws = self.ranked.scores, self.ranked.draws
        losses, found = self.ranked.losses / self.max_loss, []
        for ranks in self.members:
            sample = RankedSample(scores[ranks], losses[ranks], draws[ranks])
            shuffled = sample.shuffle(self.random_state)
            found.append((Prefixes(sample.loss_sums, shuffled), sample.losses))
        return found

    def rank_parts(self, counts):
        """Return the parts, their members by which of some counts accepts them."""
        return [
            RankedPart(part, _enter(ranks, counts), *shuffled)
            for part, ranks, shuffled in zip(
                self.binding, self.members, self.shuffled, strict=True
            )
        ]

    def find_starts(self, counts, shares, fewest):
        """Return the first tests that accept enough of every part, for some shares.

        Which they are depends on scores and members, never on a loss. Parts of one
        kind are disjoint. Those of several kinds may overlap, and their members are
        counted in the union, as members of one would not be independent given when
        those of another are enough.
        """
        members, wanted = self.members, []
        for ranks, first in zip(members, fewest, strict=True):
            enough = np.ceil(np.multiply(shares, len(ranks)))
            wanted.append(np.minimum(np.maximum(enough, first), len(ranks)))
        if len({part.kind for part in self.binding}) > 1:
            union = _unite(members, len(self.ranked))
            sizes = [len(ranks) for ranks in members]
            scaled = [
                len(union) * enough / size
                for enough, size in zip(wanted, sizes, strict=True)
            ]
            members, wanted = [union], [np.ceil(np.max(scaled, axis=0))]
        starts = [
            [_enter(ranks, counts).find_test(int(count)) for count in enough]
            for ranks, enough in zip(members, wanted, strict=True)
        ]
        return np.max(starts, axis=0)


def _enter(ranks, counts):
    return _Entries(np.searchsorted(counts, ranks, side="right"), len(counts))


def _unite(members, n_samples):
    """Return the ranks that are among those of any part."""
    is_any = np.zeros(n_samples, dtype=bool)
    for ranks in members:
        is_any[ranks] = True
    return np.flatnonzero(is_any)


def certify_risk_bounds(problem):
    """Return the certificate of the threshold of largest coverage that passes."""
    if not problem.binding:
        return _certificate(problem, 1.0, len(problem.ranked), {})
    _refuse_hopeless(problem)
    counts = problem.ranked.accepted_counts
    starts = problem.find_starts(counts, _STARTS, _first_starts(problem))
    if problem.bound.most_tests is not None:
        # Tests take time: a grid of thresholds, and the starts.
        grid = grid_counts(len(problem.ranked), problem.bound.most_tests)
        some = np.append(locate_counts(counts, grid), starts)
        tests = np.unique(some)
        counts, starts = counts[tests], np.searchsorted(tests, starts)
    parts = problem.rank_parts(counts)
    find = partial(_find_last, problem, parts, starts, len(counts))
    last = find(1.0)
    if last is None:
        raise _nothing_passes(problem, find, counts)
    return _certificate(problem, 1.0, counts[last], _p_values(problem, parts, last))


def _first_starts(problem):
    """Return the fewest members of each part at a start.

    A small part is not asked for nearly all of its members: half are enough, unless
    that is fewer than pass without any loss.
    """
    fewest = []
    for part, ranks in zip(problem.binding, problem.members, strict=True):
        risk = part.target / problem.max_loss
        wanted = _FIRST_START * problem.bound.fewest(risk, problem.delta)
        needed = problem.bound.fewest(risk, _WEIGHTS[0] * problem.delta)
        fewest.append(min(wanted, max(needed, len(ranks) // 2)))
    return fewest


def _find_last(problem, parts, starts, n_tests, factor):
    """Return the last test that passes, all bounds times a factor; None if none."""

    def find_failure(start, end, level):
        for part in parts:
            if start < end:
                risk = factor * part.part.target / problem.max_loss
                end = part.find_failure(start, end, problem.bound, risk, level)
        return end

    return walk_from_starts(starts, n_tests, _WEIGHTS, problem.delta, find_failure)


def _p_values(problem, parts, test):
    """Return the p-value of each part at a test, by part."""
    found = {}
    for part in parts:
        risk = part.part.target / problem.max_loss
        count = part.entries.count([test])
        p_values = part.p_values(count, problem.bound, risk, problem.delta)
        found[part.part] = float(p_values[0])
    return found


def _certificate(problem, factor, n_accepted, p_values):
    """Return the certificate; what is no bound has a p-value of zero."""
    targets = tuple(part.target * factor for part in problem.parts)
    all_values = tuple(p_values.get(part, 0.0) for part in problem.parts)
    return RiskBoundsCertificate(
        quantity="risk_of_parts",
        bound=problem.bound.name,
        target=max(targets),
        confidence_level=problem.confidence_level,
        n_samples=len(problem.ranked),
        n_accepted=int(n_accepted),
        p_value=max(all_values),
        parts=tuple(str(part) for part in problem.parts),
        targets=targets,
        p_values=all_values,
    )


def _refuse_hopeless(problem):
    """Raise where even members without any loss would pass no test."""
    for part, ranks in zip(problem.binding, problem.members, strict=True):
        if part.target == 0:
            raise InfeasibleTargetError(
                f"The target of {part} is 0, which no finite sample can certify, "
                "because with a small risk a sample may have no loss at all. Use a "
                "positive value, or pass confidence_level=None."
            )
        risk = part.target / problem.max_loss
        fewest = problem.bound.fewest(risk, problem.delta)
        if len(ranks) < fewest:
            raise InfeasibleTargetError(
                f"{len(ranks)} of the {len(problem.ranked)} samples count for {part}. "
                f"They cannot certify its target {part.target:.6g} at "
                f"confidence_level={problem.confidence_level:g}, even without any "
                f"loss: at least {fewest} are needed. Use more samples of this kind, a "
                "weaker bound or a lower confidence."
            )


def _nothing_passes(problem, find, counts):
    """Return the error of bounds that nothing passes, with a factor that does."""
    failing, passing = 1.0, max(problem.max_loss / p.target for p in problem.binding)
    test = len(counts) - 1
    for _ in range(_N_HALVINGS):
        middle = math.sqrt(failing * passing)
        found = find(middle)
        if found is None:
            failing = middle
        else:
            passing, test = middle, found
    coverage = counts[test] / len(problem.ranked)
    attainable = {
        str(part): min(part.target * passing, problem.max_loss)
        for part in problem.binding
    }
    return InfeasibleTargetError(
        "No threshold can be certified for all targets "
        f"{name_targets(problem.binding)} with "
        f"confidence_level={problem.confidence_level:g} on {len(problem.ranked)} "
        f"samples. With each target multiplied by about {round_up(passing)}, a rule "
        f"with coverage {round_down(coverage)} can be certified. The hardest target is "
        f"that of {_hardest(problem)}. Use larger risks, a lower confidence, more "
        "samples, or a score that ranks the errors better.",
        coverage=coverage,
        attainable=attainable,
    )


def _hardest(problem):
    """Return the part that is furthest from its bound at the starts, as text."""
    counts = problem.ranked.accepted_counts
    starts = problem.find_starts(counts, _STARTS, _first_starts(problem))
    worst = {}
    for part in problem.rank_parts(counts):
        risk = part.part.target / problem.max_loss
        accepted = part.entries.count(starts)
        values = part.p_values(accepted, problem.bound, risk, problem.delta)
        worst[str(part.part)] = float(values.min())
    return max(worst, key=worst.get)


def certify_nearest_bounds(problem):
    """Return the certificate of the bounds times the smallest factor, None if none.

    The thresholds do not depend on the losses, and the largest factor that any bound
    needs is bounded at each with an equal share of the chance of an error, which again
    need not be split among the bounds. None, too, where a bound would say nothing.
    """
    bound = problem.bound
    bound = BOUNDS["hoeffding_bentkus"] if bound.upper is None else bound
    is_hopeless = not all(len(ranks) for ranks in problem.members)
    if is_hopeless or any(part.target == 0 for part in problem.binding):
        return None
    level = problem.delta / len(_NEAREST)
    counts = problem.ranked.accepted_counts
    tests = problem.find_starts(counts, _NEAREST, [1] * len(problem.binding))
    parts = problem.rank_parts(counts)
    factors = [
        _factor_at(parts, test, bound, level) * problem.max_loss for test in tests
    ]
    best = int(np.argmin(factors))
    largest = max(part.target for part in problem.binding)
    if factors[best] * largest >= problem.max_loss:
        return None
    return _certificate(
        replace(problem, bound=bound),
        factors[best],
        counts[tests[best]],
        dict.fromkeys(problem.binding, level),
    )


def _factor_at(parts, test, bound, level):
    """Return by how much all targets have to be multiplied to hold at a test.

    In shares of the largest loss.
    """
    factors = []
    for part in parts:
        (count,) = part.entries.count([test])
        upper = bound.upper(part.losses[:count], level) if count else 1.0
        factors.append(upper / part.part.target)
    return max(factors)
