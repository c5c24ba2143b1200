"""What a fitted deferring classifier decides, whom it asks, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._base import check_keys, draw_rows
from sklearn_reject._estimators._deferral_rules import refuse_labels
from sklearn_reject._estimators._groups import labels_of
from sklearn_reject._estimators._retarget import features_of, require_fit
from sklearn_reject._fitting._experts import ask, asks_person, fill_in, is_fixed
from sklearn_reject._labels import mark_rejected, merge_labels
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import _num_samples, take_rows
from sklearn_reject._validation import index_labels
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.losses import labels_or_none
from sklearn_reject.scores import evaluate_score
from sklearn_reject.selection import targets_by_group


class BothOpinions(NamedTuple):
    """Labels of both for all samples, missing ones as None, and the gain of asking."""

    first: np.ndarray
    second: np.ndarray
    gain: np.ndarray


class DeferMixin:
    """Decisions and answers of an estimator that fits a `rule_` of deferral.

    They rest on `estimator_`, `expert_`, `gain_score_`, `rule_`, `group_by_`,
    `defer_label_`, `classes_` and `seed_`. Scorers and other deferring classifiers,
    which may ask this one, use `_opinions`, `_answer_all` and `_decide`.
    """

    _score_name, _share_name, _verb = "gain_score_", "deferral_rate", "defers"

    def _evaluate(self, X, response=None):
        """Return labels of the first classifier, and gains, of one pass."""
        require_fit(self)
        response = Response(self.estimator_, X) if response is None else response
        _, gain = evaluate_score(self.gain_score_, response, "gain_score")
        return response.labels, gain

    def _probability(self, X, labels, gain):
        """Return how likely samples of these first labels and gains are deferred."""
        if self.group_by_ is not None:
            return self.rule_.defer_proba(gain, labels_of(self.group_by_, X, labels))
        return self.rule_.defer_proba(gain)

    def _decide(self, X, keys, response=None):
        """Return first labels, gains, and which samples are deferred."""
        require_fit(self)
        keys = check_keys(X, keys, self.rule_)
        labels, gain = self._evaluate(X, response)
        probability = self._probability(X, labels, gain)
        return (
            labels,
            gain,
            draw_rows(probability, features_of(self, X), keys, self.seed_),
        )

    def _ask(self, X, labels, deferred):
        """Return labels of whoever answers, costs, and what is left to a person.

        Costs are those of asking, by this classifier and by those that it asks.
        """
        rows = np.flatnonzero(deferred)
        costs = self._unit_costs(X, labels) * deferred
        if labels.dtype.kind == self.classes_.dtype.kind:
            labels = labels.astype(np.result_type(labels, self.classes_), copy=False)
        if self.expert_ is None or not len(rows):
            return labels, costs, deferred & (self.expert_ is None)
        is_open = np.zeros(len(labels), dtype=bool)
        try:
            found, spent, is_open[rows] = ask(self.expert_, take(X, rows), rows)
        except ExpertError as error:
            rest = self._labels_beside(error, labels, rows)
            raise ExpertError(str(error), error.rows, rest) from error.__cause__
        costs[rows] += spent
        return merge_labels(labels, rows, found), costs, is_open

    def _labels_beside(self, error, labels, rows):
        """Return all labels but those that an expert has failed to give."""
        if error.labels is not None:  # of a cascade, whose others have answered
            labels = merge_labels(labels, rows, error.labels)
        if self.defer_label_ is None:
            return labels
        has_label = np.ones(len(labels), dtype=bool)
        has_label[error.rows] = False
        return mark_rejected(labels, has_label, self.defer_label_)

    def _unit_costs(self, X, labels):
        """Return what asking about each sample costs, be it done or not."""
        cost = self._asked["deferral_cost"]
        if not isinstance(cost, Mapping):
            return np.full(len(labels), 0.0 if cost is None else float(cost))
        costs = targets_by_group(cost, tuple(self.rule_.rules), "deferral_cost")
        groups = labels_of(self.group_by_, X, labels)
        # Of groups that are not known, all samples are deferred, at no known cost.
        return np.array([costs.get(group, np.nan) for group in groups])

    def _answer_all(self, X):
        """Return labels, costs, and what is left to a person, for who asks this one."""
        labels, _, deferred = self._decide(X, None)
        return self._ask(X, labels, deferred)

    def _mark(self, labels, is_open):
        """Return labels with `defer_label_` where a person has to answer."""
        if self.defer_label_ is None or not asks_person(self.expert_):
            return labels
        return mark_rejected(labels, ~is_open, self.defer_label_)

    def _opinions(self, X, expert_labels=None):
        """Return labels of both for all samples, and the gain of asking."""
        labels, gain = self._evaluate(X)
        n_samples, is_person = len(gain), asks_person(self.expert_)
        if expert_labels is None and self.expert_ is None:
            self._person(None, n_samples)  # raises
        expert = self._asked["expert"]
        replaces = self.expert_ is None or (is_fixed(expert) and not is_person)
        if expert_labels is not None and not (replaces or is_person):
            refuse_labels(expert)
        if expert_labels is not None and replaces:
            given = self._person(expert_labels, n_samples)
            return BothOpinions(labels, given, gain)
        second, _, is_open = ask(self.expert_, X, np.arange(n_samples))
        if is_open.any():
            second = fill_in(second, is_open, self._person(expert_labels, n_samples))
        return BothOpinions(labels, second, gain)

    def _person(self, expert_labels, n_samples):
        """Return the labels of a person, or raise where these are needed."""
        if expert_labels is not None:
            return labels_or_none(expert_labels, n_samples, "expert_labels")
        raise ValueError(
            "expert_labels is None, but a person is asked about some of the samples. "
            "Pass the person's labels, NaN or None where they are unknown. "
            "Cross-validation and searches pass them on if metadata routing is enabled "
            "and `set_score_request(expert_labels=True)` was called."
        )

    def _align(self, probabilities, estimator):
        """Return probabilities in columns of `classes_`."""
        places, unknown = index_labels(np.asarray(estimator.classes_), self.classes_)
        aligned = np.zeros((len(probabilities), len(self.classes_)))
        aligned[:, places[~unknown]] = np.asarray(probabilities)[:, ~unknown]
        return aligned


def take(X, rows):
    """Return some rows of samples, without a copy where these are all."""
    return X if len(rows) == _num_samples(X) else take_rows(X, rows)


@dataclass(frozen=True, eq=False)
class Trace:
    """Who answers each sample: the label, None if not known, the level, all costs.

    `names` are those of the levels, and `costs` has a column for each but the first.
    """

    labels: np.ndarray
    levels: np.ndarray
    names: list
    costs: np.ndarray


def trace(classifier, X, known, rows):
    """Follow samples through a deferring classifier, and those that it asks.

    `known` are the labels of a person, and `rows` the positions of the samples in what
    the user has given.
    """
    labels, _, deferred = classifier._decide(X, None)
    names = _names_of(classifier)
    levels = deferred.astype(np.intp)
    costs = np.zeros((len(labels), len(names) - 1))
    costs[deferred, 0] = classifier._unit_costs(X, labels)[deferred]
    labels, asked = labels.astype(object), np.flatnonzero(deferred)
    if not len(asked):
        return Trace(labels, levels, names, costs)
    expert, part, rows = classifier.expert_, take(X, asked), rows[asked]
    if expert is None:
        labels[asked] = classifier._person(known, len(labels))[asked]
    elif hasattr(expert, "_decide"):
        of_known = None if known is None else known[asked]
        inner = trace(expert, part, of_known, rows)
        labels[asked] = inner.labels
        levels[asked] += inner.levels
        costs[asked, 1:] = inner.costs
    else:
        labels = merge_labels(labels, asked, ask(expert, part, rows)[0])
    return Trace(labels, levels, names, costs)


def _names_of(classifier):
    """Return the name of each level."""
    expert = classifier.expert_
    if hasattr(expert, "_decide"):
        return [_name(classifier.estimator_), *_names_of(expert)]
    return [_name(classifier.estimator_), "person" if expert is None else _name(expert)]


def _name(estimator):
    while True:
        if isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return getattr(estimator, "__name__", type(estimator).__name__)
