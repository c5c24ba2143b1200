"""The sets of a fitted classifier approach those of the true probabilities.

Theorem 3 of NKRD16: with consistent probabilities the regret goes to zero.
"""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode
from sklearn_reject.losses import check_set_loss

N_TRAINING = [100, 1_000, 10_000, 100_000]
N_REPEATS = 20
N_ITEMS, N_SETS = 40, 200


def draw(n_samples, rng):
    """Return samples and their true probabilities of a rare class."""
    X = rng.normal(size=(n_samples, 5))
    return X, expit(1.5 * X[:, 0] + X[:, 1] - 2.5)


def law_of_count(eta):
    law = np.ones(1)
    for share in eta:
        law = np.convolve(law, [1 - share, share])
    return law


def expected_loss(mask, eta, loss):
    """Return what a set loses in the mean over all labels of its items."""
    of_tp, of_fn = law_of_count(eta[mask]), law_of_count(eta[~mask])
    tp, fn = np.arange(len(of_tp))[:, np.newaxis], np.arange(len(of_fn))
    losses = check_set_loss(loss)(tp, mask.sum() - tp, fn, (~mask).sum() - fn)
    return of_tp @ losses @ of_fn


def regret(n_training, loss, rng):
    """Return the mean expected loss beyond that of the best sets."""
    X, eta = draw(n_training, rng)
    y = rng.random(n_training) < eta
    decoder = ExpectedLossDecoder(LogisticRegression(), loss=loss, strategy="dta")
    decoder.fit(X, y)
    X, eta = draw(N_ITEMS * N_SETS, rng)
    groups = np.repeat(np.arange(N_SETS), N_ITEMS)
    masks = decoder.predict(X, groups=groups).reshape(N_SETS, N_ITEMS) == 1
    eta = eta.reshape(masks.shape)
    best, _ = decode(eta, loss=loss)
    of_sets = [
        expected_loss(mask, row, loss) - expected_loss(best_mask == 1, row, loss)
        for mask, best_mask, row in zip(masks, best, eta, strict=True)
        if (mask != best_mask).any()
    ]
    return sum(of_sets) / N_SETS


@pytest.mark.parametrize("loss", ["f1", "jaccard", "am", "g_tp_pr", "g_mean"])
def test_regret_goes_to_zero(loss):
    rng = np.random.default_rng(0)
    regrets = [
        np.mean([regret(n_training, loss, rng) for _ in range(N_REPEATS)])
        for n_training in N_TRAINING
    ]
    assert all(np.diff(regrets) < 0)
    assert 0 <= regrets[-1] < 0.05 * regrets[0]
