"""What rules for ID and OOD samples are tuned and certified on, kept for other ones."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._fitting import Samples
from sklearn_reject._response import row_keys
from sklearn_reject._validation import take_weight
from sklearn_reject.selection import keyed_draws


@dataclass(frozen=True, eq=False)
class OODCalibration:
    """Samples that a rule is tuned on or, as `held_out` of these, certified on."""

    #: Risk and novelty, shape (n_samples, 2).
    scores: np.ndarray
    #: Shape (n_samples,), as all that follows; zero for OOD samples.
    losses: np.ndarray
    is_ood: np.ndarray
    #: Positions among the samples that `fit` was given.
    rows: np.ndarray
    #: None where all samples weigh one.
    sample_weight: np.ndarray | None = None
    #: What breaks ties of samples that certify; None of those that tune.
    draws: np.ndarray | None = None
    held_out: "OODCalibration | None" = None


def keep_calibration(evaluated, X, y, weight, *, held_out, seed):
    """Return what tunes the rule, and what certifies it where rows are held out."""
    is_ood, certifying = evaluated.score.is_ood, None
    if held_out is not None:
        scores, losses = evaluated.score.evaluate(
            evaluated.estimator, Samples(X, y), held_out, evaluated.plan.final
        )
        draws = keyed_draws(seed, row_keys(X, held_out))
        certifying = OODCalibration(
            scores, losses, is_ood[held_out], held_out, draws=draws
        )
    return OODCalibration(
        evaluated.scores,
        evaluated.losses,
        is_ood[evaluated.rows],
        np.arange(len(y))[evaluated.rows],
        take_weight(weight, evaluated.rows),
        held_out=certifying,
    )
