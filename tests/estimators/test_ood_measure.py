"""What a fitted rule achieves on new samples, against intervals of another origin."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject._estimators._ood_measure import measure_rule
from sklearn_reject.exceptions import RejectionWarning

X, Y = make_blobs(900, centers=5, n_features=3, random_state=2)
Y[Y >= 3] -= 100
GROUPS = np.array(["known", "third", "fourth"])[np.where(Y < 0, Y + 98, 0)]
Y[Y < 0] = -1
TRAIN, TEST = slice(0, 500), slice(500, 900)
MODEL = DoubleScoreOODClassifier(
    GaussianNB(),
    novelty_score="mahalanobis",
    min_tpr=0.8,
    min_precision=0.9,
    ood_prior=0.2,
    random_state=0,
).fit(X[TRAIN], Y[TRAIN])


def assert_exact(interval, flags, confidence_level=0.95):
    """Compare with SciPy's exact interval of the share of flags."""
    expected = binomtest(int(flags.sum()), len(flags)).proportion_ci(confidence_level)
    assert interval.value == flags.mean()
    assert interval.n_samples == len(flags)
    np.testing.assert_allclose(interval[1:3], expected, rtol=1e-9, atol=1e-12)


def test_shares_and_risk_have_exact_intervals():
    measured = MODEL.measure(
        X[TEST], Y[TEST], groups=GROUPS[TEST], confidence_level=0.9
    )
    labels, _, accepted = MODEL.predict_all(X[TEST])
    y, groups, is_ood = Y[TEST], GROUPS[TEST], Y[TEST] == -1
    assert_exact(measured.tpr, accepted[~is_ood], 0.9)
    assert_exact(measured.fpr, accepted[is_ood], 0.9)
    assert_exact(measured.selective_risk, (labels != y)[accepted & ~is_ood], 0.9)
    assert sorted(measured.fpr_by_group) == ["fourth", "third"]
    for group, interval in measured.fpr_by_group.items():
        assert_exact(interval, accepted[groups == group], 0.9)
    tpr, fpr = accepted[~is_ood].mean(), accepted[is_ood].mean()
    precision = measured.precision
    assert precision.value == pytest.approx(0.8 * tpr / (0.8 * tpr + 0.2 * fpr))
    assert precision.low < precision.value < precision.high <= 1
    assert measured.confidence_level == 0.9


def test_a_precision_without_a_prior_and_an_fpr_without_ood_samples_are_nan():
    model = DoubleScoreOODClassifier(GaussianNB(), novelty_score="msp", min_tpr=0.9)
    measured = model.fit(X[TRAIN], Y[TRAIN]).measure(X[TEST], Y[TEST])
    assert np.isnan(measured.precision.value)
    inside = np.flatnonzero(Y[TEST] >= 0)
    measured = MODEL.measure(X[TEST][inside], Y[TEST][inside])
    assert np.isnan(measured.fpr.value)
    assert measured.fpr[1:] == (0.0, 1.0, 0)
    assert np.isnan(measured.precision.value)
    assert measured.precision.low < 0.9 < measured.precision.high


def test_other_losses_are_bounded_where_they_have_a_bound():
    costs = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [4.0, 3.0, 0.0]])
    for loss, largest in ((costs, 4.0), ("absolute", np.inf)):
        model = DoubleScoreOODClassifier(
            GaussianNB(), novelty_score="msp", min_tpr=0.9, loss=loss
        ).fit(X[TRAIN], Y[TRAIN])
        risk = model.measure(X[TEST], Y[TEST]).selective_risk
        assert 0 <= risk.low <= risk.value <= risk.high <= largest
        assert np.isinf(risk.high) == np.isinf(largest)


def test_one_row_of_each_kind():
    rows = [500 + int(np.argmax(Y[TEST] == label)) for label in (0, -1)]
    for row, known, unknown in zip(rows, ("tpr", "fpr"), ("fpr", "tpr"), strict=True):
        measured = MODEL.measure(X[[row]], Y[[row]])
        assert getattr(measured, known).n_samples == 1
        assert getattr(measured, unknown)[1:] == (0.0, 1.0, 0)


def test_wild_samples_tell_the_fpr_where_no_other_do():
    rng = np.random.default_rng(0)
    accepted, is_ood = rng.random(4000) < 0.7, np.zeros(4000, bool)
    is_wild = np.arange(4000) < 2500
    truly_ood = is_wild & (rng.random(4000) < 0.4)
    accepted[truly_ood] &= rng.random(truly_ood.sum()) < 0.2
    options = {
        "confidence_level": 0.95,
        "ood_prior": None,
        "wild_share": 0.4,
        "bound": "binomial",
        "max_loss": 1.0,
    }
    zero = np.zeros(4000)
    measured = measure_rule(accepted, zero, is_ood, is_wild, **options)
    tpr, wild = accepted[~is_wild].mean(), accepted[is_wild].mean()
    assert measured.fpr.value == pytest.approx((wild - 0.6 * tpr) / 0.4)
    assert measured.fpr.low < accepted[truly_ood].mean() < measured.fpr.high
    # Labeled ones are better evidence.
    measured = measure_rule(accepted, zero, truly_ood, is_wild & ~truly_ood, **options)
    assert_exact(measured.fpr, accepted[truly_ood])


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(1)
    held = []
    for _ in range(400):
        accepted, is_ood = rng.random(60) < 0.8, np.arange(60) >= 40
        losses = (rng.random(60) < 0.1).astype(float)
        measured = measure_rule(
            accepted,
            losses,
            is_ood,
            np.zeros(60, bool),
            confidence_level=0.9,
            ood_prior=0.5,
            wild_share=None,
            bound="binomial",
            max_loss=1.0,
        )
        truth = {"tpr": 0.8, "fpr": 0.8, "selective_risk": 0.1, "precision": 0.5}
        held.append(
            [
                getattr(measured, name).low <= value <= getattr(measured, name).high
                for name, value in truth.items()
            ]
        )
    # As many misses as chance allows in one of a million runs.
    assert (np.mean(held, axis=0) > beta.ppf(1e-6, 0.9 * 400, 0.1 * 400)).all()


def test_labels_of_no_known_kind_are_told():
    y = np.where(Y[TEST] == -1, 7, Y[TEST])
    with pytest.warns(RejectionWarning, match=r"holds 7 .*ood_label=-1.* as errors"):
        assert MODEL.measure(X[TEST], y).fpr.n_samples == 0
    with pytest.warns(RejectionWarning, match="holds 7"):
        assert MODEL.score(X[TEST], y) < 0


def test_a_class_of_one_member_does_not_fail_a_search():
    X, y = make_blobs(90, centers=3, random_state=0)
    y[0] = 7
    model = DoubleScoreOODClassifier(GaussianNB(), novelty_score="msp", min_tpr=0.9)
    with pytest.warns(UserWarning, match="least populated|holds 7"):
        scores = cross_val_score(model, X, y, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


def test_bad_arguments():
    with pytest.raises(ValueError, match="groups"):
        MODEL.measure(X[TEST], Y[TEST], groups=[0, 1])
    with pytest.raises(ValueError, match="confidence_level"):
        MODEL.measure(X[TEST], Y[TEST], confidence_level=1.0)
    with pytest.raises(ValueError, match="y"):
        MODEL.measure(X[TEST], Y[:3])


def test_string_labels_and_a_frozen_classifier():
    names = np.array(["a", "b", "c", "ood"])[Y]
    inside = np.flatnonzero(Y[TRAIN] >= 0)
    frozen = FrozenEstimator(GaussianNB().fit(X[inside], names[inside]))
    model = DoubleScoreOODClassifier(frozen, novelty_score="msp", min_tpr=0.9)
    model.fit(X[TRAIN], names[TRAIN])
    measured = model.measure(X[TEST], names[TEST], groups=names[TEST])
    assert list(measured.fpr_by_group) == ["ood"]
    assert measured.fpr_by_group["ood"] == measured.fpr


def test_groups_of_any_names_are_told_apart_and_have_to_be_there():
    y, named = Y[TEST], GROUPS[TEST].astype(object)
    named[named == "third"] = 3
    measured = MODEL.measure(X[TEST], y, groups=named)
    assert list(measured.fpr_by_group) == [3, "fourth"]
    only = np.where(y == -1, named, None)  # what is said of others is not used
    assert MODEL.measure(X[TEST], y, groups=only) == measured
    for gap in (None, np.nan):
        with pytest.raises(ValueError, match="groups has no value for an OOD sample"):
            MODEL.measure(X[TEST], y, groups=np.where(named == 3, gap, named))
    with pytest.raises(ValueError, match="1d array"):
        MODEL.measure(X[TEST], y, groups=np.zeros((len(y), 2)))


def test_a_certified_rule_reports_its_precision():
    options = {
        "confidence_level": 0.8,
        "cv": 0.5,
        "min_precision": 0.6,
        "min_tpr": 0.6,
    }
    model = clone(MODEL).set_params(**options).fit(X, Y)
    rule = model.rule_
    expected = 0.8 * rule.tpr / (0.8 * rule.tpr + 0.2 * rule.fpr)
    assert rule.precision == pytest.approx(expected)


def test_ends_of_the_fpr_of_a_mixture_are_shares_in_order():
    for rejected in (90, 10):
        is_wild = np.arange(200) >= 100
        flags = np.where(is_wild, np.arange(200) % 100 >= rejected, np.arange(200) < 0)
        flags[:rejected] = True
        fpr = measure_rule(
            flags,
            np.zeros(200),
            np.zeros(200, dtype=bool),
            is_wild,
            confidence_level=0.9,
            ood_prior=None,
            wild_share=0.2,
            bound="binomial",
            max_loss=1.0,
        ).fpr
        assert 0 <= fpr.low <= fpr.high <= 1
