"""Populations that are known, samples drawn from them, and what rules do to them.

A law says how a sample is drawn, how a rule is solved on it, and by how much the rule
breaks its promise in the population. Scores are a uniform x, or x rounded down, and
chances of errors are functions of x, so that a population is a fine grid of x.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_reject import SelectiveClassifier
from sklearn_reject.selection import (
    DoubleScoreRule,
    RiskCoverageSummary,
    certify_double_score,
    keyed_draws,
    solve_deferral,
    solve_reject_cost,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
    tune_double_score,
    tune_single_score,
)

DELTA, TARGET = 0.1, 0.1
GRID = (np.arange(20_000) + 0.5) / 20_000
CERTIFIED = {"confidence_level": 1 - DELTA}

# Chances of an error at x.
CURVES = {
    "square": lambda x: x**2,
    "line": lambda x: 0.15 * x,
    "floor": lambda x: 0.03 + 0.97 * x**2,
    "u shape": lambda x: 0.3 * (2 * x - 0.8) ** 2,
    "bump": lambda x: 0.02 + 0.35 * np.exp(-(((x - 0.25) / 0.06) ** 2)) + 0.3 * x**6,
    # Every threshold breaks the target, but hardly.
    "flat": lambda x: 0.1001 + 0 * x,
}


@dataclass(frozen=True)
class Law:
    """A promise about the rules that are solved on samples.

    `excess` of a rule is how far its true value is beyond what was promised: a positive
    one occurs with a chance of at most DELTA. Or its mean over all draws is within
    `average`. Of all draws, at least a share of `found` has a rule, and at least one of
    `used` has an excess.
    """

    draw: Callable
    solve: Callable
    excess: Callable
    average: tuple | None = None
    found: float = 0.0
    used: float = 0.0


NEVER_POSITIVE = (-np.inf, 0.0)


def binary(rng, means):
    return (rng.random(np.shape(means)) < means).astype(float)


def spread(rng, means):
    return rng.beta(4 * means + 1e-9, 4 * (1 - means) + 1e-9)


def rounded(x, n_ties):
    return x if n_ties is None else np.floor(n_ties * x) / n_ties


@cache
def chances(curve):
    return CURVES[curve](GRID)


def draw_errors(rng, curve, n_samples, n_ties=None, draw_losses=binary):
    x = rng.random(n_samples)
    return rounded(x, n_ties), draw_losses(rng, CURVES[curve](x))


def excess_of(kind, target, covered, loss):
    """Return what is beyond a target, of true coverage and mean loss of accepted."""
    if kind == "cost":
        accepted = CURVES["square"](GRID) < target
        best = np.where(accepted, CURVES["square"](GRID), target).mean()
        return loss + target * (1 - covered) - best
    return {
        "risk": loss - target * covered,
        "coverage": target - covered,
        "failure_rate": loss - target,
    }[kind]


def excess_on_curve(kind, target, curve, n_ties, rule):
    accepted = rule.accept_proba(rounded(GRID, n_ties))
    loss = accepted @ chances(curve) / len(GRID)
    return excess_of(kind, target, accepted.mean(), loss)


SOLVERS = {
    "cost": solve_reject_cost,
    "risk": solve_target_risk,
    "coverage": solve_target_coverage,
    "failure_rate": solve_target_failure_rate,
}


def of_scores(
    kind,
    curve="square",
    n_samples=500,
    ties=(None, True),
    *,
    target=TARGET,
    draw_losses=binary,
    n_bits=None,
    average=None,
    found=0.0,
    used=0.0,
    **options,
):
    """A rule of one score, or of a table of cells, and its target.

    Rules without an average are certified. Ties are their number, none if it is None,
    and whether they are split.
    """
    n_ties, randomize = ties
    options |= {} if randomize else {"randomize": False}
    options |= {} if average else CERTIFIED
    if draw_losses is spread:
        options["max_loss"] = 1

    def solve(sample, seed):
        if n_bits is not None:
            summary = RiskCoverageSummary(n_bits).update(*sample)
            return getattr(summary, f"solve_target_{kind}")(target, **options)
        if kind == "cost":
            return solve_reject_cost(*sample, target)
        return SOLVERS[kind](*sample, target, random_state=seed, **options)

    draw = partial(
        draw_errors,
        curve=curve,
        n_samples=n_samples,
        n_ties=n_ties,
        draw_losses=draw_losses,
    )
    excess = partial(excess_on_curve, kind, target, curve, n_ties)
    return Law(draw, solve, excess, average, found, used)


def of_groups(kind, groups, n_ties=None, **expected):
    """Rules of groups, of which any may break its target."""
    curves, shares, target = groups
    n_samples = (250 if kind == "risk" else 60) * len(curves)

    def draw(rng):
        groups, x = rng.choice(len(curves), n_samples, p=shares), rng.random(n_samples)
        means = np.choose(groups, [CURVES[curve](x) for curve in curves])
        return rounded(x, n_ties), binary(rng, means), groups

    def solve(sample, seed):
        *sample, groups = sample
        options = {"groups": groups, "all_groups": range(len(curves))}
        return SOLVERS[kind](*sample, target, random_state=seed, **options, **CERTIFIED)

    def excess(rule):
        targets = (
            target if isinstance(target, dict) else dict.fromkeys(rule.rules, target)
        )
        return max(
            excess_on_curve(kind, targets[group], curves[group], n_ties, each)
            for group, each in rule.rules.items()
            if each.threshold > -np.inf
        )

    return Law(draw, solve, excess, **expected)


def of_parts(case, ties=(None, True), *, both=False, halves=False, **options):
    """Bounds on true classes and, of two, predicted ones; an error predicts the other.

    With `halves`, losses are .5 or 1.5 of the same mean.
    """
    (shares, curves, n_samples), (n_ties, options["randomize"]) = case, ties
    risks = [
        share * chances(curve) for share, curve in zip(shares, curves, strict=True)
    ]
    masses = {("class", k): share + 0 * GRID for k, share in enumerate(shares)}
    errors = {("class", k): risk for k, risk in enumerate(risks)}
    if both:
        for k in (0, 1):
            masses["prediction", k] = shares[k] - risks[k] + risks[1 - k]
            errors["prediction", k] = risks[1 - k]
    if halves:
        options["max_loss"] = 1.5

    def draw(rng):
        x, y = rng.random(n_samples), rng.choice(len(shares), n_samples, p=shares)
        wrong = binary(rng, np.choose(y, [CURVES[curve](x) for curve in curves]))
        losses = wrong * rng.choice([0.5, 1.5], n_samples) if halves else wrong
        labels = {"class": y, "prediction": np.where(wrong, 1 - y, y)}
        return rounded(x, n_ties), losses, labels

    def solve(sample, seed):
        scores, losses, labels = sample
        targets = dict.fromkeys(range(len(shares)), TARGET)
        bounds = {kind: (labels[kind], targets) for kind in {k for k, _ in masses}}
        return solve_risk_bounds(
            scores, losses, bounds, random_state=seed, **CERTIFIED, **options
        )

    def excess(rule):
        accepted = rule.accept_proba(rounded(GRID, n_ties)) / len(GRID)
        return max(
            accepted @ errors[part] - TARGET * (accepted @ masses[part])
            for part in masses
        )

    return Law(draw, solve, excess)


# Chances of an error of the first and of the second opinion at x.
OPINIONS = {
    "better everywhere": (lambda x: 0.02 + 0.4 * x**2, lambda x: 0.01 + 0.01 * x),
    "worse on a third": (
        lambda x: 0.02 + 0.45 * x**2,
        lambda x: np.where(x < 1 / 3, 0.25, 0.04),
    ),
    "gain says nothing": (lambda x: 0.16 + 0 * x, lambda x: 0.07 + 0 * x),
    # Within the target from .05 to .20 and again from .98 on, above it in between.
    "two dips": (
        lambda x: 0.05 + 0.4 * (x > 0.9) + 0.3 * (x < 0.1),
        lambda x: 0.02 + 0.25 * ((x > 0.6) & (x < 0.9)),
    ),
    # Every rule breaks the target, but hardly.
    "flat": (lambda x: 0.1005 + 0 * x, lambda x: 0.1005 + 0 * x),
    "always right": (lambda x: 1 + 0 * x, lambda x: 0 * x),
}


def draw_opinions(rng, curve, n_samples, n_ties=None, draw_losses=binary):
    x = rng.random(n_samples)
    losses = [draw_losses(rng, chance(x)) for chance in OPINIONS[curve]]
    return rounded(x, n_ties), *losses


def of_deferral(
    curve,
    n_samples=500,
    n_ties=None,
    *,
    max_deferral=None,
    n_pilot=None,
    misleads=False,
    draw_losses=binary,
    found=0.0,
):
    """A certified system risk, with a pilot or a fifth of the sample, or a budget."""
    first, second = (chance(GRID) for chance in OPINIONS[curve])
    options = {"max_loss": 1.0} if draw_losses is spread else {}
    if max_deferral is None:
        options["target_risk"] = TARGET
    else:
        options["max_deferral"] = max_deferral

    def draw(rng):
        sample = draw_opinions(rng, curve, n_samples, n_ties, draw_losses)
        if n_pilot is None:
            return sample, None
        gain, *losses = draw_opinions(rng, curve, n_pilot, n_ties, draw_losses)
        return sample, (1 - gain if misleads else gain, *losses)

    def solve(drawn, seed):
        sample, pilot = drawn
        return solve_deferral(
            *sample, pilot=pilot, random_state=seed, **CERTIFIED, **options
        )

    def excess(rule):
        deferred = rule.defer_proba(rounded(GRID, n_ties))
        if max_deferral is not None:
            return deferred.mean() - max_deferral
        return np.mean(first * (1 - deferred) + second * deferred) - TARGET

    return Law(draw, solve, excess, found=found)


# ID scores are uniform on [0, 1], OOD scores OFFSET above them, which is a tie, too;
# the risk at score s is s / 2.
OFFSET = 0.5
SUM = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=1.0
)


def of_origins(asked, sizes, n_ties=None):
    """TPR, FPR and risk that hold together, OOD samples pure or in a wild mixture."""
    n_id, n_ood, wild_share = sizes
    bounds = {"min_tpr": 0.6, "wild_share": wild_share} | asked

    def draw(rng):
        is_ood = np.arange(n_id + n_ood) >= n_id
        novel = is_ood & (rng.random(len(is_ood)) < (wild_share or 1))
        scores = rounded(rng.random(len(is_ood)) + OFFSET * novel, n_ties)
        return scores, 0 * scores, rng.random(len(scores)) < scores / 2, is_ood

    def solve(sample, seed):
        return certify_double_score(
            SUM, *sample, random_state=seed, **bounds, **CERTIFIED
        )

    def excess(rule):
        s = rounded(GRID, n_ties)
        of_id, of_ood = (rule.accept_proba(x, 0 * x) for x in (s, s + OFFSET))
        told, covered = rule.certificate, of_id.mean()
        return max(
            told.min_tpr - covered,
            of_ood.mean() - told.max_fpr,
            np.mean(of_id * s / 2) - told.max_risk * covered,
        )

    return Law(draw, solve, excess, found=0.05)


def draw_origins(rng, n_samples):
    is_ood = rng.random(n_samples) < 0.25
    risk = rng.beta(1, 3, n_samples)
    losses = (rng.random(n_samples) < risk) * 1.0
    return risk, rng.normal(size=n_samples) + 1.5 * is_ood, losses, is_ood


@cache
def many_origins():
    return draw_origins(np.random.default_rng(1), 200_000)


def of_tuned(kind, asked, n_samples, *, single=False, rate=0.0):
    """TPR, FPR or precision of tuned rules: those of the sample but for optimism.

    This shrinks with the root of the number of samples. A single score may exceed them.
    """
    slack = rate / np.sqrt(n_samples)

    def solve(sample, seed):
        if single:
            return tune_single_score(*sample[1:], **asked)
        return tune_double_score(*sample, **asked)

    def excess(rule):
        measured = rule.measure(*many_origins()[single:])
        least = f"min_{kind}"
        if least in asked:
            return asked[least] - getattr(measured, kind)
        return getattr(measured, kind) - asked[f"max_{kind}"]

    draw = partial(draw_origins, n_samples=n_samples)
    return Law(draw, solve, excess, (-np.inf if single else -slack, slack))


# Score and chance of an error of rows that repeat, each with a key and so a draw of its
# own. Most rows tie with others, and the risk passes the target amid a tie group.
ROWS = {
    "one group": ([1] * 6, [0, 0, 0.1, 0.2, 0.5, 0.9]),
    "groups": ([1, 1, 1, 2, 2, 2, 2, 3], [0, 0.1, 0, 0.1, 0.2, 0.3, 0.5, 0.9]),
    "not monotone": ([1, 1, 2, 2, 2, 3, 3], [0.2, 0.1, 0, 0, 0, 0.02, 0.4]),
    "flat": ([1, 1, 1, 2, 2, 2], [0.1001] * 6),
}


def of_rows(kind, name, **options):
    """A certified rule of few rows, whose draws are those of their keys."""
    scores, means = (np.array(column, float) for column in ROWS[name])
    target = 0.1 if kind == "risk" else 0.7

    def draw(rng):
        draws = keyed_draws(rng.integers(2**63), np.arange(len(scores)))
        rows = rng.integers(0, len(scores), 400)
        return rows, binary(rng, means[rows]), draws

    def solve(sample, seed):
        rows, losses, draws = sample
        rule = SOLVERS[kind](
            scores[rows],
            losses,
            target,
            draws=draws[rows],
            random_state=seed,
            **CERTIFIED,
            **options,
        )
        return rule.accept(scores, draws=draws)

    def excess(accepted):
        loss = accepted @ means / len(means)
        return excess_of(kind, target, accepted.mean(), loss)

    return Law(draw, solve, excess)


# Labels are 1 with a chance that rises and falls in x, which no linear model knows.
PLACES = GRID[::5, np.newaxis]


def label_chance(X):
    return np.clip(X[:, 0] + 0.25 * np.sin(12 * X[:, 0]), 0.02, 0.98)


def draw_labels(rng, n_samples):
    X = rng.random((n_samples, 1))
    return X, (rng.random(n_samples) < label_chance(X)).astype(int)


def of_estimator(
    kind,
    target,
    n_samples=2000,
    *,
    frozen=False,
    by_class=False,
    certified=True,
    cv=0.5,
    **options,
):
    """A whole fit, judged on the population; of each class with `by_class`."""
    options |= CERTIFIED if certified else {}

    def draw(rng):
        first = draw_labels(rng, 100) if frozen else None
        return first, draw_labels(rng, n_samples)

    def solve(drawn, seed):
        first, sample = drawn
        model = LogisticRegression()
        if frozen:
            model = FrozenEstimator(model.fit(*first))
        selective = SelectiveClassifier(
            model,
            cv=None if frozen else cv,
            random_state=seed,
            **{f"target_{kind}": target},
            **options,
        )
        return selective.fit(*sample)

    def excess(selective):
        accepted, label = (
            selective.accept_proba(PLACES),
            selective.predict_label(PLACES),
        )
        ones = label_chance(PLACES)
        chance = np.where(label == 1, 1 - ones, ones)
        if not by_class:
            loss = accepted @ chance / len(PLACES)
            return excess_of(kind, target, accepted.mean(), loss)
        of_class = [
            (accepted * (label != k)) @ each / each.sum()
            for k, each in enumerate((1 - ones, ones))
        ]
        return max(of_class) - target

    return Law(draw, solve, excess, None if certified else NEVER_POSITIVE)
