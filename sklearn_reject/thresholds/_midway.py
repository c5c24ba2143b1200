"""Thresholds between the scores of documents."""

from dataclasses import replace

import numpy as np


def place_midway(path, documents):
    """Move thresholds from the scores of documents halfway to the next lower ones.

    The predictions remain. But a threshold that equals a score leaves it to rounding
    whether the document reaches it, and few classifiers give the same score to the last
    digit in another batch; and of two documents a new one is as likely to be nearer to
    the lower as to the higher.

    Parameters
    ----------
    path : ThresholdPath
        Its finite thresholds are scores of documents.

    documents : RatedDocuments
        What they are of.

    Returns
    -------
    path : ThresholdPath
        The same predictions of all documents given, rated or not.
    """
    columns = zip(path.thresholds.T, documents.given.T, documents.floor, strict=True)
    return replace(path, thresholds=np.column_stack([_move(*c) for c in columns]))


def _move(thresholds, scores, floor):
    ordered = np.sort(scores)
    finite = np.isfinite(thresholds)
    own = thresholds[finite]
    below = _next_lower(ordered, own)
    middle = below / 2 + own / 2
    # Neighbouring numbers have nothing between them.
    middle = np.where(middle > below, middle, own)
    moved = thresholds.copy()
    moved[finite] = np.maximum(middle, floor)
    return moved


def _next_lower(ordered, thresholds):
    """Return the next lower score, or one as far away as the next higher one is."""
    n_below = np.searchsorted(ordered, thresholds, side="left")
    n_up_to = np.searchsorted(ordered, thresholds, side="right")
    above = ordered[np.minimum(n_up_to, len(ordered) - 1)]
    with np.errstate(over="ignore"):
        mirrored = thresholds - (above - thresholds)
    return np.where(n_below > 0, ordered[n_below - 1], mirrored)
