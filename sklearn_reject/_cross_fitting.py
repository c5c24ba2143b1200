"""Fitting the inner classifier, and getting responses to samples it has not seen."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv

from sklearn_reject._response import Response, fit_in_context, respond_out_of_fold
from sklearn_reject._sklearn_private import _check_method_params, _safe_split

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


def fit_on_part(caller, X, y, split, summarize, fit_params):
    """Fit on the training part, and judge on the part that is held out.

    Parameters
    ----------
    caller : estimator
        Meta-estimator with `estimator` and callbacks.

    X, y : array-like
        All samples and their labels.

    split : tuple of (train, test)
        Row indices.

    summarize : callable
        ``(response, y) -> tuple of arrays``, each with one entry a sample.

    fit_params : dict
        Passed to the `fit` of the inner classifier.

    Returns
    -------
    estimator, summary, rows : estimator, tuple of ndarray, ndarray
        The fitted classifier, what `summarize` returned, and the rows it is about.
    """
    train, test = split
    X_train, y_train = _safe_split(caller.estimator, X, y, train)
    X_test, y_test = _safe_split(caller.estimator, X, y, test, train)
    params = _check_method_params(X, fit_params, indices=train)
    context = begin_fits(caller, X, y, n_fits=1)
    estimator = _fit_final(caller, X_train, y_train, params, context, 0)
    context.call_on_fit_task_end(estimator=caller, X=X, y=y)
    return estimator, summarize(Response(estimator, X_test), y_test), test


def fit_on_all(caller, X, y, splits, summarize, fit_params):
    """Fit on all samples, and judge by classifiers fitted without the fold.

    Parameters and returns are those of :func:`fit_on_part`, for a list of splits.
    """
    context = begin_fits(caller, X, y, n_fits=len(splits) + 1)
    summaries = respond_out_of_fold(
        caller.estimator,
        X,
        y,
        splits,
        summarize,
        fit_params=fit_params,
        n_jobs=caller.n_jobs,
        caller=caller,
        contexts=[
            context.subcontext(task_name="fit-fold", task_id=fold)
            for fold in range(len(splits))
        ],
    )
    estimator = _fit_final(caller, X, y, fit_params, context, len(splits))
    context.call_on_fit_task_end(estimator=caller, X=X, y=y)
    summary = tuple(np.concatenate(parts) for parts in zip(*summaries, strict=True))
    rows = np.concatenate([test for _, test in splits]) if splits else None
    return estimator, summary, rows


def begin_fits(caller, X, y, n_fits):
    """Tell the callbacks of a meta-estimator that so many fits begin."""
    context = caller._init_callback_context(
        max_subtasks=n_fits, sequential_subtasks=False
    )
    context.call_on_fit_task_begin(estimator=caller, X=X, y=y)
    return context


def _fit_final(caller, X, y, fit_params, context, task_id):
    final = context.subcontext(task_name="fit-final-estimator", task_id=task_id)
    estimator = clone(caller.estimator)
    return fit_in_context(estimator, X, y, fit_params, caller, final)
