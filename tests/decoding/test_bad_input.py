"""Errors of the functions of probabilities say what is wrong, and the way out."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_reject.decoding import decode, expected_loss_curve, tune_threshold


def tune(eta, y=(0, 1), **options):
    return tune_threshold(y, eta, **options)


def call(function, eta=(0.5, 0.3), **options):
    return function(eta, **{"loss": "f1", **options})


EVERY = [decode, expected_loss_curve, tune]
BOTH = [decode, tune]
ETA = [
    ([0.5, np.nan], r"eta must hold probabilities in \[0, 1\], got nan"),
    ([1.1, 0.5], r"probabilities in \[0, 1\], got 1.1.*Calibrated"),
    ([0.5, -1e-8], r"probabilities in \[0, 1\], got -1e-08"),
    (["0.5"], "eta must hold numbers, got an array of dtype <U3"),
    ([0.5, None], r"eta must hold probabilities in \[0, 1\], got nan"),
    ([0.5 + 0j], "eta must hold numbers, got an array of dtype complex"),
    ([], r"eta is empty, of shape \(0,\)\. A set needs"),
    (np.empty((0, 3)), r"eta is empty, of shape \(0, 3\)"),
    (0.5, r"eta must have shape \(n_items,\) or .*got \(\)"),
    (np.full((3, 4, 2), 0.5), r"got \(3, 4, 2\). .*np.column_stack\("),
    ([np.full((4, 2), 0.5)] * 3, r"for p in proba\]"),
    ([[0.2, 0.5], [0.1]], "eta holds .* rows of different lengths.* with groups"),
    (np.ma.masked_equal([0.2, 0.5], 0.5), "eta is a masked array"),
]


class Vector(sparse.coo_matrix):
    """Sparse arrays of one axis, which newer releases of SciPy have."""

    shape = (3,)


SPARSE = [
    (sparse.csr_matrix([[0.5, np.nan]]), r"probabilities in \[0, 1\], got nan"),
    (sparse.csr_matrix([[0.5, -0.5]]), r"probabilities in \[0, 1\], got -0.5"),
    (sparse.csr_matrix([[0.5 + 1j]]), "an array of dtype complex"),
    (sparse.csr_matrix((3, 0)), r"eta is empty, of shape \(3, 0\)"),
    (sparse.coo_matrix(([0.6, 0.6], ([0, 0], [1, 1])), (1, 2)), "got 1.2"),
    (Vector(np.zeros((1, 3))), r"or \(n_sets, n_items\), got \(3,\)"),
]


MATRIX = [[0.5, 0.3]]
MULTINOMIAL = {"distribution": "multinomial"}
WEIGHED = {"eta": np.eye(3), "y": np.eye(3), "sample_weight": np.ones(3)}
# Which functions, with which arguments, say what.
ARGUMENTS = [
    *((EVERY, {"eta": eta}, message) for eta, message in ETA),
    *(([decode], {"eta": eta}, message) for eta, message in SPARSE),
    ([expected_loss_curve], {"eta": sparse.eye(1)}, "must be dense.*eta.toarray"),
    ([tune], {"eta": sparse.eye(1), "y": [[1]]}, r"must be dense.*eta.toarray\(\)"),
    (BOTH, {"groups": [0]}, "groups has 1 elements, but there are 2 samples"),
    (BOTH, {"groups": [0, 1, 1]}, "groups has 3 elements, but there are 2"),
    (BOTH, {"groups": [[0, 1]]}, r"groups must be a vector.*\(1, 2\)"),
    (BOTH, {"groups": [0, np.nan]}, "groups contains NaN"),
    (BOTH, {"groups": np.array(["a", 1], dtype=object)}, "values that can be sorted"),
    ([decode], {"min_positive": -1}, "min_positive must be an int >= 0, got -1"),
    ([decode], {"max_positive": True}, "max_positive must be an int >= 0, got True"),
    ([decode], {"min_positive": 2, "max_positive": 1}, "is above max_positive=1. Swap"),
    (BOTH, {"average": "macro"}, r"average='macro'.*\(2,\).*vector"),
    (BOTH, {"average": "micro", "groups": [0, 1]}, "Set average to 'samples'"),
    *((BOTH, {"average": odd}, "average must be one of") for odd in ("weighted", None)),
    ([decode], {"eta": MATRIX, "groups": [0]}, "each row is a set. Omit groups"),
    ([decode], {"distribution": "one"}, "distribution must be one of"),
    ([decode], MULTINOMIAL, "must add up to one .* got 0.8.*'independent'"),
    ([decode], {**MULTINOMIAL, "groups": [0, 1], "eta": [1.0, 0.5]}, "got 0.5"),
    ([decode], {**MULTINOMIAL, "groups": [0], "eta": MATRIX}, "Omit groups"),
    ([decode], {**MULTINOMIAL, "average": "macro", "eta": MATRIX}, "one item of each"),
    ([decode], {**MULTINOMIAL, "eta": sparse.csr_matrix([[0.5, 0.2]])}, "got 0.7"),
    ([expected_loss_curve], {"eta": [0.2, 0.3]}, "must be sorted in decr.*decode"),
    ([expected_loss_curve], {"eta": [[0.3, 0.2], [0.2, 0.3]]}, "must be sorted"),
    ([expected_loss_curve], {"distribution": "poisson"}, "distribution must be one of"),
    ([expected_loss_curve], MULTINOMIAL, "eta must add up to one .*got 0.8"),
    ([tune], {"eta": [0.1], "y": [0, 1]}, r"shape of eta, \(1,\), got \(2,\)"),
    ([tune], {"y": [[0], [1]]}, r"shape of eta, \(2,\), got \(2, 1\)"),
    ([tune], {"y": [0, 2]}, "y must be labels 0 and 1, got 2.*pos_label"),
    ([tune], {"y": ["no", "yes"]}, "labels 0 and 1, got an array of dtype <U3"),
    ([tune], {"y": [-1, 1]}, "y must be labels 0 and 1, got -1. Pass `y > 0`"),
    ([tune], {"y": [["a"], ["a", "b"]]}, "y holds lists of labels.*MultiLabelBinar"),
    ([tune], {"y": np.ma.masked_equal([0, 1], 1)}, "y is a masked array"),
    ([tune], {"eta": MATRIX, "y": [[0, 1]], "groups": [0]}, "is a set. Omit groups"),
    ([tune], {"sample_weight": [1, 2]}, r"shape \(1,\), got shape \(2,\)\. Items"),
    ([tune], {"sample_weight": [1], "groups": [0, 1]}, r"each set, shape \(2,\), got"),
    ([tune], {"sample_weight": [0, 0], "groups": [0, 1]}, "zero for every sample"),
    ([tune], {"sample_weight": [1, -1], "groups": [0, 1]}, "non-negative"),
    ([tune], {**WEIGHED, "average": "macro"}, "sets that are rows or groups, but"),
    ([tune], {**WEIGHED, "average": "micro"}, "sets that are rows or groups, but"),
]


@pytest.mark.parametrize(("functions", "arguments", "message"), ARGUMENTS)
def test_bad_arguments(functions, arguments, message):
    for function in functions:
        with pytest.raises(ValueError, match=message):
            call(function, **arguments)
