"""Precision and recall of what is accepted, bounded by one threshold."""

import pickle
import re

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import precision_score, recall_score
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import AchievedBound, SelectiveClassifier
from sklearn_reject.selection import RiskBoundsCertificate, solve_risk_bounds

X, y = make_classification(1500, flip_y=0.05, weights=[0.7], random_state=0)
X3, y3 = make_classification(
    900, n_classes=3, n_informative=4, class_sep=1.5, random_state=0
)
LABELS = {
    "minus": np.array([-1, 1]),
    "floats": np.array([0.0, 1.0]),
    "flags": np.array([False, True]),
}


def selective(*, random_state=0, **params):
    return SelectiveClassifier(GaussianNB(), random_state=random_state, **params)


def expected_rates(fitted, y_true=None):
    """Return precision and recall of each class, samples weighted by acceptance."""
    found = fitted.calibration_
    weight = fitted.rule_.accept_proba(found.scores)
    y_true = found.labels if y_true is None else y_true
    options = {"average": None, "sample_weight": weight, "zero_division": np.nan}
    return (
        precision_score(y_true, found.predictions, **options),
        recall_score(y_true, found.predictions, **options),
    )


def test_bounds_hold_as_scikit_learn_counts_them():
    bounds = {"min_precision": {0: 0.96, 1: 0.9}, "min_recall": {0: 0.9, 1: 0.93}}
    fitted = selective(**bounds).fit(X, y)
    rates = dict(zip(bounds, expected_rates(fitted), strict=True))
    assert 0 < fitted.rule_.coverage < 1
    tightest = []
    for (name, label), found in fitted.bounds_.items():
        assert isinstance(found, AchievedBound)
        assert found.bound == bounds[name][label]
        assert found.achieved == pytest.approx(rates[name][label])
        assert found.achieved >= found.bound - 1e-12
        tightest.append(found.achieved - found.bound)
    assert min(tightest) == pytest.approx(0, abs=1e-12)
    assert len(fitted.bounds_) == 4


def test_rule_is_that_of_the_arrays():
    fitted = selective(min_recall={0: 0.95, 1: 0.9}, min_precision=0.9).fit(X, y)
    found = fitted.calibration_
    bounds = {
        "true": (found.labels, {0: 0.05, 1: 0.1}),
        "predicted": (found.predictions, {1: 0.1}),
    }
    rule = solve_risk_bounds(found.scores, found.losses, bounds)
    assert rule.threshold == fitted.rule_.threshold
    assert rule.coverage == pytest.approx(fitted.rule_.coverage)


@pytest.mark.parametrize("kind", LABELS)
def test_a_number_is_for_the_positive_class_whatever_its_label(kind):
    classes = LABELS[kind]
    labels = classes[y]
    fitted = selective(min_precision=0.95, min_recall=0.9).fit(X, labels)
    positive = classes.tolist()[1]
    assert list(fitted.bounds_) == [
        ("min_precision", positive),
        ("min_recall", positive),
    ]
    by_dict = selective(min_precision={positive: 0.95}, min_recall={positive: 0.9})
    assert by_dict.fit(X, labels).rule_ == fitted.rule_
    plain = selective(min_precision=0.95, min_recall=0.9).fit(X, y)
    assert plain.rule_.coverage == pytest.approx(fitted.rule_.coverage)


def test_certified_bounds():
    fitted = selective(
        min_precision={1: 0.8},
        min_recall={0: 0.85, 1: 0.7},
        confidence_level=0.9,
        cv=0.6,
    ).fit(X, y)
    certificate = fitted.rule_.certificate
    assert isinstance(certificate, RiskBoundsCertificate)
    assert certificate.parts == ("1 - precision[1]", "1 - recall[0]", "1 - recall[1]")
    assert certificate.targets == pytest.approx((0.2, 0.15, 0.3))
    assert certificate.bound == "binomial"
    assert max(certificate.p_values) <= 0.1
    accepted = fitted.accept(X[fitted.calibration_.rows])
    assert accepted.sum() == certificate.n_accepted
    assert pickle.loads(pickle.dumps(fitted)).rule_ == fitted.rule_


# Risk of each true class


@pytest.mark.parametrize(
    "loss", ["zero_one", [[0, 1, 2], [1, 0, 1], [1, 1, 0]]], ids=str
)
def test_risk_of_each_true_class(loss):
    fitted = selective(target_risk=0.12, group_by="class", loss=loss).fit(X3, y3)
    found = fitted.calibration_
    accepted = fitted.rule_.accept_proba(found.scores)
    risks = []
    for label in range(3):
        rows = found.labels == label
        risks.append(np.average(found.losses[rows], weights=accepted[rows]))
        achieved = fitted.bounds_["target_risk", label]
        assert achieved.achieved == pytest.approx(risks[-1])
        assert achieved.bound == 0.12
    assert max(risks) == pytest.approx(0.12)
    assert fitted.group_by_ == "class"
    assert fitted.accept(X3).shape == (900,)


def test_recall_is_one_minus_the_risk_of_a_true_class():
    bounds = {0: 0.05, 2: 0.1}
    by_class = selective(target_risk=bounds, group_by="class").fit(X3, y3)
    recall = selective(min_recall={0: 0.95, 2: 0.9}).fit(X3, y3)
    assert by_class.rule_.coverage == pytest.approx(recall.rule_.coverage)
    assert by_class.rule_.threshold == recall.rule_.threshold
    assert set(by_class.bounds_) == {("target_risk", 0), ("target_risk", 2)}


def test_certified_risk_of_each_true_class():
    params = {"target_risk": {0: 0.15, 1: 0.3}, "group_by": "class"}
    fitted = selective(confidence_level=0.9, cv=0.6, **params).fit(X, y)
    certificate = fitted.rule_.certificate
    assert certificate.parts == ("target_risk[0]", "target_risk[1]")
    assert certificate.targets == (0.15, 0.3)
    assert fitted.retarget(group_by=None, target_risk=0.2).bounds_ is None


# What cannot be had


CERTIFIED = {"confidence_level": 0.9, "cv": 0.5}
BY_CLASS = {"group_by": "class"}


@pytest.mark.parametrize(
    ("params", "match"),
    [
        *(
            (BY_CLASS | params, match)
            for params, match in (
                ({"target_coverage": 0.5}, "target_risk or .*, got target_coverage"),
                ({"reject_cost": 0.2}, "target_risk or .*, got reject_cost=0.2"),
                ({}, "target_risk or .*, got reject_cost=0.5"),
                ({"min_recall": 0.9}, "cannot be combined with min_recall=0.9"),
                ({"target_risk": {5: 0.1}}, "has a bound for 5, which is not one"),
                ({"target_risk": {0: -0.1}}, r"target_risk of .*0 must be in \[0, inf"),
                (
                    {"target_risk": {0: 0}} | CERTIFIED,
                    "of target_risk.0. cannot certify the target risk 0",
                ),
                ({"target_risk": 0.1, "cv": "plug_in"}, "not target_risk"),
            )
        ),
        ({"min_recall": 0.9, "group_by": "prediction"}, "Pass group_by=None, or a"),
        ({"min_recall": [0.9, 0.8]}, "must be a number or a dict class"),
        ({"min_recall": {2: 0.9}}, "min_recall has a bound for 2, which is not one of"),
        (
            {"min_recall": {"1": 0.9}},
            "has a bound for '1', which is not one of the classes",
        ),
        ({"min_recall": 1.2}, r"min_recall must be in \]0, 1\], got 1.2"),
        ({"min_recall": {0: 0.0}}, r"min_recall of 0 must be in \]0, 1\]"),
        ({"min_precision": "high"}, "min_precision must be a number"),
        ({"min_precision": {}}, "min_precision is an empty dict"),
        ({"min_recall": 0.9, "target_risk": 0.1}, "min_recall may be"),
        ({"min_recall": 0.9, "reject_cost": 0.1}, "At most one of"),
        ({"min_recall": 0.9, "loss": [[0, 1], [2, 0]]}, "Use loss='zero_one'"),
        ({"min_recall": 0.9, "loss": "absolute"}, "Use loss='zero_one'"),
        ({"min_recall": 0.9, "cv": "plug_in"}, "not min_recall=0.9"),
        ({"min_recall": 0.9} | CERTIFIED | {"cv": 5}, "leaves none"),
        (
            {"min_recall": {0: 1.0}} | CERTIFIED,
            r"of 1 - recall\[0\] cannot certify the target risk 0",
        ),
        ({"min_recall": 0.8} | CERTIFIED | {"weight": np.ones(1500)}, "weight"),
    ],
    ids=str,
)
def test_bad_parameters(params, match):
    params = dict(params)
    weight = params.pop("weight", None)
    model = selective(**params)
    with pytest.raises(ValueError, match=match):
        model.fit(X, y, sample_weight=weight)
    assert not hasattr(model, "rule_")


def test_a_number_needs_two_classes():
    with pytest.raises(ValueError, match=r"Pass a dict.*min_recall=\{2: 0.9\}"):
        selective(min_recall=0.9).fit(X3, y3)
    one = FrozenEstimator(GaussianNB().fit(X[:5], np.zeros(5)))
    with pytest.raises(ValueError, match=r"positive class, .* classes are 0\.0"):
        SelectiveClassifier(one, min_recall=0.9).fit(X[:5], np.zeros(5))


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["benign", "malignant"]),
        np.array(["benign", "malignant"], dtype=object),
        np.array(["0", "1"]),
        np.array([1, 2]),
    ],
    ids=["text", "objects", "digits", "numbers"],
)
def test_a_number_needs_labels_that_tell_which_is_positive(labels):
    second = labels.tolist()[1]
    way_out = re.escape(f"min_recall={{{second!r}: 0.9}}")
    with pytest.raises(ValueError, match=f"is known of.*{way_out}"):
        selective(min_recall=0.9).fit(X, labels[y])
    by_dict = selective(min_recall={second: 0.9}).fit(X, labels[y])
    assert by_dict.rule_ == selective(min_recall=0.9).fit(X, y).rule_
