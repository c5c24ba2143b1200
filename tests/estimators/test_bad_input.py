"""What goes wrong says what was given, what is expected, and the way out."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
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

from sklearn_reject import SelectiveClassifier, SelectiveRegressor
from sklearn_reject.scores import KNN, Margin, get_score_names
from tests.estimators import models
from tests.estimators.models import BAYES, CLASSIFIER, DEFERRING, REGRESSOR

X, y = make_classification(120, n_features=4, flip_y=0.2, random_state=0)
NAN, INF = float("nan"), float("inf")
ROWS = np.arange(120)
REGIONS = np.array(["east", "north", "west"])[ROWS % 3]
FRAME = pd.DataFrame(X, columns=[*"abcd"]).assign(region=REGIONS)
TWICE = pd.concat([FRAME, FRAME[["region"]]], axis=1)
GAP = FRAME.assign(region=FRAME["region"].where(FRAME.index != 7))
FITTED = FrozenEstimator(GaussianNB().fit(X, y))
FROZEN = {"estimator": FITTED}
OF_ONE = {"estimator": FrozenEstimator(GaussianNB().fit(X, 0 * y))}
OF_THREE = {"estimator": FrozenEstimator(GaussianNB().fit(X, ROWS % 3))}


class Never(LogisticRegression):
    """Is not to be fitted, as the error comes first."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("it was fitted")


class Labeler(ClassifierMixin, BaseEstimator):
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
    if not any(name.startswith(("target", "reject_cost", "min_")) for name in options):
        options["target_coverage"] = 0.5
    return SelectiveClassifier(**options).fit(X, y, **fit_params)


def refusing(options, words, **data):
    with pytest.raises(ValueError, match=mentions(*words)):
        fitting(options, **data)


def at_row_5(value):
    return np.where(ROWS == 5, value, 1.0)


def place_of(X):
    return ROWS % 3


def absolute(y_true, y_pred):
    return np.abs(y_true - y_pred)


NO_NUMBERS = [-0.1, NAN, INF, -INF, True, False, "0.1", [0.1], 0.1j]
OF_SCORES = ["uncertainty_score must be", "'auto'", str(get_score_names())]
# A parameter, values that it cannot have, and words of the message, which shows them.
BAD_VALUES = [
    ("reject_cost", NO_NUMBERS, ["reject_cost must be", "[0, inf)"]),
    ("target_risk", NO_NUMBERS, ["target_risk must be", "[0, inf)"]),
    (
        "target_coverage",
        [*NO_NUMBERS, 0, 1.0000001, 80],
        ["_coverage must be", "(0, 1]"],
    ),
    ("target_failure_rate", [0], ["target_failure_rate must be in (0, "]),
    ("min_recall", [1.2, 0.0], ["min_recall must be in (0, 1], got"]),
    ("min_recall", [[0.9, 0.8]], ["must be a number or a dict class"]),
    ("min_precision", ["high"], ["min_precision must be a number"]),
    ("uncertainty_score", ["nonsense", "", 3, None, Margin, ["margin"]], OF_SCORES),
    ("loss", ["hinge", "", 5, None], ["'absolute'", "'zero_one'", "cost matrix"]),
    ("cv", [0, 1, -3, True, False], ["cv must be", "2"]),
    ("cv", [0.0, 1.0, 1.5, -0.2, NAN, INF], ["cv", "share", "(0, 1)"]),
    ("randomize", ["yes", None, 2, 0.5, np.array([True])], ["randomize must be one"]),
    ("group_by", [True, 3.0, ["region"]], ["must be None, 'prediction', 'class'"]),
]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [(name, value, words) for name, values, words in BAD_VALUES for value in values],
)
def test_values(name, value, words):
    refusing({name: value, "estimator": Never()}, [repr(value), *words])


CERTIFIED = {"confidence_level": 0.9, "cv": 0.3}
PLAIN = {"cv": "plug_in"}
BY_CLASS = {"group_by": "class"}
RATE = "target_failure_rate"
NEIGHBORS = {"estimator": KNeighborsClassifier()}
WAY_OUT = "call `set_fit_request(sample_weight=True)`"
PLACED = {"estimator": Never(), "target_risk": 0.1}
FAILURES = BY_CLASS | {RATE: 0.06, "cv": 0.5}
# Options, and words of a message that comes before anything is fitted.
OF_OPTIONS = [
    *(
        (targets, ["At most one", *(f"{k}={v}" for k, v in targets.items()), "None"])
        for targets in (
            {"reject_cost": 0.1, "target_risk": 0.2},
            {"target_risk": 0.1, "target_coverage": 0.2},
            {"reject_cost": 0.0, "target_risk": 0.0, "target_coverage": 1.0},
            {"min_recall": 0.9, "reject_cost": 0.1},
        )
    ),
    ({"min_recall": 0.9, "target_risk": 0.1}, ["min_recall may be combined"]),
    # Largest losses
    *(
        (CERTIFIED | {"target_risk": 2.0, "loss": loss}, ["max_loss is needed"])
        for loss in ("absolute", "squared", absolute)
    ),
    (FAILURES | {"loss": "absolute"}, [f"max_loss is needed to promise a {RATE}"]),
    ({RATE: 0.05, "loss": "absolute"}, ["max_loss is needed to promise"]),
    (CERTIFIED | {RATE: 0.05, "loss": "absolute"}, ["max_loss is needed to certify"]),
    ({"max_loss": 5.0, "loss": [[0, 9], [1, 0]]}, ["max_loss=5.0 is below 9"]),
    # Splits and seeds
    ({"cv": "five"}, ["cv"]),
    ({"cv": []}, ["cv", "no samples"]),
    ({"cv": [(ROWS, ROWS[:0])]}, ["cv", "no samples"]),
    ({"cv": 80}, ["n_splits=80"]),
    ({"cv": LeaveOneGroupOut()}, ["groups"]),
    ({"cv": 0.3, "random_state": "seed"}, ["'seed'"]),
    ({"cv": 0.3, "random_state": -1}, ["Seed must be"]),
    ({"cv": 0.3, "random_state": 0.5}, ["0.5"]),
    # Plain rules and certificates
    *(
        (PLAIN | options, ["cv='plug_in' compares a reject_cost", words])
        for options, words in (
            ({"target_risk": 0.2}, "not target_risk=0.2 with uncertainty"),
            ({"target_coverage": 0.5}, "not target_coverage=0.5"),
            ({"reject_cost": 0.2, "uncertainty_score": "margin"}, "='margin'"),
            ({"reject_cost": 0.2, "uncertainty_score": "sele"}, "='sele'"),
            ({"min_recall": 0.9}, "not min_recall=0.9"),
            (BY_CLASS | {"target_risk": 0.1}, "not target_risk"),
            (BY_CLASS | {RATE: 0.06}, f"and not {RATE}=0.06 with uncertainty"),
        )
    ),
    *(
        (
            CERTIFIED | options | {"cv": 5},
            ["confidence_level=0.9 needs samples on which", "cv=5 leaves none"],
        )
        for options in ({"target_risk": 0.3}, {"min_recall": 0.9}, FAILURES)
    ),
    *(
        (OF_THREE | CERTIFIED | {"cv": 3, "uncertainty_score": score}, ["leaves none"])
        for score in ("sele", KNN())
    ),
    (CERTIFIED | {"reject_cost": 0.3}, ["A reject_cost has no bound"]),
    (CERTIFIED | {"confidence_level": 1.0}, ["confidence_level must be"]),
    (CERTIFIED | {"confidence_level": 90}, ["confidence_level must be"]),
    # Bounds on classes
    *(
        (BY_CLASS | options, [words])
        for options, words in (
            ({"target_coverage": 0.5}, "target_risk or target_failure_rate, which"),
            ({"target_coverage": 0.5}, "got target_coverage=0.5"),
            ({"reject_cost": 0.2}, "got reject_cost=0.2"),
            ({"target_coverage": None}, "got reject_cost=0.5"),
            ({"min_recall": 0.9}, "cannot be combined with min_recall=0.9"),
            ({"target_risk": {5: 0.1}}, "has a bound for 5, which is not one"),
            ({"target_risk": {0: -0.1}}, "0 must be in [0, inf"),
            ({RATE: {5: 0.1}}, f"{RATE} has a bound for 5, which is not one of"),
            ({RATE: {}}, f"{RATE} is an empty dict"),
            ({RATE: {0: 0}}, "0 must be in (0, "),
        )
    ),
    ({"min_recall": 0.9, "group_by": "prediction"}, ["Pass group_by=None, or a"]),
    ({"min_recall": {2: 0.9}}, ["min_recall has a bound for 2, which is not one of"]),
    ({"min_recall": {"1": 0.9}}, ["has a bound for '1', which is not one of"]),
    ({"min_recall": {0: 0.0}}, ["min_recall of 0 must be in (0, 1]"]),
    ({"min_precision": {}}, ["min_precision is an empty dict"]),
    ({"min_recall": 0.9, "loss": [[0, 1], [2, 0]]}, ["Use loss='zero_one'"]),
    ({"min_recall": 0.9, "loss": "absolute"}, ["Use loss='zero_one'"]),
    # Groups
    ({"group_by": "region"}, ["not a column of X", "an array"]),
    ({"group_by": 4}, ["group_by=4 is not a column", "shape (120, 4)"]),
    ({"group_by": -5}, ["group_by=-5 is not a column"]),
    ({"group_by": lambda X: X[:, :2]}, ["shape (120, 2)"]),
    ({"group_by": lambda X: X[:5, 3]}, ["5 labels for 120 samples"]),
    ({"group_by": lambda X: 3}, ["one label per sample"]),
    ({"group_by": sparse.csr_array}, ["one label per sample"]),
    ({"group_by": lambda X: np.where(ROWS % 3 == 1, NAN, 1)}, ["row 1 ", "40 such"]),
    *(
        ({"group_by": place_of, "target_risk": targets}, words)
        for targets, words in (
            ({**dict.fromkeys(range(4), 0.1)}, ["target_risk has a value for 3"]),
            ({**dict.fromkeys(range(4), 0.1)}, ["groups are 0, 1, 2"]),
            ({0: 0.1}, ["no value for 1, 2"]),
            ({0: 0.1, 1: -1, 2: 0.1}, ["target_risk of the group 1 must be in"]),
        )
    ),
    ({"target_risk": {0: 0.1}}, ["a value for each group, but group_by=None"]),
]


@pytest.mark.parametrize(("options", "words"), OF_OPTIONS)
def test_options_before_anything_is_fitted(options, words):
    refusing({"estimator": Never()} | options, words)


def losing(value):
    return lambda y_true, y_pred: np.where(y_true == y_pred, 0.0, value)


USED = "uncertainty_score"
NO_CLASSIFIER = ["estimator must be a classifier"]
# Options, and words of other messages.
OF_FITS = [
    # The estimator
    *(({"estimator": x}, [*NO_CLASSIFIER, "`fit`"]) for x in (object(), None, "x")),
    ({"estimator": StandardScaler()}, [*NO_CLASSIFIER, "`predict`"]),
    *(
        ({"estimator": x}, ["must be a classifier", "LinearRegression"])
        for x in (LinearRegression(), make_pipeline(LinearRegression()))
    ),
    ({"estimator": Labeler()}, ["uncertainty_score='auto'", "Labeler", "callable"]),
    # Scores
    *(
        ({"estimator": estimator, "uncertainty_score": score}, [USED, *words])
        for estimator, score, words in (
            (LinearSVC(), "conditional_risk", ["LinearSVC", "`predict_proba`"]),
            (BAYES, "margin", ["GaussianNB", "`decision_function`"]),
            (BAYES, "likelihood_ratio", ["learns from OOD samples", "DoubleScore"]),
            (BAYES, "nearest", ["a novelty score such as", "'knn'"]),
        )
    ),
    (
        {"uncertainty_score": "sele", "cv": ShuffleSplit(1)},
        ["at least two splits with different test"],
    ),
    # Losses
    *(
        ({"loss": loss}, words)
        for loss, words in (
            (losing(-1.0), ["non-negative", "-1.0"]),
            (losing(NAN), ["finite", "nan"]),
            (lambda t, p: np.zeros(len(t) + 1), ["losses", "samples"]),
            (lambda t, p: 0.0, ["losses", "vector"]),
            ([[0, 1]], ["(1, 2)", "(2, 2)"]),
            ([[0, 1], [1]], ["loss", "cost matrix"]),
        )
    ),
    (OF_THREE | {"loss": [[0, 1], [1, 0]]}, ["(2, 2)", "3 labels", "(3, 3)"]),
    # Splits
    *(
        (FROZEN | {"cv": cv}, ["cv=", "FrozenEstimator", "cv=None"])
        for cv in (3, 0.5, [(ROWS[:60], ROWS[60:])])
    ),
    # What cannot be certified
    (CERTIFIED | {"target_risk": 1e-3}, ["at least 2302 are needed"]),
    *(
        (CERTIFIED | options, [f"of {part} cannot certify the target risk 0"])
        for options, part in (
            (BY_CLASS | {"target_risk": {0: 0}}, "target_risk[0]"),
            ({"min_recall": {0: 1.0}}, "1 - recall[0]"),
        )
    ),
    (
        FAILURES | {RATE: {0: 0.01, 1: 0.1}},
        [f"samples of {RATE}[0]", "at least 99 are"],
    ),
    # Numbers for a positive class, which there is none of
    (OF_THREE | {"min_recall": 0.9}, ["Pass a dict", "min_recall={2: 0.9}"]),
]


@pytest.mark.parametrize(("options", "words"), OF_FITS)
def test_options(options, words):
    refusing(options, words)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("names", ["no yes", "0 1", "1 2"])
@pytest.mark.parametrize("kind", [str, object, int])
def test_a_number_needs_labels_that_tell_which_is_positive(names, kind):
    if kind is int and names != "1 2":
        return  # numbers that tell
    labels = np.array(names.split(), kind)
    second = labels.tolist()[1]
    way_out = f"min_recall={{{second!r}: 0.9}}"
    refusing({"min_recall": 0.9}, ["is known of", way_out], y=labels[y])
    by_dict = fitting({"min_recall": {second: 0.9}}, y=labels[y])
    assert by_dict.rule_ == fitting({"min_recall": 0.9}).rule_


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
            ({"y": np.where(ROWS == 2, NAN, y)}, ["NaN"]),
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
            (np.ones(119), ["119", "120"]),
            (np.ones(0), ["empty"]),
            (np.ones((120, 2)), ["vector", "(120, 2)"]),
            (np.full(120, "heavy"), ["numbers"]),
        )
    ),
    ({"cv": [(ROWS[:60], ROWS[60:])]}, {"sample_weight": 1.0 * (ROWS < 60)}, ["zero"]),
    (FROZEN | {"loss": [[0, 1], [1, 0]]}, {"y": 7 * y}, ["y_true", "7", "[0, 1]"]),
    *(
        (options, {"sample_weight": np.ones(120)}, words)
        for options, words in (
            (NEIGHBORS, ["KNeighborsClassifier.fit does not take it", WAY_OUT]),
            (CERTIFIED, ["confidence_level cannot be combined with"]),
            (
                CERTIFIED | {"min_recall": 0.8},
                ["confidence_level needs max_weight"],
            ),
            (CERTIFIED | {"group_by": place_of}, ["confidence_level cannot be"]),
            (FAILURES, [f"{RATE} cannot be combined with"]),
            ({RATE: 0.05}, [f"{RATE} needs max_weight with"]),
        )
    ),
    (OF_ONE | {"min_recall": 0.9}, {"y": 0 * y}, ["positive class", "classes are 0"]),
    # Columns that make groups
    (PLACED | {"group_by": 4}, {"X": X.tolist()}, ["group_by=4 is not a column"]),
    (
        PLACED | {"group_by": 0},
        {"X": np.array(["text"] * 120)},
        ["has the shape (120,)"],
    ),
    *(
        (PLACED | options, {"X": data}, words)
        for options, data, words in (
            (
                {"group_by": "place"},
                FRAME,
                ["not a column of X", "'region']", "inside"],
            ),
            *(
                (
                    {"group_by": word},
                    FRAME.rename(columns={"region": word}),
                    [f"Rename the column, or pass group_by=lambda X: X[{word!r}]"],
                )
                for word in ("prediction", "class")
            ),
            ({"group_by": "region"}, TWICE, ["must be a vector"]),
            ({"group_by": "region"}, GAP, ["'region' has no label", "in row 7"]),
        )
    ),
]


@pytest.mark.parametrize(("options", "data", "words"), OF_SAMPLES)
def test_samples(options, data, words):
    refusing(options, words, **data)


# Options of a regressor, and words that must be in the message.
OF_REGRESSORS = [
    ({"target_coverage": None}, "One of reject_cost, target_risk, .* must be given"),
    ({"reject_cost": 1}, "At most one of"),
    ({"estimator": BAYES}, "estimator must be a regressor, got GaussianNB"),
    ({"estimator": 3}, "estimator must be a regressor"),
    *(
        ({"loss": loss}, "'squared', 'absolute' or a callable")
        for loss in ("mae", "hinge", "zero_one", [[0, 1], [1, 0]], None)
    ),
    ({"loss": lambda y_true, y_pred: np.ones((len(y_true), 2))}, "must be a vector"),
    ({"max_loss": -5}, "max_loss must be in"),
    ({"loss": "absolute", "max_loss": 0.01}, r"above max_loss=0\.01"),
    *(
        ({"target_coverage": None, RATE: 8} | options, "max_loss is needed to")
        for options in ({}, CERTIFIED, CERTIFIED | {"loss": absolute})
    ),
    ({"target_coverage": None, RATE: 1, "max_loss": 1.5}, "clip the losses"),
    ({"uncertainty_score": "conditional_risk"}, "`predict_proba`"),
    ({"uncertainty_score": "conditional_risk"}, "got LinearRegression"),
    ({"uncertainty_score": "true_class_probability"}, "needs a classifier"),
    *(
        ({"uncertainty_score": name}, r"class labels.*'knn'|which a regressor|OOD s")
        for name in sorted({*get_score_names("novelty")} - {"knn", "outlier_detector"})
    ),
    ({"cv": 1}, "cv must be"),
    ({"target_coverage": None, "reject_cost": 1, "cv": "plug_in"}, "cv must be None"),
    ({"group_by": "prediction"}, "is for classes, and a regressor has none.*column"),
    ({"group_by": "class"}, "'class' is for classes, and a regressor has none"),
]


@pytest.mark.parametrize(("options", "message"), OF_REGRESSORS)
def test_regressors(options, message):
    options = {"estimator": LinearRegression(), "target_coverage": 0.5} | options
    with pytest.raises(ValueError, match=message):
        SelectiveRegressor(**options).fit(X, X[:, 0] ** 2)


# Splits that are given

HALF = np.arange(10) < 5


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ((HALF, ~HALF), "120 samples: boolean index"),
        ((np.arange(50), np.arange(50, 121)), "120 samples: index 120 is out"),
        ((np.arange(50.0), np.arange(50, 100)), "must be of integer"),
    ],
    ids=["mask", "row", "float"],
)
@pytest.mark.parametrize(
    "model",
    [CLASSIFIER, REGRESSOR, DEFERRING, models.DOUBLE, models.DECODER, models.TUNER],
    ids=lambda model: type(model).__name__,
)
def test_splits_of_other_samples_are_refused(model, split, message):
    asked = {"target_coverage": 0.5, "min_tpr": 0.5, "max_fp_per_tp": 9}
    asked = {name: value for name, value in asked.items() if hasattr(model, name)}
    with pytest.raises(ValueError, match=f"(?s){message}.*mask of all samples"):
        clone(model).set_params(cv=[split], **asked).fit(X, y)


# Functions of the user are called as documented


def nothing():
    return 0


def of_three(a, b, c):
    return np.zeros(len(a))


@pytest.mark.parametrize("function", [nothing, of_three, lambda *, X: X, len])
@pytest.mark.parametrize(
    ("estimator", "parameter", "wanted"),
    [
        (CLASSIFIER, "loss", "y_true, y_pred"),
        (CLASSIFIER, "uncertainty_score", "estimator, X"),
        (CLASSIFIER, "group_by", "X"),
        (clone(REGRESSOR).set_params(reject_cost=1), "loss", "y_true, y_pred"),
        (DEFERRING, "expert", "X"),
        (DEFERRING, "gain_score", "estimator, X"),
        (DEFERRING, "group_by", "X"),
        (clone(models.DOUBLE).set_params(min_tpr=0.5), "novelty_score", "estimator, X"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_another_number_of_arguments_is_refused(estimator, parameter, wanted, function):
    if function is len and wanted == "X":
        return  # which is called like that
    model = clone(estimator).set_params(**{parameter: function})
    with pytest.raises(ValueError, match=rf"{parameter}.* callable \({wanted}"):
        model.fit(X, ROWS % 3 - 1)


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
    frame = FRAME[[*"abcd"]]
    with pytest.raises(ValueError, match="feature names"):
        getattr(fitting({}, X=frame), method)(frame[[*"dcba"]])
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
