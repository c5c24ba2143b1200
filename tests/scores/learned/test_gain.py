"""What the expected gain of a second opinion learns, and from which samples."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from sklearn_reject import SelectiveClassifier
from sklearn_reject._response import Response
from sklearn_reject.losses import check_loss
from sklearn_reject.scores import (
    ConditionalRisk,
    ErrorProbability,
    ExpectedGain,
    LossRegression,
    Margin,
    get_score_names,
    register_score,
    resolve_gain,
    resolve_score,
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


def some_missing(share=0.6, seed=2):
    """Return the expert's labels with gaps, and which of them are there."""
    is_known = np.random.default_rng(seed).random(len(EXPERT)) > share
    return np.where(is_known, EXPERT, np.nan), is_known


def fit_gain(score, X=X, y=Y, expert=EXPERT, **given):
    given = {"estimator": FIRST} | given
    return score.fit(X, y, expert_labels=expert, **given)


def test_the_gain_is_high_where_the_expert_is_the_better_one():
    fresh, y, expert = make_samples(1000, seed=3)
    gain = fit_gain(ExpectedGain(random_state=0)).uncertainty(fresh)
    difference = 1.0 * (FIRST.predict(fresh) != y) - (expert != y)
    knows = fresh[:, 1] > 0
    for part in (knows, ~knows):
        assert gain[part].mean() == pytest.approx(difference[part].mean(), abs=0.06)
    assert gain[~knows].mean() < -0.2 < 0.1 < gain[knows].mean()


def test_the_difference_is_learned_where_all_are_known():
    score = fit_gain(ExpectedGain(LinearRegression(), "input"))
    expected = LinearRegression().fit(X, L1 - L2).predict(X)
    np.testing.assert_allclose(score.uncertainty(X), expected)
    score = fit_gain(ExpectedGain(LogisticRegression(), "input"))
    outcomes = LogisticRegression().fit(X, (L1 - L2).astype(int)).predict_proba(X)
    np.testing.assert_allclose(score.uncertainty(X), outcomes[:, 2] - outcomes[:, 0])
    assert score.n_asked_ == len(X)


def test_the_first_is_learned_from_all_and_the_second_where_it_is_known():
    expert, is_known = some_missing()
    score = fit_gain(ExpectedGain(LogisticRegression(), "input"), expert=expert)
    first = LogisticRegression().fit(X, L1).predict_proba(X)[:, 1]
    second = LogisticRegression().fit(X[is_known], L2[is_known]).predict_proba(X)
    np.testing.assert_allclose(score.uncertainty(X), first - second[:, 1])
    assert score.n_asked_ == is_known.sum()


def test_losses_other_than_zero_and_one():
    loss = check_loss(COSTS, labels=[0, 1, 2])
    first, second = loss(Y, FIRST.predict(X)), loss(Y, EXPERT)
    score = fit_gain(ExpectedGain(LinearRegression(), "input", loss=COSTS))
    expected = LinearRegression().fit(X, first - second).predict(X)
    np.testing.assert_allclose(score.uncertainty(X), expected)
    default = fit_gain(ExpectedGain(loss=COSTS, random_state=0))
    assert isinstance(default.learners_[0], HistGradientBoostingRegressor)
    with pytest.raises(
        ValueError, match="is a classifier, which can only learn losses of 0"
    ):
        fit_gain(ExpectedGain(FEW, loss=COSTS))


def test_regressors_have_a_second_opinion_too():
    target = X[:, 0] + X[:, 1]
    first = LinearRegression().fit(X[:, :1], target)
    score = ExpectedGain(LinearRegression(), "input")
    score.fit(X[:, :1], target, estimator=first, expert_labels=target + 1)
    losses = (target - first.predict(X[:, :1])) ** 2 - 1
    expected = LinearRegression().fit(X[:, :1], losses).predict(X[:, :1])
    np.testing.assert_allclose(score.uncertainty(X[:, :1]), expected)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "gaps"])
def test_constant_losses(missing):
    expert = Y.astype(float)  # never wrong
    expert[::2] = np.nan if missing else expert[::2]
    never_wrong = fit_gain(ExpectedGain(FEW), expert=expert)
    assert (never_wrong.uncertainty(X) > -1e-12).all()
    both = fit_gain(ExpectedGain(), y=FIRST.predict(X), expert=FIRST.predict(X))
    np.testing.assert_array_equal(both.uncertainty(X), 0)
    wrong = (FIRST.predict(X) + 1) % 3
    expert = np.where(np.isnan(expert), np.nan, FIRST.predict(X))
    first_right = fit_gain(ExpectedGain(), y=FIRST.predict(X), expert=wrong)
    np.testing.assert_array_equal(first_right.uncertainty(X), -1)
    first_wrong = fit_gain(ExpectedGain(), y=wrong, expert=wrong)
    np.testing.assert_array_equal(first_wrong.uncertainty(X), 1)


@pytest.mark.parametrize("n_known", [1, 2, 10])
def test_very_few_rows_with_an_answer(n_known):
    expert = np.full(len(Y), None, dtype=object)
    expert[:n_known] = EXPERT[:n_known]
    score = fit_gain(ExpectedGain(random_state=0), expert=expert)
    assert score.n_asked_ == n_known
    risk = ErrorProbability(random_state=0).fit(X, Y, estimator=FIRST).uncertainty(X)
    # So few trees cannot split: the risk of the expert is the mean.
    expected = risk - L2[:n_known].mean()
    np.testing.assert_allclose(score.uncertainty(X), expected, atol=1e-6)


def test_one_row_is_enough():
    score = ExpectedGain(random_state=0)
    score.fit(X[:1], Y[:1], estimator=FIRST, expert_labels=EXPERT[:1])
    np.testing.assert_array_equal(score.uncertainty(X[:3]), L1[0] - L2[0])


def test_a_difference_that_occurs_once_among_many_samples():
    # Early stopping, from 10,000 samples, cannot stratify by it.
    rng = np.random.default_rng(0)
    many = rng.normal(size=(10_050, 1))
    predicted = make_pipeline(FrozenEstimator(FIRST))
    y = predicted.predict(np.hstack([many, many, many]))
    expert = y.copy()
    expert[0] = (y[0] + 1) % 3
    score = ExpectedGain(random_state=0)
    wide = np.hstack([many, many, many])
    gain = score.fit(wide, y, estimator=FIRST, expert_labels=expert).uncertainty(wide)
    assert np.isfinite(gain).all()
    assert gain.max() <= 0


def test_nothing_is_known_of_the_expert():
    for expert in (np.full(len(Y), np.nan), [None] * len(Y)):
        with pytest.raises(ValueError, match="none is known"):
            fit_gain(ExpectedGain(), expert=expert)
    weight, (expert, is_known) = np.ones(len(Y)), some_missing()
    weight[is_known] = 0
    with pytest.raises(ValueError, match="none is known"):
        fit_gain(ExpectedGain(), expert=expert, sample_weight=weight)
    with pytest.raises(ValueError, match="expert_labels has 899 elements"):
        fit_gain(ExpectedGain(), expert=EXPERT[1:])
    with pytest.raises(TypeError, match="expert_labels"):
        ExpectedGain().fit(X, Y, estimator=FIRST)


def test_what_cannot_learn():
    for learner in (LinearSVC(), "trees", KNeighborsClassifier, KMeans(2)):
        with pytest.raises(ValueError, match="base_learner must be a regressor, or a"):
            fit_gain(ExpectedGain(learner))


def test_learners_without_weights():
    with pytest.raises(ValueError, match="base_learner must take sample_weight"):
        fit_gain(ExpectedGain(KNeighborsClassifier()), sample_weight=np.ones(len(Y)))


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "gaps"])
def test_weight_zero_is_absence_and_the_unit_of_weights_means_nothing(missing):
    expert, weight = some_missing()[0] if missing else EXPERT, np.zeros(len(Y))
    weight[:500] = 2.0**40
    score = ExpectedGain(FEW)
    weighted = fit_gain(clone(score), expert=expert, sample_weight=weight)
    plain = fit_gain(clone(score), X[:500], Y[:500], expert[:500])
    np.testing.assert_allclose(
        weighted.uncertainty(X), plain.uncertainty(X), rtol=1e-6, atol=1e-6
    )


def test_labels_of_any_type():
    names = np.array(["low", "mid", "high"], dtype=object)
    first = GaussianNB().fit(X[:300], names[Y[:300]])
    expert, is_known = some_missing()
    texts = np.where(is_known, names[EXPERT], None)
    score = fit_gain(ExpectedGain(FEW), y=names[Y], expert=texts, estimator=first)
    same = GaussianNB().fit(X[:300], Y[:300])
    expected = fit_gain(ExpectedGain(FEW), expert=expert, estimator=same)
    assert score.n_asked_ == expected.n_asked_
    columns = [list(first.classes_).index(name) for name in names]
    np.testing.assert_array_equal(
        first.predict_proba(X)[:, columns].round(12), same.predict_proba(X).round(12)
    )
    by_input = ExpectedGain(FEW, "input")
    np.testing.assert_array_equal(
        fit_gain(
            clone(by_input), y=names[Y], expert=texts, estimator=first
        ).uncertainty(X),
        fit_gain(clone(by_input), expert=expert, estimator=same).uncertainty(X),
    )


def test_frames_with_categories_and_a_frame_is_no_array():
    pd = pytest.importorskip("pandas")
    kinds = np.where(X[:, 1] > 0, "known", "strange")
    frame = pd.DataFrame({"number": X[:, 0], "kind": kinds})
    first = make_pipeline(FrozenEstimator(FirstColumn().fit(frame, Y)))
    score = ExpectedGain(FEW).fit(frame, Y, estimator=first, expert_labels=EXPERT)
    gain = score.uncertainty(frame)
    assert gain[X[:, 1] > 0].mean() > 0 > gain[X[:, 1] <= 0].mean()


class FirstColumn(GaussianNB):
    """Looks at the first column of a frame only."""

    def fit(self, X, y):
        return super().fit(X.to_numpy()[:, :1].astype(float), y)

    def predict_proba(self, X):
        return super().predict_proba(X.to_numpy()[:, :1].astype(float))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_text_and_sparse_samples():
    texts = ["good film", "bad film", "good book", "bad book", "good bad"] * 20
    labels = np.array(["yes", "no", "yes", "no", "no"] * 20)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)
    score = ExpectedGain(FEW)
    score.fit(texts, labels, estimator=model, expert_labels=["yes"] * 100)
    assert score.features_ == "response"
    assert score.uncertainty(texts[:3]).shape == (3,)
    model = LogisticRegression().fit(X, Y)
    dense = fit_gain(ExpectedGain(FEW), estimator=model).uncertainty(X)
    thin = fit_gain(ExpectedGain(FEW), sparse.csr_matrix(X), estimator=model)
    np.testing.assert_allclose(thin.uncertainty(sparse.csr_matrix(X)), dense)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("loss", [None, COSTS], ids=["zero_one", "matrix"])
def test_rows_do_not_depend_on_each_other(missing, loss):
    expert = some_missing()[0] if missing else EXPERT
    score = fit_gain(ExpectedGain(random_state=0, loss=loss), expert=expert)
    gain = score.uncertainty(X[:63])
    chunks = [score.uncertainty(X[start : start + 7]) for start in range(0, 63, 7)]
    np.testing.assert_array_equal(np.concatenate(chunks), gain)
    again = pickle.loads(pickle.dumps(score))
    np.testing.assert_array_equal(again.uncertainty(X[:63]), gain)
    labels, values = score.evaluate(Response(FIRST, X[:63]))
    np.testing.assert_array_equal(labels, FIRST.predict(X[:63]))
    np.testing.assert_array_equal(values, gain)


def test_folds_are_collected_and_learned_without_an_estimator():
    expert, _ = some_missing()
    score = ExpectedGain(FEW).resolve(FIRST.classes_).choose_features(FIRST, X)
    parts = [
        score.collect(Response(FIRST, X[rows]), Y[rows], expert[rows])
        for rows in (slice(0, 400), slice(400, None))
    ]
    collected = [np.concatenate(values) for values in zip(*parts, strict=True)]
    np.testing.assert_array_equal(collected[2][:, 0], L1)
    score.fit_collected(X, *collected)
    expected = fit_gain(ExpectedGain(FEW), expert=expert).uncertainty(X)
    values = score.predict_collected(X, *collected[:2])
    np.testing.assert_array_equal(values, expected)


def test_a_selective_classifier_knows_of_no_expert():
    assert "gain" not in get_score_names()
    for given in ("gain", ExpectedGain()):
        with pytest.raises(ValueError, match="learns from the labels of an expert"):
            resolve_score(given, FIRST)
        selective = SelectiveClassifier(
            GaussianNB(), target_coverage=0.8, uncertainty_score=given
        )
        with pytest.raises(ValueError, match="DeferringClassifier"):
            selective.fit(X, Y)
    fitted = fit_gain(ExpectedGain(FEW))
    assert isinstance(resolve_score(FrozenEstimator(fitted), FIRST), FrozenEstimator)


@pytest.mark.parametrize("name", ["confidence", "gain"])
def test_names_of_gains_are_taken(name):
    with pytest.raises(ValueError, match="is taken"):
        register_score(type("Own", (ConditionalRisk,), {"name": name}))


def test_candidates_of_a_gain_score():
    kinds = {name: type(score) for name, score in resolve_gain("auto", FIRST).items()}
    assert kinds == {
        "confidence": ConditionalRisk,
        "error_probability": ErrorProbability,
        "gain": ExpectedGain,
    }
    found = resolve_gain("auto", LinearSVC(), loss=COSTS, random_state=3)
    kinds = {name: type(score) for name, score in found.items()}
    assert kinds == {
        "confidence": Margin,
        "loss_regression": LossRegression,
        "gain": ExpectedGain,
    }
    assert found["gain"].loss is COSTS
    assert found["gain"].random_state == 3
    for name in ("confidence", "gain", "entropy", "knn"):
        assert list(resolve_gain(name, FIRST)) == [name]


def test_objects_and_callables_as_gain_scores():
    own = ExpectedGain(FEW, random_state=1)
    [score] = resolve_gain(own, FIRST, random_state=5, loss="zero_one").values()
    assert score is not own
    assert (score.random_state, score.loss, own.loss) == (1, "zero_one", None)
    [score] = resolve_gain(lambda model, X: X[:, 1], FIRST).values()
    score.fit(estimator=FIRST)
    np.testing.assert_array_equal(score.uncertainty(X), X[:, 1])
    with pytest.raises(ValueError, match="gain_score must be 'auto'"):
        resolve_gain("profit", FIRST)
