"""The estimator that predicts sets: what it asks, decides and hands on."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    make_classification,
    make_multilabel_classification,
)
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject._estimators import _decoder, _set_options
from sklearn_reject._estimators._set_choice import choose
from sklearn_reject.decoding import decode, expected_loss_curve, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import set_loss

LOSSES = [
    "f1",
    "jaccard",
    "am",
    "balanced_accuracy",
    "g_tp_pr",
    "g_mean",
    "h_mean",
    "hamming",
    [[0, -2, 1, 1], [0, -1, 1, 1]],
]


def rare_class(n_samples=600, random_state=0):
    return make_classification(
        n_samples,
        weights=[0.9],
        class_sep=0.7,
        flip_y=0.05,
        random_state=random_state,
    )


@pytest.fixture(scope="module")
def two_classes():
    return rare_class()


@pytest.fixture(scope="module")
def labels():
    return make_multilabel_classification(300, n_classes=6, random_state=0)


logistic = LogisticRegression()

# One fit, whose probabilities are decoded as they are.
AS_THEY_ARE = {"strategy": "dta", "calibration": None}


class Told(ClassifierMixin, BaseEstimator):
    """Classifier that repeats the probabilities it is given as samples."""

    def __init__(self, sparse=False):
        self.sparse = sparse

    def fit(self, X, y):
        self.classes_ = np.unique(y) if np.ndim(y) == 1 else np.arange(y.shape[1])
        return self

    def predict_proba(self, X):
        return csr_matrix(X) if self.sparse else np.asarray(X)

    def predict(self, X):
        return self.classes_[np.argmax(X, axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_samples_of_a_call_are_one_set(two_classes, loss):
    X, y = two_classes
    decoder = ExpectedLossDecoder(logistic, loss=loss, **AS_THEY_ARE).fit(X, y)
    eta = decoder.predict_proba(X)[:, 1]
    mask, expected = decode(eta, loss=loss)
    np.testing.assert_array_equal(decoder.predict(X), mask)
    assert decoder.expected_loss(X) == expected
    assert decoder.score(X, y) == -set_loss(y, mask.astype(int), loss=loss)
    assert decoder.target_type_ == "binary"


@pytest.mark.parametrize("strategy", ["dta", "eum", 0.3])
def test_groups_are_sets(two_classes, strategy):
    X, y = two_classes
    groups = np.random.default_rng(0).choice(["a", "b", "c"], len(y), p=[0.6, 0.3, 0.1])
    options = {"strategy": strategy, "calibration": None}
    decoder = ExpectedLossDecoder(logistic, **options).fit(X, y)
    predicted = decoder.predict(X, groups=groups)
    expected = decoder.expected_loss(X, groups=groups)
    curves = decoder.expected_loss_curves(X, groups=groups)
    for number, group in enumerate("abc"):
        rows = groups == group
        np.testing.assert_array_equal(predicted[rows], decoder.predict(X[rows]))
        assert expected[number] == pytest.approx(decoder.expected_loss(X[rows]))
        eta = np.sort(decoder.predict_proba(X[rows])[:, 1])[::-1]
        np.testing.assert_allclose(
            curves[number], expected_loss_curve(eta, loss="f1"), atol=1e-14
        )
    losses = set_loss(y, predicted, groups=groups, average=None)
    assert decoder.score(X, y, groups=groups) == pytest.approx(-losses.mean())


@pytest.mark.parametrize(
    "classifier",
    [
        OneVsRestClassifier(logistic),
        MultiOutputClassifier(logistic),
        ClassifierChain(logistic),
        RandomForestClassifier(5, random_state=0),
        KNeighborsClassifier(5),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
@pytest.mark.parametrize("strategy", ["dta", "eum", 0.5])
def test_labels_of_a_sample_are_a_set(labels, classifier, strategy):
    X, y = labels
    decoder = ExpectedLossDecoder(
        classifier,
        loss="jaccard",
        strategy=strategy,
        calibration=None,
        zero_division=1.0,
        cv=3,
    )
    with warnings.catch_warnings():
        # Labels depend on each other, and neighbors tell few probabilities.
        warnings.simplefilter("ignore", RejectionWarning)
        decoder.fit(X, y)
    told = decoder.estimator_.predict_proba(X)
    eta = np.column_stack([p[:, 1] for p in told]) if isinstance(told, list) else told
    if strategy == "dta":
        mask, expected = decode(eta, loss="jaccard", zero_division=1.0)
        np.testing.assert_array_equal(decoder.expected_loss(X), expected)
    else:
        mask = eta >= decoder.threshold_
    np.testing.assert_array_equal(decoder.predict(X), mask)
    assert decoder.target_type_ == "multilabel"
    realized = set_loss(y, decoder.predict(X), loss="jaccard", zero_division=1.0)
    assert decoder.score(X, y) == pytest.approx(-realized)


def test_label_that_a_fold_lacks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.column_stack([X[:, 0] > 0, np.ones(60), np.zeros(60)]).astype(int)
    forest = RandomForestClassifier(5, random_state=0)
    decoder = ExpectedLossDecoder(forest, loss="hamming").fit(X, y)
    assert decoder.calibration_gap_ is not None
    np.testing.assert_array_equal(decoder.predict(X)[:, 1:], y[:, 1:])


@pytest.mark.parametrize("loss", ["f1", "am", "g_tp_pr", "hamming"])
def test_classes_of_a_sample_are_a_set(loss):
    X, y = make_classification(200, n_classes=3, n_informative=3, random_state=0)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    decoder = ExpectedLossDecoder(logistic, loss=loss, **AS_THEY_ARE).fit(X, names)
    proba = decoder.predict_proba(X)
    mask, expected = decode(proba, loss=loss, distribution="multinomial")
    np.testing.assert_array_equal(decoder.predict_set(X), mask)
    np.testing.assert_array_equal(decoder.expected_loss(X), expected)
    np.testing.assert_array_equal(decoder.predict(X), decoder.estimator_.predict(X))
    realized = set_loss(names, mask, loss=loss, labels=decoder.classes_)
    assert decoder.score(X, names) == pytest.approx(-realized)
    weight = np.arange(len(y))
    weighted = set_loss(
        names, mask, loss=loss, labels=decoder.classes_, sample_weight=weight
    )
    score = decoder.score(X, names, sample_weight=weight)
    assert score == pytest.approx(-weighted)
    assert len(decoder.expected_loss_curves(X)) == len(X)


def test_tuned_threshold_of_pooled_folds(two_classes):
    X, y = two_classes
    options = {"strategy": "eum", "calibration": None}
    decoder = ExpectedLossDecoder(logistic, loss="f_beta", beta=2.0, **options).fit(
        X, y
    )
    eta = cross_val_predict(logistic, X, y, cv=5, method="predict_proba")[:, 1]
    tuned = tune_threshold(y, eta, loss="f_beta", beta=2.0)
    assert decoder.threshold_ == pytest.approx(tuned.threshold, abs=1e-12)
    assert decoder.tuned_loss_ == pytest.approx(tuned.loss)
    eta = decoder.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(decoder.predict(X), eta >= decoder.threshold_)


def test_tuned_threshold_of_a_frozen_classifier(two_classes):
    X, y = two_classes
    frozen = FrozenEstimator(LogisticRegression().fit(X[:200], y[:200]))
    decoder = ExpectedLossDecoder(frozen, strategy="eum").fit(X[200:], y[200:])
    eta = frozen.predict_proba(X[200:])[:, 1]
    tuned = tune_threshold(y[200:], eta, loss="f1")
    assert decoder.threshold_ == tuned.threshold


def test_tuned_threshold_of_a_share(two_classes):
    X, y = two_classes
    decoder = ExpectedLossDecoder(logistic, strategy="eum", cv=0.5, random_state=0)
    again = clone(decoder).fit(X, y)
    assert decoder.fit(X, y).threshold_ == again.threshold_
    whole = LogisticRegression().fit(X, y)
    assert not np.allclose(decoder.estimator_.coef_, whole.coef_)


def test_other_strategies_fit_on_everything(two_classes):
    X, y = two_classes
    whole = LogisticRegression().fit(X, y)
    for strategy in ("dta", 0.4):
        options = {"strategy": strategy, "calibration": None}
        decoder = ExpectedLossDecoder(logistic, cv=0.5, **options).fit(X, y)
        np.testing.assert_array_equal(decoder.estimator_.coef_, whole.coef_)
        assert hasattr(decoder, "threshold_") == (strategy == 0.4)
        assert decoder.calibration_gap_ is None


def test_refit_leaves_nothing_of_an_earlier_strategy_unless_it_fails(two_classes):
    X, y = two_classes
    decoder = ExpectedLossDecoder(logistic, strategy="eum").fit(X, y)
    decoder.set_params(strategy=0.5).fit(X, y)
    assert decoder.threshold_ == 0.5
    assert not hasattr(decoder, "tuned_loss_")
    with pytest.raises(ValueError, match="strategy"):
        decoder.set_params(strategy="dat").fit(X, y)
    assert decoder.threshold_ == 0.5
    expected = decoder.predict_proba(X)[:, 1] >= 0.5
    np.testing.assert_array_equal(decoder.predict(X) == 1, expected)


def test_tuning_groups_are_those_of_fit(two_classes):
    X, y = two_classes
    groups = np.arange(len(y)) // 25
    decoder = ExpectedLossDecoder(logistic, strategy="eum", zero_division=1.0)
    decoder.fit(X, y, groups=groups)
    eta = cross_val_predict(logistic, X, y, cv=5, method="predict_proba")[:, 1]
    tuned = tune_threshold(y, eta, loss="f1", zero_division=1.0, groups=groups)
    assert decoder.threshold_ == pytest.approx(tuned.threshold, abs=1e-12)


def test_groups_reach_a_splitter_that_takes_them(two_classes):
    X, y = two_classes
    groups = np.arange(len(y)) % 4
    splitter = GroupKFold(4)
    decoder = ExpectedLossDecoder(logistic, strategy="eum", cv=splitter)
    decoder.fit(X, y, groups=groups)
    eta = cross_val_predict(
        logistic, X, y, cv=list(splitter.split(X, y, groups)), method="predict_proba"
    )
    tuned = tune_threshold(y, eta[:, 1], loss="f1", groups=groups)
    assert decoder.threshold_ == pytest.approx(tuned.threshold, abs=1e-12)


def test_groups_are_routed_through_a_pipeline(two_classes):
    X, y = two_classes
    groups = np.arange(len(y)) % 7
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), ExpectedLossDecoder(logistic))
        pipeline.fit(X, y, groups=groups)
        predicted = pipeline.predict(X, groups=groups)
        score = pipeline.score(X, y, groups=groups)
    decoder = pipeline[-1]
    scaled = pipeline[0].transform(X)
    np.testing.assert_array_equal(predicted, decoder.predict(scaled, groups=groups))
    assert score == decoder.score(scaled, y, groups=groups)


@pytest.mark.parametrize("name", ["groups", "query"])
def test_groups_may_have_another_name(two_classes, name):
    X, y = two_classes
    groups = np.arange(len(y)) // 25
    plain = ExpectedLossDecoder(logistic, strategy="eum").fit(X, y, groups=groups)
    with config_context(enable_metadata_routing=True):
        decoder = ExpectedLossDecoder(logistic, strategy="eum")
        pipeline = make_pipeline("passthrough", decoder.set_fit_request(groups=name))
        pipeline.fit(X, y, **{name: groups})
    assert pipeline[-1].threshold_ == plain.threshold_


def test_weights_are_for_the_classifier_only(two_classes):
    X, y = two_classes
    weight = np.where(y == 1, 3.0, 1.0)
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        pipeline = make_pipeline("passthrough", ExpectedLossDecoder(inner))
        pipeline.fit(X, y, sample_weight=weight)
    plain = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(pipeline[-1].estimator_.coef_, plain.coef_)


def test_weights_reach_the_classifier(two_classes):
    X, y = two_classes
    weight = np.where(y == 1, 3.0, 1.0)
    plain = LogisticRegression().fit(X, y, sample_weight=weight)
    decoder = ExpectedLossDecoder(logistic).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(decoder.estimator_.coef_, plain.coef_)


def test_strategy_is_that_of_the_fit(two_classes):
    X, y = two_classes
    decoder = ExpectedLossDecoder(logistic).fit(X, y)
    before = decoder.predict(X)
    np.testing.assert_array_equal(decoder.set_params(strategy=0.5).predict(X), before)


def test_threshold_takes_no_time_for_expectations(two_classes):
    X, y = two_classes
    seen = []

    def count_calls(tp, fp, fn, tn):
        seen.append(np.size(tp))
        return fp + 2.0 * fn

    decoder = ExpectedLossDecoder(logistic, loss=count_calls, strategy=0.4).fit(X, y)
    seen.clear()
    decoder.predict(X)
    assert not seen
    decoder.score(X, y)
    assert seen == [1]
    assert np.isfinite(decoder.expected_loss(X))


def test_label_with_one_class_in_the_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.column_stack([X[:, 0] > 0, np.zeros(60), np.ones(60)]).astype(int)
    trees = MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=5))
    decoder = ExpectedLossDecoder(trees, loss="hamming").fit(X, y)
    np.testing.assert_array_equal(decoder.predict(X)[:, 1:], y[:, 1:])


def test_indicators_of_other_dtypes(labels):
    pd = pytest.importorskip("pandas")
    X, y = labels
    plain = ExpectedLossDecoder(KNeighborsClassifier()).fit(X, y)
    for other in (pd.DataFrame(y).astype("Int64"), y.astype(bool), y.astype(float)):
        decoder = clone(plain).fit(X, other)
        np.testing.assert_array_equal(decoder.predict(X), plain.predict(X))
        assert decoder.score(X, other) == plain.score(X, y)


def test_positive_class_by_name(two_classes):
    X, y = two_classes
    names = np.where(y == 1, "ham", "spam")  # the rare one comes first
    named = ExpectedLossDecoder(logistic, pos_label="ham").fit(X, names)
    plain = ExpectedLossDecoder(logistic).fit(X, y)
    assert f1_score(names, named.predict(X), pos_label="ham") == pytest.approx(
        f1_score(y, plain.predict(X)), abs=0.02
    )
    assert named.score(X, names) == -set_loss(names, named.predict(X), pos_label="ham")
    other = ExpectedLossDecoder(logistic).fit(X, names)
    assert (other.predict(X) == "spam").mean() > 0.8


def test_bounds_on_the_size(two_classes, labels):
    X, y = two_classes
    decoder = ExpectedLossDecoder(logistic, loss="recall", max_positive=30).fit(X, y)
    assert decoder.predict(X).sum() == 30
    X, y = labels
    decoder = ExpectedLossDecoder(OneVsRestClassifier(logistic), strategy=0.9)
    decoder.set_params(min_positive=1, max_positive=2).fit(X, y)
    assert set(decoder.predict(X).sum(axis=1)) == {1, 2}


def test_sparse_probabilities_and_labels():
    rng = np.random.default_rng(0)
    eta = rng.beta(0.3, 3, (50, 30)) * (rng.random((50, 30)) < 0.3)
    y = csr_matrix((rng.random(eta.shape) < eta).astype(int))
    sparse = ExpectedLossDecoder(Told(sparse=True), loss="am").fit(eta, y)
    dense = ExpectedLossDecoder(Told(), loss="am").fit(eta, y)
    assert issparse(sparse.predict(eta))
    np.testing.assert_array_equal(sparse.predict(eta).toarray(), dense.predict(eta))
    assert sparse.score(eta, y) == pytest.approx(dense.score(eta, y))
    tuned = sparse.set_params(strategy="eum").fit(eta, y)
    np.testing.assert_array_equal(tuned.predict(eta).toarray(), eta >= tuned.threshold_)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("average", ["samples", "macro"])
def test_what_sparse_probabilities_do_not_store_stays_impossible(calibration, average):
    rng = np.random.default_rng(0)
    eta = rng.beta(0.3, 3, (60, 20)) * (rng.random((60, 20)) < 0.3)
    eta[:, 0] = 0
    y = csr_matrix((rng.random(eta.shape) < eta**0.5).astype(int))
    decoder = ExpectedLossDecoder(
        Told(sparse=True), strategy="dta", calibration=calibration, average=average
    ).fit(eta, y)
    calibrated = decoder.predict_proba(eta)
    assert issparse(calibrated)
    np.testing.assert_array_equal(calibrated.toarray() > 0, eta > 0)
    labels = decoder.predict(eta)
    assert issparse(labels)
    mask, _ = decode(calibrated.toarray(), loss="f1", average=average)
    np.testing.assert_array_equal(labels.toarray(), mask)


def test_sparse_probabilities_are_compared_on_as_many_rows_as_memory_allows(
    monkeypatch,
):
    rng = np.random.default_rng(0)
    eta = rng.beta(0.5, 2, (400, 10)) * (rng.random((400, 10)) < 0.5)
    y = (rng.random(eta.shape) < eta**0.3).astype(int)
    sizes = []

    def remember(problem, *args):
        sizes.append((problem.eta.shape, [len(test) for _, test in problem.parts]))
        np.testing.assert_array_equal(problem.eta[problem.eta == 0], 0)
        for train, test in problem.parts:
            assert len(np.intersect1d(train, test)) == 0
            assert len(train) + len(test) == len(problem.eta)
        return choose(problem, *args)

    monkeypatch.setattr(_decoder, "choose", remember)
    monkeypatch.setattr(_set_options, "_MOST_ENTRIES", 2000)
    for strategy in ("auto", "eum"):
        decoder = ExpectedLossDecoder(Told(sparse=True), strategy=strategy)
        assert decoder.fit(eta, csr_matrix(y)).calibration_ == "sigmoid"
    ExpectedLossDecoder(Told()).fit(eta, y)
    assert [shape for shape, _ in sizes] == [(200, 10), (400, 10), (400, 10)]
    assert all(sum(tests) == shape[0] for shape, tests in sizes)


def test_callable_loss_and_pickle(two_classes):
    X, y = two_classes
    decoder = ExpectedLossDecoder(logistic, loss=cost).fit(X, y)
    again = pickle.loads(pickle.dumps(decoder))
    np.testing.assert_array_equal(again.predict(X), decoder.predict(X))
    assert decoder.score(X, y) == -set_loss(y, decoder.predict(X), loss=cost)


def cost(tp, fp, fn, tn):
    return 5.0 * fn + fp


@pytest.mark.usefixtures("threads")
def test_jobs_change_nothing(labels):
    X, y = labels
    one = ExpectedLossDecoder(OneVsRestClassifier(logistic), **AS_THEY_ARE).fit(X, y)
    two = clone(one).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_allclose(one.expected_loss(X), two.expected_loss(X), rtol=1e-14)


def test_grid_search_over_strategies(two_classes):
    X, y = two_classes
    strategies = {"strategy": ["dta", 0.5]}
    grid = [
        {"loss": ["f_beta"], "beta": [1.0, 2.0], **strategies},
        {"loss": ["jaccard"], **strategies},
    ]
    search = GridSearchCV(ExpectedLossDecoder(logistic), grid, scoring="f1", cv=3)
    assert search.fit(X, y).best_score_ > 0.4


def test_calibrated_classifier(two_classes):
    X, y = two_classes
    calibrated = CalibratedClassifierCV(KNeighborsClassifier(7), cv=3)
    decoder = ExpectedLossDecoder(calibrated).fit(X, y)
    assert decoder.score(X, y) > -1.0


def test_samples_keep_their_names(two_classes):
    pd = pytest.importorskip("pandas")
    X, y = two_classes
    frame = pd.DataFrame(X).add_prefix("x")
    decoder = ExpectedLossDecoder(logistic).fit(frame, pd.Series(y))
    assert decoder.feature_names_in_[0] == "x0"
    np.testing.assert_array_equal(decoder.predict(frame), decoder.predict(frame))


def test_expected_loss_is_what_happens_on_average():
    """Labels drawn from the probabilities have the loss that was expected."""
    rng = np.random.default_rng(0)
    eta = rng.beta(0.5, 3, 60)
    proba = np.column_stack([1 - eta, eta])
    decoder = ExpectedLossDecoder(Told(), loss="jaccard", **AS_THEY_ARE)
    decoder.fit(proba, eta > 0.1)
    draws = rng.random((20_000, 60)) < eta
    mask = decoder.predict(proba)
    realized = set_loss(draws, np.tile(mask, (len(draws), 1)), loss="jaccard")
    assert realized == pytest.approx(decoder.expected_loss(proba), abs=0.005)
