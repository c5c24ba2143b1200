"""`make compare` makes calls that exist, and finds what differs."""

import ast
import builtins
import runpy
from pathlib import Path

import numpy as np
import pytest

import sklearn_reject

FOLDER = Path(__file__).parents[1] / "build_tools" / "compare_commits"


@pytest.fixture
def record(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("PYTHONPATH", str(Path(sklearn_reject.__file__).parents[1]))
    return runpy.run_path(str(FOLDER / "record.py"))


def test_calls_name_what_is_public(record):
    known = {"d", "r", *dir(builtins), *record["names_of_package"]()}
    for family, _, firsts, steps in record["read_calls"]():
        for expression in [*firsts, *steps]:
            nodes = list(ast.walk(ast.parse(expression, mode="eval")))
            names = [node for node in nodes if isinstance(node, ast.Name)]
            bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
            bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
            unknown = {node.id for node in names} - known - bound
            assert not unknown, (family, expression)


def test_calls_are_made_with_the_names_that_a_function_knows(record):
    def before(losses, confidence):
        return losses, confidence

    before.__module__ = "sklearn_reject.selection"
    call = record["call"]
    assert call(before, 1, confidence_level=0.9) == (1, 0.9)
    with pytest.raises(record["Absent"], match=r"before\(bound=\)"):
        call(before, 1, bound="betting")


def test_one_bit_and_one_word_are_found(record):
    compare = runpy.run_path(str(FOLDER / "__main__.py"))["compare"]
    names = {"d": np.array([0.1, 0.2]), "f": sklearn_reject.selection.keyed_draws}
    names |= {"call_": record["call"], "get_": record["get"]}

    def made(*expressions):
        return {
            f"draws | {place}": record["evaluate"](text, names)[1:]
            for place, text in enumerate(expressions)
        }

    base = made("f(1, [2])", "d + 1", "f(-1, [2])")
    assert not compare(base, made("f(1, [2])", "d + 1", "f(-1, [2])"))
    here = made("f(1, [3])", "d + 1.0000000000000002", "f(-2, [2])", "f(k=1)")
    kinds = compare(base, here)
    ((first, second),) = (found for (_, where, _), found in kinds.items() if not where)
    assert first.size > 1e-3 > 1e-15 > second.size > 0
    assert {where for _, where, _ in kinds} == {"", "raises", "absent"}
