"""The sets of FPV23, table 2, with as many features and classes as the paper has.

They are read from the folder that SKLEARN_REJECT_DATA names; a set that is not there
comes from OpenML, where OpenML has the same one.
"""

import os
from collections import namedtuple
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml

from benchmarks.papers._bins import bin_uniformly
from benchmarks.papers._fpv23_published import SIZES, TABLES

# `share` is that of the paper's samples which are here.
Dataset = namedtuple("Dataset", "X y share")

_ORDINAL = frozenset(TABLES["4"])

# Sets of the same samples; their columns may have other names.
_OPENML_IDS = {
    "abalone": 183,
    "bank": 558,
    "california": 537,
    "covtype": 1596,
    "cpu": 197,
    "letter": 6,
    "marketing": 1461,
    "pendigit": 32,
    "phishing": 4534,
    "sattelite": 182,
    "shuttle": 40685,
}

# Numbers that name a category.
_CODED = {"abalone": ("x0",)}

# The paper has 11 features, one less than there are without the dates and the parts of
# the target. Without the year, of all that one could leave out, the error of the
# classifier is the paper's.
_UNUSED = {"bikeshare": frozenset({"instant", "dteday", "casual", "registered", "yr"})}


class MissingDatasetError(LookupError):
    """The set is neither in the folder nor to be had from OpenML."""


@lru_cache(maxsize=2)
def load(name):
    """Return a set of the paper, features as float64 and labels as integers."""
    columns, target = _read(name)
    X = np.column_stack([*_encode(name, columns)])
    expected = SIZES[name]
    if X.shape[1] != expected.n_features:
        raise ValueError(
            f"{name} has {X.shape[1]} features, but {expected.n_features} in the "
            "paper: this is another set, or another version of it."
        )
    y = _labels(name, target, expected.n_classes)
    return Dataset(X, y, len(y) / expected.n_samples)


def _labels(name, target, n_classes):
    if name in _ORDINAL:
        return bin_uniformly(target.astype(np.float64), n_classes)
    return np.unique(target, return_inverse=True)[1]


# Reading


def _read(name):
    """Return the columns, a dict of arrays of strings, and the target."""
    folder = os.environ.get("SKLEARN_REJECT_DATA")
    for file in (f"{name}.csv.gz", f"{name}_subset.csv.gz"):
        if folder and Path(folder, file).exists():
            return _read_file(Path(folder, file))
    return _fetch(name)


def _fetch(name):
    if name not in _OPENML_IDS:
        raise MissingDatasetError(
            f"{name} is neither in the folder of data nor on OpenML."
        )
    try:
        X, y = fetch_openml(data_id=_OPENML_IDS[name], return_X_y=True, as_frame=True)
    except (ImportError, OSError) as error:
        raise MissingDatasetError(f"{name} cannot be fetched: {error}") from error
    return {column: X[column].to_numpy(dtype=str) for column in X}, y.to_numpy(str)


def _read_file(path):
    table = np.loadtxt(path, dtype=str, delimiter=",", comments=None)
    columns = dict(zip(table[0], table[1:].T, strict=True))
    return columns, columns.pop("target")


# Encoding


def _encode(name, columns):
    """Yield arrays of numbers, of one feature or, for a category, of several."""
    if name == "metro":
        columns = _without_dates(columns)
    for column, values in columns.items():
        if column in _UNUSED.get(name, ()):
            continue
        if name == "phishing" or column in _CODED.get(name, ()):
            yield _one_hot(values)
        else:
            yield _numbers_or_one_hot(values)


def _numbers_or_one_hot(values):
    try:
        return values.astype(np.float64)
    except ValueError:
        return _one_hot(values)


def _one_hot(values):
    return (values[:, np.newaxis] == np.unique(values)).astype(np.float64)


def _without_dates(columns):
    """Return what of the traffic data makes the paper's number of features, 30.

    The paper does not say what it did with the dates and the long descriptions of the
    weather. Of several encodings with 30 features, this one comes closest to its error
    and to its areas.
    """
    kept = ("temp", "rain_1h", "snow_1h", "clouds_all", "weather_main", "holiday")
    dates = [datetime.fromisoformat(text) for text in columns["date_time"].tolist()]
    return {column: columns[column] for column in kept} | {
        "hour": np.array([date.hour for date in dates]),
        "weekday": np.array([date.weekday() for date in dates]),
        "month": np.array([date.month for date in dates]),
    }
