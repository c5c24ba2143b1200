"""Write sklearn.txt: where the documentation of scikit-learn has the names we refer to.

Builds of the documentation have no network, so that intersphinx reads the files of this
folder. They are inventories of sphinx in its first version, which is plain text: a line
has a name, its kind, and its page. All but sklearn.txt are written by hand. Run
this after a name of scikit-learn is new in a text or in an example::

    python doc/inventories/make.py
"""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADER = """# Sphinx inventory version 1
# Project: scikit-learn
# Version: stable
"""
# In a role, or at the start of an entry of "See Also".
ROLE = r":(?:class|func|meth|exc):`[^`]*?\b(sklearn\.[\w.]+)>?`"
ENTRY = r"^ *(sklearn\.[\w.]+) : "
NAME = re.compile(f"{ROLE}|{ENTRY}", re.M)


def read(*patterns):
    """Yield the texts of the files of these patterns."""
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            yield path.read_text(encoding="utf-8")


def referred():
    """Yield the names that texts refer to."""
    patterns = "doc/*.rst", "doc/*/*.rst", "sklearn_reject/**/*.py", "examples/**/*.py"
    for text in read(*patterns):
        yield from (role or entry for role, entry in NAME.findall(text))


def imported():
    """Yield the names that examples import: their code is linked."""
    for text in read("examples/**/*.py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("sklearn."):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def line(name):
    """Return the line of a name, or fail where scikit-learn has no such name."""
    module, _, last = name.rpartition(".")
    try:
        value = getattr(import_module(module), last)
    except ImportError:  # a method
        module, _, owner = module.rpartition(".")
        value = getattr(getattr(import_module(module), owner), last)
        return f"{name} method modules/generated/{module}.{owner}.html"
    kind = "class" if inspect.isclass(value) else "function"
    return f"{name} {kind} modules/generated/{name}.html"


if __name__ == "__main__":
    lines = sorted(line(name) for name in {*referred(), *imported()})
    path = Path(__file__).parent / "sklearn.txt"
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
