"""The path of a single classifier."""

import numpy as np

from sklearn_reject._validation import take_weight
from sklearn_reject.thresholds._path import ThresholdPath, area_under


def only_path(documents, through=()):
    """Return the only path of one classifier, with a vertex wherever its curve turns.

    Parameters
    ----------
    documents : RatedDocuments
        Those of one classifier.

    through : array-like of shape (n_thresholds,), default=()
        Thresholds that are to be vertices, too.

    Returns
    -------
    path : ThresholdPath
        From all scores down to the highest of a positive and the next above it.
    """
    scores, is_positive = documents.scores[:, 0], documents.is_positive
    ordered = np.append(np.sort(scores), np.inf)
    own = np.unique(scores[is_positive])
    above = ordered[np.searchsorted(ordered, own, side="right")]
    cuts = [documents.base, own, above, [np.inf], through]
    thresholds = np.unique(np.concatenate(cuts))
    fp, tp = (
        _weigh_from(thresholds, scores[rows], take_weight(documents.weight, rows))
        for rows in (~is_positive, is_positive)
    )
    thresholds = thresholds[:, np.newaxis]
    return ThresholdPath(thresholds, fp, tp, area_under(fp, tp), documents.rule)


def _weigh_from(thresholds, scores, weight):
    """Return the weight of the scores from each threshold on."""
    if weight is None:
        below = np.searchsorted(np.sort(scores), thresholds, side="left")
        return (len(scores) - below).astype(np.float64)
    order = np.argsort(scores)
    below = np.searchsorted(scores[order], thresholds, side="left")
    # From the top, so that nothing is left above the highest score.
    from_top = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    return from_top[below]
