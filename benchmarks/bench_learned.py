"""Learned scores on real samples: test AuRC against the classifier's own score.

A set is left out where it is not in the folder that SKLEARN_REJECT_DATA names.
"""

import warnings
from collections import defaultdict
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from benchmarks._mixed import TEXTS, available, load, make_model
from benchmarks._report import NOT_INSTALLED, Row
from sklearn_reject._curves._risk_coverage import aurc_score
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject.scores import get_score_names, resolve_score

TITLE = "test AuRC of logistic regression in a pipeline, of its own score and of others"

# Numbers of samples, and of draws. The full table is that of the user guide.
_SIZES = {False: (200, 1000), True: (200, 1000, 3000, 10_000)}
_N_DRAWS = {False: 2, True: 3}

# Sets whose pipeline and scores are quick to fit.
_QUICK = "bank_additional", "phishing", "spambase", TEXTS
_MOST_TESTED = 10_000
_FEWEST_TESTED = 1000

_NAMES = [
    name
    for name in get_score_names()
    if getattr(resolve_score(name, None), "learns", False)
]
_FEATURES = {
    "sele": ("per_label_linear",),
    "text": ("response", "model_input+response"),
    "table": ("response", "input+response", "model_input+response"),
}


def run_in_full():
    """Return the rows of the table, of all sets, sizes and draws."""
    yield from run(full=True)


def run(full=False):
    """Return the rows of the table."""
    names = [name for name in available() if full or name in _QUICK]
    if not names:
        yield Row("learned scores on real samples", "", NOT_INSTALLED)
    for name, size in product(names, _SIZES[full]):
        results = defaultdict(list)
        for seed in range(_N_DRAWS[full]):
            for what, area in _measure(name, size, seed):
                results[what].append(area)
        own = results.pop("own", None)
        for what, areas in results.items():
            asked = f"own {np.mean(own):.4f}"
            yield Row(f"{name}, {size}: {what}", asked, f"{np.mean(areas):.4f}")


def _measure(name, size, seed):
    """Yield pairs of a score and its area on new samples, of one draw."""
    samples = load(name)
    order = np.random.default_rng(seed).permutation(len(samples.y))
    train, test = order[:size], order[size : size + _MOST_TESTED]
    if len(test) < _FEWEST_TESTED:
        return
    train = _without_rare(train, samples.y)
    predictions = Pooled(make_model(samples.steps), samples, train, seed)
    new = Response(predictions.final, _safe_indexing(samples.X, test))
    losses = 1.0 * (predictions.final.predict(new.X) != samples.y[test])
    yield "own", aurc_score(1 - new.probabilities.max(axis=1), losses)
    kind = "text" if name == TEXTS else "table"
    for score in _NAMES:
        for features in _FEATURES.get(score, _FEATURES[kind]):
            learned = predictions.learn(score, features)
            area = aurc_score(learned.from_response(new), losses)
            yield f"{score}, {features}", area


def _without_rare(rows, y):
    """Return the rows of the classes that each fold can have."""
    return rows[np.bincount(y[rows])[y[rows]] >= 5]


class Pooled:
    """Predictions out of five folds, made once for all scores.

    `SelectiveClassifier` makes the same ones, and fits the same final estimator.
    """

    def __init__(self, model, samples, rows, seed):
        self.seed = seed
        X, y = _safe_indexing(samples.X, rows), samples.y[rows]
        folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(y, y)
        self.parts = []
        for train, test in folds:
            fitted = clone(model).fit(_safe_indexing(X, train), y[train])
            self.parts.append((Response(fitted, _safe_indexing(X, test)), test))
        self.X, self.y, self.final = X, y, clone(model).fit(X, y)

    def learn(self, name, features):
        """Return a score that has learned from the predictions."""
        score = resolve_score(name, self.final, random_state=self.seed)
        score.set_params(features=features).resolve(self.final.classes_)
        score.choose_features(self.final, self.X)
        values = [score.collect(part, self.y[test]) for part, test in self.parts]
        values = [np.concatenate(arrays) for arrays in zip(*values, strict=True)]
        rows = np.concatenate([test for _, test in self.parts])
        every = Response(self.final, _safe_indexing(self.X, rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            seen = score.samples_of(every)
            return score.fit_collected(seen, *values, estimator=self.final)
