"""Methods of rows, summaries and tables of dask collections, larger than one memory.

They take dask arrays, or dask dataframes and their columns. All collections of a call
are cut at the same rows; arrays of other chunks are cut as the first is. Columns come
best from one dataframe, whose partitions are then made once for all of them.

Decisions belong to rows, so :func:`apply_rows` makes them where the rows are. Each
partition of scores and losses is reduced where it is, to a
:class:`~sklearn_reject.selection.RiskCoverageSummary`, or ratings to a
:class:`~sklearn_reject.thresholds.PNTable`, and what they are reduced to is merged in a
tree. Metrics and rules are methods of these.

It needs dask (``pip install 'dask[array]'``), so nothing else imports it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from sklearn_reject._typing import Label, Other
from sklearn_reject.selection import RiskCoverageSummary
from sklearn_reject.thresholds import PNTable
from sklearn_reject.thresholds import pn_table as table_in_memory

try:
    import dask.array as da
    from dask import delayed
except ImportError as error:
    raise ImportError("This needs dask. Use `pip install 'dask[array]'`.") from error

__all__ = ["apply_rows", "pn_table", "summarize"]

_WAY_OUT = (
    "Make all collections from one, such as a join of dataframes, or take "
    "array.compute_chunk_sizes() and column.to_dask_array().compute_chunk_sizes()."
)

# What one task merges: all at once would be in the memory of one worker.
_SPLIT_EVERY = 8


def apply_rows(
    method: Callable[[Any], Any], collection: Any, *, meta: Any = None
) -> Other:
    """Apply a method of a fitted estimator to the rows of each partition, lazily.

    A decision depends on its row only, so the decisions are those of one call on all
    rows. Probabilities may differ in their last bits, as linear algebra adds up in
    another order.

    Parameters
    ----------
    method : callable
        Bound method of a fitted estimator, such as ``estimator.predict``, or any
        function of rows whose answer to a row does not depend on the others. It
        returns an array, a Series or a DataFrame with as many rows.

    collection : dask array or dataframe of shape (n_samples, ...)
        Rows. Blocks of columns of an array are put together.

    meta : ndarray, Series or DataFrame, default=None
        What `method` returns for some rows, or for none: its type, dtype and columns.
        None finds it on one made-up row, of zeros in an array. Where the method does
        not take it, such as text that an encoder does not know, one answer a row is
        expected, of an unknown type, which is dtype object.

    Returns
    -------
    answers : dask array, Series or DataFrame
        What `method` returns, in the same partitions: arrays as a dask array, and for
        dataframes, Series and DataFrames of pandas as those of dask.

    Raises
    ------
    ValueError
        If `method` is not callable or has no answer for each row, or `collection` is
        no dask array or dataframe. Where it is computed, if the answers to some rows
        are not like those to the made-up one.

    NotFittedError
        If the estimator is not fitted.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import SelectiveClassifier
    >>> from sklearn_reject.dask import apply_rows
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SelectiveClassifier(GaussianNB(), target_coverage=0.8, random_state=0)
    >>> model = model.fit(X, y)
    >>> accepted = apply_rows(model.accept, da.from_array(X, chunks=(50, 2)))
    >>> accepted.dtype, accepted.chunks
    (dtype('bool'), ((50, 50, 50),))
    >>> bool((accepted.compute() == model.accept(X)).all())
    True
    """
    if not callable(method):
        raise ValueError(f"method must be such as model.predict, got {method!r}.")
    _check_collection("collection", collection)
    meta = _answer_made_up_row(method, collection) if meta is None else meta
    like = _check_answers(meta, meta)[:0]
    apply = partial(_apply, method=method, like=like)
    if not isinstance(collection, da.Array):
        return collection.map_partitions(apply, meta=like)
    return collection.rechunk((collection.chunks[0], *collection.shape[1:])).map_blocks(
        apply,
        meta=like,
        drop_axis=list(range(1, collection.ndim)),
        new_axis=list(range(1, like.ndim)),
        chunks=(collection.chunks[0], *like.shape[1:]),
    )


def _answer_made_up_row(method, collection):
    """Return what a method returns for a made-up row, objects if it does not."""
    if isinstance(collection, da.Array):
        row = np.zeros((1, *collection.shape[1:]), dtype=collection.dtype)
    else:
        row = collection._meta_nonempty[:1]
    try:
        with warnings.catch_warnings(action="ignore"):
            answers = method(row)
    except NotFittedError:
        raise
    except Exception:  # whatever the method has against such a row
        return np.empty(0, dtype=object)
    return _check_answers(answers, row)


def _apply(rows, method, like):
    """Return the answers to the rows of a partition, which are to be like others."""
    if not rows.shape[0]:
        return like
    answers = _check_answers(method(rows), rows)
    is_array = isinstance(like, np.ndarray)
    fits = type(answers) is type(like) and answers.shape[1:] == like.shape[1:]
    if not fits or (is_array and not np.can_cast(answers.dtype, like.dtype)):
        raise ValueError(
            f"method returns rows of {answers[:0]!r}, but {like!r} was given or made "
            "up. Pass meta=model.predict(rows), of some rows of yours."
        )
    return answers.astype(like.dtype, copy=False) if is_array else answers


def _check_answers(answers, rows):
    if not getattr(answers, "shape", ()) or answers.shape[0] != rows.shape[0]:
        raise ValueError(
            f"{type(answers).__name__} has no row for each. Pass a function, or meta, "
            "of an array, a Series or a DataFrame with one row each."
        )
    return answers


def summarize(
    scores: Any,
    losses: Any,
    sample_weight: Any = None,
    *,
    n_bits: int = 22,
    compute: bool = True,
) -> RiskCoverageSummary | Other:
    """Reduce scores and losses to a table of cells, which answers many questions.

    One summary a partition, made where the data are, and a tree of merges. It can be
    kept, merged with later ones and asked again without the data. Losses of labels are
    made beforehand, for example as ``y_true != y_pred``.

    Parameters
    ----------
    scores : dask array or column of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : dask array or column of shape (n_samples,)
        Non-negative losses.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights.

    n_bits : int, default=22
        Leading bits of a score that tell its cell, as
        :class:`~sklearn_reject.selection.RiskCoverageSummary` takes them.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the summary. Warnings then come where it
        is computed.

    Returns
    -------
    summary : RiskCoverageSummary
        The summary of all samples. Areas, the curve and rules are its methods, which
        raise if there are no samples of positive weight.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, or an argument is invalid. Of values that are not finite or
        out of range, and of numbers of rows, the error names the partition.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import summarize
    >>> scores = da.from_array([0.1, 0.4, 0.4, 0.8], chunks=2)
    >>> losses = da.from_array([0, 0, 1, 1], chunks=2)
    >>> summary = summarize(scores, losses)
    >>> summary.n_samples
    4
    >>> summary.solve_target_coverage(0.25).selective_risk
    0.0
    """
    RiskCoverageSummary(n_bits)  # raises before a pass over the data

    def summary_of(**pieces):
        return RiskCoverageSummary(n_bits).update(**pieces)

    columns = {"scores": scores, "losses": losses, "sample_weight": sample_weight}
    return _merge_parts(columns, summary_of, RiskCoverageSummary.merge, compute)


def pn_table(
    scores: Any,
    y: Any,
    *,
    thresholds: Sequence[ArrayLike],
    rule: Literal["any", "all"] = "any",
    unrated_label: Label = -1,
    sample_weight: Any = None,
    pos_label: Label = None,
    inclusion_proba: Any = None,
    compute: bool = True,
) -> PNTable | Other:
    """Count false and true positives at all combinations of thresholds.

    The sum of the tables of all partitions, which is that of
    :func:`sklearn_reject.thresholds.pn_table` with the same `thresholds`. Its methods
    find paths and operating points without the documents.

    Parameters
    ----------
    scores : dask array or dataframe of shape (n_documents, n_classifiers), or dask \
            array or column of shape (n_documents,)
        Scores, higher = more likely positive. NaN if a classifier did not run, which
        reaches no threshold: with "any" the others decide, and with "all" the document
        is not predicted positive.

    y : dask array or column of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others. Two other classes take a `pos_label`, as a partition may have but one.

    thresholds : sequence of n_classifiers array-likes
        Increasing thresholds of each classifier to count at, such as those of the table
        of one partition or of a sample, ``table.thresholds``. Infinity is appended
        where it is missing; a first threshold of -inf is reached by every score. The
        lowest of each are those down to which ratings are known: no unrated document
        may reach them.

    rule : {"any", "all"}, default="any"
        Whether one score that reaches its threshold is enough for a document to be
        predicted positive (union), or all have to (intersection).

    unrated_label : label, default=-1
        What stands for unrated.

    sample_weight : dask array or column of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise.

    inclusion_proba : float or dask array or column of shape (n_documents,), \
            default=None
        Probability in (0, 1] of each document to be rated, if it was drawn at random,
        and NaN otherwise. Rated documents have the inverse as weight, times
        `sample_weight`, and represent unrated ones with the same probability. Only
        unrated documents without one mean that ratings are incomplete.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the table.

    Returns
    -------
    table : PNTable
        Thresholds of each classifier, false and true positives.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, scores are infinite, thresholds do not increase, the table
        would take more than scikit-learn's ``working_memory``, or an unrated document
        without an `inclusion_proba` reaches the lowest. Of values, the error names the
        partition.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from sklearn_reject.dask import pn_table
    >>> scores = np.array([[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]])
    >>> scores = da.from_array(scores, chunks=(2, 2))
    >>> y = da.from_array([1, 1, 0, 0, 0], chunks=2)
    >>> table = pn_table(scores, y, thresholds=[[0.1, 0.4, 0.9], [0.2, 0.7]])
    >>> table.tp
    array([[2., 2., 2.],
           [2., 2., 1.],
           [2., 2., 1.],
           [2., 1., 0.]])
    >>> point = table.operating_point(max_alerts=3)
    >>> point.thresholds, point.fp, point.tp
    (array([0.9, 0.7]), 0.0, 2.0)
    """
    columns = {"scores": scores, "y": y, "sample_weight": sample_weight}
    options = {"thresholds": thresholds, "rule": rule, "unrated_label": unrated_label}
    options["pos_label"] = pos_label
    place = columns if np.ndim(inclusion_proba) else options
    place["inclusion_proba"] = inclusion_proba
    count = partial(table_in_memory, **options)
    count(np.zeros(0), np.zeros(0))  # raises for what is wrong in all partitions
    return _merge_parts(columns, count, PNTable.__add__, compute)


def _merge_parts(columns, make, merge, compute):
    """Return the whole of what is made of partitions, delayed unless to `compute`.

    `columns` is a dict of dask arrays and columns, or None.
    """
    columns = {name: each for name, each in columns.items() if each is not None}
    first, *_ = columns.values()
    pieces = {name: _delay_pieces(name, each, first) for name, each in columns.items()}
    sizes = {name: len(of_one) for name, of_one in pieces.items()}
    known = (each for each in columns.values() if getattr(each, "known_divisions", 0))
    if len({*sizes.values()}) > 1 or len({each.divisions for each in known}) > 1:
        raise ValueError(f"Partitions are cut at other rows: {sizes}. {_WAY_OUT}")
    make = delayed(make, traverse=False)  # once, not with each partition
    parts = [
        delayed(_make_part)(index, dict(zip(pieces, row, strict=True)), make)
        for index, row in enumerate(zip(*pieces.values(), strict=True))
    ]
    while len(parts) > 1:
        starts = range(0, len(parts), _SPLIT_EVERY)
        parts = [delayed(reduce)(merge, parts[i : i + _SPLIT_EVERY]) for i in starts]
    return parts[0].compute() if compute else parts[0]


def _make_part(index, pieces, make):
    """Return what is made of a partition, which errors about values name."""
    sizes = {name: len(piece) for name, piece in pieces.items()}
    try:
        if len({*sizes.values()}) > 1:
            raise ValueError(f"numbers of rows differ: {sizes}. {_WAY_OUT}")
        return make(**pieces)
    except ValueError as error:
        raise ValueError(f"In partition {index}, {error}") from error


def _check_collection(name, collection):
    # Without an import of dask.dataframe, which needs pandas and pyarrow. What is
    # delayed has every attribute, but not its class.
    is_frame = hasattr(type(collection), "divisions")
    if not (is_frame or isinstance(collection, da.Array)) or not collection.ndim:
        raise ValueError(
            f"{name} must be a dask array, dataframe or column, got "
            f"{type(collection).__name__}. Convert it with dask.array.from_delayed or "
            "from_array or, in memory, call the method itself."
        )


def _delay_pieces(name, collection, first):
    """Return the delayed partitions of a collection, in order, cut as the first is.

    The graph is not fused: what several collections are made from would get another
    name in each of them, and be computed for each. Nor are files read as one, more of
    them for a narrow column than for a wide one.
    """
    _check_collection(name, collection)
    if not isinstance(collection, da.Array):
        return list(collection.simplify().to_delayed(optimize_graph=False))
    rows = collection.chunks[0]
    if isinstance(first, da.Array) and collection.shape[0] == first.shape[0]:
        rows = first.chunks[0]  # numbers of rows are known, as NaN equals none
    array = collection.rechunk((rows, *collection.shape[1:]))
    return array.to_delayed(optimize_graph=False).ravel().tolist()
