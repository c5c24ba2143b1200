"""What the expected gain of a second opinion learns, and from which samples."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from sklearn_reject import DeferringClassifier
from sklearn_reject.losses import check_loss
from sklearn_reject.scores import (
    ConditionalRisk,
    ErrorProbability,
    ExpectedGain,
    LossRegression,
    Margin,
    get_score_names,
)

COSTS = [[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]]


def make_samples(n_samples, seed=0):
    """Return samples, labels 0 to 2, and what an expert on positive X[:, 1] says."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n_samples), [-0.5, 0.5])
    errs = rng.random(n_samples) < np.where(X[:, 1] > 0, 0.02, 0.6)
    return X, y, np.where(errs, (y + 1) % 3, y)


X, Y, EXPERT = make_samples(900)
FIRST = GaussianNB().fit(*make_samples(300, seed=1)[:2])
L1, L2 = 1.0 * (FIRST.predict(X) != Y), 1.0 * (EXPERT != Y)
FEW = HistGradientBoostingClassifier(max_iter=10, random_state=0)
IS_KNOWN = np.random.default_rng(2).random(900) > 0.6
GAPS = np.where(IS_KNOWN, EXPERT, np.nan)


def fit_gain(score, X=X, y=Y, expert=EXPERT, **given):
    given = {"estimator": FIRST} | given
    return score.fit(X, y, expert_labels=expert, **given)


def learned(learner, target, X=X):
    """Return what a learner of the features alone says of a target."""
    return learner.fit(X, target).predict(X)


def test_the_difference_is_learned_where_all_are_known():
    score = fit_gain(ExpectedGain(LinearRegression(), "input"))
    np.testing.assert_allclose(
        score.uncertainty(X), learned(LinearRegression(), L1 - L2)
    )
    score = fit_gain(ExpectedGain(LogisticRegression(), "input"))
    outcomes = LogisticRegression().fit(X, (L1 - L2).astype(int)).predict_proba(X)
    np.testing.assert_allclose(score.uncertainty(X), outcomes[:, 2] - outcomes[:, 0])
    assert score.n_asked_ == len(X)


def test_the_first_is_learned_from_all_and_the_second_where_it_is_known():
    score = fit_gain(ExpectedGain(LogisticRegression(), "input"), expert=GAPS)
    first = LogisticRegression().fit(X, L1).predict_proba(X)[:, 1]
    second = LogisticRegression().fit(X[IS_KNOWN], L2[IS_KNOWN]).predict_proba(X)
    np.testing.assert_allclose(score.uncertainty(X), first - second[:, 1])
    assert score.n_asked_ == IS_KNOWN.sum()


def test_losses_other_than_zero_and_one():
    loss = check_loss(COSTS, labels=[0, 1, 2])
    gain = loss(Y, FIRST.predict(X)) - loss(Y, EXPERT)
    score = fit_gain(ExpectedGain(LinearRegression(), "input", loss=COSTS))
    np.testing.assert_allclose(score.uncertainty(X), learned(LinearRegression(), gain))
    [learner] = fit_gain(ExpectedGain(loss=COSTS, random_state=0)).learners_
    assert isinstance(learner, HistGradientBoostingRegressor)
    assert learner.max_iter == 30
    # A regressor has a second opinion, too.
    target, column = X[:, 0] + X[:, 1], X[:, :1]
    first = LinearRegression().fit(column, target)
    score = ExpectedGain(LinearRegression(), "input")
    score.fit(column, target, estimator=first, expert_labels=target + 1)
    gain = (target - first.predict(column)) ** 2 - 1
    expected = learned(LinearRegression(), gain, column)
    np.testing.assert_allclose(score.uncertainty(column), expected)


@pytest.mark.parametrize("has_gaps", [False, True])
def test_losses_that_are_all_alike(has_gaps):
    gaps = np.where((np.arange(900) % 2 == 0) & has_gaps, np.nan, 1)
    right = FIRST.predict(X)
    wrong = (right + 1) % 3
    never_wrong = fit_gain(ExpectedGain(FEW), expert=Y * gaps)
    assert (never_wrong.uncertainty(X) > -1e-12).all()
    for y, expert, gain in ((right, right, 0), (right, wrong, -1), (wrong, wrong, 1)):
        score = fit_gain(ExpectedGain(), y=y, expert=expert * gaps)
        np.testing.assert_array_equal(score.uncertainty(X), gain)


@pytest.mark.parametrize("n_known", [1, 2, 9])
def test_very_few_rows_with_an_answer(n_known):
    expert = np.full(len(Y), None, dtype=object)
    expert[:n_known] = EXPERT[:n_known]
    score = fit_gain(ExpectedGain(random_state=0), expert=expert)
    assert score.n_asked_ == n_known
    # So few rows cannot be split: the risk of the expert is the mean.
    learner = clone(fit_gain(ExpectedGain(random_state=0)).learners_[0])
    risk = LossRegression(learner).fit(X, Y, estimator=FIRST).uncertainty(X)
    expected = risk - L2[:n_known].mean()
    np.testing.assert_allclose(score.uncertainty(X), expected, atol=1e-6)
    one = fit_gain(ExpectedGain(random_state=0), X[:1], Y[:1], EXPERT[:1])
    np.testing.assert_array_equal(one.uncertainty(X[:3]), L1[0] - L2[0])


NO_KNOWN_WEIGHT = {"expert": GAPS, "sample_weight": 1.0 - IS_KNOWN}


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"expert": [None] * 900}, "none is known"),
        ({}, NO_KNOWN_WEIGHT, "none is known"),
        ({}, {"expert": EXPERT[1:]}, "expert_labels has 899 elements"),
        ({"base_learner": FEW, "loss": COSTS}, {}, "can only learn losses of 0 and 1"),
        (
            {"base_learner": KNeighborsClassifier()},
            {"sample_weight": np.ones(900)},
            "base_learner must take sample_weight",
        ),
        *(
            ({"base_learner": learner}, {}, "base_learner must be a regressor, or a")
            for learner in (LinearSVC(), "trees", KNeighborsClassifier, KMeans(2))
        ),
    ],
)
def test_what_cannot_be_learned(options, given, message):
    with pytest.raises(ValueError, match=message):
        fit_gain(ExpectedGain(**options), **given)


@pytest.mark.slow
@pytest.mark.parametrize("expert", [EXPERT, GAPS], ids=["complete", "gaps"])
@pytest.mark.parametrize("loss", [None, COSTS], ids=["zero_one", "matrix"])
def test_weight_zero_is_absence_and_rows_do_not_depend_on_each_other(expert, loss):
    weight = np.where(np.arange(900) < 500, 2.0**40, 0)
    score = ExpectedGain(None if loss else FEW, loss=loss, random_state=0)
    weighted = fit_gain(clone(score), expert=expert, sample_weight=weight)
    plain = fit_gain(clone(score), X[:500], Y[:500], expert[:500])
    gain = weighted.uncertainty(X)
    np.testing.assert_allclose(gain, plain.uncertainty(X), rtol=1e-6, atol=1e-6)
    chunks = [weighted.uncertainty(X[k : k + 7]) for k in range(0, 900, 7)]
    np.testing.assert_array_equal(np.concatenate(chunks), gain)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize(
    ("inner", "name", "kind"),
    [
        (GaussianNB(), "confidence", ConditionalRisk),
        (LinearSVC(), "confidence", Margin),
        (GaussianNB(), "error_probability", ErrorProbability),
        (LinearSVC(), "gain", ExpectedGain),
    ],
)
def test_what_names_stand_for(inner, name, kind):
    options = {"gain_score": name, "cv": 2, "random_state": 3}
    model = DeferringClassifier(inner, GaussianNB(), **options)
    assert type(model.fit(X[:200], Y[:200]).gain_score_) is kind
    assert "gain" not in get_score_names()  # not of a selective classifier


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize(("n_samples", "n_areas"), [(999, 0), (1000, 2)])
def test_few_samples_are_not_learned_from(n_samples, n_areas):
    X, y, expert = make_samples(n_samples)
    known = np.where(np.arange(n_samples) % 2, expert, np.nan)
    model = DeferringClassifier(FrozenEstimator(FIRST), cv=2, random_state=0)
    assert len(model.fit(X, y, expert_labels=known).areas_) == n_areas


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_objects_functions_and_frozen_scores():
    own = ExpectedGain(FEW, random_state=1)
    model = DeferringClassifier(FrozenEstimator(FIRST), GaussianNB(), random_state=5)
    model.set_params(gain_score=own, cv=2).fit(X, Y)
    assert (own.random_state, own.loss) == (1, None)
    assert model.gain_score_.random_state == 1
    model.set_params(gain_score=lambda model, X: X[:, 1]).fit(X, Y)
    np.testing.assert_array_equal(model.gain(X), X[:, 1])
    fitted = fit_gain(ExpectedGain(FEW))
    model.set_params(gain_score=FrozenEstimator(fitted), cv=None).fit(X, Y)
    np.testing.assert_array_equal(model.gain(X), fitted.uncertainty(X))
