"""What editors and type checkers know: names, and the types of signatures."""

import ast
import inspect
import re
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

import sklearn_reject
from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.losses import check_loss, check_set_loss
from sklearn_reject.scores import get_score_names
from tests.test_public_api import CALLABLES, documented

PACKAGE = Path(sklearn_reject.__file__).parent


def test_names_for_type_checkers_are_those_that_are_there():
    """What stands under TYPE_CHECKING comes from where `__getattr__` finds it."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("sklearn_reject")
        for alias in node.names
    }
    rooms = dict.fromkeys(sklearn_reject._SUBMODULES, "sklearn_reject")
    homes = {**sklearn_reject._HOMES, **sklearn_reject._RESULTS}
    assert seen == rooms | homes
    public = {"__version__", *sklearn_reject._SUBMODULES, *sklearn_reject._HOMES}
    assert set(sklearn_reject.__all__) == public
    assert len(sklearn_reject.__all__) == len(public)


def test_marked_as_typed():
    assert (PACKAGE / "py.typed").read_text() == ""


def functions_of(value):
    """Yield the function itself, or the public methods of a class that are ours."""
    if inspect.isfunction(value):
        yield inspect.unwrap(value)
        return
    for cls in value.__mro__:
        if cls.__module__.startswith("sklearn_reject."):
            for name, each in vars(cls).items():
                if name in ("learn", "compute") and hasattr(cls.__base__, name):
                    continue  # the base class says what they get
                if name in ("__init__", "__call__") or not name.startswith("_"):
                    yield from plain_functions(each)


def plain_functions(value):
    """Yield the function that is behind a descriptor, if it is written here."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func
    else:
        value = getattr(value, "__func__", getattr(value, "fn", value))
    if inspect.isfunction(value):
        value = inspect.unwrap(value)
        if value.__code__.co_filename.startswith(str(PACKAGE)):
            yield value


def test_parameters_and_results_have_types():
    for function in chain.from_iterable(map(functions_of, CALLABLES.values())):
        signature = inspect.signature(function)
        first, *_ = [*signature.parameters, ""]
        bare = [
            each.name
            for each in signature.parameters.values()
            if each.annotation is each.empty
            and not (each.name == first and first in ("self", "cls"))
        ]
        assert not bare, f"{function.__qualname__}: {bare}"
        hints = inspect.get_annotations(function, eval_str=True)
        assert "return" in hints, function.__qualname__
        for each in signature.parameters.values():
            if each.default is None:
                hint = str(each.annotation)
                takes_none = "None" in hint or hint in ("Any", "Label")
                assert takes_none, f"{function.__qualname__}({each.name})"


def literals(hint):
    """Return the strings that a hint lists."""
    if get_origin(hint) is Literal:
        return {each for each in get_args(hint) if isinstance(each, str)}
    return set().union(*map(literals, get_args(hint)))


def test_names_of_scores_and_losses():
    """Other names may be registered, by other tests, too."""
    hints = inspect.get_annotations(DoubleScoreOODClassifier.__init__, eval_str=True)
    assert literals(hints["uncertainty_score"]) <= {"auto", *get_score_names()}
    assert literals(hints["novelty_score"]) <= set(get_score_names("novelty"))
    for check in (check_loss, check_set_loss):
        (hint, *_) = inspect.get_annotations(check, eval_str=True).values()
        with pytest.raises(ValueError, match="must be one of") as caught:
            check("no_such_loss")
        names = set(re.findall(r"'(\w+)'", str(caught.value)))
        assert literals(hint) <= names


def check_options(value):
    """Check that hints list the strings that are documented."""
    for function in functions_of(value):
        is_of_class = function.__name__ == "__init__"
        doc = inspect.getdoc(value if is_of_class else function)
        hints = inspect.get_annotations(function, eval_str=True)
        for parameter, kind in documented(doc or "", "Parameters").items():
            if hints.get(parameter) is None or parameter.endswith("_label"):
                continue
            said = set(re.findall(r'"([^"]*)"', re.sub("default=.*", "", kind)))
            listed = literals(hints[parameter])
            # What is documented elsewhere has no list of its own.
            is_short = parameter in ("kind", "loss", "uncertainty_score", "gain_score")
            agree = said <= listed if is_short else said == listed
            assert agree, f"{function.__qualname__}({parameter}): {said ^ listed}"


def test_options_of_strings_are_those_that_are_documented():
    for value in CALLABLES.values():
        check_options(value)
