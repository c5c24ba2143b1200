"""Link the names of the reference to their lines on GitHub."""

import inspect
from functools import reduce
from importlib import import_module
from pathlib import Path

import sklearn_reject

PACKAGE = Path(sklearn_reject.__file__).parent
IS_RELEASE = "dev" not in sklearn_reject.__version__
TREE = f"v{sklearn_reject.__version__}" if IS_RELEASE else "main"
URL = f"https://github.com/sklearn-reject/sklearn-reject/blob/{TREE}/sklearn_reject"


def linkcode_resolve(domain, info):
    """Return the address of a class, a function or a method, None of other things."""
    if domain != "py" or not info["module"]:
        return None
    try:
        value = reduce(
            getattr, info["fullname"].split("."), import_module(info["module"])
        )
        value = inspect.unwrap(value)
        file = Path(inspect.getsourcefile(value)).relative_to(PACKAGE).as_posix()
        lines, first = inspect.getsourcelines(value)
    except (AttributeError, ImportError, TypeError, ValueError):
        return None
    return f"{URL}/{file}#L{first}-L{first + len(lines) - 1}"
