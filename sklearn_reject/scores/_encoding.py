"""Numbers from samples in any container: arrays, sparse matrices, data frames."""

from decimal import Decimal
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_array, get_tags
from sklearn.utils.extmath import randomized_svd

from sklearn_reject._response._network import row_products
from sklearn_reject._validation import find_missing_labels, is_missing


def is_numeric(X):
    """Tell whether samples are a matrix of numbers, of any number of dimensions."""
    if sparse.issparse(X):
        return True
    if hasattr(X, "columns"):
        return False
    try:
        return np.asarray(X).dtype.kind in "biuf"
    except ValueError:  # rows of different lengths
        return False


def holds_values(X):
    """Tell whether samples are a table of numbers, times and categories."""
    if is_numeric(X):
        return len(X.shape if hasattr(X, "shape") else np.shape(X)) == 2
    try:
        _find_texts(X)
    except (TypeError, ValueError):
        return False
    return True


def _find_texts(X):
    """Tell which columns hold categories, or raise where one has no numbers either."""
    return [_holds_text(name, column) for name, column in _split_columns(X)]


def _split_columns(X):
    """Return pairs of name and column of a frame, an array or nested lists."""
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return [(name, X.iloc[:, place]) for place, name in enumerate(X.columns)]
    if hasattr(X, "columns"):
        names = getattr(X, "column_names", X.columns)  # Arrow, and Polars
        return [(name, X[name]) for name in names]
    table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise ValueError("they are not a table with rows and columns.")
    return list(enumerate(table.T))


def _holds_text(name, column):
    values = np.asarray(column)
    if str(getattr(column, "dtype", "")) == "category" or values.dtype.kind in "US":
        return True
    if values.dtype.kind != "O":
        return False
    present = values[~find_missing_labels(values)]
    is_number = [isinstance(x, (Real, Decimal, np.bool_)) for x in present]
    for value, is_known in zip(present, is_number, strict=True):
        if not (is_known or isinstance(value, (str, bytes))):
            raise TypeError(
                f"column {name!r}: the argument must be a string or a number, or "
                f"datetime64, got {value!r}."
            )
    # Whatever comes later in a column without any value is new.
    return not len(present) or not all(is_number)


def _as_numbers(name, column):
    """Return numbers or times (microseconds) as float64, NaN where they are missing."""
    values = np.asarray(column)
    if values.dtype.kind in "mM":
        numbers = values.astype(f"{values.dtype.kind}8[us]").astype(np.int64)
        return np.where(np.isnat(values), np.nan, numbers.astype(np.float64))
    try:
        if values.dtype.kind == "O":
            values = [np.nan if is_missing(value) else float(value) for value in values]
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"column {name!r} contained numbers when the score was fitted: {error}."
        ) from error


def _as_texts(column):
    """Return categories as text, NaN where they are missing."""
    values = np.asarray(column)
    texts = np.empty(len(values), dtype=object)
    texts[:] = [np.nan if is_missing(value) else _text(value) for value in values]
    return texts


def _text(value):
    """Return the same text for the same number, be it an integer here or a float."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return str(int(value)) if is_number and value == value // 1 else str(value)


# Columns of indicators for one column of categories; the rarest share the last one.
_MOST_INDICATORS = 50

# What stands for a missing number. By name, as functions are not saved by skops.
_STATISTICS = {"mean": np.nanmean, "median": np.nanmedian}

_FARTHEST = float(np.finfo(np.float32).max)

# Of a sparse matrix with more columns than that, only so many directions are dense.
_MOST_COLUMNS = 256
_N_DIRECTIONS = 50


class Encoder:
    """Makes a float64 matrix of samples, each row whatever the others are.

    Columns of categories come last, as codes with NaN for what is missing or new. With
    `one_hot`, for what needs complete numbers, they are indicators, and a `statistic`
    of the column stands for numbers that are missing. `indicates` adds an indicator of
    each column that misses some. Zeros stand for a column without any value, as
    histogram gradient boosting fails on such. A sparse matrix stays one if that
    `keeps_sparse`; otherwise few directions are taken of many columns.
    """

    def __init__(
        self,
        one_hot=True,
        keeps_sparse=False,
        *,
        statistic="mean",
        indicates=False,
        takes_infinite=False,
        random_state=None,
    ):
        self.one_hot = one_hot
        self.keeps_sparse = keeps_sparse
        self.statistic = statistic
        self.indicates = indicates
        self.takes_infinite = takes_infinite
        self.random_state = random_state

    def fit(self, X):
        """Find out what the columns hold, and return the matrix."""
        self.are_texts, self.encoder, self.directions = None, None, None
        self.is_sparse = sparse.issparse(X) and (self.keeps_sparse or is_wide(X))
        if not is_numeric(X):
            self.are_texts = _find_texts(X)
        numbers, texts = self._split(X)
        if texts is not None:
            self.encoder = self._make_encoder().fit(texts)
        if self.is_sparse:
            if not self.keeps_sparse:
                self.directions = _leading_directions(numbers, self.random_state)
            matrix = self._reduce(numbers)
            self.is_number = np.ones(matrix.shape[1], dtype=bool)
            return matrix
        matrix = self._join(numbers, texts)
        missing = np.isnan(matrix)
        self.misses, is_empty = missing.any(axis=0), missing.all(axis=0)
        self.fill = np.where(is_empty, 0.0, np.nan)
        if self.one_hot:
            with np.errstate(over="ignore"):
                complete = np.where(is_empty, 0.0, matrix)
                self.fill = _STATISTICS[self.statistic](complete, axis=0)
        matrix = self._complete(matrix, missing)
        self.is_number = np.arange(matrix.shape[1]) < numbers.shape[1]
        return matrix

    def transform(self, X):
        """Return the matrix, sparse only where X is."""
        return self.count_gaps(X)[0]

    def count_gaps(self, X):
        """Return the matrix, and how many values each row alone is missing.

        These are in columns of which no sample that was fitted on missed one.
        """
        numbers, texts = self._split(X)
        if self.is_sparse:
            return self._reduce(numbers), np.zeros(numbers.shape[0], dtype=int)
        matrix = self._join(numbers, texts)
        missing = np.isnan(matrix)
        gaps = missing[:, ~self.misses].sum(axis=1) * self.one_hot
        return self._complete(matrix, missing), gaps

    def find_codes(self, most):
        """Return the places of columns of codes of at most so many categories."""
        if self.encoder is None or self.one_hot:
            return []
        sizes = np.array([len(known) for known in self.encoder.categories_])
        return np.flatnonzero(~self.is_number)[sizes <= most].tolist()

    def _make_encoder(self):
        if self.one_hot:
            return OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=_MOST_INDICATORS,
                sparse_output=False,
            )
        return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)

    def _split(self, X):
        """Return numbers, (n_samples, n_numbers), and texts, None if there are none."""
        if self.are_texts is None:
            if sparse.issparse(X) and not self.is_sparse:
                X = X.toarray()
            numbers = check_array(
                X,
                accept_sparse="csr",
                dtype=np.float64,
                ensure_all_finite=self.is_sparse,
            )
            return self._refuse_infinite(numbers), None
        columns = _split_columns(X)
        if len(columns) != len(self.are_texts):
            raise ValueError(f"{len(columns)} columns, not {len(self.are_texts)}.")
        numbers, texts = [np.empty((len(columns[0][1]), 0))], []
        for is_text, (name, column) in zip(self.are_texts, columns, strict=True):
            if is_text:
                texts.append(_as_texts(column))
            else:
                numbers.append(_as_numbers(name, column))
        numbers = self._refuse_infinite(np.column_stack(numbers))
        return numbers, np.column_stack(texts) if texts else None

    def _refuse_infinite(self, numbers):
        if self.takes_infinite and not self.is_sparse:  # as forests know float32
            return np.clip(numbers, -_FARTHEST, _FARTHEST)
        if not self.is_sparse and np.isinf(numbers).any():
            raise ValueError("some of them are infinite. Clip them.")
        return numbers

    def _join(self, numbers, texts):
        if texts is None:
            return numbers
        return np.hstack([numbers, self.encoder.transform(texts)])

    def _complete(self, matrix, missing):
        if missing.any():
            matrix = np.where(missing, self.fill, matrix)
        if self.indicates and self.one_hot:
            matrix = np.hstack([matrix, missing[:, self.misses]])
        return matrix

    def _reduce(self, matrix):
        if self.directions is None:
            return matrix
        return row_products(matrix, self.directions)


def is_wide(X):
    """Tell whether samples are a sparse matrix of too many columns for a dense one."""
    return sparse.issparse(X) and X.shape[1] > _MOST_COLUMNS


def _leading_directions(matrix, random_state):
    """Return few directions (n_columns, n_directions) that a sparse matrix extends in.

    They are the right singular vectors of its largest singular values.
    """
    n_directions = min(_N_DIRECTIONS, *matrix.shape)
    *_, directions = randomized_svd(
        matrix, n_directions, n_iter=5, random_state=random_state
    )
    return directions.T


def options_for(learner):
    """Return the options of :class:`Encoder` for a learner: what it can take."""
    if not hasattr(learner, "__sklearn_tags__"):
        return {}
    tags = get_tags(learner).input_tags
    return {"one_hot": not tags.allow_nan, "keeps_sparse": tags.sparse}


def encode_or_explain(encode, X, what, way_out):
    """Return what is made of samples, or say what failed, and what to do."""
    try:
        return encode(X)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what}: {error} {way_out}") from error


def join(matrices):
    """Return columns of several matrices in one, sparse where one of them is."""
    if len(matrices) == 1:
        return matrices[0]
    if any(map(sparse.issparse, matrices)):
        return sparse.hstack(matrices, format="csr")
    return np.hstack(matrices)
