"""What a bug report should say of the machine and of what is installed."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count

from sklearn import get_config
from threadpoolctl import threadpool_info

_PACKAGES = (
    *("sklearn-reject", "numpy", "scipy", "joblib", "scikit-learn"),
    *("matplotlib", "pandas", "polars", "rich", "dask", "ray", "skops"),
)


def show_versions() -> None:
    """Print the versions of Python, of this package and of what it works with.

    Copy the output into a bug report.

    Returns
    -------
    None
        The text is printed.

    Examples
    --------
    >>> from sklearn_reject import show_versions
    >>> show_versions()
    python: 3...
    sklearn-reject: ...
    """
    print(f"python: {sys.version.split()[0]}")
    print(f"machine: {platform.platform()}, {cpu_count()} processors")
    for name in _PACKAGES:
        print(f"{name}: {_installed(name)}")
    print("\nLinear algebra and threads:")
    for library in threadpool_info():
        print(f"  {_describe(library)}")
    print("\nConfiguration of scikit-learn:")
    for name, value in get_config().items():
        print(f"  {name}: {value}")


def _installed(name):
    """Return the version of a distribution, or that there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _describe(library):
    """Return a line about one library that computes with threads."""
    parts = ("internal_api", "version", "architecture", "threading_layer")
    known = [str(library[part]) for part in parts if library.get(part)]
    return f"{' '.join(known)}, {library['num_threads']} threads"
