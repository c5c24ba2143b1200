"""Known chances of an error, so that the risk of a threshold is known exactly."""

import numpy as np

# Chance of an error at a score that is uniform on [0, 1].
RISK_CURVES = {
    "s^2": lambda s: s**2,
    "3 % floor": lambda s: 0.03 + 0.97 * s**2,
    "U-shape": lambda s: 0.3 * (2 * s - 0.8) ** 2,
    "bump": lambda s: 0.02 + 0.35 * np.exp(-(((s - 0.25) / 0.06) ** 2)) + 0.3 * s**6,
}


def draw_errors(curve, n_samples, seed):
    """Return scores and whether each sample is an error, 0 or 1."""
    rng = np.random.default_rng(seed)
    scores = rng.random(n_samples)
    errors = rng.random(n_samples) < RISK_CURVES[curve](scores)
    return scores, errors.astype(np.float64)
