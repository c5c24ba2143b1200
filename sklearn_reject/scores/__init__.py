"""Scores of samples: uncertainty and novelty, higher = rejected first.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.scores._base import (
    UncertaintyScore,
    evaluate_score,
    find_labels,
)
from sklearn_reject.scores._gains import resolve_gain
from sklearn_reject.scores._plug_in import (
    CallableScore,
    ConditionalRisk,
    Entropy,
    Margin,
    PlugInScore,
    TopTwoGap,
)
from sklearn_reject.scores._resolve import (
    get_novelty_names,
    get_score_names,
    register_score,
    resolve_novelty,
    resolve_score,
)
from sklearn_reject.scores.learned import (
    SELE,
    ErrorProbability,
    ExpectedGain,
    LearnedScore,
    LossRegression,
    SELEBoosting,
    TrueClassProbability,
)
from sklearn_reject.scores.novelty import (
    GEN,
    KNN,
    MSP,
    ODIN,
    SIRC,
    CallableNovelty,
    Energy,
    FrozenNovelty,
    LikelihoodRatio,
    Mahalanobis,
    MaxLogit,
    NoveltyScore,
    NoveltyUncertainty,
    OutlierDetector,
    ReAct,
    RelativeMahalanobis,
    UncertaintyNovelty,
    ViM,
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
    "Entropy",
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
    "ReAct",
    "RelativeMahalanobis",
    "SELEBoosting",
    "TopTwoGap",
    "TrueClassProbability",
    "UncertaintyScore",
    "ViM",
    "get_novelty_names",
    "get_score_names",
    "register_score",
]
