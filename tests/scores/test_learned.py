"""What each learned score learns, against the learner that it stands for."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import SelectiveClassifier, SelectiveRegressor
from sklearn_reject.losses import sele_loss_and_gradient
from sklearn_reject.metrics import aurc_score
from sklearn_reject.scores import (
    SELE,
    ErrorProbability,
    LossRegression,
    TrueClassProbability,
)

SCORES = [ErrorProbability, LossRegression, SELE, TrueClassProbability]


class SignOfFirst(ClassifierMixin, BaseEstimator):
    """A black box: the sign of the first feature, and nothing but `predict`."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]


def risk(X):
    """Probability that the sign of the first feature is wrong, in [0.02, 0.48]."""
    return 0.02 + 0.46 / (1 + np.exp(-4 * X[:, 1]))


def make_samples(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    wrong = rng.random(n_samples) < risk(X)
    return X, ((X[:, 0] > 0) ^ wrong).astype(int)


X, Y = make_samples(3000)
BLACK_BOX = SignOfFirst().fit(X, Y)
LOSSES = 1.0 * (BLACK_BOX.predict(X) != Y)
NAIVE = GaussianNB().fit(X[:1000], Y[:1000])


def area(scores, losses):
    return aurc_score(losses, 0 * losses, scores, loss="absolute")


def rank_correlation(first, second):
    ranks = [np.argsort(np.argsort(values)) for values in (first, second)]
    return np.corrcoef(*ranks)[0, 1]


@pytest.mark.parametrize("kind", SCORES[:-1])
def test_a_black_box_is_uncertain_where_it_errs(kind):
    score = kind(random_state=0).fit(X, Y, estimator=BLACK_BOX)
    fresh, labels = make_samples(5000, seed=1)
    uncertainty = score.uncertainty(fresh)
    losses = 1.0 * (BLACK_BOX.predict(fresh) != labels)
    assert rank_correlation(uncertainty, risk(fresh)) > 0.75
    assert area(uncertainty, losses) < 0.65 * losses.mean()
    assert score.estimates_risk == (kind in (ErrorProbability, LossRegression))
    if score.estimates_risk:
        # Five standard errors, of the samples learned from and of the fresh ones.
        noise = 5 * np.sqrt(losses.var() * (1 / len(X) + 1 / len(fresh)))
        assert abs(uncertainty.mean() - losses.mean()) < noise


# By hand


def test_a_regression_of_the_losses_and_the_probability_of_an_error():
    regression = LinearRegression().fit(X, LOSSES).predict(X)
    chance = LogisticRegression().fit(X, LOSSES > 0).predict_proba(X)[:, 1]
    for score, expected in (
        (LossRegression(LinearRegression(), "input", loss="squared"), regression),
        (ErrorProbability(LogisticRegression(), "input"), chance),
    ):
        score.fit(X, Y, estimator=BLACK_BOX)
        np.testing.assert_allclose(score.uncertainty(X), expected)


def test_a_regression_of_the_probability_of_the_true_class():
    score = TrueClassProbability(LinearRegression(), features="response")
    score.fit(X[1000:], Y[1000:], estimator=NAIVE)
    probabilities = NAIVE.predict_proba(X[1000:])
    true = probabilities[np.arange(2000), Y[1000:]]
    expected = 1 - LinearRegression().fit(probabilities, true).predict(probabilities)
    np.testing.assert_allclose(score.uncertainty(X[1000:]), expected)
    # That of a class that the classifier does not know is zero.
    score = TrueClassProbability(DummyRegressor(), features="response")
    score.fit(X[1000:], np.full(2000, 7), estimator=NAIVE)
    np.testing.assert_allclose(score.uncertainty(X[:3]), 1.0)


def test_the_losses_of_a_regressor():
    X = np.random.default_rng(1).normal(size=(400, 3))
    y = X[:, 0] + np.random.default_rng(0).normal(size=400) * X[:, 1]
    regressor = LinearRegression().fit(X, y)
    score = LossRegression(Ridge(), "input+response").fit(X, y, estimator=regressor)
    features = np.column_stack([X, regressor.predict(X)])
    losses = (y - regressor.predict(X)) ** 2
    expected = Ridge().fit(features, losses).predict(features)
    np.testing.assert_allclose(score.uncertainty(X), expected)
    assert SELE(0.1).fit(X, y, estimator=regressor).coef_.shape == (1, 3)
    selective = SelectiveRegressor(LinearRegression(), target_coverage=0.5).fit(X, y)
    assert isinstance(selective.uncertainty_score_, LossRegression)


# Weights by predicted label (FPV23, eq. 37)


def make_three(seed=0):
    """Return samples in odd units, a classifier of three labels, and its losses."""
    rng = np.random.default_rng(seed)
    units = np.array([1, 10, 0.1, 3])
    samples = rng.normal(size=(900, 4)) * units + [0, 5, 0, -2]
    centers = rng.normal(size=(3, 4)) * units
    apart = ((samples[:, None] - centers) ** 2 / units**2).sum(axis=2)
    labels = np.argmin(apart + rng.exponential(size=(900, 3)), axis=1)
    model = LogisticRegression(C=0.01, max_iter=2000).fit(samples[:300], labels[:300])
    samples, labels = samples[300:], labels[300:]
    if len(np.unique(model.predict(samples))) < 3:  # centers may be near each other
        return make_three(seed + 1)
    return samples, labels, model, 1.0 * (model.predict(samples) != labels)


LINEAR = [
    SELE(random_state=0),
    LossRegression(features="per_label_linear", random_state=0),
    TrueClassProbability(features="per_label_linear", random_state=0),
]


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_ridge_regression_for_each_label(alpha, is_weighted):
    samples, labels, model, losses = make_three()
    rng = np.random.default_rng(1)
    weight = rng.exponential(size=600) if is_weighted else np.ones(600)
    score = LossRegression(features="per_label_linear", alphas=alpha)
    given = {"sample_weight": weight} if is_weighted else {}
    score.fit(samples, labels, estimator=model, **given)
    scaled = StandardScaler().fit_transform(samples, sample_weight=weight)
    weight, predicted = weight / weight.mean(), model.predict(samples)
    for label in range(3):
        rows = predicted == label
        if rows.sum() < 30:  # without a penalty, few are a problem for both
            continue
        ridge = Ridge(alpha=alpha * 600)
        ridge.fit(scaled[rows], losses[rows], sample_weight=weight[rows])
        found = score.uncertainty(samples[rows])
        np.testing.assert_allclose(found, ridge.predict(scaled[rows]), atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-3, 1e-1])
def test_sele_finds_the_minimum(alpha):
    samples, labels, model, losses = make_three()
    score = SELE(alpha, tol=1e-9, random_state=0)
    score.fit(samples, labels, estimator=model)
    columns = np.column_stack([StandardScaler().fit_transform(samples), np.ones(600)])
    is_label = model.predict(samples)[:, np.newaxis] == np.arange(3)
    expanded = np.hstack([columns * is_label[:, [k]] for k in range(3)])

    def objective(theta):
        value, gradient = sele_loss_and_gradient(expanded @ theta, losses)
        value = value / losses.mean() + alpha / 2 * theta @ theta
        return value, expanded.T @ gradient / losses.mean() + alpha * theta

    found = np.hstack([score.coef_, score.intercept_[:, np.newaxis]]).ravel()
    best = minimize(objective, 0 * found, jac=True, options={"gtol": 1e-9})
    assert objective(found)[0] == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(found, best.x, atol=1e-3)
    linear = expanded @ found
    expected = (linear - linear.mean()) / linear.std()
    np.testing.assert_allclose(score.uncertainty(samples), expected, atol=1e-9)


def test_chunks_lead_to_about_the_same_score():
    samples, labels, model, _ = make_three()
    exact, chunked, one, tight = (
        SELE(1e-2, random_state=0, **options).fit(samples, labels, estimator=model)
        for options in (
            {},
            {"method": "chunked", "chunk_size": 200},
            {"method": "chunked", "chunk_size": 10**6, "tol": 1e-8},
            {"tol": 1e-8},
        )
    )
    scores = exact.uncertainty(samples), chunked.uncertainty(samples)
    assert np.corrcoef(*scores)[0, 1] > 0.98
    np.testing.assert_allclose(one.coef_, tight.coef_, atol=1e-4)


@pytest.mark.parametrize("score", LINEAR, ids=lambda score: type(score).__name__)
@pytest.mark.parametrize("refit", [False, True])
def test_alpha_is_the_best_on_the_validation_part(score, refit):
    samples, labels, model, losses = make_three()
    score.set_params(refit=refit).fit(samples, labels, estimator=model)
    assert score.areas_[score.alpha_] == min(score.areas_.values())
    assert set(score.areas_) == set(score.alphas)
    if not refit:
        splitter = StratifiedShuffleSplit(1, test_size=0.25, random_state=0)
        [(_, held)] = splitter.split(samples, losses > 0)
        found = area(score.uncertainty(samples[held]), losses[held])
        assert found == pytest.approx(score.areas_[score.alpha_])


@pytest.mark.parametrize("score", LINEAR, ids=lambda score: type(score).__name__)
def test_labels_never_predicted_are_as_uncertain_as_the_average(score):
    samples, labels, model, _ = make_three()
    rows = model.predict(samples) != 2
    score = clone(score).set_params(alphas=0.1)
    score.fit(samples[rows], labels[rows], estimator=model)
    expected = score.uncertainty(samples[rows]).mean()
    np.testing.assert_allclose(score.uncertainty(samples[~rows]), expected, atol=1e-9)


def test_too_few_errors_to_choose_by():
    samples, _, model, _ = make_three()
    labels = model.predict(samples)
    labels[0] = (labels[0] + 1) % 3
    score = SELE(random_state=0).fit(samples, labels, estimator=model)
    assert score.areas_ == {}
    assert score.alpha_ == max(score.alphas)


def test_convergence_warning_is_about_the_score_that_is_kept():
    samples, labels, model, _ = make_three()
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations at alpha=0"):
        SELE(0.0, max_iter=3).fit(samples, labels, estimator=model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = SELE(1e-2).fit(samples, labels, estimator=model)
    assert 1 < score.n_iter_ < 500


# Ends of the range


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize(
    "is_wrong", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_nothing_to_learn_where_all_losses_are_equal(kind, is_wrong):
    score = kind(random_state=0)
    if kind is SELE:
        score.set_params(tol=1e-9)
    labels = NAIVE.predict(X) ^ is_wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        uncertainty = score.fit(X, labels, estimator=NAIVE).uncertainty(X)
    assert np.isfinite(uncertainty).all()
    if score.estimates_risk:
        np.testing.assert_allclose(uncertainty, float(is_wrong), atol=1e-6)


class Recording(Ridge):
    """Keeps what it was fitted on."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X, y
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("classifier", [GaussianNB(), LinearSVC()], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_what_folds_say_of_classes_that_they_lack(classifier):
    """Such a class has probability zero, or the farthest decision value."""
    samples, labels, _, _ = make_three()
    labels[:2] = 3
    halves = np.arange(300), np.arange(300, 600)
    selective = SelectiveClassifier(
        classifier,
        target_coverage=0.5,
        cv=[halves, halves[::-1]],
        uncertainty_score=LossRegression(Recording(), "response"),
    ).fit(samples, labels)
    outputs, losses = selective.uncertainty_score_.regressor_.seen_
    for (train, test), rows in zip([halves, halves[::-1]], halves, strict=True):
        fold = clone(classifier).fit(samples[train], labels[train])
        if isinstance(classifier, GaussianNB):
            expected = fold.predict_proba(samples[test])
            missing = np.zeros(300)
        else:
            expected = fold.decision_function(samples[test])
            missing = expected.min(axis=1)
        if 3 not in fold.classes_:
            expected = np.column_stack([expected, missing])
        np.testing.assert_allclose(outputs[rows], expected, atol=1e-12)
        wrong = fold.predict(samples[test]) != labels[test]
        np.testing.assert_array_equal(losses[rows], wrong)
