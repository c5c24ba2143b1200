"""Numbers from samples in any container: arrays, sparse matrices, data frames."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_array, get_tags

from sklearn_reject._validation import find_missing_labels, is_missing

# Indicators, or codes, for one column of categories; the rarest share the last one.
# Histogram gradient boosting can tell so many codes apart.
_MOST_INDICATORS = 50
_MOST_CODES = 255

# Of a sparse matrix with more columns than that, only so many directions are dense.
_MOST_COLUMNS = 256
_N_DIRECTIONS = 50

# What trees can tell apart.
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(eq=False)
class Encoder:
    """Makes a float64 matrix of samples, each row whatever the others are.

    Columns of categories come last, as codes with NaN for what is missing or new. With
    `one_hot`, for what needs complete numbers, they are indicators, and numbers that
    are missing are imputed by `strategy`; `add_indicator` as in `SimpleImputer`. Zeros
    stand for a column without any value, as histogram gradient boosting fails on such.
    A sparse matrix stays one if that `keeps_sparse`; otherwise few directions are taken
    of many columns. Once fitted, `is_number` tells which columns hold numbers. Where no
    numbers can be made, an error says `what` failed, and a `way_out`.
    """

    what: str
    way_out: str
    one_hot: bool = True
    keeps_sparse: bool = False
    strategy: str = "mean"
    add_indicator: bool = False
    random_state: object = None
    is_number = np.ones(0, dtype=bool)

    def fit(self, X):
        """Find out what the columns hold, and return the matrix."""
        self.is_sparse = sparse.issparse(X) and (self.keeps_sparse or is_wide(X))
        self.on_numbers, self.on_texts, self.is_empty = None, None, False
        numbers, texts = self._read(X, is_new=True)
        if self.is_sparse and not self.keeps_sparse:
            n_directions = min(_N_DIRECTIONS, *numbers.shape)
            self.on_numbers = TruncatedSVD(n_directions, random_state=self.random_state)
        elif self.one_hot and not self.is_sparse and numbers.shape[1]:
            self.on_numbers = SimpleImputer(
                add_indicator=self.add_indicator, keep_empty_features=True
            )
        if self.on_numbers is not None:
            with np.errstate(over="ignore"):
                self.on_numbers.fit(numbers)
            if self.strategy == "median" and not self.is_sparse:
                # The imputer would sort a masked copy, in ten times the time.
                some = ~np.isnan(numbers).all(axis=0)
                medians = np.nanmedian(numbers[:, some], axis=0)
                self.on_numbers.statistics_[some] = medians
        if texts is not None:
            self.on_texts = self._make_text_encoder().fit(texts)
        matrix = self._join(numbers, texts)
        self.is_number = np.arange(matrix.shape[1]) < numbers.shape[1]
        if self.is_sparse:
            return matrix
        self.is_complete = ~np.isnan(numbers).any(axis=0)
        self.is_empty = np.isnan(matrix).all(axis=0)
        return np.where(self.is_empty, 0.0, matrix)

    def _make_text_encoder(self):
        if self.one_hot:
            options = {"max_categories": _MOST_INDICATORS, "sparse_output": False}
            return OneHotEncoder(handle_unknown="infrequent_if_exist", **options)
        options = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
        return OrdinalEncoder(max_categories=_MOST_CODES, **options)

    def transform(self, X):
        """Return the matrix, sparse only where X is, and how many values a row misses.

        These are in columns of which no sample that was fitted on missed one.
        """
        numbers, texts = self._read(X)
        n_missing = np.zeros(numbers.shape[0], dtype=int)
        if self.one_hot and not self.is_sparse:
            n_missing = np.isnan(numbers)[:, self.is_complete].sum(axis=1)
        return self._join(numbers, texts), n_missing

    def _read(self, X, is_new=False):
        """Return numbers, (n_samples, n_numbers), and texts, None if there are none."""
        try:
            if is_new:
                self.are_texts = None if is_numeric(X) else _find_texts(X)
            return self._split(X)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self.what}: {error} {self.way_out}") from error

    def _split(self, X):
        texts = None
        if self.are_texts is not None:
            numbers, texts = _split_table(X, self.are_texts)
        else:
            X = X.toarray() if sparse.issparse(X) and not self.is_sparse else X
            options = {"dtype": np.float64, "ensure_all_finite": self.is_sparse}
            numbers = check_array(X, accept_sparse="csr", **options)
        if self.is_sparse:
            return sparse.csr_matrix(numbers), None
        if not self.one_hot:
            return np.clip(numbers, -_LARGEST, _LARGEST), texts
        if np.isinf(numbers).any():
            raise ValueError("some of them are infinite. Clip them.")
        return numbers, texts

    def _join(self, numbers, texts):
        with config_context(transform_output="default"):  # of what is inside, too
            if self.on_numbers is not None:
                numbers = self.on_numbers.transform(numbers)
            if texts is not None:
                numbers = np.hstack([numbers, self.on_texts.transform(texts)])
        if self.one_hot or self.is_sparse:
            return numbers
        return np.where(self.is_empty, 0.0, numbers)


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


def is_wide(X):
    """Tell whether samples are a sparse matrix of too many columns for a dense one."""
    return sparse.issparse(X) and X.shape[1] > _MOST_COLUMNS


def holds_values(X):
    """Tell whether samples are a table of numbers, times and categories."""
    if is_numeric(X):
        return len(X.shape if hasattr(X, "shape") else np.shape(X)) == 2
    try:
        _find_texts(X)
    except (TypeError, ValueError):
        return False
    return True


def _split_columns(X):
    """Return pairs of name and column of a frame, an array or nested lists."""
    if hasattr(X, "iloc"):
        return [(name, X.iloc[:, place]) for place, name in enumerate(X.columns)]
    if hasattr(X, "columns"):
        names = getattr(X, "column_names", X.columns)  # Arrow, and Polars
        return [(name, X[name]) for name in names]
    table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise ValueError("they are not a table with rows and columns.")
    return list(enumerate(table.T))


def _find_texts(X):
    """Tell which columns hold categories, or raise where one has no numbers either."""
    return [_holds_text(name, column) for name, column in _split_columns(X)]


def _holds_text(name, column):
    values = np.asarray(column)
    is_category = str(getattr(column, "dtype", "")) == "category"
    if is_category or values.dtype.kind != "O":
        return is_category or values.dtype.kind in "US"
    present = values[~find_missing_labels(values)].tolist()
    others = [value for value in present if not isinstance(value, Real)]
    for value in others:
        if not isinstance(value, (str, bytes)):
            raise TypeError(
                f"column {name!r}: an argument must be a string or a number, got "
                f"{value!r}."
            )
    # Whatever comes later in a column without any value is new.
    return bool(others) or not present


def _split_table(X, are_texts):
    """Return the columns of numbers and those of texts, None where there are none."""
    columns = _split_columns(X)
    if len(columns) != len(are_texts):
        raise ValueError(f"{len(columns)} columns, not {len(are_texts)}.")
    pairs = list(zip(are_texts, columns, strict=True))
    texts = [_as_texts(column) for is_text, (_, column) in pairs if is_text]
    numbers = [_as_numbers(*named) for is_text, named in pairs if not is_text]
    n_samples = len(columns[0][1])
    numbers = np.column_stack([np.empty((n_samples, 0)), *numbers])
    return numbers, np.column_stack(texts) if texts else None


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


def options_for(learner):
    """Return the options of :class:`Encoder` for a learner: what it can take."""
    if not hasattr(learner, "__sklearn_tags__"):
        return {}
    tags = get_tags(learner).input_tags
    return {"one_hot": not tags.allow_nan, "keeps_sparse": tags.sparse}
