"""Tables of parts of the documents, their sums, and points that need nothing else."""

import pickle
import warnings
from contextlib import nullcontext
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from benchmarks._timing import peak_bytes
from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.thresholds import (
    PNTable,
    operating_point,
    optimal_path,
    pn_table,
)
from sklearn_reject.thresholds._counted import (
    BYTES_PER_WEIGHED_NODE,
    n_counted_of,
    others_of,
    squares_of,
)
from tests.thresholds.path_oracle import all_nodes

GRID = [[-np.inf, 0.5, 1.5], [0.0, 1.0, 2.0]]

SCORES = np.array([[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]])

Y = np.array([1, 1, 0, 0, 0])

TARGETS = [
    {"target_derivative": 0.3},
    {"marginal_precision": 0.5, "smoothing": "isotonic"},
    {"max_fp_per_tp": 2.0},
    {"max_alerts": 9},
    {"min_recall": 0.6},
    {"objective": "f1"},
]

by_target = pytest.mark.parametrize("target", TARGETS, ids=lambda t: next(iter(t)))


def arrays_of(table):
    """Return all that a table counts, by name."""
    counted = table.counted
    named = {field.name: getattr(counted, field.name) for field in fields(counted)}
    return {"fp": table.fp, "tp": table.tp, **named}


def assert_same(first, second, rtol=0.0):
    one, two = arrays_of(first), arrays_of(second)
    assert first.rule == second.rule
    for name, values in one.items():
        if isinstance(values, (np.ndarray, float, tuple)):
            np.testing.assert_allclose(values, two[name], rtol=rtol, err_msg=name)
        else:
            assert values == two[name], name


@st.composite
def samples(draw):
    """Draw scores with ties and NaN, ratings, weights or None, and a cut into parts."""
    n = draw(st.integers(0, 14))
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    score = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 3.0, np.nan])
    scores = np.column_stack([column(score), column(score)]).reshape(n, 2)
    y = np.array(column(st.sampled_from([0, 1, -1])), dtype=int)
    weight = None
    if draw(st.booleans()):
        weight = np.array(column(st.sampled_from([0.0, 0.25, 1.0, 3.0])))
    # Empty parts are where two cuts are equal.
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    return scores, y, weight, np.split(np.arange(n), cuts)


@given(sample=samples(), rule=st.sampled_from(["any", "all"]), chance=st.booleans())
def test_tables_of_parts_add_up(sample, rule, chance):
    scores, y, weight, parts = sample
    # Weights and their squares are sums of powers of two: exact in any order.
    options = {"inclusion_proba": 0.5} if chance else {"base_thresholds": [-np.inf, 0]}

    def count(rows):
        part = None if weight is None else weight[rows]
        return pn_table(
            scores[rows],
            y[rows],
            thresholds=GRID,
            rule=rule,
            sample_weight=part,
            **options,
        )

    total, whole = sum(map(count, parts)), count(np.arange(len(y)))
    assert [part.dtype for part in (total.fp, total.tp)] == [np.float64] * 2
    if chance and any(len(rows) == 0 for rows in parts):
        # Nothing is drawn where nothing is.
        assert total.counted.is_drawn == bool(len(y))
    for table in (total, whole):
        assert [values[-1] for values in table.thresholds] == [np.inf] * 2
    np.testing.assert_array_equal(total.fp, whole.fp)
    np.testing.assert_array_equal(total.tp, whole.tp)
    names = "n_given", "total_positive", "is_complete", "weight_range"
    for name in (*names, "leaves_out_positives"):
        assert getattr(total.counted, name) == getattr(whole.counted, name), name
    for part in (squares_of, n_counted_of):
        np.testing.assert_array_equal(part(total), part(whole))
    n_others = [others_of(table).sum(axis=0) for table in (total, whole)]
    np.testing.assert_array_equal(*n_others)
    if not whole.counted.leaves_out_positives:
        np.testing.assert_array_equal(others_of(total), others_of(whole))


@given(sample=samples(), rule=st.sampled_from(["any", "all"]))
def test_counts_by_definition(sample, rule):
    scores, y, weight, _ = sample
    weight = np.ones(len(y)) if weight is None else weight
    table = pn_table(
        scores,
        y,
        thresholds=GRID,
        rule=rule,
        sample_weight=weight,
        base_thresholds=[-np.inf, 0],
    )
    combine = np.any if rule == "any" else np.all
    for node in all_nodes((4, 4)):
        pairs = zip(table.thresholds, node, strict=True)
        reached = scores >= np.array([values[index] for values, index in pairs])
        is_predicted = combine(reached, axis=1)
        for counts, label in ((table.fp, 0), (table.tp, 1)):
            assert counts[node] == weight[is_predicted & (y == label)].sum()


def problem(seed=0, n=400, weights=False):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    scores = rng.normal(size=(n, 2)) + 1.5 * y[:, np.newaxis]
    return scores.round(2), y, rng.random(n) + 0.1 if weights else None


@by_target
@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("weights", [False, True])
def test_points_are_those_of_the_documents(target, rule, weights):
    scores, y, weight = problem(weights=weights)
    options = {"rule": rule, "n_thresholds": 30, "sample_weight": weight}
    expected = operating_point(scores, y, **target, **options)
    table = pn_table(scores, y, **options)
    found = table.operating_point(**target)
    parts = np.array_split(np.arange(len(y)), 5)
    of_parts = sum(
        pn_table(
            scores[rows],
            y[rows],
            thresholds=table.thresholds,
            rule=rule,
            sample_weight=None if weight is None else weight[rows],
        )
        for rows in parts
    ).operating_point(**target)
    rtol = 1e-9 if weights else 1e-12
    for point in (found, of_parts):
        for field in fields(point):
            if field.name != "thresholds":
                ours, theirs = (getattr(p, field.name) for p in (point, expected))
                if isinstance(theirs, str):
                    assert ours == theirs
                else:
                    np.testing.assert_allclose(ours, theirs, rtol, err_msg=field.name)
    # The same documents are predicted, though no score is known to be between.
    np.testing.assert_array_equal(found.predict(scores), expected.predict(scores))
    assert table.count_at(found.thresholds) == (found.fp, found.tp)


@pytest.mark.parametrize("n_classifiers", [1, 2, 3])
def test_path_is_that_of_the_documents(n_classifiers):
    scores, y, _ = problem(n=60)
    scores = np.column_stack([scores, scores[:, 0] + scores[:, 1]])[:, :n_classifiers]
    table = pn_table(scores, y, n_thresholds=70)
    found, expected = table.optimal_path(), optimal_path(scores, y, n_thresholds=70)
    assert found.area == expected.area
    if n_classifiers > 1:
        np.testing.assert_array_equal(found.fp, expected.fp)
        np.testing.assert_array_equal(found.tp, expected.tp)


def test_one_classifier_has_one_vector_of_thresholds():
    series = pd.Series([0.3, 0.6], index=[4, 5])
    forms = [0.3, 0.6], [[0.3, 0.6, np.inf]], np.array([[0.3, 0.6]]), series
    for thresholds in forms:
        table = pn_table(SCORES[:, 0], Y, thresholds=thresholds)
        assert table.thresholds[0].tolist() == [0.3, 0.6, np.inf]
        assert (table.fp.tolist(), table.tp.tolist()) == ([2, 1, 0], [2, 1, 0])
    point = table.operating_point(target_derivative=0.5)
    assert (point.fp, point.tp) == (2, 2)


def partly_rated(seed=0):
    """Return documents of which a sample was rated, and others by chance."""
    rng = np.random.default_rng(seed)
    scores, y, _ = problem(seed)
    return scores, np.where(rng.random(len(y)) < 0.7, y, -1)


@by_target
def test_unrated_documents_are_alerts(target):
    scores, y = partly_rated()
    for options in ({"inclusion_proba": 0.7}, {"base_thresholds": [-9.0, -9.0]}):
        table = pn_table(scores, y, **options, n_thresholds=25)
        if "min_recall" in target and "base_thresholds" in options:
            # All unrated documents are in the region that a sample was rated of.
            assert table.counted.is_complete
        expected = operating_point(scores, y, **target, **options, n_thresholds=25)
        found = table.operating_point(**target)
        assert found.n_predicted == expected.n_predicted
        assert found.rated_share == pytest.approx(expected.rated_share, rel=1e-12)
        assert found.fp_interval == pytest.approx(expected.fp_interval, rel=1e-9)
        assert table.counted.others.sum() > 0


def test_documents_of_weight_zero_warn():
    scores, y, _ = problem()
    weight = ((scores.max(axis=1) < 1.2) | (y == 1)).astype(float)
    table = pn_table(scores, y, sample_weight=weight)
    with pytest.warns(RejectionWarning, match=r"of the \d+ documents .* weight 0"):
        table.operating_point(target_derivative=0.5)
    # Not where positives are left out as well, in another part of the documents.
    other = pn_table(
        scores, y, sample_weight=(y == 0) * 1.0, thresholds=table.thresholds
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RejectionWarning)
        (table + other).operating_point(objective="f1")


def test_at_the_edge_of_what_is_known():
    scores, y, _ = problem()
    scores[y == 0] += 2 * (scores[y == 0] == scores[y == 0].max(axis=0))
    y = np.where(scores.max(axis=1) < 0.5, -1, y)
    table = pn_table(scores, y)
    assert not table.counted.is_complete
    with pytest.warns(RejectionWarning, match="ratings are incomplete below"):
        table.operating_point(target_derivative=1e-3)
    with pytest.raises(ValueError, match="min_recall needs the number of all"):
        table.operating_point(min_recall=0.5)
    with pytest.raises(InfeasibleTargetError, match="cannot be met") as caught:
        table.operating_point(target_derivative=1e9)
    assert caught.value.attainable["max_fp_per_tp"] > 1e-9
    assert table.operating_point(**caught.value.attainable).tp > 0


def test_positives_below_the_lowest_thresholds_are_missed():
    table = pn_table(SCORES, Y, thresholds=[[0.5], [0.99]])
    assert table.tp[0, 0] == 1
    with pytest.warns(RejectionWarning, match="more positives are rated below"):
        table.operating_point(target_derivative=0.5)
    with pytest.raises(InfeasibleTargetError, match=r"lowest thresholds reach 0\.5"):
        table.operating_point(min_recall=0.9)


@pytest.mark.parametrize("lowest", [0.0, 0.15])
def test_positives_that_no_threshold_reaches(lowest):
    # Under "all" a classifier that did not run rules a positive out: lower thresholds
    # would not find it, so that there is nothing to warn of.
    scores = [[0.9, 0.8], [0.8, np.nan], [0.7, 0.9], [0.3, 0.2], [0.1, 0.6]]
    grid = [[lowest, 0.2, 0.7], [lowest, 0.3, 0.8]]
    tables = [
        pn_table(scores[rows], [1, 1, 1, 0, 0][rows], rule="all", thresholds=grid)
        for rows in (slice(0, 2), slice(2, 5))
    ]
    point = sum(tables).operating_point(objective="f1")
    assert (point.fp, point.tp) == (0, 2)
    with pytest.raises(InfeasibleTargetError, match="reach 0\\.666"):
        sum(tables).operating_point(min_recall=0.9)


def test_tables_travel():
    table = pn_table(SCORES, Y, sample_weight=[1, 2, 3, 4, 5.0])
    copy = pickle.loads(pickle.dumps(table))
    assert_same(table, copy)
    point = (table + copy).operating_point(objective="f1")
    assert point.tp == 2 * table.operating_point(objective="f1").tp


def test_weighted_and_plain_tables_add_up():
    plain = pn_table(SCORES, Y)
    ones = pn_table(SCORES, Y, sample_weight=np.ones(5))
    both = plain + ones
    twice = ones + ones
    assert_same(both, twice)
    assert plain.counted.squares is None
    one, two = (t.operating_point(max_alerts=4) for t in (both, plain + plain))
    assert one.to_dict() == two.to_dict()


# Parts that lack something


@pytest.mark.parametrize("weight", [None, "zero"])
@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (slice(0, 0), []),
        (slice(0, 2), [1, 1]),
        (slice(2, 5), [0, 0, 0]),
        (slice(0, 3), [-1, -1, -1]),
        (slice(0, 1), [1]),
    ],
    ids=["no rows", "positives", "negatives", "unrated", "one"],
)
def test_parts_that_lack_a_class(rows, labels, weight):
    labels = np.array(labels)
    own = None if weight is None else np.zeros(len(labels))
    table = pn_table(
        SCORES[rows],
        labels,
        thresholds=[[0.0, 0.5], [0.0, 0.5]],
        base_thresholds=[0, 0],
        sample_weight=own,
    )
    counted = [0, 0] if own is not None else [(labels == c).sum() for c in (0, 1)]
    assert [table.fp[0, 0], table.tp[0, 0]] == counted
    assert table.fp.shape == (3, 3)
    rest = pn_table(SCORES, Y, thresholds=table.thresholds)
    # Of weight zero are alerts that nobody seems to have rated, but for positives.
    is_odd = own is not None and not (labels == 1).any() and len(labels)
    with (
        nullcontext()
        if not is_odd
        else pytest.warns(RejectionWarning, match="weight 0")
    ):
        found = (table + rest).operating_point(objective="f1")
    assert found.tp == 2 + counted[1]


def test_no_rows_in_any_form():
    for scores in ([], np.zeros((0, 2)), np.zeros((0,))):
        options = {"sample_weight": [], "inclusion_proba": []}
        table = pn_table(scores, [], thresholds=GRID, **options)
        assert not table.fp.any()
        assert not table.tp.any()
    with pytest.raises(ValueError, match="no rated positives"):
        table.operating_point(objective="f1")
    with pytest.raises(ValueError, match="no rated positives"):
        table.optimal_path()


def test_labels_of_other_kinds():
    grid = [[0.2, 0.5], [0.2, 0.5]]
    named = np.array(["fine", "fraud"])[Y]
    whole = pn_table(SCORES, named, thresholds=grid)
    parts = [
        pn_table(SCORES[rows], named[rows], thresholds=grid, pos_label="fraud")
        for rows in (slice(2), slice(2, 5))
    ]
    assert_same(sum(parts), whole)
    with pytest.raises(ValueError, match=r"single class 'fraud'.*as pos_label"):
        pn_table(SCORES[:2], named[:2], thresholds=grid)
    with pytest.raises(ValueError, match=r"got {3, 1}|has two classes|binary"):
        pn_table(SCORES[:3], [0, 1, 2], thresholds=grid)
    # The only class of the first part is the other one in the second.
    first = pn_table(SCORES[:2], [1, 1], thresholds=grid)
    second = pn_table(SCORES[2:], [1, 2, 1], thresholds=grid)
    with pytest.raises(ValueError, match="positive classes do not add up"):
        first + second


# Bad input


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ([[0.1, 0.4], [0.3, 0.2]], r"classifier 1 must be a vector of increasing"),
        ([[0.1, 0.1], [0.3]], r"classifier 0 must be .*np.unique"),
        ([[0.1, np.nan], [0.3]], "none of them NaN"),
        ([[np.inf], [0.3]], "infinity, which no"),
        ([[], [0.3]], "classifier 0 must be a vector"),
        ([], "one vector of increasing numbers for each"),
        (3.0, "one vector of increasing numbers for each"),
        ([0.1, 0.2], "are for 1 classifiers, but scores have 2 columns"),
        ([["a"], ["b"]], "thresholds"),
        ([[0.1]] * 3, "are for 3 classifiers, but scores have 2 columns"),
    ],
)
def test_bad_thresholds(thresholds, message):
    with pytest.raises(ValueError, match=message):
        pn_table(SCORES, Y, thresholds=thresholds)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_thresholds": 20}, r"thresholds and n_thresholds=20 exclude each other"),
        ({"spacing": "uniform"}, r"thresholds and spacing='uniform' exclude each"),
        (
            {"base_thresholds": [-9, 0.9]},
            "thresholds of classifier 0 start at -inf, bel",
        ),
        ({"base_thresholds": [0.2]}, "one number for each of the 2 classifiers"),
    ],
)
def test_options_beside_thresholds(options, message):
    with pytest.raises(ValueError, match=message):
        pn_table(SCORES, Y, thresholds=GRID, **options)


def test_unrated_documents_above_the_lowest_thresholds():
    y = [1, -1, 0, 0, 0]
    grid = [[0.5], [0.65]]
    message = r"row 1 is unrated and scores \[0.3, 0.7\].*start higher. If only"
    with pytest.raises(ValueError, match=message):
        pn_table(SCORES, y, thresholds=grid)
    for options in ({"base_thresholds": [0.5, 0.6]}, {"inclusion_proba": 0.8}):
        table = pn_table(SCORES, y, thresholds=grid, **options)
        assert (table.fp[0, 0] > 0, table.tp[0, 0] > 0) == (True, True)
    assert pn_table(SCORES, y, thresholds=grid, rule="all").tp[0, 0] == 0


def test_tables_that_do_not_add_up():
    table = pn_table(SCORES, Y, thresholds=[[0.1], [0.2]])
    others = {
        "different rules do not add up: rule='any' and rule='all'": pn_table(
            SCORES, Y, thresholds=[[0.1], [0.2]], rule="all"
        ),
        "classifier 1 has 2 with 0.2 and 2 with 0.3": pn_table(
            SCORES, Y, thresholds=[[0.1], [0.3]]
        ),
        "thresholds of 2 and of 1": pn_table(SCORES[:, 0], Y, thresholds=[[0.1]]),
    }
    for message, other in others.items():
        with pytest.raises(ValueError, match=message) as caught:
            table + other
        assert "Make both with pn_table" in str(caught.value)
    for other in (1, "table", None):
        with pytest.raises(TypeError):
            table + other
        with pytest.raises(TypeError):
            other + table


def test_methods_that_need_documents():
    table = pn_table(SCORES, Y)
    for method in ("direct", "analytic"):
        with pytest.raises(ValueError, match=f"method='{method}' needs the scores"):
            table.optimal_path(method=method)
        with pytest.raises(ValueError, match="needs the scores of documents"):
            table.operating_point(objective="f1", method=method)
    with pytest.raises(ValueError, match="method must be one of"):
        table.optimal_path(method="grid")
    with pytest.raises(ValueError, match="Exactly one of"):
        table.operating_point()
    with pytest.raises(ValueError, match="Nothing was counted"):
        table.count_at([0.15, 0.2])
    with pytest.raises(ValueError, match="for each of the 2 classifiers"):
        table.count_at(0.1)
    bare = PNTable(table.thresholds, table.fp, table.tp, "any")
    assert (bare + table).optimal_path().area == 4 * table.optimal_path().area
    with pytest.raises(ValueError, match="not made by pn_table"):
        bare.operating_point(objective="f1")


def test_a_large_grid_of_given_thresholds():
    grid = [np.arange(400.0)] * 2
    message = "thresholds is too large: .*Use at most 181 thresholds for each"
    with config_context(working_memory=1), pytest.raises(ValueError, match=message):
        pn_table(SCORES, Y, thresholds=grid)


def test_memory_is_what_the_bound_assumes():
    scores, y, weight = problem(n=2000, weights=True)
    options = {"sample_weight": weight * (np.arange(2000) % 9 > 0)}
    table = pn_table(scores, y, n_thresholds=500, **options)
    assert table.counted.others is not None
    tables = [table.fp, table.tp, *vars(table.counted).values()]
    held = sum(values.nbytes for values in tables if isinstance(values, np.ndarray))
    peaks = (
        peak_bytes(lambda: pn_table(scores, y, n_thresholds=500, **options)),
        peak_bytes(table.optimal_path) + held,
    )
    of_documents = 400 * scores.size
    assert max(peaks) - of_documents <= BYTES_PER_WEIGHED_NODE * table.fp.size
