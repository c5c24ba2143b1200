"""What goes wrong says what was given, what is expected, and the way out."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier
from sklearn_reject.exceptions import round_up
from sklearn_reject.scores import (
    CallableScore,
    ConditionalRisk,
    Margin,
    get_score_names,
)

X, y = make_classification(120, n_features=4, flip_y=0.2, random_state=0)
LOGISTIC = LogisticRegression()
FITTED = FrozenEstimator(GaussianNB().fit(X, y))


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """A classifier that gives labels and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class Stray(LabelsOnly):
    """A classifier that predicts a label which it never saw."""

    def predict(self, X):
        return np.repeat(99, len(X))

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


class Misshapen(LabelsOnly):
    """A classifier whose outputs are what `output` makes of the samples."""

    def __init__(self, output=None):
        self.output = output

    def predict_proba(self, X):
        return self.output(X)


class NotAClassifier:
    pass


def mentions(*parts):
    """Return a pattern that matches a message with all parts, in any order."""
    return "(?s)" + "".join(f"(?=.*{re.escape(part)})" for part in parts)


def refuse(selective, *parts, X=X, y=y, error=ValueError, **fit_params):
    with pytest.raises(error, match=mentions(*parts)) as caught:
        selective.fit(X, y, **fit_params)
    return caught.value


# Targets


@pytest.mark.parametrize(
    ("name", "interval"),
    [
        ("reject_cost", "[0, inf["),
        ("target_risk", "[0, inf["),
        ("target_coverage", "]0, 1]"),
    ],
)
@pytest.mark.parametrize(
    "value", [-0.1, np.nan, np.inf, -np.inf, True, False, "0.1", [0.1], 0.1j], ids=str
)
def test_target_out_of_range(name, interval, value):
    refuse(
        SelectiveClassifier(LOGISTIC, **{name: value}),
        f"{name} must be",
        interval,
        repr(value),
    )


@pytest.mark.parametrize("value", [0, 0.0, 1.0000001, 80])
def test_coverage_out_of_range(value):
    selective = SelectiveClassifier(LOGISTIC, target_coverage=value)
    refuse(selective, "target_coverage must be in ]0, 1]", repr(value))


@pytest.mark.parametrize(
    "targets",
    [
        {"reject_cost": 0.1, "target_risk": 0.2},
        {"reject_cost": 0.1, "target_coverage": 0.2},
        {"target_risk": 0.1, "target_coverage": 0.2},
        {"reject_cost": 0.0, "target_risk": 0.0, "target_coverage": 1.0},
    ],
    ids=str,
)
def test_more_than_one_target(targets):
    given = ", ".join(f"{name}={value}" for name, value in targets.items())
    refuse(SelectiveClassifier(LOGISTIC, **targets), "At most one", given, "None")


@pytest.mark.parametrize("cv", [None, 3, 0.5])
def test_risk_that_cannot_be_met(cv):
    labels = np.random.default_rng(0).integers(0, 2, len(X))
    selective = SelectiveClassifier(LOGISTIC, target_risk=0.0, cv=cv, random_state=0)
    score = CallableScore(lambda estimator, X: np.zeros(len(X)))
    selective.set_params(uncertainty_score=score)
    error = refuse(
        selective,
        "target risk 0",
        "lowest selective risk",
        "coverage 1",
        y=labels,
        error=InfeasibleTargetError,
    )
    # What it says can be met is met.
    assert error.coverage == 1
    assert round_up(error.attainable["target_risk"]) in str(error)
    selective.set_params(target_risk=error.attainable["target_risk"]).fit(X, labels)
    assert selective.rule_.coverage == 1


def test_risk_that_cannot_be_met_leaves_no_rule():
    selective = SelectiveClassifier(
        FITTED, target_risk=0.1, uncertainty_score=lambda _, X: np.arange(len(X))
    )
    wrong = 1 - GaussianNB().fit(X, y).predict(X)
    error = refuse(selective, "No threshold", y=wrong, error=InfeasibleTargetError)
    assert error.attainable == {"target_risk": 1}
    with pytest.raises(NotFittedError):
        selective.predict(X)


# The estimator


@pytest.mark.parametrize(
    ("estimator", "missing"),
    [
        (NotAClassifier(), "fit"),
        (StandardScaler(), "predict"),
        (None, "fit"),
        ("x", "fit"),
    ],
    ids=["object", "scaler", "None", "string"],
)
def test_estimator_without_method(estimator, missing):
    selective = SelectiveClassifier(LOGISTIC)
    selective.estimator = estimator
    with pytest.raises(
        ValueError, match=mentions("estimator must be a classifier", f"`{missing}`")
    ):
        selective.fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [LinearRegression(), make_pipeline(StandardScaler(), LinearRegression())],
    ids=["plain", "pipeline"],
)
def test_regressor(estimator):
    refuse(SelectiveClassifier(estimator), "classifier", "LinearRegression")


def test_estimator_without_scores():
    refuse(
        SelectiveClassifier(LabelsOnly()),
        "uncertainty_score='auto'",
        "LabelsOnly",
        "callable",
    )


@pytest.mark.parametrize(
    ("estimator", "score", "method"),
    [
        (LinearSVC(), "conditional_risk", "predict_proba"),
        (LinearSVC(), "entropy", "predict_proba"),
        (LinearSVC(), "top_two_gap", "predict_proba"),
        (GaussianNB(), "margin", "decision_function"),
        (LabelsOnly(), Margin(), "decision_function"),
        (LabelsOnly(), ConditionalRisk(), "predict_proba"),
    ],
    ids=str,
)
def test_estimator_without_what_the_score_needs(estimator, score, method):
    refuse(
        SelectiveClassifier(
            estimator, uncertainty_score=score, target_coverage=0.5, cv=2
        ),
        type(estimator).__name__,
        f"`{method}`",
        "uncertainty_score",
    )


def test_estimator_without_what_the_score_needs_says_so_where_no_data_are_needed():
    selective = SelectiveClassifier(
        LinearSVC(random_state=0), uncertainty_score="conditional_risk", reject_cost=0.3
    )
    with pytest.raises(ValueError, match=mentions("LinearSVC", "`predict_proba`")):
        selective.fit(X, y).predict(X)


def test_label_that_is_no_class():
    selective = SelectiveClassifier(Stray(), target_coverage=0.5)
    refuse(selective, "Stray.predict", "99", "[0, 1]")


@pytest.mark.parametrize(
    ("output", "parts"),
    [
        (lambda X: np.full((len(X), 3), 1 / 3), ["shape (24, 3)", "2 classes"]),
        (lambda X: np.full(len(X), 0.5), ["shape (24,)", "2 classes"]),
        (lambda X: np.full((len(X), 2), np.nan), ["not finite"]),
        (lambda X: np.full((len(X), 2), np.inf), ["not finite"]),
    ],
    ids=["columns", "vector", "nan", "inf"],
)
def test_probabilities_that_are_none(output, parts):
    selective = SelectiveClassifier(Misshapen(output), target_coverage=0.5)
    refuse(selective, "predict_proba", "Misshapen", *parts)


# Scores


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite(bad):
    def score(estimator, X):
        values = np.zeros(len(X))
        values[3] = bad
        return values

    selective = SelectiveClassifier(
        LOGISTIC, uncertainty_score=score, target_coverage=0.5
    )
    refuse(selective, "uncertainty_score must be finite", str(bad), "row 3")


def test_scores_that_are_not_finite_at_prediction():
    selective = SelectiveClassifier(
        LOGISTIC, uncertainty_score=lambda _, X: X[:, 0], target_coverage=0.5
    ).fit(X, y)
    selective.uncertainty_score_.function = lambda _, X: np.full(len(X), np.nan)
    for method in ("predict", "accept", "accept_proba", "uncertainty"):
        with pytest.raises(ValueError, match="uncertainty_score must be finite"):
            getattr(selective, method)(X)


@pytest.mark.parametrize(
    ("score", "shape"),
    [
        (lambda _, X: np.zeros((len(X), 1)), "(24, 1)"),
        (lambda _, X: np.zeros(len(X) - 1), "(23,)"),
        (lambda _, X: 0.0, "()"),
        (lambda _, X: None, "()"),
    ],
    ids=["column", "short", "scalar", "None"],
)
def test_scores_of_wrong_shape(score, shape):
    selective = SelectiveClassifier(
        LOGISTIC, uncertainty_score=score, target_coverage=0.5
    )
    refuse(selective, "uncertainty_score returned", f"shape {shape}", "24 samples")


@pytest.mark.parametrize(
    "score",
    [lambda _, X: np.full(len(X), "high"), lambda _, X: np.full(len(X), 1j)],
    ids=["text", "complex"],
)
def test_scores_that_are_no_numbers(score):
    selective = SelectiveClassifier(
        LOGISTIC, uncertainty_score=score, target_coverage=0.5
    )
    refuse(selective, "uncertainty_score must hold")


@pytest.mark.parametrize(
    "score", ["nonsense", "", 3, None, Margin, ["margin"]], ids=str
)
def test_score_that_is_none(score):
    refuse(
        SelectiveClassifier(LOGISTIC, uncertainty_score=score),
        "uncertainty_score must be",
        "'auto'",
        str(get_score_names()),
        repr(score),
    )


@pytest.mark.parametrize(
    ("score", "parts"),
    [
        (Margin(kind="least"), ["kind", "'top_two'", "'least'"]),
        (ConditionalRisk(decision="guess"), ["decision", "'bayes'", "'guess'"]),
    ],
    ids=str,
)
def test_score_object_with_unknown_option(score, parts):
    selective = SelectiveClassifier(
        LOGISTIC, uncertainty_score=score, target_coverage=0.5
    )
    refuse(selective, *parts)


# Losses


@pytest.mark.parametrize("loss", ["hinge", "", 5, None], ids=str)
def test_loss_that_is_none(loss):
    refuse(SelectiveClassifier(LOGISTIC, loss=loss), "loss", repr(loss))


def test_unknown_loss_lists_the_known_ones():
    selective = SelectiveClassifier(LOGISTIC, loss="hinge")
    refuse(selective, "'absolute', 'squared', 'zero_one'", "cost matrix", "'hinge'")


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (lambda t, p: np.where(t == p, 0.0, -1.0), ["non-negative", "-1.0"]),
        (lambda t, p: np.where(t == p, 0.0, np.nan), ["finite", "nan"]),
        (lambda t, p: np.where(t == p, 0.0, np.inf), ["finite", "inf"]),
        (lambda t, p: np.zeros((len(t), 2)), ["vector", "2)"]),
        (lambda t, p: np.zeros(len(t) + 1), ["losses", "samples"]),
        (lambda t, p: 0.0, ["losses", "vector"]),
    ],
    ids=["negative", "nan", "inf", "matrix", "long", "scalar"],
)
@pytest.mark.parametrize("score", ["entropy", "conditional_risk"])
def test_callable_loss_with_bad_values(function, parts, score):
    selective = SelectiveClassifier(
        LOGISTIC, loss=function, uncertainty_score=score, target_coverage=0.5
    )
    refuse(selective, *parts)


@pytest.mark.parametrize(
    ("costs", "parts"),
    [
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], ["(3, 3)", "(2, 2)"]),
        ([[0, 1]], ["(1, 2)", "(2, 2)"]),
        ([0, 1], ["(2,)", "(2, 2)"]),
        ([[0, np.nan], [1, 0]], ["cost matrix", "finite", "nan"]),
        ([[0, np.inf], [1, 0]], ["cost matrix", "finite", "inf"]),
        ([[0, -1], [1, 0]], ["cost matrix", "non-negative", "-1"]),
        ([["free", "dear"], ["dear", "free"]], ["loss", "cost matrix", "dear"]),
        ([[0, 1], [1]], ["loss", "cost matrix"]),
    ],
    ids=["large", "row", "vector", "nan", "inf", "negative", "text", "ragged"],
)
def test_cost_matrix(costs, parts):
    refuse(SelectiveClassifier(LOGISTIC, loss=costs), *parts)


def test_cost_matrix_of_other_size_than_a_frozen_classifier_s_classes():
    frozen = FrozenEstimator(GaussianNB().fit(X, np.arange(len(X)) % 3))
    selective = SelectiveClassifier(frozen, loss=[[0, 1], [1, 0]], target_coverage=0.5)
    refuse(selective, "(2, 2)", "3 labels", "(3, 3)")


def test_label_that_a_frozen_classifier_does_not_know():
    costs = [[0, 1], [1, 0]]
    selective = SelectiveClassifier(FITTED, loss=costs, target_coverage=0.5)
    refuse(selective, "y_true", "7", "[0, 1]", y=np.where(y == 1, 7, 0))


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_difference_of_names(loss):
    labels = np.array(["low", "high"])[y]
    selective = SelectiveClassifier(LOGISTIC, loss=loss, target_coverage=0.5)
    refuse(selective, f"loss='{loss}'", "numeric", "cost matrix", y=labels)


# Weights


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        (np.where(np.arange(120) == 5, -1.0, 1.0), ["non-negative", "-1.0", "row 5"]),
        (np.zeros(120), ["zero for every sample", "None"]),
        (np.where(np.arange(120) == 5, np.nan, 1.0), ["finite", "nan", "row 5"]),
        (np.where(np.arange(120) == 5, np.inf, 1.0), ["finite", "inf", "row 5"]),
        (np.ones(119), ["119", "120"]),
        (np.ones(0), ["empty"]),
        (np.ones((120, 2)), ["vector", "(120, 2)"]),
        (np.full(120, "heavy"), ["numbers"]),
    ],
    ids=["negative", "zero", "nan", "inf", "short", "empty", "matrix", "text"],
)
@pytest.mark.parametrize("estimator", [GaussianNB(), FITTED], ids=["fresh", "frozen"])
def test_weights(estimator, weight, parts):
    selective = SelectiveClassifier(estimator, target_coverage=0.5)
    refuse(selective, "sample_weight", *parts, sample_weight=weight)
    selective.fit(X, y)
    with pytest.raises(ValueError, match=mentions("sample_weight", *parts)):
        selective.score(X, y, sample_weight=weight)


def test_weights_for_a_classifier_that_takes_none():
    refuse(
        SelectiveClassifier(KNeighborsClassifier(), target_coverage=0.5),
        "sample_weight",
        "KNeighborsClassifier.fit does not take",
        "set_fit_request(sample_weight=True)",
        sample_weight=np.ones(len(X)),
    )


def test_no_fold_has_weight():
    weight = np.zeros(len(X))
    weight[:60] = 1
    splits = [(np.arange(60), np.arange(60, 120))]
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=splits)
    refuse(selective, "sample_weight", "zero", sample_weight=weight)


def test_unknown_fit_parameter():
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5)
    with pytest.raises(TypeError, match="sample_wait"):
        selective.fit(X, y, sample_wait=np.ones(len(X)))


# The reject label


@pytest.mark.parametrize(
    ("label", "classes"),
    [
        (1, [0, 1]),
        (1.0, [0, 1]),
        (True, [0, 1]),
        (np.int8(0), [0, 1]),
        ("b", ["a", "b"]),
        (False, [False, True]),
        (0, [False, True]),
    ],
    ids=str,
)
def test_reject_label_that_is_a_class(label, classes):
    refuse(
        SelectiveClassifier(LOGISTIC, reject_label=label),
        f"reject_label={label!r}",
        str(classes),
        "'auto'",
        y=np.array(classes)[y],
    )


@pytest.mark.parametrize("label", [np.nan, float("nan"), np.float32("nan")])
def test_reject_label_nan(label):
    refuse(
        SelectiveClassifier(LOGISTIC, reject_label=label),
        "reject_label",
        "NaN",
        "'auto'",
    )


@pytest.mark.parametrize(
    "label", [[-1], (-1,), {"a": 1}, np.array([-1]), object, b"x"], ids=str
)
def test_reject_label_that_is_no_label(label):
    selective = SelectiveClassifier(LOGISTIC)
    selective.reject_label = label
    with pytest.raises(
        ValueError, match=mentions("reject_label must be 'auto', None", repr(label))
    ):
        selective.fit(X, y)


def test_reject_label_that_is_a_class_of_a_frozen_classifier():
    frozen = FrozenEstimator(GaussianNB().fit(X, np.arange(len(X)) % 3))
    selective = SelectiveClassifier(frozen, reject_label=2)
    refuse(selective, "reject_label=2", "[0, 1, 2]")


# cv and switches


@pytest.mark.parametrize("cv", [0, 1, -3, True, False])
def test_cv_too_few_folds(cv):
    refuse(SelectiveClassifier(LOGISTIC, cv=cv), "cv must be", "2", repr(cv))


@pytest.mark.parametrize("cv", [0.0, 1.0, 1.5, -0.2, np.nan, np.inf])
def test_cv_share(cv):
    refuse(SelectiveClassifier(LOGISTIC, cv=cv), "cv", "share", "]0, 1[", repr(cv))


@pytest.mark.parametrize("cv", ["five", LogisticRegression], ids=["text", "class"])
def test_cv_that_is_none(cv):
    with pytest.raises((ValueError, TypeError), match="cv"):
        SelectiveClassifier(LOGISTIC, cv=cv).fit(X, y)


@pytest.mark.parametrize("cv", [3, 0.5, [(np.arange(60), np.arange(60, 120))]], ids=str)
def test_cv_of_a_frozen_estimator(cv):
    refuse(SelectiveClassifier(FITTED, cv=cv), "cv=", "FrozenEstimator", "cv=None")


@pytest.mark.parametrize(
    "cv", [[], [(np.arange(120), np.arange(0))]], ids=["none", "empty"]
)
def test_cv_without_samples_to_judge(cv):
    refuse(SelectiveClassifier(LOGISTIC, cv=cv), "cv", "no samples")


def test_cv_more_folds_than_samples_of_a_class():
    selective = SelectiveClassifier(LOGISTIC, target_coverage=0.5, cv=80)
    refuse(selective, "n_splits=80")


def test_cv_that_needs_groups():
    selective = SelectiveClassifier(
        LOGISTIC, target_coverage=0.5, cv=LeaveOneGroupOut()
    )
    refuse(selective, "groups")


def test_fold_without_a_class():
    cv = PredefinedSplit(y)
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=cv)
    rule = selective.fit(X, y).rule_
    # A classifier that knows one class only is certain, and always wrong here.
    assert rule.selective_risk == 1


@pytest.mark.parametrize("value", ["yes", None, 2, 0.5])
def test_randomize_that_is_no_switch(value):
    selective = SelectiveClassifier(LOGISTIC, randomize=value, target_coverage=0.5)
    refuse(selective, "randomize", repr(value))


@pytest.mark.parametrize(
    ("value", "part"), [("seed", "'seed'"), (-1, "Seed must be"), (0.5, "0.5")]
)
def test_random_state_that_is_none(value, part):
    selective = SelectiveClassifier(
        GaussianNB(), random_state=value, target_coverage=0.5, cv=0.3
    )
    refuse(selective, part)


# Samples and labels


@pytest.mark.parametrize(
    ("X_bad", "y_bad", "parts"),
    [
        (np.empty((0, 4)), np.empty(0, dtype=int), ["0 sample"]),
        (X, y[:-1], ["inconsistent", "119", "120"]),
        (X, np.linspace(0, 1, 120), ["continuous"]),
        (X, np.column_stack([y, y]), ["y", "(120, 2)"]),
        (X, np.where(np.arange(120) == 2, np.nan, y), ["NaN"]),
        (X, None, ["y"]),
        (np.where(np.isclose(X, X[3, 2]), np.nan, X), y, ["NaN"]),
        (np.where(np.isclose(X, X[3, 2]), np.inf, X), y, ["inf"]),
        (X[:, 0], y, ["2D"]),
    ],
    ids=[
        "empty",
        "length",
        "continuous",
        "columns",
        "nan label",
        "None",
        "nan",
        "inf",
        "1d",
    ],
)
@pytest.mark.parametrize(
    "arguments", [{}, {"target_coverage": 0.5}, {"cv": 0.3}], ids=str
)
def test_samples(X_bad, y_bad, parts, arguments):
    selective = SelectiveClassifier(LOGISTIC, **arguments)
    refuse(selective, *parts, X=X_bad, y=y_bad)


@pytest.mark.parametrize(
    "method",
    [
        "predict",
        "predict_label",
        "uncertainty",
        "accept",
        "accept_proba",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
    ],
)
class TestMethods:
    def test_other_columns_than_in_fit(self, method):
        selective = SelectiveClassifier(LOGISTIC, target_coverage=0.5).fit(X, y)
        with pytest.raises(ValueError, match=r"3 features.*4 features"):
            getattr(selective, method)(X[:, :3])

    def test_other_names_than_in_fit(self, method):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(X, columns=list("abcd"))
        selective = SelectiveClassifier(LOGISTIC, target_coverage=0.5).fit(frame, y)
        with pytest.raises(ValueError, match="feature names"):
            getattr(selective, method)(frame[list("dcba")])

    def test_no_samples(self, method):
        selective = SelectiveClassifier(LOGISTIC, target_coverage=0.5).fit(X, y)
        assert len(getattr(selective, method)(X[:0])) == 0

    def test_not_fitted(self, method):
        with pytest.raises(NotFittedError, match="SelectiveClassifier"):
            getattr(SelectiveClassifier(LOGISTIC), method)(X)

    def test_not_fitted_around_a_frozen_classifier(self, method):
        frozen = FrozenEstimator(LogisticRegression().fit(X, y))
        with pytest.raises(NotFittedError, match="SelectiveClassifier"):
            getattr(SelectiveClassifier(frozen), method)(X)


def test_score_before_fit():
    with pytest.raises(NotFittedError, match="SelectiveClassifier"):
        SelectiveClassifier(LOGISTIC).score(X, y)


def test_score_of_labels_of_other_length():
    selective = SelectiveClassifier(LOGISTIC).fit(X, y)
    with pytest.raises(ValueError, match=mentions("119", "120")):
        selective.score(X, y[:-1])


def test_fit_that_fails_midway_is_no_fit():
    selective = SelectiveClassifier(
        FITTED,
        uncertainty_score=lambda _, X: np.full(len(X), np.nan),
        target_coverage=0.5,
    )
    refuse(selective, "finite")
    with pytest.raises(NotFittedError):
        check_is_fitted(selective)


def test_frozen_classifier_that_is_not_fitted():
    selective = SelectiveClassifier(FrozenEstimator(GaussianNB()), target_coverage=0.5)
    with pytest.raises(NotFittedError, match=r"GaussianNB|FrozenEstimator"):
        selective.fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"random_state": "x"}, "x"),
        (
            {"uncertainty_score": ConditionalRisk(decision="x")},
            "decision must be one of",
        ),
        ({"loss": lambda y, k: -1.0 * (y != k)}, "losses must be non-negative"),
        ({"randomize": "no"}, "randomize must be one of"),
        ({"randomize": np.array([True, False])}, "randomize must be one of"),
    ],
)
def test_fit_refuses_what_predict_could_not_use(options, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(GaussianNB(), **options).fit(X, y)


@pytest.mark.parametrize("score", ["auto", "margin"])
def test_an_inner_classifier_that_rejects_by_itself(score):
    X, y = load_iris(return_X_y=True)
    inner = SelectiveClassifier(LinearDiscriminantAnalysis(), target_coverage=0.5)
    outer = SelectiveClassifier(inner, target_coverage=0.8, uncertainty_score=score)
    with pytest.raises(ValueError, match=r"label -1, .*set its reject_label=None"):
        outer.fit(X, y)
    outer.set_params(estimator__reject_label=None)
    assert outer.fit(X, y).rule_.coverage == pytest.approx(0.8)
