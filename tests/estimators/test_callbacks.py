"""Callbacks of scikit-learn see every fit that SelectiveClassifier makes."""

from collections import Counter

import numpy as np
import pytest
from joblib import parallel_backend
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import EnsembleThresholdTuner, SelectiveClassifier
from sklearn_reject.scores import SELE, LossRegression

callback = pytest.importorskip(
    "sklearn.callback", reason="scikit-learn has callbacks since 1.9"
)

# What is told of targets and rules on few samples is of no interest here.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

X, y = make_classification(90, n_features=4, flip_y=0.2, random_state=0)


class Recorder:
    """Writes a line for each event into a file, which other processes can do too."""

    def __init__(self, path):
        self.path = path

    def setup(self, estimator, context):
        self._write("setup", context)

    def teardown(self, estimator, context):
        self._write("teardown", context)

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self._write("begin", context)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        self._write("end", context)

    def _write(self, event, context):
        task = context.source_task_name or context.task_name
        fields = (event, context.estimator_name, task, context.task_id)
        with open(self.path, "a") as file:
            file.write(repr((*fields, context.max_subtasks)) + "\n")

    def events(self, *names):
        events = [eval(line, {}) for line in self.path.read_text().splitlines()]
        return [event for event in events if event[0] in (names or event)]


class Propagated(Recorder):
    max_propagation_depth = None


@pytest.fixture
def recorder(tmp_path):
    return Recorder(tmp_path / "events")


@pytest.fixture
def propagated(tmp_path):
    return Propagated(tmp_path / "events")


def tasks(events):
    return Counter((event, task, number) for event, _, task, number, *_ in events)


def begun_and_ended(tasks):
    return Counter((event, *task) for event in ("begin", "end") for task in tasks)


# Three folds, and the classifier that is kept.
FITS = [*(("fit-fold", fold) for fold in range(3)), ("fit-final-estimator", 3)]


def watch(callbacks, estimator=None, **options):
    """Return an estimator that is watched, fitted."""
    estimator = GaussianNB() if estimator is None else estimator
    options = {"target_coverage": 0.5, "random_state": 0} | options
    selective = SelectiveClassifier(estimator, **options)
    return selective.set_callbacks(callbacks).fit(X, y)


# To start other processes takes seconds; the fast suite has two threads.
@pytest.mark.parametrize(
    ("n_jobs", "backend"),
    [
        (None, "threading"),
        (2, "threading"),
        pytest.param(2, "loky", marks=pytest.mark.slow),
    ],
)
def test_each_fit_begins_and_ends(recorder, n_jobs, backend):
    with parallel_backend(backend, n_jobs=1):
        watch(recorder, cv=3, n_jobs=n_jobs)
    expected = begun_and_ended([("fit", 0), *FITS])
    assert tasks(recorder.events("begin", "end")) == expected
    names = [event[0] for event in recorder.events()]
    assert names[:2] == ["setup", "begin"]
    assert names[-2:] == ["end", "teardown"]
    assert names.count("setup") == names.count("teardown") == 1


@pytest.mark.parametrize(
    ("cv", "n_fits"), [("plug_in", 1), (None, 6), (0.5, 1), (2, 3)]
)
def test_number_of_fits_is_announced(recorder, cv, n_fits):
    watch(recorder, cv=cv, target_coverage=None)
    (whole,) = [event for event in recorder.events("begin") if event[2] == "fit"]
    assert whole[-1] == n_fits
    assert len(recorder.events("begin")) == len(recorder.events("end")) == n_fits + 1


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.usefixtures("threads")
def test_propagates_to_a_classifier_that_supports_it(propagated, n_jobs):
    watch(propagated, LogisticRegression(max_iter=200), cv=3, n_jobs=n_jobs)
    fits = [event for event in propagated.events("begin", "end") if "fit-" in event[2]]
    # Each fit is one task, told by the classifier in the name of both.
    assert {event[1] for event in fits} == {"LogisticRegression"}
    assert tasks(fits) == begun_and_ended(FITS)
    of_classifier = [event[1] == "LogisticRegression" for event in propagated.events()]
    assert sum(of_classifier) > len(fits) + 4  # its iterations
    names = [event[0] for event in propagated.events("setup", "teardown")]
    assert names == ["setup", "teardown"]


def test_classifier_without_callbacks_is_named(propagated):
    with pytest.warns(UserWarning, match="GaussianNB does not support callbacks"):
        watch(propagated, cv=0.5)
    assert tasks(propagated.events("begin")) == Counter(
        [("begin", "fit", 0), ("begin", "fit-final-estimator", 0)]
    )


@pytest.mark.parametrize("kind", ["recorder", "propagated"])
def test_frozen_classifier_is_left_alone(request, kind):
    callbacks = request.getfixturevalue(kind)
    fitted = LogisticRegression().fit(X, y)
    before = set(vars(fitted))
    watch(callbacks, FrozenEstimator(fitted))
    assert set(vars(fitted)) == before
    begun, ended = callbacks.events("begin"), callbacks.events("end")
    assert tasks(begun)["begin", "fit", 0] == 1
    assert len(begun) == len(ended)


@pytest.mark.parametrize("cv", [None, 0.5, 3])
def test_results_are_the_same_without(propagated, cv):
    watched = watch(propagated, LogisticRegression(), cv=cv)
    plain = clone(watched).fit(X, y)
    assert watched.rule_ == plain.rule_
    np.testing.assert_array_equal(watched.predict(X), plain.predict(X))


@pytest.mark.parametrize(
    ("score", "task", "count"),
    [
        (SELE(alphas=(0.1, 1.0), random_state=0), "fit-alpha", 2),
        (LossRegression(), None, 0),
    ],
)
def test_learned_scores_tell_of_their_loops(recorder, score, task, count):
    classifier = GaussianNB().fit(X[:40], y[:40])
    score.set_callbacks(recorder).fit(X[40:], y[40:], estimator=classifier)
    for event in ("begin", "end"):
        seen = Counter(name for _, _, name, *_ in recorder.events(event))
        assert seen["fit"] == 1
        assert seen[task] == count
    assert recorder.events()[-1][0] == "teardown"


def test_a_tuner_of_scores_warns_of_nothing(propagated):
    tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1.0)
    tuner.set_callbacks(propagated).fit(X, y)
    assert propagated.events("begin")
