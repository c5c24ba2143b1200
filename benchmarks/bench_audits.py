"""Coverage that is certified on labels of an audit, or in clusters."""

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import is_there, load_set
from benchmarks._report import Row, at_most
from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import RejectionRule, solve_target_risk

TITLE = "coverage certified by audits and by clusters, at confidence .9"

_DELTA, _REPETITIONS = 0.1, 150
_NOTHING = RejectionRule(-np.inf, 0.0)

# Labels that are bought, for one row in four on average.
_LABELS, _CHANCE, _LEAST_CHANCE = (100, 200, 400, 800, 1600), 0.25, 0.05

# Errors of the chance that the score says, .4 u^2 with u uniform on [0, 1].
_MOST_RISK, _TARGET = 0.4, 0.1

# The score of a logistic regression only estimates it. Half of its error is asked for.
_SETS, _SHARE_ASKED, _N_TRAIN = ("avila", "bank_additional", "letter"), 0.5, 1000

_CLUSTERS = (50, 100, 200, 400, 800, 1600)
_SIZES = {"1 row": (1, 1), "1-5 rows": (1, 5), "1-19": (1, 19), "50": (50, 50)}


def run():
    """Return the rows of the table."""
    yield from _audit_rows("simulated", *_simulated())
    for name in _SETS:
        if is_there(name):
            yield from _audit_rows(name, *_real(name))
        else:
            yield Row(f"{name} is not there")
    for sizes, is_common in product(_SIZES, (False, True)):
        yield _cluster_row(sizes, is_common)


# Populations: each returns the target, the scores, the largest coverage that meets the
# target, and a function that draws rows: scores, errors, and what judges a rule.


def _simulated():
    def draw(rng, n_rows):
        scores = _MOST_RISK * rng.random(n_rows) ** 2
        return scores, rng.random(n_rows) < scores, _known

    scores = _MOST_RISK * np.linspace(0, 1, 10**4) ** 2
    return _TARGET, scores, np.sqrt(3 * _TARGET / _MOST_RISK), draw


def _known(rule):
    coverage = np.sqrt(np.clip(rule.threshold / _MOST_RISK, 0, 1))
    return coverage, _MOST_RISK * coverage**2 / 3


def _real(name):
    (X, y), model = load_set(name), LogisticRegression(max_iter=300)
    model = make_pipeline(StandardScaler(), model).fit(X[:_N_TRAIN], y[:_N_TRAIN])
    scores = 1 - model.predict_proba(X[_N_TRAIN:]).max(axis=1)
    errors = model.predict(X[_N_TRAIN:]) != y[_N_TRAIN:]
    target, count = _SHARE_ASKED * errors.mean(), np.arange(1, len(scores) + 1)
    is_met = np.cumsum(errors[np.argsort(scores)]) <= target * count

    def draw(rng, n_rows):
        rows = rng.permutation(len(scores))
        drawn, rest = rows[:n_rows], rows[n_rows:]

        def judge(rule):
            accepted = rule.accept_proba(scores[rest])
            return accepted.mean(), accepted @ errors[rest] / max(accepted.sum(), 1)

        return scores[drawn], errors[drawn], judge

    return target, scores, (is_met * count).max() / len(scores), draw


# Audits: each returns the chance of a label as a function of scores.


def _by_root(scores, target):
    """Favour uncertain rows, as if the error rate were to be estimated."""

    def chances(some, factor):
        return np.clip(factor * np.sqrt(some), _LEAST_CHANCE, 1.0)

    factor = brentq(lambda x: chances(scores, x).mean() - _CHANCE, 0, 1e6)
    return lambda some: chances(some, factor)


def _below(scores, target, above):
    """Favour rows below the threshold if scores are right; of others a share counts."""
    ordered = np.sort(scores)
    means = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    guess = ordered[np.searchsorted(means, target, side="right") - 1]
    rate = _CHANCE / np.where(scores <= guess, 1.0, above).mean()
    return lambda some: np.minimum(rate * np.where(some <= guess, 1.0, above), 1.0)


_AUDITS = {
    "uniform": lambda scores, target: lambda some: np.full(len(some), _CHANCE),
    "root of the score": _by_root,
    "twice below": lambda scores, target: _below(scores, target, 0.5),
    # With room for scores that are wrong about the risk.
    "none far above": lambda scores, target: _below(scores, 1.5 * target, 0.0),
}


def _audit_rows(population, target, scores, possible, draw):
    for name, audit in _AUDITS.items():
        given = target, scores, audit(scores, target), draw
        found = [
            [_audit(*given, n_labels, seed) for n_labels in _LABELS]
            for seed in range(_REPETITIONS)
        ]
        found, what = np.array(found), f"{population}, {name}"
        details = f"of {possible:.3f} with {_say(_LABELS)} labels"
        yield _broken_row(what, found, target, details)
        if name == "uniform":
            changed = f"{what}: rules that rows without a label change"
            yield at_most(changed, 0, int(found[:, :, 2].sum()))


def _audit(target, all_scores, chances, draw, n_labels, seed):
    """Return coverage and risk, and whether rows without a label change the rule."""
    rng, known = np.random.default_rng(seed), chances(all_scores)
    scores, errors, judge = draw(rng, round(n_labels / _CHANCE))
    proba, (lots, draws) = chances(scores), rng.random((2, len(scores)))
    losses, least = np.where(lots < proba, errors, np.nan), known[known > 0].min()

    def solve(rows, **audit):
        return _solve(scores[rows], losses[rows], target, draws=draws[rows], **audit)

    if known.max() > least:
        audit = {"inclusion_proba": proba, "max_weight": 1 / least}
        return *judge(solve(slice(None), **audit)), False
    rule, bare = solve(proba > 0, inclusion_proba=least), solve(lots < proba)
    is_changed = rule.threshold != bare.threshold
    is_changed |= rule.certificate != bare.certificate
    # Rows that cannot have a label are rejected.
    end = np.nextafter(all_scores[known > 0].max(), np.inf)
    return *judge(replace(rule, threshold=min(rule.threshold, end))), is_changed


def _solve(*given, **options):
    options |= {"confidence_level": 1 - _DELTA, "random_state": 0}
    try:
        return solve_target_risk(*given, **options)
    except InfeasibleTargetError:
        return _NOTHING


def _cluster_row(sizes, is_common):
    found = [
        [_certify_clusters(n, *_SIZES[sizes], is_common, seed) for n in _CLUSTERS]
        for seed in range(_REPETITIONS)
    ]
    by_cluster, by_row = np.moveaxis(np.array(found), 2, 0)
    coverages, broken = map(_say, _sum_up(by_row, _TARGET))
    what = f"clusters of {sizes}, {'' if is_common else 'no '}common difficulty"
    details = f"with {_say(_CLUSTERS)}; as rows {coverages}, broken {broken}"
    return _broken_row(what, by_cluster, _TARGET, details)


def _certify_clusters(n_clusters, low, high, is_common, seed):
    """Return coverage and risk by clusters, and by rows as if independent."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(low, high, size=n_clusters, endpoint=True)
    clusters = np.repeat(np.arange(n_clusters), sizes)
    risks = scores = _MOST_RISK * rng.random(len(clusters)) ** 2
    if is_common:  # all errors are in two of five clusters
        risks = scores / _MOST_RISK * (rng.random(n_clusters) < _MOST_RISK)[clusters]
    errors = rng.random(len(scores)) < risks
    given, both = (scores, errors, _TARGET), (clusters, None)
    return [_known(_solve(*given, clusters=each)) for each in both]


def _broken_row(what, found, target, details):
    limit = _DELTA + 3 * np.sqrt(_DELTA * (1 - _DELTA) / len(found))
    coverages, broken = _sum_up(found, target)
    details = f"coverage {_say(coverages)} {details}"
    return at_most(f"{what}: broken", round(limit, 3), max(broken), "", details)


def _sum_up(found, target):
    """Return mean coverages, and how often a risk is over the target, by size."""
    is_over = found[:, :, 1] > target * (1 + 1e-9)
    return found[:, :, 0].mean(axis=0), is_over.mean(axis=0)


def _say(numbers):
    return ", ".join(f"{x:.3f}" if x <= 1 else str(x) for x in numbers)
