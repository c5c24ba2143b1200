"""Rules of deferral: a million samples, budgets on real sets, and certified rules."""

from functools import partial

import numpy as np
from scipy.stats import binom

from benchmarks._data import SCORES, make_real_losses, make_sample, sort_and_accumulate
from benchmarks._opinions import (
    Bayes,
    Boosting,
    Few,
    Linear,
    PersonByClass,
    PersonByRegion,
)
from benchmarks._real_sets import is_there, load_set
from benchmarks._report import NOT_INSTALLED, Row, at_least, at_most, ratio_row
from sklearn_reject import InfeasibleTargetError
from sklearn_reject._curves._deferral import deferral_curve
from sklearn_reject.selection import DeferralRule, solve_deferral

TITLE = "deferral: time in multiples of argsort + gather + cumsum; budgets; certified"

_LIMIT = 1.5

_TARGET, _DELTA = 0.1, 0.1
_REPETITIONS = 500
_SIZES = 500, 5000
_X = (np.arange(10**5) + 0.5) / 10**5

# Chances of an error of the first and of the second opinion, at the gain x.
_CURVES = {
    "better everywhere": (lambda x: 0.02 + 0.4 * x**2, lambda x: 0.02 + 0.05 * x),
    "worse on a third": (
        lambda x: 0.02 + 0.45 * x**2,
        lambda x: np.where(x < 1 / 3, 0.25, 0.04),
    ),
    "step": (lambda x: 0.02 + 0.6 * (x > 0.7), lambda x: 0.1 + 0 * x),
    "gain says nothing": (lambda x: 0.16 + 0 * x, lambda x: 0.07 + 0 * x),
}

# Who answers first and who second, fitted on so many rows of a set, so many draws of
# the samples that a budget is solved on, and what is asked of the benefit.
_PAIRS = {
    "linear, boosting": (Linear(), Boosting(), ("codrna", "marketing", "sattelite")),
    "naive Bayes, boosting": (Bayes(), Boosting(), ("letter", "spambase")),
    "few columns, boosting": (Few(), Boosting(), ("bank_additional", "phishing")),
    "boosting, linear": (Boosting(), Linear(), ("codrna", "letter", "pendigit")),
    "linear, knows classes": (Linear(), PersonByClass(), ("pendigit", "sattelite")),
    "linear, knows a region": (Linear(), PersonByRegion(), ("letter", "marketing")),
}
_N_FITTED, _BUDGET, _N_DRAWS = 2000, 0.2, 500
_N_SOLVED = 300, 1000


def run():
    """Return the rows of the table."""
    yield from _time_rows()
    yield from _budget_rows()
    for n_samples in _SIZES:
        for curve in _CURVES:
            yield from _certified_rows(curve, n_samples)


def _time_rows():
    for kind in SCORES:
        sample = make_sample(kind)
        wrong = make_sample(kind, 0.05, seed=2).errors
        yield from _time_rows_of(
            f"{kind} gains, 0/1", sample.scores, sample.errors, wrong
        )
        losses = make_real_losses(sample.scores)
        others = np.random.default_rng(3).exponential(0.3, len(losses))
        yield from _time_rows_of(f"{kind} gains, real", sample.scores, losses, others)


def _time_rows_of(what, gain, first, second):
    reference = partial(sort_and_accumulate, gain, first)
    middle = solve_deferral(gain, first, second, max_deferral=0.3).system_risk
    targets = {"deferral_cost": 0.05, "max_deferral": 0.3, "target_risk": middle}
    for name, target in targets.items():
        ours = partial(solve_deferral, gain, first, second, **{name: target})
        yield ratio_row(f"{name}, {what} losses", _LIMIT, ours, reference)


def _budget_rows():
    """Judge a budget by the benefit on new rows: how far asking lowers the risk.

    The plain budget asks about the share of the highest gains, whatever that does, and
    the least risk is where the curve of the samples is lowest within the budget. The
    rule should have most of what the better one of the two has over the other.
    """
    for pair, (first, second, names) in _PAIRS.items():
        for name in names:
            if not is_there(name):
                yield Row(f"budget on {name}, {pair}", "", NOT_INSTALLED)
                continue
            pool = _ask_both(name, first, second)
            for n_samples in _N_SOLVED:
                yield _budget_row(f"{name}, {pair}, n = {n_samples}", pool, n_samples)


def _ask_both(name, make_first, make_second):
    """Return gains and losses of both opinions on the rows that fitted neither."""
    X, y = load_set(name)
    fitted, new = np.split(np.arange(len(y)), [min(_N_FITTED, len(y) // 3)])
    first = make_first(X.shape[1]).fit(X[fitted], y[fitted])
    if isinstance(make_second, (Linear, Boosting)):
        second = make_second(X.shape[1]).fit(X[fitted], y[fitted]).predict(X[new])
    else:
        second = make_second(X, y, np.random.default_rng(0))[new]
    proba = first.predict_proba(X[new])
    label = first.classes_[proba.argmax(axis=1)]
    losses = (label != y[new]).astype(float), (second != y[new]).astype(float)
    return 1 - proba.max(axis=1), *losses


def _budget_row(what, pool, n_samples):
    """Return a row of the benefits on what a draw leaves."""
    found = np.array([_benefits(pool, n_samples, seed) for seed in range(_N_DRAWS)])
    plain, least, solved = found.mean(axis=0)
    details = (
        f"benefit {1000 * plain:.1f} plain, {1000 * least:.1f} least risk, "
        f"{1000 * solved:.1f} solved, in thousandths; worse than plain in "
        f"{_share_worse(found[:, 1], found[:, 0])} and "
        f"{_share_worse(found[:, 2], found[:, 0])}; solved worse than least risk in "
        f"{_share_worse(found[:, 2], found[:, 1])}; "
        f"alone {pool[1].mean():.3f} and {pool[2].mean():.3f}"
    )
    low, high = sorted((plain, least))
    better = "plain" if plain > least else "least risk"
    what = f"share of what {better} has more, {what}"
    return at_least(what, 0.5, (solved - low) / (high - low), details=details)


def _share_worse(benefits, others):
    return f"{np.mean(benefits < others - 1e-12):.0%}"


def _benefits(pool, n_samples, seed):
    """Return by how much three rules lower the risk on the rows that are left."""
    order = np.random.default_rng(seed).permutation(len(pool[0]))
    sample = [each[order[:n_samples]] for each in pool]
    rates, risks, thresholds = deferral_curve(*sample)
    n_within = np.searchsorted(rates, _BUDGET * (1 + 1e-12), side="right")
    rules = (
        DeferralRule(thresholds[n_within - 1], 1.0),
        DeferralRule(thresholds[np.argmin(risks[:n_within])], 1.0),
        solve_deferral(*sample, max_deferral=_BUDGET, randomize=False),
    )
    gain, first, second = (each[order[n_samples:]] for each in pool)
    return [rule.defer_proba(gain) @ (first - second) / len(gain) for rule in rules]


def _certified_rows(curve, n_samples):
    """Judge the rule that is certified with a pilot of as many samples, and without.

    The best fixed threshold is the one of fewest deferrals that passes a test of its
    own, at the full level, for half of all samples. The margin that a test needs
    separates it from the fewest deferrals that meet the target in the population.
    """
    population, testable = _fewest(curve, _TARGET), _fewest(curve, _critical(n_samples))
    for has_pilot in (True, False):
        rates, risks = _repeat(curve, n_samples, has_pilot)
        how = "pilot" if has_pilot else "a fifth set aside"
        what = f"{curve}, n = {n_samples}, {how}"
        broken = np.count_nonzero(risks > _TARGET) / _REPETITIONS
        limit = _DELTA + 3 * (_DELTA * (1 - _DELTA) / _REPETITIONS) ** 0.5
        yield at_most(f"broken promises, {what}", round(limit, 3), broken)
        if not len(rates):
            continue
        details = (
            f"{rates.mean():.3f} against {testable:.3f}; in the population "
            f"{population:.3f}; none in {_REPETITIONS - len(rates)} of {_REPETITIONS}"
        )
        row = at_most(
            f"mean deferral, {what}", 1.1, rates.mean() / testable, " x", details
        )
        yield row if n_samples == max(_SIZES) else row._replace(asked="", verdict="")


def _critical(n_samples):
    """Return the largest mean loss that passes a test at the full level."""
    count = binom.ppf(_DELTA, n_samples, _TARGET)
    return (count - (binom.cdf(count, n_samples, _TARGET) > _DELTA)) / n_samples


def _fewest(curve, risk):
    """Return the least deferral rate of a rule that meets a risk."""
    first, second = (chance(_X[::-1]) / len(_X) for chance in _CURVES[curve])
    risks = first.sum() + np.append(0.0, np.cumsum(second - first))
    return int(np.argmax(risks <= risk)) / len(_X)


def _repeat(curve, n_samples, has_pilot):
    """Return the true deferral rates and system risks of many certified rules."""
    first, second = (chance(_X) for chance in _CURVES[curve])
    found = []
    for seed in range(_REPETITIONS):
        rng = np.random.default_rng(seed)
        sample = _draw(rng, curve, n_samples)
        try:
            rule = solve_deferral(
                *sample,
                target_risk=_TARGET,
                confidence_level=1 - _DELTA,
                pilot=_draw(rng, curve, n_samples) if has_pilot else None,
                random_state=seed,
            )
        except InfeasibleTargetError:
            continue
        deferred = rule.defer_proba(_X)
        risk = (first * (1 - deferred) + second * deferred).mean()
        found.append((deferred.mean(), risk))
    return np.array(found).reshape(-1, 2).T


def _draw(rng, curve, n_samples):
    x = rng.random(n_samples)
    chances = (chance(x) for chance in _CURVES[curve])
    return x, *((rng.random(n_samples) < each).astype(float) for each in chances)
