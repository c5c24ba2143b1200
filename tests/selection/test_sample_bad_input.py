"""What solvers refuse of weights, audits and clusters, in the words of the caller."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from sklearn_reject import calibrate
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_deferral,
    solve_target_coverage,
    solve_target_risk,
)
from tests.selection.test_sample import ON_AVERAGE, RISKS, SOLVERS, SURE

pytestmark = pytest.mark.filterwarnings("ignore:.* losses are known")
EVERY = pytest.mark.parametrize("name", SOLVERS)
MODES = {"average": ON_AVERAGE, "sure": SURE}


class Lazy:
    """A collection as Dask makes them."""

    def __dask_graph__(self):
        return {}


SIZE = 60
ONES, HALVES = np.ones(SIZE), np.where(np.arange(SIZE) == 0, 0.6, 0.5)
ODD = np.arange(SIZE) % 2 == 1
LABELLED = np.where(ODD, np.nan, np.arange(SIZE) > 50)
AUDIT = {"losses": LABELLED, "inclusion_proba": HALVES, "max_weight": 4}


def put(array, value, row=3):
    changed = array.astype(object if value is None else float)
    changed[row] = value
    return changed


# Of every solver, whatever is asked for: what is passed, and words of the error.
REFUSED = [
    ({"sample_weight": 0 * ONES}, "sample_weight is zero for every sample. Give at"),
    ({"sample_weight": put(ONES, np.nan)}, "sample_weight must be finite, got nan in"),
    ({"sample_weight": put(ONES, -1)}, "sample_weight must be non-negative, got -1"),
    ({"sample_weight": ONES[:5]}, "sample_weight has 5 elements.* Pass arrays"),
    ({"sample_weight": ONES[:, None]}, "sample_weight must be a vector.*ravel"),
    ({**AUDIT, "inclusion_proba": put(HALVES, 0)}, r"in \(0, 1\], got 0.0 in row 3 .*"),
    ({**AUDIT, "inclusion_proba": put(HALVES, 1.5)}, r"inclusion_proba .*got 1.5 in"),
    ({**AUDIT, "inclusion_proba": put(HALVES, np.nan)}, "inclusion_proba must be fin"),
    ({**AUDIT, "inclusion_proba": HALVES[:5]}, "inclusion_proba has 5 elements"),
    ({**AUDIT, "inclusion_proba": [0.5]}, "inclusion_proba has 1 elements"),
    ({**AUDIT, "inclusion_proba": HALVES[:, None]}, "inclusion_proba must be a vector"),
    ({**AUDIT, "inclusion_proba": 0}, r"inclusion_proba must be in \(0, 1\], got 0"),
    ({**AUDIT, "inclusion_proba": 1}, "inclusion_proba is 1 in row 1, which has no la"),
    ({**AUDIT, "inclusion_proba": put(HALVES, 1)}, "is 1 in row 3.* Pass the chance"),
    ({**AUDIT, "inclusion_proba": "half"}, "inclusion_proba must hold numbers"),
    ({"losses": LABELLED}, "(first|losses) .*in row 1 .*emove these rows"),
    ({**AUDIT, "losses": ONES * np.nan}, "No row has a label|missing in row 0.* incl"),
    ({**AUDIT, "losses": np.ma.array(ONES, mask=ODD)}, "loss.* is a masked array"),
    (
        {**AUDIT, "sample_weight": ODD * 1.0},
        "No row has a label and, where weights are given, a positive weight",
    ),
    ({"clusters": put(ONES, None)}, r"clusters has no label \(None\) in row 3.*remove"),
    ({"clusters": put(ONES, np.nan)}, r"clusters has no label \(nan\) in row 3"),
    ({"clusters": ONES[:5]}, "clusters has 5 elements.* Pass arrays of the same"),
    ({"clusters": ONES[:, None]}, "clusters must be a vector with one label .*ravel"),
    ({"clusters": [[k] for k in ONES]}, "clusters must hold labels .* Pass strings"),
    ({"clusters": "patient"}, "clusters must be a vector of labels, got 'patient'"),
    *(
        ({**AUDIT, name: np.ma.array(ONES, mask=ODD)}, f"{name} is a masked array")
        for name in ("sample_weight", "inclusion_proba", "clusters")
    ),
    *(
        ({**AUDIT, name: Lazy()}, f"{name} is a Dask collection .* Pass .*compute")
        for name in ("sample_weight", "inclusion_proba", "clusters")
    ),
]
# Of promises: of a failure rate, or with a confidence.
REFUSED_PROMISES = [
    *(
        ({**given, "max_weight": None}, "needs max_weight with sample_weight or")
        for given in (AUDIT, {"sample_weight": ONES})
    ),
    *(
        ({**AUDIT, "max_weight": bad}, r"max_weight must be (a number )?in \(0, inf\)")
        for bad in (0, -1, np.nan, np.inf, "4", [4.0], True)
    ),
    ({"sample_weight": put(ONES, 2)}, r"max_weight=1 is exceeded by .* 2 in row 3 .1"),
    ({**AUDIT, "max_weight": 1.9}, "max_weight=1.9 is exceeded .*2 in row 1.* Pass"),
]
BAD = [
    pytest.param(name, mode, *case, id=f"{name}-{mode}-{case[1][:30]}")
    for name in SOLVERS
    for mode in MODES
    for is_promise, cases in enumerate([REFUSED, REFUSED_PROMISES])
    for case in cases
    if not is_promise or mode != "average" or "failures" in name
]


@pytest.mark.parametrize(("name", "mode", "change", "words"), BAD)
def test_bad_input(name, mode, change, words):
    options = {"losses": np.arange(SIZE) > 50, "max_weight": 1} | MODES[mode] | change
    scores, losses = np.arange(SIZE), options.pop("losses")
    with pytest.raises((ValueError, TypeError), match=words):
        SOLVERS[name](scores, losses, 0.2, **options)


@pytest.mark.parametrize("proba", [None, 0.5])
@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ((3, [0, 1], [0, 0]), "gain must be a vector"),
        (([1, 2], [0], [0, 0]), "loss_first has 1 elements"),
        (([1, 2], [0, 1], 0), "loss_second must be a vector"),
        (([1, 2], ["a", "b"], [0, 0]), "loss_first must hold numbers"),
    ],
)
def test_arrays_of_opinions(arrays, words, proba):
    with pytest.raises(ValueError, match=words):
        solve_deferral(*arrays, target_risk=0.4, inclusion_proba=proba)


@pytest.mark.parametrize("name", ["inclusion_proba", "clusters", "sample_weight"])
def test_series_of_logs_in_another_order(name):
    logs = {"uncertainty": pd.Series(ONES), "correct": pd.Series(ONES)}
    other = {name: pd.Series(ONES, index=range(SIZE, 0, -1))}
    words = f"uncertainty and {name} have different indexes"
    with pytest.raises(ValueError, match=words):
        calibrate(**logs, **other, target_risk=0.2)
    with pytest.raises(ValueError, match=words):
        calibrate(**logs, target_risk=0.2).report(**logs, **other)


@pytest.mark.parametrize("name", [*RISKS, "failures", "deferral"])
@pytest.mark.parametrize(
    "given",
    [{"sample_weight": ONES, "max_weight": 1}, AUDIT, {"clusters": ONES}],
    ids=["weights", "audit", "clusters"],
)
def test_the_binomial_is_of_rows_that_are_alike(name, given):
    options = SURE | {"losses": ONES, "max_loss": None, "bound": "binomial"} | given
    with pytest.raises(ValueError, match=r"bound='binomial' is for .*='betting'"):
        SOLVERS[name](np.arange(SIZE), options.pop("losses"), 0.2, **options)


@pytest.mark.parametrize("name", ["failures", "logged failures"])
@pytest.mark.parametrize("mode", MODES)
def test_weights_of_a_failure_rate_are_one_on_average(name, mode):
    options = MODES[mode] | {"sample_weight": 3 * ONES, "max_weight": 3}
    with pytest.raises(ValueError, match=r"has the mean 3, .* Divide by that mean"):
        SOLVERS[name](np.arange(SIZE), 0 * ONES, 0.5, **options)


@pytest.mark.parametrize("name", ["sample_weight", "inclusion_proba", "clusters"])
def test_shares_are_certified_of_rows_drawn_alike(name):
    given = {name: ONES, "confidence_level": 0.8}
    words = f"{name} cannot be combined with confidence_level.* Pass {name}=None"
    with pytest.raises(ValueError, match=words):
        solve_deferral(ONES, ONES, 0 * ONES, max_deferral=0.5, **given)
    if name == "sample_weight":
        solve = partial(solve_target_coverage, ONES, 0 * ONES, 0.5)
    else:
        words = f"{name} is not for target_coverage. Ask for a target_risk"
        logs = {"uncertainty": ONES, "losses": 0 * ONES}
        solve = partial(calibrate, **logs, target_coverage=0.5)
    with pytest.raises(ValueError, match=words):
        solve(**given)


@EVERY
@pytest.mark.parametrize("n_rows", [1, 2, 12])
def test_few_rows_are_too_few_and_say_so(name, n_rows):
    scores, losses = np.arange(n_rows), np.zeros(n_rows)
    for given in (
        {"sample_weight": np.ones(n_rows), "max_weight": 2},
        {"inclusion_proba": np.full(n_rows, 0.9), "max_weight": 2},
        {"clusters": scores // 4},
        {"clusters": 0 * scores},
        {"inclusion_proba": 0.9},
    ):
        words = "cannot certify|can be certified"
        with pytest.raises(InfeasibleTargetError, match=words):
            SOLVERS[name](scores, losses, 0.05, **SURE, **given)
        if "failures" in name:
            with pytest.raises(InfeasibleTargetError, match=r"at least \d+ are needed"):
                SOLVERS[name](scores, losses, 0.05, **ON_AVERAGE, **given)
        else:
            rule = SOLVERS[name](scores, losses, 0.05, **ON_AVERAGE, **given)
            assert rule.threshold == np.inf


def test_of_the_largest_weight_a_little_may_be_rounded():
    options = {"sample_weight": np.float32(ONES * 0.7), "max_weight": 0.7}
    rule = solve_target_risk(np.arange(SIZE), 0 * ONES, 0.3, **SURE, **options)
    assert rule.coverage == 1
