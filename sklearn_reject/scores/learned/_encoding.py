"""Numbers from samples in any container: arrays, sparse matrices, data frames."""

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_array

from sklearn_reject.scores.learned._columns import (
    CATEGORY,
    as_numbers,
    as_texts,
    find_kinds,
    is_numeric,
    split_columns,
)

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
