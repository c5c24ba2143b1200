"""Estimators of samples that count unequally, or are labelled by chance.

Solvers of these are in tests/selection/test_sample.py, and clusters by themselves in
test_clusters.py.
"""

import pickle
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier, SelectiveRegressor
from sklearn_reject.selection import solve_target_failure_rate, solve_target_risk
from tests.estimators.test_clusters import (
    IS_KNOWN,
    NAMES,
    POINTS,
    PROBA,
    RNG,
    N,
    X,
    deferring,
    selective,
    y,
)

WEIGHT = np.where(RNG.random(N) < 2 / 3, 0.5, 2.0)
Y_KNOWN = np.where(IS_KNOWN, y, np.nan)
AUDIT = {"inclusion_proba": PROBA}
CLASSIFIERS = pytest.mark.parametrize("make", [selective, deferring])


def test_splits_that_are_given_are_of_all_samples():
    splits = [(np.arange(200, N), np.arange(200))]
    with pytest.raises(ValueError, match="cv has splits of rows, of which those"):
        selective(cv=splits).fit(X, Y_KNOWN, **AUDIT)
    selective(cv=splits).fit(X, y)


def test_failure_rates_need_rows_without_a_label():
    rates = {"target_risk": None, "target_failure_rate": 0.25, "max_weight": 4.0}
    with pytest.raises(ValueError, match=r"counts rows without a label.*solve_"):
        selective(**rates).fit(X, Y_KNOWN, **AUDIT)


FROZEN = FrozenEstimator(GaussianNB().fit(POINTS[:80], y[:80]))
ALL = {"sample_weight": WEIGHT, "groups": NAMES, "inclusion_proba": PROBA}
KINDS = [[], ["sample_weight"], ["groups"], ["sample_weight", "groups"]]
AUDITS = [["inclusion_proba"], [*ALL]]
SOLVERS = {
    "target_risk": solve_target_risk,
    "target_failure_rate": solve_target_failure_rate,
}


@pytest.mark.parametrize(
    ("target", "names", "level"),
    [
        *product(SOLVERS, KINDS, (None, 0.8)),
        # Of a risk, other thresholds are tested without rows that have no label.
        *product(["target_risk"], AUDITS, (None,)),
    ],
)
def test_rules_are_those_of_the_solver(target, names, level):
    points, labels = POINTS[80:], (Y_KNOWN if "inclusion_proba" in names else y)[80:]
    options = {name: ALL[name][80:] for name in names}
    params = {"confidence_level": level, "max_weight": 4.0, "randomize": False}
    model = SelectiveClassifier(FROZEN, **{target: 0.25}, **params, random_state=0)
    rule = model.fit(points, labels, **options).rule_
    if "groups" in options:
        options["clusters"] = options.pop("groups")
    scores = 1 - FROZEN.predict_proba(points).max(axis=1)
    losses = np.where(np.isnan(labels), np.nan, FROZEN.predict(points) != labels)
    bound = {"random_state": model.seed_, "bound": "betting" if names else "binomial"}
    solve = partial(SOLVERS[target], scores, losses, 0.25, **options, **params)
    expected = solve(**bound)
    np.testing.assert_array_equal(rule.accept(scores), expected.accept(scores))
    assert rule.accept(scores).any()
    if level is not None:
        p_value = pytest.approx(expected.certificate.p_value, rel=1e-9)
        assert rule.certificate.p_value == p_value
        assert rule.certificate.n_samples == expected.certificate.n_samples


@CLASSIFIERS
def test_the_largest_weight_is_that_of_all_that_can_be_drawn(make):
    model = make(confidence_level=0.8)
    words = "confidence_level needs max_weight with sample_weight or inclusion_proba"
    for options in ({"sample_weight": WEIGHT}, {"inclusion_proba": PROBA}):
        labels = Y_KNOWN if "inclusion_proba" in options else y
        with pytest.raises(ValueError, match=words):
            model.fit(X, labels, **options)
        with pytest.raises(ValueError, match=r"max_weight=1.05 is exceeded"):
            clone(model).set_params(max_weight=1.05).fit(X, labels, **options)
    # One row of ten is labelled, and stands for all of them.
    rows = np.arange(N) % 10 == 3
    options = {"inclusion_proba": np.full(N, 0.1), "groups": np.arange(N) // 10}
    with pytest.raises(ValueError, match=r"max_weight=2 is exceeded by the .* 10 in"):
        clone(model).set_params(max_weight=2).fit(
            X, np.where(rows, y, np.nan), **options
        )


@CLASSIFIERS
@pytest.mark.parametrize("kind", ["None", "text", "frame", "list"])
def test_labels_that_are_missing_in_every_way(make, kind):
    texts = np.array(["no", "yes"], dtype=object)[y]
    labels = np.where(IS_KNOWN, y if kind == "None" else texts, None)
    same = make().fit(X, Y_KNOWN, groups=NAMES, **AUDIT)
    data, options = X, {"groups": NAMES, "inclusion_proba": PROBA}
    if kind == "frame":
        index = np.arange(N)[::-1]
        labels = pd.Series(labels, index=index)
        options = {name: pd.Series(x, index=index) for name, x in options.items()}
    elif kind == "list":
        labels = labels.tolist()
        options = {name: x.tolist() for name, x in options.items()}
    model = make().fit(data, labels, **options)
    assert model.classes_.tolist() == ([0, 1] if kind == "None" else ["no", "yes"])
    assert model.rule_ == same.rule_
    with pytest.raises(ValueError, match=r"NaN|missing|no label"):
        make().fit(data, labels, groups=NAMES)


@CLASSIFIERS
def test_a_uniform_audit_is_a_fit_on_labelled_rows(make):
    labels = np.where(np.arange(N) % 2, np.nan, y)
    audit = make(confidence_level=0.6).fit(X, labels, inclusion_proba=0.5)
    model = make(confidence_level=0.6).fit(X[::2], y[::2])
    assert audit.rule_ == model.rule_
    options = {"inclusion_proba": 0.5, "groups": NAMES}
    sure = make(confidence_level=0.3, target_risk=0.6, max_weight=2)
    assert sure.fit(X, labels, **options).rule_


def test_copies_and_other_targets_of_the_same_sample():
    params = {"confidence_level": 0.7, "max_weight": 4.0, "cv": 0.5}
    options = {"sample_weight": WEIGHT, "groups": NAMES} | AUDIT
    model = selective(**params).fit(X, Y_KNOWN, **options)
    kept = model.calibration_
    again = clone(model).fit(X, Y_KNOWN, **options)
    assert again.rule_ == model.rule_
    restored = pickle.loads(pickle.dumps(model))
    for change in (
        {"target_risk": 0.3},
        {"max_weight": 8.0},
        {"confidence_level": None},
    ):
        other = restored.retarget(**change)
        same = selective(**(params | change)).fit(X, Y_KNOWN, **options)
        assert other.rule_ == same.rule_
        np.testing.assert_array_equal(
            other.calibration_.clusters.sizes, kept.clusters.sizes
        )
    for bad, words in ((None, "needs max_weight"), (0.4, "max_weight=0.4 is exceeded")):
        with pytest.raises(ValueError, match=words):
            model.retarget(max_weight=bad)


@CLASSIFIERS
def test_reports_weigh_labelled_rows_and_take_account_of_clusters(make):
    model = make().fit(X[:300], y[:300], groups=NAMES[:300])
    new, labels, options = X[300:], Y_KNOWN[300:], {"inclusion_proba": PROBA[300:]}
    report = model.report(new, labels, **options)
    is_known = IS_KNOWN[300:]
    weight = (1 / PROBA[300:])[is_known]
    same = model.report(new[is_known], y[300:][is_known], sample_weight=weight)
    assert report.to_dict() == same.to_dict()
    twice = np.repeat(np.arange(300), 2)
    repeated = model.report(new[twice], y[300:][twice], groups=twice)
    once = model.report(new, y[300:], groups=np.arange(300))
    risks = [x.to_dict()["parts"][0]["risk"] for x in (repeated, once)]
    for end in ("value", "low", "high"):
        assert risks[0][end] == pytest.approx(risks[1][end], rel=1e-9)
    for bad in (NAMES[:5], NAMES[300:].reshape(-1, 1), np.full(300, None)):
        with pytest.raises(ValueError, match="groups "):
            model.report(new, y[300:], groups=bad)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("columns", [1, 2])
def test_labels_in_columns(columns):
    labels = np.repeat(Y_KNOWN[:, None], columns, axis=1)
    model = SelectiveRegressor(LinearRegression(), target_risk=0.3, random_state=0)
    model.fit(X, labels, **AUDIT)
    same = clone(model).fit(X, labels[:, 0] if columns == 1 else labels, **AUDIT)
    assert model.rule_ == same.rule_
    assert 0 < model.rule_.coverage <= 1


@pytest.mark.filterwarnings("ignore:0 of 600 losses are known")
def test_without_any_label_that_is_what_is_said():
    nothing = np.full(N, np.nan)
    with pytest.raises(ValueError, match="label"):
        selective().fit(X, nothing, **AUDIT)
    with pytest.raises(ValueError, match="label"):
        selective().fit(X, y).report(X, nothing, **AUDIT)
