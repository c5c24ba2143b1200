"""Which samples are OOD, what is said of them, and what predictions for others cost."""

from functools import partial

import numpy as np

from sklearn_reject._labels import (
    is_automatic,
    label_vector,
    split_origin,
    warn_of_unknown_labels,
)
from sklearn_reject._validation import (
    check_extended_vector,
    check_same_length,
    check_vector,
)
from sklearn_reject.metrics._inside import find
from sklearn_reject.metrics._losses import is_vector, judge, losses_of


def scores_and_origins(y_true, uncertainty, novelty, ood_label):
    """Return the score, or two of them as columns, and which samples are OOD."""
    is_ood = find_ood(y_true, ood_label)[1]
    return _score_columns(uncertainty, novelty, len(is_ood)), is_ood


def ood_samples(
    y_true, y_pred, uncertainty, novelty, ood_label, loss="zero_one", labels=None
):
    """Return scores, losses and which samples are OOD, whose losses are zero."""
    if is_vector(loss):
        _, is_ood = find_ood(y_true, ood_label)
        check_same_length(len(is_ood), loss=loss)
        losses = np.where(is_ood, 0.0, np.asarray(loss))
        losses = check_vector(losses, "loss", non_negative=True)
    else:
        y_true = label_vector(y_true, "y_true")
        if y_pred is None:
            losses_of(y_true, y_pred, loss, labels)  # which raises
        y_pred = label_vector(y_pred, "y_pred")
        check_same_length(len(y_true), y_pred=y_pred)
        label, is_ood = find_ood(y_true, ood_label, y_pred)
        refuse_ood_class(label, y_pred, "y_pred holds")
        losses = losses_inside(
            y_true, y_pred, is_ood, partial(losses_of, loss=loss, labels=labels)
        )
    return _score_columns(uncertainty, novelty, len(is_ood)), losses, is_ood


def find_ood(y_true, ood_label, known=()):
    """Return the OOD label, and which samples have it; some must not.

    `known` are labels that a classifier predicts. It has two classes at least: where it
    predicts -1, and there is no more than one other label, "auto" takes -1 for a class.
    """
    y_true, known = label_vector(y_true, "y_true"), set(np.asarray(known).tolist())
    classes = ()
    if -1 in known and len(known | set(y_true.tolist())) <= 2:
        classes = (-1,)
    label, is_ood = split_origin(y_true, ood_label, classes)
    if is_ood.size and is_ood.all():
        raise ValueError(
            f"y_true holds the OOD label {label!r} only. At least one ID sample is "
            "needed to measure the share that is accepted."
        )
    return label, is_ood


def refuse_ood_class(label, classes, who):
    """Raise where the OOD label is a class; `who` holds these classes."""
    if label is not None and label in set(np.asarray(classes).tolist()):
        raise ValueError(
            f"{who} the OOD label {label!r}, but predictions must be classes. If it "
            "marks rejected samples, pass the result of `predict_label`. If the "
            "classifier was fitted on OOD samples as one more class, fit it without "
            "them, or wrap it in DoubleScoreOODClassifier, which does so. If it is a "
            "class, pass another ood_label, or None if no sample is OOD."
        )


def losses_inside(y_true, y_pred, is_ood, judge):
    """Return losses, zero for OOD samples.

    ``judge(y_true, y_pred)`` gives losses, and never sees the labels of OOD samples.
    """
    inside = ~is_ood
    losses = np.zeros(len(y_true))
    losses[inside] = judge(y_true[inside], y_pred[inside])
    return losses


def ood_label_for(estimator, y, y_pred, ood_label):
    """Return the OOD label where an estimator is judged, and which samples have it.

    "auto" is the one that the estimator, or the one inside, was fitted with. It must be
    no class of the estimator, while labels of ID samples are.
    """
    refuse_wild(estimator, y)
    inner, _ = find(estimator, "ood_label_")
    if inner is not None:
        ood_label = inner.ood_label_ if is_automatic(ood_label) else ood_label
    classes = getattr(estimator, "classes_", None)
    known = np.asarray(y_pred if classes is None else classes)
    label, is_ood = find_ood(y, ood_label, known)
    name = type(estimator).__name__
    refuse_ood_class(label, known, f"The classes of {name} hold")
    if classes is not None:
        id_labels = label_vector(y)[~is_ood]
        warn_of_unknown_labels(id_labels, known, f"ood_label={label!r}", name)
    return label, is_ood


def refuse_wild(estimator, y):
    """Raise for unlabeled samples, of which no prediction is right or wrong."""
    inner, _ = find(estimator, "ood_label_")
    wild_label = getattr(inner, "wild_label", None)
    if wild_label is not None and wild_label in set(label_vector(y).tolist()):
        raise ValueError(
            f"y holds wild_label={wild_label!r}, but a metric must know which samples "
            "are OOD. Remove these samples and add some with the ood_label, or use "
            "`score` or `report` of the estimator."
        )


def judge_inside(estimator, y, y_pred, is_ood, loss=None, labels=None):
    """Return the losses of predictions of an estimator, zero for OOD samples."""
    y, y_pred = label_vector(y), label_vector(y_pred, "y_pred")
    return losses_inside(
        y, y_pred, is_ood, partial(judge, estimator, loss=loss, labels=labels)
    )


def _score_columns(uncertainty, novelty, n_samples):
    """Return one score of shape (n_samples,), or two of shape (n_samples, 2)."""
    check = check_extended_vector if novelty is None else check_vector
    uncertainty = check(uncertainty, "uncertainty")
    check_same_length(n_samples, uncertainty=uncertainty)
    if novelty is None:
        return uncertainty
    novelty = check_extended_vector(novelty, "novelty")
    check_same_length(n_samples, novelty=novelty)
    return np.column_stack([uncertainty, novelty])
