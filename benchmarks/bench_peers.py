"""Speed and values of the area beside those of other packages."""

from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import auc
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from benchmarks._data import make_sample, sort_and_accumulate
from benchmarks._peers import LOADERS, load_scikit_fallback
from benchmarks._report import NOT_INSTALLED, Row, show_time
from benchmarks._timing import interleaved_medians, seconds
from sklearn_reject import _curves as curves
from sklearn_reject import metrics

TITLE = "the area beside other packages"

_SIZES = (10**4, 10**5, 10**6)
_SIZES_IF_QUADRATIC = (10**3, 10**4)
_EQUAL = {"MAPIE": 1e-12, "torch-uncertainty": 1e-6}  # torch counts in float32


def run():
    """Return the rows of the table."""
    return [
        *_speed_rows(),
        *_fallback_speed_rows(),
        *_agreement_rows(),
        *_order_rows(),
        *_tie_rows(),
    ]


# Speed


def _speed_rows():
    for n_samples in _SIZES:
        sample = make_sample("uniform", n_samples=n_samples)
        contenders = _contenders(sample)
        times = interleaved_medians(contenders)
        for name in ("ours", "argsort + gather + cumsum", *LOADERS):
            measured = show_time(times[name]) if name in times else NOT_INSTALLED
            yield Row(f"time, n = {n_samples}, {name}", measured=measured)


def _contenders(sample):
    arrays = sample.scores, sample.errors
    labels = sample.y_true, sample.y_pred, sample.scores
    ours = {
        "ours": partial(metrics.aurc_score, *labels),
        "argsort + gather + cumsum": partial(sort_and_accumulate, *arrays),
    }
    return ours | {name: prepare(*arrays) for name, prepare in _installed()}


def _installed():
    loaded = ((name, load()) for name, load in LOADERS.items())
    return [(name, prepare) for name, prepare in loaded if prepare is not None]


def _fallback_speed_rows():
    area = load_scikit_fallback()
    for n_samples in _SIZES_IF_QUADRATIC:
        what = f"time, n = {n_samples}, scikit-fallback, one run"
        if area is None:
            yield Row(what, measured=NOT_INSTALLED)
            continue
        sample = make_sample("uniform", n_samples=n_samples)
        run = partial(area, sample.y_true, _probabilities(sample))
        yield Row(what, measured=show_time(seconds(run)))


def _probabilities(sample):
    """Return probabilities of two classes that lead to the predictions and scores."""
    most = 1 - sample.scores / 2
    is_positive = sample.y_pred == 1
    positive = np.where(is_positive, most, 1 - most)
    return np.column_stack([1 - positive, positive])


# Values without ties


def _agreement_rows():
    sample = make_sample("uniform", n_samples=10**5)
    arrays = sample.scores, sample.errors
    expected = {
        "MAPIE": 1 - curves.aurc_score(*arrays),
        "torch-uncertainty": _trapezoid(*arrays) / (1 - 1 / len(sample.scores)),
    }
    prepared = dict(_installed())
    for name, value in expected.items():
        yield _agreement_row(name, value, prepared.get(name), arrays)


def _agreement_row(name, expected, prepare, arrays):
    what = f"value without ties, {name}"
    asked = f"ours +- {_EQUAL[name]:g}"
    if prepare is None:
        return Row(what, asked, NOT_INSTALLED)
    difference = abs(prepare(*arrays)() - expected)
    verdict = "ok" if difference <= _EQUAL[name] else "miss"
    return Row(
        what, asked, f"{difference:.1g} apart", verdict, f"expected {expected:.6f}"
    )


def _order_rows():
    """Show what the order of the rows does to values without ties."""
    area = load_scikit_fallback()
    what = "values without ties, n = 1000, rows in 2 orders, "
    sample = make_sample("uniform", n_samples=1000)
    orders = (np.arange(1000), np.argsort(sample.scores))
    ours = [_ours(sample.scores[order], sample.errors[order]) for order in orders]
    yield Row(f"{what}ours", measured=_show_values(ours))
    if area is None:
        yield Row(f"{what}scikit-fallback", measured=NOT_INSTALLED)
        return
    probabilities = _probabilities(sample)
    theirs = [area(sample.y_true[order], probabilities[order]) for order in orders]
    yield Row(f"{what}scikit-fallback", measured=_show_values(theirs))


# Values with ties


def _tie_rows():
    y_true, probabilities = neighbours_on_breast_cancer()
    scores = 1 - probabilities.max(axis=1)
    errors = (probabilities.argmax(axis=1) != y_true).astype(np.float64)
    orders = row_orders(errors)
    what = f"values with {len(np.unique(scores))} distinct scores, "
    for name, area in _areas().items():
        measured = NOT_INSTALLED
        if area is not None:
            measured = _show_values([area(scores[o], errors[o]) for o in orders])
        details = "rows as they come, errors first, errors last"
        yield Row(what + name, measured=measured, details=details)
    yield _fallback_tie_row(what, y_true, probabilities, orders)


def neighbours_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    neighbors = KNeighborsClassifier(5).fit(X_train, y_train)
    return y_test, neighbors.predict_proba(X_test)


def row_orders(errors):
    """Return rows as they come, with errors first and with errors last."""
    last = np.argsort(errors, kind="stable")
    return [np.arange(len(errors)), last[::-1], last]


def _areas():
    """Return the areas of all packages, lower is better, of scores and 0/1 losses."""
    prepared = dict.fromkeys(LOADERS) | dict(_installed())
    mapie, torch_uncertainty = prepared["MAPIE"], prepared["torch-uncertainty"]
    return {
        "ours": _ours,
        "ours, trapezoid": _trapezoid,
        "1 - MAPIE": mapie and (lambda *arrays: 1 - mapie(*arrays)()),
        "torch-uncertainty": torch_uncertainty
        and (lambda *arrays: torch_uncertainty(*arrays)()),
    }


def _trapezoid(scores, errors):
    coverage, risk, _ = curves.risk_coverage_curve(scores, errors)
    return auc(coverage, risk)


def _ours(scores, errors):
    return curves.aurc_score(scores, errors)


def _fallback_tie_row(what, y_true, probabilities, orders):
    area = load_scikit_fallback()
    what = f"{what}scikit-fallback"
    if area is None:
        return Row(what, measured=NOT_INSTALLED)
    try:
        values = [area(y_true[order], probabilities[order]) for order in orders]
    except Exception as error:
        return Row(what, measured=f"raises {type(error).__name__}")
    return Row(what, measured=_show_values(values))


def _show_values(values):
    return "  ".join(f"{value:.4f}" for value in values)
