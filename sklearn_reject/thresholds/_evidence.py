"""What is predicted positive, in sums that add up over parts of the documents."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Evidence:
    """Documents that given thresholds predict positive, as far as intervals need them.

    Arrays have shape (2,), for false and for true positives.
    """

    #: Sums of the weights, and of their squares.
    counts: np.ndarray
    squares: np.ndarray
    #: Documents that these are made of; others that do not count; those of weight zero
    #: among them, if they look as if nobody had rated them.
    n_counted: int
    n_others: int
    n_weightless: int
    #: Number of all documents, and the least and the largest weight among those that
    #: may be predicted: infinity and zero where there are none.
    n_given: int
    weight_range: tuple

    def __add__(self, other):
        return Evidence(
            self.counts + other.counts,
            self.squares + other.squares,
            self.n_counted + other.n_counted,
            self.n_others + other.n_others,
            self.n_weightless + other.n_weightless,
            self.n_given + other.n_given,
            join_ranges(self.weight_range, other.weight_range),
        )

    @property
    def n_predicted(self):
        """Number of all documents that are predicted positive."""
        return self.n_counted + self.n_others

    @property
    def rated_share(self):
        """Share of these that count, NaN if there are none."""
        return self.n_counted / self.n_predicted if self.n_predicted else float("nan")


def join_ranges(first, second):
    """Return the least and the largest weight of two ranges."""
    return min(first[0], second[0]), max(first[1], second[1])
