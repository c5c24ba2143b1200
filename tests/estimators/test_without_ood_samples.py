"""DoubleScoreOODClassifier with no OOD samples: novelty counts by a stated weight."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.scores import KNN
from sklearn_reject.selection import tune_tail_score

X, Y = make_blobs(300, centers=3, n_features=4, random_state=0)
FAR = np.full((20, 4), 60.0)
MODEL = DoubleScoreOODClassifier(
    LogisticRegression(), novelty_score="mahalanobis", min_tpr=0.95, random_state=0
)


def test_what_is_far_away_is_rejected_however_sure_the_classifier():
    model = clone(MODEL).fit(X, Y)
    assert model.predict_proba(FAR).max(axis=1).min() > 0.99
    assert not model.accept(FAR).any()
    assert model.rule_.tpr == pytest.approx(0.95)
    assert np.isnan(model.rule_.fpr)
    assert (model.rule_.risk_weight, model.rule_.novelty_weight) == (0.5, 0.5)
    one = [model.accept(row[np.newaxis])[0] for row in X]
    np.testing.assert_array_equal(one, model.accept(X))


def test_left_out_digits_are_told_apart_by_the_novelty_too():
    X, y = load_digits(return_X_y=True)
    known = np.flatnonzero((y != 4) & (y != 7))
    train, novel = known[::2], np.flatnonzero((y == 4) | (y == 7))
    classifier = make_pipeline(StandardScaler(), LogisticRegression())
    model = clone(MODEL).set_params(estimator=classifier, novelty_score=KNN(5))
    model.fit(X[train], y[train])
    risk_alone = model.retarget(novelty_share=0.0)
    test = known[1::2]
    assert model.accept(X[test]).mean() == pytest.approx(0.95, abs=0.03)
    fpr = model.accept(X[novel]).mean()
    assert fpr < risk_alone.accept(X[novel]).mean() - 0.1


def test_the_rule_is_that_of_the_calibration_set_for_any_share():
    model = clone(MODEL).fit(X, Y)
    for share in (0.0, 0.3, 1.0):
        again = clone(MODEL).set_params(novelty_share=share).fit(X, Y)
        kept = again.calibration_
        rule = tune_tail_score(
            *kept.scores.T, kept.losses, kept.is_ood, min_tpr=0.95, novelty_share=share
        )
        assert again.rule_ == rule
        assert model.retarget(novelty_share=share).rule_ == rule


def test_a_share_can_be_stated_beside_ood_samples_which_then_measure():
    y = np.where(np.arange(len(Y)) % 5 == 0, -1, Y)
    tuned = clone(MODEL).fit(X, y)
    stated = tuned.retarget(novelty_share=0.5)
    assert stated.rule_.tpr == pytest.approx(0.95)
    assert stated.rule_.fpr > 0.5  # they are like the others
    assert stated.retarget(max_fpr=1.0).novelty_share is None
    with pytest.raises(ValueError, match=r"novelty_share=0.5 fixes.* max_fpr=0.2"):
        clone(MODEL).set_params(novelty_share=0.5, max_fpr=0.2).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"max_fpr": 0.5},
        {"max_risk": 0.1},
        {"min_tpr": None, "min_precision": 0.9, "min_recall": 0.5, "ood_prior": 0.1},
        {"min_tpr": None, "costs": (1, 2, 0), "ood_prior": 0.1},
        {"novelty_score": "likelihood_ratio"},
    ],
)
def test_what_needs_ood_samples_says_so(options):
    with pytest.raises(ValueError, match=r"needs OOD samples.*min_tpr alone"):
        clone(MODEL).set_params(**options).fit(X, Y)


def test_a_certificate_of_the_share_of_known_samples():
    model = clone(MODEL).set_params(min_tpr=0.8, confidence_level=0.9, cv=0.5).fit(X, Y)
    assert model.rule_.certificate.max_fpr is None
    assert model.rule_.tpr > 0.8
    assert not model.accept(FAR).any()


def test_twelve_rows_weights_and_margins():
    rows = np.r_[0:4, 50:54, 100:104]
    X, y = load_iris(return_X_y=True)
    weight = np.arange(12) % 3 + 1.0
    model = clone(MODEL).set_params(estimator=LinearSVC(), min_tpr=0.8)
    model.fit(X[rows], y[rows], sample_weight=weight)
    assert model.rule_.tpr == pytest.approx(0.8)
    scaled = clone(model).fit(X[rows], y[rows], sample_weight=1e6 * weight)
    assert scaled.rule_.tpr == pytest.approx(0.8)


def test_inside_cross_validation():
    scores = cross_val_score(
        MODEL.set_params(estimator=GaussianNB()), X, Y, cv=3, error_score="raise"
    )
    assert (scores <= 0).all()
