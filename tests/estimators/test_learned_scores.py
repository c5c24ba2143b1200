"""Estimators with learned scores: who learns from what, and what may be certified."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_reject import (
    DoubleScoreOODClassifier,
    InfeasibleTargetError,
    SelectiveClassifier,
)
from sklearn_reject.scores import SELE, ErrorProbability, LossRegression

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


def quick_and_named(*names):
    """The quick scores, and those that the names stand for in the slow tests."""
    return pytest.mark.parametrize(
        "score",
        [
            *(pytest.param(QUICK[name], id=f"quick {name}") for name in names),
            *(pytest.param(name, id=name, marks=pytest.mark.slow) for name in names),
        ],
    )


class Memory(RegressorMixin, BaseEstimator):
    """Knows the loss of the samples it has seen, and says .5 of all others."""

    seen = None  # rows of the last fit of any instance, for the tests

    def fit(self, X, y):
        self.losses_ = {row.tobytes(): loss for row, loss in zip(X, y, strict=True)}
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.array([self.losses_.get(row.tobytes(), 0.5) for row in X])


MEMORY = LossRegression(Memory(), "input")
FROZEN = FrozenEstimator(GaussianNB().fit(X[:300], y[:300]))


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "cv",
    [
        None,
        pytest.param(3, marks=pytest.mark.slow),
        0.3,
        ShuffleSplit(4, random_state=0),
    ],
)
@pytest.mark.parametrize("estimator", [NAIVE, FROZEN], ids=["fitted", "frozen"])
# All samples that a fold has not seen are of one level, as they should be here.
@pytest.mark.filterwarnings("ignore:Fits to the folds of cv=3")
@pytest.mark.usefixtures("threads")
def test_no_sample_is_judged_by_a_score_that_has_seen_it(estimator, cv, n_jobs):
    selective = SelectiveClassifier(
        estimator,
        uncertainty_score=MEMORY,
        target_coverage=0.5,
        cv=cv,
        n_jobs=n_jobs,
        random_state=0,
    ).fit(X, y)
    # A memory that judged its own samples would find half of them without any risk.
    error_rate = np.mean(NAIVE.fit(X, y).predict(X) != y)
    assert selective.rule_.threshold == 0.5
    assert selective.rule_.selective_risk == pytest.approx(error_rate, abs=0.08)
    with pytest.raises(InfeasibleTargetError):
        selective.set_params(target_coverage=None, target_risk=0.05).fit(X, y)


def test_the_final_score_has_learned_from_every_sample():
    selective = SelectiveClassifier(NAIVE, uncertainty_score=MEMORY, cv=3).fit(X, y)
    assert set(selective.uncertainty(X)) == {0.0, 1.0}
    held = SelectiveClassifier(NAIVE, uncertainty_score=MEMORY, cv=0.25).fit(X, y)
    known = held.uncertainty(X) != 0.5
    assert known.mean() == pytest.approx(0.75)


@quick_and_named("sele")
def test_scores_without_a_unit_can_be_compared_between_folds(score):
    selective = SelectiveClassifier(
        NAIVE, uncertainty_score=score, target_coverage=0.7, random_state=0
    ).fit(X[TRAIN], y[TRAIN])
    assert selective.accept(X[TEST]).mean() == pytest.approx(0.7, abs=0.1)


@pytest.mark.parametrize("cv", [None, 0.3])
@quick_and_named("error_probability", "loss_regression")
def test_learned_beats_naive_confidence(score, cv):
    shared = dict(target_coverage=0.6, random_state=0, cv=cv)
    own = SelectiveClassifier(NAIVE, **shared).fit(X[TRAIN], y[TRAIN])
    learned = SelectiveClassifier(NAIVE, uncertainty_score=score, **shared)
    learned.fit(X[TRAIN], y[TRAIN])
    assert learned.score(X[TEST], y[TEST]) > own.score(X[TEST], y[TEST])
    assert learned.accept(X[TEST]).mean() == pytest.approx(0.6, abs=0.12)


def test_rule_is_solved_on_cross_fitted_uncertainty():
    [halves] = ShuffleSplit(1, test_size=0.5, random_state=0).split(X)
    splits = [halves, halves[::-1]]
    regressor = HistGradientBoostingRegressor(max_iter=10, random_state=0)
    selective = SelectiveClassifier(
        NAIVE,
        uncertainty_score=LossRegression(regressor),
        target_coverage=0.7,
        cv=splits,
    ).fit(X, y)
    expected, losses = np.empty(len(X)), np.empty(len(X))
    observed = {}
    for fold, (train, test) in enumerate(splits):
        model = GaussianNB().fit(X[train], y[train])
        losses[test] = model.predict(X[test]) != y[test]
        observed[fold] = np.hstack([X[test], model.predict_proba(X[test])])
    for fold, (_, test) in enumerate(splits):
        _, other = splits[1 - fold]
        regressor.fit(observed[1 - fold], losses[other])
        expected[test] = regressor.predict(observed[fold])
    threshold = np.sort(expected)[round(0.7 * len(X)) - 1]
    assert selective.rule_.threshold == pytest.approx(threshold)
    kept = expected <= threshold
    assert selective.rule_.selective_risk == pytest.approx(losses[kept].mean())


@pytest.mark.parametrize(
    "classifier",
    [NAIVE, LinearSVC(), pytest.param(LogisticRegression(), marks=pytest.mark.slow)],
    ids=lambda classifier: type(classifier).__name__,
)
@quick_and_named("loss_regression", "sele")
def test_classes_that_a_fold_lacks(classifier, score):
    labels = y.copy()
    labels[:2] = 9
    splits = [
        (np.arange(600), np.arange(600, 1200)),
        (np.arange(600, 1200), np.arange(600)),
    ]
    selective = SelectiveClassifier(
        classifier,
        uncertainty_score=score,
        target_coverage=0.5,
        cv=splits,
        random_state=0,
    ).fit(X, labels)
    assert list(selective.classes_) == [0, 1, 2, 9]
    assert selective.accept(X).mean() == pytest.approx(0.5, abs=0.15)


def test_frozen_score_is_used_as_it_is():
    score = ErrorProbability(random_state=0)
    score.fit(X[300:600], y[300:600], estimator=FROZEN.estimator)
    selective = SelectiveClassifier(
        FROZEN,
        uncertainty_score=FrozenEstimator(score),
        target_coverage=0.5,
        confidence_level=0.9,
        random_state=0,
    ).fit(X[600:], y[600:])
    np.testing.assert_array_equal(selective.uncertainty(X), score.uncertainty(X))
    assert selective.rule_.certificate.quantity == "coverage"
    unfitted = FrozenEstimator(ErrorProbability())
    with pytest.raises(NotFittedError):
        SelectiveClassifier(FROZEN, uncertainty_score=unfitted).fit(X, y)


def test_certified_risk_holds_out_what_it_is_solved_on():
    selective = SelectiveClassifier(
        NAIVE,
        uncertainty_score="error_probability",
        target_risk=0.3,
        confidence_level=0.9,
        cv=0.4,
        random_state=0,
    ).fit(X, y)
    certificate = selective.rule_.certificate
    assert (certificate.n_samples, certificate.bound) == (480, "binomial")
    assert (certificate.target, certificate.confidence_level) == (0.3, 0.9)
    # Fitted on the rest alone: a memory does not know what was held out.
    memory = SelectiveClassifier(
        NAIVE,
        uncertainty_score=MEMORY,
        target_coverage=0.9,
        confidence_level=0.9,
        cv=0.4,
    ).fit(X, y)
    assert np.sum(memory.uncertainty(X) == 0.5) == 480


def test_nothing_to_learn_from_in_a_fold():
    weight = np.r_[np.ones(240), np.zeros(960)]
    selective = SelectiveClassifier(
        FROZEN, uncertainty_score="sele", target_coverage=0.7, cv=KFold(5)
    )
    with pytest.raises(ValueError, match="sample_weight is zero for all samples that"):
        selective.fit(X, y, sample_weight=weight)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("cv", [0.3, 3])
@pytest.mark.parametrize("name", ["selective", "double"])
def test_learned_from_a_kernel_matrix(name, cv):
    """Its columns are the samples of the final fit, for the score as for the rest."""
    digits, labels = load_digits(return_X_y=True)
    digits, labels = digits[:240] / 16, labels[:240]
    svc = SVC(kernel="precomputed")
    if name == "selective":
        model = SelectiveClassifier(
            svc,
            uncertainty_score=LossRegression(DecisionTreeRegressor(max_depth=2)),
            target_coverage=0.6,
            cv=cv,
            random_state=0,
        )
    else:
        labels = np.where(labels == 9, -1, labels)
        model = DoubleScoreOODClassifier(
            svc,
            uncertainty_score=LossRegression(DecisionTreeRegressor(max_depth=2)),
            novelty_score=lambda estimator, X: -np.asarray(X).max(axis=1),
            min_tpr=0.6,
            max_fpr=1.0,
            cv=cv,
            random_state=0,
        )
    model.fit(digits @ digits.T, labels)
    n_columns = model.estimator_.n_features_in_
    known = (labels != -1).sum()
    assert n_columns < known if cv == 0.3 else n_columns == known
    accepted = model.accept((digits @ digits.T)[:, :n_columns])
    assert accepted.shape == labels.shape


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", [None, 3, np.random.RandomState(3)], ids=["none", "int", "state"]
)
def test_seed_of_a_score_without_its_own(given):
    X, y = load_iris(return_X_y=True)
    clf = SelectiveClassifier(
        GaussianNB(), target_coverage=0.5, uncertainty_score="sele", random_state=given
    )
    seed = clf.fit(X, y).uncertainty_score_.random_state
    if given is None or given == 3:
        assert seed == given
    else:
        assert isinstance(seed, int)
        assert seed != clf.seed_
