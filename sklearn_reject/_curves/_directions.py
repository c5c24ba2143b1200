"""Directions of two scores: how much a risk and a novelty weigh in their sum."""

import math

import numpy as np

from sklearn_reject._curves._prefixes import snap, starts_of_ties

# Beyond it, weighted sums of scores would come near the limits of float64.
_LARGEST_SCORE = 1e100

# Weights in units of risks below it may lose digits.
_LEAST_LIFTED = 1e-250


# Directions of a grid, those of each score alone among them.
_N_DIRECTIONS = 181


# Points at even ranks of either score, whose pairs tell the directions.
_N_EVEN = 100


# Slopes closer to each other than this, relatively, may differ by rounding only.
_APART = 1e-9


# Slopes that leave weighted sums far from the limits of float64.
_STEEPEST = 1e150


# Sums this close to each other, relative to the spread of their terms, and directions,
# relative to their slopes, differ by rounding only.
RESOLUTION = 1e-12


def score_directions(risk, novelty, n_directions=_N_DIRECTIONS):
    """Return weights of risk and novelty, from the risk alone to the novelty alone.

    They are pairs (1, w) with increasing w, and (0, 1). From one to the next about
    equally many of some pairs of points change their order, so that neither units nor
    tails of the scores matter. The points stand at even ranks of both scores, and at
    their ends in steps that grow. No two of them tie, but for those that do in one of
    the scores.
    """
    finite = np.isfinite(novelty)
    risk, novelty = risk[finite], novelty[finite]
    _check_spread(risk, "uncertainty")
    _check_spread(novelty, "novelty")
    slopes = _slopes(*_telling_points(risk, novelty), n_directions - 2)
    return [(1.0, 0.0), *((1.0, slope) for slope in slopes), (0.0, 1.0)]


def _telling_points(risk, novelty):
    """Return risk and novelty, of shape (2, n_points), of distinct points."""
    places = _places(len(risk))
    if len(places) < len(risk):
        # Each in the order of both scores, so that that of the rows does not matter.
        pairs = (risk, novelty), (novelty, risk)
        rows = np.concatenate([_order_of(*pair)[places] for pair in pairs])
        risk, novelty = risk[rows], novelty[rows]
    # What rounding alone tells apart is one.
    return np.unique([snap(score) for score in (risk, novelty)], axis=1)


def _places(n_samples):
    """Return even ranks, and those next to both ends in steps that grow."""
    even = np.linspace(0, n_samples - 1, min(_N_EVEN, n_samples))
    near = 2.0 ** np.arange(0, np.log2(max(1, n_samples)), 0.5)
    places = np.concatenate([even, near - 1, n_samples - near]).astype(np.intp)
    return np.unique(places) if n_samples > 4 * _N_EVEN else np.arange(n_samples)


def _order_of(first, second):
    order = np.argsort(first)
    is_start = starts_of_ties(first[order])
    return order if is_start.all() else np.lexsort((second, first))


def _slopes(risk, novelty, n_slopes):
    """Return up to so many slopes, in the gaps of those at which two points tie."""
    if not len(risk):
        return []
    first, second = np.triu_indices(len(risk), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ties = (risk[second] - risk[first]) / (novelty[first] - novelty[second])
    ties = np.sort(ties[(ties > 1 / _STEEPEST) & (ties < _STEEPEST)])
    if not len(ties):  # both scores have the same order
        ranges = [float(np.ptp(score)) for score in (risk, novelty)]
        return [ranges[0] / ranges[1] if all(ranges) else 1.0]
    ends = np.append(ties[0] / 2, ties), np.append(ties, 2 * ties[-1])
    gaps = np.flatnonzero(ends[1] > ends[0] * (1 + _APART))
    # Of the gaps, by the number of ties below them, those nearest to even steps.
    wanted = np.linspace(0, len(ties), n_slopes)
    chosen = np.searchsorted((gaps[1:] + gaps[:-1]) / 2, wanted)
    chosen = gaps[np.unique(chosen)]
    return np.sqrt(ends[0][chosen] * ends[1][chosen]).tolist()


def lift_risk(risk):
    """Return risks times a power of two, and that: the risks of a very sure classifier.

    They may all be next to zero, 1e-200 or so. Their products would be none then, while
    weights in units of theirs are far from the limits of float64 still.
    """
    spread, least = float(np.ptp(risk)) if len(risk) else 0.0, 1 / _LARGEST_SCORE
    if not _LEAST_LIFTED < spread < least:
        return risk, 1.0
    power = 2.0 ** (math.frexp(least / spread)[1] + 1)
    return risk * power, power


def _check_spread(scores, name):
    """Refuse finite scores that cannot be added up."""
    largest = np.abs(scores).max(initial=0.0)
    spread = np.ptp(scores) if len(scores) else 0.0
    if largest > _LARGEST_SCORE or 0 < spread < 1 / _LARGEST_SCORE:
        raise ValueError(
            f"{name}_scores hold finite values up to {largest:g} in magnitude, which "
            f"differ by at most {spread:g}: near the limits of float64 if added up. "
            "Rescale them, or make an extreme novelty infinite (always rejected)."
        )


def combine(risk, novelty, weights):
    """Return the weighted sum of two scores; infinite novelty stays as it is.

    Rounding keeps the order of finite scores here: what is not lower in both, each
    times its weight, has no lower sum.
    """
    risk_weight, novelty_weight = weights
    with np.errstate(over="ignore", invalid="ignore"):
        combined = novelty_weight * novelty
        combined += risk_weight * risk
    infinite = np.isinf(novelty)
    if infinite.any():
        combined[infinite] = novelty[infinite]
    return combined


def sizes_of_sums(risk, novelty, weights):
    """Return what weighted sums are rounded at: the magnitudes of both terms, added."""
    risk_weight, novelty_weight = weights
    with np.errstate(over="ignore", invalid="ignore"):
        return np.abs(novelty_weight * novelty) + np.abs(risk_weight * risk)
