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
_PREFIT = "prefit"


def check_joint_cv(tuner, joint):
    """Raise for a `cv` that is none, or that these classifiers cannot have."""
    if not isinstance(tuner.cv, str) or tuner.cv != _PREFIT:
        check_cv_choice(tuner, learns=True)
    elif not joint.is_frozen:
        raise ValueError(
            "cv='prefit' takes scores as they are, but some estimators are still to be "
            "fitted, whose scores on their own training documents are too good. Wrap "
            "fitted estimators in FrozenEstimator, or use another cv."
        )


def plan_jointly(tuner, joint, samples):
    """Return which documents fit and tune, and the splits that judge thresholds.

    The splits are None where they are left to us, which takes the documents.
    """
    everything = Plan(ALL_ROWS, held_out=ALL_ROWS)
    if joint.is_frozen and tuner.cv is None:
        return everything, None
    if joint.is_frozen and isinstance(tuner.cv, str):
        return everything, ()
    splits = make_splits(tuner.cv, samples, True, tuner.random_state)
    check_splits(splits)
    return everything if joint.is_frozen else plan_of_splits(tuner.cv, splits), splits


def check_tuning(ratings, rows):
    """Raise where the documents that tune have ratings of one class, and all have two.

    A class of a single document stays in the training part of each fold.
    """
    for rating, name in enumerate(["negatives", "positives"]):
        if not (ratings[rows] == rating).any():
            raise ValueError(
                f"cv: there are no rated {name} to tune the thresholds on, of "
                f"{np.sum(ratings == rating)} in y: they are only in training parts. "
                "Rate more documents, or use other folds."
            )


def find_folds(documents, splits, rows, n_documents):
    """Return the folds that judge the thresholds of the documents of some rows.

    A fold is judged by thresholds from what its own training part has of the others:
    all of them where folds are drawn, and the past where splits follow time. Where that
    lacks rated documents of a class it is not judged, and a warning says so.
    """
    folds = []
    for train, test in _default_splits(documents) if splits is None else splits:
        tunes, judges = np.zeros((2, n_documents), dtype=bool)
        tunes[train], judges[test] = True, True
        fold = (tunes & ~judges)[rows], judges[rows]
        # Nothing has a score before the first test part of splits that follow time.
        if all(mask.any() for mask in fold):
            folds.append(fold)
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
            "positives, or negatives, to tune the thresholds on, so "
            f"cross_validated_point_ {result}. Rate more, or use fewer folds."
        )
    return tuple(usable)


def _default_splits(documents):
    """Return five splits of the documents that were given, or fewer.

    There are no more than rated documents of a class within the region, which are
    spread evenly. None with a warning where one class has a single document.
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
    kind = np.full(len(documents), -1)
    kind[documents.rows] = documents.is_positive
    given = np.flatnonzero(documents.is_given)
    kind, splitter = kind[given], StratifiedKFold(min(DEFAULT_FOLDS, n_fewest))
    # Fewer unrated documents than folds are not worth a word.
    if np.sum(kind < 0) < splitter.n_splits:
        kind[kind < 0] = 0
    return [(given[train], given[test]) for train, test in splitter.split(kind, kind)]
