"""Summaries of samples in partitions, against the functions of the samples at once."""

from functools import partial

import numpy as np

from benchmarks._report import Row, at_most, show_time
from benchmarks._timing import interleaved_medians, peak_bytes, seconds
from sklearn_reject import _curves as curves
from sklearn_reject.selection import RiskCoverageSummary, solve_target_risk

TITLE = "summaries: 1e7 samples in 20 partitions, and 1e8 in 100"

_N_SAMPLES, _N_PARTS = 10**7, 20
_MANY_SAMPLES, _MANY_PARTS = 10**8, 100
_MB = 1e6

# Times are in multiples of the function of all samples at once, peaks without them.
_RULE_TIME, _RULE_PEAK = 1.0, 64
_AREA_TIME, _AREA_PEAK = 1.5, 256
_CELLS_TIME, _CELLS_SIZE = 0.1, 1
_MANY_PEAK = 512


def run():
    """Return the rows of the table."""
    yield from _rows("0/1 loss", make_errors)
    yield from _rows("real losses", make_costs)
    yield from _rows_of_many()


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


def _rule_of_parts(parts, target):
    return summarize(parts).solve_target_risk(target, parts=parts)


def _area_of_parts(parts):
    return summarize(parts).aurc(parts=parts)


def _rows(what, make_losses):
    parts = list(Partitions(_N_SAMPLES, _N_PARTS, make_losses))
    scores, losses = map(np.concatenate, zip(*parts, strict=True))
    target = float(losses.mean()) / 2
    summary = summarize(parts)
    contenders = {
        "rule at once": partial(solve_target_risk, scores, losses, target),
        "rule": partial(_rule_of_parts, parts, target),
        "rule of cells": partial(summary.solve_target_risk, target),
        "area at once": partial(curves.aurc_score, scores, losses),
        "area": partial(_area_of_parts, parts),
        "area of cells": summary.aurc,
        "cells": partial(summarize, parts),
    }
    times = interleaved_medians(contenders, repeats=3)
    for name, limit in (("rule", _RULE_TIME), ("area", _AREA_TIME)):
        for kind, largest in (("", limit), (" of cells", _CELLS_TIME)):
            ours, reference = times[name + kind], times[f"{name} at once"]
            details = f"{show_time(ours)} against {show_time(reference)}"
            kind = kind or ", exact"
            ratio = ours / reference
            yield at_most(f"time, {name}{kind}, {what}", largest, ratio, " x", details)
    yield Row(f"time, cells of all samples, {what}", measured=show_time(times["cells"]))
    for name, limit in (("rule", _RULE_PEAK), ("area", _AREA_PEAK)):
        ours, reference = (
            peak_bytes(contenders[name + kind]) / _MB for kind in ("", " at once")
        )
        details = f"against {reference:.3g} MB"
        yield at_most(f"peak, {name}, exact, {what}", limit, ours, " MB", details)
    yield at_most(f"cells, {what}", _CELLS_SIZE, summary.nbytes / _MB, " MB")
    yield from _accuracy_rows(what, contenders)


def _accuracy_rows(what, contenders):
    """Compare what the partitions say with what all samples at once do."""
    exact, rule = contenders["rule at once"](), contenders["rule"]()
    off = max(
        abs(getattr(rule, name) - getattr(exact, name)) / getattr(exact, name)
        for name in ("threshold", "coverage", "selective_risk")  # the hull is of cells
    )
    yield at_most(f"relative difference, rule, exact, {what}", 1e-12, off)
    area, interval = contenders["area at once"](), contenders["area of cells"]()
    off = abs(contenders["area"]().value - area) / area
    yield at_most(f"relative difference, area, exact, {what}", 1e-12, off)
    half = (interval.high - interval.low) / 2
    off = max(interval.low - area, area - interval.high, 0.0)
    details = f"half-width {half:.2g}, off by {abs(interval.value - area):.2g}"
    yield at_most(f"area outside of its interval, {what}", 0, off, "", details)


def _rows_of_many():
    """Measure once samples that are never in memory together."""
    parts = Partitions(_MANY_SAMPLES, _MANY_PARTS, make_errors)
    yield _row_of_many("rule", partial(_rule_of_parts, parts, 0.05))
    yield _row_of_many("area", partial(_area_of_parts, parts))


def _row_of_many(name, ours):
    durations = []
    peak = peak_bytes(lambda: durations.append(seconds(ours))) / _MB
    details = f"{show_time(durations[0])}, making the samples included"
    what = f"peak, {name}, exact, 1e8 samples with those that are read"
    return at_most(what, _MANY_PEAK, peak, " MB", details)
