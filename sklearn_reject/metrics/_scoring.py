"""Objects that score a fitted estimator, for cross-validation and searches."""

from copy import copy
from types import MappingProxyType

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from sklearn_reject._response import with_unseen
from sklearn_reject._sklearn import _routing_enabled
from sklearn_reject._validation import (
    check_option,
    check_sample_weight,
    refuse_unread,
    take_weight,
)
from sklearn_reject.decoding import AVERAGES, as_array, find_positive
from sklearn_reject.losses import check_set_loss
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
from sklearn_reject.metrics._set_loss import set_loss
from sklearn_reject.selection import solve_target_coverage


class _Scorer:
    """A callable ``(estimator, X, y)`` that may request metadata."""

    # Of each name, whether routing is to pass it: True, False, None or another name.
    _requests = MappingProxyType({"sample_weight": None})

    def _with_requests(self, **requests):
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


class SelectiveScorer(_Scorer):
    """Scorer of a metric of uncertainties and losses, ``sample_weight=None`` as well.

    Losses are those of the estimator where `loss` is None, and 0/1 whatever the
    estimator is made for where a metric `is_of_labels`.
    """

    def __init__(
        self, metric, sign, options=None, *, loss=None, labels=None, is_of_labels=False
    ):
        self._metric = metric
        self._sign = sign
        self._options = options or {}
        self._judged_by = {"loss": loss, "labels": labels}
        self._is_of_labels = is_of_labels

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted estimator, a float, higher is better."""
        refuse_wild(estimator, y)
        # Ranks stand for infinite scores, which the metrics do not know.
        y_pred, scores = predict_with_uncertainty(estimator, X, finite=True)
        losses = judge(estimator, y, y_pred, **self._judging(estimator))
        options = {"sample_weight": sample_weight, **self._options}
        value = self._metric(None, None, scores, loss=losses, **options)
        return float(self._sign * value)

    def _judging(self, estimator):
        """Return which loss an estimator is to be judged by."""
        if not self._is_of_labels:
            return self._judged_by
        refuse_regressor(
            estimator,
            "and has no labels that are right or wrong. Use a scorer with a loss: "
            "get_selective_scorer with 'neg_aurc', 'neg_augrc' or 'coverage_at_risk'",
        )
        return {"loss": "zero_one"}

    def set_score_request(self, *, sample_weight=None):
        """Return a scorer that asks metadata routing for `sample_weight`, or does not.

        True, False, None or an alias, as scikit-learn's metadata requests define it.
        """
        return self._with_requests(sample_weight=sample_weight)

    def __repr__(self):
        sign = "-" if self._sign < 0 else ""
        name = getattr(self._metric, "__name__", repr(self._metric))
        given = {key: x for key, x in self._judged_by.items() if x is not None}
        return f"<selective scorer {sign}{name}{_show({**self._options, **given})}>"


class OODScorer(SelectiveScorer):
    """Scorer of a metric that also takes labels, of which one says OOD."""

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted classifier, a float, higher is better."""
        judging, options = self._judging(estimator), dict(self._options)
        y_pred, scores = predict_with_uncertainty(estimator, X)
        label, is_ood = ood_label_for(estimator, y, y_pred, options.pop("ood_label"))
        losses = judge_inside(estimator, y, y_pred, is_ood, **judging)
        options |= {"ood_label": label, "sample_weight": sample_weight}
        return float(self._sign * self._of(y, scores, losses, options))

    def _of(self, y, scores, losses, options):
        return self._metric(y, None, scores, loss=losses, **options)


class OriginScorer(OODScorer):
    """Scorer of a metric of scores and origins, for which no prediction is wrong."""

    def _of(self, y, scores, losses, options):
        return self._metric(y, scores, **options)


def _show(options):
    return "".join(f", {name}={value!r}" for name, value in options.items())


class AcceptedScorer(SelectiveScorer):
    """Scorer of a metric of predictions, with a rule for what is rejected."""

    def __init__(self, metric, sign, options, **rule):
        super().__init__(metric, sign, options)
        self._rule = rule

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted estimator, a float, higher is better."""
        refuse_wild(estimator, y)
        y = _targets(y)
        weight = check_sample_weight(sample_weight, len(y))
        y_pred, accepted = self._predict(estimator, X, weight)
        on_reject, penalty = self._rule["on_reject"], self._rule["reject_penalty"]
        share = 1.0
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
            value += share * self._value(y, y_pred, weight, accepted)
        return float(self._sign * value)

    def _predict(self, estimator, X, weight):
        """Return predictions, and which are accepted."""
        if self._rule["coverage"] is None:
            y_pred, accepted = predict_and_accept(estimator, X)
        else:
            y_pred, scores = predict_with_uncertainty(estimator, X, finite=True)
            options = {"sample_weight": weight, "randomize": False}
            losses = np.zeros(len(scores))  # which do not matter
            coverage = self._rule["coverage"]
            rule = solve_target_coverage(scores, losses, coverage, **options)
            accepted = rule.accept(scores)
        return np.asarray(y_pred), accepted

    def _value(self, y, y_pred, weight, accepted):
        options = dict(self._options)
        if weight is not None:
            options["sample_weight"] = take_weight(weight, accepted)
        return self._metric(y[accepted], y_pred[accepted], **options)

    def __repr__(self):
        return f"{super().__repr__()[:-1]}{_show(self._rule)}>"


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


class SetScorer(_Scorer):
    """Minus the mean realized loss of sets, those of `groups` where they are given."""

    # As for the splitters that work on groups, there is nothing else to do with them.
    _requests = MappingProxyType({"groups": True})

    def __init__(self, options, average, pos_label):
        check_option(average, "average", AVERAGES)
        self._loss = check_set_loss(**options)
        self._options = {**options, "average": average}
        self._pos_label = pos_label

    def __call__(self, estimator, X, y, groups=None):
        """Return the score of a fitted classifier, a float, higher is better."""
        as_array(y, "y")  # raises for lists of labels and masked arrays
        if np.ndim(y) == 2 and np.shape(y)[1] == 1 and not issparse(y):
            y = column_or_1d(y, warn=True)
        average = self._options["average"]
        if np.ndim(y) > 1:
            _check_groups(groups)
            y_pred = estimator.predict(X)
            return -set_loss(y, y_pred, loss=self._loss, average=average)
        if average != "samples":
            raise ValueError(
                f"average={average!r} is for multilabel targets, but here each sample "
                "has one label. Use average='samples'."
            )
        seen = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        classes = with_unseen(seen, y)
        if len(classes) > 2:
            _check_groups(groups)
            sets = predict_classes(estimator, X, seen, classes)
            return -set_loss(y, sets, loss=self._loss, labels=classes)
        positive = self._positive(estimator, classes)
        labels = predict_in_groups(estimator, X, groups)
        index_predicted(estimator, labels, classes)  # raises for labels that are none
        return -set_loss(y, labels, loss=self._loss, groups=groups, pos_label=positive)

    def _positive(self, estimator, classes):
        """Return the positive one of two classes."""
        label = self._pos_label
        if label is None:
            label = getattr(find(estimator, _names_positive)[0], "pos_label", None)
        return find_positive(classes, label)

    def set_score_request(self, *, groups=None):
        """Return a scorer that asks metadata routing for `groups`, or does not.

        True as in a new scorer, False, None or an alias.
        """
        return self._with_requests(groups=groups)

    def __repr__(self):
        options = {**self._options, "pos_label": self._pos_label}
        return f"<selective scorer -set_loss{_show(options)}>"


def _check_groups(groups):
    """Raise for groups of samples that are sets, unless routing may have passed them.

    There they are for the splitter, and scorers as well as splitters request them.
    """
    if groups is not None and not _routing_enabled():
        raise ValueError(
            "groups define sets of samples for two classes, but here each sample is a "
            "set. Omit groups."
        )


def _names_positive(estimator):
    return getattr(estimator, "pos_label", None) is not None
