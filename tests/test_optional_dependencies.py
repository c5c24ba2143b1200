"""The package does without what is optional, and is quick to import.

Both scripts below run in a fresh interpreter and report case by case: starting one for
each case would take longer than all the rest of the tests of this file.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sklearn_reject

ROOT = Path(sklearn_reject.__file__).parents[1]

CASES = [
    ("matplotlib", "pandas", "rich", "polars", "dask"),
    ("matplotlib",),
    ("pandas",),
    ("rich",),
    ("dask", "distributed", "ray", "pyarrow"),
]

TOUR = """
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import sklearn_reject
from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import RiskCoverageDisplay, aurc_score, get_selective_scorer

X, y = load_iris(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
selective = SelectiveClassifier(model, target_coverage=0.9, random_state=0).fit(X, y)
assert 0 < np.count_nonzero(selective.predict(X) == -1) < 40
assert get_selective_scorer("neg_aurc")(selective, X, y) == selective.score(X, y)
for name in sklearn_reject.__all__:
    getattr(sklearn_reject, name)
for name in sklearn_reject.metrics.__all__:
    getattr(sklearn_reject.metrics, name)
"""

PLOT = """
display = RiskCoverageDisplay([[0.5, 1.0]], [[0.0, 0.5]], area=[0.1])
try:
    RiskCoverageDisplay.from_estimator(selective, X, y)
except ImportError as error:
    message = str(error)
"""

# The package is imported anew for each case, the packages that it needs are not.
WITHOUT = """
import json, sys, traceback

class Absent:
    names = ()

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def walk(names):
    seen = {}
    loaded = {name.split(".")[0] for name in sys.modules}
    assert not loaded & set(names), f"loaded already: {loaded & set(names)}"
    exec(TOUR, seen)
    if "matplotlib" in names:
        exec(PLOT, seen)
    return seen.get("message")

absent = Absent()
sys.meta_path.insert(0, absent)
report = {}
for names in CASES:
    absent.names = names
    for name in list(sys.modules):
        if name.split(".")[0] == "sklearn_reject":
            del sys.modules[name]
    try:
        report["-".join(names)] = walk(names)
    except BaseException:
        report["-".join(names)] = {"failed": traceback.format_exc()}
print(json.dumps(report))
"""

ARRAYS = ["_curves", "losses", "selection"]
USES = [
    "sklearn_reject.SelectiveClassifier",
    "sklearn_reject.InfeasibleTargetError",
    "sklearn_reject._curves.aurc_score",
    "sklearn_reject.losses.check_loss",
    "sklearn_reject.metrics.RiskCoverageDisplay",
    "sklearn_reject.scores.Margin",
    "sklearn_reject.selection.solve_target_risk",
]
HEAVY = ["matplotlib", "pandas", "scipy", "sklearn", "numpy", "joblib", "rich"]
ESTIMATORS = ["sklearn.model_selection", "sklearn.pipeline"]
OPTIONAL = ["matplotlib", "pandas", "polars", "rich", "dask", "distributed", "ray"]

# What one step loads stays for those that follow: the first name in the report with
# more than it should have is the one at fault.
LOADS = """
import json, sys

def present(names):
    return sorted(name for name in names if sys.modules.get(name))

report = {}
assert not present(HEAVY)
import sklearn_reject
report["package"] = present(HEAVY)
report["listed"] = "SelectiveClassifier" in dir(sklearn_reject)
report["version"] = sklearn_reject.__version__

sys.modules.update(dict.fromkeys(OPTIONAL))  # to import them is an error
for name in ARRAYS:
    __import__(f"sklearn_reject.{name}")
    report[name] = present(ESTIMATORS)
for name in list(sys.modules):
    if name.split(".")[0] in ("sklearn_reject", *OPTIONAL):
        del sys.modules[name]

# scikit-learn may load some of the optional packages for itself.
import sklearn.isotonic, sklearn.model_selection, sklearn.pipeline
try:
    import sklearn.callback
except ImportError:
    pass
before = set(present(OPTIONAL))
import sklearn_reject
for use in USES:
    eval(use)
    report[use] = sorted(set(present(OPTIONAL)) - before)

from sklearn_reject import *
report["star"] = sorted(set(sklearn_reject.__all__) - set(globals()))
print(json.dumps(report))
"""


def report_of(script, **constants):
    """Run a script in a fresh interpreter, where warnings are errors too."""
    given = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": ""}
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", given + script],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.slow
def test_works_without():
    report = report_of(WITHOUT, CASES=CASES, TOUR=TOUR, PLOT=PLOT)
    assert report.keys() == {"-".join(names) for names in CASES}
    for name, message in report.items():
        if "matplotlib" not in name:
            assert message is None
        else:
            words = "RiskCoverageDisplay.plot requires .*pip install matplotlib"
            assert re.match(words, message)


@pytest.mark.slow
def test_what_is_loaded_and_when():
    names = {"HEAVY": HEAVY, "ESTIMATORS": ESTIMATORS, "OPTIONAL": OPTIONAL}
    assert report_of(LOADS, ARRAYS=ARRAYS, USES=USES, **names) == {
        "package": [],
        "listed": True,
        "version": sklearn_reject.__version__,
        **{name: [] for name in ARRAYS + USES},
        "star": [],
    }


def test_clusters_are_extras_only():
    """Whoever installs the package gets no Dask and no Ray, unless by these names."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]

    def names_of(requirements):
        return {re.match(r"[\w-]+", line)[0] for line in requirements}

    needed = {"numpy", "scipy", "joblib", "scikit-learn", "threadpoolctl"}
    assert names_of(project["dependencies"]) == needed
    extras = project["optional-dependencies"]
    assert names_of(extras.pop("dask")) == {"dask", "distributed"}
    assert names_of(extras.pop("ray")) == {"ray"}
    del extras["scale"]
    clusters = {"dask", "distributed", "ray", "dask-ml", "pyarrow"}
    for name, requirements in extras.items():
        assert not names_of(requirements) & clusters, name


def test_collections_without_dask(monkeypatch):
    loaded = [name for name in sys.modules if name.startswith("sklearn_reject.dask")]
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(sklearn_reject), "dask", raising=False)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"needs dask.*pip install .dask"):
        sklearn_reject.dask  # noqa: B018
    assert "sklearn_reject.dask" not in sys.modules
    # Whoever looks at all names does not ask for it.
    assert "dask" not in dir(sklearn_reject)
    assert "dask" not in sklearn_reject.__all__
