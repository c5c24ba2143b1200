"""Areas under the risk-coverage curve: time, and values where scores tie."""

from functools import partial

from benchmarks._data import make_sample
from benchmarks._report import show_time
from benchmarks._timing import interleaved_medians
from benchmarks.bench_peers import neighbours_on_breast_cancer, row_orders
from benchmarks.comparison import Measured
from sklearn_reject import _curves as curves
from sklearn_reject import metrics


def measure_area(prepare, is_risk):
    """Yield the lines of a package whose area gets scores and 0/1 losses."""
    yield _time(prepare)
    yield _values_with_ties(prepare, is_risk)


def _time(prepare):
    sample = make_sample("uniform", n_samples=10**6)
    labels = sample.y_true, sample.y_pred, sample.scores
    times = interleaved_medians(
        {
            "theirs": prepare(sample.scores, sample.errors),
            "ours": partial(metrics.aurc_score, *labels),
        },
        5,
    )
    what = "time of the area, a million samples"
    return Measured(what, show_time(times["theirs"]), show_time(times["ours"]))


def _values_with_ties(prepare, is_risk):
    y_true, probabilities = neighbours_on_breast_cancer()
    scores = 1 - probabilities.max(axis=1)
    errors = (probabilities.argmax(axis=1) != y_true).astype(float)
    orders = row_orders(errors)
    theirs = [prepare(scores[rows], errors[rows])() for rows in orders]
    theirs = theirs if is_risk else [1 - value for value in theirs]
    ours = [curves.aurc_score(scores[rows], errors[rows]) for rows in orders]
    what = "area of tied scores (5 nearest neighbours), over orders of the rows"
    return Measured(what, _show_range(theirs), _show_range(ours))


def _show_range(values):
    low, high = f"{min(values):.4f}", f"{max(values):.4f}"
    return low if low == high else f"{low} to {high}"
