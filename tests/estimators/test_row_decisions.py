"""A decision belongs to the row: neither batch, order, format nor process matters."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject._response._keys import row_keys, user_keys
from sklearn_reject.scores import SELE, LossRegression

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
METHODS = {
    "classifier": ["uncertainty", "accept", "accept_proba", "predict"],
    "regressor": ["uncertainty", "accept", "accept_proba", "predict"],
    "double": ["uncertainty", "accept", "accept_proba", "predict", "risk_and_novelty"],
}


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


def outputs(model, X, methods=None):
    """All that is said about rows, as columns, one row each."""
    if methods is None:
        [methods] = [METHODS[k] for k, m in MODELS.items() if type(m) is type(model)]
    columns = []
    for method in methods:
        values = getattr(model, method)(X)
        columns += values if isinstance(values, tuple) else [values]
    return np.column_stack(columns)


def in_chunks(model, X, size, methods=None):
    rows = range(0, X.shape[0], size)
    return np.vstack([outputs(model, X[k : k + size], methods) for k in rows])


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


@pytest.mark.slow  # starts processes
def test_two_processes(model):
    halves = np.array_split(X_new, 2)
    jobs = [delayed(model.accept)(half) for half in halves]
    jobs += [delayed(model.predict)(half) for half in halves]
    found = Parallel(n_jobs=2)(jobs)
    np.testing.assert_array_equal(np.concatenate(found[:2]), model.accept(X_new))
    np.testing.assert_array_equal(np.concatenate(found[2:]), model.predict(X_new))


def test_no_estimator_says_that_it_draws(model):
    assert not get_tags(model).non_deterministic


# Rows that are no dense arrays


@pytest.mark.parametrize(
    "form", ["csr", "csc", pytest.param("coo", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", ["classifier", "double"])
def test_sparse_rows(name, form):
    model = fit(name)
    rows = sparse.csr_array(X_new[:120])
    whole = outputs(model, rows.asformat(form))
    np.testing.assert_array_equal(in_chunks(model, rows, 7), whole)
    order = np.random.default_rng(0).permutation(rows.shape[0])
    np.testing.assert_array_equal(outputs(model, rows[order]), whole[order])


@pytest.mark.parametrize("name", ["classifier", "double"])
def test_sparse_rows_written_in_another_way(name):
    """Zeros that are stored and columns in any order make no other row."""
    model = fit(name)
    rows = sparse.csr_array(X_new[:50])
    full = sparse.csr_array(np.ones(rows.shape))
    full.data[:] = X_new[:50].ravel()
    backwards = rows.copy()
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        backwards.indices[start:stop] = rows.indices[start:stop][::-1]
        backwards.data[start:stop] = rows.data[start:stop][::-1]
    backwards.has_sorted_indices = False
    for same in (full, backwards):
        np.testing.assert_array_equal(outputs(model, same), outputs(model, rows))


def make_frame(n, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    color = rng.choice(["red", "green", "blue"], n)
    label = (size + (color == "red") + rng.normal(size=n) > 0.3).astype(int)
    return pd.DataFrame({"color": color, "size": size}), label


def test_rows_of_frames():
    frame, label = make_frame(400)
    encode = make_column_transformer(
        (OneHotEncoder(), ["color"]), remainder="passthrough"
    )
    small = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = SelectiveClassifier(
        make_pipeline(encode, small), target_coverage=0.5, cv=0.5, random_state=0
    ).fit(frame, label)
    rows, _ = make_frame(210, seed=1)
    decide = partial(outputs, model)
    whole = decide(rows)
    assert tied_rows(model, rows).sum() > 10
    assert model.accept(rows)[tied_rows(model, rows)].any()
    chunks = [decide(rows.iloc[k : k + 7]) for k in range(0, 210, 7)]
    np.testing.assert_array_equal(np.vstack(chunks), whole)
    order = np.random.default_rng(0).permutation(210)
    np.testing.assert_array_equal(decide(rows.iloc[order]), whole[order])
    # Neither the index nor the order of categories is part of a row.
    other = rows.set_axis(np.arange(210)[::-1])
    np.testing.assert_array_equal(decide(other), whole)
    kinds = pd.Categorical(rows["color"], ["red", "green", "blue"])
    np.testing.assert_array_equal(decide(rows.assign(color=kinds)), whole)
    # A transformer that picks columns finds them at any place, among any others.
    np.testing.assert_array_equal(decide(rows[["size", "color"]]), whole)
    np.testing.assert_array_equal(decide(rows.assign(id=np.arange(210))), whole)


def make_documents(n, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"word{k}" for k in range(30)])
    drawn = rng.integers(30, size=(n, 8))
    label = (drawn < 10).sum(axis=1) + rng.normal(size=n) > 2.7
    return [" ".join(words[row]) for row in drawn], label.astype(int)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_rows_of_text():
    texts, label = make_documents(400)
    small = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = SelectiveClassifier(
        make_pipeline(CountVectorizer(), small),
        target_coverage=0.5,
        cv=0.5,
        random_state=0,
    ).fit(texts, label)
    rows, _ = make_documents(600, seed=1)
    whole = outputs(model, rows)
    tied = tied_rows(model, rows)
    assert tied.sum() > 10
    assert 0 < model.accept(rows)[tied].mean() < 1
    chunks = [outputs(model, rows[k : k + 7]) for k in range(0, 600, 7)]
    np.testing.assert_array_equal(np.vstack(chunks), whole)
    for same in (np.array(rows), np.array(rows, dtype=object), pd.Series(rows)):
        np.testing.assert_array_equal(outputs(model, same), whole)


def fit_counts(rows, label, analyzer):
    small = DecisionTreeClassifier(max_depth=3, random_state=0)
    vectorizer = CountVectorizer(analyzer=analyzer)
    return SelectiveClassifier(
        make_pipeline(vectorizer, small), target_coverage=0.5, cv=0.5, random_state=0
    ).fit(rows, label)


def words_of(row):
    return [f"word {word}" for word in np.ravel(row)]


TOKENS = {
    "lists": list,
    "arrays": np.array,
    "lists of pairs": lambda words: [[word, word] for word in words],
    "lists of sequences": lambda words: [(w, [1] * (w != words[0])) for w in words],
}


@pytest.mark.slow
@pytest.mark.parametrize("make", TOKENS.values(), ids=TOKENS)
def test_rows_of_different_lengths(make):
    """Those of one call may be of one length: an array, which others are not."""
    rng = np.random.default_rng(0)
    drawn = [rng.integers(30, size=rng.integers(7, 10)).tolist() for _ in range(580)]
    label = np.array([np.mean(np.less(row, 10)) for row in drawn]) > 1 / 3
    names = {str(make(row)): row for row in drawn}
    rows = [make(row) for row in drawn]
    model = fit_counts(rows[:400], label[:400], lambda row: words_of(names[str(row)]))
    whole = outputs(model, rows[400:])
    tied = tied_rows(model, rows[400:])
    assert tied.sum() > 10
    assert 0 < model.accept(rows[400:])[tied].mean() < 1
    for size, stop in ((1, 460), (3, 580)):
        chunks = [outputs(model, rows[k : k + size]) for k in range(400, stop, size)]
        np.testing.assert_array_equal(np.vstack(chunks), whole[: stop - 400])
    objects = np.empty(180, dtype=object)
    for number, row in enumerate(rows[400:]):
        objects[number] = row
    np.testing.assert_array_equal(outputs(model, objects), whole)


def make_counts(n, seed=0):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(30, size=(n, 8))
    label = (drawn < 10).sum(axis=1) + rng.normal(size=n) > 2.7
    rows = [{f"word{k}": int(c) for k, c in enumerate(np.bincount(r))} for r in drawn]
    return rows, label


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_rows_that_are_dicts():
    """Order, zeros and the kind of a number are no part of them."""
    rows, label = make_counts(1000)
    model = SelectiveClassifier(
        make_pipeline(DictVectorizer(), DecisionTreeClassifier(max_depth=3)),
        target_coverage=0.5,
        cv=0.5,
        random_state=0,
    ).fit(rows[:400], label[:400])
    whole = outputs(model, rows[400:])
    tied = tied_rows(model, rows[400:])
    accepted = model.accept(rows[400:])[tied]
    assert tied.sum() > 10
    assert 0 < accepted.mean() < 1
    same = [
        {name: np.float64(row[name]) for name in reversed(row) if row[name]}
        for row in rows[400:]
    ]
    np.testing.assert_array_equal(outputs(model, same), whole)


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


class Known(ClassifierMixin, BaseEstimator):
    """Has the probabilities of row k in a table, and gives them in any memory order."""

    def __init__(self, table, order="C"):
        self.table = table
        self.order = order

    def fit(self, X, y):
        self.classes_ = np.arange(self.table.shape[1])
        return self

    def predict_proba(self, X):
        rows = np.asarray(X)[:, 0].astype(int)
        return np.asarray(self.table[rows], order=self.order)

    def decision_function(self, X):
        return np.asarray(np.log(self.predict_proba(X)), order=self.order)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def make_known(n=300, n_classes=17):
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.full(n_classes, 0.4), size=n)
    labels = np.array([rng.choice(n_classes, p=row) for row in table])
    labels[:n_classes] = np.arange(n_classes)
    columns = np.column_stack([np.arange(n), rng.normal(size=(n, 6))])
    return Known(table).fit(None, None), columns, labels


COSTS = np.abs(np.subtract.outer(np.arange(17.0), np.arange(17.0))) ** 1.5
SCORES = {
    **{name: {"uncertainty_score": name} for name in ("entropy", "margin")},
    "top_two_gap": {"uncertainty_score": "top_two_gap"},
    "conditional_risk": {},
    "conditional_risk, costs": {"loss": COSTS},
    "sele": {"uncertainty_score": SELE(alphas=0.1), "cv": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize("options", SCORES.values(), ids=SCORES)
# Three trees have few levels.
@pytest.mark.filterwarnings("ignore:Fits to the folds of cv=2")
def test_uncertainty_to_the_last_bit_of_equal_probabilities(options):
    known, columns, labels = make_known()
    model = SelectiveClassifier(
        FrozenEstimator(known), target_coverage=0.5, random_state=0, **options
    ).fit(columns, labels)
    whole = model.uncertainty(columns)
    for size in (1, 2, 7, 64):
        chunks = [model.uncertainty(columns[k : k + size]) for k in range(0, 300, size)]
        np.testing.assert_array_equal(np.concatenate(chunks), whole)
    known.set_params(order="F")
    np.testing.assert_array_equal(model.uncertainty(columns), whole)


NOVELTIES = {"knn": 2, "mahalanobis": 2, "msp": None, "max_logit": None, "energy": None}


@pytest.mark.parametrize(
    ("novelty", "cv"),
    [
        pytest.param(*item, marks=[] if item[0] == "knn" else pytest.mark.slow)
        for item in NOVELTIES.items()
    ],
)
def test_novelty_to_the_last_bit(novelty, cv):
    """Where the classifier's probabilities and decision values are the same."""
    inside = y != 9
    frozen = FrozenEstimator(LogisticRegression(tol=0.1).fit(X[inside], y[inside]))
    model = DoubleScoreOODClassifier(
        frozen, novelty_score=novelty, min_tpr=0.7, max_fpr=1.0, cv=cv, random_state=0
    ).fit(X, np.where(inside, y, -1))
    rows = X_new[:60]
    whole = outputs(model, rows, ["risk_and_novelty"])
    responses = ["predict_proba", "decision_function"]
    for size in (1, 7):
        same = in_chunks(frozen, rows, size, responses)
        same = (same == outputs(frozen, rows, responses)).all(axis=1)
        found = in_chunks(model, rows, size, ["risk_and_novelty"])
        np.testing.assert_array_equal(found[same], whole[same])
        accepted = in_chunks(model, rows, size, ["accept"])
        np.testing.assert_array_equal(accepted, outputs(model, rows, ["accept"]))


# Digits, and what the issue was


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
    accepted = model.accept(DIGITS)
    wrong = model.predict_label(DIGITS) != NUMBERS
    # On rows of which half have solved it, so that little is lost to chance.
    assert wrong[accepted].mean() < 0.27


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("probabilities", [[0.7, 0.1, 0.2], [0.1, 0.2, 0.7]])
def test_a_risk_equal_to_the_cost_but_for_its_last_bit_is_accepted(probabilities):
    known = Known(np.array([probabilities])).fit(None, None)
    model = SelectiveClassifier(FrozenEstimator(known), reject_cost=0.3, cv="plug_in")
    model.fit(np.zeros((3, 1)), [0, 1, 2])
    assert model.accept(np.zeros((1, 1))).all()
    assert model.accept_proba(np.zeros((1, 1))) == 1


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
    "strings of any length": lambda n: [str(k) * (1 + k % 3) for k in range(n)],
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
    "keys", [np.arange(3), np.zeros((10, 2), dtype=int), 5, "name"], ids=str
)
def test_keys_of_another_shape(model, keys):
    with pytest.raises(ValueError, match="keys"):
        model.accept(X_new[:10], keys=keys)


@pytest.mark.parametrize("key", [0.5, np.nan, None], ids=str)
def test_keys_that_are_neither_integers_nor_strings(model, key):
    with pytest.raises((TypeError, ValueError), match="keys"):
        model.accept(X_new[:3], keys=[key] * 3)


@pytest.mark.slow
def test_share_of_tied_rows_over_seeds():
    frozen = FrozenEstimator(clone(TREE).fit(X, y))
    model = SelectiveClassifier(frozen, target_coverage=0.7)
    row, accepted = None, []
    for seed in range(250):
        model.set_params(random_state=seed).fit(X_new, NUMBERS[~IS_TRAIN])
        if row is None:
            row = X_new[tied_rows(model, X_new)][:1]
        accepted.append(model.accept(row)[0])
    share = model.rule_.proba_at_threshold
    error = np.sqrt(share * (1 - share) / 250)
    assert abs(np.mean(accepted) - share) < 5 * error


class Named:
    """Its text names its place in memory."""


def test_values_without_text():
    rows = np.array([[Named()]], dtype=object)
    with pytest.raises(ValueError, match="keys="):
        row_keys(rows, np.arange(1))


def test_keys_of_unusual_values():
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


def test_keys_of_what_only_becomes_an_array():
    class Convertible:
        def __array__(self, dtype=None, copy=None):
            return X

        def __len__(self):
            return len(X)

    X = np.random.default_rng(0).normal(size=(5, 2))
    keys = row_keys(Convertible(), slice(None))
    np.testing.assert_array_equal(keys, row_keys(X, slice(None)))


def test_booleans_are_no_keys():
    for keys in ([True, False], np.array([True, False], dtype=object)):
        with pytest.raises(ValueError, match="keys"):
            user_keys(keys, np.zeros((2, 1)))


@pytest.mark.parametrize("as_array", [np.array, list], ids=["array", "list"])
def test_keys_of_large_images(as_array):
    """An array is hashed whole, not by its text, which leaves most of it out."""
    images = [np.zeros((40, 40 + k % 2)) for k in range(3)]
    images[2][20, 20] = 1
    rows = np.empty(3, dtype=object)
    for number, image in enumerate(images):
        rows[number] = image.tolist() if as_array is list else image
    keys = row_keys(rows, np.arange(3))
    assert keys[0] != keys[2]


def test_keys_and_certificates_exclude_each_other():
    model = SelectiveClassifier(
        clone(TREE), target_coverage=0.7, cv=0.5, confidence_level=0.9, random_state=0
    ).fit(X, y)
    for method in (model.accept, model.predict):
        with pytest.raises(ValueError, match="keys cannot be combined with a conf"):
            method(X_new, keys=np.arange(len(X_new)))
    assert model.accept(X_new).mean() > 0.5
