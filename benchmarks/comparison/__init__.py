"""What the comparison page of the documentation shows beside other packages.

Each module measures one package: it has its `PACKAGE`, as installed, and `measure`,
which yields what was measured, the result there and the result here.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Measured(NamedTuple):
    """One line of a table, as it is shown."""

    what: str
    theirs: str
    ours: str


def version_of(package):
    """Return the version of a package, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def split_digits(seed):
    """Return half of the digits to fit and half to test: X, X_test, y, y_test."""
    digits = load_digits(return_X_y=True)
    return train_test_split(*digits, test_size=0.5, random_state=seed)
