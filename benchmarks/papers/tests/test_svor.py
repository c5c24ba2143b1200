"""The solver of ordinal regression reaches the minimum that slower ones find."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.papers._svor import SVOR
from benchmarks.papers.tests._quadratic import solve_quadratic_program

ALPHAS = [1e-3, 0.1, 10.0]


def make_sample(seed, n_samples=60, n_features=3, n_classes=4):
    """Return features and ordered labels, some far from where a line would be."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    latent = X @ rng.normal(size=n_features) + rng.standard_t(2, n_samples)
    y = np.searchsorted(np.quantile(latent, [0.2, 0.5, 0.9][: n_classes - 1]), latent)
    return X, y


def objective(w, b, X, y, alpha):
    """Compute the objective as it is written, sample by sample."""
    total = 0.0
    for x, label in zip(X, y, strict=True):
        for position, threshold in enumerate(b):
            sign = 1 if position < label else -1
            total += max(0.0, 1 - sign * (w @ x - threshold))
    return alpha / 2 * (w @ w + b @ b) + total / len(y)


def replicate(X, y):
    """Return the examples (x_i, -e_y) of the equivalent binary problem."""
    rows, signs = [], []
    for x, label in zip(X, y, strict=True):
        for position in range(y.max()):
            unit = np.zeros(y.max())
            unit[position] = 1
            rows.append(np.concatenate([x, -unit]))
            signs.append(1 if position < label else -1)
    return np.array(rows), np.array(signs)


def minimum(X, y, alpha):
    """Return an upper and a lower bound of the minimum, proven to be close.

    The quadratic program has w, b and one slack for each threshold of each sample. The
    upper bound is the objective of what it finds; the lower one is the dual value of
    its multipliers, which is one for any numbers between 0 and 1.
    """
    rows, signs = replicate(X, y)
    examples = rows * signs[:, np.newaxis]
    n_examples, n_parameters = examples.shape
    identity, nothing = np.eye(n_examples), np.zeros((n_examples, n_parameters))
    found, multipliers = solve_quadratic_program(
        P=alpha * np.diag(np.arange(n_parameters + n_examples) < n_parameters),
        q=np.repeat([0, 1 / len(y)], [n_parameters, n_examples]),
        # slack >= 1 - margin and slack >= 0
        G=-np.block([[examples, identity], [nothing, identity]]),
        h=np.repeat([-1.0, 0.0], n_examples),
    )
    w, b = np.split(found[:n_parameters], [X.shape[1]])
    above = objective(w, b, X, y, alpha)
    slopes = np.clip(multipliers[:n_examples] * len(y), 0, 1)
    pull = examples.T @ slopes / len(y)
    below = slopes.sum() / len(y) - pull @ pull / (2 * alpha)
    assert below <= above + 1e-12, "the dual is not what it should be"
    assert above - below <= 1e-9, "the reference has not converged"
    return above, below


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_objective_is_the_minimum_of_the_quadratic_program(alpha, n_classes, seed):
    X, y = make_sample(seed, n_classes=n_classes)
    above, below = minimum(X, y, alpha)
    svor = SVOR(alpha, tol=1e-6).fit(X, y)
    assert below - 1e-9 <= svor.objective_ <= above * (1 + 1.1e-6) + 1e-9


@pytest.mark.parametrize("alpha", ALPHAS)
def test_reported_objective_and_gap(alpha):
    X, y = make_sample(5)
    svor = SVOR(alpha, tol=1e-4).fit(X, y)
    expected = objective(svor.coef_, svor.thresholds_, X, y, alpha)
    assert svor.objective_ == pytest.approx(expected, rel=1e-12)
    _, lowest = minimum(X, y, alpha)
    assert svor.objective_ - lowest <= svor.duality_gap_ + 1e-9
    assert 0 <= svor.duality_gap_ <= 1e-4 * svor.objective_


def test_no_direction_leads_below_the_solution():
    X, y = make_sample(1)
    svor = SVOR(0.01, tol=1e-8).fit(X, y)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(200):
            w = svor.coef_ + scale * rng.normal(size=3)
            b = svor.thresholds_ + scale * rng.normal(size=3)
            assert objective(w, b, X, y, 0.01) >= svor.objective_ * (1 - 1e-8)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0])
def test_parameters_are_those_of_a_linear_svm_on_replicated_rows(alpha):
    X, y = make_sample(2)
    rows, signs = replicate(X, y)
    svm = LinearSVC(
        loss="hinge",
        C=1 / (alpha * len(y)),
        fit_intercept=False,
        tol=1e-10,
        max_iter=10**6,
        random_state=0,
    ).fit(rows, signs)
    w, b = np.split(svm.coef_[0], [X.shape[1]])
    _, below = minimum(X, y, alpha)
    assert objective(w, b, X, y, alpha) - below <= 1e-9, (
        "the reference did not converge"
    )
    svor = SVOR(alpha, tol=1e-9).fit(X, y)
    found = np.concatenate([svor.coef_, svor.thresholds_])
    # An objective above the minimum by g leaves parameters off by sqrt(2 g / alpha).
    np.testing.assert_allclose(found, svm.coef_[0], atol=1e-3)


def test_predictions_and_margins_count_from_the_thresholds():
    X, y = make_sample(3)
    names = np.array([10, 20, 35, 50])
    svor = SVOR(0.01).fit(X, names[y])
    values = X @ svor.coef_
    np.testing.assert_array_equal(svor.classes_, names)
    np.testing.assert_allclose(svor.latent(X), values)
    for x, value in zip(X, values, strict=True):
        exceeded = sum(value > threshold for threshold in svor.thresholds_)
        distance = min(abs(value - threshold) for threshold in svor.thresholds_)
        assert svor.predict([x]) == names[exceeded]
        assert svor.margin([x]) == pytest.approx(distance)


def test_thresholds_are_in_order():
    X, y = make_sample(4, n_samples=300)
    assert (np.diff(SVOR(1e-3).fit(X, y).thresholds_) > 0).all()


def test_separable_classes_are_learned():
    X = np.linspace(-1, 1, 90)[:, np.newaxis]
    y = np.repeat([0, 1, 2], 30)
    np.testing.assert_array_equal(SVOR(1e-5).fit(X, y).predict(X), y)


def test_uninformative_and_collinear_features():
    X, y = make_sample(0)
    X = np.column_stack([X, X[:, 0], np.zeros(len(y))])
    svor = SVOR(1e-4, tol=1e-6).fit(X, y)
    assert svor.coef_[0] == pytest.approx(svor.coef_[3], rel=1e-3)
    assert svor.coef_[4] == 0


def test_too_few_steps_warn():
    X, y = make_sample(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        SVOR(1e-3, max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVOR(1e-3).fit(X, y)
