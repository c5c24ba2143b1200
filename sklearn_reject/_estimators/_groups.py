"""Groups of samples that are known when predicting, each with a rule of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from scipy import sparse

from sklearn_reject._sklearn import _num_samples
from sklearn_reject._validation import check_takes
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection import (
    as_labels,
    distinct_labels,
    sort_labels,
    targets_by_group,
)

PREDICTION = "prediction"
TRUE_CLASS = "class"

# So many, however few samples there are, may be categories.
_FEW_GROUPS = 10

_SHOW_CALLABLE = "group_by=lambda X: X[{!r}]"


@dataclass(frozen=True, eq=False)
class Groups:
    """What `group_by` says of the samples given to `fit`.

    `labels` has one a sample, None where they are the classes that will be predicted;
    `known` are all that there are.
    """

    group_by: object
    known: tuple
    labels: np.ndarray | None = None


def find_groups(estimator, X, classes=None):
    """Return the groups of the samples given to `fit`, None without `group_by`.

    `classes` are those of a classifier, None for a regressor.
    """
    group_by = estimator.group_by
    if group_by is None:
        return None
    refuse_ambiguous(group_by, X)
    if _is_true_class(group_by, classes):
        return None
    if is_word(group_by, PREDICTION):
        return _predicted_groups(classes)
    labels = labels_of(group_by, X)
    known = sort_labels(distinct_labels(labels, _name(group_by)))
    _warn_of_many_groups(group_by, len(known), len(labels))
    return Groups(group_by, known, as_objects(labels))


def _warn_of_many_groups(group_by, n_groups, n_samples):
    """Warn where a group has less than two samples on average, as numbers make them."""
    if 2 * n_groups > n_samples and n_groups > _FEW_GROUPS:
        warn_user(
            f"{_name(group_by)} makes {n_groups} groups for {n_samples} samples, but a "
            "rule from one or two samples says little about others. For a column of "
            "numbers or dates use bins, such as group_by=lambda X: X['age'] // 10."
        )


def labels_of(group_by, X, predictions=None):
    """Return the group of each sample as a list of plain values."""
    if is_word(group_by, PREDICTION):
        return as_labels(predictions, "predictions")
    if callable(group_by):
        return _labels_of_callable(group_by, X)
    return as_labels(_column(group_by, X), _name(group_by))


def add_groups(calibration, groups):
    """Return a calibration set that knows the groups of its samples."""
    if groups is None or calibration is None:
        return calibration
    labels = labels_of_rows(groups, calibration.predictions, calibration.rows)
    return replace(calibration, groups=labels)


def labels_of_rows(groups, predictions, rows):
    """Return the groups of some of the samples given to `fit`, of these predictions."""
    if groups.labels is None:
        return as_objects(as_labels(predictions, "predictions"))
    return groups.labels[rows]


def groups_of_retarget(fitted, changes, other):
    """Return the groups that a copy of a fitted estimator has, None without them.

    Those of a column are known of the samples given to `fit` only.
    """
    group_by, calibration = other.group_by, other.calibration_
    if "group_by" not in changes and fitted.group_by is fitted.group_by_:
        group_by = fitted.group_by_  # a copy of a callable is another one
    classes = getattr(other, "classes_", None)
    if group_by is None or _is_true_class(group_by, classes):
        return None
    if is_word(group_by, PREDICTION):
        return _predicted_groups(classes)
    if calibration is None and _is_same(group_by, fitted.group_by_):
        return Groups(group_by, tuple(fitted.rule_.rules))
    known = getattr(calibration, "grouping", None)
    if known is not None and _is_same(group_by, known.group_by):
        return known
    kept = "no groups" if known is None else f"those of group_by={known.group_by!r}"
    raise ValueError(
        f"group_by={group_by!r} needs the groups of the samples in `fit`, but {kept} "
        "were stored. Use set_params and fit again, or retarget with group_by=None."
    )


def check_group_targets(target, groups):
    """Raise for targets by group where there are none, or other ones."""
    if not isinstance(target.value, Mapping):
        return
    if groups is None:
        raise ValueError(
            f"{target.name}={target.value!r} has a value for each group, but "
            "group_by=None makes no groups. Pass group_by, such as "
            f"group_by={PREDICTION!r}, or a single number."
        )
    targets_by_group(target.value, groups.known, target.name)


def refuse_ambiguous(group_by, X):
    """Raise for a word that is the name of a column, too."""
    for word in (PREDICTION, TRUE_CLASS):
        if is_word(group_by, word) and word in (_column_names(X) or ()):
            raise ValueError(
                f"group_by={word!r} is ambiguous: it can be the {word} or the column "
                "of X with this name. Rename the column, or pass "
                f"{_SHOW_CALLABLE.format(word)} if you mean the column."
            )


def _is_true_class(group_by, classes):
    """Tell whether true classes are meant, which share a rule; raise without any."""
    if not is_word(group_by, TRUE_CLASS):
        return False
    if classes is None:
        raise ValueError(
            "group_by='class' is for true classes, and a regressor has none. Pass a "
            "column, or a callable that computes groups from X."
        )
    return True


def _predicted_groups(classes):
    """Return the groups of predictions, or raise where those are numbers."""
    if classes is None:
        raise ValueError(
            "group_by='prediction' is for predicted classes, and a regressor predicts "
            "numbers. Pass a column, or a callable that computes groups from X, such "
            "as group_by=lambda X: model.predict(X) > 100."
        )
    return Groups(PREDICTION, sort_labels(as_labels(classes, "classes_")))


def as_objects(labels):
    """Return labels as an array of objects, as they are."""
    return np.fromiter(labels, dtype=object, count=len(labels))


def is_word(group_by, word):
    """Tell whether groups are asked for by a word."""
    return isinstance(group_by, str) and group_by == word


def _is_same(group_by, other):
    if type(group_by) is type(other) and isinstance(group_by, (str, Integral)):
        return group_by == other
    return group_by is other


def _name(group_by):
    return f"group_by={group_by!r}"


def _labels_of_callable(group_by, X):
    check_takes(group_by, "group_by", "X")
    found = group_by(X)
    name = f"the result of group_by={group_by!r}"
    if sparse.issparse(found) or np.ndim(found) == 0:
        raise ValueError(f"{name} must be a vector with one label per sample.")
    labels = as_labels(found, name)
    if len(labels) != _num_samples(X):
        raise ValueError(
            f"{name} has {len(labels)} labels for {_num_samples(X)} samples. Return "
            "one for each row of X."
        )
    return labels


def _column_names(X):
    """Return the names of the columns of a data frame, None for anything else."""
    if not hasattr(X, "columns"):
        return None
    # Arrow has names apart from its columns; pandas and Polars do not.
    return list(getattr(X, "column_names", X.columns))


def _column(group_by, X):
    """Return the column of X of a name or a position."""
    if isinstance(group_by, np.generic):
        group_by = group_by.item()
    names = _column_names(X)
    if isinstance(group_by, str):
        return _take(X, _position_of(group_by, names), names)
    if isinstance(group_by, bool) or not isinstance(group_by, Integral):
        raise ValueError(
            f"group_by must be None, {PREDICTION!r}, {TRUE_CLASS!r}, the name of a "
            "column, its position as an int, or a callable (which may combine several "
            f"columns), got {group_by!r}."
        )
    n_columns = len(names) if names is not None else _count_columns(X)
    if not -n_columns <= group_by < n_columns:
        raise ValueError(
            f"group_by={group_by!r} is not a column of X, which has {n_columns} "
            "columns."
        )
    return _take(X, group_by % n_columns, names)


def _position_of(name, names):
    """Return where the column of a name is."""
    if names is None:
        raise ValueError(
            f"group_by={name!r} is the name of a column, but X is not a data frame. "
            "Pass the position of the column as an int. If a preprocessing step before "
            "the estimator returns an array, put the pipeline inside the estimator, or "
            "use set_output(transform='pandas')."
        )
    places = [place for place, each in enumerate(names) if each == name]
    if len(places) == 1:
        return places[0]
    problem = "is the name of several columns" if places else "is no column"
    raise ValueError(
        f"group_by={name!r} {problem} of X, which are {names!r}. If a pipeline before "
        "the estimator drops or renames it, put the pipeline inside the estimator."
    )


def _count_columns(X):
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise ValueError(
            "group_by as an int is the position of a column of X, but X has the shape "
            f"{shape}. Pass a callable that computes groups from X."
        )
    return shape[1]


def _take(X, place, names):
    """Return the column at a place, a vector."""
    if hasattr(X, "iloc"):
        return X.iloc[:, place]
    if names is not None:
        return np.asarray(X[names[place]])
    if sparse.issparse(X):
        return X.tocsc()[:, [place]].toarray().ravel()
    if hasattr(X, "__array__"):
        return np.asarray(X)[:, place]
    return [row[place] for row in X]  # a list may hold numbers and text
