"""What holds for every metric, and for every scorer."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import sklearn_reject as sr
from sklearn_reject import metrics
from sklearn_reject.scores import SELE
from tests.metrics import tables
from tests.metrics.models import WRAPPINGS, Distant, TopOfEach, look_inside
from tests.metrics.tables import METRICS, OF_ERRORS, OF_NOVELTY, cases_of, data_of
from tests.samples import entropies

each_metric = pytest.mark.parametrize("name", METRICS)
OF_LOSSES = [name for name, metric in METRICS.items() if metric.takes_losses]


def assert_close(found, expected, rtol=1e-9):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


@cache
def values_of(name, **changes):
    """Return a metric of its data, of which some columns may be left out."""
    return METRICS[name](replace(data_of(name), **changes))


def test_all_metrics_are_in_the_table():
    calls = {metric.call for metric in METRICS.values()}
    names = {arg for call in calls for arg in getattr(call, "args", ())}
    ends = ("_score", "_curve", "_frontier")
    public = {name for name in metrics.__all__ if name.endswith(ends)}
    assert public == {*names, "selective_cost_score"}


@each_metric
def test_weights_matter_but_not_their_scale(name):
    data, expected = data_of(name), values_of(name)
    assert not any(np.isnan(value).any() for value in expected)
    if not name.startswith(("at risk", "fpr")):  # rates that may be the same
        pairs = zip(values_of(name, weight=None), expected, strict=True)
        assert any(not np.array_equal(*pair) for pair in pairs)
    for scale in (1e-12, 1e12):
        found = METRICS[name](replace(data, weight=scale * data.weight))
        for values, kind in zip(found, METRICS[name].kinds, strict=True):
            values /= scale if kind == "w" else 1
        assert_close(found, expected)


@each_metric
def test_rows_without_weight_are_absent_and_equal_weights_are_none(name):
    """To the last bit in `aurc_score`, which has another formula for other weights."""
    data = data_of(name)
    there = data.weight > 0
    assert not there.all()
    assert_close(METRICS[name](data.take(there)), values_of(name))
    if "w" not in METRICS[name].kinds:
        for weight in (1e-12, 0.1, 2.0) if "aurc" in name else (0.1,):
            found = METRICS[name](replace(data, weight=np.full(len(data), weight)))
            expected = values_of(name, weight=None)
            assert_close(found, expected, rtol=1e-9 * ("aurc" not in name))


@pytest.mark.parametrize("name", [n for n, metric in METRICS.items() if metric.repeats])
def test_integer_weights_repeat_rows(name):
    data = data_of(name)
    times = np.random.default_rng(1).integers(0, 4, len(data))
    repeated = replace(data, weight=None).take(np.repeat(np.arange(len(data)), times))
    weighted = replace(data, weight=times.astype(float))
    assert_close(METRICS[name](weighted), METRICS[name](repeated))


@each_metric
def test_order_of_rows(name):
    data = data_of(name)
    rows = np.random.default_rng(2).permutation(len(data))
    assert_close(METRICS[name](data.take(rows)), values_of(name))


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.is_ranked])
def test_only_the_order_of_a_score_matters(name):
    data = data_of(name)
    found = METRICS[name](replace(data, uncertainty=np.exp(7 * data.uncertainty) - 3))
    kinds = METRICS[name].kinds
    for one, other, kind in zip(found, values_of(name), kinds, strict=True):
        if kind != "s":
            np.testing.assert_array_equal(one, other)
        else:
            finite = np.isfinite(other)
            np.testing.assert_allclose(one[finite], np.exp(7 * other[finite]) - 3)
            np.testing.assert_array_equal(one[~finite], other[~finite])


@pytest.mark.parametrize("name", OF_LOSSES)
def test_losses_have_a_unit_and_may_take_the_place_of_labels(name):
    data, expected = data_of(name), values_of(name)
    for one, other in zip(METRICS[name](data, as_labels=True), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    for unit in (2.0**-40, 2.0**30):
        found = METRICS[name](data, unit=unit)
        for one, other, kind in zip(found, expected, METRICS[name].kinds, strict=True):
            np.testing.assert_array_equal(one, other * (unit if kind == "u" else 1))


NAMES = np.array(["ant", "bee", "cat", "ood"])
KINDS = {
    "list": np.ndarray.tolist,
    "floats": lambda y: y.astype(float),
    "objects": lambda y: y.astype(object),
    "text": lambda y: NAMES[y],
    "column": lambda y: y[:, np.newaxis],
    "series": lambda y: pd.Series(y, index=np.roll(np.arange(len(y)), 7)),
    "categories": lambda y: pd.Series(NAMES[y]).astype("category"),
    "nullable": lambda y: pd.array(y, dtype="Int64"),
}


# Labels are read alike whatever is done with their losses.
OF_LABELS = [name for name in OF_LOSSES if ", two" not in name and "random" not in name]


@pytest.mark.parametrize("name", OF_LABELS)
def test_labels_of_all_kinds(name):
    data = data_of(name)
    for kind, convert in KINDS.items():
        labels = ("y_true", "y_pred", "y_second")
        moved = {label: convert(getattr(data, label)) for label in labels}
        if kind == "series":
            for row in ("uncertainty", "novelty", "weight"):
                index = moved["y_true"].index
                moved[row] = pd.Series(getattr(data, row), index=index)
        found = METRICS[name](replace(data, **moved), as_labels=True)
        for one, other in zip(found, values_of(name), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", tables.OOD)
def test_infinite_scores(name):
    """Minus infinity is first and infinity last: they are beyond all finite scores."""
    data = data_of(name)
    place = "novelty" if name.endswith("two") else "uncertainty"
    scores, far = getattr(data, place).copy(), getattr(data, place).copy()
    scores[[0, -1]], scores[[1, 5]] = np.inf, -np.inf
    far[[0, -1]], far[[1, 5]] = 1e6, -1e6
    found = METRICS[name](replace(data, **{place: scores}))
    assert all(np.isfinite(values[1:]).all() for values in found if values.ndim)
    if METRICS[name].kinds == "1" and METRICS[name].is_ranked:
        assert_close(found, METRICS[name](replace(data, **{place: far})))
    rows = np.random.default_rng(3).permutation(len(data))
    moved = replace(data, **{place: scores}).take(rows)
    assert_close(METRICS[name](moved), found, rtol=1e-12)


def with_first(value):
    return lambda values: np.append(value, values[1:])


BAD_WEIGHTS = [
    (lambda values: values[1:], "sample_weight has 79 elements, but there are 80"),
    (with_first(-1), "sample_weight must be non-negative, got -1.0 in row 0"),
    (with_first(np.nan), "sample_weight must be finite, got nan in row 0"),
    (with_first(np.inf), "sample_weight must be finite, got inf in row 0"),
    (np.zeros_like, "sample_weight is zero for every sample"),
    (lambda values: values * 0 + 1e308, r"sample_weight holds 1e\+308, which is too"),
    (lambda values: values * 0 + 1e-200, "sample_weight is at most 1e-200, which is"),
]
BAD_SCORES = [
    (lambda values: values[1:], "has 79 elements, but there are 80|are 79"),
    (with_first(np.nan), "must be finite, got nan in row 0"),
    (lambda values: values[:, np.newaxis], r"must be a vector .*\(80, 1\)"),
    (lambda values: NAMES[np.zeros(80, int)], "must hold numbers"),
    (lambda values: values + 1j, "must hold real numbers"),
    (lambda values: np.arange(80) + 2**53 + 1, r"integer 9007199254740993.*2\*\*53"),
]
BAD_ARRAYS = [
    *(("weight", *case) for case in BAD_WEIGHTS),
    *(("uncertainty", *case) for case in BAD_SCORES),
]


@pytest.mark.parametrize(("column", "change", "words"), BAD_ARRAYS)
def test_bad_arrays(column, change, words):
    """`selective_cost_score` has no score, and sets have weights of their own."""
    for name in METRICS.keys() - {"sets", "cost"}:
        data = data_of(name)
        bad = replace(data, **{column: change(getattr(data, column))})
        with pytest.raises(ValueError, match=words):
            METRICS[name](bad)


# Scorers: of three classes, and of OOD samples of label -1 beside them
def draw_samples(seed=0, n=300):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    centers = np.array([[0, 0], [3, 0], [0, 3], [1, 1]])
    return centers[y] + rng.normal(size=(n, 2)), np.where(y == 3, -1, y)


X, Y = draw_samples()
INSIDE = Y >= 0
X_IN, Y_IN = X[INSIDE], Y[INSIDE]
WEIGHT = 1.0 + np.arange(300) % 5
BAYES = GaussianNB().fit(X_IN, Y_IN)
OF_GROUPS = {"groups": np.arange(len(X_IN)) // 8}


def samples_of(name):
    rows = np.flatnonzero(INSIDE | (name in OF_NOVELTY))
    return X[rows], Y[rows], WEIGHT[rows]


each_scorer = pytest.mark.parametrize(("name", "scorer", "metric"), tables.SCORERS)


def selective(**options):
    options = {"uncertainty_score": entropies, "reject_cost": 0.4} | options
    return sr.SelectiveClassifier(GaussianNB(), cv=2, **options)


def test_all_scorers_are_in_a_table():
    known = {*OF_ERRORS, *OF_NOVELTY, "neg_deferral_area", "neg_set_loss"}
    known.add("neg_selective_cost")
    assert set(metrics.get_selective_scorer_names()) == known


@pytest.mark.parametrize("weighted", [False, True])
@each_scorer
def test_a_scorer_is_the_metric_of_any_classifier(name, scorer, metric, weighted):
    Z, truth, weight = samples_of(name)
    weight = weight if weighted else None
    svm = LinearSVC(random_state=0).fit(X_IN, Y_IN)
    distant = Distant().fit(X_IN, Y_IN)
    rejecting = selective().fit(X_IN, Y_IN)
    decision = np.sort(svm.decision_function(Z))
    for model, uncertainty in (
        (BAYES, np.sort(BAYES.predict_proba(Z))[:, :2].sum(axis=1)),
        (svm, decision[:, -2] - decision[:, -1]),
        (distant, distant.uncertainty(Z)),
        (rejecting, rejecting.uncertainty(Z)),
    ):
        value = scorer(model, Z, truth, weight)
        assert value == scorer(model, Z, truth, sample_weight=weight)
        assert type(value) is float
        labels = getattr(model, "predict_label", model.predict)(Z)
        expected = metric(truth, labels, uncertainty, weight)
        assert value == pytest.approx(expected, rel=1e-12)
        assert np.isfinite(value)


OF_OOD = sr.DoubleScoreOODClassifier(
    GaussianNB(), min_tpr=0.3, novelty_score="msp", cv=2
)
OF_NUMBERS = sr.SelectiveRegressor(Ridge(), uncertainty_score=SELE(alphas=0.01), cv=2)
ASKING = sr.DeferringClassifier(GaussianNB(), LogisticRegression(), cv=2)
ASKING.set_params(gain_score="confidence")
# Each kind of model with a grid, labels, what is given beside them, and its scorers.
FAR, PRODUCTS, POSITIVE = np.where(INSIDE, Y, 99), X.prod(axis=1), 1 * (Y_IN > 0)
AREA, DEFERRAL, SETS = (
    {n: [{}]} for n in ("neg_aurc", "neg_deferral_area", "neg_set_loss")
)
KINDS_OF_MODELS = {
    "rejecting": (selective(), {"reject_cost": [0.4]}, X_IN, Y_IN, {}, OF_ERRORS),
    "novel": (OF_OOD, {"ood_label": [99]}, X, FAR, {}, OF_NOVELTY),
    "regressing": (OF_NUMBERS, {"reject_cost": [1]}, X, PRODUCTS, {}, AREA),
    "deferring": (ASKING, {"deferral_cost": [0.1]}, X_IN, Y_IN, {}, DEFERRAL),
    "sets": (TopOfEach(3), {"size": [3]}, X_IN, POSITIVE, OF_GROUPS, SETS),
}


# Nothing may be deferred, or everything rejected: scores do not depend on it.
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("kind", KINDS_OF_MODELS)
def test_what_rejects_is_found_inside(kind, wrapping):
    """And gets what it is given, whether or not its wrapper would hand it on."""
    model, grid, Z, truth, given, scorers = KINDS_OF_MODELS[kind]
    model = clone(model).set_params(**{name: value for name, (value,) in grid.items()})
    model = model.fit(Z, truth) if wrapping == "frozen" else model
    wrapped = WRAPPINGS[wrapping](model, grid).fit(Z, truth)
    inner, seen = look_inside(wrapped, Z)
    for _, scorer, _ in cases_of(scorers):
        expected = scorer(inner, seen, truth, **given)
        for routing in (False, True) if given else (False,):
            with sklearn.config_context(enable_metadata_routing=routing):
                assert scorer(wrapped, Z, truth, **given) == pytest.approx(expected)
        copy = pickle.loads(pickle.dumps(scorer))
        assert repr(copy) == repr(scorer)
        assert copy(inner, seen, truth, **given) == expected


@each_scorer
def test_whatever_is_rejected_the_score_is_the_same(name, scorer, metric):
    """So rejecting everything wins nothing, whatever label says so."""
    Z, truth, _ = samples_of(name)
    scores = set()
    for options in ({"reject_cost": 0.0}, {"reject_cost": 0.9}, {"reject_label": -5}):
        model = selective(**options).fit(X_IN, Y_IN)
        scores.add(scorer(model, Z, truth))
    assert len(scores) == 1


@each_scorer
def test_a_moved_threshold_is_judged_by_its_own_labels(name, scorer, metric):
    Z, truth, _ = samples_of(name)
    truth = np.where(truth > 0, 1, truth)
    moved = FixedThresholdClassifier(GaussianNB(), threshold=0.2)
    moved.fit(X_IN, (Y_IN > 0).astype(int))
    labels, proba = moved.predict(Z), moved.predict_proba(Z)
    assert (labels != proba.argmax(axis=1)).any()
    uncertainty = proba[np.arange(len(Z)), 1 - labels]
    expected = metric(truth, labels, uncertainty)
    assert scorer(moved, Z, truth) == pytest.approx(expected, rel=1e-12)


@each_scorer
def test_copies_and_requests(name, scorer, metric):
    Z, truth, _ = samples_of(name)
    asking = scorer.set_score_request(sample_weight="importance")
    assert scorer.get_metadata_routing().score.requests == {"sample_weight": None}
    for copy in (asking, pickle.loads(pickle.dumps(asking)), clone(asking, safe=False)):
        requests = copy.get_metadata_routing().score.requests
        assert requests == {"sample_weight": "importance"}
        assert copy(BAYES, Z, truth) == scorer(BAYES, Z, truth)
    with pytest.raises(TypeError, match="'groups'"):
        scorer.set_score_request(groups=True)
