"""Medians of contenders that take turns, and peaks of memory."""

import tracemalloc
from statistics import median
from time import perf_counter


def interleaved_medians(contenders, repeats=11, timer=None):
    """Return the median duration of each contender.

    The contenders take turns, in reverse order every other round, so that whatever
    else the machine is doing slows all of them alike. One round more than asked is
    run, and the first is left out.

    Parameters
    ----------
    contenders : dict of str to callable
        Called without arguments.

    repeats : int, default=11
        Number of rounds that count.

    timer : callable, default=None
        Gets a contender and returns its duration. None takes the time of a call.

    Returns
    -------
    medians : dict of str to float
        Seconds.
    """
    timer = timer or seconds
    rounds = [_play_round(contenders, timer, number) for number in range(repeats + 1)]
    return {name: median(times[name] for times in rounds[1:]) for name in contenders}


def _play_round(contenders, timer, number):
    names = list(contenders)[:: -1 if number % 2 else 1]
    return {name: timer(contenders[name]) for name in names}


def seconds(function):
    """Return how long one call takes."""
    start = perf_counter()
    function()
    return perf_counter() - start


def peak_bytes(function):
    """Return the most memory that a call holds at once, beyond what is there before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        function()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
