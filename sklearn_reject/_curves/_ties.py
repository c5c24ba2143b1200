"""Scores that differ by rounding only are one and the same to a rule.

The last bits of a score differ with the size of the batch, the order of threads and the
processor. What a threshold cannot tell apart is a tie here, and nowhere else.
"""

import numpy as np

# Scores as close as this, relatively, are tied.
TIE_TOLERANCE = 2.0**-40


def starts_of_ties(sorted_scores):
    """Tell for each sorted score whether it is the first of its value."""
    is_start = np.ones(len(sorted_scores), dtype=bool)
    np.not_equal(sorted_scores[1:], sorted_scores[:-1], out=is_start[1:])
    return is_start


def tie_range(scores, sizes=None):
    """Return the lowest and the highest threshold that each score is at.

    `sizes` are the magnitudes that the scores were rounded at, those of the terms of a
    sum; None where these are the scores themselves.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        margin = np.abs(scores if sizes is None else sizes) * TIE_TOLERANCE
        return scores - margin, scores + margin


def first_thresholds(scores, sizes):
    """Return, of sorted scores, the lowest that accepts each one as a threshold."""
    low, _ = tie_range(scores, sizes)
    low = np.fmin(low, scores)  # NaN where the score is minus infinity
    return scores[np.searchsorted(scores, low)]


def snap(scores, sizes=None):
    """Return scores, in the order they come in, as `snap_sorted` does; may be inf."""
    rows = np.flatnonzero(np.isfinite(scores))
    order = rows[np.argsort(scores[rows])]
    snapped = scores.copy()
    snapped[order] = snap_sorted(scores[order], None if sizes is None else sizes[order])
    return snapped


def snap_sorted(scores, sizes=None):
    """Return sorted scores with one value for all that a threshold cannot tell apart.

    A group is what is at its value, see `tie_range`, so that it cannot grow by
    chaining: it spans at most twice the tolerance.
    """
    near = _find_near(scores, sizes)
    if not near.size:
        return scores
    # Each of the few distinct scores that have another one near, with its ties.
    values = np.unique(scores[[near, near + 1]])
    starts = np.searchsorted(scores, values)
    stops = np.searchsorted(scores, values, side="right")
    if sizes is None:
        low, high = tie_range(values)
    else:
        # The thresholds that all ties of a value are at.
        spans = np.stack([starts, stops], axis=1).ravel()
        spans = spans[: spans.size - (spans[-1] == len(scores))]
        low, high = tie_range(scores, sizes)
        low = np.maximum.reduceat(low, spans)[::2]
        high = np.minimum.reduceat(high, spans)[::2]
    snapped = scores.copy()
    joined = _join_near(values.tolist(), low.tolist(), high.tolist())
    for start, stop, value in zip(starts.tolist(), stops.tolist(), joined, strict=True):
        snapped[start:stop] = value
    return snapped


def _find_near(scores, sizes):
    """Return where a sorted score may tie with the next one without being equal."""
    margin = np.abs(scores[:-1]) if sizes is None else np.maximum(sizes[:-1], sizes[1:])
    margin *= 4 * TIE_TOLERANCE  # twice as far as two ranges can reach
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = scores[1:] - scores[:-1]
    near = np.flatnonzero(gaps <= margin)
    return near[(gaps[near] > 0) & (gaps[near] < np.inf)]


def _join_near(values, low, high):
    """Return common values for distinct ones and their ranges, all of them lists."""
    joined, reached = [], -np.inf
    while len(joined) < len(values):
        first = len(joined)
        last, lowest, highest = first + 1, low[first], high[first]
        while last < len(values):
            inside = max(lowest, low[last]), min(highest, high[last])
            if inside[0] > inside[1]:
                break
            (lowest, highest), last = inside, last + 1
        # A score itself where only the group is at it, else the highest possible.
        is_apart = reached < values[first] and lowest <= values[first]
        joined += [values[first] if is_apart else highest] * (last - first)
        reached = max(high[first:last])
    return joined


def make_finite(scores):
    """Return the scores or, where some are infinite, their ranks, ties alike."""
    if not np.isinf(scores).any():
        return scores
    return np.unique(scores, return_inverse=True)[1].astype(np.float64)
