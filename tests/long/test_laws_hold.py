"""Promises of rules, judged on the populations that their samples are drawn from."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_reject import InfeasibleTargetError
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import SELE, ErrorProbability, LossRegression
from tests.long import laws
from tests.long.laws import DELTA, OPINIONS, ROWS, spread

N_DRAWS, N_FITS = 2000, 500
TIES = [(None, True), (10, True), (10, False)]
RISKS = ["square", "floor", "u shape", "bump", "flat"]
BOUNDED = ["hoeffding_bentkus", "betting"]


def named(make, *choices, **options):
    """Return laws by what they are made of: all combinations of arguments."""
    return {
        " ".join(map(str, (make.__name__, *args, *options))): (make, args, options)
        for args in product(*choices)
    }


def with_ties(make, *choices, **options):
    return {
        f"{name} {n_ties} {randomize}": (
            make,
            args,
            kept | {"n_ties": n_ties, "randomize": randomize},
        )
        for name, (make, args, kept) in named(make, *choices, **options).items()
        for n_ties, randomize in TIES
    }


GROUPS = {
    "two": (["square", "flat"], [0.8, 0.2], 0.1),
    "floors": (["floor", "floor"], [0.7, 0.3], 0.1),
    "five": (RISKS, [0.4, 0.25, 0.2, 0.1, 0.05], 0.1),
    "own targets": (
        ["square", "bump", "flat"],
        [0.3, 0.3, 0.4],
        {0: 0.05, 1: 0.15, 2: 0.1},
    ),
    "ten": (RISKS * 2, np.arange(1, 11) / 55, 0.1),
    "ten flat": (["flat"] * 10, np.arange(1, 11) / 55, 0.1),
}
# Shares of the classes, the curve of each, and how many samples.
PARTS = {
    "two": ((0.85, 0.15), ("line", "floor"), 1500),
    "both hard": ((0.5, 0.5), ("u shape", "bump"), 1500),
    "few": ((0.7, 0.3), ("bump", "floor"), 200),
    "three": ((0.6, 0.3, 0.1), ("square", "line", "u shape"), 1500),
    "both flat": ((0.5, 0.5), ("flat", "flat"), 1500),
    "ten": ((0.15,) * 5 + (0.05,) * 5, ("square",) * 5 + ("line",) * 5, 6000),
}
SCORES = {
    "conditional_risk": "conditional_risk",
    "few distinct values": LossRegression(DecisionTreeRegressor(max_depth=2), "input"),
    "error probability": ErrorProbability(LogisticRegression(), "input"),
    "sele": SELE(0.01),
}


def group_laws():
    for (name, setting), n_ties in product(GROUPS.items(), (None, 10)):
        found = {} if name == "ten flat" else {"found": 0.1}
        yield (
            f"risk of {name} groups {n_ties}",
            (laws.of_groups, ("risk", *setting), {"n_ties": n_ties} | found),
        )
        curves, shares, _ = setting
        yield (
            f"coverage of {name} groups {n_ties}",
            (laws.of_groups, ("coverage", curves, shares, 0.7), {"n_ties": n_ties}),
        )


def part_laws():
    for (name, case), (n_ties, randomize) in product(PARTS.items(), TIES):
        options = {"n_ties": n_ties, "randomize": randomize}
        yield f"classes {name} {n_ties} {randomize}", (laws.of_parts, case, options)
        if len(case[0]) == 2:
            yield (
                f"precision and recall {name} {n_ties} {randomize}",
                (laws.of_parts, case, options | {"both": True}),
            )
    for name, bound in product(("two", "both hard", "both flat"), BOUNDED):
        yield (
            f"losses of classes {name} {bound}",
            (laws.of_parts, PARTS[name], {"bound": bound, "halves": True}),
        )


LAWS = {
    **with_ties(laws.of_scores, ["risk"], RISKS),
    **{
        f"{name} {bound}": (make, args, options | {"bound": bound})
        for bound in BOUNDED
        for name, (make, args, options) in with_ties(
            laws.of_scores, ["risk"], RISKS, draw_losses=spread
        ).items()
    },
    **named(laws.of_scores, ["risk"], ["flat"], [2000], used=0.4 * DELTA),
    **with_ties(laws.of_scores, ["coverage"], ["square"], [50], target=0.7, found=1),
    **with_ties(laws.of_scores, ["coverage"], ["square"], [20], target=0.95, found=1),
    **named(
        laws.of_scores,
        ["failure_rate"],
        RISKS[:4],
        [80, 200, 1000],
        [None, 10],
        target=0.03,
        found=1,
    ),
    **{
        f"{name} {bound}": (make, args, options | {"bound": bound})
        for bound in BOUNDED
        for name, (make, args, options) in named(
            laws.of_scores,
            ["failure_rate"],
            RISKS[:4],
            [200, 1000],
            target=0.03,
            draw_losses=spread,
            found=1,
        ).items()
    },
    **named(
        laws.of_scores,
        ["failure_rate"],
        RISKS[:4],
        [35, 50, 200, 1000],
        [None, 10],
        target=0.03,
        certified=False,
        found=1,
    ),
    **named(
        laws.of_scores,
        ["failure_rate"],
        RISKS[:4],
        [50, 1000],
        target=0.03,
        certified=False,
        draw_losses=spread,
    ),
    **named(
        laws.of_summary,
        ["risk", "coverage", "failure_rate"],
        ["square", "bump"],
        [100, 1000],
        [None, 40],
        [13, 22],
    ),
    **dict(group_laws()),
    **dict(part_laws()),
    **named(laws.of_system_risk, OPINIONS, [100, 500], [None, 4]),
    **named(laws.of_system_risk, list(OPINIONS)[:4], [5000], found=0.9),
    **named(laws.of_system_risk, OPINIONS, n_pilot=1),
    **named(laws.of_system_risk, OPINIONS, n_pilot=20, misleads=True),
    **named(laws.of_system_risk, OPINIONS, [500], [None, 4], draw_losses=spread),
    **named(laws.of_budget, [30, 500], [None, 4]),
    **{
        f"of_origins {asked} {sizes} {n_ties}": (
            laws.of_origins,
            (asked, *sizes),
            {"n_ties": n_ties},
        )
        for asked in ({"max_fpr": 0.25}, {"max_risk": 0.25})
        for sizes in ((60, 40), (400, 400), (400, 800, 0.6))
        for n_ties in (None, 10)
    },
    **named(laws.of_rows, ["risk", "coverage"], ROWS),
    **named(laws.of_rows, ["risk"], ROWS, bound="betting"),
}
FITS = {
    **{
        f"{kind}, {name}": (
            laws.of_estimator,
            (kind, target),
            {"uncertainty_score": score},
        )
        for kind, target in (("risk", 0.26), ("coverage", 0.7))
        for name, score in SCORES.items()
    },
    "frozen": (laws.of_estimator, ("risk", 0.26), {"frozen": True}),
    "failures": (laws.of_estimator, ("failure_rate", 0.05, 150), {"cv": 0.4}),
    "failures on average": (
        laws.of_estimator,
        ("failure_rate", 0.05, 150),
        {"certified": False},
    ),
    "failures of classes": (
        laws.of_estimator,
        ("failure_rate", 0.1, 150),
        {"by_class": True, "group_by": "class"},
    ),
}


def run(law, n_draws):
    """Return the excess of the rule of each draw that has one."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        for seed in range(n_draws):
            sample = law.draw(np.random.default_rng(seed))
            try:
                found.append(law.excess(law.solve(sample, seed)))
            except InfeasibleTargetError:
                continue
    return np.array(found)


def assert_holds(law, n_draws):
    excess = run(law, n_draws)
    assert len(excess) >= law.found * n_draws
    if law.on_average:
        assert excess.mean() <= 3 * excess.std() / np.sqrt(n_draws)
        return
    share = np.count_nonzero(excess > 1e-9) / n_draws
    assert share <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / n_draws)
    assert share >= law.used


@pytest.mark.parametrize("name", LAWS)
def test_of_solvers(name):
    make, args, options = LAWS[name]
    assert_holds(make(*args, **options), N_DRAWS)


@pytest.mark.parametrize("name", FITS)
def test_of_estimators(name):
    make, args, options = FITS[name]
    assert_holds(make(*args, **options), N_FITS)


@pytest.mark.parametrize("kind", ["risk", "failure_rate"])
def test_what_is_not_certified_is_broken_often(kind):
    law = laws.of_scores(kind, "square", certified=False)
    assert np.mean(run(law, N_FITS) > 0) > 0.3
