"""Uncertainty scores: higher = more uncertain."""

from sklearn_reject.scores._base import PlugInScore
from sklearn_reject.scores._callable import CallableScore
from sklearn_reject.scores._plug_in import (
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
)
from sklearn_reject.scores._resolve import get_score_names, resolve_score

__all__ = [
    "CallableScore",
    "ConditionalRisk",
    "Entropy",
    "Margin",
    "PlugInScore",
    "TopTwoGap",
    "get_score_names",
    "resolve_score",
]
