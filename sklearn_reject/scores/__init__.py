"""Scores of samples: uncertainty and novelty, higher = rejected first."""

from sklearn_reject.scores._base import PlugInScore, UncertaintyScore
from sklearn_reject.scores._plug_in import (
    CallableScore,
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
)
from sklearn_reject.scores._resolve import (
    get_novelty_names,
    get_score_names,
    register_score,
    resolve_novelty,
    resolve_score,
)
from sklearn_reject.scores.learned._base import LearnedScore
from sklearn_reject.scores.learned._boosting import SELEBoosting
from sklearn_reject.scores.learned._regression import (
    ErrorProbability,
    LossRegression,
    TrueClassProbability,
)
from sklearn_reject.scores.learned._sele import SELE
from sklearn_reject.scores.novelty._base import (
    CallableNovelty,
    FrozenNovelty,
    NoveltyScore,
    UncertaintyNovelty,
)
from sklearn_reject.scores.novelty._detectors import LikelihoodRatio, OutlierDetector
from sklearn_reject.scores.novelty._distances import KNN, Mahalanobis
from sklearn_reject.scores.novelty._logits import MSP, ODIN, Energy, MaxLogit, ReAct
from sklearn_reject.scores.novelty._subspace import SIRC, ViM

__all__ = [
    "KNN",
    "MSP",
    "ODIN",
    "SELE",
    "SIRC",
    "CallableNovelty",
    "CallableScore",
    "ConditionalRisk",
    "Energy",
    "Entropy",
    "ErrorProbability",
    "FrozenNovelty",
    "LearnedScore",
    "LikelihoodRatio",
    "LossRegression",
    "Mahalanobis",
    "Margin",
    "MaxLogit",
    "NoveltyScore",
    "OutlierDetector",
    "PlugInScore",
    "ReAct",
    "SELEBoosting",
    "TopTwoGap",
    "TrueClassProbability",
    "UncertaintyNovelty",
    "UncertaintyScore",
    "ViM",
    "get_novelty_names",
    "get_score_names",
    "register_score",
    "resolve_novelty",
    "resolve_score",
]
