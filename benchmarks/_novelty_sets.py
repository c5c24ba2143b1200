"""Real sets with some of their classes held back as novel, and four classifiers."""

from collections import namedtuple

import numpy as np
from joblib import hash as hash_of
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import is_there, load_set

# In the last three, the largest class has 20 to 80 times the rows of the smallest ones
# that are kept.
SETS = (
    *("digits", "letter", "pendigit", "sattelite", "sensorless_subset"),
    *("avila", "covtype_subset", "shuttle"),
)
NOVEL = -1

# One class in five is held back.
_SHARE_HELD_BACK = 5
_MOST = {"train": 1200, "tune_ood": 300, "test": 1500, "test_ood": 500}
_FEWEST_NOVEL = 60  # rows of a class that is held back
_FEWEST_KNOWN = 10  # rows of a known class for training, two a fold

# Rows of a known class, and novel ones, to fit on and to judge by.
Split = namedtuple("Split", "X y X_new y_new")


def available_sets():
    """Return the names of the sets that are there."""
    return [name for name in SETS if is_there(name)]


def draw_split(name, seed):
    """Return one draw of classes to hold back, and of rows."""
    X, y = load_set(name)
    rng = np.random.default_rng([seed, *name.encode()])
    order, counts = rng.permutation(len(y)), np.bincount(y)
    candidates = np.flatnonzero(counts >= _FEWEST_NOVEL)
    n_novel = max(1, len(counts) // _SHARE_HELD_BACK)
    is_novel = np.isin(y[order], rng.choice(candidates, n_novel, replace=False))
    known, known_new = _halve(order[~is_novel], _MOST["train"], _MOST["test"])
    novel, novel_new = _halve(order[is_novel], _MOST["tune_ood"], _MOST["test_ood"])
    classes = np.flatnonzero(np.bincount(y[known]) >= _FEWEST_KNOWN)
    known, known_new = (rows[np.isin(y[rows], classes)] for rows in (known, known_new))
    y = np.where(np.isin(y, classes), y, NOVEL)
    rows, new = np.append(known, novel), np.append(known_new, novel_new)
    return Split(X[rows], y[rows], X[new], y[new])


def draw_unseen(name, seed):
    """Return one draw with half of a class held back to tune on, and another unseen.

    The novel rows to judge by are those of the other half, and those of the other
    class, as two arrays.
    """
    X, y = load_set(name)
    rng = np.random.default_rng([seed, *name.encode()])
    order, counts = rng.permutation(len(y)), np.bincount(y)
    candidates = np.flatnonzero(counts >= _FEWEST_NOVEL)
    held_back, unseen = rng.choice(candidates, 2, replace=False)
    labels = y[order]
    known = order[(labels != held_back) & (labels != unseen)]
    known, known_new = _halve(known, _MOST["train"], _MOST["test"])
    novel = order[labels == held_back]
    novel, novel_new = _halve(novel, _MOST["tune_ood"], _MOST["test_ood"])
    unseen = order[labels == unseen][: _MOST["test_ood"]]
    y_tune = np.append(y[known], np.full(len(novel), NOVEL))
    split = Split(X[np.append(known, novel)], y_tune, X[known_new], y[known_new])
    return split, X[novel_new], X[unseen]


def _halve(rows, most, most_new):
    """Return two disjoint parts of rows, each at most one half of them."""
    middle = len(rows) // 2
    return rows[: min(middle, most)], rows[middle : middle + most_new]


# What was fitted before: the same folds of the same rows serve all novelty scores.
_FITTED = {}


def forget():
    """Drop what was fitted."""
    _FITTED.clear()


class _Remembered:
    """Mixin of a classifier that is fitted once on the same samples."""

    def fit(self, X, y):
        """Take what another one like this learned from X and y, or learn it."""
        key = hash_of((type(self).__name__, self.get_params(), X, y))
        if key not in _FITTED:
            _FITTED[key] = vars(super().fit(X, y))
        vars(self).update(_FITTED[key])
        return self


def _remembered(kind):
    # The package tells from the module that decisions are those of scikit-learn.
    names = {"__module__": kind.__module__}
    return type(kind.__name__, (_Remembered, kind), names)


_Logistic = _remembered(LogisticRegression)
_Boosting = _remembered(HistGradientBoostingClassifier)
_Forest = _remembered(RandomForestClassifier)
_Network = _remembered(MLPClassifier)

CLASSIFIERS = {
    "logistic regression": lambda: make_pipeline(
        StandardScaler(), _Logistic(max_iter=300)
    ),
    "network": lambda: make_pipeline(
        StandardScaler(), _Network(64, max_iter=100, random_state=0)
    ),
    "forest": lambda: _Forest(100, random_state=0),
    "boosting": lambda: _Boosting(
        max_iter=50, max_leaf_nodes=15, early_stopping=False, random_state=0
    ),
}
