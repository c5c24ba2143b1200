"""Data frames of costs, read by their labels and never by position."""

import numpy as np

_WAY_OUT = (
    "Label both axes with the classes, or pass `.to_numpy()` with true labels by row "
    "and predicted labels by column, in sorted order."
)


def align_frame(costs, labels):
    """Return the costs of a data frame as an array, and the labels of its axes.

    Those of `labels`, which it must have, come first; None is for all that it has.
    """
    rows, columns = _labels_of(costs)
    needed = [] if labels is None else np.asarray(labels).tolist()
    places, of_column = _places(rows), _places(columns)
    for label in needed:
        if label not in places:
            raise ValueError(
                f"loss is a data frame with the labels {rows}, but the labels are "
                f"{needed}, and {label!r} is missing. {_WAY_OUT}"
            )
    known = set(needed)
    order = needed + [label for label in rows if label not in known]
    by_row = [places[label] for label in order]
    by_column = [of_column[label] for label in order]
    return costs.to_numpy()[np.ix_(by_row, by_column)], order


def _places(labels):
    return {label: place for place, label in enumerate(labels)}


def _labels_of(costs):
    """Return the labels of rows and of columns, the same ones, each of them once."""
    if not hasattr(costs, "index"):
        raise ValueError(
            f"loss is a {type(costs).__module__.split('.')[0]} data frame, whose rows "
            f"have no labels. {_WAY_OUT}"
        )
    rows, columns = costs.index.tolist(), costs.columns.tolist()
    if set(rows) != set(columns):
        raise ValueError(
            f"loss is a data frame whose rows {rows} and columns {columns} are not "
            f"the same labels. {_WAY_OUT}"
        )
    for labels in (rows, columns):
        if len(set(labels)) < len(labels):
            raise ValueError(
                f"loss is a data frame with the labels {labels}, some of them more "
                "than once. Keep one row and one column per label."
            )
    return rows, columns


def refuse_labels(values, name, meaning):
    """Raise for a data frame or a series where the order of values has a meaning."""
    if hasattr(values, "columns") or hasattr(values, "iloc"):
        raise ValueError(
            f"{name} must be an array of {meaning}, in this order, got a "
            f"{type(values).__name__}, whose labels would be ignored. Sort its values "
            "and pass `.to_numpy()`."
        )
