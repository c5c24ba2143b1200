"""Items, their probabilities, the sets that they belong to, and counts of these."""

from numbers import Integral

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import unique_labels

from sklearn_reject._validation import (
    check_option,
    check_same_length,
    index_labels,
    read_objects,
    refuse_masked,
)
from sklearn_reject.exceptions import warn_user

# Which items of a matrix form a set: those of a row, of a column, or all.
AVERAGES = ("samples", "macro", "micro")

# What rounding may add to a probability: such values are taken for 0 or 1.
_ROUNDING = 1e-9

# Probabilities that differ by no more, relative to the larger, are taken for equal: a
# classifier rounds those of equal samples by their place in the call.
_SAME = 1e-12

# How far the probabilities of the classes of a row may be from adding up to one.
_MISSING_MASS = 1e-3


def as_array(values, name):
    """Return an array or a sparse matrix, or raise for what does not make one."""
    if issparse(values):
        return values
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(len(values), dtype=object)
        array[:] = values
    kinds = (list, tuple, set, frozenset, np.ndarray)
    if array.dtype.kind == "O" and any(isinstance(part, kinds) for part in array.flat):
        raise ValueError(
            f"{name} holds lists of labels, or rows of different lengths. Pass labels "
            "through MultiLabelBinarizer, and rows as a vector with groups."
        )
    return array


def check_probabilities(eta, name="eta", *, ndim=(1, 2), accept_sparse=False):
    """Return probabilities in [0, 1] of at least one item, as float64 or in CSR form.

    Values beyond 0 and 1 by no more than 1e-9 are rounding, and become 0 and 1.
    """
    is_sparse = issparse(eta)
    if is_sparse and not accept_sparse:
        raise ValueError(f"{name} must be dense here. Pass `{name}.toarray()`.")
    eta = read_objects(as_array(eta, name), name)
    if eta.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must hold numbers, got an array of dtype {eta.dtype}."
        )
    if len(eta.shape) not in ((2,) if is_sparse else ndim):
        raise ValueError(
            f"{name} must have shape (n_items,) or (n_sets, n_items), got "
            f"{eta.shape}. If there is an array for each label, stack its columns of "
            "class 1: `np.column_stack([p[:, 1] for p in proba])`."
        )
    if 0 in eta.shape:
        raise ValueError(
            f"{name} is empty, of shape {eta.shape}. A set needs at least one item."
        )
    if not is_sparse:
        return _check_values(eta.astype(np.float64), name)
    eta = csr_matrix(eta, dtype=np.float64, copy=True)
    eta.sum_duplicates()
    eta.data = _check_values(eta.data, name)
    eta.eliminate_zeros()
    return eta


def _check_values(values, name):
    fine = (values >= -_ROUNDING) & (values <= 1 + _ROUNDING)
    if not fine.all():
        odd = values[~fine].ravel()[0]
        raise ValueError(
            f"{name} must hold probabilities in [0, 1], got {odd}. Convert scores to "
            "probabilities first, for example with CalibratedClassifierCV."
        )
    return np.clip(values, 0.0, 1.0, out=values)


def check_distribution(eta, groups=None):
    """Raise unless the probabilities of the classes of each set add up to one."""
    if groups is None:
        total = np.asarray(eta.sum(axis=-1)).ravel()
    else:
        total = np.bincount(number_sets(eta.shape, groups)[0], weights=eta)
    odd = total[np.abs(total - 1) > _MISSING_MASS]
    if len(odd):
        raise ValueError(
            "eta must add up to one over the classes of each set for "
            f"distribution='multinomial', got {odd[0]:g}. If several labels can be "
            "true, use distribution='independent'."
        )


def check_bounds(min_positive, max_positive):
    """Return the least and the largest number of items to predict, maybe None."""
    min_positive = _check_bound(min_positive, "min_positive")
    if max_positive is not None:
        max_positive = _check_bound(max_positive, "max_positive")
        if min_positive > max_positive:
            raise ValueError(
                f"min_positive={min_positive} is above max_positive={max_positive}. "
                "Swap them, or omit one."
            )
    return min_positive, max_positive


def warn_of_small_sets(min_positive, n_items):
    """Warn where sets have fewer items than are to be predicted."""
    if np.min(n_items) < min_positive:
        warn_user(
            f"min_positive={min_positive} is above the number of items of a set, "
            f"{np.min(n_items)}, so all of them are predicted. Lower min_positive, or "
            "remove small sets."
        )


def _check_bound(value, name):
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be an int >= 0, got {value!r}.")
    return int(value)


def check_indicators(y, shape):
    """Return labels 0 and 1, in the shape of the probabilities, as booleans."""
    y = as_array(y, "y")
    y = y.toarray() if issparse(y) else y
    if y.shape != shape:
        raise ValueError(f"y must have the shape of eta, {shape}, got {y.shape}.")
    way_out = "Convert the labels, as in `y == pos_label`"
    return read_indicators(y, "y", "labels 0 and 1", way_out)


def read_indicators(y, name, wanted, way_out):
    """Return zeros and ones, dense or sparse, as booleans."""
    flags = as_flags(y)
    if flags is not None:
        return flags
    values = y.data if issparse(y) else y
    odd = f"an array of dtype {values.dtype}"
    if values.dtype.kind in "biuf":
        odd = values[~np.isin(values, (0, 1))][0]
        if np.isin(values, (-1, 0, 1)).all():
            way_out = f"Pass `{name} > 0` if -1 means absent"
    raise ValueError(f"{name} must be {wanted}, got {odd}. {way_out}.")


def as_flags(y):
    """Return zeros and ones, dense or sparse, as booleans; None for anything else."""
    if not issparse(y):
        y = np.asarray(y)
    values = y.data if issparse(y) else y
    if values.dtype.kind == "O":  # such as columns of a frame that may be missing
        try:
            y = values = values.astype(np.float64)
        except (TypeError, ValueError):
            return None
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        return None
    return y.astype(bool)


def one_hot(index, shape):
    """Return indicators of one column a row, as a sparse matrix of booleans."""
    ones = np.ones(len(index), dtype=bool)
    return csr_array((ones, index, np.arange(len(index) + 1)), shape=shape)


def falls(eta):
    """Tell where probabilities sorted decreasing fall, by more than rounding."""
    return eta[..., :-1] - eta[..., 1:] > _SAME * eta[..., :-1]


def number_sets(shape, groups):
    """Return the number of the set of each item, row by row, and the sizes of the sets.

    A row of a matrix is a set. Items of a vector belong to their groups, numbered by
    their sorted values, or are one set.
    """
    if groups is None:
        n_sets, size = (1, *shape)[-2:]
        return np.repeat(np.arange(n_sets), size), np.full(n_sets, size)
    if len(shape) == 2:
        raise ValueError(
            "groups define sets of the items of a vector, but in a matrix, here of "
            f"shape {shape}, each row is a set. Omit groups."
        )
    groups = check_array(groups, input_name="groups", ensure_2d=False, dtype=None)
    if groups.ndim != 1:
        raise ValueError(
            "groups must be a vector with the set of each item, got an array of shape "
            f"{groups.shape}."
        )
    check_same_length(*shape, groups=groups)
    try:
        _, numbers = np.unique(groups, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            "groups must be values that can be sorted, all numbers or all strings, got "
            f"an array of dtype {groups.dtype}: {error}."
        ) from error
    return numbers, np.bincount(numbers)


def check_average(average, shape, name="eta"):
    """Raise unless items of this shape form the sets that are averaged over."""
    check_option(average, "average", AVERAGES)
    if average in ("macro", "micro") and len(shape) != 2:
        raise ValueError(
            f"average={average!r} is for matrices, but {name} has shape {shape}. The "
            "items of a vector are one set, or one set per group. Set average to "
            "'samples'."
        )


def sets_as_rows(matrix, average):
    """Return a matrix, dense or in CSR form, with a set a row."""
    if average == "macro":
        return matrix.T.tocsr() if issparse(matrix) else np.ascontiguousarray(matrix.T)
    if average == "micro":
        flat = matrix.reshape((1, -1))
        return csr_matrix(flat) if issparse(matrix) else flat
    return matrix


def items_in_place(rows, shape, average):
    """Return the items of sets, a set a row, in the shape that they came in."""
    if average == "micro":
        items = rows.reshape(shape)
        return csr_matrix(items) if issparse(rows) else items
    return sets_as_rows(rows, average)  # turned again


# Confusion matrices of predicted sets, in each form that sets come in

# The axis that the items of a set lie along, a set being a row, a column or all.
_AXES = {"samples": 1, "macro": 0, "micro": None}


def count_sets(
    y_true, y_pred, *, groups=None, pos_label=None, labels=None, average="samples"
):
    """Return tp, fp, fn and tn of each set, arrays of shape (n_sets,).

    Both arguments are labels of samples, in sets given by `groups`; or indicators, the
    sets of `average`; or `y_true` is one label per row, of the classes `labels` of the
    columns.
    """
    y_true, y_pred = _as_array(y_true, "y_true"), _as_array(y_pred, "y_pred")
    shapes = y_true.ndim, y_pred.ndim
    check_average(average, y_pred.shape, "y_pred")
    if shapes == (1, 1):
        return _count_groups(y_true, y_pred, groups, pos_label)
    if shapes not in ((2, 2), (1, 2)):
        raise ValueError(
            "y_true and y_pred must both be vectors of labels, both be matrices of "
            "indicators, or be a vector of labels and a matrix with a column for each "
            f"class, got shapes {y_true.shape} and {y_pred.shape}."
        )
    number_sets(y_pred.shape, groups)  # raises if there are groups
    y_pred = _check_matrix(y_pred, "y_pred")
    if y_true.ndim == 1:
        y_true = _one_hot_labels(y_true, y_pred.shape, labels)
    return _count_along(_AXES[average], _check_matrix(y_true, "y_true"), y_pred)


def _as_array(y, name):
    if not issparse(y):
        return as_array(y, name)
    y = csr_array(y, copy=True)
    y.sum_duplicates()
    return y


def _count_groups(y_true, y_pred, groups, pos_label):
    check_same_length(len(y_true), y_pred=y_pred)
    if len(y_true) == 0:
        raise ValueError("y_true is empty. At least one sample is needed.")
    labels = unique_labels(y_true, y_pred)
    if len(labels) > 2:
        raise ValueError(
            f"y_true and y_pred hold {len(labels)} labels, {labels.tolist()}. Convert "
            "them to two classes, or pass the predicted sets of classes as y_pred, of "
            "shape (n_samples, n_classes)."
        )
    pos_label = find_positive(labels, pos_label)
    sets, sizes = number_sets(y_true.shape, groups)
    # Truth and prediction as the digits of a number, one for each cell.
    cell = 2 * (y_true == pos_label) + (y_pred == pos_label)
    counts = np.bincount(4 * sets + cell, minlength=4 * len(sizes))
    tn, fp, fn, tp = counts.reshape(-1, 4).T
    return tp, fp, fn, tn


def find_positive(labels, pos_label=None):
    """Return the positive one of one or two sorted labels, which may not occur.

    By default the last of two. A single one is the negative one if it is 0, -1 or
    False, the positive one if it is 1 or True; of others nobody can tell.
    """
    is_one, last = len(labels) == 1, labels.tolist()[-1]
    if pos_label is None:
        if not is_one:
            return last
        if not isinstance(last, str) and last in (-1, 0, 1):
            return 1
        raise ValueError(
            f"y_true and y_pred hold the single label {last!r}, and it is unclear if "
            "it is the positive one. Pass the positive label as pos_label."
        )
    is_other_kind = isinstance(pos_label, str) != isinstance(last, str)
    if pos_label not in labels.tolist() and (not is_one or is_other_kind):
        raise ValueError(
            f"pos_label={pos_label!r} is not among the labels {labels.tolist()}. Pass "
            "the positive label, or None for the last one."
        )
    return pos_label


def add_positive(classes):
    """Return the classes, with the positive one where the only one is negative."""
    is_alone = len(classes) == 1 and classes.dtype.kind in "biuf"
    if not is_alone or classes[0] not in (-1, 0):
        return classes
    return np.append(classes, np.array(1, dtype=classes.dtype))


def _check_matrix(y, name):
    if 0 in y.shape:
        raise ValueError(f"{name} is empty, of shape {y.shape}. Pass at least one set.")
    wanted = "indicators, 0 and 1, a column for each item"
    return read_indicators(y, name, wanted, "Convert labels with MultiLabelBinarizer")


def _one_hot_labels(y_true, shape, labels):
    classes = np.unique(y_true) if labels is None else np.asarray(labels)
    is_shape = (len(y_true), *classes.shape) == shape
    if not is_shape or len(np.unique(classes)) != len(classes):
        raise ValueError(
            f"y_pred has shape {shape} for {len(y_true)} labels in y_true and the "
            f"classes {classes.tolist()}. Pass a row for each label, and the class of "
            "each column as labels."
        )
    index, unknown = index_labels(y_true, classes)
    if unknown.any():
        raise ValueError(
            f"y_true holds the label {y_true[unknown].tolist()[0]!r}, which is not one "
            f"of the labels {classes.tolist()} of the columns."
        )
    return one_hot(index, shape)


def _count_along(axis, y_true, y_pred):
    if y_true.shape != y_pred.shape:
        raise ValueError(
            "y_true and y_pred must have the same shape, got "
            f"{y_true.shape} and {y_pred.shape}."
        )
    if issparse(y_true) or issparse(y_pred):
        y_true, y_pred = csr_array(y_true), csr_array(y_pred)
        found = y_true.multiply(y_pred)
    else:
        found = y_true & y_pred
    sums = (part.sum(axis=axis) for part in (found, y_pred, y_true))
    tp, k, positives = map(np.atleast_1d, sums)
    n_items = y_true.shape[0] * y_true.shape[1] // len(tp)
    return tp, k - tp, positives - tp, n_items - k - positives + tp
