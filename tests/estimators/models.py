"""One estimator of each kind, quickly fitted, for what holds for all of them."""

from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
)

BAYES, LOGISTIC = GaussianNB(), LogisticRegression()
CLASSIFIER = SelectiveClassifier(BAYES, random_state=0)
REGRESSOR = SelectiveRegressor(LinearRegression(), random_state=0)
DEFERRING = DeferringClassifier(
    BAYES, LOGISTIC, gain_score="confidence", random_state=0
)
DOUBLE = DoubleScoreOODClassifier(BAYES, random_state=0)
DECODER = ExpectedLossDecoder(BAYES)
TUNER = EnsembleThresholdTuner([("bayes", BAYES), ("linear", LOGISTIC)])


def constant(estimator, X):
    """Score all samples alike."""
    return 0.0 * estimator.predict(X)
