"""Estimators whose samples are in clusters: the `groups` of `fit`.

Rules of them are in tests/selection/test_sample.py, weights in test_audits.py.
"""

from functools import partial
from math import isqrt

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)

N = 600
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(N, 3))
X = np.column_stack([np.arange(N), POINTS])
y = (POINTS.sum(axis=1) + RNG.normal(size=N) > 0).astype(int)
CLUSTERS = RNG.integers(0, 200, N)
NAMES = np.array([f"patient {k}" for k in CLUSTERS])
PROBA = np.where(POINTS[:, 0] > 0, 0.9, 0.6)
IS_KNOWN = RNG.random(N) < PROBA
KNOWN = np.flatnonzero(IS_KNOWN)
FOLDS = CLUSTERS % 4
BY_CLUSTER = [np.nonzero(FOLDS - k) + np.nonzero(k == FOLDS) for k in range(4)]
FITS = []


class Spy(BaseEstimator):
    """Remembers the rows of each fit, whose numbers are the first column."""

    def fit(self, X, y, sample_weight=None):
        FITS.append(X[:, 0].astype(int))
        self.model_ = self._model().fit(X[:, 1:], y)
        return self

    def predict(self, X):
        return self.model_.predict(X[:, 1:])


class SpyClassifier(ClassifierMixin, Spy):
    _model = GaussianNB

    @property
    def classes_(self):
        return self.model_.classes_

    def predict_proba(self, X):
        return self.model_.predict_proba(X[:, 1:])


class SpyRegressor(RegressorMixin, Spy):
    _model = LinearRegression


COMMON = {"target_risk": 0.35, "random_state": 0}
selective = partial(SelectiveClassifier, SpyClassifier(), **COMMON)
regressor = partial(SelectiveRegressor, SpyRegressor(), max_loss=2.0, **COMMON)
both = partial(DeferringClassifier, SpyClassifier(), SpyClassifier(), **COMMON)
deferring = partial(both, gain_score="confidence")
MAKERS = {
    "selective": selective,
    "learned": partial(selective, uncertainty_score="error_probability"),
    "regressor": regressor,
    "deferring": deferring,
    "learned gain": partial(both, gain_score="gain"),
}
EVERY = pytest.mark.parametrize("name", MAKERS)


def labels_of(name):
    return y.astype(float) if name == "regressor" else y


def are_whole(rows, among):
    """Tell if of each cluster all rows among some are in, or none."""
    inside = np.isin(among, rows)
    return set(CLUSTERS[among[inside]]).isdisjoint(CLUSTERS[among[~inside]])


SURELY = {"confidence_level": 0.7, "max_weight": 2}
PLANS = [{"cv": cv} for cv in (None, 3, 0.3, GroupKFold(3), BY_CLUSTER)]
PLANS += [SURELY, SURELY | {"cv": 0.6}]
IDS = ["folds", "3 folds", "share", "splitter", "splits", "sure", "sure share"]


@EVERY
@pytest.mark.parametrize("is_audit", [False, True])
@pytest.mark.parametrize("params", PLANS, ids=IDS)
def test_no_fit_and_no_held_out_part_divides_a_cluster(name, params, is_audit):
    FITS.clear()
    labels, among, options = labels_of(name), np.arange(N), {"groups": NAMES}
    if is_audit and params.get("cv") is not BY_CLUSTER:
        labels, among = np.where(IS_KNOWN, labels, np.nan), KNOWN
        options["inclusion_proba"] = PROBA
    model = MAKERS[name](**params).fit(X, labels, **options)
    assert len(FITS) > 1 or isinstance(params.get("cv", 0.5), float)
    assert all(len(rows) and are_whole(rows, among) for rows in FITS)
    held_out = among[model.calibration_.rows]
    assert are_whole(held_out, among)
    if "confidence_level" in params or isinstance(params["cv"], float):
        assert not any(np.isin(held_out, rows).any() for rows in FITS)
    codes, given = model.calibration_.clusters.codes, CLUSTERS[held_out]
    pairs = set(zip(codes.tolist(), given.tolist(), strict=True))
    assert len(pairs) == len(set(codes.tolist())) == len(set(given.tolist()))


@EVERY
def test_splits_that_divide_clusters_and_a_single_one_are_refused(name):
    splits = list(KFold(3).split(X))
    with pytest.raises(ValueError, match=r"cv has a split with rows of .* groups in"):
        MAKERS[name](cv=splits).fit(X, labels_of(name), groups=NAMES)
    with pytest.raises(ValueError, match=r"groups has one group .* Pass more"):
        MAKERS[name]().fit(X, labels_of(name), groups=np.zeros(N))


@pytest.mark.filterwarnings("ignore:The classifier was fitted without the classes 2")
@pytest.mark.parametrize("cv", [None, 3, 0.4])
@pytest.mark.parametrize("make", [selective, deferring])
def test_a_class_of_a_single_cluster(make, cv):
    labels = np.where(CLUSTERS == 0, 2, y)
    model = make(cv=cv).fit(X, labels, groups=NAMES)
    assert model.classes_.tolist() in ([0, 1, 2], [0, 1])
    assert model.accept(X).any() if make is selective else not model.defer(X).all()


FROZEN = FrozenEstimator(SpyClassifier().fit(X[:100], y[:100]))


@pytest.mark.parametrize("level", [None, 0.7])
def test_nothing_is_held_out_of_what_is_frozen(level):
    model = SelectiveClassifier(FROZEN, confidence_level=level, **COMMON)
    model.fit(X[100:], y[100:], groups=NAMES[100:])
    np.testing.assert_array_equal(model.calibration_.rows, np.arange(N - 100))
    if level is not None:
        n_clusters = len(set(NAMES[100:]))
        assert model.rule_.certificate.n_samples == n_clusters - isqrt(n_clusters)


def clusters_of(model):
    codes = model.calibration_.clusters and model.calibration_.clusters.codes
    return None if codes is None else len(set(codes.tolist()))


def test_without_routing_each_estimator_gets_its_groups_as_always():
    model = make_pipeline(StandardScaler(), SelectiveClassifier(GaussianNB(), **COMMON))
    model.fit(X, y, selectiveclassifier__groups=NAMES)
    assert clusters_of(model[-1]) == len(set(NAMES))
    search = GridSearchCV(selective(), {"target_risk": [0.3, 0.4]}, cv=GroupKFold(3))
    search.fit(X, y, groups=NAMES)  # which are those of the search
    assert clusters_of(search.best_estimator_) is None


@pytest.mark.parametrize("name", ["groups", "patient"])
@pytest.mark.parametrize("make", [selective, deferring])
def test_with_routing_groups_go_where_they_are_requested(make, name):
    with sklearn.config_context(enable_metadata_routing=True):
        direct = make().set_fit_request(groups=True).fit(X, y, groups=NAMES)
        model = make().set_fit_request(groups=True if name == "groups" else name)
        pipeline = make_pipeline(FunctionTransformer(), model)
        of_pipeline = pipeline.fit(X, y, **{name: NAMES})[-1]
        search = partial(GridSearchCV, scoring=lambda model, X, y: model.target_risk)
        search = search(model, {"target_risk": [0.3, 0.35]}, cv=GroupKFold(3))
        search.fit(X, y, **{"groups": NAMES, name: NAMES})
    assert of_pipeline.rule_ == search.best_estimator_.rule_ == direct.rule_
    assert clusters_of(direct) == len(set(NAMES))


def test_groups_that_an_estimator_does_not_request():
    with sklearn.config_context(enable_metadata_routing=True):
        model = selective(cv=GroupKFold(3)).set_fit_request(groups=False)
        assert clusters_of(model.fit(X, y, groups=NAMES)) is None


def test_rules_of_groups_of_clustered_samples():
    model = selective(group_by=lambda X: X[:, 1] > 0, confidence_level=0.6)
    rows = model.set_params(target_risk=0.45).fit(X, y, groups=NAMES).calibration_.rows
    for label, rule in model.rule_.rules.items():
        n_clusters = len(set(NAMES[rows][(X[rows, 1] > 0) == label]))
        assert rule.certificate.n_samples == n_clusters - isqrt(n_clusters)


def test_ood_classifiers_know_no_clusters():
    labels = np.where(np.arange(N) % 9 == 0, -1, y)
    words = "groups are used neither by cv=None nor by GaussianNB.fit. Pass a splitter"
    with pytest.raises(ValueError, match=words):
        DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.8).fit(X, labels, groups=NAMES)
