"""Copies of a fitted estimator: as it was fitted, or with another target."""

from collections.abc import Mapping
from copy import copy

from sklearn.base import clone

from sklearn_reject._estimators._rows import require_fit


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
    twin = copy(estimator)
    for name, value in (estimator.get_params(deep=False) | params).items():
        # Splits may come from a generator, of which there can be no second one.
        setattr(twin, name, value if name == "cv" else clone(value, safe=False))
    keep_params(twin)
    return twin
