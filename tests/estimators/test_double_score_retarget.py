"""Another target without another fit gives what another fit would give."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier, InfeasibleTargetError
from sklearn_reject.scores import Mahalanobis

CENTERS = [(0, 0), (4, 0), (0, 4), (5, 5)]  # the last one is novel
X, blob = make_blobs(240, centers=CENTERS, cluster_std=1.5, random_state=0)
y = np.where(blob == 3, -1, blob)
WEIGHT = np.random.default_rng(0).random(len(y))
MODELS = {
    "rates": {"min_tpr": 0.8, "max_fpr": 0.6},
    "tpr": {"min_tpr": 0.7, "max_fpr": None},
    "prior": {"min_tpr": 0.7, "max_fpr": 0.8, "ood_prior": 0.1},
    "precision": {"min_precision": 0.8, "min_recall": 0.6, "ood_prior": 0.2},
    "costs": {"costs": (0.4, 1.0, 0.1), "ood_prior": 0.3},
}
CERTIFIED = {"min_tpr": 0.5, "max_fpr": 0.8, "confidence_level": 0.9, "cv": 0.5}


class Counting(GaussianNB):
    """A classifier that counts how often any of its kind is fitted."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counting.n_fits += 1
        return super().fit(X, y, sample_weight)


def double(estimator=None, **options):
    defaults = {"novelty_score": Mahalanobis(), "n_directions": 15, "random_state": 0}
    estimator = GaussianNB() if estimator is None else estimator
    return DoubleScoreOODClassifier(estimator, **(defaults | options))


def frozen():
    known = GaussianNB().fit(X[::3][y[::3] >= 0], y[::3][y[::3] >= 0])
    return FrozenEstimator(known)


def assert_same(copy, fresh):
    # NaN, where there is no prior, equals nothing but itself in a text.
    assert repr(copy.rule_) == repr(fresh.rule_)
    np.testing.assert_array_equal(copy.predict(X), fresh.predict(X))
    assert repr(copy) == repr(fresh)


@pytest.mark.parametrize(
    ("start", "target"),
    [
        ("costs", "rates"),
        pytest.param("rates", "tpr", marks=pytest.mark.slow),
        ("precision", "prior"),
        pytest.param("tpr", "precision", marks=pytest.mark.slow),
        ("rates", "costs"),
    ],
)
@pytest.mark.parametrize(
    ("options", "params"),
    [
        ({"cv": 3}, {}),
        ({"cv": 0.4}, {"sample_weight": WEIGHT}),
        ({"cv": 3, "randomize": False, "method": "grid"}, {}),
        ({"estimator": frozen(), "novelty_score": "msp"}, {}),
    ],
    ids=["folds", "share", "grid", "frozen"],
)
def test_the_rule_is_that_of_another_fit(start, target, options, params):
    model = double(**options, **MODELS[start]).fit(X, y, **params)
    target = MODELS[target]
    # The prior stays unless another one is given.
    prior = target.get("ood_prior", MODELS[start].get("ood_prior"))
    fresh = double(**options, **(target | {"ood_prior": prior}))
    assert_same(model.retarget(**target), fresh.fit(X, y, **params))


@pytest.mark.parametrize(
    "target",
    [
        {"confidence_level": 0.7},
        pytest.param({"min_tpr": 0.6}, marks=pytest.mark.slow),
        {"max_fpr": None},
        {"min_precision": 0.5, "min_recall": 0.5, "ood_prior": 0.3},
    ],
    ids=str,
)
def test_a_certified_rule_is_that_of_another_fit(target):
    model = double(**CERTIFIED).fit(X, y)
    others = {"min_tpr": None, "max_fpr": None} if "min_recall" in target else {}
    fresh = double(**CERTIFIED | others | target).fit(X, y)
    copy = model.retarget(**target)
    assert_same(copy, fresh)
    assert copy.rule_.certificate == fresh.rule_.certificate
    assert copy.rule_ != model.rule_


def test_what_is_not_given_stays_within_its_model():
    model = double(min_tpr=0.8, max_fpr=0.6).fit(X, y)
    copy = model.retarget(max_fpr=0.7)
    assert (copy.min_tpr, copy.max_fpr) == (0.8, 0.7)
    copy = copy.retarget(**MODELS["costs"])
    assert (copy.min_tpr, copy.max_fpr, copy.ood_prior) == (None, None, 0.3)
    copy = copy.retarget(min_tpr=0.5)
    assert (copy.costs, copy.min_tpr, copy.ood_prior) == (None, 0.5, 0.3)
    assert clone(copy).fit(X, y).rule_ == copy.rule_


def test_nothing_is_fitted_and_everything_is_shared():
    model = double(Counting(), **MODELS["rates"]).fit(X, y)
    before, params = dict(vars(model)), model.get_params()
    Counting.n_fits = 0
    copy = model.retarget(min_tpr=0.6)
    assert Counting.n_fits == 0
    assert model.get_params() == params
    assert all(vars(model)[name] is value for name, value in before.items())
    for name in ("estimator_", "uncertainty_score_", "novelty_score_", "calibration_"):
        assert getattr(copy, name) is getattr(model, name)
    # What is set inside one is not set in the other.
    copy.set_params(estimator__var_smoothing=0.5, novelty_score__features=1)
    assert model.estimator.var_smoothing == 1e-9
    assert model.novelty_score.features is None


def test_both_can_be_pickled():
    model = double(**CERTIFIED).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_same(again.retarget(min_tpr=0.6), model.retarget(min_tpr=0.6))
    copy = pickle.loads(pickle.dumps(again.retarget(min_tpr=0.6)))
    assert_same(copy.retarget(min_tpr=0.5), model)


def test_splits_from_a_generator():
    cv = StratifiedKFold(3)
    model = double(cv=cv.split(X, y), min_tpr=0.8).fit(X, y)
    expected = double(cv=cv, min_tpr=0.6).fit(X, y)
    assert model.retarget(min_tpr=0.6).rule_ == expected.rule_


def test_calibration_is_what_the_rule_says_of_itself():
    model = double(cv=3, **MODELS["rates"]).fit(X, y, sample_weight=WEIGHT)
    kept = model.calibration_
    np.testing.assert_array_equal(np.sort(kept.rows), np.arange(len(y)))
    np.testing.assert_array_equal(kept.is_ood, y[kept.rows] == -1)
    np.testing.assert_array_equal(kept.sample_weight, WEIGHT[kept.rows])
    accepted = model.rule_.accept_proba(*kept.scores.T) * kept.sample_weight
    inside = ~kept.is_ood
    tpr = accepted[inside].sum() / kept.sample_weight[inside].sum()
    risk = accepted[inside] @ kept.losses[inside] / accepted[inside].sum()
    assert model.rule_.tpr == pytest.approx(tpr)
    assert model.rule_.selective_risk == pytest.approx(risk)
    assert kept.held_out is kept.draws is None


def test_calibration_of_a_certificate():
    model = double(**CERTIFIED).fit(X, y)
    kept, held_out = model.calibration_, model.calibration_.held_out
    rows = np.concatenate([kept.rows, held_out.rows])
    np.testing.assert_array_equal(np.sort(rows), np.arange(len(y)))
    probability = model.rule_.accept_proba(*held_out.scores.T)
    accepted = held_out.draws < probability
    np.testing.assert_array_equal(accepted, model.accept(X[held_out.rows]))
    certificate = model.rule_.certificate
    assert certificate.n_accepted_ood == (accepted & held_out.is_ood).sum()


def test_targets_that_another_fit_would_refuse():
    model = double(**MODELS["rates"]).fit(X, y)
    with pytest.raises(ValueError, match="more than one"):
        model.retarget(min_tpr=0.5, costs=(0.5, 1, 0))
    with pytest.raises(ValueError, match="ood_prior is needed"):
        model.retarget(costs=(0.5, 1, 0))
    with pytest.raises(ValueError, match=r"max_fpr=0\.6 needs min_tpr"):
        model.retarget(min_tpr=None)
    with pytest.raises(InfeasibleTargetError, match="min_tpr=1 and max_fpr=0") as info:
        model.retarget(min_tpr=1.0, max_fpr=0.0)
    assert info.value.attainable
    with pytest.raises(
        TypeError, match=r"retarget takes min_tpr, .* got 'n_directions'"
    ):
        model.retarget(min_tpr=0.5, n_directions=3)
    with pytest.raises(NotFittedError):
        double(min_tpr=0.5).retarget(min_tpr=0.6)


def test_bounds_on_ood_samples_where_there_were_none():
    model = double(min_tpr=0.8).fit(X[y >= 0], y[y >= 0])
    message = "No OOD row .* is among those that tune the rule, and max_fpr=0.5 needs"
    with pytest.raises(ValueError, match=message):
        model.retarget(max_fpr=0.5)
    assert np.isnan(model.retarget(min_tpr=0.6).rule_.fpr)


def test_a_confidence_needs_the_samples_held_out():
    model = double(cv=0.5, min_tpr=0.5).fit(X, y)
    message = (
        "confidence_level=0.9 is not possible with this fit, which has held out no"
    )
    with pytest.raises(
        ValueError, match=message + ".* Call fit with a confidence_level"
    ):
        model.retarget(confidence_level=0.9)
    certified = double(**CERTIFIED).fit(X, y)
    message = (
        "confidence_level=None is not possible with this fit, which has held out a part"
    )
    with pytest.raises(ValueError, match=message):
        certified.retarget(confidence_level=None)
    with pytest.raises(
        ValueError, match=r"confidence_level=0\.9 needs bounds to guarantee"
    ):
        certified.retarget(**MODELS["costs"])
    with pytest.raises(InfeasibleTargetError, match="cannot certify"):
        certified.retarget(min_tpr=0.99)


# The largest loss that is possible


def test_a_certified_risk_asks_for_the_largest_loss():
    for loss in ("absolute", lambda y_true, y_pred: abs(y_true - y_pred)):
        with pytest.raises(ValueError, match=r"needed with confidence_level=0\.9"):
            double(loss=loss, **CERTIFIED).fit(X, y)
        # Without a confidence nothing is bounded.
        double(loss=loss, min_tpr=0.5).fit(X, y)
        model = double(loss=loss, max_loss=60, **CERTIFIED).fit(X, y)
        certificate = model.rule_.certificate
        # Of a class 60 of this share none would be seen with the chance of an error.
        share = 1 - ((1 - 0.9) / 3) ** (1 / (certificate.n_accepted_id - 1))
        assert certificate.max_risk > 60 * share


def test_a_largest_loss_that_the_loss_exceeds():
    with pytest.raises(ValueError, match=r"max_loss=0\.5 is below 1, which"):
        double(max_loss=0.5, **CERTIFIED).fit(X, y)
    with pytest.raises(ValueError, match=r"max_loss must be in \]0, inf\[, got 0"):
        double(max_loss=0, **CERTIFIED).fit(X, y)
    with pytest.raises(ValueError, match="above max_loss=1"):
        double(loss="absolute", max_loss=1, **CERTIFIED).fit(X, y)


def test_losses_that_say_how_large_they_are_need_nothing():
    rules = [
        double(loss=loss, **options, **CERTIFIED).fit(X, y).rule_
        for loss, options in (
            ("zero_one", {}),
            ("zero_one", {"max_loss": 7}),
            (1 - np.eye(3), {}),
        )
    ]
    assert rules[0] == rules[1] == rules[2]
    other = double(loss=3 * (1 - np.eye(3)), **CERTIFIED).fit(X, y).rule_
    expected = 3 * rules[0].certificate.max_risk
    assert other.certificate.max_risk == pytest.approx(expected)


def test_score_counts_ood_samples_as_the_largest_loss_that_is_known():
    plain, known = (
        double(loss="absolute", min_tpr=0.5, max_loss=most).fit(X, y)
        for most in (None, 5.0)
    )
    only = X[y == -1], y[y == -1]
    assert plain.score(*only) == -2
    assert known.score(*only) == -5
    assert re.search("max_loss=5.0", repr(known))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({"novelty_share": 0.5, "max_fpr": 0.3}, r"novelty_share=0.5 .* max_fpr=0.3"),
        ({"max_risk": 0.5, "max_fpr": 0.3}, "max_fpr=0.3 and max_risk=0.5 exclude"),
        ({"min_tpr": 0.5, "min_recall": 0.5}, "got more than one"),
    ],
)
def test_what_no_model_has_together_is_named(target, message):
    model = double(min_tpr=0.8).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.retarget(**target)
