"""The best path of a family with few parameters."""

import numpy as np
from scipy.optimize import minimize

from sklearn_reject.thresholds._families import check_family
from sklearn_reject.thresholds._normalize import normalize_scores
from sklearn_reject.thresholds._only_path import only_path
from sklearn_reject.thresholds._positions import path_of_positions

# Levels of scores that the search tells apart; the path that it ends with is exact.
_MOST_LEVELS = 2048

_N_STARTS = 3
_FIRST_STEP = 1.0
_EVALUATIONS_PER_PARAMETER = 100


def analytic_path(documents, *, family="log_odds"):
    """Find the path with the largest area within a family of smooth paths.

    The analytic approach of RZMR20: phi maps x in [0, 1] to normalised thresholds, and
    Nelder-Mead minimises the energy -log(log(area)). No surface is interpolated: a
    document enters at the x where its scores reach the thresholds, the largest of them
    under the rule "any" and the smallest under "all", and the area is the AUROC of it.

    Scores are normalised by their ranks among documents where both classes weigh the
    same, so that a path depends on nothing but the order of the scores.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    family : {"log_odds", "power"} or object, default="log_odds"
        "power" is (x, x^p_2, .., x^p_N), the family of the paper. In "log_odds" the
        log-odds of each threshold are an affine function of the first one's, which
        follows the best paths more closely. Objects are described at
        :func:`~sklearn_reject.thresholds._families.check_family`.

    Returns
    -------
    path : ThresholdPath
        The best path that the search found, a local optimum, with a vertex wherever
        its curve turns: at most two for each positive, and two more.

    Raises
    ------
    ValueError
        If `family` is unknown, or its thresholds fall or have another shape.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.thresholds._analytic import analytic_path
    >>> from sklearn_reject.thresholds._documents import check_documents
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> analytic_path(check_documents(scores, [1, 1, 0, 0, 0])).area
    6.0
    """
    family = check_family(family)
    if documents.n_classifiers == 1:
        return only_path(documents)
    u = normalize_scores(documents)
    energy = _Energy(documents, u, family)
    parameters = _minimize(energy, family.starts(documents.n_classifiers))
    return path_of_positions(documents, family.enter(u, parameters))


def _minimize(energy, starts):
    """Return the best parameters that the search finds from the best few starts."""
    order = np.argsort([energy(start) for start in starts], kind="stable")
    found = [_climb(energy, starts[k]) for k in order[:_N_STARTS]]
    return min(found, key=lambda result: result.fun).x


def _climb(energy, start):
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
    """The energy of a path as a function of its parameters.

    Positions are evaluated for levels of scores, and only their ranks count: numbers of
    any scale can be compared, and each document costs a look-up a classifier.
    """

    def __init__(self, documents, u, family):
        self.family = family
        levels, self.cells = zip(*map(_find_levels, u.T), strict=True)
        n_levels = max(map(len, levels))
        # Levels that repeat the last one are nobody's.
        padded = [np.pad(v, (0, n_levels - len(v)), mode="edge") for v in levels]
        self.levels = np.column_stack(padded)
        self.reduce = np.maximum if documents.rule == "any" else np.minimum
        self.is_positive = documents.is_positive
        self.weight = documents.weight

    def __call__(self, parameters):
        """Return -log(log(area)), the area scaled to be above one. Lower is better."""
        ranks = self._rank(self.family.enter(self.levels, parameters))
        entered = ranks[0][self.cells[0]]
        for rank, cells in zip(ranks[1:], self.cells[1:], strict=True):
            self.reduce(entered, rank[cells], out=entered)
        return -np.log(np.log1p(1 + self._auroc(entered, int(ranks.max()) + 1)))

    def _rank(self, positions):
        """Return ranks from one on by classifier and level, and 0 for no level."""
        positions = np.maximum.accumulate(positions, axis=0).T
        _, ranks = np.unique(positions, return_inverse=True)
        ranks = ranks.reshape(positions.shape) + 1
        # Level -1 is the last one.
        return np.pad(ranks, ((0, 0), (0, 1)))

    def _auroc(self, entered, n_ranks):
        codes = 2 * entered + self.is_positive
        counts = np.bincount(codes, self.weight, minlength=2 * n_ranks)
        fp, tp = counts[::2].astype(np.float64), counts[1::2].astype(np.float64)
        below = np.cumsum(fp) - fp / 2
        return below @ tp / (fp.sum() * tp.sum())


def _find_levels(u):
    """Return levels of normalised scores, and that of each score, -1 for NaN."""
    known = ~np.isnan(u)
    cells = np.full(len(u), -1, dtype=np.intp)
    levels, cells[known] = np.unique(u[known], return_inverse=True)
    if len(levels) > _MOST_LEVELS:
        levels = (np.arange(_MOST_LEVELS) + 0.5) / _MOST_LEVELS
        cells[known] = (u[known] * _MOST_LEVELS).astype(np.intp)
    return levels, cells
