"""The tuner of joint thresholds: who is fitted, which thresholds result, and errors."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    IsolationForest,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point, optimal_path

RULES, LOGISTIC = ("any", "all"), LogisticRegression()
METHODS = ["graph", pytest.param("analytic", marks=pytest.mark.slow), "direct"]
PRICE, ALERTS, F1 = {"max_fp_per_tp": 5}, {"max_alerts": 40}, {"objective": "f1"}
TARGETS = [PRICE, ALERTS, {"min_recall": 0.6}, {"min_precision": 0.8}, F1]


def rare_events(n=1500):
    features = {"n_features": 12, "n_informative": 6, "shuffle": False}
    options = {"weights": [0.9], "flip_y": 0.02, "random_state": 0}
    return make_classification(n, **features, **options)


def logged(n=800, seed=0):
    """Scores of classifiers that see the truth through noise, and labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.1).astype(int)
    return rng.normal(size=(n, 2)) + 1.5 * y[:, np.newaxis], y


def draw(n=240, seed=0):
    """Documents of which the rare ones are far out in two features, with a log."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.15).astype(int)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 2.5 * y[:, np.newaxis]
    X[:, 3] = rng.normal(size=n) + 2 * y
    return X, y


def tuner(estimators=None, **options):
    return EnsembleThresholdTuner(estimators, **(PRICE | options))


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
    path = model.path_
    [vertex] = np.flatnonzero((path.thresholds == point.thresholds).all(axis=1))
    assert (path.fp[vertex], path.tp[vertex]) == (point.fp, point.tp)
    assert (model.n_features_in_, model.estimators_) == (2, [])
    is_best = method == "analytic" or (method == "graph" and "max_alerts" not in target)
    if is_best:
        path = optimal_path(scores, y, rule=rule, method=method, n_thresholds=30)
        auc = roc_auc_score(y, model.decision_function(scores))
        assert model.score(scores, y) == pytest.approx(auc)
        assert model.area_ == path.area == pytest.approx(auc * y.sum() * (1 - y).sum())


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


LABELS = [(0, 1, {}), ("ham", "spam", {}), ("spam", "ham", {"pos_label": "ham"})]
LABELS += [(False, True, {}), (1, 2, {"unrated_label": None})]
LABELS += [(-1, 1, {"unrated_label": 0})]


@pytest.mark.parametrize(("negative", "positive", "options"), LABELS)
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
    for name in ("sample_weights", "groups"):
        with pytest.raises(TypeError, match=f"got .'{name}'., but .* no classifier"):
            tuner().fit(scores, y, **{name: np.ones(800)})


def test_metadata_go_where_they_are_requested():
    X, y = rare_events()
    weight = np.where(y == 1, 3.0, 1.0)
    options = {"sample_weight": weight, "groups": np.arange(1500) // 5}
    with config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        classifiers = [("asks", asks), ("knn", KNeighborsClassifier())]
        model = tuner(classifiers, cv=GroupKFold(3))
        model.set_fit_request(sample_weight=False)
        counted = clone(model).set_fit_request(sample_weight=True)
        model.fit(X, y, **options)
        counted.fit(X, y, **options)
    alone = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.estimators_[0].coef_, alone.coef_)
    assert model.operating_point_.tp <= y.sum()
    assert counted.path_.tp[0] == pytest.approx(3 * y.sum())


def test_parameters_columns_and_tags():
    X, y = draw()
    forest = IsolationForest(n_estimators=5, random_state=0)
    frozen = FrozenEstimator(clone(forest).fit(X[:100]))
    left, right = slice(0, 2), slice(2, 4)
    views = [("left", LOGISTIC, left), ("right", LOGISTIC, right)]
    views += [("logged", "passthrough", 3), ("forest", forest, [0, 1])]
    model = clone(tuner([*views, ("frozen", frozen)], cv=3))
    params = model.get_params()
    assert (params["left__C"], params["logged"]) == (1.0, "passthrough")
    model.set_params(left__C=0.1, right=GaussianNB(), n_thresholds=4)
    assert (model.estimators[0][1].C, model.estimators[0][2]) == (0.1, left)
    fitted = clone(model).fit(X, y)
    assert [each.n_features_in_ for each in fitted.estimators_[:2]] == [2, 2]
    assert fitted.named_estimators_.left is fitted.estimators_[0]
    scores = fitted.joint_scores(X)
    expected = fitted.estimators_[1].predict_proba(X[:, 2:])[:, 1]
    np.testing.assert_array_equal(scores[:, 1], expected)
    np.testing.assert_array_equal(scores[:, 4], -frozen.score_samples(X))
    search = GridSearchCV(model, {"forest__n_estimators": [3, 6]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.8
    assert all(shown in model._repr_html_() for shown in ("left", "passthrough"))
    assert tuner()._repr_html_()
    trees = ("trees", HistGradientBoostingClassifier())
    for views, allows_nan in ([trees], True), ([*model.estimators, trees], False):
        tags = tuner(views).__sklearn_tags__().input_tags
        assert tags.allow_nan == allows_nan


DETECTORS = {
    "forest": IsolationForest(n_estimators=10, random_state=0),
    "svm": OneClassSVM(),
    "lof": LocalOutlierFactor(novelty=True),
    "density": KernelDensity(),
    "mixture": GaussianMixture(random_state=0),
    "scaled": make_pipeline(StandardScaler(), KernelDensity()),
}


@pytest.mark.parametrize("name", DETECTORS)
def test_what_is_not_normal_scores_high(name):
    X, y = draw()
    X[y == 1, :2] = 4 * np.random.default_rng(1).normal(size=(y.sum(), 2))
    y[:40] = -1  # nobody has looked
    X[:40] *= 0.5  # but a detector has
    detector, chance = DETECTORS[name], np.where(np.arange(240) < 40, 0.5, 1)
    model = tuner([(name, detector, [0, 1])], cv=KFold(3), max_fp_per_tp=10)
    model.fit(X, y, inclusion_proba=chance)
    expected = -clone(detector).fit(X[:, :2]).score_samples(X[:, :2])
    scores = model.joint_scores(X)[:, 0]
    np.testing.assert_allclose(scores, expected)
    assert scores[y == 1].mean() > scores[y == 0].mean()
    assert model.score(X, y) > 0.7


def test_scores_that_tune_are_out_of_fold():
    X, y = draw()
    estimators = [("density", KernelDensity(), [0, 1]), ("logged", "passthrough", 3)]
    model = tuner(estimators, cv=KFold(3)).fit(X, y)
    scores = np.empty((240, 2))
    scores[:, 1] = X[:, 3]
    for train, test in KFold(3).split(X):
        density = KernelDensity().fit(X[train, :2])
        scores[test, 0] = -density.score_samples(X[test, :2])
    matrix = tuner(cv=KFold(3)).fit(scores, y)
    np.testing.assert_allclose(model.thresholds_, matrix.thresholds_)
    points = model.cross_validated_point_, matrix.cross_validated_point_
    np.testing.assert_allclose(points[0].thresholds, points[1].thresholds)
    assert model.estimators_[1] == "passthrough"


def test_detectors_take_no_weights_of_ratings():
    X, y = draw()
    weight = np.where(y == 1, 1.0, 3.0)
    views = [("lof", LocalOutlierFactor(novelty=True), [0, 1])]
    model = tuner(views, cv=3, max_fp_per_tp=20)
    # LocalOutlierFactor has no weights, and is not asked to take any.
    point = model.fit(X, y, sample_weight=weight).operating_point_
    assert point.fp % 3 == 0
    assert point.fp > 0
    with pytest.raises(TypeError, match="but there is no classifier"):
        model.fit(X, y, verbose=True)
    machine = OneClassSVM(gamma=0.5)
    with config_context(enable_metadata_routing=True):
        asks = clone(machine).set_fit_request(sample_weight=True)
        routed = tuner([("machine", asks, [0, 1])], cv=3)
        routed.fit(X, y, sample_weight=weight)
    expected = -machine.fit(X[:, :2], sample_weight=weight).score_samples(X[:, :2])
    np.testing.assert_array_equal(routed.joint_scores(X)[:, 0], expected)


@pytest.mark.filterwarnings("ignore:At the operating point all documents")
def test_detectors_need_no_classes_in_a_training_part():
    X, y = draw()
    splits = [(np.flatnonzero(y == k), np.flatnonzero(y != k)) for k in (0, 1)]
    views = [("density", KernelDensity(), [0, 1]), ("nb", GaussianNB(), [0, 1])]
    with pytest.warns(UserWarning, match="2 of 2 folds leave no rated"):
        tuner(views[:1], cv=splits, max_fp_per_tp=100).fit(X, y)
    with pytest.raises(ValueError, match=r"'nb' has the classes \[0\], but .*folds"):
        tuner(views, cv=splits).fit(X, y)


@pytest.mark.parametrize("column", [3, [3], slice(3, 4), lambda X: [3]])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_a_column_is_a_score(column, container):
    X, y = draw()
    given = container(X)
    model = tuner([("logged", "passthrough", column)]).fit(given, y)
    matrix = tuner().fit(X[:, 3:], y)
    np.testing.assert_array_equal(model.thresholds_, matrix.thresholds_)
    np.testing.assert_array_equal(model.predict(given), matrix.predict(X[:, 3:]))
    # Nothing is fitted, so that five folds judge the thresholds alone.
    assert len(model.cross_validated_point_.thresholds) == 5
    assert model.named_estimators_["logged"] == "passthrough"


def test_columns_of_lists_and_of_frames():
    X, y = draw()
    select = lambda X: [0, 1, 2]  # noqa: E731
    by_function = tuner([("left", LogisticRegression(), select)]).fit(X, y)
    by_list = tuner([("left", LogisticRegression(), [0, 1, 2])]).fit(X.tolist(), y)
    expected = by_function.predict(X)
    for given in (X.tolist(), coo_array(X)):
        np.testing.assert_array_equal(by_list.predict(given), expected)
    frame = pd.DataFrame(X[:, :3], np.arange(240)[::-1], ["a", "b", "c"])
    frame["who"] = np.where(y == 1, "x", "y")
    frame["logged"] = X[:, 3].astype(object)
    entries = [("nb", GaussianNB(), ["a", "b"]), ("logged", "passthrough", "logged")]
    model = tuner(entries, cv=3).fit(frame, pd.Series(y, index=frame.index))
    np.testing.assert_array_equal(model.joint_scores(frame)[:, 1], X[:, 3])
    assert model.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    same = tuner([("nb", GaussianNB(), [0, 1]), ("logged", "passthrough", 3)], cv=3)
    np.testing.assert_array_equal(model.predict(frame), same.fit(X, y).predict(X))
    with pytest.raises(ValueError, match="could not convert string to float"):
        tuner([("who", "passthrough", "who")]).fit(frame, y)
    frame["logged"] = pd.array(np.where(y == 1, 2.0, X[:, 3]), dtype="Float64")
    frame.loc[::7, "logged"] = pd.NA
    model.fit(frame, y)
    assert np.isnan(model.joint_scores(frame)[::7, 1]).all()
    assert model.predict(frame).shape == (240,)
    with pytest.raises(ValueError, match="nan in every rated"):
        model.fit(frame.assign(logged=np.nan), y)


@pytest.mark.parametrize("rule", ["any", "all"])
def test_a_detector_that_did_not_run_says_nothing(rule):
    X, y = draw()
    missing = np.arange(240) % 5 == 0
    scores = X[:, 2:].copy()
    scores[missing, 1] = np.nan
    model = tuner(rule=rule, max_fp_per_tp=10).fit(scores, y)
    reached = scores >= model.thresholds_  # never where it is NaN
    expected = reached.any(axis=1) if rule == "any" else reached.all(axis=1)
    np.testing.assert_array_equal(model.predict(scores) == 1, expected)
    np.testing.assert_array_equal(model.decision_function(scores) > 0, expected)
    assert np.isfinite(model.score(scores, y))
    assert model.__sklearn_tags__().input_tags.allow_nan
    X[:, 3] = scores[:, 1]
    columns = [("one", "passthrough", 2), ("two", "passthrough", 3)]
    logged = tuner(columns, rule=rule, max_fp_per_tp=10).fit(X, y)
    np.testing.assert_array_equal(logged.thresholds_, model.thresholds_)
    masked = np.ma.masked_array(np.nan_to_num(scores, nan=77.0), np.isnan(scores))
    found = clone(model).fit(masked, y)
    assert found.operating_point_.to_dict() == model.operating_point_.to_dict()
    np.testing.assert_array_equal(found.predict(masked), model.predict(scores))


def test_scores_that_are_infinite():
    X, y = draw()
    log_odds = X[:, 2:].copy()
    log_odds[7, 1] = -np.inf
    words = "scores must be finite, got -inf in row 7, column 1 .*score where it"
    with pytest.raises(ValueError, match=words):
        tuner().fit(log_odds, y)
    with pytest.raises(ValueError, match=words):
        tuner().fit(X[:, 2:], y).predict(log_odds)
    X[17, 3] = np.inf
    with pytest.raises(ValueError, match="'logged' contains infinity"):
        tuner([("logged", "passthrough", 3)]).fit(X, y)


@pytest.mark.parametrize(
    "cv", [KFold(3, shuffle=True, random_state=0), TimeSeriesSplit(4)]
)
def test_errors_name_rows_of_X(cv):
    # Scores out of fold are in another order, and the first of time splits have none.
    X, y = draw()
    X[217, 3], y[217] = 99.0, -1
    model = tuner([("nb", GaussianNB(), [0, 1]), ("logged", "passthrough", 3)], cv=cv)
    with pytest.raises(ValueError, match=r"row 217 is unrated.*inclusion_proba="):
        model.fit(X, y)
    for row in (5, 200):
        chance = np.where(np.arange(len(y)) == row, 2, 0.5)
        with pytest.raises(ValueError, match=f"inclusion_proba .* 2.0 in row {row}"):
            model.fit(X, y, inclusion_proba=chance)


def test_inclusion_proba_reaches_no_classifier_and_is_sliced_by_folds():
    scores, truth = logged(1500)
    y = np.where(np.random.default_rng(1).random(1500) < 0.5, truth, -1)
    views = [("a", LogisticRegression(), [0]), ("b", LogisticRegression(), [1])]
    chance = np.full(1500, 0.5)
    fitted = tuner(views, cv=3).fit(scores, y, inclusion_proba=chance)
    one = tuner(views, cv=3).fit(scores, y, inclusion_proba=0.5)
    assert one.operating_point_.to_dict() == fitted.operating_point_.to_dict()
    alone = LogisticRegression().fit(scores[y >= 0, :1], y[y >= 0])
    np.testing.assert_allclose(fitted.estimators_[0].coef_, alone.coef_)
    with config_context(enable_metadata_routing=True):
        routed = tuner(views, cv=3).set_fit_request(inclusion_proba=True)
        options = {"return_estimator": True, "error_score": "raise"}
        params = {"inclusion_proba": chance}
        result = cross_validate(routed, scores, y, cv=3, params=params, **options)
    for each in result["estimator"]:
        assert each.documents_.weight.max() == 2


class InTwoColumns(KernelDensity):
    def score_samples(self, X):
        return X[:, :2]


NAIVE = [("nb", GaussianNB())]
VOTES = VotingClassifier(NAIVE)
OF_OTHERS = FrozenEstimator(GaussianNB().fit([[0] * 12, [1] * 12], ["b", "c"]))

# Estimators, and what is said.
BAD_CLASSIFIERS = [
    ([], "list of"),
    ({"a": LogisticRegression()}, "list of"),
    ([("a", LogisticRegression(), [0], 1)], "list of"),
    ([(1, LogisticRegression())], "list of"),
    ([("a", LogisticRegression)], "'a' must be a classifier"),
    ([("a", Ridge())], "'a' must be a classifier with .*, a detector .*'passthrough'"),
    ([("a", LocalOutlierFactor())], "'a' must be a classifier.*novelty=True"),
    ([("a", "passthrough")], r"'a' must have one score .*, 12\)"),
    ([("a", "passthrough", [0, 1])], r"'a' must have one score .*, 2\)"),
    ([("a", VOTES)], "'a' must be a classifier with scores .*'auto'; Calibrated"),
    ([("a", InTwoColumns())], r"'a' must have one score .*\(40, 2\)"),
    ([("a", GaussianNB()), ("a", GaussianNB())], "not unique"),
    ([("rule", GaussianNB())], "conflict"),
    ([("a", GaussianNB(), ["x"])], "'a' cannot select .*columns using strings"),
    ([("a", GaussianNB(), [99])], "'a' cannot select columns of X: .*99"),
    ([("a", OF_OTHERS)], r"'a' has the classes \['b', 'c'\], but"),
]
BAD_OPTIONS = [
    ({"max_fp_per_tp": None}, "Exactly one of max_fp_per_tp"),
    ({"rule": "most"}, "rule must be one of"),
    ({"method": "guess"}, "method must be one of"),
    ({"n_thresholds": 1}, "n_thresholds == 1, must be >= 2"),
    ({"response_method": "predict"}, "response_method must be one of"),
    ({"confidence_level": 1}, r"confidence_level must be in \(0, 1\)"),
    ({"cv": 1}, "cv must be"),
    ({"pos_label": 7}, "pos_label=7 is not among"),
    ({"estimators": NAIVE, "cv": "prefit"}, "cv='prefit' takes scores as they"),
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
