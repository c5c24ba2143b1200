"""The public function of paths: options, and what reaches the user."""

import numpy as np
import pytest
from sklearn import config_context

from sklearn_reject.thresholds import operating_point, optimal_path

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
        with pytest.raises(ValueError, match="n_thresholds=57 at most"):
            optimal_path(scores, y, n_thresholds=500, search=search)
        optimal_path(scores, y, n_thresholds=57, search=search)
        operating_point(
            scores, y, n_thresholds=57, search=search, method="direct", max_fp_per_tp=3
        )


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[np.nan, 0.0]], "finite, got nan"),
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
