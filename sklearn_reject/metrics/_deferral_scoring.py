"""Scores of classifiers with a second opinion, and what rejections cost."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from sklearn_reject._fitting._experts import asks_person, fill_in, read_labels
from sklearn_reject._sklearn import _num_samples, _safe_indexing
from sklearn_reject._validation import check_sample_weight, refuse_unread, take_weight
from sklearn_reject.losses import losses_where_known
from sklearn_reject.metrics._inside import find, locate, predict_and_accept
from sklearn_reject.metrics._losses import judge
from sklearn_reject.metrics._origins import refuse_wild


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


def by_costs(
    estimator,
    X,
    y,
    metric,
    *,
    reject_cost,
    sample_weight=None,
    expert_labels=None,
    **judged_by,
):
    """Return the mean cost of samples, some of which are rejected, or deferred."""
    refuse_wild(estimator, y)
    inner, inner_X = locate(estimator, X, "_answer_all")
    weight = check_sample_weight(sample_weight, _num_samples(y))
    if inner is not None:
        _refuse_reject_cost(inner, reject_cost)
        _check_costs_of_asking(inner)
        answers, costs, is_open = _ask(inner, inner_X, expert_labels)
        losses = losses_where_known(
            partial(judge, estimator, **judged_by), y, answers, "expert_labels"
        )
        losses = _fill(losses, is_open, weight)
        return np.average(losses + costs, weights=weight)
    _refuse_expert_labels(estimator, expert_labels)
    if reject_cost is None:
        reject_cost = _reject_cost_of(estimator)
    refuse_unread(y, "y_true")
    y_pred, accepted = predict_and_accept(estimator, X)
    losses = np.full(len(accepted), np.nan)
    if accepted.any():
        rows = np.flatnonzero(accepted)
        samples = _safe_indexing(y, rows), np.asarray(y_pred)[rows]
        losses[rows] = judge(estimator, *samples, **judged_by)
    options = {"reject_cost": reject_cost, "loss": losses, "sample_weight": weight}
    asking = np.average(_costs_inside(estimator, X, len(losses)), weights=weight)
    return metric(None, None, accepted, **options) + float(asking)


def _refuse_reject_cost(classifier, reject_cost):
    if reject_cost is not None:
        raise ValueError(
            f"reject_cost={reject_cost} is the cost of a rejected sample, but "
            f"{type(classifier).__name__} rejects none. A deferred sample costs its "
            "`deferral_cost` plus the loss of the answer. Omit reject_cost."
        )


def _check_costs_of_asking(classifier):
    """Raise where what a second opinion costs is not known, at any level."""
    while classifier is not None:
        # With no target at all it is zero.
        targets = (
            getattr(classifier, n, None) for n in ("max_deferral", "target_risk")
        )
        if classifier.deferral_cost is None and any(t is not None for t in targets):
            raise ValueError(
                f"{type(classifier).__name__} has deferral_cost=None, so asking would "
                "cost nothing. Pass a deferral_cost, 0.0 if asking is free, or use "
                "get_selective_scorer('neg_deferral_area')."
            )
        classifier, _ = find(classifier.expert_, "_answer_all")


def _costs_inside(estimator, X, n_samples):
    """Return costs of asking a second opinion inside of what rejects samples.

    What rejects looks at all answers, so that rejected samples were asked about, too.
    """
    inner, X = locate(estimator, X, "accept")
    fitted = getattr(inner, "estimator_", None)
    deferring, X = locate(fitted, X, "_answer_all")
    if deferring is None:
        return np.zeros(n_samples)
    _check_costs_of_asking(deferring)
    _, _, costs, is_open = deferring._answer_all(X)
    if is_open.any():
        raise ValueError(
            f"{type(deferring).__name__} defers {is_open.sum()} of {n_samples} samples "
            f"to a person, but {type(inner).__name__} around it does not ask the "
            "person. Score either of them alone."
        )
    return _refuse_unknown_costs(costs.sum(axis=1))


def _ask(classifier, X, expert_labels):
    """Return labels of whoever answers, costs of asking, and where a person does."""
    n_samples = _num_samples(X)
    if expert_labels is not None and not asks_person(classifier.expert_):
        _refuse_expert_labels(classifier, expert_labels, "no person")
    labels, _, costs, is_open = classifier._answer_all(X)
    costs = _refuse_unknown_costs(costs.sum(axis=1))
    if not is_open.any():
        return labels, costs, is_open
    if expert_labels is None:
        raise ValueError(
            f"expert_labels is None, but a person is asked about {is_open.sum()} of "
            f"{n_samples} samples. Pass the person's labels, NaN or None where they "
            "are unknown."
        )
    known = read_labels(expert_labels, n_samples, classifier.classes_)
    return fill_in(labels, is_open, known), costs, is_open


def _refuse_unknown_costs(costs):
    if np.isnan(costs).any():
        raise ValueError(
            "deferral_cost has no value for the groups of "
            f"{np.count_nonzero(np.isnan(costs))} samples, because these groups were "
            "not in `fit`. Score samples of known groups."
        )
    return costs


def _fill(losses, is_open, weight):
    """Return losses, unknown ones as the mean of those that a person has answered."""
    missing = np.isnan(losses)
    if not missing.any():
        return losses
    known = is_open & ~missing
    if weight is not None:
        known &= weight > 0
    if not known.any():
        raise ValueError(
            f"expert_labels has no answer for any of the {np.count_nonzero(is_open)} "
            "samples that are deferred to the person. Pass the answers for a random "
            "part of them at least."
        )
    mean = np.average(losses[known], weights=take_weight(weight, known))
    return np.where(missing, mean, losses)


def _refuse_expert_labels(estimator, expert_labels, whom="no second opinion"):
    if expert_labels is not None:
        raise ValueError(
            f"expert_labels are given, but {type(estimator).__name__} asks {whom}. "
            "Omit expert_labels."
        )


def _reject_cost_of(estimator):
    """Return the cost that an estimator, or the one inside, was made for."""
    inner, _ = find(estimator, "accept")
    cost = getattr(inner, "reject_cost", None)
    if cost is None or isinstance(cost, Mapping):
        why = "" if cost is None else ", one a group"
        raise ValueError(
            f"{type(estimator).__name__} has reject_cost={cost!r}{why}. Pass the cost "
            "of a rejected sample: get_selective_scorer('neg_selective_cost', "
            "reject_cost=...)."
        )
    return cost
