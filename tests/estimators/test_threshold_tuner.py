"""The tuner of joint thresholds, from classifiers and from logged scores."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point, optimal_path

RULES = ("any", "all")
METHODS = ("graph", "analytic", "direct")


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier that has labels only."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def rare_events(n=1500, seed=0):
    return make_classification(
        n,
        n_features=12,
        n_informative=6,
        n_redundant=2,
        weights=[0.9],
        flip_y=0.02,
        shuffle=False,
        random_state=seed,
    )


def two_views():
    return [
        ("left", LogisticRegression(), slice(0, 3)),
        ("right", LogisticRegression(), slice(3, 12)),
    ]


def logged(n=800, seed=0, n_classifiers=2):
    """Scores of classifiers that see the truth through noise, and labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.1).astype(int)
    return rng.normal(size=(n, n_classifiers)) + 1.5 * y[:, np.newaxis], y


def predict_by_hand(scores, thresholds, rule):
    reached = scores >= thresholds
    return reached.any(axis=1) if rule == "any" else reached.all(axis=1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES)
def test_logged_scores(rule, method):
    scores, y = logged()
    tuner = EnsembleThresholdTuner(
        None, rule=rule, method=method, marginal_precision=0.4
    ).fit(scores, y)
    point = tuner.operating_point_
    predicted = predict_by_hand(scores, tuner.thresholds_, rule)
    np.testing.assert_array_equal(tuner.predict(scores), predicted.astype(int))
    assert point.tp == (predicted & (y == 1)).sum()
    assert point.fp == (predicted & (y == 0)).sum()
    np.testing.assert_array_equal(tuner.decision_function(scores) > 0, predicted)
    vertex = tuner.path_.thresholds[point.vertex]
    np.testing.assert_array_equal(vertex, tuner.thresholds_)
    assert (tuner.path_.fp[point.vertex], tuner.path_.tp[point.vertex]) == (
        point.fp,
        point.tp,
    )
    assert tuner.n_features_in_ == 2
    assert tuner.estimators_ == []
    assert len(tuner.cross_validated_point_.thresholds) == 5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES)
def test_same_as_the_functions_of_arrays(rule, method):
    scores, y = logged()
    tuner = EnsembleThresholdTuner(
        None, rule=rule, method=method, max_fp_per_tp=2, n_thresholds=30
    ).fit(scores, y)
    point = operating_point(
        scores, y, rule=rule, method=method, max_fp_per_tp=2, n_thresholds=30
    )
    np.testing.assert_array_equal(tuner.thresholds_, point.thresholds)
    if method != "direct":
        path = optimal_path(scores, y, rule=rule, method=method, n_thresholds=30)
        assert tuner.area_ == path.area


@pytest.mark.parametrize("rule", RULES)
def test_area_is_that_of_the_decision_function(rule):
    scores, y = logged()
    tuner = EnsembleThresholdTuner(None, rule=rule, target_derivative=0.5)
    tuner.fit(scores, y)
    auc = roc_auc_score(y, tuner.decision_function(scores))
    assert tuner.score(scores, y) == pytest.approx(auc)
    assert tuner.area_ == pytest.approx(auc * y.sum() * (1 - y).sum())


def test_three_names_for_one_target():
    scores, y = logged()
    targets = (
        {"target_derivative": 0.25},
        {"marginal_precision": 0.2},
        {"max_fp_per_tp": 4},
    )
    told = [
        EnsembleThresholdTuner(None, **target).fit(scores, y).thresholds_
        for target in targets
    ]
    np.testing.assert_array_equal(told[0], told[1])
    np.testing.assert_array_equal(told[0], told[2])


def test_scores_are_out_of_fold():
    X, y = rare_events()
    folds = StratifiedKFold(4)
    classifiers = [
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=4, random_state=0)),
    ]
    tuner = EnsembleThresholdTuner(classifiers, target_derivative=0.5, cv=folds)
    tuner.fit(X, y)
    scores = np.column_stack(
        [
            cross_val_predict(classifier, X, y, cv=folds, method="predict_proba")[:, 1]
            for _, classifier in classifiers
        ]
    )
    point = operating_point(scores, y, target_derivative=0.5)
    np.testing.assert_allclose(tuner.thresholds_, point.thresholds)
    assert (tuner.operating_point_.fp, tuner.operating_point_.tp) == (
        point.fp,
        point.tp,
    )
    refitted = GaussianNB().fit(X, y)
    np.testing.assert_allclose(
        tuner.joint_scores(X)[:, 0], refitted.predict_proba(X)[:, 1]
    )


def test_each_classifier_sees_its_columns():
    X, y = rare_events()
    tuner = EnsembleThresholdTuner(two_views(), target_derivative=0.5).fit(X, y)
    assert [e.n_features_in_ for e in tuner.estimators_] == [3, 9]
    assert tuner.n_features_in_ == 12
    assert tuner.named_estimators_.left is tuner.estimators_[0]
    expected = tuner.estimators_[1].predict_proba(X[:, 3:])[:, 1]
    np.testing.assert_array_equal(tuner.joint_scores(X)[:, 1], expected)


def test_columns_of_a_frame_by_name():
    pd = pytest.importorskip("pandas")
    X, y = rare_events()
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)])
    named = [
        ("left", LogisticRegression(), [f"x{i}" for i in range(3)]),
        ("right", LogisticRegression(), [f"x{i}" for i in range(3, 12)]),
    ]
    by_name = EnsembleThresholdTuner(named, target_derivative=0.5).fit(frame, y)
    by_slice = EnsembleThresholdTuner(two_views(), target_derivative=0.5).fit(X, y)
    np.testing.assert_array_equal(by_name.predict(frame), by_slice.predict(X))
    assert by_name.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        by_name.predict(frame[frame.columns[::-1]])


def test_unrated_documents_train_no_classifier():
    X, y = rare_events()
    is_rated = np.random.default_rng(0).random(len(y)) < 0.7
    partial = np.where(is_rated, y, -1)
    tuner = EnsembleThresholdTuner(
        [("only", LogisticRegression())],
        target_derivative=0.5,
        base_thresholds=[0.0],
    ).fit(X, partial)
    alone = LogisticRegression().fit(X[is_rated], y[is_rated])
    np.testing.assert_allclose(tuner.estimators_[0].coef_, alone.coef_)


def test_no_unrated_document_of_the_sample_is_predicted():
    scores, truth = logged(3000)
    is_rated = (scores >= 1.0).any(axis=1)
    y = np.where(is_rated, truth, -1)
    tuner = EnsembleThresholdTuner(None, marginal_precision=0.5).fit(scores, y)
    predicted = tuner.predict(scores) == 1
    assert predicted.any()
    assert is_rated[predicted].all()
    assert (tuner.base_thresholds_ > scores[~is_rated].max(axis=0)).all()
    nan = np.where(is_rated, truth, np.nan)
    same = EnsembleThresholdTuner(None, marginal_precision=0.5).fit(scores, nan)
    np.testing.assert_array_equal(same.thresholds_, tuner.thresholds_)


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
    tuner = EnsembleThresholdTuner(None, target_derivative=0.5, **options)
    tuner.fit(scores, labels)
    plain = EnsembleThresholdTuner(None, target_derivative=0.5).fit(scores, y)
    predicted = tuner.predict(scores)
    np.testing.assert_array_equal(predicted == positive, plain.predict(scores) == 1)
    assert set(predicted.tolist()) == {negative, positive}
    assert tuner.classes_.tolist() == sorted([negative, positive])
    is_last = predicted == tuner.classes_[1]
    np.testing.assert_array_equal(tuner.decision_function(scores) > 0, is_last)
    assert tuner.score(scores, labels) == plain.score(scores, y)


def test_missing_labels_of_strings():
    scores, y = logged()
    labels = np.array(["ham", "spam"], dtype=object)[y]
    labels[::7] = None
    tuner = EnsembleThresholdTuner(
        None, target_derivative=0.5, base_thresholds=[-9, -9]
    ).fit(scores, labels)
    assert tuner.classes_.tolist() == ["ham", "spam"]


def test_pos_label_of_classifiers_with_decision_values():
    X, y = rare_events()
    names = np.array(["yes", "no"])[y]  # the positive class is the first one
    tuner = EnsembleThresholdTuner(
        [("svm", LinearSVC())], target_derivative=0.5, pos_label="no"
    ).fit(X, names)
    values = tuner.estimators_[0].decision_function(X)
    np.testing.assert_array_equal(tuner.joint_scores(X)[:, 0], -values)
    assert roc_auc_score(names == "no", tuner.joint_scores(X)[:, 0]) > 0.7


def test_response_method():
    X, y = rare_events()
    for name, response in (("predict_proba", "auto"), ("decision_function",) * 2):
        tuner = EnsembleThresholdTuner(
            [("lr", LogisticRegression())],
            target_derivative=0.5,
            response_method=response,
        ).fit(X, y)
        told = getattr(tuner.estimators_[0], name)(X)
        told = told[:, 1] if told.ndim == 2 else told
        np.testing.assert_array_equal(tuner.joint_scores(X)[:, 0], told)


def test_frozen_classifiers_are_judged_on_the_documents_given():
    X, y = rare_events(3000)
    left = LogisticRegression().fit(X[:1000, :6], y[:1000])
    right = LogisticRegression().fit(X[:1000, 6:], y[:1000])
    frozen = [
        ("left", FrozenEstimator(left), slice(0, 6)),
        ("right", FrozenEstimator(right), slice(6, 12)),
    ]
    tuner = EnsembleThresholdTuner(frozen, target_derivative=0.5)
    tuner.fit(X[1000:2000], y[1000:2000])
    scores = np.column_stack(
        [left.predict_proba(X[:, :6])[:, 1], right.predict_proba(X[:, 6:])[:, 1]]
    )
    matrix = EnsembleThresholdTuner(None, target_derivative=0.5)
    matrix.fit(scores[1000:2000], y[1000:2000])
    np.testing.assert_array_equal(tuner.thresholds_, matrix.thresholds_)
    np.testing.assert_array_equal(
        tuner.predict(X[2000:]), matrix.predict(scores[2000:])
    )


def test_a_share_held_out_tunes():
    X, y = rare_events()
    tuner = EnsembleThresholdTuner(
        two_views(), target_derivative=0.5, cv=0.3, random_state=0
    ).fit(X, y)
    point = tuner.operating_point_
    assert point.tp + point.fp < 0.3 * len(y)
    assert tuner.cross_validated_point_ is None


def test_thresholds_are_cross_validated():
    scores, y = logged(1200)
    # All parts begin at the same lowest thresholds.
    scores[:3], y[:3] = scores.min(axis=0), 0
    fold = np.arange(1200) % 3
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    tuner = EnsembleThresholdTuner(None, target_derivative=0.5, cv=folds)
    point = tuner.fit(scores, y).cross_validated_point_
    counts = np.zeros(2)
    areas = []
    for number, (train, test) in enumerate(folds):
        part = EnsembleThresholdTuner(None, target_derivative=0.5).fit(
            scores[train], y[train]
        )
        np.testing.assert_array_equal(point.thresholds[number], part.thresholds_)
        predicted = part.predict(scores[test])
        counts += [(predicted > y[test]).sum(), (predicted & y[test]).sum()]
        areas.append(part.score(scores[test], y[test]))
    assert (point.fp, point.tp) == tuple(counts)
    assert point.precision == counts[1] / counts.sum()
    assert point.normalized_area == pytest.approx(np.mean(areas))
    low, high = point.precision_interval
    assert low < point.precision < high
    assert tuner.thresholds_.shape == (2,)


def test_folds_that_cannot_meet_the_target_take_the_nearest_end():
    # Without the fold of the only negative that scores high, nothing is too dear.
    scores = np.array([5.0, 4, 3, 2, 1, 0, 5, 4, 3, 2, 1, 0])
    y = np.array([0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0])
    fold = np.arange(12) % 2
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in (0, 1)]
    tuner = EnsembleThresholdTuner(None, target_derivative=0.9, cv=splits)
    point = tuner.fit(scores[:, np.newaxis], y).cross_validated_point_
    assert point.thresholds.shape == (2, 1)
    # Splits may be lists.
    tuner.set_params(cv=[tuple(map(list, split)) for split in splits])
    same = tuner.fit(scores[:, np.newaxis], y).cross_validated_point_
    np.testing.assert_array_equal(same.thresholds, point.thresholds)


@pytest.mark.usefixtures("threads")
def test_jobs_do_not_change_the_result():
    X, y = rare_events()
    one, two = (
        EnsembleThresholdTuner(two_views(), target_derivative=0.5, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.thresholds_, two.thresholds_)
    assert one.cross_validated_point_.tp == two.cross_validated_point_.tp


def test_weights_equal_repeated_documents():
    scores, y = logged()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = EnsembleThresholdTuner(None, target_derivative=0.5, n_thresholds=2000)
    weighted.fit(scores, y, sample_weight=weight)
    repeated = clone(weighted).fit(
        np.repeat(scores, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_array_equal(weighted.thresholds_, repeated.thresholds_)
    assert weighted.operating_point_.tp == repeated.operating_point_.tp
    assert weighted.area_ == pytest.approx(repeated.area_)


def test_weights_reach_the_classifiers():
    X, y = rare_events()
    weight = np.where(y == 1, 3.0, 1.0)
    tuner = EnsembleThresholdTuner([("lr", LogisticRegression())], target_derivative=1)
    tuner.fit(X, y, sample_weight=weight)
    alone = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(tuner.estimators_[0].coef_, alone.coef_)
    neighbors = EnsembleThresholdTuner(
        [("knn", KNeighborsClassifier())], target_derivative=1
    )
    with pytest.raises(ValueError, match=r"KNeighborsClassifier\.fit does not take"):
        neighbors.fit(X, y, sample_weight=weight)


def test_metadata_go_where_they_are_requested():
    X, y = rare_events()
    weight = np.where(y == 1, 3.0, 1.0)
    groups = np.arange(len(y)) // 5
    with sklearn.config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        tuner = EnsembleThresholdTuner(
            [("asks", asks), ("knn", KNeighborsClassifier())],
            target_derivative=0.5,
            cv=GroupKFold(3),
        ).set_fit_request(sample_weight=False)
        tuner.fit(X, y, sample_weight=weight, groups=groups)
        counted = clone(tuner).set_fit_request(sample_weight=True)
        counted.fit(X, y, sample_weight=weight, groups=groups)
    alone = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(tuner.estimators_[0].coef_, alone.coef_)
    assert tuner.operating_point_.tp <= y.sum()
    assert counted.path_.tp[0] == pytest.approx(3 * y.sum())


def test_nested_parameters():
    tuner = EnsembleThresholdTuner(two_views(), target_derivative=0.5)
    assert tuner.get_params()["left__C"] == 1.0
    tuner.set_params(left__C=0.1, right=GaussianNB(), n_thresholds=20)
    assert tuner.estimators[0][1].C == 0.1
    assert tuner.estimators[0][2] == slice(0, 3)
    assert isinstance(tuner.estimators[1][1], GaussianNB)
    assert tuner.estimators[1][2] == slice(3, 12)
    X, y = rare_events()
    assert clone(tuner).fit(X, y).n_thresholds == 20


def test_searches_and_pipelines():
    X, y = rare_events()
    pipeline = make_pipeline(
        StandardScaler(), EnsembleThresholdTuner(two_views(), target_derivative=0.5)
    )
    grid = {
        "ensemblethresholdtuner__left__C": [0.01, 1.0],
        "ensemblethresholdtuner__rule": RULES,
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert 0.5 < search.best_score_ < 1
    assert search.predict(X).shape == y.shape


def test_it_can_be_calibrated_and_pickled():
    X, y = rare_events()
    tuner = EnsembleThresholdTuner(two_views(), target_derivative=0.5)
    calibrated = CalibratedClassifierCV(tuner, cv=3).fit(X, y)
    assert roc_auc_score(y, calibrated.predict_proba(X)[:, 1]) > 0.7
    again = pickle.loads(pickle.dumps(tuner.fit(X, y)))
    np.testing.assert_array_equal(again.predict(X), tuner.predict(X))


def test_one_classifier_is_at_least_as_good_as_a_grid():
    X, y = rare_events(3000)
    classifier = LogisticRegression().fit(X[:1000], y[:1000])
    for derivative in (0.1, 0.3, 0.9):

        def gain(y_true, y_pred, d=derivative):
            return (y_true & y_pred).sum() - d * (y_true < y_pred).sum()

        peer = TunedThresholdClassifierCV(
            FrozenEstimator(classifier),
            scoring=make_scorer(gain),
            cv="prefit",
            refit=False,
        ).fit(X[1000:], y[1000:])
        scores = classifier.predict_proba(X[1000:])[:, [1]]
        tuner = EnsembleThresholdTuner(
            None, method="direct", target_derivative=derivative
        ).fit(scores, y[1000:])
        assert gain(y[1000:], tuner.predict(scores)) >= peer.best_score_


def test_the_lowest_documents_may_be_of_either_class():
    scores, truth = logged(3000)
    y = np.where((scores >= 1.0).any(axis=1), truth, -1)
    scores = np.vstack([scores, [[1.0, -9.0], [-9.0, 1.0]]])
    for lowest in ([1, 1], [0, 0], [0, 1]):
        ratings = np.append(y, lowest)
        for method in METHODS:
            tuner = EnsembleThresholdTuner(
                None, method=method, marginal_precision=1e-3, base_thresholds=[1.0, 1.0]
            )
            with pytest.warns(RejectionWarning, match="all rated positives"):
                tuner.fit(scores, ratings)
            assert tuner.operating_point_.tp == (ratings == 1).sum()


def test_an_operating_point_at_the_edge_of_the_ratings_warns():
    scores, truth = logged(3000)
    tuner = EnsembleThresholdTuner(None, marginal_precision=0.01)
    tuner.fit(scores, truth)  # where everything is rated, there is no edge
    y = np.where((scores >= 1.0).any(axis=1), truth, -1)
    tuner = clone(tuner)
    with pytest.warns(UserWarning, match="all rated positives"):
        tuner.fit(scores, y)
    assert tuner.operating_point_.tp == (y == 1).sum()


def test_a_fit_that_fails_leaves_what_was_before_it():
    scores, y = logged()
    tuner = EnsembleThresholdTuner(None, target_derivative=0.5).fit(scores, y)
    point, expected = tuner.operating_point_, tuner.predict(scores)
    with pytest.raises(ValueError, match="no rated negatives"):
        tuner.fit(scores[:, :1], np.ones_like(y))
    assert tuner.operating_point_ is point
    np.testing.assert_array_equal(tuner.predict(scores), expected)


def test_parts_that_overlap_are_refused():
    scores, y = logged()
    twice = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    for estimators in (None, [("lr", LogisticRegression())]):
        tuner = EnsembleThresholdTuner(estimators, target_derivative=0.5, cv=twice)
        with pytest.raises(ValueError, match="cv: 800 samples are in several"):
            tuner.fit(scores, y)
    tuner.set_params(cv=[(np.arange(400), np.arange(700, 900))])
    with pytest.raises(ValueError, match="cv: a split has the row 800, but there are"):
        tuner.fit(scores, y)


def test_rows_of_splits_count_from_the_end_too():
    scores, y = logged()
    points = [
        EnsembleThresholdTuner(None, target_derivative=0.5, cv=[(np.arange(400), test)])
        .fit(scores, y)
        .cross_validated_point_
        for test in (np.arange(400, 800), np.arange(-400, 0), list(range(400, 800)))
    ]
    assert points[0].tp == points[1].tp == points[2].tp > 0


@pytest.mark.filterwarnings("ignore:At the operating point all rated positives")
def test_folds_stay_inside_the_ratings():
    rng = np.random.default_rng(0)
    truth = (rng.random(120) < 0.3).astype(int)
    scores = rng.normal(size=(120, 2)) + truth[:, np.newaxis]
    is_rated = (scores >= 0.5).any(axis=1)
    y = np.where(is_rated, truth, -1)
    tuner = EnsembleThresholdTuner(None, target_derivative=0.15, cv=4).fit(scores, y)
    thresholds = tuner.cross_validated_point_.thresholds
    assert (thresholds >= tuner.base_thresholds_).all()
    for of_fold in thresholds:
        assert is_rated[(scores >= of_fold).any(axis=1)].all()


def test_parameters_are_not_lost():
    scores, y = logged()
    tuner = EnsembleThresholdTuner(None, target_derivative=0.5)
    with pytest.raises(TypeError, match="'sample_weights', but there is no classifier"):
        tuner.fit(scores, y, sample_weights=np.ones(800))


def test_groups_reach_a_splitter_without_routing():
    scores, y = logged()
    groups = np.arange(800) // 5
    tuner = EnsembleThresholdTuner(None, target_derivative=0.5, cv=GroupKFold(4))
    point = tuner.fit(scores, y, groups=groups).cross_validated_point_
    assert len(point.thresholds) == 4


def test_score_refuses_other_classes():
    scores, y = logged()
    tuner = EnsembleThresholdTuner(None, target_derivative=0.5).fit(scores, y)
    with pytest.raises(
        ValueError, match=r"the classes \[5, 1\], but the classes in `fit`"
    ):
        tuner.score(scores, np.where(y == 1, 1, 5))


def test_tags_are_those_of_all_classifiers():
    trees = HistGradientBoostingClassifier()
    tuner = EnsembleThresholdTuner([("trees", trees, [0])], target_derivative=0.5)
    assert tuner.__sklearn_tags__().input_tags.allow_nan
    tuner.set_params(estimators=[("lr", LogisticRegression(), [0]), ("trees", trees)])
    assert not tuner.__sklearn_tags__().input_tags.allow_nan


def test_columns_by_function_and_of_other_containers():
    X, y = rare_events()
    by_function = EnsembleThresholdTuner(
        [("left", LogisticRegression(), lambda X: list(range(3)))],
        target_derivative=0.5,
    ).fit(X, y)
    by_list = EnsembleThresholdTuner(
        [("left", LogisticRegression(), [0, 1, 2])], target_derivative=0.5
    )
    by_list.fit(X.tolist(), y)
    np.testing.assert_array_equal(by_list.predict(X.tolist()), by_function.predict(X))
    np.testing.assert_array_equal(by_list.predict(coo_array(X)), by_list.predict(X))


def test_a_diagram_shows_the_classifiers():
    tuner = EnsembleThresholdTuner(two_views(), target_derivative=0.5)
    assert "left" in tuner._repr_html_()
    assert EnsembleThresholdTuner(None, target_derivative=0.5)._repr_html_()


@pytest.mark.parametrize(
    ("estimators", "words"),
    [
        ([], "list of"),
        ({"a": LogisticRegression()}, "list of"),
        ([("a", LogisticRegression(), [0], 1)], "must hold"),
        ([(1, LogisticRegression())], "must hold"),
        ([("a", LogisticRegression)], "'a' must be an instance of a classifier"),
        ([("a", "drop")], "'a' must be an instance of a classifier"),
        (
            [("a", Ridge())],
            "'a' must be a classifier, or a detector with .*'passthrough'",
        ),
        ([("a", LocalOutlierFactor())], "'a' has no scores.*novelty=True"),
        ([("a", "passthrough")], "'a' is 'passthrough', .*which takes"),
        ([("a", "passthrough", [0, 1])], "'a' takes one column of X .*, got 2"),
        ([("a", Mute())], "'a' has no scores"),
        ([("a", GaussianNB()), ("a", GaussianNB())], "not unique"),
        ([("rule", GaussianNB())], "conflict"),
        (
            [("a", LogisticRegression(), ["x"])],
            r"'a' cannot select the columns \['x'\]",
        ),
        ([("a", LogisticRegression(), [99])], r"'a' cannot select the columns \[99\]"),
    ],
)
def test_bad_classifiers(estimators, words):
    X, y = rare_events(200)
    with pytest.raises(ValueError, match=words):
        EnsembleThresholdTuner(estimators, target_derivative=0.5).fit(X, y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target_derivative": None}, "Exactly one of target_derivative"),
        ({"max_fp_per_tp": 2}, "Exactly one of target_derivative"),
        ({"target_derivative": 0}, r"target_derivative must be in \]0, inf\["),
        ({"rule": "most"}, "rule must be one of"),
        ({"method": "guess"}, "method must be one of"),
        ({"n_thresholds": 1}, "n_thresholds must be an int >= 2"),
        ({"spacing": "log"}, "spacing must be one of"),
        ({"search": "all"}, "search must be one of"),
        ({"family": "x^p"}, "family must be one of"),
        ({"smoothing": "none"}, "smoothing must be one of"),
        ({"response_method": "predict"}, "response_method must be one of"),
        ({"confidence_level": 1}, r"confidence_level must be in \]0, 1\["),
        ({"base_thresholds": [1]}, "one number for each of the 2"),
        ({"cv": 1}, "cv must be"),
        ({"pos_label": 7}, "pos_label=7 is not among"),
    ],
)
def test_bad_parameters(options, words):
    scores, y = logged(200)
    tuner = EnsembleThresholdTuner(None, **{"target_derivative": 0.5, **options})
    with pytest.raises(ValueError, match=words):
        tuner.fit(scores, y)


def test_frozen_classifiers_of_other_classes():
    X, y = rare_events()
    other = FrozenEstimator(LogisticRegression().fit(X, np.where(y == 1, "a", "b")))
    tuner = EnsembleThresholdTuner([("other", other)], target_derivative=0.5)
    with pytest.raises(ValueError, match=r"'other' has the classes \['a', 'b'\], but"):
        tuner.fit(X, y)


def test_the_alphabet_does_not_choose_the_frequent_class_silently():
    scores, y = logged()
    labels = np.where(y == 1, "fraud", "ok")
    tuner = EnsembleThresholdTuner(None, target_derivative=0.5)
    with pytest.warns(
        RejectionWarning, match="'ok' as the positive class, because it comes"
    ):
        assert tuner.fit(-scores, labels).pos_label_ == "ok"
    tuner.set_params(pos_label="fraud").fit(scores, labels)
    plain = EnsembleThresholdTuner(None, target_derivative=0.5).fit(scores, y)
    np.testing.assert_array_equal(tuner.thresholds_, plain.thresholds_)


def test_rows_of_a_frame_in_chunks_decide_alike():
    pd = pytest.importorskip("pandas")
    X, y = rare_events(300)
    names = [f"x{i}" for i in range(12)]
    frame = pd.DataFrame(X, columns=names, index=np.arange(300)[::-1])
    frame["kind"] = np.where(X[:, 0] > 0, "up", "down")
    encode = OneHotEncoder(sparse_output=False)
    detectors = [
        ("text", make_pipeline(encode, GaussianNB()), ["kind"]),
        ("numbers", GaussianNB(), names),
    ]
    tuner = EnsembleThresholdTuner(detectors, max_fp_per_tp=20, cv=3)
    tuner.fit(frame, pd.Series(y, index=frame.index))
    expected = tuner.predict(frame), tuner.decision_function(frame)
    for rows in (1, 7):
        parts = [frame.iloc[k : k + rows] for k in range(0, 21, rows)]
        labels = np.concatenate([tuner.predict(part) for part in parts])
        values = np.concatenate([tuner.decision_function(part) for part in parts])
        np.testing.assert_array_equal(labels, expected[0][: len(labels)])
        np.testing.assert_array_equal(values, expected[1][: len(values)])


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_twelve_documents_and_a_fold_without_positives():
    X, y = rare_events(400)
    positives, negatives = (np.flatnonzero(y == k) for k in (1, 0))
    views = two_views()
    few = np.concatenate([positives[:3], negatives[:9]])
    tuner = EnsembleThresholdTuner(views, max_fp_per_tp=20).fit(X[few], y[few])
    assert 0 < tuner.operating_point_.tp <= 3
    single = np.concatenate([positives[:1], negatives[:30]])
    with pytest.raises(ValueError, match=r"no rated positives to tune .*, of 1 in y"):
        clone(tuner).fit(X[single], y[single])


@pytest.mark.parametrize("frozen", [True, False])
def test_groups_are_kept_together_without_routing(frozen):
    X, y = rare_events(400)
    groups = np.arange(400) % 8
    estimators = None if frozen else two_views()
    data = X[:, :2] if frozen else X
    options = {"target_derivative": 0.1, "random_state": 0}
    model = EnsembleThresholdTuner(estimators, cv=GroupKFold(4), **options)
    model.fit(data, y, groups=groups)
    splits = list(GroupKFold(4).split(X, y, groups))
    expected = EnsembleThresholdTuner(estimators, cv=splits, **options).fit(data, y)
    np.testing.assert_array_equal(model.thresholds_, expected.thresholds_)
    np.testing.assert_array_equal(
        model.cross_validated_point_.thresholds,
        expected.cross_validated_point_.thresholds,
    )
    with pytest.raises(ValueError, match="groups"):
        model.fit(data, y)


def test_logged_scores_that_are_infinite_or_masked():
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    scores = rng.normal(size=(200, 2)) + y[:, np.newaxis]
    model = EnsembleThresholdTuner(None, target_derivative=0.5)
    log_odds = scores.copy()
    log_odds[7, 1] = -np.inf
    words = "scores must be finite, got -inf in row 7, column 1 .*score where it"
    with pytest.raises(ValueError, match=words):
        model.fit(log_odds, y)
    with pytest.raises(ValueError, match=words):
        model.fit(scores, y).predict(log_odds)
    # What is masked did not run, or was not rated.
    masked = np.ma.masked_less(scores, -0.5)
    missing = np.where(scores < -0.5, np.nan, scores)
    is_hidden = (scores < 0).all(axis=1)
    point = model.fit(missing, np.where(is_hidden, -1, y)).operating_point_
    found = model.fit(masked, np.ma.masked_array(y, is_hidden))
    assert found.operating_point_.to_dict() == point.to_dict()
    np.testing.assert_array_equal(found.predict(masked), found.predict(missing))
    same = operating_point(
        masked, np.ma.masked_array(y, is_hidden), target_derivative=0.5
    )
    assert same.to_dict() == point.to_dict()
