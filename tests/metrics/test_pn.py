"""PN curves and areas by the rule at each threshold, with labels of any kind."""

import math
import warnings
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from sklearn_reject.metrics import pn_auc_score, pn_curve


@st.composite
def samples(draw, max_size=12):
    """Draw (y_true, y_score, weights) with ties and some documents not rated."""
    n = draw(st.integers(2, max_size))

    def column(low, high):
        return np.array(draw(st.lists(st.integers(low, high), min_size=n, max_size=n)))

    y_true, weights = column(-1, 1), None
    y_true[:2] = [1, 0]
    if draw(st.booleans()):
        weights = column(0, 3).astype(float)
        weights[:2] += 1
    return y_true, column(-3, 3) / 4, weights


def exact_curve(sample):
    """Return false and true positives of each threshold, and the thresholds."""
    y_true, y_score, weights = sample
    weights = np.ones(len(y_true)) if weights is None else weights
    counted = (y_true != -1) & (weights > 0)
    thresholds = [np.inf, *np.unique(y_score[counted])[::-1].tolist()]
    rows = list(zip(y_true, y_score, map(Fraction, weights), strict=True))
    return [
        tuple(sum(w for y, s, w in rows if s >= t and y == label) for label in (0, 1))
        for t in thresholds
    ], thresholds


def exact_area(curve, max_fp=None):
    """Add up the trapezoids, the last of them cut."""
    max_fp = curve[-1][0] if max_fp is None else max_fp
    area = Fraction(0)
    for (left, low), (right, high) in pairwise(curve):
        if left < max_fp and left < right:
            end = min(right, max_fp)
            height = low + (high - low) * Fraction(end - left) / (right - left)
            area += (end - left) * (low + height) / 2
    return area


@given(samples(), st.integers(1, 48))
def test_curve_and_areas_are_those_of_the_rule_at_each_threshold(sample, eighths):
    *arguments, weights = sample
    fp, tp, thresholds = pn_curve(*arguments, sample_weight=weights)
    curve, expected = exact_curve(sample)
    assert thresholds.tolist() == expected
    assert list(zip(fp, tp, strict=True)) == curve
    assert fp.dtype == tp.dtype == thresholds.dtype == np.float64
    area = pn_auc_score(*arguments, sample_weight=weights)
    assert type(area) is float
    assert area == exact_area(curve)
    # A part of it, and as a share.
    max_fp = min(Fraction(eighths, 8), curve[-1][0])
    for normalize, unit in ((False, 1), (True, max_fp * curve[-1][1])):
        options = {"max_fp": float(max_fp), "normalize": normalize}
        area = pn_auc_score(*arguments, sample_weight=weights, **options)
        expected = float(exact_area(curve, max_fp) / unit)
        assert area == pytest.approx(expected, rel=1e-14, abs=1e-15)
    # The share of all of it is the area under the ROC curve.
    rated = sample[0] != -1
    area = pn_auc_score(*arguments, normalize=True, sample_weight=weights)
    rows = [None if each is None else each[rated] for each in sample]
    theirs = roc_auc_score(*rows[:2], sample_weight=rows[2])
    assert area == pytest.approx(theirs, abs=1e-14)


def test_a_bound_off_by_rounding_is_the_whole_area():
    sample = [1, 0, 0, 0], [4, 3, 2, 1]
    options = {"sample_weight": [1, 0.1, 0.1, 0.1]}
    whole = pytest.approx(pn_auc_score(*sample, **options), rel=1e-15)
    for bound in (0.3, 0.1 + 0.1 + 0.1):
        assert pn_auc_score(*sample, max_fp=bound, **options) == whole


# Labels: negative, positive and unrated ones of one kind, as users have them
KINDS = {
    "int": (0, 1, -1),
    "signs": (-1, 1, 0),
    "float": (0.0, 1.0, -1.0),
    "other numbers": (3, 7, 5),
    "text": ("no", "yes", "unrated"),
    "long unrated": ("a", "b", "not rated at all"),
    "bool": (False, True, None),
    "large": (2**60, 2**60 + 1, -1),
}
MISSING = (None, math.nan, np.float32("nan"), pd.NA)
FORMS = (list, np.array, pd.Series, np.asfortranarray)
NO_LABEL = {"unrated_label": None}
DTYPES = {
    "int": ["Int64", "Float64"],
    "text": ["string", "category"],
    "bool": ["boolean"],
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@given(samples(), st.sampled_from(list(KINDS)), st.data())
def test_labels_of_any_kind(sample, kind, data):
    codes, y_score, weights = sample
    named = dict(zip((0, 1, -1), KINDS[kind], strict=True))
    labels = [named[code] for code in codes.tolist()]
    curve = partial(pn_curve, y_score=y_score, sample_weight=weights)
    expected, unrated = curve(codes), {"unrated_label": named[-1]}
    # What is missing is unrated, whatever the label.
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    array[codes == -1] = data.draw(st.sampled_from(MISSING))
    typed = [pd.Series(array, dtype=each) for each in DTYPES.get(kind, ())]
    missing = array, pd.Series(array), *typed
    if kind != "large":  # which NumPy would read as floats beside NaN
        missing += (array.tolist(),)
    if kind != "bool":
        missing += (np.ma.masked_array(np.array(labels), mask=codes == -1),)
    for found in (
        curve(data.draw(st.sampled_from(FORMS))(labels), **unrated),
        curve([[label] for label in labels], pos_label=named[1], **unrated),
        *(curve(each, **option) for each in missing for option in (NO_LABEL, unrated)),
    ):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    turned = curve(labels, pos_label=named[0], **unrated)
    np.testing.assert_array_equal(turned, curve(codes, pos_label=0))


def test_a_label_of_another_kind_is_none_of_the_labels():
    # Neither a comparison of numbers with text nor a warning about it.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pn_auc_score(["b", "a"], [2, 1], unrated_label=-1) == 1
        assert pn_auc_score([0, 1], [2, 1], unrated_label="unrated") == 0
    # Among text, the number -1 is text, too.
    with pytest.raises(ValueError, match=r"got \['-1', 'a', 'b'\]"):
        pn_curve(["-1", "a", "b"], [1, 2, 3], unrated_label=-1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_fp": 1.001}, r"max_fp=1 is above|max_fp=1.001 is above the weight of"),
        ({"max_fp": 0}, r"max_fp must be in \(0, inf\), got 0"),
        ({"normalize": None}, "normalize must be one of"),
        ({"y_true": [1, 0]}, "y_true has 2 elements, but there are 3 samples"),
        ({"y_true": [-1, -1, -1]}, "y_true has no rated documents: all 3 are missing"),
        ({"y_true": [1, -1, 1]}, r"no rated negatives: .*one class only, 1\. Rate"),
        ({"y_true": [0, -1, 0]}, "y_true has no rated positives: .*one class only, 0"),
        ({"y_true": [0, 1, 2]}, r"-1, y_true must have two classes, got \[0, 1, 2"),
        ({"unrated_label": None}, "None, y_true must have two classes"),
        ({"y_true": [[0, 1]] * 3}, r"y should be a 1d array.*\(3, 2\)"),
        ({"y_true": np.array([0, "a", 1], dtype=object)}, "labels of one kind"),
        ({"y_true": [Fraction(1), Fraction(0), 0]}, "numbers or texts, got"),
        ({"pos_label": 2}, r"pos_label=2 is not among .* of y_true, \[0, 1\]"),
        ({"pos_label": math.nan}, "pos_label=nan is not among"),
        ({"y_score": [1, 2, -np.inf]}, "y_score must be finite, got -inf in row 2"),
        ({"y_score": [], "y_true": []}, "y_score is empty"),
        ({"sample_weight": [0, 1, 1]}, "is_positive is False for all documents"),
        ({"sample_weight": [1, 0, 1]}, "is_positive is True for all documents"),
    ],
    ids=str,
)
def test_bad_input(arguments, message):
    only_area = arguments.keys() & {"max_fp", "normalize"}
    arguments = {"y_true": [1, 0, -1], "y_score": [0.3, 0.2, 0.1], **arguments}
    for metric in (pn_auc_score,) if only_area else (pn_curve, pn_auc_score):
        with pytest.raises(ValueError, match=message):
            metric(**arguments)
