"""Fitting estimators and scores, and evaluating them on samples they have not seen."""

from sklearn_reject._fitting._folds import (
    FoldScore,
    RiskAndNovelty,
    Samples,
    Uncertainty,
    evaluation_of,
    fit_in_context,
    learns,
)
from sklearn_reject._fitting._out_of_sample import evaluate_out_of_sample
from sklearn_reject._fitting._routing import (
    check_inner,
    check_takes_weights,
    draw_seeds,
    own_param,
    refuse_weights,
    route_of_fit,
    route_params,
)
from sklearn_reject._fitting._splits import (
    ALL_ROWS,
    PLUG_IN,
    Plan,
    check_cv_choice,
    check_splits,
    inner_folds,
    is_share,
    make_splits,
    plan_fits,
    plan_of_splits,
    splits_by_groups,
)

__all__ = [
    "ALL_ROWS",
    "PLUG_IN",
    "FoldScore",
    "Plan",
    "RiskAndNovelty",
    "Samples",
    "Uncertainty",
    "check_cv_choice",
    "check_inner",
    "check_splits",
    "check_takes_weights",
    "draw_seeds",
    "evaluate_out_of_sample",
    "evaluation_of",
    "fit_in_context",
    "inner_folds",
    "is_share",
    "learns",
    "make_splits",
    "own_param",
    "plan_fits",
    "plan_of_splits",
    "refuse_weights",
    "route_of_fit",
    "route_params",
    "splits_by_groups",
]
