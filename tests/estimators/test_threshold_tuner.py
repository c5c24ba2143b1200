"""The tuner of joint thresholds: who is fitted, which thresholds result, and errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point, optimal_path

RULES = ("any", "all")
METHODS = ["graph", pytest.param("analytic", marks=pytest.mark.slow), "direct"]
PRICE = {"max_fp_per_tp": 2}
TARGETS = [
    PRICE,
    {"max_alerts": 40},
    {"min_recall": 0.6},
    {"min_precision": 0.8},
    {"objective": "f1"},
]


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier that has labels only."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def rare_events(n=1500):
    return make_classification(
        n,
        n_features=12,
        n_informative=6,
        n_redundant=2,
        weights=[0.9],
        flip_y=0.02,
        shuffle=False,
        random_state=0,
    )


def two_views(kind=LogisticRegression):
    return [("left", kind(), slice(0, 3)), ("right", kind(), slice(3, 12))]


def logged(n=800, seed=0):
    """Scores of classifiers that see the truth through noise, and labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.1).astype(int)
    return rng.normal(size=(n, 2)) + 1.5 * y[:, np.newaxis], y


def tuner(estimators=None, **options):
    return EnsembleThresholdTuner(estimators, **(PRICE | options))


# What is tuned


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: next(iter(target)))
def test_logged_scores_are_tuned_as_arrays_are(rule, method, target):
    scores, y = logged()
    options = {"rule": rule, "method": method, "n_thresholds": 30, **target}
    model = EnsembleThresholdTuner(None, **options).fit(scores, y)
    point = model.operating_point_
    assert point.to_dict() == operating_point(scores, y, **options).to_dict()
    predicted = point.predict(scores)
    np.testing.assert_array_equal(model.predict(scores), predicted.astype(int))
    np.testing.assert_array_equal(model.decision_function(scores) > 0, predicted)
    assert (point.fp, point.tp) == ((predicted > y).sum(), (predicted & y).sum())
    np.testing.assert_array_equal(model.thresholds_, point.thresholds)
    vertex = point.vertex
    np.testing.assert_array_equal(model.path_.thresholds[vertex], point.thresholds)
    assert (model.path_.fp[vertex], model.path_.tp[vertex]) == (point.fp, point.tp)
    assert (model.n_features_in_, model.estimators_) == (2, [])
    if method != "direct":
        path = optimal_path(scores, y, rule=rule, method=method, n_thresholds=30)
        assert model.area_ == path.area


@pytest.mark.parametrize("rule", RULES)
def test_area_is_that_of_the_decision_function(rule):
    scores, y = logged()
    model = tuner(rule=rule).fit(scores, y)
    auc = roc_auc_score(y, model.decision_function(scores))
    assert model.score(scores, y) == pytest.approx(auc)
    assert model.area_ == pytest.approx(auc * y.sum() * (1 - y).sum())


def test_unrated_documents_train_no_classifier_and_are_never_predicted():
    X, y = rare_events()
    is_rated = np.random.default_rng(0).random(len(y)) < 0.7
    model = tuner([("only", LogisticRegression())])
    model.fit(X, np.where(is_rated, y, -1), inclusion_proba=0.7)
    alone = LogisticRegression().fit(X[is_rated], y[is_rated])
    np.testing.assert_allclose(model.estimators_[0].coef_, alone.coef_)
    scores, truth = logged(3000)
    is_rated = (scores >= 1.0).any(axis=1)
    model = tuner().fit(scores, np.where(is_rated, truth, -1))
    predicted = model.predict(scores) == 1
    assert predicted.any()
    assert is_rated[predicted].all()
    assert (model.base_thresholds_ > scores[~is_rated].max(axis=0)).all()
    same = tuner().fit(scores, np.where(is_rated, truth, np.nan))
    np.testing.assert_array_equal(same.thresholds_, model.thresholds_)
    documents = model.documents_
    np.testing.assert_array_equal(documents.scores, scores[is_rated])
    np.testing.assert_array_equal(documents.is_positive, truth[is_rated] == 1)
    assert documents.weight is None


# Labels


@pytest.mark.parametrize(
    ("negative", "positive", "options"),
    [
        (0, 1, {}),
        ("ham", "spam", {}),
        ("spam", "ham", {"pos_label": "ham"}),
        (False, True, {}),
        (1, 2, {"unrated_label": None}),
        (-1, 1, {"unrated_label": 0}),
    ],
)
def test_labels(negative, positive, options):
    scores, y = logged()
    labels = np.where(y == 1, positive, negative)
    model, plain = tuner(**options).fit(scores, labels), tuner().fit(scores, y)
    predicted = model.predict(scores)
    np.testing.assert_array_equal(predicted == positive, plain.predict(scores) == 1)
    assert set(predicted.tolist()) == {negative, positive}
    assert model.classes_.tolist() == sorted([negative, positive])
    assert model.pos_label_ == positive
    is_last = predicted == model.classes_[1]
    np.testing.assert_array_equal(model.decision_function(scores) > 0, is_last)
    assert model.score(scores, labels) == plain.score(scores, y)


def test_the_alphabet_does_not_choose_the_frequent_class_silently():
    scores, y = logged()
    labels = np.where(y == 1, "fraud", "ok").astype(object)
    labels[::7] = None  # not rated
    chance = {"inclusion_proba": 6 / 7}
    with pytest.warns(RejectionWarning, match="'ok' as the positive class, because it"):
        assert tuner().fit(-scores, labels, **chance).pos_label_ == "ok"
    model = tuner(pos_label="fraud").fit(scores, labels, **chance)
    assert model.classes_.tolist() == ["fraud", "ok"]


def test_scores_come_from_the_method_that_is_asked_for():
    X, y = rare_events()
    for name, response in (("predict_proba", "auto"), ("decision_function",) * 2):
        classifiers = [("lr", LogisticRegression())]
        model = tuner(classifiers, response_method=response).fit(X, y)
        told = getattr(model.estimators_[0], name)(X)
        told = told[:, 1] if told.ndim == 2 else told
        np.testing.assert_array_equal(model.joint_scores(X)[:, 0], told)


# Weights and other metadata


def test_weights_repeat_documents():
    scores, y = logged()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    options = {"n_thresholds": 2000, "cv": "prefit"}
    weighted = tuner(**options).fit(scores, y, sample_weight=weight)
    copies = np.repeat(scores, weight, axis=0), np.repeat(y, weight)
    repeated = tuner(**options).fit(*copies)
    np.testing.assert_array_equal(weighted.thresholds_, repeated.thresholds_)
    assert weighted.operating_point_.tp == repeated.operating_point_.tp
    assert weighted.area_ == pytest.approx(repeated.area_)


def test_weights_and_parameters_reach_the_classifiers():
    X, y = rare_events()
    weight = np.where(y == 1, 3.0, 1.0)
    model = tuner([("lr", LogisticRegression())]).fit(X, y, sample_weight=weight)
    alone = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.estimators_[0].coef_, alone.coef_)
    neighbors = tuner([("knn", KNeighborsClassifier())])
    with pytest.raises(ValueError, match=r"KNeighborsClassifier\.fit does not take"):
        neighbors.fit(X, y, sample_weight=weight)
    scores, y = logged()
    with pytest.raises(TypeError, match="but there is no classifier"):
        tuner().fit(scores, y, sample_weights=np.ones(800))


def test_metadata_go_where_they_are_requested():
    X, y = rare_events()
    options = {
        "sample_weight": np.where(y == 1, 3.0, 1.0),
        "groups": np.arange(1500) // 5,
    }
    with config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        classifiers = [("asks", asks), ("knn", KNeighborsClassifier())]
        model = tuner(classifiers, cv=GroupKFold(3)).set_fit_request(
            sample_weight=False
        )
        counted = clone(model).set_fit_request(sample_weight=True)
        model.fit(X, y, **options)
        counted.fit(X, y, **options)
    alone = LogisticRegression().fit(X, y, sample_weight=options["sample_weight"])
    np.testing.assert_allclose(model.estimators_[0].coef_, alone.coef_)
    assert model.operating_point_.tp <= y.sum()
    assert counted.path_.tp[0] == pytest.approx(3 * y.sum())


# What was drawn may look selected by chance.
@pytest.mark.filterwarnings("ignore:No document is unrated")
def test_weights_of_zero_by_bagging_are_no_unrated_documents():
    scores, y = logged()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A bag may look selected by chance.
        warnings.filterwarnings("ignore", "No document is unrated")
        BaggingClassifier(tuner(), n_estimators=3, random_state=0).fit(scores, y)
    weight = np.where((scores < 1).all(axis=1) & (y == 0), 0, 1)
    with pytest.warns(RejectionWarning, match="have weight 0"):
        tuner(max_fp_per_tp=20).fit(scores, y, sample_weight=weight)


# As scikit-learn's compositions do


def test_parameters_columns_and_tags():
    X, y = rare_events()
    model = tuner(two_views())
    assert model.get_params()["left__C"] == 1.0
    model.set_params(left__C=0.1, right=GaussianNB(), n_thresholds=20)
    assert model.estimators[0][1].C == 0.1
    assert model.estimators[0][2] == slice(0, 3)
    assert isinstance(model.estimators[1][1], GaussianNB)
    fitted = clone(model).fit(X, y)
    assert [each.n_features_in_ for each in fitted.estimators_] == [3, 9]
    assert fitted.named_estimators_.left is fitted.estimators_[0]
    expected = fitted.estimators_[1].predict_proba(X[:, 3:])[:, 1]
    np.testing.assert_array_equal(fitted.joint_scores(X)[:, 1], expected)
    assert "left" in model._repr_html_()
    assert tuner()._repr_html_()
    trees = HistGradientBoostingClassifier()
    model = tuner([("trees", trees, [0])])
    assert model.__sklearn_tags__().input_tags.allow_nan
    model.set_params(estimators=[("lr", LogisticRegression(), [0]), ("trees", trees)])
    assert not model.__sklearn_tags__().input_tags.allow_nan


def test_rows_of_a_frame_in_chunks_decide_alike():
    X, y = rare_events(300)
    names = [f"x{i}" for i in range(12)]
    frame = pd.DataFrame(X, columns=names, index=np.arange(300)[::-1])
    frame["kind"] = np.where(X[:, 0] > 0, "up", "down")
    encode = OneHotEncoder(sparse_output=False)
    detectors = [
        ("text", make_pipeline(encode, GaussianNB()), ["kind"]),
        ("numbers", GaussianNB(), names),
    ]
    model = tuner(detectors, max_fp_per_tp=20, cv=3)
    model.fit(frame, pd.Series(y, index=frame.index))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    expected = model.predict(frame), model.decision_function(frame)
    for rows in (1, 7):
        parts = [frame.iloc[k : k + rows] for k in range(0, 21, rows)]
        labels = np.concatenate([model.predict(part) for part in parts])
        values = np.concatenate([model.decision_function(part) for part in parts])
        np.testing.assert_array_equal(labels, expected[0][: len(labels)])
        np.testing.assert_array_equal(values, expected[1][: len(values)])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


# What goes wrong


OF_OTHERS = FrozenEstimator(GaussianNB().fit([[0] * 12, [1] * 12], ["b", "c"]))

# Estimators, and what is said.
BAD_CLASSIFIERS = [
    ([], "list of"),
    ({"a": LogisticRegression()}, "list of"),
    ([("a", LogisticRegression(), [0], 1)], "list of"),
    ([(1, LogisticRegression())], "list of"),
    ([("a", LogisticRegression)], "'a' must be a classifier"),
    ([("a", "drop")], "'a' must be a classifier"),
    ([("a", Ridge())], "'a' must be a classifier, or a detector .*'passthrough'"),
    ([("a", LocalOutlierFactor())], "'a' must be a classifier.*novelty=True"),
    ([("a", "passthrough")], r"'a' must have one score .*, 12\)"),
    ([("a", "passthrough", [0, 1])], r"'a' must have one score .*, 2\)"),
    ([("a", Mute())], "'a' has no scores"),
    ([("a", GaussianNB()), ("a", GaussianNB())], "not unique"),
    ([("rule", GaussianNB())], "conflict"),
    ([("a", GaussianNB(), ["x"])], "'a' cannot select .*columns using strings"),
    ([("a", GaussianNB(), [99])], "'a' cannot select columns of X: .*99"),
    ([("a", OF_OTHERS)], r"'a' has the classes \['b', 'c'\], but"),
]
BAD_OPTIONS = [
    ({"max_fp_per_tp": None}, "Exactly one of max_fp_per_tp"),
    ({"min_recall": 0.5}, "Exactly one of max_fp_per_tp"),
    ({"max_fp_per_tp": 0}, r"max_fp_per_tp must be in \]0, inf\["),
    ({"rule": "most"}, "rule must be one of"),
    ({"method": "guess"}, "method must be one of"),
    ({"n_thresholds": 1}, "n_thresholds must be an int >= 2"),
    ({"response_method": "predict"}, "response_method must be one of"),
    ({"confidence_level": 1}, r"confidence_level must be in \]0, 1\["),
    ({"cv": 1}, "cv must be"),
    ({"cv": "none"}, "cv must be"),
    ({"pos_label": 7}, "pos_label=7 is not among"),
    (
        {"estimators": two_views(), "cv": "prefit"},
        "cv='prefit' takes scores as they are",
    ),
    *(({"estimators": bad}, words) for bad, words in BAD_CLASSIFIERS),
]


@pytest.mark.parametrize(("options", "words"), BAD_OPTIONS)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        tuner(**options).fit(*rare_events(200))


def test_bad_calls():
    scores, y = logged(200)
    with pytest.raises(NotFittedError):
        tuner().predict(scores)
    model = tuner(cv="prefit").fit(scores, y)
    words = r"the classes \[5, 1\], but the classes in `fit`"
    with pytest.raises(ValueError, match=words):
        model.score(scores, np.where(y == 1, 1, 5))
    with pytest.raises(TypeError, match=r"retarget takes max_fp_.* got 'rule'"):
        model.retarget(max_fp_per_tp=1, rule="all")
    for wrong in ({}, {"max_fp_per_tp": 2, "max_alerts": 3}):
        with pytest.raises(ValueError, match="Exactly one of max_fp_per_tp"):
            model.retarget(**wrong)
