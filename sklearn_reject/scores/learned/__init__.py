"""Uncertainty scores that are learned from the errors of an estimator."""

from sklearn_reject.scores.learned._base import LearnedScore, own_classifier, weight_for
from sklearn_reject.scores.learned._boosting import SELEBoosting
from sklearn_reject.scores.learned._encoding import Encoder
from sklearn_reject.scores.learned._features import is_wide, leading_directions
from sklearn_reject.scores.learned._gain import ExpectedGain
from sklearn_reject.scores.learned._regression import (
    ErrorProbability,
    LossRegression,
    TrueClassProbability,
)
from sklearn_reject.scores.learned._sele import SELE

__all__ = [
    "SELE",
    "Encoder",
    "ErrorProbability",
    "ExpectedGain",
    "LearnedScore",
    "LossRegression",
    "SELEBoosting",
    "TrueClassProbability",
    "is_wide",
    "leading_directions",
    "own_classifier",
    "weight_for",
]
