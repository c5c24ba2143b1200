"""The estimator that predicts sets: what it learns, decides and hands on."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import get_selective_scorer, set_loss
from tests.decoding.set_oracle import recall_loss

LOGISTIC = LogisticRegression()
BAYES = GaussianNB()
SEVERAL = OneVsRestClassifier(BAYES)
AVERAGES = ["samples", "macro", "micro"]

_WARNING = f"{RejectionWarning.__module__}.{RejectionWarning.__name__}"
pytestmark = pytest.mark.filterwarnings(f"ignore:.* rows were decoded:{_WARNING}")


def rare(n_samples=600, seed=0):
    """Return samples of two classes, one of which is rare, and forty of a group."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    y = (rng.random(n_samples) < expit(2.5 * X[:, 0] - 4)).astype(int)
    return X, y, np.arange(n_samples) % (n_samples // 40)


def labels(n_samples=150):
    return make_multilabel_classification(n_samples, n_classes=4, random_state=0)


def three_classes(n_samples=150):
    return make_classification(n_samples, n_classes=3, n_informative=3, random_state=0)


class Told(ClassifierMixin, BaseEstimator):
    """Classifier whose probabilities are the features, maybe sparse."""

    def __init__(self, is_sparse=False):
        self.is_sparse = is_sparse

    def fit(self, X, y):
        self.classes_ = np.arange(y.shape[1])
        return self

    def predict_proba(self, X):
        return csr_matrix(X) if self.is_sparse else X

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


SETS = ["call", "groups", "classes", *AVERAGES]


def problem_of(sets):
    """Return a classifier, samples, labels, options of a decoder, and groups."""
    if sets in AVERAGES:
        return SEVERAL, *labels(), {"average": sets}, {}
    if sets == "classes":
        return BAYES, *three_classes(), {}, {}
    X, y, groups = rare(200)
    return BAYES, X, y, {}, {"groups": groups} if sets == "groups" else {}


def items_of(proba, sets):
    return proba[:, 1] if sets in ("call", "groups") else proba


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("loss", ["f1", "jaccard", "am", "g_mean", "hamming"])
def test_best_sets_are_those_of_the_probabilities(sets, loss):
    classifier, X, y, average, groups = problem_of(sets)
    decoder = ExpectedLossDecoder(classifier, strategy="dta", loss=loss, **average)
    decoder.fit(X, y, **groups)
    proba = clone(classifier).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(decoder.predict_proba(X), proba)
    options, names = {}, {}
    if sets == "classes":
        options, names = {"distribution": "multinomial"}, {"labels": [0, 1, 2]}
    eta = items_of(proba, sets)
    mask, expected = decode(eta, loss=loss, **options, **average, **groups)
    predict = decoder.predict_set if sets == "classes" else decoder.predict
    np.testing.assert_array_equal(predict(X, **groups), mask)
    if sets == "classes":
        np.testing.assert_array_equal(decoder.predict(X), proba.argmax(axis=1))
    np.testing.assert_array_equal(decoder.expected_loss(X, **groups), expected)
    realized = set_loss(y, mask.astype(int), loss=loss, **average, **groups, **names)
    assert decoder.score(X, y, **groups) == pytest.approx(-realized, rel=1e-12)


@pytest.mark.parametrize("strategy", ["auto", "dta", "eum", 0.5])
def test_labels_with_one_class(strategy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.column_stack([X[:, 0] > 0, np.zeros(60), np.ones(60)]).astype(int)
    for classifier in (
        RandomForestClassifier(5, random_state=0),
        MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=5)),
    ):
        decoder = ExpectedLossDecoder(classifier, loss="hamming", strategy=strategy)
        np.testing.assert_array_equal(decoder.fit(X, y).predict(X)[:, 1:], y[:, 1:])


@pytest.mark.parametrize("sets", ["call", "groups", "macro", "micro"])
@pytest.mark.parametrize("strategy", ["auto", "dta", 0.3])
def test_exactly_k(sets, strategy):
    classifier, X, y, options, given = problem_of(sets)
    options |= {"min_positive": 7, "max_positive": 7}
    decoder = ExpectedLossDecoder(classifier, strategy=strategy, **options)
    taken = decoder.fit(X, y, **given).predict(X, **given)
    eta, groups = items_of(decoder.predict_proba(X), sets), given.get("groups")
    if sets == "macro":
        number = np.broadcast_to(np.arange(eta.shape[1]), eta.shape)
    else:
        number = groups if sets == "groups" else np.zeros(eta.shape)
    for one in set(number.flat):
        chances, chosen = eta[number == one], taken[number == one]
        assert chosen.sum() == 7
        assert chances[chosen == 1].min() >= chances[chosen == 0].max()


def out_of_fold(classifier, X, y, cv=5):
    return cross_val_predict(classifier, X, y, cv=cv, method="predict_proba")


@pytest.mark.parametrize("sets", SETS)
def test_tuned_thresholds_are_those_of_pooled_folds(sets):
    classifier, X, y, average, given = problem_of(sets)
    options = {"loss": "f_beta", "beta": 2.0, **average}
    # By default, where rows are decided one by one.
    strategy = "auto" if sets in ("call", "macro", "micro") else "eum"
    decoder = ExpectedLossDecoder(classifier, strategy=strategy, cv=KFold(3), **options)
    decoder.fit(X, y, **given)
    eta = items_of(out_of_fold(classifier, X, y, KFold(3)), sets)
    truth = y[:, None] == np.arange(3) if sets == "classes" else y
    tuned = tune_threshold(truth, eta, **options, **given)
    np.testing.assert_array_equal(decoder.threshold_, tuned.threshold)
    assert decoder.tuned_loss_ == tuned.loss
    assert decoder.strategy_ == "eum"
    predict = decoder.predict_set if sets == "classes" else decoder.predict
    current = items_of(decoder.predict_proba(X), sets)
    np.testing.assert_array_equal(predict(X), current >= tuned.threshold)


# The default: groups, labels and classes are decoded with calibrated probabilities
def calibrate(eta, truth, current):
    """Return the mean of an isotonic curve and of the probabilities as they are."""
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    weight = np.sqrt(len(eta))
    steps = curve.fit(eta, truth).predict(current)
    return (weight * steps + current) / (weight + 1)


@pytest.mark.parametrize("sets", ["groups", "samples", "classes"])
@pytest.mark.parametrize("frozen", [False, True])
def test_sets_are_decoded_with_calibrated_probabilities(sets, frozen):
    classifier, X, y, average, groups = problem_of(sets)
    if frozen:
        classifier = FrozenEstimator(clone(classifier).fit(X[:60], y[:60]))
    decoder = ExpectedLossDecoder(classifier, **average, cv=None if frozen else 3)
    decoder.fit(X, y, **groups)
    current = decoder.estimator_.predict_proba(X)
    eta = current if frozen else out_of_fold(classifier, X, y, 3)
    truth = y if y.ndim == 2 else y[:, None] == np.unique(y)
    columns = zip(eta.T, truth.T, current.T, strict=True)
    expected = np.column_stack([calibrate(*column) for column in columns])
    if sets == "groups":
        expected[:, 0] = 1 - expected[:, 1]
    elif sets == "classes":
        expected /= expected.sum(axis=1, keepdims=True)
    proba = decoder.predict_proba(X)
    np.testing.assert_allclose(proba, expected, rtol=1e-12, atol=1e-15)
    if sets != "samples":
        np.testing.assert_array_equal(decoder.predict_log_proba(X), np.log(proba))
    assert decoder.strategy_ == "dta"
    if sets == "classes":
        mask, _ = decode(proba, loss="f1", distribution="multinomial")
        np.testing.assert_array_equal(decoder.predict_set(X), mask)
        np.testing.assert_array_equal(decoder.predict(X), proba.argmax(axis=1))
    else:
        mask, _ = decode(items_of(proba, sets), loss="f1", **groups)
        np.testing.assert_array_equal(decoder.predict(X, **groups), mask)


@pytest.mark.filterwarnings("default")
def test_small_calls_of_decoded_sets_warn():
    X, y, _ = rare()
    decoder = ExpectedLossDecoder(LOGISTIC, strategy="dta").fit(X, y)
    for method in (decoder.predict, decoder.expected_loss):
        with pytest.warns(RejectionWarning, match="3 rows were decoded .* groups="):
            method(X[:3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decoder.predict(X)
        decoder.predict(X[:3], groups=[0, 1, 1])
        fixed = clone(decoder).set_params(min_positive=2, max_positive=2).fit(X, y)
        assert fixed.predict(X[:3]).sum() == 2
        clone(decoder).set_params(loss="hamming").fit(X, y).predict(X[:3])
        clone(decoder).set_params(strategy="eum").fit(X, y).predict(X[:3])
    X, y = labels()
    decoder = ExpectedLossDecoder(SEVERAL, strategy="dta", average="macro").fit(X, y)
    with pytest.warns(RejectionWarning, match="Pass more rows at once, .*or fit"):
        assert decoder.predict(X[:1]).all()


@pytest.mark.parametrize(
    "options", [{}, {"strategy": "eum", "max_positive": 3}, {"strategy": "eum"}]
)
def test_groups_of_fit_are_not_forgotten(options):
    X, y, groups = rare()
    decoder = ExpectedLossDecoder(BAYES, **options).fit(X, y, groups=groups)
    calls = [decoder.predict, decoder.expected_loss, lambda X: decoder.score(X, y)]
    if options == {"strategy": "eum"}:
        # A threshold decides row by row, but sets are to be scored.
        labels = calls.pop(0)(X)
        np.testing.assert_array_equal(labels, decoder.predict(X, groups=groups))
    for call in calls:
        with pytest.raises(ValueError, match=r"fit had groups.*np.zeros\(len\(X"):
            call(X)


def test_what_was_fitted_decides():
    X, y, _ = rare()
    names = np.where(y == 1, "ham", "spam")
    decoder = ExpectedLossDecoder(LOGISTIC, pos_label="ham").fit(X, names)
    before = decoder.predict(X), decoder.score(X, names), decoder.expected_loss(X)
    assert before[1] == -set_loss(names, before[0], pos_label="ham")
    decoder.set_params(pos_label="spam", min_positive=9, max_positive=10, loss="am")
    decoder.set_params(strategy=0.9, zero_division=1.0)
    np.testing.assert_array_equal(decoder.predict(X), before[0])
    assert (decoder.score(X, names), decoder.expected_loss(X)) == before[1:]
    # Another fit leaves nothing of the strategy before.
    decoder.set_params(strategy=0.5, min_positive=0, max_positive=None).fit(X, names)
    assert decoder.threshold_ == 0.5
    assert decoder.tuned_loss_ is None
    is_spam = decoder.predict_proba(X)[:, 1] >= 0.5
    np.testing.assert_array_equal(decoder.predict(X) == "spam", is_spam)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("strategy", ["auto", "dta", "eum", 0.3])
def test_sparse_probabilities_and_labels(average, strategy):
    rng = np.random.default_rng(0)
    eta = rng.random((60, 3)) * (rng.random((60, 3)) < 0.5)
    eta[0, 0] = 0.3
    y = (rng.random((60, 3)) < eta).astype(int)
    dense = ExpectedLossDecoder(Told(), strategy=strategy, average=average, cv=3)
    sparse = clone(dense).set_params(estimator=Told(is_sparse=True))
    dense.fit(eta, y)
    sparse.fit(eta, csr_array(y))
    np.testing.assert_array_equal(sparse.predict(eta), dense.predict(eta))
    assert sparse.score(eta, csr_array(y)) == dense.score(eta, y)
    if strategy == 0.3:  # which a probability reaches that equals it
        bounded = clone(dense).set_params(max_positive=200).fit(eta, y)
        for decoder in (dense, bounded):
            np.testing.assert_array_equal(decoder.predict(eta), eta >= 0.3)


@pytest.mark.parametrize(
    "cv", [0.4, GroupKFold(3), ShuffleSplit(1, test_size=0.5, random_state=0)]
)
def test_kinds_of_folds(cv):
    X, y, groups = rare(400)
    given = {"groups": groups} if isinstance(cv, GroupKFold) else {}
    decoder = ExpectedLossDecoder(LOGISTIC, cv=cv, random_state=0).fit(X, y, **given)
    if given:
        eta = out_of_fold(LOGISTIC, X, y, list(cv.split(X, y, groups)))[:, 1]
        decoder.set_params(strategy="eum").fit(X, y, groups=groups)
        tuned = tune_threshold(y, eta, loss="f1", groups=groups)
        assert decoder.threshold_ == pytest.approx(tuned.threshold, abs=1e-12)


@pytest.mark.parametrize("average", ["samples", "macro"])
def test_a_label_that_no_fold_can_be_fitted_on(average):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.column_stack([X[:, 0] > 0, np.arange(40) == 0]).astype(int)
    classifier = MultiOutputClassifier(LOGISTIC)
    decoder = ExpectedLossDecoder(classifier, average=average)
    message = "or cut at 0.5. Pass more samples, or cv=. The error in a fold was: "
    with pytest.warns(RejectionWarning, match=message):
        decoder.fit(X, y)
    assert decoder.strategy_ == ("dta" if average == "samples" else 0.5)
    assert decoder.predict(X).shape == y.shape
    for options in ({"cv": 3}, {"strategy": "eum"}):
        with pytest.raises(ValueError, match="classes"):
            ExpectedLossDecoder(classifier, average=average, **options).fit(X, y)


def test_indicators_and_samples_of_other_types():
    pd = pytest.importorskip("pandas")
    X, y = labels()
    plain = ExpectedLossDecoder(KNeighborsClassifier()).fit(X, y)
    for other in (pd.DataFrame(y).astype("Int64"), y.astype(bool), y.astype(float)):
        decoder = clone(plain).fit(pd.DataFrame(X).add_prefix("x"), other)
        score = decoder.score(pd.DataFrame(X).add_prefix("x"), other)
        assert score == plain.score(X, y)
    assert decoder.feature_names_in_[0] == "x0"


def test_weights_of_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X + rng.normal(size=X.shape) > 1).astype(int)
    frozen = FrozenEstimator(OneVsRestClassifier(LogisticRegression()).fit(X, y))
    weight = rng.integers(0, 3, 300)
    decoder = ExpectedLossDecoder(frozen, strategy="eum")
    decoder.fit(X, y, sample_weight=weight)
    eta, rows = frozen.predict_proba(X), np.repeat(np.arange(300), weight)
    tuned = tune_threshold(y, eta, loss="f1", sample_weight=weight)
    assert (decoder.threshold_, decoder.tuned_loss_) == (tuned.threshold, tuned.loss)
    repeated = tune_threshold(y[rows], eta[rows], loss="f1")
    assert decoder.threshold_ == repeated.threshold
    score = decoder.score(X, y, sample_weight=weight)
    assert score == pytest.approx(decoder.score(X[rows], y[rows]))


def rare_labels(n_classes):
    """Return labels of which the last class is in the last quarter alone."""
    y = np.arange(60) % (n_classes - 1)
    y[50:54] = n_classes - 1
    return np.random.default_rng(0).normal(size=(60, 4)) + y[:, None], y


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]], ids=["numbers", "text"])
@pytest.mark.parametrize("has_label", [True, False])
@pytest.mark.parametrize("strategy", ["auto", "dta", 0.5])
def test_the_positive_class_is_missed_where_it_was_not_seen(names, has_label, strategy):
    X, y = rare_labels(2)
    y = np.array(names)[y]
    pos_label = names[1] if has_label else None
    decoder = ExpectedLossDecoder(BAYES, strategy=strategy, pos_label=pos_label)
    with pytest.warns(RejectionWarning, match="not in y of fit|has probability zero"):
        scores = cross_val_score(decoder, X, y, cv=KFold(4), error_score="raise")
    assert np.isfinite(scores).all()
    assert scores[3] == -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        decoder.fit(X[:45], y[:45])
    assert (decoder.predict(X[45:]) == names[0]).all()


@pytest.mark.parametrize("n_seen", [2, 3])
def test_one_class_of_many_is_missed(n_seen):
    """Of two that were seen, each sample is a set with the one that is predicted."""
    X, y = rare_labels(n_seen + 1)
    bounds = {"loss": recall_loss, "max_positive": 2} if n_seen == 3 else {}
    decoder = ExpectedLossDecoder(BAYES, strategy="dta", **bounds)
    decoder.fit(X[:45], y[:45])
    with pytest.warns(RejectionWarning, match=rf"\[{n_seen}\]. They count as missed"):
        score = decoder.score(X[45:], y[45:])
    if n_seen == 3:
        sets = decoder.predict_set(X[45:])
    else:
        sets = decoder.predict(X[45:])[:, None] == [0, 1]
    hits = (sets & (y[45:, None] == np.arange(n_seen))).any(axis=1)
    assert score == pytest.approx(hits.mean() - 1)


def test_groups_are_routed_through_a_pipeline():
    X, y, groups = rare(400)
    with sklearn.config_context(enable_metadata_routing=True):
        decoder = ExpectedLossDecoder(LOGISTIC)
        for method in ("fit", "predict", "score"):
            getattr(decoder, f"set_{method}_request")(groups="query")
        pipeline = make_pipeline(StandardScaler(), decoder)
        pipeline.fit(X, y, query=groups)
        predicted = pipeline.predict(X, query=groups)
        score = pipeline.score(X, y, query=groups)
    scaled, decoder = pipeline[0].transform(X), pipeline[-1]
    alone = ExpectedLossDecoder(LOGISTIC).fit(scaled, y, groups=groups)
    np.testing.assert_array_equal(predicted, alone.predict(scaled, groups=groups))
    assert score == alone.score(scaled, y, groups=groups)


@pytest.mark.parametrize("sets", ["samples", "classes"])
@pytest.mark.parametrize(
    "scoring", [None, get_selective_scorer("neg_set_loss")], ids=["own", "scorer"]
)
@pytest.mark.parametrize("strategy", ["dta", "eum"])
def test_groups_of_a_splitter_where_samples_are_sets(sets, scoring, strategy):
    classifier, X, y, *_ = problem_of(sets)
    groups, folds = np.arange(len(y)) // 4, GroupKFold(3)
    decoder = ExpectedLossDecoder(classifier, strategy=strategy, cv=GroupKFold(2))
    with sklearn.config_context(enable_metadata_routing=True):
        options = {"params": {"groups": groups}, "error_score": "raise"}
        scores = cross_val_score(decoder, X, y, cv=folds, scoring=scoring, **options)
        # They do not make sets of samples here.
        decoder.fit(X, y, groups=groups)
        for method in (decoder.predict, decoder.expected_loss):
            np.testing.assert_array_equal(method(X, groups=groups), method(X))
        assert decoder.score(X, y, groups=groups) == decoder.score(X, y)
    for (train, test), score in zip(folds.split(X, y, groups), scores, strict=True):
        cv = list(GroupKFold(2).split(X[train], y[train], groups[train]))
        alone = clone(decoder).set_params(cv=cv).fit(X[train], y[train])
        assert score == alone.score(X[test], y[test])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
@pytest.mark.parametrize("pos_label", [None, 0, 1, 0.0])
def test_predictions_are_of_the_type_of_labels(dtype, pos_label):
    X, y = make_classification(60, 4, random_state=0)
    labels = y.astype(dtype)
    decoder = ExpectedLossDecoder(GaussianNB(), pos_label=pos_label).fit(X, labels)
    predicted = decoder.predict(X)
    assert predicted.dtype == labels.dtype
    assert set(map(type, predicted.tolist())) == set(map(type, labels.tolist()))
