"""The sets of a fitted classifier approach those of the true probabilities.

Theorem 3 of NKRD16: with consistent probabilities the regret goes to zero.
"""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode
from sklearn_reject.decoding._curves import independent_curves
from sklearn_reject.losses import check_set_loss

N_TRAINING = [100, 1_000, 10_000, 100_000]
N_REPEATS = 20
N_ITEMS, N_SETS = 40, 200


def draw(n_samples, rng):
    """Return samples and their true probabilities of a rare class."""
    X = rng.normal(size=(n_samples, 5))
    return X, expit(1.5 * X[:, 0] + X[:, 1] - 2.5)


def regret(n_training, loss, rng):
    """Return the mean expected loss beyond that of the best sets."""
    X, eta = draw(n_training, rng)
    y = rng.random(n_training) < eta
    options = {"strategy": "dta", "calibration": None}
    decoder = ExpectedLossDecoder(LogisticRegression(), loss=loss, **options)
    decoder.fit(X, y)
    X, eta = draw(N_ITEMS * N_SETS, rng)
    groups = np.repeat(np.arange(N_SETS), N_ITEMS)
    mask = decoder.predict(X, groups=groups).reshape(N_SETS, N_ITEMS)
    eta = eta.reshape(mask.shape)
    best = decode(eta, loss=loss)[1]
    return (expected_losses(mask, eta, loss) - best).mean()


def expected_losses(mask, eta, loss):
    """Return the expected loss of sets that need not have the most probable items."""
    order = np.argsort(~mask, axis=1, kind="stable")
    chosen_first = np.take_along_axis(eta, order, axis=1)
    curves = independent_curves(chosen_first, check_set_loss(loss))
    return curves[np.arange(len(mask)), mask.sum(axis=1)]


@pytest.mark.parametrize("loss", ["f1", "jaccard", "am", "g_tp_pr", "g_mean"])
def test_regret_goes_to_zero(loss):
    rng = np.random.default_rng(0)
    regrets = [
        np.mean([regret(n_training, loss, rng) for _ in range(N_REPEATS)])
        for n_training in N_TRAINING
    ]
    assert all(np.diff(regrets) < 0)
    assert 0 <= regrets[-1] < 0.05 * regrets[0]
