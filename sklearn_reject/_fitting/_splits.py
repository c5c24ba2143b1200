"""Which samples are fitted on, and which are held out."""

from numbers import Integral, Real

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv

DEFAULT_FOLDS = 5


def check_cv_choice(cv, estimator, *, learns):
    """Raise unless `cv` is None, a number of folds, a share, or a splitter."""
    if isinstance(estimator, FrozenEstimator) and cv is not None and not learns:
        raise ValueError(
            f"cv={cv!r} has no meaning for a FrozenEstimator, which is judged on the "
            "data given to `fit`, unless the uncertainty score is learned from them. "
            "Leave cv=None, and pass data that it was not trained on."
        )
    if isinstance(cv, (bool, str)) or (isinstance(cv, Integral) and cv < 2):
        raise ValueError(
            "cv must be None, at least 2 folds, the share to hold out, a splitter or "
            f"an iterable of splits, got {cv!r}."
        )
    if is_share(cv) and not 0 < cv < 1:
        raise ValueError(
            f"cv as a float is the share of samples that is held out and must be in "
            f"]0, 1[, got {cv!r}."
        )


def is_share(cv):
    """Tell whether `cv` is the share of samples to hold out."""
    return isinstance(cv, Real) and not isinstance(cv, Integral)


def make_splits(cv, X, y, *, stratify, random_state=None, split_params=None):
    """Return the list of (train, test) indices that `cv` stands for.

    Parameters
    ----------
    cv : int, float, splitter, iterable or None
        As the estimators have it.

    X, y : array-like
        Samples and labels.

    stratify : bool
        Whether all parts get their share of each class.

    random_state : int, RandomState instance or None, default=None
        Source of the share held out.

    split_params : dict, default=None
        For the splitter.
    """
    if is_share(cv):
        kind = StratifiedShuffleSplit if stratify else ShuffleSplit
        splitter = kind(1, test_size=cv, random_state=random_state)
    else:
        folds = DEFAULT_FOLDS if cv is None else cv
        splitter = check_cv(folds, y, classifier=stratify)
    splits = [
        (_as_rows(train), _as_rows(test))
        for train, test in splitter.split(X, y, **(split_params or {}))
    ]
    if not any(len(test) for _, test in splits):
        raise ValueError(f"cv={cv!r} leaves no samples to judge the classifier on.")
    return splits


def check_splits(splits, n_samples):
    """Return splits whose test parts do not overlap, with positions from zero on.

    Parameters
    ----------
    splits : list of (train, test)
        Row indices.

    n_samples : int
        Number of samples.

    Raises
    ------
    ValueError
        If a row does not exist, or is in several test parts.
    """
    splits = [tuple(_from_zero(part, n_samples) for part in split) for split in splits]
    tests = [test for _, test in splits]
    n_times = np.bincount(np.concatenate(tests), minlength=1) if tests else np.zeros(1)
    if n_times.max() > 1:
        raise ValueError(
            f"cv: {np.sum(n_times > 1)} samples are in several test parts, where they "
            "would be counted again. Use a splitter without repeats."
        )
    return splits


def _from_zero(rows, n_samples):
    outside = (rows < -n_samples) | (rows >= n_samples)
    if outside.any():
        raise ValueError(
            f"cv: a split has the row {rows[outside][0]}, but there are {n_samples} "
            "samples."
        )
    return np.where(rows < 0, rows + n_samples, rows)


def make_inner_splits(X, y, *, stratify):
    """Return folds of what is left beside the samples that are judged.

    There are five, or as many as the largest class has members.
    """
    folds = np.unique(y, return_counts=True)[1].max() if stratify else len(y)
    folds = max(2, min(DEFAULT_FOLDS, folds))
    return make_splits(folds, X, y, stratify=stratify)


def _as_rows(part):
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool else part


def splits_by_groups(cv):
    """Tell whether a splitter asks for groups."""
    if not hasattr(cv, "get_metadata_routing"):
        return False
    return cv.get_metadata_routing().split.requests.get("groups") is True
