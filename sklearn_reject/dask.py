"""Methods of rows, summaries and tables of dask collections, larger than one memory.

They take dask arrays, or dask dataframes and their columns. All collections of a call
are of one kind and cut at the same rows; arrays of other chunks are cut again. Columns
come best from one dataframe, whose partitions are then made once for all of them.

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
from sklearn_reject._validation import check_option
from sklearn_reject.selection import RiskCoverageSummary
from sklearn_reject.thresholds import PNTable
from sklearn_reject.thresholds import pn_table as table_in_memory

try:
    import dask.array as da
    from dask import delayed
except ImportError as error:
    raise ImportError(
        "sklearn_reject.dask needs dask. Install it with `pip install 'dask[array]'`, "
        "or use the functions of the other modules for arrays in memory."
    ) from error

__all__ = ["apply_rows", "pn_table", "summarize"]

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
        raise ValueError(
            "method must be a function of rows, such as estimator.predict, got "
            f"{type(method).__name__}."
        )
    _check_collection("collection", collection)
    if meta is None:
        meta = _answer_made_up_row(method, collection)
    like = _check_answers(meta, meta)[:0]
    apply = partial(_apply, method=method, like=like)
    if not isinstance(collection, da.Array):
        return collection.map_partitions(apply, meta=like)
    return _in_whole_rows(collection).map_blocks(
        apply,
        meta=like,
        drop_axis=list(range(1, collection.ndim)),
        new_axis=list(range(1, like.ndim)),
        chunks=(collection.chunks[0], *like.shape[1:]),
    )


def _answer_made_up_row(method, collection):
    """Return what a method returns for a made-up row, objects if it does not."""
    try:
        with warnings.catch_warnings(action="ignore"):
            rows = _made_up_row(collection)
            answers = method(rows)
    except NotFittedError:
        raise
    except Exception:  # whatever the method has against such a row
        return np.empty(0, dtype=object)
    return _check_answers(answers, rows)


def _made_up_row(collection):
    if not isinstance(collection, da.Array):
        return collection._meta_nonempty[:1]
    meta = collection._meta
    make = np.zeros if isinstance(meta, np.ndarray) else type(meta)
    return make((1, *collection.shape[1:]), dtype=collection.dtype)


def _apply(rows, method, like):
    """Return the answers to the rows of a partition, which are to be like others."""
    if not rows.shape[0]:
        return like
    answers = _check_answers(method(rows), rows)
    is_array = isinstance(like, np.ndarray)
    fits = type(answers) is type(like) and answers.shape[1:] == like.shape[1:]
    if not fits or (is_array and not np.can_cast(answers.dtype, like.dtype)):
        raise ValueError(
            f"method returns rows of {answers[:0]!r}, but {like!r} was given or found "
            "on a made-up row. Pass meta=model.predict(rows), of some rows of yours."
        )
    return answers.astype(like.dtype, copy=False) if is_array else answers


def _check_answers(answers, rows):
    shape = getattr(answers, "shape", ())
    if not shape or shape[0] != rows.shape[0]:
        raise ValueError(
            f"{type(answers).__name__} has no row for each row. Pass a function, or "
            "meta, of an array, a Series or a DataFrame with one row each."
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
        The summary of all samples. Areas, the curve and rules are its methods.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

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
    check_option(compute, "compute", (True, False))
    RiskCoverageSummary(n_bits)  # raises before a pass over the data
    columns = {"scores": scores, "losses": losses}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight

    def summary_of(**pieces):
        return RiskCoverageSummary(n_bits).update(**pieces)

    merged = _merge_parts(columns, summary_of, RiskCoverageSummary.merge)
    summary = delayed(_refuse_empty)(merged)
    return summary.compute() if compute else summary


def _refuse_empty(summary):
    if not summary.n_samples:
        raise ValueError(
            "No partition has a sample with a positive weight. At least one is needed."
        )
    return summary


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
        Probability in ]0, 1] of each document to be rated, if it was drawn at random,
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
    check_option(compute, "compute", (True, False))
    columns = {"scores": scores, "y": y}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    options = dict(thresholds=thresholds, rule=rule, unrated_label=unrated_label)
    options["pos_label"] = pos_label
    place = columns if np.ndim(inclusion_proba) else options
    place["inclusion_proba"] = inclusion_proba
    count = partial(table_in_memory, **options)
    count(np.zeros(0), np.zeros(0))  # raises for what is wrong in all partitions
    table = _merge_parts(columns, count, PNTable.__add__)
    return table.compute() if compute else table


def _merge_parts(columns, make, merge):
    """Return the delayed whole of what is made of partitions, merged in a tree."""
    make = delayed(make, traverse=False)  # once, not with each partition
    pairs = enumerate(_pair_partitions(columns))
    parts = [delayed(_make_part)(index, pieces, make) for index, pieces in pairs]
    while len(parts) > 1:
        starts = range(0, len(parts), _SPLIT_EVERY)
        parts = [delayed(reduce)(merge, parts[i : i + _SPLIT_EVERY]) for i in starts]
    return parts[0]


def _make_part(index, pieces, make):
    """Return what is made of a partition, which errors about values name."""
    try:
        if not _check_lengths({name: len(piece) for name, piece in pieces.items()}):
            # Of an empty partition, types say nothing.
            pieces = {name: np.zeros(np.shape(piece)) for name, piece in pieces.items()}
        return make(**pieces)
    except ValueError as error:
        raise ValueError(f"In partition {index}, {error}") from error


def _check_lengths(lengths):
    """Return the number of rows that all have, given by name."""
    if len({*lengths.values()}) > 1:
        shown = ", ".join(f"{name} has {n_rows}" for name, n_rows in lengths.items())
        raise ValueError(
            f"numbers of rows differ: {shown}. Make all collections from one, or call "
            "compute_chunk_sizes() on arrays, which are then partitioned alike."
        )
    return next(iter(lengths.values()), None)


def _pair_partitions(collections):
    """Return, one a partition, the delayed pieces of all collections by their names.

    `collections` is a dict of dask arrays and columns. Blocks of arrays are cut finer
    where they differ, so that no partition is larger than it was.
    """
    for name, collection in collections.items():
        _check_collection(name, collection)
    if all(isinstance(each, da.Array) for each in collections.values()):
        collections = _align_arrays(collections)
    pieces = {name: _delay_pieces(each) for name, each in collections.items()}
    _check_cuts(collections, {name: len(of_one) for name, of_one in pieces.items()})
    rows = zip(*pieces.values(), strict=True)
    return [dict(zip(pieces, row, strict=True)) for row in rows]


def _check_collection(name, collection):
    # Without an import of dask.dataframe, which needs pandas and pyarrow. What is
    # delayed has every attribute, but not its class.
    is_frame = hasattr(type(collection), "divisions")
    if not (is_frame or isinstance(collection, da.Array)) or not collection.ndim:
        raise ValueError(
            f"{name} must be a dask array, a dask dataframe or a column of one, got "
            f"{type(collection).__name__}. Convert it with dask.array.from_delayed or "
            "from_array(..., chunks=other.chunks[0]) or, if all is in memory, call the "
            "method itself, or the function outside of sklearn_reject.dask."
        )


def _align_arrays(arrays):
    """Return arrays with the same blocks of rows, where their numbers are known."""
    chunks = {each.chunks[0] for each in arrays.values()}
    lengths = {name: each.shape[0] for name, each in arrays.items()}
    if len(chunks) > 1 and not np.isnan([*lengths.values()]).any():
        _check_lengths(lengths)
        borders = np.unique(np.concatenate([np.cumsum(sizes) for sizes in chunks]))
        # Borders before the first row make an empty block, which need not be cut.
        sizes = tuple(np.diff(borders[borders > 0], prepend=0).tolist()) or (0,)
        arrays = {name: each.rechunk({0: sizes}) for name, each in arrays.items()}
    return {name: _in_whole_rows(each) for name, each in arrays.items()}


def _in_whole_rows(array):
    """Return an array whose blocks have all columns of some rows."""
    return array.rechunk(dict.fromkeys(range(1, array.ndim), -1))


def _check_cuts(collections, sizes):
    """Raise where collections, of so many partitions, are not cut at the same rows."""
    kinds = {isinstance(each, da.Array) for each in collections.values()}
    if len(kinds) > 1 or len({*sizes.values()}) > 1:
        shown = ", ".join(f"{name} has {n} partitions" for name, n in sizes.items())
        raise ValueError(
            f"{shown}, and arrays and columns may be cut at other rows. Take "
            "array.compute_chunk_sizes() and column.to_dask_array()."
            "compute_chunk_sizes(), or make all collections from one."
        )
    known = [name for name in sizes if getattr(collections[name], "known_divisions", 0)]
    if len({collections[name].divisions for name in known}) > 1:
        raise ValueError(
            f"{' and '.join(known)} are columns of different divisions, whose rows do "
            "not belong together. Take all columns from a join of their dataframes."
        )


def _delay_pieces(collection):
    """Return the delayed partitions of a collection, in order.

    The graph is not fused: what several collections are made from would get another
    name in each of them, and be computed for each. Nor are files read as one, more of
    them for a narrow column than for a wide one.
    """
    if isinstance(collection, da.Array):
        return collection.to_delayed(optimize_graph=False).ravel().tolist()
    return list(collection.simplify().to_delayed(optimize_graph=False))
