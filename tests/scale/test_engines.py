"""Fits and searches on Dask and Ray are those of one process, bit for bit."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sklearn_reject.metrics import aurc_score, bootstrap_interval
from tests.scale.estimators import CASES, assert_same, samples_for


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_fit_is_that_of_one_process(case, engine):
    X, y = samples_for(case)
    expected = case.make().fit(X, y)
    with parallel_config(**engine):
        found = case.make().fit(X, y)
        predicted = found.predict(X)
    np.testing.assert_array_equal(predicted, expected.predict(X))
    assert_same(found, expected)


@pytest.mark.parametrize("name", ["plug-in", "learned", "double-learned", "tuner"])
def test_search_finds_what_one_process_finds(name, cluster):
    check_search(CASES[name], {"backend": "dask"})


def test_search_on_ray(ray_cluster):
    # Ray starts new processes for each parallel call, which takes seconds.
    check_search(CASES["plug-in"], {"backend": "ray", "n_jobs": 2})


def check_search(case, engine):
    """Compare a search whose jobs have jobs with that of one process."""
    X, y = samples_for(case)
    search = GridSearchCV(case.make(), case.grid, cv=2, error_score="raise")
    expected = clone(search).fit(X, y)
    with parallel_config(**engine):
        found = search.set_params(n_jobs=2, estimator__n_jobs=2).fit(X, y)
    for name, values in expected.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(found.cv_results_[name], values)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_weights_and_rows_that_repeat(engine):
    case = CASES["learned"]
    X, y = samples_for(case)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, len(y))
    # Not in order, and some of them twice.
    splits = [(rng.permutation(160), rng.integers(160, 240, 60)) for _ in range(3)]
    splits.append((np.arange(80, 240), np.arange(80)))
    expected = case.make(cv=splits).fit(X, y, sample_weight=weight)
    with parallel_config(**engine):
        found = case.make(cv=splits).fit(X, y, sample_weight=weight)
    assert_same(found, expected)


def test_interval_is_that_of_one_process(engine):
    rng = np.random.default_rng(0)
    samples = rng.integers(2, size=200), rng.integers(2, size=200), rng.random(200)
    options = {"n_resamples": 200, "random_state": 0}
    expected = bootstrap_interval(aurc_score, samples, **options)
    with parallel_config(**engine):
        assert bootstrap_interval(aurc_score, samples, **options) == expected
