"""Scorers for cross-validation and parameter search, by name and from any metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from inspect import Parameter, signature
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from sklearn_reject._labels import find_rated
from sklearn_reject._response._positive import with_unseen
from sklearn_reject._sklearn import _num_samples, _routing_enabled, _safe_indexing
from sklearn_reject._typing import Label
from sklearn_reject._validation import (
    check_number,
    check_option,
    check_sample_weight,
    refuse_unread,
    take_weight,
)
from sklearn_reject.decoding import AVERAGES, as_array, find_positive
from sklearn_reject.losses import check_set_loss, losses_where_known
from sklearn_reject.metrics import _metrics as metrics
from sklearn_reject.metrics._arrays import (
    judge,
    judge_inside,
    ood_label_for,
    refuse_wild,
)
from sklearn_reject.metrics._inside import (
    find,
    index_predicted,
    is_regression,
    locate,
    predict_and_accept,
    predict_classes,
    predict_in_groups,
    predict_with_uncertainty,
    refuse_regressor,
)
from sklearn_reject.selection import solve_target_coverage


@dataclass(eq=False, repr=False)
class Scorer:
    """A callable ``(estimator, X, y)``, higher is better, that may request metadata.

    Parameters
    ----------
    score : callable
        ``score(estimator, X, y, metric, **options, **metadata)`` evaluates a metric.

    metric : callable
        What is evaluated, for `score` and for the representation.

    sign : {1, -1}
        Minus one for metrics that are losses.

    options : dict
        Keyword arguments of `score`.

    requests : dict
        Of each metadata that may be passed, whether routing is asked for it.
    """

    score: Callable[..., float]
    metric: Callable[..., Any]
    sign: int
    options: dict
    requests: dict

    def __call__(self, estimator, X, y, sample_weight=None, **metadata):
        """Return the score of a fitted estimator, a float, higher is better."""
        if sample_weight is not None:
            metadata["sample_weight"] = sample_weight
        options = {**self.options, **metadata}
        return float(self.sign * self.score(estimator, X, y, self.metric, **options))

    def set_score_request(self, **requests):
        """Return a scorer that asks metadata routing for these names, or does not.

        True asks for them, a string under another name; False and None do not.
        """
        unknown = [name for name in requests if name not in self.requests]
        if unknown:
            raise TypeError(f"{unknown} are not among {list(self.requests)}.")
        changed = {k: x for k, x in requests.items() if x != UNCHANGED}
        return replace(self, requests={**self.requests, **changed})

    def get_metadata_routing(self):
        """Return what the scorer requests from metadata routing."""
        requests = MetadataRequest(owner=type(self).__name__)
        for name, request in self.requests.items():
            requests.score.add_request(param=name, alias=request)
        return requests

    def __repr__(self):
        shown = [f", {k}={x!r}" for k, x in self.options.items() if x is not None]
        name = getattr(self.metric, "__name__", repr(self.metric))
        sign = "-" if self.sign < 0 else ""
        return f"<selective scorer {sign}{name}{''.join(shown)}>"


def by_order(estimator, X, y, metric, *, loss=None, labels=None, **options):
    """Evaluate a metric of uncertainties and losses."""
    refuse_wild(estimator, y)
    # Ranks stand for infinite scores, which the metrics do not know.
    y_pred, scores = predict_with_uncertainty(estimator, X, finite=True)
    losses = judge(estimator, y, y_pred, loss, labels)
    return metric(None, None, scores, loss=losses, **options)


def by_opinions(
    estimator, X, y, metric, *, loss, labels, expert_labels=None, **options
):
    """Evaluate a metric of the opinions of a `DeferringClassifier`."""
    scores, *losses = judge_opinions(estimator, X, y, expert_labels, loss, labels)
    return metric(None, None, None, scores, loss=tuple(losses), **options)


def judge_opinions(estimator, X, y, expert_labels, loss=None, labels=None):
    """Return gains and the losses of both opinions, of an estimator."""
    inner, inner_X = locate(estimator, X, "_opinions")
    if inner is None:
        raise ValueError(
            f"{type(estimator).__name__} has no second opinion. Pass a "
            "DeferringClassifier, or a pipeline or search that contains one."
        )
    first, second, scores = inner._opinions(inner_X, expert_labels)
    losses_of = partial(judge, estimator, loss=loss, labels=labels)
    of_second = losses_where_known(losses_of, y, second, "expert_labels")
    return scores, losses_of(y, first), of_second


def by_costs(estimator, X, y, metric, *, reject_cost, loss, labels, sample_weight=None):
    """Evaluate the mean cost of samples, some of which are rejected."""
    refuse_wild(estimator, y)
    refuse_unread(y, "y")
    inner, _ = find(estimator, "accept")
    for each in (estimator, getattr(inner, "estimator_", None)):
        if find(each, "_answer_all")[0] is not None:
            raise ValueError(
                f"{type(estimator).__name__} asks a second opinion, which has costs of "
                "its own. Use get_selective_scorer('neg_deferral_area')."
            )
    cost = getattr(inner, "reject_cost", None) if reject_cost is None else reject_cost
    if cost is None or isinstance(cost, Mapping):
        raise ValueError(
            f"{type(estimator).__name__} has reject_cost={cost!r}. Pass one for all "
            "rejected samples: get_selective_scorer('neg_selective_cost', "
            "reject_cost=...)."
        )
    y_pred, accepted = predict_and_accept(estimator, X)
    losses, rows = np.zeros(len(accepted)), np.flatnonzero(accepted)
    if len(rows):
        samples = _safe_indexing(y, rows), np.asarray(y_pred)[rows]
        losses[rows] = judge(estimator, *samples, loss, labels)
    options = {"reject_cost": cost, "sample_weight": sample_weight}
    return metric(None, None, accepted, loss=losses, **options)


# OOD samples


def by_ood(estimator, X, y, metric, *, ood_label, loss=None, labels=None, **options):
    """Evaluate a metric of labels, of which one says OOD, uncertainties and losses."""
    y_pred, scores = predict_with_uncertainty(estimator, X)
    ood_label, is_ood = ood_label_for(estimator, y, y_pred, ood_label)
    losses = judge_inside(estimator, y, y_pred, is_ood, loss, labels)
    return metric(y, None, scores, loss=losses, ood_label=ood_label, **options)


def by_origin(estimator, X, y, metric, *, ood_label, **options):
    """Evaluate a metric of origins, for which no prediction is wrong."""
    refuse_regressor(
        estimator,
        "and has no labels that are right or wrong. Use a scorer with a loss: "
        "get_selective_scorer with 'neg_aurc', 'neg_augrc' or 'coverage_at_risk'",
    )
    y_pred, scores = predict_with_uncertainty(estimator, X)
    ood_label, _ = ood_label_for(estimator, y, y_pred, ood_label)
    return metric(y, scores, ood_label=ood_label, **options)


# Any other metric of predictions


def by_accepted(
    estimator,
    X,
    y,
    metric,
    *,
    params,
    unrated_label,
    on_reject,
    coverage,
    reject_penalty,
    sample_weight=None,
):
    """Evaluate a metric of predictions, with a rule for what is rejected."""
    refuse_wild(estimator, y)
    weight = check_sample_weight(sample_weight, _num_samples(y))
    if unrated_label is not None:
        X, y, weight = _rated(X, y, weight, unrated_label)
    y = _targets(y)
    if coverage is None:
        y_pred, accepted = predict_and_accept(estimator, X)
    else:
        y_pred, scores = predict_with_uncertainty(estimator, X, finite=True)
        # The losses do not matter.
        options = {"sample_weight": weight, "randomize": False}
        least = solve_target_coverage(scores, 0 * scores, coverage, **options)
        accepted = least.accept(scores)
    y_pred, share = np.asarray(y_pred), 1.0
    if reject_penalty is not None:
        share = np.average(accepted, weights=weight)
    elif on_reject == "count_as_error":
        y_pred = _mistake(y, y_pred, accepted, estimator)
        accepted = np.ones_like(accepted)
    value = 0.0 if share == 1 else (1 - share) * reject_penalty
    if share > 0:
        if weight is not None:
            params = {**params, "sample_weight": take_weight(weight, accepted)}
        value += share * metric(y[accepted], y_pred[accepted], **params)
    return value


def _rated(X, y, weight, unrated_label):
    """Return the samples that were rated; a missing rating is none."""
    y, is_rated = find_rated(y, unrated_label)
    rows = np.flatnonzero(is_rated)
    if not len(rows):
        raise ValueError(
            f"y has no rated documents: all {len(y)} are missing or {unrated_label!r}, "
            "the unrated_label. Use folds with rated documents, such as those of "
            "StratifiedKFold."
        )
    # What is left of labels beside missing values is of one kind.
    labels = np.array(y[rows].tolist()) if y.dtype.kind == "O" else y[rows]
    return _safe_indexing(X, rows), labels, take_weight(weight, rows)


def _targets(y):
    """Return labels or targets as an array, a single column as a vector."""
    refuse_unread(y, "y")
    is_matrix = np.ndim(y) == 2 and np.shape(y)[1] > 1
    return np.asarray(y) if is_matrix else column_or_1d(y)


def _mistake(y, labels, accepted, estimator):
    """Return labels that are wrong wherever a sample is rejected."""
    is_continuous = y.dtype.kind == "f" and bool((y != np.floor(y)).any())
    if is_regression(estimator) or is_continuous or y.ndim > 1:
        raise ValueError(
            "on_reject='count_as_error' gives rejected samples a wrong label, but of "
            f"what {type(estimator).__name__} predicts no label is wrong for certain. "
            "Pass reject_penalty=, or on_reject='drop' with a coverage."
        )
    right = ~accepted & (labels == y)
    if not right.any():
        return labels
    classes = np.unique(np.concatenate([y, labels]))
    if len(classes) < 2:  # as a small part of the samples may have
        classes = np.union1d(classes, getattr(estimator, "classes_", classes))
    if len(classes) < 2:
        raise ValueError(
            "on_reject='count_as_error' gives rejected samples a wrong label, which "
            f"needs at least two classes, got {classes.tolist()}. Pass reject_penalty=."
        )
    other = classes[(np.searchsorted(classes, y[right]) + 1) % len(classes)]
    labels = labels.astype(classes.dtype)
    labels[right] = other
    return labels


def by_sets(estimator, X, y, metric, *, pos_label, groups=None, **options):
    """Evaluate the loss of predicted sets, those of `groups` where they are given."""
    as_array(y, "y")  # raises for lists of labels and masked arrays
    if np.ndim(y) == 2 and np.shape(y)[1] == 1 and not issparse(y):
        y = column_or_1d(y, warn=True)
    # Where a sample is a set, routing may have passed groups that are the splitter's.
    of_samples = {"groups": None if _routing_enabled() else groups, **options}
    if np.ndim(y) > 1:
        return metric(y, estimator.predict(X), **of_samples)
    seen = np.asarray(getattr(estimator, "classes_", np.unique(y)))
    classes = with_unseen(seen, y)
    if len(classes) > 2:
        sets = predict_classes(estimator, X, seen, classes)
        return metric(y, sets, labels=classes, **of_samples)
    if pos_label is None:
        pos_label = getattr(find(estimator, "pos_label")[0], "pos_label", None)
    pos_label = find_positive(classes, pos_label)
    labels = predict_in_groups(estimator, X, groups)
    index_predicted(estimator, labels, classes)  # raises for labels that are none
    return metric(y, labels, groups=groups, pos_label=pos_label, **options)


# By name

# Of each scorer: its sign, what evaluates its metric, and the metric, as it is named.
_ROWS = (
    (-1, by_order, metrics.aurc_score),
    (-1, by_order, metrics.augrc_score),
    (+1, by_order, metrics.coverage_at_risk_score),
    (-1, by_order, metrics.selective_risk_at_coverage_score),
    (-1, by_costs, metrics.selective_cost_score),
    (-1, by_opinions, metrics.deferral_area_score),
    (-1, by_ood, metrics.selective_risk_at_tpr_fpr_score),
    (-1, by_ood, metrics.selective_risk_at_precision_recall_score),
    (+1, by_origin, metrics.ood_auroc_score),
    (-1, by_origin, metrics.fpr_at_tpr_score),
    (-1, by_sets, metrics.set_loss),
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
    **dict.fromkeys(_SHARES, metrics.check_bound),
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
    options = dict(_options_of(metric))
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
    if metric is metrics.set_loss:
        check_set_loss(**{k: options[k] for k in ("loss", "beta", "zero_division")})
    return Scorer(evaluate, metric, sign, options, _REQUESTS.get(evaluate, _WEIGHT))


@cache
def _options_of(metric):
    """Return options of a scorer with their defaults, those that are needed without."""
    is_of_sets = metric is metrics.set_loss  # whose classes and loss are no estimator's
    defaults = {} if is_of_sets else _DEFAULTS
    hidden = _NO_OPTIONS | ({"labels"} if is_of_sets else set())
    return {
        each.name: defaults.get(each.name, each.default)
        for each in signature(metric).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.name not in hidden
    }


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
        coverage = metrics.check_bound(coverage, "coverage")
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
