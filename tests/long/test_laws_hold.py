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
from tests.long.laws import (
    DELTA,
    NEVER_POSITIVE,
    ROWS,
    of_deferral,
    of_estimator,
    of_groups,
    of_origins,
    of_parts,
    of_rows,
    of_scores,
    of_tuned,
    spread,
)

N_DRAWS, N_FITS, N_TUNED = 2000, 500, 60
SYSTEMS = list(laws.OPINIONS)[:-1]
WHOLE = (None, True)
TIES = [WHOLE, (10, True), (10, False)]
RISKS = ["square", "floor", "u shape", "bump", "flat"]
BOUNDED = ["hoeffding_bentkus", "betting"]

# Curves and shares of groups, and their largest risks.
SOME_GROUPS = [
    (["square", "flat"], [0.8, 0.2], 0.1),
    (["floor", "floor"], [0.7, 0.3], 0.1),
    (RISKS, [0.4, 0.25, 0.2, 0.1, 0.05], 0.1),
    (["square", "bump", "flat"], [0.3, 0.3, 0.4], {0: 0.05, 1: 0.15, 2: 0.1}),
    (RISKS * 2, np.arange(1, 11) / 55, 0.1),
]
NO_GROUP = [(["flat"] * 10, np.arange(1, 11) / 55, 0.1)]
ALL_GROUPS = [(*group[:2], 0.7) for group in SOME_GROUPS]
# Shares of the classes, the curve of each, and how many samples.
TWO_CLASSES = [
    ((0.85, 0.15), ("line", "floor"), 1500),
    ((0.5, 0.5), ("u shape", "bump"), 1500),
    ((0.5, 0.5), ("flat", "flat"), 1500),
    ((0.7, 0.3), ("bump", "floor"), 200),
]
CLASSES = [
    *TWO_CLASSES,
    ((0.6, 0.3, 0.1), ("square", "line", "u shape"), 1500),
    ((0.15,) * 5 + (0.05,) * 5, ("square",) * 5 + ("line",) * 5, 6000),
]
SCORES = [
    "conditional_risk",
    LossRegression(DecisionTreeRegressor(max_depth=2), "input"),
    ErrorProbability(LogisticRegression(), "input"),
    SELE(0.01),
]


def all_of(make, **choices):
    """Return laws for all combinations of what lists hold, by what they are of."""
    lists = {name: each for name, each in choices.items() if isinstance(each, list)}
    kind = [] if "kind" in lists else [choices.get("kind", "")]
    return [
        pytest.param(
            make(**choices | dict(zip(lists, values, strict=True))),
            id=" ".join(map(str, (make.__name__, *kind, *values))),
        )
        for values in product(*lists.values())
    ]


def within(slack):
    return -slack, slack


FAILURES = {"kind": "failure_rate", "curve": RISKS[:4], "target": 0.03}
ON_AVERAGE = FAILURES | {"average": NEVER_POSITIVE}
FAILURES_OF_FITS = {"kind": "failure_rate", "target": 0.05, "n_samples": 150}
CELLS = {"curve": ["square", "bump"], "n_samples": [100, 1000]}
CELLS |= {"ties": [WHOLE, (40, True)], "n_bits": [13, 22]}
LAWS = [
    *all_of(of_scores, kind="risk", curve=RISKS, ties=TIES),
    *all_of(
        of_scores,
        kind="risk",
        curve=RISKS,
        ties=TIES,
        bound=BOUNDED,
        draw_losses=spread,
    ),
    *all_of(of_scores, kind="risk", curve="flat", n_samples=2000, used=0.4 * DELTA),
    *all_of(of_scores, kind="coverage", n_samples=50, ties=TIES, target=0.7, found=1),
    *all_of(of_scores, kind="coverage", n_samples=20, ties=TIES, target=0.95, found=1),
    *all_of(of_scores, n_samples=[80, 200, 1000], ties=TIES[:2], found=1, **FAILURES),
    *all_of(
        of_scores,
        n_samples=[200, 1000],
        bound=BOUNDED,
        draw_losses=spread,
        found=1,
        **FAILURES,
    ),
    *all_of(
        of_scores, n_samples=[35, 50, 200, 1000], ties=TIES[:2], found=1, **ON_AVERAGE
    ),
    *all_of(of_scores, n_samples=[50, 1000], draw_losses=spread, **ON_AVERAGE),
    *all_of(of_scores, kind="risk", **CELLS),
    *all_of(of_scores, kind="coverage", target=0.6, **CELLS),
    *all_of(of_scores, kind="failure_rate", target=0.05, **CELLS),
    *all_of(of_groups, kind="risk", groups=SOME_GROUPS, n_ties=[None, 10], found=0.1),
    *all_of(of_groups, kind="risk", groups=NO_GROUP, n_ties=[None, 10]),
    *all_of(of_groups, kind="coverage", groups=ALL_GROUPS, n_ties=[None, 10]),
    *all_of(of_parts, case=CLASSES, ties=TIES),
    *all_of(of_parts, case=TWO_CLASSES, ties=TIES, both=True),
    *all_of(of_parts, case=TWO_CLASSES[:3], bound=BOUNDED, halves=True),
    *all_of(of_deferral, curve=SYSTEMS, n_samples=[100, 500], n_ties=[None, 4]),
    *all_of(of_deferral, curve=SYSTEMS[:4], n_samples=5000, found=0.9),
    *all_of(of_deferral, curve=SYSTEMS, n_pilot=1),
    *all_of(of_deferral, curve=SYSTEMS, n_pilot=20, misleads=True),
    *all_of(of_deferral, curve=SYSTEMS, n_ties=[None, 4], draw_losses=spread),
    *all_of(
        of_deferral,
        curve="always right",
        n_samples=[30, 500],
        n_ties=[None, 4],
        max_deferral=0.2,
        found=1,
    ),
    *all_of(
        of_origins,
        asked=[{"max_fpr": 0.25}, {"max_risk": 0.25}],
        sizes=[(60, 40, None), (400, 400, None), (400, 800, 0.6)],
        n_ties=[None, 10],
    ),
    *all_of(of_rows, kind=["risk", "coverage"], name=[*ROWS]),
    *all_of(of_rows, kind="risk", name=[*ROWS], bound="betting"),
]
# What is solved without confidence is reached on average, up to the optimism of having
# chosen the best rule of the sample.
PLAIN = [
    law
    for n in (500, 8000)
    for law in (
        *all_of(of_scores, kind="risk", n_samples=n, average=within(0.1 / n**0.5)),
        *all_of(
            of_scores, kind="coverage", n_samples=n, target=0.7, average=within(1 / n)
        ),
        # It is the minimum of a cumulated sum.
        *all_of(
            of_scores,
            kind="cost",
            n_samples=n,
            target=0.25,
            average=within(0.2 / n ** (2 / 3)),
        ),
    )
]
AT_LEAST = {"min_tpr": 0.7, "max_fpr": 0.5}
RATES = {"asked": {"min_tpr": 0.7, "max_fpr": 0.25}, "rate": 0.5}
PRECISION = {"min_tpr": 0.7, "min_precision": 0.9, "ood_prior": 0.25}
TUNED = [
    *all_of(of_tuned, kind="tpr", asked=AT_LEAST, n_samples=4000, single=True),
    *all_of(of_tuned, kind=["tpr", "fpr"], n_samples=[500, 8000], **RATES),
    *all_of(
        of_tuned, kind=["tpr", "precision"], asked=PRECISION, n_samples=4000, rate=0.5
    ),
]
FITS = [
    *all_of(of_estimator, kind="risk", target=0.26, uncertainty_score=SCORES),
    *all_of(of_estimator, kind="coverage", target=0.7, uncertainty_score=SCORES),
    *all_of(of_estimator, kind="risk", target=0.26, frozen=True),
    *all_of(of_estimator, cv=0.4, **FAILURES_OF_FITS),
    *all_of(of_estimator, certified=False, **FAILURES_OF_FITS),
    *all_of(
        of_estimator,
        by_class=True,
        group_by="class",
        **FAILURES_OF_FITS | {"target": 0.1},
    ),
]


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
    if law.average is not None:
        least, most = law.average
        error = 3 * excess.std() / np.sqrt(n_draws)
        assert least - error <= excess.mean() <= most + error
        return
    share = np.count_nonzero(excess > 1e-9) / n_draws
    assert share <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / n_draws)
    assert share >= law.used


@pytest.mark.parametrize("law", LAWS + PLAIN)
def test_of_solvers(law):
    assert_holds(law, N_DRAWS)


@pytest.mark.parametrize("law", FITS)
def test_of_estimators(law):
    assert_holds(law, N_FITS)


@pytest.mark.parametrize("law", TUNED)
def test_of_rules_that_are_tuned(law):
    assert_holds(law, N_TUNED)


@pytest.mark.parametrize("kind", ["risk", "failure_rate"])
def test_what_is_not_certified_is_broken_often(kind):
    law = of_scores(kind, average=NEVER_POSITIVE)
    assert np.mean(run(law, N_FITS) > 0) > 0.3
