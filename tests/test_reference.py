"""The API reference lists the public names, each on a page of its module."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1] / "doc" / "api").glob("*.rst"))
NEEDS_DASK = "sklearn_reject.dask"


def module_and_names(page):
    """Return the module of a page, and the names of its tables."""
    text = page.read_text(encoding="utf-8")
    module = re.search(r"^\.\. (?:current)?module:: (\S+)$", text, re.M).group(1)
    return module, re.findall(r"^   ([A-Za-z][\w.]*)$", text, re.M)


LISTED = {}
for page in PAGES:
    module, names = module_and_names(page)
    LISTED.setdefault(module, []).extend(names)


@pytest.mark.parametrize("name", sorted(LISTED.keys() - {NEEDS_DASK}))
def test_a_page_lists_the_public_names_of_its_module_once(name):
    module = import_module(name)
    submodules = {path.rpartition(".")[2] for path in LISTED} | {"exceptions"}
    public = set(module.__all__) - submodules - {"__version__"}
    public |= set(getattr(module, "_RESULTS", ()))
    assert public <= set(LISTED[name])
    assert len(set(LISTED[name])) == len(LISTED[name])
    for path in LISTED[name]:
        submodule = path.rpartition(".")[0]
        holder = import_module(f"{name}.{submodule}") if submodule else module
        assert hasattr(holder, path.rpartition(".")[2]), path


def test_every_public_module_has_a_page():
    package = import_module("sklearn_reject")
    public = (getattr(package, name) for name in package.__all__)
    modules = {value.__name__ for value in public if inspect.ismodule(value)}
    assert modules - {"sklearn_reject.exceptions"} <= LISTED.keys()
