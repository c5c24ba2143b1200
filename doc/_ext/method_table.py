"""List the methods of a class after its summary, before its parameters."""

import inspect
from collections import namedtuple

# The fields of named tuples, which docstrings describe as attributes already.
FIELD = type(namedtuple("Named", "field").field)


def _is_method(cls, name):
    value = inspect.getattr_static(cls, name)
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    elif not inspect.isroutine(value) and hasattr(value, "fn"):  # available_if
        value = value.fn
    module = getattr(value, "__module__", None) or ""
    return inspect.isroutine(value) and module.startswith("sklearn_reject")


def _methods(cls):
    return [name for name in dir(cls) if name[0] != "_" and _is_method(cls, name)]


def _table(cls, names):
    return [
        ".. rubric:: Methods",
        "",
        ".. autosummary::",
        "   :nosignatures:",
        "",
        *[f"   ~{cls}.{name}" for name in names],
        "",
    ]


def _insert(app, what, name, obj, options, lines):
    names = _methods(obj) if what == "class" else []
    first = next((i for i, line in enumerate(lines) if line.startswith(":")), None)
    if names and first is not None:
        lines[first:first] = _table(name.rpartition(".")[2], names)


def _skip(app, what, name, obj, skip, options):
    return True if isinstance(obj, FIELD) else None


def setup(app):
    """Insert the table once numpydoc has made a docstring reStructuredText."""
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _insert, priority=900)
    return {"parallel_read_safe": True}
