"""A bound on failures, asked of selective estimators."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs, make_regression
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import solve_target_failure_rate

X, y = make_blobs(300, 6, centers=3, cluster_std=7.0, random_state=1)
NAMES = np.array(["ash", "birch", "cedar"])[y]
X_REG, Y_REG = make_regression(120, 4, noise=20, random_state=0)


def make(target=0.05, **options):
    options = {"cv": 0.4, "random_state": 0} | options
    return SelectiveClassifier(GaussianNB(), target_failure_rate=target, **options)


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return function(*args, **kwargs)


@pytest.mark.parametrize("confidence_level", [None, 0.8])
@pytest.mark.parametrize("labels", [y, NAMES], ids=["ints", "strings"])
def test_rule_is_that_of_the_solver(labels, confidence_level):
    selective = make(confidence_level=confidence_level).fit(X, labels)
    found = selective.calibration_
    rule = solve_target_failure_rate(
        found.scores,
        found.losses,
        0.05,
        confidence_level=confidence_level,
        draws=found.draws,
    )
    assert selective.rule_ == rule
    certificate = rule.certificate
    assert (certificate.quantity, certificate.target) == ("failure_rate", 0.05)
    assert certificate.confidence_level == confidence_level
    assert 0 < rule.failure_rate <= 0.05
    assert 0 < rule.coverage < 1


def test_a_share_is_held_out_as_samples_are_drawn():
    # A class by class one would not be exchangeable with a sample to come.
    average = make().fit(X, y)
    certain = make(confidence_level=0.8).fit(X, y)
    np.testing.assert_array_equal(average.calibration_.rows, certain.calibration_.rows)
    assert average.retarget(confidence_level=0.8).rule_ == certain.rule_
    by_class = SelectiveClassifier(
        GaussianNB(), target_risk=0.1, cv=0.4, random_state=0
    ).fit(X, y)
    counts = np.bincount(by_class.calibration_.labels)
    assert np.ptp(counts) <= 1 < np.ptp(np.bincount(average.calibration_.labels))


def test_few_samples_are_infeasible():
    few = make(0.005)
    with pytest.raises(InfeasibleTargetError, match="wrong: 199 are needed") as caught:
        few.fit(X, y)
    rule = few.set_params(**caught.value.attainable).fit(X, y).rule_
    assert rule.certificate.target == pytest.approx(1 / 121, rel=1e-5)
    assert rule.coverage > 0
    few.set_params(confidence_level=0.9)
    with pytest.raises(InfeasibleTargetError, match=r"guaranteed is 0\.019") as e:
        few.fit(X, y)
    rule = few.set_params(**e.value.attainable).fit(X, y).rule_
    assert rule.certificate.confidence_level == 0.9


def no_order(estimator, X):
    return np.zeros(len(X))


def test_nothing_accepted_is_told_of():
    # All samples tie, and are more than may be accepted.
    selective = make(0.02, randomize=False, uncertainty_score=no_order)
    with pytest.warns(RejectionWarning, match="No calibration sample is accepted"):
        selective.fit(X, y)
    assert not selective.accept(X).any()


def test_weights_are_refused_before_anything_is_fitted():
    with pytest.raises(ValueError, match="target_failure_rate cannot be combined with"):
        make().fit(X, y, sample_weight=np.ones(300))
    with config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True)
        selective = SelectiveClassifier(
            model, target_failure_rate=0.05, cv=0.4, random_state=0
        ).set_fit_request(sample_weight=False)
        assert quietly(selective.fit, X, y).rule_.coverage > 0


def test_no_bound_at_the_largest_loss():
    with pytest.warns(RejectionWarning, match="no rule has a larger failure rate"):
        assert make(1.0).fit(X, y).rule_.coverage == 1


def test_largest_loss_is_needed_with_and_without_confidence():
    for confidence_level in (None, 0.9):
        selective = make(loss="absolute", confidence_level=confidence_level)
        with pytest.raises(
            ValueError, match=r"max_loss is needed to (promise|certify)"
        ):
            selective.fit(X, y)
        assert not hasattr(selective, "estimator_")


@pytest.mark.parametrize("confidence_level", [None, 0.9])
def test_regressor(confidence_level):
    options = {"loss": "absolute", "cv": 0.5, "random_state": 0}
    options["confidence_level"] = confidence_level
    with pytest.raises(ValueError, match="max_loss is needed"):
        SelectiveRegressor(Ridge(), target_failure_rate=8, **options).fit(X_REG, Y_REG)
    selective = SelectiveRegressor(
        Ridge(), target_failure_rate=15, max_loss=150, **options
    )
    rule = quietly(selective.fit, X_REG, Y_REG).rule_
    assert 0 < rule.failure_rate <= 15
    assert 0 < rule.coverage < 1
    with pytest.raises(ValueError, match="clip the losses"):
        selective.set_params(max_loss=16).fit(X_REG, Y_REG)


@pytest.mark.parametrize("confidence_level", [None, 0.8])
def test_groups_have_rules_of_their_own(confidence_level):
    selective = make(
        0.1, group_by="prediction", confidence_level=confidence_level, cv=0.5
    )
    quietly(selective.fit, X, y)
    found = selective.calibration_
    rule = quietly(
        solve_target_failure_rate,
        found.scores,
        found.losses,
        0.1,
        groups=found.predictions,
        all_groups=selective.classes_,
        confidence_level=confidence_level,
        draws=found.draws,
    )
    assert selective.rule_.rules == rule.rules
    targets = {0: 0.1, 1: 0.12, 2: 0.2}
    few = quietly(selective.retarget, target_failure_rate=targets)
    assert few.rule_.rules[0].certificate.target == 0.1
    whole = few.accept(X)
    rows = [few.accept(X[[row]])[0] for row in range(0, 300, 11)]
    np.testing.assert_array_equal(rows, whole[::11])
    if confidence_level is None:
        assert few.accept(X, keys=np.arange(300)).any()
    else:
        with pytest.raises(ValueError, match="keys cannot be combined"):
            few.accept(X, keys=np.arange(300))
