"""Counts and best paths straight from their definitions, slow and exact."""

from fractions import Fraction
from itertools import pairwise, product
from math import lcm

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import bellman_ford

from sklearn_reject.thresholds import ThresholdPath, _analytic
from sklearn_reject.thresholds._documents import check_documents


def count_positives(documents, thresholds):
    """Return false and true positives, document by document."""
    decide = {"any": any, "all": all}[documents.rule]
    weight = documents.weight
    totals = [Fraction(0), Fraction(0)]
    for row, scores in enumerate(documents.scores.tolist()):
        reached = (s >= t for s, t in zip(scores, thresholds, strict=True))
        if decide(reached):
            one = 1 if weight is None else Fraction(float(weight[row]))
            totals[int(documents.is_positive[row])] += one
    return tuple(totals)


def trace_path(thresholds, documents):
    """Return the path of thresholds that do not fall, counted from scores."""
    path = ThresholdPath(thresholds, None, None, None, documents.rule)
    return path.recount(documents)


def trapezoids(nodes, fp, tp):
    """Return the area under the curve of a path, a fraction."""
    points = [(Fraction(float(fp[node])), Fraction(float(tp[node]))) for node in nodes]
    steps = (abs(f - g) * (t + u) / 2 for (f, t), (g, u) in pairwise(points))
    return sum(steps, Fraction(0))


def lattice_paths(shape):
    """Yield all paths from the first to the last node, one step of one axis a time."""
    last = tuple(length - 1 for length in shape)

    def extend(path):
        if path[-1] == last:
            yield path
        for axis, index in enumerate(path[-1]):
            if index < last[axis]:
                step = (*path[-1][:axis], index + 1, *path[-1][axis + 1 :])
                yield from extend([*path, step])

    yield from extend([(0,) * len(shape)])


def best_area(fp, tp, through=None):
    """Return the largest area of all paths, or of those through a node."""
    paths = lattice_paths(fp.shape)
    if through is not None:
        paths = (path for path in paths if tuple(through) in path)
    (fp, unit_fp), (tp, unit_tp) = as_integers(fp), as_integers(tp)
    doubled = max(
        sum((fp[u] - fp[v]) * (tp[u] + tp[v]) for u, v in pairwise(path))
        for path in paths
    )
    return doubled * unit_fp * unit_tp / 2


def as_integers(counts):
    """Return counts by node in whole numbers of a unit, and the unit; exact."""
    exact = {node: Fraction(float(c)) for node, c in np.ndenumerate(counts)}
    n_parts = lcm(*(count.denominator for count in exact.values()))
    return {node: int(c * n_parts) for node, c in exact.items()}, Fraction(1, n_parts)


# A weight of zero would be no edge. As all paths have as many edges, adding to each
# does not change which are the best; no area of quarters of counts is so small.
SHIFT = 1 / 64


def bellman_ford_area(fp, tp):
    """Return the largest area, by the shortest path of negative weights (RZMR20)."""
    distances = bellman_ford(weighted_graph(fp, tp), indices=0)
    return SHIFT * sum(length - 1 for length in fp.shape) - distances[-1]


def weighted_graph(fp, tp):
    """Return the graph of a table, of edges that weigh minus their area."""
    numbers = np.arange(fp.size).reshape(fp.shape)
    lanes = [np.moveaxis(numbers, axis, 0) for axis in range(fp.ndim)]
    origins = np.concatenate([lane[:-1].ravel() for lane in lanes])
    ends = np.concatenate([lane[1:].ravel() for lane in lanes])
    fp, tp = fp.ravel(), tp.ravel()
    weights = SHIFT - (fp[origins] - fp[ends]) * (tp[origins] + tp[ends]) / 2
    return csr_array((weights, (origins, ends)), shape=(fp.size, fp.size))


@st.composite
def rated_documents(draw, max_classifiers=3, max_documents=12, weights=True):
    """Draw documents of few distinct scores, some of them not rated."""
    n_classifiers = draw(st.integers(1, max_classifiers))
    n_documents = draw(st.integers(0, max_documents))
    highest = draw(st.sampled_from([1, 3, 8]))
    row = st.lists(
        st.integers(0, highest), min_size=n_classifiers, max_size=n_classifiers
    )
    column = lambda values: draw(  # noqa: E731
        st.lists(values, min_size=n_documents, max_size=n_documents)
    )
    scores, y = column(row), column(st.sampled_from([0, 1, 1, 0, -1]))
    # Both classes are known above all others, and no classifier is constant.
    ends = [[highest + 1] * n_classifiers] * 2 + [[0] * n_classifiers]
    weight = [*column(st.integers(0, 8)), 4, 4, 1] if weights else None
    use_weight = weights and draw(st.booleans())
    return check_documents(
        np.array([*scores, *ends]) / 4,
        [*y, 1, 0, draw(st.integers(0, 1))],
        rule=draw(st.sampled_from(["any", "all"])),
        base_thresholds=draw(st.none() | row.map(lambda base: np.array(base) / 4)),
        sample_weight=np.array(weight) / 4 if use_weight else None,
    )


def all_nodes(shape):
    """Return the indices of all nodes."""
    return list(product(*map(range, shape)))


def short_analytic_path(documents, **options):
    """Return a smooth path of a short search, where it need not be a good one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_analytic, "_EVALUATIONS_PER_PARAMETER", 8)
        return _analytic.analytic_path(documents, **options)
