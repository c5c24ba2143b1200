"""Real sets of any origin as numbers, for benchmarks that go through many of them."""

import os
from functools import cache
from pathlib import Path

import numpy as np
from sklearn import datasets

from benchmarks.papers._rzmr20_data import encode

BUNDLED = {
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wdbc": datasets.load_breast_cancer,
    "wine": datasets.load_wine,
}
FROM_FOLDER = (
    *("avila", "bank_additional", "breast_cancer", "codrna", "ijcnn", "image"),
    *("letter", "mammography", "marketing", "pendigit", "phishing", "sattelite"),
    *("shuttle", "spambase", "webpage"),
)

# Of large sets so many rows, drawn at random.
_MOST_ROWS = 20_000

# Numbers that name a category.
_CODED = frozenset({"phishing"})


def available_sets():
    """Return the names of the sets that are there."""
    return [name for name in (*FROM_FOLDER, *BUNDLED) if is_there(name)]


def missing_sets():
    """Return the names of the sets that are not there."""
    return sorted({*FROM_FOLDER, *BUNDLED} - set(available_sets()))


def is_there(name):
    """Tell whether a set of any name can be loaded."""
    folder = os.environ.get("SKLEARN_REJECT_DATA")
    return name in BUNDLED or bool(folder and _path(folder, name).exists())


@cache
def load_set(name):
    """Return features as float64, categories one-hot, and labels as integers.

    Rows come in random order. Classes of fewer than ten rows are left out.
    """
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        rows = _draw_rows(len(y))
        return X[rows], y[rows]
    table = np.loadtxt(
        _path(os.environ["SKLEARN_REJECT_DATA"], name),
        dtype=str,
        delimiter=",",
        comments=None,
    )
    # The first row names the columns.
    columns, table = table[0, :-1].tolist(), table[1 + _draw_rows(len(table) - 1)]
    if name in _CODED:
        parts = [column[:, np.newaxis] == np.unique(column) for column in table.T[:-1]]
    else:
        parts = map(encode, columns, table.T[:-1])
    X, y = np.hstack([*parts]).astype(np.float64), table[:, -1]
    _, y, counts = np.unique(y, return_inverse=True, return_counts=True)
    is_common = counts[y] >= 10
    return X[is_common], np.unique(y[is_common], return_inverse=True)[1]


@cache
def load_multilabel_set(name):
    """Return features and indicators of several labels, or None if it is not there.

    Labels of fewer than ten positives are left out.
    """
    if not is_there(name):
        return None
    path = _path(os.environ["SKLEARN_REJECT_DATA"], name)
    table = np.loadtxt(path, dtype=str, delimiter=",", comments=None)
    columns, table = table[0], table[1 + _draw_rows(len(table) - 1)].astype(np.float64)
    is_label = np.char.startswith(columns, "label:")
    X, y = table[:, ~is_label], table[:, is_label].astype(np.int64)
    return X, y[:, y.sum(axis=0) >= 10]


def _draw_rows(n_rows):
    return np.random.default_rng(0).permutation(n_rows)[:_MOST_ROWS]


def _path(folder, name):
    return Path(folder, f"{name}.csv.gz")
