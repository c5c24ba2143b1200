"""Methods that say something about each row: what they say where there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_reject._response import row_keys
from sklearn_reject._typing import Decorated
from sklearn_reject._validation import check_same_length, refuse_unmapped

# Functions of Dask that ask about so many made-up rows at most, and their packages.
_MOST_MADE_UP = 2
_MAKES_UP_ROWS = {
    "_get_output_dask_ar_meta_for_estimator": "dask_ml.",
    "apply_infer_dtype": "dask.array.",
    "emulate": "dask.dataframe.",
}


def require_fit(estimator):
    """Raise unless a meta-estimator is fitted.

    Asking for its tags, as `check_is_fitted` does, would resolve its score anew.
    """
    if not estimator.__sklearn_is_fitted__():
        check_is_fitted(estimator)


def of_rows(nothing: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Decorate a method of rows X, whose answer to no rows is `nothing(self)`.

    Data in parts have empty ones, where scikit-learn raises. The estimator inside is
    not asked, but columns are checked where there are some. Nor is it, or an expert,
    about rows that Dask makes up.
    """

    def decorate(method):
        of_method = signature(method)

        @wraps(method)
        def answer(self, X, *args, **kwargs):
            refuse_unmapped(X, method.__name__)
            n_rows = _count_if_few(X)
            if n_rows > _MOST_MADE_UP or (n_rows and not _is_made_up(self, X)):
                return method(self, X, *args, **kwargs)
            arguments = of_method.bind(self, X, *args, **kwargs).arguments
            _check_arguments(arguments, n_rows)
            return _repeat(nothing(self), n_rows)

        return answer

    return decorate


def _count_if_few(X):
    """Return the number of rows; of anything else a large one, so that it goes on."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return shape[0] if len(shape) else _MOST_MADE_UP + 1
    return len(X) if hasattr(X, "__len__") else _MOST_MADE_UP + 1


def _is_made_up(estimator, X):
    """Tell whether Dask calls to see what is returned, and not what it says of rows.

    Its rows are zeros, in one column instead of those there are, or missing text, which
    an encoder may refuse. There is no other way to know than by the callers. A function
    that they call may also ask about rows of its own, and keep the answer.
    """
    return _is_called_for_dtype() and _are_rows_of_dask(estimator, X)


def _is_called_for_dtype():
    frame = sys._getframe(3)
    while frame is not None:
        package = _MAKES_UP_ROWS.get(frame.f_code.co_name)
        if package and frame.f_globals.get("__name__", "").startswith(package):
            return True
        frame = frame.f_back
    return False


def _are_rows_of_dask(estimator, X):
    """Tell whether rows hold nothing but what Dask fills them with.

    It repeats a row, or leaves the second one missing; one row is of zeros or ones.
    They may have been scaled or have lost columns on their way.
    """
    values = X.toarray() if hasattr(X, "toarray") else X
    values = np.asarray(values, dtype=object)
    values = values.reshape(len(values), -1)
    if values.size == 1 and getattr(estimator, "n_features_in_", 1) > 1:
        return True  # no row of that model
    fills = np.array([None, 0, 1], dtype=object)
    missing, zero, one = row_keys(fills, slice(None))
    first, *others = [row_keys(row, slice(None)) for row in values]
    if not others:
        return bool((first == zero).all() or (first == one).all())
    return bool(((others[0] == first) | (others[0] == missing)).all())


def _check_arguments(arguments, n_rows):
    """Raise as a method of rows does, where there are none or made-up ones."""
    (_, estimator), (_, X), *beside = arguments.items()
    require_fit(estimator)
    shape = getattr(X, "shape", ())
    has_columns = hasattr(X, "columns") or shape not in ((0, 0), (1, 1))
    if len(shape) == 2 and has_columns:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    given = {name: values for name, values in beside if values is not None}
    check_same_length(n_rows, **given)


def _repeat(answer, n_rows):
    """Return rows of zeros like those of which an answer has none."""
    if n_rows == 0:
        return answer
    if isinstance(answer, np.ndarray):
        return np.zeros((n_rows, *answer.shape[1:]), answer.dtype)
    parts = [_repeat(part, n_rows) for part in answer]
    return type(answer)(*parts) if hasattr(answer, "_fields") else type(answer)(parts)


def features_of(estimator, X):
    """Return the columns of a data frame that were fitted, in their order.

    A transformer that picks columns by their names takes them in any order, and with
    others beside them. Draws are made by the values of a row, which are then the same.
    """
    names = list(getattr(estimator, "feature_names_in_", ()))
    if not names or not hasattr(X, "columns"):
        return X
    given = list(getattr(X, "column_names", X.columns))
    is_complete = len(set(given)) == len(given) and set(names) <= set(given)
    if given == names or not is_complete:
        return X
    # Arrow has its own way.
    return X.select(names) if hasattr(X, "column_names") else X[names]


def no_numbers(_):
    """Return a number for each of no rows."""
    return np.empty(0)


def no_flags(_):
    """Return a boolean for each of no rows."""
    return np.empty(0, dtype=bool)


def no_labels(estimator):
    """Return a class for each of no rows."""
    return np.asarray(estimator.classes_)[:0]


def no_probabilities(estimator):
    """Return probabilities of all classes, of each label's where it has its own."""
    classes = estimator.classes_
    if isinstance(classes, list):
        return [np.empty((0, len(each))) for each in classes]
    return np.empty((0, len(classes)))


def no_decision_values(estimator):
    """Return a number a class, or one only where there are two."""
    n_classes = len(estimator.classes_)
    return np.empty((0, n_classes) if n_classes > 2 else 0)
