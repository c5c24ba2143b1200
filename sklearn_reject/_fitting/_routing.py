"""How `fit` of a meta-estimator treats parameters, weights and seeds."""

from inspect import signature
from numbers import Integral, Real

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter

from sklearn_reject._fitting._experts import is_fixed
from sklearn_reject._fitting._splits import is_default, splits_by_groups
from sklearn_reject._sklearn import (
    _check_method_params,
    _num_samples,
    _routing_enabled,
    take_rows,
)
from sklearn_reject._validation import check_sample_weight, find_missing_labels
from sklearn_reject.selection import Clusters, check_inclusion_proba, shares_of


def route_of_fit(owner, **estimators):
    """Return where metadata of `fit` go: to itself, to estimators and the splitter."""
    router = MetadataRouter(owner=owner).add_self_request(owner)
    to_fit = MethodMapping().add(caller="fit", callee="fit")
    router.add(**estimators, method_mapping=to_fit)
    cv = getattr(owner, "cv", None)
    if hasattr(cv, "get_metadata_routing"):
        to_split = MethodMapping().add(caller="fit", callee="split")
        router.add(splitter=cv, method_mapping=to_split)
    return router


def route_params(owner, n_samples, params, estimator=None):
    """Return weights, and the parameters of `fit` of the estimator and of the splitter.

    The estimator is that of the owner, unless it is given.
    """
    estimator = owner.estimator if estimator is None else estimator
    params = {name: value for name, value in params.items() if value is not None}
    weight, request = own_param(owner, "sample_weight", params)
    weight = check_sample_weight(weight, n_samples)
    if _routing_enabled():
        routed = process_routing(owner, "fit", **params)
        # Not every router has a splitter, and an empty one answers `get` only.
        splitter = routed.get("splitter", Bunch(split={}))
        weight = None if request is False else weight
        return weight, routed.estimator.fit, splitter.split
    split_params, cv = {}, getattr(owner, "cv", None)
    if "groups" in params and splits_by_groups(cv):
        # As in searches: the splitter asks for them, and no estimator is to get them.
        split_params["groups"] = params.pop("groups")
    elif _knows_clusters(owner) and not hasattr(cv, "split"):
        params.pop("groups", None)
    if isinstance(estimator, FrozenEstimator):
        params = {}
    elif weight is not None:
        check_takes_weights(estimator)
    if "groups" in params and not _takes(estimator, "groups"):
        raise ValueError(
            f"groups are used neither by cv={owner.cv!r} nor by "
            f"{type(estimator).__name__}.fit. Pass a splitter such as GroupKFold, or "
            "omit groups."
        )
    return weight, params, split_params


# What `fit` of an estimator takes, of rows that count unequally or are in clusters.
OF_SAMPLING = {"groups": None, "inclusion_proba": None}


def _knows_clusters(owner):
    """Tell whether an estimator promises something of clusters, its `groups`."""
    return "groups" in owner._get_metadata_request().fit.requests


def read_sampling(owner, X, y, params, *, is_fit):
    """Return labelled samples, other parameters, factors of weights, and clusters.

    Where rows are labelled with an `inclusion_proba`, those that are stand for the
    others of their kind, and of their cluster.
    """
    n_samples = _num_samples(X)
    proba, name = own_param(owner, "inclusion_proba", params)
    clusters, asked = own_param(owner, "groups", params)
    if clusters is not None and asked is not False:
        clusters = Clusters.of(clusters, n_samples, "groups")
    else:
        clusters = None
    if proba is None or name is False:
        return X, y, params, None, clusters
    params = {k: x for k, x in params.items() if k not in ("inclusion_proba", name)}
    y = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
    is_labelled = ~find_missing_labels(y).reshape(len(y), -1).any(axis=1)
    rows = np.flatnonzero(is_labelled)
    factor = 1 / check_inclusion_proba(proba, is_labelled)
    if not len(rows):
        raise ValueError("y has no label in any row. Look some of them up.")
    is_alike = np.ndim(proba) == 0 and clusters is None
    if is_fit:
        _check_audit(owner, n_samples, params, proba, is_alike)
    params = _check_method_params(X=range(n_samples), params=params, indices=rows)
    X, y = take_rows(X, rows), np.array(y[rows].tolist())
    if clusters is not None:
        clusters = clusters[rows]
    factor = None if is_alike else factor[rows]
    return X, y, params, factor, clusters


def _check_audit(owner, n_samples, params, proba, is_alike):
    """Raise where weights may be too large, or rows without a label are needed."""
    if owner.max_weight is not None and not is_alike:
        weight, _ = own_param(owner, "sample_weight", params)
        weight = 1.0 if weight is None else check_sample_weight(weight, n_samples)
        shares_of(np.atleast_1d(weight / np.asarray(proba)), owner.max_weight, "")
    if getattr(owner, "target_failure_rate", None) is not None and not is_alike:
        raise ValueError(
            "target_failure_rate counts rows without a label, too, which estimators "
            "leave out. Pass one inclusion_proba for all rows and no groups, or scores "
            "and losses to selection.solve_target_failure_rate."
        )
    cv = owner.cv
    if not (is_default(cv) or isinstance(cv, Real) or hasattr(cv, "split")):
        raise ValueError(
            "cv has splits of rows, of which those without a label are left out. With "
            "inclusion_proba, pass a number or a splitter as cv."
        )


def route_to_both(owner, n_samples, params):
    """Return weights, and the parameters of one fit, of the splitter and the other fit.

    Both are `estimator` and `expert`. Without routing, the latter gets weights, and the
    labels of a person whom it asks in turn.
    """
    labels, _ = own_param(owner, "expert_labels", params)
    params = {name: value for name, value in params.items() if value is not None}
    if not _routing_enabled():
        params.pop("expert_labels", None)
    weight, *of_first = route_params(owner, n_samples, params)
    if is_fixed(owner.expert):
        return weight, *of_first, {}
    if _routing_enabled():
        routed = process_routing(owner, "fit", **params)
        return weight, *of_first, routed.expert.fit
    expert_params = {}
    if weight is not None:
        check_takes_weights(owner.expert)
        expert_params["sample_weight"] = params["sample_weight"]
    if labels is not None:
        expert_params["expert_labels"] = labels
    return weight, *of_first, expert_params


def own_param(owner, name, params):
    """Return what `fit` is given for itself, and what it has requested.

    A router outside translates an alias into the name; called directly, `fit` may get
    it by the alias, which then is that of an estimator inside, too.
    """
    request = owner._get_metadata_request().fit.requests.get(name)
    given = params.get(name)
    if given is None and isinstance(request, str):
        given = params.get(request)
    return given, request


def draw_seeds(random_state):
    """Return the seed of a score without its own, and that of decisions about rows.

    The first is None where `random_state` is: such a score differs from fit to fit.
    """
    rng = check_random_state(random_state)
    is_fixed = random_state is None or isinstance(random_state, Integral)
    score_seed = random_state if is_fixed else rng.randint(np.iinfo(np.int32).max)
    return score_seed, int(rng.randint(np.iinfo(np.int32).max))


def check_inner(owner, kind, methods=("fit", "predict"), way_out=""):
    """Raise for an inner estimator of the other kind, or without a method it needs.

    A wrong seed of the meta-estimator is refused, too.
    """
    estimator = owner.estimator
    check_random_state(owner.random_state)
    # What is no known kind of estimator has to have the methods before it is fitted.
    is_known = hasattr(estimator, "__sklearn_tags__") and (
        is_classifier(estimator) or is_regressor(estimator)
    )
    for method in methods:
        if not hasattr(estimator, method) and (method == "fit" or not is_known):
            raise ValueError(
                f"estimator must be a {kind} with `fit` and `predict`, got "
                f"{estimator!r} without `{method}`."
            )
    if (is_regressor if kind == "classifier" else is_classifier)(estimator):
        raise ValueError(f"estimator must be a {kind}, got {estimator!r}.{way_out}")


def refuse_weights(weight, what="confidence_level", clusters=None):
    """Raise where a guarantee is asked for and samples have weights, or clusters."""
    if clusters is not None:
        raise ValueError(
            f"{what} cannot be combined with groups, as it is for rows that are "
            "independent. Omit groups, or ask for a target_risk."
        )
    if weight is not None:
        raise ValueError(
            f"{what} cannot be combined with sample_weight. Omit the weights or, for "
            "the inner estimator only, enable metadata routing and call "
            "`set_fit_request(sample_weight=False)`."
        )


def _takes(estimator, name):
    """Tell whether `fit` of an estimator takes a parameter."""
    if isinstance(estimator, Pipeline):  # which takes anything, to refuse it
        return False
    parameters = signature(estimator.fit).parameters.values()
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


def check_takes_weights(estimator):
    """Raise unless `fit` of an estimator takes weights."""
    parameters = signature(estimator.fit).parameters.values()
    # A pipeline takes anything, and refuses weights as it has none to give them to.
    if has_fit_parameter(estimator, "sample_weight") or (
        any(p.kind is p.VAR_KEYWORD for p in parameters)
        and not isinstance(estimator, Pipeline)
    ):
        return
    raise ValueError(
        f"sample_weight was given, but {type(estimator).__name__}.fit does not take "
        "it. For the rule only, enable metadata routing and call "
        "`set_fit_request(sample_weight=True)`; for a step of a pipeline, request it "
        "there."
    )
