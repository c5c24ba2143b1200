"""The groups that samples belong to: labels, rows, targets."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from sklearn_reject._validation import (
    check_number,
    check_same_length,
    is_missing,
    refuse_unread,
)

# How many groups a message names.
_MOST_NAMED = 10


@dataclass(frozen=True, eq=False)
class Partition:
    """The rows of each group, sorted once.

    `labels` are those of all groups, of which some may have no row; `order` has the
    rows of one group after those of the other, and `starts` where each begins.
    """

    labels: tuple
    order: np.ndarray
    starts: np.ndarray

    def __len__(self):
        return len(self.labels)

    def __iter__(self):
        """Yield the label of each group and its rows, in the order of the samples."""
        for number, label in enumerate(self.labels):
            yield label, self.order[self.starts[number] : self.starts[number + 1]]


def make_partition(groups, n_samples, all_groups=None):
    """Return the rows of each of `all_groups`, None for those that occur."""
    labels = as_labels(groups, "groups")
    check_same_length(n_samples, groups=labels)
    seen = distinct_labels(labels, "groups")
    known = seen
    if all_groups is not None:
        known = distinct_labels(as_labels(all_groups, "all_groups"), "all_groups")
    unknown = [label for label in seen if label not in known]
    if unknown:
        raise ValueError(
            f"groups holds {enumerate_labels(unknown)}, not in all_groups. Add it."
        )
    known = sort_labels(known)
    return sort_rows(encode_labels(labels, known), known)


def sort_rows(codes, labels):
    """Return the partition of rows whose groups are `labels[code]`; -1 is in none."""
    # Few groups have small numbers, which NumPy sorts by counting.
    small = codes.astype(np.int16 if len(labels) < 2**15 else np.int64)
    order = np.argsort(small, kind="stable")
    sizes = np.bincount(codes + 1, minlength=len(labels) + 1)
    return Partition(tuple(labels), order, np.cumsum(sizes))


def as_labels(groups, name):
    """Return labels, one a sample, as a list of plain values.

    Equal ones meet whatever array they come from: 1, 1.0 and NumPy's 1 are one group.
    """
    refuse_unread(groups, name)
    if hasattr(groups, "__array__"):
        return _labels_of_array(np.asarray(groups), name)
    # A set has no order, and a dict may be one of group to value.
    is_vector = not isinstance(groups, (str, bytes, Set, Mapping))
    if not is_vector or not isinstance(groups, Iterable):
        raise ValueError(f"{name} must be a vector of labels, got {groups!r}.")
    return [as_plain(label) for label in groups]


def _labels_of_array(groups, name):
    if groups.ndim != 1:
        raise ValueError(
            f"{name} must be a vector with one label per sample, got an array of shape "
            f"{groups.shape}. Pass a single column, for example with `.ravel()`."
        )
    kind = groups.dtype.kind
    if kind in "mM":
        return list(groups.astype(f"{kind}8[ns]"))
    labels = groups.tolist()
    kinds = set(map(type, labels)) if kind == "O" else ()
    is_plain = not any(issubclass(each, np.generic) for each in kinds)
    return labels if is_plain else [as_plain(label) for label in labels]


def as_plain(label):
    """Return a label of NumPy as Python has it, but for dates, and any other as is."""
    is_plain = not isinstance(label, np.generic) or label.dtype.kind in "mM"
    return label if is_plain else label.item()


def distinct_labels(labels, name):
    """Return the labels that occur, as the keys of a dict, or raise for missing ones.

    They are in the order of their first occurrence.
    """
    with _hashing(labels, name):
        distinct = dict.fromkeys(labels)
    if any(map(is_missing, distinct)):
        rows = [row for row, label in enumerate(labels) if is_missing(label)]
        raise ValueError(
            f"{name} has no label ({labels[rows[0]]}) in row {rows[0]} ({len(rows)} "
            "such rows). Give them a group such as 'missing', or remove them."
        )
    return distinct


def sort_labels(labels):
    """Return labels in an order that does not depend on that of the samples."""
    try:
        return tuple(sorted(labels))
    except TypeError:  # of several types
        return tuple(sorted(labels, key=lambda x: (type(x).__name__, repr(x))))


def encode_labels(labels, known):
    """Return the position of each label among the known ones, -1 where it is unknown.

    ndarray of shape (n_samples,), dtype intp.
    """
    find = {label: number for number, label in enumerate(known)}.get
    with _hashing(labels, "groups"):
        return np.fromiter(map(find, labels, repeat(-1)), np.intp, len(labels))


@contextmanager
def _hashing(labels, name):
    """Raise a clear error where labels have no hash."""
    try:
        yield
    except TypeError as error:
        kinds = enumerate_texts(sorted({type(label).__name__ for label in labels}))
        raise ValueError(
            f"{name} must hold labels such as numbers or strings, one per sample, got "
            f"{kinds}, which cannot be hashed. Pass strings or tuples."
        ) from error


def enumerate_labels(labels):
    """Return the first of some labels as text, and how many others there are."""
    return enumerate_texts([repr(label) for label in labels])


def count_labels(labels):
    """Return labels as text, each with how often it occurs, the most frequent first."""
    # By text, as one NaN is not equal to the next.
    counts = Counter(map(repr, labels)).most_common()
    return enumerate_texts([f"{text} ({count})" for text, count in counts])


def enumerate_texts(texts, separator=", "):
    """Return the first of some texts, and how many others there are."""
    shown = separator.join(texts[:_MOST_NAMED])
    others = len(texts) - _MOST_NAMED
    return f"{shown} and {others} others" if others > 0 else shown


def share_confidence(confidence_level, n_groups):
    """Return the confidence in each group with which all of them hold together."""
    return confidence_level if n_groups == 1 else 1 - (1 - confidence_level) / n_groups


def targets_by_group(target, labels, name="target"):
    """Return the target of each group: a number for all, or a dict with all of them."""
    if not isinstance(target, Mapping):
        return dict.fromkeys(labels, target)
    given = {as_plain(label): value for label, value in target.items()}
    known = dict.fromkeys(labels)
    unknown = [label for label in given if label not in known]
    if unknown:
        raise ValueError(
            f"{name} has a value for {enumerate_labels(unknown)}, which is no group. "
            f"The groups are {enumerate_labels(labels)}."
        )
    missing = [label for label in labels if label not in given]
    if missing:
        raise ValueError(
            f"{name} has no value for {enumerate_labels(missing)}. Add one for each."
        )
    for label in labels:
        check_number(given[label], f"{name} of the group {label!r}")
    return {label: given[label] for label in labels}
