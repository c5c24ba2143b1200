"""What a cascade achieves on new samples, level by level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._deferral_base import take
from sklearn_reject._estimators._ood_measure import risk_of, share_of
from sklearn_reject._estimators._rejection_models import bound_of_losses
from sklearn_reject._fitting import ask
from sklearn_reject._interval import Interval
from sklearn_reject._labels import merge_labels
from sklearn_reject._short_repr import short_repr
from sklearn_reject._validation import check_vector
from sklearn_reject.losses import losses_where_known
from sklearn_reject.selection import check_confidence_level

PERSON = "person"


class DeferralStage(NamedTuple):
    """One level of a cascade: who answers there, how often, how well, at what cost.

    Attributes
    ----------
    name : str
        Class name of the classifier, of the last step of a pipeline, or "person".

    n_reached : int
        Number of samples that got to this level.

    share : Interval
        Share of all samples that is answered at this level.

    risk : Interval
        Mean loss of these, lower is better, in units of the loss. NaN where there are
        none whose label is known.

    cost : float
        What asking this level has cost, a sample of all, in units of the loss; zero of
        the first one.

    Examples
    --------
    >>> from sklearn_reject import DeferralStage, Interval
    >>> share, risk = Interval(0.9, 0.85, 0.94, 200), Interval(0.1, 0.06, 0.15, 180)
    >>> DeferralStage("GaussianNB", 200, share, risk, cost=0.0).share.value
    0.9
    """

    name: str
    n_reached: int
    share: Interval
    risk: Interval
    cost: float

    __repr__ = short_repr


@dataclass(frozen=True)
class DeferralMeasurement:
    """What deferring achieves on samples that nothing was fitted on.

    Each interval holds with `confidence_level` by itself, over the draw of the samples.
    Those of shares are exact ones of Clopper and Pearson (1934).

    Attributes
    ----------
    stages : tuple of DeferralStage
        One a level, from the first classifier on.

    system_risk : Interval
        Mean loss of whoever answers, lower is better. Where labels of a person are
        missing, those that are known stand for the others in its value, and the
        interval allows them any loss.

    deferral_cost : float
        Mean cost of asking a sample, in units of the loss. NaN where costs are by group
        and a sample is of another one.

    confidence_level : float
        Least probability of each interval.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import DeferralMeasurement, DeferringClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DeferringClassifier(
    ...     GaussianNB(),
    ...     RandomForestClassifier(random_state=0),
    ...     deferral_cost=0.1,
    ...     gain_score="confidence",
    ... )
    >>> measured = model.fit(X[:900], y[:900]).measure(X[900:], y[900:])
    >>> isinstance(measured, DeferralMeasurement)
    True
    >>> for stage in measured.stages:
    ...     print(f"{stage.name}: {stage.share.value:.2f}, {stage.risk.value:.3f}")
    GaussianNB: 0.53, 0.096
    RandomForestClassifier: 0.47, 0.115
    >>> round(measured.total_cost, 3)
    0.152
    """

    stages: tuple[DeferralStage, ...]
    system_risk: Interval
    deferral_cost: float
    confidence_level: float

    __repr__ = short_repr

    @property
    def total_cost(self) -> float:
        """Mean loss plus mean cost of asking, of a sample."""
        return self.system_risk.value + self.deferral_cost


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
    names = names_of(classifier)
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


def names_of(classifier):
    """Return the name of each level."""
    expert = classifier.expert_
    if hasattr(expert, "_decide"):
        return [_name(classifier.estimator_), *names_of(expert)]
    return [_name(classifier.estimator_), PERSON if expert is None else _name(expert)]


def _name(estimator):
    while True:
        if isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return getattr(estimator, "__name__", type(estimator).__name__)


def measure_stages(classifier, X, y, known, confidence_level, prices=None):
    """Return the :class:`DeferralMeasurement` of a classifier on some samples.

    `prices` are those of asking at each level, None where the classifiers know them.
    """
    confidence_level = check_confidence_level(confidence_level)
    if known is not None:
        known = classifier._person(known, len(y))
    names = names_of(classifier)
    if prices is not None:
        prices = _check_prices(prices, names[1:])
    traced = trace(classifier, X, known, np.arange(len(y)))
    if prices is not None:
        is_asked = traced.levels[:, np.newaxis] > np.arange(len(prices))
        traced = replace(traced, costs=is_asked * prices)
    losses = losses_where_known(classifier.loss_, y, traced.labels, "expert_labels")
    return measure_traced(classifier, traced, losses, confidence_level)


def measure_traced(classifier, traced, losses, confidence_level):
    """Return the :class:`DeferralMeasurement` of samples that have their answers."""
    max_loss = classifier.loss_.max_loss
    bound = bound_of_losses(classifier.loss_, max_loss, "hoeffding_bentkus")["bound"]
    spent = np.insert(traced.costs.mean(axis=0), 0, 0.0)
    stages = []
    for level, name in enumerate(traced.names):
        here = traced.levels == level
        seen = losses[here & ~np.isnan(losses)]
        stages.append(
            DeferralStage(
                name,
                int(np.count_nonzero(traced.levels >= level)),
                share_of(here, confidence_level),
                risk_of(seen, bound, max_loss, confidence_level),
                float(spent[level]),
            )
        )
    risk = mean_loss(losses, traced.levels, bound, max_loss, confidence_level)
    return DeferralMeasurement(
        tuple(stages), risk, float(spent.sum()), confidence_level
    )


def _check_prices(prices, names):
    """Return what asking costs at each level but the first, as a vector."""
    prices = check_vector(np.atleast_1d(prices), "deferral_cost", non_negative=True)
    if len(prices) not in (1, len(names)):
        raise ValueError(
            f"deferral_cost holds {len(prices)} numbers, but there are {len(names)} "
            f"levels that are asked: {', '.join(names)}. Pass one number, or one for "
            "each of them."
        )
    return np.broadcast_to(prices, len(names))


def mean_loss(losses, levels, bound, max_loss, confidence_level):
    """Return the mean loss; missing ones are as the known ones of their level."""
    missing = np.isnan(losses)
    if not missing.any():
        return risk_of(losses, bound, max_loss, confidence_level)
    low, high = (
        risk_of(np.where(missing, x, losses), bound, max_loss, confidence_level)
        for x in (0.0, 0.0 if max_loss is None else max_loss)
    )
    value = 0.0
    for level in np.unique(levels):
        known = losses[(levels == level) & ~missing]
        risk = known.mean() if len(known) else np.nan
        value += np.mean(levels == level) * risk
    return Interval(float(value), low.low, high.high, int(np.count_nonzero(~missing)))
