"""A bound on failures, of all samples or of each true class."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_regression
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import solve_failure_bounds, solve_target_failure_rate

X, y = make_blobs(300, 6, centers=3, cluster_std=7.0, random_state=1)
NAMES = np.array(["ash", "birch", "cedar"])[y]
NAME = "target_failure_rate"
X_REG, Y_REG = make_regression(120, 4, noise=20, random_state=0)


def make(target=0.05, **options):
    options = {"cv": 0.4, "random_state": 0} | options
    return SelectiveClassifier(GaussianNB(), target_failure_rate=target, **options)


def of_classes(target=0.06, **options):
    return make(target, **{"cv": 0.5, "group_by": "class"} | options)


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return function(*args, **kwargs)


@pytest.mark.parametrize("confidence_level", [None, 0.8])
def test_rule_is_that_of_the_solver(confidence_level):
    selective = make(confidence_level=confidence_level).fit(X, y)
    found = selective.calibration_
    options = {"confidence_level": confidence_level, "draws": found.draws}
    rule = solve_target_failure_rate(found.scores, found.losses, 0.05, **options)
    assert selective.rule_ == rule
    certificate = rule.certificate
    assert (certificate.quantity, certificate.target) == ("failure_rate", 0.05)
    assert certificate.confidence_level == confidence_level
    assert 0 < rule.failure_rate <= 0.05
    assert 0 < rule.coverage < 1


@pytest.mark.parametrize("confidence_level", [None, 0.8])
@pytest.mark.parametrize("labels", [y, y - 1, NAMES], ids=["ints", "minus", "strings"])
def test_rule_of_classes_is_that_of_the_solver(labels, confidence_level):
    fitted = of_classes(confidence_level=confidence_level).fit(X, labels)
    found, classes = fitted.calibration_, fitted.classes_.tolist()
    bounds = {NAME: (found.labels, dict.fromkeys(classes, 0.06))}
    options = {"confidence_level": confidence_level, "draws": found.draws}
    rule = solve_failure_bounds(found.scores, found.losses, bounds, **options)
    assert fitted.rule_ == rule
    assert rule.certificate.parts == tuple(f"{NAME}[{label!r}]" for label in classes)
    lost = found.losses * rule.accept_proba(found.scores)
    assert list(fitted.bounds_) == [(NAME, label) for label in classes]
    for (_, label), each in fitted.bounds_.items():
        rows = found.labels == label
        assert each.achieved == pytest.approx(lost[rows].mean())
        assert each.achieved <= each.bound == 0.06
        assert each.n_samples == rows.sum()
    assert fitted.group_by_ == "class"
    assert pickle.loads(pickle.dumps(fitted)).rule_ == rule


def test_classes_without_a_target_have_no_bound():
    fitted = of_classes({"birch": 0.05}).fit(X, NAMES)
    assert list(fitted.bounds_) == [(NAME, "birch")]
    found = fitted.calibration_
    rows = found.labels == "birch"
    alone = solve_failure_bounds(
        found.scores[rows], found.losses[rows], {"all": (rows[rows], {True: 0.05})}
    )
    assert fitted.rule_.threshold == alone.threshold


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


def no_order(estimator, X):
    return np.zeros(len(X))


def test_nothing_accepted_is_told_of():
    # All samples tie, and are more than may be accepted.
    selective = make(0.02, randomize=False, uncertainty_score=no_order)
    with pytest.warns(RejectionWarning, match="No calibration sample is accepted"):
        selective.fit(X, y)
    assert not selective.accept(X).any()


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


# What cannot be had


def test_a_class_without_calibration_samples():
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    two = y < 2
    model = SelectiveClassifier(frozen, target_failure_rate=0.06, group_by="class")
    with pytest.raises(
        InfeasibleTargetError,
        match=r"^0 samples of target_failure_rate\[2\] .*at least 16 are",
    ) as caught:
        model.fit(X[two], y[two])
    left_out = clone(model).set_params(target_failure_rate={0: 0.06, 1: 0.06})
    left_out.fit(X[two], y[two])
    assert caught.value.attainable == {NAME: {0: 0.06, 1: 0.06, 2: 1.0}}
    model.set_params(**caught.value.attainable).fit(X[two], y[two])
    assert model.rule_.threshold == left_out.rule_.threshold
    assert np.isnan(model.bounds_[NAME, 2].achieved)
    assert model.bounds_[NAME, 2].n_samples == 0


def test_classes_of_few_samples_are_infeasible():
    model = of_classes({0: 0.01, 1: 0.1})
    message = r"50 samples of target_failure_rate\[0\] .*at least 99 are"
    with pytest.raises(InfeasibleTargetError, match=message) as caught:
        model.fit(X, y)
    rule = model.set_params(**caught.value.attainable).fit(X, y).rule_
    assert rule.certificate.targets == (pytest.approx(1 / 51, rel=1e-5), 0.1)


@pytest.mark.parametrize(
    ("model", "weight", "message"),
    [
        (of_classes({5: 0.1}), None, f"{NAME} has a bound for 5, which is not one of"),
        (of_classes({}), None, f"{NAME} is an empty dict"),
        (of_classes({0: 0}), None, f"{NAME} of .*0 must be in"),
        (of_classes(0), None, f"{NAME} must be in"),
        (of_classes(loss="absolute"), None, f"max_loss is needed to promise a {NAME}"),
        (of_classes(confidence_level=0.9, cv=5), None, "leaves none"),
        (
            of_classes(cv="plug_in"),
            None,
            f"and not {NAME}=0.06 with uncertainty",
        ),
        (of_classes(), np.ones(300), f"{NAME} cannot be combined with samp"),
        (make(), np.ones(300), f"{NAME} cannot be combined with samp"),
        (make(loss="absolute"), None, "max_loss is needed to promise"),
        (
            make(loss="absolute", confidence_level=0.9),
            None,
            "max_loss is needed to certify",
        ),
    ],
)
def test_errors(model, weight, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weight)
    assert not hasattr(model, "estimator_")


def test_weights_that_go_to_the_classifier_alone():
    with config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        selective = make().set_params(estimator=inner)
        selective.set_fit_request(sample_weight=False)
        quietly(selective.fit, X, y, sample_weight=np.ones(300))
    assert selective.rule_.coverage > 0


def test_other_losses():
    loss = [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    twice, once = of_classes(0.12, loss=loss).fit(X, y), of_classes(0.06).fit(X, y)
    assert twice.rule_.coverage == pytest.approx(once.rule_.coverage)
    fitted = quietly(of_classes(0.2, loss="absolute", max_loss=2.0).fit, X, y)
    assert all(each.achieved <= 0.2 for each in fitted.bounds_.values())


def test_no_bound_at_the_largest_loss():
    for model in (make(1.0), of_classes(1.0)):
        with pytest.warns(RejectionWarning, match="no rule has a larger failure rate"):
            assert model.fit(X, y).rule_.coverage == 1
    assert of_classes({0: 1.0, 1: 0.06}).fit(X, y).rule_.coverage < 1
