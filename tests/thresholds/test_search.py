"""Operating points and paths of the public functions, by definition."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.thresholds import operating_point, optimal_path
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._intervals import count_intervals

METHODS = pytest.mark.parametrize("method", ["graph", "analytic", "direct"])

RULES = pytest.mark.parametrize("rule", ["any", "all"])


def draw(seed=0, n_documents=600, n_classifiers=2, share=0.1):
    rng = np.random.default_rng(seed)
    y = (rng.random(n_documents) < share).astype(int)
    lift = 2.5 * rng.random((n_documents, n_classifiers)) * y[:, np.newaxis]
    return rng.normal(size=lift.shape) + lift, y


def predict(scores, thresholds, rule):
    reached = scores >= thresholds
    return reached.any(axis=1) if rule == "any" else reached.all(axis=1)


@RULES
@METHODS
def test_point_counts_what_it_predicts(method, rule):
    scores, y = draw()
    point = operating_point(scores, y, method=method, rule=rule, target_derivative=0.5)
    predicted = predict(scores, point.thresholds, rule)
    assert (point.fp, point.tp) == (np.sum(predicted > y), np.sum(predicted & y))
    np.testing.assert_array_equal(point.predict(scores), predicted)
    assert point.precision == point.tp / (point.tp + point.fp)
    assert point.rule == rule
    documents = check_documents(scores, y, rule=rule)
    intervals = count_intervals([documents], [point.thresholds])
    found = point.fp_interval, point.tp_interval, point.precision_interval
    assert found == intervals
    if method != "direct":
        path = optimal_path(scores, y, method=method, rule=rule)
        at_vertex = path.fp[point.vertex], path.tp[point.vertex]
        assert at_vertex == (point.fp, point.tp)


FEW = [(1, 0.4, 1), (2, 0.1, 1), (2, 1.5, 1), (3, 0.4, 1)]
MANY = [(n, derivative, 3) for n in (1, 2, 3) for derivative in (0.1, 0.4, 1.5)]


@pytest.mark.slow
@RULES
@pytest.mark.parametrize(
    ("n_classifiers", "derivative", "n_samples"),
    [*FEW, *(pytest.param(*case, marks=pytest.mark.slow) for case in MANY)],
)
def test_direct_is_not_below_the_paths(rule, n_classifiers, derivative, n_samples):
    n_documents = 200 * n_samples
    for seed in range(n_samples):
        scores, y = draw(seed, n_documents, n_classifiers)
        found = [
            operating_point(
                scores, y, method=method, rule=rule, target_derivative=derivative
            )
            for method in ("graph", "analytic", "direct")
        ]
        *paths, direct = (point.tp - derivative * point.fp for point in found)
        assert direct >= max(paths)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=14),
    st.builds(Fraction, st.integers(1, 9), st.integers(1, 9)),
    st.sampled_from(["graph", "analytic", "direct"]),
)
def test_one_classifier_against_all_cuts(documents, derivative, method):
    scores, y = np.array([*documents, (6, 1), (0, 0)]).T
    counts = [
        (int(np.sum((scores >= t) & (y == 0))), int(np.sum((scores >= t) & (y == 1))))
        for t in np.unique(scores)
    ]
    target = {"target_derivative": float(derivative), "n_thresholds": 50}
    gains = [tp - derivative * fp for fp, tp in counts]
    rest = [(counts[0][0] - fp, counts[0][1] - tp) for fp, tp in [*counts[1:], (0, 0)]]
    with warnings.catch_warnings():
        # Everything may be worth to be predicted.
        warnings.simplefilter("ignore", RejectionWarning)
        point = operating_point(scores, y, method=method, **target)
    assert Fraction(point.tp) - derivative * Fraction(point.fp) == max(gains)
    if all(tp >= derivative * fp for fp, tp in rest):
        assert (point.fp, point.tp) == counts[0]


class Column(ClassifierMixin, BaseEstimator):
    """Classifier whose decision value is the only column of X."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] >= 0).astype(int)]


@pytest.mark.parametrize("derivative", [0.15, 0.6])
@METHODS
def test_not_below_the_tuner_of_scikit_learn(method, derivative):
    def objective(y_true, y_pred):
        _, fp, _, tp = confusion_matrix(y_true, y_pred).ravel()
        return tp - derivative * fp

    scores, y = draw(1, 300, 1)
    tuner = TunedThresholdClassifierCV(
        FrozenEstimator(Column().fit(scores, y)),
        scoring=make_scorer(objective),
        response_method="decision_function",
        cv="prefit",
        refit=False,
    ).fit(scores, y)
    theirs = objective(y, tuner.predict(scores))
    options = {"method": method, "n_thresholds": 1000}
    point = operating_point(scores, y, target_derivative=derivative, **options)
    assert objective(y, point.predict(scores).astype(int)) >= theirs


def test_three_names_of_the_target():
    scores, y = draw()
    points = [
        operating_point(scores, y, **target)
        for target in (
            {"target_derivative": 0.25},
            {"marginal_precision": 0.2},
            {"max_fp_per_tp": 4},
        )
    ]
    for point in points:
        np.testing.assert_array_equal(point.thresholds, points[0].thresholds)
        assert point.target_derivative == 0.25
        assert point.marginal_precision == 0.2
        assert point.max_fp_per_tp == 4


@METHODS
def test_unrated_documents_never_count(method):
    scores, y = draw(n_documents=2000)
    rated = np.where((scores >= 0.5).any(axis=1), y, -1)
    options = {"method": method, "target_derivative": 0.4}
    point = operating_point(scores, rated, **options)
    is_rated = rated >= 0
    only = operating_point(
        scores[is_rated],
        rated[is_rated],
        base_thresholds=[0.5, 0.5],
        **options,
    )
    assert (point.fp, point.tp) == (only.fp, only.tp)
    assert not point.predict(scores[~is_rated]).any()
    # The bootstrap draws from all that were given.
    assert (point.fp_interval, point.tp_interval) != (
        only.fp_interval,
        only.tp_interval,
    )


@METHODS
def test_weights_are_counted(method):
    scores, y = draw(n_documents=300)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    options = {"method": method, "target_derivative": 0.4}
    weighted = operating_point(scores, y, sample_weight=weight, **options)
    repeated = operating_point(
        np.repeat(scores, weight, axis=0), np.repeat(y, weight), **options
    )
    predicted = weighted.predict(scores)
    assert weighted.tp == weight[predicted & (y == 1)].sum()
    if method == "direct":
        assert (weighted.fp, weighted.tp) == (repeated.fp, repeated.tp)
        np.testing.assert_array_equal(weighted.thresholds, repeated.thresholds)


def test_higher_confidence_is_wider():
    scores, y = draw()
    narrow, wide = (
        operating_point(scores, y, target_derivative=1, confidence_level=level)
        for level in (0.5, 0.99)
    )
    for name in ("fp_interval", "tp_interval", "precision_interval"):
        (low, high), (lower, higher) = getattr(narrow, name), getattr(wide, name)
        assert lower < low < high < higher
    assert wide.confidence_level == 0.99


def test_smoothing_is_passed_on():
    scores, y = draw()
    found = {
        operating_point(scores, y, target_derivative=0.4, smoothing=smoothing).vertex
        for smoothing in ("concave", "isotonic")
    }
    assert len(found) == 2


def test_points_are_frozen_and_survive_pickling():
    scores, y = draw()
    point = operating_point(scores, y, target_derivative=1)
    with pytest.raises(AttributeError):
        point.fp = 0
    copy = pickle.loads(pickle.dumps(point))
    np.testing.assert_equal(vars(copy), vars(point))


@METHODS
def test_range_of_an_error(method):
    # A negative scores highest, and a positive lowest.
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    scores = np.arange(8, 0, -1)
    with pytest.raises(InfeasibleTargetError, match="Use a smaller") as info:
        operating_point(scores, y, target_derivative=3.0, method=method)
    assert info.value.attainable == {"max_fp_per_tp": pytest.approx(0.5)}
    end = operating_point(scores, y, **info.value.attainable, method=method)
    assert (end.fp, end.tp) == (1, 2)
    # Any smaller one is worth all documents, and says so.
    with pytest.warns(RejectionWarning, match="all documents are predicted positive"):
        point = operating_point(scores, y, target_derivative=0.1, method=method)
    assert np.isneginf(point.thresholds).all()
    assert (point.fp, point.tp, point.n_predicted) == (4, 4, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Exactly one of"),
        ({"target_derivative": 1, "max_fp_per_tp": 1}, "Exactly one of"),
        ({"target_derivative": -1}, "target_derivative must be"),
        ({"target_derivative": 1, "method": "magic"}, "method must be one of"),
        ({"target_derivative": 1, "smoothing": "magic"}, "smoothing must be one of"),
        ({"target_derivative": 1, "search": "magic"}, "search must be one of"),
        ({"target_derivative": 1, "spacing": "magic"}, "spacing must be one of"),
        ({"target_derivative": 1, "family": "magic"}, "family must be one of"),
        ({"target_derivative": 1, "rule": "magic"}, "rule must be one of"),
        ({"target_derivative": 1, "n_thresholds": 1}, "n_thresholds must be"),
        ({"target_derivative": 1, "confidence_level": 0}, "confidence_level must be"),
        ({"target_derivative": 1, "confidence_level": 95}, "confidence_level must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        operating_point(*draw(), **options)


@pytest.mark.parametrize(
    ("scores", "message"),
    [([[1.0, np.inf]], "finite"), ([[1.0]], "one column for each of the 2")],
)
def test_bad_scores_to_predict(scores, message):
    point = operating_point(*draw(), target_derivative=1)
    with pytest.raises(ValueError, match=message):
        point.predict(scores)


# Paths

SCORES = np.array([[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]])

Y = [1, 1, 0, 0, 0]


def rare(n, n_classifiers, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.05).astype(int)
    return rng.normal(size=(n, n_classifiers)) + 1.5 * y[:, np.newaxis], y


@pytest.mark.parametrize("method", ["graph", "analytic"])
def test_one_classifier_has_all_its_cuts_whatever_the_grid(method):
    scores, y = rare(3000, 1)
    path = optimal_path(scores, y, method=method, n_thresholds=2)
    for derivative in (0.05, 0.2, 0.5):
        best = max(
            (y[scores[:, 0] >= t].sum() - derivative * (1 - y)[scores[:, 0] >= t].sum())
            for t in scores[:, 0]
        )
        assert np.max(path.tp - derivative * path.fp) == pytest.approx(best)


def test_the_grid_is_dense_where_rare_events_are():
    scores, y = rare(30_000, 2)
    exact = operating_point(scores, y, target_derivative=0.5, method="direct")
    point = operating_point(scores, y, target_derivative=0.5)
    best = exact.tp - 0.5 * exact.fp
    assert 0.95 * best < point.tp - 0.5 * point.fp <= best


def test_inverted_scores():
    scores = [[0, 0], [1, 1], [2, 2], [3, 3]]
    path = optimal_path(scores, [1, 1, 0, 0], method="analytic")
    assert path.area == 0


@pytest.mark.parametrize("search", ["grid", "pairs", "auto"])
def test_no_search_goes_beyond_the_working_memory(search):
    scores, y = rare(5000, 2)
    with config_context(working_memory=0.1):
        with pytest.raises(ValueError, match="n_thresholds=57, allow"):
            optimal_path(scores, y, n_thresholds=500, search=search)
        optimal_path(scores, y, n_thresholds=57, search=search)
        operating_point(
            scores, y, n_thresholds=57, search=search, method="direct", max_fp_per_tp=3
        )


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[np.inf, 0.0]], "finite, got inf"),
        ([[0.1, 0.2, 0.3]], "one column for each of the 2 classifiers, got 3"),
        ([0.1, 0.2], "one column for each of the 2 classifiers, got 1"),
    ],
)
def test_scores_of_new_documents_are_checked(scores, words):
    path = optimal_path(SCORES, Y)
    point = operating_point(SCORES, Y, target_derivative=1)
    for ask in (path.locate, point.predict):
        with pytest.raises(ValueError, match=words):
            ask(scores)


def test_labels_of_two_kinds_are_refused():
    with pytest.raises(ValueError, match="y must hold labels of one kind"):
        optimal_path(SCORES, np.array([1, "1", 0, 0, "0"], dtype=object))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "direct"}, "method must be one of"),
        ({"search": "most"}, "search must be one of"),
        ({"family": 3}, "family must be one of"),
        ({"n_thresholds": 2.5}, "n_thresholds must be an int"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        optimal_path(SCORES, Y, **options)
