"""Targets that are no slopes against all combinations of thresholds."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, recall_score

from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.thresholds import _direct_targets, check_documents, operating_point
from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._search import Search
from sklearn_reject.thresholds._targets import resolve_target
from tests.thresholds.path_oracle import count_positives, rated_documents


def all_points(documents):
    """Return FP, TP and alerts at all combinations of the scores and infinity."""
    columns = zip(documents.base, documents.scores.T, strict=True)
    values = [[*np.unique(own[own >= base]), np.inf] for base, own in columns]
    points = []
    for thresholds in product(*values):
        others = predict_positive(documents.others, thresholds, documents.rule)
        own = predict_positive(documents.scores, thresholds, documents.rule)
        fp, tp = count_positives(documents, thresholds)
        points.append((float(fp), float(tp), int(own.sum() + others.sum())))
    return points


def found_by(documents, target, method="direct"):
    path, vertex = Search(method=method).find_point(documents, target)
    alerts = documents.count_alerts(path)
    return path.fp[vertex], path.tp[vertex], alerts[vertex]


def f1(point, documents):
    return 2 * point[1] / (point[0] + point[1] + documents.total_positive)


@given(rated_documents(max_classifiers=2, max_documents=8))
def test_best_f1(documents):
    best = max(f1(point, documents) for point in all_points(documents))
    found = found_by(documents, resolve_target(objective="f1"))
    assert f1(found, documents) == pytest.approx(best)


@given(rated_documents(max_classifiers=2, max_documents=8), st.integers(1, 8))
def test_most_true_positives_of_so_many_alerts(documents, most):
    target = resolve_target(max_alerts=most)
    allowed = [point for point in all_points(documents) if point[2] <= most]
    tp = max(point[1] for point in allowed)
    if tp == 0:
        with pytest.raises(InfeasibleTargetError, match="predicting no pos") as info:
            found_by(documents, target)
        least = info.value.attainable["max_alerts"]
        assert least == min(p[2] for p in all_points(documents) if p[1] > 0) > most
        return
    found = found_by(documents, target)
    assert found[1] == pytest.approx(tp)
    assert found[2] <= most
    on_path = found_by_or_none(documents, target)
    assert on_path is None or on_path[1] <= found[1] + 1e-9


def found_by_or_none(documents, target):
    try:
        return found_by(documents, target, "graph")
    except InfeasibleTargetError:
        return None


@given(rated_documents(max_classifiers=2, max_documents=8), st.floats(0.05, 1))
def test_fewest_false_positives_of_a_recall(documents, share):
    target = resolve_target(min_recall=share)
    if not documents.is_complete:
        with pytest.raises(ValueError, match="min_recall needs the number of all"):
            found_by(documents, target)
        return
    needed = share * documents.total_positive * (1 - 1e-12)
    enough = [point for point in all_points(documents) if point[1] >= needed]
    if not enough:
        with pytest.raises(InfeasibleTargetError, match=r"can(not| only) be met"):
            found_by(documents, target)
        return
    found = found_by(documents, target)
    assert found[0] == pytest.approx(min(point[0] for point in enough))
    assert found[1] >= needed


def draw(n=400, n_classifiers=3, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.1).astype(int)
    return rng.normal(size=(n, n_classifiers)) + 1.5 * y[:, np.newaxis], y


@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("target", [{"max_alerts": 40}, {"min_recall": 0.7}])
def test_beyond_a_million_combinations(monkeypatch, target, rule):
    scores, y = draw()
    options = {"rule": rule, "n_thresholds": 10, **target}
    on_path = operating_point(scores, y, **options)
    best = operating_point(scores, y, method="direct", **options)
    monkeypatch.setattr(_direct_targets, "_MOST_COMBINATIONS", 0)
    found = operating_point(scores, y, method="direct", **options)
    for point in (on_path, found, best):
        if "max_alerts" in target:
            assert point.predict(scores).sum() == point.n_predicted <= 40
        else:
            assert recall_score(y, point.predict(scores)) >= 0.7
    if "max_alerts" in target:
        assert on_path.tp <= found.tp <= best.tp
    else:
        assert on_path.fp >= found.fp >= best.fp


@pytest.mark.parametrize("method", ["graph", "analytic", "direct"])
def test_f1_is_that_of_scikit_learn(method):
    scores, y = draw(n_classifiers=2)
    y = np.where((scores > 0.7).any(axis=1), y, -1)
    point = operating_point(scores, y, objective="f1", method=method)
    rated = y >= 0
    expected = f1_score(y[rated], point.predict(scores[rated]))
    assert point.target_derivative == pytest.approx(expected / 2 / (1 - expected / 2))
    others = [
        operating_point(scores, y, marginal_precision=p, method=method)
        for p in (0.2, 0.3, 0.5)
    ]
    for other in others:
        assert f1_score(y[rated], other.predict(scores[rated])) <= expected + 1e-12


@pytest.mark.parametrize("target", [{"max_alerts": 1}, {"min_recall": 1.0}])
def test_what_can_be_met_instead(target):
    scores = np.array([9.0, 8, 7, 6, 5, 4])
    y = [0, 0, 1, 0, 1, 1]
    options = {"base_thresholds": 5, **target}
    if "min_recall" in target:
        options["inclusion_proba"] = 1.0
    with pytest.raises(InfeasibleTargetError, match=r"can(not| only) be met") as info:
        operating_point(scores, y, **options)
    attainable = {"max_alerts": 3} if "max_alerts" in target else {"min_recall": 2 / 3}
    assert info.value.attainable == pytest.approx(attainable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        point = operating_point(scores, y, **options | info.value.attainable)
    assert (point.fp, point.tp) == ((2, 1) if "max_alerts" in target else (3, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_alerts": 0}, "max_alerts must be a positive int"),
        ({"max_alerts": 2.5}, "max_alerts must be a positive int"),
        ({"min_recall": 0}, "min_recall must be in"),
        ({"min_recall": 1.1}, "min_recall must be in"),
        ({"objective": "f2"}, "objective must be one of"),
        ({"objective": "f1", "max_alerts": 3}, "Exactly one of"),
    ],
)
def test_bad_targets(options, message):
    with pytest.raises(ValueError, match=message):
        operating_point(*draw(), **options)


def test_alerts_count_all_documents_whatever_they_weigh():
    scores, y = draw(n_classifiers=2)
    weight = np.where((np.arange(400) % 3 == 0) & (y == 0), 0.0, 1.0)
    with pytest.warns(RejectionWarning, match="have weight 0"):
        point = operating_point(scores, y, sample_weight=weight, max_alerts=30)
    predicted = point.predict(scores)
    assert point.n_predicted == predicted.sum() <= 30
    assert point.fp + point.tp == (predicted & (weight > 0)).sum()
    assert point.rated_share == (point.fp + point.tp) / point.n_predicted


def test_documents_of_weight_zero_change_no_other_count():
    scores, y = draw(n_classifiers=2)
    weight = np.where(np.arange(400) % 3, 1.0, 0.0)
    documents = check_documents(scores, y, sample_weight=weight)
    fewer = check_documents(scores[weight > 0], y[weight > 0])
    for target in (resolve_target(objective="f1"), resolve_target(max_fp_per_tp=2)):
        (path, vertex), (other, at) = (
            Search().find_point(each, target) for each in (documents, fewer)
        )
        np.testing.assert_array_equal(path.thresholds[vertex], other.thresholds[at])
