"""Groups of samples that are known when predicting, each with a rule of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from scipy import sparse

from sklearn_reject._sklearn import _num_samples, _safe_indexing
from sklearn_reject._validation import check_takes
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection import (
    as_labels,
    as_plain,
    distinct_labels,
    sort_labels,
    targets_by_group,
)

PREDICTION, TRUE_CLASS = "prediction", "class"

# So many, however few samples there are, may be categories.
_FEW_GROUPS = 10


@dataclass(frozen=True, eq=False)
class Groups:
    """What `group_by` says of the samples given to `fit`.

    `labels` has one a sample, None where they are the classes that will be predicted;
    `known` are all that there are.
    """

    group_by: object
    known: tuple
    labels: np.ndarray | None = None

    def of_rows(self, predictions, rows):
        """Return the groups of some of the samples, of these predictions."""
        if self.labels is None:
            return as_objects(as_labels(predictions, "predictions"))
        return self.labels[rows]

    def add_to(self, calibration):
        """Return a calibration set that knows the groups of its samples."""
        if calibration is None:
            return None
        labels = self.of_rows(calibration.predictions, calibration.rows)
        return replace(calibration, groups=labels)


def find_groups(estimator, X, classes=None):
    """Return the groups of the samples given to `fit`, None without `group_by`.

    `classes` are those of a classifier, None for a regressor.
    """
    group_by = estimator.group_by
    for word in (PREDICTION, TRUE_CLASS):
        if is_word(group_by, word) and word in column_names(X):
            raise ValueError(
                f"group_by={word!r} is ambiguous: it can be the {word} or the column "
                "of X with this name. Rename the column, or pass "
                f"group_by=lambda X: X[{word!r}] if you mean the column."
            )
    if not makes_rules(group_by, classes):
        return None
    if is_word(group_by, PREDICTION):
        return Groups(PREDICTION, sort_labels(as_labels(classes, "classes_")))
    labels = labels_of(group_by, X)
    known = sort_labels(distinct_labels(labels, f"group_by={group_by!r}"))
    if 2 * len(known) > len(labels) and len(known) > _FEW_GROUPS:
        warn_user(
            f"group_by={group_by!r} makes {len(known)} groups for {len(labels)} "
            "samples, but a rule from one or two samples says little about others. For "
            "numbers or dates use bins, such as group_by=lambda X: X['age'] // 10."
        )
    return Groups(group_by, known, as_objects(labels))


def makes_rules(group_by, classes):
    """Tell whether each group gets a rule; raise for groups that a regressor lacks.

    True classes, unknown when predicting, share one.
    """
    named = [word for word in (PREDICTION, TRUE_CLASS) if is_word(group_by, word)]
    if named and classes is None:
        raise ValueError(
            f"group_by={named[0]!r} is for classes, and a regressor has none. Pass a "
            "column, or a callable that computes groups from X, such as "
            "group_by=lambda X: model.predict(X) > 100."
        )
    return group_by is not None and named != [TRUE_CLASS]


def labels_of(group_by, X, predictions=None):
    """Return the group of each sample as a list of plain values."""
    if is_word(group_by, PREDICTION):
        return as_labels(predictions, "predictions")
    if not callable(group_by):
        return as_labels(_column(group_by, X), f"group_by={group_by!r}")
    check_takes(group_by, "group_by", "X")
    found, name = group_by(X), f"the result of group_by={group_by!r}"
    if sparse.issparse(found) or np.ndim(found) == 0:
        raise ValueError(f"{name} must be a vector with one label per sample.")
    labels, n_samples = as_labels(found, name), _num_samples(X)
    if len(labels) != n_samples:
        raise ValueError(
            f"{name} has {len(labels)} labels for {n_samples} samples. Return one for "
            "each row of X."
        )
    return labels


def column_names(X):
    """Return the names of the columns of a data frame, none of anything else."""
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


def _column(group_by, X):
    """Return the column of X of a name or a position, a vector."""
    key = as_plain(group_by)
    if isinstance(key, bool) or not isinstance(key, (str, Integral)):
        raise ValueError(
            f"group_by must be None, {PREDICTION!r}, {TRUE_CLASS!r}, a column by name "
            f"or position, or a callable of X, got {group_by!r}."
        )
    if isinstance(X, (list, tuple)):
        X = np.array(X, dtype=object)  # it may hold numbers and text
    try:
        if sparse.issparse(X):
            return X.tocsc()[:, [key]].toarray().ravel()
        return _safe_indexing(X, key, axis=1)
    except Exception as error:  # each kind of frame has its own
        names = column_names(X)
        known = f"has the columns {names!r}" if names else f"has the shape {X.shape}"
        raise ValueError(
            f"group_by={group_by!r} is not a column of X, which {known}. Pass a name "
            "of a frame, or a position. If a step before the estimator makes an array, "
            "put the pipeline inside, or use set_output(transform='pandas')."
        ) from error


def groups_of_retarget(fitted, other):
    """Return the groups that a copy of a fitted estimator has, None without them.

    Those of a column are known of the samples given to `fit` only.
    """
    group_by, calibration = other.group_by, other.calibration_
    classes = getattr(other, "classes_", None)
    if not makes_rules(group_by, classes):
        return None
    if is_word(group_by, PREDICTION):
        return Groups(PREDICTION, sort_labels(as_labels(classes, "classes_")))
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
            f"group_by=None makes no groups. Pass group_by, such as {PREDICTION!r}, or "
            "a single number."
        )
    targets_by_group(target.value, groups.known, target.name)


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
