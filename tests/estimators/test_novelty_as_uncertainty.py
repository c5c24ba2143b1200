"""Novelty scores where an uncertainty score is asked for."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.metrics import get_selective_scorer
from sklearn_reject.scores import (
    KNN,
    MSP,
    Mahalanobis,
    NoveltyScore,
    NoveltyUncertainty,
    get_novelty_names,
    resolve_score,
)

X, Y = make_blobs(200, centers=3, n_features=4, random_state=0)
FAR = np.full((20, 4), 60.0)


@pytest.mark.parametrize("score", ["mahalanobis", Mahalanobis(), KNN(5), MSP()])
def test_selective_classifiers_take_novelty_scores(score):
    model = SelectiveClassifier(
        GaussianNB(), target_coverage=0.9, uncertainty_score=score
    )
    model.fit(X, Y)
    fitted = model.uncertainty_score_
    assert isinstance(fitted, NoveltyUncertainty)
    inner = fitted.novelty_score.__class__(**fitted.novelty_score.get_params())
    alone = inner.fit(X, Y, estimator=model.estimator_)
    np.testing.assert_array_equal(model.uncertainty(X), alone.novelty(X))
    assert model.rule_.coverage == pytest.approx(0.9)


def test_what_is_far_away_is_rejected_however_sure_the_classifier():
    model = SelectiveClassifier(LogisticRegression(), target_coverage=0.9)
    sure = clone(model).fit(X, Y)
    wary = clone(model).set_params(uncertainty_score="mahalanobis").fit(X, Y)
    assert sure.accept(FAR).all()
    assert not wary.accept(FAR).any()
    # Samples one by one are decided alike.
    rows = np.vstack([X[:20], FAR[:1]])
    single = np.concatenate([wary.accept(row[np.newaxis]) for row in rows])
    np.testing.assert_array_equal(single, wary.accept(rows))


def test_the_score_is_fitted_without_the_rows_that_it_is_evaluated_on():
    model = SelectiveClassifier(
        GaussianNB(), target_coverage=0.8, uncertainty_score=KNN(1), cv=5
    ).fit(X, Y)
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
    model = SelectiveClassifier(frozen, target_coverage=0.8, uncertainty_score=KNN(1))
    assert (model.fit(X, Y).calibration_.scores > 0).all()
    certified = clone(model).set_params(confidence_level=0.9).fit(X, Y)
    assert certified.rule_.certificate.n_samples == len(X) // 2
    # One that was fitted before stays as it is, and takes no folds.
    fitted = KNN(1).fit(X, Y, estimator=frozen)
    model = clone(model).set_params(uncertainty_score=FrozenEstimator(fitted))
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

    SelectiveClassifier(GaussianNB(), target_coverage=0.9, uncertainty_score=Spy()).fit(
        X, Y
    )
    np.testing.assert_allclose(sorted(shares), [0.8] * 5 + [1.0], atol=0.01)
    shares.clear()
    labels = np.where(np.arange(len(Y)) < 50, -1, Y)
    weight = np.arange(len(Y)) % 3 * 1.0
    double = DoubleScoreOODClassifier(GaussianNB(), novelty_score=Spy(), min_tpr=0.9)
    double.fit(X, labels, sample_weight=weight)
    # Each sample of positive weight is in the training part of four folds of five.
    assert max(shares) == 1
    assert sum(shares) == pytest.approx(4 + 1)


def test_risk_score_takes_a_novelty_score_too():
    labels = np.where(np.arange(len(Y)) < 50, -1, Y)
    double = DoubleScoreOODClassifier(
        GaussianNB(), uncertainty_score="mahalanobis", novelty_score="msp", min_tpr=0.9
    ).fit(X, labels)
    risk, _ = double.risk_and_novelty(X)
    inner = Mahalanobis().fit(X[50:], labels[50:], estimator=double.estimator_)
    np.testing.assert_array_equal(risk, inner.novelty(X))


def test_regressors_take_those_that_need_no_labels():
    target = X @ np.arange(4.0)
    model = SelectiveRegressor(
        LinearRegression(), target_coverage=0.9, uncertainty_score=KNN(5)
    )
    assert not model.fit(X, target).accept(-FAR).any()
    model.set_params(uncertainty_score="mahalanobis")
    with pytest.raises(ValueError, match=r"class labels.*'knn'"):
        model.fit(X, target)


@pytest.mark.parametrize("name", get_novelty_names())
def test_regressors_take_any_novelty_score_or_name_one_that_they_take(name):
    model = SelectiveRegressor(
        LinearRegression(), target_coverage=0.9, uncertainty_score=name
    )
    target = X @ np.arange(4.0)
    if name in ("knn", "outlier_detector"):
        assert model.fit(X, target).rule_.coverage == pytest.approx(0.9)
        return
    with pytest.raises(ValueError, match=r"which a regressor does|OOD samples"):
        model.fit(X, target)


def test_scores_that_learn_from_ood_samples_are_refused():
    model = SelectiveClassifier(
        GaussianNB(), target_coverage=0.9, uncertainty_score="likelihood_ratio"
    )
    with pytest.raises(ValueError, match=r"learns from OOD samples.*DoubleScore"):
        model.fit(X, Y)


def test_a_search_compares_them_with_uncertainty_scores():
    search = GridSearchCV(
        SelectiveClassifier(GaussianNB(), target_coverage=0.9),
        {"uncertainty_score": ["conditional_risk", "mahalanobis", KNN(3)]},
        scoring=get_selective_scorer("neg_aurc"),
        cv=3,
    ).fit(*load_iris(return_X_y=True))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_names_and_seeds_are_resolved():
    score = resolve_score("outlier_detector", None, random_state=3)
    assert score.novelty_score.random_state == 3
    with pytest.raises(ValueError, match=r"a novelty score such as .*'knn'"):
        resolve_score("nearest", None)
