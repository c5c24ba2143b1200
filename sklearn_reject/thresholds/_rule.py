"""How several classifiers decide together."""

import numpy as np

RULES = ("any", "all")


def predict_positive(scores, thresholds, rule):
    """Tell which documents are predicted positive.

    Parameters
    ----------
    scores : ndarray of shape (n_documents, n_classifiers)
        Scores, higher = more likely positive.

    thresholds : ndarray of shape (n_classifiers,)
        A score reaches its threshold if it is at least as large.

    rule : {"any", "all"}
        Whether one score that reaches its threshold is enough (union), or all have to
        (intersection).

    Returns
    -------
    is_predicted : ndarray of shape (n_documents,), dtype bool
        The predictions.
    """
    return combine(scores >= thresholds, rule)


def combine(flags, rule):
    """Return whether any or all classifiers say so, row by row."""
    # Column by column is several times faster than a reduction along a short axis.
    reduce = np.logical_or if rule == "any" else np.logical_and
    combined = flags[:, 0].copy()
    for column in flags.T[1:]:
        reduce(combined, column, out=combined)
    return combined
