"""Another target without another fit gives what another fit would give."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier, SelectiveRegressor
from sklearn_reject.scores import Mahalanobis
from tests.estimators import models
from tests.estimators.models import CLASSIFIER, DEFERRING, LOGISTIC

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

CENTERS = [(0, 0), (4, 0), (0, 4), (5, 5)]  # the last one is novel
X, BLOB = make_blobs(400, centers=CENTERS, cluster_std=1.7, random_state=0)
X = np.column_stack([X, np.arange(400) % 2])  # the last column makes two groups
y = np.where(BLOB == 3, 1, BLOB)
WITH_OOD = np.where(BLOB == 3, -1, BLOB)
NUMBERS = X[:, 0] + X[:, 0] * np.sin(np.arange(400))
WEIGHT = np.random.default_rng(0).random(400)


def distance(estimator, X):
    """Order samples by their distance from zero."""
    return np.abs(np.asarray(X)[:, 0])


class LastColumn:
    """A callable that `clone` copies."""

    def __call__(self, X):
        return np.asarray(X)[:, -1]


OF_DISTANCE = {"loss": "absolute", "uncertainty_score": distance}
REGRESSOR = clone(models.REGRESSOR).set_params(**OF_DISTANCE)
DOUBLE = clone(models.DOUBLE).set_params(novelty_score=Mahalanobis())
FROZEN = FrozenEstimator(GaussianNB().fit(X[::3], y[::3]))


def fit(model, **options):
    """Return a fitted copy with other parameters."""
    labels = {SelectiveRegressor: NUMBERS, DoubleScoreOODClassifier: WITH_OOD}
    params = {"sample_weight": WEIGHT} if options.pop("weighted", False) else {}
    model = clone(model).set_params(**options)
    return model.fit(X, labels.get(type(model), y), **params)


COVERAGE = {"target_coverage": 0.9}
WEIGHTED, IN_PARTS = {"weighted": True}, {"cv": 0.5}
SURE, SURER = {"confidence_level": 0.8}, {"confidence_level": 0.9}
HELD = IN_PARTS | SURE
PLACES, PREDICTIONS, CLASSES, ALONE = (
    {"group_by": value} for value in (2, "prediction", "class", None)
)
MARGIN = {"estimator": LOGISTIC, "uncertainty_score": "margin"}
MSP = {"estimator": FROZEN, "novelty_score": "msp"}
COST, RISK = {"reject_cost": 0.3}, {"target_risk": 0.2}
RATES = {"min_tpr": 0.7, "max_fpr": 0.9}
COSTS, PRIOR = {"costs": (0.4, 1.0, 0.1)}, {"ood_prior": 0.3}
RECALL, PRECISION = {"min_recall": {0: 0.8}}, {"min_precision": {1: 0.9}}
FEW = {"max_deferral": 0.2}

# An estimator, options that stay, what is asked of it in `fit`, and what then.
CASES = {
    "cost": (CLASSIFIER, {}, COVERAGE, COST),
    "cost of a margin": (CLASSIFIER, MARGIN, COVERAGE, COST),
    "risk": (CLASSIFIER, WEIGHTED, COVERAGE, RISK),
    "whole ties": (
        CLASSIFIER,
        {"cv": 0.4},
        COVERAGE | {"randomize": True},
        RISK | {"randomize": False},
    ),
    "coverage": (CLASSIFIER, {"estimator": FROZEN}, COST, COVERAGE),
    "certified": (CLASSIFIER, IN_PARTS, COVERAGE | SURE, {"target_risk": 0.5} | SURER),
    "failures": (CLASSIFIER, {"cv": 3}, COVERAGE, {"target_failure_rate": 0.1}),
    "certified failures": (
        CLASSIFIER,
        IN_PARTS | {"target_failure_rate": 0.2},
        {"confidence_level": None},
        SURE,
    ),
    "failures of classes": (
        CLASSIFIER,
        HELD,
        {"target_failure_rate": 0.2} | ALONE,
        {"target_failure_rate": {0: 0.1, 2: 0.2}} | CLASSES,
    ),
    "precision": (CLASSIFIER, {}, COVERAGE, RECALL | PRECISION),
    "recall": (CLASSIFIER, {}, PRECISION, RECALL),
    "risk of classes": (
        CLASSIFIER,
        HELD,
        {"target_coverage": 0.5} | ALONE,
        {"target_risk": {0: 0.4, 1: 0.5}} | CLASSES,
    ),
    "no classes": (CLASSIFIER, RISK, CLASSES, ALONE),
    "group by group": (CLASSIFIER, PLACES, COVERAGE, {"target_risk": {0: 0.1, 1: 0.2}}),
    "groups of predictions": (
        CLASSIFIER,
        HELD | {"target_risk": 0.45},
        PLACES,
        PREDICTIONS,
    ),
    "groups of a function": (CLASSIFIER, RISK, {"group_by": LastColumn()}, ALONE),
    "a function that stays": (CLASSIFIER, {"group_by": LastColumn()}, COVERAGE, RISK),
    "groups of a plain rule": (
        CLASSIFIER,
        PLACES | {"cv": "plug_in"},
        COST,
        {"reject_cost": {0: 0.1, 1: 0.2}},
    ),
    "regressor": (REGRESSOR, {}, COVERAGE, {"target_risk": 1.5}),
    "groups of a regressor": (
        REGRESSOR,
        PLACES,
        COVERAGE,
        {"target_coverage": {0: 0.5, 1: 1.0}},
    ),
    "deferral cost": (DEFERRING, {}, FEW, {"deferral_cost": 0.1}),
    "risk of both": (DEFERRING, {}, FEW, {"target_risk": 0.3}),
    "budgets": (DEFERRING, PLACES, FEW, {"max_deferral": {0: 0.02, 1: 0.3}}),
    "rates": (DOUBLE, PRIOR | {"cv": 3}, COSTS, RATES),
    "TPR": (DOUBLE, WEIGHTED | {"cv": 0.4}, RATES, {"min_tpr": 0.6, "max_fpr": None}),
    "precision of two": (DOUBLE, PRIOR, RATES, {"min_tpr": 0.6, "min_precision": 0.8}),
    "costs": (DOUBLE, PRIOR | MSP, RATES | {"max_fpr": 0.95}, COSTS),
    "certified rates": (
        DOUBLE,
        IN_PARTS | PRIOR,
        RATES | SURER,
        {"min_tpr": 0.6, "min_precision": 0.5} | SURE,
    ),
}


def said(model):
    """Return all bits of a rule, what it attains, the parameters and the decisions."""
    labels = model.predict(X).tolist()
    bounds = getattr(model, "bounds_", None)
    parameters = repr(model).split("group_by=<")[0]  # before a place in memory
    return json.dumps(model.rule_.to_dict()), repr(bounds), parameters, labels


@pytest.mark.parametrize("name", CASES)
def test_retarget_is_another_fit(monkeypatch, name):
    model, options, start, changes = CASES[name]
    first, fresh = fit(model, **options, **start), fit(model, **options, **changes)
    before = said(first)
    for estimator in (GaussianNB, LinearRegression, LogisticRegression):
        monkeypatch.setattr(estimator, "fit", None)
    again = first.retarget(**changes)
    assert said(again) == said(fresh)
    assert json.dumps(again.rule_.to_dict()) != json.dumps(first.rule_.to_dict())
    assert again.estimator_ is first.estimator_
    if "function" not in name:
        assert said(again.retarget(**start)) == said(first)
    assert said(first) == before


def test_what_is_not_given_stays_within_its_model():
    copy = fit(DOUBLE, min_tpr=0.8, max_fpr=0.9)
    names = "min_tpr", "max_fpr", "max_risk", "min_precision", "costs", "ood_prior"
    for target, expected in [
        ({"max_fpr": 0.95}, (0.8, 0.95, None, None, None, None)),
        ({"max_risk": 0.4}, (0.8, None, 0.4, None, None, None)),
        ({"min_precision": 0.5, "ood_prior": 0.1}, (0.8, None, None, 0.5, None, 0.1)),
        ({"min_tpr": 0.7}, (0.7, None, None, 0.5, None, 0.1)),
        ({"costs": (0.4, 1, 0.1)}, (None, None, None, None, (0.4, 1, 0.1), 0.1)),
        ({"min_tpr": 0.5}, (0.5, None, None, None, None, 0.1)),
    ]:
        copy = copy.retarget(**target)
        assert tuple(getattr(copy, name) for name in names) == expected
    certified = fit(CLASSIFIER, **SURER, **IN_PARTS, **COVERAGE)
    assert certified.retarget(target_coverage=0.7).confidence_level == 0.9
    assert certified.retarget(confidence_level=0.8).target_coverage == 0.9
    assert certified.retarget(confidence_level=None).rule_.certificate is None


def test_a_callable_of_groups_is_the_same_in_copies_of_copies():
    first = fit(CLASSIFIER, group_by=LastColumn(), **COVERAGE)
    again = first.retarget(target_coverage=0.7).retarget(**COVERAGE)
    assert repr(again.rule_) == repr(first.rule_)
    np.testing.assert_array_equal(again.predict(X), first.predict(X))


def test_everything_is_shared_but_parameters():
    model = fit(DOUBLE, **RATES)
    copy = model.retarget(min_tpr=0.6)
    for name in ("estimator_", "uncertainty_score_", "novelty_score_", "calibration_"):
        assert getattr(copy, name) is getattr(model, name)
    # What is set inside one is not set in the other.
    copy.set_params(estimator__var_smoothing=0.5, novelty_score__features=1)
    assert model.estimator.var_smoothing == 1e-9
    assert model.novelty_score.features is None


CERTIFIED = IN_PARTS | SURER
# An estimator, what was asked for, what then, and what is said.
ERRORS = [
    (CLASSIFIER, {"cv": "plug_in"}, RISK, "cv='plug_in' compares"),
    *(
        (CLASSIFIER, COVERAGE | start, changes, message)
        for start, changes, message in (
            ({}, RISK | COST, "At most one"),
            ({}, {"loss": "absolute"}, "retarget takes .* got 'loss'"),
            (CERTIFIED, COST, "reject_cost has no bound"),
            ({}, SURER, "held out none, or one drawn class by class"),
            ({"cv": 0.4}, SURER, "held out none, or one drawn class by class"),
            (
                WEIGHTED,
                {"target_failure_rate": 0.1},
                "target_failure_rate needs max_weight",
            ),
            *(
                (PLACES, {"group_by": other}, r"group_by=.* fit again")
                for other in (1, "region", LastColumn())
            ),
            ({}, PLACES, "no groups were"),
            (PLACES, {"target_risk": {0: 0.1}}, "target_risk has no value for 1"),
        )
    ),
    (REGRESSOR, COVERAGE, {"target_risk": 0.4} | SURER, "max_loss is needed"),
    (REGRESSOR, COVERAGE | PLACES, PREDICTIONS, "a regressor has none"),
    (DEFERRING, FEW, {"cv": 3}, "retarget takes deferral_cost"),
    *(
        (DOUBLE, RATES | start, changes, message)
        for start, changes, message in (
            ({}, {"cv": 3}, "retarget takes min_tpr, .* got 'cv'"),
            ({}, {"min_tpr": 0.5} | COSTS, "more than one"),
            ({}, COSTS, "ood_prior is needed"),
            ({}, {"min_tpr": None}, r"max_fpr=0\.9 needs min_tpr"),
            (
                {},
                {"max_risk": 0.5, "max_fpr": 0.3},
                "max_fpr=0.3 and max_risk=0.5 exclude",
            ),
            ({}, {"min_tpr": 1.0, "max_fpr": 0.0}, "min_tpr=1 and max_fpr=0"),
            (
                {},
                SURER,
                "confidence_level=0.9 takes another fit: this one has held "
                "out no .* Fit a clone with this level",
            ),
            (
                CERTIFIED,
                {"confidence_level": None},
                "confidence_level=None takes another .* has held out some samples",
            ),
            (
                PRIOR | CERTIFIED,
                COSTS,
                r"confidence_level=0\.9 needs bounds",
            ),
            (CERTIFIED, {"min_tpr": 0.999}, "cannot certify"),
        )
    ),
]


@pytest.mark.parametrize(("model", "start", "changes", "message"), ERRORS)
def test_errors(model, start, changes, message):
    fitted = fit(model, **start)
    before = said(fitted)
    with pytest.raises((ValueError, TypeError), match=message):
        fitted.retarget(**changes)
    assert said(fitted) == before
    with pytest.raises(NotFittedError):
        clone(fitted).retarget(**changes)


def test_targets_that_need_ood_samples():
    inside = WITH_OOD >= 0
    model = clone(DOUBLE).set_params(min_tpr=0.7).fit(X[inside], WITH_OOD[inside])
    with pytest.raises(ValueError, match=r"is_ood is False .* max_fpr=0.5 needs"):
        model.retarget(max_fpr=0.5)
