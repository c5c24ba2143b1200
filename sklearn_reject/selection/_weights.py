"""Weights whose largest is known, and chances that rows are labelled."""

import numpy as np

from sklearn_reject._validation import (
    as_real_array,
    check_number,
    check_same_length,
    check_vector,
)
from sklearn_reject.exceptions import warn_user

# Weights in single precision, or such as 1 / (1 - 0.9), may be above their bound by so
# much, relatively.
_ROUNDING = 1e-6

# Twice exp of minus this is how rarely chance alone leads to an error or a warning.
SURPRISE = np.log(2e6)


def shares_of(weight, max_weight, promise):
    """Return weights in multiples of the largest possible one, or raise."""
    if max_weight is None:
        raise ValueError(
            f"{promise} needs max_weight with sample_weight or inclusion_proba: the "
            "largest weight, or weight / probability, that can occur, fixed before the "
            "sample is drawn. Pass it, or omit the weights."
        )
    max_weight = check_number(max_weight, "max_weight", open_low=True)
    above = np.flatnonzero(weight > max_weight * (1 + _ROUNDING))
    if above.size:
        raise ValueError(
            f"max_weight={max_weight:g} is exceeded by the weight (over the "
            f"inclusion_proba, if given) {weight[above[0]]:g} in row {above[0]} "
            f"({above.size} such rows). Pass the largest one that can occur, which is "
            "known before the sample is drawn, not the largest one seen."
        )
    return np.minimum(weight / max_weight, 1.0)


def check_inclusion_proba(inclusion_proba, is_labelled):
    """Return the chance of each row to be labelled, and warn if it cannot be."""
    proba = as_real_array(inclusion_proba, "inclusion_proba").astype(np.float64)
    proba = np.full(len(is_labelled), proba) if proba.ndim == 0 else proba
    proba = check_vector(proba, "inclusion_proba")
    check_same_length(len(is_labelled), inclusion_proba=proba)
    outside = np.flatnonzero((proba <= 0) | (proba > 1))
    if outside.size:
        raise ValueError(
            f"inclusion_proba must be in (0, 1], got {proba[outside[0]]} in row "
            f"{outside[0]} ({outside.size} such values). Rows that no draw could "
            "select tell nothing of their kind: leave them out of all arrays, and "
            "reject such rows in use."
        )
    lost = np.flatnonzero(~is_labelled & (proba == 1))
    if lost.size:
        raise ValueError(
            f"inclusion_proba is 1 in row {lost[0]}, which has no label ({lost.size} "
            "such rows). Pass the chance that a row was to be labelled."
        )
    n_known, expected = int(is_labelled.sum()), float(proba.sum())
    distance, variance = abs(n_known - expected), float(proba @ (1 - proba))
    if distance**2 > 2 * SURPRISE * (variance + distance / 3):
        warn_user(
            f"{n_known} of {len(proba)} losses are known, but inclusion_proba "
            f"implies about {expected:.1f}. Pass NaN for those without a label."
        )
    return proba
