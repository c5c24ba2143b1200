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

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._certify import (
    Prefixes,
    RankedSample,
    count_passes,
    find_least_risk,
    grid_counts,
    locate_counts,
    walk_from_starts,
)
from sklearn_reject.selection._parts import (
    certify_parts,
    name_targets,
    risks_by_kind,
)

# Where sequences start, as shares of the members of every part, and their shares of
# delta. See benchmarks/bench_risk_bounds.py.
_STARTS = (0.1, 0.3, 0.7)


_WEIGHTS = (0.2, 0.4, 0.4)


# No start has fewer members than this multiple of the fewest that pass.
_FIRST_START = 2


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
class BoundedPart:
    """A part with a bound, and its members by increasing score."""

    part: object
    ranks: np.ndarray
    # Of losses in shares of the largest one, as is the risk that the bound allows.
    prefixes: Prefixes
    risk: float

    def __len__(self):
        return len(self.ranks)

    def enter(self, counts):
        """Return when tests that accept so many samples accept the members."""
        tests = np.searchsorted(counts, self.ranks, side="right")
        return _Entries(tests, len(counts))

    def find_failure(self, entries, start, end, bound, level):
        """Return the first test that does not pass a level, else the end."""
        tests, counts = entries.changes(start, end)
        p_values = partial(bound.p_values, self.prefixes, risk=self.risk, level=level)
        passes = count_passes(p_values, counts, level)
        return end if passes == len(counts) else int(tests[passes])

    def p_value(self, n_accepted, bound, level):
        """Return the p-value of the members among the first samples."""
        count = np.searchsorted(self.ranks, [n_accepted])
        return float(bound.p_values(self.prefixes, count, self.risk, level)[0])


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

    def bounded_parts(self):
        """Return the parts that some rule might break the bound of."""
        scores, draws = self.ranked.scores, self.ranked.draws
        losses, found = self.ranked.losses / self.max_loss, []
        for part in self.parts:
            if part.target < self.max_loss:
                ranks = np.flatnonzero(part.members)
                sample = RankedSample(scores[ranks], losses[ranks], draws[ranks])
                shuffled = sample.shuffle(self.random_state)
                prefixes = Prefixes(sample.loss_sums, shuffled)
                risk = part.target / self.max_loss
                found.append(BoundedPart(part, ranks, prefixes, risk))
        return found

    def find_starts(self, bounded, counts):
        """Return the first tests that accept enough of every part.

        Which they are depends on scores and members, never on a loss. Parts of one
        kind are disjoint. Those of several kinds may overlap, and their members are
        counted in the union, as members of one would not be independent given when
        those of another are enough.
        """
        wanted = []
        for each in bounded:
            enough = np.ceil(np.multiply(_STARTS, len(each)))
            enough = np.maximum(enough, self._first_start(each))
            wanted.append(np.minimum(enough, len(each)))
        entries = [each.enter(counts) for each in bounded]
        if len({each.part.kind for each in bounded}) > 1:
            union = np.unique(np.concatenate([each.ranks for each in bounded]))
            scaled = [
                len(union) * enough / len(each)
                for each, enough in zip(bounded, wanted, strict=True)
            ]
            tests = np.searchsorted(counts, union, side="right")
            entries = [_Entries(tests, len(counts))]
            wanted = [np.ceil(np.max(scaled, axis=0))]
        starts = [
            [each.find_test(int(count)) for count in enough]
            for each, enough in zip(entries, wanted, strict=True)
        ]
        return np.max(starts, axis=0)

    def _first_start(self, each):
        """Return the fewest members of a part at a start.

        A small part is not asked for nearly all of its members: half are enough, unless
        that is fewer than pass without any loss.
        """
        wanted = _FIRST_START * self.bound.fewest(each.risk, self.delta)
        needed = self.bound.fewest(each.risk, _WEIGHTS[0] * self.delta)
        return min(wanted, max(needed, len(each) // 2))

    def find(self, bounded):
        """Return how many samples the last threshold that passes accepts, or None."""
        counts = self.ranked.accepted_counts
        if not bounded:
            return int(counts[-1])
        if not all(len(each) and each.risk for each in bounded):
            return None
        starts = self.find_starts(bounded, counts)
        if self.bound.most_tests is not None:
            # Tests take time: a grid of thresholds, and the starts.
            grid = grid_counts(len(self.ranked), self.bound.most_tests)
            tests = np.unique(np.append(locate_counts(counts, grid), starts))
            counts, starts = counts[tests], np.searchsorted(tests, starts)
        entries = [each.enter(counts) for each in bounded]

        def find_failure(start, end, level):
            for each, entry in zip(bounded, entries, strict=True):
                if start < end:
                    end = each.find_failure(entry, start, end, self.bound, level)
            return end

        last = walk_from_starts(starts, len(counts), _WEIGHTS, self.delta, find_failure)
        return None if last is None else int(counts[last])


def certify_risk_bounds(problem):
    """Return the certificate of the threshold of largest coverage that passes."""
    bounded = problem.bounded_parts()
    n_accepted = problem.find(bounded)
    if n_accepted is None:
        raise _nothing_passes(problem, bounded)
    p_values = {
        each.part: each.p_value(n_accepted, problem.bound, problem.delta)
        for each in bounded
    }
    return certify_parts(
        problem.parts,
        p_values,
        quantity="risk_of_parts",
        confidence_level=problem.confidence_level,
        bound=problem.bound.name,
        n_samples=len(problem.ranked),
        n_accepted=int(n_accepted),
    )


def _nothing_passes(problem, bounded):
    """Return the error of bounds that nothing passes, with larger ones that do."""

    def find(more):
        raised = [replace(each, risk=each.risk + more) for each in bounded]
        return problem.find([each for each in raised if each.risk < 1])

    trouble = _explain_hopeless(problem, bounded) or (
        "No threshold can be certified for all targets "
        f"{name_targets([each.part for each in bounded])} with "
        f"confidence_level={problem.confidence_level:g} on {len(problem.ranked)} "
        f"samples; the hardest target is that of {_hardest(problem, bounded)}"
    )
    way_out = (
        "Use larger risks, a lower confidence, more samples, or a score that ranks the "
        "errors better."
    )
    more, n_accepted = find_least_risk(find, 0.0, None)
    if n_accepted is None:
        return InfeasibleTargetError(trouble, way_out)
    more, coverage = more * problem.max_loss, n_accepted / len(problem.ranked)
    risks = {part: min(part.target + more, problem.max_loss) for part in problem.parts}
    return InfeasibleTargetError(
        f"{trouble}. With each target raised by about {round_up(more)}, a rule with "
        f"coverage {round_down(coverage)} can be certified",
        way_out,
        risks_by_kind(problem.parts, risks),
        coverage,
    )


def _explain_hopeless(problem, bounded):
    """Return why even members without any loss would pass no test, "" if they might."""
    for each in bounded:
        if each.risk == 0:
            return (
                f"The target of {each.part} is 0, which no finite sample can certify, "
                "because with a small risk a sample may have no loss at all"
            )
        fewest = problem.bound.fewest(each.risk, problem.delta)
        if len(each) < fewest:
            return (
                f"{len(each)} of the {len(problem.ranked)} samples count for "
                f"{each.part}, and cannot certify its target {each.part.target:.6g} "
                f"at confidence_level={problem.confidence_level:g}, even without any "
                f"loss: at least {fewest} are needed"
            )
    return ""


def _hardest(problem, bounded):
    """Return the part that is furthest from its bound at the starts, as text."""
    counts = problem.ranked.accepted_counts
    starts = problem.find_starts(bounded, counts)
    worst = {}
    for each in bounded:
        p_values = [
            each.p_value(count, problem.bound, problem.delta)
            for count in counts[starts]
        ]
        worst[str(each.part)] = min(p_values)
    return max(worst, key=worst.get)
