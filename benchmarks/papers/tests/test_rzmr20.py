"""The sets, the classifiers, the tuning and the tables of RZMR20."""

import gzip
import os
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from benchmarks.papers import (
    _rzmr20_classifiers,
    _rzmr20_figure,
    _rzmr20_measure,
    _rzmr20_summary,
    _rzmr20_tables,
    rzmr20,
)
from benchmarks.papers import _rzmr20_data as data
from benchmarks.papers import _rzmr20_published as published
from benchmarks.papers._datasets import MissingDatasetError
from benchmarks.papers._rzmr20_classifiers import (
    KINDS,
    Kind,
    Scored,
    choose,
    out_of_fold,
    score,
    score_split,
)
from benchmarks.papers._rzmr20_tuning import (
    f1_of_counts,
    slope_of,
    tune_directly,
    tune_on_path,
)
from sklearn_reject.thresholds import optimal_path

needs_data = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("SKLEARN_REJECT_DATA"),
        reason="SKLEARN_REJECT_DATA does not name a folder of real data",
    ),
]


# What the paper says

# Cells of four decimals, where another F1 than that of precision and recall is a slip;
# those of two decimals are rounded.
_SLIPS = {("ieee_fraud", "bayes", "second")}


def test_every_experiment_of_the_paper_is_there():
    expected = set(product(published.SETS, published.TYPES))
    assert set(published.TABLE) == expected - {("ieee_fraud", "boosting")}
    columns = set(published.JOINT + published.SINGLE)
    assert all(set(row) == columns for row in published.TABLE.values())
    assert set(published.TYPES) == set(KINDS)


def test_published_f1_agrees_with_precision_and_recall():
    slips = set()
    for key, row in published.TABLE.items():
        for name, cell in row.items():
            if None in cell:
                continue
            f1 = 2 * cell.precision * cell.recall / (cell.precision + cell.recall)
            has_two_decimals = round(cell.recall, 2) == cell.recall < 1
            if abs(f1 - cell.f1) > (5e-3 if has_two_decimals else 6e-4):
                slips.add((*key, name))
    assert slips == _SLIPS


def test_undefined_numbers_of_the_paper_are_counted():
    n_dashes, n_numbers = published.count_undefined()
    assert (n_dashes, n_numbers) == (44, 17 * 4 * 3)
    # All but one belong to a cell in which nothing is predicted to be positive.
    empty = [
        cell
        for row in published.TABLE.values()
        for cell in row.values()
        if cell.recall == 0
    ]
    assert len(empty) == 22
    assert sum(number is None for cell in empty for number in cell) == n_dashes - 1


def test_averages_in_the_text_do_not_follow_from_the_tables():
    found = published.differences()
    assert len(found) == 11
    mean = np.mean(list(found.values()), axis=0)
    np.testing.assert_allclose(mean, [-0.0531, 0.1493, -0.0079], atol=5e-5)
    some = [row for key, row in found.items() if key not in published.ALL_POSITIVE]
    mean = np.mean(some, axis=0)
    np.testing.assert_allclose(mean, [-0.0020, -0.0024, 0.0102], atol=5e-5)
    # Precision alone does, of the graph where it is defined.
    precision = [
        row["graph"].precision - (row["first"].precision + row["second"].precision) / 2
        for row in published.TABLE.values()
        if None not in row["graph"]
    ]
    assert len(precision) == 4
    assert np.mean(precision) == pytest.approx(published.CLAIMED.precision, abs=5e-4)


def test_one_difference_by_hand():
    difference = published.differences()["bank_additional", "boosting"]
    expected = [0.6458 - 0.6346, 0.4724 - 0.4948, 0.5456 - 0.5560]
    assert difference == pytest.approx(expected)


# Sets


@pytest.mark.parametrize(
    ("n_components", "first", "second"),
    [
        (6, [0, 1, 3, 5], [0, 2, 4]),
        (10, [0, 1, 3, 5, 7, 9], [0, 1, 2, 4, 6, 8]),
        (3, [0, 1], [0, 2]),
    ],
)
def test_a_fifth_of_the_components_is_shared(n_components, first, second):
    assert data.share_components(n_components) == (first, second)


def test_days_and_months_are_points_on_a_circle():
    months = data.encode("month", np.array(["jan", "dec", "feb", "jul"]))
    np.testing.assert_allclose(np.linalg.norm(months, axis=1), 1)
    distances = np.linalg.norm(months[0] - months[1:], axis=1)
    assert distances[0] == pytest.approx(distances[1])
    assert distances[2] == pytest.approx(2)
    days = data.encode("day", np.array(["1", "31", "2"]))
    distances = np.linalg.norm(days[0] - days[1:], axis=1)
    assert distances[0] == pytest.approx(distances[1])


def test_other_columns_are_numbers_or_categories():
    numbers = data.encode("age", np.array(["3", "-1.5"]))
    np.testing.assert_array_equal(numbers, [[3], [-1.5]])
    jobs = data.encode("job", np.array(["cook", "smith", "cook"]))
    np.testing.assert_array_equal(jobs, [[1, 0], [0, 1], [1, 0]])


@pytest.fixture(scope="module")
def made_up_split():
    """Two kinds of signal, in components of either classifier, and a column twice."""
    rng = np.random.default_rng(0)
    y = np.arange(800) % 8 == 0
    X = rng.normal(size=(800, 6)) * np.linspace(2, 1, 6)
    X[y] += np.where(rng.random((100, 1)) < 0.5, [0, 3, 0, 3, 0, 3], [0, 0, 3, 0, 3, 0])
    return data.split_views(np.column_stack([X, X[:, 0]]), y, seed=0)


def test_what_is_held_out_has_no_say(made_up_split):
    assert (len(made_up_split.y_train), len(made_up_split.y_test)) == (600, 200)
    assert (made_up_split.y_train.sum(), made_up_split.y_test.sum()) == (75, 25)
    first, second = made_up_split.X_train
    # Of seven columns six are independent, of which the first component is shared.
    assert (first.shape[1], second.shape[1]) == (4, 3)
    np.testing.assert_array_equal(first[:, 0], second[:, 0])
    both = np.column_stack([first, second[:, 1:]])
    np.testing.assert_allclose(both.mean(axis=0), 0, atol=1e-12)
    covariance = both.T @ both
    diagonal = np.diag(covariance)
    np.testing.assert_allclose(covariance, np.diag(diagonal), atol=1e-9)
    assert np.abs(made_up_split.X_test[0].mean(axis=0)).max() > 1e-3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SKLEARN_REJECT_DATA", str(tmp_path))
    return tmp_path


def _write_mammography(folder, n_rows=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 2
    rows = [
        ",".join([*map(repr, map(float, row)), "'1'" if positive else "'-1'"])
        for row, positive in zip(X, y, strict=True)
    ]
    with gzip.open(folder / "mammography.csv.gz", "wt") as file:
        file.write("\n".join(["a,b,c,d,e,target", *rows]) + "\n")
    return y


def test_a_set_is_read(folder):
    y = _write_mammography(folder)
    split = data.load("mammography", seed=1)
    assert np.sum(split.y_train) + np.sum(split.y_test) == y.sum()
    assert [X.shape for X in split.X_train] == [(300, 3), (300, 3)]
    other = data.load("mammography", seed=2)
    assert not np.array_equal(other.X_train[0], split.X_train[0])


def test_a_missing_set_cannot_be_loaded(monkeypatch):
    monkeypatch.delenv("SKLEARN_REJECT_DATA", raising=False)
    with pytest.raises(MissingDatasetError, match=r"ijcnn\.csv\.gz.*not set"):
        data.load("ijcnn", seed=0)


class TestRealData:
    pytestmark = needs_data

    @pytest.mark.parametrize(
        ("name", "n_samples", "n_positive"),
        [
            ("webpage", 34_780, 981),
            ("ijcnn", 49_990, 4853),
            ("marketing", 45_211, 5289),
            ("bank_additional", 41_188, 4640),
            ("mammography", 11_183, 260),
        ],
    )
    def test_a_set_has_its_size(self, name, n_samples, n_positive):
        if data.missing_file(name):
            pytest.skip(f"{data.missing_file(name)} is not there")
        split = data.load(name, seed=0)
        y = np.append(split.y_train, split.y_test)
        assert (len(y), y.sum()) == (n_samples, n_positive)
        assert len(split.y_test) == pytest.approx(n_samples / 4, abs=1)
        assert all(np.isfinite(X).all() for X in split.X_train + split.X_test)


# Classifiers


def test_scores_out_of_fold_are_of_other_samples():
    """The nearest neighbor of a sample is its twin, which has the other label."""
    X = np.repeat(np.arange(10.0), 2)[:, np.newaxis] + np.tile([0, 1e-3], 10)[:, None]
    y = np.tile([False, True], 10)
    classifier = KNeighborsClassifier(1)
    scores = out_of_fold(classifier, X, y, seed=0)
    assert (scores == y).mean() < 0.5
    assert (score(classifier.fit(X, y), X) == y).all()


def test_scores_of_naive_bayes_do_not_round_to_one():
    y = np.arange(200) % 2 == 0
    X = np.random.default_rng(0).normal(size=(200, 1)) + 6 * y[:, np.newaxis]
    classifier = GaussianNB().fit(X, y)
    far = np.linspace(8, 20, 30)[:, np.newaxis]
    assert np.sum(classifier.predict_proba(far)[:, 1] == 1) > 5
    scores = score(classifier, far)
    assert len(np.unique(scores)) == 30
    near = np.linspace(1, 5, 50)[:, np.newaxis]
    odds = np.exp(score(classifier, near))
    expected = classifier.predict_proba(near)[:, 1]
    np.testing.assert_allclose(odds / (1 + odds), expected, atol=1e-12)


def test_other_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] > 0
    svm, knn = LinearSVC().fit(X, y), KNeighborsClassifier().fit(X, y)
    np.testing.assert_array_equal(score(svm, X), svm.decision_function(X))
    np.testing.assert_array_equal(score(knn, X), knn.predict_proba(X)[:, 1])


def test_hyper_parameters_have_the_best_f1(monkeypatch):
    """All neighbors together never predict a rare class."""
    grid = {"n_neighbors": [40, 3, 39]}
    monkeypatch.setitem(KINDS, "knn", Kind(KNeighborsClassifier(), grid))
    rng = np.random.default_rng(0)
    y = np.arange(60) < 12
    X = rng.normal(size=(60, 1)) + 3 * y[:, np.newaxis]
    assert choose(X, y, "knn", seed=0) == {"n_neighbors": 3}
    assert choose(X, y, "bayes", seed=0) == {}


def test_a_part_of_many_samples_chooses(monkeypatch):
    seen = []

    class Recorder(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append((len(y), int(y.sum())))
            return super().fit(X, y)

    monkeypatch.setattr(_rzmr20_classifiers, "SEARCH_SIZE", 60)
    grid = {"n_neighbors": [1, 3]}
    monkeypatch.setitem(KINDS, "knn", Kind(Recorder(), grid))
    X = np.arange(600.0)[:, np.newaxis]
    choose(X, np.arange(600) % 10 == 0, "knn", seed=0)
    assert seen == [(40, 4)] * 6


def test_both_classifiers_score_their_own_features(made_up_split):
    scored = score_split(made_up_split, "bayes", seed=0)
    assert scored.tuning.shape == (600, 2)
    assert scored.held_out.shape == scored.predicted.shape == (200, 2)
    for column in (0, 1):
        alone = GaussianNB().fit(made_up_split.X_train[column], made_up_split.y_train)
        X = made_up_split.X_test[column]
        np.testing.assert_array_equal(scored.predicted[:, column], alone.predict(X))
        np.testing.assert_array_equal(scored.held_out[:, column], score(alone, X))
    assert not np.array_equal(scored.held_out[:, 0], scored.held_out[:, 1])


# Tuning


@st.composite
def _samples(draw):
    """Few distinct scores of two classifiers, of both classes."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()),
            min_size=2,
            max_size=12,
        ).filter(_has_both_and_varies)
    )
    first, second, y = (np.array(column) for column in zip(*rows, strict=True))
    return np.column_stack([first, second]).astype(np.float64), y


def _has_both_and_varies(rows):
    return all(len(set(column)) > 1 for column in zip(*rows, strict=True))


def _best_f1(scores, y, rule):
    """Compare all pairs of thresholds, one by one."""
    levels = [[*np.unique(column), np.inf] for column in scores.T]
    predictions = [_predict(scores, pair, rule) for pair in product(*levels)]
    return max(2 * np.sum(y & of) / (y.sum() + of.sum()) for of in predictions)


def _predict(scores, thresholds, rule):
    return (np.any if rule == "any" else np.all)(scores >= thresholds, axis=1)


@given(samples=_samples(), rule=st.sampled_from(["any", "all"]))
def test_the_best_f1_of_all_thresholds_is_found(samples, rule):
    scores, y = samples
    start = tune_on_path(optimal_path(scores, y, rule=rule), y.sum())
    found = tune_directly(scores, y, rule)
    assert found.f1 == pytest.approx(_best_f1(scores, y, rule))
    assert found.f1 >= start.f1
    is_predicted = _predict(scores, found.thresholds, rule)
    assert f1_score(y, is_predicted) == pytest.approx(found.f1)


@given(samples=_samples(), rule=st.sampled_from(["any", "all"]))
def test_the_best_f1_on_a_path_lies_where_its_slope_is(samples, rule):
    """TP - FP * slope is at its maximum, too: that is how operating points are."""
    scores, y = samples
    path = optimal_path(scores, y, rule=rule)
    best = tune_on_path(path, y.sum())
    row = np.flatnonzero((path.thresholds == best.thresholds).all(axis=1))[0]
    gains = path.tp - path.fp * slope_of(best.f1)
    assert gains[row] == pytest.approx(gains.max())
    assert best.f1 == pytest.approx(f1_of_counts(path.fp, path.tp, y.sum()).max())


def test_marginal_precision_is_half_of_f1():
    slope = slope_of(0.6)
    assert slope / (1 + slope) == pytest.approx(0.3)


# Measuring


@given(samples=_samples(), others=_samples(), rule=st.sampled_from(["any", "all"]))
def test_a_path_is_recounted(samples, others, rule):
    path = optimal_path(*samples, rule=rule)
    scores, y = others
    fp, tp = _rzmr20_measure.recount(path, scores, y)
    predictions = [np.ones(len(y), dtype=bool)]
    predictions += [_predict(scores, of, rule) for of in path.thresholds]
    assert fp.tolist() == [(of & ~y).sum() for of in predictions]
    assert tp.tolist() == [(of & y).sum() for of in predictions]


def test_the_area_of_one_classifier_is_its_auroc():
    y = np.array([True, False, True, False, False])
    scores = np.array([[0.9], [0.4], [0.4], [0.7], [0.1]])
    path = optimal_path(scores, y)
    # Of six pairs four are in order and one is tied.
    assert _rzmr20_measure.area_of(path, scores, y) == pytest.approx(4.5 / 6)
    # Whatever is below the path comes last of all.
    lower = np.array([[0.9], [0.05], [0.4], [0.7], [0.05]])
    expected = (2 + 1 + 2) / 6
    assert _rzmr20_measure.area_of(path, lower, y) == pytest.approx(expected)


def test_false_positives_are_interpolated_between_true_ones():
    fp, tp = np.array([9, 5, 3, 3, 0]), np.array([4, 4, 2, 1, 1])
    wanted = [4, 3, 2, 1.5, 1]
    found = [_rzmr20_measure.false_positives_at(fp, tp, of) for of in wanted]
    # Of two vertices with four true positives the one with five false ones counts.
    np.testing.assert_allclose(found, [5, 4, 3, 1.5, 0])


def test_precision_of_nothing_is_not_defined():
    y = np.array([True, False, True])
    nothing = _rzmr20_measure.rate(y, np.zeros(3, dtype=bool))
    assert nothing == {"precision": None, "recall": 0.0, "f1": 0.0}
    is_predicted = np.array([True, True, False])
    found = _rzmr20_measure.rate(y, is_predicted)
    assert found["precision"] == precision_score(y, is_predicted)
    assert found["recall"] == recall_score(y, is_predicted)
    assert found["f1"] == f1_score(y, is_predicted)


def _made_up_scored(n_samples=300):
    """Two classifiers, each of which knows half of the positives."""
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(2):
        y = np.arange(n_samples) % 10 == 0
        knows = rng.random(n_samples) < 0.5
        shift = 3 * np.column_stack([y & knows, y & ~knows])
        parts += [rng.normal(size=(n_samples, 2)) + shift, y]
    return Scored(*parts, parts[2] > 2.5, ({}, {}))


@pytest.fixture(scope="module")
def record():
    return _rzmr20_measure.measure_scores(_made_up_scored())


def test_what_is_measured_is_what_thresholds_attain(record):
    scored = _made_up_scored()
    assert record["positives"] == [30, 30]
    usual = record["usual"][1]["f1"]
    assert usual == f1_score(scored.y_held_out, scored.held_out[:, 1] > 2.5)
    paths = _rzmr20_measure.find_paths(scored, "any")
    tuned = tune_on_path(paths["graph"], 30)
    is_predicted = _predict(scored.held_out, tuned.thresholds, "any")
    cells = record["rules"]["any"]["cells"]
    assert cells["graph"]["f1"] == f1_score(scored.y_held_out, is_predicted)
    # Each classifier alone misses half of the positives.
    chosen = record["tuned"][record["best"]]
    assert min(cell["f1"] for cell in cells.values()) > chosen["f1"]
    assert min(record["rules"]["any"]["gains"].values()) > 0


def test_the_chosen_classifier_is_the_better_one_in_the_tuning(record):
    scored = _made_up_scored()
    best = [
        _best_f1(scored.tuning[:, [column]], scored.y_tuning, "any")
        for column in (0, 1)
    ]
    assert record["best"] == np.argmax(best)


def test_thresholds_tuned_directly_are_the_best_in_the_tuning(record):
    scored = _made_up_scored()
    for rule in _rzmr20_measure.RULES:
        f1 = record["rules"][rule]["tuning f1"]
        assert f1["direct"] >= max(f1.values())
    found = tune_directly(scored.tuning, scored.y_tuning, "any")
    assert found.f1 == pytest.approx(record["rules"]["any"]["tuning f1"]["direct"])


def test_areas_are_shares_of_the_largest(record):
    areas = record["rules"]["any"]["areas"]
    for of in areas.values():
        assert set(of) == {"single", "analytic", "graph", "fine graph"}
        assert all(0.5 < area < 1 for area in of.values())
    assert areas["tuning"]["single"] < areas["tuning"]["analytic"]
    assert areas["tuning"]["analytic"] <= areas["tuning"]["fine graph"]


def test_precision_at_no_recall_is_not_compared():
    scored = _made_up_scored()
    path = _rzmr20_measure.find_paths(scored, "any")["graph"]
    nothing = {"precision": None, "recall": 0.0, "f1": 0.0}
    assert _rzmr20_measure._gain(scored, path, nothing) is None


# Summing up and printing


def _cell(f1, precision=0.5):
    return {"precision": precision, "recall": 0.5, "f1": f1}


def _made_up_record(joint=0.6, direct=0.6, gain=0.1, analytic=0.9, usual=0.4):
    rule = {
        "cells": {
            "analytic": _cell(joint),
            "graph": _cell(joint - 0.1),
            "direct": _cell(direct),
        },
        "tuning f1": {"analytic": joint, "graph": joint, "direct": direct},
        "gains": {"analytic": gain, "graph": gain},
        "areas": {
            samples: {
                "single": 0.8,
                "analytic": analytic,
                "graph": 0.9,
                "fine graph": 0.9,
            }
            for samples in ("tuning", "held out")
        },
    }
    return {
        "usual": [_cell(usual), _cell(usual + 0.1)],
        "tuned": [_cell(0.45), _cell(0.5)],
        "best": 1,
        "rules": {"any": rule, "all": rule},
    }


def _made_up_records(**changes):
    return {
        "mammography": [
            {"svm": _made_up_record(), "tree": _made_up_record(**changes)},
            {
                "svm": _made_up_record(joint=0.7, direct=0.7),
                "tree": _made_up_record(**changes),
            },
        ]
    }


def test_seeds_are_averaged_before_experiments():
    records = _made_up_records(joint=0.5)

    def f1(record):
        return _rzmr20_summary.less_chosen(record, "any", "analytic")

    found = _rzmr20_summary.summarize(records, f1)
    assert found.mean == pytest.approx((0.15 + 0.0) / 2)
    assert found.error == pytest.approx(0.15 / np.sqrt(2) / np.sqrt(2))
    assert found.of_sets == {"mammography": pytest.approx(0.075)}


def test_a_joint_rule_is_compared_with_both_classifiers():
    record = _made_up_record(joint=0.6)
    less = _rzmr20_summary.less_mean_single
    found = less(record, "any", "graph", "f1", "usual")
    assert found == pytest.approx(0.5 - 0.45)
    better = less(record, "any", _rzmr20_summary.BETTER_PATH, "f1", "tuned")
    assert better == pytest.approx(0.6 - 0.475)
    record["usual"][0]["precision"] = None
    assert less(record, "any", "graph", "precision", "usual") is None


def test_undefined_precisions_are_counted_and_not_averaged():
    records = _made_up_records()
    record = records["mammography"][0]["tree"]
    record["rules"]["any"] = {
        **record["rules"]["any"],
        "cells": record["rules"]["any"]["cells"] | {"graph": _cell(0.0, None)},
    }
    record["usual"][1] = _cell(0.0, None)
    counts = _rzmr20_summary.count_undefined(records)
    assert counts == {"joint": 1, "single": 1}
    of_seeds = _rzmr20_summary.experiments(records)["mammography", "tree"]
    cells = _rzmr20_summary.mean_cells(of_seeds, "any")
    assert cells["graph"]["precision"] is None
    assert cells["graph"]["f1"] == pytest.approx(0.25)
    rows = list(_rzmr20_tables.verdicts(records))
    assert [row.verdict for row in rows[:2]] == ["miss", "miss"]


@pytest.mark.parametrize(
    ("changes", "misses"),
    [
        ({}, []),
        ({"joint": 0.2, "direct": 0.6}, ["F1 of analytic", "F1 of graph"]),
        ({"direct": 0.3}, ["F1 of direct", "tunings of F1"]),
        ({"gain": -0.2}, ["precision of analytic", "precision of graph"]),
        ({"analytic": 0.78}, ["share of the gap that the"]),
    ],
)
def test_what_is_asked_and_not_attained_is_a_miss(changes, misses):
    rows = _rzmr20_tables.verdicts(_made_up_records(**changes))
    found = {row.what.split(": ", 1)[1] for row in rows if row.verdict == "miss"}
    assert {next(of for of in misses if what.startswith(of)) for what in found} == set(
        misses
    )


def test_tables_show_the_paper_and_what_was_measured(capsys, folder):
    records = _made_up_records()
    records["bank_additional"] = [{"svm": _made_up_record()}]
    _rzmr20_tables.print_tables(records)
    lines = capsys.readouterr().out.splitlines()
    first = next(
        row for row, line in enumerate(lines) if line.startswith("bank_additional, lin")
    )
    cells = [line.split() for line in lines[first : first + 6]]
    assert cells[0][-5:] == ["paper", "0.1125", "-", "0.6633", "0.6582"]
    here = ["0.6000", "0.5000", "0.6000", "0.4000", "0.5000", "0.5000"]
    assert cells[5] == ["f1", "here", *here]
    text = "\n".join(lines)
    assert "ijcnn: not measured: no ijcnn.csv.gz" in text
    assert "44 dashes for 204 numbers" in text
    differences = next(line for line in lines if line.startswith("text"))
    assert differences.split()[-3:] == ["+5.1", "-1.6", "+1.5"]


def test_what_is_missing_is_said(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("SKLEARN_REJECT_DATA", raising=False)
    monkeypatch.setattr("sys.argv", ["rzmr20", "--results", str(tmp_path)])
    rzmr20.main()
    out = capsys.readouterr().out
    assert "webpage: not measured: no webpage.csv.gz" in out
    assert "what is asked" not in out


def test_sets_that_are_there_are_measured_once_and_drawn(monkeypatch, capsys, folder):
    _write_mammography(folder)
    for kind in set(KINDS) - {"bayes", "svm"}:
        monkeypatch.delitem(KINDS, kind)
    monkeypatch.setattr(_rzmr20_figure, "_EXAMPLE", ("mammography", "bayes"))
    arguments = ["rzmr20", "--seeds", "2", "--jobs", "1"]
    arguments += ["--results", str(folder / "results")]
    figure = folder / "new" / "figure.png"
    for more in ([], ["--figure", str(figure)]):
        monkeypatch.setattr("sys.argv", arguments + more)
        rzmr20.main()
    out = capsys.readouterr().out
    assert out.count("measured seed mammography-") == 2
    assert out.count("union: F1 of graph less chosen") == 2
    names = sorted(path.name for path in (folder / "results" / "rzmr20").iterdir())
    assert names == ["mammography-0.json", "mammography-1.json"]
    assert figure.read_bytes().startswith(b"\x89PNG")
