"""Documents with scores of several classifiers, rated or not, and sums of them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sklearn_reject._validation import take_weight
from sklearn_reject.thresholds._targets import find_vertex


@dataclass(frozen=True, eq=False)
class Census:
    """What is known of documents, whatever the thresholds."""

    #: Number of documents that were given, but for rated ones of weight zero.
    n_given: int
    #: Weight of all rated positives, and of those that no thresholds reach, however
    #: low, as a classifier did not run.
    total_positive: float
    unreachable_positive: float
    #: The least and the largest weight among those that may be predicted, drawn or not:
    #: infinity and zero where there are none.
    weight_range: tuple
    #: Whether nothing is unrated but where a sample was rated.
    is_complete: bool
    #: Whether weights of zero leave out positives, too.
    leaves_out_positives: bool
    #: The positive class, None where nothing tells which it is.
    pos_label: object = None

    def __add__(self, other):
        (low, high), (lower, higher) = self.weight_range, other.weight_range
        return Census(
            self.n_given + other.n_given,
            self.total_positive + other.total_positive,
            self.unreachable_positive + other.unreachable_positive,
            (min(low, lower), max(high, higher)),
            self.is_complete and other.is_complete,
            self.leaves_out_positives or other.leaves_out_positives,
            self.pos_label if other.pos_label is None else other.pos_label,
        )


RULES = ("any", "all")


@dataclass(frozen=True, eq=False)
class RatedDocuments:
    """Documents, of which those count that are rated and reach the lowest thresholds.

    No other is a true or a false positive: not one that nobody has rated, and not one
    that is never predicted. A rating of weight zero counts as absent.
    """

    #: Higher = more likely positive, shape (n_documents, n_classifiers). NaN where a
    #: classifier did not run.
    all_scores: np.ndarray
    #: 1 and 0, and -1 where nobody has rated a document, shape (n_documents,).
    ratings: np.ndarray
    #: The lowest thresholds, and what none is to be below, wherever it is placed.
    base: np.ndarray
    floor: np.ndarray
    #: "any" or "all".
    rule: str
    #: Whether nothing is unrated but where a sample was rated.
    is_complete: bool
    #: None where all documents weigh one.
    all_weights: np.ndarray | None = None
    #: Which were drawn to be rated, or might have been, by a known chance; None where
    #: no chance is known.
    is_sampled: np.ndarray | None = None
    #: The positive class, None where nothing tells which it is.
    pos_label: object = None

    def __len__(self):
        return len(self.ratings)

    def take(self, rows):
        """Return the documents of some rows, as if no others had been given."""
        return replace(
            self,
            all_scores=self.all_scores[rows],
            ratings=self.ratings[rows],
            all_weights=take_weight(self.all_weights, rows),
            is_sampled=take_weight(self.is_sampled, rows),
        )

    @property
    def n_classifiers(self):
        """Number of classifiers."""
        return self.all_scores.shape[1]

    @cached_property
    def _weights(self):
        return np.ones(len(self)) if self.all_weights is None else self.all_weights

    @cached_property
    def is_rated(self):
        """Which documents have a rating, but for those of weight zero."""
        return (self.ratings >= 0) & (self._weights > 0)

    @cached_property
    def is_given(self):
        """Which documents are there: all but rated ones of weight zero."""
        return (self.ratings < 0) | self.is_rated

    @cached_property
    def rows(self):
        """Positions of the documents that count."""
        is_reached = predict_positive(self.all_scores, self.base, self.rule)
        return np.flatnonzero(is_reached & self.is_rated)

    @cached_property
    def scores(self):
        """Scores of the documents that count, shape (n_rated, n_classifiers)."""
        return self.all_scores[self.rows]

    @cached_property
    def is_positive(self):
        """Which of these are positive, shape (n_rated,)."""
        return self.ratings[self.rows] == 1

    @cached_property
    def weight(self):
        """Their weights, or None where all weigh one."""
        return take_weight(self.all_weights, self.rows)

    @cached_property
    def other_rows(self):
        """Positions of documents that do not count, but may be predicted."""
        # Thresholds may be placed below what the lowest ones do not reach.
        is_reached = predict_positive(self.all_scores, self.floor, self.rule)
        return np.flatnonzero(is_reached & ~self.is_rated)

    @cached_property
    def others(self):
        """Scores of these, and which of them have a weight of zero."""
        return self.all_scores[self.other_rows], self._weights[self.other_rows] == 0

    @cached_property
    def census(self):
        """What is known of the documents, whatever the thresholds."""
        weight, is_positive = self._weights, self.ratings == 1
        missed = self.is_rated & is_positive
        missed[self.rows] = False
        lowest = np.full_like(self.base, -np.inf)
        is_reachable = predict_positive(self.all_scores[missed], lowest, self.rule)
        reached = float((self.is_positive * weight[self.rows]).sum())
        # Those that a draw has left out are as possible as those that it has taken.
        possible = np.zeros(len(self), dtype=bool)
        if self.is_sampled is not None:
            possible[self.other_rows] = True
            possible &= self.is_sampled & (self.ratings < 0)
        possible[self.rows] = True
        possible = weight[possible & (weight > 0)]
        return Census(
            n_given=int(self.is_given.sum()),
            total_positive=reached + float(weight[missed].sum()),
            unreachable_positive=float(weight[missed].sum(where=~is_reachable)),
            weight_range=(possible.min(initial=np.inf), possible.max(initial=0.0)),
            is_complete=self.is_complete,
            leaves_out_positives=bool((is_positive & (weight == 0)).any()),
            pos_label=self.pos_label,
        )

    def count_alerts(self, thresholds):
        """Return how many of all documents each vertex of a path predicts."""
        scores = np.concatenate([self.scores, self.others[0]])
        return count_from(locate_last(thresholds, scores, self.rule), len(thresholds))

    def best_vertex(self, target, path):
        """Return the vertex of a path where a target is met best."""
        is_counted = target.name == "max_alerts"
        alerts = self.count_alerts(path.thresholds) if is_counted else None
        return find_vertex(target, path, self.census.total_positive, alerts)

    def sums_at(self, thresholds):
        """Return the sums over the documents that thresholds predict positive.

        The weights of false and of true positives, the squares of these weights, and
        numbers of documents: of both, of others, which do not count, and of those of
        weight zero.
        """
        chosen = predict_positive(self.scores, thresholds, self.rule)
        scores, is_weightless = self.others
        others = predict_positive(scores, thresholds, self.rule)
        weight, is_positive = self._weights[self.rows[chosen]], self.is_positive[chosen]
        classes = weight[~is_positive], weight[is_positive]
        sums = [of_class.sum() for of_class in classes]
        squares = [np.sum(of_class**2) for of_class in classes]
        numbers = chosen, others & ~is_weightless, others & is_weightless
        return np.array([*sums, *squares, *map(np.count_nonzero, numbers)])


def predict_positive(scores, thresholds, rule):
    """Return which documents, shape (n_documents,), are predicted positive.

    A score reaches its threshold if it is at least as large.
    """
    # Column by column is several times faster than a reduction along a short axis.
    combine = np.logical_or if rule == "any" else np.logical_and
    is_predicted = scores[:, 0] >= thresholds[0]
    for column, threshold in zip(scores.T[1:], thresholds[1:], strict=True):
        combine(is_predicted, column >= threshold, out=is_predicted)
    return is_predicted


def locate_last(thresholds, scores, rule):
    """Return the last vertex that predicts each document positive, or -1."""
    columns = zip(thresholds.T, scores.T, strict=True)
    left = [np.searchsorted(*pair, side="right") - 1 for pair in columns]
    # A classifier that did not run has reached nothing.
    left = np.where(np.isnan(scores.T), -1, left)
    return (np.maximum if rule == "any" else np.minimum).reduce(left)


def count_from(last, n_vertices, weight=None):
    """Return the number or weight that each vertex of a path predicts.

    `last` are the last vertices that predict each document, -1 for none.
    """
    n_last = np.bincount(last + 1, weight, n_vertices + 1)
    return np.cumsum(n_last[:0:-1])[::-1]
