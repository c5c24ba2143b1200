"""Scores of several classifiers on one scale."""

import numpy as np


def normalize_scores(documents):
    """Return the mid-rank of each score among documents whose classes weigh the same.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    Returns
    -------
    u : ndarray of shape (n_documents, n_classifiers)
        In ]0, 1[, rising with the score. NaN for a score below the lowest threshold,
        through which a document never is predicted positive.
    """
    weight = _balance(documents)
    columns = zip(documents.scores.T, documents.base, strict=True)
    return np.column_stack([_mid_ranks(*column, weight) for column in columns])


def _balance(documents):
    """Return weights whose sum is a half in each class.

    Otherwise rare positives would share next to no room on the scale.
    """
    weight = documents.weight
    if weight is None:
        weight = np.ones(len(documents.scores))
    sums = np.bincount(documents.is_positive, weight)
    return weight / (2 * sums[documents.is_positive.astype(np.intp)])


def _mid_ranks(scores, base, weight):
    reached = scores >= base
    _, group = np.unique(scores[reached], return_inverse=True)
    sizes = np.bincount(group, weight[reached])
    ends = np.cumsum(sizes)
    middles = (ends - sizes / 2) / ends[-1]
    ranks = np.full(len(scores), np.nan)
    # Weights may be so small that a rank is rounded to an end.
    eps = np.finfo(np.float64).eps
    ranks[reached] = np.clip(middles, eps, 1 - eps)[group]
    return ranks
