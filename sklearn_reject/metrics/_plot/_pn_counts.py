"""Curves and counts of rated documents, and of the tuner that applies thresholds."""

import numpy as np

from sklearn_reject import _curves as curves
from sklearn_reject._labels import rate
from sklearn_reject._validation import check_same_length
from sklearn_reject.metrics._inside import names_of_classifiers, recount


def known_curve(scores, is_positive, weight, known=None):
    """Return false and true positives of a score down to the documents not known."""
    if known is None:
        return curves.pn_curve(scores, is_positive, sample_weight=weight)[:2]
    # Ranks, so that any document can be below all others.
    ranks = np.unique(scores, return_inverse=True)[1] + 1.0
    ranks[~known] = 0.0
    fp, tp, thresholds = curves.pn_curve(ranks, is_positive, sample_weight=weight)
    return fp[thresholds > 0], tp[thresholds > 0]


def find_known(scores, path):
    """Return which documents the curve of a path, and of each score, can count.

    Below its base, a detector sees documents that others have chosen, and with the rule
    "all" only documents that all of them have.
    """
    reached = scores >= path.thresholds[0]
    if path.rule == "all":
        return [reached.all(axis=1)] * (1 + scores.shape[1])
    return [reached.any(axis=1), *reached.T]


def describe_tuner(tuner, X, ratings):
    """Return what a tuner's display has beyond that of any classifier."""
    scores = tuner.joint_scores(X)
    path, point = recount(tuner, scores, ratings)
    scores = scores[ratings.rows]
    return {
        "path": path,
        "operating_point": point,
        "scores": scores,
        "is_positive": ratings.is_positive,
        "classifiers": names_of_classifiers(tuner),
    }


def shown_documents(path, scores, y, options):
    """Return scores and ratings of the documents that were rated."""
    if scores is None or y is None:
        raise ValueError("scores and y belong together: pass both, or neither of them.")
    path.locate(scores)  # raises unless finite, one column for each classifier
    scores = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
    check_same_length(len(scores), y=y)
    ratings = rate(y, **options)
    return {"scores": scores[ratings.rows], "is_positive": ratings.is_positive}
