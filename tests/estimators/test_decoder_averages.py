"""Sets of the samples of each label, of all entries, and of exactly k items."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject._estimators._set_choice import SetProblem
from sklearn_reject.decoding import decode, expected_loss_curve, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics import get_selective_scorer, set_loss

X, Y = make_multilabel_classification(120, n_classes=4, random_state=0)
OVR = OneVsRestClassifier(GaussianNB())
AVERAGES = ["samples", "macro", "micro"]


def decoder_of(classifier, **options):
    """Return a decoder that leaves nothing to be chosen."""
    options = {"strategy": "dta", "calibration": None, **options}
    return ExpectedLossDecoder(classifier, **options)


pytestmark = pytest.mark.filterwarnings(
    "ignore:Out of sample:sklearn_reject.exceptions.RejectionWarning",
    "ignore:.* rows were decoded:sklearn_reject.exceptions.RejectionWarning",
)
COSTS = pytest.mark.filterwarnings(
    "ignore:Equally probable:sklearn_reject.exceptions.RejectionWarning"
)


class Told(ClassifierMixin, BaseEstimator):
    """Classifier whose probabilities are the first features, maybe sparse."""

    def __init__(self, n_labels=3, is_sparse=False):
        self.n_labels = n_labels
        self.is_sparse = is_sparse

    def fit(self, X, y):
        self.classes_ = np.arange(self.n_labels) if np.ndim(y) == 2 else np.unique(y)
        return self

    def predict_proba(self, X):
        if self.n_labels == 1:
            return np.column_stack([1 - X[:, 0], X[:, 0]])
        eta = X[:, : self.n_labels]
        return csr_matrix(eta) if self.is_sparse else eta

    def predict(self, X):
        return self.predict_proba(X) >= 0.5


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", ["f1", "jaccard", "g_mean"])
def test_sets_are_those_of_the_probabilities(average, name):
    decoder = decoder_of(OVR, loss=name, average=average).fit(X, Y)
    eta = clone(OVR).fit(X, Y).predict_proba(X)
    mask, expected = decode(eta, loss=name, average=average)
    labels = decoder.predict(X)
    np.testing.assert_array_equal(labels, mask)
    np.testing.assert_array_equal(decoder.expected_loss(X), expected)
    assert (
        np.shape(expected) == {"samples": (120,), "macro": (4,), "micro": ()}[average]
    )
    loss = set_loss(Y, labels, loss=name, average=average)
    assert decoder.score(X, Y) == pytest.approx(-loss, rel=1e-12)
    scorer = get_selective_scorer("neg_set_loss", loss=name, average=average)
    assert scorer(decoder, X, Y) == pytest.approx(-loss, rel=1e-12)


@pytest.mark.parametrize("average", AVERAGES)
def test_curves(average):
    decoder = decoder_of(OVR, average=average).fit(X, Y)
    eta = decoder.predict_proba(X)
    sets = {"samples": eta, "macro": eta.T, "micro": eta.reshape(1, -1)}[average]
    curves = decoder.expected_loss_curves(X)
    assert len(curves) == len(sets)
    for curve, of_set in zip(curves, sets, strict=True):
        expected = expected_loss_curve(-np.sort(-of_set), loss="f1")
        np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-11)
    least = [curve.min() for curve in curves]
    np.testing.assert_allclose(decoder.expected_loss(X), np.squeeze(least), atol=1e-11)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("bounds", [{}, {"min_positive": 2, "max_positive": 2}])
def test_thresholds(average, bounds):
    """One a label where each label is a set of its own."""
    options = {"average": average, **bounds}
    decoder = decoder_of(OVR, strategy="eum", cv=KFold(3), **options)
    decoder.fit(X, Y)
    eta = np.concatenate(
        [
            clone(OVR).fit(X[train], Y[train]).predict_proba(X[test])
            for train, test in KFold(3).split(X)
        ]
    )
    tuned = tune_threshold(Y, eta, loss="f1", **options)
    np.testing.assert_array_equal(decoder.threshold_, tuned.threshold)
    assert decoder.tuned_loss_ == tuned.loss
    labels = decoder.predict(X)
    if not bounds:
        reached = decoder.predict_proba(X) >= tuned.threshold
        np.testing.assert_array_equal(labels, reached)
    sizes = {"samples": labels.sum(axis=1), "macro": labels.sum(axis=0)}
    if bounds and average != "micro":
        assert (sizes[average] == 2).all()
    expected = decoder.expected_loss(X)
    curves = decoder.expected_loss_curves(X)
    sizes = sizes.get(average, [labels.sum()])
    at_size = [curve[size] for curve, size in zip(curves, sizes, strict=True)]
    np.testing.assert_allclose(expected, np.squeeze(at_size), rtol=0, atol=1e-11)


@COSTS
@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("strategy", ["dta", "eum", 0.3])
def test_sparse_probabilities(average, strategy):
    rng = np.random.default_rng(0)
    eta = rng.random((30, 3)) * (rng.random((30, 3)) < 0.5)
    y = (rng.random((30, 3)) < eta).astype(int)
    found = []
    for is_sparse in (False, True):
        decoder = decoder_of(
            Told(is_sparse=is_sparse), strategy=strategy, average=average, cv=3
        ).fit(eta, csr_array(y) if is_sparse else y)
        labels = decoder.predict(eta)
        assert issparse(labels) == is_sparse
        found.append(
            (
                labels.toarray() if is_sparse else labels,
                decoder.expected_loss(eta),
                decoder.score(eta, y),
            )
        )
    for dense, other in zip(*found, strict=True):
        np.testing.assert_allclose(dense, other, rtol=0, atol=1e-11)


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("strategy", ["dta", "eum", 0.3])
@pytest.mark.parametrize("name", ["f1", "auc", "precision", "recall"])
def test_exactly_k(average, strategy, name):
    decoder = decoder_of(
        OVR,
        loss=name,
        strategy=strategy,
        average=average,
        min_positive=7,
        max_positive=7,
    ).fit(X, Y)
    labels, eta = decoder.predict(X), decoder.predict_proba(X)
    taken = labels.sum(axis=0) if average == "macro" else labels.sum()
    assert np.all(taken == 7)
    columns = zip(eta.T, labels.T, strict=True)
    if average == "micro":
        columns = [(eta.ravel(), labels.ravel())]
    for chances, chosen in columns:
        assert chances[chosen == 1].min() >= chances[chosen == 0].max()


def test_macro_is_a_decoder_for_each_label():
    decoder = decoder_of(OVR, average="macro").fit(X, Y)
    for label, column in zip(decoder.predict(X).T, Y.T, strict=True):
        alone = decoder_of(GaussianNB()).fit(X, column)
        np.testing.assert_array_equal(label, alone.predict(X))


# Calls of some rows


@given(seed=st.integers(0, 10**6), average=st.sampled_from(["macro", "micro"]))
@pytest.mark.parametrize("strategy", ["dta", 0.3])
def test_sets_are_decided_call_by_call(strategy, seed, average):
    rng = np.random.default_rng(seed)
    eta, calls = rng.random((12, 3)), rng.permutation(np.arange(12) % 3)
    problem = SetProblem(
        eta=eta,
        truth=eta > 0.5,
        parts=(),
        loss=check_set_loss("f1"),
        distribution="independent",
        min_positive=1,
        max_positive=4,
        average=average,
        calls=calls,
    )
    mask = problem.decide(strategy)
    for call in range(3):
        rows = calls == call
        alone = replace(problem, eta=eta[rows], truth=eta[rows] > 0.5, calls=None)
        np.testing.assert_array_equal(mask[rows], alone.decide(strategy))
    if strategy == "dta":
        bounds = {"min_positive": 1, "max_positive": 4}
        expected, _ = decode(eta[rows], loss="f1", average=average, **bounds)
        np.testing.assert_array_equal(mask[rows], expected)


def test_single_rows_are_no_sets_of_labels():
    """Each label of each would be predicted to be there: there is a warning."""
    decoder = decoder_of(OVR, average="macro").fit(X, Y)
    way_out = "rows were decoded as one set.*Pass more rows at once; or, for"
    with pytest.warns(RejectionWarning, match=way_out):
        labels = decoder.predict(X[:1])
    assert labels.all()
    decoder.set_params(batch_size=1, strategy="auto").fit(X, Y)
    assert decoder.strategy_ == "eum"
    assert 0 < np.mean([decoder.predict(row[None]) for row in X[:9]]) < 1
    with pytest.raises(ValueError, match=r"each sample is a set. Set it to"):
        decoder.set_params(average="samples").fit(X, Y)


# Bad input


@pytest.mark.parametrize("y", [Y[:, 0], Y.sum(axis=1)], ids=["two", "more"])
def test_single_labels_have_no_averages(y):
    with pytest.raises(ValueError, match=r"average='macro'.*Set average to"):
        decoder_of(GaussianNB(), average="macro").fit(X, y)
    decoder_of(GaussianNB(), average="samples").fit(X, y)


def test_bad_input():
    with pytest.raises(ValueError, match="average must be one of"):
        decoder_of(OVR, average="weighted").fit(X, Y)
    for average in ("macro", "micro"):
        decoder = decoder_of(OVR, average=average).fit(X, Y)
        with pytest.raises(ValueError, match="samples are the items"):
            decoder.score(X, Y, sample_weight=np.ones(120))
        with pytest.raises(ValueError, match="Omit groups"):
            decoder.predict(X, groups=np.zeros(120))
        with pytest.warns(RejectionWarning, match="min_positive=500 is above"):
            decoder.set_params(min_positive=500).predict(X)


# The order of samples


@COSTS
@pytest.mark.parametrize("name", ["g_mean", "h_mean", "f1", "recall"])
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    average=st.sampled_from([None, "groups", *AVERAGES]),
)
def test_labels_do_not_depend_on_the_order_of_samples(name, seed, n, average):
    """Ties are parted by bounds alone, and then by the values of the samples."""
    rng = np.random.default_rng(seed)
    eta = rng.integers(0, 3, (n, 3)) / 2.5
    samples = np.column_stack([eta, rng.permutation(n)])
    bound = 2 if name == "recall" else None
    options = {"loss": name, "max_positive": bound}
    y, groups = eta > 0.5, None
    model = decoder_of(Told(), **options)
    if average in (None, "groups"):
        model.set_params(estimator=Told(1))
        y = np.arange(n) % 2
        groups = np.arange(n) % 2 if average == "groups" else None
    else:
        model.set_params(average=average)
    model.fit(samples, y)
    order = rng.permutation(n)
    labels = model.predict(samples, groups=groups)
    again = model.predict(
        samples[order], groups=None if groups is None else groups[order]
    )
    np.testing.assert_array_equal(labels[order], again)


@COSTS
def test_equal_samples_have_equal_labels():
    rng = np.random.default_rng(0)
    samples, y = rng.integers(0, 3, (200, 2)), rng.integers(0, 2, 200)
    model = decoder_of(DecisionTreeClassifier(), loss="g_mean")
    labels = model.fit(samples, y).predict(samples)
    for value in np.unique(samples, axis=0):
        assert len(np.unique(labels[(samples == value).all(axis=1)])) == 1


def test_samples_without_a_hash_stay_as_they_come():
    class Thing:
        __str__ = object.__str__
        __repr__ = object.__repr__

    class OfThings(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    things = np.array([Thing() for _ in range(4)], dtype=object)[:, None]
    options = {"min_positive": 2, "max_positive": 2}
    model = decoder_of(OfThings(), **options).fit(things, [0, 1, 0, 1])
    assert model.predict(things).tolist() == [1, 1, 0, 0]
