"""The best path of a family with few parameters."""

import numpy as np
from scipy.optimize import minimize

from sklearn_reject.thresholds._path import (
    ThresholdPath,
    area_under,
    only_path,
    turning_points,
)

# Levels of scores that the search tells apart; the path that it ends with is exact.
_MOST_LEVELS = 2048

_N_STARTS = 3
_FIRST_STEP = 1.0
_EVALUATIONS_PER_PARAMETER = 100

# Exponents beyond e^40 differ from one classifier alone by rounding only.
_LARGEST_LOG = 40.0

# Where one classifier overrules another whatever the scores: starts of the search, so
# that it hardly ends below a single classifier.
ONE_ALONE = 40.0


def start_log_odds(n_classifiers):
    """Return parameters of paths of log-odds, a row for each start of the search."""
    offsets, slopes = np.meshgrid([0, -1.5, 1.5], [0, -1.5, 1.5])
    pairs = np.column_stack([offsets.ravel(), slopes.ravel()])
    alone = [[-ONE_ALONE, 0], [ONE_ALONE, 0]]
    return same_or_one(n_classifiers, np.vstack([pairs, alone]))


def enter_log_odds(u, parameters):
    """Return the position on the path where each normalized score is its threshold."""
    # The log-odds of each threshold are an increasing affine function of the first's.
    # The parameters are offsets from the second classifier on, then logarithms of
    # slopes. It holds the paths that move one classifier only as limits, whichever it
    # is, and the inverse of each of its maps.
    offsets, slopes = np.split(parameters, 2)
    return np.log(u / (1 - u)) * exponentials(slopes) + np.append(0.0, offsets)


def analytic_path(documents, start=start_log_odds, enter=enter_log_odds):
    """Find the path with the largest area within a family of smooth paths (RZMR20).

    By default that of log-odds. It is a local optimum, with a vertex wherever its curve
    turns: at most two for each positive, and two more.
    """
    # phi maps x in [0, 1] to normalized thresholds, and Nelder-Mead minimizes the
    # energy -log(log(area)). No surface is interpolated: a document enters at the x
    # where its scores reach the thresholds, the largest of them under the rule "any"
    # and the smallest under "all", and the area is the AUROC of it. Scores are
    # normalized by ranks, so that a path depends on nothing but the order of the
    # scores.
    if documents.n_classifiers == 1:
        return only_path(documents)
    u = normalize_scores(documents)
    energy = _Energy(documents, u, enter)
    starts = start(documents.n_classifiers)
    order = np.argsort([energy(start) for start in starts], kind="stable")
    found = [_minimize(energy, starts[k]) for k in order[:_N_STARTS]]
    parameters = min(found, key=lambda result: result.fun).x
    return path_of_positions(documents, enter(u, parameters))


def normalize_scores(documents):
    """Return the mid-rank in ]0, 1[ of each score, both classes weighing the same.

    NaN for a score below the lowest threshold, which predicts no document positive.
    """
    # The weights of each class add up to a half: otherwise rare positives would share
    # next to no room on the scale.
    weight = documents.weight
    if weight is None:
        weight = np.ones(len(documents.scores))
    sums = np.bincount(documents.is_positive, weight)
    weight = weight / (2 * sums[documents.is_positive.astype(np.intp)])
    u = np.full(documents.scores.shape, np.nan)
    for ranks, scores, base in zip(
        u.T, documents.scores.T, documents.base, strict=True
    ):
        reached = scores >= base
        if not reached.any():  # a classifier that did not run on a part of documents
            continue
        _, group = np.unique(scores[reached], return_inverse=True)
        sizes = np.bincount(group, weight[reached])
        ends = np.cumsum(sizes)
        middles = (ends - sizes / 2) / ends[-1]
        # Weights may be so small that a rank is rounded to an end.
        eps = np.finfo(np.float64).eps
        ranks[reached] = np.clip(middles, eps, 1 - eps)[group]
    return u


def _minimize(energy, start):
    simplex = start + np.vstack([0 * start, _FIRST_STEP * np.eye(len(start))])
    options = {
        "initial_simplex": simplex,
        "xatol": 1e-3,
        "fatol": 1e-7,
        "maxfev": _EVALUATIONS_PER_PARAMETER * len(start),
        "adaptive": True,
    }
    return minimize(energy, start, method="Nelder-Mead", options=options)


class _Energy:
    """The energy of a path as a function of its parameters."""

    # Positions are evaluated for levels of scores, and only their ranks count: numbers
    # of any scale can be compared, and each document costs a look-up a classifier.

    def __init__(self, documents, u, enter):
        self.enter = enter
        levels, self.level_of = zip(*map(_find_levels, u.T), strict=True)
        n_levels = max(map(len, levels))
        # Levels that repeat the last one are nobody's.
        padded = [np.pad(v, (0, n_levels - len(v)), mode="edge") for v in levels]
        self.levels = np.column_stack(padded)
        self.reduce = np.maximum if documents.rule == "any" else np.minimum
        self.is_positive = documents.is_positive
        self.weight = documents.weight

    def __call__(self, parameters):
        """Return -log(log(area)), the area scaled to be above one. Lower is better."""
        positions = self.enter(self.levels, parameters)
        positions = np.maximum.accumulate(positions, axis=0).T
        # Ranks by classifier and level from one on, and 0 for no level, number -1.
        _, ranks = np.unique(positions, return_inverse=True)
        ranks = np.pad(ranks.reshape(positions.shape) + 1, ((0, 0), (0, 1)))
        entered = ranks[0][self.level_of[0]]
        for rank, level in zip(ranks[1:], self.level_of[1:], strict=True):
            self.reduce(entered, rank[level], out=entered)
        # The area is the AUROC of the ranks at which documents enter.
        codes = 2 * entered + self.is_positive
        counts = np.bincount(codes, self.weight, minlength=2 * (int(ranks.max()) + 1))
        fp, tp = counts[::2].astype(np.float64), counts[1::2].astype(np.float64)
        below = np.cumsum(fp) - fp / 2
        return -np.log(np.log1p(1 + below @ tp / (fp.sum() * tp.sum())))


def _find_levels(u):
    """Return levels of normalized scores, and that of each score, -1 for NaN."""
    known = ~np.isnan(u)
    level_of = np.full(len(u), -1, dtype=np.intp)
    if not known.any():
        return np.array([0.5]), level_of  # one that is nobody's
    levels, level_of[known] = np.unique(u[known], return_inverse=True)
    if len(levels) > _MOST_LEVELS:
        levels = (np.arange(_MOST_LEVELS) + 0.5) / _MOST_LEVELS
        level_of[known] = (u[known] * _MOST_LEVELS).astype(np.intp)
    return levels, level_of


def path_of_positions(documents, positions):
    """Return the path on which each score is reached at a given position.

    Positions are on one scale for all classifiers; NaN for scores below the lowest
    threshold. Vertices are before and after each position of a positive, and both ends.
    """
    tables, entered = [], []
    for scores, column in zip(documents.scores.T, positions.T, strict=True):
        # Scores without position are left out. Rounding alone makes positions fall.
        known = ~np.isnan(column)
        distinct, first = np.unique(scores[known], return_index=True)
        rising = np.maximum.accumulate(column[known][first])
        tables.append((np.append(distinct, np.inf), rising))
        # Index 0 is for scores below all that have a position.
        index = np.searchsorted(distinct, scores, side="right")
        index[np.isnan(scores)] = 0
        entered.append(np.append(-np.inf, rising)[index])
    reduce = np.maximum if documents.rule == "any" else np.minimum
    entered = reduce.reduce(entered)
    turning, fp, tp = turning_points(documents, entered, [entered.min()])
    # The lowest score of each classifier at or above each position.
    columns = [scores[np.searchsorted(rising, turning)] for scores, rising in tables]
    thresholds = np.column_stack(columns)
    # Nothing is lost: the lowest position predicts all documents, as these do.
    thresholds[0] = documents.base
    return ThresholdPath(thresholds, fp, tp, area_under(fp, tp), documents.rule)


def same_or_one(n_classifiers, options):
    """Return starts with the same option for all classifiers, or for one only."""
    n_others = n_classifiers - 1
    same = np.repeat(options, n_others, axis=1)
    if n_others == 1:
        return same
    alone = options[1:, :, np.newaxis] * np.eye(n_others)[:, np.newaxis, np.newaxis]
    return np.vstack([same, alone.reshape(-1, same.shape[1])])


def exponentials(parameters):
    """Return a factor for each classifier, one for the first."""
    clipped = np.clip(parameters, -_LARGEST_LOG, _LARGEST_LOG)
    return np.exp(np.append(0.0, clipped))
