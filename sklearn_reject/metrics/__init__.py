"""Metrics, scorers and displays of classifiers that may abstain.

The metrics take ``(y_true, y_pred, uncertainty)``, or ``(None, None, uncertainty)`` and
the losses themselves as `loss`. What is imported but not in ``__all__`` is for the
other rooms of the package, and may change.
"""

from sklearn_reject.metrics._bootstrap import bootstrap_interval
from sklearn_reject.metrics._metrics import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    deferral_area_score,
    deferral_curve,
    fpr_at_tpr_score,
    ood_aupr_score,
    ood_auroc_score,
    pn_auc_score,
    pn_curve,
    risk_coverage_curve,
    sele_score,
    selective_cost_score,
    selective_risk_at_coverage_score,
    selective_risk_at_precision_recall_score,
    selective_risk_at_tpr_fpr_score,
    set_loss,
)
from sklearn_reject.metrics._plot.deferral_curve import DeferralCurveDisplay
from sklearn_reject.metrics._plot.ood_frontier import OODFrontierDisplay
from sklearn_reject.metrics._plot.pn_curve import PNCurveDisplay
from sklearn_reject.metrics._plot.risk_coverage import RiskCoverageDisplay
from sklearn_reject.metrics._scorers import (
    get_selective_scorer,
    get_selective_scorer_names,
    make_selective_scorer,
)

__all__ = [
    "DeferralCurveDisplay",
    "OODFrontierDisplay",
    "PNCurveDisplay",
    "RiskCoverageDisplay",
    "augrc_score",
    "aurc_score",
    "bootstrap_interval",
    "coverage_at_risk_score",
    "deferral_area_score",
    "deferral_curve",
    "fpr_at_tpr_score",
    "get_selective_scorer",
    "get_selective_scorer_names",
    "make_selective_scorer",
    "ood_aupr_score",
    "ood_auroc_score",
    "pn_auc_score",
    "pn_curve",
    "risk_coverage_curve",
    "sele_score",
    "selective_cost_score",
    "selective_risk_at_coverage_score",
    "selective_risk_at_precision_recall_score",
    "selective_risk_at_tpr_fpr_score",
    "set_loss",
]
