"""Who answers each sample in a cascade, and what asking costs on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._deferral_base import take
from sklearn_reject._fitting import ask
from sklearn_reject._labels import merge_labels


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
