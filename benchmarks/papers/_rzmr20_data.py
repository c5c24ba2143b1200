"""The sets for the protocol of RZMR20, and the features that each classifier sees.

They are read from the folder that SKLEARN_REJECT_DATA names. Categories become one-hot
columns, days and months points on a circle, as in the paper; a quarter of the samples
is held out, and what is left says how to scale and to rotate all of them. The paper
rotates before it splits, by which the held-out part has a say.
"""

import os
from collections import namedtuple
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.papers._datasets import MissingDatasetError

# Features of the two classifiers, a tuple of two arrays a part, and labels as bool.
Split = namedtuple("Split", "X_train y_train X_test y_test")

# The label of the positives. Sets that take long come first, so that no process is
# left alone with them.
POSITIVE = {
    "webpage": "1",
    "ijcnn": "1",
    "marketing": "yes",
    "bank_additional": "yes",
    "mammography": "'1'",
}
SETS = tuple(POSITIVE)

HELD_OUT = 0.25
SHARED = 0.2

# Components of less variance are rounding errors, of columns that depend on others.
_LEAST_VARIANCE = 1e-10

_CYCLES = {
    "month": [
        *("jan", "feb", "mar", "apr", "may", "jun"),
        *("jul", "aug", "sep", "oct", "nov", "dec"),
    ],
    "day_of_week": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    "day": [str(day) for day in range(1, 32)],
}


def missing_file(name):
    """Return the name of the file of a set if it is not there, else None."""
    path = _path(name)
    return None if path.exists() else path.name


def load(name, seed):
    """Return the `Split` of a set.

    Parameters
    ----------
    name : str
        One of `SETS`.

    seed : int
        Says which samples are held out.
    """
    if missing_file(name):
        raise MissingDatasetError(
            f"{missing_file(name)} is not in the folder that SKLEARN_REJECT_DATA names "
            f"({os.environ.get('SKLEARN_REJECT_DATA') or 'which is not set'})."
        )
    return split_views(*_read(name), seed)


def split_views(X, y, seed):
    """Return the `Split` of features and labels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers.

    y : ndarray of shape (n_samples,), dtype bool
        Labels.

    seed : int
        Says which samples are held out.
    """
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=HELD_OUT, stratify=y, random_state=seed
    )
    rotate = make_pipeline(StandardScaler(), PCA(svd_solver="full")).fit(X_train)
    columns = share_components(_count_components(rotate[-1]))
    Z_train, Z_test = rotate.transform(X_train), rotate.transform(X_test)
    return Split(
        tuple(Z_train[:, of] for of in columns),
        y_train,
        tuple(Z_test[:, of] for of in columns),
        y_test,
    )


def _count_components(pca):
    return int((pca.explained_variance_ratio_ > _LEAST_VARIANCE).sum())


def share_components(n_components):
    """Return the components of the first and of the second classifier.

    Both see the first fifth, rounded, but at least one. Of the others, counted from
    one, the first sees the even ones and the second the odd ones.
    """
    n_shared = max(1, round(SHARED * n_components))
    numbers = np.arange(1, n_components + 1)
    is_shared = numbers <= n_shared
    return tuple(
        np.flatnonzero(is_shared | (numbers % 2 == rest)).tolist() for rest in (0, 1)
    )


# Reading


def _path(name):
    # Without a folder, a path that does not exist.
    folder = os.environ.get("SKLEARN_REJECT_DATA") or "no-such-folder"
    return Path(folder, f"{name}.csv.gz")


def _read(name):
    table = np.loadtxt(_path(name), dtype=str, delimiter=",", comments=None)
    columns = zip(table[0, :-1].tolist(), table[1:, :-1].T, strict=True)
    X = np.column_stack([encode(column, values) for column, values in columns])
    return X, table[1:, -1] == POSITIVE[name]


def encode(column, values):
    """Return numbers, a feature a column, for strings that are the values of one."""
    if column in _CYCLES:
        return _on_a_circle(values, _CYCLES[column])
    try:
        return values.astype(np.float64)[:, np.newaxis]
    except ValueError:
        return (values[:, np.newaxis] == np.unique(values)).astype(np.float64)


def _on_a_circle(values, cycle):
    places = [cycle.index(value) for value in values.tolist()]
    angles = 2 * np.pi * np.array(places) / len(cycle)
    return np.column_stack([np.cos(angles), np.sin(angles)])
