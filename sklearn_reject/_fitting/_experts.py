"""Second opinions: who may be asked, what is asked, and what comes back."""

from typing import NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length

from sklearn_reject._validation import check_takes
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.losses import label_array, labels_or_none

_N_SHOWN = 5


def is_fixed(expert):
    """Tell whether an expert is not to be fitted: a person, a function, or frozen."""
    is_frozen = isinstance(expert, FrozenEstimator)
    return expert is None or is_frozen or not hasattr(expert, "fit")


def asks_person(expert):
    """Tell whether a person, None, is the last one asked, maybe by another expert."""
    while expert is not None and hasattr(expert, "expert"):
        expert = expert.expert
    return expert is None


def check_expert(expert):
    """Raise for what cannot be asked, or hides what a cascade leaves to a person."""
    if expert is None:
        return
    is_class, has_predict = isinstance(expert, type), hasattr(expert, "predict")
    is_function = callable(expert) and not hasattr(expert, "fit")
    can_be_asked = has_predict or is_function
    if hasattr(expert, "__sklearn_tags__") and not is_class:
        # Some classifiers have `predict` only when they are fitted.
        can_be_asked &= not is_regressor(expert)
        can_be_asked |= is_classifier(expert)
    if is_class or not can_be_asked:
        raise ValueError(
            "expert must be a classifier, an object with `predict`, a callable X -> "
            f"labels, or None for a person, got {expert!r}."
        )
    if is_function and not has_predict:
        check_takes(expert, "expert", "X")
    last = expert
    while hasattr(last, "steps") or hasattr(last, "refit"):  # pipelines and searches
        last = last.steps[-1][1] if hasattr(last, "steps") else last.estimator
    if last is not expert and hasattr(last, "expert"):
        raise ValueError(
            f"expert is a {type(expert).__name__} around a DeferringClassifier, which "
            "hides what that defers to a person and pays. Pass the DeferringClassifier "
            "itself, with the other steps inside, or the best estimator of a search."
        )


def read_labels(expert_labels, n_samples, classes, expert=None, *, of_person=True):
    """Return labels that a user gives for an expert as objects, None where missing.

    They are those of a person, or may stand for what a fixed expert would say.
    """
    may_stand = is_fixed(expert) and not of_person
    if not (may_stand or asks_person(expert)):
        raise ValueError(
            f"expert_labels were given, but the expert {expert!r} predicts them here. "
            "Omit expert_labels; `fit` and `score` take those of a FrozenEstimator."
        )
    labels = labels_or_none(expert_labels, n_samples, "expert_labels")
    codes = {-1, "-1"}.difference(classes.tolist())
    coded = [label for label in labels if label in codes]
    if coded:
        raise ValueError(
            f"expert_labels has {coded[0]!r} for {len(coded)} samples, which is no "
            "class. Pass NaN or None where nobody was asked; rename the label if it is "
            "an answer."
        )
    return labels


def read_labels_of_fit(expert_labels, n_samples, classes, expert):
    """Return labels as :func:`read_labels` does, or None where an expert is asked."""
    if expert_labels is None and not asks_person(expert):
        return None
    labels = [None]
    if expert_labels is not None:
        given = n_samples, classes, expert
        labels = read_labels(expert_labels, *given, of_person=False)
    if all(label is None for label in labels):
        raise ValueError(
            "expert_labels is None or has no label, so nothing can be learned about "
            "the expert. Pass the labels of a random part of the samples, NaN or None "
            "elsewhere (with metadata routing, `set_fit_request(expert_labels=True)`), "
            "or a model as expert."
        )
    return labels


class Answers(NamedTuple):
    """Labels of whoever answers, at which level that is, and what asking has cost.

    `costs` (n_samples, n_levels - 1) has a column for each level but the first. A
    person has to answer where a sample `is_open`.
    """

    labels: np.ndarray
    levels: np.ndarray
    costs: np.ndarray
    is_open: np.ndarray


def fill_in(labels, is_open, known):
    """Return labels with those of a person, if any, where they are open, else None."""
    if is_open.any():
        labels = labels.astype(object)
        labels[is_open] = None if known is None else known[is_open]
    return labels


def ask(expert, X, rows, what="labels"):
    """Return :class:`Answers` of an expert, or its "probabilities", of each row of X.

    `rows` are the positions of these in what the user has given, for errors.
    """
    try:
        if what == "probabilities":
            probabilities = np.asarray(expert.predict_proba(X))
            check_consistent_length(rows, probabilities)
            return probabilities
        if hasattr(expert, "_answer_all"):
            return expert._answer_all(X)
        labels = _labels(expert, X, len(rows))
    except ExpertError as error:  # of a cascade, with the labels of the others
        raise in_rows(error, rows) from (error.__cause__ or error)
    except Exception as error:
        raise in_rows(error, rows) from error
    levels, costs = np.zeros(len(rows), dtype=np.intp), np.zeros((len(rows), 0))
    return Answers(labels, levels, costs, (levels == 0) & (expert is None))


def _labels(expert, X, n_samples):
    """Return labels of an expert, None of a person."""
    if expert is None:
        return np.full(n_samples, None)
    labels = getattr(expert, "predict", expert)(X)
    labels, is_known = label_array(labels, n_samples, "what the expert predicts")
    if not is_known.all():
        missing = np.flatnonzero(~is_known)
        raise ExpertError("", missing) from ValueError("no label came back")
    return labels


def in_rows(error, rows):
    """Return an error of an expert that has failed on some rows, by their numbers."""
    labels = None
    if isinstance(error, ExpertError):
        rows, labels, error = rows[error.rows], error.labels, error.__cause__ or error
    shown = ", ".join(map(str, rows[:_N_SHOWN])) + ", ..." * (len(rows) > _N_SHOWN)
    return ExpertError(
        f"The expert failed on {len(rows)} samples, rows {shown} "
        f"({type(error).__name__}: {error}). Ask again about the rows in `rows` of "
        "this error, or about fewer at once.",
        rows,
        labels,
    )


def consult(expert, X, rows, known):
    """Return labels of an expert, and what the answers have cost it.

    `known` are labels of all samples, or None: those of a person who is asked, maybe
    by the expert, or in place of what the expert would say.
    """
    known = None if known is None else known[rows]
    if known is not None and (expert is None or not asks_person(expert)):
        return known, np.zeros(len(rows))
    labels, _, costs, is_open = ask(expert, X, rows)
    if is_open.any() and known is None:
        raise ValueError(
            "expert_labels is None, but a person is asked about some of the samples. "
            "Pass the person's labels, NaN or None where they are unknown; with "
            "metadata routing, call `set_score_request(expert_labels=True)`."
        )
    return fill_in(labels, is_open, known), costs.sum(axis=1)
