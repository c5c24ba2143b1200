"""Task losses: what it costs to predict one label when the truth is another."""

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
]
