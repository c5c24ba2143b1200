"""The concave majorant of a curve of counts: its convex hull from above."""

import numpy as np

# A pass over all points at once is worth while as long as it leaves out so many.
_LARGEST_SHARE_LEFT = 0.75


def majorant_vertices(fp, tp):
    """Return the vertices of the least concave majorant of a PN curve.

    It is the ROC convex hull in counts. Its slopes are the isotonic regression of the
    labels in the order of the curve, which pools adjacent violators: the two are the
    same thing, the slope dTP/dFP being the odds of the pooled share of positives.

    Parameters
    ----------
    fp, tp : ndarray of shape (n_points,)
        False and true positives, counts or sums of weights, none of which falls along
        the curve. For counts the result is exact as long as the product of the largest
        two is below 2**53.

    Returns
    -------
    vertices : ndarray of shape (n_vertices,), dtype intp
        Rising numbers of points. The lowest and the highest point are among them, no
        vertex is between two others on a straight line, and of equal points only the
        first is one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.curves._majorant import majorant_vertices
    >>> fp, tp = np.array([0, 0, 1, 1, 2, 4]), np.array([0, 2, 2, 2, 3, 3])
    >>> majorant_vertices(fp, tp).tolist()
    [0, 1, 4, 5]
    """
    fp, tp = np.asarray(fp, dtype=np.float64), np.asarray(tp, dtype=np.float64)
    moves = (np.diff(fp) != 0) | (np.diff(tp) != 0)
    left = np.flatnonzero(np.append(True, moves))
    n_before = np.inf
    while len(left) < _LARGEST_SHARE_LEFT * n_before:
        n_before = len(left)
        left = _leave_out_hollows(left, fp, tp)
    return left[_chain(fp[left].tolist(), tp[left].tolist())]


def _leave_out_hollows(points, fp, tp):
    """Leave out all points that are not above the line between their neighbours."""
    right, up = np.diff(fp[points]), np.diff(tp[points])
    turns_right = up[:-1] * right[1:] > up[1:] * right[:-1]
    return points[np.concatenate([[True], turns_right, [True]])[: len(points)]]


def _chain(fp, tp):
    """Return the points that a string laid over all of them touches."""
    chain = []
    for point in range(len(fp)):
        while len(chain) > 1 and not _turns_right(*chain[-2:], point, fp, tp):
            chain.pop()
        chain.append(point)
    return np.array(chain, dtype=np.intp)


def _turns_right(first, second, third, fp, tp):
    up, right = tp[second] - tp[first], fp[second] - fp[first]
    return up * (fp[third] - fp[second]) > (tp[third] - tp[second]) * right
