"""Retuning on what was reported: thresholds that can rise, and never fall."""

import warnings

import numpy as np

from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject.exceptions import warn_user

# Share of the documents that tune, up to which those below the last thresholds are
# noise: the lowest thresholds are scores of documents, and some are next to the last.
_FEW = 0.01


def warn_of_ratchet(previous, X, rows, documents):
    """Warn where nothing but what the last fit reports tunes the thresholds again.

    `previous` is the tuner as the last fit has left it, fitted or not. `rows` of `X`
    have scores, and `documents` are those that count.
    """
    is_rated = documents.is_complete and not len(documents.others)
    if is_rated or not hasattr(previous, "operating_point_"):
        return
    last = previous.documents_.scores
    if _count_below(previous, last) <= _FEW * len(last):
        # It reports all that was rated then: thresholds are where ratings were to begin
        # with, and have not risen. So are those of the same documents, fitted again.
        return
    tuning = documents.rows if isinstance(rows, slice) else rows[documents.rows]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as that of a frame without names
            # Thresholds belong to the classifiers that they were tuned for.
            scores = previous._fitted.scores(_safe_indexing(X, tuning))
        n_below = _count_below(previous, scores)
    except Exception:
        # Other columns than those of the last fit, which has nothing to say of them.
        # Classifiers of other packages raise what they like.
        return
    if n_below > _FEW * len(tuning):
        return
    warn_user(
        f"y: of {len(tuning)} rated documents that tune the thresholds, {n_below} are "
        f"below those of the last fit, {previous.thresholds_.tolist()}. If only "
        "reported documents are rated, thresholds rise from fit to fit and never fall. "
        "Rate a random share of the documents above fixed base_thresholds, and pass "
        "its probability as inclusion_proba to fit."
    )


def _count_below(tuner, scores):
    """Return how many documents a tuner does not report."""
    return np.count_nonzero(~tuner.operating_point_.predict(scores))
