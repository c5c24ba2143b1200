"""Curves and areas from arrays of scores and losses: what metrics are made of."""

from sklearn_reject._curves._deferral import (
    check_deferral_samples,
    deferral_area_score,
    deferral_curve,
)
from sklearn_reject._curves._ood import (
    check_ood_prior,
    fpr_at_tpr_score,
    ood_aupr_score,
    ood_auroc_score,
    ood_precision_recall_curve,
    ood_roc_curve,
    pn_auc_score,
    pn_curve,
    precision_recall_frontier,
    risk_coverage_frontier,
    roc_frontier,
    undefined_without_ood,
)
from sklearn_reject._curves._prefixes import make_finite
from sklearn_reject._curves._risk_coverage import (
    CountedSamples,
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    risk_coverage_curve,
    sele_score,
    selective_risk_at_coverage_score,
)
