"""What must not matter to promises from weighted rows and clusters.

Rules by loops are in test_sample.py, bad input is in test_sample_bad_input.py.
"""

from functools import partial

import numpy as np
import pytest

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import InfeasibleTargetError
from tests.selection.test_sample import (
    ACCEPTING,
    MANY,
    ON_AVERAGE,
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


@EVERY
def test_names_may_be_tuples(name):
    pairs = [("user", k) for k in CLUSTERS.tolist()]
    same(
        solve(name, "average", clusters=pairs),
        solve(name, "average", clusters=CLUSTERS),
    )


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
@pytest.mark.parametrize("name", [*sorted(ACCEPTING.keys() - {"bounds"}), "deferral"])
def test_each_group_has_the_rule_of_its_rows(name, kind):
    scores, losses, options = draw(kind, 400)
    groups = np.arange(400) % 2
    whole = options | ON_AVERAGE | {"groups": groups}
    if "clusters" in options:
        if "failures" in name:
            with pytest.raises(ValueError, match="rows are all in one group"):
                SOLVERS[name](scores, losses, 0.14, **whole)
            return
        # A cluster counts in a group by the share of its rows.
        clusters = options["clusters"]
        pairs, inside = clusters * 2 + groups, np.bincount(clusters * 2 + groups)
        share = inside[pairs] / np.bincount(clusters)[clusters]
        options["sample_weight"] = share * options.get("sample_weight", 1)
        options.setdefault("max_weight", 1.0)
    rules = SOLVERS[name](scores, losses, 0.14, **whole).rules
    for label, rule in rules.items():
        rows = groups == label
        given = {k: x[rows] if np.ndim(x) else x for k, x in options.items()}
        alone = SOLVERS[name](scores[rows], losses[rows], 0.14, **given, **ON_AVERAGE)
        for key in ("threshold", "proba_at_threshold", "certificate"):
            assert getattr(rule, key) == getattr(alone, key)


@pytest.mark.parametrize("proba", [0.5, np.full(N, 0.5)], ids=["number", "array"])
@pytest.mark.parametrize("name", sorted(ACCEPTING.keys() - {"bounds"}))
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
