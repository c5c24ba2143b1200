"""What counts: rated documents, inside the region where ratings are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn_reject.thresholds._documents import check_documents, predict_positive

RULES = ("any", "all")


@st.composite
def partial_ratings(draw):
    """Few distinct scores, so that ties occur, of which some are rated."""
    shape = draw(st.integers(4, 25)), draw(st.integers(1, 3))
    scores = draw(hnp.arrays(np.float64, shape, elements=st.integers(0, 6)))
    y = draw(hnp.arrays(np.int64, shape[0], elements=st.sampled_from([-1, 0, 1])))
    return scores, y


def region_or_none(scores, y, rule):
    try:
        return check_documents(scores, y, rule=rule)
    except ValueError:
        return None


@pytest.mark.parametrize("rule", RULES)
@given(sample=partial_ratings())
def test_no_unrated_document_is_ever_predicted(rule, sample):
    scores, y = sample
    documents = region_or_none(scores, y, rule)
    if documents is None:
        return
    reached = predict_positive(scores, documents.base, rule)
    assert not (reached & (y == -1)).any()
    np.testing.assert_array_equal(documents.rows, np.flatnonzero(reached))
    np.testing.assert_array_equal(documents.scores, scores[reached])
    np.testing.assert_array_equal(documents.is_positive, y[reached] == 1)
    assert documents.n_given == len(y)


@given(sample=partial_ratings())
def test_the_region_of_any_is_the_largest_one(sample):
    scores, y = sample
    documents = region_or_none(scores, y, "any")
    if documents is None or not (y == -1).any():
        return
    for column, base in enumerate(documents.base):
        lower = np.unique(scores[scores[:, column] < base, column])
        rated = np.unique(scores[(y >= 0), column])
        lower = lower[np.isin(lower, rated)]
        if lower.size:
            thresholds = documents.base.copy()
            thresholds[column] = lower[-1]
            assert (predict_positive(scores, thresholds, "any") & (y == -1)).any()


@pytest.mark.parametrize("rule", RULES)
def test_everything_counts_where_everything_is_rated(rule):
    scores = np.array([[0.2, 0.9], [0.4, 0.1], [0.3, 0.3]])
    documents = check_documents(scores, [1, 0, 1], rule=rule)
    np.testing.assert_array_equal(documents.base, [0.2, 0.1])
    np.testing.assert_array_equal(documents.rows, [0, 1, 2])


def test_of_all_that_one_threshold_rises_which_leaves_most_documents():
    scores = np.array([[0.2, 0.4], [0.3, 0.5], [0.5, 0.6], [0.9, 0.2], [0.8, 0.3]])
    documents = check_documents(scores, [1, 0, 1, 0, -1], rule="all")
    np.testing.assert_array_equal(documents.base, [0.2, 0.4])
    np.testing.assert_array_equal(documents.rows, [0, 1, 2])


def test_ratings_made_above_base_thresholds_are_found_again():
    rng = np.random.default_rng(0)
    scores = rng.random((500, 2))
    truth = (scores.sum(axis=1) + rng.normal(0, 0.2, 500) > 1.2).astype(int)
    for rule, base in (("any", (0.8, 0.7)), ("all", (0.3, 0.5))):
        is_rated = predict_positive(scores, base, rule)
        y = np.where(is_rated, truth, -1)
        documents = check_documents(scores, y, rule=rule)
        np.testing.assert_array_equal(documents.rows, np.flatnonzero(is_rated))


def test_ratings_of_a_union_serve_an_intersection():
    rng = np.random.default_rng(0)
    scores = rng.random((500, 2))
    y = np.where((scores >= 0.7).any(axis=1), rng.integers(0, 2, 500), -1)
    documents = check_documents(scores, y, rule="all")
    # One threshold is raised to where the other classifier does not matter.
    assert 0.7 <= documents.base.max() < 0.72
    assert documents.base.min() < 0.02


def test_one_unrated_document_does_not_take_the_region_of_all():
    rng = np.random.default_rng(3)
    scores = rng.random((1000, 2))
    is_rated = (scores >= 0.3).all(axis=1)
    y = np.where(is_rated, rng.integers(0, 2, 1000), -1)
    corner = np.flatnonzero(is_rated)[scores[is_rated].sum(axis=1).argmin()]
    y[corner] = -1
    documents = check_documents(scores, y, rule="all")
    assert len(documents.rows) > 0.9 * is_rated.sum()


def test_base_thresholds_admit_a_sample_of_ratings():
    scores = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    y = [-1, 0, -1, 1, -1]
    with pytest.raises(ValueError, match="no rated document scores above all unrated"):
        check_documents(scores, y)
    documents = check_documents(scores, y, base_thresholds=0.2)
    np.testing.assert_array_equal(documents.base, [0.3])
    np.testing.assert_array_equal(documents.rows, [1, 3])


def test_documents_without_weight_are_absent():
    scores, y = np.array([0.1, 0.2, 0.3, 0.4]), [1, 0, 0, 1]
    weighted = check_documents(scores, y, sample_weight=[0, 2, 1, 1])
    np.testing.assert_array_equal(weighted.rows, [1, 2, 3])
    assert weighted.count(np.ones(3, dtype=bool)) == (3.0, 1.0)
    np.testing.assert_array_equal(weighted.others, [[0.1]])  # but for the alerts
    assert weighted.predictable.tolist() == [[0.2], [0.3], [0.4]]
    np.testing.assert_array_equal(weighted.given_rows, [1, 2, 3])


def test_unrated_documents_say_so_whatever_their_weight():
    scores, y = np.array([0.1, 0.2, 0.3, 0.4, 0.5]), [-1, 0, -1, 1, 0]
    for weight in ([1, 1, 0, 1, 1], [1, 1, 1, 1, 1]):
        documents = check_documents(scores, y, sample_weight=weight)
        np.testing.assert_array_equal(documents.rows, [3, 4])
        np.testing.assert_array_equal(documents.given_rows, range(5))
        assert not documents.is_complete


def test_parts_keep_the_lowest_thresholds():
    scores, y = np.array([0.1, 0.2, 0.3, 0.4]), [1, 0, 0, 1]
    documents = check_documents(scores, y, sample_weight=[1, 2, 3, 4])
    part = documents.take([1, 3])
    np.testing.assert_array_equal(part.base, documents.base)
    np.testing.assert_array_equal(part.rows, [1, 3])
    np.testing.assert_array_equal(part.given, scores[[1, 3], np.newaxis])
    np.testing.assert_array_equal(part.weight, [2, 4])
    assert part.count(np.ones(2, dtype=bool)) == (2.0, 4.0)


@pytest.mark.parametrize(
    ("scores", "y", "options", "words"),
    [
        ([[0.1, np.nan], [1, np.nan]], [0, 1], {}, "column 1 are NaN for every"),
        ([[0.1], [np.inf]], [0, 1], {}, "finite, got inf"),
        ([[0.1, 2], [0.3, 2]], [0, 1], {}, "column 1 are constant, 2 for every rated"),
        ([0.1, 0.2], [1, 1], {}, "no rated negatives"),
        ([0.1, 0.2], [0, 0], {}, "no rated positives"),
        ([0.1, 0.2], [-1, np.nan], {}, "no rated documents: all 2 are missing or -1"),
        ([0.1, 0.2], [0, 1, 1], {}, "y has 3 elements, but there are 2 samples"),
        ([0.1, 0.2, 0.3], [0, 1, 2], {"unrated_label": None}, "two classes.*got 3,"),
        ([0.1, 0.2], [0, 1], {"rule": "some"}, "rule must be one of"),
        ([0.1, 0.2], [0, 1], {"base_thresholds": [1, 2]}, "each of the 1 classifiers"),
        ([0.1, 0.2], [0, 1], {"base_thresholds": "low"}, "each of the 1 classifiers"),
        ([0.1, 0.2j], [0, 1], {}, "scores must hold real numbers"),
        ([0.1, 0.2], [-1, 1], {}, "pass unrated_label=None"),
        ([0.1, 0.2], [0, 1], {"base_thresholds": 0.3}, "no rated document reaches 0.3"),
        ([0.1, 0.2], [0, 1], {"base_thresholds": 0.2}, "no rated negatives that the"),
        ([["a"], ["b"]], [0, 1], {}, "scores must hold numbers"),
        ([[[0.1]], [[0.2]]], [0, 1], {}, "scores must be a matrix"),
    ],
)
def test_bad_input(scores, y, options, words):
    with pytest.raises(ValueError, match=words):
        check_documents(np.array(scores), y, **options)
