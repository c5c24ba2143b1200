"""How many thresholds each score reaches."""

import numpy as np

# Bits of the mantissa of a double that do not matter to its bucket: 40 of 52 leave 4096
# buckets to each power of two, of which there are at most 64.
_IGNORED_BITS = 40
_MOST_BUCKETS = 64 << 12

# Up to here the buckets cost more than they save.
_FEW_SCORES = 1 << 14


def ranks(documents, grid):
    """Return how many thresholds of each classifier a document reaches.

    The document is predicted positive by a classifier at the thresholds of index
    below its rank.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    grid : list of n_classifiers ndarrays
        Increasing thresholds of each classifier, the last of them infinite.

    Returns
    -------
    ranks : ndarray of shape (n_documents, n_classifiers), dtype intp
        Number of thresholds that are at most the score. The columns are contiguous.
    """
    columns = zip(grid, documents.scores.T, strict=True)
    return np.array([count_reached(*pair) for pair in columns], dtype=np.intp).T


def count_reached(thresholds, scores):
    """Return the number of increasing thresholds that are at most each score.

    A binary search among unordered scores mostly waits for wrong guesses of the
    processor. Most scores need one comparison instead, with the threshold in the same
    bucket; where there are more, they are searched. The buckets are about as wide as
    their share of the distance from the lowest threshold, so that they fit the scores
    of rare events, most of which are close to the lowest.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Increasing, all finite but the last.

    scores : ndarray of shape (n_documents,)
        Finite scores.

    Returns
    -------
    n_reached : ndarray of shape (n_documents,), dtype intp
        The numbers.
    """
    scores = np.ascontiguousarray(scores)
    if len(scores) <= _FEW_SCORES:
        return np.searchsorted(thresholds, scores, side="right")
    of_thresholds = _bucket(thresholds[:-1], thresholds[0])
    highest = of_thresholds[-1]
    lowest = max(highest - _MOST_BUCKETS, 0)
    bucket = np.clip(_bucket(scores, thresholds[0]), lowest, highest) - lowest
    n_inside = np.bincount(np.maximum(of_thresholds, lowest) - lowest)
    n_reached = (np.cumsum(n_inside) - n_inside)[bucket]
    n_reached += scores >= thresholds[n_reached]
    crowded = np.flatnonzero((n_inside > 1)[bucket])
    n_reached[crowded] = np.searchsorted(thresholds, scores[crowded], side="right")
    return n_reached


def _bucket(scores, origin):
    """Return the bucket of each score, none lower than that of a lower score.

    The bits of a double that is not negative, read as an integer, keep the order. Those
    of a negative one read as a negative integer.
    """
    with np.errstate(over="ignore"):
        distance = scores - origin
    return distance.view(np.int64) >> _IGNORED_BITS
