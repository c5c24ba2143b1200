"""Average ranks of methods over sets, and the tests of Friedman and Nemenyi.

J. Demsar. Statistical Comparisons of Classifiers over Multiple Data Sets. Journal of
Machine Learning Research 7, 2006.
"""

from collections import namedtuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

LEVEL = 0.10

Ranking = namedtuple("Ranking", "ranks p_value critical_difference n_sets")


def rank_methods(areas):
    """Compare methods by their areas, lower is better.

    Parameters
    ----------
    areas : dict of str to array-like of shape (n_sets,)
        Area of each method on each set; at least three methods and two sets.

    Returns
    -------
    ranking : Ranking
        Average rank of each method, 1 is best; p-value of the Friedman test; least
        difference of average ranks that is significant at the level 0.10.
    """
    table = np.column_stack([*areas.values()])
    n_sets, n_methods = table.shape
    averages = rankdata(table, axis=1).mean(axis=0)
    return Ranking(
        dict(zip(areas, averages.tolist(), strict=True)),
        float(friedmanchisquare(*table.T).pvalue),
        critical_difference(n_methods, n_sets),
        n_sets,
    )


def critical_difference(n_methods, n_sets, level=LEVEL):
    """Return the least significant difference of average ranks (Nemenyi)."""
    quantile = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def indistinct_groups(ranks, difference):
    """Return the largest groups of methods whose ranks differ by less than that."""
    names = sorted(ranks, key=ranks.get)
    runs = [_run_from(names[start:], ranks, difference) for start in range(len(names))]
    # A run that ends where the one before it ends is part of that one.
    ends = [None, *(run[-1] for run in runs[:-1])]
    pairs = zip(runs, ends, strict=True)
    return [run for run, end in pairs if len(run) > 1 and run[-1] != end]


def _run_from(names, ranks, difference):
    return [name for name in names if ranks[name] - ranks[names[0]] < difference]
