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
from sklearn_reject.selection._parts import certify_parts, name_targets, risks_by_kind

# Where sequences start, as shares of the members of every part, and their shares of
# delta. See benchmarks/bench_risk_bounds.py.
_STARTS = (0.1, 0.3, 0.7)
_WEIGHTS = (0.2, 0.4, 0.4)

# No start has fewer members than this multiple of the fewest that pass.
_FIRST_START = 2


@dataclass(frozen=True, eq=False)
class _BoundedPart:
    """A part with a bound, and its members by increasing score."""

    part: object
    ranks: np.ndarray
    # Of losses in shares of the largest one, as is the risk that the bound allows.
    prefixes: Prefixes
    risk: float

    def __len__(self):
        return len(self.ranks)

    def count(self, n_accepted):
        """Return how many members are among the first samples."""
        return np.searchsorted(self.ranks, n_accepted)

    def find_failure(self, n_members, start, bound, level):
        """Return the first of some tests that does not pass a level, else their end.

        The tests, from one on, accept more and more members.
        """
        changes = np.flatnonzero(np.diff(n_members, prepend=-1))
        p_values = partial(bound.p_values, self.prefixes, risk=self.risk, level=level)
        passes = count_passes(p_values, n_members[changes], level)
        return start + int(np.append(changes, len(n_members))[passes])

    def p_value(self, n_accepted, test):
        """Return the p-value of the members among the first samples."""
        count = self.count([n_accepted])
        (value,) = test.bound.p_values(self.prefixes, count, self.risk, test.delta)
        return float(value)

    def first_start(self, test):
        """Return the fewest members at a start.

        A small part is not asked for nearly all of its members: half are enough, unless
        that is fewer than pass without any loss.
        """
        wanted = _FIRST_START * test.bound.fewest(self.risk, test.delta)
        needed = test.bound.fewest(self.risk, _WEIGHTS[0] * test.delta)
        return min(wanted, max(needed, len(self) // 2))


def certify_risk_bounds(ranked, parts, test, random_state):
    """Return the certificate of the threshold of largest coverage that passes.

    The parts have the order of the ranked samples.
    """
    bounded = _bounded_parts(ranked, parts, test, random_state)
    n_accepted = _find(bounded, ranked.accepted_counts, test)
    if n_accepted is None:
        raise _nothing_passes(bounded, ranked.accepted_counts, test, parts)
    return certify_parts(
        parts,
        {each.part: each.p_value(n_accepted, test) for each in bounded},
        quantity="risk_of_parts",
        confidence_level=test.confidence_level,
        bound=test.bound.name,
        n_samples=len(ranked),
        n_accepted=n_accepted,
    )


def _bounded_parts(ranked, parts, test, random_state):
    """Return the parts that some rule might break the bound of."""
    found = []
    for part in parts:
        if part.target < test.max_loss:
            ranks = np.flatnonzero(part.members)
            columns = ranked.scores, ranked.losses, ranked.draws
            members = RankedSample(*(column[ranks] for column in columns))
            prefixes = members.prefixes(test.max_loss, random_state)
            found.append(
                _BoundedPart(part, ranks, prefixes, part.target / test.max_loss)
            )
    return found


def _find(bounded, counts, test):
    """Return how many samples the last threshold that passes accepts, or None."""
    if not bounded:
        return int(counts[-1])
    if not all(len(each) and each.risk for each in bounded):
        return None
    starts = _find_starts(bounded, counts, test)
    if test.bound.most_tests is not None:
        # Tests take time: a grid of thresholds, and the starts.
        grid = grid_counts(counts[-1], test.bound.most_tests)
        tests = np.unique(np.append(locate_counts(counts, grid), starts))
        counts, starts = counts[tests], np.searchsorted(tests, starts)
    n_members = [each.count(counts) for each in bounded]

    def find_failure(start, end, level):
        for each, of_part in zip(bounded, n_members, strict=True):
            if start < end:
                end = each.find_failure(of_part[start:end], start, test.bound, level)
        return end

    last = walk_from_starts(starts, len(counts), _WEIGHTS, test.delta, find_failure)
    return None if last is None else int(counts[last])


def _find_starts(bounded, counts, test):
    """Return the first tests that accept enough of every part.

    Which they are depends on scores and members, never on a loss. Parts of one kind are
    disjoint. Those of several kinds may overlap, and their members are counted in the
    union, as members of one would not be independent given when those of another are
    enough.
    """
    wanted = []
    for each in bounded:
        enough = np.ceil(np.multiply(_STARTS, len(each)))
        enough = np.maximum(enough, each.first_start(test))
        wanted.append(np.minimum(enough, len(each)))
    ranks = [each.ranks for each in bounded]
    if len({each.part.kind for each in bounded}) > 1:
        union = np.unique(np.concatenate(ranks))
        scaled = [
            len(union) * enough / len(each)
            for each, enough in zip(bounded, wanted, strict=True)
        ]
        ranks, wanted = [union], [np.ceil(np.max(scaled, axis=0))]
    # The last test before the member after so many.
    starts = [
        np.searchsorted(np.searchsorted(each, counts), enough, side="right") - 1
        for each, enough in zip(ranks, wanted, strict=True)
    ]
    return np.max(starts, axis=0)


def _nothing_passes(bounded, counts, test, parts):
    """Return the error of bounds that nothing passes, with larger ones that do."""
    n_samples = int(counts[-1])

    def find(more):
        raised = [replace(each, risk=each.risk + more) for each in bounded]
        return _find([each for each in raised if each.risk < 1], counts, test)

    trouble = _explain_hopeless(bounded, n_samples, test) or (
        "No threshold can be certified for all targets "
        f"{name_targets([each.part for each in bounded])} with "
        f"confidence_level={test.confidence_level:g} on {n_samples} samples; the "
        f"hardest target is that of {_hardest(bounded, counts, test)}"
    )
    way_out = (
        "Use larger risks, a lower confidence, more samples, or a score that ranks the "
        "errors better."
    )
    more, n_accepted = find_least_risk(find, 0.0, None)
    if n_accepted is None:
        return InfeasibleTargetError(trouble, way_out)
    more, coverage = more * test.max_loss, n_accepted / n_samples
    risks = {part: min(part.target + more, test.max_loss) for part in parts}
    return InfeasibleTargetError(
        f"{trouble}. With each target raised by about {round_up(more)}, a rule with "
        f"coverage {round_down(coverage)} can be certified",
        way_out,
        risks_by_kind(parts, risks),
        coverage,
    )


def _explain_hopeless(bounded, n_samples, test):
    """Return why even members without any loss would pass no test, "" if they might."""
    for each in bounded:
        if each.risk == 0:
            return (
                f"The target of {each.part} is 0, which no finite sample can certify, "
                "because with a small risk a sample may have no loss at all"
            )
        fewest = test.bound.fewest(each.risk, test.delta)
        if len(each) < fewest:
            return (
                f"{len(each)} of the {n_samples} samples count for {each.part}, and "
                f"cannot certify its target {each.part.target:.6g} at "
                f"confidence_level={test.confidence_level:g}, even without any loss: "
                f"at least {fewest} are needed"
            )
    return ""


def _hardest(bounded, counts, test):
    """Return the part that is furthest from its bound at the starts, as text."""
    starts = counts[_find_starts(bounded, counts, test)]
    worst = {
        str(each.part): min(each.p_value(count, test) for count in starts)
        for each in bounded
    }
    return max(worst, key=worst.get)
