"""Which samples given to an estimator are OOD, unlabeled, or of a known class."""

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._base import check_class_labels, find_classes
from sklearn_reject._labels import (
    find_resembling,
    is_automatic,
    refuse_unknown_labels,
    split_origin,
    split_wild,
    warn_of_unknown_labels,
)
from sklearn_reject.exceptions import warn_user


def split_labels(estimator, y):
    """Return the label of OOD samples, which rows are OOD or wild, and the classes."""
    known = None
    if _is_frozen(estimator):
        known = find_classes(estimator.estimator, None)
    is_wild = split_wild(y, estimator.wild_label)
    ood_label, is_ood = _split_labeled(estimator, y, is_wild, known)
    is_outside = is_ood | is_wild
    if is_outside.all():
        raise ValueError(
            f"y holds {names_of_ood(estimator, ood_label)} only. Add samples of the "
            "known classes, which are needed to fit the classifier and to measure its "
            "risk."
        )
    if known is not None:
        _check_known(y[~is_outside], known, ood_label)
    return ood_label, is_outside, find_classes(estimator.estimator, y[~is_outside])


def _split_labeled(estimator, y, is_wild, known):
    """Return the label of OOD samples among those not wild, and which have it."""
    is_ood = np.zeros(len(y), dtype=bool)
    if is_wild.all():
        return None, is_ood
    ood_label, is_ood[~is_wild] = split_origin(y[~is_wild], estimator.ood_label, known)
    if ood_label is not None and ood_label == estimator.wild_label:
        if not is_automatic(estimator.ood_label):
            raise ValueError(
                f"wild_label={estimator.wild_label!r} is the ood_label, too. Use "
                "different labels for OOD and for unlabeled samples."
            )
        ood_label = None
    if is_ood.any() and is_wild.any():
        raise ValueError(
            f"y holds both ood_label={ood_label!r} and "
            f"wild_label={estimator.wild_label!r}, but the FPR can be tuned on one "
            "kind only. Remove one of them, and pass it to `report`."
        )
    if is_ood.any() and estimator.wild_label is not None:
        raise ValueError(
            f"y holds ood_label={ood_label!r} and no "
            f"wild_label={estimator.wild_label!r}, although "
            f"wild_share={estimator.wild_share!r} describes unlabeled samples. Pass "
            "their label as wild_label, or set both to None if all these samples are "
            "OOD."
        )
    return ood_label, is_ood


def names_of_ood(estimator, ood_label):
    """Return what the user calls samples that are, or may be, OOD."""
    if estimator.wild_label is None:
        return f"ood_label={ood_label!r}"
    return f"wild_label={estimator.wild_label!r} or ood_label={ood_label!r}"


def why_none_is_ood(estimator, ood_label):
    """Say why no sample is OOD, as the beginning of a sentence."""
    if ood_label is not None or estimator.wild_label is not None:
        return f"y has no row with {names_of_ood(estimator, ood_label)}"
    if is_automatic(estimator.ood_label):
        return "-1 is a class with ood_label='auto', so no sample is OOD"
    return "No sample is OOD with ood_label=None"


def known_labels(estimator, y):
    """Return labels, which are OOD and which are wild; warn of unknown ones."""
    y = check_class_labels(y)
    is_wild = split_wild(y, estimator.wild_label)
    is_ood = np.zeros(len(y), dtype=bool)
    if estimator.ood_label_ is not None:
        is_ood = np.asarray(y == estimator.ood_label_, dtype=bool)
    warn_of_unknown_labels(
        y[~is_ood & ~is_wild],
        estimator.classes_,
        names_of_ood(estimator, estimator.ood_label_),
        type(estimator).__name__,
    )
    return y, is_ood, is_wild


def warn_of_labels(estimator, is_ood, classes):
    """Warn where OOD samples may be there, and are taken for a class."""
    if is_ood.any():
        return
    if estimator.wild_label is not None:
        warn_user(
            f"wild_label={estimator.wild_label!r} is not in y, so no sample is "
            "unlabeled, and wild_share is not used. Pass the label of unlabeled "
            "samples, or set both to None."
        )
        return
    if estimator.ood_label is None:
        return
    known = classes.tolist()
    way_out = -1 if -1 in known else find_resembling(known)
    if not is_automatic(estimator.ood_label):
        reason, way_out = f"ood_label={estimator.ood_label!r} is not in y", "auto"
    elif way_out is None or _is_frozen(estimator):
        return
    elif way_out == -1:
        reason = (
            "-1 is one of two labels of y and therefore a class with ood_label='auto'"
        )
    else:
        reason = (
            f"{way_out!r} is a class, because ood_label='auto' only recognizes the "
            "string 'ood'"
        )
    warn_user(
        f"{reason}, so no sample is OOD, and {known[:5]} are classes. Pass "
        f"ood_label={way_out!r}, or None if no sample is OOD."
    )


def _is_frozen(estimator):
    return isinstance(estimator.estimator, FrozenEstimator)


def _check_known(y, classes, ood_label):
    """Raise for labels that a classifier does not know, or that are OOD."""
    known = classes.tolist()
    if ood_label is not None and ood_label in known:
        raise ValueError(
            f"ood_label={ood_label!r} is one of the classes {known} that the "
            "classifier knows. Mark OOD samples with another label."
        )
    refuse_unknown_labels(y, classes, f"ood_label={ood_label!r}", "the classifier")
