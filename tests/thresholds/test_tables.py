"""Counts at all thresholds by definition, their sums, and points that need no more."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from benchmarks._timing import peak_bytes
from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.thresholds import operating_point, pn_table
from tests.thresholds.threshold_oracle import Counted, samples

GRID = [[-np.inf, 0.5, 1.5], [0.0, 1.0, 2.0]]
SCORES = np.array([[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]])
Y = np.array([1, 1, 0, 0, 0])

PRICE, ALERTS, F1 = {"max_fp_per_tp": 2.0}, {"max_alerts": 9}, {"objective": "f1"}
TARGETS = [PRICE, ALERTS, {"min_recall": 0.6}, {"min_precision": 0.7}, F1]


def problem(seed=0, n=400, n_classifiers=2):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    scores = rng.normal(size=(n, n_classifiers)) + 1.5 * y[:, np.newaxis]
    return scores.round(2), y


def rows_of(options, rows):
    per_row = ("scores", "y", "sample_weight", "inclusion_proba")
    return {k: v[rows] if k in per_row else v for k, v in options.items()}


@given(sample=samples(), n_thresholds=st.integers(2, 12))
def test_thresholds_are_scores_from_where_all_is_known(sample, n_thresholds):
    counted = Counted(**sample)
    table = pn_table(**sample, n_thresholds=n_thresholds)
    assert table.rule == sample["rule"]
    weight = sample.get("sample_weight", np.ones(len(sample["y"])))
    is_rated = (sample["y"] >= 0) & (weight > 0)
    columns = zip(table.thresholds, counted.base, sample["scores"].T, strict=True)
    reached = np.array(counted.predict(counted.base))
    for values, base, scores in columns:
        own = np.unique(scores[is_rated & reached & (scores > base)])
        assert 2 <= len(values) <= n_thresholds
        assert (values[0], values[-1]) == (base, np.inf)
        assert (np.diff(values) > 0).all()
        assert np.isin(values[1:-1], own).all()
        if len(own) <= n_thresholds - 2:
            assert values[1:-1].tolist() == own.tolist()


@given(sample=samples(), n_thresholds=st.integers(2, 5))
def test_counts_of_all_combinations(sample, n_thresholds):
    counted = Counted(**sample)
    table = pn_table(**sample, n_thresholds=n_thresholds)
    assert table.fp.shape == table.tp.shape == tuple(map(len, table.thresholds))
    for node in np.ndindex(table.fp.shape):
        at = [values[k] for values, k in zip(table.thresholds, node, strict=True)]
        fp, tp, _ = counted.count(at)
        assert (table.fp[node], table.tp[node]) == table.count_at(at) == (fp, tp)


def test_half_of_the_thresholds_belong_to_each_class():
    rng = np.random.default_rng(0)
    y = (np.arange(2000) < 500).astype(int)
    scores = rng.normal(size=2000) + 2 * y
    [values] = pn_table(scores, y, n_thresholds=102).thresholds
    assert len(values) == 102
    for label in (0, 1):
        own = np.sort(scores[(y == label) & (scores > values[0])])
        chosen = np.flatnonzero(np.isin(own, values))
        assert len(chosen) == 50
        # One half in equal steps, the other in equal ratios from the top.
        for step in np.linspace(0, len(own) - 1, 25):
            assert np.abs(chosen - step).min() <= 1
        for n_above in np.geomspace(1, len(own), 25):
            assert np.abs(len(own) - chosen - n_above).min() <= 1


SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "close to zero": lambda rng, n: rng.beta(0.05, 30, n),
    "close to one": lambda rng, n: rng.beta(30, 0.05, n),
    "of any magnitude": lambda rng, n: (
        rng.choice([-1, 1], n) * 10.0 ** rng.integers(-320, 308, n)
    ),
    "extremes": lambda rng, n: rng.choice([-1.7e308, -5e-324, 0.0, 5e-324, 1e308], n),
    "few": lambda rng, n: rng.integers(-3, 3, n) / 3,
    "far": lambda rng, n: np.where(rng.random(n) < 1e-4, 1e18, rng.random(n)),
}


@pytest.mark.parametrize("n_thresholds", [2, 3, 30, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_many_documents_are_counted_as_a_binary_search_does(shape, n_thresholds):
    rng = np.random.default_rng(n_thresholds)
    scores = SHAPES[shape](rng, 17_500)  # enough for buckets of scores
    scores[::1000] = np.nan
    y = rng.integers(2, size=len(scores))
    thresholds = np.unique(rng.choice(scores[~np.isnan(scores)], n_thresholds - 1))
    table = pn_table(scores, y, thresholds=thresholds)
    for label, counts in ((0, table.fp), (1, table.tp)):
        own = np.sort(scores[(y == label) & ~np.isnan(scores)])
        expected = len(own) - np.searchsorted(own, table.thresholds[0])
        np.testing.assert_array_equal(counts, expected)


def test_one_classifier_has_one_vector_of_thresholds():
    table = pn_table([-1e308, 1e308], [0, 1], thresholds=[-1.7e308, 1.7e308])
    np.testing.assert_array_equal([table.fp, table.tp], [[1, 0, 0], [1, 0, 0]])
    table = pn_table([0.1, 0.4, 0.4, 0.9], [0, 1, 0, 1])
    assert table.thresholds[0].tolist() == [0.1, 0.4, 0.9, np.inf]
    assert (table.fp.tolist(), table.tp.tolist()) == ([2, 1, 0, 0], [2, 2, 1, 0])
    series = pd.Series([0.3, 0.6], index=[4, 5])
    forms = [0.3, 0.6], [[0.3, 0.6, np.inf]], np.array([[0.3, 0.6]]), series
    for thresholds in forms:
        table = pn_table(SCORES[:, 0], Y, thresholds=thresholds)
        assert table.thresholds[0].tolist() == [0.3, 0.6, np.inf]
        assert (table.fp.tolist(), table.tp.tolist()) == ([2, 1, 0], [2, 1, 0])
    point = table.operating_point(max_fp_per_tp=2)
    assert (point.fp, point.tp) == (2, 2)


@given(
    sample=samples(max_documents=12),
    cuts=st.lists(st.integers(0, 14), max_size=4).map(sorted),
)
def test_tables_of_parts_add_up(sample, cuts):
    # Weights and their squares are sums of powers of two: exact in any order.
    if sample["scores"].shape[1] != 2:
        return
    whole = pn_table(**sample, n_thresholds=4)
    options = {**sample, "thresholds": whole.thresholds}
    # Empty parts are where two cuts are equal.
    parts = np.split(np.arange(len(sample["y"])), cuts)
    total = sum(pn_table(**rows_of(options, rows)) for rows in parts)
    again = pickle.loads(pickle.dumps(total))
    for table in (total, again):
        np.testing.assert_array_equal(table.fp, whole.fp)
        np.testing.assert_array_equal(table.tp, whole.tp)
        assert table.fp.dtype == table.tp.dtype == np.float64
    for target in TARGETS:
        found = []
        for table in (whole, total, again):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    found.append(table.operating_point(**target).to_dict())
                except ValueError as error:
                    found.append(str(error))
            found.append([str(each.message) for each in caught])
        assert found[:2] == found[2:4] == found[4:]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: next(iter(target)))
@pytest.mark.parametrize(
    ("rule", "kind"),
    [("any", "counts"), ("all", "counts"), ("all", "weights"), ("any", "sampled")],
)
def test_points_are_those_of_the_documents(target, rule, kind):
    scores, y = problem()
    options = {"scores": scores, "y": y, "rule": rule}
    rng = np.random.default_rng(1)
    if kind == "weights":
        options["sample_weight"] = rng.random(len(y)) + 0.1
    if kind == "sampled":
        options["y"] = np.where(rng.random(len(y)) < 0.7, y, -1)
        options["inclusion_proba"] = np.full(len(y), 0.7)
    table = pn_table(**options, n_thresholds=30)
    found = table.operating_point(**target)
    expected = operating_point(**options, n_thresholds=30, **target)
    if "max_alerts" in target:  # among all thresholds, and those of the table
        assert found.n_predicted == found.predict(scores).sum() <= 9
        assert found.tp <= expected.tp + 1e-9
        return
    for name in vars(found).keys() - {"thresholds"}:
        ours, theirs = getattr(found, name), getattr(expected, name)
        if isinstance(theirs, str):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, 1e-9, err_msg=name)
    # The same documents are predicted, though no score is known to be between.
    np.testing.assert_array_equal(found.predict(scores), expected.predict(scores))
    assert found.n_predicted == found.predict(scores).sum()
    assert table.count_at(found.thresholds) == pytest.approx((found.fp, found.tp))


def test_weighted_and_plain_tables_add_up():
    plain = pn_table(SCORES, Y)
    ones = pn_table(SCORES, Y, sample_weight=np.ones(5))
    points = [
        table.operating_point(max_alerts=4).to_dict()
        for table in (plain + ones, ones + ones, plain + plain)
    ]
    assert points[0] == points[1] == points[2]
    # Parts whose documents weigh the same within each, but not in the other.
    heavy = pn_table(SCORES, Y, sample_weight=np.full(5, 2.0))
    both = {"sample_weight": np.repeat([1.0, 2.0], 5), "thresholds": plain.thresholds}
    whole = pn_table(np.tile(SCORES, (2, 1)), np.tile(Y, 2), **both)
    points = [each.operating_point(max_alerts=4) for each in (plain + heavy, whole)]
    assert points[0] == points[1]


@pytest.mark.parametrize("weight", [None, 0.0])
@pytest.mark.parametrize("labels", [[], [1, 1], [0, 0, 0], [-1, -1, -1], [1]], ids=str)
def test_parts_that_lack_a_class(labels, weight):
    rows, labels = slice(2, 5) if 0 in labels else slice(len(labels)), np.array(labels)
    table = pn_table(
        SCORES[rows],
        labels,
        thresholds=[[0.0, 0.5], [0.0, 0.5]],
        inclusion_proba=np.ones(len(labels)),
        sample_weight=None if weight is None else np.zeros(len(labels)),
    )
    expected = [0, 0] if weight == 0 else [(labels == k).sum() for k in (0, 1)]
    assert [table.fp[0, 0], table.tp[0, 0]] == expected
    rest = pn_table(SCORES, Y, thresholds=table.thresholds)
    found = (table + rest).operating_point(objective="f1")
    assert found.tp == 2 + expected[1]


def test_no_rows_in_any_form():
    for scores in ([], np.zeros((0, 2))):
        table = pn_table(scores, [], thresholds=GRID, sample_weight=[])
        assert not table.fp.any()
        assert not table.tp.any()
    for ask in (table.optimal_path, lambda: table.operating_point(objective="f1")):
        with pytest.raises(ValueError, match="no rated positives of positive weight"):
            ask()


def test_labels_of_other_kinds():
    grid = [[0.2, 0.5], [0.2, 0.5]]
    named = np.array(["fine", "fraud"])[Y]
    whole = pn_table(SCORES, named, thresholds=grid)
    parts = [
        pn_table(SCORES[rows], named[rows], thresholds=grid, pos_label="fraud")
        for rows in (slice(2), slice(2, 5))
    ]
    np.testing.assert_array_equal(sum(parts).tp, whole.tp)
    with pytest.raises(ValueError, match=r"single class 'fraud'.*as pos_label"):
        pn_table(SCORES[:2], named[:2], thresholds=grid)
    with pytest.raises(ValueError, match=r"two classes"):
        pn_table(SCORES[:3], [0, 1, 2], thresholds=grid)
    # The only class of the first part is the other one in the second.
    first = pn_table(SCORES[:2], [1, 1], thresholds=grid)
    second = pn_table(SCORES[2:], [1, 2, 1], thresholds=grid)
    with pytest.raises(ValueError, match="different pos_label do not add up"):
        first + second


def test_what_lies_below_the_lowest_thresholds():
    table = pn_table(SCORES, Y, thresholds=[[0.5], [0.99]])
    assert table.tp[0, 0] == 1
    with pytest.warns(RejectionWarning, match="nothing is known below"):
        table.operating_point(max_fp_per_tp=2)
    with pytest.raises(InfeasibleTargetError, match=r"lowest thresholds reach 0\.5"):
        table.operating_point(min_recall=0.9)
    # Under "all" a classifier that did not run rules a positive out: lower thresholds
    # would not find it, so that there is nothing to warn of.
    scores = [[0.9, 0.8], [0.8, np.nan], [0.7, 0.9], [0.3, 0.2], [0.1, 0.6]]
    for lowest in (0.0, 0.15):
        grid = [[lowest, 0.2, 0.7], [lowest, 0.3, 0.8]]
        tables = [
            pn_table(scores[rows], [1, 1, 1, 0, 0][rows], thresholds=grid, rule="all")
            for rows in (slice(0, 2), slice(2, 5))
        ]
        point = sum(tables).operating_point(objective="f1")
        assert (point.fp, point.tp) == (0, 2)
        with pytest.raises(InfeasibleTargetError, match="reach 0\\.666"):
            sum(tables).operating_point(min_recall=0.9)


def test_large_grids_say_what_would_fit():
    y = np.arange(2000) % 2
    scores = np.random.default_rng(0).normal(size=(2000, 3))
    message = (
        r"n_thresholds is too large: 3 classifiers with up to 300 each make a grid of "
        r"27000000 nodes, which takes 824 MiB, more than working_memory=10 MiB. Use at "
        r"most 68 n_thresholds for each classifier, or allow it with "
        r"sklearn.set_config\(working_memory=824\)"
    )
    with config_context(working_memory=10):
        with pytest.raises(ValueError, match=message):
            pn_table(scores, y, n_thresholds=300)
        assert pn_table(scores, y, n_thresholds=68).fp.shape == (68,) * 3
    with config_context(working_memory=1):
        with pytest.raises(ValueError, match="Use at most 8192 thresholds"):
            pn_table(SCORES[:, [0, 0, 0]], Y, thresholds=[[0], [0], np.arange(9000.0)])
        pn_table(SCORES[:, [0, 0, 0]], Y, thresholds=[[0], [0], np.arange(8191.0)])
        with pytest.raises(ValueError, match="Use fewer classifiers"):
            pn_table(np.tile(scores, 7), y)


@pytest.mark.parametrize(
    ("n_classifiers", "n_thresholds", "is_weighted"),
    [(2, 600, False), (2, 500, True), (3, 80, False), (5, 12, False)],
)
def test_memory_is_what_the_bound_assumes(n_classifiers, n_thresholds, is_weighted):
    scores, y = problem(n=2000, n_classifiers=n_classifiers)
    options = {"n_thresholds": n_thresholds}
    if is_weighted:
        options["sample_weight"] = 1 + (np.arange(2000) % 9 > 0)
    with (
        config_context(working_memory=1e-3),
        pytest.raises(ValueError, match=r"takes (\d+) MiB") as info,
    ):
        pn_table(scores, y, **options)
    needed = int(str(info.value).split("takes ")[1].split()[0]) * 2**20
    table = pn_table(scores, y, **options)
    held = sum(v.nbytes for v in vars(table).values() if isinstance(v, np.ndarray))
    peaks = (
        peak_bytes(lambda: pn_table(scores, y, **options)),
        peak_bytes(table.optimal_path) + held,
    )
    assert max(peaks) - 600 * scores.size <= needed


BAD = [
    ({"thresholds": [[0.1, 0.4], [0.3, 0.2]]}, "classifier 1 must be a vector of"),
    ({"thresholds": [[0.1, np.nan], [0.3]]}, "none of them NaN"),
    ({"thresholds": [[np.inf], [0.3]]}, "the first finite or -inf"),
    ({"thresholds": [[], [0.3]]}, "classifier 0 must be a vector"),
    ({"thresholds": []}, "one vector of increasing numbers for each"),
    ({"thresholds": [["a"], ["b"]]}, "thresholds"),
    ({"thresholds": [[0.1]] * 3}, "one column for each of the 3 class.*got 2"),
    ({"rule": "some"}, "rule must be one of"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        pn_table(SCORES, Y, **{"thresholds": GRID, **options})
    table = pn_table(SCORES, Y)
    for wrong, said in (
        ([0.15, 0.2], "Nothing was counted"),
        (0.1, "for each of the 2 classifiers"),
    ):
        with pytest.raises(ValueError, match=said):
            table.count_at(wrong)
    with pytest.raises(ValueError, match="Exactly one of"):
        table.operating_point()


def test_unrated_documents_above_the_lowest_thresholds():
    y, grid = [1, -1, 0, 0, 0], [[0.5], [0.65]]
    message = r"row 1 is unrated and scores \[0.3, 0.7\].*start higher. If only"
    with pytest.raises(ValueError, match=message):
        pn_table(SCORES, y, thresholds=grid)
    table = pn_table(SCORES, y, thresholds=grid, inclusion_proba=0.8)
    assert (table.fp[0, 0], table.tp[0, 0]) == (1.25, 1.25)
    assert pn_table(SCORES, y, thresholds=grid, rule="all").tp[0, 0] == 0
    # An unrated document below says that ratings are incomplete there.
    table = pn_table(SCORES, [1, 1, 0, -1, 0], thresholds=[[0.5], [0.4]])
    with pytest.warns(RejectionWarning, match="nothing is known below"):
        table.operating_point(max_fp_per_tp=50)
    with pytest.raises(ValueError, match="min_recall needs the number of all"):
        table.operating_point(min_recall=0.5)


def test_tables_that_do_not_add_up():
    table = pn_table(SCORES, Y, thresholds=[[0.1], [0.2]])
    of_grids = r"thresholds .*\[0.2, inf\]\] and .*\[0.3, inf"
    for scores, thresholds, rule, message in (
        (SCORES, [[0.1], [0.2]], "all", "different rule .*'any' and 'all'"),
        (SCORES, [[0.1], [0.3]], "any", of_grids),
        (SCORES[:, 0], [[0.1]], "any", "different thresholds"),
    ):
        other = pn_table(scores, Y, thresholds=thresholds, rule=rule)
        with pytest.raises(ValueError, match=f"{message}.*Make both with pn_table"):
            table + other
    for other in (1, "table", None):
        with pytest.raises(TypeError):
            table + other
        with pytest.raises(TypeError):
            other + table
