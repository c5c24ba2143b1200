"""Novelty scores where an uncertainty score is asked for."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.metrics import get_selective_scorer
from sklearn_reject.scores import KNN, MSP, Mahalanobis, NoveltyScore, get_novelty_names

X, Y = make_blobs(200, centers=3, n_features=4, random_state=0)
NOVEL = np.where(np.arange(len(Y)) < 50, -1, Y)
FAR = np.full((20, 4), 60.0)
MODEL = SelectiveClassifier(GaussianNB(), target_coverage=0.9)
REGRESSOR = SelectiveRegressor(LinearRegression(), target_coverage=0.9)


@pytest.mark.parametrize("score", ["mahalanobis", Mahalanobis(), KNN(5), MSP()])
def test_selective_classifiers_take_novelty_scores(score):
    model = clone(MODEL).set_params(uncertainty_score=score).fit(X, Y)
    inner = clone(Mahalanobis() if score == "mahalanobis" else score)
    alone = inner.fit(X, Y, estimator=model.estimator_)
    np.testing.assert_array_equal(model.uncertainty(X), alone.novelty(X))
    assert model.rule_.coverage == pytest.approx(0.9)


def test_the_score_is_fitted_without_the_rows_that_it_is_evaluated_on():
    model = clone(MODEL).set_params(uncertainty_score=KNN(1), cv=5).fit(X, Y)
    # The nearest training sample of one of these is that sample itself.
    assert (model.uncertainty(X) == 0).all()
    assert (model.calibration_.scores > 0).all()
    expected = np.empty(len(Y))
    for train, test in StratifiedKFold(5).split(X, Y):
        clf = GaussianNB().fit(X[train], Y[train])
        score = KNN(1).fit(X[train], Y[train], estimator=clf)
        expected[test] = score.novelty(X[test])
    calibration = model.calibration_
    np.testing.assert_array_equal(calibration.scores, expected[calibration.rows])


def test_a_frozen_classifier_gets_folds_for_the_score():
    frozen = FrozenEstimator(GaussianNB().fit(X, Y))
    model = clone(MODEL).set_params(estimator=frozen, uncertainty_score=KNN(1))
    assert (model.fit(X, Y).calibration_.scores > 0).all()
    # One that was fitted before stays as it is, and takes no folds.
    fitted = KNN(1).fit(X, Y, estimator=frozen)
    model.set_params(uncertainty_score=FrozenEstimator(fitted))
    assert (model.fit(X, Y).calibration_.scores == 0).all()


def test_parts_of_the_samples_say_so():
    shares = []

    class Spy(NoveltyScore):
        needs_samples = True

        def fit(self, X=None, y=None, *, share=1.0, **options):
            shares.append(share)
            return super().fit(X, y, share=share, **options)

        def _novelty(self, response):
            return np.asarray(response.X)[:, 0]

    clone(MODEL).set_params(uncertainty_score=Spy()).fit(X, Y)
    np.testing.assert_allclose(sorted(shares), [0.8] * 5 + [1.0], atol=0.01)
    shares.clear()
    weight = np.arange(len(Y)) % 3 * 1.0
    double = DoubleScoreOODClassifier(GaussianNB(), novelty_score=Spy(), min_tpr=0.9)
    double.fit(X, NOVEL, sample_weight=weight)
    # Each sample of positive weight is in the training part of four folds of five.
    assert max(shares) == 1
    assert sum(shares) == pytest.approx(4 + 1)


@pytest.mark.parametrize("name", get_novelty_names())
def test_regressors_take_those_that_need_no_labels_or_name_one(name):
    model, target = clone(REGRESSOR).set_params(uncertainty_score=name), X @ np.ones(4)
    if name in ("knn", "outlier_detector"):
        model.fit(X, target)
        assert model.rule_.coverage == pytest.approx(0.9)
        assert not model.accept(-FAR).any() or name != "knn"
        return
    with pytest.raises(
        ValueError, match=r"class labels.*'knn'|which a regressor|OOD s"
    ):
        model.fit(X, target)


def test_a_search_compares_them_with_uncertainty_scores():
    grid = {"uncertainty_score": ["conditional_risk", "mahalanobis", KNN(3)]}
    scoring = get_selective_scorer("neg_aurc")
    search = GridSearchCV(MODEL, grid, scoring=scoring, cv=3).fit(
        *load_iris(return_X_y=True)
    )
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("likelihood_ratio", r"learns from OOD samples.*DoubleScore"),
        ("nearest", r"a novelty score such as .*'knn'"),
    ],
)
def test_errors(score, message):
    with pytest.raises(ValueError, match=message):
        clone(MODEL).set_params(uncertainty_score=score).fit(X, Y)
