"""Copies of a fitted estimator, and what its methods check of rows."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._validation import refuse_unmapped


def require_fit(estimator, X=None):
    """Raise unless a meta-estimator is fitted, and for rows X of a Dask collection.

    Asking for its tags, as `check_is_fitted` does, would resolve its score anew.
    """
    refuse_unmapped(X)
    if not estimator.__sklearn_is_fitted__():
        check_is_fitted(estimator)


def features_of(estimator, X):
    """Return the columns of a data frame that were fitted, in their order.

    A transformer that picks columns by their names takes them in any order, and with
    others beside them. Draws are made by the values of a row, which are then the same.
    """
    names = list(getattr(estimator, "feature_names_in_", ()))
    if not names or not hasattr(X, "columns"):
        return X
    given = list(getattr(X, "column_names", X.columns))
    is_complete = len(set(given)) == len(given) and set(names) <= set(given)
    if given == names or not is_complete:
        return X
    # Arrow has its own way.
    return X.select(names) if hasattr(X, "column_names") else X[names]


def check_target_names(target, allowed):
    """Raise for parameters that nothing but a fit can change."""
    unknown = sorted(target.keys() - set(allowed))
    if unknown:
        raise TypeError(
            f"retarget takes {', '.join(allowed)}, got {unknown[0]!r}. To change "
            "another parameter, use set_params and fit again."
        )


def keep_params(estimator):
    """Keep the parameters that an estimator is fitted with, which may be set later."""
    params = estimator.get_params(deep=False).items()
    estimator._asked = {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in params
    }


def as_fitted(estimator):
    """Return a copy whose parameters are those that it was fitted with, or raise."""
    require_fit(estimator)
    twin = copy(estimator)
    vars(twin).update(estimator._asked)
    return twin


def copy_fitted(estimator, params):
    """Return a copy with other parameters that shares what has been fitted.

    Parameters are cloned: what is set inside those of one is not set in the other.
    """
    needs_none = isinstance(getattr(estimator, "cv", None), str)  # the plug-in rule
    if vars(estimator).get("calibration_", estimator) is None and not needs_none:
        raise ValueError(
            "retarget needs `calibration_`, which is None: it was dropped, or cv was "
            "'plug_in' in fit. Fit again, with cv=5."
        )
    twin = copy(estimator)
    for name, value in (estimator.get_params(deep=False) | params).items():
        # Splits may come from a generator, of which there can be no second one.
        setattr(twin, name, value if name == "cv" else clone(value, safe=False))
    keep_params(twin)
    return twin
