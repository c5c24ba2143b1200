"""A decision belongs to the row: neither batch, order, format nor process matters."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.scores import LossRegression

DIGITS, NUMBERS = load_digits(return_X_y=True)  # whole numbers: exact in float32
IS_TRAIN = np.arange(len(DIGITS)) < 900
X, y = DIGITS[IS_TRAIN], NUMBERS[IS_TRAIN]
X_new = DIGITS[~IS_TRAIN]


def has_ink(X):
    return X[:, 4] > 8


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
    "groups": SelectiveClassifier(TREE, target_coverage=0.7, cv=0.5, group_by=has_ink),
    "certified": SelectiveClassifier(
        TREE, target_risk=0.35, confidence_level=0.9, cv=0.5
    ),
}
METHODS = ["uncertainty", "accept", "accept_proba", "predict", "predict_all"]


def fit(name, random_state=0, **params):
    labels = np.where(y == 9, -1, y) if name == "double" else y
    model = clone(MODELS[name]).set_params(random_state=random_state, **params)
    return model.fit(X, labels)


def tied_rows(model, X):
    return model.accept_proba(X) % 1 > 0


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    fitted = fit(request.param)
    assert tied_rows(fitted, X_new).sum() >= 30
    assert not get_tags(fitted).non_deterministic
    return fitted


@pytest.fixture(scope="module", params=[name for name in MODELS if name != "certified"])
def keyed(request):
    return fit(request.param)


def outputs(model, X):
    """All that is said about rows, as columns, one row each."""
    columns = []
    for method in (*METHODS, "risk_and_novelty"):
        if hasattr(model, method):
            values = getattr(model, method)(X)
            columns += values if isinstance(values, tuple) else [values]
    return np.column_stack(columns)


def in_chunks(model, X, size):
    starts = range(0, len(X) if isinstance(X, list) else X.shape[0], size)
    part = X.iloc if hasattr(X, "iloc") else X
    return np.vstack([outputs(model, part[k : k + size]) for k in starts])


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


def fit_pipeline(transformer, rows, labels, target_coverage=0.5):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    options = {"target_coverage": target_coverage, "cv": 0.5, "random_state": 0}
    model = SelectiveClassifier(make_pipeline(transformer, tree), **options)
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
    model = fit_pipeline(encode, *make_frame(400), 0.55)
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
    return np.fromiter(rows, dtype=object, count=len(rows))


def other_dicts(rows):
    """Order, zeros and the kind of a number are no part of a row."""
    return [
        {k: np.float64(row[k]) for k in reversed(row)} | {"word0": row["word0"]}
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
        np.testing.assert_array_equal(in_chunks(model, rows[:30], size), whole[:30])
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
    trembling = Trembling(max_depth=4, random_state=0)
    model, steady = fit(name, seed, estimator=trembling), fit(name, seed)
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


# The seed, the keys, and the share that they accept


@pytest.mark.parametrize("name", MODELS)
def test_seed_is_drawn_once_in_fit(name):
    first, again, other = fit(name, 0), fit(name, 0), fit(name, 1)
    assert isinstance(first.seed_, int)
    assert first.seed_ == again.seed_ != other.seed_
    np.testing.assert_array_equal(first.accept(X_new), again.accept(X_new))
    assert not hasattr(clone(first), "seed_")
    # Without an integer each fit has a seed of its own, and keeps it.
    free = fit(name, None)
    assert fit(name, None).seed_ != free.seed_
    np.testing.assert_array_equal(free.accept(X_new), free.accept(X_new))
    # The state of a generator goes on.
    model, labels = fit(name, np.random.RandomState(7)), np.where(y == 9, -1, y)
    seed = model.seed_
    assert fit(name, np.random.RandomState(7)).seed_ == seed
    assert model.fit(X, labels).seed_ != seed


KEYS = {
    "integers": lambda n: np.arange(n),
    "large integers": lambda n: np.arange(n) + 2**62,
    "negative integers": lambda n: -np.arange(n),
    "huge integers": lambda n: [10**400 + k for k in range(n)],
    "strings": lambda n: np.array([f"customer {k}" for k in range(n)]),
}


@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
def test_keys_make_draws_of_equal_rows_independent(keyed, make):
    model, n = keyed, 4000
    copies = np.tile(X_new[tied_rows(model, X_new)][0], (n, 1))
    keys = make(n)
    accepted = model.accept(copies, keys=keys)
    share = model.accept_proba(copies[:1])[0]
    assert abs(accepted.mean() - share) < 5 * np.sqrt(share * (1 - share) / n)
    # Neighbouring keys draw independently.
    both = accepted[1:] & accepted[:-1]
    assert abs(both.mean() - share**2) < 5 * 0.5 / np.sqrt(n)


@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
def test_draws_depend_on_the_key_and_on_nothing_else(keyed, make):
    model = keyed
    keys = np.asarray(make(len(X_new)))
    tied = tied_rows(model, X_new)
    accepted = model.accept(X_new, keys=keys)
    assert (accepted != model.accept(X_new)).any()
    np.testing.assert_array_equal(model.predict_all(X_new, keys).accepted, accepted)
    # Other rows of the same probability under the same keys.
    probability, others = model.accept_proba(X_new), X_new.copy()
    for value in np.unique(probability[tied]):
        rows = np.flatnonzero(probability == value)
        others[rows] = X_new[rows[::-1]]
    np.testing.assert_array_equal(model.accept(others, keys=keys), accepted)
    order = np.random.default_rng(0).permutation(len(keys))
    permuted = model.accept(X_new[order], keys=keys[order])
    np.testing.assert_array_equal(permuted, accepted[order])
    for same in (
        list(keys),
        pd.Series(keys, dtype=keys.dtype),
        keys.astype(object),
    ):
        np.testing.assert_array_equal(model.accept(X_new, keys=same), accepted)
    # What is not tied has nothing to draw.
    np.testing.assert_array_equal(accepted[~tied], model.accept(X_new)[~tied])


BAD_KEYS = [[1, 2], np.zeros((3, 2), int), 5, "name", np.array([True] * 3, object)]


@pytest.mark.parametrize(
    "keys", [*BAD_KEYS, *([key] * 3 for key in (0.5, np.nan, None, True))], ids=str
)
def test_bad_keys(keyed, keys):
    with pytest.raises((TypeError, ValueError), match="keys"):
        keyed.accept(X_new[:3], keys=keys)


# Values that scores do not see, in rows of one score


class Named:
    """Its text names its place in memory."""


N_VALUES = 60
TIMES = pd.date_range("2026-01-01", periods=N_VALUES, freq="h", tz="UTC")
GAPS = pd.Series(pd.date_range("2020-01-01", periods=N_VALUES)).mask(TIMES.hour == 3)
FAR = np.arange(N_VALUES).astype("datetime64[D]") + np.timedelta64(400_000, "D")
IMAGES = [np.zeros((40, 40 + k % 2)) for k in range(N_VALUES)]
for number, image in enumerate(IMAGES):
    image[20, 20] = number
# Values, and what are the same ones.
VALUES = {
    # Objects, with or without a zone, are the times that they stand for.
    **{
        f"times of {zone}": (local := TIMES.tz_convert(zone), [local.astype(object)])
        for zone in (None, "Europe/Berlin")
    },
    "times in UTC": (TIMES, [TIMES.to_numpy()]),
    "spans": (TIMES - TIMES[1], [(TIMES - TIMES[1]).astype(object)]),
    "gaps": (GAPS, [GAPS.astype(f"datetime64[{unit}]") for unit in ("s", "us", "ns")]),
    "far away": (FAR, [FAR.astype("datetime64[s]")]),
    "broken text": ([f"a\udce9{k}" for k in range(N_VALUES)], []),
    # An array is hashed whole, not by its text, which leaves most of it out.
    "large images": (as_objects(IMAGES), [as_objects([x.copy() for x in IMAGES])]),
    "lists of lists": (as_objects([image.tolist() for image in IMAGES]), []),
}


def framed(values):
    return pd.DataFrame({"size": np.zeros(N_VALUES), "value": values})


@pytest.fixture(scope="module")
def blind():
    """Return a model to which all rows are the same."""
    only_size = make_column_transformer(("passthrough", ["size"]))
    return fit_pipeline(only_size, framed(TIMES), np.arange(N_VALUES) % 2)


@pytest.mark.parametrize("kind", VALUES)
def test_rows_of_one_score_are_drawn_by_their_values(blind, kind):
    values, others = VALUES[kind]
    accepted = blind.accept(framed(values))
    assert 0.2 < accepted.mean() < 0.8
    for same in others:
        np.testing.assert_array_equal(blind.accept(framed(same)), accepted)


def test_values_without_text(blind):
    with pytest.raises(ValueError, match="keys="):
        blind.accept(framed([Named() for _ in range(N_VALUES)]))
