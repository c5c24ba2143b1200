"""DeferringClassifier: answers of odd kinds, too few, too many, or by nobody."""

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
WORDS = np.array(["low", "medium", "very high"])
KNOWS = KNeighborsClassifier(5).fit(X, y)

SHALLOW = DecisionTreeClassifier(max_depth=2, random_state=0)


def confident(expert=None, estimator=SHALLOW, **options):
    options = {"max_deferral": 0.3, "gain_score": "confidence"} | options
    return DeferringClassifier(estimator, expert, random_state=0, **options)


def fit(model, rows=FIT, **options):
    return model.fit(X[rows], y[rows], **options)


@pytest.mark.parametrize("labels", [y, y == 1, WORDS[y]], ids=["int", "bool", "text"])
def test_answers_that_are_numpy_scalars_are_no_gaps(labels):
    gaps = np.arange(200) % 7 == 0
    known = np.where(gaps, None, labels[FIT].astype(object))
    scalars = [
        None if gap else label for gap, label in zip(gaps, labels[FIT], strict=True)
    ]
    assert isinstance(scalars[1], np.generic)
    expected, model = (
        confident(estimator=GaussianNB()).fit(X[FIT], labels[FIT], expert_labels=given)
        for given in (known, scalars)
    )
    assert model.rule_ == expected.rule_
    assert model.rule_.n_asked == 200 - gaps.sum()


def test_only_missing_answers_of_a_function_are_failures():
    def some(X):
        return [None if row % 7 == 0 else y for row, y in enumerate(KNOWS.predict(X))]

    with pytest.raises(ExpertError, match=r"no label came back") as caught:
        fit(confident(some))
    np.testing.assert_array_equal(caught.value.rows, np.arange(0, 200, 7))


@pytest.mark.parametrize("cv", [None, 0.3], ids=["folds", "share"])
def test_rows_of_a_frozen_expert_that_fails_inside_a_cascade(cv):
    asked = []

    def timeout(X):
        asked.extend(map(tuple, X))
        raise TimeoutError("no answer")

    inner = confident(timeout, estimator=FrozenEstimator(GaussianNB().fit(X, y)))
    with pytest.raises(ExpertError, match=r"TimeoutError: no answer") as caught:
        fit(confident(inner, cv=cv))
    assert 0 < len(asked) < 200
    np.testing.assert_array_equal(X[FIT][caught.value.rows], asked)
    assert isinstance(caught.value.__cause__, TimeoutError)


@pytest.mark.parametrize(
    "answer",
    [lambda X: np.zeros(len(X) - 1), lambda X: np.zeros((len(X), 3)), lambda X: 0],
    ids=["few", "columns", "one"],
)
def test_answers_of_a_wrong_shape_cost_no_other_labels(answer):
    model = fit(confident(FrozenEstimator(KNOWS)))
    deferred, first = model.defer(X[NEW]), model.predict_first(X[NEW])
    model.expert_ = answer
    with pytest.raises(ExpertError, match=r"what the expert predicts") as caught:
        model.predict(X[NEW])
    np.testing.assert_array_equal(caught.value.rows, np.flatnonzero(deferred))
    np.testing.assert_array_equal(caught.value.labels, np.where(deferred, -1, first))


@pytest.mark.parametrize("part", [np.s_[1:], np.s_[:, 1:]], ids=["rows", "columns"])
def test_probabilities_of_a_wrong_shape(part):
    class Cut:
        classes_ = KNOWS.classes_
        predict = KNOWS.predict

        def predict_proba(self, X):
            return KNOWS.predict_proba(X)[part]

    model = fit(confident(Cut()))
    with pytest.raises(ExpertError, match=r"predict_proba gave an array") as caught:
        model.predict_proba(X[NEW])
    np.testing.assert_array_equal(
        caught.value.rows, np.flatnonzero(model.defer(X[NEW]))
    )


class NoFit:
    """Has a method that a class has, too, but only objects can be asked."""

    def predict(self, X):
        return KNOWS.predict(X)


@pytest.mark.parametrize("expert", [StandardScaler(), BaseEstimator(), NoFit])
def test_what_cannot_be_asked(expert):
    with pytest.raises(ValueError, match=r"expert must be a classifier, an object"):
        fit(confident(expert))


def test_cascade_in_a_pipeline_or_a_search():
    """What it pays for asking would not be seen."""
    inner = confident(KNeighborsClassifier(3))
    for expert in (
        make_pipeline(StandardScaler(), inner),
        GridSearchCV(inner, {"max_deferral": [0.1, 0.2]}),
    ):
        with pytest.raises(ValueError, match=r"around a DeferringClassifier"):
            fit(confident(expert))


@pytest.mark.parametrize("labels", [None, y[FIT]], ids=["none", "given"])
def test_person_behind_a_pipeline(labels):
    expert = make_pipeline(StandardScaler(), confident())
    with pytest.raises(ValueError, match=r"a Pipeline around a DeferringClassifier"):
        fit(confident(expert), expert_labels=labels)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = fit(confident(confident(estimator=inner)), expert_labels=y[FIT])
    assert -1 in model.predict(X[NEW])


@pytest.mark.parametrize(
    ("options", "n_known", "match"),
    [
        ({"gain_score": "auto"}, 1, r"too few labels to learn from: 1\."),
        ({"gain_score": "gain"}, 1, r"too few labels to learn from: 1\."),
        ({"cv": 0.3}, 1, r"too few labels among the held-out samples: 0"),
        ({"cv": 0.3, "confidence_level": 0.9}, 0, r"too few labels to learn from: 0\."),
    ],
    ids=["auto", "gain", "held out", "pilot"],
)
def test_too_few_answers_to_learn_from(options, n_known, match):
    held_out = fit(confident(cv=0.3), expert_labels=y[FIT]).calibration_.rows
    others = np.setdiff1d(np.arange(200), held_out)
    answers = np.full(200, np.nan)
    answers[others[:n_known]] = y[others[:n_known]]
    if not n_known:  # those of the other part do not help
        rows = fit(confident(**options), expert_labels=y[FIT]).calibration_.rows
        answers[rows] = y[rows]
    model = confident(**options)
    with pytest.raises(ValueError, match=match):
        fit(model, expert_labels=answers)


def test_labels_that_nobody_would_look_at():
    model = fit(confident(KNeighborsClassifier(5)))
    with pytest.raises(ValueError, match=r"were given.*Omit expert_labels"):
        model.score(X[NEW], y[NEW], expert_labels=y[NEW])
    with pytest.raises(ValueError, match=r"were given.*Omit expert_labels"):
        model.report(X[NEW], y[NEW], expert_labels=y[NEW])
    for method in (model.score, model.report):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
            method(X[NEW], y[NEW][:-1])


def test_warnings_are_given_once_in_a_cascade():
    inner = confident(DummyClassifier(), estimator=GaussianNB())
    outer = confident(inner, estimator=KNeighborsClassifier(3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(outer)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == len(set(messages)) == 1
    assert messages[0].startswith("Nothing is deferred")
