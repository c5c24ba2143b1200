"""Scorers with OOD samples: which samples these are, and what cannot be scored."""

from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import aurc_score, get_selective_scorer
from tests.metrics.tables import OF_ERRORS, OF_NOVELTY, cases_of

X, y = make_fpp23_mixture(600, random_state=0)
INSIDE = y != -1
TRAIN, TEST = slice(300), slice(300, None)
INLIERS = GaussianNB().fit(X[TRAIN][INSIDE[TRAIN]], y[TRAIN][INSIDE[TRAIN]])
NOVEL = cases_of(OF_NOVELTY)
each_novel = pytest.mark.parametrize(("name", "scorer", "metric"), NOVEL)


def double(**options):
    options = {"min_tpr": 0.3, "novelty_score": "msp", "cv": 2, **options}
    return DoubleScoreOODClassifier(GaussianNB(), random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    return double().fit(X[TRAIN], y[TRAIN])


@pytest.mark.parametrize("label", [99, "ood"])
def test_the_ood_label_is_that_of_the_estimator(label):
    names = np.array([label, *(["a", "b", "c"] if label == "ood" else [1, 2, 3])])
    labels = names[np.maximum(y, 0)]
    model = double(ood_label=label).fit(X[TRAIN], labels[TRAIN])
    Z, truth = X[TEST], y[TEST]
    assert (model.predict(Z) == model.reject_label_).any()
    numbers = np.searchsorted(names[1:], model.predict_label(Z)) + 1
    for _, scorer, metric in NOVEL:
        if label == 99 or "squared" not in repr(scorer):
            expected = metric(truth, numbers, model.uncertainty(Z))
            value = scorer(model, Z, labels[TEST])
            assert value == pytest.approx(expected, rel=1e-12)


@each_novel
def test_which_samples_are_ood(name, scorer, metric, fitted):
    Z, truth = X[TEST], y[TEST]
    options = next(options for options, each in OF_NOVELTY[name] if each is metric)
    given = partial(get_selective_scorer, name, **options)
    moved = np.where(truth == -1, 99, truth)
    assert given(ood_label=99)(fitted, Z, moved) == scorer(fitted, Z, truth)
    inside = truth != -1
    for each in (scorer, given(ood_label=None)):
        with pytest.warns(UndefinedMetricWarning, match="without OOD"):
            assert np.isnan(each(fitted, Z[inside], truth[inside]))
    odd = truth.copy()
    odd[np.flatnonzero(~inside)[5:]] = 7
    for model in (fitted, INLIERS):
        message = (
            rf"y holds 7 \(\d+ samples\), .*{type(model).__name__} knows nor ood_l"
        )
        with pytest.warns(RejectionWarning, match=message):
            assert np.isfinite(scorer(model, Z, odd))
    # -1 is a class where the classifier was fitted on it, as one of two.
    signs = np.where(y == 1, -1, 1)[INSIDE]
    model = GaussianNB().fit(X[INSIDE], signs)
    for rows in (slice(None), signs == 1, signs == -1):
        with pytest.warns(UndefinedMetricWarning, match="unless -1 is one of two cl"):
            assert np.isnan(scorer(model, X[INSIDE][rows], signs[rows]))
    part = (truth == -1) | (truth == 1)
    assert np.isfinite(scorer(INLIERS, Z[part], truth[part]))


@each_novel
def test_what_cannot_be_scored(name, scorer, metric, fitted):
    Z, truth = X[TEST], y[TEST]
    detector = IsolationForest(n_estimators=5, random_state=0).fit(Z)
    mistaken = GaussianNB().fit(X, y)
    rows = mistaken.predict(Z) != -1
    wild = double(wild_label=99, wild_share=1.0)
    labels = np.where(y == -1, 99, y)
    wild.fit(X[TRAIN], labels[TRAIN])
    for model, samples, message in (
        (detector, (Z, truth), "IsolationForest is an outlier detector"),
        (INLIERS, (Z, None), r"y_true is None\. Pass one label per sample"),
        (fitted, (Z, truth.astype(str)), "labels in `fit` and later, of one kind"),
        (wild, (Z, labels[TEST]), r"y holds wild_label=99.*Mark them"),
        (mistaken, (Z[rows], truth[rows]), "GaussianNB hold the OOD label -1.*fit the"),
    ):
        with pytest.raises(ValueError, match=message):
            scorer(model, *samples)
    for _, of_errors, _ in cases_of(OF_ERRORS):
        with pytest.raises(ValueError, match=r"y holds wild_label=99.*Mark them"):
            of_errors(wild, Z, labels[TEST])


def test_a_loss_of_classes_never_sees_the_ood_label():
    """In a cost matrix; for 0/1 loss it is an error whatever is predicted."""
    model = double(loss=3.0 * (1 - np.eye(3))).fit(X[TRAIN], y[TRAIN])
    Z, truth = X[TEST], y[TEST]
    area = get_selective_scorer("neg_aurc")
    with pytest.raises(ValueError, match="y_true holds the label -1, which is not"):
        area(model, Z, truth)
    assert get_selective_scorer("neg_aurc", loss="zero_one")(model, Z, truth) < 0
    inside = truth != -1
    Z_in, y_in = Z[inside], truth[inside]
    expected = aurc_score(y_in, model.predict_label(Z_in), model.uncertainty(Z_in))
    assert area(model, Z_in, y_in) == pytest.approx(-3 * expected)
    # With OOD samples, the loss of the estimator is the default, too.
    make = partial(
        get_selective_scorer, "neg_selective_risk_at_tpr_fpr", min_tpr=0.4, max_fpr=0.9
    )
    as_errors = make(loss="zero_one")(model, Z, truth)
    assert make()(model, Z, truth) == pytest.approx(3 * as_errors)
