"""What goes wrong says what was given, what is expected, and the way out."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, PredefinedSplit, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.scores import Margin, get_score_names

X, y = make_classification(120, n_features=4, flip_y=0.2, random_state=0)
NAN, INF = float("nan"), float("inf")
FITTED = FrozenEstimator(GaussianNB().fit(X, y))
OF_THREE = {"estimator": FrozenEstimator(GaussianNB().fit(X, np.arange(120) % 3))}


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """A classifier that gives labels and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def mentions(*parts):
    """Return a pattern that matches a message with all parts, in any order."""
    return "(?s)" + "".join(f"(?=.*{re.escape(part)})" for part in parts)


def fitting(options, X=X, y=y, **fit_params):
    """Fit a classifier with these options, and a target if there is none."""
    options = {"estimator": LogisticRegression(), **options}
    if not any(name.startswith(("target", "reject_cost")) for name in options):
        options["target_coverage"] = 0.5
    return SelectiveClassifier(**options).fit(X, y, **fit_params)


def at_row_5(value):
    return np.where(np.arange(120) == 5, value, 1.0)


NO_NUMBERS = [-0.1, NAN, INF, -INF, True, False, "0.1", [0.1], 0.1j]
# A parameter, values that it cannot have, and words of the message, which shows them.
BAD_VALUES = [
    ("reject_cost", NO_NUMBERS, ["reject_cost must be", "[0, inf["]),
    ("target_risk", NO_NUMBERS, ["target_risk must be", "[0, inf["]),
    (
        "target_coverage",
        [*NO_NUMBERS, 0, 1.0000001, 80],
        ["target_coverage must be", "]0, 1]"],
    ),
    (
        "uncertainty_score",
        ["nonsense", "", 3, None, Margin, ["margin"]],
        ["uncertainty_score must be", "'auto'", str(get_score_names())],
    ),
    ("loss", ["hinge", "", 5, None], ["'absolute'", "'zero_one'", "cost matrix"]),
    ("cv", [0, 1, -3, True, False], ["cv must be", "2"]),
    ("cv", [0.0, 1.0, 1.5, -0.2, NAN, INF], ["cv", "share", "]0, 1["]),
    (
        "randomize",
        ["yes", None, 2, 0.5, np.array([True])],
        ["randomize must be one of"],
    ),
]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [(name, value, words) for name, values, words in BAD_VALUES for value in values],
)
def test_values(name, value, words):
    with pytest.raises(ValueError, match=mentions(repr(value), *words)):
        fitting({name: value})


def estimating(estimator, **options):
    return {"estimator": estimator, "cv": 5, **options}


def losing(value):
    return lambda y_true, y_pred: np.where(y_true == y_pred, 0.0, value)


CERTIFIED = {"confidence_level": 0.9, "cv": 0.3}
PLAIN = {"cv": "plug_in"}
# Options, and words of the message.
OF_OPTIONS = [
    *(
        (targets, ["At most one", *(f"{k}={v}" for k, v in targets.items()), "None"])
        for targets in (
            {"reject_cost": 0.1, "target_risk": 0.2},
            {"target_risk": 0.1, "target_coverage": 0.2},
            {"reject_cost": 0.0, "target_risk": 0.0, "target_coverage": 1.0},
        )
    ),
    # The estimator
    (estimating(object()), ["estimator must be a classifier", "`fit`"]),
    (estimating(None), ["estimator must be a classifier", "`fit`"]),
    (estimating("x"), ["estimator must be a classifier", "`fit`"]),
    (estimating(StandardScaler()), ["estimator must be a classifier", "`predict`"]),
    (estimating(LinearRegression()), ["classifier", "LinearRegression"]),
    (estimating(make_pipeline(LinearRegression())), ["classifier", "LinearRegression"]),
    (estimating(LabelsOnly()), ["uncertainty_score='auto'", "LabelsOnly", "callable"]),
    *(
        (
            estimating(estimator, uncertainty_score=score),
            [type(estimator).__name__, f"`{method}`", "uncertainty_score"],
        )
        for estimator, score, method in (
            (LinearSVC(), "conditional_risk", "predict_proba"),
            (GaussianNB(), "margin", "decision_function"),
        )
    ),
    # Scores
    *(
        ({"uncertainty_score": score, "cv": 0.3}, words)
        for score, words in (
            ("likelihood_ratio", ["learns from OOD samples", "DoubleScore"]),
            ("nearest", ["a novelty score such as", "'knn'"]),
        )
    ),
    (
        {"uncertainty_score": "sele", "cv": ShuffleSplit(1, random_state=0)},
        ["at least two splits with different test"],
    ),
    # Losses
    *(
        ({"loss": loss}, words)
        for loss, words in (
            (losing(-1.0), ["non-negative", "-1.0"]),
            (losing(NAN), ["finite", "nan"]),
            (losing(INF), ["finite", "inf"]),
            (lambda t, p: np.zeros((len(t), 2)), ["vector", "2)"]),
            (lambda t, p: np.zeros(len(t) + 1), ["losses", "samples"]),
            (lambda t, p: 0.0, ["losses", "vector"]),
            ([[0, 1]], ["(1, 2)", "(2, 2)"]),
            ([[0, NAN], [1, 0]], ["cost matrix", "finite", "nan"]),
            ([[0, 1], [1]], ["loss", "cost matrix"]),
        )
    ),
    (OF_THREE | {"loss": [[0, 1], [1, 0]]}, ["(2, 2)", "3 labels", "(3, 3)"]),
    (
        {"target_risk": 0.5, "loss": [[0, 9], [1, 0]], "max_loss": 5.0},
        ["max_loss=5.0 is below 9"],
    ),
    # Splits and seeds
    *(
        ({"estimator": FITTED, "cv": cv}, ["cv=", "FrozenEstimator", "cv=None"])
        for cv in (3, 0.5, [(np.arange(60), np.arange(60, 120))])
    ),
    ({"cv": "five"}, ["cv"]),
    ({"cv": []}, ["cv", "no samples"]),
    ({"cv": [(np.arange(120), np.arange(0))]}, ["cv", "no samples"]),
    ({"cv": 80}, ["n_splits=80"]),
    ({"cv": LeaveOneGroupOut()}, ["groups"]),
    ({"cv": 0.3, "random_state": "seed"}, ["'seed'"]),
    ({"cv": 0.3, "random_state": -1}, ["Seed must be"]),
    ({"cv": 0.3, "random_state": 0.5}, ["0.5"]),
    # Plain rules and certificates
    *(
        (PLAIN | options, ["cv='plug_in' compares a reject_cost"])
        for options in (
            {"target_risk": 0.2},
            {"target_coverage": 0.5},
            {"reject_cost": 0.2, "uncertainty_score": "margin"},
            {"reject_cost": 0.2, "uncertainty_score": "sele"},
        )
    ),
    (
        CERTIFIED | {"target_risk": 0.3, "cv": 5},
        ["confidence_level=0.9 needs samples on which", "cv=5 leaves none"],
    ),
    (
        CERTIFIED | {"cv": 3, "estimator": FITTED, "uncertainty_score": "sele"},
        ["cv=3 leaves none"],
    ),
    (CERTIFIED | {"reject_cost": 0.3}, ["A reject_cost has no bound"]),
    (CERTIFIED | {"confidence_level": 1.0}, ["confidence_level must be"]),
    (CERTIFIED | {"confidence_level": 90}, ["confidence_level must be"]),
    (CERTIFIED | {"target_risk": 1e-3}, ["at least 2302 are needed"]),
]


@pytest.mark.parametrize(("options", "words"), OF_OPTIONS)
def test_options(options, words):
    with pytest.raises(ValueError, match=mentions(*words)):
        fitting(options)


# Options, what is passed to fit, and words that must be in the message.
OF_SAMPLES = [
    *(
        (options, data, words)
        for options in ({}, {"reject_cost": 0.3}, {"cv": 0.3})
        for data, words in (
            ({"X": X[:0], "y": y[:0]}, ["0 sample"]),
            ({"y": y[:-1]}, ["inconsistent", "119", "120"]),
            ({"y": np.linspace(0, 1, 120)}, ["continuous"]),
            ({"y": np.column_stack([y, y])}, ["y", "(120, 2)"]),
            ({"y": np.where(np.arange(120) == 2, NAN, y)}, ["NaN"]),
            ({"y": None}, ["y"]),
            ({"X": np.where(X[3, 2] == X, NAN, X)}, ["NaN"]),
            ({"X": np.where(X[3, 2] == X, INF, X)}, ["inf"]),
            ({"X": X[:, 0]}, ["2D"]),
        )
    ),
    *(
        ({"estimator": estimator}, {"sample_weight": weight}, ["sample_weight", *words])
        for estimator in (GaussianNB(), FITTED)
        for weight, words in (
            (at_row_5(-1.0), ["non-negative", "-1.0", "row 5"]),
            (np.zeros(120), ["zero for every sample", "None"]),
            (at_row_5(NAN), ["finite", "nan", "row 5"]),
            (at_row_5(INF), ["finite", "inf", "row 5"]),
            (np.ones(119), ["119", "120"]),
            (np.ones(0), ["empty"]),
            (np.ones((120, 2)), ["vector", "(120, 2)"]),
            (np.full(120, "heavy"), ["numbers"]),
        )
    ),
    (
        {"estimator": KNeighborsClassifier()},
        {"sample_weight": np.ones(120)},
        ["KNeighborsClassifier.fit does not", "set_fit_request(sample_weight=True)"],
    ),
    (
        {"estimator": GaussianNB(), "cv": [(np.arange(60), np.arange(60, 120))]},
        {"sample_weight": 1.0 * (np.arange(120) < 60)},
        ["sample_weight", "zero"],
    ),
    (
        {"estimator": FITTED, "loss": [[0, 1], [1, 0]]},
        {"y": np.where(y == 1, 7, 0)},
        ["y_true", "7", "[0, 1]"],
    ),
    (
        CERTIFIED,
        {"sample_weight": np.ones(120)},
        ["confidence_level cannot be combined with"],
    ),
]


@pytest.mark.parametrize(("options", "data", "words"), OF_SAMPLES)
def test_samples(options, data, words):
    with pytest.raises(ValueError, match=mentions(*words)):
        fitting(options, **data)


# Options of a regressor, and words that must be in the message.
OF_REGRESSORS = [
    (
        {"target_coverage": None},
        "One of reject_cost, target_risk, target_coverage and target_failure_rate",
    ),
    ({"reject_cost": 1}, "At most one of"),
    (
        {"estimator": LogisticRegression()},
        "estimator must be a regressor, got Log",
    ),
    ({"estimator": 3}, "estimator must be a regressor"),
    *(
        ({"loss": loss}, "'squared', 'absolute' or a callable")
        for loss in ("mae", "hinge", "zero_one", [[0, 1], [1, 0]], None)
    ),
    ({"loss": lambda y_true, y_pred: np.ones((len(y_true), 2))}, "must be a vector"),
    ({"max_loss": -5}, "max_loss must be in"),
    ({"loss": "absolute", "max_loss": 0.01}, r"above max_loss=0\.01"),
    ({"uncertainty_score": "conditional_risk"}, "`predict_proba`"),
    ({"uncertainty_score": "conditional_risk"}, "got LinearRegression"),
    ({"uncertainty_score": "true_class_probability"}, "needs a classifier"),
    ({"cv": 1}, "cv must be"),
    ({"target_coverage": None, "reject_cost": 1, "cv": "plug_in"}, "cv must be None"),
]


@pytest.mark.parametrize(("options", "message"), OF_REGRESSORS)
def test_regressors(options, message):
    options = {"estimator": LinearRegression(), "target_coverage": 0.5} | options
    with pytest.raises(ValueError, match=message):
        SelectiveRegressor(**options).fit(X, X[:, 0] ** 2)


# Functions of the user are called as documented


def nothing():
    return 0


def of_three(a, b, c):
    return np.zeros(len(a))


BAYES = GaussianNB()
DEFERRING = DeferringClassifier(BAYES, BAYES)


@pytest.mark.parametrize("function", [nothing, of_three, lambda *, X: X, len])
@pytest.mark.parametrize(
    ("estimator", "parameter", "wanted"),
    [
        (SelectiveClassifier(BAYES), "loss", "y_true, y_pred"),
        (SelectiveClassifier(BAYES), "uncertainty_score", "estimator, X"),
        (SelectiveClassifier(BAYES), "group_by", "X"),
        (SelectiveRegressor(LinearRegression(), reject_cost=1), "loss", "y_true, y_p"),
        (DEFERRING, "expert", "X"),
        (DEFERRING, "gain_score", "estimator, X"),
        (DEFERRING, "group_by", "X"),
        (DoubleScoreOODClassifier(BAYES, min_tpr=0.5), "novelty_score", "estimator, X"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_another_number_of_arguments_is_refused(estimator, parameter, wanted, function):
    if function is len and wanted == "X":
        return  # which is called like that
    model = clone(estimator).set_params(**{parameter: function})
    with pytest.raises(ValueError, match=rf"{parameter}.* callable \({wanted}"):
        model.fit(X, np.arange(120) % 3 - 1)


# Calls of what is fitted


@pytest.mark.filterwarnings("ignore:Fits to the folds")
def test_fold_without_a_class():
    # A classifier that knows one class only is certain, and always wrong here.
    options = {"estimator": GaussianNB(), "cv": PredefinedSplit(y)}
    assert fitting(options).rule_.selective_risk == 1


METHODS = ["predict", "predict_label", "uncertainty", "accept", "accept_proba"]
METHODS += ["predict_all", "predict_proba", "predict_log_proba", "decision_function"]


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    call = getattr(fitting({}), method)
    with pytest.raises(ValueError, match=r"3 features.*4 features"):
        call(X[:, :3])
    with pytest.raises(ValueError, match="a minimum of 1 is required"):
        call(X[:0])
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ValueError, match="feature names"):
        getattr(fitting({}, X=frame), method)(frame[list("dcba")])
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    for estimator in (LogisticRegression(), frozen):
        with pytest.raises(NotFittedError, match="SelectiveClassifier"):
            getattr(SelectiveClassifier(estimator), method)(X)


def test_score():
    with pytest.raises(NotFittedError, match="SelectiveClassifier"):
        SelectiveClassifier(LogisticRegression()).score(X, y)
    with pytest.raises(ValueError, match=mentions("119", "120")):
        fitting({}).score(X, y[:-1])
    with pytest.raises(ValueError, match=mentions("sample_weight", "row 5")):
        fitting({}).score(X, y, sample_weight=at_row_5(NAN))
    frozen = FrozenEstimator(GaussianNB())
    with pytest.raises(NotFittedError, match=r"GaussianNB|FrozenEstimator"):
        fitting({"estimator": frozen})


@pytest.mark.parametrize("score", ["auto", "margin"])
def test_an_inner_classifier_that_rejects_by_itself(score):
    X, y = load_iris(return_X_y=True)
    inner = SelectiveClassifier(LinearDiscriminantAnalysis(), target_coverage=0.5)
    outer = SelectiveClassifier(inner, target_coverage=0.8, uncertainty_score=score)
    with pytest.raises(ValueError, match=r"label -1, .*set its reject_label=None"):
        outer.fit(X, y)
    outer.set_params(estimator__reject_label=None)
    assert outer.fit(X, y).rule_.coverage == pytest.approx(0.8)
