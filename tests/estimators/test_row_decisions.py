"""A decision belongs to the row: neither batch, order, format nor process matters."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from sklearn_reject import (
    Decisions,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject._response._keys import row_keys, user_keys
from sklearn_reject.metrics import get_selective_scorer
from sklearn_reject.scores import KNN, SELE, ConditionalRisk, LossRegression

DIGITS, NUMBERS = load_digits(return_X_y=True)  # whole numbers: exact in float32
IS_TRAIN = np.arange(len(DIGITS)) < 900
X, y = DIGITS[IS_TRAIN], NUMBERS[IS_TRAIN]
X_new = DIGITS[~IS_TRAIN]

# Few distinct probabilities: many rows are at the threshold.
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
MODELS = {
    "classifier": SelectiveClassifier(TREE, target_coverage=0.7, cv=0.5),
    "regressor": SelectiveRegressor(
        DecisionTreeRegressor(max_depth=4, random_state=0),
        uncertainty_score=LossRegression(DecisionTreeRegressor(max_depth=3)),
        target_coverage=0.6,
        cv=0.5,
    ),
    "double": DoubleScoreOODClassifier(
        TREE, novelty_score="msp", min_tpr=0.63, max_fpr=1.0, cv=0.5
    ),
}
METHODS = ["uncertainty", "accept", "accept_proba", "predict", "predict_all"]


def fit(name, random_state=0):
    labels = np.where(y == 9, -1, y) if name == "double" else y
    return clone(MODELS[name]).set_params(random_state=random_state).fit(X, labels)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    fitted = fit(request.param)
    assert 0 < fitted.rule_.proba_at_threshold < 1
    assert tied_rows(fitted, X_new).sum() >= 30
    return fitted


def tied_rows(model, X):
    return model.accept_proba(X) == model.rule_.proba_at_threshold


def outputs(model, X):
    """All that is said about rows, as columns, one row each."""
    columns = []
    for method in (*METHODS, "risk_and_novelty"):
        if hasattr(model, method):
            values = getattr(model, method)(X)
            columns += values if isinstance(values, tuple) else [values]
    return np.column_stack(columns)


def in_chunks(model, X, size):
    n_rows = len(X) if isinstance(X, list) else X.shape[0]
    part = X.iloc if hasattr(X, "iloc") else X
    return np.vstack(
        [outputs(model, part[k : k + size]) for k in range(0, n_rows, size)]
    )


def permuted(model, X):
    order = np.random.default_rng(0).permutation(len(X))
    result = outputs(model, X[order])
    return result[np.argsort(order)]


def pickled_between(model, X):
    parts = []
    for rows in np.array_split(np.arange(len(X)), 4):
        model = pickle.loads(pickle.dumps(model))
        parts.append(outputs(model, X[rows]))
    return np.vstack(parts)


def strided(model, X):
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    return outputs(model, wide[:, ::2])


WAYS = {
    "one by one": lambda model, X: in_chunks(model, X, 1),
    "in chunks of 7": lambda model, X: in_chunks(model, X, 7),
    "permuted": permuted,
    "pickled between": pickled_between,
    "Fortran order": lambda model, X: outputs(model, np.asfortranarray(X)),
    "strided": strided,
    "float32": lambda model, X: outputs(model, X.astype(np.float32)),
    "whole numbers": lambda model, X: outputs(model, X.astype(np.int64)),
    "again": outputs,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_way_in_which_rows_come_changes_nothing(model, way):
    rows = X_new[:120]
    assert tied_rows(model, rows).sum() > 5
    np.testing.assert_array_equal(way(model, rows), outputs(model, rows))


def test_no_estimator_says_that_it_draws(model):
    assert not get_tags(model).non_deterministic


# Rows that are no dense arrays


@pytest.mark.parametrize("name", ["classifier", "double"])
def test_sparse_rows(name):
    """Zeros that are stored and columns in any order make no other row."""
    model, rows = fit(name), sparse.csr_array(X_new[:120])
    full = sparse.csr_array(np.ones(rows.shape))
    full.data[:] = X_new[:120].ravel()
    backwards = rows.copy()
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        backwards.indices[start:stop] = rows.indices[start:stop][::-1]
        backwards.data[start:stop] = rows.data[start:stop][::-1]
    backwards.has_sorted_indices = False
    parts = rows.tocoo()
    places = [np.tile(place, 2) for place in (parts.row, parts.col)]
    halves = sparse.coo_array((np.tile(parts.data / 2, 2), places), parts.shape)
    whole = outputs(model, rows)
    for same in (rows.tocsc(), parts, halves, full, backwards):
        np.testing.assert_array_equal(outputs(model, same), whole)
    np.testing.assert_array_equal(in_chunks(model, rows, 7), whole)
    order = np.random.default_rng(0).permutation(rows.shape[0])
    np.testing.assert_array_equal(outputs(model, rows[order]), whole[order])


def fit_pipeline(transformer, rows, labels):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = SelectiveClassifier(
        make_pipeline(transformer, tree), target_coverage=0.5, cv=0.5, random_state=0
    )
    return model.fit(rows, labels)


def make_frame(n, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    color = rng.choice(["red", "green", "blue"], n)
    label = (size + (color == "red") + rng.normal(size=n) > 0.3).astype(int)
    return pd.DataFrame({"color": color, "size": size}), label


def test_rows_of_frames():
    encode = make_column_transformer(
        (OneHotEncoder(), ["color"]), remainder="passthrough"
    )
    model = fit_pipeline(encode, *make_frame(400))
    rows, _ = make_frame(210, seed=1)
    whole = outputs(model, rows)
    assert tied_rows(model, rows).sum() > 10
    np.testing.assert_array_equal(in_chunks(model, rows, 7), whole)
    order = np.random.default_rng(0).permutation(210)
    np.testing.assert_array_equal(outputs(model, rows.iloc[order]), whole[order])
    kinds = pd.Categorical(rows["color"], ["red", "green", "blue"])
    for same in (
        # Neither the index nor the order of categories is part of a row.
        rows.set_axis(np.arange(210)[::-1]),
        rows.assign(color=kinds),
        # A transformer that picks columns finds them at any place, among any others.
        rows[["size", "color"]],
        rows.assign(id=np.arange(210)),
    ):
        np.testing.assert_array_equal(outputs(model, same), whole)


def as_objects(rows):
    objects = np.empty(len(rows), dtype=object)
    for number, row in enumerate(rows):
        objects[number] = row
    return objects


def other_dicts(rows):
    """Order, zeros and the kind of a number are no part of a row."""
    return [
        {name: np.float64(row[name]) for name in reversed(row)}
        | {"word0": row["word0"]}
        for row in rows
    ]


WORDS = CountVectorizer(analyzer=lambda row: [str(item) for item in row])
# What reads a row, what makes one of words, and what are the same rows.
KINDS = {
    "text": (CountVectorizer(), " ".join, [np.array, as_objects, pd.Series]),
    "dicts": (
        DictVectorizer(),
        lambda words: {"word0": 0, **Counter(words)},
        [other_dicts, as_objects],
    ),
    "lists": (WORDS, list, [as_objects]),
    "arrays": (WORDS, np.array, [as_objects]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_rows_of_different_lengths(kind):
    """Those of one call may be of one length: an array, which others are not."""
    transformer, make, forms = KINDS[kind]
    rng = np.random.default_rng(0)
    drawn = [rng.integers(30, size=rng.integers(7, 10)) for _ in range(700)]
    label = np.array([np.mean(row < 10) for row in drawn]) > 1 / 3
    rows = [make([f"word{k}" for k in row]) for row in drawn]
    model, rows = fit_pipeline(transformer, rows[:400], label[:400]), rows[400:]
    whole, tied = outputs(model, rows), tied_rows(model, rows)
    assert tied.sum() > 10
    assert 0 < model.accept(rows)[tied].mean() < 1
    for size in (1, 3):
        chunks = in_chunks(model, rows[:30], size)
        np.testing.assert_array_equal(chunks, whole[:30])
    for form in forms:
        np.testing.assert_array_equal(outputs(model, form(rows)), whole)


# Probabilities whose last bits vary


class Trembling(DecisionTreeClassifier):
    """The last bits of its probabilities are others in each call, as with threads."""

    rng = np.random.default_rng(0)

    def predict_proba(self, X):
        probabilities = super().predict_proba(X)
        ulps = self.rng.integers(-4, 5, size=probabilities.shape)
        return probabilities * (1 + ulps * np.finfo(float).eps)


@pytest.mark.parametrize("name", ["classifier", "double"])
@pytest.mark.parametrize("seed", range(2))
def test_last_bits_change_no_decision(name, seed):
    labels = np.where(y == 9, -1, y) if name == "double" else y
    trembling = Trembling(max_depth=4, random_state=0)
    model = clone(MODELS[name]).set_params(estimator=trembling, random_state=seed)
    model.fit(X, labels)
    steady = clone(MODELS[name]).set_params(random_state=seed).fit(X, labels)
    calls = [model.predict_proba(X_new[:1]).max() for _ in range(20)]
    assert len(set(calls)) > 1
    # The same tie groups, hence the same rule.
    for part in ("proba_at_threshold", "coverage", "threshold"):
        expected = getattr(steady.rule_, part, None)
        if expected is not None:
            np.testing.assert_allclose(getattr(model.rule_, part), expected, rtol=1e-9)
    for method in ("accept", "accept_proba"):
        expected = getattr(steady, method)(X_new)
        for _ in range(5):
            found = getattr(model, method)(X_new)
            np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("probabilities", [[0.7, 0.1, 0.2], [0.1, 0.2, 0.7]])
def test_a_risk_equal_to_the_cost_but_for_its_last_bit_is_accepted(probabilities):
    class Known(DecisionTreeClassifier):
        def predict_proba(self, X):
            return np.tile(probabilities, (len(X), 1))

    model = SelectiveClassifier(Known(), reject_cost=0.3, cv="plug_in")
    best = np.argmax(probabilities)
    model.fit(np.zeros((5, 1)), [0, 1, 2, best, best])
    assert model.accept_proba(np.zeros((1, 1))) == 1


@pytest.mark.parametrize("randomize", [True, False])
def test_certified_risk_in_batches_of_five(randomize):
    model = SelectiveClassifier(
        TREE,
        target_risk=0.25,
        confidence_level=0.9,
        cv=0.5,
        randomize=randomize,
        random_state=0,
    ).fit(DIGITS, NUMBERS)
    whole = outputs(model, DIGITS[:500])
    np.testing.assert_array_equal(in_chunks(model, DIGITS[:500], 5), whole)
    accepted, certificate = model.accept(DIGITS), model.rule_.certificate
    # The draws that certified the rule decide again.
    assert accepted[model.calibration_.rows].sum() == certificate.n_accepted
    wrong = model.predict_label(DIGITS) != NUMBERS
    # On rows of which half have solved it, so that little is lost to chance.
    assert wrong[accepted].mean() < 0.27


# The seed, the keys, and the share that they accept


@pytest.mark.parametrize("name", MODELS)
def test_seed_is_drawn_once_in_fit(name):
    first, again, other = fit(name, 0), fit(name, 0), fit(name, 1)
    assert isinstance(first.seed_, int)
    assert first.seed_ == again.seed_ != other.seed_
    np.testing.assert_array_equal(first.accept(X_new), again.accept(X_new))
    assert not hasattr(clone(first), "seed_")
    assert pickle.loads(pickle.dumps(first)).seed_ == first.seed_


@pytest.mark.parametrize("name", MODELS)
def test_without_integer_each_fit_has_a_seed_and_keeps_it(name):
    source = np.random.RandomState(0)
    for models in ([fit(name, source), fit(name, source)], [fit(name, None)] * 2):
        repeated = [[m.accept(X_new) for _ in range(3)] for m in models]
        assert all((calls == calls[0]).all() for calls in repeated)
    assert fit(name, None).seed_ != fit(name, None).seed_
    # clone copies a RandomState: the same state, the same seed.
    model = clone(MODELS[name]).set_params(random_state=np.random.RandomState(7))
    labels = np.where(y == 9, -1, y) if name == "double" else y
    assert model.fit(X, labels).seed_ != model.fit(X, labels).seed_


KEYS = {
    "integers": lambda n: np.arange(n),
    "large integers": lambda n: np.arange(n) + 2**62,
    "negative integers": lambda n: -np.arange(n),
    "strings": lambda n: np.array([f"customer {k}" for k in range(n)]),
}


@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
def test_keys_make_draws_of_equal_rows_independent(model, make):
    n = 4000
    copies = np.tile(X_new[tied_rows(model, X_new)][0], (n, 1))
    keys = make(n)
    accepted = model.accept(copies, keys=keys)
    share = model.rule_.proba_at_threshold
    assert abs(accepted.mean() - share) < 5 * np.sqrt(share * (1 - share) / n)
    # Neighbouring keys draw independently.
    both = accepted[1:] & accepted[:-1]
    assert abs(both.mean() - share**2) < 5 * 0.5 / np.sqrt(n)


@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
def test_draws_depend_on_the_key_and_on_nothing_else(model, make):
    keys = np.asarray(make(len(X_new)))
    tied = tied_rows(model, X_new)
    accepted = model.accept(X_new, keys=keys)
    assert (accepted != model.accept(X_new)).any()
    np.testing.assert_array_equal(model.predict_all(X_new, keys).accepted, accepted)
    # Another tied row under the same key.
    others = X_new.copy()
    others[tied] = X_new[tied][::-1]
    np.testing.assert_array_equal(model.accept(others, keys=keys), accepted)
    order = np.random.default_rng(0).permutation(len(keys))
    permuted = model.accept(X_new[order], keys=keys[order])
    np.testing.assert_array_equal(permuted, accepted[order])
    chunks = [
        model.accept(X_new[k : k + 7], keys=keys[k : k + 7])
        for k in range(0, len(keys), 7)
    ]
    np.testing.assert_array_equal(np.concatenate(chunks), accepted)
    for same in (list(keys), pd.Series(keys), keys.astype(object)):
        np.testing.assert_array_equal(model.accept(X_new, keys=same), accepted)
    # What is not tied has nothing to draw.
    np.testing.assert_array_equal(accepted[~tied], model.accept(X_new)[~tied])


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(2),
        np.zeros((3, 2), dtype=int),
        5,
        "name",
        *([key] * 3 for key in (0.5, np.nan, None, True)),
        np.array([True, False, True], dtype=object),
    ],
    ids=str,
)
def test_bad_keys(model, keys):
    with pytest.raises((TypeError, ValueError), match="keys"):
        model.accept(X_new[:3], keys=keys)


class Named:
    """Its text names its place in memory."""


def test_keys_of_unusual_values():
    with pytest.raises(ValueError, match="keys="):
        row_keys(np.array([[Named()]], dtype=object), np.arange(1))
    sets = as_objects([{"a", 1}, {1.0, "a"}, {"a", 2}, {"a"}])
    keys = row_keys(sets, np.arange(4))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    frame = pd.DataFrame(
        {"time": pd.to_datetime(["2020-01-01", None]), "column_names": ["a\udce9", ""]}
    )
    keys = row_keys(frame, np.arange(2))
    assert keys[0] != keys[1]
    for unit in ("s", "us", "ns"):
        same = frame.assign(time=frame["time"].astype(f"datetime64[{unit}]"))
        np.testing.assert_array_equal(row_keys(same, np.arange(2)), keys)
    assert len(set(user_keys([10**400, 10**401, 7], np.zeros((3, 1))))) == 3
    far = np.array([["3000-01-01"], ["3000-01-02"]], dtype="datetime64[D]")
    assert len(set(row_keys(far, np.arange(2)))) == 2


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_keys_of_times(zone):
    """Objects, with or without a zone, are the times that they stand for."""
    times = pd.date_range("2026-01-01", periods=4, freq="h", tz="UTC").tz_convert(zone)
    frame = pd.DataFrame({"time": times, "span": times - times[1]})
    keys = row_keys(frame, np.arange(4))
    assert len(set(keys)) == 4
    np.testing.assert_array_equal(row_keys(frame.astype(object), np.arange(4)), keys)
    plain = frame.assign(time=times.to_numpy())  # in UTC
    np.testing.assert_array_equal(row_keys(plain, np.arange(4)), keys)


def test_keys_of_large_images():
    """An array is hashed whole, not by its text, which leaves most of it out."""
    images = [np.zeros((40, 40 + k % 2)) for k in range(3)]
    images[2][20, 20] = 1
    for rows in (images, [image.tolist() for image in images]):
        keys = row_keys(as_objects(rows), np.arange(3))
        assert keys[0] != keys[2]


def test_keys_and_certificates_exclude_each_other():
    model = SelectiveClassifier(
        clone(TREE), target_coverage=0.7, cv=0.5, confidence_level=0.9, random_state=0
    ).fit(X, y)
    for method in (model.accept, model.predict):
        with pytest.raises(ValueError, match="keys cannot be combined with a conf"):
            method(X_new, keys=np.arange(len(X_new)))
    assert model.accept(X_new).mean() > 0.5


# One call for label, uncertainty and acceptance, by one pass of what is inside


IRIS, SPECIES = load_iris(return_X_y=True)
IS_OOD = np.where(np.arange(150) % 5 == 0, -1, SPECIES)
COMMON = {"cv": 2, "random_state": 0}
ESTIMATORS = {
    "default": SelectiveClassifier(GaussianNB()).fit(IRIS, SPECIES),
    "rejects nobody by label": SelectiveClassifier(
        GaussianNB(), target_coverage=0.6, reject_label=None, **COMMON
    ).fit(IRIS, SPECIES),
    "bayes": SelectiveClassifier(
        GaussianNB(),
        target_coverage=0.9,
        uncertainty_score=ConditionalRisk(decision="bayes"),
        **COMMON,
    ).fit(IRIS, SPECIES),
    "learned": SelectiveClassifier(
        GaussianNB(), target_coverage=0.6, uncertainty_score=SELE(alphas=0.1), **COMMON
    ).fit(IRIS, SPECIES),
    "frozen, in a pipeline": SelectiveClassifier(
        FrozenEstimator(
            make_pipeline(StandardScaler(), GaussianNB()).fit(IRIS, SPECIES)
        ),
        target_coverage=0.7,
    ).fit(IRIS, SPECIES),
    "double": DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.8, novelty_score=KNN(2), **COMMON
    ).fit(IRIS, IS_OOD),
    "outputs": SelectiveRegressor(
        Ridge(), target_coverage=0.3, uncertainty_score=SELE(alphas=0.1), **COMMON
    ).fit(IRIS[:, :2], IRIS[:, [3, 2]]),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_predict_all_is_what_the_separate_methods_say(kind):
    estimator = ESTIMATORS[kind]
    rows = IRIS[:, : estimator.n_features_in_]
    decisions = estimator.predict_all(rows)
    assert type(decisions) is Decisions
    labels = getattr(estimator, "predict_label", estimator.predict)(rows)
    np.testing.assert_array_equal(decisions.label, labels)
    np.testing.assert_array_equal(decisions.uncertainty, estimator.uncertainty(rows))
    np.testing.assert_array_equal(decisions.accepted, estimator.accept(rows))
    assert all(type(values) is np.ndarray for values in decisions)
    assert 0 < decisions.accepted.sum() < 150 or kind == "default"


@pytest.mark.parametrize("kind", ["default", "bayes", "learned", "double"])
def test_the_classifier_predicts_once(kind, monkeypatch):
    passes = []
    likelihood = GaussianNB._joint_log_likelihood  # what all its methods go through
    monkeypatch.setattr(
        GaussianNB,
        "_joint_log_likelihood",
        lambda self, X: passes.append(len(X)) or likelihood(self, X),
    )
    estimator, scorer = ESTIMATORS[kind], get_selective_scorer("neg_aurc")
    estimator.predict_all(IRIS)
    scorer(estimator, IRIS, SPECIES)
    estimator.score(IRIS, SPECIES)
    assert passes == [150] * 3


class Outsider(BaseEstimator):
    """A classifier of another package that rejects, without `predict_all`."""

    def predict(self, X):
        return ESTIMATORS["bayes"].predict(X)

    def predict_label(self, X):
        return ESTIMATORS["bayes"].predict_label(X)

    def uncertainty(self, X):
        return ESTIMATORS["bayes"].uncertainty(X)


def test_metrics_do_without_it():
    scorer = get_selective_scorer("neg_aurc")
    assert scorer(Outsider(), IRIS, SPECIES) == scorer(
        ESTIMATORS["bayes"], IRIS, SPECIES
    )
