"""xCOLUMNs: sets of large expected F1, of given probabilities."""

import numpy as np
from sklearn.metrics import f1_score

from benchmarks._report import show_time
from benchmarks._timing import interleaved_medians, seconds
from benchmarks.comparison import Measured
from sklearn_reject.decoding import decode

PACKAGE = "xcolumns"

_N_SETS, _SIZE = 200, 20
_N_OUTCOMES = 200
_N_LARGE = 10**5


def measure():
    """Yield the lines of the table."""
    rng = np.random.default_rng(0)
    eta = rng.beta(0.3, 2, size=(_SIZE, _N_SETS))  # a column is a set
    theirs, said = _ascend(eta)
    ours, loss = decode(eta, loss="f1", average="macro")
    outcomes = rng.random((_N_OUTCOMES, *eta.shape)) < eta
    what = f"F1 of {_N_SETS} sets of {_SIZE}, mean over {_N_OUTCOMES} outcomes"
    yield Measured(what, _mean_f1(outcomes, theirs), _mean_f1(outcomes, ours))
    what = "what it says this F1 will be"
    yield Measured(what, f"{said:.3f}", f"{1 - np.mean(loss):.3f}")
    yield _time(rng)


def _ascend(eta):
    from xcolumns.block_coordinate import (
        predict_optimizing_macro_f1_score_using_bc as ascend,
    )

    chosen, meta = ascend(eta, k=0, seed=0, return_meta=True)
    del meta
    counts = (chosen * eta).sum(axis=0)
    sizes = chosen.sum(axis=0) + eta.sum(axis=0)
    return chosen > 0, float(np.mean(2 * counts / sizes))


def _mean_f1(outcomes, chosen):
    values = [
        f1_score(truth, chosen, average="macro", zero_division=0.0)
        for truth in outcomes
    ]
    return f"{np.mean(values):.3f}"


def _time(rng):
    """Take the time once there, after a warm-up: it runs for seconds."""
    from xcolumns.block_coordinate import (
        predict_optimizing_macro_f1_score_using_bc as ascend,
    )

    eta = rng.beta(0.3, 2, size=(_N_LARGE, 1))
    ascend(eta[:100], k=0, seed=0)
    theirs = seconds(lambda: ascend(eta, k=0, seed=0))
    ours = interleaved_medians({"ours": lambda: decode(eta[:, 0], loss="f1")}, 3)
    return Measured(
        "time, one set of 100,000", show_time(theirs), show_time(ours["ours"])
    )
