"""Inside the meta-estimators of scikit-learn: rejects, ignored, or a clear error."""

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
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    learning_curve,
)
from sklearn.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils.validation import has_fit_parameter

from sklearn_reject import (
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
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


# Made of a member with probabilities: what comes out is read off these.
READS_PROBABILITIES = {
    "BaggingClassifier": lambda e: BaggingClassifier(e, 3, random_state=0),
    "CalibratedClassifierCV": lambda e: CalibratedClassifierCV(e, cv=2),
    "StackingClassifier": lambda e: StackingClassifier([("one", e)], cv=2),
    "VotingClassifier, soft": lambda e: hard_vote(e).set_params(voting="soft"),
    "OneVsRestClassifier": OneVsRestClassifier,
    "OutputCodeClassifier": lambda e: OutputCodeClassifier(e, random_state=0),
}
READS_TWO_CLASSES = {
    "FixedThresholdClassifier": lambda e: FixedThresholdClassifier(e, threshold=0.7),
    "TunedThresholdClassifierCV": lambda e: TunedThresholdClassifierCV(
        e, cv=2, thresholds=5
    ),
}
COUNTS_LABELS = {
    "VotingClassifier": hard_vote,
    "OneVsOneClassifier": OneVsOneClassifier,
    "AdaBoostClassifier": lambda e: AdaBoostClassifier(
        e, n_estimators=3, random_state=0
    ),
}
PASSES_REJECTIONS_ON = {
    "Pipeline": lambda e: make_pipeline("passthrough", e),
    "GridSearchCV": lambda e: GridSearchCV(e, {"target_coverage": [0.6]}, cv=2),
    "HalvingGridSearchCV": lambda e: HalvingGridSearchCV(
        e, {"target_coverage": [0.6]}, cv=2
    ),
    "RFE": lambda e: RFE(
        e, n_features_to_select=2, importance_getter="estimator_.theta_"
    ),
}


@pytest.mark.parametrize("kind", READS_PROBABILITIES | READS_TWO_CLASSES)
def test_what_reads_probabilities_ignores_the_rejection(kind):
    rows = slice(None) if kind in READS_PROBABILITIES else Y > 0
    make = (READS_PROBABILITIES | READS_TWO_CLASSES)[kind]
    assert (selective().fit(X[rows], Y[rows]).predict(X[rows]) == -1).any()
    outer = make(selective()).fit(X[rows], Y[rows])
    plain = make(GaussianNB()).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(outer.predict(X), plain.predict(X))


@pytest.mark.parametrize("kind", PASSES_REJECTIONS_ON)
def test_what_predicts_by_one_estimator_passes_rejections_on(kind):
    member = selective()
    outer = PASSES_REJECTIONS_ON[kind](member).fit(X, Y)
    expected = member.fit(X, Y).predict(X)
    assert (expected == -1).any()
    np.testing.assert_array_equal(outer.predict(X), expected)


def test_self_training_learns_from_probabilities_and_rejects():
    unlabeled = np.where(np.arange(len(Y)) % 3 == 0, -1, Y)
    outer = SelfTrainingClassifier(selective()).fit(X, unlabeled)
    plain = SelfTrainingClassifier(GaussianNB()).fit(X, unlabeled)
    np.testing.assert_array_equal(outer.transduction_, plain.transduction_)
    labels, expected = outer.predict(X), plain.predict(X)
    assert (labels == -1).any()
    np.testing.assert_array_equal(labels[labels != -1], expected[labels != -1])


@pytest.mark.parametrize("kind", COUNTS_LABELS)
@pytest.mark.parametrize(
    "names",
    [IRIS.target_names, pytest.param(np.arange(3), marks=pytest.mark.slow)],
    ids=["text", "0"],
)
def test_what_counts_labels_gets_them_all_without_a_reject_label(kind, names):
    y, make = names[Y], COUNTS_LABELS[kind]
    outer = make(selective(reject_label=None)).fit(X, y)
    plain = make(GaussianNB()).fit(X, y)
    np.testing.assert_array_equal(outer.predict(X), plain.predict(X))
    # The same where nothing is rejected.
    outer = make(selective(target_coverage=None, reject_cost=1.0)).fit(X, y)
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
    member = selective()
    plain = cross_val_predict(GaussianNB(), X, Y, cv=2)
    labels = cross_val_predict(member, X, Y, cv=2)
    assert (labels == -1).any()
    np.testing.assert_array_equal(labels[labels != -1], plain[labels != -1])
    for method in ("predict_proba", "predict_log_proba"):
        np.testing.assert_array_equal(
            cross_val_predict(member, X, Y, cv=2, method=method),
            cross_val_predict(GaussianNB(), X, Y, cv=2, method=method),
        )
    member.fit(X, Y)
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
        GaussianNB(),
        min_tpr=0.9,
        novelty_score="msp",
        cv=2,
        random_state=0,
    )


@pytest.mark.parametrize(
    "estimator",
    [
        selective(),
        double_score(),
        ExpectedLossDecoder(GaussianNB()),
        EnsembleThresholdTuner([("one", GaussianNB())], max_fp_per_tp=1.0),
        SelectiveRegressor(LogisticRegression(), target_coverage=0.5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_weights_show_in_the_signature(estimator):
    assert has_fit_parameter(estimator, "sample_weight")
    if not isinstance(estimator, ExpectedLossDecoder):  # whose sets are counted
        with config_context(enable_metadata_routing=True):
            asked = clone(estimator).set_fit_request(sample_weight=True)
        requests = asked.get_metadata_routing()._self_request.fit.requests
        assert requests["sample_weight"] is True
        # The tuner has a parameter of its own, which nobody has asked for.
        assert requests.keys() - {"inclusion_proba"} == {"sample_weight"}


@pytest.mark.parametrize(
    "make",
    [
        lambda e: AdaBoostClassifier(e, n_estimators=3, random_state=0),
        lambda e: CalibratedClassifierCV(e, cv=2),
        lambda e: BaggingClassifier(e, 3, random_state=0),
        lambda e: VotingClassifier([("one", e)], voting="soft"),
        lambda e: StackingClassifier([("one", e)], cv=2),
    ],
    ids=["AdaBoost", "Calibrated", "Bagging", "Voting", "Stacking"],
)
@pytest.mark.parametrize("wrap", [selective, double_score, ExpectedLossDecoder])
def test_weights_pass_through_to_the_classifier(make, wrap):
    is_set = wrap is ExpectedLossDecoder
    rows = Y > 0 if is_set else slice(None)
    member = wrap(GaussianNB(), strategy=0.5) if is_set else wrap()
    if not is_set:
        member.set_params(reject_label=None)
    data = X[rows], Y[rows]
    outer = make(member).fit(*data, sample_weight=WEIGHT[rows])
    plain = make(GaussianNB()).fit(*data, sample_weight=WEIGHT[rows])
    unweighted = make(GaussianNB()).fit(*data)
    expected = plain.predict_proba(X)
    np.testing.assert_allclose(outer.predict_proba(X), expected, rtol=1e-12)
    assert not np.array_equal(expected, unweighted.predict_proba(X))


def test_weights_given_by_position_and_by_name_are_the_same():
    by_name = selective().fit(X, Y, sample_weight=WEIGHT)
    by_position = selective().fit(X, Y, WEIGHT)
    assert by_name.rule_ == by_position.rule_ != selective().fit(X, Y).rule_


@pytest.mark.parametrize(
    "inner",
    [KNeighborsClassifier(), make_pipeline(StandardScaler(), GaussianNB())],
    ids=["KNeighborsClassifier", "Pipeline"],
)
def test_a_classifier_that_takes_no_weights(inner):
    name = type(inner).__name__
    message = rf"{name}\.fit does not take it.*metadata routing"
    member = selective(inner)
    with pytest.raises(ValueError, match=message):
        member.fit(X, Y, sample_weight=WEIGHT)
    bag = BaggingClassifier(member, 3, random_state=0)
    with pytest.raises(ValueError, match=message + ".*BaggingClassifier"):
        bag.fit(X, Y)
    # The way out that the message names: rows are drawn where nobody asks for weights.
    with config_context(enable_metadata_routing=True):
        bag.fit(X, Y)
        expected = BaggingClassifier(inner, 3, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(bag.predict(X), expected.predict(X))
