"""Another target without another fit gives what another fit would give."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier, InfeasibleTargetError
from sklearn_reject.losses import AbsoluteLoss
from sklearn_reject.scores import Mahalanobis

CENTERS = [(0, 0), (4, 0), (0, 4), (5, 5)]  # the last one is novel
X, blob = make_blobs(240, centers=CENTERS, cluster_std=1.5, random_state=0)
y = np.where(blob == 3, -1, blob)
WEIGHT = np.random.default_rng(0).random(len(y))
MODELS = {
    "rates": {"min_tpr": 0.8, "max_fpr": 0.6},
    "tpr": {"min_tpr": 0.7, "max_fpr": None},
    "prior": {"min_tpr": 0.7, "max_fpr": 0.8, "ood_prior": 0.1},
    "precision": {"min_tpr": 0.6, "min_precision": 0.8, "ood_prior": 0.2},
    "costs": {"costs": (0.4, 1.0, 0.1), "ood_prior": 0.3},
}
CERTIFIED = {"min_tpr": 0.5, "max_fpr": 0.8, "confidence_level": 0.9, "cv": 0.5}


class Counting(GaussianNB):
    """A classifier that counts how often any of its kind is fitted."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counting.n_fits += 1
        return super().fit(X, y, sample_weight)


class Grades(AbsoluteLoss):
    """Grades from 0 to 60."""

    name, max_loss = None, 60.0


def double(estimator=None, **options):
    defaults = {"novelty_score": Mahalanobis(), "random_state": 0}
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
    ("start", "target", "options", "params"),
    [
        ("costs", "rates", {"cv": 3}, {}),
        ("rates", "tpr", {"cv": 0.4}, {"sample_weight": WEIGHT}),
        ("precision", "prior", {"cv": 0.4}, {"sample_weight": WEIGHT}),
        ("tpr", "precision", {"cv": 3}, {}),
        ("rates", "costs", {"estimator": frozen(), "novelty_score": "msp"}, {}),
    ],
)
def test_the_rule_is_that_of_another_fit(start, target, options, params):
    model = double(**options, **MODELS[start]).fit(X, y, **params)
    target = MODELS[target]
    # The prior stays unless another one is given.
    prior = target.get("ood_prior", MODELS[start].get("ood_prior"))
    fresh = double(**options, **(target | {"ood_prior": prior}))
    assert_same(model.retarget(**target), fresh.fit(X, y, **params))


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        {"confidence_level": 0.7},
        {"min_tpr": 0.6},
        {"max_fpr": None},
        {"min_precision": 0.5, "ood_prior": 0.3},
    ],
    ids=str,
)
def test_a_certified_rule_is_that_of_another_fit(target):
    model = double(**CERTIFIED).fit(X, y)
    others = {"max_fpr": None} if "min_precision" in target else {}
    fresh = double(**CERTIFIED | others | target).fit(X, y)
    copy = model.retarget(**target)
    assert_same(copy, fresh)
    assert copy.rule_.certificate == fresh.rule_.certificate
    assert copy.rule_ != model.rule_


def test_what_is_not_given_stays_within_its_model():
    model = double(min_tpr=0.8, max_fpr=0.6).fit(X, y)
    names = "min_tpr", "max_fpr", "max_risk", "min_precision", "costs", "ood_prior"
    copy = model
    for target, expected in [
        ({"max_fpr": 0.7}, (0.8, 0.7, None, None, None, None)),
        ({"max_risk": 0.4}, (0.8, None, 0.4, None, None, None)),
        ({"min_precision": 0.5, "ood_prior": 0.1}, (0.8, None, None, 0.5, None, 0.1)),
        ({"min_tpr": 0.7}, (0.7, None, None, 0.5, None, 0.1)),
        ({"costs": (0.4, 1, 0.1)}, (None, None, None, None, (0.4, 1, 0.1), 0.1)),
        ({"min_tpr": 0.5}, (0.5, None, None, None, None, 0.1)),
    ]:
        copy = copy.retarget(**target)
        assert tuple(getattr(copy, name) for name in names) == expected
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


def test_calibration_is_what_the_rule_says_of_itself():
    model = double(cv=3, **MODELS["rates"]).fit(X, y, sample_weight=WEIGHT)
    kept = model.calibration_
    np.testing.assert_array_equal(np.sort(kept.rows), np.arange(len(y)))
    np.testing.assert_array_equal(kept.is_ood, y[kept.rows] == -1)
    np.testing.assert_array_equal(kept.sample_weight, WEIGHT[kept.rows])
    measured = model.rule_.measure(
        *kept.scores.T, kept.losses, kept.is_ood, sample_weight=kept.sample_weight
    )
    assert repr(measured) == repr(model.rule_)
    assert kept.held_out is kept.draws is None


@pytest.mark.parametrize(
    ("fitted", "target", "error", "message"),
    [
        ("rates", {"min_tpr": 0.5, "costs": (0.5, 1, 0)}, ValueError, "more than one"),
        ("rates", {"costs": (0.5, 1, 0)}, ValueError, "ood_prior is needed"),
        ("rates", {"min_tpr": None}, ValueError, r"max_fpr=0\.6 needs min_tpr"),
        (
            "rates",
            {"max_risk": 0.5, "max_fpr": 0.3},
            ValueError,
            "max_fpr=0.3 and max_risk=0.5 exclude",
        ),
        (
            "rates",
            {"min_tpr": 1.0, "max_fpr": 0.0},
            InfeasibleTargetError,
            "min_tpr=1 and max_fpr=0",
        ),
        ("rates", {"cv": 3}, TypeError, "retarget takes min_tpr, .* got 'cv'"),
        (
            "inside",
            {"max_fpr": 0.5},
            ValueError,
            "No OOD row .* is among those that tune the rule, and max_fpr=0.5 needs",
        ),
        (
            "rates",
            {"confidence_level": 0.9},
            ValueError,
            "confidence_level=0.9 is not possible with this fit, which has held out no "
            ".* Call fit with a confidence_level",
        ),
        (
            "certified",
            {"confidence_level": None},
            ValueError,
            "confidence_level=None is not possible .* has held out a part",
        ),
        (
            "certified",
            MODELS["costs"],
            ValueError,
            r"confidence_level=0\.9 needs bounds to guarantee",
        ),
        ("certified", {"min_tpr": 0.99}, InfeasibleTargetError, "cannot certify"),
    ],
)
def test_errors(fitted, target, error, message):
    rows = np.flatnonzero(y >= 0) if fitted == "inside" else np.arange(len(y))
    asked = {"rates": MODELS["rates"], "inside": MODELS["tpr"], "certified": CERTIFIED}
    model = double(**asked[fitted]).fit(X[rows], y[rows])
    with pytest.raises(error, match=message):
        model.retarget(**target)
    with pytest.raises(NotFittedError):
        clone(model).retarget(**target)


def test_losses_say_how_large_they_can_be():
    rule, as_costs, scaled = (
        double(loss=loss, **CERTIFIED).fit(X, y).rule_
        for loss in ("zero_one", 1 - np.eye(3), 3 * (1 - np.eye(3)))
    )
    assert rule == as_costs
    most = scaled.certificate.max_risk
    assert most == pytest.approx(3 * rule.certificate.max_risk)
    certificate = double(loss=Grades(), **CERTIFIED).fit(X, y).rule_.certificate
    # Of a class 60 of this share none would be seen with the chance of an error.
    share = 1 - ((1 - 0.9) / 3) ** (1 / (certificate.n_accepted_id - 1))
    assert certificate.max_risk > 60 * share
    # An OOD sample counts as the largest loss that is known.
    only = X[y == -1], y[y == -1]
    assert double(loss="absolute", min_tpr=0.5).fit(X, y).score(*only) == -2
    assert double(loss=Grades(), min_tpr=0.5).fit(X, y).score(*only) == -60
