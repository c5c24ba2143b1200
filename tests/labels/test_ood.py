"""Which label marks OOD samples, and which samples have it."""

import re

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator

from sklearn_reject import DoubleScoreOODClassifier

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def fit(y, ood_label="auto", classes=None):
    """Return the label that was found, and which samples have it."""
    estimator, cv, X = DummyClassifier(), 2, np.arange(len(y))[:, np.newaxis]
    if classes is not None:
        estimator.fit(X[: len(classes)], classes)
        estimator, cv = FrozenEstimator(estimator), None

    def score(estimator, X):
        return X[:, 0]

    scores = {"uncertainty_score": score, "novelty_score": score, "min_tpr": 0.5}
    model = DoubleScoreOODClassifier(estimator, **scores, ood_label=ood_label, cv=cv)
    model.fit(X, y)
    is_ood = np.zeros(len(y), dtype=bool)
    is_ood[model.calibration_.rows] = model.calibration_.is_ood
    return model.ood_label_, is_ood


def eight(labels):
    """Return some labels again and again, so that each is in each fold."""
    return np.tile(np.asarray(labels), 8)


@pytest.mark.parametrize(
    ("labels", "options", "label"),
    [
        ([0, 1, -1], {}, -1),
        ([0, 1, 2], {}, -1),
        ([0.0, 1.0, -1.0], {}, -1),
        # Where -1 is one of two labels, it is a class.
        ([-1, 1], {}, None),
        ([-1.0, 7.0], {}, None),
        (np.array([255, 0, 1], dtype=np.uint8), {}, -1),
        ([True, False], {}, -1),
        (["cat", "ood", "dog"], {}, "ood"),
        # With strings there is no such convention.
        (["cat", "ood"], {}, "ood"),
        (["-1", "1", "2"], {}, "ood"),
        (np.array(["a", "b", "ood"], dtype=object), {}, "ood"),
        # Of a frozen classifier, the classes are known.
        ([0, 1, -1], {"classes": [0, 1]}, -1),
        ([-1, 1], {"classes": [-1, 1]}, None),
        ([-1, 0, 1], {"classes": [-1, 0, 1]}, None),
        ([3, -1], {"classes": [3]}, -1),
        ([*"ab"], {"classes": [*"ab"]}, "ood"),
        # A given label is taken for what it is.
        ([-1, 0, 1], {"ood_label": -1}, -1),
        ([0, 1, 9], {"ood_label": np.int8(9)}, 9),
        ([0, 1, 9], {"ood_label": 9.0}, 9),
        ([0, 1], {"ood_label": 9}, 9),
        ([*"ab", "novel"], {"ood_label": np.str_("novel")}, "novel"),
        ([-1, 0, 1], {"ood_label": None}, None),
    ],
    ids=str,
)
def test_label_and_the_samples_that_have_it(labels, options, label):
    y = eight(labels)
    for given in (y, y[:, np.newaxis]):
        found, is_ood = fit(given, **options)
        assert found == label
        assert is_ood.tolist() == [value == label for value in y.tolist()]


def test_labels_of_frames():
    pd = pytest.importorskip("pandas")
    names = pd.Series(eight(["a", "ood", "b"]), index=np.arange(24)[::-1])
    numbers = pd.Series(eight([0, -1, 2]), dtype="Int64")
    is_ood = eight([False, True, False]).tolist()
    for labels in (
        *(names, names.astype("category"), names.astype("string"), names.to_frame()),
        *(numbers, numbers.to_frame()),
    ):
        assert fit(labels)[1].tolist() == is_ood
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"name": names.to_numpy(), "number": eight([0, -1, 2])})
    for column in frame.columns:
        assert fit(frame[column])[1].tolist() == is_ood
        assert fit(frame.select(column))[1].tolist() == is_ood


@pytest.mark.parametrize("gap", [None, float("nan"), "NA"], ids=str)
@pytest.mark.parametrize("known", [[0, 1, -1], ["a", "b", "ood"]], ids=str)
def test_gaps_are_told_with_their_rows(gap, known):
    if gap == "NA":
        gap = pytest.importorskip("pandas").NA
    y = np.array([*known, gap, *known, gap], dtype=object)
    with pytest.raises(ValueError, match=r"y has no label \(.*\) in row 3 \(2 such"):
        fit(y)
    with pytest.raises(ValueError, match=r"in row 3|contains NaN"):  # no class 'nan'
        fit(y.tolist())


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0, 1], {"ood_label": "ood"}, "ood_label='ood', but y holds numbers"),
        (["a", "b"], {"ood_label": -1}, "ood_label=-1, but y holds strings"),
        *(
            ([0, 1], {"ood_label": label}, "ood_label must be None, a number, not")
            for label in (np.nan, [-1], 1j)
        ),
        (
            [*"aab", "novel"],
            {"classes": [*"ab"]},
            r"y holds 'novel' \(8 samples\), which is neither one of the classes "
            r"\['a', 'b'\] that the classifier knows nor ood_label='ood'",
        ),
        (
            [*"aab", "novel", "other"],
            {"classes": [*"ab"]},
            r"'novel', 'other' \(16 samples\), which",
        ),
    ],
    ids=str,
)
def test_labels_that_are_refused(y, options, message):
    with pytest.raises(ValueError, match=message):
        fit(eight(y), **options)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([-1, 1], {}, "-1 is a class with .*Pass ood_label=-1, or None if no"),
        ([0, 1], {"ood_label": 7}, "ood_label=7 is not in y"),
        (["a", "b", "OOD"], {}, "Pass ood_label='OOD'"),
        (["a", "b", " Outlier"], {}, "Pass ood_label=' Outlier'"),
        (["0", "-1", "1"], {}, "Pass ood_label='-1'"),
        (["a", "novelist"], {}, None),
        # What is said is done without a word.
        ([-1, 1], {"ood_label": None}, None),
        ([-1, 0, 1], {"ood_label": -1}, None),
        (["a", "b", "ood"], {}, None),
    ],
)
@pytest.mark.filterwarnings("default")
def test_labels_that_are_taken_for_classes_are_told(y, options, message, recwarn):
    fit(eight(y), **options)
    told = [str(each.message) for each in recwarn if "ood_label=" in str(each.message)]
    assert len(told) == (message is not None)
    assert all(re.search(message, each) for each in told)
