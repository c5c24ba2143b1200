"""Fitting an estimator on some rows and evaluating it on others, fold by fold."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._response import Response
from sklearn_reject._sklearn import (
    SILENT_CONTEXT,
    _check_method_params,
    _safe_split,
)


def begin_fits(caller, X, y, n_fits):
    """Tell the callbacks of a meta-estimator that so many fits begin."""
    context = caller._init_callback_context(
        max_subtasks=n_fits, sequential_subtasks=False
    )
    context.call_on_fit_task_begin(estimator=caller, X=X, y=y)
    return context


def fit_in_context(estimator, X, y, fit_params, caller, context):
    """Fit an inner estimator as one task of its meta-estimator's callbacks."""
    with context.propagate_callback_context(estimator):
        context.call_on_fit_task_begin(estimator=caller, X=X, y=y)
        estimator.fit(X, y, **fit_params)
        context.call_on_fit_task_end(estimator=caller, X=X, y=y)
    return estimator


def take_rows(estimator, X, y, rows, train=None):
    """Return samples and labels of some rows, without a copy where it is all of them.

    `train` are the rows that the estimator was fitted on: the columns of a kernel
    matrix.
    """
    if isinstance(rows, slice):
        return X, y
    train = None if isinstance(train, slice) else train
    return _safe_split(estimator, X, y, rows, train)


def fit_on_rows(
    estimator, X, y, rows, fit_params, *, caller=None, context=SILENT_CONTEXT
):
    """Fit an estimator on some rows, with the parameters of these rows."""
    X_rows, y_rows = take_rows(estimator, X, y, rows)
    if not isinstance(rows, slice):
        fit_params = _check_method_params(X, fit_params, indices=rows)
    return fit_in_context(estimator, X_rows, y_rows, fit_params, caller, context)


def respond(estimator, X, y, rows, train=None):
    """Return the response of an estimator to some rows, and their labels."""
    X, y = take_rows(estimator, X, y, rows, train)
    return Response(estimator, X), y


def evaluate_folds(
    estimator, score, X, y, sample_weight, folds, fit_params, *, caller, context=None
):
    """Return what a score says of the test part of each fold, one after the other.

    Estimator and score are cloned and fitted on the training part. Without a `context`
    nobody is told, and nothing runs in parallel.
    """
    tasks = [
        SILENT_CONTEXT
        if context is None
        else context.subcontext(task_name="fit-fold", task_id=number)
        for number in range(len(folds))
    ]
    # X, y and weights are arguments of their own: what carries tasks to other
    # machines then sends them once.
    parts = Parallel(n_jobs=None if context is None else caller.n_jobs)(
        delayed(_evaluate_fold)(
            clone(estimator),
            score.clone(),
            X,
            y,
            sample_weight,
            fold,
            fit_params,
            caller,
            task,
        )
        for fold, task in zip(folds, tasks, strict=True)
    )
    return tuple(np.concatenate(values) for values in zip(*parts, strict=True))


def _evaluate_fold(
    estimator, score, X, y, sample_weight, fold, fit_params, caller, context
):
    train, test = fold
    score.fit(estimator, X, y, sample_weight, train, fit_params, caller, context)
    return score.evaluate(estimator, X, y, test, train)
