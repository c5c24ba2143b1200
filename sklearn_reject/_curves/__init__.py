"""Curves and areas from arrays of scores and losses: what metrics are made of."""

from sklearn_reject._curves._area import augrc_score, aurc_score, sele_score
from sklearn_reject._curves._asked import DeferralSamples, check_deferral_samples
from sklearn_reject._curves._deferral import (
    DeferralGroups,
    deferral_area_score,
    deferral_curve,
    group_deferral,
)
from sklearn_reject._curves._directions import (
    RESOLUTION,
    all_tie,
    check_n_directions,
    combine,
    lift_risk,
    score_directions,
    sizes_of_sums,
    weighted_sum,
)
from sklearn_reject._curves._frontiers import (
    precision_recall_frontier,
    risk_coverage_frontier,
    roc_frontier,
)
from sklearn_reject._curves._groups import (
    RELATIVE_TOLERANCE,
    TIE_TOLERANCE,
    TieGroups,
    argsort_scores,
    group_by_score,
    group_validated,
    make_finite,
    running_sum,
    snap,
    snap_sorted,
    starts_of_ties,
    tie_range,
)
from sklearn_reject._curves._least_area import (
    area_influence,
    choose_by_area,
    standard_error,
)
from sklearn_reject._curves._ood import (
    check_ood_prior,
    fpr_at_tpr_score,
    ood_aupr_score,
    ood_auroc_score,
    ood_precision_recall_curve,
    ood_roc_curve,
    oscr_score,
    undefined_without_ood,
)
from sklearn_reject._curves._origins import (
    OriginGroups,
    check_origin_samples,
    group_by_origin,
    group_origins_validated,
)
from sklearn_reject._curves._pn import pn_auc_score, pn_curve
from sklearn_reject._curves._resampled import CountedArea, CountedRisks
from sklearn_reject._curves._risk_coverage import (
    coverage_at_risk_score,
    risk_coverage_curve,
    selective_risk_at_coverage_score,
    share_reaching_coverage,
    share_within_risk,
)

__all__ = [
    "RELATIVE_TOLERANCE",
    "RESOLUTION",
    "TIE_TOLERANCE",
    "CountedArea",
    "CountedRisks",
    "DeferralGroups",
    "DeferralSamples",
    "OriginGroups",
    "TieGroups",
    "all_tie",
    "area_influence",
    "argsort_scores",
    "augrc_score",
    "aurc_score",
    "check_deferral_samples",
    "check_n_directions",
    "check_ood_prior",
    "check_origin_samples",
    "choose_by_area",
    "combine",
    "coverage_at_risk_score",
    "deferral_area_score",
    "deferral_curve",
    "fpr_at_tpr_score",
    "group_by_origin",
    "group_by_score",
    "group_deferral",
    "group_origins_validated",
    "group_validated",
    "lift_risk",
    "make_finite",
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
    "running_sum",
    "score_directions",
    "sele_score",
    "selective_risk_at_coverage_score",
    "share_reaching_coverage",
    "share_within_risk",
    "sizes_of_sums",
    "snap",
    "snap_sorted",
    "standard_error",
    "starts_of_ties",
    "tie_range",
    "undefined_without_ood",
    "weighted_sum",
]
