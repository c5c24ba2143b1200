"""Curves and areas from arrays of scores and losses: what metrics are made of."""

from sklearn_reject._curves._cell_bounds import (
    CellBounds,
    bound_aurc,
    bound_pairs,
    bound_risks,
    last_within_risk,
)
from sklearn_reject._curves._cell_table import (
    CellTable,
    add_tables,
    check_cells,
    count_cells,
    empty_table,
    merge_near_cells,
)
from sklearn_reject._curves._deferral import (
    check_deferral_samples,
    deferral_area_score,
    deferral_curve,
    group_deferral,
)
from sklearn_reject._curves._directions import (
    RESOLUTION,
    all_tie,
    combine,
    lift_risk,
    score_directions,
    sizes_of_sums,
    weighted_sum,
)
from sklearn_reject._curves._groups import (
    RELATIVE_TOLERANCE,
    TIE_TOLERANCE,
    TieGroups,
    argsort_scores,
    batches,
    count_to_last,
    group_by_score,
    group_validated,
    make_finite,
    prefix_sums,
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
    pn_auc_score,
    pn_curve,
    precision_recall_frontier,
    risk_coverage_frontier,
    roc_frontier,
    undefined_without_ood,
)
from sklearn_reject._curves._origins import (
    check_origin_samples,
    gather_samples,
    group_origins_validated,
)
from sklearn_reject._curves._resampled import CountedArea, CountedRisks
from sklearn_reject._curves._risk_coverage import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    risk_coverage_curve,
    sele_score,
    selective_risk_at_coverage_score,
    share_reaching_coverage,
    share_within_risk,
)
