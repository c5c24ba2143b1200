"""Metric, scorer and estimator agree on which of two classes is positive."""

from functools import partial

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import get_selective_scorer, set_loss

# Few rows, or one class, may make the estimator warn of other things.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(2, size=80)
X = (TRUTH + RNG.normal(size=80))[:, None]
NAMES = {
    "0, 1": [0, 1],
    "-1, 1": [-1, 1],
    "1, 2": [1, 2],
    "0, 2": [0, 2],
    "0., 1.": [0.0, 1.0],
    "False, True": [False, True],
    "no, yes": ["no", "yes"],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("strategy", ["dta", "eum", 0.9])
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_the_last_of_two_labels_is_positive(names, strategy, zero_division):
    names = np.array(names)
    y = names[TRUTH]
    decoder = ExpectedLossDecoder(
        GaussianNB(), strategy=strategy, zero_division=zero_division
    ).fit(X, y)
    scorer = get_selective_scorer("neg_set_loss", zero_division=zero_division)
    negative = np.flatnonzero(TRUTH == 0)
    low = negative[np.argsort(X[negative, 0])]
    for rows in (np.arange(80), negative, low[:5], low[-5:]):
        y_pred = decoder.predict(X[rows])
        options = {"pos_label": names[1], "zero_division": zero_division}
        expected = 1 - f1_score(y[rows], y_pred, **options)
        assert set_loss(y[rows], y_pred, **options) == pytest.approx(expected)
        assert decoder.score(X[rows], y[rows]) == pytest.approx(-expected)
        assert scorer(decoder, X[rows], y[rows]) == pytest.approx(-expected)
        if len(np.union1d(y[rows], y_pred)) == 2 or names[0] in (-1, 0):
            loss = set_loss(y[rows], y_pred, zero_division=zero_division)
            assert loss == pytest.approx(expected)


@pytest.mark.parametrize("label", [0, -1, False, 0.0])
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_labels_that_are_all_negative(label, zero_division):
    """As scikit-learn has it; the classifier has seen nothing else, either."""
    y = np.full(80, label)
    expected = f1_score(y, y, zero_division=zero_division) - 1
    options = {"zero_division": zero_division}
    assert set_loss(y, y, **options) == -expected
    scorer = get_selective_scorer("neg_set_loss", **options)
    assert scorer(DummyClassifier().fit(X, y), X, y) == expected
    for inner in (DummyClassifier(), FrozenEstimator(DummyClassifier().fit(X, y))):
        for strategy in ("dta", "eum", 0.5):
            decoder = ExpectedLossDecoder(inner, strategy=strategy, **options)
            decoder.fit(X, y)
            np.testing.assert_array_equal(decoder.predict(X), y)
            assert decoder.expected_loss(X) == -expected
            assert decoder.score(X, y) == expected
            assert scorer(decoder, X, y) == expected


def test_positives_that_no_training_sample_was():
    decoder = ExpectedLossDecoder(DummyClassifier()).fit(X, np.zeros(80, dtype=int))
    y = TRUTH.copy()
    expected = -set_loss(y, np.zeros(80, dtype=int))
    assert expected == -1
    for score in (
        decoder.score,
        partial(get_selective_scorer("neg_set_loss"), decoder),
    ):
        with pytest.warns(RejectionWarning, match="count as missed"):
            assert score(X, y) == expected


@pytest.mark.parametrize("label", [1, True])
def test_labels_that_are_all_positive(label):
    y = np.full(80, label)
    decoder = ExpectedLossDecoder(DummyClassifier()).fit(X, y)
    assert set_loss(y, y) == 1 - f1_score(y, y) == 0
    assert decoder.score(X, y) == 0
    assert get_selective_scorer("neg_set_loss")(decoder, X, y) == 0


@pytest.mark.parametrize("label", [2, "no", 0.5e1])
def test_a_single_label_of_which_nobody_knows(label):
    y = np.full(80, label)
    model = DummyClassifier().fit(X, y)
    for call in (
        lambda: set_loss(y, y),
        lambda: get_selective_scorer("neg_set_loss")(model, X, y),
    ):
        with pytest.raises(ValueError, match=r"single label .*as pos_label"):
            call()
    assert set_loss(y, y, pos_label=label) == 0
    other = "yes" if label == "no" else 3
    assert set_loss(y, y, pos_label=other) == 1
    assert get_selective_scorer("neg_set_loss", pos_label=label)(model, X, y) == 0
