"""Checks of arguments and arrays, shared by every floor."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from numbers import Integral, Real

import numpy as np

from sklearn_reject._typing import Decorated

# Sums and products of numbers up to here stay far from the limits of float64.
_LARGEST_SUMMAND = 1e100

# Integers beyond it do not survive the conversion to float64.
LARGEST_EXACT_INTEGER = 2**53

_COMPUTE = "Its rows are needed in memory at once: pass `{name}.compute()`."
_MAP = (
    "Apply a method to its partitions, such as "
    "`sklearn_reject.dask.apply_rows(model.predict, {name})`."
)
_ADD_UP = "Pass `{name}.compute()`, or reduce it by functions of `sklearn_reject.dask`."

# Samples, whose masks are up to the estimator, and answers, which may be unknown.
_MAYBE_MASKED = {"X", "expert_labels", "loss_second", "y_second"}


def check_takes(function, name, *arguments):
    """Raise unless a function of the user can be called as it is documented."""
    try:
        signature(function).bind(*arguments)
    except TypeError as error:
        raise ValueError(
            f"{name}={function!r} must be a callable ({', '.join(arguments)}), but is "
            f"not to be called like that: {error}."
        ) from error
    except ValueError:  # functions written in C may have no signature
        return


def require_in_memory(*, may_be_masked=(), **arguments):
    """Raise for arrays that a conversion would compute, or read under a mask, silently.

    `may_be_masked` are names of arguments of which what is masked is not known.
    """
    refuse_arrays(arguments, may_be_masked, _COMPUTE)


def refuse_unmapped(X):
    """Raise for rows in a Dask collection, over whose parts a method can be mapped."""
    refuse_dask(X, "X", _MAP)


def of_arrays(function: Decorated, may_be_masked=()) -> Decorated:
    """Decorate a function that raises for Dask and masked arrays by their names.

    `may_be_masked` are names of parameters of which what is masked is not known.
    """
    parameters = list(signature(function).parameters)

    @wraps(function)
    def checked(*args, **kwargs):
        refuse_arrays(dict(zip(parameters, args, strict=False)), may_be_masked)
        refuse_arrays(kwargs, may_be_masked)
        return function(*args, **kwargs)

    return checked


def refuse_arrays(given, may_be_masked=(), way_out=_ADD_UP):
    """Raise for Dask and masked arrays among arguments by name."""
    for name, values in given.items():
        refuse_dask(values, name, way_out)
        if name not in _MAYBE_MASKED and name not in may_be_masked:
            refuse_masked(values, name)


def of_ratings(function: Decorated) -> Decorated:
    """Decorate a function of documents, of which what is masked was not rated."""
    return of_arrays(function, may_be_masked=("scores", "y", "y_true"))


def refuse_unread(values, name):
    """Raise for values that NumPy would compute, or read under a mask, silently."""
    refuse_dask(values, name)
    refuse_masked(values, name)


def refuse_dask(values, name, way_out=_ADD_UP):
    """Raise for a Dask collection, unless told else of scores, losses or weights."""
    kind = type(values)
    if not hasattr(kind, "__dask_graph__") or values.__dask_graph__() is None:
        return  # xarray has the method, too, and no graph of arrays in memory
    raise TypeError(
        f"{name} is a Dask collection ({kind.__module__}.{kind.__qualname__}). "
        + way_out.format(name=name)
    )


def check_vector(values, name, *, non_negative=False):
    """Return `values` as a finite float64 vector with at least one element.

    What must be `non_negative` may be summed, too, so that nothing overflows.
    """
    array = as_real_array(values, name)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be a vector of shape (n_samples,), got an array of shape "
            f"{array.shape}. Pass one number per sample, for example with `.ravel()`."
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty. At least one sample is needed.")
    array = np.asarray(array, dtype=np.float64)
    is_finite = np.isfinite(array)
    if not is_finite.all():
        bad = np.flatnonzero(~is_finite)
        raise ValueError(
            f"{name} must be finite, got {array[bad[0]]} in row {bad[0]} "
            f"({bad.size} such values). Remove these rows or give them a finite value."
        )
    if non_negative and array.min() < 0:
        row = int(np.argmin(array))
        raise ValueError(
            f"{name} must be non-negative, got {array[row]} in row {row}. Shift or "
            "clip it before the call, whichever is appropriate."
        )
    if non_negative and array.max() > _LARGEST_SUMMAND:
        raise ValueError(
            f"{name} holds {array.max():g}, which is too large to be summed. Rescale "
            f"it to at most {_LARGEST_SUMMAND:g}."
        )
    return array


def check_extended_vector(values, name):
    """Return `values` as a float64 vector that may be infinite, but not NaN."""
    refuse_unread(values, name)
    values = np.asarray(values)
    is_infinite = np.isinf(values) if values.dtype.kind == "f" else np.False_
    if not is_infinite.any():
        return check_vector(values, name)
    check_vector(np.where(is_infinite, 0.0, values), name)
    return values.astype(np.float64)


def check_flags(values, name):
    """Return `values`, booleans or zeros and ones, as a vector of booleans."""
    refuse_unread(values, name)
    array = read_objects(np.asarray(values), name)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a vector of booleans, one per sample, got an array of "
            f"shape {array.shape} and dtype {array.dtype}."
        )
    flags = array.astype(bool)
    if array.dtype.kind != "b" and not np.array_equal(flags, array):
        odd = array[flags != array][0]
        raise ValueError(
            f"{name} must hold True and False, or 1 and 0, got {odd}. Pass the result "
            "of a comparison such as `y == label`."
        )
    return flags


def read_objects(array, name):
    """Return an array of objects as numbers, which text is not, any other as it is."""
    if array.dtype.kind != "O" or any(isinstance(x, str) for x in array.flat):
        return array
    return as_real_array(array, name)


def as_real_array(values, name):
    """Return `values` as an array of numbers that float64 can hold."""
    refuse_unread(values, name)
    array = np.asarray(values)
    if array.dtype.kind in "iu" and array.size:
        for extreme in (array.min(), array.max()):
            if abs(int(extreme)) > LARGEST_EXACT_INTEGER:
                raise ValueError(
                    f"{name} holds the integer {extreme}, which float64 cannot "
                    "represent exactly. Rescale it to at most 2**53 in magnitude."
                )
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must hold real numbers, got complex numbers.")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} must hold numbers, got an array of dtype {array.dtype} that "
            f"cannot be converted to float64: {error}"
        ) from error


def as_label_array(labels):
    """Return labels as they are, but a list of text and others as objects.

    NumPy would make text of None, NaN and numbers. Dates come in one unit, that of
    Python: as objects, days are others than hours, and nanoseconds are numbers.
    """
    dtype = getattr(labels, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        return _in_microseconds(np.asarray(labels))
    if not isinstance(labels, (list, tuple)):
        return labels
    is_mixed = len({isinstance(label, str) for label in labels}) > 1
    return np.asarray(labels, dtype=object if is_mixed else None)


def _in_microseconds(dates):
    """Return dates, or spans of time, in the unit that Python has."""
    coarse = dates.astype(f"{dates.dtype.kind}8[us]")
    if not ((coarse == dates) | np.isnat(dates)).all():
        raise ValueError(
            "labels are dates with fractions of a microsecond, which would be lost. "
            "Pass them as text, such as labels.astype(str)."
        )
    return coarse


def refuse_masked(values, name):
    """Raise where values of an array are masked, which NumPy would drop silently."""
    # Nullable arrays of pandas have a mask, too, and say NA there.
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array, and masked items have no meaning here. Remove "
            f"them from all arrays, for example by `{name}[~{name}.mask]`, or replace "
            "them with `filled`."
        )


def find_missing_labels(labels):
    """Tell which of an array of labels are gaps: None, NaN, NaT, NA or masked."""
    if np.ma.isMaskedArray(labels):
        return np.ma.getmaskarray(labels) | find_missing_labels(labels.data)
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind == "O":
        return np.array([is_missing(label) for label in labels.tolist()], dtype=bool)
    return np.zeros(labels.shape, dtype=bool)


def is_missing(label):
    """Tell whether an object is None, or one that does not equal itself.

    Those are NaN and NaT; NA says that it does not know. NumPy has a True of its own.
    """
    if label is None:
        return True
    is_itself = label == label
    return not (isinstance(is_itself, (bool, np.bool_)) and is_itself)


def refuse_missing_labels(labels, name):
    """Raise where an array of labels has gaps."""
    missing = np.flatnonzero(find_missing_labels(labels))
    if len(missing):
        raise ValueError(
            f"{name} has no label ({labels[missing[0]]}) in row {missing[0]} "
            f"({len(missing)} such rows). Remove the rows without labels. OOD samples "
            "need a label, too: the ood_label, such as -1 or 'ood'."
        )


def check_sample_weight(sample_weight, n_samples):
    """Return weights as a float64 vector, or None where all samples weigh one."""
    weight = check_part_weight(sample_weight, n_samples)
    if weight is not None and not weight.any():
        raise ValueError(
            "sample_weight is zero for every sample. Give at least one sample a "
            "positive weight, or pass sample_weight=None."
        )
    return weight


def check_part_weight(sample_weight, n_samples):
    """Return weights as `check_sample_weight`, of a part of which all may weigh zero.

    A number is the weight of all samples. A part may also have no samples.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight, dtype=np.float64)
    if not n_samples:
        check_same_length(0, sample_weight=sample_weight)
        return np.zeros(0)
    weight = check_vector(sample_weight, "sample_weight", non_negative=True)
    check_same_length(n_samples, sample_weight=weight)
    if 0 < weight.max() < 1 / _LARGEST_SUMMAND:
        raise ValueError(
            f"sample_weight is at most {weight.max():g}, which is so small that "
            "products underflow. Divide the weights by the largest one."
        )
    return weight


def check_same_length(n_samples, **arrays):
    """Raise unless every array has `n_samples` elements."""
    for name, array in arrays.items():
        if len(array) != n_samples:
            raise ValueError(
                f"{name} has {len(array)} elements, but there are {n_samples} samples. "
                "Pass arrays of the same length."
            )


def take_weight(weight, rows):
    """Return the weights of some rows; None, which all samples have, stays None."""
    return None if weight is None else weight[rows]


def check_samples(scores, losses, sample_weight=None):
    """Validate the three arrays that every curve and every solver starts from."""
    scores = check_vector(scores, "scores")
    losses = check_vector(losses, "losses", non_negative=True)
    check_same_length(scores.size, losses=losses)
    return scores, losses, check_sample_weight(sample_weight, scores.size)


def check_number(value, name, *, high=np.inf, open_low=False, open_high=False) -> float:
    """Return `value` as a finite float inside [0, high], without its open ends."""
    open_high = open_high or np.isinf(high)
    interval = f"{'(' if open_low else '['}0, {high:g}{')' if open_high else ']'}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number in {interval}, got {value!r}.")
    below = value <= 0 if open_low else value < 0
    above = not (value < high if open_high else value <= high)
    if below or above:
        hint = " Write 5% as 0.05." if high == 1 and value > 1 else ""
        raise ValueError(f"{name} must be in {interval}, got {value!r}.{hint}")
    return float(value)


def check_level(value, name) -> float:
    """Return `value`, the coverage of an interval, as a float in (0, 1)."""
    return check_number(value, name, high=1, open_low=True, open_high=True)


def check_count(value, name) -> int:
    """Return `value` as an int of at least one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a positive int, got {value!r}.")
    return int(value)


def check_option(value, name, options):
    """Return `value` if it is one of `options`."""
    if isinstance(value, np.generic):
        value = value.item()  # grids of options often are arrays
    known = [option for option in options if isinstance(option, type(value))]
    if not any(value is option or value == option for option in known):
        raise ValueError(f"{name} must be one of {list(options)}, got {value!r}.")
    return value


def index_labels(labels, classes):
    """Return the position of each label among distinct classes, and which are unknown.

    The position of an unknown label is arbitrary. No text is a class that is none.
    """
    kinds = labels.dtype.kind, classes.dtype.kind
    if "O" not in kinds and (kinds[0] in "US") != (kinds[1] in "US"):
        return np.zeros(len(labels), np.intp), np.ones(len(labels), dtype=bool)
    order = np.argsort(classes)
    position = np.searchsorted(classes, labels, sorter=order)
    index = order[np.minimum(position, len(classes) - 1)]
    return index, classes[index] != labels
