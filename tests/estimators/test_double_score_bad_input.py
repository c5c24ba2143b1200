"""What DoubleScoreOODClassifier refuses or warns of, and the way out that it names."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import LocalOutlierFactor

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.scores import Margin

X, blob = make_blobs(200, centers=4, cluster_std=2.0, random_state=0)
y = np.where(blob == 3, -1, blob)
INSIDE = np.flatnonzero(y >= 0)
PAIR = np.where(y == -1, -1, 1)
RATES = {"min_tpr": 0.5, "max_fpr": 0.9}
ALONE = {"min_tpr": 0.5, "max_fpr": None}
PRECISION = ALONE | {"min_precision": 0.5, "ood_prior": 0.2}
COSTS = ALONE | {"min_tpr": None, "costs": (0.5, 1.0, 0.0), "ood_prior": 0.2}
RATIO = ALONE | {"novelty_score": "likelihood_ratio"}
CERTIFIED = RATES | {"confidence_level": 0.9, "cv": 0.5}

NAIVE = GaussianNB()
KNOWN = FrozenEstimator(GaussianNB().fit(X[INSIDE], y[INSIDE]))
KNOWN_ALL = FrozenEstimator(GaussianNB().fit(X, y))
WIDE = FrozenEstimator(GaussianNB().fit(np.hstack([X, X])[INSIDE], y[INSIDE]))
FOREST = RandomForestClassifier(5, random_state=0)
OUTLIERS = LocalOutlierFactor(novelty=True)
# All OOD rows are in one part.
LAST = PredefinedSplit(np.where(y == -1, 0, 1 + np.arange(len(y)) % 3))


def off_by(y_true, y_pred):
    return np.abs(y_true - y_pred)


FEW = {"confidence_level": 0.99, "cv": 0.1, "min_tpr": 0.9, "random_state": 0}


def double(estimator=NAIVE, **options):
    options = {"novelty_score": "msp", **options}
    return DoubleScoreOODClassifier(estimator, **options)


# Options, and what is said.
BAD_OPTIONS = [
    # Of the solvers; tests/selection/test_two_scores.py has them all.
    ({"min_tpr": None, "max_fpr": None}, "target must be given, got none. Pass min"),
    ({"min_tpr": None}, "max_fpr=0.9 needs min_tpr, the share"),
    ({"novelty_score": "new"}, "novelty_score must be one of .*'new'"),
    ({"uncertainty_score": "new"}, "uncertainty_score must be .* 'new'"),
    ({"reject_label": 1}, "reject_label=1 is one of the classes"),
    ({"loss": "huge"}, "huge"),
    ({"cv": 1}, "cv must be None, at least 2 folds"),
    ({"cv": 1.5}, "cv as a float, the share"),
    ({"ood_label": 7}, "y has no row with ood_label=7, and max_fpr"),
    # Guarantees.
    (CERTIFIED | {"confidence_level": 2.0}, r"must be in \(0, 1\), got 2.0"),
    (CERTIFIED | {"cv": 5}, "used neither to fit nor to tune.* cv=0.3"),
    (CERTIFIED | COSTS, "costs are no bounds. Pass min"),
    (CERTIFIED | {"loss": "absolute"}, r"loss=AbsoluteLoss\(\) does not say how large"),
    (CERTIFIED | {"loss": off_by}, "Pass a cost matrix, or a TaskLoss with `max_l"),
    # Estimators and scores that lack something.
    ({"estimator": LinearRegression()}, "estimator must be a classifier"),
    ({"estimator": object()}, "without `fit`"),
    ({"estimator": FOREST, "novelty_score": "energy"}, "logits"),
    ({"estimator": FOREST, "novelty_score": "odin"}, "input_gradient"),
    ({"estimator": WIDE}, "X has 2 features, but GaussianNB is expecting 4"),
    ({"estimator": KNOWN_ALL, "ood_label": -1}, "ood_label=-1 is one of the clas"),
    ({"estimator": KNOWN_ALL}, "no row with an ood_label, as -1 is a class"),
    ({"novelty_score": OUTLIERS}, r"Wrap it: OutlierDetector\(detector\)"),
    ({"novelty_score": "likelihood_ratio", "cv": LAST}, "two or more OOD rows"),
    (FEW, "cannot certify"),
]
# Options, labels, and what is said.
BAD_FITS = [
    ({}, np.full(200, -1), "y holds ood_label=-1 only"),
    ({}, np.where(y == 1, np.nan, y), "NaN"),
    ({}, PAIR, r"row with an ood_label, as -1 is a class, and max_fpr=0.9 needs"),
    ({"estimator": LogisticRegression()}, X[:, 0], "continuous"),
    # No OOD rows where a bound or a score needs them.
    ({}, y[INSIDE], "y has no row with ood_label=-1, and max_fpr=0.9 needs OOD"),
    (PRECISION, y[INSIDE], "min_precision=0.5 needs OOD.*use min_tpr alone"),
    (COSTS, y[INSIDE], r"costs=\(0.5, 1.0, 0.0\) needs OOD"),
    ({"max_fpr": None, "max_risk": 0.1}, y[INSIDE], "max_risk=0.1 needs OOD"),
    (RATIO, np.where(np.cumsum(y < 0) > 1, 0, y), "two or more OOD rows, got 1"),
    (RATIO, y[INSIDE], r"LikelihoodRatio\(\) .* needs two or more OOD rows, got 0"),
    *((options, y, message) for options, message in BAD_OPTIONS),
]


@pytest.mark.parametrize(("options", "labels", "message"), BAD_FITS)
def test_bad_fits(options, labels, message):
    rows = X if len(labels) == len(X) else X[INSIDE]
    with pytest.raises(ValueError, match=message):
        double(**RATES | options).fit(rows, labels)


@pytest.mark.parametrize(
    ("options", "weight", "message"),
    [
        ({}, np.ones(5), "sample_weight has 5 elements, but there are 200"),
        ({}, np.ones((200, 1)), "sample_weight must be a vector"),
        (CERTIFIED, np.ones(200), "cannot be combined with sample_weight"),
        ({}, y >= 0, "no row with ood_label=-1, and max_fpr.*of positive"),
        (RATIO, y >= 0, r"LikelihoodRatio\(\) .* needs two or more OOD rows, got 0"),
    ],
)
def test_weights(options, weight, message):
    with pytest.raises(ValueError, match=message):
        double(**RATES | options).fit(X, y, sample_weight=weight)
    double(min_tpr=0.5).fit(X, y, sample_weight=(y >= 0) * 1.0)


def test_scores_that_are_not_fitted():
    with pytest.raises(NotFittedError):
        double(uncertainty_score=FrozenEstimator(Margin()), **RATES).fit(X, y)


def test_constant_scores_are_accepted_at_random():
    def zero(estimator, X):
        return np.zeros(len(X))

    flat = double(uncertainty_score=zero, novelty_score=zero, min_tpr=0.5, max_fpr=0.5)
    assert flat.fit(X, y).rule_.proba_at_threshold == pytest.approx(0.5)
