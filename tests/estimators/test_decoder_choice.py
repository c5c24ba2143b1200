"""What `fit` of the decoder chooses by predictions out of sample, and says of them."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GroupKFold,
    ShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject._estimators._set_calibration import (
    choose_calibration,
    cross_calibrate,
    fit_calibration,
)
from sklearn_reject._estimators._set_choice import SetProblem, measure_gap
from sklearn_reject._estimators._set_options import fewest_rows
from sklearn_reject.decoding import decode, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import check_set_loss

logistic = LogisticRegression()


def rare(n_samples, seed=0, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, (rng.random(n_samples) < expit(2.5 * X[:, 0] - 4)).astype(int)


def parts_of_five(n_samples):
    fold = np.arange(n_samples) % 5
    return tuple(
        (np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)
    )


def f1_loss():
    return check_set_loss(ExpectedLossDecoder(logistic).loss)


# Calibration


def test_sigmoid_finds_the_curve_that_made_the_labels():
    rng = np.random.default_rng(0)
    eta = rng.uniform(0.01, 0.99, 40_000)
    truth = rng.random(len(eta)) < expit(0.5 * logit(eta) - 1)
    curve = fit_calibration("sigmoid", eta, truth)
    assert curve.slope == pytest.approx(0.5, abs=0.03)
    assert curve.intercept == pytest.approx(-1, abs=0.05)


@pytest.mark.parametrize("shift", [-8.0, 0.0, 3.0])
@pytest.mark.parametrize("n_samples", [8, 200])
def test_sigmoid_is_a_logistic_regression_of_smoothed_labels(n_samples, shift):
    rng = np.random.default_rng(n_samples)
    odds = rng.normal(size=n_samples) * 3 + shift
    truth = odds + rng.normal(size=n_samples) > shift
    curve = fit_calibration("sigmoid", expit(odds), truth)
    n_positive = truth.sum()
    share = np.where(
        truth, (n_positive + 1) / (n_positive + 2), 1 / (n_samples - n_positive + 2)
    )
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
    model.fit(
        np.tile(odds - shift, 2)[:, np.newaxis],
        np.repeat([1, 0], n_samples),
        sample_weight=np.concatenate([share, 1 - share]),
    )
    assert curve.slope == pytest.approx(model.coef_[0, 0], rel=1e-4)
    intercept = model.intercept_[0] - shift * curve.slope
    assert curve.intercept == pytest.approx(intercept, abs=1e-3)


def test_isotonic_is_right_on_average_and_keeps_the_order():
    rng = np.random.default_rng(0)
    eta = rng.random(3000)
    truth = rng.random(3000) < np.where(eta < 0.5, 0.1, 0.4)
    calibrated = fit_calibration("isotonic", eta, truth)(eta)
    assert (np.diff(calibrated[np.argsort(eta)]) > 0).all()
    assert calibrated.mean() == pytest.approx(truth.mean(), abs=1e-3)
    for part, rate in ((eta < 0.5, 0.1), (eta >= 0.5, 0.4)):
        assert calibrated[part].mean() == pytest.approx(rate, abs=0.03)
    assert (calibrated > 0).all()
    assert (calibrated < 1).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_few_samples_prove_no_certainty(method):
    truth = np.arange(6) >= 4
    for eta in (np.linspace(0, 1, 6), np.full(6, 0.3), 1 - np.linspace(0, 1, 6)):
        calibrated = fit_calibration(method, eta, truth)(eta)
        assert (np.diff(calibrated) * np.diff(eta) >= 0).all()
        assert (calibrated > 0).all()
        assert (calibrated < 1).all()


def test_label_with_one_class_stays_as_it_is():
    rng = np.random.default_rng(0)
    eta = rng.random((50, 3))
    truth = np.column_stack([rng.random(50) < 0.5, np.zeros(50), np.ones(50)]) == 1
    calibrated = fit_calibration("sigmoid", eta, truth)(eta)
    np.testing.assert_array_equal(calibrated[:, 1:], eta[:, 1:])
    one = fit_calibration("sigmoid", eta[:, 0], truth[:, 0])
    np.testing.assert_array_equal(calibrated[:, 0], one(eta[:, 0]))
    assert fit_calibration("isotonic", eta[:, 1], truth[:, 1]) is None


def test_parts_are_calibrated_by_the_others():
    rng = np.random.default_rng(0)
    eta, parts = rng.random(100), parts_of_five(100)
    truth = rng.random(100) < eta
    before = cross_calibrate("isotonic", eta, truth, parts)
    test = parts[2][1]
    truth[test] = ~truth[test]
    after = cross_calibrate("isotonic", eta, truth, parts)
    np.testing.assert_array_equal(before[test], after[test])
    assert (before != after).any()


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda eta: eta, None),
        (lambda eta: expit(logit(eta) + 2), "sigmoid"),
        (lambda eta: np.where(eta < 0.3, eta / 100, 0.97 + eta / 100), "isotonic"),
    ],
    ids=["honest", "shifted", "odd"],
)
def test_calibration_that_is_needed(wrong, expected):
    rng = np.random.default_rng(0)
    eta = rng.uniform(0.02, 0.98, 3000)
    truth = rng.random(3000) < eta

    def chosen(n):
        samples = {"eta": wrong(eta)[:n], "truth": truth[:n]}
        calibrated = partial(cross_calibrate, parts=parts_of_five(n), **samples)
        return choose_calibration(calibrated, truth[:n])

    assert chosen(3000) == expected
    assert chosen(300) != "isotonic"


def test_probabilities_are_those_that_decode():
    X, y = rare(1500)
    names = np.where(y == 1, "ham", "spam")  # the positive one comes first
    balanced = LogisticRegression(class_weight="balanced")
    options = {"strategy": "dta", "calibration": "sigmoid", "pos_label": "ham"}
    decoder = ExpectedLossDecoder(balanced, **options).fit(X, names)
    proba = decoder.predict_proba(X)
    assert proba[:, 0].mean() == pytest.approx(y.mean(), abs=0.02)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(decoder.predict_log_proba(X), np.log(proba))
    mask, loss = decode(proba[:, 0], loss=decoder.set_loss_)
    np.testing.assert_array_equal(decoder.predict(X) == "ham", mask)
    assert decoder.expected_loss(X) == pytest.approx(loss)
    # The curve is that of predictions out of fold.
    raw = cross_val_predict(balanced, X, y, method="predict_proba")[:, 1]
    curve = fit_calibration("sigmoid", raw, y == 1)
    fitted = balanced.fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(proba[:, 0], curve(fitted), rtol=1e-6)


# Poor probabilities


class Resampled(ClassifierMixin, BaseEstimator):
    """Classifier of as many samples of each class."""

    def fit(self, X, y):
        rng = np.random.default_rng(0)
        self.classes_, counts = np.unique(y, return_counts=True)
        rows = [rng.choice(np.flatnonzero(y == c), counts.min()) for c in self.classes_]
        rows = np.concatenate(rows)
        self.inner_ = LogisticRegression().fit(X[rows], y[rows])
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)

    def predict(self, X):
        return self.inner_.predict(X)


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(class_weight="balanced"), Resampled(), GaussianNB()],
    ids=["class_weight", "resampled", "naive Bayes"],
)
def test_poor_probabilities_come_right_by_default(classifier):
    X, y = rare(6000)
    X = np.tile(X, 4)
    train, test = slice(0, 3000), slice(3000, None)
    tuned = TunedThresholdClassifierCV(classifier, scoring="f1")
    reference = f1_score(y[test], tuned.fit(X[train], y[train]).predict(X[test]))
    decoder = ExpectedLossDecoder(classifier).fit(X[train], y[train])
    score = f1_score(y[test], decoder.predict(X[test]))
    assert score >= reference - 0.02
    assert decoder.calibration_ is not None
    assert decoder.expected_loss(X[test]) == pytest.approx(1 - score, abs=0.08)


def test_poor_probabilities_that_are_not_calibrated_are_told():
    X, y = rare(1000)
    X = np.tile(X, 4)
    for strategy in ("auto", "eum"):
        decoder = ExpectedLossDecoder(GaussianNB(), strategy=strategy, calibration=None)
        with pytest.warns(
            RejectionWarning, match=r"difference is significant.*calibration='sigmoid'"
        ):
            decoder.fit(X, y)
        gap = decoder.calibration_gap_
        assert gap.realised_loss - gap.expected_loss > 0.1
        assert not gap.is_noise


def test_gap_is_that_of_drawn_labels():
    rng = np.random.default_rng(0)
    eta = rng.beta(1, 4, 400)
    losses = []
    for _ in range(300):
        truth = rng.random(400) < eta
        problem = SetProblem(
            eta, truth, parts_of_five(400), f1_loss(), "independent", 0, None
        )
        mask = problem.decide("dta")
        losses.append(problem.losses(mask)[0])
    gap = measure_gap(problem, mask)
    expected = decode(eta, loss=f1_loss())[1]
    assert gap.expected_loss == pytest.approx(expected, abs=0.01)
    assert gap.standard_error == pytest.approx(np.std(losses), rel=0.2)
    assert np.mean(losses) == pytest.approx(expected, abs=0.01)


# The strategy


def test_choice_by_loss_out_of_fold():
    X, y = rare(800)
    eta = cross_val_predict(logistic, X, y, method="predict_proba")[:, 1]
    decoder = ExpectedLossDecoder(logistic, calibration=None, cv=5).fit(X, y)
    told = {}
    for strategy in ("dta", "eum"):
        one = ExpectedLossDecoder(logistic, strategy=strategy, calibration=None)
        if strategy == "eum":
            told[strategy] = one.fit(X, y).calibration_gap_.realised_loss
        else:
            mask = decode(eta, loss=f1_loss())[0]
            told[strategy] = 1 - f1_score(y, mask)
    assert decoder.strategy_ == min(told, key=told.get)
    best = min(told.values())
    assert decoder.calibration_gap_.realised_loss == pytest.approx(best)


@pytest.mark.parametrize("batch_size", [1, 5])
def test_small_batches_are_decided_as_one_would_decide_all(batch_size):
    X, y = rare(3000)
    train, test = slice(0, 1500), slice(1500, None)
    decoder = ExpectedLossDecoder(logistic, batch_size=batch_size)
    decoder.fit(X[train], y[train])
    assert decoder.strategy_ == "eum"
    whole = decoder.predict(X[test])
    calls = np.arange(1500) // batch_size
    rows = [X[test][calls == call] for call in range(40)]
    parts = np.concatenate([decoder.predict(part) for part in rows])
    np.testing.assert_array_equal(parts, whole[: len(parts)])
    tuned = TunedThresholdClassifierCV(logistic, scoring="f1").fit(X[train], y[train])
    reference = f1_score(y[test], tuned.predict(X[test]))
    assert f1_score(y[test], whole) >= reference - 0.03


def test_groups_are_the_sets_that_are_compared():
    X, y = rare(4000)
    groups = np.arange(4000) // 40
    rows = slice(0, 2000)
    decoder = ExpectedLossDecoder(logistic).fit(X[rows], y[rows], groups=groups[rows])
    assert decoder.strategy_ == "dta"
    assert decoder.expected_loss(X[rows], groups=groups[rows]).shape == (50,)


def test_threshold_of_a_part_is_tuned_on_the_others():
    rng = np.random.default_rng(0)
    eta, parts = rng.random(200), parts_of_five(200)
    truth = rng.random(200) < eta
    problem = SetProblem(eta, truth, parts, f1_loss(), "independent", 0, None)
    mask = problem.decide("eum")
    for train, test in parts:
        tuned = tune_threshold(truth[train], eta[train], loss=f1_loss())
        np.testing.assert_array_equal(mask[test], eta[test] >= tuned.threshold)
    bounded = SetProblem(eta, truth, parts, f1_loss(), "independent", 0, 30)
    assert bounded.decide("eum").sum() == 30


# Small calls


@pytest.mark.parametrize(
    ("loss", "share", "rows"),
    [
        ("jaccard", 0.05, 100),
        ("jaccard", 0.8, 7),
        ("am", 0.8, 25),
        ("g_tp_pr", 0.5, 10),
        ([[0, -2, 1, 1], [1, 0, 0, 0]], 0.05, 1),
    ],
    ids=str,
)
def test_rows_that_are_a_set_by_the_prevalence(loss, share, rows):
    truth = np.arange(1000) < 1000 * share
    loss = check_set_loss(loss)
    assert fewest_rows(loss, truth, None, None) == rows
    groups = np.arange(1000) // 5
    assert fewest_rows(loss, truth, None, groups) == min(rows, 5)
    assert fewest_rows(loss, truth, 300, None) == (1 if rows == 1 else 300)


def test_small_calls_warn():
    X, y = rare(600)
    decoder = ExpectedLossDecoder(logistic, strategy="dta", calibration=None)
    decoder.fit(X, y)
    for method in (decoder.predict, decoder.expected_loss):
        with pytest.warns(RejectionWarning, match="rows were decoded as one set"):
            method(X[:3])
        method(X[:3], groups=[0, 1, 1])
        method(X)
    with pytest.warns(RejectionWarning, match="batch_size=3"):
        decoder.score(X[:3], y[:3])
    decoder.set_params(strategy="eum").fit(X, y).predict(X[:1])
    decoder.set_params(strategy="dta", batch_size=2).fit(X, y).predict(X[:2])
    decoder.set_params(batch_size=None, min_positive=2, max_positive=2).fit(X, y)
    assert decoder.predict(X[:3]).sum() == 2
    decoder.set_params(min_positive=1).fit(X, y)
    with pytest.warns(RejectionWarning, match="rows were decoded as one set"):
        decoder.predict(X[:3])


@pytest.mark.parametrize(
    ("strategy", "way_out"),
    [
        ("dta", "CalibratedClassifierCV, or use strategy='eum'"),
        ("eum", "does not depend on them, but expected_loss does"),
    ],
)
def test_way_out_of_a_gap_is_none_that_was_taken(strategy, way_out):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X.argmax(axis=1)
    timid = LogisticRegression(C=1e-2)
    decoder = ExpectedLossDecoder(timid, strategy=strategy, cv=3)
    with pytest.warns(RejectionWarning, match=way_out):
        decoder.fit(X, y)


# What comes small, or odd


@pytest.mark.parametrize("n_positive", [1, 2, 6])
def test_twelve_rows(n_positive):
    X = np.arange(12.0)[:, np.newaxis]
    y = (np.arange(12) >= 12 - n_positive).astype(int)
    decoder = ExpectedLossDecoder(logistic).fit(X, y)
    assert decoder.calibration_ != "isotonic"
    assert set(decoder.predict(X)) <= {0, 1}


def test_label_that_no_fold_can_be_fitted_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.column_stack([X[:, 0] > 0, np.arange(40) == 0]).astype(int)
    decoder = ExpectedLossDecoder(MultiOutputClassifier(logistic))
    with pytest.warns(RejectionWarning, match="could not be compared") as caught:
        decoder.fit(X, y)
    assert re.search(
        r"The error in a fold was: .*[^.]\. Pass more", str(caught[0].message)
    )
    assert decoder.strategy_ == "dta"
    assert decoder.calibration_gap_ is None
    assert decoder.predict(X).shape == y.shape
    with pytest.raises(ValueError, match="classes"):
        decoder.set_params(cv=3).fit(X, y)


@pytest.mark.parametrize("cv", [0.4, GroupKFold(3), ShuffleSplit(1, random_state=0)])
def test_kinds_of_folds(cv):
    X, y = rare(400)
    groups = {"groups": np.arange(400) // 40} if isinstance(cv, GroupKFold) else {}
    decoder = ExpectedLossDecoder(
        logistic, calibration="sigmoid", cv=cv, random_state=0
    ).fit(X, y, **groups)
    assert decoder.calibration_ == "sigmoid"
    assert 0 < decoder.calibration_gap_.realised_loss < 1


def test_frozen_classifier_is_calibrated_on_what_is_given():
    X, y = rare(1200)
    shifted = LogisticRegression(class_weight="balanced").fit(X[:300], y[:300])
    decoder = ExpectedLossDecoder(FrozenEstimator(shifted)).fit(X[300:], y[300:])
    assert decoder.calibration_ == "sigmoid"
    eta = shifted.predict_proba(X)[:, 1]
    curve = fit_calibration("sigmoid", eta[300:], y[300:] == 1)
    np.testing.assert_allclose(decoder.predict_proba(X)[:, 1], curve(eta))


def test_honest_classifiers_do_not_warn_on_few_rows():
    for seed in range(5):
        X, y = rare(40, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RejectionWarning)
            ExpectedLossDecoder(logistic).fit(X, y | (X[:, 0] > 1.5))


# Inside others


def test_what_asks_for_labels_gets_decoded_ones():
    X, y = rare(400)
    Y = np.column_stack([y, X[:, 1] > 1]).astype(int)
    decoder = ExpectedLossDecoder(logistic, strategy="dta", calibration=None)
    predicted = MultiOutputClassifier(decoder).fit(X, Y).predict(X)
    for column in range(2):
        one = decoder.fit(X, Y[:, column]).predict(X)
        np.testing.assert_array_equal(predicted[:, column], one)


def test_weights_of_rows_are_repeated_rows():
    """Where each row is a set, in all that is chosen out of sample."""
    rng = np.random.default_rng(0)
    eta = rng.random((60, 4))
    truth = rng.random((60, 4)) < eta**2
    weight = rng.integers(0, 4, 60)
    parts = ((np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30)))
    options = (f1_loss(), "independent", 0, None)
    weighed = SetProblem(eta, truth, parts, *options, weight=weight.astype(float))
    rows = np.repeat(np.arange(60), weight)
    copies = tuple(
        tuple(np.flatnonzero(np.isin(rows, side)) for side in part) for part in parts
    )
    repeated = SetProblem(eta[rows], truth[rows], copies, *options)
    assert weighed.tune().threshold == repeated.tune().threshold
    assert weighed.tune().loss == pytest.approx(repeated.tune().loss)
    for strategy in ("dta", "eum"):
        mask = weighed.decide(strategy)
        np.testing.assert_array_equal(mask[rows], repeated.decide(strategy))
        assert weighed.mean_loss(mask) == pytest.approx(repeated.mean_loss(mask[rows]))
    gap = measure_gap(weighed, mask)
    assert gap.realised_loss == pytest.approx(weighed.mean_loss(mask))


def test_weights_of_rows_tune_the_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = (X + rng.normal(size=X.shape) > 1).astype(int)
    frozen = FrozenEstimator(OneVsRestClassifier(LogisticRegression()).fit(X, Y))
    decoder = ExpectedLossDecoder(frozen, strategy="eum", calibration=None)
    weight = rng.integers(0, 3, 300)
    decoder.fit(X, Y, sample_weight=weight)
    tuned = tune_threshold(Y, frozen.predict_proba(X), loss="f1", sample_weight=weight)
    assert decoder.threshold_ == tuned.threshold
    assert decoder.tuned_loss_ == tuned.loss
    plain = clone(decoder).fit(X, Y)
    assert plain.tuned_loss_ != tuned.loss
