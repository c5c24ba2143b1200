"""Rejection rules, solved from arrays of scores and losses.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection._bounds import BOUNDS, binomial_upper
from sklearn_reject.selection._calibrate import calibrate
from sklearn_reject.selection._calibrated_rule import CalibratedRule
from sklearn_reject.selection._certify import check_confidence_level
from sklearn_reject.selection._certify_double import (
    Levels,
    OODCertificate,
    certify_double_score,
)
from sklearn_reject.selection._deferral import solve_deferral
from sklearn_reject.selection._deferral_cut import DeferralRule, GroupedDeferralRule
from sklearn_reject.selection._draws import hash_text, keyed_draws, read_keys, split_mix
from sklearn_reject.selection._groups import (
    GroupedRule,
    as_labels,
    as_plain,
    distinct_labels,
    enumerate_labels,
    make_partition,
    share_confidence,
    sort_labels,
    targets_by_group,
)
from sklearn_reject.selection._monitor import CoverageMonitor, RiskMonitor
from sklearn_reject.selection._ood_rule import (
    DoubleScoreRule,
    SingleScoreRule,
    Tail,
    TailScoreRule,
    precision_of,
)
from sklearn_reject.selection._parts import (
    BoundedRisk,
    RiskBoundsCertificate,
    measure_risk_bounds,
    solve_risk_bounds,
)
from sklearn_reject.selection._report import (
    ANY_LOSS,
    Report,
    ReportPart,
    ReportPromise,
    ReportSamples,
)
from sklearn_reject.selection._rule import Certificate, RejectionRule
from sklearn_reject.selection._sample import Clusters
from sklearn_reject.selection._solve import (
    solve_failure_bounds,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)
from sklearn_reject.selection._solver import (
    WAY_OUT,
    is_riskier,
    order_told,
    solve_by_group,
    warn_of_backward_scores,
)
from sklearn_reject.selection._summary import RiskCoverageSummary
from sklearn_reject.selection._tune import (
    MODEL_PARAMETERS,
    check_model,
    find_double_score_rule,
    tune_double_score,
    tune_single_score,
    tune_tail_score,
)
from sklearn_reject.selection._weights import check_inclusion_proba, shares_of

__all__ = [
    "CalibratedRule",
    "CoverageMonitor",
    "DeferralRule",
    "DoubleScoreRule",
    "GroupedRule",
    "RejectionRule",
    "RiskCoverageSummary",
    "RiskMonitor",
    "keyed_draws",
    "solve_deferral",
    "solve_failure_bounds",
    "solve_reject_cost",
    "solve_risk_bounds",
    "solve_target_coverage",
    "solve_target_failure_rate",
    "solve_target_risk",
    "tune_double_score",
    "tune_single_score",
]
