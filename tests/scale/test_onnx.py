"""The ONNX recipe of the user guide decides as the classifier does, row by row."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import SelectiveClassifier
from tests.samples import entropies

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")

# What the converters warn of is theirs.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

RECIPE = Path(__file__).parents[2] / "doc" / "recipes" / "selective_to_onnx.py"

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
NAMES = np.array(["zero", "one", "two", "three", "four", "five"] + ["more"] * 4)[y]
TRAIN, TEST = slice(0, 1000), slice(1000, None)

LINEAR = make_pipeline(StandardScaler(), LogisticRegression())
TREE = DecisionTreeClassifier(max_depth=5, random_state=0)
FOREST = RandomForestClassifier(20, random_state=0)


@pytest.fixture(scope="module")
def recipe():
    spec = spec_from_file_location("recipe", RECIPE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fit(classifier, labels=y, **options):
    options = {"target_coverage": 0.8, "randomize": False} | options
    selective = SelectiveClassifier(classifier, cv=0.5, random_state=0, **options)
    return selective.fit(X[TRAIN], labels[TRAIN])


def run(model):
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(model.SerializeToString(), None, providers)
    names = ["decision", "uncertainty", "accepted"]
    return session.run(names, {session.get_inputs()[0].name: X[TEST]})


@pytest.mark.parametrize("labels", [y, NAMES], ids=["numbers", "text"])
@pytest.mark.parametrize("target", ["target_coverage", "target_risk"])
@pytest.mark.parametrize(
    ("classifier", "risk"),
    [(LINEAR, 0.02), (TREE, 0.2), (FOREST, 0.02)],
    ids=["linear", "tree", "forest"],
)
def test_every_row_is_decided_alike(recipe, classifier, risk, target, labels):
    selective = fit(classifier, labels)
    if target == "target_risk":
        selective = selective.retarget(target_risk=risk)
    decision, uncertainty, accepted = run(recipe.selective_to_onnx(selective, X))
    expected = selective.uncertainty(X[TEST])
    np.testing.assert_allclose(uncertainty, expected, atol=recipe.TOLERANCE / 2)
    # In between, single precision decides: here no row is there.
    assert not is_close_to_cut(selective, expected, recipe.TOLERANCE).any()
    np.testing.assert_array_equal(accepted, selective.accept(X[TEST]))
    np.testing.assert_array_equal(decision, selective.predict(X[TEST]))
    assert 0 < accepted.mean() < 1


def is_close_to_cut(selective, scores, tolerance):
    """Tell which scores are near the threshold but not at it."""
    is_at = selective.rule_.at_threshold(scores)
    return ~is_at & (abs(scores - selective.rule_.threshold) < 2 * tolerance)


def test_scores_at_the_threshold_stay_together(recipe):
    fitted = fit(TREE)
    for selective, share in ((fitted, 1.0), (fitted.retarget(target_risk=0.2), 0.0)):
        is_at = selective.rule_.at_threshold(selective.uncertainty(X[TEST]))
        assert selective.rule_.proba_at_threshold == share
        assert is_at.sum() > 5
        _, _, accepted = run(recipe.selective_to_onnx(selective, X))
        assert set(accepted[is_at]) == {bool(share)}


def test_everything_is_accepted(recipe):
    decision, _, accepted = run(
        recipe.selective_to_onnx(fit(LINEAR, target_coverage=1.0), X)
    )
    assert accepted.all()
    assert set(decision) == set(range(10))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"uncertainty_score": entropies}, "conditional risk"),
        ({"loss": "absolute"}, "conditional risk"),
        ({"group_by": "prediction"}, "one threshold"),
        ({"randomize": True, "target_coverage": 0.801}, "cannot draw"),
    ],
    ids=str,
)
def test_what_cannot_be_exported_is_refused(recipe, options, message):
    with pytest.raises(ValueError, match=message):
        recipe.selective_to_onnx(fit(TREE, **options), X)
