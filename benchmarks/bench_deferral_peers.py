"""Records about which an oracle is asked, beside BARGAIN, under the same guarantee.

Both get the scores of a cheap model, and may ask an oracle which of its answers are
wrong. At least nine of ten answers are to be right, at confidence .9. BARGAIN buys
answers while it searches, and decides for the records that it got. Ours buys those of a
random part of them first, and its rule holds for the population.
"""

import math
from typing import NamedTuple

import numpy as np

from benchmarks._report import NOT_INSTALLED, Row, at_most, show_time
from benchmarks._risk_curves import RISK_CURVES, draw_errors
from benchmarks._timing import interleaved_medians
from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import solve_deferral

TITLE = "share of the records asked about: .9 of the answers right, at confidence .9"

_TARGET, _DELTA = 0.1, 0.1
_REPETITIONS = {10**3: 500, 10**4: 200}

# Records whose answers calibrate, a choice that BARGAIN does not ask for.
_CALIBRATION = {10**3: 200, 10**4: 500}

_GRID = (np.arange(10**5) + 0.5) / 10**5


class _Outcome(NamedTuple):
    """Of one run: the share asked about, and the risks that are promised."""

    asked: float
    risk: float
    population_risk: float


def run():
    """Return the rows of the table."""
    bargain = load_bargain()
    for n_samples in _REPETITIONS:
        for curve in RISK_CURVES:
            yield from _compare(curve, n_samples, bargain)
    yield from _time_rows(bargain)


# Contenders: each gets scores, 0/1 errors and a seed, and returns which records were
# asked about and the chance of asking about new ones, if any


def ask_ours(scores, errors, seed):
    """Calibrate on the first records, which are as good as any others."""
    n_calibration = _CALIBRATION[len(scores)]
    known = slice(0, n_calibration)
    try:
        rule = solve_deferral(
            scores[known],
            errors[known],
            np.zeros(n_calibration),
            target_risk=_TARGET,
            confidence_level=1 - _DELTA,
            random_state=seed,
        )
    except InfeasibleTargetError:
        return np.full(len(scores), True), np.ones(len(_GRID))
    asked = rule.defer(scores, random_state=seed)
    asked[known] = True
    return asked, rule.defer_proba(_GRID)


def load_bargain():
    """Return BARGAIN's contender, None where it is not installed."""
    try:
        from BARGAIN import BARGAIN_A, Oracle, Proxy
    except ImportError:
        return None

    class Cheap(Proxy):
        """Answers 0 to every record, which are positions in `scores`."""

        def __init__(self, scores):
            super().__init__(verbose=False)
            self.scores = scores

        def get_preds_and_scores(self, indxs, data_records):
            return np.zeros(len(indxs), dtype=int), 1 - self.scores[data_records]

    class Expensive(Oracle):
        """Answers 1 where 0 is wrong."""

        def __init__(self, errors):
            super().__init__(verbose=False)
            self.errors = errors.astype(int)

        def is_answer_correct(self, data_indxs, data_records, proxy_output_at_indxs):
            return self.errors[data_records] == 0

        def get_pred(self, data_records, indxs=None):
            return self.errors[data_records]

    def contender(scores, errors, seed):
        search = BARGAIN_A(
            Cheap(scores),
            Expensive(errors),
            target=1 - _TARGET,
            delta=_DELTA,
            verbose=False,
            seed=seed,
        )
        records = np.arange(len(scores))
        _, asked = search.process(records, return_oracle_usage=True)
        return np.array(asked), None

    return contender


# Means over samples that both share


def _compare(curve, n_samples, bargain):
    """Yield the shares asked about, and how often what was promised is broken."""
    ours = outcomes(ask_ours, curve, n_samples)
    theirs = None if bargain is None else outcomes(bargain, curve, n_samples)
    what = f"asked about, {curve}, n = {n_samples}"
    if theirs is None:
        yield Row(what, measured=f"{ours.asked.mean():.3g}", details=NOT_INSTALLED)
    else:
        limit = round(float(theirs.asked.mean()), 4)
        details = f"right: {_right(ours)}, BARGAIN {_right(theirs)}"
        yield at_most(what, limit, float(ours.asked.mean()), "", details)
    details = _broken_by("these records", ours.risk)
    if theirs is not None:
        details += ", " + _broken_by("BARGAIN", theirs.risk)
    limit = _DELTA + 3 * math.sqrt(_DELTA * (1 - _DELTA) / _REPETITIONS[n_samples])
    broken = _share_broken(ours.population_risk)
    yield at_most(
        f"broken, {curve}, n = {n_samples}", round(limit, 3), broken, "", details
    )


def outcomes(contender, curve, n_samples):
    """Return the outcomes of all repetitions, as an array for each of the fields."""
    chances = RISK_CURVES[curve](_GRID)
    found = []
    for seed in range(_REPETITIONS[n_samples]):
        scores, errors = draw_errors(curve, n_samples, seed)
        asked, defer_proba = contender(scores, errors, seed)
        of_new = np.nan if defer_proba is None else chances @ (1 - defer_proba)
        risk = float(errors[~asked].sum()) / n_samples
        found.append(_Outcome(asked.mean(), risk, of_new / len(_GRID)))
    return _Outcome(*map(np.array, zip(*found, strict=True)))


def _share_broken(risks):
    return float(np.mean(risks > _TARGET * (1 + 1e-6)))


def _broken_by(name, risks):
    return f"{name} {_share_broken(risks):.3f}"


def _right(outcome):
    return f"{1 - outcome.risk.mean():.3f}"


def _time_rows(bargain):
    sample = *draw_errors("s^2", 10**4, seed=0), 0
    contenders = {"ours": lambda: ask_ours(*sample)}
    if bargain is not None:
        contenders["BARGAIN"] = lambda: bargain(*sample)
    times = interleaved_medians(contenders, 5)
    for name in ("ours", "BARGAIN"):
        measured = show_time(times[name]) if name in times else NOT_INSTALLED
        yield Row(f"time, n = {10**4}, {name}", measured=measured)
