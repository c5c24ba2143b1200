"""MAPIE: certified risks, monitors and the area under the accuracy-rejection curve."""

from copy import copy
from statistics import median

import numpy as np

from benchmarks._peers import load_mapie as load_area
from benchmarks._report import show_time
from benchmarks._risk_curves import draw_errors
from benchmarks._timing import interleaved_medians
from benchmarks.bench_guarantees import certify_ours, load_mapie, violation_rate
from benchmarks.bench_monitors import load_mapie as load_monitor
from benchmarks.bench_monitors import mapie_delay, our_delay
from benchmarks.comparison import Measured
from benchmarks.comparison._area import measure_area
from sklearn_reject.selection import RiskMonitor

PACKAGE = "MAPIE"

_DRAWS = 100
_METHOD = "MAPIE Holm (default)"
_TARGET, _DELTA = 0.05, 0.05


def measure():
    """Yield the lines of the table."""
    for n_samples in (1000, 10_000):
        yield from _certified(n_samples)
    yield from _monitors()
    yield from measure_area(load_area(), is_risk=False)


def _certified(n_samples):
    """Both get 100 samples of an error whose chance is the square of the score."""
    theirs = load_mapie()
    samples = [draw_errors("s^2", n_samples, seed) for seed in range(_DRAWS)]
    found = {
        "theirs": np.array([theirs(*sample)[_METHOD] for sample in samples]),
        "ours": np.array([certify_ours(*sample)["ours"] for sample in samples]),
    }
    coverages = {name: f"{values.mean():.3f}" for name, values in found.items()}
    what = f"certified coverage at risk 0.1, {n_samples:,} samples (0.548 is possible)"
    yield Measured(what, **coverages)
    rates = {name: violation_rate("s^2", values) for name, values in found.items()}
    shares = {name: f"{rate:.2f}" for name, rate in rates.items()}
    yield Measured(f"draws whose risk is over 0.1, {n_samples:,} samples", **shares)


def _monitors():
    make = load_monitor()
    streams = np.random.default_rng(1).random((_DRAWS, 1000)) < 2 * _TARGET
    theirs = median(mapie_delay(make(_DELTA), stream) for stream in streams)
    ours = median(our_delay(stream) for stream in streams)
    what = "samples until the alarm at twice the target of 0.05, median"
    yield Measured(what, f"{theirs:g}", f"{ours:g}")
    quiet = (np.random.default_rng(0).random(1000) < _TARGET).astype(int)
    zero, one = np.zeros(1, dtype=int), np.ones(1, dtype=int)
    ours, theirs = RiskMonitor(_TARGET).update(quiet), make(_DELTA)
    theirs.update(np.zeros(1000, dtype=int), quiet)
    times = interleaved_medians(
        {
            "theirs": lambda: copy(theirs).update(zero, one),
            "ours": lambda: copy(ours).update(one),
        },
        5,
    )
    what = "time of one more sample in the monitor, after a thousand"
    yield Measured(what, show_time(times["theirs"]), show_time(times["ours"]))
