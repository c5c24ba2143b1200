"""Novelty scores: how far samples are from those that a classifier knows."""

from sklearn_reject.scores.novelty._base import (
    CallableNovelty,
    FrozenNovelty,
    NoveltyScore,
    UncertaintyNovelty,
)
from sklearn_reject.scores.novelty._detectors import LikelihoodRatio, OutlierDetector
from sklearn_reject.scores.novelty._distances import KNN, Mahalanobis
from sklearn_reject.scores.novelty._generalized_entropy import GEN
from sklearn_reject.scores.novelty._logits import MSP, ODIN, Energy, MaxLogit, ReAct
from sklearn_reject.scores.novelty._relative import RelativeMahalanobis
from sklearn_reject.scores.novelty._subspace import SIRC, ViM
from sklearn_reject.scores.novelty._uncertainty import NoveltyUncertainty

__all__ = [
    "GEN",
    "KNN",
    "MSP",
    "ODIN",
    "SIRC",
    "CallableNovelty",
    "Energy",
    "FrozenNovelty",
    "LikelihoodRatio",
    "Mahalanobis",
    "MaxLogit",
    "NoveltyScore",
    "NoveltyUncertainty",
    "OutlierDetector",
    "ReAct",
    "RelativeMahalanobis",
    "UncertaintyNovelty",
    "ViM",
]
