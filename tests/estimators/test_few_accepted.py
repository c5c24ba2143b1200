"""Rules whose bounds rest on few accepted samples say so."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning


def noise(seed, n=400):
    """Return features that say nothing of the labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


def separable(n=400, share=0.5):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 2)) + 3 * y[:, np.newaxis], y


def test_luck_is_told_of():
    """Where nothing is known, what is accepted meets the target by chance."""
    n_told = n_lucky = 0
    for seed in range(20):
        model = SelectiveClassifier(LogisticRegression(), target_risk=0.2)
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            try:
                model.fit(*noise(seed))
            except InfeasibleTargetError:
                continue
        n_lucky += model.rule_.coverage * 400 < 29
        n_told += sum("rests on" in str(each.message) for each in record)
    assert n_told == n_lucky > 3


def test_the_numbers_and_the_ways_out():
    message = (
        r"target_risk=0\.01 rests on \d+ accepted calibration samples of 90, .* With "
        "100 accepted ones .* more calibration samples, or a confidence_level"
    )
    with pytest.warns(RejectionWarning, match=message):
        SelectiveClassifier(GaussianNB(), target_risk=0.01).fit(*separable(90))
    # Enough of them, or a rule that holds with a confidence, are not worth a word.
    SelectiveClassifier(GaussianNB(), target_risk=0.01).fit(*separable(1500))
    certified = SelectiveClassifier(
        GaussianNB(), target_risk=0.2, confidence_level=0.9, random_state=0
    )
    assert certified.fit(*separable(90)).rule_.certificate.n_accepted < 50


def test_classes_of_few():
    X, y = separable(500, share=0.03)
    model = SelectiveClassifier(GaussianNB(), min_precision={0: 0.9, 1: 0.9})
    with pytest.warns(
        RejectionWarning, match=r"min_precision=0\.9 of the class 1 rests"
    ):
        model.fit(X, y)
    found = model.bounds_["min_precision", 1]
    assert found.coverage * found.n_samples < 30


def test_groups_too_small_to_tell_are_rejected():
    X, y = separable(400)
    X = np.column_stack([X, np.where(np.arange(400) < 12, 1.0, 0.0)])
    model = SelectiveClassifier(GaussianNB(), target_risk=0.05, group_by=2, cv=4)
    message = (
        r"1 of 2 groups .* rejected as a whole. 1\.0: it has 12 .* too few to tell"
    )
    with pytest.warns(RejectionWarning, match=message):
        model.fit(X, y)
    assert not model.accept(X)[:12].any()
    assert model.accept(X)[12:].mean() > 0.9
    many = np.column_stack([X[:, :2], np.arange(400) % 40])
    with pytest.raises(InfeasibleTargetError, match="too few to tell: 30 accepted"):
        SelectiveClassifier(GaussianNB(), target_risk=0.05, group_by=2, cv=4).fit(
            many, y
        )
