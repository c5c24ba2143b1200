"""Rated documents, told apart from the others."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._ratings import split_ratings
from sklearn_reject._validation import check_sample_weight, take_weight


@dataclass(frozen=True, eq=False)
class Ratings:
    """Documents that were rated.

    Attributes
    ----------
    is_positive : ndarray of shape (n_rated,), dtype bool
        What the rater said.

    weight : ndarray of shape (n_rated,) or None
        Weights.

    rows : ndarray of shape (n_rated,)
        Positions of the rated documents among all.

    classes : ndarray of shape (2,)
        The negative and the positive class.

    n_given : int
        Number of all documents.
    """

    is_positive: np.ndarray
    weight: np.ndarray
    rows: np.ndarray
    classes: np.ndarray
    n_given: int


def rate(y, *, pos_label=None, unrated_label=-1, sample_weight=None, name="y"):
    """Return the documents that were rated, as :func:`pn_curve` tells them apart."""
    is_positive, is_negative, classes = split_ratings(
        y, unrated_label=unrated_label, pos_label=pos_label, name=name
    )
    n_given = len(is_positive)
    weight = check_sample_weight(sample_weight, n_given)
    rows = np.flatnonzero(is_positive | is_negative)
    weight = take_weight(weight, rows)
    return Ratings(is_positive[rows], weight, rows, classes, n_given)
