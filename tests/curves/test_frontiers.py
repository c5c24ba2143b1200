"""Frontiers against all thresholds of all sums, and against the solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import _curves as curves
from sklearn_reject import metrics
from sklearn_reject.selection import tune_double_score
from tests.curves.test_ood import both_kinds, labels_of
from tests.origin_samples import origin_samples, thresholds_of, weights_of
from tests.selection.ood_oracle import Sample, all_scores


def roc(sample):
    return curves.roc_frontier(sample[0], sample[2], sample_weight=sample[3])


def precision_recall(sample, ood_prior=0.4):
    options = {"sample_weight": sample[3], "ood_prior": ood_prior}
    return curves.precision_recall_frontier(sample[0], sample[2], **options)


def risk_coverage(sample, max_fpr=0.5):
    options = {"sample_weight": sample[3], "max_fpr": max_fpr}
    return curves.risk_coverage_frontier(*sample[:3], **options)


def rules(sample):
    """Yield (tpr, fpr, risk) of every threshold of every order of the sums."""
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    orders = [scores]
    if scores.ndim == 2:
        found = Sample(*scores[weights > 0].T, *(None, None))
        orders = [np.full(len(scores), np.inf) for _ in all_scores(found)]
        for order, values in zip(orders, all_scores(found), strict=True):
            order[weights > 0] = np.array(values, float)
    for order in orders:
        for threshold in thresholds_of(order):
            accepted = weights * (order <= threshold)
            tpr = accepted[~is_ood].sum() / weights[~is_ood].sum()
            fpr = accepted[is_ood].sum() / weights[is_ood].sum()
            risk = np.nan
            if tpr:
                risk = accepted[~is_ood] @ losses[~is_ood] / accepted[~is_ood].sum()
            yield tpr, fpr, risk


@given(both_kinds)
def test_roc_frontier_against_all_rules(sample):
    fpr, tpr = roc(sample)
    assert (np.diff(fpr) > 0).all()
    assert (np.diff(tpr) > 0).all()
    attained = list(rules(sample))
    for bound in {rate for _, rate, _ in attained} | set(fpr) | {1.0}:
        best = max((t for t, f, _ in attained if f <= bound + 1e-12), default=None)
        point = np.searchsorted(fpr, bound + 1e-12) - 1
        assert (None if point < 0 else tpr[point]) == pytest.approx(best)


def assert_best_at_least(x, y, attained, pick):
    """Assert that each point of a frontier has the best y of rules of x or more."""
    assert (np.diff(x) > 0).all()
    assert (len(x) == 0) == (not attained)
    for bound in {t for t, _ in attained} | set(x):
        best = pick(value for t, value in attained if t >= bound - 1e-12)
        point = np.searchsorted(x, bound - 1e-12)
        assert y[point] == pytest.approx(best, abs=1e-14)


@given(both_kinds, st.sampled_from([None, 0.0, 0.25]))
def test_precision_recall_frontier_against_all_rules(sample, prior):
    precision, recall = precision_recall(sample, prior)
    assert (np.diff(precision) < 0).all()
    if prior is None:
        prior = np.average(sample[2], weights=sample[3])
    attained = [
        (t, (1 - prior) * t / ((1 - prior) * t + prior * f))
        for t, f, _ in rules(sample)
        if t
    ]
    assert_best_at_least(recall, precision, attained, max)


@given(both_kinds, st.sampled_from([0.0, 0.4, 1.0]))
def test_risk_coverage_frontier_against_all_rules(sample, max_fpr):
    tpr, risk = risk_coverage(sample, max_fpr)
    assert (np.diff(risk) > 0).all()
    assert not np.signbit(risk).any()
    attained = [(t, r) for t, f, r in rules(sample) if t and f <= max_fpr + 1e-12]
    assert_best_at_least(tpr, risk, attained, min)


@pytest.mark.slow
def test_many_samples_are_rounded_to_the_safe_side():
    rng = np.random.default_rng(0)
    n = 12_000
    is_ood = rng.random(n) < 0.4
    scores = rng.normal(size=(n, 2))
    scores[is_ood] += 0.7
    losses = (rng.random(n) < 0.2 + 0.1 * (scores[:, 0] > 0)).astype(float)
    sample = scores, losses, is_ood, None
    fpr, tpr = roc(sample)
    shares, risk = risk_coverage(sample, 0.4)
    for rates in (fpr, shares, precision_recall(sample)[1]):
        np.testing.assert_allclose(rates * 10_000, np.round(rates * 10_000), atol=1e-7)
        assert len(rates) < 10_000
    for k in (len(fpr) // 3, 2 * len(fpr) // 3):
        bounds = {"min_tpr": tpr[k], "max_fpr": fpr[k]}
        assert tune_double_score(*scores.T, losses, is_ood, **bounds).tpr >= tpr[k]
    k = len(shares) // 2
    bounds = {"min_tpr": shares[k], "max_fpr": 0.4, "randomize": False}
    rule = tune_double_score(*scores.T, losses, is_ood, **bounds)
    assert rule.selective_risk <= risk[k] + 1e-12


@given(origin_samples(), st.sampled_from([None, 0.0, 0.4, 1.0]))
def test_risk_coverage_curve_of_id_samples(sample, max_fpr):
    scores, losses, is_ood, _ = sample
    options = {"loss": losses, "ood_label": -1, "sample_weight": sample[3]}
    points = metrics.risk_coverage_curve(
        labels_of(is_ood), None, scores, max_fpr=max_fpr, **options
    )
    expected = [
        (tpr, risk, threshold)
        for (tpr, fpr, risk), threshold in zip(
            rules(sample), thresholds_of(scores), strict=True
        )
        if (max_fpr is None or fpr <= max_fpr + 1e-12)
        and (weights_of(sample) * ~is_ood)[scores == threshold].any()
    ]
    points = np.column_stack(points)
    np.testing.assert_allclose(points, np.reshape(expected, (-1, 3)), atol=1e-15)


NOBODY = np.zeros(2, bool)
ONE = np.array([False, True])


def curve(sample, max_fpr=0.5):
    options = {"loss": [0, 0], "ood_label": -1, "max_fpr": max_fpr}
    return metrics.risk_coverage_curve(labels_of(sample[2]), None, [1, 2], **options)


@pytest.mark.parametrize(
    ("frontier", "is_ood", "options", "message"),
    [
        (roc, NOBODY, {}, "for a ROC frontier"),
        (precision_recall, NOBODY, {}, "for a precision-recall frontier"),
        (risk_coverage, NOBODY, {}, "needed for a bound on the FPR"),
        (curve, NOBODY, {}, "needed for a bound on the FPR"),
        (risk_coverage, ONE, {"max_fpr": 20}, r"max_fpr must be in \[0, 1\], got 20"),
        (curve, ONE, {"max_fpr": 1.5}, "max_fpr must be in"),
        (precision_recall, ONE, {"ood_prior": 1}, "ood_prior must be in"),
    ],
)
def test_errors(frontier, is_ood, options, message):
    with pytest.raises(ValueError, match=message):
        frontier((np.arange(2.0), np.zeros(2), is_ood, None), **options)
