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
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
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

    `excess` of a rule is how far its true value is beyond what was promised. With
    `on_average`, its mean over all draws is at most zero; else a positive one occurs
    with a chance of at most DELTA. Of all draws, at least a share of `found` has a
    rule, and at least one of `used` has an excess.
    """

    draw: Callable
    solve: Callable
    excess: Callable
    on_average: bool = False
    found: float = 0.0
    used: float = 0.0


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


def measure(rule, curve, n_ties=None):
    """Return the true coverage and the mean loss of what is accepted, of all."""
    accepted = rule.accept_proba(rounded(GRID, n_ties))
    return accepted.mean(), accepted @ chances(curve) / len(GRID)


def excess_of(kind, target):
    """Return what is beyond a target, as a function of coverage and accepted loss."""
    return {
        "risk": lambda covered, loss: loss - target * covered,
        "coverage": lambda covered, loss: target - covered,
        "failure_rate": lambda covered, loss: loss - target,
    }[kind]


SOLVERS = {
    "risk": solve_target_risk,
    "coverage": solve_target_coverage,
    "failure_rate": solve_target_failure_rate,
}


def of_scores(
    kind,
    curve,
    n_samples=500,
    n_ties=None,
    *,
    target=TARGET,
    draw_losses=binary,
    certified=True,
    found=0.0,
    used=0.0,
    **options,
):
    """A rule of one score and its target, certified or, for failures, on average."""
    options |= CERTIFIED if certified else {}
    if draw_losses is spread:
        options["max_loss"] = 1

    def solve(sample, seed):
        return SOLVERS[kind](*sample, target, random_state=seed, **options)

    def excess(rule):
        return excess_of(kind, target)(*measure(rule, curve, n_ties))

    draw = partial(
        draw_errors,
        curve=curve,
        n_samples=n_samples,
        n_ties=n_ties,
        draw_losses=draw_losses,
    )
    on_average = kind == "failure_rate" and not certified
    return Law(draw, solve, excess, on_average, found, used)


def of_summary(kind, curve, n_samples, n_ties, n_bits):
    """A certified rule of a table of cells."""
    target = {"risk": 0.1, "coverage": 0.6, "failure_rate": 0.05}[kind]

    def solve(sample, seed):
        summary = RiskCoverageSummary(n_bits).update(*sample)
        return getattr(summary, f"solve_target_{kind}")(target, **CERTIFIED)

    def excess(rule):
        return excess_of(kind, target)(*measure(rule, curve, n_ties))

    draw = partial(draw_errors, curve=curve, n_samples=n_samples, n_ties=n_ties)
    return Law(draw, solve, excess)


def of_groups(kind, curves, shares, target, n_ties=None, **expected):
    """Rules of groups, of which any may break its target."""
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
        return max(
            excess_of(kind, target[group] if isinstance(target, dict) else target)(
                *measure(each, curves[group], n_ties)
            )
            for group, each in rule.rules.items()
            if each.threshold > -np.inf
        )

    return Law(draw, solve, excess, **expected)


def of_parts(
    shares, curves, n_samples, n_ties=None, *, both=False, halves=False, **options
):
    """Bounds on true classes and, of two, predicted ones; an error predicts the other.

    With `halves`, losses are .5 or 1.5 of the same mean.
    """
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
}


def draw_opinions(rng, curve, n_samples, n_ties=None, draw_losses=binary):
    x = rng.random(n_samples)
    losses = [draw_losses(rng, chance(x)) for chance in OPINIONS[curve]]
    return rounded(x, n_ties), *losses


def of_system_risk(
    curve,
    n_samples=500,
    n_ties=None,
    *,
    n_pilot=None,
    misleads=False,
    draw_losses=binary,
    found=0.0,
):
    """A certified system risk, with a pilot of some size or a fifth of the sample."""
    first, second = (chance(GRID) for chance in OPINIONS[curve])
    options = {"max_loss": 1.0} if draw_losses is spread else {}

    def draw(rng):
        sample = draw_opinions(rng, curve, n_samples, n_ties, draw_losses)
        if n_pilot is None:
            return sample, None
        gain, *losses = draw_opinions(rng, curve, n_pilot, n_ties, draw_losses)
        return sample, (1 - gain if misleads else gain, *losses)

    def solve(drawn, seed):
        sample, pilot = drawn
        return solve_deferral(
            *sample,
            target_risk=TARGET,
            pilot=pilot,
            random_state=seed,
            **CERTIFIED,
            **options,
        )

    def excess(rule):
        deferred = rule.defer_proba(rounded(GRID, n_ties))
        return np.mean(first * (1 - deferred) + second * deferred) - TARGET

    return Law(draw, solve, excess, found=found)


def of_budget(n_samples, n_ties=None):
    """A certified share; the second opinion never errs, so that all of it is used."""
    losses = np.ones(n_samples), np.zeros(n_samples)

    def solve(gain, seed):
        return solve_deferral(
            gain, *losses, max_deferral=0.2, random_state=seed, **CERTIFIED
        )

    def excess(rule):
        return rule.defer_proba(rounded(GRID, n_ties)).mean() - 0.2

    return Law(
        lambda rng: rounded(rng.random(n_samples), n_ties), solve, excess, found=1.0
    )


# ID scores are uniform on [0, 1], OOD scores OFFSET above them, which is a tie, too;
# the risk at score s is s / 2.
OFFSET = 0.5
SUM = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=1.0
)


def of_origins(asked, n_id, n_ood, wild_share=None, n_ties=None):
    """TPR, FPR and risk that hold together, OOD samples pure or in a wild mixture."""
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
        return excess_of(kind, target)(accepted.mean(), accepted @ means / len(means))

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
            return excess_of(kind, target)(accepted.mean(), loss)
        of_class = [
            (accepted * (label != k)) @ each / each.sum()
            for k, each in enumerate((1 - ones, ones))
        ]
        return max(of_class) - target

    return Law(draw, solve, excess, on_average=not certified)
