"""Where a worker dies, Dask does its work again or says what is lost, as others do."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from distributed import Client
from distributed.client import FutureCancelledError
from joblib import parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from ray.exceptions import RayActorError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier
from tests.scale.conftest import two_workers
from tests.scale.estimators import CASES, assert_same, samples_for

FOLDS = 6


class DyingNB(GaussianNB):
    """Kills the process of a fit by its own id, if it is not that of the tests.

    `marks` is a folder in which each death is marked by a file, and `n_deaths` how many
    there are to be.
    """

    def __init__(self, marks=None, home=None, n_deaths=1):
        super().__init__()
        self.marks = marks
        self.home = home
        self.n_deaths = n_deaths

    def fit(self, X, y, sample_weight=None):
        if os.getpid() != self.home and self._is_to_die():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)

    def _is_to_die(self):
        """Tell whether a mark is left to be made, and make it."""
        for number in range(self.n_deaths):
            try:
                (Path(self.marks) / f"{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            return True
        return False


@pytest.fixture
def dying(tmp_path):
    return DyingNB(str(tmp_path), os.getpid())


@pytest.fixture
def own_cluster():
    """Client of a cluster whose workers are there to be lost."""
    with two_workers() as local, Client(local) as client:
        yield client


def fitted(estimator, X, y, **params):
    model = SelectiveClassifier(estimator, target_coverage=0.8, cv=FOLDS, **params)
    return model.set_params(random_state=0).fit(X, y)


def fitted_again(fit):
    """Return what `fit` returns on Dask, at the second go if the first one was lost.

    joblib sends each argument to one worker, from which others fetch it. Dask repeats
    the tasks of a worker that dies, unless it was the only one to have an argument.
    """
    with parallel_config(backend="dask"):
        try:
            return fit()
        except FutureCancelledError:
            return fit()


@pytest.mark.parametrize("score", ["auto", "sele"])
def test_dask_loses_a_worker_and_no_result(dying, own_cluster, tmp_path, score):
    X, y = samples_for(CASES["plug-in"])
    expected = fitted(GaussianNB(), X, y, uncertainty_score=score)
    found = fitted_again(lambda: fitted(dying, X, y, uncertainty_score=score))
    assert len(list(tmp_path.iterdir())) == 1
    assert_same(found.rule_, expected.rule_)
    assert_same(found.calibration_, expected.calibration_)


def test_dask_loses_a_worker_in_a_search(dying, own_cluster, tmp_path):
    X, y = samples_for(CASES["plug-in"])

    def search(estimator):
        model = SelectiveClassifier(estimator, target_coverage=0.8, random_state=0)
        grid = {"target_coverage": [0.6, 0.8]}
        return GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)

    expected = search(GaussianNB())
    found = fitted_again(lambda: search(dying))
    assert len(list(tmp_path.iterdir())) == 1
    results = (model.cv_results_["mean_test_score"] for model in (expected, found))
    np.testing.assert_array_equal(*results)


def test_loky_says_what_has_died(dying):
    X, y = samples_for(CASES["plug-in"])
    with (
        parallel_config(backend="loky", n_jobs=2),
        pytest.raises(TerminatedWorkerError, match="SIGKILL"),
    ):
        fitted(dying, X, y)
    # The next fit gets processes of its own.
    with parallel_config(backend="loky", n_jobs=2):
        fitted(GaussianNB(), X, y)


def test_ray_says_what_has_died(dying, ray_cluster):
    X, y = samples_for(CASES["plug-in"])
    with (
        parallel_config(backend="ray", n_jobs=2),
        pytest.raises(RayActorError, match=r"[Aa]ctor .*died"),
    ):
        fitted(dying, X, y)
