"""The package does without matplotlib, pandas and rich, and is quick to import."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import sklearn_reject

ROOT = Path(sklearn_reject.__file__).parents[1]

WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""

TOUR = """
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import sklearn_reject
from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import RiskCoverageDisplay, aurc_score, neg_aurc_scorer

X, y = load_iris(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
selective = SelectiveClassifier(model, target_coverage=0.9, random_state=0).fit(X, y)
assert 0 < np.count_nonzero(selective.predict(X) == -1) < 40
assert neg_aurc_scorer(selective, X, y) == selective.score(X, y)
"""


def run(code):
    """Run code in a fresh interpreter, where warnings are errors too."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": ""}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=120,
    )


def succeed(code):
    result = run(code)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "names",
    [
        ("matplotlib",),
        ("pandas",),
        ("rich",),
        ("matplotlib", "pandas", "rich", "polars"),
    ],
    ids="-".join,
)
def test_works_without(names):
    everything = dedent("""
        for name in sklearn_reject.__all__:
            getattr(sklearn_reject, name)
        for name in sklearn_reject.metrics.__all__:
            getattr(sklearn_reject.metrics, name)
    """)
    succeed(WITHOUT.format(names=names) + TOUR + everything)


def test_plot_without_matplotlib_names_what_to_install():
    attempt = "RiskCoverageDisplay.from_estimator(selective, X, y)"
    result = run(WITHOUT.format(names=["matplotlib"]) + TOUR + attempt)
    assert result.returncode == 1
    error = result.stderr.strip().splitlines()[-1]
    assert error.startswith("ImportError: RiskCoverageDisplay.plot needs matplotlib")
    assert "pip install sklearn-reject[plot]" in error
    assert "risk_coverage_curve" in error


def test_plot_without_matplotlib_in_this_process(monkeypatch):
    from sklearn_reject.metrics import RiskCoverageDisplay

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    display = RiskCoverageDisplay([[0.5, 1.0]], [[0.0, 0.5]])
    with pytest.raises(ImportError, match="sklearn-reject\\[plot\\]"):
        display.plot()


def test_display_keeps_its_numbers_without_matplotlib():
    numbers = """
coverage, risk = np.array([0.5, 1.0]), np.array([0.0, 0.5])
display = RiskCoverageDisplay([coverage], [risk], aurc=[0.1])
print(display.coverage[0], display.risk[0], display.aurc)
"""
    code = WITHOUT.format(names=["matplotlib"]) + TOUR + numbers
    assert succeed(code).strip() == "[0.5 1. ] [0.  0.5] [0.1]"


HEAVY = ("matplotlib", "pandas", "scipy", "sklearn", "numpy", "joblib", "rich")


def test_import_of_the_package_loads_nothing():
    code = f"""
import sys
before = set(sys.modules)
import sklearn_reject
loaded = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(sorted(loaded & set({HEAVY!r})), sklearn_reject.__version__)
assert "SelectiveClassifier" in dir(sklearn_reject)
"""
    assert succeed(code).strip() == f"[] {sklearn_reject.__version__}"


@pytest.mark.parametrize(
    "use",
    [
        "sklearn_reject.SelectiveClassifier",
        "sklearn_reject.InfeasibleTargetError",
        "sklearn_reject.curves.aurc_score",
        "sklearn_reject.losses.check_loss",
        "sklearn_reject.metrics.RiskCoverageDisplay",
        "sklearn_reject.scores.Margin",
        "sklearn_reject.selection.chow_rule",
    ],
)
def test_names_load_no_optional_package(use):
    # scikit-learn may load some of them for itself.
    code = f"""
import sys
import sklearn.isotonic, sklearn.model_selection, sklearn.pipeline
try:
    import sklearn.callback
except ImportError:
    pass
before = set(sys.modules)
import sklearn_reject
{use}
loaded = set(sys.modules) - before
print(sorted({{"matplotlib", "pandas", "polars", "rich"}} & loaded))
"""
    assert succeed(code).strip() == "[]"


@pytest.mark.parametrize("home", ["curves", "losses", "selection"])
def test_floors_of_arrays_load_no_estimators(home):
    code = f"""
import sys
import sklearn_reject.{home}
print(sorted({{"sklearn.model_selection", "sklearn.pipeline"}} & set(sys.modules)))
"""
    assert succeed(code).strip() == "[]"


def test_name_that_is_none():
    with pytest.raises(
        AttributeError, match="'sklearn_reject' has no attribute 'nope'"
    ):
        sklearn_reject.nope  # noqa: B018
    with pytest.raises(ImportError, match="nope"):
        from sklearn_reject import nope  # noqa: F401


def test_star_import_gives_what_is_listed():
    code = """
from sklearn_reject import *
import sklearn_reject
print(sorted(set(sklearn_reject.__all__) - set(globals())))
"""
    assert succeed(code).strip() == "[]"
