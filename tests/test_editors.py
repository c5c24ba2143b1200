"""What editors and type checkers know: names, signatures, attributes after fit.

jedi completes for IPython, Jupyter and vim. Pylance, which is pyright, reads the same
hints.
"""

import ast
import inspect
import os
import re
import subprocess
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args, get_origin

import jedi
import pytest

import sklearn_reject
from sklearn_reject._typing import (
    Label,
    NoveltyScoreLike,
    SetLossLike,
    TaskLossLike,
    UncertaintyScoreLike,
)
from sklearn_reject.losses import check_loss, check_set_loss
from sklearn_reject.scores import get_novelty_names, get_score_names
from tests.test_public_api import documented

PACKAGE = Path(sklearn_reject.__file__).parent
ROOT = PACKAGE.parent
SAMPLE = Path(__file__).with_name("editors_sample.py")

SETUP = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn_reject import DeferringClassifier, SelectiveClassifier
from sklearn_reject.metrics import aurc_score, make_selective_scorer
from sklearn_reject.scores import KNN
from sklearn_reject.selection import solve_target_risk

X, y = np.eye(4), np.ones(4)
selective = SelectiveClassifier(LogisticRegression(), target_risk=0.1)
"""

OF_CLASSIFIER = {"fit", "predict", "accept", "predict_label", "uncertainty"} | {
    *("predict_all", "predict_proba", "partial_fit", "retarget", "report", "score"),
    *("rule_", "classes_", "calibration_", "estimator_", "target_risk"),
}
OF_RULE = {"threshold", "coverage", "selective_risk", "certificate", "accept"} | {
    *("measure", "monitor", "to_dict", "failure_rate"),
}

SIGNATURES = [
    "DeferringClassifier",
    "SelectiveClassifier",
    "aurc_score",
    "make_selective_scorer",
    "solve_target_risk",
    "selective.accept",
    "selective.fit",
    "selective.predict_proba",
    "KNN().fit",
]


def script(line):
    """Return what jedi makes of a line after the setup, and where it ends."""
    source = SETUP + line
    lines = source.split("\n")
    editor = jedi.Script(
        source,
        project=jedi.Project(ROOT),
        environment=jedi.InterpreterEnvironment(),
    )
    return editor, (len(lines), len(lines[-1]))


def complete(line):
    editor, place = script(line)
    return {each.name for each in editor.complete(*place)}


def test_names_to_import():
    known = complete("from sklearn_reject import ")
    assert {*sklearn_reject.__all__, *sklearn_reject._RESULTS} <= known


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("selective.", OF_CLASSIFIER),
        ("selective.fit(X, y).", OF_CLASSIFIER),
        ("selective.partial_fit(X, y).retarget(target_risk=0.2).", OF_CLASSIFIER),
        ("selective.fit(X, y).rule_.", OF_RULE),
        ("selective.report(X, y).", {"promises", "to_dict"}),
        ("selective.predict_all(X).", {"label", "uncertainty", "accepted"}),
        ("solve_target_risk(X, y, 0.1).", OF_RULE),
        ("solve_target_risk(X, y, 0.1).monitor().", {"alarm", "update"}),
    ],
)
def test_completions(line, names):
    assert names <= complete(line)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["predict", "predict_proba", "accept"])
def test_predictions_are_arrays(method):
    # jedi reads all of the types of numpy for it.
    assert {"mean", "shape", "astype"} <= complete(f"selective.{method}(X).")


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_of_a_call(name):
    names = {}
    exec(SETUP + f"called = {name}", names)
    expected = inspect.signature(names["called"]).parameters
    editor, place = script(f"{name}(")
    for shown in editor.get_signatures(*place):
        given = [each.name for each in shown.params]
        assert [each for each in given if each != "self"] == [*expected]
    # A keyword is completed as well.
    keywords = {
        f"{each.name}=" for each in expected.values() if each.kind is each.KEYWORD_ONLY
    }
    assert keywords <= complete(f"{name}(")


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


def public_objects():
    rooms = [sklearn_reject, *map(import_module, ROOMS)]
    for room in rooms:
        results = sklearn_reject._RESULTS if room is sklearn_reject else ()
        for name in [*room.__all__, *results]:
            value = getattr(room, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{room.__name__}.{name}", value


ROOMS = [f"sklearn_reject.{name}" for name in sklearn_reject._SUBMODULES]
OBJECTS = dict(public_objects())


def functions_of(value):
    """Yield the function itself, or the public methods of a class that are ours."""
    if inspect.isfunction(value):
        yield inspect.unwrap(value)
        return
    for cls in value.__mro__:
        if cls.__module__.startswith("sklearn_reject."):
            for name, each in vars(cls).items():
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


@pytest.mark.parametrize("name", OBJECTS)
def test_parameters_and_results_have_types(name):
    for function in functions_of(OBJECTS[name]):
        signature = inspect.signature(function)
        first, *_ = [*signature.parameters, ""]
        bare = [
            each.name
            for each in signature.parameters.values()
            if each.annotation is each.empty
            and not (each.name == first and first in ("self", "cls"))
        ]
        assert not bare, f"{function.__qualname__}: {bare}"
        assert signature.return_annotation is not signature.empty, function.__qualname__


def test_types_can_be_read_at_run_time():
    for value in OBJECTS.values():
        for function in functions_of(value):
            hints = inspect.get_annotations(function, eval_str=True)
            assert "return" in hints, function.__qualname__


def test_parameters_that_default_to_none_may_be_none():
    for value in OBJECTS.values():
        for function in functions_of(value):
            for each in inspect.signature(function).parameters.values():
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
    assert literals(UncertaintyScoreLike) <= {"auto", *get_score_names()}
    assert literals(NoveltyScoreLike) <= set(get_novelty_names())
    for hint, check in ((TaskLossLike, check_loss), (SetLossLike, check_set_loss)):
        with pytest.raises(ValueError, match="must be one of") as caught:
            check("no_such_loss")
        names = set(re.findall(r"'(\w+)'", str(caught.value)))
        assert literals(hint) <= names


@pytest.mark.parametrize("name", OBJECTS)
def test_options_of_strings_are_those_that_are_documented(name):
    for function in functions_of(OBJECTS[name]):
        is_of_class = function.__name__ == "__init__"
        doc = inspect.getdoc(OBJECTS[name] if is_of_class else function)
        hints = inspect.get_annotations(function, eval_str=True)
        for parameter, kind in documented(doc or "", "Parameters").items():
            if hints.get(parameter) is None or hints[parameter] == Label:
                continue
            said = set(re.findall(r'"([^"]*)"', re.sub("default=.*", "", kind)))
            listed = literals(hints[parameter])
            # What is documented elsewhere has no list of its own.
            is_short = parameter in ("kind", "loss", "uncertainty_score", "gain_score")
            agree = said <= listed if is_short else said == listed
            assert agree, f"{function.__qualname__}({parameter}): {said ^ listed}"


def load_sample():
    names = {"__name__": SAMPLE.stem}
    exec(compile(SAMPLE.read_text(), SAMPLE, "exec"), names)
    return names


def test_sample_runs():
    names = load_sample()
    for each in names.values():
        if inspect.isfunction(each) and each.__module__ == SAMPLE.stem:
            each()
    assert names["FirstFeature"]().name == "first_feature"


@pytest.mark.slow
def test_sample_has_the_types_that_it_says(tmp_path):
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports"]
    command += ["--warn-unused-ignores", "--follow-imports=silent"]
    result = subprocess.run(
        [*command, "--cache-dir", tmp_path, SAMPLE],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        cwd=tmp_path,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
