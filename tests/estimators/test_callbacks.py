"""Callbacks of scikit-learn see every fit that SelectiveClassifier makes."""

import pickle
import threading
from collections import Counter

import numpy as np
import pytest
from joblib import parallel_backend
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import (
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    InfeasibleTargetError,
    SelectiveClassifier,
)
from sklearn_reject.scores import SELE, LossRegression, SELEBoosting

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
        self._write("begin", context, X)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        self._write("end", context, X)

    def _write(self, event, context, X=None):
        task = context.source_task_name or context.task_name
        rows = None if X is None else len(X)
        fields = (event, context.estimator_name, task, context.task_id, rows)
        with open(self.path, "a") as file:
            file.write(repr((*fields, context.max_subtasks)) + "\n")

    def events(self, *names):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        events = [eval(line, {}) for line in lines]
        return [event for event in events if event[0] in (names or event)]


class PropagatedRecorder(Recorder):
    max_propagation_depth = None


@pytest.fixture
def recorder(tmp_path):
    return Recorder(tmp_path / "events")


@pytest.fixture
def propagated(tmp_path):
    return PropagatedRecorder(tmp_path / "events")


def tasks(events):
    return Counter((event, task, number) for event, _, task, number, *_ in events)


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
    selective = SelectiveClassifier(
        GaussianNB(), target_coverage=0.5, cv=3, n_jobs=n_jobs
    )
    with parallel_backend(backend, n_jobs=1):
        selective.set_callbacks(recorder).fit(X, y)
    expected = [("fit", 0), *(("fit-fold", fold) for fold in range(3))]
    expected.append(("fit-final-estimator", 3))
    assert tasks(recorder.events("begin", "end")) == Counter(
        (event, *task) for event in ("begin", "end") for task in expected
    )
    events = recorder.events()
    assert [event[0] for event in events[:2]] == ["setup", "begin"]
    assert [event[0] for event in events[-2:]] == ["end", "teardown"]
    assert events[1][2] == events[-2][2] == "fit"
    assert Counter(event[0] for event in events)["setup"] == 1
    assert Counter(event[0] for event in events)["teardown"] == 1


def test_threads_that_share_a_frozen_classifier(recorder, monkeypatch):
    meeting = threading.Barrier(2, timeout=60)
    write = Recorder._write

    def wait(self, event, context, X=None):
        write(self, event, context, X)
        if event == "begin" and context.task_name == "fit-fold":
            meeting.wait()  # both threads are inside the fit now

    monkeypatch.setattr(Recorder, "_write", wait)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    selective = SelectiveClassifier(
        frozen, uncertainty_score=LossRegression(), reject_cost=0.2, cv=2, n_jobs=2
    )
    with parallel_backend("threading"):
        selective.set_callbacks(recorder).fit(X, y)
    counts = Counter(event[0] for event in recorder.events("begin", "end"))
    assert counts["begin"] == counts["end"] > 2


def test_each_fit_is_told_its_rows(recorder):
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=3)
    selective.set_callbacks(recorder).fit(X, y)
    rows = {(event[2], event[4]) for event in recorder.events("begin", "end")}
    assert rows == {("fit", 90), ("fit-fold", 60), ("fit-final-estimator", 90)}


@pytest.mark.parametrize(
    ("arguments", "n_fits"),
    [
        ({"cv": "plug_in"}, 1),
        ({}, 6),
        ({"cv": 0.5}, 1),
        ({"cv": 2}, 3),
        ({"target_coverage": 0.5}, 6),
    ],
    ids=str,
)
def test_number_of_fits_is_announced(recorder, arguments, n_fits):
    selective = SelectiveClassifier(GaussianNB(), **arguments)
    selective.set_callbacks(recorder).fit(X, y)
    (whole,) = [event for event in recorder.events("begin") if event[2] == "fit"]
    assert whole[-1] == n_fits
    assert len(recorder.events("begin")) == len(recorder.events("end")) == n_fits + 1


@pytest.mark.parametrize(
    ("options", "n_fits", "rows"),
    [
        ({"cv": 3}, 4, {60, 90}),
        ({"cv": 0.2}, 1, {72}),
        ({"cv": 0.2, "confidence_level": 0.9}, 6, {57, 58, 72}),
    ],
    ids=str,
)
def test_the_fits_of_a_double_score_classifier(recorder, options, n_fits, rows):
    double = DoubleScoreOODClassifier(
        GaussianNB(),
        novelty_score="msp",
        min_tpr=0.5,
        random_state=0,
        **options,
    )
    double.set_callbacks(recorder).fit(X, y)
    begun = recorder.events("begin")
    (whole,) = [event for event in begun if event[2] == "fit"]
    assert whole[-1] == n_fits
    assert len(begun) == len(recorder.events("end")) == n_fits + 1
    assert {event[4] for event in begun if event[2] != "fit"} == rows


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.usefixtures("threads")
def test_propagates_to_a_classifier_that_supports_it(propagated, n_jobs):
    selective = SelectiveClassifier(
        LogisticRegression(max_iter=200), target_coverage=0.5, cv=3, n_jobs=n_jobs
    )
    selective.set_callbacks(propagated).fit(X, y)
    fits = [event for event in propagated.events("begin", "end") if "fit-" in event[2]]
    # Each fit is one task, told by the classifier in the name of both.
    assert {event[1] for event in fits} == {"LogisticRegression"}
    assert Counter(event[:1] + event[2:4] for event in fits) == Counter(
        (event, *task)
        for event in ("begin", "end")
        for task in [
            ("fit-fold", 0),
            ("fit-fold", 1),
            ("fit-fold", 2),
            ("fit-final-estimator", 3),
        ]
    )
    iterations = [
        event
        for event in propagated.events("begin")
        if event[1] == "LogisticRegression" and event not in fits
    ]
    assert len(iterations) >= 4
    assert Counter(event[0] for event in propagated.events("setup", "teardown")) == {
        "setup": 1,
        "teardown": 1,
    }


def test_classifier_without_callbacks_is_named(propagated):
    selective = SelectiveClassifier(GaussianNB(), cv=0.5).set_callbacks(propagated)
    with pytest.warns(UserWarning, match="GaussianNB does not support callbacks"):
        selective.fit(X, y)
    assert tasks(propagated.events("begin")) == Counter(
        [("begin", "fit", 0), ("begin", "fit-final-estimator", 0)]
    )


def test_inside_a_search_and_a_pipeline(propagated):
    selective = SelectiveClassifier(LogisticRegression(), target_coverage=0.5, cv=2)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), selective),
        {"selectiveclassifier__target_coverage": [0.5, 0.9]},
        cv=2,
    )
    search.set_callbacks(propagated).fit(X, y)
    begun = Counter(event[1:3] for event in propagated.events("begin"))
    # Two candidates on two folds, and the refit.
    assert begun["LogisticRegression", "fit-fold"] == 5 * 2
    assert begun["LogisticRegression", "fit-final-estimator"] == 5
    assert len(propagated.events("begin")) == len(propagated.events("end"))
    assert len(propagated.events("setup")) == len(propagated.events("teardown")) == 1


@pytest.mark.parametrize("kind", ["recorder", "propagated"])
def test_frozen_classifier_is_left_alone(request, kind):
    callbacks = request.getfixturevalue(kind)
    fitted = LogisticRegression().fit(X, y)
    before = set(vars(fitted))
    selective = SelectiveClassifier(FrozenEstimator(fitted), target_coverage=0.5)
    selective.set_callbacks(callbacks).fit(X, y)
    assert set(vars(fitted)) == before
    begun, ended = callbacks.events("begin"), callbacks.events("end")
    assert tasks(begun)["begin", "fit", 0] == 1
    assert len(begun) == len(ended)


def test_failure_tears_down(recorder):
    wrong = FrozenEstimator(GaussianNB().fit(X, 1 - y))
    selective = SelectiveClassifier(
        wrong, target_risk=0.0, uncertainty_score=lambda _, X: np.zeros(len(X))
    ).set_callbacks(recorder)
    with pytest.raises(InfeasibleTargetError):
        selective.fit(X, y)
    assert recorder.events()[-1][0] == "teardown"


@pytest.mark.parametrize("cv", [None, 0.5, 3])
def test_results_are_the_same_without(propagated, cv):
    plain = SelectiveClassifier(
        LogisticRegression(), target_coverage=0.5, cv=cv, random_state=0
    )
    watched = clone(plain).set_callbacks(propagated)
    assert watched.fit(X, y).rule_ == plain.fit(X, y).rule_
    np.testing.assert_array_equal(watched.predict(X), plain.predict(X))


def test_nothing_is_left_behind(propagated):
    selective = SelectiveClassifier(LogisticRegression(), target_coverage=0.5)
    selective.set_callbacks(propagated).fit(X, y)
    left = {name for name in vars(selective.estimator_) if "callback" in name}
    assert left == set()
    copy = pickle.loads(pickle.dumps(selective))
    np.testing.assert_array_equal(copy.predict(X), selective.predict(X))
    n_events = len(propagated.events())
    selective.predict(X)
    assert len(propagated.events()) == n_events
    selective.set_callbacks().fit(X, y)
    assert len(propagated.events()) == n_events


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.usefixtures("threads")
def test_progress_bar(capsys, n_jobs):
    pytest.importorskip("rich", reason="the progress bar is drawn by rich")
    selective = SelectiveClassifier(
        LogisticRegression(), target_coverage=0.5, cv=3, n_jobs=n_jobs
    )
    selective.set_callbacks(callback.ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert "SelectiveClassifier" in shown
    assert "100%" in shown
    assert shown.count("LogisticRegression") == 4


def test_progress_bar_of_a_search(capsys):
    pytest.importorskip("rich", reason="the progress bar is drawn by rich")
    selective = SelectiveClassifier(LogisticRegression(), target_coverage=0.5, cv=2)
    search = GridSearchCV(selective, {"target_coverage": [0.5, 0.9]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert "GridSearchCV" in shown
    assert "SelectiveClassifier" in shown


@pytest.mark.parametrize(
    ("score", "task", "count"),
    [
        (SELE(alphas=(0.1, 1.0), random_state=0), "fit-alpha", 2),
        (SELEBoosting(n_estimators=7, n_iter_no_change=None), "fit-base-learner", 7),
        (SELEBoosting(n_estimators=99, n_iter_no_change=1), "fit-base-learner", None),
        (LossRegression(), None, 0),
    ],
)
def test_learned_scores_tell_of_their_loops(recorder, score, task, count):
    classifier = GaussianNB().fit(X[:40], y[:40])
    score.set_callbacks(recorder).fit(X[40:], y[40:], estimator=classifier)
    for event in ("begin", "end"):
        seen = Counter(name for _, _, name, *_ in recorder.events(event))
        assert seen["fit"] == 1
        n_tasks = len(score.areas_) if count is None else count
        assert seen[task] == n_tasks
    assert recorder.events()[-1][0] == "teardown"


def test_learned_score_inside_a_classifier(recorder):
    selective = SelectiveClassifier(
        GaussianNB(), uncertainty_score=SELE(0.1), target_coverage=0.5, cv=3
    )
    selective.set_callbacks(recorder).fit(X, y)
    assert tasks(recorder.events("begin"))["begin", "fit-fold", 2] == 1
    assert len(recorder.events("begin")) == len(recorder.events("end"))


def test_classifiers_of_a_tuner_are_told_of(propagated):
    tuner = EnsembleThresholdTuner(
        [("left", LogisticRegression(), [0, 1]), ("right", LogisticRegression())],
        max_fp_per_tp=1.0,
        cv=2,
    )
    tuner.set_callbacks(propagated).fit(X, y)
    begun = Counter(estimator for _, estimator, *_ in propagated.events("begin"))
    ended = Counter(estimator for _, estimator, *_ in propagated.events("end"))
    assert begun == ended
    assert begun["LogisticRegression"] >= 6  # two classifiers, two folds and all


def test_a_tuner_of_scores_warns_of_nothing(propagated):
    tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1.0)
    tuner.set_callbacks(propagated).fit(X, y)
    assert propagated.events("begin")
