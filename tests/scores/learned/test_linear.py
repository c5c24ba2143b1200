"""Linear scores: the design, the ridge path, and the optimum of SELE."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from sklearn_reject._curves import aurc_score
from sklearn_reject.losses import sele_loss_and_gradient
from sklearn_reject.scores import SELE, LossRegression, TrueClassProbability
from sklearn_reject.scores.learned._linear import (
    Design,
    make_ridge_solver,
    split_off,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 4)) * [1, 10, 0.1, 3] + [0, 5, 0, -2]
centers = rng.normal(size=(3, 4)) * [1, 10, 0.1, 3]
y = np.argmin(
    ((X[:, None] - centers) ** 2 / [1, 100, 0.01, 9]).sum(axis=2)
    + rng.exponential(size=(900, 3)),
    axis=1,
)
MODEL = LogisticRegression(C=0.01, max_iter=2000).fit(X[:300], y[:300])
X_LEARN, Y_LEARN = X[300:], y[300:]
LOSSES = (MODEL.predict(X_LEARN) != Y_LEARN).astype(float)


def expand(X, labels, n_labels):
    """Return the features of eq. 37 as one matrix: a block a label, and intercepts."""
    scaled = StandardScaler().fit_transform(X)
    columns = np.column_stack([scaled, np.ones(len(X))])
    blocks = [columns * (labels == label)[:, np.newaxis] for label in range(n_labels)]
    return np.hstack(blocks)


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_design_is_the_expanded_matrix(n_labels, seed, is_sparse):
    rng = np.random.default_rng(seed)
    matrix, labels = rng.normal(size=(12, 3)), rng.integers(0, n_labels, 12)
    weights, values = rng.normal(size=(n_labels, 4)), rng.normal(size=12)
    columns = np.column_stack([matrix, np.ones(12)])
    blocks = [columns * (labels == k)[:, np.newaxis] for k in range(n_labels)]
    expanded = np.hstack(blocks)
    given = sparse.csr_matrix(matrix) if is_sparse else matrix
    design = Design(given, labels, n_labels)
    scores = expanded @ weights.ravel()
    np.testing.assert_allclose(design.scores(weights), scores[design.order])
    np.testing.assert_allclose(design.predict(weights), scores)
    adjoint = design.adjoint(values[design.order])
    np.testing.assert_allclose(adjoint.ravel(), expanded.T @ values, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_solver_is_scikit_learns_ridge_by_label(alpha, weighted):
    rng = np.random.default_rng(1)
    matrix, labels = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    targets = rng.random(60)
    weight = rng.exponential(size=60) if weighted else None
    design = Design(matrix, labels, 3)
    sorted_weight = None if weight is None else weight[design.order]
    solve = make_ridge_solver(design, targets[design.order], sorted_weight)
    weights = solve(alpha, None)
    total = 60 if weight is None else weight.sum()
    for label in range(3):
        rows = labels == label
        ridge = Ridge(alpha=alpha * total)
        part = None if weight is None else weight[rows]
        ridge.fit(matrix[rows], targets[rows], sample_weight=part)
        np.testing.assert_allclose(weights[label, :-1], ridge.coef_, atol=1e-10)
        assert weights[label, -1] == pytest.approx(ridge.intercept_)


def test_ridge_without_penalty_on_features_that_say_nothing():
    matrix = np.column_stack([np.zeros(10), np.arange(10.0), np.arange(10.0)])
    design = Design(matrix, np.zeros(10, dtype=int), 2)
    weights = make_ridge_solver(design, 3 * np.arange(10.0), None)(0.0, None)
    np.testing.assert_allclose(design.scores(weights), 3 * np.arange(10.0), atol=1e-12)
    np.testing.assert_allclose(weights[0], [0, 1.5, 1.5, 0], atol=1e-12)
    np.testing.assert_allclose(weights[1], 0)


@pytest.mark.parametrize("alpha", [1e-3, 1e-1])
def test_sele_finds_the_minimum(alpha):
    score = SELE(alpha, tol=1e-9, random_state=0)
    score.fit(X_LEARN, Y_LEARN, estimator=MODEL)
    expanded = expand(X_LEARN, MODEL.predict(X_LEARN), 3)

    def objective(theta):
        value, gradient = sele_loss_and_gradient(expanded @ theta, LOSSES)
        value = value / LOSSES.mean() + alpha / 2 * theta @ theta
        return value, expanded.T @ gradient / LOSSES.mean() + alpha * theta

    found = np.hstack([score.coef_, score.intercept_[:, np.newaxis]]).ravel()
    best = minimize(objective, 0 * found, jac=True, options={"gtol": 1e-9})
    assert objective(found)[0] == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(found, best.x, atol=1e-3)
    linear = expanded @ found
    expected = (linear - linear.mean()) / linear.std()
    np.testing.assert_allclose(score.uncertainty(X_LEARN), expected, atol=1e-9)


def test_chunks_lead_to_about_the_same_score():
    exact = SELE(1e-2, random_state=0).fit(X_LEARN, Y_LEARN, estimator=MODEL)
    chunked = SELE(1e-2, method="chunked", chunk_size=200, random_state=0)
    chunked.fit(X_LEARN, Y_LEARN, estimator=MODEL)
    scores = exact.uncertainty(X_LEARN), chunked.uncertainty(X_LEARN)
    assert np.corrcoef(*scores)[0, 1] > 0.98
    one = SELE(1e-2, method="chunked", chunk_size=10**6, tol=1e-8, random_state=0)
    one.fit(X_LEARN, Y_LEARN, estimator=MODEL)
    tight = SELE(1e-2, tol=1e-8).fit(X_LEARN, Y_LEARN, estimator=MODEL)
    np.testing.assert_allclose(one.coef_, tight.coef_, atol=1e-4)


@pytest.mark.parametrize(
    "score",
    [
        SELE(random_state=0),
        LossRegression(features="per_label_linear", random_state=0),
        TrueClassProbability(features="per_label_linear", random_state=0),
    ],
    ids=lambda score: type(score).__name__,
)
@pytest.mark.parametrize("refit", [False, True])
def test_alpha_is_the_best_on_the_validation_part(score, refit):
    score.set_params(refit=refit).fit(X_LEARN, Y_LEARN, estimator=MODEL)
    assert score.areas_[score.alpha_] == min(score.areas_.values())
    assert set(score.areas_) == set(score.alphas)
    if not refit:
        _, held = split_off(LOSSES, 0.25, 0)
        uncertainty = score.uncertainty(X_LEARN[held])
        area = aurc_score(uncertainty, LOSSES[held])
        assert area == pytest.approx(score.areas_[score.alpha_])


def test_labels_never_predicted_are_as_uncertain_as_the_average():
    rows = MODEL.predict(X_LEARN) != 2
    for score in (SELE(1e-2), LossRegression(features="per_label_linear", alphas=1)):
        score.fit(X_LEARN[rows], Y_LEARN[rows], estimator=MODEL)
        learned = score.uncertainty(X_LEARN[rows])
        unseen = score.uncertainty(X_LEARN[~rows])
        np.testing.assert_allclose(unseen, learned.mean(), atol=1e-12)


def test_too_few_errors_to_choose_by():
    labels = MODEL.predict(X_LEARN)
    labels[0] = (labels[0] + 1) % 3
    score = SELE(random_state=0).fit(X_LEARN, labels, estimator=MODEL)
    assert score.areas_ == {}
    assert score.alpha_ == max(score.alphas)


def test_convergence_warning_is_about_the_score_that_is_kept():
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations at alpha=0"):
        SELE(0.0, max_iter=3).fit(X_LEARN, Y_LEARN, estimator=MODEL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = SELE(1e-2).fit(X_LEARN, Y_LEARN, estimator=MODEL)
    assert 1 < score.n_iter_ < 500


@pytest.mark.parametrize("alphas", [[], -1.0, [0, np.nan], "small", [[1.0]], [True]])
def test_bad_alphas(alphas):
    with pytest.raises(ValueError, match="alphas must be finite, non-negative numbers"):
        SELE(alphas).fit(X_LEARN, Y_LEARN, estimator=MODEL)


@pytest.mark.parametrize("fraction", [0, 1, 1.5, -0.1, None, "half"])
def test_bad_validation_fraction(fraction):
    score = SELE(validation_fraction=fraction)
    with pytest.raises(ValueError, match="validation_fraction must be"):
        score.fit(X_LEARN, Y_LEARN, estimator=MODEL)


@given(st.integers(1, 40), st.integers(0, 40), st.floats(0.05, 0.95))
def test_parts_share_the_losses(n_with, n_without, fraction):
    losses = np.append(np.ones(n_with), np.zeros(n_without))
    parts = split_off(losses, fraction, 0)
    if parts is None:
        assert n_with < 2 or len(losses) * min(fraction, 1 - fraction) < 2
        return
    train, held = parts
    assert sorted([*train, *held]) == list(range(len(losses)))
    if n_without > 1:
        assert abs(losses[held].mean() - losses.mean()) <= 1 / len(held)
