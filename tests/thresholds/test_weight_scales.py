"""Weights are relative: times any number they choose the same thresholds."""

import numpy as np
import pytest

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.thresholds import operating_point, optimal_path

SCALES = (1e-12, 1e-3, 1 / 37, 1e12)


def logged(seed, n_classifiers):
    """Scores with ties, ratings, and whole or other weights."""
    rng = np.random.default_rng(seed)
    y = (rng.random(40) < 0.4).astype(int)
    scores = rng.normal(size=(40, n_classifiers)) + y[:, np.newaxis]
    weight = rng.integers(1, 4, 40) if seed % 2 else rng.random(40) + 0.01
    return np.round(scores * 2) / 2, y, weight.astype(float)


@pytest.mark.parametrize(
    "smoothing", ["concave", pytest.param("isotonic", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize(
    ("method", "n_classifiers"),
    [("graph", 1), ("graph", 2), ("graph", 3), ("analytic", 2), ("direct", 2)],
)
def test_operating_point(method, n_classifiers, rule, smoothing):
    options = {"rule": rule, "method": method, "smoothing": smoothing}
    options |= {"target_derivative": 0.5, "n_thresholds": 8}
    for seed in (14, 15):
        scores, y, weight = logged(seed, n_classifiers)
        point = operating_point(scores, y, sample_weight=weight, **options)
        for scale in SCALES:
            scaled = operating_point(scores, y, sample_weight=scale * weight, **options)
            np.testing.assert_array_equal(scaled.thresholds, point.thresholds)
            counts = np.array([point.fp, point.tp, *point.fp_interval])
            found = scaled.fp, scaled.tp, *scaled.fp_interval
            np.testing.assert_allclose(found, scale * counts, rtol=1e-9)
            np.testing.assert_allclose(
                scaled.precision_interval, point.precision_interval, rtol=1e-9
            )


@pytest.mark.parametrize("search", ["grid", "pairs"])
@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("n_classifiers", [2, 3])
def test_optimal_path(search, rule, n_classifiers):
    for seed in range(6):
        scores, y, weight = logged(seed, n_classifiers)
        options = {"rule": rule, "search": search, "n_thresholds": 8}
        path = optimal_path(scores, y, sample_weight=weight, **options)
        for scale in SCALES:
            scaled = optimal_path(scores, y, sample_weight=scale * weight, **options)
            np.testing.assert_array_equal(scaled.thresholds, path.thresholds)
            assert scaled.area == pytest.approx(scale**2 * path.area)


@pytest.mark.parametrize(("n", "smoothing"), [(30_000, "concave"), (1000, "isotonic")])
def test_equal_weights_are_as_good_as_none(n, smoothing):
    # Steps of one true for two false positives, which sums of weights part. All of them
    # are one segment, whose slope is the target.
    scores = np.repeat(np.arange(float(n)), 3)
    y = np.tile([1, 0, 0], n)
    scores[:30], y[:30] = 0.0, 0
    scores[-30:], y[-30:] = n, 1
    options = {"target_derivative": 0.5, "smoothing": smoothing}
    point = operating_point(scores, y, **options)
    for weight in (0.1, 1 / 3000):
        even = operating_point(scores, y, sample_weight=weight, **options)
        np.testing.assert_array_equal(even.thresholds, point.thresholds)
        assert even.tp == pytest.approx(weight * point.tp)


def test_tuner():
    scores, y, weight = logged(14, 2)
    options = {"marginal_precision": 0.3, "cv": 3, "random_state": 0}
    tuner = EnsembleThresholdTuner(None, **options).fit(scores, y, sample_weight=weight)
    for scale in SCALES:
        scaled = EnsembleThresholdTuner(None, **options)
        scaled.fit(scores, y, sample_weight=scale * weight)
        np.testing.assert_array_equal(scaled.thresholds_, tuner.thresholds_)
        np.testing.assert_array_equal(
            scaled.cross_validated_point_.thresholds,
            tuner.cross_validated_point_.thresholds,
        )
        again = scaled.retarget(marginal_precision=0.4)
        np.testing.assert_array_equal(
            again.thresholds_, tuner.retarget(marginal_precision=0.4).thresholds_
        )
