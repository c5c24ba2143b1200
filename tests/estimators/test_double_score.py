"""The estimator against the same steps by hand, and its contracts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_reject import DoubleScoreOODClassifier, InfeasibleTargetError
from sklearn_reject.losses import AbsoluteLoss
from sklearn_reject.metrics import (
    aurc_score,
    get_selective_scorer,
    make_selective_scorer,
)
from sklearn_reject.scores import KNN, ErrorProbability, LikelihoodRatio, Mahalanobis
from sklearn_reject.selection import tune_double_score
from tests.selection.ood_oracle import all_scores, best_of, noisy_sample, values_of

digits_X, digits_y = load_digits(return_X_y=True)
digits_X = digits_X[:, 8:40] / 16
digits_y = np.where(digits_y < 8, digits_y, -1)
X, y = digits_X[:900], digits_y[:900]
X_new, y_new = digits_X[900:], digits_y[900:]
IS_OOD = y == -1

NAIVE = GaussianNB(var_smoothing=0.1)
NEAR = KNN(n_neighbors=5)
RATES = {"min_tpr": 0.8, "max_fpr": 0.4}
MODELS = {
    "rates": RATES,
    "tpr": {"min_tpr": 0.7},
    "risk": {"min_tpr": 0.7, "max_risk": 0.1},
    "precision": {"min_tpr": 0.7, "min_precision": 0.9, "ood_prior": 0.2},
    "costs": {"costs": (0.4, 1.0, 0.1), "ood_prior": 0.3},
}
MODEL = DoubleScoreOODClassifier(NAIVE, novelty_score=NEAR, random_state=0)


def double(estimator=NAIVE, **options):
    if not {"min_tpr", "costs"} & options.keys():
        options |= RATES
    return clone(MODEL).set_params(estimator=estimator, **options)


# The rule, and what it is tuned on


def judge(classifier, novelty, rows):
    """Return risk, novelty and losses of some rows, without any of our estimators."""
    probabilities = classifier.predict_proba(X[rows])
    labels = classifier.classes_[probabilities.argmax(axis=1)]
    losses = np.where(IS_OOD[rows], 0.0, labels != y[rows])
    return 1 - probabilities.max(axis=1), novelty.novelty(X[rows]), losses


def fit_by_hand(rows, n_neighbors=5):
    inside = rows[~IS_OOD[rows]]
    classifier = clone(NAIVE).fit(X[inside], y[inside])
    score = KNN(n_neighbors)
    return classifier, score.fit(X[inside], y[inside], estimator=classifier)


def most_risk(rule, sample, weight=1.0):
    """Return what is one standard error more than the risk of a rule."""
    risk, novelty, losses, is_ood = sample
    accepted = (weight * rule.accept_proba(risk, novelty))[~is_ood]
    share = accepted / accepted.sum()
    mean = share @ losses[~is_ood]
    return mean + np.sqrt(share @ (losses[~is_ood] - mean) ** 2 * (share @ share))


def tune_by_hand(sample, bounds):
    """Return the rule of the lowest FPR whose risk is within a standard error."""
    rule = tune_double_score(*sample, **bounds)
    if "max_fpr" not in bounds:
        return rule
    limit = most_risk(rule, sample)
    return tune_double_score(*sample, min_tpr=bounds["min_tpr"], max_risk=limit)


@pytest.mark.parametrize("name", MODELS)
def test_folds_against_the_same_steps_by_hand(name):
    bounds, parts, rows = MODELS[name], [], []
    for train, test in StratifiedKFold(4).split(X, y):
        # Of three quarters of the samples, three quarters of five neighbors.
        parts.append(judge(*fit_by_hand(train, 4), test))
        rows.append(test)
    rows = np.concatenate(rows)
    sample = *map(np.concatenate, zip(*parts, strict=True)), IS_OOD[rows]
    model = double(cv=4, **bounds).fit(X, y)
    rule, expected = model.rule_, tune_by_hand(sample, bounds)
    if name == "precision":
        # Of about the same risk it is the rule of the largest precision.
        assert rule.selective_risk <= most_risk(expected, sample) + 1e-12
        assert rule.precision > expected.precision
        assert rule.tpr >= 0.7 - 1e-12
        return
    for field in ("mu", "threshold", "tpr", "fpr", "selective_risk"):
        found = getattr(rule, field)
        np.testing.assert_allclose(found, getattr(expected, field), rtol=1e-9)
    classifier, score = fit_by_hand(np.arange(len(y)))
    by_hand = expected.combine(
        1 - classifier.predict_proba(X_new).max(axis=1), score.novelty(X_new)
    )
    np.testing.assert_allclose(model.uncertainty(X_new), by_hand, rtol=1e-7)


SLACK = [
    {"max_fpr": 1.0},
    {"max_fpr": 0.75, "wild_share": 0.75},
    {"min_precision": 0.5, "ood_prior": 0.25},
]
SLACK = [pytest.param({"min_tpr": 0.5, **x}, marks=pytest.mark.slow) for x in SLACK]


@pytest.mark.parametrize("bounds", [{"min_tpr": 0.375, "max_fpr": 0.75}, *SLACK])
def test_slack_is_spent_on_ood_samples_against_all_rules(bounds):
    n_fits, is_wild = 0, "wild_share" in bounds
    zero = FrozenEstimator(DummyClassifier().fit([[0]] * 3, [0, 0, 1]))
    model = DoubleScoreOODClassifier(
        zero,
        uncertainty_score=lambda _, rows: rows[:, 0],
        novelty_score=lambda _, rows: rows[:, 1],
        **{"wild_label" if is_wild else "ood_label": 9},
        **bounds,
    )
    for seed in range(6):
        sample = noisy_sample(16, seed, ties=seed > 2)
        sample.is_ood[:2] = True, False
        if seed % 2:
            sample.weight = np.random.default_rng(seed).integers(1, 4, 16) / 2
        weight = sample.weight
        # The label tells whether the prediction, which is 0, is right; or 9.
        labels = np.where(sample.is_ood, 9, sample.losses.astype(int))
        columns = np.column_stack(sample.double[:2])
        try:
            rule = model.fit(columns, labels, sample_weight=weight).rule_
        except InfeasibleTargetError:
            continue
        n_fits += 1
        least = tune_double_score(*sample.double, sample_weight=weight, **bounds)
        limit = most_risk(least, sample.double, 1.0 if weight is None else weight)
        nearly = bounds | {"max_risk": limit}
        expected = best_of(sample, nearly, list(all_scores(sample)))
        found = values_of(rule, sample, nearly)
        assert found[0] == pytest.approx(float(expected[0]), abs=1e-9)
        assert rule.selective_risk <= limit + 1e-9
    assert n_fits


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_twelve_rows_and_a_class_that_folds_do_not_have():
    three = np.flatnonzero(y <= 2)
    few = np.sort(np.concatenate([three[y[three] == k][:4] for k in (-1, 0, 1)]))
    model = double(cv=4, novelty_score="mahalanobis", min_tpr=0.7).fit(X[few], y[few])
    assert model.rule_.tpr >= 0.7
    kinds = [three[y[three] == k][:n] for k, n in ((-1, 20), (0, 20), (1, 20), (2, 1))]
    rows = np.concatenate(kinds)
    for cv in (None, 3, StratifiedKFold(3, shuffle=True, random_state=0)):
        model = double(cv=cv, min_tpr=0.7, max_fpr=0.9).fit(X[rows], y[rows])
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.predict_proba(X[:5]).shape == (5, 3)


def test_confidence_holds_a_part_out_for_calibration():
    options = {"min_tpr": 0.6, "max_fpr": 0.7, "confidence_level": 0.9, "cv": 0.4}
    model = double(novelty_score=Mahalanobis(), **options).fit(X, y)
    rule, certificate = model.rule_, model.rule_.certificate
    assert certificate.n_id + certificate.n_ood == round(0.4 * len(y))
    assert (certificate.min_tpr, certificate.max_fpr) == (0.6, 0.7)
    assert rule.tpr > 0.6
    assert rule.fpr < 0.7
    assert rule.selective_risk < certificate.max_risk < 1
    assert clone(model).fit(X, y).rule_ == rule
    # The weights are those of a rule that is better than asked for.
    kept = model.calibration_
    tuned = rule.measure(*kept.scores.T, kept.losses, kept.is_ood)
    assert tuned.tpr > 0.6
    assert tuned.fpr < 0.7


# Methods


def test_score_is_the_area_with_ood_samples_as_errors():
    model = double(loss=np.ones((8, 8)) * 2 - 2 * np.eye(8)).fit(X, y)
    labels, uncertainty = model.predict_label(X_new), model.uncertainty(X_new)
    losses = 2.0 * (labels != y_new)
    expected = -aurc_score(None, None, uncertainty, loss=losses)
    np.testing.assert_allclose(model.score(X_new, y_new), expected)


def test_ood_rows_never_train_the_classifier():
    fitted = double().fit(X, y)
    assert fitted.classes_.tolist() == list(range(8))
    theta = clone(NAIVE).fit(X[~IS_OOD], y[~IS_OOD]).theta_
    np.testing.assert_array_equal(fitted.estimator_.theta_, theta)
    # Whatever OOD rows look like, the classifier is the same.
    elsewhere = X.copy()
    elsewhere[IS_OOD] = 100.0
    other = double().fit(elsewhere, y)
    np.testing.assert_array_equal(other.estimator_.theta_, theta)
    assert other.rule_.fpr == 0


# Scores


def far(bound):
    """Return a novelty score that is infinite for some rows."""
    return lambda estimator, X: np.where(X[:, 2] > X[:, 3], bound, X[:, 4])


def test_an_infinite_novelty_is_always_rejected():
    model = double(novelty_score=far(np.inf), min_tpr=0.1, max_fpr=1.0, cv=0.3)
    model.fit(X, y)
    infinite = X_new[:, 2] > X_new[:, 3]
    assert infinite.any()
    assert not model.accept(X_new)[infinite].any()
    assert np.isinf(model.uncertainty(X_new)[infinite]).all()
    assert np.isfinite(model.score(X_new, y_new))
    for scorer in (
        get_selective_scorer("neg_aurc"),
        make_selective_scorer(accuracy_score, coverage=0.5, on_reject="drop"),
    ):
        value = scorer(model, X_new, y_new)
        assert np.isfinite(value)
        assert scorer(FrozenEstimator(model), X_new, y_new) == value


def test_a_learned_risk_score_never_judges_what_it_has_learned_from():
    class Memory(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.seen_ = {row.tobytes() for row in X}
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X):
            seen = np.array([row.tobytes() in self.seen_ for row in X], dtype=float)
            return np.column_stack([1 - seen, seen])

    score = ErrorProbability(Memory(), "input")
    model = double(uncertainty_score=score, novelty_score="msp", min_tpr=0.5).fit(X, y)
    assert model.rule_.novelty_weight > 0
    risk, _ = model.risk_and_novelty(X[~IS_OOD])
    assert (risk == 1).all()
    assert model.rule_.threshold < 0.99


def test_the_likelihood_ratio_learns_from_the_ood_samples_of_other_folds():
    score = LikelihoodRatio(KNeighborsClassifier(1))
    model = double(novelty_score=score, min_tpr=0.5, max_fpr=1.0).fit(X, y)
    # One neighbor that has seen the sample itself would never be wrong.
    _, novelty = model.risk_and_novelty(X)
    np.testing.assert_array_equal(novelty == np.inf, IS_OOD)
    assert model.rule_.fpr > 0


def test_frozen_classifiers_and_scores():
    frozen = FrozenEstimator(clone(NAIVE).fit(X[~IS_OOD], y[~IS_OOD]))
    # Scores that learn nothing are judged on all samples.
    model = double(frozen, novelty_score="msp", min_tpr=0.8).fit(X_new, y_new)
    assert len(model.calibration_.rows) == len(y_new)
    risk = 1 - frozen.predict_proba(X_new).max(axis=1)
    np.testing.assert_allclose(model.calibration_.scores[:, 0], risk, atol=1e-12)
    # Judged by itself, each ID sample would have the novelty zero.
    model = double(frozen, novelty_score=KNN(n_neighbors=1)).fit(X_new, y_new)
    assert model.rule_.tpr < 1
    assert model.estimator_.theta_ is frozen.theta_
    score = KNN(3).fit(X[~IS_OOD], y[~IS_OOD], estimator=frozen)
    model = double(frozen, novelty_score=FrozenEstimator(score)).fit(X_new, y_new)
    _, novelty = model.risk_and_novelty(X)
    np.testing.assert_array_equal(novelty, score.novelty(X))


# What a fit keeps, and what losses can be


def test_calibration_is_what_the_rule_says_of_itself():
    weight = np.random.default_rng(0).random(len(y))
    model = double(cv=3).fit(X, y, sample_weight=weight)
    kept = model.calibration_
    np.testing.assert_array_equal(np.sort(kept.rows), np.arange(len(y)))
    np.testing.assert_array_equal(kept.is_ood, IS_OOD[kept.rows])
    np.testing.assert_array_equal(kept.sample_weight, weight[kept.rows])
    measured = model.rule_.measure(
        *kept.scores.T, kept.losses, kept.is_ood, sample_weight=kept.sample_weight
    )
    assert repr(measured) == repr(model.rule_)
    assert kept.held_out is kept.draws is None


class Grades(AbsoluteLoss):
    """Grades from 0 to 60."""

    name, max_loss = None, 60.0


def test_losses_say_how_large_they_can_be():
    certified = {"confidence_level": 0.9, "cv": 0.5, "min_tpr": 0.5, "max_fpr": 0.8}
    rule, as_costs, scaled, graded = (
        double(loss=loss, **certified).fit(X, y).rule_
        for loss in ("zero_one", 1 - np.eye(8), 3 * (1 - np.eye(8)), Grades())
    )
    assert rule == as_costs
    most = scaled.certificate.max_risk
    assert most == pytest.approx(3 * rule.certificate.max_risk)
    # Of a class 60 of this share none would be seen with the chance of an error.
    certificate = graded.certificate
    share = 1 - ((1 - 0.9) / 3) ** (1 / (certificate.n_accepted_id - 1))
    assert certificate.max_risk > 60 * share
    # An OOD sample counts as the largest loss that is known.
    for loss, largest in (("absolute", 7), (Grades(), 60)):
        model = double(loss=loss, min_tpr=0.5).fit(X, y)
        assert model.score(X[IS_OOD], y[IS_OOD]) == -largest


# Without OOD samples both scores count alike


@pytest.mark.parametrize(
    "options", [{}, {"min_tpr": 0.8, "confidence_level": 0.9, "cv": 0.5}]
)
def test_what_is_far_away_is_rejected_however_sure_the_classifier(options):
    X, y = make_blobs(300, centers=3, n_features=4, random_state=0)
    far = np.full((20, 4), 60.0)
    options = {"min_tpr": 0.95, "novelty_score": "mahalanobis", **options}
    model = double(LogisticRegression(), **options).fit(X, y)
    rule = model.rule_
    assert model.predict_proba(far).max(axis=1).min() > 0.99
    assert not model.accept(far).any()
    assert np.isnan(rule.fpr)
    assert (rule.risk_weight, rule.novelty_weight) == (0.5, 0.5)
    if rule.certificate is None:
        assert rule.tpr == pytest.approx(0.95)
    else:
        assert rule.certificate.max_fpr is None
        assert rule.tpr > 0.8
