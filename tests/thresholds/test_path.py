"""Thresholds midway between scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._graph import graph_path
from sklearn_reject.thresholds._path import place_midway

SCORES = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 5e-324, 1e300, -1e300]))


@st.composite
def all_documents(draw):
    shape = draw(st.integers(3, 12)), draw(st.integers(1, 2))
    scores = draw(hnp.arrays(np.float64, shape, elements=SCORES))
    y = draw(hnp.arrays(np.int64, shape[0], elements=st.sampled_from([-1, 0, 1])))
    return scores, y


@pytest.mark.parametrize("rule", ["any", "all"])
@given(sample=all_documents())
def test_no_document_is_predicted_otherwise(rule, sample):
    scores, y = sample
    try:
        documents = check_documents(scores, y, rule=rule)
    except ValueError:
        return
    path = graph_path(documents)
    moved = place_midway(path, documents)
    np.testing.assert_array_equal(moved.locate(scores), path.locate(scores))
    finite = np.isfinite(path.thresholds)
    assert (moved.thresholds <= path.thresholds).all()
    np.testing.assert_array_equal(np.isfinite(moved.thresholds), finite)
    is_partial = (y == -1).any()
    assert not is_partial or (moved.thresholds[0] == documents.base).all()


def test_halfway():
    documents = check_documents([1.0, 2.0, 4.0, 7.0], [0, 1, -1, 1], base_thresholds=1)
    moved = place_midway(graph_path(documents), documents)
    # Unrated documents have scores, too; the lowest threshold is not below the base.
    np.testing.assert_array_equal(moved.thresholds[:, 0], [1, 1.5, 5.5, np.inf])


def test_below_the_lowest_score_as_far_as_above():
    documents = check_documents([1.0, 2.0, 4.0], [0, 1, 1])
    moved = place_midway(graph_path(documents), documents)
    np.testing.assert_array_equal(moved.thresholds[0], [0.5])


def test_neighbouring_numbers():
    scores = np.array(
        [1.0, np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2)]
    )
    documents = check_documents(scores, [0, 1, 1])
    path = graph_path(documents)
    moved = place_midway(path, documents)
    np.testing.assert_array_equal(
        moved.locate(scores[:, np.newaxis]), path.locate(scores[:, np.newaxis])
    )
