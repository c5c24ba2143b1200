"""Documents of which counts are left, and no scores."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._evidence import Evidence, join_ranges
from sklearn_reject.thresholds._grid import (
    count_ranks,
    locate_thresholds,
    rank_scores,
)

# Counts of both classes as `_grid` has them, and the arrays below.
BYTES_PER_WEIGHED_NODE = 80


@dataclass(frozen=True, eq=False)
class CountedDocuments:
    """What a table knows of its documents beside false and true positives.

    Arrays have the shape of the table, `squares` and `others` two of it.
    """

    n_given: int
    total_positive: float
    #: The weight of those positives that no threshold predicts, as a classifier that
    #: matters did not run.
    unreachable_positive: float
    is_complete: bool
    is_drawn: bool
    leaves_out_positives: bool
    weight_range: tuple
    pos_label: object
    #: Sums of squared weights of false and true positives, and the number of both; None
    #: where all weigh one.
    squares: np.ndarray = None
    n_counted: np.ndarray = None
    #: Documents that do not count, those that look unrated by a weight of zero last;
    #: None where there are none.
    others: np.ndarray = None


def describe(documents, grid, ranks, reached):
    """Return what a table is to know of documents, of which the ranks are known.

    `reached` are the others that `reached_others` finds.
    """
    shape = tuple(map(len, grid))
    squares = n_counted = others = None
    if documents.weight is not None:
        squared = documents.reweigh(documents.weight**2)
        squares = count_ranks(ranks, squared, shape)
        n_counted = count_ranks(ranks, documents.reweigh(None), shape).sum(axis=0)
    scores, is_weightless = reached
    if len(scores):
        stand_ins = documents.stand_in(scores, is_weightless)
        others = count_ranks(rank_scores(scores, grid), stand_ins, shape)
    return CountedDocuments(
        n_given=documents.n_given,
        total_positive=documents.total_positive,
        unreachable_positive=documents.unreachable_positive,
        is_complete=documents.is_complete,
        is_drawn=documents.is_drawn,
        leaves_out_positives=documents.leaves_out_positives,
        weight_range=documents.weight_range,
        pos_label=documents.pos_label,
        squares=squares,
        n_counted=n_counted,
        others=others,
    )


def reached_others(documents):
    """Return the scores of documents that do not count, and which weigh nothing."""
    is_reached = predict_positive(documents.others, documents.base, documents.rule)
    return documents.others[is_reached], documents.is_weightless[is_reached]


def add_counted(first, second):
    """Return what the sum of two tables knows of the documents of both."""
    one, two = first.counted, second.counted
    if one is None or two is None:
        return None
    squares = n_counted = None
    if one.squares is not None or two.squares is not None:
        squares = squares_of(first) + squares_of(second)
        n_counted = n_counted_of(first) + n_counted_of(second)
    given = [part.others for part in (one, two) if part.others is not None]
    return CountedDocuments(
        n_given=one.n_given + two.n_given,
        total_positive=one.total_positive + two.total_positive,
        unreachable_positive=one.unreachable_positive + two.unreachable_positive,
        is_complete=one.is_complete and two.is_complete,
        is_drawn=one.is_drawn or two.is_drawn,
        leaves_out_positives=one.leaves_out_positives or two.leaves_out_positives,
        weight_range=join_ranges(one.weight_range, two.weight_range),
        pos_label=one.pos_label if two.pos_label is None else two.pos_label,
        squares=squares,
        n_counted=n_counted,
        others=sum(given[1:], given[0]) if given else None,
    )


def squares_of(table, node=...):
    """Return the squared weights of false and true positives of a table."""
    if table.counted.squares is None:
        return np.stack([table.fp[node], table.tp[node]])
    return table.counted.squares[:, *_as_tuple(node)]


def n_counted_of(table, node=...):
    """Return the number of documents that count at nodes of a table."""
    if table.counted.n_counted is None:
        return table.fp[node] + table.tp[node]
    return table.counted.n_counted[node]


def others_of(table, node=...):
    """Return how many others there are, first but those of weight zero, then these."""
    if table.counted.others is None:
        return np.zeros((2, *table.fp[node].shape))
    return table.counted.others[:, *_as_tuple(node)]


def _as_tuple(node):
    return node if isinstance(node, tuple) else (node,)


@dataclass(frozen=True, eq=False)
class TabulatedDocuments:
    """Stands for RatedDocuments where a target and a point ask for them."""

    table: object

    @property
    def base(self):
        """The lowest thresholds."""
        return np.array([values[0] for values in self.table.thresholds])

    @property
    def is_complete(self):
        """Whether nothing is unrated but where a sample was rated."""
        return self.table.counted.is_complete

    @property
    def is_drawn(self):
        """Whether weights stand for all that might have been rated."""
        return self.table.counted.is_drawn

    @property
    def total_positive(self):
        """Weight of all rated positives, reached by the lowest thresholds or not."""
        return self.table.counted.total_positive

    def count_alerts(self, path):
        """Return how many of all documents given each vertex of a path predicts."""
        columns = zip(self.table.thresholds, path.thresholds.T, strict=True)
        nodes = tuple(np.searchsorted(*pair) for pair in columns)
        others = others_of(self.table, nodes).sum(axis=0)
        return np.rint(n_counted_of(self.table, nodes) + others).astype(np.int64)

    def evidence_at(self, thresholds):
        """Return what is known of the documents that thresholds predict positive."""
        table, counted = self.table, self.table.counted
        node = tuple(locate_thresholds(table.thresholds, thresholds))
        others = others_of(table, node)
        # Where weights of zero leave out positives, they do not stand for unrated.
        n_weightless = 0 if counted.leaves_out_positives else int(others[1])
        return Evidence(
            counts=np.array([table.fp[node], table.tp[node]]),
            squares=squares_of(table, node),
            n_counted=int(n_counted_of(table, node)),
            n_others=int(others.sum()),
            n_weightless=n_weightless,
            n_given=counted.n_given,
            weight_range=counted.weight_range,
        )
