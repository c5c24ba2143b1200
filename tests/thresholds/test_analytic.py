"""Smooth paths: counts and areas by definition, families, what the search reaches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from sklearn_reject.thresholds._analytic import (
    FAMILIES,
    analytic_path,
    normalize_scores,
    path_of_positions,
)
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._graph import graph_path
from tests.thresholds.path_oracle import (
    count_positives,
    rated_documents,
    short_analytic_path,
)

NAMES = pytest.mark.parametrize("family", sorted(FAMILIES))
RULES = pytest.mark.parametrize("rule", ["any", "all"])


def draw_documents(seed, n_documents, n_classifiers, rule, share=0.1):
    rng = np.random.default_rng(seed)
    y = (np.arange(n_documents) < share * n_documents).astype(int)
    lift = 2.5 * rng.random((n_documents, n_classifiers)) * y[:, np.newaxis]
    return check_documents(rng.normal(size=lift.shape) + lift, y, rule=rule)


def assert_is_path(path, documents):
    assert path.rule == documents.rule
    np.testing.assert_array_equal(path.thresholds[0], documents.base)
    assert np.isposinf(path.thresholds[-1]).all()
    assert (path.thresholds[1:] >= path.thresholds[:-1]).all()
    for column, scores in zip(path.thresholds.T, documents.scores.T, strict=True):
        assert np.isin(column[np.isfinite(column)], [*scores, column[0]]).all()
    found = zip(path.fp, path.tp, strict=True)
    counted = [count_positives(documents, row) for row in path.thresholds]
    assert list(found) == counted


def auroc(documents, entered):
    weight = documents.weight
    return roc_auc_score(documents.is_positive, entered, sample_weight=weight)


def product_of_totals(path):
    return path.fp[0] * path.tp[0]


def first_positions(documents, positions):
    """Return where each document enters, as a rank, straight from its definition."""
    known = np.where(np.isnan(positions), -np.inf, positions)
    reduce = np.max if documents.rule == "any" else np.min
    return np.unique(reduce(known, axis=1), return_inverse=True)[1]


@given(rated_documents(), st.data())
def test_paths_of_any_positions(documents, data):
    u = normalize_scores(documents)
    powers = data.draw(st.lists(st.sampled_from([0.2, 1, 3]), min_size=3, max_size=3))
    positions = np.round(u ** np.array(powers[: documents.n_classifiers]), 1)
    path = path_of_positions(documents, positions)
    assert_is_path(path, documents)
    area = auroc(documents, first_positions(documents, positions))
    assert path.area == pytest.approx(product_of_totals(path) * area)
    n_positive = np.count_nonzero(documents.is_positive)
    assert len(path) <= 2 * n_positive + 2


def test_positions_that_fall_are_raised():
    documents = check_documents([[1], [2], [3], [4]], [1, 0, 1, 0])
    path = path_of_positions(documents, np.array([[0.1], [0.4], [0.3], [0.5]]))
    # The documents of scores 2 and 3 enter together.
    assert path.fp.tolist() == [2, 2, 1, 0]
    assert path.tp.tolist() == [2, 1, 0, 0]


@given(rated_documents())
def test_normalized_scores_are_mid_ranks_of_balanced_classes(documents):
    u = normalize_scores(documents)
    weight = np.ones(len(u)) if documents.weight is None else documents.weight
    labels = documents.is_positive
    share = weight / np.where(labels, weight[labels].sum(), weight[~labels].sum())
    for column, scores, base in zip(
        u.T, documents.scores.T, documents.base, strict=True
    ):
        reached = scores >= base
        assert np.isnan(column[~reached]).all()
        for value, score in zip(column[reached], scores[reached], strict=True):
            below = share[reached & (scores < score)].sum()
            tied = share[scores == score].sum()
            expected = (below + tied / 2) / share[reached].sum()
            assert value == pytest.approx(expected)
            assert 0 < value < 1


def test_weights_that_are_rounded_away_leave_ranks_inside():
    weight = [1e-90, 1, 1, 1e-90]
    documents = check_documents(
        [[1], [2], [3], [4]], [0, 1, 0, 1], sample_weight=weight
    )
    u = normalize_scores(documents)
    assert (u > 0).all()
    assert (u < 1).all()


@NAMES
@given(documents=rated_documents())
def test_analytic_paths(family, documents):
    path = short_analytic_path(documents, family=family)
    assert_is_path(path, documents)
    assert path.area <= product_of_totals(path) * (1 + 1e-12)


@NAMES
@given(documents=rated_documents(weights=False))
def test_never_below_one_classifier_alone(family, documents):
    if (documents.scores < documents.base).any():
        return  # what others reach alone is no path of one classifier
    path = short_analytic_path(documents, family=family)
    alone = max(auroc(documents, scores) for scores in documents.scores.T)
    assert path.area >= product_of_totals(path) * alone - 1e-6


def test_one_classifier_has_one_curve():
    documents = draw_documents(0, 300, 1, "any")
    path = analytic_path(documents)
    area = auroc(documents, documents.scores[:, 0])
    assert path.area == pytest.approx(product_of_totals(path) * area)


@RULES
@NAMES
def test_nothing_but_the_order_of_scores_counts(rule, family):
    documents = draw_documents(1, 200, 3, rule)
    path = short_analytic_path(documents, family=family)
    scores = np.column_stack(
        [
            f(s)
            for f, s in zip(
                (np.exp, np.tanh, lambda s: s**3), documents.scores.T, strict=True
            )
        ]
    )
    other = check_documents(scores, documents.is_positive.astype(int), rule=rule)
    found = short_analytic_path(other, family=family)
    np.testing.assert_array_equal(found.fp, path.fp)
    np.testing.assert_array_equal(found.tp, path.tp)


# Families


def thresholds_of(name, x, parameters):
    """Return normalized thresholds as the families are defined."""
    if name == "power":
        exponents = np.exp(np.append(0, parameters))
        return x[:, np.newaxis] ** exponents
    offsets, slopes = np.split(np.asarray(parameters), 2)
    slopes = np.exp(np.append(0, slopes))
    odds = np.log(x / (1 - x))[:, np.newaxis]
    return 1 / (1 + np.exp(-(odds - np.append(0, offsets)) / slopes))


@NAMES
def test_documents_enter_where_their_scores_are_the_thresholds(family):
    x = np.linspace(0.01, 0.99, 50)
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=FAMILIES[family].starts(3).shape[1])
    entered = FAMILIES[family].enter(thresholds_of(family, x, parameters), parameters)
    # All at the same position, whichever scale positions are on.
    np.testing.assert_allclose(entered[:, 1:] - entered[:, :1], 0, atol=1e-9)
    assert (np.diff(entered, axis=0) > 0).all()


@NAMES
@pytest.mark.parametrize("n_classifiers", [2, 3, 10])
def test_starts_hold_each_classifier_alone(family, n_classifiers):
    family = FAMILIES[family]
    starts = family.starts(n_classifiers)
    assert len(np.unique(starts, axis=0)) == len(starts)
    u = np.random.default_rng(0).uniform(0.01, 0.99, (100, n_classifiers))
    for reduce in (np.max, np.min):
        orders = {
            reduce(family.enter(u, start), axis=1).argsort().tobytes()
            for start in starts
        }
        assert orders >= {column.argsort().tobytes() for column in u.T}


@pytest.mark.parametrize("size", [1e3, -1e3])
@NAMES
def test_extreme_parameters(family, size):
    family = FAMILIES[family]
    n_parameters = family.starts(2).shape[1]
    u = np.full((1, 2), 0.3)
    assert np.isfinite(family.enter(u, np.full(n_parameters, size))).all()


class Power:
    """The family of the paper, as a user would write it."""

    def starts(self, n_classifiers):
        return [np.full(n_classifiers - 1, start) for start in (-1, 0, 1)]

    def thresholds(self, x, parameters):
        exponents = np.exp(np.clip(np.append(0, parameters), -20, 20))
        return x[:, np.newaxis] ** exponents


@RULES
def test_a_family_of_the_user(rule):
    documents = draw_documents(2, 400, 2, rule)
    path = analytic_path(documents, family=Power())
    assert_is_path(path, documents)
    built_in = analytic_path(documents, family="power")
    assert path.area == pytest.approx(built_in.area, rel=2e-3)


class Broken(Power):
    def __init__(self, starts=((0.0,),), thresholds=None):
        self._starts, self._thresholds = starts, thresholds

    def starts(self, n_classifiers):
        return self._starts

    def thresholds(self, x, parameters):
        return self._thresholds(x)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("kumaraswamy", "family must be one of"),
        (None, r"or an object with the methods starts\(n_classifiers\)"),
        (Power, "family must be one of"),
        (Broken([]), r"family\.starts.* must return a finite matrix"),
        (Broken([[np.nan]]), "a finite matrix"),
        (Broken([0.0, 1.0]), r"a finite matrix.*shape \(2,\)"),
        (Broken(thresholds=lambda x: np.column_stack([x, 1 - x])), "do not fall"),
        (Broken(thresholds=lambda x: np.column_stack([x, x * np.nan])), "not fall"),
        (Broken(thresholds=lambda x: x), r"of shape \(4097, 2\) here"),
    ],
)
def test_bad_families(family, message):
    with pytest.raises(ValueError, match=message):
        analytic_path(draw_documents(0, 50, 2, "any"), family=family)


# What the search reaches


@pytest.mark.parametrize(("rule", "share"), [("any", 0.7), ("all", 0.5)])
@pytest.mark.parametrize(
    ("n_samples", "n_documents"),
    [(3, 600), pytest.param(9, 2000, marks=pytest.mark.slow)],
)
def test_share_of_the_gap_to_the_best_path(rule, share, n_samples, n_documents):
    closed = []
    for seed in range(n_samples):
        documents = draw_documents(seed, n_documents, 2, rule)
        best = graph_path(documents, n_thresholds=300).area
        alone = max(auroc(documents, s) for s in documents.scores.T)
        path = analytic_path(documents)
        alone *= product_of_totals(path)
        closed.append((path.area - alone) / (best - alone))
    assert np.median(closed) >= share


@RULES
@pytest.mark.parametrize("n_classifiers", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_many_classifiers(rule, n_classifiers):
    documents = draw_documents(3, 60 * n_classifiers, n_classifiers, rule)
    path = analytic_path(documents)
    assert_is_path(path, documents)
    alone = max(auroc(documents, scores) for scores in documents.scores.T)
    assert path.area > product_of_totals(path) * alone
