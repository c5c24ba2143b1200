"""Pairs of a first and a second opinion on real sets, and what is known of both.

`out_of_fold` are the values a meta-estimator would choose a score by: five folds that
fit both models, and scores learned from the predictions of the other four. `new` are
those of as many scores on samples that nothing has seen.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import load_set
from sklearn_reject._response._response import Response
from sklearn_reject.scores import resolve_gain

_MOST_TESTED = 10_000


class Opinions(NamedTuple):
    """Losses of both opinions, NaN where the second is not known, and the scores."""

    scores: dict
    loss_first: np.ndarray
    loss_second: np.ndarray


class Linear:
    """Makes a scaled logistic regression."""

    def __call__(self, n_columns):
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))


class Few:
    """Makes a scaled logistic regression that sees every fourth column."""

    def __call__(self, n_columns):
        some = list(range(0, n_columns, 4))
        return make_pipeline(
            make_column_transformer((StandardScaler(), some)),
            LogisticRegression(max_iter=300),
        )


class Boosting:
    """Makes histogram gradient boosting."""

    def __call__(self, n_columns):
        return HistGradientBoostingClassifier(random_state=0)


class Bayes:
    """Makes naive Bayes, the probabilities of which are poor."""

    def __call__(self, n_columns):
        return make_pipeline(StandardScaler(), GaussianNB(var_smoothing=1e-3))


class PersonByClass:
    """Says what somebody says who knows every second class, and guesses others."""

    def __call__(self, X, y, rng):
        return _err(y, np.where(y % 2 == 0, 0.03, 0.4), rng)


class PersonByRegion:
    """Says what somebody says who knows one half of the samples, by a sum of columns.

    The columns are standardized.
    """

    def __call__(self, X, y, rng):
        place = ((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12))[:, :3].sum(axis=1)
        return _err(y, np.where(place > np.median(place), 0.03, 0.3), rng)


def _err(y, probability, rng):
    """Return labels of which some are wrong."""
    wrong = rng.random(len(y)) < probability
    other = (y + rng.integers(1, max(y.max(), 1) + 1, len(y))) % (y.max() + 1)
    return np.where(wrong, other, y)


@dataclass(frozen=True)
class Case:
    """One draw of a set: who answers first, who second, and what is known of it."""

    set_name: str
    n_samples: int
    first: object
    second: object
    missing: float = 0.0
    seed: int = 0

    def measure(self):
        """Return `Opinions` out of fold and on new samples, and seconds of the fits."""
        rng = np.random.default_rng(self.seed)
        X, y, n_train = self._draw(rng)
        person = None
        if not isinstance(self.second, (Linear, Boosting)):
            person = self.second(X, y, rng)
        train, test = np.split(np.arange(len(y)), [n_train])
        folds = StratifiedKFold(5, shuffle=True, random_state=self.seed)
        folds = list(folds.split(train, y[train]))
        answers = np.empty(n_train)
        parts, second = [], None
        for inside, outside in folds:
            first = self.first(X.shape[1]).fit(X[inside], y[inside])
            parts.append(Response(first, X[outside]))
            answers[outside] = self._ask(X, y, inside, outside, person)
        first = self.first(X.shape[1]).fit(X[train], y[train])
        answers[rng.random(n_train) < self.missing] = np.nan
        second = self._ask(X, y, train, test, person)
        new = Response(first, X[test])
        losses = np.where(np.isnan(answers), np.nan, answers != y[train])
        loss_first = np.empty(n_train)
        for part, (_, outside) in zip(parts, folds, strict=True):
            loss_first[outside] = part.labels != y[outside]
        crossed, fresh, seconds = {}, {}, {}
        options = {"n_samples": n_train, "random_state": 0}
        for name, score in resolve_gain("auto", first, **options).items():
            start = time.perf_counter()
            learned = _learn(score, first, X[train], y[train], parts, folds, answers)
            crossed[name], score = learned
            seconds[name] = time.perf_counter() - start
            fresh[name] = score.from_response(new)
        return (
            Opinions(crossed, loss_first, losses),
            Opinions(fresh, 1.0 * (new.labels != y[test]), 1.0 * (second != y[test])),
            seconds,
        )

    def _draw(self, rng):
        """Return samples in random order, and how many are there to learn from."""
        X, y = load_set(self.set_name)
        n_train = min(self.n_samples, len(y) * 2 // 3)
        order = rng.permutation(len(y))[: n_train + _MOST_TESTED]
        X, y = X[order], y[order]
        counts = np.bincount(y[:n_train], minlength=y.max() + 1)
        is_common = counts[y] >= 5
        n_train = np.count_nonzero(is_common[:n_train])
        return X[is_common], np.unique(y[is_common], return_inverse=True)[1], n_train

    def _ask(self, X, y, inside, outside, person):
        """Return the second opinion on some rows, of a model fitted on others."""
        if person is not None:
            return person[outside]
        model = self.second(X.shape[1]).fit(X[inside], y[inside])
        return model.predict(X[outside])


def _learn(score, first, X, y, parts, folds, answers):
    """Return the values of a score out of fold, and the score learned from all rows."""
    values = np.empty(len(y))
    if not score.learns:
        for part, (_, outside) in zip(parts, folds, strict=True):
            fitted = clone(score).fit(estimator=part.estimator)
            values[outside] = fitted.from_response(part)
        return values, score.fit(estimator=first)
    score.resolve(first.classes_).choose_features(first, X)
    pooled = []
    for part, (_, outside) in zip(parts, folds, strict=True):
        given = [answers[outside]] if getattr(score, "needs_expert", False) else []
        pooled.append(score.collect(part, y[outside], *given))
    pooled = [np.concatenate(arrays) for arrays in zip(*pooled, strict=True)]
    rows = np.concatenate([outside for _, outside in folds])
    back = np.argsort(rows)
    pooled = [array[back] for array in pooled]
    for inside, outside in folds:
        own = score.clone_resolved()
        own.fit_collected(X[inside], *(array[inside] for array in pooled))
        outputs, labels, _ = (array[outside] for array in pooled)
        values[outside] = own.predict_collected(X[outside], outputs, labels)
    return values, score.fit_collected(X, *pooled, estimator=first)
