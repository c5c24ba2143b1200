"""Which documents fit classifiers, tune joint thresholds, and judge them in folds."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold

from sklearn_reject._fitting import (
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


@dataclass(frozen=True, eq=False)
class JointPlan:
    """Which documents fit and tune, and the folds that tune again.

    `folds` are pairs of positions among the documents that have scores. None where they
    are left to us, which takes the documents.
    """

    plan: Plan
    folds: tuple | None


def check_joint_cv(cv, joint):
    """Raise for a `cv` that is none, or that these classifiers cannot have."""
    if isinstance(cv, str) and cv == PREFIT:
        if not joint.is_frozen:
            raise ValueError(
                f"cv={PREFIT!r} takes scores as they are, but some estimators are "
                "still to be fitted, and their scores on their own training documents "
                "are too good. Wrap fitted estimators in FrozenEstimator, or use "
                "another cv."
            )
        return
    check_cv_choice(cv, None, learns=True)


def plan_jointly(owner, joint, X, ratings, split_params):
    """Return which documents fit and tune, and the folds, by the `cv` of a tuner."""
    everything = Plan(ALL_ROWS, held_out=ALL_ROWS)
    if joint.is_frozen and owner.cv is None:
        return JointPlan(everything, None)
    if joint.is_frozen and isinstance(owner.cv, str):
        return JointPlan(everything, ())
    splits = make_splits(
        owner.cv,
        X,
        ratings,
        stratify=True,
        random_state=owner.random_state,
        split_params=split_params,
    )
    splits = check_splits(splits, len(ratings))
    if joint.is_frozen:
        return JointPlan(everything, tuple(splits))
    plan = plan_of_splits(owner.cv, splits)
    return JointPlan(plan, _folds_of_scores(plan.folds, len(ratings)))


def _folds_of_scores(splits, n_documents):
    """Return the folds among the documents with scores out of fold, in their order.

    A fold is judged by thresholds from what its own training part has of the others:
    all of them where folds are drawn, and the past where splits follow time.
    """
    if len(splits) < 2:
        return ()
    scored = np.sort(np.concatenate([test for _, test in splits]))
    position = np.full(n_documents, -1)
    position[scored] = np.arange(len(scored))
    folds = []
    for train, test in splits:
        known = np.setdiff1d(position[train], position[test])
        known = known[known >= 0]
        # Nothing has a score before the first test part of splits that follow time.
        if len(known) and len(test):
            folds.append((known, np.sort(position[test])))
    return tuple(folds)


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
            "Rate more documents, or set cv='prefit' for no cross-validation.",
        )
        return ()
    kind = np.full(len(documents.given_rows), -1)
    place = np.searchsorted(documents.given_rows, documents.rows)
    kind[place] = documents.is_positive
    splitter = StratifiedKFold(min(DEFAULT_FOLDS, n_fewest))
    # Fewer unrated documents than folds are not worth a word.
    few = np.flatnonzero(kind < 0)
    if len(few) < splitter.n_splits:
        kind[few] = 0
    rows = documents.given_rows
    splits = splitter.split(np.zeros(len(kind)), kind)
    return tuple((rows[train], rows[test]) for train, test in splits)


def usable_folds(documents, folds):
    """Return the folds whose other part has rated documents of both classes.

    The others are not judged, and a warning says so.
    """
    classes = (
        documents.rows[~documents.is_positive],
        documents.rows[documents.is_positive],
    )
    usable = [
        fold for fold in folds if all(np.isin(rows, fold[0]).any() for rows in classes)
    ]
    if len(usable) < len(folds):
        result = "does not count their documents" if usable else "is None"
        warn_user(
            f"cv: {len(folds) - len(usable)} of {len(folds)} folds leave no rated "
            "positives, or negatives, to tune the thresholds on, and "
            f"cross_validated_point_ {result}. Use fewer or stratified folds, or rate "
            "more documents.",
        )
    return tuple(usable)


def as_masks(splits, n_documents):
    """Return which documents are in the two parts of each split, a byte for each."""
    masks = np.zeros((len(splits), 2, n_documents), dtype=bool)
    for split, of_parts in zip(splits, masks, strict=True):
        for rows, mask in zip(split, of_parts, strict=True):
            mask[rows] = True
    return masks


def in_order(evaluated):
    """Return scores and rows of evaluated documents, in the order they were given."""
    if isinstance(evaluated.rows, slice):
        return evaluated.scores, evaluated.rows
    order = np.argsort(evaluated.rows)
    return evaluated.scores[order], evaluated.rows[order]


def check_tuning(ratings, rows):
    """Raise where the documents that tune have ratings of one class, and all have two.

    A class of a single document stays in the training part of each fold.
    """
    for rating, name in ((1, "positives"), (0, "negatives")):
        n_rated = int(np.sum(ratings == rating))
        if not (ratings[rows] == rating).any():
            raise ValueError(
                f"cv: there are no rated {name} to tune the thresholds on, of "
                f"{n_rated} in y: they are only in training parts. Rate more "
                "documents, or use other folds."
            )
