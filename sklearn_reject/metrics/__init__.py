"""Metrics, scorers and displays of classifiers that may abstain.

The metrics take ``(y_true, y_pred, uncertainty)``, or ``(None, None, uncertainty)`` and
the losses themselves as `loss`. What is imported but not in ``__all__`` is for the
other rooms of the package, and may change.
"""

from sklearn_reject.metrics._deferral import deferral_area_score, deferral_curve
from sklearn_reject.metrics._deferral_scorers import (
    make_neg_deferral_area_scorer,
    make_neg_selective_cost_scorer,
    neg_deferral_area_scorer,
)
from sklearn_reject.metrics._intervals import bootstrap_interval
from sklearn_reject.metrics._losses import (
    ComparedLabels,
    is_table,
    is_vector,
    losses_and_labels,
    name_of_loss,
)
from sklearn_reject.metrics._ood import (
    fpr_at_tpr_score,
    ood_aupr_score,
    ood_auroc_score,
    ood_precision_recall_curve,
    ood_roc_curve,
    precision_recall_frontier,
    roc_frontier,
)
from sklearn_reject.metrics._ood_risk import (
    oscr_score,
    risk_coverage_frontier,
    selective_risk_at_precision_recall_score,
    selective_risk_at_tpr_fpr_score,
)
from sklearn_reject.metrics._plot.deferral_curve import DeferralCurveDisplay
from sklearn_reject.metrics._plot.expected_loss import ExpectedLossDisplay
from sklearn_reject.metrics._plot.monitor import MonitorDisplay
from sklearn_reject.metrics._plot.ood_frontier import OODFrontierDisplay
from sklearn_reject.metrics._plot.pn_curve import PNCurveDisplay
from sklearn_reject.metrics._plot.risk_coverage import RiskCoverageDisplay
from sklearn_reject.metrics._pn import pn_auc_score, pn_curve
from sklearn_reject.metrics._rated import make_rated_scorer
from sklearn_reject.metrics._risk_coverage import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    risk_coverage_curve,
    sele_score,
    selective_risk_at_coverage_score,
)
from sklearn_reject.metrics._scorers import (
    get_selective_scorer,
    get_selective_scorer_names,
    make_coverage_at_risk_scorer,
    make_neg_augrc_scorer,
    make_neg_aurc_scorer,
    make_neg_fpr_at_tpr_scorer,
    make_neg_selective_risk_at_precision_recall_scorer,
    make_neg_selective_risk_at_tpr_fpr_scorer,
    make_neg_set_loss_scorer,
    make_ood_auroc_scorer,
    make_oscr_scorer,
    make_selective_accuracy_scorer,
    make_selective_scorer,
    neg_augrc_scorer,
    neg_aurc_scorer,
    neg_fpr_at_tpr_scorer,
    neg_set_loss_scorer,
    ood_auroc_scorer,
    oscr_scorer,
)
from sklearn_reject.metrics._selective_cost import selective_cost_score
from sklearn_reject.metrics._set_loss import set_loss

__all__ = [
    "DeferralCurveDisplay",
    "ExpectedLossDisplay",
    "MonitorDisplay",
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
    "make_coverage_at_risk_scorer",
    "make_neg_augrc_scorer",
    "make_neg_aurc_scorer",
    "make_neg_deferral_area_scorer",
    "make_neg_fpr_at_tpr_scorer",
    "make_neg_selective_cost_scorer",
    "make_neg_selective_risk_at_precision_recall_scorer",
    "make_neg_selective_risk_at_tpr_fpr_scorer",
    "make_neg_set_loss_scorer",
    "make_ood_auroc_scorer",
    "make_oscr_scorer",
    "make_rated_scorer",
    "make_selective_accuracy_scorer",
    "make_selective_scorer",
    "neg_augrc_scorer",
    "neg_aurc_scorer",
    "neg_deferral_area_scorer",
    "neg_fpr_at_tpr_scorer",
    "neg_set_loss_scorer",
    "ood_aupr_score",
    "ood_auroc_score",
    "ood_auroc_scorer",
    "ood_precision_recall_curve",
    "ood_roc_curve",
    "oscr_score",
    "oscr_scorer",
    "pn_auc_score",
    "pn_curve",
    "precision_recall_frontier",
    "risk_coverage_curve",
    "risk_coverage_frontier",
    "roc_frontier",
    "sele_score",
    "selective_cost_score",
    "selective_risk_at_coverage_score",
    "selective_risk_at_precision_recall_score",
    "selective_risk_at_tpr_fpr_score",
    "set_loss",
]
