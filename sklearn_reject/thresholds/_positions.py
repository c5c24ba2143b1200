"""From where on a path documents enter to the path itself."""

import numpy as np

from sklearn_reject.thresholds._path import ThresholdPath, area_under


def path_of_positions(documents, positions):
    """Return the path on which each score is reached at a given position.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    positions : ndarray of shape (n_documents, n_classifiers)
        How far along the path a threshold equals the score, on one scale for all
        classifiers. Where it falls along the scores of a classifier, which only
        rounding can make, it is raised. NaN for scores below the lowest threshold.

    Returns
    -------
    path : ThresholdPath
        All its finite thresholds are scores of documents. Its vertices are the cuts
        before and after each position of a positive, and both ends; its curve is
        straight between them, and its area is that of all cuts.
    """
    columns = zip(documents.scores.T, positions.T, strict=True)
    tables = [_sort_column(*column) for column in columns]
    entered = _entered(documents, tables)
    cuts, fp, tp = _cut(documents, entered)
    thresholds = np.column_stack([_thresholds_at(cuts, *table) for table in tables])
    # Nothing is lost: the lowest cut predicts all documents, as these do.
    thresholds[0] = documents.base
    return ThresholdPath(thresholds, fp, tp, area_under(fp, tp), documents.rule)


def _sort_column(scores, positions):
    """Return distinct scores in rising order, and their positions, none of which falls.

    Scores without position are left out.
    """
    known = ~np.isnan(positions)
    distinct, first = np.unique(scores[known], return_index=True)
    return distinct, np.maximum.accumulate(positions[known][first])


def _entered(documents, tables):
    """Return the position up to which each document is predicted positive."""
    reduce = np.maximum if documents.rule == "any" else np.minimum
    entered = None
    for scores, (distinct, positions) in zip(documents.scores.T, tables, strict=True):
        # Index 0 is for scores below all that have a position.
        index = np.searchsorted(distinct, scores, side="right")
        column = np.append(-np.inf, positions)[index]
        entered = column if entered is None else reduce(entered, column)
    return entered


def _cut(documents, entered):
    """Return the positions where the curve turns, and the counts from there on.

    Those are before and after each position of a positive, and the two ends.
    """
    distinct, group = np.unique(entered, return_inverse=True)
    weight = documents.weight
    codes = 2 * group + documents.is_positive
    counts = np.bincount(codes, weight, minlength=2 * len(distinct)).reshape(-1, 2)
    from_here = np.zeros((len(distinct) + 1, 2))
    from_here[:-1] = np.cumsum(counts[::-1], axis=0)[::-1]
    holds = np.flatnonzero(counts[:, 1] > 0)
    kept = np.unique(np.concatenate([[0], holds, holds + 1, [len(distinct)]]))
    fp, tp = from_here[kept].T
    return np.append(distinct, np.inf)[kept], fp.copy(), tp.copy()


def _thresholds_at(cuts, distinct, positions):
    """Return the lowest score of a classifier at or above each position."""
    return np.append(distinct, np.inf)[np.searchsorted(positions, cuts, side="left")]
