"""What all learned scores have in common, and what each of them learns."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_reject._curves import aurc_score
from sklearn_reject.scores import (
    SELE,
    ConditionalRisk,
    ErrorProbability,
    LossRegression,
    SELEBoosting,
    TrueClassProbability,
    resolve_score,
)

NAMES = [
    "error_probability",
    "loss_regression",
    "sele",
    "sele_boosting",
    "true_class_probability",
]


FEW_TREES = {
    "error_probability": {
        "classifier": HistGradientBoostingClassifier(max_iter=10, random_state=0)
    },
    "loss_regression": {
        "regressor": HistGradientBoostingRegressor(max_iter=10, random_state=0)
    },
    "sele_boosting": {"n_iter_no_change": None, "n_estimators": 5},
}
FEW_TREES["true_class_probability"] = FEW_TREES["loss_regression"]


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


X, y = make_samples(3000)
BLACK_BOX = SignOfFirst().fit(X, y)


def rank_correlation(first, second):
    ranks = [np.argsort(np.argsort(values)) for values in (first, second)]
    return np.corrcoef(*ranks)[0, 1]


@pytest.mark.parametrize("name", [n for n in NAMES if n != "true_class_probability"])
def test_a_black_box_is_uncertain_where_it_errs(name):
    score = resolve_score(name, BLACK_BOX, random_state=0)
    score.fit(X, y, estimator=BLACK_BOX)
    fresh, labels = make_samples(2000, seed=1)
    uncertainty = score.uncertainty(fresh)
    assert rank_correlation(uncertainty, risk(fresh)) > 0.75
    losses = BLACK_BOX.predict(fresh) != labels
    assert aurc_score(uncertainty, losses) < 0.65 * losses.mean()


@pytest.mark.slow
@pytest.mark.parametrize("score", [SELE(features="input"), LossRegression(Ridge())])
def test_linear_scores_recover_the_order_of_the_risk(score):
    # Fisher consistency: the risk is monotone in a linear function.
    errors = []
    for n_samples in (500, 20_000):
        score = clone(score).set_params(random_state=0)
        score.fit(*make_samples(n_samples, seed=2), estimator=BLACK_BOX)
        fresh, _ = make_samples(5000, seed=3)
        errors.append(1 - rank_correlation(score.uncertainty(fresh), risk(fresh)))
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 0.005


@pytest.mark.parametrize("name", ["loss_regression", "error_probability"])
def test_estimates_of_the_risk_are_in_its_unit(name):
    score = resolve_score(name, BLACK_BOX, random_state=0)
    score.fit(X, y, estimator=BLACK_BOX)
    assert score.estimates_risk
    fresh, labels = make_samples(5000, seed=4)
    error_rate = np.mean(BLACK_BOX.predict(fresh) != labels)
    assert abs(score.uncertainty(fresh).mean() - error_rate) < 0.02


def test_order_only_scores_do_not_claim_to_estimate_the_risk():
    for score in (SELE(), SELEBoosting(), TrueClassProbability()):
        assert not score.estimates_risk


def test_loss_regression_is_the_regression_of_the_losses():
    score = LossRegression(LinearRegression(), features="input", loss="squared")
    score.fit(X, y, estimator=BLACK_BOX)
    losses = (BLACK_BOX.predict(X) - y) ** 2
    expected = LinearRegression().fit(X, losses).predict(X)
    np.testing.assert_allclose(score.uncertainty(X), expected)


def test_true_class_probability_is_the_regression_of_that():
    naive = GaussianNB().fit(X[:1000], y[:1000])
    score = TrueClassProbability(LinearRegression(), features="response")
    score.fit(X[1000:], y[1000:], estimator=naive)
    probabilities = naive.predict_proba(X[1000:])
    true = probabilities[np.arange(2000), y[1000:]]
    expected = 1 - LinearRegression().fit(probabilities, true).predict(probabilities)
    np.testing.assert_allclose(score.uncertainty(X[1000:]), expected)


def test_probability_of_a_class_that_the_classifier_does_not_know_is_zero():
    naive = GaussianNB().fit(X[:1000], y[:1000])
    strange = y[1000:].copy()
    strange[::2] = 7
    score = TrueClassProbability(DummyRegressor(), features="response")
    score.fit(X[1000::2], strange[::2], estimator=naive)
    np.testing.assert_allclose(score.uncertainty(X[:3]), 1.0)


def test_error_probability_is_the_probability_of_an_error():
    score = ErrorProbability(LogisticRegression(), features="input")
    score.fit(X, y, estimator=BLACK_BOX)
    wrong = BLACK_BOX.predict(X) != y
    expected = LogisticRegression().fit(X, wrong).predict_proba(X)[:, 1]
    np.testing.assert_allclose(score.uncertainty(X), expected)


def test_features_are_what_they_are_called():
    naive = GaussianNB().fit(X[:1000], y[:1000])
    svm = LinearSVC().fit(X[:1000], y[:1000])
    n_features = {"input": 3, "response": 2, "input+response": 5}
    for features, expected in n_features.items():
        score = LossRegression(Ridge(), features).fit(X, y, estimator=naive)
        assert score.regressor_.n_features_in_ == expected
    assert (
        LossRegression(Ridge(), "response")
        .fit(X, y, estimator=svm)
        .regressor_.n_features_in_
        == 1
    )
    indicators = LossRegression(Ridge(), "response").fit(X, y, estimator=BLACK_BOX)
    assert len(np.unique(indicators.uncertainty(X).round(9))) == 2
    squares = LossRegression(Ridge(), PolynomialFeatures(2))
    assert squares.fit(X, y, estimator=svm).regressor_.n_features_in_ == 10


def test_scores_of_text_read_what_the_classifier_says():
    texts = ["good film", "bad film", "good book", "bad book", "good bad"] * 20
    labels = np.array(["yes", "no", "yes", "no", "no"] * 20)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)
    score = LossRegression(features="response").fit(texts, labels, estimator=model)
    assert score.uncertainty(texts[:3]).shape == (3,)
    words = SELE(features=TfidfVectorizer(), alphas=0.01)
    assert words.fit(texts, labels, estimator=model).coef_.shape == (1, 4)


@pytest.mark.parametrize("features", ["input", "input+response", "per_label_linear"])
def test_sparse_samples_give_the_same_linear_score_up_to_centring(features):
    naive = LogisticRegression().fit(X, y)
    centered = X - X.mean(axis=0)
    score = SELE(0.01, features, random_state=0, tol=1e-10)
    dense = score.fit(centered, y, estimator=naive).uncertainty(centered)
    given = sparse.csr_matrix(centered)
    thin = clone(score).fit(given, y, estimator=naive).uncertainty(given)
    if features == "input+response":
        # Probabilities are not centered, so that intercepts differ.
        assert rank_correlation(dense, thin) > 0.999
    else:
        np.testing.assert_allclose(thin, dense, atol=2e-4)


def test_sparse_samples_for_default_trees():
    given = sparse.csr_matrix(X)
    model = LogisticRegression().fit(X, y)
    for name, options in FEW_TREES.items():
        score = resolve_score(name, model, random_state=0).set_params(**options)
        dense = score.fit(X, y, estimator=model).uncertainty(X)
        thin = score.fit(given, y, estimator=model).uncertainty(given)
        np.testing.assert_allclose(thin, dense)
    tree = DecisionTreeRegressor(max_depth=3)
    thin = SELEBoosting(tree, 3, n_iter_no_change=None, random_state=0)
    dense = clone(thin).fit(X, y, estimator=model).uncertainty(X)
    np.testing.assert_allclose(
        thin.fit(given, y, estimator=model).uncertainty(given), dense
    )


@pytest.mark.parametrize("refit", [False, True])
def test_boosting_keeps_as_many_trees_as_had_the_least_area(refit):
    naive = GaussianNB().fit(X[:1000], y[:1000])
    score = SELEBoosting(
        n_estimators=40,
        n_iter_no_change=5,
        refit=refit,
        learning_rate=0.5,
        random_state=0,
    )
    score.fit(X[1000:2000], y[1000:2000], estimator=naive)
    n_kept = np.argmin(score.areas_) + 1
    assert len(score.estimators_) == n_kept == len(score.areas_) - 5


@pytest.mark.parametrize("name", NAMES)
def test_weight_zero_is_absence(name):
    model = GaussianNB().fit(X[:500], y[:500])
    options = {"random_state": 0}
    weight = np.zeros(1000)
    weight[:600] = 1.0
    given, labels = X[1000:2000], y[1000:2000]
    score = resolve_score(name, model, **options)
    score.set_params(**FEW_TREES.get(name, {}))
    weighted = clone(score).fit(given, labels, estimator=model, sample_weight=weight)
    plain = clone(score).fit(given[:600], labels[:600], estimator=model)
    np.testing.assert_allclose(
        weighted.uncertainty(X[:50]), plain.uncertainty(X[:50]), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "is_wrong", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_nothing_to_learn_where_all_losses_are_equal(name, is_wrong):
    model = GaussianNB().fit(X[:500], y[:500])
    labels = model.predict(X) ^ is_wrong
    score = resolve_score(name, model, random_state=0)
    if name == "sele":
        score.set_params(tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        uncertainty = score.fit(X, labels, estimator=model).uncertainty(X)
    assert np.isfinite(uncertainty).all()
    if score.estimates_risk:
        np.testing.assert_allclose(uncertainty, float(is_wrong), atol=1e-6)


def test_bad_input():
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="has no `predict_proba`"):
        TrueClassProbability().fit(X, y, estimator=LinearSVC().fit(X, y))
    with pytest.raises(ValueError, match="needs a classifier with `predict_proba`"):
        TrueClassProbability().fit(X, y, estimator=Ridge().fit(X, y))
    with pytest.raises(ValueError, match=r"losses of 0 and 1, got 2"):
        ErrorProbability(loss=[[0, 2], [1, 0]]).fit(X, y, estimator=model)
    with pytest.raises(ValueError, match="classifier must have `predict_proba`"):
        ErrorProbability(LinearSVC()).fit(X, y, estimator=model)
    for score in (LossRegression, SELE, ErrorProbability, SELEBoosting):
        with pytest.raises(ValueError, match="features must be one of"):
            score(features="outputs").fit(X, y, estimator=model)
    for score in (ErrorProbability, SELEBoosting):
        with pytest.raises(ValueError, match="got 'per_label_linear'"):
            score(features="per_label_linear").fit(X, y, estimator=model)
    with pytest.raises(ValueError, match="its own ridge regression, got"):
        LossRegression(Ridge(), "per_label_linear").fit(X, y, estimator=model)


class NaNRegressor(DummyRegressor):
    """Predicts nothing."""

    def predict(self, X):
        return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (SELE(tol=-1), "tol must be in"),
        (SELE(tol=None), "tol must be a number"),
        (SELE(max_iter=1.5), "max_iter must be a positive int"),
        (SELE(chunk_size=-1), "chunk_size must be a positive int"),
        (SELE(method="fast"), "method must be one of"),
        (LossRegression(LogisticRegression()), "regressor must be a regressor"),
        (LossRegression(alphas="foo"), "alphas must be finite"),
        (LossRegression(validation_fraction=-4), "validation_fraction must be"),
        (TrueClassProbability(refit="no"), "refit must be one of"),
        (SELEBoosting(n_estimators=0), "n_estimators must be a positive int"),
        (SELEBoosting(learning_rate=0), "learning_rate must be in"),
        (SELEBoosting(KNeighborsRegressor()), "base_learner must take sample_weight"),
        (SELEBoosting(max_samples=0.5), "max_samples must be a positive int"),
    ],
)
def test_bad_options(score, message):
    with pytest.raises(ValueError, match=message):
        score.fit(X, y, estimator=GaussianNB().fit(X, y))


def test_options_may_be_numpy_scalars():
    SELE(0.1, method=np.str_("exact"), refit=np.True_).fit(X, y, estimator=BLACK_BOX)


def test_learners_without_weights():
    weight = np.ones(len(X))
    for score in (
        LossRegression(KNeighborsRegressor(), "input"),
        ErrorProbability(KNeighborsClassifier(), "input"),
    ):
        score.fit(X, y, estimator=BLACK_BOX)
        with pytest.raises(ValueError, match="must take sample_weight in its `fit`"):
            score.fit(X, y, estimator=BLACK_BOX, sample_weight=weight)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scale_of_the_weights_means_nothing(name):
    model = GaussianNB().fit(X[:500], y[:500])
    weight = np.random.default_rng(0).uniform(0.5, 2, 500)
    values = []
    # Powers of two, as a bit that is rounded otherwise may change a tree.
    for scale in (1.0, 2.0**-150, 2.0**150):
        score = resolve_score(name, model, random_state=0)
        score.set_params(**FEW_TREES.get(name, {}))
        score.fit(
            X[500:1000], y[500:1000], estimator=model, sample_weight=weight * scale
        )
        values.append(score.uncertainty(X[1000:1100]))
    np.testing.assert_allclose(values[1:], [values[0]] * 2)


def test_transformers_that_are_frozen_or_look_at_the_losses():
    model = GaussianNB().fit(X, y)
    scaler = FrozenEstimator(StandardScaler().fit(X))
    frozen = SELE(0.01, features=scaler).fit(X, y, estimator=model)
    plain = SELE(0.01, features="input").fit(X, y, estimator=model)
    np.testing.assert_allclose(frozen.uncertainty(X), plain.uncertainty(X), atol=1e-6)
    best = SelectKBest(f_regression, k=1)
    score = LossRegression(Ridge(), best).fit(X, y, estimator=BLACK_BOX)
    assert abs(np.corrcoef(score.uncertainty(X), X[:, 1])[0, 1]) > 0.999


def test_a_new_fit_leaves_nothing_of_the_old_one():
    model = GaussianNB().fit(X, y)
    score = LossRegression(features="per_label_linear").fit(X, y, estimator=model)
    assert hasattr(score, "alpha_")
    score.set_params(regressor=Ridge(), features="input+response").fit(
        X, y, estimator=model
    )
    assert not hasattr(score, "alpha_")
    with pytest.raises(ValueError, match="alphas must be finite"):
        score.set_params(alphas=[]).fit(X, y, estimator=model)
    with pytest.raises(NotFittedError):
        score.uncertainty(X)


def test_estimators_that_are_neither():
    with pytest.raises(ValueError, match="must be a fitted classifier or regressor"):
        SELE().fit(X, y, estimator=KMeans(2, n_init=1).fit(X))
    with pytest.raises(ValueError, match="y is None"):
        SELE().fit(X, None, estimator=BLACK_BOX)


def test_regressor_that_predicts_nan():
    score = LossRegression(NaNRegressor()).fit(X, y, estimator=BLACK_BOX)
    with pytest.raises(ValueError, match="uncertainty_score must be finite, got nan"):
        score.uncertainty(X)


def test_one_error_among_many_samples():
    # Early stopping, from 10,000 samples, cannot stratify by it.
    many = np.tile(X, (4, 1))[:10_050]
    labels = BLACK_BOX.predict(many)
    labels[0] = 1 - labels[0]
    score = ErrorProbability(random_state=0).fit(many, labels, estimator=BLACK_BOX)
    assert np.isfinite(score.uncertainty(many[:9])).all()


def test_own_confidence_is_not_beaten_where_it_is_right():
    # The risk is known to the classifier itself; the learned score comes close.
    rng = np.random.default_rng(5)
    samples = rng.normal(size=(6000, 2))
    chance = 1 / (1 + np.exp(-2 * samples[:, 0]))
    labels = (rng.random(6000) < chance).astype(int)
    model = LogisticRegression().fit(samples[:2000], labels[:2000])
    test, losses = samples[4000:], model.predict(samples[4000:]) != labels[4000:]
    own = ConditionalRisk().fit(estimator=model).uncertainty(test)
    learned = ErrorProbability(random_state=0)
    learned.fit(samples[2000:4000], labels[2000:4000], estimator=model)
    assert aurc_score(learned.uncertainty(test), losses) < 1.25 * aurc_score(
        own, losses
    )
