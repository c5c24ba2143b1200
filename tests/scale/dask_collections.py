"""Arrays as dask collections, cut at given rows, and the schedulers they meet."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

KINDS = ("array", "unknown", "column")


def cut(values, sizes, kind="array"):
    """Return a dask collection whose partitions have these numbers of rows."""
    if kind == "array":  # which also has empty blocks
        values = np.asarray(values)
        return da.from_array(values, chunks=(tuple(sizes), *values.shape[1:]))
    return collect(np.split(np.asarray(values), np.cumsum(sizes)[:-1]), kind)


def collect(parts, kind="array"):
    """Return a dask collection of these partitions, said to be like the first one."""
    if kind == "column":
        return dd.from_map(pd.Series, parts, meta=pd.Series(parts[0][:0]))
    known = kind == "array"
    blocks = [
        da.from_delayed(
            dask.delayed(part),
            (len(part) if known else np.nan, *part.shape[1:]),
            dtype=parts[0].dtype,
            meta=parts[0][:0],
        )
        for part in parts
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def sizes_of(n_rows, size, *, with_empty=False):
    """Return sizes of partitions of `size` rows, some empty ones among them."""
    sizes = [min(size, n_rows - start) for start in range(0, n_rows, size)]
    return [0, *sizes[:1], 0, 0, *sizes[1:], 0] if with_empty else sizes
