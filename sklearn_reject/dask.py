"""Summaries and tables of dask collections, larger than one memory.

They take dask arrays, or columns of dask dataframes. All collections of a call are of
one kind and cut at the same rows; arrays of other chunks are cut again. Columns come
best from one dataframe, whose partitions are then made once for all of them.

Each partition is reduced where it is, to a
:class:`~sklearn_reject.selection.RiskCoverageSummary` of scores and losses or to a
:class:`~sklearn_reject.thresholds.PNTable` of ratings, and what they are reduced to is
merged in a tree. Metrics and rules are methods of these.

It needs dask (``pip install 'dask[array]'``), so nothing else imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import Label, Other
from sklearn_reject._validation import check_option
from sklearn_reject.selection import RiskCoverageSummary
from sklearn_reject.thresholds import PNTable
from sklearn_reject.thresholds import pn_table as table_in_memory

try:
    import dask.array as da
    from dask import delayed, is_dask_collection
except ImportError as error:
    raise ImportError(
        "sklearn_reject.dask needs dask. Install it with `pip install 'dask[array]'`, "
        "or use sklearn_reject.metrics, sklearn_reject.selection and "
        "sklearn_reject.thresholds for arrays in memory."
    ) from error

__all__ = ["pn_table", "summarize"]

# What one task merges: all at once would be in the memory of one worker.
_SPLIT_EVERY = 8


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
    pairs = enumerate(_pair_partitions(columns))
    parts = [delayed(_summarize_part)(*pair, n_bits) for pair in pairs]
    merge = partial(reduce, RiskCoverageSummary.merge)
    summary = delayed(_refuse_empty)(_merge_in_tree(parts, merge))
    return summary.compute() if compute else summary


def _summarize_part(index, pieces, n_bits):
    with _errors_name_partition(index):
        summary = RiskCoverageSummary(n_bits)
        return summary.update(**pieces) if _check_lengths(pieces) else summary


def _refuse_empty(summary):
    if not summary.n_samples:
        raise ValueError(
            "No partition has a sample with a positive weight. At least one sample is "
            "needed."
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
    options = {
        "thresholds": thresholds,
        "rule": rule,
        "unrated_label": unrated_label,
        "pos_label": pos_label,
    }
    columns = {"scores": scores, "y": y}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    if np.ndim(inclusion_proba):
        columns["inclusion_proba"] = inclusion_proba
    else:
        options["inclusion_proba"] = inclusion_proba
    # What is wrong with thresholds is wrong in all partitions.
    table_in_memory(np.zeros(0), np.zeros(0), **options)
    options = delayed(options, traverse=False)
    pairs = enumerate(_pair_partitions(columns))
    tables = [delayed(_count)(index, pieces, options) for index, pieces in pairs]
    table = _merge_in_tree(tables, sum)
    return table.compute() if compute else table


def _count(index, pieces, options):
    """Return the table of a partition."""
    with _errors_name_partition(index):
        if not _check_lengths(pieces):
            # Of an empty partition, types say nothing.
            pieces = {name: np.zeros(np.shape(piece)) for name, piece in pieces.items()}
        return table_in_memory(**pieces, **options)


def _pair_partitions(collections):
    """Return, one a partition, the delayed pieces of all collections by their names.

    `collections` is a dict of dask arrays and columns. Blocks of arrays are cut finer
    where they differ, so that no partition is larger than it was.
    """
    for name, collection in collections.items():
        _check_collection(name, collection)
    first, *others = collections
    for name in others:
        if _is_array(collections[name]) != _is_array(collections[first]):
            raise ValueError(
                f"{name} and {first} are a dask array and a column of a dataframe, "
                f"which may be cut at different rows. {_way_out(collections)}"
            )
    if _is_array(collections[first]):
        collections = _align_arrays(collections)
    else:
        _check_divisions(collections)
    pieces = {name: _delay_pieces(each) for name, each in collections.items()}
    sizes = {name: len(of_one) for name, of_one in pieces.items()}
    for name in others:
        if sizes[name] != sizes[first]:
            raise ValueError(
                f"{name} has {sizes[name]} partitions, but {first} has {sizes[first]}, "
                f"and their numbers of rows are unknown. {_way_out(collections)}"
            )
    rows = zip(*pieces.values(), strict=True)
    return [dict(zip(pieces, row, strict=True)) for row in rows]


@contextmanager
def _errors_name_partition(index):
    """Say in errors about values which partition they are in."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In partition {index}, {error}") from error


def _check_lengths(pieces):
    """Return the number of rows that all pieces of a partition have."""
    (first, n_rows), *others = ((name, len(piece)) for name, piece in pieces.items())
    for name, length in others:
        if length != n_rows:
            raise ValueError(
                f"{name} has {length} rows, but {first} has {n_rows}: the collections "
                "are partitioned at different rows. Make all of them from one "
                "collection, or call compute_chunk_sizes() on arrays, which are then "
                "partitioned alike."
            )
    return n_rows


def _merge_in_tree(parts, merge):
    """Return the delayed whole of delayed parts, which `merge` makes of a list."""
    while len(parts) > 1:
        starts = range(0, len(parts), _SPLIT_EVERY)
        parts = [delayed(merge)(parts[i : i + _SPLIT_EVERY]) for i in starts]
    return parts[0]


def _check_collection(name, collection):
    if _is_array(collection) or _is_frame(collection):
        if collection.ndim not in (1, 2):
            raise ValueError(
                f"{name} must be a vector of shape (n_samples,), got a dask array with "
                f"{collection.ndim} dimensions."
            )
        return
    if is_dask_collection(collection):
        raise ValueError(
            f"{name} is a dask {type(collection).__name__}, whose rows and partitions "
            "are unknown. Convert it with dask.array.from_delayed or "
            "dask.dataframe.from_delayed."
        )
    raise ValueError(
        f"{name} must be a dask array or a column of a dask dataframe like the other "
        f"arguments, got {type(collection).__name__}. Convert it with "
        "dask.array.from_array(..., chunks=other.chunks[0]) or, if all of them are in "
        "memory, call the function of the same name outside of sklearn_reject.dask."
    )


def _is_array(collection):
    return isinstance(collection, da.Array)


def _is_frame(collection):
    # Without an import of dask.dataframe, which needs pandas and pyarrow. What is
    # delayed has every attribute, but not its class.
    return is_dask_collection(collection) and hasattr(type(collection), "divisions")


def _check_divisions(columns):
    """Raise where columns are known to be cut at different labels of their index."""
    known = {name: each for name, each in columns.items() if each.known_divisions}
    if len({each.divisions for each in known.values()}) > 1:
        raise ValueError(
            f"{' and '.join(known)} are columns with different divisions, so their "
            "rows do not belong together. Join their dataframes and take all columns "
            "from the result."
        )


def _align_arrays(arrays):
    """Return arrays with the same blocks of rows, where their numbers are known."""
    lengths = {name: sum(each.chunks[0]) for name, each in arrays.items()}
    known = {name: n for name, n in lengths.items() if not np.isnan(n)}
    if len(set(known.values())) > 1:
        shown = ", ".join(f"{name} has {n}" for name, n in known.items())
        raise ValueError(
            f"Numbers of rows differ: {shown}. Pass collections of the same rows."
        )
    chunks = {each.chunks[0] for each in arrays.values()}
    if len(chunks) > 1 and len(known) == len(arrays):
        borders = reduce(np.union1d, [np.cumsum(sizes) for sizes in chunks])
        sizes = tuple(np.diff(borders, prepend=0).astype(int).tolist())
        # Borders before the first row make an empty block, which need not be cut.
        sizes = tuple(size for size in sizes if size) or (0,)
        arrays = {name: each.rechunk({0: sizes}) for name, each in arrays.items()}
    # All columns of some rows, or several outputs would be taken for samples.
    return {
        name: each if each.ndim == 1 else each.rechunk({1: -1})
        for name, each in arrays.items()
    }


def _way_out(collections):
    """Say how numbers of rows become known."""
    steps = [
        f"{name}.compute_chunk_sizes()"
        if _is_array(each)
        else f"{name}.to_dask_array().compute_chunk_sizes()"
        for name, each in collections.items()
    ]
    return (
        f"Pass {' and '.join(steps)}, so that they can be partitioned alike, or make "
        "all collections from one."
    )


def _delay_pieces(collection):
    """Return the delayed partitions of a collection, in order.

    The graph is not fused: what several collections are made from would get another
    name in each of them, and be computed for each. Nor are files read as one, more of
    them for a narrow column than for a wide one.
    """
    if _is_array(collection):
        return collection.to_delayed(optimize_graph=False).ravel().tolist()
    return list(collection.simplify().to_delayed(optimize_graph=False))
