"""Synthetic samples whose true risk and novelty are known.

The example of FPP23: three normal classes and a normal novelty.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import Bunch, check_random_state

from sklearn_reject._typing import RandomState
from sklearn_reject._validation import check_count, check_number, check_option

__all__ = ["make_fpp23_mixture"]

_CLASSES = np.array([1, 2, 3])
_MEANS = np.array([-1.0, 1.0, 3.0])
_WEIGHTS = np.array([0.3, 0.3, 0.4])


def make_fpp23_mixture(
    n_samples: int = 1000,
    *,
    ood_prior: float = 0.25,
    ood_mean: float = 2.0,
    ood_variance: float = 0.2,
    ood_label: int = -1,
    return_X_y: bool = True,
    random_state: RandomState | None = None,
) -> Any:
    """Draw real numbers from three classes and from a distribution of OOD samples.

    The classes 1, 2 and 3 are N(-1, 1), N(1, 1) and N(3, 1) with weights .3, .3 and .4
    (FPP23, section 3.1). With the defaults the OOD samples are N(2, 0.2), mean and
    variance: the paper prints the mean 3, but its table is that of mean 2.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples. How many of them are OOD is drawn, too.

    ood_prior : float in [0, 1], default=0.25
        Probability that a sample is OOD.

    ood_mean : float, default=2.0
        Mean of the OOD samples.

    ood_variance : float > 0, default=0.2
        Variance of the OOD samples.

    ood_label : int, default=-1
        Label of OOD samples, not one of the classes.

    return_X_y : bool, default=True
        Whether to return the samples and labels alone.

    random_state : int, RandomState instance or None, default=None
        Source of the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        Samples, in random order.

    y : ndarray of shape (n_samples,)
        Class labels, and `ood_label` for OOD samples.

    sample : Bunch
        Instead of the two, with ``return_X_y=False``. It has the arrays `data` and
        `target`, which are X and y, and of shape (n_samples,) what the best possible
        classifier knows: `prediction`, the most probable class; `risk`, the probability
        that it is wrong where the sample is ID; and `likelihood_ratio`, the density of
        OOD samples over that of ID samples. It is infinite where float64 is exceeded,
        which takes an `ood_variance` far above 1 or a remote `ood_mean`.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or `ood_label` is a class.

    References
    ----------
    V. Franc, D. Prusa, J. Paplham. Reject option models comprising out-of-distribution
    detection. 2023.

    Examples
    --------
    >>> from sklearn_reject.datasets import make_fpp23_mixture
    >>> X, y = make_fpp23_mixture(6, random_state=6)
    >>> X.shape, y
    ((6, 1), array([ 2,  2,  2, -1, -1,  3]))
    >>> sample = make_fpp23_mixture(6, return_X_y=False, random_state=6)
    >>> sample.prediction, sample.risk.round(2)
    (array([3, 2, 2, 3, 3, 3]), array([0.03, 0.39, 0.26, 0.2 , 0.41, 0.07]))
    """
    n_samples = check_count(n_samples, "n_samples")
    ood_prior = check_number(ood_prior, "ood_prior", high=1.0)
    is_number = isinstance(ood_mean, Real) and not isinstance(ood_mean, bool)
    if not is_number or not np.isfinite(ood_mean):
        raise ValueError(f"ood_mean must be a finite number, got {ood_mean!r}.")
    ood_mean = float(ood_mean)
    ood_variance = check_number(ood_variance, "ood_variance", open_low=True)
    is_integer = isinstance(ood_label, Integral) and not isinstance(ood_label, bool)
    if not is_integer or ood_label in _CLASSES.tolist():
        raise ValueError(
            f"ood_label must be an int other than the classes {_CLASSES.tolist()}, got "
            f"{ood_label!r}."
        )
    check_option(return_X_y, "return_X_y", (True, False))
    rng = check_random_state(random_state)
    is_ood = rng.uniform(size=n_samples) < ood_prior
    index = rng.choice(len(_CLASSES), p=_WEIGHTS, size=n_samples)
    noise = rng.standard_normal(n_samples)
    x = np.where(
        is_ood, ood_mean + np.sqrt(ood_variance) * noise, _MEANS[index] + noise
    )
    y = np.where(is_ood, ood_label, _CLASSES[index])
    if return_X_y:
        return x.reshape(-1, 1), y
    truth = _true_values(x, ood_mean, ood_variance)
    return Bunch(data=x.reshape(-1, 1), target=y, **truth)


def _true_values(x, ood_mean, ood_variance):
    # Densities vanish in the tails long before their ratios do.
    joint = np.log(_WEIGHTS) + _log_normal(x[:, np.newaxis], _MEANS, 1.0)
    log_density = logsumexp(joint, axis=1)
    best = joint.argmax(axis=1)
    others = joint - log_density[:, np.newaxis]
    others[np.arange(len(x)), best] = -np.inf
    with np.errstate(over="ignore"):
        ratio = np.exp(_log_normal(x, ood_mean, ood_variance) - log_density)
    return {
        "prediction": _CLASSES[best],
        "risk": np.exp(others).sum(axis=1),
        "likelihood_ratio": ratio,
    }


def _log_normal(x, mean, variance):
    return -((x - mean) ** 2 / variance + np.log(2 * np.pi * variance)) / 2
