"""Inside the meta-estimators of scikit-learn: rejects, ignored, or a clear error."""

from functools import partial

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import learning_curve
from sklearn.multiclass import OneVsOneClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import (
    DoubleScoreOODClassifier,
    ExpectedLossDecoder,
    SelectiveClassifier,
)
from sklearn_reject.metrics import get_selective_scorer

# Members see parts of the samples, other labels and other weights: what a rule tells of
# them is of no interest here.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

IRIS = load_iris()
X, Y = IRIS.data[:, :2], IRIS.target
WEIGHT = np.random.default_rng(0).uniform(0.5, 2, len(Y))


def selective(inner=None, **options):
    options = {"target_coverage": 0.6, "cv": 2, "random_state": 0} | options
    return SelectiveClassifier(GaussianNB() if inner is None else inner, **options)


def hard_vote(member):
    return VotingClassifier([("one", member), ("two", clone(member))])


def boost(member):
    return AdaBoostClassifier(member, n_estimators=3, random_state=0)


@pytest.mark.parametrize("make", [hard_vote, OneVsOneClassifier, boost])
@pytest.mark.parametrize(
    "names", [IRIS.target_names, pytest.param(np.arange(3), marks=pytest.mark.slow)]
)
def test_what_counts_labels_gets_them_all_without_a_reject_label(make, names):
    plain = make(GaussianNB()).fit(X, names[Y])
    # The same where nothing is rejected.
    for options in (
        {"reject_label": None},
        {"target_coverage": None, "reject_cost": 1},
    ):
        outer = make(selective(**options)).fit(X, names[Y])
        np.testing.assert_array_equal(outer.predict(X), plain.predict(X))


def test_labels_of_several_outputs():
    outputs = np.column_stack([Y, Y == 1])
    several = MultiOutputClassifier(selective()).fit(X, outputs).predict(X)
    np.testing.assert_array_equal(several[:, 0], selective().fit(X, Y).predict(X))
    assert (several[:, 1] == -1).any()
    chain = ClassifierChain(selective(reject_label=None)).fit(X, outputs)
    expected = ClassifierChain(GaussianNB()).fit(X, outputs).predict(X)
    np.testing.assert_array_equal(chain.predict(X), expected)


def test_functions_of_model_selection_and_inspection():
    member = selective().fit(X, Y)
    inner = partial_dependence(member.estimator_, X, [0], grid_resolution=4)
    outer = partial_dependence(member, X, [0], grid_resolution=4)
    np.testing.assert_array_equal(outer["average"], inner["average"])
    scorer = get_selective_scorer("neg_aurc")
    options = {"n_repeats": 2, "random_state": 0}
    importances = permutation_importance(member, X, Y, **options).importances
    expected = permutation_importance(member, X, Y, scoring=scorer, **options)
    np.testing.assert_array_equal(importances, expected.importances)
    curve = learning_curve(member, X, Y, cv=2, train_sizes=[1.0], shuffle=True)
    assert (curve[2] < 0).all()


# Weights


def double_score():
    return DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.9, novelty_score="msp", cv=2, random_state=0
    )


def decoder():
    return ExpectedLossDecoder(GaussianNB(), strategy=0.5)


@pytest.mark.parametrize(
    "make",
    [
        boost,
        partial(CalibratedClassifierCV, cv=2),
        partial(BaggingClassifier, n_estimators=3, random_state=0),
        lambda e: VotingClassifier([("one", e)], voting="soft"),
        lambda e: StackingClassifier([("one", e)], cv=2),
    ],
)
@pytest.mark.parametrize("wrap", [selective, double_score, decoder])
def test_weights_pass_through_to_the_classifier(make, wrap):
    member, rows = wrap(), slice(None)
    if wrap is decoder:
        rows = Y > 0
    else:
        member.set_params(reject_label=None)
    data, weight = (X[rows], Y[rows]), WEIGHT[rows]
    outer = make(member).fit(*data, sample_weight=weight)
    plain = make(GaussianNB()).fit(*data, sample_weight=weight)
    unweighted = make(GaussianNB()).fit(*data)
    expected = plain.predict_proba(X)
    np.testing.assert_allclose(outer.predict_proba(X), expected, rtol=1e-12)
    assert not np.array_equal(expected, unweighted.predict_proba(X))


@pytest.mark.parametrize(
    "inner", [KNeighborsClassifier(), make_pipeline(StandardScaler(), GaussianNB())]
)
def test_a_classifier_that_takes_no_weights(inner):
    message = rf"{type(inner).__name__}\.fit does not take it.*metadata routing"
    member = selective(inner)
    with pytest.raises(ValueError, match=message):
        member.fit(X, Y, sample_weight=WEIGHT)
    bag = BaggingClassifier(member, 3, random_state=0)
    with pytest.raises(ValueError, match=message):
        bag.fit(X, Y)
    # The way out that the message names: rows are drawn where nobody asks for weights.
    with config_context(enable_metadata_routing=True):
        bag.fit(X, Y)
        expected = BaggingClassifier(inner, 3, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(bag.predict(X), expected.predict(X))
