"""What scores refuse: values, options, classifiers and samples, a table for each."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalOutlierFactor,
)
from sklearn.svm import SVC, LinearSVC

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
)
from sklearn_reject.scores import (
    GEN,
    KNN,
    MSP,
    ODIN,
    SELE,
    SIRC,
    ConditionalRisk,
    Energy,
    ErrorProbability,
    ExpectedGain,
    LearnedScore,
    LikelihoodRatio,
    LossRegression,
    Mahalanobis,
    Margin,
    MaxLogit,
    NoveltyScore,
    OutlierDetector,
    PlugInScore,
    ReAct,
    RelativeMahalanobis,
    TrueClassProbability,
    ViM,
)

X, Y = load_iris(return_X_y=True)
ONES = np.ones(len(X))
FITTED = GaussianNB().fit(X, Y)


# Values that a score returns

READ = [0.0, 2.0, 1.0] * 50


def returning(values):
    """Return a classifier that is evaluated once, by a function that returns values."""
    return SelectiveClassifier(
        FrozenEstimator(FITTED),
        target_coverage=0.5,
        uncertainty_score=lambda e, X: values,
    )


@pytest.mark.parametrize(
    "values",
    [
        tuple(READ),
        np.array(READ, dtype=np.float32),
        np.array(READ, dtype=np.longdouble),
        np.array(READ, dtype=np.uint8),
        np.array(READ, dtype=object),
        [0, np.float64(2), True] * 50,
        np.array(READ) > 0,
        np.ma.array(READ, mask=[False] * 150),
        np.full(150, np.finfo(float).max),  # each is finite, their sum is not
        "series",
    ],
    ids=lambda values: f"{type(values).__name__} {getattr(values, 'dtype', '')}",
)
def test_numbers_are_read_by_position(values):
    if isinstance(values, str):
        pandas = pytest.importorskip("pandas")
        values = pandas.Series(READ, index=range(150)[::-1])
    found = returning(values).fit(X, Y).calibration_.scores
    assert found.dtype == np.float64
    assert found.tolist() == list(values)


def with_one(value, dtype=None):
    """Return numbers of which that in row 1 is something else."""
    values = np.arange(150).astype(object)
    values[1] = value
    return values if dtype is None else values.astype(dtype)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], "has 2 elements, but there are 150 samples"),
        (np.zeros((150, 1)), r"shape \(150, 1\)"),
        (1.0, r"shape \(\)"),
        ([[1.0], [2.0, 3.0], 4.0], "inhomogeneous"),
        (np.ones(150) * 1j, "must hold real numbers"),
        (["1"] * 150, "must hold real numbers, .* <U1"),
        (np.ones(150, "m8[s]"), "must hold real numbers"),
        (with_one("two"), "must hold numbers"),
        (with_one(None), "must (hold numbers|be finite)"),
        (with_one(2**53 + 1, int), "the integer 9007199254740993.*2[*][*]53"),
        (with_one(2**64 - 1, np.uint64), r"the integer 18\d+.*2[*][*]53"),
        (with_one(np.nan, float), r"finite, got nan in row 1 \(1 such values"),
        (np.full(150, np.inf), r"got inf in row 0 \(150 such values"),
        (np.ma.array(READ, mask=[0, 1] + [0] * 148), "is a masked array"),
        (sparse.csr_array([READ]), "must hold"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_no_number_a_sample_is_refused(values, message):
    with pytest.raises(ValueError, match=f"(?s)uncertainty_score .*{message}"):
        returning(values).fit(X, Y)


# Seen in `predict` only: no flower is that large.
STRANGE = np.where(np.isin(np.arange(40), [7, 31])[:, None], 1e3, X[:40])
ROWS = r"in row 7 \(2 such values"


def first_column(X):
    """Return the uncertainty of rows, NaN where they are strange."""
    return np.where(X[:, 0] > 100, np.nan, X[:, 0])


class Derived(PlugInScore):
    def compute(self, response):
        return first_column(response.X)


class Learned(LearnedScore):
    def learn(self, predictions, targets, sample_weight):
        pass

    def estimate(self, predictions):
        return first_column(predictions.X)


class Ducktyped(BaseEstimator):
    """Nothing but `evaluate`, and `fit`, as it is no frozen score."""

    def fit(self, X=None, y=None, *, estimator):
        self.estimator_ = estimator
        return self

    def evaluate(self, response):
        return response.labels, first_column(response.X)


class Novel(NoveltyScore):
    def compute(self, response):
        return first_column(response.X)


FLAWED = [
    lambda estimator, X: first_column(X),
    *(Derived(), Learned(), Ducktyped()),
    FrozenEstimator(Derived().fit(estimator=FITTED)),
    FrozenEstimator(Ducktyped().fit(estimator=FITTED)),
]


@pytest.mark.parametrize(
    ("name", "score"),
    [
        *(("uncertainty_score", score) for score in FLAWED),
        *(("novelty_score", score) for score in (FLAWED[0], Novel())),
    ],
)
def test_a_row_without_a_score_is_named_and_nothing_is_decided(name, score):
    options = {"novelty_score": "msp", name: score}
    models = [DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.8, cv=2, **options)]
    methods = ["predict", "accept", "accept_proba"]
    if name == "uncertainty_score":
        models.append(SelectiveClassifier(GaussianNB(), uncertainty_score=score, cv=2))
        methods.append("uncertainty")
    for model in models:
        model.fit(X, Y)
        for method in methods:
            assert len(getattr(model, method)(X)) == len(X)
            with pytest.raises(ValueError, match=f"{name} must .* {ROWS}"):
                getattr(model, method)(STRANGE)
        labels = model.estimator_.predict(STRANGE)
        np.testing.assert_array_equal(model.predict_label(STRANGE), labels)


def test_rows_of_folds_are_named_by_their_place_in_them():
    even = np.arange(0, 150, 2)
    selective = SelectiveClassifier(
        GaussianNB(),
        cv=[(even, even + 1)],
        uncertainty_score=lambda e, X: np.where(np.arange(len(X)) == 3, np.inf, 1),
    )
    with pytest.raises(ValueError, match=r"in row 3 \(1 such values"):
        selective.fit(X, Y)


def test_novelty_may_be_infinite():
    class Far(NoveltyScore):
        def compute(self, response):
            return np.where(response.X[:, 0] > 5, np.inf, -np.inf)

    found = Far().fit(estimator=FITTED).novelty(X)
    assert set(found) == {-np.inf, np.inf}


def test_labels_of_a_score_are_counted():
    class OneLabel(Derived):
        def labels(self, response):
            return response.labels[:1]

    selective = SelectiveClassifier(GaussianNB(), uncertainty_score=OneLabel())
    with pytest.raises(ValueError, match="uncertainty_score, by its labels, has 1 el"):
        selective.fit(X, Y)


# Options, classifiers and samples that a score cannot work with

BAYES, LINEAR, SVM = GaussianNB(), LogisticRegression(max_iter=1000), LinearSVC()
PAIRWISE = SVC(decision_function_shape="ovo")
FLAT = np.hstack([X, np.ones((150, 1))])


class OfUnknownDirection(BaseEstimator):
    """Has decision values, and nothing tells which way they go."""

    def fit(self, X, y=None):
        return self

    def decision_function(self, X):
        return X[:, 0]


class NaNRegressor(DummyRegressor):
    """Predicts nothing."""

    def predict(self, X):
        return np.full(len(X), np.nan)


def zeros(*shape):
    return lambda estimator, X, *rest: np.zeros(shape or (len(X), 2))


REFUSED = [
    # (score, classifier, words of the message)
    (ConditionalRisk(decision="best"), BAYES, "decision must be one of"),
    (ConditionalRisk("hinge"), BAYES, "loss must be one of"),
    (ConditionalRisk(np.eye(2)), BAYES, r"shape \(2, 2\) for 3 labels"),
    (ConditionalRisk(), LinearRegression(), "needs a classifier with `predict_proba`"),
    (ConditionalRisk(), SVM, "has no `predict_proba`.*uncertainty_score"),
    (Margin(kind="mean"), LINEAR, "kind must be one of"),
    (Margin(), BAYES, "has no `decision_function`"),
    (Margin(), PAIRWISE, "gives one value per pair.*Use .*'ovr'"),
    *(
        (SELE(alphas), BAYES, "alphas (must|is empty)")
        for alphas in ([], -1.0, [0, np.nan], [[1.0]], "foo")
    ),
    *(
        (SELE(validation_fraction=bad), BAYES, "validation_fraction must be")
        for bad in (0, 1, -0.1, None, "half")
    ),
    (SELE(tol=0), BAYES, "tol must be in"),
    (SELE(tol=None), BAYES, "tol must be a number"),
    (SELE(max_iter=1.5), BAYES, "max_iter must be a positive int"),
    (SELE(chunk_size=-1), BAYES, "chunk_size must be a positive int"),
    (SELE(method="fast"), BAYES, "method must be one of"),
    (SELE(), KMeans(2, n_init=1), "must be a fitted classifier or regressor"),
    (LossRegression(LINEAR), BAYES, "regressor must be a regressor"),
    (TrueClassProbability(refit="no"), BAYES, "refit must be one of"),
    (TrueClassProbability(), SVM, "has no `predict_proba`"),
    (TrueClassProbability(), Ridge(), "needs a classifier with `predict_proba`"),
    (
        ErrorProbability(loss=2.0 - 2 * np.eye(3)),
        BAYES,
        "ErrorProbability needs losses of 0 and 1, got 2",
    ),
    (ErrorProbability(SVM), BAYES, "classifier must have `predict_proba`"),
    (ErrorProbability(features="per_label_linear"), BAYES, "got 'per_label_linear'"),
    (LossRegression(NaNRegressor()), BAYES, "must be finite, got nan"),
    *(
        (score(temperature=bad), LINEAR, "temperature must be")
        for score in (Energy, ODIN)
        for bad in (0, np.inf, "1")
    ),
    *(
        (
            score(),
            BAYES,
            "GaussianNB has no `decision_function`.*'knn', or pass `logits` of",
        )
        for score in (MaxLogit, Energy, ViM)
    ),
    (Energy(), PAIRWISE, "gives one value per pair"),
    *(
        (score(logits=function), LINEAR, message)
        for score in (MSP, MaxLogit, GEN)
        for function, message in (
            ("logits", "logits=.* must be a callable"),
            (lambda e, X: np.zeros(len(X)), r"logits returned an .* shape \(150,\)"),
            (zeros(), r"expected \(150, 3\): .* a column for each class"),
            (zeros(7, 3), r"shape \(7, 3\), expected \(150, 3\): a row"),
            (lambda e, X: np.full((len(X), 3), np.nan), "logits returned contains NaN"),
            (lambda e, X: sparse.eye(len(X), 3), "[Ss]parse .*toarray"),
        )
    ),
    (ODIN(input_gradient="ones"), LINEAR, "input_gradient=.* must be a callable"),
    (ODIN(input_gradient=zeros(3)), LINEAR, r"shape \(3,\), expected \(150, 4\)"),
    (
        ODIN(input_gradient=lambda e, X, T: np.full(X.shape, np.nan)),
        LINEAR,
        "input_gradient returned contains NaN",
    ),
    (ODIN(), BAYES, r"ODIN needs the last .* 1 x GaussianNB.*`input_gradient`"),
    (ODIN(logits=zeros()), LINEAR, "got a function as `logits`.*`input_gradient`"),
    (ODIN(epsilon=-0.1), LINEAR, "epsilon must be in"),
    (ReAct(), BAYES, r"ReAct needs the last .* 1 x GaussianNB.*`head`"),
    (ReAct(features=zeros()), LINEAR, "got a function as `features`.*`head`"),
    (ReAct(head=lambda e, f: f), LINEAR, r"head returned .* expected \(150, 3\)"),
    (ReAct(101), LINEAR, r"percentile must be in \[0, 100\]"),
    (GEN(1.5), LINEAR, r"gamma must be in \(0, 1\], got 1.5"),
    (GEN(n_largest=0), LINEAR, "n_largest must be a positive int, got 0"),
    (ViM(4), LINEAR, "n_components=4 leaves no residual"),
    (ViM(0), LINEAR, "n_components must be a positive int"),
    (
        ViM(1, lambda e, X: np.outer(X[:, 0], [1.0, 2.0])),
        LINEAR,
        "lie in the principal subspace",
    ),
    (
        ViM(1, logits=lambda e, X: np.full((len(X), 3), -1.0)),
        LINEAR,
        "mean of the largest logit is -1",
    ),
    (SIRC("energy"), LINEAR, "must be one of"),
    (SIRC(feature_score="l2"), LINEAR, "feature_score must be one of"),
    (SIRC(features=lambda e, X: np.ones((len(X), 3))), LINEAR, "is the same for all"),
    (SIRC(), SVM, "has no `predict_proba`"),
    *(
        (kind(*options), LINEAR, message)
        for kind in (Mahalanobis, RelativeMahalanobis)
        for options, message in (
            ((-0.1,), r"shrinkage must be in \[0, 1\]"),
            ((1.1,), r"shrinkage must be in \[0, 1\]"),
            (("oas",), "shrinkage must be a number"),
            ((True,), "shrinkage must be a number"),
            ((0.0, lambda e, X: FLAT), r"covariance .* singular.*Increase shrinkage"),
        )
    ),
    (KNN(151), LINEAR, r"n_neighbors=151 is larger .* 150.*='auto'"),
    (KNN(0), LINEAR, "n_neighbors must be a positive int"),
    (KNN("all"), LINEAR, "n_neighbors must be a positive int"),
    (KNN(max_samples=0), LINEAR, "max_samples must be a positive int"),
    (KNN(max_samples="all"), LINEAR, "max_samples must be a positive int"),
    (KNN(normalize="l2"), LINEAR, "normalize must be one of"),
    (OutlierDetector(LocalOutlierFactor()), LINEAR, "has with novelty=True"),
    (OutlierDetector(OfUnknownDirection()), LINEAR, "scores no new samples.*PyOD's"),
    (OutlierDetector("forest"), LINEAR, "detector must be an outlier detector"),
    (OutlierDetector(on="output"), LINEAR, "on must be one of"),
    (OutlierDetector(None, "input", first_column), LINEAR, "Use on='features'"),
    (LikelihoodRatio(SVM), LINEAR, "classifier must have `predict_proba`"),
]


@pytest.mark.parametrize(
    ("score", "classifier", "message"), REFUSED, ids=lambda v: type(v).__name__
)
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_refused(score, classifier, message):
    classifier = classifier.fit(X, Y)
    given = {"X_ood": X + 9} if isinstance(score, NoveltyScore) else {}
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(
            score.fit(X, Y, estimator=classifier, **given),
            "novelty" if given else "uncertainty",
        )(X)


@pytest.mark.parametrize(
    ("score", "given", "message"),
    [
        (SELE(), {"y": None}, "y is None"),
        (KNN(), {"sample_weight": ONES[:3]}, "sample_weight has 3 elements"),
        (KNN(), {"sample_weight": -ONES}, "sample_weight must be non-negative"),
        (KNN(), {"sample_weight": 0 * ONES}, "sample_weight is zero for every sample"),
        (KNN(), {"share": 0}, r"share must be in \(0, inf\)"),
        (KNN(121), {"share": 0.8, "X": X[:96], "y": Y[:96]}, r"=121 is larger .* 120"),
        *(
            (score, {"sample_weight": ONES, **given}, "must take sample_weight")
            for score, given in (
                (LikelihoodRatio(KNeighborsClassifier()), {"X_ood": X + 9}),
                (OutlierDetector(OfUnknownDirection()), {}),
                (LossRegression(KNeighborsRegressor(), "input"), {}),
                (ErrorProbability(KNeighborsClassifier(), "input"), {}),
            )
        ),
    ],
    ids=lambda v: type(v).__name__,
)
def test_samples_that_are_refused(score, given, message):
    with pytest.raises(ValueError, match=message):
        score.fit(**{"X": X, "y": Y, "estimator": FITTED} | given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(
            ({"uncertainty_score": score}, "^uncertainty_score must be 'au")
            for score in ("certainty", 3, None, Margin)
        ),
        *(
            ({"novelty_score": score}, r"^novelty_score must be one of \['en")
            for score in ("distance", "margin", 3, None, MaxLogit, GaussianNB())
        ),
        ({"novelty_score": SELE()}, "must be a novelty or a plug-in .*FrozenEstimator"),
        ({"novelty_score": FrozenEstimator(MSP())}, "is not fitted"),
        ({"uncertainty_score": FrozenEstimator(Margin())}, "is not fitted"),
        ({"uncertainty_score": "gain"}, "labels of an expert"),
        ({"uncertainty_score": ExpectedGain()}, "DeferringClassifier"),
        (
            {"novelty_score": LocalOutlierFactor(novelty=True)},
            "Wrap it: OutlierDetector",
        ),
        (
            {"estimator": SVM, "uncertainty_score": "conditional_risk"},
            "has no `predict_",
        ),
    ],
)
def test_scores_that_estimators_refuse(options, message):
    options = {"estimator": GaussianNB(), "min_tpr": 0.5} | options
    with pytest.raises(ValueError, match=message):
        DoubleScoreOODClassifier(**options).fit(X, np.where(Y == 2, -1, Y))


class Neither(GaussianNB):
    @property
    def predict_proba(self):
        raise AttributeError("not here")


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("uncertainty_score", SelectiveClassifier(Neither())),
        ("gain_score", DeferringClassifier(Neither(), BAYES, gain_score="confidence")),
    ],
)
def test_auto_of_a_classifier_with_neither(name, model):
    with pytest.raises(ValueError, match=f"{name}='.*' needs .*Neither has neither"):
        model.fit(X, Y)
    assert not hasattr(model, "estimator_")


def test_a_new_fit_leaves_nothing_of_the_old_one():
    score = LossRegression(features="per_label_linear").fit(X, Y, estimator=FITTED)
    assert hasattr(score, "alpha_")
    score.set_params(regressor=Ridge(), features="input+response")
    assert not hasattr(score.fit(X, Y, estimator=FITTED), "alpha_")
