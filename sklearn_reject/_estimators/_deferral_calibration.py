"""The calibration set of a deferring classifier, and what it says of its parts."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._estimators._groups import Groups, add_groups
from sklearn_reject._fitting._deferral import Opinions
from sklearn_reject._response._keys import row_keys
from sklearn_reject._validation import take_weight
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection import enumerate_labels, keyed_draws


@dataclass(frozen=True, eq=False)
class DeferralCalibration:
    """What a rule of deferral is solved on: opinions on samples not fitted on.

    Attributes
    ----------
    gain : ndarray of shape (n_calibration,)
        Score of what asking gains, higher = deferred first.

    predictions, expert_labels : ndarray of shape (n_calibration,)
        Labels by the first classifier, and by the expert: None where not asked.

    loss_first, loss_second : ndarray of shape (n_calibration,)
        Loss of each by the first classifier, and by the expert: NaN where the expert
        was not asked.

    cost_second : ndarray of shape (n_calibration,)
        What the expert has paid for asking others in turn.

    rows : ndarray of shape (n_calibration,)
        Which of the samples given to `fit` they are.

    sample_weight : ndarray of shape (n_calibration,) or None
        Their weights.

    draws : ndarray of shape (n_calibration,) or None
        Draws in [0, 1[ that break ties for a certificate; None where nothing can be
        certified.

    pilot : Opinions or None
        What was found out of fold of the samples fitted on, where others are held out:
        it tells which thresholds to test.

    groups : ndarray of shape (n_calibration,) or None
        Group of each, None without `group_by`.

    grouping : Groups or None
        The groups of all samples given to `fit`.
    """

    gain: np.ndarray
    predictions: np.ndarray
    expert_labels: np.ndarray
    loss_first: np.ndarray
    loss_second: np.ndarray
    cost_second: np.ndarray
    rows: np.ndarray
    sample_weight: np.ndarray | None = None
    draws: np.ndarray | None = None
    pilot: Opinions | None = None
    groups: np.ndarray | None = None
    grouping: Groups | None = None

    @property
    def samples(self):
        """What every solver takes."""
        names = "gain", "loss_first", "loss_second", "sample_weight"
        return {name: getattr(self, name) for name in names}


def deferral_calibration_of(evaluated, X, weight, seed, groups):
    """Return what was evaluated out of sample as a :class:`DeferralCalibration`."""
    found, draws, plan = evaluated.calibration, None, evaluated.plan
    if plan.held_out is not None and not plan.is_stratified:
        # The draws that the fitted estimator will make for the same rows.
        draws = keyed_draws(seed, row_keys(X, found.rows))
    calibration = DeferralCalibration(
        found.gain,
        found.first,
        found.second,
        found.loss_first,
        found.loss_second,
        found.cost_second,
        found.rows,
        take_weight(weight, found.rows),
        draws,
        evaluated.pilot,
    )
    return replace(add_groups(calibration, groups), grouping=groups)


def warn_of_useless_expert(rule):
    """Warn of an expert who is never asked, and is no better than the first."""
    # Nobody is missed where the first makes no error.
    is_useless = rule.second_risk >= rule.first_risk > 0
    if rule.deferral_rate == 0 and is_useless:
        warn_user(
            "Nothing is deferred: on the calibration set the expert has risk "
            f"{rule.second_risk:.3g} and the first classifier {rule.first_risk:.3g}, "
            "and for no part that the gain score selects does asking reduce the loss "
            "by more than its cost. Use another expert, or more samples to learn where "
            "this one is better.",
            once=True,
        )


def warn_of_unknown_labels(calibration, classes):
    """Warn where the expert says what is no class, which counts as a wrong label."""
    known = {*classes.tolist(), None}
    unknown = [label for label in calibration.expert_labels if label not in known]
    if unknown:
        warn_user(
            f"The expert returned {enumerate_labels(dict.fromkeys(unknown))} about "
            f"{len(unknown)} of {len(calibration.gain)} samples, which is not a class "
            "and counts as a wrong label. An expert that rejects samples itself needs "
            "reject_label=None. An expert that defers to a person must be a "
            "DeferringClassifier with expert=None. Use None for labels that a person "
            "does not know.",
            once=True,
        )
