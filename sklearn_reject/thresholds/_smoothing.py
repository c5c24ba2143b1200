"""The point of a path at which its smoothed curve has a given slope."""

import numpy as np
from scipy.optimize import ridder

from sklearn_reject._validation import check_option
from sklearn_reject.thresholds._target import (
    RELATIVE_TOLERANCE,
    check_attainable,
    share_of,
)

SMOOTHINGS = ("concave", "isotonic")

# Wider than rounding and Ridders' tolerance, as a share of the documents.
_SAME_PLACE = 1e-9


def point_on_path(path, derivative, smoothing="concave"):
    """Find the vertex of a path at which one more false positive just pays.

    The curve of a path is a step function, and its raw slopes are noise. The slopes
    that count are those of its concave majorant, which are the isotonic regression of
    the labels in the order of the path. They replace steps 7 and 8 of the analytic
    approach in RZMR20, where a derivative is estimated from differences.

    Parameters
    ----------
    path : ThresholdPath
        The path.

    derivative : float > 0
        Target slope dTP/dFP.

    smoothing : {"concave", "isotonic"}, default="concave"
        With "concave", the vertex that maximises TP - FP * derivative, of equally good
        ones the one of most true positives. It is always on the majorant. With
        "isotonic", the share dTP / (dTP + dFP) of each segment of the majorant belongs
        to its middle and is interpolated between, in the number of documents predicted
        positive; Ridders' method finds where it meets the target. The vertex nearest
        to it is taken, of two the lower one, on the majorant or not.

    Returns
    -------
    vertex : int
        Number of the vertex. Of vertices with equal counts the one of the highest
        thresholds.

    Raises
    ------
    InfeasibleTargetError
        If the target is beyond the slopes of the majorant at its ends. Its `attainable`
        has "min_derivative" and "max_derivative".
    ValueError
        If `smoothing` is unknown.

    Examples
    --------
    >>> from sklearn_reject.thresholds import optimal_path
    >>> from sklearn_reject.thresholds._smoothing import point_on_path
    >>> path = optimal_path([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [1, 1, 0, 1, 0, 0])
    >>> vertex = point_on_path(path, 0.5)
    >>> path.thresholds[vertex], float(path.tp[vertex]), float(path.fp[vertex])
    (array([0.55]), 3.0, 1.0)
    """
    check_option(smoothing, "smoothing", SMOOTHINGS)
    vertices = path.majorant
    slopes = _slopes(path, vertices)
    check_attainable(derivative, float(slopes[0]), float(slopes[-1]))
    if smoothing == "isotonic":
        return _interpolate(path, vertices, slopes, derivative)
    # At a slope that equals the target, true positives are worth their price.
    return int(vertices[np.sum(slopes < derivative * (1 - RELATIVE_TOLERANCE))])


def _slopes(path, vertices):
    """Return the slopes of the majorant, which rise along the path."""
    up, right = -np.diff(path.tp[vertices]), -np.diff(path.fp[vertices])
    return np.divide(up, right, out=np.full(len(up), np.inf), where=right > 0)


def _interpolate(path, vertices, slopes, derivative):
    """Return the vertex nearest to where the interpolated slope meets the target."""
    position = (path.fp + path.tp) / (path.fp[0] + path.tp[0])
    ends = position[vertices[::-1]]
    middles = (ends[:-1] + ends[1:]) / 2
    shares = np.array([share_of(slope) for slope in slopes[::-1]])
    wanted = np.clip(share_of(derivative), shares[-1], shares[0])
    found = middles[0]
    if len(shares) > 1:
        found = ridder(
            lambda x: np.interp(x, middles, shares) - wanted, found, middles[-1]
        )
    distance = np.abs(position - found)
    # Rounding must not decide between two that are equally near.
    nearest = np.flatnonzero(distance <= distance.min() + _SAME_PLACE)
    return int(nearest[position[nearest] == position[nearest[0]]][-1])
