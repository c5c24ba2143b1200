"""What a user gives as the loss of a set, as an object."""

import numpy as np

from sklearn_reject.losses._fractional_linear import FractionalLinearLoss
from sklearn_reject.losses._named_set_losses import (
    AMLoss,
    AUCLoss,
    BalancedAccuracyLoss,
    FBetaLoss,
    GMeanLoss,
    GTPPRLoss,
    HammingLoss,
    HMeanLoss,
    JaccardLoss,
    PrecisionLoss,
    RecallLoss,
)
from sklearn_reject.losses._set_loss import CallableSetLoss, SetLoss

_LOSSES = {
    "am": AMLoss,
    "auc": AUCLoss,
    "balanced_accuracy": BalancedAccuracyLoss,
    "f_beta": FBetaLoss,
    "g_mean": GMeanLoss,
    "g_tp_pr": GTPPRLoss,
    "h_mean": HMeanLoss,
    "jaccard": JaccardLoss,
    "precision": PrecisionLoss,
    "recall": RecallLoss,
    "zero_one": HammingLoss,
}

# They divide by nothing that may be zero, or say themselves what 0/0 is.
_WITHOUT_ZERO_DIVISION = ("balanced_accuracy", "zero_one")


def check_set_loss(loss, *, beta=1.0, zero_division=0.0):
    """Turn what a user gives as the loss of a set into a :class:`SetLoss`.

    Parameters
    ----------
    loss : {"am", "auc", "balanced_accuracy", "f_beta", "g_mean", "g_tp_pr", "h_mean", \
            "jaccard", "precision", "recall", "zero_one"}, array-like of shape (2, 4), \
            callable or SetLoss
        A name, the constants of numerator and denominator of a
        :class:`FractionalLinearLoss`, or a function of (tp, fp, fn, tn).

    beta : float > 0, default=1.0
        Weight of recall in "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0. A callable and a SetLoss have their own way.

    Returns
    -------
    loss : SetLoss
        The loss object.

    Raises
    ------
    ValueError
        If the name is unknown, `beta` is not positive, `zero_division` not in [0, 1],
        or the constants do not make a loss.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> check_set_loss("f_beta", beta=2.0)
    FBetaLoss(beta=2.0, zero_division=0.0)
    >>> loss = check_set_loss([[0, -2, 1, 1], [0, -1, 1, 1]])
    >>> float(loss(tp=2, fp=1, fn=1, tn=6))
    0.5
    """
    plain = FBetaLoss(beta, zero_division=zero_division)  # checks both, used or not
    if isinstance(loss, SetLoss):
        return loss
    if isinstance(loss, str):
        return plain if loss == "f_beta" else _named_loss(loss, zero_division)
    if callable(loss) and not isinstance(loss, type):
        return CallableSetLoss(loss)
    return FractionalLinearLoss(*_constants(loss), zero_division=zero_division)


def _named_loss(name, zero_division):
    if name not in _LOSSES:
        _refuse(name)
    if name in _WITHOUT_ZERO_DIVISION:
        return _LOSSES[name]()
    return _LOSSES[name](zero_division=zero_division)


def _constants(loss):
    try:
        constants = np.array(loss, dtype=np.float64)
    except (TypeError, ValueError):
        _refuse(loss)
    if constants.shape != (2, 4):
        _refuse(loss)
    return constants


def _refuse(loss):
    raise ValueError(
        f"loss must be one of {sorted(_LOSSES)}, the constants of a fractional-linear "
        "loss in an array of shape (2, 4), a callable of (tp, fp, fn, tn) or a "
        f"SetLoss, got {loss!r}."
    )
