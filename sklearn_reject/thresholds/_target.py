"""The target of an operating point, under three names."""

import numpy as np

from sklearn_reject._infeasible import InfeasibleTargetError, round_down, round_up
from sklearn_reject._validation import check_number

# Slopes and targets that differ by no more than rounding are equal.
RELATIVE_TOLERANCE = 1e-12

# Products of slopes up to here and sums of weights stay far from what float64 holds.
_LARGEST_SLOPE = 1e100


def resolve_target(target_derivative=None, marginal_precision=None, max_fp_per_tp=None):
    """Return the slope of the PN curve that is aimed at.

    The three parameters are names of one number; exactly one must be given.

    Parameters
    ----------
    target_derivative : float > 0, default=None
        Slope d = dTP/dFP: true positives that one more false positive must bring.

    marginal_precision : float in ]0, 1[, default=None
        Share p = d / (1 + d) of true positives among the last documents predicted.

    max_fp_per_tp : float > 0, default=None
        False positives c = 1 / d that one more true positive may cost.

    Returns
    -------
    derivative : float
        The slope d, between 1e-100 and 1e100.

    Raises
    ------
    ValueError
        If not exactly one is given, or it is out of range.

    Examples
    --------
    >>> from sklearn_reject.thresholds._target import resolve_target
    >>> resolve_target(marginal_precision=0.75), resolve_target(max_fp_per_tp=4)
    (3.0, 0.25)
    """
    given = {
        "target_derivative": target_derivative,
        "marginal_precision": marginal_precision,
        "max_fp_per_tp": max_fp_per_tp,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) != 1:
        raise ValueError(
            "Exactly one of target_derivative, marginal_precision and max_fp_per_tp "
            f"must be given: they are three names of one number. Got {given or 'none'}."
        )
    (name, value), *_ = given.items()
    high = 1 if name == "marginal_precision" else np.inf
    value = check_number(value, name, high=high, open_low=True, open_high=True)
    derivative = _TO_DERIVATIVE[name](value)
    if not 1 / _LARGEST_SLOPE <= derivative <= _LARGEST_SLOPE:
        raise ValueError(
            f"{name}={value!r} is a slope dTP/dFP of {derivative:g}. It must be "
            f"between {1 / _LARGEST_SLOPE:g} and {_LARGEST_SLOPE:g}, or its products "
            "with counts may overflow."
        )
    return derivative


_TO_DERIVATIVE = {
    "target_derivative": float,
    "marginal_precision": lambda precision: precision / (1 - precision),
    # A price of next to nothing has no finite reciprocal.
    "max_fp_per_tp": lambda price: 1 / max(price, 1e-300),
}


def check_attainable(derivative, lowest, highest):
    """Raise unless a target is within the slopes that a curve has.

    Parameters
    ----------
    derivative : float > 0
        The target.

    lowest, highest : float
        The flattest slope, where everything down to the lowest thresholds is predicted
        positive, and the steepest one, where next to nothing is. They are attained.

    Raises
    ------
    InfeasibleTargetError
        If the target is beyond them by more than rounding.
    """
    if derivative < lowest * (1 - RELATIVE_TOLERANCE):
        reason = (
            "Below it, all documents down to the lowest thresholds would be predicted "
            "positive, and nothing is known of those further down. Ask for a larger "
            "derivative, or rate more documents."
        )
    elif derivative > highest * (1 + RELATIVE_TOLERANCE):
        reason = (
            "Above it, no document would be predicted positive. Ask for a smaller "
            "derivative, or use scores that rank more positives first."
        )
    else:
        return
    raise InfeasibleTargetError(
        f"target_derivative={derivative:.6g} (marginal_precision="
        f"{derivative / (1 + derivative):.6g}, max_fp_per_tp={1 / derivative:.6g}) "
        f"cannot be met on these documents: {_describe(lowest, highest)}. {reason}",
        attainable={"min_derivative": lowest, "max_derivative": highest},
    )


def _describe(lowest, highest):
    """Say in each of the three names what can be met."""
    ends = lowest, highest
    precisions = [end if np.isinf(end) else share_of(end) for end in ends]
    prices = [np.inf if end == 0 else 1 / end for end in reversed(ends)]
    return (
        f"target_derivative can be {_interval(*ends)}; this is a marginal_precision of "
        f"{_interval(*precisions)}, or a max_fp_per_tp of {_interval(*prices)}"
    )


def share_of(derivative):
    """Return the share of true positives at a slope dTP/dFP, which may be infinite."""
    return 1.0 if np.isinf(derivative) else float(derivative / (1 + derivative))


def _interval(low, high):
    """Describe an interval, rounded such that what it names is inside."""
    if high == np.inf:
        return f"at least {round_up(low)}"
    if low == 0:
        return f"at most {round_down(high)}"
    texts = round_up(low), round_down(high)
    if float(texts[0]) > float(texts[1]):
        texts = repr(float(low)), repr(float(high))
    return f"{texts[0]} to {texts[1]}"
