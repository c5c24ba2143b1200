"""Rows of partitions that are read a second time."""

import sys

from dask import compute, delayed

from sklearn_reject.selection import rows_in_ranges

# Runs of rows, of some 32 MB each, that one pass over the data brings together in the
# memory of each process.
_RUNS_AT_ONCE = 2


class RemoteRows:
    """Delayed samples of partitions as `parts` of a summary.

    Each call is a pass over the data. Rows are taken where the partitions are.
    """

    def __init__(self, partitions):
        self.partitions = partitions

    def __call__(self, ranges):
        """Return the rows of each partition in some ranges of scores."""
        return compute(*[delayed(_take)(each, ranges) for each in self.partitions])

    def apply(self, jobs):
        """Yield what functions make of the rows of all partitions in their ranges.

        `jobs` are pairs of ranges and functions. No row comes here.
        """
        at_once = _RUNS_AT_ONCE * _count_processes()
        for start in range(0, len(jobs), at_once):
            yield from self._apply_some(jobs[start : start + at_once])

    def _apply_some(self, jobs):
        ranges, functions = zip(*jobs, strict=True)
        split = delayed(_split, nout=len(jobs))
        pieces = [split(each, ranges) for each in self.partitions]
        runs = zip(*pieces, strict=True)
        pairs = zip(functions, runs, strict=True)
        return compute(*[delayed(function)(list(run)) for function, run in pairs])


def _take(samples, ranges):
    return rows_in_ranges(samples.scores, samples.losses, samples.weight, ranges)


def _split(samples, ranges):
    return [_take(samples, each) for each in ranges]


def _count_processes():
    """Return how many processes share a pass: those of a cluster, if there is one."""
    distributed = sys.modules.get("distributed")
    try:
        return max(len(distributed.get_client().ncores()), 1)
    except (AttributeError, ValueError):  # not imported, or no client
        return 1
