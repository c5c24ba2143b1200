"""Task losses, losses of sets, and the loss that orders samples by their risk.

A task loss is what it costs to predict one label when the truth is another. A set loss
is what it costs to predict a set of items, and depends on the confusion matrix only.
What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.losses._sele import (
    chunked_sele,
    exact_sele,
    make_chunks,
    sele_loss_and_gradient,
)
from sklearn_reject.losses._sets import TNR, TPR, GMeanLoss, SetLoss, check_set_loss
from sklearn_reject.losses._task import (
    AbsoluteLoss,
    CostMatrixLoss,
    TaskLoss,
    ZeroOneLoss,
    check_loss,
    label_array,
    labels_or_none,
    losses_where_known,
)

__all__ = ["CostMatrixLoss", "check_loss", "sele_loss_and_gradient"]
