"""What a user gives as the loss of a set, as a loss object."""

from __future__ import annotations

from inspect import signature

from sklearn_reject._typing import SetLossLike
from sklearn_reject.losses._fractional import FractionalLinearLoss, as_constants
from sklearn_reject.losses._named import FBetaLoss
from sklearn_reject.losses._set_loss import SET_LOSSES, CallableSetLoss, SetLoss
from sklearn_reject.losses._trials import try_out


def check_set_loss(
    loss: SetLossLike, *, beta: float = 1.0, zero_division: float = 0.0
) -> SetLoss:
    """Turn what a user gives as the loss of a set into a :class:`SetLoss`.

    Parameters
    ----------
    loss : {"am", "auc", "balanced_accuracy", "f1", "f_beta", "g_mean", "g_tp_pr", \
            "h_mean", "hamming", "jaccard", "precision", "recall"}, array-like of \
            shape (2, 4), callable or SetLoss
        A name, the constants of numerator and denominator of a
        :class:`FractionalLinearLoss`, or a function of (tp, fp, fn, tn).

    beta : float > 0, default=1.0
        Weight of recall in "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0, of losses by name, but those that never are,
        and of constants. A callable and a SetLoss have their own.

    Returns
    -------
    loss : SetLoss
        The loss object.

    Raises
    ------
    ValueError
        If the name is unknown, `beta` is not positive, `zero_division` not in [0, 1],
        one of them is given beside a loss that does not heed it, the constants do not
        make a loss, or a callable or SetLoss does not return one finite number for
        each confusion matrix, or takes labels instead.

    Warns
    -----
    RejectionWarning
        If the loss may increase with the number of true positives, so that the best set
        may not consist of the most probable items.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> check_set_loss("f_beta", beta=2.0)
    FBetaLoss(beta=2.0, zero_division=0.0)
    >>> loss = check_set_loss([[0, -2, 1, 1], [0, -1, 1, 1]])
    >>> float(loss(tp=2, fp=1, fn=1, tn=6))
    0.5
    """
    FBetaLoss(beta, zero_division=zero_division)  # checks both, used or not
    options = {"beta": float(beta), "zero_division": float(zero_division)}
    _refuse_unused(loss, options)
    if isinstance(loss, SetLoss):
        if not loss._was_tried:
            try_out(loss)
        return loss
    if isinstance(loss, str):
        return _find_by_name(loss, options)
    if callable(loss) and not isinstance(loss, type):
        return CallableSetLoss(loss)
    constants = as_constants(loss, (2, 4), "loss")
    if constants is None:
        raise _unknown(loss)
    return FractionalLinearLoss(*constants, zero_division=zero_division)


def _find_by_name(loss, options):
    if loss == "zero_one" and loss not in SET_LOSSES:
        raise ValueError(
            "loss='zero_one' is the loss of a whole set in scikit-learn (one if any "
            "item is wrong), which is not a named loss here. Pass 'hamming' for the "
            "share of wrong items, or a function for whole sets, `lambda tp, fp, fn, "
            "tn: 1.0 * (fp + fn > 0)`."
        )
    if loss not in SET_LOSSES:
        raise _unknown(loss)
    taken = {name: options[name] for name in _options_of(loss)}
    loss = SET_LOSSES[loss](**taken)
    if not loss._was_tried:
        try_out(loss)
    return loss


def _options_of(loss):
    """Return which of `beta` and `zero_division` a loss takes from outside."""
    if isinstance(loss, str) and loss in SET_LOSSES:
        parameters = signature(SET_LOSSES[loss]).parameters
        return [name for name in ("beta", "zero_division") if name in parameters]
    return [] if isinstance(loss, SetLoss) or callable(loss) else ["zero_division"]


def _refuse_unused(loss, options):
    """Raise where an option is given that a loss would not heed."""
    if isinstance(loss, str) and loss not in SET_LOSSES:
        return  # an unknown name is the error
    taken = _options_of(loss)
    for name, default in {"beta": 1.0, "zero_division": 0.0}.items():
        if options[name] != default and name not in taken:
            raise ValueError(
                f"{name}={options[name]!r} is not used by loss={loss!r}. "
                f"{_way_out(loss, name)}, or set {name} to {default:g}."
            )


def _way_out(loss, name):
    if isinstance(loss, SetLoss):
        return "Pass it to the loss object itself, if that has this parameter"
    if name == "beta":
        return "Use loss='f_beta'"
    if callable(loss):
        return "Define the value of 0/0 in the function"
    return "Use a loss that can be 0/0"


def _unknown(loss):
    is_class = isinstance(loss, type) and issubclass(loss, SetLoss)
    hint = f" Pass an object of the class, `{loss.__name__}()`." if is_class else ""
    return ValueError(
        f"loss must be one of {sorted(SET_LOSSES)}, the constants of a "
        "fractional-linear loss in an array of shape (2, 4), a callable of "
        f"(tp, fp, fn, tn) or a SetLoss, got {loss!r}.{hint}"
    )
