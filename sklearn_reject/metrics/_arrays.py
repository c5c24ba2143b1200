"""What metrics of labels, and of estimators, read: arrays of scores and losses."""

from __future__ import annotations

from functools import wraps
from heapq import nsmallest
from inspect import signature

import numpy as np
from sklearn.utils.multiclass import unique_labels

from sklearn_reject._labels import (
    is_automatic,
    label_vector,
    rate,
    resolve_reject_label,
    split_origin,
    warn_of_unknown_labels,
)
from sklearn_reject._validation import (
    LARGEST_EXACT_INTEGER,
    as_label_array,
    check_extended_vector,
    check_flags,
    check_number,
    check_same_length,
    check_vector,
    find_missing_labels,
    refuse_arrays,
    refuse_missing_labels,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import (
    CostMatrixLoss,
    TaskLoss,
    ZeroOneLoss,
    check_loss,
    label_array,
)
from sklearn_reject.metrics._inside import find, refuse_regressor


def of_labels(array_metric, read, *, may_be_masked=()):
    """Decorate the signature of a metric of labels, which has no body of its own.

    `read` turns arguments of its names into the arrays that `array_metric` takes first.
    The others are options of `array_metric`.
    """
    read_names = list(signature(read).parameters)

    def decorate(metric):
        names = list(signature(metric).parameters)

        @wraps(metric)
        def computed(*args, **kwargs):
            given = dict(zip(names, args, strict=False)) | kwargs
            refuse_arrays(given, may_be_masked)
            metric(*args, **kwargs)  # raises for arguments that it does not take
            given = metric.__kwdefaults__ | given
            arrays = read(**{name: given.pop(name) for name in read_names})
            return array_metric(*arrays, **given)

        return computed

    return decorate


# What metrics read


def scores_and_losses(y_true, y_pred, uncertainty, loss, labels):
    """Return validated uncertainties and the loss of each prediction."""
    losses = losses_of(y_true, y_pred, loss, labels)
    scores = check_vector(uncertainty, "uncertainty")
    check_same_length(len(losses), uncertainty=scores)
    return scores, losses


def scores_and_opinions(y_true, y_first, y_second, gain, loss, labels):
    """Return gains and the losses of both opinions, of the second NaN where missing.

    Without labels, `loss` holds the losses of both.
    """
    given = {"y_true": y_true, "y_first": y_first, "y_second": y_second}
    missing = [name for name, y in given.items() if y is None]
    if len(missing) == 3 and not _has_meaning(loss) and len(loss) == 2:
        losses = tuple(loss)
    elif missing:
        raise ValueError(
            f"{missing[0]} is None. Pass y_true, y_first and y_second, or None for all "
            "of them and loss=(loss_first, loss_second), two vectors of shape "
            "(n_samples,)."
        )
    else:
        y_true = label_vector(y_true, "y_true")
        y_first, _ = label_array(y_first, len(y_true), "y_first")
        refuse_missing_labels(y_first, "y_first")
        losses = (
            losses_of(y_true, y_first, loss, labels, name="y_first"),
            np.full(len(y_true), np.nan),
        )
        y_second, is_known = label_array(y_second, len(y_true), "y_second")
        if is_known.any():
            rows = None if is_known.all() else is_known
            options = {"rows": rows, "name": "y_second"}
            losses[1][is_known] = losses_of(y_true, y_second, loss, labels, **options)
    scores = check_vector(gain, "gain")
    check_same_length(len(losses[0]), gain=scores)
    return scores, *losses


def costs_of(y_true, y_pred, accepted, reject_cost, loss, labels):
    """Return what each sample costs; the prediction of a rejected one is not read."""
    accepted = check_flags(accepted, "accepted")
    if np.ndim(reject_cost) == 0:
        cost = check_number(reject_cost, "reject_cost")
        reject_cost = np.full(len(accepted), cost)
    costs = check_vector(reject_cost, "reject_cost", non_negative=True).copy()
    check_same_length(len(accepted), reject_cost=costs)
    if is_vector(loss):
        check_same_length(len(accepted), loss=loss)
        # Rows of messages are those of all samples.
        loss = np.where(accepted, np.asarray(loss), 0.0)
        costs[accepted] = losses_of(None, None, loss, None)[accepted]
    elif accepted.any() or y_true is None or y_pred is None:
        costs[accepted] = losses_of(y_true, y_pred, loss, labels, rows=accepted)
    return (costs,)


def losses_of(y_true, y_pred, loss, labels, *, rows=None, name="y_pred"):
    """Return losses of shape (n_samples,): `loss` itself, or made of predictions.

    Targets have shape (n_samples,) or (n_samples, n_outputs), or are None. With `rows`,
    a mask, there are predictions in these only. Messages call the predictions `name`.
    """
    if is_vector(loss):
        return check_vector(loss, "loss", non_negative=True)
    if y_true is None or y_pred is None:
        missing = "y_true" if y_true is None else "y_pred"
        got = repr(loss) if _has_meaning(loss) else f"of shape {np.shape(loss)}"
        raise ValueError(
            f"{missing} is None, so loss= must be the losses themselves, a vector of "
            f"shape (n_samples,), but it is {got}."
        )
    y_true, y_pred = _without_column(y_true), _without_column(y_pred)
    known = y_true
    if rows is not None:
        check_same_length(len(rows), y_true=y_true, **{name: y_pred})
        if y_true.ndim == 1:
            known = _without_gaps(y_true, ~find_missing_labels(y_true))
        y_true, y_pred = (_without_gaps(y, rows) for y in (y_true, y_pred))
    if is_table(loss) or isinstance(loss, CostMatrixLoss):
        y_true, y_pred = label_vector(y_true), label_vector(y_pred)
        known = y_true if rows is None else known
        # Before the table, which has no row for a reject label, says that it has not.
        listed = getattr(loss, "labels", labels)
        _refuse_mark(known, y_pred, listed, name, may_warn=listed is None)
        if listed is None:
            labels = unique_labels(known, y_pred)
        return check_loss(loss, labels=labels)(y_true, y_pred)
    task = check_loss(loss)
    losses = task(y_true, y_pred)
    is_of_labels = isinstance(task, ZeroOneLoss)
    is_continuous = "f" in (y_true.dtype.kind, y_pred.dtype.kind)
    if y_pred.ndim == 1 and (is_of_labels or not is_continuous):
        wrong = y_pred[losses > 0]
        _refuse_mark(known, wrong, labels, name, may_warn=is_of_labels)
    return losses


def is_vector(loss):
    """Tell whether `loss` holds the losses themselves."""
    return not _has_meaning(loss) and np.ndim(loss) == 1


def is_table(loss):
    """Tell whether `loss` is a cost matrix, which takes `labels`."""
    return not _has_meaning(loss) and np.ndim(loss) != 1


def _has_meaning(loss):
    return loss is None or isinstance(loss, str) or callable(loss)


def _without_column(y):
    y = np.asanyarray(as_label_array(y))
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def _without_gaps(labels, is_known):
    """Return the known ones of an array of labels, typed as if there were no others."""
    known = labels[is_known]
    if known.dtype.kind == "O":
        return np.array(known.tolist())
    # Gaps may have made floats of whole numbers.
    is_whole = known.dtype.kind == "f" and len(known) < len(labels)
    if is_whole and (np.abs(known) < LARGEST_EXACT_INTEGER).all():
        whole = known.astype(np.int64)
        return whole if np.array_equal(whole, known) else known
    return known


# By the name of predictions: the parameter that marks samples without one, and what to
# pass instead.
_MARKS = {
    "y_pred": ("reject", "Pass the result of `predict_label`"),
    "y_first": ("defer", "Pass the result of `predict_first`"),
    "y_second": ("defer", "Pass None or NaN where the second opinion was not asked"),
}

_FEW, _SOME = 8, 2**12


def _refuse_mark(y_true, y_pred, labels=None, name="y_pred", *, may_warn=True):
    """Raise where predictions hold the automatic reject label, warn of unknown labels.

    `y_true` and `y_pred` are vectors, of `y_pred` the wrong ones are enough; `labels`
    are those that are known beside `y_true`.
    """
    labels = set() if labels is None else set(np.asarray(labels).tolist())
    unknown = _distinct(y_pred) - labels
    # Most classes are among any few samples, and few labels take no sort to look for.
    unknown -= _distinct(y_true[:: 1 + len(y_true) // _SOME])
    if len(unknown) <= _FEW:
        unknown = {label for label in unknown if not np.any(y_true == label)}
    if not unknown:
        return
    known = _distinct(y_true) | labels
    unknown -= known
    mark, way_out = _MARKS[name]
    classes = np.array([*known], dtype=object)
    automatic = resolve_reject_label("auto", classes, automatic=mark)
    if automatic in unknown and len(known | unknown) > 2:
        raise ValueError(
            f"{name} holds {automatic!r}, which is not in y_true but is that of "
            f"{mark}_label='auto'. {way_out}. If it is a class, pass all classes as "
            "labels=."
        )
    if may_warn and unknown:
        shown = ", ".join(map(repr, nsmallest(3, unknown, key=str)))
        warn_user(
            f"{name} holds {shown}, which is not in y_true. {way_out}, if this is a "
            "mark; if it is a class, pass all classes as labels=. A regressor needs "
            "loss='squared', and losses themselves are loss= with None as y_true."
        )


def _distinct(labels):
    if labels.dtype.kind != "O":
        labels = np.unique(labels)
    return set(labels.tolist())


# OOD samples, and ratings


def samples_of(y_true, y_pred, uncertainty, loss, labels, ood_label):
    """Return scores and losses, and unless `ood_label` is None what is OOD."""
    if ood_label is None:
        return scores_and_losses(y_true, y_pred, uncertainty, loss, labels)
    return ood_samples(y_true, y_pred, uncertainty, None, ood_label, loss, labels)


def scores_and_origins(y_true, uncertainty, novelty, ood_label):
    """Return the score, or two of them as columns, and which samples are OOD."""
    is_ood = _find_ood(y_true, ood_label)[1]
    return _score_columns(uncertainty, novelty, len(is_ood)), is_ood


def ood_samples(
    y_true, y_pred, uncertainty, novelty, ood_label, loss="zero_one", labels=None
):
    """Return scores, losses and which samples are OOD, whose losses are zero."""
    if is_vector(loss):
        _, is_ood = _find_ood(y_true, ood_label)
        check_same_length(len(is_ood), loss=loss)
        losses = np.where(is_ood, 0.0, np.asarray(loss))
        losses = check_vector(losses, "loss", non_negative=True)
    else:
        y_true = label_vector(y_true, "y_true")
        if y_pred is None:
            losses_of(y_true, y_pred, loss, labels)  # which raises
        y_pred = label_vector(y_pred, "y_pred")
        check_same_length(len(y_true), y_pred=y_pred)
        label, is_ood = _find_ood(y_true, ood_label, y_pred)
        _refuse_ood_class(label, y_pred, "y_pred holds")
        losses, inside = np.zeros(len(y_true)), ~is_ood
        losses[inside] = losses_of(y_true[inside], y_pred[inside], loss, labels)
    return _score_columns(uncertainty, novelty, len(is_ood)), losses, is_ood


def _find_ood(y_true, ood_label, known=()):
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


def _refuse_ood_class(label, classes, who):
    """Raise where the OOD label is a class; `who` holds these classes."""
    if label is not None and label in set(np.asarray(classes).tolist()):
        raise ValueError(
            f"{who} the OOD label {label!r}, but predictions must be classes. Pass "
            "those of `predict_label`, fit the classifier without OOD samples (in "
            "DoubleScoreOODClassifier), or pass another ood_label, None without any."
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


def rated_documents(y_true, y_score, pos_label, unrated_label, sample_weight):
    """Return scores, what is positive, and weights of the rated documents."""
    y_score = check_vector(y_score, "y_score")
    check_same_length(y_score.size, y_true=y_true)
    labels = {"pos_label": pos_label, "unrated_label": unrated_label}
    ratings = rate(y_true, sample_weight=sample_weight, name="y_true", **labels)
    return y_score[ratings.rows], ratings.is_positive, ratings.weight


# What scorers and displays of estimators read


def judge(estimator, y, y_pred, loss=None, labels=None):
    """Return the losses of predictions of an estimator for ID samples.

    None is the loss of the estimator, else 0/1. The predictions hold no reject label,
    but maybe classes that no sample of a fold has.
    """
    loss = _loss_of(estimator) if loss is None else loss
    if is_table(loss) and labels is None:
        classes = np.asarray(getattr(estimator, "classes_", y_pred))
        labels = unique_labels(label_vector(y), label_vector(y_pred), classes)
    return check_loss(loss, labels=labels)(y, y_pred)


def _loss_of(estimator):
    """Return the loss that an estimator, or the one inside, is made for, else 0/1."""
    inner, _ = find(estimator, "uncertainty", "_opinions")
    loss = getattr(inner, "loss_", None)
    if isinstance(loss, TaskLoss):
        return loss
    refuse_regressor(
        estimator,
        "without an attribute `loss_`. Pass a loss, such as "
        "get_selective_scorer('neg_aurc', loss='squared')",
    )
    return "zero_one"


def ood_label_for(estimator, y, y_pred, ood_label):
    """Return the OOD label where an estimator is judged, and which samples have it.

    "auto" is the one that the estimator, or the one inside, was fitted with. It must be
    no class of the estimator, while labels of ID samples are.
    """
    refuse_wild(estimator, y)
    if is_automatic(ood_label):
        inner, _ = find(estimator, "ood_label_")
        ood_label = getattr(inner, "ood_label_", ood_label)
    classes = getattr(estimator, "classes_", None)
    known = np.asarray(y_pred if classes is None else classes)
    label, is_ood = _find_ood(y, ood_label, known)
    name = type(estimator).__name__
    _refuse_ood_class(label, known, f"The classes of {name} hold")
    if classes is not None:
        id_labels = label_vector(y)[~is_ood]
        warn_of_unknown_labels(id_labels, known, f"ood_label={label!r}", name)
    return label, is_ood


def refuse_wild(estimator, y):
    """Raise for unlabeled samples, of which no prediction is right or wrong."""
    inner, _ = find(estimator, "ood_label_")
    label = getattr(inner, "wild_label", None)
    if label is not None and label in set(label_vector(y).tolist()):
        raise ValueError(
            f"y holds wild_label={label!r}, but a metric must know which samples are "
            "OOD. Mark them by the ood_label, or use `score` or `report`."
        )


def judge_inside(estimator, y, y_pred, is_ood, loss=None, labels=None):
    """Return the losses of predictions of an estimator, zero for OOD samples."""
    y, y_pred = label_vector(y), label_vector(y_pred, "y_pred")
    losses, inside = np.zeros(len(y)), ~is_ood
    losses[inside] = judge(estimator, y[inside], y_pred[inside], loss, labels)
    return losses
