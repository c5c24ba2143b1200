"""DoubleScoreOODClassifier with no OOD samples: both scores count alike."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from sklearn_reject import DoubleScoreOODClassifier

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


def test_inside_cross_validation():
    assert (cross_val_score(MODEL, X, Y, cv=3, error_score="raise") <= 0).all()
