"""DeferringClassifier: experts that fail, answers that are too few, odd or in vain."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DeferringClassifier
from sklearn_reject.exceptions import ExpertError

X, y = make_classification(
    300, n_features=6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0
)
FIT, NEW = slice(0, 200), slice(200, 300)
KNOWS = KNeighborsClassifier(5).fit(X, y)
RISK = {"max_deferral": None, "target_risk": 0.3}
SHALLOW = DecisionTreeClassifier(max_depth=2, random_state=0)


def confident(expert=None, estimator=SHALLOW, **options):
    options = {"max_deferral": 0.3, "gain_score": "confidence"} | options
    return DeferringClassifier(estimator, expert, random_state=0, **options)


def fit(model, **options):
    return model.fit(X[FIT], y[FIT], **options)


def timeout(X):
    raise TimeoutError("no answer")


class NoFit:
    """Has a method that a class has, too, but only objects can be asked."""

    def predict(self, X):
        return KNOWS.predict(X)


# Options, labels of the expert, and what is said.
BAD_FITS = [
    ({}, None, r"no label at all.*set_fit_request"),
    ({"expert": GaussianNB()}, y[FIT], r"predicts them here"),
    ({}, y[FIT][:-1], r"expert_labels"),
    ({}, np.full(200, np.nan), r"no label at all"),
    ({}, np.where(y[FIT], y[FIT], -1), r"-1 for 6\d samples.*Pass NaN or None"),
    ({"expert": FrozenEstimator(KNOWS)}, np.full(200, -1.0), r"which is no class"),
    ({}, np.append(y[FIT][1:].astype(str), "-1"), r"'-1' for 1 samples"),
    *(
        ({"expert": expert}, None, r"expert must be a classifier, an object")
        for expert in (
            *("strong", LogisticRegression, StandardScaler(), BaseEstimator(), NoFit),
        )
    ),
    # What they pay for asking would not be seen.
    *(
        ({"expert": expert}, labels, r"around a DeferringClassifier")
        for labels in (None, y[FIT])
        for expert in (
            make_pipeline(StandardScaler(), confident(KNeighborsClassifier(3))),
            make_pipeline(StandardScaler(), confident()),
            GridSearchCV(confident(KNOWS), {"max_deferral": [0.1, 0.2]}),
        )
    ),
    ({"max_deferral": None, "deferral_cost": -1}, y[FIT], r"deferral_cost"),
    ({"max_deferral": 1.5}, y[FIT], r"max_deferral"),
    ({"deferral_cost": 1}, y[FIT], r"At most one of"),
    ({"max_deferral": None, "confidence_level": 0.9, "cv": 0.3}, y[FIT], r"no bound"),
    ({"confidence_level": 0.9, "cv": 5}, y[FIT], r"needs samples on which"),
    ({"defer_label": 1}, y[FIT], r"defer_label=1 is one of the classes"),
    ({"gain_score": "entropie"}, y[FIT], r"gain_score must be"),
    ({"cv": "plug_in"}, y[FIT], r"cv must be None"),
    ({"max_deferral": {"a": 0.1}}, y[FIT], r"group_by=None makes no"),
    ({"group_by": "class"}, y[FIT], r"group_by='class' is for true classes"),
]


@pytest.mark.parametrize(("options", "labels", "message"), BAD_FITS)
def test_bad_fits(options, labels, message):
    with pytest.raises(ValueError, match=message):
        fit(confident(**options), expert_labels=labels)


@pytest.mark.parametrize(
    ("options", "n_known", "message"),
    [
        ({"gain_score": "gain"}, 1, r"none is known"),
        ({"cv": 0.3}, 1, r"loss_second is missing in all 60 samples"),
        ({**RISK, "cv": 0.3, "confidence_level": 0.9}, 0, r"loss_second is missing"),
    ],
    ids=["gain", "held out", "pilot"],
)
def test_too_few_answers_to_learn_from(options, n_known, message):
    rows = fit(confident(cv=0.3), expert_labels=y[FIT]).calibration_.rows
    others = np.setdiff1d(np.arange(200), rows)
    answers = np.full(200, np.nan)
    answers[others[:n_known]] = y[others[:n_known]]
    if not n_known:  # those of the other part do not help
        rows = fit(confident(**options), expert_labels=y[FIT]).calibration_.rows
        answers[rows] = y[rows]
    with pytest.raises(ValueError, match=message):
        fit(confident(**options), expert_labels=answers)


def test_labels_that_are_missing_or_that_nobody_would_look_at():
    person = fit(confident(), expert_labels=y[FIT])
    with pytest.raises(ValueError, match=r"expert_labels is None"):
        person.score(X[NEW], y[NEW])
    model = fit(confident(KNeighborsClassifier(5)))
    for method in (model.score, model.report):
        with pytest.raises(ValueError, match=r"were given.*Omit expert_labels"):
            method(X[NEW], y[NEW], expert_labels=y[NEW])
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
            method(X[NEW], y[NEW][:-1])


def test_warnings_are_given_once():
    inner = confident(DummyClassifier(), estimator=GaussianNB())
    cascade = confident(inner, estimator=KNeighborsClassifier(3))
    answers = np.where(GaussianNB().fit(X, y).predict(X) == y, None, y)[FIT]
    for model, labels, words in (
        (cascade, None, "of the samples saves nothing"),
        (confident(estimator=GaussianNB()), answers, "by more than chance"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(model, expert_labels=labels)
        messages = [str(warning.message) for warning in caught]
        assert len(messages) == len(set(messages))
        # Inner and outer classifier have an expert, of risks of its own.
        n_expected = 1 if labels is not None else 2
        assert sum(words in message for message in messages) == n_expected


# Experts that fail


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (timeout, "no answer"),
        (lambda X: np.zeros(len(X) - 1), "what the expert predicts"),
        (lambda X: np.zeros((len(X), 3)), "what the expert predicts"),
        (lambda X: 0, "what the expert predicts"),
    ],
    ids=["none", "few", "columns", "one"],
)
def test_failing_expert_names_the_rows_and_loses_nothing(answer, message):
    model = fit(confident(FrozenEstimator(KNOWS)))
    deferred, first = model.defer(X[NEW]), model.predict_first(X[NEW])
    model.expert_ = answer
    with pytest.raises(ExpertError, match=message) as caught:
        model.predict(X[NEW])
    error = caught.value
    np.testing.assert_array_equal(error.rows, np.flatnonzero(deferred))
    np.testing.assert_array_equal(error.labels, np.where(deferred, -1, first))
    again = pickle.loads(pickle.dumps(error))
    np.testing.assert_array_equal(again.labels, error.labels)


def test_failing_last_level_keeps_the_labels_of_the_middle():
    inner = confident(FrozenEstimator(KNOWS), max_deferral=0.5)
    model = fit(confident(inner, estimator=GaussianNB(), max_deferral=0.6))
    expected, deferred = model.predict(X[NEW]), model.defer(X[NEW])
    rows = np.flatnonzero(deferred)[model.expert_.defer(X[NEW][deferred])]
    model.expert_.expert_ = timeout
    with pytest.raises(ExpertError) as caught:
        model.predict(X[NEW])
    np.testing.assert_array_equal(caught.value.rows, rows)
    expected[rows] = -1
    np.testing.assert_array_equal(caught.value.labels, expected)


def test_probabilities_of_too_few_samples():
    class Cut:
        classes_ = KNOWS.classes_
        predict = KNOWS.predict

        def predict_proba(self, X):
            return KNOWS.predict_proba(X)[:1]

    model = fit(confident(Cut()))
    with pytest.raises(ExpertError, match=r"inconsistent numbers") as caught:
        model.predict_proba(X[NEW])
    deferred = model.defer(X[NEW])
    np.testing.assert_array_equal(caught.value.rows, np.flatnonzero(deferred))


def test_only_missing_answers_of_a_function_are_failures():
    def some(X):
        return [None if row % 7 == 0 else y for row, y in enumerate(KNOWS.predict(X))]

    model = fit(confident(KNOWS))
    before = model.rule_
    with pytest.raises(ExpertError, match=r"no label came back") as caught:
        fit(model.set_params(expert=some))
    np.testing.assert_array_equal(caught.value.rows, np.arange(0, 200, 7))
    assert model.rule_ is before


@pytest.mark.parametrize("cv", [None, 0.3], ids=["folds", "share"])
def test_rows_of_a_frozen_expert_that_fails_inside_a_cascade(cv):
    asked = []

    def expert(X):
        asked.extend(map(tuple, X))
        timeout(X)

    inner = confident(expert, estimator=FrozenEstimator(GaussianNB().fit(X, y)))
    with pytest.raises(ExpertError, match=r"TimeoutError: no answer") as caught:
        fit(confident(inner, cv=cv))
    assert 0 < len(asked) < 200
    np.testing.assert_array_equal(X[FIT][caught.value.rows], asked)
    assert isinstance(caught.value.__cause__, TimeoutError)
