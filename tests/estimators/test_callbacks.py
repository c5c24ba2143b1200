"""Callbacks of scikit-learn see every fit that SelectiveClassifier makes."""

from collections import Counter

import numpy as np
import pytest
from joblib import parallel_backend
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


def fits(n_folds):
    """Return the tasks of some folds, and of the classifier that is kept."""
    folds = [("fit-fold", fold) for fold in range(n_folds)]
    return [*folds, ("fit-final-estimator", n_folds)]


def watch(callbacks, estimator=None, **options):
    """Return an estimator that is watched, fitted."""
    estimator = GaussianNB() if estimator is None else estimator
    options = {"target_coverage": 0.5, "random_state": 0} | options
    selective = SelectiveClassifier(estimator, **options)
    return selective.set_callbacks(callbacks).fit(X, y)


def unwatched(estimator):
    """Return a copy, which a clone is not, as it has the callbacks."""
    return SelectiveClassifier(**estimator.get_params(deep=False))


# To start other processes takes seconds; the fast suite has two threads.
@pytest.mark.parametrize(
    ("options", "n_folds", "backend"),
    [
        ({"cv": "plug_in", "target_coverage": None}, 0, "threading"),
        ({"cv": None}, 5, "threading"),
        ({"cv": 0.5}, 0, "threading"),
        ({"cv": 3, "n_jobs": 2}, 3, "threading"),
        pytest.param({"cv": 3, "n_jobs": 2}, 3, "loky", marks=pytest.mark.slow),
    ],
)
def test_each_fit_begins_and_ends(recorder, options, n_folds, backend):
    with parallel_backend(backend, n_jobs=1):
        watched = watch(recorder, **options)
    events = recorder.events("begin", "end")
    assert tasks(events) == begun_and_ended([("fit", 0), *fits(n_folds)])
    names = [event[0] for event in recorder.events()]
    assert names[:2] == ["setup", "begin"]
    assert names[-2:] == ["end", "teardown"]
    assert names.count("setup") == names.count("teardown") == 1
    # The number of fits is announced, and the result is the same without.
    assert events[0][-1] == n_folds + 1
    plain = unwatched(watched).fit(X, y)
    assert repr(watched.rule_) == repr(plain.rule_)
    np.testing.assert_array_equal(watched.predict(X), plain.predict(X))


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.usefixtures("threads")
def test_propagates_to_a_classifier_that_supports_it(propagated, n_jobs):
    classifier = LogisticRegression(max_iter=200)
    watched = watch(propagated, classifier, cv=3, n_jobs=n_jobs)
    assert watched.rule_ == unwatched(watched).fit(X, y).rule_
    found = [event for event in propagated.events("begin", "end") if "fit-" in event[2]]
    # Each fit is one task, told by the classifier in the name of both.
    assert {event[1] for event in found} == {"LogisticRegression"}
    assert tasks(found) == begun_and_ended(fits(3))
    of_classifier = [event[1] == "LogisticRegression" for event in propagated.events()]
    assert sum(of_classifier) > len(found) + 4  # its iterations
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
