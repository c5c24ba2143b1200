"""How much of the package one call crosses, and how large the package is.

What a reader has to open to follow one `fit`, estimator and all: the files of the
package in which code is run, and the functions, each counted once, as `sys.setprofile`
sees them. A function is the code object of a function, a method or a lambda. Bodies of
classes, comprehensions and generator expressions do not count: some versions of Python
run comprehensions in place. Each call is the first one of its process, as results that
are kept for the next call would hide functions; but all modules have been imported.

    python -m benchmarks.count_calls            # what is crossed
    python -m benchmarks.count_calls --size     # files, lines and private imports, too

Given by its path instead, as `python benchmarks/count_calls.py`, it counts whichever
sklearn_reject is installed or on PYTHONPATH.
"""

import argparse
import ast
import inspect
import io
import sys
import tokenize
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklearn_reject
from sklearn_reject import (
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    SelectiveClassifier,
)

_ROOT = Path(sklearn_reject.__file__).parent
_NOT_FUNCTIONS = {"<dictcomp>", "<genexpr>", "<listcomp>", "<module>", "<setcomp>"}


def main():
    """Print the table of calls and, where asked, the one of the package's size."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.count_calls", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--size", action="store_true", help="the package's size, too")
    arguments = parser.parse_args()
    print(f"{'one call of fit':<54}{'files':>6}{'functions':>11}")
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name, files, functions in pool.imap(count, CALLS):
            print(f"{name:<54}{files:>6}{functions:>11}", flush=True)
    if arguments.size:
        print(f"\n{'size of the package':<54}")
        for what, number in size().items():
            print(f"{what:<54}{number:>6}")


# What one call crosses


def fit_selective(**options):
    X, y = load_digits(return_X_y=True)
    SelectiveClassifier(_linear(), random_state=0, **options).fit(X, y)


def fit_double():
    X, y = load_digits(return_X_y=True)
    classifier = DoubleScoreOODClassifier(
        _linear(), min_tpr=0.8, max_fpr=0.2, random_state=0
    )
    classifier.fit(X, np.where(y >= 7, -1, y))


def fit_tuner():
    X, y = load_digits(return_X_y=True)
    classifiers = [("linear", _linear()), ("bayes", GaussianNB())]
    EnsembleThresholdTuner(classifiers, max_fp_per_tp=5).fit(X, y == 8)


def _linear():
    return make_pipeline(StandardScaler(), LogisticRegression())


CALLS = {
    "SelectiveClassifier": fit_selective,
    'SelectiveClassifier, "sele", cv=3': partial(
        fit_selective, uncertainty_score="sele", cv=3
    ),
    "DoubleScoreOODClassifier, min_tpr, max_fpr": fit_double,
    "EnsembleThresholdTuner, two classifiers": fit_tuner,
}


def count(name):
    """Return a call's name and how many files and functions of the package it runs."""
    for module in walk_packages([_ROOT], f"{_ROOT.name}."):
        import_module(module.name)
    codes = set()

    def remember(frame, event, argument):
        if event == "call":
            codes.add((frame.f_code.co_filename, frame.f_code))

    sys.setprofile(remember)
    try:
        CALLS[name]()
    finally:
        sys.setprofile(None)
    ours = [(path, code) for path, code in codes if Path(path).is_relative_to(_ROOT)]
    files = {path for path, _ in ours}
    return name, len(files), sum(_is_function(code) for _, code in ours)


def _is_function(code):
    # The body of a class, unlike a function, has no local variables of its own.
    is_optimized = bool(code.co_flags & inspect.CO_OPTIMIZED)
    return is_optimized and code.co_name not in _NOT_FUNCTIONS


# How large the package is


def size():
    """Return counts of the package's files, lines and private imports by their names.

    Lines of code have something other than a comment or a docstring on them. Lines of
    docstrings include the empty ones within.
    """
    paths = sorted(_ROOT.rglob("*.py"))
    n_code = n_documented = n_private = 0
    for path in paths:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        documented = _docstring_lines(tree)
        n_code += len(_token_lines(source) - documented)
        n_documented += len(documented)
        n_private += sum(_is_private_import(node, path) for node in ast.walk(tree))
    return {
        "files": len(paths),
        "lines of code": n_code,
        "lines of docstrings": n_documented,
        "imports of another folder's private module": n_private,
    }


def _token_lines(source):
    """Return the numbers of the lines with code or a docstring on them."""
    nothing = {
        tokenize.COMMENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.INDENT,
        tokenize.NEWLINE,
        tokenize.NL,
    }
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in nothing:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _docstring_lines(tree):
    lines = set()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            lines.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def _is_private_import(node, path):
    """Return whether a statement reaches into a folder that the file is not within.

    `from sklearn_reject.a._b import c` does, where the file is not in a; and so does
    `from sklearn_reject.a import _b` where _b is a module. Private modules and folders
    of the root, such as `from sklearn_reject._a import b`, are the package's own doors.
    """
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = [node.module, *(f"{node.module}.{of.name}" for of in node.names)]
    else:
        return False
    folder = (_ROOT.name, *path.relative_to(_ROOT).parts[:-1])
    return any(_is_private_elsewhere(module.split("."), folder) for module in modules)


def _is_private_elsewhere(parts, folder):
    """Return whether a private part of the name lies in a folder the file is not in."""
    if parts[0] != _ROOT.name or not _is_module(parts):
        return False
    return any(
        part.startswith("_") and folder[:depth] != tuple(parts[:depth])
        for depth, part in enumerate(parts)
        if depth >= 2
    )


def _is_module(parts):
    path = _ROOT.joinpath(*parts[1:])
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file()


if __name__ == "__main__":
    main()
