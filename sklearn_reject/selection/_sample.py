"""Samples that count unequally, or depend on each other: weights, audits, clusters.

Let v be the weight of a row, p the chance that it was to be labelled, and m the number
of rows in its cluster, all known before its label, and V the largest v / p that can
occur, fixed before the draw. A labelled row counts a = v / (p V m), at most 1, as do
all rows of a cluster together, and one without a label nothing. With losses and a risk
r in [0, 1],

    x(t) = r + the sum of a (loss - r) over the rows of a unit that score below t

is in [0, 1], too, where a unit is a cluster or, without clusters, a row. Its mean is at
most r exactly if the weighted risk of a random accepted row of a random cluster is. A
unit without a labelled row below t has x = r, by which no bet wins or loses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._curves._prefixes import Prefixes, prefix_sums
from sklearn_reject._validation import (
    check_same_length,
    check_sample_weight,
    check_vector,
    find_missing_labels,
    take_weight,
)
from sklearn_reject.selection._groups import as_labels, distinct_labels, encode_labels
from sklearn_reject.selection._weights import (
    SURPRISE,
    check_inclusion_proba,
    shares_of,
)


@dataclass(frozen=True, eq=False)
class Units:
    """How much rows count, and which units they are in, numbered by their first rows.

    Without shares each row is a unit, and counts as one. Units are alike if these are
    independent rows that all had the same chance of a label: shares are 0 or 1 then.
    `largest` is V.
    """

    shares: np.ndarray | None = None
    codes: np.ndarray | None = None
    alike: bool = False
    largest: float = 1.0

    def take(self, rows):
        """Return those of some rows."""
        codes = take_weight(self.codes, rows)
        if codes is not None:
            _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
            codes = np.argsort(np.argsort(first))[codes]
        return replace(self, shares=take_weight(self.shares, rows), codes=codes)

    def count(self, n_rows):
        """Return how many units the first rows are in, for one number or several."""
        if self.alike and self.shares is not None:
            return prefix_sums(self.shares)[n_rows].astype(np.intp)
        if self.codes is None:
            return n_rows
        return np.searchsorted(np.unique(self.codes, return_index=True)[1], n_rows)

    def weigh(self, losses):
        """Return losses of the first rows times what these count."""
        return losses if self.shares is None else self.shares[: len(losses)] * losses

    def values(self, losses, risk):
        """Return what each unit of the first rows, of these losses, is: x above."""
        if self.shares is None:
            return losses
        parts = self.weigh(losses - risk)
        if self.codes is not None:
            parts = np.bincount(self.codes[: len(losses)], parts)
        return risk + parts

    def before(self, values):
        """Return what the rows before each one of its unit add up to."""
        if self.codes is None:
            return 0.0
        order = np.argsort(self.codes, kind="stable")
        codes, sums = self.codes[order], np.cumsum(values[order]) - values[order]
        before = np.empty(len(values))
        before[order] = sums - sums[np.searchsorted(codes, codes)]
        return before


# Rows that are units, and count alike.
ROWS = Units(alike=True)


def weigh(is_labelled, weight, proba, max_weight, clusters, promise=""):
    """Return v / (p m) and v / m of each row, None where all are alike, and units.

    Raises where a `promise` could not be kept.
    """
    if weight is proba is clusters is None:
        return None, None, ROWS
    every = np.ones(len(is_labelled)) if weight is None else weight
    if not (is_labelled & (every > 0)).any():
        raise ValueError(
            "No row has a label and, where weights are given, a positive weight. Look "
            "up the labels of some rows that count."
        )
    if weight is clusters is None and np.ndim(proba) == 0:
        check_inclusion_proba(proba, is_labelled)
        ratio = every * is_labelled
        return ratio, every, Units(ratio, alike=True)
    ratio, codes, sizes, units = every, None, 1, ROWS
    if proba is not None:
        ratio = every / check_inclusion_proba(proba, is_labelled)
    if weight is None and np.ndim(proba) == 0:
        max_weight = ratio[0]  # known, as one number is
    if clusters is not None:
        clusters = Clusters.of(clusters, len(is_labelled))
        codes, sizes = clusters.codes, clusters.sizes
    if promise:
        shares = shares_of(ratio, max_weight, promise) * is_labelled / sizes
        units = Units(shares, codes, largest=float(max_weight))
    return ratio * is_labelled / sizes, every / sizes, units


@dataclass(frozen=True, eq=False)
class Clusters:
    """The number of the cluster of each row, by their first rows, and its size.

    Sizes count all rows of a sample, also where some of them are taken.
    """

    codes: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, clusters, n_samples, name="clusters"):
        """Return those of labels, one a row."""
        if isinstance(clusters, cls):
            return clusters
        labels = as_labels(clusters, name)
        check_same_length(n_samples, **{name: labels})
        codes = encode_labels(labels, distinct_labels(labels, name), name)
        return cls(codes, np.bincount(codes)[codes])

    def __getitem__(self, rows):
        return Clusters(self.codes[rows], self.sizes[rows])

    def refuse_divided(self, what):
        """Raise where rows of a cluster are elsewhere, such as in another group."""
        if (np.bincount(self.codes)[self.codes] != self.sizes).any():
            raise ValueError(
                f"{what} of groups needs clusters whose rows are all in one group, as "
                "the share of a group in a cluster is not known. Ask for a target_risk."
            )


def read_losses(losses, proba, n_samples):
    """Return losses, zero where there is no label, and where there is one."""
    array = losses if np.ma.isMaskedArray(losses) else np.asarray(losses)
    is_labelled = ~find_missing_labels(array)
    if array.ndim == 1 and not is_labelled.all():
        if proba is None:
            row = int(np.argmin(is_labelled))
            raise ValueError(
                f"losses must be finite, got {array[row]} in row {row} "
                f"({np.sum(~is_labelled)} such values). Pass the chance of each row to "
                "be labelled as inclusion_proba, or remove these rows from all arrays "
                "where it is the same for all."
            )
        array = np.where(is_labelled, array, 0.0)
    losses = check_vector(array, "losses", non_negative=True)
    check_same_length(n_samples, losses=losses)
    return losses, is_labelled


@dataclass(frozen=True, eq=False)
class Sample:
    """Scores and losses, and what they count, see `weigh`."""

    scores: np.ndarray
    losses: np.ndarray
    weight: np.ndarray | None = None
    of_all: np.ndarray | None = None
    units: Units = ROWS

    @classmethod
    def of(cls, scores, losses, weight=None, proba=None, *others, promise=""):
        """Return validated samples, as `weigh` takes them."""
        scores = check_vector(scores, "scores")
        losses, is_labelled = read_losses(losses, proba, len(scores))
        weight = check_sample_weight(weight, len(scores))
        if others:
            others = weigh(is_labelled, weight, proba, *others, promise=promise)
        return cls(scores, losses, *others)

    def prefixes(self):
        """Return the running sums of weights and losses, by score."""
        return Prefixes.of(self.scores, self.weight, near=True, loss=self.losses)

    def measure(self, rule):
        """Return a rule with what it achieves, accepted rows without a label too."""
        if self.weight is None:
            return rule
        if rule.certificate is not None:
            rule = rule.measure(self.scores, self.losses, sample_weight=self.weight)
        accepted = rule.accept_proba(self.scores)
        return replace(rule, coverage=float(np.average(accepted, weights=self.of_all)))

    def count_all(self):
        """Return the number of units, or raise for weights without a mean of one."""
        if self.units.alike:
            return int(self.units.count(len(self.scores)))
        codes, largest = self.units.codes, self.units.largest
        n_units = len(self.scores if codes is None else np.unique(codes))
        mean = self.of_all.sum() / n_units
        away = abs(mean - 1)
        # Bernstein's inequality; of this mean and largest value no variance is larger.
        if n_units * away**2 > 2 * SURPRISE * (largest - 1 + largest * away / 3):
            raise ValueError(
                f"sample_weight has the mean {mean:.3g}, but a failure rate needs "
                "weights whose mean over the population is known to be one, such as "
                "the quotient of two densities. Divide by that mean, or use a "
                "target_risk, of which only the proportions of the weights count."
            )
        return n_units
