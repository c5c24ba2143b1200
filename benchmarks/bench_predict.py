"""What rejecting adds to the prediction of a classifier."""

from collections import Counter
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks._report import Row, ratio_row
from sklearn_reject import SelectiveClassifier

TITLE = "SelectiveClassifier.predict, 100000 x 50, in multiples of predict_proba"

_LIMIT = 1.5
_N_TRAIN, _N_TEST, _N_FEATURES = 5_000, 100_000, 50
_RULES = {"reject_cost=0.5": {}, "target_coverage=0.9": {"target_coverage": 0.9}}
_METHODS = ("predict", "predict_proba", "decision_function")


def run():
    """Return the rows of the table."""
    for n_classes in (2, 10):
        X, y = _make_classes(n_classes)
        for rule, params in _RULES.items():
            what = f"{n_classes} classes, {rule}"
            selective = SelectiveClassifier(LogisticRegression(), **params)
            selective.fit(X[:_N_TRAIN], y[:_N_TRAIN])
            yield from _rows(what, selective, X[_N_TRAIN:])


def _make_classes(n_classes):
    """Return samples whose label is the largest of noisy linear functions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_N_TRAIN + _N_TEST, _N_FEATURES))
    values = X @ rng.normal(size=(_N_FEATURES, n_classes)) / np.sqrt(_N_FEATURES)
    return X, (values + rng.normal(scale=0.3, size=values.shape)).argmax(axis=1)


def _rows(what, selective, X):
    ours = partial(selective.predict, X)
    reference = partial(selective.estimator_.predict_proba, X)
    yield ratio_row(what, _LIMIT, ours, reference, repeats=31)
    with threadpool_limits(1):
        yield ratio_row(f"{what}, one thread", _LIMIT, ours, reference, repeats=31)
    yield _calls_row(f"{what}, calls of the classifier", ours)


def _calls_row(what, predict):
    calls = _count_calls(predict)
    measured = f"{calls['decision_function']} pass"
    one_pass = calls["decision_function"] == calls["predict_proba"] == 1
    verdict = "ok" if one_pass and not calls["predict"] else "miss"
    details = ", ".join(f"{method} {calls[method]}" for method in _METHODS)
    return Row(what, "1 pass", measured, verdict, details)


def _count_calls(function):
    calls = Counter()
    with ExitStack() as stack:
        for method in _METHODS:
            stack.enter_context(_counting(method, calls))
        function()
    return calls


def _counting(method, calls):
    """Return a context in which calls of a method of the classifier are counted."""
    original = getattr(LogisticRegression, method)

    def count(self, X):
        calls[method] += 1
        return original(self, X)

    return patch.object(LogisticRegression, method, count)
