"""What scores a fitted estimator, for cross-validation and searches."""

from copy import copy
from functools import partial

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from sklearn_reject._labels import find_rated
from sklearn_reject._response._positive import with_unseen
from sklearn_reject._sklearn import _num_samples, _routing_enabled, _safe_indexing
from sklearn_reject._validation import check_sample_weight, refuse_unread, take_weight
from sklearn_reject.decoding import as_array, find_positive
from sklearn_reject.metrics._inside import (
    find,
    index_predicted,
    is_regression,
    predict_and_accept,
    predict_classes,
    predict_in_groups,
    predict_with_uncertainty,
    refuse_regressor,
)
from sklearn_reject.metrics._losses import judge
from sklearn_reject.metrics._origins import judge_inside, ood_label_for, refuse_wild
from sklearn_reject.selection import solve_target_coverage

# Where they are None, what the estimator has is taken.
_OF_ESTIMATOR = ("loss", "labels", "reject_cost")


class Scorer:
    """A callable ``(estimator, X, y)``, higher is better, that may request metadata.

    ``score(estimator, X, y, metric, **options)`` evaluates the metric, and takes what
    is requested by its name. `requests` say of each name whether routing is to pass it:
    True, False, None or another name.
    """

    def __init__(self, score, metric, sign, options, requests):
        self._score = score
        self._metric = metric
        self._sign = sign
        self._options = options
        self._requests = requests

    def __call__(self, estimator, X, y, sample_weight=None, **metadata):
        """Return the score of a fitted estimator, a float, higher is better."""
        if sample_weight is not None:
            metadata["sample_weight"] = sample_weight
        options = {**self._options, **metadata}
        return float(self._sign * self._score(estimator, X, y, self._metric, **options))

    def set_score_request(self, **requests):
        """Return a scorer that asks metadata routing for these names, or does not.

        True, False, None or an alias, as scikit-learn's metadata requests define it.
        """
        unknown = [name for name in requests if name not in self._requests]
        if unknown:
            raise TypeError(f"{unknown} are not among {list(self._requests)}.")
        scorer = copy(self)
        changed = {k: x for k, x in requests.items() if x != UNCHANGED}
        scorer._requests = {**self._requests, **changed}
        return scorer

    def get_metadata_routing(self):
        """Return what the scorer requests from metadata routing."""
        requests = MetadataRequest(owner=type(self).__name__)
        for name, request in self._requests.items():
            requests.score.add_request(param=name, alias=request)
        return requests

    def __repr__(self):
        options = dict(self._options)
        options = {**options.pop("params", {}), **options}
        shown = [
            f", {name}={value!r}"
            for name, value in options.items()
            if value is not None or name not in _OF_ESTIMATOR
        ]
        name = getattr(self._metric, "__name__", repr(self._metric))
        sign = "-" if self._sign < 0 else ""
        return f"<selective scorer {sign}{name}{''.join(shown)}>"


def by_order(estimator, X, y, metric, *, loss=None, labels=None, **options):
    """Evaluate a metric of uncertainties and losses."""
    refuse_wild(estimator, y)
    # Ranks stand for infinite scores, which the metrics do not know.
    y_pred, scores = predict_with_uncertainty(estimator, X, finite=True)
    losses = judge(estimator, y, y_pred, loss, labels)
    return metric(None, None, scores, loss=losses, **options)


def by_ood(estimator, X, y, metric, *, ood_label, loss=None, labels=None, **options):
    """Evaluate a metric of labels, of which one says OOD, uncertainties and losses."""
    y_pred, scores = predict_with_uncertainty(estimator, X)
    ood_label, is_ood = ood_label_for(estimator, y, y_pred, ood_label)
    losses = judge_inside(estimator, y, y_pred, is_ood, loss, labels)
    return metric(y, None, scores, loss=losses, ood_label=ood_label, **options)


def by_origin(estimator, X, y, metric, *, ood_label, **options):
    """Evaluate a metric of origins, for which no prediction is wrong."""
    _refuse_numbers(estimator)
    y_pred, scores = predict_with_uncertainty(estimator, X)
    ood_label, _ = ood_label_for(estimator, y, y_pred, ood_label)
    return metric(y, scores, ood_label=ood_label, **options)


def _refuse_numbers(estimator):
    refuse_regressor(
        estimator,
        "and has no labels that are right or wrong. Use a scorer with a loss: "
        "get_selective_scorer with 'neg_aurc', 'neg_augrc' or 'coverage_at_risk'",
    )


def by_accepted(estimator, X, y, metric, *, params, sample_weight=None, **rule):
    """Evaluate a metric of predictions, with a rule for what is rejected."""
    refuse_wild(estimator, y)
    y = _targets(y)
    weight = check_sample_weight(sample_weight, len(y))
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
        _refuse_targets(estimator, y)
        y_pred = _mistake(y, y_pred, accepted, estimator)
        accepted = np.ones_like(accepted)
    elif on_reject == "error" and not accepted.all():
        raise ValueError(
            f"{np.count_nonzero(~accepted)} samples are rejected and "
            "on_reject='error'. Use 'count_as_error', or 'drop' with a coverage."
        )
    value = 0.0 if share == 1 else (1 - share) * penalty
    if share > 0:
        if weight is not None:
            params = {**params, "sample_weight": take_weight(weight, accepted)}
        value += share * metric(y[accepted], y_pred[accepted], **params)
    return value


def _targets(y):
    """Return labels or targets as an array, a single column as a vector."""
    refuse_unread(y, "y")
    is_matrix = np.ndim(y) == 2 and np.shape(y)[1] > 1
    return np.asarray(y) if is_matrix else column_or_1d(y)


def _refuse_targets(estimator, y):
    """Raise where no prediction is a wrong label, so that rejection has no cost."""
    is_continuous = y.dtype.kind == "f" and bool((y != np.floor(y)).any())
    if is_regression(estimator) or is_continuous or y.ndim > 1:
        raise ValueError(
            "on_reject='count_as_error' gives rejected samples a wrong label, but "
            f"{type(estimator).__name__} predicts numbers or multiple outputs, where "
            "no label is wrong for certain. Pass the value of a rejected sample as "
            "reject_penalty=, or use on_reject='drop' with a coverage."
        )


def _mistake(y, labels, accepted, estimator):
    """Return labels that are wrong wherever a sample is rejected."""
    right = ~accepted & (labels == y)
    if not right.any():
        return labels
    classes = np.unique(np.concatenate([y, labels]))
    if len(classes) < 2:  # as a small part of the samples may have
        classes = np.union1d(classes, getattr(estimator, "classes_", classes))
    if len(classes) < 2:
        raise ValueError(
            "on_reject='count_as_error' needs at least two classes, because a rejected "
            f"sample gets a wrong label, got {classes.tolist()}. Pass the value of a "
            "rejected sample as reject_penalty=."
        )
    other = classes[(np.searchsorted(classes, y[right]) + 1) % len(classes)]
    labels = labels.astype(classes.dtype)
    labels[right] = other
    return labels


def by_rated(estimator, X, y, scorer, *, unrated_label, sample_weight=None):
    """Evaluate another scorer of rated documents only."""
    y, is_rated = find_rated(y, unrated_label)
    rows = np.flatnonzero(is_rated)
    if not len(rows):
        raise ValueError(
            f"y has no rated documents: all {len(y)} are missing or {unrated_label!r}, "
            "the unrated_label. Use folds with rated documents, such as those of "
            "StratifiedKFold."
        )
    params = {}
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, _num_samples(X))
        params["sample_weight"] = weight[rows]
    labels = y[rows]
    if labels.dtype.kind == "O":
        # What is left of labels beside missing values is of one kind.
        labels = np.array(labels.tolist())
    return scorer(estimator, _safe_indexing(X, rows), labels, **params)


def by_sets(estimator, X, y, metric, *, average, pos_label, groups=None, **options):
    """Evaluate the loss of predicted sets, those of `groups` where they are given."""
    metric = partial(metric, **options)
    as_array(y, "y")  # raises for lists of labels and masked arrays
    if np.ndim(y) == 2 and np.shape(y)[1] == 1 and not issparse(y):
        y = column_or_1d(y, warn=True)
    if np.ndim(y) > 1:
        _refuse_groups(groups)
        return metric(y, estimator.predict(X), average=average)
    if average != "samples":
        raise ValueError(
            f"average={average!r} is for multilabel targets, but here each sample has "
            "one label. Use average='samples'."
        )
    seen = np.asarray(getattr(estimator, "classes_", np.unique(y)))
    classes = with_unseen(seen, y)
    if len(classes) > 2:
        _refuse_groups(groups)
        return metric(y, predict_classes(estimator, X, seen, classes), labels=classes)
    if pos_label is None:
        pos_label = getattr(find(estimator, "pos_label")[0], "pos_label", None)
    pos_label = find_positive(classes, pos_label)
    labels = predict_in_groups(estimator, X, groups)
    index_predicted(estimator, labels, classes)  # raises for labels that are none
    return metric(y, labels, groups=groups, pos_label=pos_label)


def _refuse_groups(groups):
    """Raise for groups of samples that are sets, unless routing may have passed them.

    There they are for the splitter, and scorers as well as splitters request them.
    """
    if groups is not None and not _routing_enabled():
        raise ValueError(
            "groups define sets of samples for two classes, but here each sample is a "
            "set. Omit groups."
        )
