"""The best rectangle of points: the search behind two classifiers."""

import numpy as np


def best_rectangle(x, y, counts, derivative):
    """Find the corner (i, j) of the best rectangle from the origin.

    The sum of ``TP - FP * derivative`` over the points with ``x <= i`` and ``y <= j``
    is largest, of equally good ones for the least `i`, then `j`.
    """
    # The counts are complex: one operation sums true positives, the real part, and
    # false positives, and whole numbers exactly.
    #
    # A segment tree over `y` is filled from its leaves, level by level, with all its
    # states: a node has a new state for each `x` at which one of its points lies. A
    # state is the sum over the node, and the best sum over a leading part of it: O(n
    # log n) operations, all nodes of a level at once, and O(n) memory.
    #
    # A table of all pairs is as fast for 1 % of positives among 1e5 documents. With
    # 10 % it takes 5 to 9 s, the tree .07 to .2 s. Coordinate ascent in the place of
    # pairs misses the optimum under "all" in a quarter of samples of two or three
    # classifiers and two fifths of those of five or ten, by 5 % of the gain (median).
    order = _stable_argsort(x)
    # A point that counts nothing: without it, an empty rectangle would have no state.
    x, y = (np.append(0, values[order]) for values in (x, y))
    counts = np.append(0.0, counts[order])
    values, best = _best_leading_sums(x, y, counts, derivative)
    i = values[np.argmax(gain(best, derivative))]
    inside = slice(0, np.searchsorted(x, i, side="right"))
    sums = np.cumsum(sum_by(y[inside], counts[inside]))
    return int(i), int(np.argmax(gain(sums, derivative)))


def gain(counts, derivative):
    """Return TP - FP * derivative."""
    return counts.real - derivative * counts.imag


def sum_by(groups, counts, n_groups=0):
    """Return the sum of the counts in each group."""
    real = np.bincount(groups, counts.real, minlength=n_groups)
    return real + 1j * np.bincount(groups, counts.imag, minlength=n_groups)


def _best_leading_sums(x, y, counts, derivative):
    """Return the distinct `x`, and the best sum of a rectangle that ends at each."""
    node = np.unique(y, return_inverse=True)[1].astype(np.intp)
    x, node, total = _leaves(x, node, counts)
    best = total
    for _ in range(int(node.max()).bit_length()):
        is_right = (node & 1).astype(bool)
        node = node >> 1
        order = _stable_argsort(node)
        sibling = _latest_sibling(node, is_right, order)
        # A sibling without points so far has sums of zero.
        known = sibling >= 0
        other_total = np.where(known, total[sibling], 0)
        other_best = np.where(known, best[sibling], 0)
        left_best = np.where(is_right, other_best, best)
        into_right = np.where(is_right, other_total + best, total + other_best)
        is_better = gain(into_right, derivative) > gain(left_best, derivative)
        best = np.where(is_better, into_right, left_best)
        total = total + other_total
        kept = _last_states(x, node, order)
        x, node, total, best = (values[kept] for values in (x, node, total, best))
    return x, best


def _leaves(x, node, counts):
    """Return the states of the leaves: sums over all their points so far."""
    order = _stable_argsort(node)
    sums = np.cumsum(counts[order])
    first = _first_of_run(node[order])
    sums -= np.where(first > 0, sums[first - 1], 0)
    total = np.empty_like(sums)
    total[order] = sums
    kept = _last_states(x, node, order)
    return x[kept], node[kept], total[kept]


def _last_states(x, node, order):
    """Return which states are the last of their node at their `x`."""
    x, node = x[order], node[order]
    is_last = np.append((x[1:] != x[:-1]) | (node[1:] != node[:-1]), True)
    return np.sort(order[is_last])


def _latest_sibling(parent, is_right, order):
    """Return the last state before each one in the other half of its node, or -1."""
    index = np.arange(len(order))
    is_right = is_right[order]
    latest = np.where(
        is_right,
        np.maximum.accumulate(np.where(is_right, -1, index)),
        np.maximum.accumulate(np.where(is_right, index, -1)),
    )
    found = latest >= _first_of_run(parent[order])
    out = np.empty_like(order)
    out[order] = np.where(found, order[latest], -1)
    return out


def _first_of_run(values):
    """Return where the run of equal values starts that each element is in."""
    starts = np.append(True, values[1:] != values[:-1])
    return np.maximum.accumulate(np.where(starts, np.arange(len(values)), 0))


def _stable_argsort(values):
    """Sort small integers, where numpy needs no comparisons."""
    if values.max(initial=0) <= np.iinfo(np.uint16).max:
        values = values.astype(np.uint16)
    return np.argsort(values, kind="stable")
