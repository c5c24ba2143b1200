"""Which rules of deferral to test, and in which order, chosen on a pilot sample.

Nothing here sees the calibration set, so that a pilot that misleads costs power but
never the guarantee.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject.exceptions import gather_warnings
from sklearn_reject.selection._gain_groups import group_by_gain

# Share of the samples that is set aside where no pilot is given.
_PILOT_SHARE = 0.2

# Deferral rates that are tested whatever the pilot says, and the share of the chance of
# an error that each may use if those tested before have failed.
_RESCUES = (1.0, 0.75, 0.5, 0.25)
_RESCUE_WEIGHT = 0.03

# Of the rest, what goes to the least risk of the pilot where the fewest deferrals of
# the pilot are in another dip of the risk.
_BEST_SHARE = 0.6

_COARSE = np.arange(100, -1, -1) / 100

# Tests near where the pilot meets the target, where a bound says no other number. Half
# as many lose .0005 of the deferral rate.
_N_FINE = 300

# How far off the target, in standard errors, the risk of the pilot is tested finely.
_WIDTH = 4.0


@dataclass(frozen=True, eq=False)
class Plan:
    """Rates of deferral on the pilot from high to low, and where to start.

    Each start brings a weight: its share of the chance of an error.
    """

    rates: np.ndarray
    starts: np.ndarray
    weights: np.ndarray


class Pilot:
    """A sample that is independent of the one that certifies."""

    def __init__(self, gain, loss_first, loss_second, randomize):
        self.randomize = randomize
        # That it was not drawn at random may cost power, and is no concern.
        with gather_warnings():
            self.groups = group_by_gain(gain, loss_first, loss_second)

    def risks(self, rates):
        """Return the system risk on the pilot at some deferral rates."""
        return np.interp(rates, self.groups.rates, self.groups.risks)

    @cached_property
    def best(self):
        """Deferral rate of the least risk, one of the coarse ones."""
        # The last one is that of the fewest deferrals.
        risks = self.risks(_COARSE)
        return _COARSE[np.flatnonzero(risks <= risks.min() + self.groups.slack)[-1]]

    def plan(self, risk, max_loss, n_tested, bound):
        """Return what to test for a system risk, on so many samples."""
        dip = self._dip(risk, self._error(risk, max_loss, self.groups.n_asked))
        low = self._edge(risk + _WIDTH * self._error(risk, max_loss, n_tested), dip)
        n_fine = _N_FINE
        if bound.most_tests is not None:
            n_fine = bound.most_tests - len(_COARSE)
        fine = np.linspace(dip, low, n_fine)
        rates = np.unique(np.concatenate((_COARSE, fine)))[::-1]
        return Plan(rates, *self._starts(rates, dip))

    def _error(self, risk, max_loss, n_tested):
        """Return the standard error of pilot and tested risk at most, near a target."""
        variance = risk * (max(max_loss, risk) - risk)
        return (variance * (1 / self.groups.n_asked + 1 / n_tested)) ** 0.5

    def _dip(self, risk, error):
        """Return the rate of least risk around the fewest deferrals within a risk."""
        risks = self.risks(_COARSE)
        # Half-way to the least risk is no chance crossing of the target.
        deep = np.flatnonzero(risks <= (risk + risks.min()) / 2)
        if risks.min() > risk or not len(deep):
            return self.best
        over = np.flatnonzero(risks[: deep[-1]] > risk + error)
        first = int(over[-1]) + 1 if len(over) else 0
        inside = risks[first : deep[-1] + 1]
        lowest = np.flatnonzero(inside <= inside.min() + self.groups.slack)[-1]
        return _COARSE[first + lowest]

    def _edge(self, risk, dip):
        """Return the rate below a dip at which the risk is above a bound, or 0."""
        rates = _COARSE[dip >= _COARSE]
        beyond = self.risks(rates) > risk
        return rates[int(np.argmax(beyond))] if beyond.any() else 0.0

    def _starts(self, rates, dip):
        """Return positions among falling rates, and their shares of the error."""
        weights = dict.fromkeys(_RESCUES, _RESCUE_WEIGHT)
        rest = 1 - sum(weights.values())
        for rate, weight in ((self.best, _BEST_SHARE), (dip, 1 - _BEST_SHARE)):
            weights[rate] = weights.get(rate, 0.0) + rest * weight
        wanted = np.array(sorted(weights, reverse=True))
        starts = np.searchsorted(-rates, -wanted)
        return starts, np.array([weights[rate] for rate in wanted])

    def cut(self, rate):
        """Return threshold and probability that defer a share of the pilot."""
        groups, gains = self.groups, -self.groups.ties.scores
        if rate >= 1:
            return -np.inf, 1.0
        index = int(np.searchsorted(groups.rates, rate, side="right")) - 1
        step = groups.rates[index + 1] - groups.rates[index]
        share = float((rate - groups.rates[index]) / step)
        if share == 0:
            return (float(gains[index - 1]), 1.0) if index else (np.inf, 0.0)
        if groups.ties.weights[index] == 1 and index:
            # Where gains do not tie, a threshold between two is what defers in between.
            above, below = gains[index - 1], gains[index]
            return float(above * (1 - share) + below * share), 1.0
        return float(gains[index]), share if self.randomize else float(share >= 0.5)


def split_pilot(n_samples, random_state):
    """Return which samples are set aside as a pilot, and which ones certify."""
    order = random_state.permutation(n_samples)
    n_pilot = max(1, round(_PILOT_SHARE * n_samples))
    return np.sort(order[:n_pilot]), np.sort(order[n_pilot:])


def read_pilot(pilot, randomize):
    """Return the pilot that was given as three arrays."""
    if not isinstance(pilot, (tuple, list)) or len(pilot) != 3:
        raise ValueError(
            "pilot must be a tuple of three arrays, gain, loss_first and loss_second, "
            f"got {type(pilot).__name__}. Pass the arrays of other samples, or None to "
            "set a fifth of these samples aside."
        )
    try:
        return Pilot(*pilot, randomize)
    except ValueError as error:
        raise ValueError(f"pilot: {error}") from error
