"""From real targets to ordered classes of about the same size."""

import numpy as np


def bin_uniformly(target, n_classes):
    """Return ordinal labels 0..n_classes-1 with a prior as uniform as ties allow.

    The distinct values are dealt out in increasing order. A class is complete once the
    next value would take it further from its share than it is without; the share is
    what is left, divided by the classes left. So a value that fills several shares,
    such as the zeros that are half of the targets of facebook, is one class, and the
    classes above it get smaller shares rather than fewer classes.
    """
    values, counts = np.unique(target, return_counts=True)
    if len(values) < n_classes:
        raise ValueError(f"{len(values)} distinct targets cannot be {n_classes} bins.")
    labels = np.empty(len(values), dtype=np.intp)
    label, size, left = 0, 0, len(target)
    for position, count in enumerate(counts):
        classes_left = n_classes - label
        is_full = size + count / 2 > left / classes_left
        # Each of the other classes needs a value of its own.
        is_scarce = len(values) - position < classes_left
        if size and classes_left > 1 and (is_full or is_scarce):
            label, size, left = label + 1, 0, left - size
        labels[position] = label
        size += count
    return labels[np.searchsorted(values, target)]
