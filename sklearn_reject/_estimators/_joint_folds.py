"""Which documents fit classifiers, tune joint thresholds, and judge them in folds.

Folds are pairs of masks of the documents that have scores: those that tune thresholds
again, and those that judge these.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from sklearn_reject._fitting._splits import (
    ALL_ROWS,
    DEFAULT_FOLDS,
    Plan,
    check_cv_choice,
    check_splits,
    make_splits,
    plan_of_splits,
)
from sklearn_reject.exceptions import warn_user

#: The `cv` that takes scores as they are, and cross-validates nothing.
PREFIT = "prefit"


def check_joint_cv(owner, joint):
    """Raise for a `cv` that is none, or that these classifiers cannot have."""
    if not isinstance(owner.cv, str) or owner.cv != PREFIT:
        check_cv_choice(owner, learns=True)
    elif not joint.is_frozen:
        raise ValueError(
            f"cv={PREFIT!r} takes scores as they are, but some estimators are still to "
            "be fitted, and their scores on their own training documents are too good. "
            "Wrap fitted estimators in FrozenEstimator, or use another cv."
        )


def plan_jointly(owner, joint, samples):
    """Return which documents fit and tune, and the folds, by the `cv` of a tuner.

    The folds are None where they are left to us, which takes the documents.
    """
    everything = Plan(ALL_ROWS, held_out=ALL_ROWS)
    if joint.is_frozen and owner.cv is None:
        return everything, None
    if joint.is_frozen and isinstance(owner.cv, str):
        return everything, ()
    n_documents = len(samples.y)
    splits = make_splits(owner.cv, samples, True, owner.random_state)
    check_splits(splits)
    masks = [tuple(_mask(rows, n_documents) for rows in split) for split in splits]
    if joint.is_frozen:
        return everything, tuple(masks)
    plan = plan_of_splits(owner.cv, splits)
    return plan, _folds_of_scores(masks) if len(plan.folds) > 1 else ()


def _mask(rows, n_documents):
    mask = np.zeros(n_documents, dtype=bool)
    mask[rows] = True
    return mask


def _folds_of_scores(masks):
    """Return the folds among the documents with scores out of fold, in their order.

    A fold is judged by thresholds from what its own training part has of the others:
    all of them where folds are drawn, and the past where splits follow time.
    """
    is_scored = np.any([test for _, test in masks], axis=0)
    folds = [((train & ~test)[is_scored], test[is_scored]) for train, test in masks]
    # Nothing has a score before the first test part of splits that follow time.
    return tuple(fold for fold in folds if all(mask.any() for mask in fold))


def default_folds(documents):
    """Return five folds, or fewer where positives or negatives are fewer.

    The rated documents within the region are spread evenly over them. None with a
    warning where one class has a single document.
    """
    n_positive = int(documents.is_positive.sum())
    n_fewest = min(n_positive, len(documents.rows) - n_positive)
    if n_fewest < 2:
        name = "positive" if n_positive < 2 else "negative"
        warn_user(
            f"cross_validated_point_ is None: only a single rated {name} reaches the "
            "lowest thresholds, so none would be left to tune or to evaluate them. "
            "Rate more documents, or set cv='prefit' for no cross-validation."
        )
        return ()
    kind = np.full(len(documents.ratings), -1)
    kind[documents.rows] = documents.is_positive
    given = np.flatnonzero(documents.is_given)
    kind = kind[given]
    splitter = StratifiedKFold(min(DEFAULT_FOLDS, n_fewest))
    # Fewer unrated documents than folds are not worth a word.
    if np.sum(kind < 0) < splitter.n_splits:
        kind[kind < 0] = 0
    return tuple(
        tuple(_mask(given[rows], len(documents.ratings)) for rows in split)
        for split in splitter.split(np.zeros(len(kind)), kind)
    )


def usable_folds(documents, folds):
    """Return the folds whose other part has rated documents of both classes.

    The others are not judged, and a warning says so.
    """
    is_positive = documents.is_positive
    usable = [
        fold
        for fold in folds
        if len(np.unique(is_positive[fold[0][documents.rows]])) == 2
    ]
    if len(usable) < len(folds):
        result = "does not count their documents" if usable else "is None"
        warn_user(
            f"cv: {len(folds) - len(usable)} of {len(folds)} folds leave no rated "
            "positives, or negatives, to tune the thresholds on, and "
            f"cross_validated_point_ {result}. Use fewer or stratified folds, or rate "
            "more documents."
        )
    return tuple(usable)


def check_tuning(ratings, rows):
    """Raise where the documents that tune have ratings of one class, and all have two.

    A class of a single document stays in the training part of each fold.
    """
    for rating, name in ((1, "positives"), (0, "negatives")):
        if not (ratings[rows] == rating).any():
            raise ValueError(
                f"cv: there are no rated {name} to tune the thresholds on, of "
                f"{np.sum(ratings == rating)} in y: they are only in training parts. "
                "Rate more documents, or use other folds."
            )
