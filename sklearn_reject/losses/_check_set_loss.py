"""What a user gives as the loss of a set, as a loss object."""

from __future__ import annotations

from functools import partial
from inspect import signature

from sklearn_reject._typing import SetLossLike
from sklearn_reject.losses._fractional import FractionalLinearLoss, as_constants
from sklearn_reject.losses._named import FBetaLoss
from sklearn_reject.losses._set_loss import SET_LOSSES, CallableSetLoss, SetLoss

# Options of losses, and their defaults.
_DEFAULTS = {"beta": 1.0, "zero_division": 0.0}


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
        :class:`FractionalLinearLoss`, or a function of arrays tp, fp, fn and tn,
        which it gets by these names, that returns one finite number for each
        confusion matrix.

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
        make a loss, or a callable or SetLoss does not take the counts, or does not
        return one finite number for each confusion matrix.

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
    given = {"beta": float(beta), "zero_division": float(zero_division)}
    make, options = _maker_of(loss)
    for name, default in _DEFAULTS.items():
        if given[name] != default and name not in options:
            raise ValueError(
                f"{name}={given[name]!r} is not used by loss={loss!r}: only 'f_beta' "
                "takes beta, and losses that are never 0/0, functions and loss objects "
                f"take no zero_division. Set {name} to {default:g}."
            )
    made = make(**{name: given[name] for name in options})
    if not made._is_known:
        made._try_out()
    return made


def _maker_of(loss):
    """Return what makes the loss object, and which of the options it takes."""
    if isinstance(loss, SetLoss):
        return (lambda: loss), ()
    if isinstance(loss, str):
        if loss not in SET_LOSSES:
            raise _unknown(loss)
        kind = SET_LOSSES[loss]
        return kind, _DEFAULTS.keys() & signature(kind).parameters.keys()
    if callable(loss) and not isinstance(loss, type):
        return partial(CallableSetLoss, loss), ()
    constants = as_constants(loss, (2, 4), "loss")
    if constants is None:
        raise _unknown(loss)
    return partial(FractionalLinearLoss, *constants), ("zero_division",)


def _unknown(loss):
    hint = ""
    if isinstance(loss, type) and issubclass(loss, SetLoss):
        hint = f" Pass an object of the class, `{loss.__name__}()`."
    elif isinstance(loss, str) and loss == "zero_one":
        hint = " The share of wrong items is 'hamming'."
    return ValueError(
        f"loss must be one of {sorted(SET_LOSSES)}, the constants of a "
        "fractional-linear loss in an array of shape (2, 4), a callable of "
        f"(tp, fp, fn, tn) or a SetLoss, got {loss!r}.{hint}"
    )
