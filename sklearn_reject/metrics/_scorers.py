"""What makes scorers for cross-validation and parameter search."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import Any, Literal

import numpy as np

from sklearn_reject._typing import Label
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.decoding import AVERAGES
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics._ood import (
    check_bound,
    fpr_at_tpr_score,
    ood_auroc_score,
    selective_risk_at_precision_recall_score,
    selective_risk_at_tpr_fpr_score,
)
from sklearn_reject.metrics._risk_coverage import (
    augrc_score,
    aurc_score,
    coverage_at_risk_score,
    deferral_area_score,
    selective_cost_score,
    selective_risk_at_coverage_score,
)
from sklearn_reject.metrics._scoring import (
    Scorer,
    by_accepted,
    by_costs,
    by_ood,
    by_opinions,
    by_order,
    by_origin,
    by_sets,
)
from sklearn_reject.metrics._sets import set_loss

# Of each scorer: its sign, what evaluates its metric, and the metric, as it is named.
_ROWS = (
    (-1, by_order, aurc_score),
    (-1, by_order, augrc_score),
    (+1, by_order, coverage_at_risk_score),
    (-1, by_order, selective_risk_at_coverage_score),
    (-1, by_costs, selective_cost_score),
    (-1, by_opinions, deferral_area_score),
    (-1, by_ood, selective_risk_at_tpr_fpr_score),
    (-1, by_ood, selective_risk_at_precision_recall_score),
    (+1, by_origin, ood_auroc_score),
    (-1, by_origin, fpr_at_tpr_score),
    (-1, by_sets, set_loss),
)
_SCORERS = {
    "neg_" * (row[0] < 0) + row[2].__name__.removesuffix("_score"): row for row in _ROWS
}

# Where defaults are not those of the metric. None is what the estimator has.
_DEFAULTS = {"loss": None, "reject_cost": None, "positive": "id"}

# What scorers know without being told, and what has no use in them.
_NO_OPTIONS = {"sample_weight", "novelty", "groups", "randomize"}

# The metadata that may be requested; groups have no other use, as for splitters.
_WEIGHT = {"sample_weight": None}
_REQUESTS = {
    by_opinions: {"sample_weight": None, "expert_labels": None},
    by_sets: {"groups": True},
}

_SHARES = ("coverage", "tpr", "min_tpr", "max_fpr", "min_precision", "ood_prior")
_CHECKS = {
    **dict.fromkeys(_SHARES, check_bound),
    **dict.fromkeys(("risk", "reject_cost"), check_number),
    "positive": partial(check_option, options=("id", "ood")),
    "average": partial(check_option, options=AVERAGES),
    # With "prr" higher is better, so its negative is no score.
    "normalize": partial(check_option, options=(None, "excess")),
}


def get_selective_scorer(name: str, /, **params: Any) -> Callable[..., float]:
    """Get a scorer for cross-validation and parameter search by its name.

    Parameters
    ----------
    name : str
        One of :func:`get_selective_scorer_names`, see the table in the notes.

    **params : dict
        Options of the scorer, see the table. They are those of the metric: what an
        option means is said there.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better. That of
        "neg_set_loss" takes `groups` in place of weights. That of "neg_deferral_area"
        also takes `expert_labels`: what a person says about the samples, None or NaN
        where that is not known.

    Raises
    ------
    ValueError
        If the name is unknown or an option out of its range. A scorer raises where its
        loss does not suit what the estimator predicts.

    TypeError
        If the scorer has no such option, or lacks one that it must have.

    See Also
    --------
    make_selective_scorer : A scorer from any metric of predictions.

    Notes
    -----
    ========================================  =========================================
    Name                                      Metric, and its options
    ========================================  =========================================
    "neg_aurc"                                :func:`aurc_score`: `loss`, `labels`,
                                              `normalize`
    "neg_augrc"                               :func:`augrc_score`: `loss`, `labels`
    "coverage_at_risk"                        :func:`coverage_at_risk_score`: `risk`
                                              (needed), `loss`, `labels`
    "neg_selective_risk_at_coverage"          :func:`selective_risk_at_coverage_score`:
                                              `coverage` (needed), `loss`, `labels`
    "neg_selective_cost"                      :func:`selective_cost_score`:
                                              `reject_cost`, `loss`, `labels`
    "neg_deferral_area"                       :func:`deferral_area_score`: `loss`,
                                              `labels`, `normalize`
    "neg_selective_risk_at_tpr_fpr"           :func:`selective_risk_at_tpr_fpr_score`:
                                              `min_tpr`, `max_fpr` (needed),
                                              `ood_label`, `loss`, `labels`,
                                              `infeasible`
    "neg_selective_risk_at_precision_recall"  |at_precision_recall|:
                                              `min_tpr`, `min_precision`,
                                              `ood_prior` (needed), `ood_label`,
                                              `loss`, `labels`, `infeasible`
    "ood_auroc"                               :func:`ood_auroc_score`: `ood_label`
    "neg_fpr_at_tpr"                          :func:`fpr_at_tpr_score`: `tpr`,
                                              `positive`, `ood_label`
    "neg_set_loss"                            :func:`set_loss`: `loss`, `beta`,
                                              `zero_division`, `average`, `pos_label`
    ========================================  =========================================

    .. |at_precision_recall| replace::
       :func:`selective_risk_at_precision_recall_score`

    A `normalize` is None or "excess": with "prr" higher is better, not lower.

    A `loss` of None takes the `loss_` of an estimator that has one, such as
    :class:`~sklearn_reject.SelectiveRegressor`, also inside a pipeline or a search, and
    0/1 loss for other classifiers. `labels` of None are the sorted classes of the
    estimator and of the samples.

    An `ood_label` of "auto" is the `ood_label_` that the estimator was fitted with, if
    it has one, also inside a pipeline or a search; else "ood" for strings and -1 for
    numbers. Without OOD samples these scorers return NaN and warn. `infeasible` is the
    risk where both bounds cannot be met: with NaN, the default, a candidate of a search
    that misses them on one validation part has no score.

    Do not search over a cost of the estimator with "neg_selective_cost" unless you give
    the `reject_cost` that rejections really have: each candidate would be judged by its
    own cost, and the lowest would win. A :class:`~sklearn_reject.DeferringClassifier`
    takes "neg_deferral_area".

    "neg_set_loss" takes any classifier. With two classes, the samples of one call are
    a set, or those of each of the `groups`. With several labels a sample, each row is a
    set, or what `average` says. With more classes, a set is what ``predict_set``
    returns for a sample, or else the class that is predicted. A class that the
    classifier has not seen counts as missed, with a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import get_selective_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = get_selective_scorer("coverage_at_risk", risk=0.02)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=3).round(2)
    array([0.82, 0.84, 0.92])

    >>> costs = [[0, 1, 1], [1, 0, 1], [1, 5, 0]]
    >>> scorer = get_selective_scorer("neg_aurc", loss=costs)
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 4)
    -0.0121
    """
    check_option(name, "name", get_selective_scorer_names())
    sign, evaluate, metric = _SCORERS[name]
    is_of_sets = metric is set_loss  # whose classes and loss are no estimator's
    defaults = {} if is_of_sets else _DEFAULTS
    hidden = _NO_OPTIONS | ({"labels"} if is_of_sets else set())
    options = {
        each.name: defaults.get(each.name, each.default)
        for each in signature(metric).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.name not in hidden
    }
    unknown = [option for option in params if option not in options]
    if unknown:
        raise TypeError(
            f"The scorer {name!r} has no option {unknown[0]!r}. Its options are "
            f"{list(options)}."
        )
    for option, default in options.items():
        value = options[option] = params.get(option, default)
        if value is Parameter.empty:
            raise TypeError(f"The scorer {name!r} needs the option {option!r}.")
        if option in _CHECKS and value is not default:
            options[option] = _CHECKS[option](value, option)
    if is_of_sets:
        check_set_loss(**{k: options[k] for k in ("loss", "beta", "zero_division")})
    return Scorer(evaluate, metric, sign, options, _REQUESTS.get(evaluate, _WEIGHT))


def get_selective_scorer_names() -> list[str]:
    """Get the names of the scorers.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from sklearn_reject.metrics import get_selective_scorer_names
    >>> get_selective_scorer_names()[:4]
    ['coverage_at_risk', 'neg_augrc', 'neg_aurc', 'neg_deferral_area']
    """
    return sorted(_SCORERS)


def make_selective_scorer(
    metric: Callable[..., Any],
    /,
    *,
    on_reject: Literal["count_as_error", "drop"] = "count_as_error",
    coverage: float | None = None,
    reject_penalty: float | None = None,
    greater_is_better: bool = True,
    unrated_label: Label = None,
    **kwargs: Any,
) -> Callable[..., float]:
    """Make a scorer from a metric of predictions, such as those of scikit-learn.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, **kwargs)``.

    on_reject : {"count_as_error", "drop"}, default="count_as_error"
        What happens to rejected samples. "count_as_error" gives them a wrong label or
        the `reject_penalty`, and "drop" leaves them out, which needs a `coverage`:
        otherwise rejecting everything would be rewarded.

    coverage : float in (0, 1], default=None
        Accept at least this share of the samples, the least uncertain ones, instead of
        those that the estimator accepts.

    reject_penalty : float, default=None
        Value of a rejected sample with "count_as_error", in units of the metric: the
        value is coverage * metric(accepted) + (1 - coverage) * penalty, and the penalty
        where nothing is accepted. With `sample_weight` the coverage is the weighted
        one. That is the metric of all samples, with the penalty in the place of the
        rejected ones, if it is a mean over samples, as the mean squared error is; of
        others, such as F1 or R2, it is a mixture. Regressors need it, as they have no
        wrong label.

    greater_is_better : bool, default=True
        Whether the metric is a score rather than a loss, which is negated.

    unrated_label : label, default=None
        Label of documents that were not rated, such as -1. They are left out, as are
        those whose label is missing: a model that reports more unrated documents is not
        judged worse. Models are comparable only if documents were rated down to the
        same lowest thresholds. None if all samples are rated.

    **kwargs : dict
        Passed to the metric.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If `on_reject` is unknown, or is "drop" without a coverage, if `coverage` is not
        in (0, 1], or if a `reject_penalty` is no finite number or has nothing to do.
        The scorer raises where rejected samples have neither a wrong label nor a
        penalty.

    TypeError
        If `metric` is the name of a scorer, or a scorer itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import f1_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import make_selective_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = make_selective_scorer(
    ...     f1_score, on_reject="drop", coverage=0.9, average="macro"
    ... )
    >>> round(scorer(GaussianNB().fit(X, y), X, y), 3)
    0.984

    Of documents that are rated in part, the precision:

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import precision_score
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_reject import EnsembleThresholdTuner
    >>> scores, y = make_classification(
    ...     1000, 2, n_informative=2, n_redundant=0, weights=[0.9], random_state=0
    ... )
    >>> y[scores.max(axis=1) < 0] = -1  # nobody has looked
    >>> tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1)
    >>> precise = make_selective_scorer(precision_score, unrated_label=-1)
    >>> precision = cross_val_score(tuner, scores, y, scoring=precise, cv=3)
    >>> bool((precision > 0.5).all())
    True
    """
    if not callable(metric) or hasattr(metric, "set_score_request"):
        raise TypeError(
            "metric must be a function (y_true, y_pred), such as "
            f"sklearn.metrics.f1_score with average='macro', got {metric!r}. A scorer "
            "predicts itself and would not know which samples are rejected."
        )
    check_option(on_reject, "on_reject", ("count_as_error", "drop"))
    if coverage is not None:
        coverage = check_bound(coverage, "coverage")
    elif on_reject == "drop":
        raise ValueError(
            "on_reject='drop' without a coverage rewards rejecting everything. Pass "
            "coverage=, or use on_reject='count_as_error'."
        )
    has_penalty = reject_penalty is not None
    if has_penalty and (on_reject == "drop" or not np.isfinite(reject_penalty)):
        raise ValueError(
            "reject_penalty must be a finite number, and is for "
            f"on_reject='count_as_error', got {reject_penalty!r} with "
            f"on_reject={on_reject!r}."
        )
    options = {
        "params": kwargs,
        "unrated_label": unrated_label,
        "on_reject": on_reject,
        "coverage": coverage,
        "reject_penalty": reject_penalty,
    }
    sign = 1 if greater_is_better else -1
    return Scorer(by_accepted, metric, sign, options, _WEIGHT)
