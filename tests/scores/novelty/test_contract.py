"""What holds for every novelty score, and how one is found by name."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject._response._response import Response
from sklearn_reject.scores import (
    KNN,
    MSP,
    SELE,
    CallableNovelty,
    ConditionalRisk,
    Entropy,
    FrozenNovelty,
    LikelihoodRatio,
    Mahalanobis,
    MaxLogit,
    NoveltyScore,
    UncertaintyNovelty,
    get_novelty_names,
    resolve_novelty,
)

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NAMES = get_novelty_names()
X, Y = load_digits(return_X_y=True)
X_ID, Y_ID = X[Y < 5][:300] / 16, Y[Y < 5][:300]
LABELS = np.where(Y_ID > 2, "high", "low")
X_OOD = X[Y > 6][:100] / 16


@cache
def fit_classifier(name="network", is_binary=False):
    labels = LABELS if is_binary else Y_ID
    classifier = {
        "network": MLPClassifier((20,), max_iter=200, random_state=0),
        "logistic": LogisticRegression(),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    }[name]
    return classifier.fit(X_ID, labels)


def fit_score(name, classifier, **options):
    score = resolve_novelty(name, classifier, random_state=0)
    return score.fit(X_ID, Y_ID, estimator=classifier, X_ood=X_OOD, **options)


@pytest.mark.parametrize("name", NAMES)
def test_other_digits_are_novel(name):
    classifier = fit_classifier("network")
    score = fit_score(name, classifier)
    inside = score.novelty(X[Y < 5][300:600] / 16)
    outside = score.novelty(X[Y > 6][100:400] / 16)
    is_right = outside[:, np.newaxis] > inside
    assert is_right.mean() > 0.5, "no better than a coin"


@pytest.mark.parametrize("name", NAMES)
def test_samples_of_zero_weight_are_left_out(name):
    classifier = fit_classifier()
    weight = np.arange(300) % 3 > 0
    score = resolve_novelty(name, random_state=0)
    part = clone(score).fit(
        X_ID[weight], Y_ID[weight], estimator=classifier, X_ood=X_OOD
    )
    options = {"X_ood": X_OOD, "sample_weight": 2.0 * weight}
    whole = clone(score).fit(X_ID, Y_ID, estimator=classifier, **options)
    # Weights make boosting bin, and a forest draw, in a way of their own.
    if name not in ("likelihood_ratio", "outlier_detector"):
        np.testing.assert_allclose(whole.novelty(X_OOD), part.novelty(X_OOD), rtol=1e-9)
    assert not np.isnan(whole.novelty(X_OOD)).any()


@pytest.mark.parametrize("name", NAMES)
def test_needs_are_stated(name):
    classifier = fit_classifier()
    score = resolve_novelty(name)
    given = {"X": X_ID, "y": Y_ID, "X_ood": X_OOD}
    flags = {"X": "needs_samples", "y": "needs_labels", "X_ood": "needs_ood"}
    for missing, flag in flags.items():
        rest = given | {missing: None}
        if not getattr(score, flag):
            if missing == "X" and (score.needs_labels or score.needs_ood):
                continue
            score.fit(**rest, estimator=classifier)
            continue
        with pytest.raises(
            ValueError, match=rf"^{missing} is None: {type(score).__name__}"
        ):
            score.fit(**rest, estimator=classifier)


@pytest.mark.parametrize("name", NAMES)
def test_a_failed_fit_leaves_nothing_behind(name):
    classifier = fit_classifier()
    score = fit_score(name, classifier)
    with pytest.raises(NotFittedError):
        score.fit(X_ID, Y_ID, estimator=GaussianNB(), X_ood=X_OOD)
    score.novelty(X_OOD)  # nothing has been touched yet
    with pytest.raises(ValueError, match="y has 3 elements"):
        score.fit(X_ID, Y_ID[:3], estimator=classifier, X_ood=X_OOD)
    with pytest.raises(NotFittedError):
        score.novelty(X_OOD)


@pytest.mark.parametrize("name", NAMES)
def test_sparse_samples_work_or_are_refused(name):
    classifier = fit_classifier("logistic")
    score = resolve_novelty(name, random_state=0)
    samples = {"X": sparse.csr_matrix(X_ID), "X_ood": sparse.csr_matrix(X_OOD)}
    if name not in ("odin", "react", "sirc", "vim"):
        score.fit(**samples, y=Y_ID, estimator=classifier)
        assert score.takes_sparse
        np.testing.assert_allclose(
            score.novelty(samples["X_ood"]), fit_score(name, classifier).novelty(X_OOD)
        )
        return
    with pytest.raises(ValueError, match="sparse matrix, "):
        score.fit(**samples, y=Y_ID, estimator=classifier).novelty(samples["X"])


def test_bad_weights():
    classifier = fit_classifier("logistic")
    for weight, message in (
        (np.ones(3), "sample_weight has 3 elements"),
        (-np.ones(300), "sample_weight must be non-negative"),
        (np.zeros(300), "sample_weight is zero for every sample"),
    ):
        with pytest.raises(ValueError, match=message):
            KNN().fit(X_ID, estimator=classifier, sample_weight=weight)


class Given(NoveltyScore):
    """Returns what it is told to."""

    def __init__(self, values):
        self.values = values

    def _novelty(self, response):
        return np.asarray(self.values)


def test_novelty_may_be_infinite_but_not_nan():
    classifier = fit_classifier("logistic")
    values = [-np.inf, 0.0, np.inf]
    score = Given(values).fit(estimator=classifier)
    np.testing.assert_array_equal(score.novelty(X_ID[:3]), values)
    with pytest.raises(ValueError, match="novelty_score must not be NaN, got nan"):
        Given([np.nan, np.inf]).fit(estimator=classifier).novelty(X_ID[:2])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda e, X: np.zeros(3), r"shape \(3,\), expected one number .* \(100,\)"),
        (lambda e, X: np.zeros((100, 1)), r"shape \(100, 1\)"),
        (lambda e, X: np.full(100, np.nan), "novelty_score must not be NaN, got nan"),
        (lambda e, X: ["far"] * 100, "novelty_score must hold real numbers"),
    ],
)
def test_callables_are_checked(function, message):
    score = CallableNovelty(function).fit(estimator=fit_classifier("logistic"))
    with pytest.raises(ValueError, match=message):
        score.novelty(X_OOD)


def test_a_callable_by_name():
    classifier = fit_classifier("logistic")

    def distance(estimator, X):
        assert estimator is classifier
        return np.where(X[:, 2] > 0.5, np.inf, X[:, 3])

    score = resolve_novelty(distance).fit(estimator=classifier)
    np.testing.assert_array_equal(score.novelty(X_OOD), distance(classifier, X_OOD))


def test_an_uncertainty_score_is_taken_for_novelty():
    classifier = fit_classifier()
    for uncertainty in (Entropy(), ConditionalRisk("absolute")):
        score = resolve_novelty(uncertainty, classifier)
        assert isinstance(score, UncertaintyNovelty)
        assert score.uncertainty_score is not uncertainty
        expected = uncertainty.fit(estimator=classifier).uncertainty(X_OOD)
        score.fit(X_ID, Y_ID, estimator=classifier)
        np.testing.assert_array_equal(score.novelty(X_OOD), expected)


def test_a_learned_uncertainty_must_be_frozen():
    classifier = fit_classifier("logistic")
    with pytest.raises(ValueError, match=r"must be a plug-in score .* FrozenEstimator"):
        resolve_novelty(SELE()).fit(X_ID, Y_ID, estimator=classifier)
    learned = SELE().fit(X_ID[:200], Y_ID[:200] + 1, estimator=classifier)
    score = resolve_novelty(FrozenEstimator(learned)).fit(estimator=classifier)
    np.testing.assert_array_equal(score.novelty(X_OOD), learned.uncertainty(X_OOD))


def test_a_frozen_score_is_never_fitted_again():
    classifier, other = fit_classifier("logistic"), fit_classifier("pipeline")
    fitted = KNN(3).fit(X_ID[:50], estimator=classifier)
    score = resolve_novelty(FrozenEstimator(fitted), other)
    assert isinstance(score, FrozenNovelty)
    assert not score.needs_samples
    clone(score).fit(X_ID, Y_ID, estimator=other)
    score.fit(X_ID, Y_ID, estimator=other)
    # It knows features of its own classifier only.
    np.testing.assert_array_equal(score.novelty(X_OOD), fitted.novelty(X_OOD))
    score.fit(estimator=FrozenEstimator(classifier))
    np.testing.assert_array_equal(score.novelty(X_OOD), fitted.novelty(X_OOD))


def test_a_frozen_score_shares_the_response_of_its_classifier(monkeypatch):
    classifier = fit_classifier("logistic")
    score = resolve_novelty(FrozenEstimator(MSP().fit(estimator=classifier)))
    score.fit(estimator=FrozenEstimator(classifier))
    response = Response(FrozenEstimator(classifier), X_OOD)
    probabilities = response.probabilities
    monkeypatch.setattr(LogisticRegression, "predict_proba", None)
    np.testing.assert_allclose(
        score.from_response(response), 1 - probabilities.max(axis=1)
    )


def test_frozen_errors():
    classifier = fit_classifier("logistic")
    with pytest.raises(ValueError, match="score must be a FrozenEstimator around"):
        FrozenNovelty(MSP()).fit(estimator=classifier)
    with pytest.raises(ValueError, match="score must be a FrozenEstimator around"):
        FrozenNovelty(FrozenEstimator(classifier)).fit(estimator=classifier)
    with pytest.raises(NotFittedError):
        resolve_novelty(FrozenEstimator(MSP())).fit(estimator=classifier)


def test_the_given_score_is_not_touched():
    score = LikelihoodRatio()
    resolved = resolve_novelty(score, random_state=7)
    assert resolved is not score
    assert (score.random_state, resolved.random_state) == (None, 7)
    assert resolve_novelty(LikelihoodRatio(random_state=1), None, 7).random_state == 1
    assert resolve_novelty(Mahalanobis(0.2), None, 7).get_params()["shrinkage"] == 0.2


@pytest.mark.parametrize(
    "score", ["distance", "entropy", 3, None, MaxLogit, GaussianNB()]
)
def test_unknown_scores(score):
    with pytest.raises(ValueError, match=r"novelty_score must be one of \['energy'"):
        resolve_novelty(score)
