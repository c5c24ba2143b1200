"""What importing the package adds to importing scikit-learn."""

import subprocess
import sys

from benchmarks._report import Row, at_most, show_time
from benchmarks._timing import interleaved_medians

TITLE = "imports in fresh interpreters, medians"

_LIMIT = 0.15
_OURS = "import sklearn_reject"
_FIRST_USE = "from sklearn_reject import SelectiveClassifier"
_ANY_CLASSIFIER = "from sklearn.linear_model import LogisticRegression"

# What is imported, and what has been imported before.
_IMPORTS = {
    "import sklearn": ("import sklearn", "pass"),
    "import sklearn_reject, after sklearn": (_OURS, "import sklearn"),
    "SelectiveClassifier, after sklearn": (_FIRST_USE, "import sklearn"),
    "LogisticRegression, after sklearn": (_ANY_CLASSIFIER, "import sklearn"),
    "SelectiveClassifier, after LogisticRegression": (_FIRST_USE, _ANY_CLASSIFIER),
}

_CHILD = """
from time import perf_counter
{before}
start = perf_counter()
{statement}
print(perf_counter() - start)
"""


def run():
    """Return the rows of the table."""
    times = interleaved_medians(_IMPORTS, repeats=9, timer=_seconds_in_child)
    for what, seconds in times.items():
        if _IMPORTS[what][0] == _OURS:
            yield at_most(what, _LIMIT, seconds, " s", show_time(seconds))
        else:
            yield Row(what, measured=f"{seconds:.3g} s")


def _seconds_in_child(statements):
    statement, before = statements
    code = _CHILD.format(statement=statement, before=before)
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return float(child.stdout)
