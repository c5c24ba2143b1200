"""DoubleScoreOODClassifier with no OOD samples: both scores count alike."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.scores import KNN

X, Y = make_blobs(300, centers=3, n_features=4, random_state=0)
FAR = np.full((20, 4), 60.0)
MODEL = DoubleScoreOODClassifier(
    LogisticRegression(), novelty_score="mahalanobis", min_tpr=0.95, random_state=0
)


@pytest.mark.parametrize(
    "options", [{}, {"min_tpr": 0.8, "confidence_level": 0.9, "cv": 0.5}]
)
def test_what_is_far_away_is_rejected_however_sure_the_classifier(options):
    model = clone(MODEL).set_params(**options).fit(X, Y)
    rule = model.rule_
    assert model.predict_proba(FAR).max(axis=1).min() > 0.99
    assert not model.accept(FAR).any()
    assert np.isnan(rule.fpr)
    assert (rule.risk_weight, rule.novelty_weight) == (0.5, 0.5)
    one = [model.accept(row[np.newaxis])[0] for row in X]
    np.testing.assert_array_equal(one, model.accept(X))
    if options:
        assert rule.certificate.max_fpr is None
        assert rule.tpr > 0.8
    else:
        assert rule.tpr == pytest.approx(0.95)


def test_left_out_digits_are_told_apart_by_the_novelty_too():
    X, y = load_digits(return_X_y=True)
    known = np.flatnonzero((y != 4) & (y != 7))
    train, novel = known[::2], np.flatnonzero((y == 4) | (y == 7))
    classifier = make_pipeline(StandardScaler(), LogisticRegression())
    model = clone(MODEL).set_params(estimator=classifier, novelty_score=KNN(5))
    model.fit(X[train], y[train])
    risk_alone = SelectiveClassifier(classifier, target_coverage=0.95)
    risk_alone.fit(X[train], y[train])
    assert model.accept(X[known[1::2]]).mean() == pytest.approx(0.95, abs=0.03)
    fpr = model.accept(X[novel]).mean()
    assert fpr < risk_alone.accept(X[novel]).mean() - 0.1


def test_twelve_rows_weights_and_margins():
    rows = np.r_[0:4, 50:54, 100:104]
    X, y = load_iris(return_X_y=True)
    weight = np.arange(12) % 3 + 1.0
    model = clone(MODEL).set_params(estimator=LinearSVC(), min_tpr=0.8)
    for scale in (1.0, 1e6):
        model.fit(X[rows], y[rows], sample_weight=scale * weight)
        assert model.rule_.tpr == pytest.approx(0.8)


def test_inside_cross_validation():
    assert (cross_val_score(MODEL, X, Y, cv=3, error_score="raise") <= 0).all()
