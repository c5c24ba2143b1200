"""Frontiers against all thresholds of all directions, and against the solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import InfeasibleTargetError
from sklearn_reject._curves import (
    _frontiers,
    combine,
    ood_precision_recall_curve,
    ood_roc_curve,
    precision_recall_frontier,
    risk_coverage_curve,
    risk_coverage_frontier,
    roc_frontier,
    score_directions,
)
from sklearn_reject.selection import tune_single_score
from tests.origin_samples import (
    origin_samples,
    permute,
    repeat,
    thresholds_of,
    weights_of,
)

N_ANGLES = 5


def rules(sample):
    """Yield (tpr, fpr, risk) of every threshold of every direction."""
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    columns = [scores]
    if scores.ndim == 2:
        present = scores[weights > 0]
        directions = score_directions(*present.T, N_ANGLES)
        columns = [combine(*scores.T, weights) for weights in directions]
    for column in columns:
        for threshold in thresholds_of(column):
            accepted = weights * (column <= threshold)
            tpr = accepted[~is_ood].sum() / weights[~is_ood].sum()
            fpr = accepted[is_ood].sum() / weights[is_ood].sum()
            risk = np.nan
            if tpr:
                risk = accepted[~is_ood] @ losses[~is_ood] / accepted[~is_ood].sum()
            yield tpr, fpr, risk


def options_of(sample):
    return {"n_directions": N_ANGLES, "sample_weight": sample[3]}


both_kinds = st.sampled_from([1, 2]).flatmap(
    lambda n_scores: origin_samples(n_scores=n_scores, max_size=8)
)


@given(both_kinds)
def test_roc_frontier_against_all_rules(sample):
    fpr, tpr = roc_frontier(sample[0], sample[2], **options_of(sample))
    assert (np.diff(fpr) > 0).all()
    assert (np.diff(tpr) > 0).all()
    attained = list(rules(sample))
    for bound in {rate for _, rate, _ in attained} | set(fpr) | {1.0}:
        best = max((t for t, f, _ in attained if f <= bound + 1e-12), default=None)
        point = np.searchsorted(fpr, bound + 1e-12) - 1
        assert (None if point < 0 else tpr[point]) == pytest.approx(best)


@given(both_kinds, st.sampled_from([None, 0.0, 0.25]))
def test_precision_recall_frontier_against_all_rules(sample, prior):
    precision, recall = precision_recall_frontier(
        sample[0], sample[2], ood_prior=prior, **options_of(sample)
    )
    assert (np.diff(precision) < 0).all()
    assert (np.diff(recall) > 0).all()
    if prior is None:
        prior = np.average(sample[2], weights=sample[3])
    attained = [
        (t, (1 - prior) * t / ((1 - prior) * t + prior * f))
        for t, f, _ in rules(sample)
        if t
    ]
    for bound in {t for t, _ in attained} | set(recall):
        best = max(p for t, p in attained if t >= bound - 1e-12)
        point = np.searchsorted(recall, bound - 1e-12)
        assert precision[point] == pytest.approx(best)
    assert len(recall) == 0 or recall[-1] == pytest.approx(max(attained)[0])


@given(both_kinds, st.sampled_from([0.0, 0.4, 1.0]))
def test_risk_coverage_frontier_against_all_rules(sample, max_fpr):
    tpr, risk = risk_coverage_frontier(
        *sample[:3], max_fpr=max_fpr, **options_of(sample)
    )
    assert (np.diff(tpr) > 0).all()
    assert (np.diff(risk) > 0).all()
    attained = [(t, r) for t, f, r in rules(sample) if t and f <= max_fpr + 1e-12]
    assert (len(tpr) == 0) == (not attained)
    for bound in {t for t, _ in attained} | set(tpr):
        best = min(r for t, r in attained if t >= bound - 1e-12)
        point = np.searchsorted(tpr, bound - 1e-12)
        assert risk[point] == pytest.approx(best, abs=1e-14)


@given(origin_samples(), st.sampled_from([0.0, 0.4, 1.0]), st.integers(1, 12))
def test_frontiers_say_what_the_solver_attains(sample, max_fpr, twelfths):
    bounds = {"min_tpr": twelfths / 12, "max_fpr": max_fpr, "randomize": False}
    tpr, risk = risk_coverage_frontier(
        *sample[:3], max_fpr=max_fpr, sample_weight=sample[3]
    )
    fpr, largest = roc_frontier(sample[0], sample[2], sample_weight=sample[3])
    point = np.searchsorted(tpr, twelfths / 12 - 1e-12)
    reached = np.searchsorted(fpr, max_fpr + 1e-12) - 1
    if point == len(tpr):
        assert reached < 0 or largest[reached] < twelfths / 12
        with pytest.raises(InfeasibleTargetError):
            tune_single_score(*sample[:3], sample_weight=sample[3], **bounds)
    else:
        assert largest[reached] >= twelfths / 12 - 1e-12
        rule = tune_single_score(*sample[:3], sample_weight=sample[3], **bounds)
        assert rule.selective_risk == pytest.approx(risk[point], abs=1e-14)


@given(both_kinds)
def test_order_of_rows_does_not_matter_and_weights_repeat_them(sample):
    frontiers = [
        lambda s, _, o, **kw: roc_frontier(s, o, **kw),
        lambda s, _, o, **kw: precision_recall_frontier(s, o, ood_prior=0.4, **kw),
        lambda s, losses, o, **kw: risk_coverage_frontier(
            s, losses, o, max_fpr=0.5, **kw
        ),
    ]
    permuted, repeated = permute(sample), repeat(sample)
    for frontier in frontiers:
        points = frontier(*sample[:3], **options_of(sample))
        again = frontier(*permuted[:3], **options_of(permuted))
        np.testing.assert_allclose(again, points, rtol=1e-12, atol=1e-15)
        again = frontier(*repeated, n_directions=N_ANGLES)
        np.testing.assert_allclose(again, points, rtol=1e-12, atol=1e-15)


@given(origin_samples())
def test_frontiers_of_one_score_are_points_of_its_curves(sample):
    scores, losses, is_ood, weights = sample
    options = {"sample_weight": weights}

    def rounded(*columns):
        return {tuple(np.round(point, 9)) for point in zip(*columns, strict=True)}

    corners = rounded(*roc_frontier(scores, is_ood, **options))
    assert corners <= rounded(*ood_roc_curve(scores, is_ood, **options)[:2])
    options["ood_prior"] = 0.25
    corners = rounded(*precision_recall_frontier(scores, is_ood, **options))
    curve = ood_precision_recall_curve(scores, is_ood, **options)
    assert corners <= rounded(*curve[:2])
    options = {"sample_weight": weights, "max_fpr": 0.5}
    corners = rounded(*risk_coverage_frontier(scores, losses, is_ood, **options))
    curve = risk_coverage_curve(scores, losses, is_ood=is_ood, **options)
    assert corners <= rounded(*curve[:2])


def test_two_scores_by_hand():
    # Neither score separates them, their sum does.
    risk, novelty = np.array([0.0, 1.0, 0.6, 1.0]), np.array([1.0, 0.0, 0.6, 1.0])
    is_ood = np.array([False, False, True, True])
    assert [x.tolist() for x in roc_frontier(risk, is_ood)] == [[0, 1], [0.5, 1]]
    scores = np.column_stack([risk, novelty])
    assert [x.tolist() for x in roc_frontier(scores, is_ood)] == [[0], [1]]
    precision, recall = precision_recall_frontier(scores, is_ood, ood_prior=0.5)
    assert (precision.tolist(), recall.tolist()) == ([1], [1])


def test_many_samples_are_rounded_to_the_safe_side(monkeypatch):
    rng = np.random.default_rng(0)
    n = 12_000
    is_ood = rng.random(n) < 0.4
    scores = np.column_stack([rng.normal(size=n), rng.normal(size=n)])
    scores[is_ood] += 0.7
    losses = (rng.random(n) < 0.2 + 0.1 * (scores[:, 0] > 0)).astype(float)
    calls = [
        lambda: roc_frontier(scores, is_ood, n_directions=5),
        lambda: precision_recall_frontier(
            scores, is_ood, ood_prior=0.2, n_directions=5
        )[::-1],
        lambda: risk_coverage_frontier(
            scores, losses, is_ood, max_fpr=0.4, n_directions=5
        ),
    ]
    monkeypatch.setattr(_frontiers, "_FINEST", 500)
    coarse = [call() for call in calls]
    monkeypatch.setattr(_frontiers, "_FINEST", n)
    exact = [call() for call in calls]
    levels = np.arange(1, 501) / 500
    for rates, _ in coarse:
        assert len(rates) <= 501
        np.testing.assert_allclose(rates * 500, np.round(rates * 500), atol=1e-9)
    # On the grid nothing is lost: at a bound that is on it, both frontiers agree.
    values = [
        y[np.searchsorted(x, levels + 1e-9) - 1] for x, y in (coarse[0], exact[0])
    ]
    np.testing.assert_allclose(*values)
    for (x, y), (x_exact, y_exact) in zip(coarse[1:], exact[1:], strict=True):
        reachable = levels[levels <= x[-1]]
        value = y[np.searchsorted(x, reachable - 1e-9)]
        expected = y_exact[np.searchsorted(x_exact, reachable - 1e-9)]
        np.testing.assert_allclose(value, expected)


def test_no_rule_keeps_the_bound():
    # An OOD sample that is always accepted.
    scores, is_ood = [-np.inf, 0.1, 0.2], [True, False, True]
    tpr, risk = risk_coverage_frontier(scores, [0, 0, 0], is_ood, max_fpr=0.4)
    assert len(tpr) == len(risk) == 0


def test_risk_of_zero_has_no_sign():
    _, risk = risk_coverage_frontier([0.1, 0.2], [0, 0], [False, True])
    assert not np.signbit(risk).any()


FRONTIERS = [
    (roc_frontier, {}, "for a ROC frontier"),
    (precision_recall_frontier, {"ood_prior": 0.2}, "for a precision-recall frontier"),
]


@pytest.mark.parametrize(("frontier", "options", "what"), FRONTIERS)
def test_frontiers_need_ood(frontier, options, what):
    with pytest.raises(ValueError, match=f"is_ood is False for all .*{what}"):
        frontier([1, 2], [False, False], **options)


def test_bad_bounds():
    with pytest.raises(ValueError, match="needed for a bound on the FPR"):
        risk_coverage_frontier([1, 2], [0, 0], [False, False])
    with pytest.raises(ValueError, match=r"max_fpr must be in \[0, 1\], got 20"):
        risk_coverage_frontier([1, 2], [0, 0], [False, True], max_fpr=20)
    with pytest.raises(ValueError, match="ood_prior must be in"):
        precision_recall_frontier([1, 2], [False, True], ood_prior=1)
    with pytest.raises(ValueError, match="n_directions must be"):
        roc_frontier([[1, 2], [2, 1]], [False, True], n_directions=1)


# The curve of risk and coverage where some samples are OOD.


@given(origin_samples(), st.sampled_from([None, 0.0, 0.4, 1.0]))
def test_risk_coverage_curve_of_id_samples(sample, max_fpr):
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    coverage, risk, thresholds = risk_coverage_curve(
        scores, losses, is_ood=is_ood, max_fpr=max_fpr, sample_weight=sample[3]
    )
    expected = []
    for value in np.unique(scores[~is_ood & (weights > 0) & (scores < np.inf)]):
        accepted = weights * (scores <= value)
        fpr = accepted[is_ood].sum() / weights[is_ood].sum()
        if max_fpr is None or fpr <= max_fpr + 1e-12:
            inside = accepted[~is_ood]
            share = inside.sum() / weights[~is_ood].sum()
            expected.append((share, inside @ losses[~is_ood] / inside.sum(), value))
    points = np.column_stack([coverage, risk, thresholds])
    np.testing.assert_allclose(points, np.reshape(expected, (-1, 3)), atol=1e-15)


@given(origin_samples(with_ood=False))
def test_risk_coverage_curve_without_infinite_scores_or_ood(sample):
    scores, losses, _, weights = sample
    scores = np.where(np.isinf(scores), 7.0, scores)
    points = risk_coverage_curve(scores, losses, sample_weight=weights)
    nobody = np.zeros(len(scores), dtype=bool)
    again = risk_coverage_curve(scores, losses, is_ood=nobody, sample_weight=weights)
    np.testing.assert_allclose(again, points, rtol=1e-14)


def test_bad_bounds_of_the_risk_coverage_curve():
    sample = [1, 2], [0, 0]
    with pytest.raises(ValueError, match=r"max_fpr=0\.5 limits.* Pass is_ood"):
        risk_coverage_curve(*sample, max_fpr=0.5)
    with pytest.raises(ValueError, match="needed for a bound on the FPR"):
        risk_coverage_curve(*sample, is_ood=[False, False], max_fpr=0.5)
    with pytest.raises(ValueError, match="max_fpr must be in"):
        risk_coverage_curve(*sample, is_ood=[False, True], max_fpr=1.5)
    with pytest.raises(ValueError, match="use risk_coverage_frontier"):
        risk_coverage_curve([[1, 2], [1, 2]], [0, 0], is_ood=[False, True])
