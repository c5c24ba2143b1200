"""A copy of a fitted estimator that asks for another target."""

from copy import copy

from sklearn.base import clone


def check_target_names(target, allowed):
    """Raise for parameters that nothing but a fit can change."""
    unknown = sorted(target.keys() - set(allowed))
    if unknown:
        raise TypeError(
            f"retarget takes {', '.join(allowed)}, got {unknown[0]!r}. To change "
            "another parameter, use set_params and fit again."
        )


def copy_fitted(estimator, params):
    """Return a copy with other parameters that shares what has been fitted.

    Parameters are cloned: what is set inside those of one is not set in the other.
    """
    twin = copy(estimator)
    for name, value in (estimator.get_params(deep=False) | params).items():
        # Splits may come from a generator, of which there can be no second one.
        setattr(twin, name, value if name == "cv" else clone(value, safe=False))
    return twin
