"""What learned scores see of frames, text, sparse samples and pipelines."""

from datetime import date

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    chi2,
    f_regression,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
    TargetEncoder,
)

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject._sklearn import _num_samples
from sklearn_reject.scores import (
    GEN,
    KNN,
    MSP,
    ODIN,
    SELE,
    Energy,
    ErrorProbability,
    LearnedScore,
    LikelihoodRatio,
    LossRegression,
    Mahalanobis,
    NoveltyScore,
    OutlierDetector,
    ReAct,
    TrueClassProbability,
    ViM,
)

# Scores of few samples, learned by little: what is told of them does not matter here.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

pandas = pytest.importorskip("pandas")
NAN, DAY = np.nan, 24 * 3600 * 1e6


# Numbers of any container, as a regressor gets them


class Careless(ClassifierMixin, BaseEstimator):
    """A black box that looks at nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], _num_samples(X))


class Seeing(RegressorMixin, BaseEstimator):
    """Keeps what it was given, which may have to be complete numbers."""

    def __init__(self, takes_nan=False):
        self.takes_nan = takes_nan

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X
        return self

    def predict(self, X):
        self.asked_ = X
        return np.zeros(X.shape[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_nan
        tags.input_tags.sparse = True
        return tags


def see(X, one_hot=True, features="input"):
    """Return the fitted score, and the matrix that it learned from."""
    y = np.arange(_num_samples(X)) % 2
    score = LossRegression(Seeing(takes_nan=not one_hot), features)
    score.fit(X, y, estimator=Careless().fit(X, y))
    return score, score.regressor_.seen_


def see_again(score, X):
    """Return the matrix of other samples."""
    score.uncertainty(X)
    return score.regressor_.asked_


def make_frame():
    return pandas.DataFrame(
        {
            "age": [30.0, NAN, 50.0, 40.0],
            "job": ["cook", None, "smith", "cook"],
            "size": pandas.Categorical([2, 10, 2, None], categories=[10, 2]),
            "member": [True, False, True, True],
            "visits": pandas.array([1, None, 3, 4], dtype="Int64"),
            "since": pandas.to_datetime(["1970-01-01", "1970-01-02", None, None]),
        }
    )


NUMBERS = np.array(
    [[30, 1, 1, 0], [NAN, 0, NAN, DAY], [50, 1, 3, NAN], [40, 1, 4, NAN]]
)
MEANS = SimpleImputer().fit_transform(NUMBERS)
JOBS = [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
SIZES = [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
BY_HAND = {
    True: np.hstack([MEANS, JOBS, SIZES]),
    # What is missing is a category, too.
    False: np.hstack([NUMBERS, [[0, 1], [NAN, 0], [1, 1], [0, NAN]]]),
}


@pytest.mark.parametrize("one_hot", [True, False])
def test_frames_by_hand(one_hot):
    frame = make_frame()
    score, matrix = see(frame, one_hot)
    np.testing.assert_allclose(matrix, BY_HAND[one_hot])
    for dtype in ({}, dict.fromkeys(frame.columns.drop("since"), object)):
        np.testing.assert_allclose(see_again(score, frame.astype(dtype)), matrix)
    rows = [see_again(score, frame.iloc[row : row + 1]) for row in range(4)]
    np.testing.assert_array_equal(np.vstack(rows), see_again(score, frame))
    new = frame.iloc[:1].assign(job="judge", age=NAN)
    expected = BY_HAND[one_hot][0].copy()
    expected[0] = 40 if one_hot else NAN
    expected[4 : 7 if one_hot else 5] = 0 if one_hot else NAN
    np.testing.assert_allclose(see_again(score, new), [expected])


@pytest.mark.parametrize("one_hot", [True, False])
def test_other_containers_say_the_same(one_hot):
    frame = make_frame().drop(columns=["size", "since"])
    _, expected = see(frame, one_hot)
    objects = frame.astype(object)
    for same in (objects, objects.to_numpy(), objects.to_numpy().tolist()):
        np.testing.assert_array_equal(see(same, one_hot)[1], expected)


def test_polars_frames_say_the_same():
    polars = pytest.importorskip("polars")
    frame = make_frame().drop(columns=["size"])
    objects = frame.astype(object).where(frame.notna(), None)
    twin = polars.DataFrame(objects.to_dict("list"))
    for one_hot in (False, True):
        _, expected = see(frame, one_hot)
        for same in (twin, twin.cast({"job": polars.Categorical})):
            np.testing.assert_array_equal(see(same, one_hot)[1], expected)


@pytest.mark.parametrize(
    ("X", "codes", "one_hot"),
    [
        (np.array([[1.0, NAN], [2, 3]]), [[1, NAN], [2, 3]], [[1, 3], [2, 3]]),
        # A column without any number is not seen.
        (np.array([[1.0, NAN], [2.0, NAN]]), [[1, 0], [2, 0]], [[1, 0], [2, 0]]),
    ],
    ids=["numbers", "nothing"],
)
def test_numbers_by_hand(X, codes, one_hot):
    np.testing.assert_array_equal(see(X, one_hot=False)[1], codes)
    np.testing.assert_array_equal(see(X)[1], one_hot)


@pytest.mark.parametrize(("one_hot", "n_codes"), [(False, 255), (True, 50)])
def test_the_rarest_of_many_categories_share_the_last(one_hot, n_codes):
    numbers = np.r_[:300, : n_codes - 1]
    matrix = see(pandas.DataFrame({"job": numbers.astype(str)}), one_hot)[1]
    codes = matrix.argmax(axis=1) if one_hot else matrix[:, 0]
    assert len(np.unique(codes)) == n_codes
    assert len(np.unique(codes[n_codes - 1 : 300])) == 1


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("value", ["Labor Day", 3, date(2020, 1, 1)])
def test_a_column_that_held_nothing_may_hold_anything(one_hot, value):
    frame = pandas.DataFrame({"age": [1.0, 2.0], "holiday": [None, None]}, dtype=object)
    score, matrix = see(frame, one_hot)
    present = float(one_hot)  # an indicator of what is missing
    np.testing.assert_array_equal(matrix, [[1, present], [2, present]])
    new = see_again(score, frame.assign(holiday=value))
    np.testing.assert_array_equal(new, [[1, 0], [2, 0]])


@pytest.mark.parametrize(
    "X",
    [
        ["some", "text"],
        np.zeros((2, 3, 4)),
        [{"a": 1}, {"a": 2}],
        [[1, 2], [3]],
        pandas.DataFrame({"when": pandas.period_range("2020", periods=2)}),
        pandas.DataFrame({"day": [date(2020, 1, 1), None]}),
    ],
    ids=["text", "images", "dicts", "ragged", "periods", "dates"],
)
def test_what_has_no_numbers(X):
    with pytest.raises((TypeError, ValueError), match=r"features='input' cannot conv"):
        see(X)
    score = LossRegression(Seeing(), "auto").resolve(np.arange(2))
    assert score.choose_features(Careless(), X).features_ == "response"


def test_columns_that_change():
    score, _ = see(make_frame(), one_hot=False)
    with pytest.raises(ValueError, match="column 'age' contained numbers when the sco"):
        score.uncertainty(make_frame().assign(age="old"))
    for other in (
        make_frame().drop(columns="job"),
        make_frame().rename(columns={"age": "years"}),
        make_frame()[["job", "age", "size", "member", "visits", "since"]],
    ):
        with pytest.raises(ValueError, match=r"feature names|columns|features"):
            score.uncertainty(other)
    infinite = make_frame().assign(age=np.inf)
    with pytest.raises(ValueError, match="some of them are infinite"):
        see(infinite)
    largest = np.finfo(np.float32).max  # to trees
    assert see(infinite, one_hot=False)[1][0, 0] == largest
    with pytest.raises(ValueError, match=r"numbers: Input contains NaN\. Use feat"):
        see(sparse.csr_matrix([[1.0, NAN], [2.0, 3.0]]))
    with pytest.raises(ValueError, match=r"column 0 contained numbers.* too large"):
        see([[10**400], [1]])
    rows = make_frame()[["member"]].assign(x=[np.inf, 1, 2, 3])
    boosting = LossRegression(HistGradientBoostingRegressor(max_iter=1), "input")
    boosting.fit(rows, [0, 1, 0, 1], estimator=Careless().fit(rows, [0, 1, 0, 1]))


# What scores choose to see

N = 120


def make_mixed():
    """Return a mixed frame with gaps, and labels that depend on it."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "age": rng.normal(40, 10, N),
            "job": rng.choice(["cook", "smith", "judge"], N),
            "city": pandas.Categorical(rng.choice(["here", "there"], N)),
            "hours": rng.integers(1, 80, N),
        }
    )
    frame.loc[::7, "age"] = NAN
    frame.loc[::9, "job"] = None
    is_high = frame["hours"] + 30 * (frame["job"] == "cook") > 45
    y = np.where(is_high, "high", "low")
    y[::6] = "low"
    return frame, y


def make_texts():
    rng = np.random.default_rng(0)
    words = ["good", "bad", "film", "book", "long", "new"]
    texts = [" ".join(rng.choice(words, 4)) for _ in range(N)]
    y = np.where(["good" in text for text in texts], "yes", "no")
    y[::6] = "no"
    return texts, y


FRAME, Y = make_mixed()
TEXTS, Y_TEXTS = make_texts()
SMALL = {"max_iter": 3, "min_samples_leaf": 5}

# As good as the defaults for what is tested, in a fraction of the time; the names stand
# for them in the slow tests.
QUICK = {
    "error_probability": ErrorProbability(HistGradientBoostingClassifier(**SMALL)),
    "loss_regression": LossRegression(HistGradientBoostingRegressor(**SMALL)),
    "true_class_probability": TrueClassProbability(
        HistGradientBoostingRegressor(**SMALL)
    ),
    "sele": SELE(alphas=0.1),
}


def by_column(categories=None):
    """Return the usual preprocessing of a mixed frame."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    categories = categories or OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer(
        (numbers, ["age", "hours"]), (categories, ["job", "city"])
    )


def on_frames(categories=None):
    return make_pipeline(by_column(categories), LogisticRegression())


ON_TEXTS = make_pipeline(TfidfVectorizer(), LogisticRegression())
CASES = {
    "pipeline": (on_frames(), FRAME, Y),
    "native": (
        HistGradientBoostingClassifier(categorical_features="from_dtype", **SMALL),
        FRAME.astype({"job": "category"}),
        Y,
    ),
    "text": (ON_TEXTS, TEXTS, Y_TEXTS),
    "series": (ON_TEXTS, pandas.Series(TEXTS, index=np.arange(N)[::-1]), Y_TEXTS),
    "blind": (
        make_pipeline(TfidfVectorizer(), SelectKBest(chi2, k=2), LogisticRegression()),
        TEXTS,
        Y_TEXTS,
    ),
    "encoded labels": (on_frames(TargetEncoder()), FRAME, Y),
}


@pytest.mark.parametrize(
    ("score", "case", "cv"),
    [
        *(
            pytest.param(name, case, 2, marks=pytest.mark.slow)
            for case in ("pipeline", "native", "text")
            for name in QUICK
        ),
        *((score, "encoded labels", 2) for score in QUICK.values()),
        (QUICK["sele"], "pipeline", 0.3),
        (QUICK["sele"], "series", 2),
        (QUICK["sele"], "blind", 2),
        (QUICK["loss_regression"], "text", 2),
    ],
    ids=repr,
)
def test_by_name_alone(score, case, cv):
    estimator, X, y = CASES[case]
    selective = SelectiveClassifier(
        estimator, target_coverage=0.8, uncertainty_score=score, cv=cv, random_state=0
    ).fit(X, y)
    uncertainty = selective.uncertainty(X)
    assert len(np.unique(uncertainty)) > 1
    # A row counts the same with others beside it; sums of the classifier may not.
    rows = [3, 50, 119]
    parts = [X.iloc[[r]] if hasattr(X, "iloc") else [X[r]] for r in rows]
    single = [selective.uncertainty(part)[0] for part in parts]
    np.testing.assert_allclose(single, uncertainty[rows], rtol=1e-12)


def test_what_auto_stands_for():
    wide = sparse.random(N, 400, density=0.01, format="csr", random_state=0)
    narrow, linear = sparse.csr_matrix(np.eye(N)), LogisticRegression()
    for score, estimator, X, expected in (
        (LossRegression(), on_frames(), FRAME, "input+response"),
        (LossRegression(), ON_TEXTS, TEXTS, "response"),
        (LossRegression(), GaussianNB(), np.zeros((N, 3, 3)), "response"),
        (LossRegression(), linear, wide, "response"),
        (LossRegression(), linear, narrow, "input+response"),
        (LossRegression(Seeing()), linear, wide, "input+response"),
        (SELE(), ON_TEXTS, TEXTS, "per_label_linear"),
        (ErrorProbability(features="input"), GaussianNB(), FRAME, "input"),
    ):
        score.resolve(np.arange(2)).choose_features(estimator, X)
        assert score.features_ == expected


def test_features_are_what_they_are_called():
    X = np.random.default_rng(0).normal(size=(N, 3))
    y = (X[:, 0] > 0).astype(int)
    for estimator, features, width in (
        (GaussianNB(), "input", 3),
        (GaussianNB(), "response", 2),
        (GaussianNB(), "input+response", 5),
        (LogisticRegression(), PolynomialFeatures(2), 10),
        (LinearDiscriminantAnalysis(), FrozenEstimator(PCA(1).fit(X)), 1),
        (Careless(), "response", 2),
    ):
        score = LossRegression(Seeing(), features)
        score.fit(X, y, estimator=estimator.fit(X, y))
        assert score.regressor_.seen_.shape == (N, width)
    # A transformer sees the losses.
    score = LossRegression(Ridge(), SelectKBest(f_regression, k=1))
    score.fit(X, X[:, 1] > 0, estimator=Careless().fit(X, y > 0))
    assert abs(np.corrcoef(score.uncertainty(X), X[:, 1])[0, 1]) > 0.999
    words = SELE(features=TfidfVectorizer(), alphas=0.01)
    model = ON_TEXTS.fit(TEXTS, Y_TEXTS)
    assert words.fit(TEXTS, Y_TEXTS, estimator=model).coef_.shape == (1, 6)


@pytest.mark.parametrize("features", ["model_input", "model_input+response"])
def test_model_input_is_what_the_final_estimator_makes_of_all_samples(features):
    """Folds see other columns: one transformer has to serve all of them."""
    jobs = [f"job {n}" for n in np.random.default_rng(1).integers(0, 40, N)]
    frame, seen = FRAME.assign(job=jobs), []  # some are in one fold alone

    class Recording(Ridge):
        def fit(self, X, y, sample_weight=None):
            seen.append(X.toarray() if sparse.issparse(X) else X)
            return super().fit(X, y)

    selective = SelectiveClassifier(
        on_frames(),
        target_coverage=0.8,
        uncertainty_score=LossRegression(Recording(), features),
        cv=3,
    ).fit(frame, Y)
    matrix = selective.estimator_[:-1].transform(frame)
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    width, (final, *parts) = matrix.shape[1], seen
    np.testing.assert_allclose(np.sort(final[:, :width], 0), np.sort(matrix, 0))
    known = {row.tobytes() for row in np.ascontiguousarray(matrix)}
    for part in parts:
        assert len(part) == N * 2 // 3
        rows = np.ascontiguousarray(part[:, :width])
        assert {row.tobytes() for row in rows} <= known


def on_first(step):
    return make_column_transformer((step, [0]), remainder=StandardScaler())


@pytest.mark.parametrize(
    ("step", "learns"),
    [
        (StandardScaler(), False),
        (PCA(2), False),
        (FunctionTransformer(np.abs), False),
        (on_first(MinMaxScaler()), False),
        (TargetEncoder(), True),
        (SelectKBest(k=1), True),
        (PLSRegression(1), True),
        (VarianceThreshold(), False),
        (LinearDiscriminantAnalysis(), True),
        (SelectFromModel(LogisticRegression()), True),
        (on_first(TargetEncoder()), True),
        (make_union(PCA(1), make_pipeline(StandardScaler(), SelectKBest(k=1))), True),
        (FrozenEstimator(SelectKBest(k=1)), False),
        (on_first(FrozenEstimator(TargetEncoder())), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_steps_that_learned_the_same_labels_are_not_seen(step, learns):
    X = np.zeros((9, 3))
    model = make_pipeline(MinMaxScaler(), step, PCA(1), LogisticRegression())
    score = LossRegression(Ridge(), "model_input").resolve(np.arange(2))
    if learns:
        with pytest.raises(ValueError, match=r"(?s)was fitted with .* leaks these lab"):
            score.choose_features(model, X)
    else:
        score.choose_features(model, X)
    # The labels of others do not leak, nor do those of samples that are new.
    for frozen in (FrozenEstimator(model), make_pipeline(FrozenEstimator(model))):
        score.choose_features(frozen, X)
    score.choose_features(model, X, is_new=True)


def test_labels_do_not_leak_through_the_preprocessing():
    """With codes of labels among its features, a score would know its own samples."""
    model = on_frames(TargetEncoder()).fit(FRAME[:60], Y[:60])
    score = SELE(0.1).fit(FRAME[60:], Y[60:], estimator=model)
    assert score.coef_.shape[1] == 4  # of other samples
    selective = SelectiveClassifier(model, uncertainty_score=SELE(0.1)).fit(FRAME, Y)
    assert selective.uncertainty_score_.coef_.shape[1] == 8  # six of categories


def test_categories_are_told_to_boosting():
    """Codes in the order of the alphabet would split a risk that goes up and down."""
    # By their order, no letter alone would fill a leaf.
    letters = np.repeat(np.arange(26), 12)
    frame = pandas.DataFrame(
        {"letter": np.array([*"abcdefghijklmnopqrstuvwxyz"])[letters]}
    )
    frame["x"] = 0.0
    score = LossRegression(random_state=0, features="input")
    score.fit(frame, letters % 2, estimator=Careless().fit(frame, [0, 1]))
    np.testing.assert_allclose(score.uncertainty(frame), letters % 2, atol=0.01)


@pytest.mark.parametrize(
    "score", [SELE((0.1, 1)), QUICK["error_probability"]], ids=repr
)
def test_categories_of_one_sample_and_columns_without_numbers(score):
    # The part that alpha is chosen on, and those of cross-fitting, lack categories.
    rare = FRAME["job"].where(FRAME.index % 4 > 0, "job " + FRAME.index.astype(str))
    frame = FRAME.assign(job=rare, none=NAN, holiday=None)
    frame.loc[5, "holiday"] = "Labor Day"
    outer = SelectiveClassifier(
        on_frames(TargetEncoder()), target_coverage=0.8, uncertainty_score=score, cv=2
    ).fit(frame, Y)
    assert np.isfinite(outer.uncertainty(frame)).all()


@pytest.mark.parametrize("features", ["input", "input+response", "per_label_linear"])
def test_sparse_samples_give_the_same_linear_score_up_to_centering(features):
    X = np.random.default_rng(2).normal(size=(400, 3))
    y = (X[:, 0] + np.random.default_rng(3).normal(size=400) > 0).astype(int)
    X -= X.mean(axis=0)
    model, thin = LogisticRegression().fit(X, y), sparse.csr_matrix(X)
    score = SELE(0.01, features, random_state=0, tol=1e-10)
    dense = score.fit(X, y, estimator=model).uncertainty(X)
    found = clone(score).fit(thin, y, estimator=model).uncertainty(thin)
    if features == "input+response":
        # Probabilities are not centered, so that intercepts differ.
        assert np.corrcoef(dense, found)[0, 1] > 0.999
    else:
        np.testing.assert_allclose(found, dense, atol=2e-4)


def test_wide_sparse_samples_are_projected_for_trees():
    X = sparse.random(N, 400, density=0.02, format="csr", random_state=0)
    y = np.arange(N) % 2
    score = LossRegression(features="input+response", random_state=0)
    score.fit(X, y, estimator=LogisticRegression().fit(X, y))
    assert score.regressor_.n_features_in_ == 50 + 2
    expected = score.uncertainty(X)
    single = [score.uncertainty(X[row])[0] for row in (0, 50, 119)]
    np.testing.assert_array_equal(single, expected[[0, 50, 119]])
    np.testing.assert_allclose(score.uncertainty(X.toarray()), expected)


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
        (SELE(), Counting(), TEXTS, "features='per_label_linear' cannot.*not a table"),
        (LossRegression(features="input"), Counting(), TEXTS, "Use features='resp"),
        (SELE(), Counting(), INFINITE, "some of them are infinite. Clip them"),
        (LossRegression(Ridge(), "per_label_linear"), Counting(), FRAME, "its own rid"),
        (SELE(features="model_input"), LABELLED, FRAME, "leaks these labels"),
    ],
    ids=repr,
)
def test_what_cannot_work_is_refused_before_anything_is_fitted(
    score, estimator, X, message
):
    Counting.n_fits = 0
    for model in (
        SelectiveClassifier(estimator, uncertainty_score=score),
        DoubleScoreOODClassifier(estimator, uncertainty_score=score, min_tpr=0.5),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, np.where(np.arange(N) < 10, "ood", Y))
    assert Counting.n_fits == 0


def test_scores_of_users_see_samples_and_outputs():
    class Seen(LearnedScore):
        features = "anything"

        def learn(self, predictions, targets, sample_weight):
            self.seen_ = predictions

        def estimate(self, predictions):
            return np.zeros(len(predictions))

    score = Seen().fit(FRAME, Y, estimator=on_frames().fit(FRAME, Y))
    assert score.seen_.X is FRAME
    assert score.seen_.outputs.shape == (N, 2)


DENSE = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
OF_MODEL_INPUT = clone(QUICK["loss_regression"]).set_params(
    features="model_input+response"
)
NUMERIC = np.random.default_rng(0).normal(size=(N, 4))
HOURS = FRAME[["hours"]].to_numpy() / 40
LINEAR = LogisticRegression()
SCALED = make_pipeline(StandardScaler(), LINEAR)
NOVELTY = [
    *(GEN(), KNN(), Mahalanobis(), MSP(), Energy(), ODIN(), ReAct(), ViM(1)),
    LikelihoodRatio(LINEAR),
    OutlierDetector(IsolationForest(n_estimators=5, random_state=0)),
]


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("score", "X", "model"),
    [
        (OF_MODEL_INPUT, FRAME, on_frames(DENSE)),
        (QUICK["sele"], FRAME, on_frames(DENSE)),
        (QUICK["sele"], HOURS, LINEAR),
        (LossRegression(alphas=0.1, features="per_label_linear"), HOURS, LINEAR),
        (LossRegression(Ridge(), StandardScaler()), HOURS, LINEAR),
        *((score, NUMERIC, SCALED) for score in NOVELTY),
    ],
    ids=lambda part: type(part).__name__,
)
def test_output_of_transformers_is_for_those_of_users(score, X, model, output):
    """With `set_config(transform_output=...)` the scores are the same."""
    pytest.importorskip(output)
    given = {"estimator": model.fit(X, Y)}
    if isinstance(score, NoveltyScore):
        given["X_ood"] = X[:30]
    method = "novelty" if "X_ood" in given else "uncertainty"
    plain = clone(score).fit(X, Y, **given)
    expected = getattr(plain, method)(X)
    with sklearn.config_context(transform_output=output):
        np.testing.assert_allclose(getattr(plain, method)(X), expected, rtol=1e-12)
        framed = clone(score).fit(X, Y, **given)
        np.testing.assert_allclose(getattr(framed, method)(X), expected, rtol=1e-9)
    np.testing.assert_allclose(getattr(framed, method)(X), expected, rtol=1e-9)
