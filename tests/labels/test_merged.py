"""Labels of several sources in one array lose nothing."""

import numpy as np
import pytest

from sklearn_reject._labels import merge_labels

HUGE = 2**53 + 1


@pytest.mark.parametrize(
    ("labels", "found", "dtype"),
    [
        ([0, 1, 2], [5], int),
        ([0, 1, 2], [5.0], int),
        ([0, 1, 2], [0.5], float),
        ([0.0, 1.0, 2.0], [HUGE], object),
        ([HUGE, 1, 2], [0.5], object),
        ([False, True, False], [True], bool),
        ([False, True, False], [-1], int),
        (["a", "b", "a"], ["long"], "<U4"),
        (["a", "b", "a"], [3], object),
        ([0, 1, 2], ["unsure"], object),
    ],
)
@pytest.mark.parametrize("as_objects", [False, True])
def test_merged_labels_are_exact(labels, found, dtype, as_objects):
    given = np.array(found, dtype=object) if as_objects else np.array(found)
    merged = merge_labels(np.array(labels), np.array([1]), given)
    assert merged.dtype == np.dtype(dtype)
    assert merged.tolist() == [labels[0], found[0], labels[2]]
