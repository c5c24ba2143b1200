"""Arcs of directions in the plane of risk and novelty."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

# Directions closer to each other than this, relative to their slopes, cannot be told
# apart: the combined scores are rounded.
RESOLUTION = 1e-12

# So near to a single score, no slope is worth a closer look.
SMALLEST = 1e-200


@dataclass(frozen=True)
class Arc:
    """Directions that order samples as s(c) = fixed - c * turning does.

    Attributes
    ----------
    kind : {"risk", "novelty", "reversed"}
        The score that is fixed, with weight 1, while the other one turns; "reversed" is
        the risk with weight -1.

    low, high : float
        Range of the slope c.
    """

    kind: str
    low: float
    high: float

    def coordinates(self, risk, novelty):
        """Return fixed and turning."""
        if self.kind == "novelty":
            return novelty, risk
        return (risk if self.kind == "risk" else -risk), -novelty

    def weights(self, slope):
        """Return the weights of risk and novelty at a slope."""
        if self.kind != "novelty":
            return (1.0 if self.kind == "risk" else -1.0), slope
        if slope == 0:
            return 0.0, 1.0
        return (1.0 if slope < 0 else -1.0), 1 / abs(slope)

    def slope(self, weights):
        """Return the slope at which the weights are a multiple of these."""
        risk_weight, novelty_weight = weights
        if self.kind == "novelty":
            return -risk_weight / novelty_weight
        return novelty_weight

    @property
    def is_point(self):
        """Whether rounding hides what distinguishes the directions of the arc."""
        size = max(abs(self.low), abs(self.high))
        return self.high - self.low <= max(RESOLUTION * size, SMALLEST)

    def split(self, n_parts):
        """Return parts of equal length."""
        edges = np.linspace(self.low, self.high, n_parts + 1).tolist()
        return [Arc(self.kind, low, high) for low, high in pairwise(edges)]

    def around(self, slope, share):
        """Return the arc whose ends are nearer to a slope."""
        low = slope - share * (slope - self.low)
        return Arc(self.kind, low, slope + share * (self.high - slope))


def all_arcs(ratio):
    """Return arcs of all directions; `ratio` is a typical risk over novelty."""
    return [
        Arc("risk", 0.0, ratio),
        Arc("novelty", -1 / ratio, 1 / ratio),
        Arc("reversed", 0.0, ratio),
    ]


def arc_around(angle, step, ratio):
    """Return the arc of angles in [0, pi] that differ from one by at most a step."""
    step = min(step, np.pi / 8)
    low, high = max(0.0, angle - step), min(np.pi, angle + step)
    if abs(np.cos(angle)) <= np.sin(angle):
        return Arc("novelty", *(float(-1 / (np.tan(a) * ratio)) for a in (low, high)))
    if angle < np.pi / 2:
        return Arc("risk", *(float(np.tan(a) * ratio) for a in (low, high)))
    return Arc("reversed", *(float(np.tan(np.pi - a) * ratio) for a in (high, low)))
