"""What scores a fitted estimator, for cross-validation and searches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from sklearn_reject._labels import find_rated
from sklearn_reject._response._positive import with_unseen
from sklearn_reject._sklearn import _num_samples, _routing_enabled, _safe_indexing
from sklearn_reject._validation import check_sample_weight, refuse_unread, take_weight
from sklearn_reject.decoding import as_array, find_positive
from sklearn_reject.losses import losses_where_known
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
from sklearn_reject.metrics._losses import judge
from sklearn_reject.metrics._ood import judge_inside, ood_label_for, refuse_wild
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
    estimator, X, y, metric, *, params, unrated_label, sample_weight=None, **rule
):
    """Evaluate a metric of predictions, with a rule for what is rejected."""
    refuse_wild(estimator, y)
    weight = check_sample_weight(sample_weight, _num_samples(y))
    if unrated_label is not None:
        X, y, weight = _rated(X, y, weight, unrated_label)
    y = _targets(y)
    on_reject, coverage, penalty = rule.values()
    if coverage is None:
        y_pred, accepted = predict_and_accept(estimator, X)
    else:
        y_pred, scores = predict_with_uncertainty(estimator, X, finite=True)
        # The losses do not matter.
        options = {"sample_weight": weight, "randomize": False}
        least = solve_target_coverage(scores, 0 * scores, coverage, **options)
        accepted = least.accept(scores)
    y_pred, share = np.asarray(y_pred), 1.0
    if penalty is not None:
        share = np.average(accepted, weights=weight)
    elif on_reject == "count_as_error":
        y_pred = _mistake(y, y_pred, accepted, estimator)
        accepted = np.ones_like(accepted)
    value = 0.0 if share == 1 else (1 - share) * penalty
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
