"""The sets of a fitted classifier approach those of the true probabilities.

Theorem 3 of NKRD16: with consistent probabilities the regret goes to zero.
"""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode
from sklearn_reject.metrics import set_loss

N_TRAINING = [100, 1_000, 10_000, 100_000]
N_REPEATS = 20
N_ITEMS, N_SETS, N_DRAWS = 40, 200, 100


def draw(n_samples, rng):
    """Return samples and their true probabilities of a rare class."""
    X = rng.normal(size=(n_samples, 5))
    return X, expit(1.5 * X[:, 0] + X[:, 1] - 2.5)


def regret(n_training, loss, rng):
    """Return the mean loss beyond that of the best sets, over labels that are drawn."""
    X, eta = draw(n_training, rng)
    y = rng.random(n_training) < eta
    decoder = ExpectedLossDecoder(LogisticRegression(), loss=loss, strategy="dta")
    decoder.fit(X, y)
    X, eta = draw(N_ITEMS * N_SETS, rng)
    groups = np.repeat(np.arange(N_SETS), N_ITEMS)
    mask = decoder.predict(X, groups=groups).reshape(N_SETS, N_ITEMS)
    eta = eta.reshape(mask.shape)
    best, _ = decode(eta, loss=loss)
    differ = (mask != best).any(axis=1)
    eta, mask, best = (
        np.tile(part[differ], (N_DRAWS, 1)) for part in (eta, mask, best)
    )
    truth = rng.random(eta.shape) < eta
    of_both = (set_loss(truth, sets == 1, loss=loss) for sets in (mask, best))
    return np.subtract(*of_both) * differ.mean() if differ.any() else 0.0


@pytest.mark.parametrize("loss", ["f1", "jaccard", "am", "g_tp_pr", "g_mean"])
def test_regret_goes_to_zero(loss):
    rng = np.random.default_rng(0)
    regrets = [
        np.mean([regret(n_training, loss, rng) for _ in range(N_REPEATS)])
        for n_training in N_TRAINING
    ]
    assert all(np.diff(regrets) < 0)
    assert 0 <= regrets[-1] < 0.05 * regrets[0]
