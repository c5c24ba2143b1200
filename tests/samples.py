"""Small samples with ties, zero weights and exact arithmetic, for hypothesis."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from scipy.special import entr


def column(n, low, high):
    """Return a strategy for lists of n integers."""
    return st.lists(st.integers(low, high), min_size=n, max_size=n)


@st.composite
def samples(draw, max_size=10, weighted=True):
    """Draw (scores, losses, weights) with few distinct values, weights maybe None."""
    n = draw(st.integers(1, max_size))
    scores = np.array(draw(column(n, -3, 3))) / 4
    losses = np.array(draw(column(n, 0, draw(st.sampled_from([1, 1, 3]))))) / 2
    weights = None
    if weighted and draw(st.booleans()):
        weights = np.array(draw(column(n, 0, 3)), dtype=float)
        if not weights.any():
            weights[draw(st.integers(0, n - 1))] = 1.0
    return scores, losses, weights


def exact_groups(scores, losses, weights):
    """Return score, weight and loss of each tie group, the sums as fractions."""
    if weights is None:
        weights = np.ones(len(scores))
    groups = []
    for value in np.unique(scores[weights > 0]):
        rows = np.flatnonzero((scores == value) & (weights > 0))
        weight = sum(Fraction(weights[row]) for row in rows)
        loss = sum(Fraction(weights[row]) * Fraction(losses[row]) for row in rows)
        groups.append((value, weight, loss))
    return groups


def exact_prefixes(groups):
    """Return (weight, loss) of the first 0, 1, ... groups."""
    prefixes = [(Fraction(0), Fraction(0))]
    for _, weight, loss in groups:
        prefixes.append((prefixes[-1][0] + weight, prefixes[-1][1] + loss))
    return prefixes


def entropies(estimator, X):
    """Return the entropy of the class probabilities, an uncertainty in no unit."""
    return entr(estimator.predict_proba(X)).sum(axis=1)
