"""Second opinions: who gives them, what is asked, and what they say out of sample."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._fitting._folds import FoldScore, fit_with_folds
from sklearn_reject._fitting._splits import ALL_ROWS
from sklearn_reject._sklearn import _num_samples
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.losses import label_array, labels_or_none, losses_where_known

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


def read_labels(expert_labels, n_samples, classes):
    """Return labels that a user gives for an expert as objects, None where missing."""
    labels = labels_or_none(expert_labels, n_samples, "expert_labels")
    for code in (-1, "-1"):
        n_coded = sum(label == code for label in labels)
        if n_coded and code not in classes.tolist():
            raise ValueError(
                f"expert_labels has {code!r} for {n_coded} samples, which is no class. "
                "Pass NaN or None where nobody was asked; rename the label if it is an "
                "answer."
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
    levels, costs = np.zeros(len(rows), dtype=np.intp), np.zeros((len(rows), 0))
    if expert is None:
        return Answers(np.full(len(rows), None), levels, costs, levels == 0)
    try:
        if what == "probabilities":
            return _probabilities(expert, X, len(rows))
        if hasattr(expert, "_answer_all"):
            return expert._answer_all(X)
        labels = getattr(expert, "predict", expert)(X)
        labels, is_known = label_array(labels, len(rows), "what the expert predicts")
        if not is_known.all():
            missing = np.flatnonzero(~is_known)
            raise ExpertError("", missing) from ValueError("no label came back")
    except ExpertError as error:  # of a cascade, with the labels of the others
        cause = error.__cause__ or error
        raise _failure(cause, rows[error.rows], error.labels) from cause
    except Exception as error:
        raise _failure(error, rows) from error
    return Answers(labels, levels, costs, levels > 0)


def _probabilities(expert, X, n_samples):
    probabilities = np.asarray(expert.predict_proba(X))
    shape = n_samples, len(expert.classes_)
    if probabilities.shape != shape:
        raise ValueError(
            f"predict_proba gave an array of shape {probabilities.shape}, and {shape} "
            "are samples and classes"
        )
    return probabilities


def _failure(reason, rows, labels=None):
    shown = ", ".join(map(str, rows[:_N_SHOWN])) + ", ..." * (len(rows) > _N_SHOWN)
    return ExpertError(
        f"The expert failed on {len(rows)} samples, rows {shown} "
        f"({type(reason).__name__}: {reason}). Ask again about the rows in `rows` of "
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


@dataclass(frozen=True, eq=False)
class Consultation(FoldScore):
    """What an expert says, by its loss, and what it costs where it asks in turn.

    `labels` are those that users give (n_samples,), some of which may be missing, or
    None. What is not fitted is asked once, and `known` then.
    """

    loss: object
    labels: np.ndarray | None = None
    known: dict = field(default_factory=dict)

    def fit(self, estimator, samples, rows, caller, context):
        """Fit an expert; where one inside fails, its rows are those of all samples."""
        try:
            super().fit(estimator, samples, rows, caller, context)
        except ExpertError as error:
            every = np.arange(_num_samples(samples.X))
            cause = error.__cause__ or error
            raise _failure(cause, every[rows][error.rows]) from cause

    def evaluate(self, estimator, samples, rows, train):
        """Return label, loss and cost of each row; None and NaN where not known."""
        X, y = samples.take(estimator, rows, train)
        rows = np.arange(_num_samples(samples.X))[rows]
        labels, costs = consult(estimator, X, rows, self.labels)
        name = "expert" if self.labels is None else "expert_labels"
        losses = losses_where_known(self.loss, y, labels, name)
        return labels.astype(object), losses, costs


def evaluate_expert(expert, consultation, samples, plan, caller, context):
    """Return an expert, fitted, and what it says out of sample.

    The latter are labels, losses and costs of the rows that folds test, one after the
    other, and of those held out by the plan; nothing where there are none.
    """
    if is_fixed(expert):
        return expert, *_ask_once(expert, consultation, samples, plan)
    expert, consultation, of_folds = fit_with_folds(
        expert, consultation, samples, plan.folds, caller, context, "expert"
    )
    of_held_out = ()
    if plan.held_out is not None:
        of_held_out = consultation.evaluate(expert, samples, plan.held_out, plan.final)
    return expert, of_folds, of_held_out


def _ask_once(expert, consultation, samples, plan):
    """Return what an expert that is not fitted says, asked about all rows at once."""
    every, known = np.arange(_num_samples(samples.X)), consultation.known
    parts = plan.tested, plan.held_out
    parts = [None if part is None else every[part] for part in parts]
    if not known:
        rows = np.unique(np.concatenate([part for part in parts if part is not None]))
        asked = ALL_ROWS if len(rows) == len(every) else rows
        found = consultation.evaluate(expert, samples, asked, ALL_ROWS)
        known.update(rows=rows, found=found)
    places = [None if p is None else np.searchsorted(known["rows"], p) for p in parts]
    return [
        () if place is None else tuple(values[place] for values in known["found"])
        for place in places
    ]
