"""Origins, scores and losses of samples whose labels mark some as OOD."""

import numpy as np
from sklearn.utils.multiclass import unique_labels

from sklearn_reject._ood_label import label_vector, split_origin
from sklearn_reject._validation import (
    check_extended_vector,
    check_same_length,
    check_vector,
)
from sklearn_reject.losses import check_loss


def origins(y_true, ood_label):
    """Return which samples are OOD; some must not be."""
    return _split(label_vector(y_true), ood_label)[1]


def score_columns(uncertainty, novelty, n_samples):
    """Return one score of shape (n_samples,), or two of shape (n_samples, 2)."""
    check = check_extended_vector if novelty is None else check_vector
    uncertainty = check(uncertainty, "uncertainty")
    check_same_length(n_samples, uncertainty=uncertainty)
    if novelty is None:
        return uncertainty
    novelty = check_extended_vector(novelty, "novelty")
    check_same_length(n_samples, novelty=novelty)
    return np.column_stack([uncertainty, novelty])


def origins_and_losses(y_true, y_pred, ood_label, loss="zero_one", labels=None):
    """Return which samples are OOD, and the losses of the others, zero for OOD.

    The task loss never sees the labels of OOD samples.
    """
    y_true, y_pred = label_vector(y_true), label_vector(y_pred)
    check_same_length(len(y_true), y_pred=y_pred)
    label, is_ood = _split(y_true, ood_label)
    _refuse_ood_label(y_pred, label)
    inside = ~is_ood
    if labels is None and not (isinstance(loss, str) or callable(loss)):
        labels = unique_labels(y_true[inside], y_pred)
    losses = np.zeros(len(y_true))
    losses[inside] = check_loss(loss, labels=labels)(y_true[inside], y_pred[inside])
    return is_ood, losses


def _split(y_true, ood_label):
    label, is_ood = split_origin(y_true, ood_label)
    if is_ood.size and is_ood.all():
        raise ValueError(
            f"y_true holds the OOD label {label!r} only: at least one ID sample is "
            "needed to measure what is accepted of them."
        )
    return label, is_ood


def _refuse_ood_label(y_pred, label):
    if label is not None and label in set(y_pred.tolist()):
        raise ValueError(
            f"y_pred holds the OOD label {label!r}, but predictions must be classes. "
            "If it marks rejected samples, pass what `predict_label` returns. If the "
            "classifier was fitted on OOD samples as one more class, leave them out, "
            "or wrap it in DoubleScoreOODClassifier, which does."
        )
