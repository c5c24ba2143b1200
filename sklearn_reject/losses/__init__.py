"""Task losses, and the loss that orders samples by their risk.

A task loss is what it costs to predict one label when the truth is another.
"""

from sklearn_reject.losses._sele import sele_loss_and_gradient
from sklearn_reject.losses._task import (
    AbsoluteLoss,
    CallableLoss,
    CostMatrixLoss,
    SquaredLoss,
    TaskLoss,
    ZeroOneLoss,
    check_loss,
)

__all__ = [
    "AbsoluteLoss",
    "CallableLoss",
    "CostMatrixLoss",
    "SquaredLoss",
    "TaskLoss",
    "ZeroOneLoss",
    "check_loss",
    "sele_loss_and_gradient",
]
