"""Ratings that are missing, drawn or selected, and what intervals make of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, poisson

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import (
    OperatingPoint,
    RatedDocuments,
    operating_point,
    pn_table,
    recount_point,
)
from tests.thresholds.threshold_oracle import samples


def predict(scores, thresholds, rule):
    reached = scores >= thresholds
    return reached.any(axis=1) if rule == "any" else reached.all(axis=1)


def region_of(scores, y, rule, **options):
    table = pn_table(scores, y, rule=rule, n_thresholds=2, **options)
    return np.array([values[0] for values in table.thresholds])


@given(sample=samples(weights=False, missing=False))
def test_no_unrated_document_is_ever_predicted(sample):
    scores, y, rule = (sample[name] for name in ("scores", "y", "rule"))
    base = region_of(scores, y, rule)
    reached = predict(scores, base, rule)
    assert not (reached & (y == -1)).any()
    table = pn_table(scores, y, rule=rule, n_thresholds=2)
    assert table.tp.flat[0] == (reached & (y == 1)).sum()
    assert table.fp.flat[0] == (reached & (y == 0)).sum()
    if not (y == -1).any():
        assert base.tolist() == scores.min(axis=0).tolist()
    elif rule == "any":
        # The region is the largest one: no threshold can be lower.
        for column in range(len(base)):
            lower = scores[(y >= 0) & (scores[:, column] < base[column]), column]
            if lower.size:
                thresholds = base.copy()
                thresholds[column] = lower.max()
                assert (predict(scores, thresholds, "any") & (y == -1)).any()


def test_documents_of_weight_zero_are_absent_but_for_alerts():
    scores, y = np.array([0.1, 0.2, 0.3, 0.4]), [1, 0, 0, 1]
    table = pn_table(scores, y, sample_weight=[0, 2, 1, 1])
    assert table.thresholds[0].tolist() == [0.2, 0.3, 0.4, np.inf]
    assert (table.fp[0], table.tp[0]) == (3, 1)
    options = {"sample_weight": [1, 2, 0, 1], "max_alerts": 1}
    point = operating_point(scores, [0, 0, 0, 1], **options)
    assert (point.thresholds.tolist(), point.n_predicted) == ([(0.2 + 0.4) / 2], 1)
    options = {"sample_weight": [1, 1, 0, 1], "min_recall": 1}
    point = operating_point(scores, [0, 1, 0, 1], **options)
    assert (point.fp, point.tp, point.n_predicted) == (0, 2, 3)
    assert point.rated_share == 2 / 3
    # A document that nobody has rated says so, whatever its weight.
    scores, y = np.array([0.1, 0.2, 0.3, 0.4, 0.5]), [-1, 0, -1, 1, 0]
    for weight in ([1, 1, 0, 1, 1], [1, 1, 1, 1, 1]):
        base = region_of(scores, y, "any", sample_weight=weight)
        assert base.tolist() == [0.4]


@given(sample=samples())
def test_a_classifier_that_did_not_run_has_reached_nothing(sample):
    # As if its score were below all others, but for the lowest thresholds.
    grid = pn_table(**sample, n_thresholds=30).thresholds
    lowest = sample | {"scores": np.nan_to_num(sample["scores"], nan=-50.0)}
    tables = [pn_table(**each, thresholds=grid) for each in (sample, lowest)]
    np.testing.assert_array_equal(tables[0].fp, tables[1].fp)
    np.testing.assert_array_equal(tables[0].tp, tables[1].tp)
    path = tables[0].optimal_path()
    found = [path.locate(each["scores"]) for each in (sample, lowest)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("rule", ["any", "all"])
def test_drawn_ratings_count_right_on_average(rule):
    # The mean over all draws of ratings, by their probabilities, is the truth.
    scores = np.array([[5, 1], [4, 3], [3, 4], [2, 2], [1, 5], [0, 0.0]])
    truth = np.array([1, 0, 1, 1, 0, 0])
    chance = np.array([1.0, 1.0, 0.5, 0.25, 0.5, 0.1])
    mean, grid = np.zeros(2), [[2.0], [2.0]]
    for rated in product([True, False], repeat=6):
        share = np.where(rated, chance, 1 - chance).prod()
        if share:
            y = np.where(rated, truth, -1)
            options = {"rule": rule, "inclusion_proba": chance, "pos_label": 1}
            table = pn_table(scores, y, thresholds=grid, **options)
            mean += share * np.array([table.fp[0, 0], table.tp[0, 0]])
    predicted = predict(scores, [2, 2], rule)
    expected = [(predicted & (truth == label)).sum() for label in (0, 1)]
    np.testing.assert_allclose(mean, expected)


@pytest.fixture
def documents():
    rng = np.random.default_rng(0)
    truth = (rng.random(3000) < 0.1).astype(int)
    return rng.normal(size=(3000, 2)) + 1.5 * truth[:, np.newaxis], truth


def test_drawn_ratings_do_not_end_the_region(documents):
    scores, truth = documents
    chance = np.where((scores >= 1.5).any(axis=1), 1.0, 0.2)
    y = np.where(np.random.default_rng(1).random(3000) < chance, truth, -1)
    drawn = operating_point(scores, y, inclusion_proba=chance, max_fp_per_tp=4)
    predicted = drawn.predict(scores)
    of_classes = (drawn.fp, *drawn.fp_interval), (drawn.tp, *drawn.tp_interval)
    for label, (count, low, high) in enumerate(of_classes):
        actual = (predicted & (truth == label)).sum()
        assert low <= count <= high
        # Within six standard errors, so that it holds for all draws.
        assert 2 * low - high <= actual <= 2 * high - low
    # The same as their weights, of the rated documents alone.
    rated, weight = y >= 0, 1 / chance
    options = {"sample_weight": weight[rated], "max_fp_per_tp": 4}
    alone = operating_point(scores[rated], y[rated], **options)
    assert (alone.fp, alone.tp) == (drawn.fp, drawn.tp)
    assert alone.n_predicted == predicted[rated].sum() <= drawn.n_predicted
    assert drawn.rated_share == alone.n_predicted / drawn.n_predicted
    # Those of unknown probability do.
    chance[scores.sum(axis=1) < -3] = np.nan
    y[np.isnan(chance)] = -1
    base = region_of(scores, y, "any", inclusion_proba=chance)
    assert not ((scores >= base).any(axis=1) & np.isnan(chance)).any()
    with pytest.raises(ValueError, match="min_recall needs the number of all"):
        operating_point(scores, y, inclusion_proba=chance, min_recall=0.5)


def test_the_edge_of_what_is_known(documents):
    scores, truth = documents
    y = np.where((scores >= 1).any(axis=1), truth, -1)
    with pytest.warns(RejectionWarning, match="all rated positives are predicted"):
        point = operating_point(scores, y, max_fp_per_tp=1000)
    assert point.tp == (y == 1).sum()
    assert not point.predict(scores[y == -1]).any()


def judge(fp, tp, n_others=8, weight=None, confidence_level=0.95):
    """Return a point at which so many documents are predicted positive.

    The others score lower, half of them positives.
    """
    scores = np.repeat([1.0, 0.0], [fp + tp, n_others])[:, np.newaxis]
    y = np.repeat([0, 1, 0, 1], [fp, tp, n_others // 2, n_others - n_others // 2])
    options = {"objective": "f1", "confidence_level": confidence_level}
    point = operating_point([1.0, 0.5, 0.2], [1, 0, 0], **options)
    lowest = np.array([-1.0])
    documents = RatedDocuments(scores, y, lowest, lowest, "any", True, weight)
    point = recount_point(point, documents)
    assert point.n_predicted == fp + tp
    return point


@given(
    fp=st.integers(0, 30),
    tp=st.integers(0, 30),
    n_others=st.integers(2, 40),
    level=st.sampled_from([0.5, 0.9, 0.95]),
)
def test_equal_weights_have_the_bounds_of_clopper_and_pearson(fp, tp, n_others, level):
    point = judge(fp, tp, n_others, confidence_level=level)
    if fp + tp:
        expected = binomtest(tp, tp + fp).proportion_ci(level, method="exact")
        bounds = expected.low, expected.high
        assert point.precision_interval == pytest.approx(bounds, abs=1e-12)
        assert point.precision == tp / (tp + fp)
    else:
        assert np.isnan(point.precision)
        assert point.precision_interval == (0, 1)
        assert point == OperatingPoint.from_dict(point.to_dict())
    n = fp + tp + n_others
    for count, interval in ((fp, point.fp_interval), (tp, point.tp_interval)):
        share = binomtest(count, n).proportion_ci(level, method="exact")
        assert interval == pytest.approx((n * share.low, n * share.high))
    doubled = judge(fp, tp, n_others, np.full(n, 2.0), confidence_level=level)
    np.testing.assert_allclose(doubled.fp_interval, np.multiply(2, point.fp_interval))
    np.testing.assert_allclose(doubled.precision_interval, point.precision_interval)


@pytest.mark.parametrize("expected", [0.05, 0.9, 3.7])
def test_intervals_cover_the_expected_count(expected):
    # Samples enumerated by their count: no false positive is no proof of none.
    n, covered = 200, 0.0
    for count in range(25):
        low, high = judge(count, 1, n - count - 1).fp_interval
        covered += binom.pmf(count, n, expected / n) * (low <= expected <= high)
    assert covered >= 0.95


OTHER_WEIGHTS = [1.0, 20.0] * 4


def likely_numbers(light, heavy):
    """Yield numbers of documents of weights 1 and 20, with their probabilities."""
    for a, b in product(range(45), range(12)):
        chance = poisson.pmf(a, light) * poisson.pmf(b, heavy)
        if chance > 1e-5:
            yield a, b, chance


@pytest.mark.parametrize(("light", "heavy"), [(0.3, 0.1), (2.0, 0.2), (5.0, 1.0)])
def test_counts_of_two_weights_are_covered(light, heavy):
    truth, covered = light + 20 * heavy, 0.0
    for a, b, chance in likely_numbers(light, heavy):
        weight = np.r_[np.repeat([1.0, 20.0], [a, b]), OTHER_WEIGHTS]
        low, high = judge(a + b, 0, weight=weight).fp_interval
        covered += chance * (low <= truth <= high)
    assert covered >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("heavy_is_positive", [False, True])
@pytest.mark.parametrize(("light", "heavy"), [(8.0, 0.5), (15.0, 2.0), (3.0, 0.1)])
def test_precision_of_two_weights_is_covered(light, heavy, heavy_is_positive):
    """Each class has a weight of its own."""
    turn = 1 if heavy_is_positive else -1
    truth = (light, 20 * heavy)[::turn][1] / (light + 20 * heavy)
    covered = 0.0
    for a, b, chance in likely_numbers(light, heavy):
        sizes, weights = (a, b)[::turn], (1.0, 20.0)[::turn]
        weight = np.r_[np.repeat(weights, sizes), OTHER_WEIGHTS]
        low, high = judge(*sizes, weight=weight).precision_interval
        covered += chance * (a + b == 0 or low <= truth <= high)
    assert covered >= 0.95


def test_intervals_know_what_the_draw_has_left_out():
    # Nobody was drawn of those that would weigh 50, but they are there.
    scores = np.r_[np.arange(12.0) + 20, np.arange(40.0) / 4]
    y = np.r_[np.tile([0, 1], 6), np.full(40, -1)]
    chance = np.r_[np.full(12, 0.5), np.full(40, 0.02)]
    for lowest, largest in ((5.0, 50), (15.0, 2)):
        table = pn_table(scores, y, thresholds=[lowest], inclusion_proba=chance)
        point = table.operating_point(max_fp_per_tp=1)
        assert point.fp_interval == point.tp_interval
        # What cannot be predicted says nothing.
        assert (point.fp_interval[1] > -50 * np.log(0.025)) == (largest == 50)
        assert (point.precision_interval[0] < 0.1) == (largest == 50)
