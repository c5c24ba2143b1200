"""Fitting an estimator fold by fold, and responses to samples it has not seen."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._response import Response
from sklearn_reject._sklearn import _check_method_params, _safe_split


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


def respond_out_of_fold(
    estimator, X, y, splits, summarize, *, fit_params, n_jobs, caller, contexts
):
    """Fit on each training part and summarize the response on the part left out.

    Parameters
    ----------
    estimator : estimator
        Classifier to clone and fit.

    X, y : array-like
        All samples and their labels.

    splits : list of (train, test)
        Row indices.

    summarize : callable
        Called with ``(response, y_test)`` in the worker. What it returns is kept.

    fit_params : dict
        Passed to `fit`, indexed by the rows of the training part where it is as long
        as X.

    n_jobs : int or None
        Number of parallel jobs, as joblib counts them.

    caller : estimator
        The meta-estimator whose callbacks are told.

    contexts : list of callback contexts
        One a split.

    Returns
    -------
    summaries : list
        What `summarize` returned, one a split.
    """
    return Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_respond)(
            clone(estimator), X, y, split, summarize, fit_params, caller, context
        )
        for split, context in zip(splits, contexts, strict=True)
    )


def _fit_and_respond(estimator, X, y, split, summarize, fit_params, caller, context):
    train, test = split
    X_train, y_train = _safe_split(estimator, X, y, train)
    X_test, y_test = _safe_split(estimator, X, y, test, train)
    params = _check_method_params(X, fit_params, indices=train)
    fit_in_context(estimator, X_train, y_train, params, caller, context)
    return summarize(Response(estimator, X_test), y_test)


def fit_in_context(estimator, X, y, fit_params, caller, context):
    """Fit an inner estimator as one task of its meta-estimator's callbacks."""
    with context.propagate_callback_context(estimator):
        context.call_on_fit_task_begin(estimator=caller, X=X, y=y)
        estimator.fit(X, y, **fit_params)
        context.call_on_fit_task_end(estimator=caller, X=X, y=y)
    return estimator
