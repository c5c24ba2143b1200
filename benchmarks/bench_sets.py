"""Strategies that choose sets, on real sets: whole batches, groups and single rows."""

import sys
import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import available_sets, load_multilabel_set, load_set
from benchmarks._report import Row, at_most
from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss

TITLE = "mean F1 loss of sets in multiples of 1/1000, over draws of real sets"

_TWO_CLASSES = (
    *("bank_additional", "breast_cancer", "ijcnn", "image", "mammography"),
    *("marketing", "phishing", "spambase", "webpage"),
)
_SEVERAL_LABELS = ("emotions", "enron", "scene", "yeast")
_CLASSIFIERS = {
    "logistic": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=300)
    ),
    "logistic, balanced": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=300, class_weight="balanced")
    ),
    "naive Bayes": GaussianNB,
    "naive Bayes, isotonic": lambda: CalibratedClassifierCV(
        GaussianNB(), method="isotonic"
    ),
    "forest": lambda: RandomForestClassifier(50, random_state=0),
}

_N_TRAIN = 2000
_N_TEST = 3000
_GROUP = 40
_SEEDS = 3

_STRATEGIES = (0.5, "dta", "eum", "auto")
_CALIBRATIONS = ("sigmoid", "isotonic")
_KINDS = ("whole", "groups of 40", "single rows")


def run():
    """Return the rows of the table."""
    losses = {}
    for name in _TWO_CLASSES:
        if name in available_sets():
            losses |= _measure(name, *load_set(name), _KINDS)
    for name in _SEVERAL_LABELS:
        loaded = load_multilabel_set(name)
        if loaded is not None:
            losses |= _measure(name, *loaded, ("labels",))
    if not losses:
        yield Row("SKLEARN_REJECT_DATA is not set")
        return
    yield from _mean_rows(losses)
    yield from _regret_rows(losses)
    yield from _claim_rows(losses)


# What is compared


@dataclass
class _Pool:
    """Samples of one draw, and the probabilities of each fit to some of them."""

    make: object
    X: np.ndarray
    y: np.ndarray
    fits: dict = field(default_factory=dict)

    def probabilities(self, rows):
        """Return classes, and probabilities of all samples, fitted on some rows."""
        key = np.asarray(rows).tobytes()
        if key not in self.fits:
            made = self.make()
            if self.y.ndim == 2 and not isinstance(made, RandomForestClassifier):
                made = OneVsRestClassifier(made)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made.fit(self.X[rows], self.y[rows])
                proba = made.predict_proba(self.X)
            if isinstance(proba, list):
                proba = np.column_stack(
                    [
                        p[:, 1] if p.shape[1] == 2 else np.full(len(p), c[0])
                        for p, c in zip(proba, made.classes_, strict=True)
                    ]
                )
            self.fits[key] = np.arange(2), proba
        return self.fits[key]


_POOL = {}


class _Shared(ClassifierMixin, BaseEstimator):
    """Classifier of the numbers of rows: contenders share the fits to equal rows."""

    def fit(self, X, y):
        self.classes_, self.proba_ = _POOL["now"].probabilities(X[:, 0])
        return self

    def predict_proba(self, X):
        return self.proba_[X[:, 0]]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _measure(name, X, y, kinds):
    """Return losses of shape (n_seeds,) by set, classifier, kind and contender."""
    losses = {}
    for classifier, make in _CLASSIFIERS.items():
        if y.ndim == 2 and classifier == "naive Bayes, isotonic":
            # Some label has fewer positives than there are folds.
            continue
        for seed in range(_SEEDS):
            rows = np.random.default_rng(seed).permutation(len(y))
            rows = rows[: _N_TRAIN + _N_TEST]
            n_train = min(_N_TRAIN, 2 * len(rows) // 3)
            _POOL["now"] = _Pool(make, X[rows], y[rows])
            index = np.arange(len(rows))[:, np.newaxis]
            parts = index[:n_train], index[n_train:], y[rows]
            tuned = None if y.ndim == 2 else _predict_tuned(*parts)
            for kind in kinds:
                for contender, loss in _contend(kind, *parts, tuned):
                    key = name, classifier, kind, contender
                    losses.setdefault(key, []).append(loss)
        print(name, classifier, file=sys.stderr, flush=True)
    return {key: np.array(values) for key, values in losses.items()}


def _contend(kind, train, test, y, tuned):
    """Yield name and loss of each contender."""
    y_train, y_test = y[train[:, 0]], y[test[:, 0]]
    groups = {"groups": np.arange(len(test)) // _GROUP} if kind == _KINDS[1] else {}
    told = groups if kind != "single rows" else {"groups": np.arange(len(test))}
    of_fit = {"groups": np.arange(len(train)) // _GROUP} if groups else {}
    for contender, decoder in _contenders(y.ndim == 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decoder.fit(train, y_train, **of_fit)
            predicted = decoder.predict(test, **told)
        yield contender, set_loss(y_test, predicted, **groups)
    eta = decoder.estimator_.predict_proba(test)
    eta = eta if y.ndim == 2 else eta[:, 1]
    yield "plug-in", set_loss(y_test, _plug_in(eta, told.get("groups")), **groups)
    if tuned is not None:
        yield "TunedThresholdClassifierCV", set_loss(y_test, tuned, **groups)


def _contenders(has_labels):
    """Yield name and decoder, the default at the end."""
    if not has_labels:
        for method in _CALIBRATIONS:
            calibrated = CalibratedClassifierCV(
                _Shared(), method=method, ensemble=False
            )
            yield f"dta, {method}", ExpectedLossDecoder(calibrated, strategy="dta")
    for strategy in _STRATEGIES:
        yield str(strategy), ExpectedLossDecoder(_Shared(), strategy=strategy)


def _predict_tuned(train, test, y):
    """Return the labels of the threshold that scikit-learn finds, on its grid."""
    tuned = TunedThresholdClassifierCV(_Shared(), scoring="f1")
    return tuned.fit(train, y[train[:, 0]]).predict(test)


def _plug_in(eta, groups):
    """Return the sets whose F1 of expected counts is largest.

    That is the maximum of the metric of expectations, of which xCOLUMNs finds a local
    one by coordinates; for one set of all items, sorting finds it.
    """
    if eta.ndim == 2:
        return np.array([_plug_in_one(row) for row in eta])
    if groups is None:
        return _plug_in_one(eta)
    predicted = np.empty(len(eta), dtype=int)
    for group in np.unique(groups):
        predicted[groups == group] = _plug_in_one(eta[groups == group])
    return predicted


def _plug_in_one(eta):
    order = np.argsort(-eta, kind="stable")
    scores = np.cumsum(eta[order]) / (np.arange(1, len(eta) + 1) + eta.sum())
    predicted = np.zeros(len(eta), dtype=int)
    predicted[order[: 1 + np.argmax(scores)]] = 1
    return predicted


# What is shown


def _mean_rows(losses):
    """Yield the mean over sets of each contender, by kind and classifier."""
    keys = dict.fromkeys((kind, classifier) for _, classifier, kind, _ in losses)
    for kind, classifier in sorted(
        keys, key=lambda key: [*_KINDS, "labels"].index(key[0])
    ):
        contenders = {}
        for (_, other, of_kind, contender), values in losses.items():
            if (of_kind, other) == (kind, classifier):
                contenders.setdefault(contender, []).append(values)
        shown = []
        for contender, values in contenders.items():
            # Sets are given, and draws of each are what varies.
            errors = np.std(values, axis=1, ddof=1) / np.sqrt(_SEEDS)
            error = np.sqrt(np.sum(errors**2)) / len(values)
            shown.append(
                f"{contender} {1000 * np.mean(values):.0f} +- {1000 * error:.0f}"
            )
        yield Row(f"{kind}, {classifier}", details=", ".join(shown))


def _regret_rows(losses):
    """Yield how far each contender is above the best one of each cell."""
    for kind in dict.fromkeys(key[2] for key in losses):
        best, regrets = {}, {}
        for key, values in losses.items():
            best[key[:3]] = min(best.get(key[:3], 1.0), values.mean())
        for key, values in losses.items():
            if key[2] == kind:
                regret = 1000 * (values.mean() - best[key[:3]])
                regrets.setdefault(key[3], []).append(regret)
        n_cells = len(regrets["auto"])
        shown = [
            f"{name} {np.mean(values):.1f} (at most {max(values):.0f})"
            for name, values in regrets.items()
        ]
        what = f"{kind}: above the best of each of {n_cells} cells"
        yield Row(what, details=", ".join(shown))


def _claim_rows(losses):
    """Judge how often the choice is worse than the best of the others."""
    worse, cells = [], dict.fromkeys(key[:3] for key in losses)
    for cell in cells:
        others = {
            key[3]: values
            for key, values in losses.items()
            if key[:3] == cell and key[3] != "auto"
        }
        best = min(others, key=lambda name: others[name].mean())
        gap = losses[*cell, "auto"] - others[best]
        error = gap.std(ddof=1) / np.sqrt(_SEEDS)
        if gap.mean() > error:
            worse.append(
                (
                    gap.mean(),
                    f"{', '.join(cell)}: {1000 * gap.mean():.0f} +- "
                    f"{1000 * error:.0f} above {best}",
                )
            )
    what = f"of {len(cells)} cells, those where auto is worse by over one error"
    yield at_most(what, 0, len(worse))
    for _, text in sorted(worse, reverse=True):
        yield Row("", details=text)
