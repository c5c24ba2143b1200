"""Scores of samples: uncertainty and novelty, higher = rejected first.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject._response._response import Response
from sklearn_reject.scores._base import UncertaintyScore, evaluate_score, find_labels
from sklearn_reject.scores._distances import (
    KNN,
    LikelihoodRatio,
    Mahalanobis,
    OutlierDetector,
    RelativeMahalanobis,
)
from sklearn_reject.scores._gain import ExpectedGain
from sklearn_reject.scores._learned import LearnedScore, Predictions
from sklearn_reject.scores._linear import SELE
from sklearn_reject.scores._logits import (
    GEN,
    MSP,
    ODIN,
    SIRC,
    Energy,
    MaxLogit,
    ReAct,
    ViM,
)
from sklearn_reject.scores._novelty import NoveltyScore
from sklearn_reject.scores._plug_in import (
    CallableScore,
    ConditionalRisk,
    Margin,
    PlugInScore,
)
from sklearn_reject.scores._regression import (
    ErrorProbability,
    LossRegression,
    TrueClassProbability,
)
from sklearn_reject.scores._resolve import (
    NoveltyUncertainty,
    UncertaintyNovelty,
    get_score_names,
    resolve_gain,
    resolve_novelty,
    resolve_score,
)

__all__ = [
    "GEN",
    "KNN",
    "MSP",
    "ODIN",
    "SELE",
    "SIRC",
    "ConditionalRisk",
    "Energy",
    "ErrorProbability",
    "ExpectedGain",
    "LearnedScore",
    "LikelihoodRatio",
    "LossRegression",
    "Mahalanobis",
    "Margin",
    "MaxLogit",
    "NoveltyScore",
    "OutlierDetector",
    "PlugInScore",
    "Predictions",
    "ReAct",
    "RelativeMahalanobis",
    "Response",
    "TrueClassProbability",
    "UncertaintyScore",
    "ViM",
    "get_score_names",
]
