"""Uncertainty scores: higher = more uncertain."""

from sklearn_reject.scores._base import PlugInScore, UncertaintyScore
from sklearn_reject.scores._callable import CallableScore
from sklearn_reject.scores._error_probability import ErrorProbability
from sklearn_reject.scores._learned import LearnedScore
from sklearn_reject.scores._plug_in import (
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
)
from sklearn_reject.scores._regression import LossRegression, TrueClassProbability
from sklearn_reject.scores._resolve import get_score_names, resolve_score
from sklearn_reject.scores._sele import SELE
from sklearn_reject.scores._sele_boosting import SELEBoosting

__all__ = [
    "SELE",
    "CallableScore",
    "ConditionalRisk",
    "Entropy",
    "ErrorProbability",
    "LearnedScore",
    "LossRegression",
    "Margin",
    "PlugInScore",
    "SELEBoosting",
    "TopTwoGap",
    "TrueClassProbability",
    "UncertaintyScore",
    "get_score_names",
    "resolve_score",
]
