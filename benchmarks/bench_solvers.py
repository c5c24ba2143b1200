"""The three rejection models solved on a million samples."""

from functools import partial

from benchmarks._data import make_real_losses, make_sample, sort_and_accumulate
from benchmarks._report import ratio_row
from sklearn_reject.selection import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)

TITLE = "solvers, a million samples, in multiples of argsort + gather + cumsum"

_LIMIT = 1.5
_COVERAGE = 0.8


def run():
    """Return the rows of the table."""
    for kind in ("uniform", "confident", "100 distinct"):
        sample = make_sample(kind)
        yield from _rows(f"{kind} scores, 0/1 loss", sample.scores, sample.errors)
        losses = make_real_losses(sample.scores)
        yield from _rows(f"{kind} scores, real losses", sample.scores, losses)


def _rows(what, scores, losses):
    reference = partial(sort_and_accumulate, scores, losses)
    for solver, target in _solvers_and_targets(losses):
        ours = partial(solver, scores, losses, target)
        yield ratio_row(f"{solver.__name__}, {what}", _LIMIT, ours, reference)


def _solvers_and_targets(losses):
    """Return targets that lead to rules in the middle of the sample."""
    mean_loss = float(losses.mean())
    return [
        (solve_reject_cost, mean_loss),
        (solve_target_risk, mean_loss / 2),
        (solve_target_coverage, _COVERAGE),
    ]
