"""Numbers from samples in any container: arrays, sparse matrices, data frames."""

from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_array

NUMBER, TIME, CATEGORY = "numbers", "times", "categories"


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
        find_kinds(X)
    except (TypeError, ValueError):
        return False
    return True


def find_kinds(X):
    """Return what each column holds, or raise where no numbers can be made of it."""
    return [_find_kind(name, column) for name, column in split_columns(X)]


def split_columns(X):
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


def _find_kind(name, column):
    """Return what a column holds, or raise where no numbers can be made of it."""
    dtype = getattr(column, "dtype", None)
    if str(dtype) == "category":
        return CATEGORY
    kind = getattr(dtype, "kind", "O")
    kind = np.asarray(column).dtype.kind if kind == "O" else kind
    if kind in "biufmMUS":
        return NUMBER if kind in "biuf" else TIME if kind in "mM" else CATEGORY
    present = [value for value in np.asarray(column) if not _is_missing(value)]
    if not present:  # whatever comes later is new
        return CATEGORY
    if all(_is_number(value) for value in present):
        return NUMBER
    if all(isinstance(value, (date, np.datetime64)) for value in present):
        return TIME
    for value in present:
        if not (isinstance(value, (str, bytes)) or _is_number(value)):
            raise TypeError(
                f"column {name!r}: the argument must be a string or a number, or "
                f"datetime64, got {value!r}."
            )
    return CATEGORY


def as_numbers(name, column, kind):
    """Return numbers or times (microseconds) as float64, NaN where they are missing."""
    try:
        if kind == TIME:
            return _as_times(column)
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            return values.astype(np.float64)
        numbers = (np.nan if _is_missing(value) else float(value) for value in values)
        return np.fromiter(numbers, np.float64, count=len(values))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"column {name!r} contained {kind} when the score was fitted: {error}."
        ) from error


def _as_times(column):
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    is_span = kind == "m"
    if kind == "O":
        column = [_in_utc(value) for value in np.asarray(column)]
    times = np.asarray(column, dtype=f"{'timedelta' if is_span else 'datetime'}64[us]")
    numbers = times.astype(np.int64).astype(np.float64)
    numbers[np.isnat(times)] = np.nan
    return numbers


def _in_utc(value):
    """Return a date or time without a time zone, None where it is missing."""
    if _is_missing(value):
        return None
    is_aware = isinstance(value, datetime) and value.tzinfo is not None
    return value.astimezone(UTC).replace(tzinfo=None) if is_aware else value


def as_texts(column):
    """Return categories as text, NaN where they are missing."""
    values = np.asarray(column)
    texts = np.empty(len(values), dtype=object)
    texts[:] = [np.nan if _is_missing(value) else _text(value) for value in values]
    return texts


def _text(value):
    """Return the same text for the same number, be it an integer here or a float."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return str(int(value)) if is_number and value == value // 1 else str(value)


def _is_number(value):
    return isinstance(value, (Real, Decimal, np.bool_))


def _is_missing(value):
    # The missing value of pandas is not equal to anything, nor different from it.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and value != value


# Columns of indicators for one column of categories; the rarest share the last one.
_MOST_INDICATORS = 50


class Encoder:
    """Makes a float64 matrix of samples, each row whatever the others are.

    Columns of categories come last, as codes with NaN for what is missing or new. With
    `one_hot`, for learners that need complete numbers, they are indicators, and means
    stand for numbers that are missing, unless it `keeps_missing` ones as NaN. Of a
    column without any value nothing is seen, and zeros stand for it, as histogram
    gradient boosting fails on such columns. A sparse matrix stays one.
    """

    def __init__(self, one_hot, takes_infinite=False, keeps_missing=False):
        self.one_hot = one_hot
        self.takes_infinite = takes_infinite
        self.keeps_missing = keeps_missing

    def fit(self, X):
        """Find out what the columns hold, and return the matrix."""
        self.kinds, self.encoder, self.imputer = None, None, None
        if not is_numeric(X):
            self.kinds = find_kinds(X)
            if CATEGORY in self.kinds:
                self.encoder = self._make_encoder().set_output(transform="default")
        numbers, texts = self._split(X)
        self.n_numbers = numbers.shape[1]  # columns of the matrix before the indicators
        if texts is not None:
            self.encoder.fit(texts)
        if self.one_hot and not self.keeps_missing and numbers.shape[1]:
            imputer = SimpleImputer(keep_empty_features=True)
            self.imputer = imputer.set_output(transform="default").fit(numbers)
        matrix = self._join(numbers, texts)
        self.is_empty = _find_empty(matrix)
        return self._without_empty(matrix)

    def transform(self, X):
        """Return the matrix, sparse only where X is."""
        return self._without_empty(self._join(*self._split(X)))

    @property
    def n_codes(self):
        """Sizes of the columns of codes, which are the last ones."""
        if self.encoder is None or self.one_hot:
            return []
        return [len(known) for known in self.encoder.categories_]

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
        texts = []
        if self.kinds is None:
            numbers = check_array(
                X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False
            )
        else:
            columns = split_columns(X)
            if len(columns) != len(self.kinds):
                raise ValueError(f"{len(columns)} columns, not {len(self.kinds)}.")
            numbers = []
            for kind, (name, column) in zip(self.kinds, columns, strict=True):
                if kind == CATEGORY:
                    texts.append(as_texts(column))
                else:
                    numbers.append(as_numbers(name, column, kind))
            empty = np.empty((len(columns[0][1]), 0))
            numbers = np.column_stack(numbers) if numbers else empty
        values = numbers.data if sparse.issparse(numbers) else numbers
        if not self.takes_infinite and np.isinf(values).any():
            raise ValueError("some of them are infinite. Clip them.")
        return numbers, np.column_stack(texts) if texts else None

    def _join(self, numbers, texts):
        values = numbers.data if sparse.issparse(numbers) else numbers
        if self.imputer is not None and np.isnan(values).any():
            numbers = self.imputer.transform(numbers)
        if texts is None:
            return numbers
        return np.hstack([numbers, self.encoder.transform(texts)])

    def _without_empty(self, matrix):
        return np.where(self.is_empty, 0.0, matrix) if self.is_empty.any() else matrix


def _find_empty(matrix):
    """Tell which columns have no number at all; those of a sparse matrix have zeros."""
    if sparse.issparse(matrix):
        return np.zeros(matrix.shape[1], dtype=bool)
    return np.isnan(matrix).all(axis=0)
