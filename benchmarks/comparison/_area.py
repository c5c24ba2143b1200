"""Areas under the risk-coverage curve: time, and values where scores tie."""

from functools import partial

from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._data import make_sample
from benchmarks._report import show_time
from benchmarks._timing import interleaved_medians
from benchmarks.bench_peers import neighbours_on_breast_cancer, row_orders
from benchmarks.comparison import Measured, split_digits
from sklearn_reject import _curves as curves
from sklearn_reject import metrics


def measure_area(prepare, is_risk):
    """Yield the lines of a package whose area gets scores and 0/1 losses."""
    yield _values_without_ties(prepare, is_risk)
    yield _values_with_ties(prepare, is_risk)
    yield _time(prepare)


def _values_without_ties(prepare, is_risk):
    """Ours as theirs is computed: the mean of the risks, or a trapezoid from 1/n on."""
    X, X_test, y, y_test = split_digits(seed=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    scores = 1 - model.predict_proba(X_test).max(axis=1)
    errors = (model.predict(X_test) != y_test).astype(float)
    theirs = prepare(scores, errors)()
    if is_risk:
        coverage, risk, _ = curves.risk_coverage_curve(scores, errors)
        ours = auc(coverage, risk) / (1 - 1 / len(errors))
    else:
        theirs, ours = 1 - theirs, curves.aurc_score(scores, errors)
    what = "area without ties (logistic regression of digits)"
    return Measured(what, f"{theirs:.7f}", f"{ours:.7f}")


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
    what = "area of tied scores (5 nearest neighbors), over orders of the rows"
    return Measured(what, _show_range(theirs), _show_range(ours))


def _show_range(values):
    low, high = f"{min(values):.4f}", f"{max(values):.4f}"
    return low if low == high else f"{low} to {high}"
