"""Scores cut into cells, so that most of them only have to be counted."""

import numpy as np


def draw_evenly(scores):
    """Return about 2^15 of the scores, enough to see where they are dense."""
    return scores[:: max(1, len(scores) >> 15)]


def cut_into_cells(scores, some, n_bits, *, most_shared):
    """Return an increasing map from scores to cells below ``2**n_bits``, or None.

    Of `some` of the scores, at most `most_shared` others may share a cell, on average.
    Cells of equal width are tried first. Scores that pile up near zero, as those of a
    confident classifier do, are told apart by cells that are even in the floating-point
    representation, so about as wide as the score is large.
    """
    for make_cut in (_even_cut, _floating_point_cut):
        cut = make_cut(scores, n_bits)
        if cut is not None:
            _, counts = np.unique(cut(some), return_counts=True)
            pairs = counts @ (counts - 1) / len(some) ** 2
            if pairs * len(scores) <= most_shared:
                return cut
    return None


def _even_cut(scores, n_bits):
    low, high = scores.min(), scores.max()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = (2**n_bits - 1) / (high - low)
    if not 0 < scale < np.inf:  # constant or infinite, or as wide as floats get
        return None

    def cut(values):
        cells = values - low
        cells *= scale
        return cells.astype(np.int64)

    return cut


def _floating_point_cut(scores, n_bits):
    low, high = float_keys(np.array([scores.min(), scores.max()]))
    shift = max(0, (int(high) - int(low)).bit_length() - n_bits)

    def cut(values):
        keys = float_keys(values)
        keys -= low
        keys >>= np.uint64(shift)
        return keys.view(np.int64)

    return cut


def float_keys(values):
    """Return unsigned integers in the order of the floats."""
    bits = (values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    # Flips all bits of negative floats, else the sign only.
    flips = bits >> 63
    flips |= np.int64(-(2**63))
    bits ^= flips
    return bits.view(np.uint64)
