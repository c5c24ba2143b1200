"""Curves and areas from arrays of scores and losses.

The functions here take the losses themselves; those of the same name in
:mod:`sklearn_reject.metrics` take labels.
"""

from sklearn_reject.curves._area import augrc_score, aurc_score, sele_score
from sklearn_reject.curves._frontiers import (
    precision_recall_frontier,
    risk_coverage_frontier,
    roc_frontier,
)
from sklearn_reject.curves._groups import TieGroups, group_by_score
from sklearn_reject.curves._ood import (
    fpr_at_tpr_score,
    ood_aupr_score,
    ood_auroc_score,
    ood_precision_recall_curve,
    ood_roc_curve,
    oscr_score,
)
from sklearn_reject.curves._origins import OriginGroups, group_by_origin
from sklearn_reject.curves._pn import pn_auc_score, pn_curve
from sklearn_reject.curves._risk_coverage import (
    coverage_at_risk_score,
    risk_coverage_curve,
    selective_risk_at_coverage_score,
)

__all__ = [
    "OriginGroups",
    "TieGroups",
    "augrc_score",
    "aurc_score",
    "coverage_at_risk_score",
    "fpr_at_tpr_score",
    "group_by_origin",
    "group_by_score",
    "ood_aupr_score",
    "ood_auroc_score",
    "ood_precision_recall_curve",
    "ood_roc_curve",
    "oscr_score",
    "pn_auc_score",
    "pn_curve",
    "precision_recall_frontier",
    "risk_coverage_curve",
    "risk_coverage_frontier",
    "roc_frontier",
    "sele_score",
    "selective_risk_at_coverage_score",
]
