"""Which samples are fitted on, and which are held out to evaluate the fit."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv

DEFAULT_FOLDS = 5

#: Every row, without a copy of the samples.
ALL_ROWS = slice(None)


@dataclass(frozen=True, eq=False)
class Plan:
    """Which rows each fit sees, and which rows evaluate it.

    `folds` are (train, test) of fits that only serve to evaluate; `final` are the rows
    of the fit that is kept, and `held_out` the rows that evaluate it, None where the
    folds do or nothing does.
    """

    final: np.ndarray | slice
    folds: tuple = ()
    held_out: np.ndarray | slice | None = None


def plan_fits(owner, X, y, split_params, *, learns, stratify, needs_data=True):
    """Return the plan that the `cv` of a meta-estimator stands for.

    `learns` says whether a score learns from samples, `stratify` whether all parts get
    their share of each class, and `needs_data` whether a rule cannot do without
    evaluation. One that can is evaluated where `cv` asks for it, or where that takes no
    fit: it tells what the rule achieves.
    """
    is_frozen = isinstance(owner.estimator, FrozenEstimator)
    if is_frozen and not learns:
        return Plan(ALL_ROWS, held_out=ALL_ROWS)
    if not needs_data and not learns and owner.cv is None:
        return Plan(ALL_ROWS)
    splits = make_splits(
        owner.cv,
        X,
        y,
        stratify=stratify,
        random_state=owner.random_state,
        split_params=split_params,
    )
    return plan_of_splits(owner.cv, splits)


def plan_of_splits(cv, splits):
    """Return the plan of a share held out, or of folds and a fit on everything."""
    if not is_share(cv):
        return Plan(final=ALL_ROWS, folds=tuple(splits))
    [(train, test)] = splits
    return Plan(final=train, held_out=test)


def inner_folds(rows, y, stratify):
    """Return folds of some rows, five or as many as the largest class has members."""
    y = y[rows]
    n_folds = np.unique(y, return_counts=True)[1].max() if stratify else len(y)
    n_folds = max(2, min(DEFAULT_FOLDS, n_folds))
    splits = make_splits(n_folds, np.zeros(len(y)), y, stratify=stratify)
    return tuple((rows[train], rows[test]) for train, test in splits)


def check_cv_choice(cv, estimator, *, learns):
    """Raise unless `cv` is None, a number of folds, a share, or a splitter."""
    if isinstance(estimator, FrozenEstimator) and cv is not None and not learns:
        raise ValueError(
            f"cv={cv!r} has no meaning for a FrozenEstimator, which is evaluated on "
            "the data given to `fit`, unless the uncertainty score is learned from "
            "them. Leave cv=None, and pass data that it was not trained on."
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
    """Return the list of (train, test) row indices that `cv` stands for."""
    if is_share(cv):
        kind = StratifiedShuffleSplit if stratify else ShuffleSplit
        splitter = kind(1, test_size=cv, random_state=random_state)
    else:
        folds = DEFAULT_FOLDS if cv is None else cv
        splitter = check_cv(folds, y, classifier=stratify)
    # Some splitters yield masks, and splits by hand may be lists or tuples.
    splits = [
        tuple(map(_as_rows, split))
        for split in splitter.split(X, y, **(split_params or {}))
    ]
    if not any(len(test) for _, test in splits):
        raise ValueError(f"cv={cv!r} leaves no samples to evaluate the classifier on.")
    return splits


def _as_rows(part):
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool else part


def check_splits(splits, n_samples):
    """Return splits whose test parts do not overlap, with positions from zero on."""
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


def splits_by_groups(cv):
    """Tell whether a splitter asks for groups."""
    if not hasattr(cv, "get_metadata_routing"):
        return False
    return cv.get_metadata_routing().split.requests.get("groups") is True
