"""Curves and areas from arrays of scores and losses.

The functions here take the losses themselves; those of the same name in
:mod:`sklearn_reject.metrics` take labels.
"""

from sklearn_reject.curves._area import augrc_score, aurc_score, sele_score
from sklearn_reject.curves._groups import TieGroups, group_by_score
from sklearn_reject.curves._risk_coverage import (
    coverage_at_risk_score,
    risk_coverage_curve,
    selective_risk_at_coverage_score,
)

__all__ = [
    "TieGroups",
    "augrc_score",
    "aurc_score",
    "coverage_at_risk_score",
    "group_by_score",
    "risk_coverage_curve",
    "sele_score",
    "selective_risk_at_coverage_score",
]
