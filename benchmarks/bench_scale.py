"""Summaries of samples in partitions, against the functions of the samples at once."""

from functools import partial

import numpy as np

from benchmarks._report import at_most, show_time
from benchmarks._timing import interleaved_medians, peak_bytes, seconds
from sklearn_reject.metrics import aurc_score
from sklearn_reject.selection import RiskCoverageSummary, solve_target_risk

TITLE = "summaries: 1e7 samples in 20 partitions, and 1e8 in 100"

_N_SAMPLES, _N_PARTS = 10**7, 20
_MANY_SAMPLES, _MANY_PARTS = 10**8, 100
_MB = 1e6

# Times are in multiples of the function of all samples at once, peaks without them.
_SUMMARY_TIME, _SUMMARY_PEAK, _CELLS_TIME, _CELLS_SIZE = 1.0, 64, 0.1, 1
_MANY_PEAK = 64
# By how much coverage, relatively, a rule between cells may miss the best one.
_MISSED = 1e-3


def run():
    """Return the rows of the table."""
    yield from _rows("0/1 loss", make_errors)
    yield from _rows("real losses", make_costs)
    yield _row_of_many()


def make_errors(rng, scores):
    """Return losses of 0 and 1, a tenth of them 1."""
    return (rng.random(len(scores)) < 0.2 * scores).astype(np.float64)


def make_costs(rng, scores):
    """Return losses of many values."""
    return scores * rng.exponential(size=len(scores))


class Partitions:
    """Samples in partitions, which are made whenever they are read."""

    def __init__(self, n_samples, n_parts, make_losses):
        self.size, self.n_parts = n_samples // n_parts, n_parts
        self.make_losses = make_losses

    def __iter__(self):
        """Yield scores and losses of one partition after the other."""
        for seed in range(self.n_parts):
            rng = np.random.default_rng(seed)
            scores = rng.random(self.size)
            yield scores, self.make_losses(rng, scores)


def summarize(parts):
    """Return the summary of partitions."""
    summary = RiskCoverageSummary()
    for scores, losses in parts:
        summary.update(scores, losses)
    return summary


def _rows(what, make_losses):
    parts = list(Partitions(_N_SAMPLES, _N_PARTS, make_losses))
    scores, losses = map(np.concatenate, zip(*parts, strict=True))
    target = float(losses.mean()) / 2
    summary = summarize(parts)
    contenders = {
        "rule at once": partial(solve_target_risk, scores, losses, target),
        "rule": partial(summary.solve_target_risk, target),
        "area at once": partial(aurc_score, None, None, scores, loss=losses),
        "area": summary.aurc,
        "summary": partial(summarize, parts),
    }
    times = interleaved_medians(contenders, repeats=3)
    for name, limit, reference in (
        ("rule", _CELLS_TIME, "rule at once"),
        ("area", _CELLS_TIME, "area at once"),
        ("summary", _SUMMARY_TIME, "rule at once"),
    ):
        details = f"{show_time(times[name])} against {show_time(times[reference])}"
        ratio = times[name] / times[reference]
        yield at_most(f"time, {name}, {what}", limit, ratio, " x", details)
    peak = peak_bytes(contenders["summary"]) / _MB
    yield at_most(f"peak, summary, {what}", _SUMMARY_PEAK, peak, " MB")
    yield at_most(f"cells, {what}", _CELLS_SIZE, summary.nbytes / _MB, " MB")
    exact, rule = contenders["rule at once"](), contenders["rule"]()
    missed = 1 - rule.coverage / exact.coverage
    yield at_most(f"coverage missed by the rule, {what}", _MISSED, missed)
    area, interval = contenders["area at once"](), contenders["area"]()
    half = (interval.high - interval.low) / 2
    off = max(interval.low - area, area - interval.high, 0.0)
    details = f"half-width {half:.2g}, off by {abs(interval.value - area):.2g}"
    yield at_most(f"area outside of its interval, {what}", 0, off, "", details)


def _row_of_many():
    """Measure once samples that are never in memory together."""
    parts = Partitions(_MANY_SAMPLES, _MANY_PARTS, make_errors)
    durations = []
    peak = peak_bytes(lambda: durations.append(seconds(partial(summarize, parts))))
    details = f"{show_time(durations[0])}, making the samples included"
    what = "peak, summary of 1e8 samples, with those that are made"
    return at_most(what, _MANY_PEAK, peak / _MB, " MB", details)
