"""Scores of samples: uncertainty and novelty, higher = rejected first."""

from sklearn_reject.scores._base import PlugInScore, UncertaintyScore
from sklearn_reject.scores._callable import CallableScore
from sklearn_reject.scores._error_probability import ErrorProbability
from sklearn_reject.scores._knn import KNN
from sklearn_reject.scores._learned import LearnedScore
from sklearn_reject.scores._likelihood_ratio import LikelihoodRatio
from sklearn_reject.scores._logit_scores import MSP, Energy, MaxLogit
from sklearn_reject.scores._mahalanobis import Mahalanobis
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._odin import ODIN
from sklearn_reject.scores._outlier_detector import OutlierDetector
from sklearn_reject.scores._plug_in import (
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
)
from sklearn_reject.scores._react import ReAct
from sklearn_reject.scores._regression import LossRegression, TrueClassProbability
from sklearn_reject.scores._resolve import get_score_names, resolve_score
from sklearn_reject.scores._resolve_novelty import get_novelty_names, resolve_novelty
from sklearn_reject.scores._sele import SELE
from sklearn_reject.scores._sele_boosting import SELEBoosting
from sklearn_reject.scores._sirc import SIRC
from sklearn_reject.scores._vim import ViM
from sklearn_reject.scores._wrapped_novelty import (
    CallableNovelty,
    FrozenNovelty,
    UncertaintyNovelty,
)

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
    "resolve_novelty",
    "resolve_score",
]
