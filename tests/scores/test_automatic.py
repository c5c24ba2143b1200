"""What "auto" stands for is decided on the fitted classifier."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.metrics import RiskCoverageDisplay, get_selective_scorer
from sklearn_reject.scores import LossRegression, resolve_score

X, Y = load_iris(return_X_y=True)


class LateProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose `fit` makes one of its methods, or none."""

    def __init__(self, method="predict_proba"):
        self.method = method

    def fit(self, X, y):
        inner = LinearDiscriminantAnalysis().fit(X, y)
        self.classes_, self.predict = inner.classes_, inner.predict
        if self.method is not None:
            setattr(self, self.method, getattr(inner, self.method))
        return self


def stack(final=None, **options):
    trees = [("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    return StackingClassifier(trees, final, cv=2, passthrough=True, **options)


LATE = {
    "stack": stack,
    "pipeline": lambda final=None: make_pipeline(StandardScaler(), stack(final)),
    "search": lambda final=None: GridSearchCV(
        stack(final), {"passthrough": [True, False]}, cv=2
    ),
}


@pytest.mark.parametrize(
    "kind",
    [
        "stack",
        pytest.param("pipeline", marks=pytest.mark.slow),
        pytest.param("search", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    ("final", "score"),
    [(None, "conditional_risk"), (RidgeClassifier(), "margin")],
)
def test_auto_is_what_the_fitted_classifier_has(kind, final, score):
    estimator = LATE[kind](final)
    assert not hasattr(estimator, "predict_proba")
    # Without a final estimator of its own, a stack has none before it is fitted.
    assert hasattr(estimator, "decision_function") == (final is not None)
    automatic, named = (
        SelectiveClassifier(
            estimator, uncertainty_score=name, target_coverage=0.7, cv=2, random_state=0
        ).fit(X, Y)
        for name in ("auto", score)
    )
    np.testing.assert_array_equal(automatic.uncertainty(X), named.uncertainty(X))
    np.testing.assert_array_equal(automatic.predict(X), named.predict(X))
    assert automatic.rule_ == named.rule_
    assert automatic.score(X, Y) == named.score(X, Y)
    assert hasattr(automatic, "predict_proba") == (score == "conditional_risk")
    if score == "conditional_risk":
        assert automatic.predict_proba(X).shape == (150, 3)
    again = pickle.loads(pickle.dumps(automatic))
    np.testing.assert_array_equal(again.predict(X), automatic.predict(X))


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_methods_made_by_fit_are_found(method):
    selective = SelectiveClassifier(LateProbabilities(method), target_coverage=0.5)
    plain = SelectiveClassifier(LinearDiscriminantAnalysis(), target_coverage=0.5)
    score = "margin" if method == "decision_function" else "conditional_risk"
    plain.set_params(uncertainty_score=score).fit(X, Y)
    uncertainty = selective.fit(X, Y).uncertainty(X)
    np.testing.assert_array_equal(uncertainty, plain.uncertainty(X))


def test_a_cost_is_compared_with_a_risk_whose_method_comes_late():
    late = SelectiveClassifier(LateProbabilities(), reject_cost=0.2).fit(X, Y)
    plain = SelectiveClassifier(LinearDiscriminantAnalysis(), reject_cost=0.2).fit(X, Y)
    assert late.rule_ == plain.rule_
    np.testing.assert_array_equal(late.predict(X), plain.predict(X))
    # A margin is not in units of the cost, so that this is solved on data.
    margin = SelectiveClassifier(
        LateProbabilities("decision_function"), reject_cost=0.2
    )
    assert margin.fit(X, Y).rule_.threshold < 0


def test_a_loss_reaches_the_score_that_is_found_late():
    loss = [[0, 1, 2], [5, 0, 1], [9, 3, 0]]
    late, plain = (
        SelectiveClassifier(inner, reject_cost=0.2, loss=loss).fit(X, Y).uncertainty(X)
        for inner in (LateProbabilities(), LinearDiscriminantAnalysis())
    )
    np.testing.assert_array_equal(late, plain)


@pytest.mark.parametrize(
    "meta",
    [
        SelectiveClassifier(LateProbabilities(None)),
        DoubleScoreOODClassifier(
            LateProbabilities(None), uncertainty_score="auto", min_tpr=0.8
        ),
    ],
    ids=["uncertainty_score", "uncertainty_score"],
)
def test_a_classifier_with_neither_is_refused_after_its_fit(meta):
    name = "uncertainty_score" if "uncertainty_score" in meta.get_params() else "risk"
    with pytest.raises(ValueError, match=f"{name}.*='auto' needs .*Late.* has neither"):
        meta.fit(X, Y)
    assert not hasattr(meta, "estimator_")


def test_auto_as_a_score_of_risk():
    double = DoubleScoreOODClassifier(
        stack(), uncertainty_score="auto", novelty_score="msp", min_tpr=0.8, cv=2
    )
    named = clone(double).set_params(uncertainty_score="conditional_risk").fit(X, Y)
    np.testing.assert_array_equal(double.fit(X, Y).predict(X), named.predict(X))


def test_metrics_and_searches():
    scorer = get_selective_scorer("neg_aurc")
    plain = stack().fit(X, Y)
    selective = SelectiveClassifier(stack(), target_coverage=0.9, cv=2)
    assert scorer(plain, X, Y) == scorer(selective.fit(X, Y), X, Y)
    assert len(RiskCoverageDisplay.from_estimator(plain, X, Y).risk)
    with pytest.raises(ValueError, match="LateProbabilities has neither"):
        scorer(LateProbabilities(None).fit(X, Y), X, Y)
    search = GridSearchCV(selective, {"target_coverage": [0.8, 0.9]}, cv=2)
    assert (search.fit(X, Y).predict(X) == -1).any()


def test_what_is_known_before_the_fit_is_decided_before():
    assert isinstance(resolve_score("auto", LinearRegression()), LossRegression)
    with pytest.raises(ValueError, match="object has neither"):
        resolve_score("auto", object())
