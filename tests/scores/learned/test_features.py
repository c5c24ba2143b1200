"""What learned scores see of mixed frames, text, pipelines and sparse samples."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.scores import (
    SELE,
    ErrorProbability,
    LearnedScore,
    LikelihoodRatio,
    LossRegression,
    OutlierDetector,
    SELEBoosting,
    TrueClassProbability,
    get_novelty_names,
    resolve_novelty,
)

# Scores of few samples, learned by little: what is told of them does not matter here.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

pandas = pytest.importorskip("pandas")

N = 120
RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "age": RNG.normal(40, 10, N),
        "job": RNG.choice(["cook", "smith", "judge"], N),
        "city": pandas.Categorical(RNG.choice(["here", "there"], N)),
        "hours": RNG.integers(1, 80, N),
    }
)
FRAME.loc[::7, "age"] = np.nan
FRAME.loc[::9, "job"] = None
Y = np.where(FRAME["hours"] + 30 * (FRAME["job"] == "cook") > 45, "high", "low")
Y[::6] = "low"
TEXTS = [
    " ".join(RNG.choice(["good", "bad", "film", "book", "long", "new"], 4))
    for _ in range(N)
]
Y_TEXTS = np.where(["good" in text for text in TEXTS], "yes", "no")
Y_TEXTS[::6] = "no"

# As good as the defaults for what is tested, in a fraction of the time; the names stand
# for them in the slow tests.
QUICK = {
    "error_probability": ErrorProbability(
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
    ),
    "loss_regression": LossRegression(
        HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5)
    ),
    "true_class_probability": TrueClassProbability(
        HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5)
    ),
    "sele": SELE(alphas=0.1),
    "sele_boosting": SELEBoosting(n_estimators=3, n_iter_no_change=None),
}
# The fast suite has a learned one and a linear one where all are treated alike.
some_quick = [
    pytest.param(
        name, marks=[pytest.mark.slow] * (name not in ("loss_regression", "sele"))
    )
    for name in QUICK
]
quick_and_named = pytest.mark.parametrize(
    "score",
    [
        *(pytest.param(score, id=f"quick {name}") for name, score in QUICK.items()),
        *(pytest.param(name, id=name, marks=pytest.mark.slow) for name in QUICK),
    ],
)


def by_column(categories=None):
    """Return the usual preprocessing of a mixed frame."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    categories = categories or OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer(
        (numbers, ["age", "hours"]), (categories, ["job", "city"])
    )


def on_frames(classifier=None):
    return make_pipeline(by_column(), classifier or LogisticRegression())


CASES = {
    "pipeline": (on_frames(), FRAME, Y),
    "native": (
        HistGradientBoostingClassifier(
            max_iter=3, categorical_features="from_dtype", min_samples_leaf=5
        ),
        FRAME.astype({"job": "category"}),
        Y,
    ),
    "text": (make_pipeline(TfidfVectorizer(), LogisticRegression()), TEXTS, Y_TEXTS),
    "series": (
        make_pipeline(TfidfVectorizer(), LogisticRegression()),
        pandas.Series(TEXTS, index=np.arange(N)[::-1]),
        Y_TEXTS,
    ),
    "blind": (
        make_pipeline(TfidfVectorizer(), SelectKBest(chi2, k=2), LogisticRegression()),
        TEXTS,
        Y_TEXTS,
    ),
    "encoded labels": (
        make_pipeline(by_column(TargetEncoder()), LogisticRegression()),
        FRAME,
        Y,
    ),
}


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else [X[row] for row in rows]


def fit_and_compare(score, case, cv):
    estimator, X, y = CASES[case]
    selective = SelectiveClassifier(
        estimator, target_coverage=0.8, uncertainty_score=score, cv=cv, random_state=0
    ).fit(X, y)
    uncertainty = selective.uncertainty(X)
    assert len(np.unique(uncertainty)) > 1
    # A row counts the same with others beside it; sums of the classifier may not.
    rows = [3, 50, 119]
    single = [selective.uncertainty(take(X, [row]))[0] for row in rows]
    np.testing.assert_allclose(single, uncertainty[rows], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["pipeline", "native", "text", "encoded labels"])
@quick_and_named
def test_by_name_alone(score, case):
    fit_and_compare(score, case, cv=2)


@pytest.mark.parametrize(
    ("case", "cv"), [("pipeline", 0.3), ("series", 2), ("blind", 2)]
)
def test_linear_scores_of_what_reaches_the_model(case, cv):
    fit_and_compare(QUICK["sele"], case, cv)


class TakesSparse(Ridge):
    """Says that it does, as not all versions of scikit-learn do."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def test_what_auto_stands_for():
    wide = sparse.random(N, 400, density=0.01, format="csr", random_state=0)
    narrow, thin = sparse.csr_matrix(np.eye(N)), LossRegression(TakesSparse())
    naive = GaussianNB()
    for score, estimator, X, expected in (
        (LossRegression(), on_frames(), FRAME, "input+response"),
        (LossRegression(), CASES["text"][0], TEXTS, "response"),
        (LossRegression(), naive, np.zeros((N, 3, 3)), "response"),
        (LossRegression(), LogisticRegression(), wide, "response"),
        (LossRegression(), LogisticRegression(), narrow, "input+response"),
        (thin, LogisticRegression(), wide, "input+response"),
        (SELE(), CASES["text"][0], TEXTS, "per_label_linear"),
        (ErrorProbability(features="input"), naive, FRAME, "input"),
    ):
        score.resolve(np.arange(2)).choose_features(estimator, X)
        assert score.features_ == expected


@pytest.mark.parametrize("features", ["model_input", "model_input+response"])
def test_model_input_is_what_the_final_estimator_makes_of_all_samples(features):
    """Folds see other columns: one transformer has to serve all of them."""
    jobs = [f"job {number}" for number in RNG.integers(0, 40, N)]
    frame = FRAME.assign(job=jobs)  # some are in one fold alone
    model, seen = on_frames(), []

    class Recording(Ridge):
        def fit(self, X, y, sample_weight=None):
            seen.append(X)
            return super().fit(X, y)

    selective = SelectiveClassifier(
        model,
        target_coverage=0.8,
        uncertainty_score=LossRegression(Recording(), features),
        cv=3,
    ).fit(frame, Y)
    matrix = selective.estimator_[:-1].transform(frame)
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    final, *parts = (x.toarray() if sparse.issparse(x) else x for x in seen)
    width = matrix.shape[1]
    np.testing.assert_allclose(np.sort(final[:, :width], 0), np.sort(matrix, 0))
    assert [len(part) for part in parts] == [N * 2 // 3] * 3
    known = {row.tobytes() for row in np.ascontiguousarray(matrix)}
    for part in parts:
        rows = np.ascontiguousarray(part[:, :width])
        assert {row.tobytes() for row in rows} <= known


def test_a_frame_is_a_frame_when_samples_are_predicted():
    class Careless(ClassifierMixin, BaseEstimator):
        """A black box that does not look at the names of columns."""

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return self.classes_[(X.iloc[:, 3] > 40).astype(int)]

    for name in ("error_probability", "loss_regression", "sele", "sele_boosting"):
        score = clone(QUICK[name]).fit(FRAME, Y, estimator=Careless().fit(FRAME, Y))
        assert list(score.feature_names_in_) == list(FRAME.columns)
        moved = FRAME[["job", "age", "city", "hours"]]
        for other in (moved, FRAME.rename(columns={"age": "years"})):
            with pytest.raises(ValueError, match="feature names should match"):
                score.uncertainty(other)


def test_categories_are_told_to_boosting():
    """Codes in the order of the alphabet would split a risk that goes up and down."""
    names = np.array([f"{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"])
    letters = np.repeat(np.arange(26), 40)
    frame = pandas.DataFrame({"letter": names[letters], "x": 0.0})
    y = np.tile([0, 1], 520)
    score = LossRegression(random_state=0, features="input").resolve(np.arange(2))
    score.choose_features(GaussianNB(), frame)
    risk = (letters % 2).astype(float)
    empty = np.empty((len(y), 0))
    score.fit_collected(frame, empty, np.zeros(len(y), int), risk)
    assert score.regressor_.is_categorical_.tolist() == [False, True]
    values = score.predict_collected(frame, empty, np.zeros(len(y), int))
    np.testing.assert_allclose(values, risk, atol=0.01)


@pytest.mark.parametrize(
    "score",
    [SELE(alphas=(0.1, 1)), QUICK["error_probability"]],
    ids=["linear", "trees"],
)
def test_categories_of_one_sample_and_columns_without_numbers(score):
    # The part that alpha is chosen on, and those of cross-fitting, lack categories.
    rare = FRAME["job"].where(FRAME.index % 4 > 0, "job " + FRAME.index.astype(str))
    frame = FRAME.assign(job=rare, none=np.nan, holiday=None)
    frame.loc[5, "holiday"] = "Labor Day"
    outer = SelectiveClassifier(
        make_pipeline(by_column(TargetEncoder()), LogisticRegression()),
        target_coverage=0.8,
        uncertainty_score=score,
        cv=2,
    ).fit(frame, Y)
    assert np.isfinite(outer.uncertainty(frame)).all()


def test_missing_numbers():
    X = np.random.default_rng(1).normal(size=(N, 3))
    X[::4, 1] = np.nan
    y = (X[:, 0] > 0).astype(int)
    y[::5] = 0
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(X, y)
    imputed = SimpleImputer().fit_transform(X)
    for score in (
        SELE(0.1),
        SELE(0.1, "input"),
        LossRegression(features="per_label_linear", alphas=0.1),
        LossRegression(Ridge(), "input"),
    ):
        found = clone(score).fit(X, y, estimator=model).uncertainty(X)
        labels = FrozenLabels(model, X)
        expected = clone(score).fit(imputed, y, estimator=labels).uncertainty(imputed)
        np.testing.assert_allclose(found, expected, atol=1e-8)
    for name in QUICK:
        score = clone(QUICK[name]).fit(X, y, estimator=model)
        assert np.isfinite(score.uncertainty(X)).all()


class FrozenLabels(ClassifierMixin, BaseEstimator):
    """Predicts what another classifier said of other samples."""

    def __init__(self, model, X):
        self.model, self.X = model, X
        self.classes_ = model.classes_

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.model.predict(self.X)

    def __sklearn_is_fitted__(self):
        return True


class Counting(GaussianNB):
    n_fits = 0

    def fit(self, X, y):
        type(self).n_fits += 1
        return super().fit(np.zeros((len(y), 1)), y)

    def predict_proba(self, X):
        return super().predict_proba(np.zeros((len(X), 1)))


INFINITE = np.where(np.arange(N) == 7, np.inf, 0.0)[:, np.newaxis]
LABELLED = make_pipeline(by_column(TargetEncoder()), Counting())


@pytest.mark.parametrize(
    ("score", "estimator", "X", "message"),
    [
        (SELE(features="both"), Counting(), FRAME, "features must be one of"),
        (ErrorProbability(features=3), Counting(), FRAME, "features must be one of"),
        (
            SELE(),
            Counting(),
            TEXTS,
            "features='per_label_linear' cannot convert.*not a table",
        ),
        (LossRegression(features="input"), Counting(), TEXTS, "Use features='resp"),
        (SELE(), Counting(), INFINITE, "some of them are infinite. Clip them"),
        (SELEBoosting(), Counting(), INFINITE, "some of them are infinite. Clip them"),
        (
            LossRegression(Ridge(), "per_label_linear"),
            Counting(),
            FRAME,
            "its own ridge regression, got",
        ),
        (SELE(features="model_input"), LABELLED, FRAME, "leaks these labels"),
        (
            ErrorProbability(features="model_input+response"),
            LABELLED,
            FRAME,
            r"(?s)TargetEncoder.*leaks these labels.*FrozenE",
        ),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_fitted(
    score, estimator, X, message
):
    Counting.n_fits = 0
    options = {"target_coverage": 0.8, "uncertainty_score": score}
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(estimator, **options).fit(X, Y)
    double = DoubleScoreOODClassifier(
        estimator,
        uncertainty_score=score,
        novelty_score="msp",
        min_tpr=0.5,
        max_fpr=1.0,
    )
    with pytest.raises(ValueError, match=message):
        double.fit(X, np.where(np.arange(N) < 10, "ood", Y))
    assert Counting.n_fits == 0


def test_steps_that_learned_from_other_samples_may_be_seen():
    encoded = make_pipeline(by_column(TargetEncoder()), LogisticRegression())
    score = LossRegression(Ridge(), "model_input")
    frozen = FrozenEstimator(encoded.fit(FRAME[:60], Y[:60]))
    SelectiveClassifier(frozen, target_coverage=0.8, uncertainty_score=score, cv=2).fit(
        FRAME[60:], Y[60:]
    )
    # On its own, a score is fitted on samples that are new to the estimator.
    score.fit(FRAME[60:], Y[60:], estimator=encoded)
    assert score.regressor_.n_features_in_ == 4


def test_labels_do_not_leak_through_the_preprocessing():
    """With codes of labels among its features, a score would know its own samples."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"id": [f"id {n}" for n in rng.integers(0, 300, 600)]})
    y = rng.integers(0, 2, 600)  # nothing can be known
    encoder = make_column_transformer((TargetEncoder(smooth=1.0), ["id"]))
    selective = SelectiveClassifier(
        make_pipeline(encoder, LogisticRegression()),
        target_coverage=0.5,
        uncertainty_score=SELE(0.01),
    ).fit(frame, y)
    assert selective.uncertainty_score_._n_steps_ == 0
    assert selective.rule_.selective_risk > 0.4


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
class TestTransformOutput:
    """`set_config(transform_output=...)` is for the transformers of users."""

    @pytest.fixture(params=["pandas", "polars"])
    def output(self, request):
        pytest.importorskip(request.param)
        return request.param

    def check(self, selective, X, y, output):
        plain = clone(selective).fit(X, y)
        expected = plain.uncertainty(X)
        with sklearn.config_context(transform_output=output):
            np.testing.assert_array_equal(plain.uncertainty(X), expected)
            framed = clone(selective).fit(X, y)
            np.testing.assert_allclose(framed.uncertainty(X), expected, rtol=1e-9)
        np.testing.assert_allclose(framed.uncertainty(X), expected, rtol=1e-9)
        again = pickle.loads(pickle.dumps(framed))
        np.testing.assert_array_equal(again.uncertainty(X), framed.uncertainty(X))

    @pytest.mark.parametrize("name", some_quick)
    def test_learned_scores(self, name, output):
        score = clone(QUICK[name])
        if name != "sele":
            score.set_params(features="model_input+response")
        encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        selective = SelectiveClassifier(
            make_pipeline(by_column(encode), LogisticRegression()),
            uncertainty_score=score,
            target_coverage=0.8,
            cv=2,
            random_state=0,
        )
        self.check(selective, FRAME, Y, output)

    @pytest.mark.parametrize(
        "score",
        [
            SELE(0.1),
            LossRegression(alphas=0.1, features="per_label_linear"),
            LossRegression(Ridge(), StandardScaler()),
        ],
        ids=["sele", "ridge", "transformer"],
    )
    def test_linear_scores_and_transformers(self, score, output):
        selective = SelectiveClassifier(
            LogisticRegression(), uncertainty_score=score, target_coverage=0.8, cv=2
        )
        self.check(selective, FRAME[["hours"]].to_numpy() / 40, Y, output)

    @pytest.mark.parametrize("name", [n for n in get_novelty_names() if n != "sirc"])
    def test_novelty_scores(self, name, output):
        X = np.random.default_rng(0).normal(size=(90, 4))
        y = np.arange(90) % 3
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
        score = {
            "likelihood_ratio": LikelihoodRatio(LogisticRegression()),
            "outlier_detector": OutlierDetector(
                IsolationForest(n_estimators=5, random_state=0)
            ),
        }.get(name) or resolve_novelty(name)
        samples = {"X": X, "y": y, "estimator": model, "X_ood": X + 3}
        plain = score.fit(**samples)
        expected = plain.novelty(X)
        with sklearn.config_context(transform_output=output):
            np.testing.assert_allclose(plain.novelty(X), expected, rtol=1e-12)
            framed = clone(score).fit(**samples).novelty(X)
        np.testing.assert_allclose(framed, expected)


@pytest.mark.parametrize("name", some_quick)
def test_regressors_and_two_scores_on_mixed_frames(name):
    score = QUICK[name]
    if not isinstance(score, (ErrorProbability, TrueClassProbability)):
        selective = SelectiveRegressor(
            make_pipeline(by_column(), LinearRegression()),
            target_coverage=0.8,
            uncertainty_score=score,
            cv=2,
        ).fit(FRAME, FRAME["hours"] + np.arange(N) % 5)
        assert selective.uncertainty(FRAME).shape == (N,)
    double = DoubleScoreOODClassifier(
        on_frames(),
        uncertainty_score=clone(score).set_params(features="model_input+response"),
        novelty_score="msp",
        min_tpr=0.5,
        max_fpr=1.0,
        cv=0.3,
        random_state=0,
    ).fit(FRAME, np.where(np.arange(N) % 10 == 3, "ood", Y))
    assert double.accept(FRAME).shape == (N,)


def test_wide_sparse_samples_are_projected_for_trees():
    X = sparse.random(N, 400, density=0.02, format="csr", random_state=0)
    y = np.arange(N) % 2
    model = LogisticRegression().fit(X, y)
    score = LossRegression(features="input+response", random_state=0)
    score.fit(X, y, estimator=model)
    assert score.regressor_.n_features_in_ == 50 + 2
    expected = score.uncertainty(X)
    single = [score.uncertainty(X[row])[0] for row in (0, 50, 119)]
    np.testing.assert_array_equal(single, expected[[0, 50, 119]])
    np.testing.assert_allclose(score.uncertainty(X.toarray()), expected)


def test_scores_of_users_see_samples_and_outputs():
    class Seen(LearnedScore):
        features = "anything"

        def _learn(self, predictions, targets, sample_weight, context):
            self.seen_ = predictions

        def _predict(self, predictions):
            return np.zeros(len(predictions))

    score = Seen().fit(FRAME, Y, estimator=on_frames().fit(FRAME, Y))
    assert score.seen_.X is FRAME
    assert score.seen_.outputs.shape == (N, 2)
