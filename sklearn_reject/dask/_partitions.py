"""Partitions of several dask collections, paired: the same rows of all of them."""

from contextlib import contextmanager
from functools import reduce

import dask.array as da
import numpy as np
from dask import delayed, is_dask_collection

# What one task merges: all at once would be in the memory of one worker.
_SPLIT_EVERY = 8


def pair_partitions(collections):
    """Return, one a partition, the delayed pieces of all collections by their names.

    `collections` is a dict of dask arrays and columns. Blocks of arrays are cut finer
    where they differ, so that no partition is larger than it was.
    """
    for name, collection in collections.items():
        _check_collection(name, collection)
    _check_divisions(collections)
    collections = _align_arrays(collections)
    pieces = _delay_alike(collections)
    sizes = {name: len(of_one) for name, of_one in pieces.items()}
    first, *others = sizes
    for name in others:
        if sizes[name] != sizes[first]:
            raise ValueError(
                f"{name} has {sizes[name]} partitions, but {first} has {sizes[first]}, "
                "and their numbers of rows are unknown. "
                + _way_out(collections, name, first)
            )
    rows = zip(*pieces.values(), strict=True)
    return [dict(zip(pieces, row, strict=True)) for row in rows]


@contextmanager
def errors_name_partition(index):
    """Say in errors about values which partition they are in."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In partition {index}, {error}") from error


def check_lengths(pieces):
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


def merge_in_tree(parts, merge):
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


def _check_divisions(collections):
    """Raise where columns are known to be cut at different labels of their index."""
    frames = {name: each for name, each in collections.items() if _is_frame(each)}
    known = {name: each for name, each in frames.items() if each.known_divisions}
    if not known:
        return
    first, *others = known
    for name in others:
        if known[name].divisions != known[first].divisions:
            raise ValueError(
                f"{name} and {first} are columns with different divisions, so their "
                "rows do not belong together. Join their dataframes and take both "
                "columns from the result."
            )


def _align_arrays(collections):
    """Return the collections, arrays among them with the same blocks of rows."""
    arrays = {name: each for name, each in collections.items() if _is_array(each)}
    chunks = {each.chunks[0] for each in arrays.values()}
    are_known = not np.isnan([size for sizes in chunks for size in sizes]).any()
    _check_rows(arrays)
    if len(chunks) > 1 and are_known:
        if len(arrays) < len(collections):
            frames = [name for name in collections if name not in arrays]
            first, *_ = arrays
            raise ValueError(
                f"{', '.join(arrays)} are arrays with different chunks, and "
                f"{frames[0]} is a column whose numbers of rows are unknown. "
                + _way_out(collections, frames[0], first)
            )
        arrays = _cut_alike(arrays, chunks)
    # All columns of some rows, or several outputs would be taken for samples.
    arrays = {
        name: each if each.ndim == 1 else each.rechunk({1: -1})
        for name, each in arrays.items()
    }
    return {**collections, **arrays}


def _check_rows(arrays):
    """Raise where numbers of rows are known and differ."""
    lengths = {name: sum(each.chunks[0]) for name, each in arrays.items()}
    known = {name: n for name, n in lengths.items() if not np.isnan(n)}
    if len(set(known.values())) > 1:
        first, *others = known
        name = next(name for name in others if known[name] != known[first])
        raise ValueError(
            f"{name} has {known[name]} rows, but {first} has {known[first]}. Pass "
            "collections of the same rows."
        )


def _cut_alike(arrays, chunks):
    borders = reduce(np.union1d, [np.cumsum(sizes) for sizes in chunks])
    sizes = tuple(np.diff(borders, prepend=0).astype(int).tolist())
    # Borders before the first row make an empty block, which need not be cut.
    sizes = tuple(size for size in sizes if size) or (0,)
    return {name: each.rechunk({0: sizes}) for name, each in arrays.items()}


def _way_out(collections, *names):
    """Say how numbers of rows become known."""
    steps = [
        f"{name}.compute_chunk_sizes()"
        if _is_array(collections[name])
        else f"{name}.to_dask_array().compute_chunk_sizes()"
        for name in names
    ]
    return (
        f"Pass {' and '.join(steps)}, so that they can be partitioned alike, or make "
        "all collections from one."
    )


def _delay_alike(collections):
    """Return the delayed partitions of all, by the same number of them if possible."""
    as_given = {name: _delay_pieces(each) for name, each in collections.items()}
    if _is_alike(as_given) or not any(map(_is_array, collections.values())):
        return as_given
    # An array that was made of a column has the partitions that are read as one.
    as_read = {
        name: _delay_pieces(each if _is_array(each) else each.optimize(fuse=False))
        for name, each in collections.items()
    }
    return as_read if _is_alike(as_read) else as_given


def _is_alike(pieces):
    return len({len(of_one) for of_one in pieces.values()}) == 1


def _delay_pieces(collection):
    """Return the delayed partitions of a collection, in order.

    The graph is not fused: what several collections are made from would get another
    name in each of them, and be computed for each. Nor are files read as one, more of
    them for a narrow column than for a wide one.
    """
    if _is_array(collection):
        return collection.to_delayed(optimize_graph=False).ravel().tolist()
    return list(collection.simplify().to_delayed(optimize_graph=False))
