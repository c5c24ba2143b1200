"""Imports point down: no room sees a floor above its own, nor a neighbor."""

import ast
import re
from functools import cache
from pathlib import Path

import sklearn_reject

ROOT = Path(sklearn_reject.__file__).parent
PACKAGE = ROOT.name

FLOORS = [
    {"_short_repr", "_typing"},
    {"exceptions", "_as_dict", "_interval", "_sklearn", "_travel", "_trusted_types"}
    | {"_validation"},
    {"_labels", "_curves", "losses"},
    {"decoding", "selection", "thresholds"},
    {"_response"},
    {"scores"},
    {"_fitting"},
    {"_estimators"},
    {"datasets", "metrics"},
    {"dask"},
]
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

# They never see an estimator: each function is tested on arrays.
ARRAYS_ONLY = {"_curves", "decoding", "losses", "selection", "thresholds"}
OF_ESTIMATORS = (
    "sklearn.base",
    "sklearn.frozen",
    "sklearn.pipeline",
    "sklearn.metrics",
)

FILES = sorted(ROOT.rglob("*.py"))
HERE = Path(__file__).parent
TESTS = sorted(HERE.rglob("*.py"))


def room_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def parsed(path):
    return ast.parse(path.read_text())


def without_editors_imports(tree):
    """Return the module without what it imports for editors and type checkers."""
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return ast.Module(body, type_ignores=[])


@cache
def imported_modules(path):
    return list(imports_of(path))


def imports_of(path):
    tree = parsed(path)
    if path == ROOT / "__init__.py":
        tree = without_editors_imports(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            # `from package import room` names the room after the import.
            is_top = node.module == PACKAGE
            names = [f"{PACKAGE}.{alias.name}" for alias in node.names]
            yield from names if is_top else [node.module]


def imported_rooms(path):
    for module in imported_modules(path):
        parts = module.split(".")
        if parts[0] == PACKAGE and len(parts) > 1:
            yield parts[1]


def may_import(room, other):
    return room == other or FLOOR_OF[other] < FLOOR_OF[room]


def check_imports(path):
    """Check that a file imports from lower rooms, and from their doors."""
    room = room_of(path)
    if room == "__init__":
        assert not set(imported_rooms(path)), "the package loads its rooms on first use"
        return
    assert room in FLOOR_OF, f"{room} has no floor: give it one"
    for other in imported_rooms(path):
        assert may_import(room, other), f"{path} imports {other} from above or beside"
    for module in imported_modules(path):
        assert not is_of_another_room(path, module), (
            f"{path} imports {module}: import it from the folder, which may import "
            "names that are not in its __all__ for other rooms"
        )
        if room in ARRAYS_ONLY:
            assert not module.startswith(OF_ESTIMATORS), f"{path} imports {module}"


def test_imports_point_down_to_the_doors_of_rooms():
    for path in FILES:
        check_imports(path)


def test_underscored_names_of_scikit_learn_have_one_place():
    for path in FILES:
        if room_of(path) == "_sklearn":
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("sklearn."):
                private = [alias.name for alias in node.names if alias.name[0] == "_"]
                assert not private, f"{path} imports {private} from {node.module}"
                assert "._" not in node.module, f"{path} imports {node.module}"


def is_of_another_room(path, module):
    """Tell whether a module is a private file of a public folder of others."""
    *folder, name = module.split(".")
    if folder[:1] != [PACKAGE] or len(folder) == 1 or not name.startswith("_"):
        return False
    if folder[1].startswith("_"):  # a private folder needs no list of its names
        return False
    return not path.is_relative_to(ROOT.joinpath(*folder[1:]))


# These have no public door, so that tests import them: checks, names of scikit-learn,
# prefix sums, keys of rows, and p-values.
TESTED_INSIDE = {"_validation", "_sklearn", "_curves", "_response", "_bounds"}


def test_tests_speak_to_public_functions():
    for path in TESTS:
        text = path.read_text()
        for line in re.findall(rf"^\s*(?:from|import) ({PACKAGE}\b.*)$", text, re.M):
            private = re.findall(r"\b_(?!_)\w+", line)
            assert {*private[:1]} <= TESTED_INSIDE, f"{path} imports {line}"


def test_few_classes_of_ours_are_above_an_estimator():
    for name in sklearn_reject.__all__:
        if name[0].isupper() and "Error" not in name:
            above = getattr(sklearn_reject, name).__mro__[1:]
            rooms = {base: base.__module__.split(".") for base in above}
            # What stands in for a class that an old scikit-learn lacks is not ours.
            ours = [
                b for b, m in rooms.items() if m[0] == PACKAGE and m[1] != "_sklearn"
            ]
            assert len(ours) <= 6, ours
