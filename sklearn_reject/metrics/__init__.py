"""Metrics, scorers and displays of classifiers that may abstain.

The metrics take ``(y_true, y_pred, uncertainty)``; the functions of the same name in
:mod:`sklearn_reject.curves` take scores and losses.
"""

from sklearn_reject.metrics._plot.risk_coverage import RiskCoverageDisplay
from sklearn_reject.metrics._risk_coverage import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    risk_coverage_curve,
    sele_score,
    selective_risk_at_coverage_score,
)
from sklearn_reject.metrics._scorers import (
    coverage_at_risk_scorer,
    get_selective_scorer,
    get_selective_scorer_names,
    make_selective_scorer,
    neg_augrc_scorer,
    neg_aurc_scorer,
    selective_accuracy_scorer,
)

__all__ = [
    "RiskCoverageDisplay",
    "augrc_score",
    "aurc_score",
    "coverage_at_risk_score",
    "coverage_at_risk_scorer",
    "get_selective_scorer",
    "get_selective_scorer_names",
    "make_selective_scorer",
    "neg_augrc_scorer",
    "neg_aurc_scorer",
    "risk_coverage_curve",
    "sele_score",
    "selective_accuracy_scorer",
    "selective_risk_at_coverage_score",
]
