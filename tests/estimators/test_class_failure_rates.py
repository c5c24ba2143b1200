"""A bound on the failures of each true class, asked of a selective classifier."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import solve_failure_bounds

X, y = make_blobs(300, 6, centers=3, cluster_std=7.0, random_state=1)
NAMES = np.array(["ash", "birch", "cedar"])[y]
NAME = "target_failure_rate"


def make(target=0.06, **options):
    options = {"cv": 0.5, "random_state": 0, "group_by": "class"} | options
    return SelectiveClassifier(GaussianNB(), target_failure_rate=target, **options)


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return function(*args, **kwargs)


@pytest.mark.parametrize("confidence_level", [None, 0.8])
@pytest.mark.parametrize("labels", [y, y - 1, NAMES], ids=["ints", "minus", "strings"])
def test_rule_is_that_of_the_arrays(labels, confidence_level):
    fitted = make(confidence_level=confidence_level).fit(X, labels)
    found, classes = fitted.calibration_, fitted.classes_.tolist()
    rule = solve_failure_bounds(
        found.scores,
        found.losses,
        {NAME: (found.labels, dict.fromkeys(classes, 0.06))},
        confidence_level=confidence_level,
        draws=found.draws,
    )
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
    fitted = make({"birch": 0.05}).fit(X, NAMES)
    assert list(fitted.bounds_) == [(NAME, "birch")]
    found = fitted.calibration_
    rows = found.labels == "birch"
    alone = solve_failure_bounds(
        found.scores[rows], found.losses[rows], {"all": (rows[rows], {True: 0.05})}
    )
    assert fitted.rule_.threshold == alone.threshold


def test_a_class_without_calibration_samples():
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    two = y < 2
    model = SelectiveClassifier(frozen, target_failure_rate=0.06, group_by="class")
    with pytest.raises(
        InfeasibleTargetError,
        match=r"1 of 3 .*target_failure_rate\[2\] has 0 of the 16 samples",
    ) as caught:
        model.fit(X[two], y[two])
    left_out = clone(model).set_params(target_failure_rate={0: 0.06, 1: 0.06})
    left_out.fit(X[two], y[two])
    assert caught.value.attainable == {NAME: {0: 0.06, 1: 0.06, 2: 1.0}}
    model.set_params(**caught.value.attainable).fit(X[two], y[two])
    assert model.rule_.threshold == left_out.rule_.threshold
    assert np.isnan(model.bounds_[NAME, 2].achieved)
    assert model.bounds_[NAME, 2].n_samples == 0


def test_few_samples_are_infeasible():
    model = make({0: 0.01, 1: 0.1})
    with pytest.raises(
        InfeasibleTargetError, match=r"rate\[0\] has 50 of the 99 "
    ) as e:
        model.fit(X, y)
    rule = model.set_params(**e.value.attainable).fit(X, y).rule_
    assert rule.certificate.targets == (pytest.approx(1 / 51, rel=1e-5), 0.1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"target": {5: 0.1}}, f"{NAME} has a bound for 5, which is not one of"),
        ({"target": {}}, f"{NAME} is an empty dict"),
        ({"target": {0: 0}}, f"{NAME} of .*0 must be in"),
        ({"target": 0}, f"{NAME} must be in"),
        ({"loss": "absolute"}, f"max_loss is needed to promise a {NAME}"),
        ({"confidence_level": 0.9, "cv": 5}, "leaves none"),
        ({"cv": "plug_in"}, f"cannot be combined with {NAME}=0.06 and uncertainty"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_bad_parameters(options, match):
    with pytest.raises(ValueError, match=match):
        make(**options).fit(X, y)


def test_weights_are_refused():
    with pytest.raises(ValueError, match=f"{NAME} cannot be combined with samp"):
        make().fit(X, y, sample_weight=np.ones(300))


def test_other_losses():
    loss = [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    twice, once = make(0.12, loss=loss).fit(X, y), make(0.06).fit(X, y)
    assert twice.rule_.coverage == pytest.approx(once.rule_.coverage)
    fitted = quietly(make(0.2, loss="absolute", max_loss=2.0).fit, X, y)
    assert all(each.achieved <= 0.2 for each in fitted.bounds_.values())


def test_no_bound_at_the_largest_loss():
    with pytest.warns(RejectionWarning, match="no rule has a larger failure rate"):
        assert make(1.0).fit(X, y).rule_.coverage == 1
    assert make({0: 1.0, 1: 0.06}).fit(X, y).rule_.coverage < 1
