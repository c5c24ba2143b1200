"""What must not matter to promises from weighted rows and clusters, and bad input.

Rules by loops are in test_sample.py.
"""

from functools import partial

import numpy as np
import pytest

from sklearn_reject import calibrate
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_deferral,
    solve_target_coverage,
    solve_target_risk,
)
from tests.selection.test_sample import (
    ACCEPTING,
    MANY,
    ON_AVERAGE,
    RISKS,
    SOLVERS,
    SURE,
    counts_of,
    draw,
)

pytestmark = pytest.mark.filterwarnings("ignore:.* losses are known")
MODES = {
    "average": ON_AVERAGE,
    "hoeffding": SURE | {"bound": "hoeffding_bentkus"},
    "betting": SURE | {"bound": "betting"},
}
EVERY = pytest.mark.parametrize("name", SOLVERS)
MODE = pytest.mark.parametrize("mode", MODES)
N = 190  # of more rows, bets are made at some of the thresholds only
RNG = np.random.default_rng(7)
SCORES = RNG.permutation(N) / N
LOSSES = (RNG.random(N) < 0.9 * SCORES**2) * RNG.random(N)
WEIGHT = np.where(RNG.random(N) < 2 / 3, 0.5, 2.0)
CLUSTERS = RNG.integers(0, 120, N)
WEIGHTED = {"sample_weight": WEIGHT, "max_weight": 2.0}


def solve(name, mode, rows=slice(None), target=0.12, losses=LOSSES, **options):
    """Return numbers of a rule and its certificate, or what can be met."""
    given = {k: x[rows] if np.ndim(x) else x for k, x in options.items()}
    try:
        arrays = SCORES[rows], losses[rows]
        rule = SOLVERS[name](*arrays, target, **MODES[mode], **given)
    except InfeasibleTargetError as error:
        met = error.attainable["all" if name == "bounds" else "target_risk"]
        return np.array([met[0] if name == "bounds" else met])
    found, made = [rule.threshold, rule.proba_at_threshold], rule.certificate
    if made is not None:
        found.append(made.p_value)
        if name != "bounds":  # of which a certificate counts rows
            found += [made.n_samples, made.n_accepted]
    return np.array(found, dtype=float)


same = partial(np.testing.assert_allclose, rtol=1e-9)


@EVERY
def test_rules_compared_here_accept_some(name):
    for mode in MODES:
        assert 0 < solve(name, mode)[0] < 1


@EVERY
@MODE
def test_a_uniform_audit_is_the_sample_of_labelled_rows(name, mode):
    is_known = np.random.default_rng(1).random(N) < 0.8
    losses = np.where(is_known, LOSSES, np.nan)
    audit = solve(name, mode, losses=losses, inclusion_proba=0.8)
    same(audit, solve(name, mode, is_known))
    every = solve(name, mode, inclusion_proba=1, max_weight=1)
    same(every, solve(name, mode))


@EVERY
@MODE
def test_clusters_of_one_row_are_weights_of_one_and_labels_of_all(name, mode):
    one = solve(name, mode, sample_weight=np.ones(N), max_weight=1.0)
    same(one, solve(name, mode, clusters=SCORES))
    same(one, solve(name, mode, inclusion_proba=np.ones(N), max_weight=1.0))
    if mode == "average" or "failures" in name or name == "deferral":  # others: a pilot
        same(one, solve(name, mode))


@EVERY
@MODE
def test_a_common_factor_and_rows_of_weight_zero(name, mode):
    if "failures" not in name:
        options = {"target": 0.2} | WEIGHTED
        times = options | {"sample_weight": 4 * WEIGHT, "max_weight": 8.0}
        same(solve(name, mode, **times), solve(name, mode, **options))
        kept = np.random.default_rng(2).random(N) < 0.8
        options["sample_weight"] = WEIGHT * kept
        same(solve(name, mode, **options), solve(name, mode, kept, **options))


@EVERY
@MODE
def test_names_of_clusters_and_the_order_of_rows(name, mode):
    options = WEIGHTED | {"target": 0.25}
    rule = solve(name, mode, clusters=CLUSTERS, **options)
    texts = np.array([f"user {k}" for k in CLUSTERS])
    mixed = np.array([f"{k}" if k % 2 else k for k in CLUSTERS], dtype=object)
    dates = CLUSTERS.astype("M8[D]")
    for names in (texts, mixed, dates, -1.5 * CLUSTERS):
        same(solve(name, mode, clusters=names, **options), rule)
    if name != "deferral" or mode == "average":  # its units come in a random order
        rows = np.random.default_rng(3).permutation(N)
        same(solve(name, mode, rows, clusters=CLUSTERS, **options), rule)


@pytest.mark.parametrize("name", ACCEPTING)
@pytest.mark.parametrize("mode", ["average", "hoeffding"])
def test_clusters_in_which_every_row_is_repeated(name, mode):
    if not (mode == "hoeffding" and "logged" in name):  # these bet on some thresholds
        rows = np.repeat(np.arange(N), 1 + CLUSTERS % 3)
        options = WEIGHTED | {"clusters": CLUSTERS, "target": 0.25}
        same(solve(name, mode, rows, **options), solve(name, mode, **options))


@MANY
@pytest.mark.parametrize("mode", ["average", "betting"])
@pytest.mark.parametrize("name", ACCEPTING)
def test_coverage_is_of_all_rows_and_risk_of_labelled_ones(name, mode, kind):
    scores, losses, options = draw(kind, 900)
    target = 0.14 if mode == "average" else 0.135
    rule = ACCEPTING[name](scores, losses, target, **options, **MODES[mode])
    del options["max_weight"]
    counts, of_all = counts_of(len(scores), **options)
    accepted = rule.accept(scores)
    assert 0 < accepted.mean() < 1
    coverage = np.average(accepted, weights=of_all)
    assert rule.coverage == pytest.approx(coverage, rel=1e-12)
    rows = accepted & ~np.isnan(losses)
    risk = np.average(losses[rows], weights=counts[rows])
    assert rule.selective_risk == pytest.approx(risk, rel=1e-12)
    if mode == "average" and "failures" not in name:
        # The longest prefix within the bound: with the next label it is beyond.
        assert risk <= 0.14
        later = np.flatnonzero(~accepted & ~np.isnan(losses))
        risks = []
        for row in later:
            rows = (scores <= scores[row]) & ~np.isnan(losses)
            risks.append(np.average(losses[rows], weights=counts[rows]))
        assert min(risks) > 0.14


@MANY
@pytest.mark.parametrize("name", [*(ACCEPTING.keys() - {"bounds"}), "deferral"])
def test_each_group_has_the_rule_of_its_rows(name, kind):
    scores, losses, options = draw(kind, 400)
    groups = np.arange(400) % 2
    whole = options | ON_AVERAGE | {"groups": groups}
    rules = SOLVERS[name](scores, losses, 0.14, **whole).rules
    for label, rule in rules.items():
        rows = groups == label
        given = {k: x[rows] if np.ndim(x) else x for k, x in options.items()}
        alone = SOLVERS[name](scores[rows], losses[rows], 0.14, **given, **ON_AVERAGE)
        for key in ("threshold", "proba_at_threshold", "certificate"):
            assert getattr(rule, key) == getattr(alone, key)


@pytest.mark.parametrize("proba", [0.5, np.full(N, 0.5)], ids=["number", "array"])
@pytest.mark.parametrize("name", ACCEPTING.keys() - {"bounds"})
def test_a_group_without_labels_is_rejected(name, proba):
    groups = np.where(SCORES < 0.4, "known", "new")
    losses = np.where((groups == "new") | (np.arange(N) % 2 == 0), np.nan, LOSSES)
    options = ON_AVERAGE | {"groups": groups, "inclusion_proba": proba}
    options["max_weight"] = 2.0
    with pytest.warns(RejectionWarning, match="'new': none of its samples is labelled"):
        rule = ACCEPTING[name](SCORES, losses, 0.2, **options)
    accepted = rule.accept(SCORES, groups=groups)
    assert accepted[groups == "known"].any()
    assert not accepted[groups == "new"].any()


# Bad input


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
    ({**AUDIT, "inclusion_proba": HALVES[:, None]}, "inclusion_proba must be a vector"),
    ({**AUDIT, "inclusion_proba": 0}, r"inclusion_proba must be in \(0, 1\], got 0"),
    ({**AUDIT, "inclusion_proba": 1}, "inclusion_proba is 1 in row 1, which has no la"),
    ({**AUDIT, "inclusion_proba": put(HALVES, 1)}, "is 1 in row 3.* Pass the chance"),
    ({**AUDIT, "inclusion_proba": "half"}, "inclusion_proba must hold numbers"),
    ({"losses": LABELLED}, "(first|losses) .*in row 1 .*emove these rows"),
    ({**AUDIT, "losses": ONES * np.nan}, "loss.*(missing|nan) in row 0.* inclusion_pr"),
    ({**AUDIT, "losses": np.ma.array(ONES, mask=ODD)}, "loss.* is a masked array"),
    (
        {**AUDIT, "sample_weight": ODD * 1.0},
        "sample_weight .*label",
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
    for mode in ("average", "hoeffding")
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
