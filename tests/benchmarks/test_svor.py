"""The solver of ordinal regression reaches the minimum that slower ones find."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.papers._svor import SVOR

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
    """Return an upper and a lower bound of the minimum, from the dual in a box."""
    rows, signs = replicate(X, y)
    examples = rows * signs[:, np.newaxis]

    def negative_dual(slopes):
        pull = examples.T @ slopes / len(y)
        value = pull @ pull / (2 * alpha) - slopes.sum() / len(y)
        return value, examples @ pull / (alpha * len(y)) - 1 / len(y)

    solution = minimize(
        negative_dual,
        np.full(len(signs), 0.5),
        jac=True,
        bounds=[(0, 1)] * len(signs),
        options={"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-10},
    )
    w, b = np.split(examples.T @ solution.x / (alpha * len(y)), [X.shape[1]])
    return objective(w, b, X, y, alpha), -solution.fun


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_objective_is_the_minimum_of_the_dual_quadratic_program(alpha, n_classes, seed):
    X, y = make_sample(seed, n_classes=n_classes)
    above, below = minimum(X, y, alpha)
    assert above == pytest.approx(below, rel=1e-2), "the reference has not converged"
    svor = SVOR(alpha, tol=1e-6).fit(X, y)
    # The minimum lies between the two, and old solvers leave a gap.
    assert below - 1e-9 <= svor.objective_ <= above * (1 + 2e-6) + 1e-9


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
    svor = SVOR(alpha, tol=1e-8).fit(X, y)
    found = np.concatenate([svor.coef_, svor.thresholds_])
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
