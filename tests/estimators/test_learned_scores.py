"""Estimators with learned scores: who learns from what, and what may be certified."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_reject import (
    DoubleScoreOODClassifier,
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.scores import (
    KNN,
    MSP,
    SELE,
    ErrorProbability,
    LossRegression,
    Mahalanobis,
    NoveltyScore,
)

X, y = make_classification(
    1200, 8, n_informative=5, n_classes=3, class_sep=0.8, flip_y=0.05, random_state=0
)
TRAIN, TEST = slice(0, 900), slice(900, None)
NAIVE = GaussianNB()

# As good as the defaults for what is tested, in a tenth of the time.
QUICK = {
    "error_probability": ErrorProbability(HistGradientBoostingClassifier(max_iter=30)),
    "loss_regression": LossRegression(HistGradientBoostingRegressor(max_iter=10)),
    "sele": SELE(alphas=0.01),
}


SLOW = pytest.mark.slow


def quick_and_named(*names):
    """The quick scores, and those that the names stand for in the slow tests."""
    quick = [pytest.param(QUICK[name], id=f"quick {name}") for name in names]
    slow = [pytest.param(name, id=name, marks=SLOW) for name in names]
    return pytest.mark.parametrize("score", quick + slow)


class Memory(RegressorMixin, BaseEstimator):
    """Knows the loss of the samples it has seen, and says .5 of all others."""

    def fit(self, X, y):
        self.losses_ = {row.tobytes(): loss for row, loss in zip(X, y, strict=True)}
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.array([self.losses_.get(row.tobytes(), 0.5) for row in X])


MEMORY = LossRegression(Memory(), "input")
FROZEN = FrozenEstimator(GaussianNB().fit(X[:300], y[:300]))


def fit(score=MEMORY, estimator=NAIVE, X=X, y=y, **options):
    options = {"target_coverage": 0.5, "random_state": 0} | options
    model = SelectiveClassifier(estimator, uncertainty_score=score, **options)
    return model.fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=SLOW)])
@pytest.mark.parametrize(
    "cv", [None, pytest.param(3, marks=SLOW), 0.3, ShuffleSplit(4, random_state=0)]
)
@pytest.mark.parametrize("estimator", [NAIVE, FROZEN], ids=["fitted", "frozen"])
# All samples that a fold has not seen are of one level, as they should be here.
@pytest.mark.filterwarnings("ignore:Fits to the folds of cv=3")
@pytest.mark.usefixtures("threads")
def test_no_sample_is_judged_by_a_score_that_has_seen_it(estimator, cv, n_jobs):
    selective = fit(estimator=estimator, cv=cv, n_jobs=n_jobs)
    # A memory that judged its own samples would find half of them without any risk.
    error_rate = np.mean(NAIVE.fit(X, y).predict(X) != y)
    assert selective.rule_.threshold == 0.5
    assert selective.rule_.selective_risk == pytest.approx(error_rate, abs=0.08)
    with pytest.raises(InfeasibleTargetError):
        selective.set_params(target_coverage=None, target_risk=0.05).fit(X, y)


def test_the_final_score_has_learned_from_every_sample():
    assert set(fit(cv=3, target_coverage=None).uncertainty(X)) == {0.0, 1.0}
    for options in ({}, {"confidence_level": 0.9}):
        held = fit(cv=0.25, **options)
        assert np.mean(held.uncertainty(X) == 0.5) == pytest.approx(0.25)


@quick_and_named("sele")
def test_scores_without_a_unit_can_be_compared_between_folds(score):
    selective = fit(score, X=X[TRAIN], y=y[TRAIN], target_coverage=0.7)
    assert selective.accept(X[TEST]).mean() == pytest.approx(0.7, abs=0.1)


@pytest.mark.parametrize("cv", [None, 0.3])
@quick_and_named("error_probability", "loss_regression")
def test_learned_beats_naive_confidence(score, cv):
    own, learned = (
        fit(each, X=X[TRAIN], y=y[TRAIN], target_coverage=0.6, cv=cv)
        for each in ("auto", score)
    )
    assert learned.score(X[TEST], y[TEST]) > own.score(X[TEST], y[TEST])
    assert learned.accept(X[TEST]).mean() == pytest.approx(0.6, abs=0.12)


def test_scores_are_learned_without_the_samples_that_they_judge():
    [halves] = ShuffleSplit(1, test_size=0.5, random_state=0).split(X)
    splits = [halves, halves[::-1]]
    regressor = HistGradientBoostingRegressor(max_iter=10, random_state=0)
    found = fit(LossRegression(regressor), cv=splits).calibration_
    seen, losses = [], []
    for train, test in splits:
        model = GaussianNB().fit(X[train], y[train])
        losses.append(model.predict(X[test]) != y[test])
        seen.append(np.hstack([X[test], model.predict_proba(X[test])]))
    expected = [
        regressor.fit(seen[other], losses[other]).predict(seen[fold])
        for fold, other in ((0, 1), (1, 0))
    ]
    np.testing.assert_allclose(found.scores, np.concatenate(expected))
    np.testing.assert_array_equal(found.losses, np.concatenate(losses))


@quick_and_named("loss_regression", "sele")
def test_classes_that_a_fold_lacks(score):
    labels = np.where(np.arange(len(y)) < 2, 9, y)
    halves = np.arange(600), np.arange(600, 1200)
    selective = fit(score, LinearSVC(), y=labels, cv=[halves, halves[::-1]])
    assert list(selective.classes_) == [0, 1, 2, 9]
    assert selective.accept(X).mean() == pytest.approx(0.5, abs=0.15)


def test_frozen_score_is_used_as_it_is():
    score = ErrorProbability(random_state=0)
    score.fit(X[300:600], y[300:600], estimator=FROZEN.estimator)
    frozen = FrozenEstimator(score)
    selective = fit(frozen, FROZEN, X[600:], y[600:], confidence_level=0.9)
    np.testing.assert_array_equal(selective.uncertainty(X), score.uncertainty(X))
    assert selective.rule_.certificate.quantity == "coverage"
    with pytest.raises(NotFittedError):
        fit(FrozenEstimator(ErrorProbability()), FROZEN)


def test_nothing_to_learn_from_in_a_fold():
    weight = np.r_[np.ones(240), np.zeros(960)]
    selective = SelectiveClassifier(FROZEN, uncertainty_score="sele", cv=KFold(5))
    selective.set_params(target_coverage=0.7)
    with pytest.raises(ValueError, match="sample_weight is zero for all samples that"):
        selective.fit(X, y, sample_weight=weight)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("cv", [0.3, 3])
@pytest.mark.parametrize("name", ["selective", "double"])
def test_learned_from_a_kernel_matrix(name, cv):
    """Its columns are the samples of the final fit, for the score as for the rest."""
    kernel, labels = X[:240] @ X[:240].T, y[:240] - (name == "double")  # -1 is OOD
    score, svc = (
        LossRegression(DecisionTreeRegressor(max_depth=2)),
        SVC(kernel="precomputed"),
    )
    model = SelectiveClassifier(svc, target_coverage=0.6)
    if name == "double":
        model = DoubleScoreOODClassifier(svc, min_tpr=0.6, max_fpr=1.0)
        model.set_params(novelty_score=lambda estimator, X: -np.asarray(X).max(axis=1))
    model.set_params(uncertainty_score=score, cv=cv, random_state=0)
    n_columns = model.fit(kernel, labels).estimator_.n_features_in_
    known = (labels != -1).sum()
    assert n_columns < known if cv == 0.3 else n_columns == known
    assert model.accept(kernel[:, :n_columns]).shape == labels.shape


@pytest.mark.parametrize("given", [None, 3, np.random.RandomState(3)], ids=str)
def test_seed_of_a_score_without_its_own(given):
    clf = fit(SELE(alphas=0.1), random_state=given)
    seed = clf.uncertainty_score_.random_state
    if given is None or given == 3:
        assert seed == given
    else:
        assert isinstance(seed, int)
        assert seed != clf.seed_


# Novelty scores where an uncertainty score is asked for


@pytest.mark.parametrize("score", ["mahalanobis", Mahalanobis(), KNN(5), MSP()])
def test_selective_classifiers_take_novelty_scores(score):
    model = fit(score)
    inner = clone(Mahalanobis() if score == "mahalanobis" else score)
    alone = inner.fit(X, y, estimator=model.estimator_)
    np.testing.assert_array_equal(model.uncertainty(X), alone.novelty(X))


def test_novelty_is_fitted_without_the_rows_that_it_is_evaluated_on():
    model = fit(KNN(1), cv=5)
    # The nearest training sample of one of these is that sample itself.
    assert (model.uncertainty(X) == 0).all()
    expected = np.empty(len(y))
    for train, test in StratifiedKFold(5).split(X, y):
        clf = GaussianNB().fit(X[train], y[train])
        score = KNN(1).fit(X[train], y[train], estimator=clf)
        expected[test] = score.novelty(X[test])
    found = model.calibration_
    np.testing.assert_array_equal(found.scores, expected[found.rows])
    # A frozen classifier gets folds for the score, unless that is frozen, too.
    assert (fit(KNN(1), FROZEN).calibration_.scores > 0).all()
    score = FrozenEstimator(KNN(1).fit(X, y, estimator=FROZEN))
    assert (fit(score, FROZEN).calibration_.scores == 0).all()


def test_parts_of_the_samples_say_so():
    shares = []

    class Spy(NoveltyScore):
        needs_samples = True

        def fit(self, X=None, y=None, *, share=1.0, least_share=1.0, **options):
            shares.append(share)
            assert least_share == pytest.approx(0.8, abs=0.01)
            return super().fit(X, y, share=share, least_share=least_share, **options)

        def compute(self, response):
            return np.asarray(response.X)[:, 0]

    fit(Spy(), cv=5)
    np.testing.assert_allclose(sorted(shares), [0.8] * 5 + [1.0], atol=0.01)
    shares.clear()
    double = DoubleScoreOODClassifier(NAIVE, novelty_score=Spy(), min_tpr=0.9, cv=5)
    double.fit(X, y - 1, sample_weight=np.arange(len(y)) % 3 * 1.0)
    # Each sample of positive weight is in the training part of four folds of five.
    assert max(shares) == 1
    assert sum(shares) == pytest.approx(4 + 1)


@pytest.mark.parametrize("name", ["knn", "outlier_detector"])
def test_regressors_take_those_that_need_no_labels(name):
    model = SelectiveRegressor(
        LinearRegression(), target_coverage=0.9, uncertainty_score=name
    )
    rows, target = X[:200], X[:200] @ np.arange(8)
    assert model.fit(rows, target).rule_.coverage == pytest.approx(0.9)
    assert not model.accept(np.full((20, 8), 60.0)).any() or name != "knn"
