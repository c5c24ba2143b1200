"""What is public in sklearn_reject.dask is documented as it is."""

import inspect
from collections import defaultdict

import pytest

from sklearn_reject import dask, metrics, selection, thresholds
from tests.test_public_api import documented, entries, parameters, section

FUNCTIONS = {name: getattr(dask, name) for name in dask.__all__}
METRICS = {name: f for name, f in FUNCTIONS.items() if hasattr(metrics, name)}
SOLVERS = {
    name: f for name, f in FUNCTIONS.items() if name not in (*METRICS, "pn_table")
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_documented_with_their_defaults(name):
    doc = inspect.getdoc(FUNCTIONS[name])
    described = documented(doc, "Parameters")
    assert set(described) == set(parameters(FUNCTIONS[name]))
    for parameter, spec in parameters(FUNCTIONS[name]).items():
        if spec.default is not inspect.Parameter.empty:
            stated = described[parameter].split("default=")[1].replace('"', "'")
            assert stated == repr(spec.default)
    for title in ("Returns", "Raises", "Examples"):
        assert section(doc, title), title


@pytest.mark.parametrize(
    ("functions", "different"),
    [
        # What a share of a tie group does; and with a summary alone or not.
        (METRICS, {"randomize": 2, "compute": 2}),
        (
            SOLVERS,
            # What is asked for, and with a confidence or not.
            {
                **{"target": 4, "randomize": 2, "confidence_level": 3},
                **{"losses": 2, "sample_weight": 2, "method": 2, "compute": 2},
            },
        ),
    ],
    ids=["metrics", "solvers"],
)
def test_parameters_of_one_name_have_one_text(functions, different):
    texts = defaultdict(set)
    for function in functions.values():
        described = entries(inspect.getdoc(function), "Parameters")
        for parameter, text in described.items():
            texts[parameter].add(text)
    assert len(functions) > 4
    for parameter, of_one in texts.items():
        assert len(of_one) == different.get(parameter, 1), (parameter, of_one)


def test_arguments_are_those_in_memory():
    rooms = {**vars(metrics), **vars(selection), **vars(thresholds)}
    for name in set(FUNCTIONS) - {"summarize"}:
        in_memory = parameters(rooms[name])
        own = parameters(FUNCTIONS[name])
        added = {"pn_table": set(), "risk_coverage_curve": {"max_points"}}
        added = added.get(name, {"method"}) | {"compute"}
        assert set(own) - set(in_memory) == added
        for parameter in set(own) & set(in_memory):
            # What can be chosen of all documents alone is to be given.
            if parameter != "thresholds":
                assert own[parameter].default == in_memory[parameter].default
            assert own[parameter].kind == in_memory[parameter].kind
