"""What holds for every metric, and for every scorer."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import SelectiveClassifier, metrics
from tests.metrics.tables import (
    METRICS,
    OF_ERRORS,
    OF_NOVELTY,
    OOD,
    ORDER,
    SCORERS,
    data_of,
)

each_metric = pytest.mark.parametrize("name", METRICS)


def assert_close(found, expected, rtol=1e-9):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


def test_all_metrics_are_in_the_table():
    calls = {metric.call for metric in METRICS.values()}
    names = {arg for call in calls for arg in getattr(call, "args", ())}
    ends = ("_score", "_curve", "_frontier")
    public = {name for name in metrics.__all__ if name.endswith(ends)}
    assert public == {*names, "selective_cost_score"}


@each_metric
def test_weights_matter_but_not_their_scale(name):
    data = data_of(name)
    expected = METRICS[name](data)
    assert not any(np.isnan(value).any() for value in expected)
    plain = METRICS[name](replace(data, weight=None))
    if not name.startswith(("at risk", "fpr")):  # rates that may be the same
        pairs = zip(plain, expected, strict=True)
        assert any(not np.array_equal(*pair) for pair in pairs)
    for scale in (1e-12, 1e-6, 1 / 3, 1e12):
        found = METRICS[name](replace(data, weight=scale * data.weight))
        for values, kind in zip(found, METRICS[name].kinds, strict=True):
            values /= scale if kind == "w" else 1
        assert_close(found, expected)


@each_metric
def test_rows_without_weight_are_absent_and_equal_weights_are_none(name):
    data = data_of(name)
    there = data.weight > 0
    assert not there.all()
    assert_close(METRICS[name](data.take(there)), METRICS[name](data))
    plain = METRICS[name](replace(data, weight=None))
    if "w" not in METRICS[name].kinds:
        assert_close(
            METRICS[name](replace(data, weight=np.full(len(data), 0.1))), plain
        )


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
    assert_close(METRICS[name](data.take(rows)), METRICS[name](data))


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.is_ranked])
def test_only_the_order_of_a_score_matters(name):
    data = data_of(name)
    moved = replace(data, uncertainty=np.exp(7 * data.uncertainty) - 3)
    found, expected = METRICS[name](moved), METRICS[name](data)
    for one, other, kind in zip(found, expected, METRICS[name].kinds, strict=True):
        if kind != "s":
            np.testing.assert_array_equal(one, other)
        else:
            finite = np.isfinite(other)
            np.testing.assert_allclose(one[finite], np.exp(7 * other[finite]) - 3)
            np.testing.assert_array_equal(one[~finite], other[~finite])


of_losses = pytest.mark.parametrize(
    "name", [name for name, metric in METRICS.items() if metric.takes_losses]
)


@of_losses
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**30])
def test_units_of_losses(name, unit):
    data = data_of(name)
    found, expected = METRICS[name](data, unit=unit), METRICS[name](data)
    for one, other, kind in zip(found, expected, METRICS[name].kinds, strict=True):
        np.testing.assert_array_equal(one, other * (unit if kind == "u" else 1))


@of_losses
def test_losses_themselves_take_the_place_of_labels(name):
    data = data_of(name)
    for one, other in zip(
        METRICS[name](data), METRICS[name](data, as_labels=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)


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


@pytest.mark.parametrize("kind", KINDS)
@of_losses
def test_labels_of_all_kinds(name, kind):
    data = data_of(name)
    expected = METRICS[name](data)
    labels = ("y_true", "y_pred", "y_second")
    moved = {label: KINDS[kind](getattr(data, label)) for label in labels}
    if kind != "series":
        found = METRICS[name](Labels(data, moved), as_labels=True)
    else:
        index = moved["y_true"].index
        scores = {k: pd.Series(getattr(data, k), index=index) for k in OF_ROWS}
        found = METRICS[name](Labels(data, moved | scores), as_labels=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


OF_ROWS = ("uncertainty", "novelty", "weight")


class Labels:
    """Rows of which some columns are of another kind."""

    def __init__(self, data, columns):
        self._data, self._columns = data, columns

    def __getattr__(self, name):
        columns = self.__dict__["_columns"]
        return columns[name] if name in columns else getattr(self._data, name)


@pytest.mark.parametrize("name", OOD)
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


@pytest.mark.parametrize("name", [n for n in ORDER if n != "curve" and "risk" not in n])
def test_the_better_order_is_better(name):
    """At any scale of the weights, by a perfect score and by the worst one."""
    data = data_of(name)
    for scale in (1e-12, 1.0, 1e12):
        of_losses = replace(data, weight=scale * data.weight)
        best, worst = (
            METRICS[name](replace(of_losses, uncertainty=sign * data.losses))[0]
            for sign in (1, -1)
        )
        assert worst > best if METRICS[name].kinds == "u" else worst < best


# Scorers: of three classes, and of OOD samples of label -1 beside them


def draw_samples(seed=0, n=300):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    centers = np.array([[0, 0], [3, 0], [0, 3], [1, 1]])
    return centers[y] + rng.normal(size=(n, 2)), np.where(y == 3, -1, y)


X, Y = draw_samples()
INSIDE = Y >= 0
WEIGHT = 1.0 + np.arange(300) % 5
BAYES = GaussianNB().fit(X[INSIDE], Y[INSIDE])


def is_of_novelty(name):
    return name in OF_NOVELTY


def samples_of(name):
    """Return rows, with OOD samples for scorers that know them."""
    rows = np.flatnonzero(INSIDE | is_of_novelty(name))
    return X[rows], Y[rows], WEIGHT[rows]


each_scorer = pytest.mark.parametrize(
    ("name", "scorer", "metric"),
    SCORERS,
    ids=[f"{name}-{number}" for number, (name, *_) in enumerate(SCORERS)],
)


class Distant(ClassifierMixin, BaseEstimator):
    """A classifier of another package, with its own idea of uncertainty."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def uncertainty(self, X):
        offsets = X[:, np.newaxis] - self.model_.theta_
        return np.linalg.norm(offsets, axis=2).min(axis=1)


class Sampler(BaseEstimator):
    """Repeats a class; like those of imbalanced-learn it has no transform."""

    def fit_resample(self, X, y):
        rows = np.append(np.arange(len(y)), np.repeat(np.flatnonzero(y == 1), 3))
        return X[rows], y[rows]


class OtherPipeline(ClassifierMixin, BaseEstimator):
    """A pipeline with samplers, as imbalanced-learn has, and with no base in common."""

    def __init__(self, steps):
        self.steps = steps

    def fit(self, X, y):
        for _, step in self.steps[:-1]:
            if hasattr(step, "fit_resample"):
                X, y = step.fit_resample(X, y)
            elif step not in (None, "passthrough"):
                X = step.fit_transform(X, y)
        self.classes_ = self.steps[-1][1].fit(X, y).classes_
        return self


def selective(**options):
    options = {"uncertainty_score": "entropy", "reject_cost": 0.4} | options
    return SelectiveClassifier(GaussianNB(), cv=2, **options)


IN_SEARCH = {"reject_cost": [0.4]}
STEPS = [(None, None), ("scale", StandardScaler()), ("sample", Sampler())]
# Each with the model that is asked, and whether it sees scaled samples.
WRAPPINGS = {
    "alone": (lambda inner: inner, False),
    "frozen": (FrozenEstimator, False),
    "pipeline": (lambda inner: make_pipeline(StandardScaler(), inner), True),
    "one step": (lambda inner: Pipeline([("only", inner)]), False),
    "search": (lambda inner: GridSearchCV(inner, IN_SEARCH, cv=2), False),
    "both": (
        lambda inner: make_pipeline(
            StandardScaler(), make_pipeline(GridSearchCV(inner, IN_SEARCH, cv=2))
        ),
        True,
    ),
    "resampled": (
        lambda inner: OtherPipeline([*STEPS, ("skip", "passthrough"), ("in", inner)]),
        True,
    ),
}


def inner_of(model):
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        else:
            return model


@pytest.fixture(scope="module")
def wrapped():
    """Fitted models by the names of wrappings."""
    models = {}
    for name, (wrap, _) in WRAPPINGS.items():
        inner = selective()
        inner = inner.fit(X[INSIDE], Y[INSIDE]) if name == "frozen" else inner
        models[name] = wrap(inner).fit(X[INSIDE], Y[INSIDE])
    return models


def test_all_scorers_of_classifiers_are_in_the_table():
    others = {"neg_deferral_area", "neg_selective_cost", "neg_set_loss"}
    known = {*OF_ERRORS, *OF_NOVELTY} | others
    assert set(metrics.get_selective_scorer_names()) == known


@pytest.mark.parametrize("weighted", [False, True])
@each_scorer
def test_a_scorer_is_the_metric_of_any_classifier(name, scorer, metric, weighted):
    Z, truth, weight = samples_of(name)
    weight = weight if weighted else None
    svm = LinearSVC(random_state=0).fit(X[INSIDE], Y[INSIDE])
    distant = Distant().fit(X[INSIDE], Y[INSIDE])
    decision = np.sort(svm.decision_function(Z))
    for model, uncertainty in (
        (BAYES, np.sort(BAYES.predict_proba(Z))[:, :2].sum(axis=1)),
        (svm, decision[:, -2] - decision[:, -1]),
        (distant, distant.uncertainty(Z)),
    ):
        value = scorer(model, Z, truth, sample_weight=weight)
        assert type(value) is float
        expected = metric(truth, model.predict(Z), uncertainty, weight)
        assert value == pytest.approx(expected, rel=1e-12)
        assert np.isfinite(value)
    assert scorer(BAYES, Z, truth, weight) == scorer(
        BAYES, Z, truth, sample_weight=weight
    )


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@each_scorer
def test_what_rejects_is_found_inside(name, scorer, metric, wrapping, wrapped):
    Z, truth, _ = samples_of(name)
    model, is_scaled = wrapped[wrapping], WRAPPINGS[wrapping][1]
    inner = inner_of(model)
    seen = StandardScaler().fit(X[INSIDE]).transform(Z) if is_scaled else Z
    if wrapping == "resampled":  # and so scaled by what was not resampled
        seen = dict(model.steps)["scale"].transform(Z)
    expected = metric(truth, inner.predict_label(seen), inner.uncertainty(seen))
    assert scorer(model, Z, truth) == pytest.approx(expected, rel=1e-12)


@each_scorer
def test_whatever_is_rejected_the_score_is_the_same(name, scorer, metric):
    """So rejecting everything wins nothing, whatever label says so."""
    Z, truth, _ = samples_of(name)
    scores = set()
    for options in ({"reject_cost": 0.0}, {"reject_cost": 0.9}, {"reject_label": -5}):
        model = selective(**options).fit(X[INSIDE], Y[INSIDE])
        scores.add(scorer(model, Z, truth))
    assert len(scores) == 1


@each_scorer
def test_a_moved_threshold_is_judged_by_its_own_labels(name, scorer, metric):
    Z, truth, _ = samples_of(name)
    truth = np.where(truth > 0, 1, truth)
    moved = FixedThresholdClassifier(GaussianNB(), threshold=0.2)
    moved.fit(X[INSIDE], (Y > 0)[INSIDE].astype(int))
    labels, proba = moved.predict(Z), moved.predict_proba(Z)
    assert (labels != proba.argmax(axis=1)).any()
    uncertainty = proba[np.arange(len(Z)), 1 - labels]
    expected = metric(truth, labels, uncertainty)
    assert scorer(moved, Z, truth) == pytest.approx(expected, rel=1e-12)


@each_scorer
def test_labels_of_text(name, scorer, metric):
    Z, truth, _ = samples_of(name)
    named = GaussianNB().fit(X[INSIDE], NAMES[Y[INSIDE]])
    if "squared" in repr(scorer) or "absolute" in repr(scorer):
        with pytest.raises(ValueError, match="numeric labels"):
            scorer(named, Z, NAMES[truth])
    else:
        assert scorer(named, Z, NAMES[truth]) == scorer(BAYES, Z, truth)


@each_scorer
def test_copies_and_requests(name, scorer, metric):
    Z, truth, _ = samples_of(name)
    asking = scorer.set_score_request(sample_weight="importance")
    assert scorer.get_metadata_routing().score.requests == {"sample_weight": None}
    for copy in (asking, pickle.loads(pickle.dumps(asking)), clone(asking, safe=False)):
        requests = copy.get_metadata_routing().score.requests
        assert requests == {"sample_weight": "importance"}
        assert repr(copy) == repr(scorer)
        assert copy(BAYES, Z, truth) == scorer(BAYES, Z, truth)
    with pytest.raises(TypeError, match="'groups'"):
        scorer.set_score_request(groups=True)


def fitted_on_folds(truth, Z, folds):
    """Return models of the ID samples of each training part."""
    for train, test in folds:
        rows = train[truth[train] >= 0]
        yield GaussianNB().fit(Z[rows], truth[rows]), test


class OfInside(GaussianNB):
    """Naive Bayes that does not see OOD samples in `fit`."""

    def fit(self, X, y):
        return super().fit(X[y >= 0], y[y >= 0])


@each_scorer
def test_weights_reach_scorers_in_cross_validation(name, scorer, metric):
    Z, truth, weight = samples_of(name)
    folds = list(StratifiedKFold(2).split(Z, truth))
    asking = {
        "all": scorer.set_score_request(sample_weight="importance"),
        "none": scorer,
    }
    with sklearn.config_context(enable_metadata_routing=True):
        model = OfInside()
        found = cross_validate(
            model, Z, truth, scoring=asking, params={"importance": weight}, cv=folds
        )
        options = {"scoring": scorer, "cv": folds, "params": {"sample_weight": weight}}
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, Z, truth, **options)
    for number, (model, rows) in enumerate(fitted_on_folds(truth, Z, folds)):
        samples = Z[rows], truth[rows]
        plain, weighted = (scorer(model, *samples, w) for w in (None, weight[rows]))
        assert found["test_none"][number] == plain
        assert found["test_all"][number] == weighted


def test_scorers_of_novelty_in_one_search():
    scorers = {repr(each): each for name, each, _ in SCORERS if name in OF_NOVELTY}
    folds = list(StratifiedKFold(2).split(X, Y))
    search = GridSearchCV(
        OfInside(), {"var_smoothing": [1e-9]}, scoring=scorers, cv=folds, refit=False
    ).fit(X, Y)
    models = list(fitted_on_folds(Y, X, folds))
    for key, scorer in scorers.items():
        values = [scorer(model, X[rows], Y[rows]) for model, rows in models]
        assert search.cv_results_[f"mean_test_{key}"][0] == pytest.approx(
            np.mean(values)
        )
