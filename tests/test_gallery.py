"""Scripts of the gallery: few, short, with public imports, in sections with a title."""

import ast
import importlib
from pathlib import Path

import pytest

PACKAGE = "sklearn_reject"
EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*/plot_*.py"))
SECTIONS = sorted({script.parent for script in SCRIPTS})
# A newcomer reads a script of the basics as a whole.
LONGEST, LONGEST_OF_BASICS = 140, 90
# All are built with the documentation, in a minute.
MOST = 18


def imported_names(script):
    """Yield modules of the package and the names that a script imports."""
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith(
            "sklearn_reject"
        ):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_imports_are_public_and_scripts_are_short(script):
    names = list(imported_names(script))
    assert names
    for module, name in names:
        assert name in importlib.import_module(module).__all__
    longest = LONGEST_OF_BASICS if script.parent.name == "basics" else LONGEST
    assert len(script.read_text().splitlines()) <= longest


@pytest.mark.parametrize("section", SECTIONS, ids=lambda path: path.name)
def test_sections_have_a_title(section):
    title, underline, *_ = (section / "README.txt").read_text().splitlines()
    assert underline == "-" * len(title)


def test_scripts_are_few_and_in_sections():
    assert len(SCRIPTS) <= MOST
    assert not list(EXAMPLES.glob("plot_*.py"))
