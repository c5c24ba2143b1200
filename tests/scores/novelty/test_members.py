"""The novelty of a search, or of a calibration, is that of the classifier inside."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject.scores import ODIN, SIRC, ReAct, ViM, get_novelty_names
from sklearn_reject.scores import resolve_novelty as resolve

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

_X, _Y = load_digits(return_X_y=True)
X, Y, X_OOD = _X[_Y < 3][:150] / 16, _Y[_Y < 3][:150], _X[_Y > 6][:60] / 16
# What they say is about the probabilities, which a calibration changes.
OF_PROBABILITIES = {"gen", "msp", "sirc"}


def make_network():
    return make_pipeline(
        StandardScaler(), MLPClassifier((9,), max_iter=15, random_state=0)
    )


def novelty_of(name, model):
    score = resolve(name, random_state=0).fit(X, Y, estimator=model, X_ood=X_OOD)
    return score.novelty(X_OOD)


@pytest.mark.slow
@pytest.mark.parametrize("name", get_novelty_names())
def test_a_search_has_the_novelty_of_its_best_estimator(name):
    search = GridSearchCV(make_network(), {}, cv=2).fit(X, Y)
    expected = novelty_of(name, search.best_estimator_)
    np.testing.assert_array_equal(novelty_of(name, search), expected)


@pytest.mark.parametrize("name", sorted({*get_novelty_names()} - OF_PROBABILITIES))
def test_a_calibrated_network_has_the_novelty_of_the_network(name):
    network = make_network().fit(X, Y)
    calibrated = CalibratedClassifierCV(FrozenEstimator(network), cv=2).fit(X, Y)
    np.testing.assert_array_equal(
        novelty_of(name, calibrated), novelty_of(name, network)
    )


@pytest.mark.parametrize("score", [ODIN(), ReAct(), ViM(5), SIRC("msp", "residual", 5)])
@pytest.mark.parametrize(
    "inner",
    [make_network(), pytest.param(LogisticRegression(), marks=pytest.mark.slow)],
)
def test_several_members_have_no_last_layer(score, inner):
    calibrated = CalibratedClassifierCV(inner, cv=2).fit(X, Y)
    message = (
        rf"{type(score).__name__} needs the last layer of one classifier, but "
        "CalibratedClassifierCV has 2 classifiers. Set ensemble=False .*'knn'"
    )
    with pytest.raises(ValueError, match=message):
        score.fit(X, Y, estimator=calibrated)
    once = CalibratedClassifierCV(inner, cv=2, ensemble=False).fit(X, Y)
    assert np.isfinite(score.fit(X, Y, estimator=once).novelty(X_OOD)).all()


@pytest.mark.parametrize("name", ["energy", "knn", "mahalanobis", "max_logit"])
def test_several_members_in_chunks(name):
    calibrated = CalibratedClassifierCV(make_network(), cv=2).fit(X, Y)
    score = resolve(name).fit(X, Y, estimator=calibrated)
    chunks = [score.novelty(X_OOD[i : i + 7]) for i in range(0, 60, 7)]
    np.testing.assert_array_equal(np.concatenate(chunks), score.novelty(X_OOD))
