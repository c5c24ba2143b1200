"""Certified estimators from data to rule, judged on the distribution itself.

Samples are uniform on [0, 1], in bins or not, and the probability of the label 1 rises
and falls, so that a linear classifier is wrong in ways that it does not know.
"""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier
from sklearn_reject.scores import SELE, ErrorProbability, LossRegression

# The classifier is meant to be wrong where it is sure, which is told now and then.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

N_REPETITIONS = 500
DELTA = 0.1
PLACES = (np.arange(4000) + 0.5)[:, np.newaxis] / 4000

SCORES = {
    "conditional_risk": "conditional_risk",
    "few distinct values": LossRegression(DecisionTreeRegressor(max_depth=2), "input"),
    "error probability": ErrorProbability(LogisticRegression(), "input"),
    "sele": SELE(0.01),
}


def probability(X):
    return np.clip(X[:, 0] + 0.25 * np.sin(12 * X[:, 0]), 0.02, 0.98)


def draw(rng, n_samples):
    X = rng.random((n_samples, 1))
    return X, (rng.random(n_samples) < probability(X)).astype(int)


def achieved(selective):
    """Return coverage and risk on the distribution."""
    accepted = selective.accept_proba(PLACES)
    label = selective.predict_label(PLACES)
    wrong = np.where(label == 1, 1 - probability(PLACES), probability(PLACES))
    coverage = accepted.mean()
    return coverage, (accepted @ wrong) / accepted.sum() if coverage else 0.0


def rate_of_violations(target, violates, score, *, frozen=False):
    rng, count, certified = np.random.default_rng(0), 0, 0
    name, value = target
    for seed in range(N_REPETITIONS):
        X, y = draw(rng, 2000)
        options = {"estimator": LogisticRegression(), "cv": 0.5}
        if frozen:
            model = LogisticRegression().fit(*draw(rng, 100))
            options = {"estimator": FrozenEstimator(model)}
        selective = SelectiveClassifier(
            **options,
            uncertainty_score=score,
            confidence_level=1 - DELTA,
            random_state=seed,
            **{name: value},
        )
        try:
            coverage, risk = achieved(selective.fit(X, y))
        except InfeasibleTargetError:
            continue
        certified += 1
        count += violates(coverage, risk)
    assert certified > N_REPETITIONS / 5, "hardly anything was certified"
    return count / N_REPETITIONS


LIMIT = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / N_REPETITIONS)


@pytest.mark.parametrize("score", SCORES)
def test_risk(score):
    rate = rate_of_violations(
        ("target_risk", 0.26), lambda coverage, risk: risk > 0.26, SCORES[score]
    )
    assert rate <= LIMIT


@pytest.mark.parametrize("score", SCORES)
def test_coverage(score):
    rate = rate_of_violations(
        ("target_coverage", 0.7), lambda coverage, risk: coverage < 0.7, SCORES[score]
    )
    assert rate <= LIMIT


def test_frozen_classifier():
    rate = rate_of_violations(
        ("target_risk", 0.26),
        lambda coverage, risk: risk > 0.26,
        "conditional_risk",
        frozen=True,
    )
    assert rate <= LIMIT


def test_without_confidence_the_risk_is_exceeded_in_many_draws():
    rng, count = np.random.default_rng(1), 0
    for seed in range(200):
        selective = SelectiveClassifier(
            LogisticRegression(), target_risk=0.24, cv=0.5, random_state=seed
        ).fit(*draw(rng, 2000))
        count += achieved(selective)[1] > 0.24
    assert count > 60
