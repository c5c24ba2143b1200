"""Made-up scores and labels of many samples."""

from collections import namedtuple

import numpy as np

N_SAMPLES = 10**6

Sample = namedtuple("Sample", "y_true y_pred scores errors")


def _uniform_scores(rng, n_samples):
    return rng.random(n_samples)


def _confident_scores(rng, n_samples):
    """Return conditional risks of a classifier that is mostly sure, down to 1e-20."""
    return 1 / (1 + np.exp(np.abs(rng.normal(0, 10, n_samples))))


def _hundred_scores(rng, n_samples):
    return rng.integers(0, 100, n_samples) / 100


SCORES = {
    "uniform": _uniform_scores,
    "confident": _confident_scores,
    "100 distinct": _hundred_scores,
}


def make_sample(kind, error_rate=0.1, n_samples=N_SAMPLES, seed=0):
    """Return binary labels, predictions, scores of a kind, and 0/1 losses.

    The scores are informative: the chance of an error grows with the rank of the score,
    from zero to twice the error rate.
    """
    rng = np.random.default_rng(seed)
    scores = SCORES[kind](rng, n_samples)
    chance = 2 * error_rate * _quantiles(scores)
    errors = rng.random(n_samples) < chance
    y_true = rng.integers(0, 2, n_samples)
    y_pred = np.where(errors, 1 - y_true, y_true)
    return Sample(y_true, y_pred, scores, errors.astype(np.float64))


def _quantiles(scores):
    quantiles = np.empty(len(scores))
    quantiles[np.argsort(scores)] = np.linspace(0, 1, len(scores))
    return quantiles


def make_real_losses(scores, seed=1):
    """Return real-valued losses that tend to grow with the score."""
    rng = np.random.default_rng(seed)
    return _quantiles(scores) * rng.exponential(size=len(scores))


def sort_and_accumulate(scores, losses):
    """Return the loss of each prefix: what any exact curve has to compute."""
    return np.cumsum(losses[np.argsort(scores)])


def sort_and_accumulate_ties(scores, losses):
    """Return the loss of each prefix that ends between two distinct scores."""
    order = np.argsort(scores)
    scores, losses = scores[order], losses[order]
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    return np.cumsum(np.add.reduceat(losses, starts))
