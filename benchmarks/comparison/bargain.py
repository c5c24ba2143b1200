"""BARGAIN: records about which an oracle is asked, under the same guarantee."""

import numpy as np

from benchmarks._report import show_time
from benchmarks._risk_curves import draw_errors
from benchmarks._timing import interleaved_medians
from benchmarks.bench_deferral_peers import ask_ours, load_bargain, outcomes
from benchmarks.comparison import Measured

PACKAGE = "bargain"

_CURVES = {"s^2": "square of the score", "bump": "low but for a bump"}


def measure():
    """Yield the lines of the table."""
    bargain = load_bargain()
    for curve, name in _CURVES.items():
        for n_samples in (1000, 10_000):
            found = {
                "theirs": outcomes(bargain, curve, n_samples),
                "ours": outcomes(ask_ours, curve, n_samples),
            }
            shares = {key: f"{each.asked.mean():.3f}" for key, each in found.items()}
            what = f"share asked about, {n_samples:,} records, error {name}"
            yield Measured(what, **shares)
    right = {key: f"{1 - np.mean(each.risk):.3f}" for key, each in found.items()}
    yield Measured("right answers in the last of these, 0.9 asked for", **right)
    sample = *draw_errors("s^2", 10_000, seed=0), 0
    times = interleaved_medians(
        {"theirs": lambda: bargain(*sample), "ours": lambda: ask_ours(*sample)}, 5
    )
    yield Measured(
        "time, 10,000 records", **{k: show_time(t) for k, t in times.items()}
    )
