import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_reject_cost,
    solve_target_coverage,
    tune_double_score,
    tune_single_score,
)
from sklearn_reject.selection._one_score import Cut
from sklearn_reject.selection._ood_model import OODProblem
from tests.selection.ood_oracle import (
    MODELS,
    SHARES,
    achieved,
    best_in_order,
    ood_samples,
)

INF = float("inf")


def tune(sample, model, **options):
    """Return the rule, None if there is none."""
    try:
        return tune_single_score(
            *sample.single, sample_weight=sample.weight, **model, **options
        )
    except InfeasibleTargetError:
        return None


def of_novelty(risk, novelty):
    return novelty


@given(ood_samples(max_size=14), MODELS, st.booleans())
def test_against_all_thresholds_in_exact_arithmetic(sample, model, randomize):
    rows, totals = list(sample.rows()), sample.totals()
    expected = best_in_order(rows, of_novelty, model, totals, randomize)
    rule = tune(sample, model, randomize=randomize)
    if expected is None:
        assert rule is None
        return
    assert rule is not None
    np.testing.assert_allclose(
        achieved(rule, model, sample), [float(x) for x in expected], atol=1e-9
    )
    again = rule.measure(*sample.single, sample_weight=sample.weight)
    np.testing.assert_equal(vars(again), vars(rule))


@given(ood_samples(max_size=14), MODELS, st.booleans())
def test_bounds_hold_exactly(sample, model, randomize):
    rule = tune(sample, model, randomize=randomize)
    if rule is None or "costs" in model:
        return
    assert rule.tpr >= model.get("min_tpr", model.get("min_recall")) * (1 - 1e-11)
    if model.get("max_fpr") is not None:
        assert rule.fpr <= model["max_fpr"] * (1 + 1e-11)
    if "min_precision" in model:
        assert rule.precision >= model["min_precision"] * (1 - 1e-11)
    if "max_risk" in model:
        assert rule.selective_risk <= model["max_risk"] * (1 + 1e-11)


@given(ood_samples(max_size=14), MODELS, st.booleans())
def test_what_the_error_names_can_be_attained(sample, model, randomize):
    if tune(sample, model, randomize=randomize) is not None:
        return
    with pytest.raises(InfeasibleTargetError) as info:
        tune_single_score(
            *sample.single,
            sample_weight=sample.weight,
            randomize=randomize,
            **model,
        )
    copy = pickle.loads(pickle.dumps(info.value))
    np.testing.assert_equal(copy.attainable, info.value.attainable)
    assert str(copy) == str(info.value)
    for name, value in info.value.attainable.items():
        relaxed = model | {name: value}
        assert tune(sample, relaxed, randomize=randomize) is not None
        # And no more than that.
        relaxed[name] = value + (1e-6 if name.startswith("min") else -1e-6)
        if 0 < relaxed[name] <= 1:
            assert tune(sample, relaxed, randomize=randomize) is None


@given(ood_samples(weighted=False, finite=True), st.sampled_from(SHARES))
def test_without_ood_it_is_bounded_abstention(sample, share):
    sample.is_ood[:] = False
    scores, losses = sample.novelty, sample.losses
    rule = tune(sample, {"min_tpr": share})
    reference = solve_target_coverage(scores, losses, share)
    assert rule.tpr >= share - 1e-12
    assert rule.selective_risk <= reference.selective_risk + 1e-12
    again = solve_target_coverage(scores, losses, rule.tpr)
    np.testing.assert_allclose(again.selective_risk, rule.selective_risk, atol=1e-12)
    whole = tune(sample, {"min_tpr": share}, randomize=False)
    reference = solve_target_coverage(scores, losses, share, randomize=False)
    assert whole.selective_risk <= reference.selective_risk + 1e-12


@pytest.mark.parametrize("share", SHARES)
def test_it_equals_bounded_abstention_where_the_risk_is_monotone(share):
    losses = np.array([0.0625, 0.125, 0.25, 0.25, 0.5, 0.75, 1.0])
    scores = np.array([0, 1, 2, 2, 3, 4, 5])
    rule = tune_single_score(scores, losses, np.zeros(7, bool), min_tpr=share)
    reference = solve_target_coverage(scores, losses, share)
    np.testing.assert_allclose(rule.selective_risk, reference.selective_risk)
    # Of equal risks the largest TPR: the first sample as a whole.
    np.testing.assert_allclose(rule.tpr, max(share, 1 / 7))


@given(ood_samples(weighted=False, finite=True), st.sampled_from([0.0, 0.25, 0.5]))
def test_without_ood_costs_are_those_of_chow(sample, cost):
    rule = tune(sample, {"costs": (cost, 1.0, 0.0), "ood_prior": 0.0})
    is_id = ~sample.is_ood
    reference = solve_reject_cost(sample.novelty[is_id], sample.losses[is_id], cost)
    assert rule.tpr == reference.coverage
    np.testing.assert_equal(rule.selective_risk, reference.selective_risk)


def test_equalities_that_floats_miss_are_met():
    # 0.55 * 100 is above 55 in floats.
    scores, losses = np.arange(200), np.arange(200) % 2 / 2
    is_ood = np.arange(200) >= 100
    for cents in range(1, 101):
        rule = tune_single_score(
            scores, losses, is_ood, min_tpr=cents / 100, randomize=False
        )
        assert round(100 * rule.tpr) in (cents, cents + 1)
        rule = tune_single_score(
            -scores, losses, is_ood, min_tpr=0.01, max_fpr=1, randomize=False
        )
        assert rule.fpr == 1
    with pytest.raises(InfeasibleTargetError):
        tune_single_score(-scores, losses, is_ood, min_tpr=0.01, max_fpr=0.99)


def test_error_says_what_is_attainable():
    scores, is_ood = [0, 1, 2, 3], [0, 1, 0, 1]
    with pytest.raises(InfeasibleTargetError) as info:
        tune_single_score(scores, [0] * 4, is_ood, min_tpr=0.9, max_fpr=0.1)
    assert str(info.value) == (
        "No rule attains min_tpr=0.9 and max_fpr=0.1 on these samples: the largest "
        "TPR at max_fpr=0.1 is 0.5, the smallest FPR at min_tpr=0.9 is 0.5. Relax one "
        "of the bounds up to this value, or use scores that separate ID from OOD "
        "samples better."
    )
    assert info.value.attainable == {"min_tpr": 0.5, "max_fpr": 0.5}
    assert np.isnan(info.value.coverage)
    with pytest.raises(InfeasibleTargetError, match="largest precision at") as info:
        tune_double_score(
            scores,
            scores,
            [0] * 4,
            is_ood,
            min_recall=1,
            min_precision=0.9,
            ood_prior=0.5,
            method="grid",
        )
    assert info.value.attainable["min_precision"] == pytest.approx(2 / 3)


def test_error_where_a_bound_cannot_be_met_at_all():
    with pytest.raises(InfeasibleTargetError, match="there is no rule at all") as info:
        tune_single_score([INF, 0, -INF], [0, 0, 0], [0, 0, 1], min_tpr=0.9, max_fpr=0)
    assert info.value.attainable == {}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({}, "Exactly one target must be given, got none"),
        ({"max_fpr": 0.1}, "max_fpr=0.1 needs min_tpr"),
        ({"min_tpr": 0.5, "min_recall": 0.5}, "got more than one"),
        ({"min_tpr": 0.5, "costs": (1, 2, 1)}, "got more than one"),
        ({"min_recall": 0.5, "ood_prior": 0.5}, "min_precision is None"),
        ({"min_precision": 0.5, "ood_prior": 0.5}, "min_recall is None"),
        ({"min_precision": 0.5, "min_recall": 0.5}, "ood_prior is needed"),
        ({"costs": (1, 2, 1)}, "ood_prior is needed"),
        ({"costs": (1, 1, 1), "ood_prior": 0.5}, "must be above"),
        ({"min_tpr": 0}, r"min_tpr must be in \]0, 1\]"),
        ({"min_tpr": 1.5}, "min_tpr must be in"),
        ({"min_tpr": 0.5, "max_fpr": -0.1}, r"max_fpr must be in \[0, 1\]"),
        ({"min_tpr": 0.5, "max_fpr": True}, "max_fpr must be a number"),
        ({"min_tpr": 0.5, "ood_prior": 1.0}, r"ood_prior must be in \[0, 1\["),
        ({"min_tpr": 0.5, "randomize": 2}, "randomize must be one of"),
        ({"max_risk": 0.1}, "max_risk=0.1 needs min_tpr"),
        ({"min_tpr": 0.5, "max_risk": -1}, r"max_risk must be in \[0, inf\["),
        ({"min_tpr": 0.5, "max_risk": 0.1, "max_fpr": 0.2}, "exclude each other"),
        ({"max_risk": 0.1, "costs": (1, 2, 1)}, "got more than one"),
        ({"min_tpr": 0.5, "wild_share": 0}, r"wild_share must be in \]0, 1\]"),
        ({"min_tpr": 0.5, "wild_share": "half"}, "wild_share must be a number"),
        ({"min_tpr": 0.5, "risk_tolerance": -1}, "risk_tolerance must be in"),
        ({"min_tpr": 0.5, "risk_tolerance": "se"}, "Or pass 'standard_error'"),
    ],
)
def test_bad_models(model, message):
    with pytest.raises(ValueError, match=message):
        tune_single_score([1, 2], [0, 1], [0, 0], **model)


def test_prior_gives_the_precision_of_any_model():
    arrays = [0, 1, 2, 3], [0, 1, 0, 0], [0, 1, 0, 1]
    rule = tune_single_score(*arrays, min_tpr=1, ood_prior=0.25)
    assert rule.precision == pytest.approx(0.75 / (0.75 + 0.25 * 0.5))
    assert np.isnan(tune_single_score(*arrays, min_tpr=1).precision)


def test_a_rate_of_zero_is_not_suggested():
    arrays = [1, 2, 3, 4], [0] * 4, [1, 0, 1, 0]
    bounds = {"min_precision": 0.9, "ood_prior": 0.5, "min_recall": 0.5}
    message = (
        r"largest recall at min_precision=0\.9 is 0, the largest precision at "
        r"min_recall=0\.5 is 0\.5\. Relax min_precision up to this"
    )
    with pytest.raises(InfeasibleTargetError, match=message):
        tune_single_score(*arrays, **bounds)
    assert tune_single_score(*arrays, **bounds | {"min_precision": 0.5}).tpr == 1


def test_error_rounds_to_what_is_attainable():
    arrays = range(6), [0] * 6, [0, 0, 1, 0, 1, 1]
    message = (
        r"the largest TPR at max_fpr=0\.25 is 0\.666666, "
        r"the smallest FPR at min_tpr=0\.75 is 0\.333334\."
    )
    with pytest.raises(InfeasibleTargetError, match=message):
        tune_single_score(*arrays, min_tpr=0.75, max_fpr=0.25, randomize=False)
    for bounds in [(0.666666, 0.25), (0.75, 0.333334)]:
        model = dict(zip(("min_tpr", "max_fpr"), bounds, strict=True))
        tune_single_score(*arrays, **model, randomize=False)


def test_what_is_attainable_does_not_depend_on_losses():
    scores, is_ood = [0, 1, 2, 3], [0, 1, 0, 1]
    for losses in [0, 0, 0, 0], [5, 0, 9, 0]:
        with pytest.raises(InfeasibleTargetError) as info:
            tune_single_score(scores, losses, is_ood, min_tpr=0.9, max_fpr=0.1)
        assert info.value.attainable == {"min_tpr": 0.5, "max_fpr": 0.5}


def test_of_equally_good_cuts_that_of_the_smallest_angle_is_taken():
    by_angle = [(1.0, 0.0), (1.0, 2.0), (0.0, 1.0), (-1.0, 2.0), (-1.0, 0.0)]
    cuts = [Cut(0.5, 2.0, 1.0, 0, 1.0, weights=weights) for weights in by_angle]
    for rank, cut in enumerate(cuts):
        better = [cut.beats(other, OODProblem(loss_price=1.0)) for other in cuts]
        assert better == [rank < other for other in range(5)]
