"""The names of this package's classes, for readers of files that ask what to trust."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

_PACKAGE = __name__.partition(".")[0]

# Needs packages that are optional, and makes nothing that is kept in files.
_LEFT_OUT = f"{_PACKAGE}.dask"


def trusted_types() -> list[str]:
    """Return the names of all classes that this package defines.

    `skops.io.load` builds objects of trusted types only. Its argument `trusted` takes
    this list, and everything that this package keeps in a fitted estimator can be
    loaded. The list holds classes alone: no functions, and nothing that is imported
    from elsewhere, so that a file from others cannot reach more than these classes.

    Returns
    -------
    names : list of str
        Full names in alphabetical order. They are those of the installed version:
        call the function rather than keep its result.

    See Also
    --------
    sklearn_reject.selection.RejectionRule.to_dict : A rule as JSON.

    Examples
    --------
    >>> from sklearn_reject import SelectiveClassifier, trusted_types
    >>> names = trusted_types()
    >>> f"{SelectiveClassifier.__module__}.SelectiveClassifier" in names
    True
    """
    return sorted(
        f"{module.__name__}.{name}"
        for module in _walk_modules()
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    )


def _walk_modules(package=_PACKAGE):
    module = import_module(package)
    yield module
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        name = f"{package}.{found.name}"
        if name != _LEFT_OUT:
            yield from _walk_modules(name)
