"""Make the calls of `calls.txt` with the package that is first on PYTHONPATH.

They are written with the names of today. Where the package does not know one yet, the
name of before is used, and results are recorded under that name.
"""

import ast
import dataclasses
import importlib
import inspect
import itertools
import json
import os
import pickle
import re
import sys
import time
import warnings
from pathlib import Path
from zlib import crc32

import numpy as np
from data import FOLDER, draw
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

# Parameters, attributes and keys: the name of today, and the one before.
RENAMED = {"confidence_level": "confidence", "inclusion_proba": "propensity"}
# And a parameter where another one is given: that one, the name of today, and before.
RENAMED_BESIDE = "min_precision", "min_tpr", "min_recall"

# What expressions may name beside the public names of the package.
NAMES = {
    "Forest": IsolationForest,
    "Frozen": FrozenEstimator,
    "Linear": LinearRegression,
    "Logistic": LogisticRegression,
    "Naive": GaussianNB,
    "Near": KNeighborsRegressor,
    "SVC": LinearSVC,
    "Tree": DecisionTreeClassifier,
    "cross_val_score": cross_val_score,
    "f1_score": f1_score,
    "np": np,
}
ROOMS = ("decoding", "losses", "metrics", "scores", "selection", "thresholds")


class Absent(Exception):
    """The package lacks a function, a parameter or an attribute."""


def main(path, only, shard, n_shards):
    """Write the records of one shard to a file: name -> (parts, seconds)."""
    records = {}
    names = names_of_package()
    for family, kinds, firsts, steps in read_calls():
        kinds = [kind for kind in kinds if kind != "real" or FOLDER]
        for kind, first in itertools.product(kinds, firsts):
            name = f"{family} | {kind} | {first}"
            seed = crc32(name.encode())
            if re.search(only, name) and seed % int(n_shards) == int(shard):
                names["d"] = draw(kind, np.random.default_rng(seed))
                records |= record_calls(name, first, steps, names)
    Path(path).write_bytes(pickle.dumps(records))


def record_calls(name, first, steps, names):
    """Return the records of an expression and of those about its result."""
    result, parts, seconds = evaluate(first, names)
    records = {name: (parts, seconds)}
    if "raises" not in parts and "absent" not in parts:
        for step in steps:
            records[f"{name} | {step}"] = evaluate(step, names | {"r": result})[1:]
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return records


def names_of_package():
    """Return what expressions may name."""
    package = importlib.import_module("sklearn_reject")
    if not Path(package.__file__).is_relative_to(os.environ["PYTHONPATH"]):
        sys.exit(f"The package was imported from {package.__file__}.")
    names = NAMES | {"call_": call, "get_": get, "again": again}
    for module in (package, *(getattr(package, room) for room in ROOMS)):
        names |= {name: getattr(module, name) for name in module.__all__}
    return names


def read_calls():
    """Return lists of (family, kinds of data, first expressions, those about each)."""
    families, words = [], {}
    text = Path(__file__).with_name("calls.txt").read_text(encoding="utf-8")
    for line in re.sub(r"\n +", " ", text).splitlines():
        line = re.sub(r"\b[A-Z_]+\b", lambda m: words.get(m[0], m[0]), line)
        if match := re.fullmatch(r"([A-Z_]+) = (.+)", line):
            words[match[1]] = match[2]
        elif match := re.fullmatch(r"\[(.+)\] (.+)", line):
            families.append((match[1], match[2].split(), [], []))
        elif line and not line.startswith("#"):
            families[-1][2 + line.startswith("> ")].extend(expand(line.lstrip("> ")))
    return families


def expand(line):
    """Return the expressions that a line with alternatives stands for."""
    parts = re.split(r"<([^<>]*\|[^<>]*)>", line)
    parts = [
        re.split(r" *\| *", part) if k % 2 else [part] for k, part in enumerate(parts)
    ]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def evaluate(text, names):
    """Return the value of an expression, the parts recorded of it, and the seconds."""
    tree = ast.fix_missing_locations(Translate().visit(ast.parse(text, mode="eval")))
    value, parts = None, {}
    np.random.seed(0)  # noqa: NPY002, what is given no random_state draws from it
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        try:
            value = eval(compile(tree, text, "eval"), names)
        except (Absent, NameError) as absent:
            parts["absent"] = str(absent)
        except Exception as error:
            parts["raises"] = f"{type(error).__name__}: {plain(str(error))}"
            flatten(vars(error), "error", parts)
        seconds = time.process_time() - start
    if not parts:
        flatten(value, "", parts)
    texts = (f"{each.category.__name__}: {each.message}" for each in caught)
    parts["warnings"] = plain("\n".join(texts))
    return value, parts, seconds


class Translate(ast.NodeTransformer):
    """Let calls and attributes go through `call` and `get`."""

    def visit_Call(self, node):
        """Call through `call`."""
        self.generic_visit(node)
        through = ast.Name("call_", ast.Load())
        return ast.Call(through, [node.func, *node.args], node.keywords)

    def visit_Attribute(self, node):
        """Read through `get`."""
        self.generic_visit(node)
        through = ast.Name("get_", ast.Load())
        return ast.Call(through, [node.value, ast.Constant(node.attr)], [])


def call(function, *args, **kwargs):
    """Call a function with the names of parameters that it knows."""
    if not is_ours(function):
        return function(*args, **kwargs)
    known = inspect.signature(function).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in known.values())
    beside, today, before = RENAMED_BESIDE
    if {beside, today} <= kwargs.keys() and before in known:
        kwargs[before] = kwargs.pop(today)
    for name in kwargs.keys() - known.keys():
        if RENAMED.get(name) in known:
            kwargs[RENAMED[name]] = kwargs.pop(name)
        elif not takes_any:
            raise Absent(f"{function.__qualname__}({name}=)")
    return function(*args, **kwargs)


def get(value, name):
    """Return an attribute by the name that it has."""
    if not hasattr(value, name) and hasattr(value, RENAMED.get(name, name)):
        name = RENAMED[name]
    if is_ours(value) and not hasattr(value, name) and not hasattr(type(value), name):
        raise Absent(f"{type(value).__name__}.{name}")
    return getattr(value, name)


def is_ours(value):
    """Return whether a function, a class or an object is one of the package."""
    return str(getattr(value, "__module__", "")).startswith("sklearn_reject")


def again(value):
    """Return what strict JSON makes of a result."""
    text = json.dumps(value.to_dict(), allow_nan=False)
    return type(value).from_dict(json.loads(text))


def plain(text):
    """Return a text with the names of before, and without addresses in memory."""
    for today, before in RENAMED.items():
        text = re.sub(rf"\b{today}\b", before, text)
    return re.sub(r"\b0x[0-9a-f]{6,}", "0x", text)


def flatten(value, path, parts):
    """Add what a value is made of to a dict of path to text or array."""
    inside = parts_of(value)
    if inside is None:
        parts[path] = leaf(value)
        return
    is_list = isinstance(value, (list, tuple))
    parts[path] = f"{len(inside)} values" if is_list else "an object"
    for name in inside:
        flatten(inside[name], path + plain(name), parts)


def parts_of(value):
    """Return the public parts of a container or an object of the package, or None."""
    if isinstance(value, dict):
        return {f"[{key!r}]": value[key] for key in value}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return {f"[{place}]": part for place, part in enumerate(value)}
    if not is_ours(value) or inspect.isroutine(value):
        return None
    if hasattr(value, "to_dict"):
        inside = value.to_dict()
    elif hasattr(value, "_fields"):
        inside = value._asdict()
    elif dataclasses.is_dataclass(value):
        names = (field.name for field in dataclasses.fields(value))
        inside = {name: getattr(value, name) for name in names}
    else:
        given = value.get_params(deep=False) if hasattr(value, "get_params") else ()
        inside = {name: part for name, part in vars(value).items() if name not in given}
    return {f".{name}": inside[name] for name in inside if name[0] != "_"}


def leaf(value):
    """Return a value that has no parts as a text or an array."""
    if isinstance(value, (bool, int, float, np.generic, np.ndarray)):
        array = np.array(value)
        return plain(repr(value)) if array.dtype == object else array
    return plain(repr(value)) if isinstance(value, str) else type(value).__name__


if __name__ == "__main__":
    main(*sys.argv[1:])
