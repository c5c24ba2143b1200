"""Fitting estimators and scores, and evaluating them on samples they have not seen."""

from sklearn_reject._fitting._deferral import (
    Gains,
    Opinions,
    evaluate_deferral,
)
from sklearn_reject._fitting._experts import (
    Answers,
    ask,
    ask_probabilities,
    asks_person,
    fill_in,
    is_fixed,
)
from sklearn_reject._fitting._folds import (
    FoldScore,
    RiskAndNovelty,
    Samples,
    Uncertainty,
    evaluation_of,
    fit_in_context,
    learns,
    needs_samples,
)
from sklearn_reject._fitting._out_of_sample import (
    avoid_coarse_scores,
    evaluate_for_threshold,
    evaluate_out_of_sample,
)
from sklearn_reject._fitting._routing import (
    check_inner,
    check_takes_weights,
    draw_seeds,
    own_param,
    refuse_weights,
    route_of_fit,
    route_params,
    route_to_both,
)
from sklearn_reject._fitting._splits import (
    ALL_ROWS,
    DEFAULT_FOLDS,
    DEFAULT_SHARE,
    PLUG_IN,
    Plan,
    check_cv_choice,
    check_splits,
    cv_of,
    inner_folds,
    is_share,
    make_splits,
    plan_fits,
    plan_of_splits,
    splits_by_groups,
)
