"""The three rejection models solved on a million samples: time and memory."""

from functools import partial

import numpy as np

from benchmarks._data import (
    N_SAMPLES,
    make_real_losses,
    make_sample,
    sort_and_accumulate,
)
from benchmarks._report import at_most, ratio_row
from benchmarks._timing import peak_bytes
from sklearn_reject.selection import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)

TITLE = "solvers, a million samples: multiples of argsort + gather + cumsum, memory"

_LIMIT = 1.5
_LARGEST_PEAK = 48  # bytes a sample
_COVERAGE = 0.8
_KINDS = ("uniform", "confident", "100 distinct")


def run():
    """Return the rows of the table."""
    for kind in _KINDS:
        sample = make_sample(kind)
        yield from _rows(f"{kind} scores, 0/1 loss", sample.scores, sample.errors)
        losses = make_real_losses(sample.scores)
        yield from _rows(f"{kind} scores, real losses", sample.scores, losses)
    for kind in _KINDS:
        yield from _memory_rows(f"{kind} scores", make_sample(kind).scores)
    yield from _memory_rows("scores in pairs within rounding", _make_pairs())


def _rows(what, scores, losses):
    reference = partial(sort_and_accumulate, scores, losses)
    for solver, target in _solvers_and_targets(losses):
        ours = partial(solver, scores, losses, target)
        yield ratio_row(f"{solver.__name__}, {what}", _LIMIT, ours, reference)


def _make_pairs():
    """Return scores each of which ties with one other, but does not equal it."""
    scores = make_sample("uniform").scores
    half = N_SAMPLES // 2
    scores[half:] = scores[:half] * (1 + 2.0**-42)
    return np.random.default_rng(2).permutation(scores)


def _memory_rows(what, scores):
    losses = make_real_losses(scores)
    weight = np.random.default_rng(3).exponential(size=N_SAMPLES)
    for solver, target in _solvers_and_targets(losses):
        for name, options in (("", {}), (", weights", {"sample_weight": weight})):
            ours = partial(solver, scores, losses, target, **options)
            peak = peak_bytes(ours) / N_SAMPLES
            name = f"peak bytes a sample, {solver.__name__}, {what}{name}"
            yield at_most(name, _LARGEST_PEAK, peak, " B")


def _solvers_and_targets(losses):
    """Return targets that lead to rules in the middle of the sample."""
    mean_loss = float(losses.mean())
    return [
        (solve_reject_cost, mean_loss),
        (solve_target_risk, mean_loss / 2),
        (solve_target_coverage, _COVERAGE),
    ]
