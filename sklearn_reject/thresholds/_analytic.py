"""The only path of one classifier, and the best of a family of smooth ones."""

import numpy as np
from scipy.optimize import minimize

from sklearn_reject.thresholds._documents import count_from
from sklearn_reject.thresholds._graph import rank_scores
from sklearn_reject.thresholds._point import path_of

# Levels of scores that the search tells apart; the path that it ends with is exact.
_MOST_LEVELS = 2048

# Logarithms of the exponents that it starts from; beyond 40 a classifier is overruled
# whatever its score, up to rounding.
_STARTS = np.array([0.0, -1, 1, -3, 3, -40, 40])
_N_STARTS = 3


def only_path(documents):
    """Return the only path of one classifier, with a vertex where its curve turns."""
    turning, fp, tp = _turning_points(documents, documents.scores[:, 0], documents.base)
    return path_of(turning[:, np.newaxis], fp, tp, documents.rule)


def _turning_points(documents, scores, others):
    """Return thresholds where the curve of one score turns, and the counts from there.

    Before and after each positive, at infinity, and `others`.
    """
    ordered = np.append(np.sort(scores), np.inf)
    own = np.unique(scores[documents.is_positive])
    above = ordered[np.searchsorted(ordered, own, side="right")]
    thresholds = np.unique(np.concatenate([others, own, above, [np.inf]]))
    [ranks] = rank_scores(scores[:, np.newaxis], [thresholds])
    fp, tp = (
        count_from(ranks[rows], weight, len(thresholds))
        for rows, weight in documents.classes
    )
    return thresholds, fp, tp


# The analytic path


def analytic_path(documents):
    """Find the path (x, x^p_2, .., x^p_N) with the largest area (RZMR20, eq. 2).

    It is a local optimum, with a vertex wherever its curve turns: at most two for each
    positive, and two more.
    """
    # The path maps x in [0, 1] to normalized thresholds, and Nelder-Mead minimizes the
    # energy -log(log(area)). No surface is interpolated: a document enters at the x
    # where its scores reach the thresholds, the largest of them under the rule "any"
    # and the smallest under "all", and the area is the AUROC of it. Scores are
    # normalized by ranks, so that a path depends on nothing but their order.
    u = _normalize_scores(documents)
    energy, n_others = _make_energy(documents, u), len(documents.base) - 1
    starts = np.multiply.outer(_STARTS, np.eye(n_others)).reshape(-1, n_others)
    order = np.argsort([energy(start) for start in starts], kind="stable")
    found = []
    for start in starts[order[:_N_STARTS]]:
        simplex = start + np.vstack([0 * start, np.eye(n_others)])
        options = {"initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-7}
        found.append(minimize(energy, start, method="Nelder-Mead", options=options))
    parameters = min(found, key=lambda result: result.fun).x
    return _path_of_positions(documents, _enter(np.log(u), parameters))


def _enter(log_u, parameters):
    """Return log x where each normalized score equals its threshold.

    The parameters are the logarithms of the exponents from the second classifier on.
    """
    return log_u / np.exp(np.append(0.0, np.clip(parameters, -40, 40)))


def _normalize_scores(documents):
    """Return the mid-rank in (0, 1) of each score, both classes weighing the same.

    NaN for a score below the lowest threshold, which predicts no document positive.
    """
    # The weights of each class add up to a half: otherwise rare positives would share
    # next to no room on the scale.
    mass = np.empty(len(documents.scores))
    for rows, weight in documents.classes:
        mass[rows] = 0.5 / rows.sum() if weight is None else weight / weight.sum() / 2
    u = np.full(documents.scores.shape, np.nan)
    columns = zip(u.T, documents.scores.T, documents.base, strict=True)
    for ranks, scores, base in columns:
        reached = scores >= base
        _, group = np.unique(scores[reached], return_inverse=True)
        ends = np.cumsum(np.bincount(group, mass[reached]))
        middles = (np.append(0.0, ends[:-1]) + ends) / 2 / ends[-1:]
        # Weights may be so small that a rank is rounded to an end.
        eps = np.finfo(np.float64).eps
        ranks[reached] = np.clip(middles, eps, 1 - eps)[group]
    return u


def _make_energy(documents, u):
    """Return the energy as a function of parameters, lower is better."""
    # Positions are evaluated for levels of scores, and only their ranks count: numbers
    # of any scale can be compared, and each document costs a look-up a classifier.
    n_levels = min(_MOST_LEVELS, 8 * len(u))
    log_levels = np.log((np.arange(n_levels) + 0.5) / n_levels)[:, np.newaxis]
    # The last rank, 0, is that of scores without a level.
    levels = np.where(np.isnan(u), n_levels, u * n_levels).astype(np.intp)
    reduce = (np.maximum if documents.rule == "any" else np.minimum).reduce

    def energy(parameters):
        positions = _enter(log_levels, parameters)
        ranks = np.unique(positions, return_inverse=True)[1].reshape(positions.shape)
        ranks = np.vstack([ranks + 1, np.zeros_like(ranks[:1])])
        entered = reduce(np.take_along_axis(ranks, levels, axis=0), axis=1)
        # The area is the AUROC of the ranks at which documents enter.
        fp, tp = (
            np.bincount(entered[rows], weight, ranks.max() + 1)
            for rows, weight in documents.classes
        )
        below = np.cumsum(fp) - fp / 2
        return -np.log(np.log1p(1 + below @ tp / (fp.sum() * tp.sum())))

    return energy


def _path_of_positions(documents, positions):
    """Return the path on which each score is reached at a given position.

    NaN for scores below the lowest threshold. Vertices are before and after each
    position of a positive, and both ends.
    """
    reduce = np.fmax if documents.rule == "any" else np.minimum
    entered = reduce.reduce(positions, axis=1)
    turning, fp, tp = _turning_points(documents, entered, [entered.min()])
    columns = []
    for scores, column in zip(documents.scores.T, positions.T, strict=True):
        # The lowest score of the classifier at or above each position.
        known = ~np.isnan(column)
        order = np.argsort(column[known], kind="stable")
        lowest = np.minimum.accumulate(scores[known][order][::-1])[::-1]
        lowest = np.append(lowest, np.inf)
        columns.append(lowest[np.searchsorted(column[known][order], turning)])
    # Nothing is lost: the lowest position predicts all documents, as these do.
    thresholds = np.column_stack(columns)
    thresholds[0] = documents.base
    return path_of(thresholds, fp, tp, documents.rule)
