"""Second opinions: who gives them, what is asked, and what they say out of sample."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._fitting._folds import FoldScore, fit_with_folds
from sklearn_reject._sklearn import _num_samples
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.losses import label_array, losses_where_known

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


def ask(expert, X, rows, *, explain=True):
    """Return labels, what they have cost, and which of them a person has to give.

    Each has one entry a row of X. `rows` are the positions of these in what the user
    has given, for errors, which are explained unless the samples may be to blame.
    """
    try:
        if hasattr(expert, "_answer_all"):
            return expert._answer_all(X)
        labels = getattr(expert, "predict", expert)(X)
        labels, is_known = label_array(labels, len(rows), "what the expert predicts")
    except ExpertError as error:  # of a cascade, with the labels of the others
        cause = error.__cause__ or error
        raise _failure(cause, rows[error.rows], error.labels) from cause
    except Exception as error:
        if not explain:
            raise
        raise _failure(error, rows) from error
    if not is_known.all():
        cause = ValueError("no label came back")
        raise _failure(cause, rows[~is_known]) from cause
    return labels, np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)


def ask_probabilities(expert, X, rows):
    """Return class probabilities by an expert; see :func:`ask`."""
    try:
        probabilities = np.asarray(expert.predict_proba(X))
        shape = len(rows), len(expert.classes_)
        if probabilities.shape != shape:
            raise ValueError(
                f"predict_proba gave an array of shape {probabilities.shape}, and "
                f"{shape} are samples and classes"
            )
        return probabilities
    except ExpertError as error:
        cause = error.__cause__ or error
        raise _failure(cause, rows[error.rows]) from cause
    except Exception as error:
        raise _failure(error, rows) from error


def _failure(reason, rows, labels=None):
    shown = ", ".join(map(str, rows[:_N_SHOWN])) + ", ..." * (len(rows) > _N_SHOWN)
    reason = f"{type(reason).__name__}: {reason}"
    return ExpertError(
        f"The expert failed on {len(rows)} samples, rows {shown} ({reason}). Ask "
        "again about the rows in `rows` of this error, or about fewer at once.",
        rows,
        labels,
    )


@dataclass(frozen=True, eq=False)
class Answers(FoldScore):
    """What an expert says, by its loss, and what it costs where it asks in turn.

    `labels` are those that users give for a person (n_samples,), some of which may be
    missing, or None. What is not fitted is asked once, and `known` then.
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
        if isinstance(rows, slice):
            rows = np.arange(_num_samples(y))
        # What is fitted on such samples says itself what is wrong with these.
        explain = is_fixed(estimator)
        labels, costs, is_open = ask(estimator, X, rows, explain=explain)
        if is_open.any():
            labels = fill_in(labels, is_open, self.labels[rows])
        losses = losses_where_known(self.loss, y, labels, "expert")
        return labels.astype(object), losses, costs


def fill_in(labels, is_open, known):
    """Return labels with those of a person where they are open, None where missing."""
    labels = labels.astype(object)
    labels[is_open] = known[is_open]
    return labels


def evaluate_expert(expert, answers, samples, plan, caller, context):
    """Return an expert, fitted, and what it says out of sample.

    The latter are labels, losses and costs of the rows that folds test, one after the
    other, and of those held out by the plan; nothing where there are none.
    """
    if is_fixed(expert):
        return expert, *_evaluate_fixed(expert, answers, samples, plan)
    expert, answers, of_folds = fit_with_folds(
        expert, answers, samples, plan.folds, caller, context, "expert"
    )
    of_held_out = ()
    if plan.held_out is not None:
        of_held_out = answers.evaluate(expert, samples, plan.held_out, plan.final)
    return expert, of_folds, of_held_out


def _evaluate_fixed(expert, answers, samples, plan):
    """Ask an expert that is not fitted, once, or take the labels that are given."""
    parts = plan.tested, plan.held_out
    every = np.arange(_num_samples(samples.X))
    is_asked = np.zeros(len(every), dtype=bool)
    for part in parts:
        is_asked[[] if part is None else part] = True
    rows = np.flatnonzero(is_asked)
    asks_in_turn = expert is not None and asks_person(expert)
    if answers.labels is not None and not asks_in_turn:
        y, labels = np.asarray(samples.y)[rows], answers.labels[rows]
        losses = losses_where_known(answers.loss, y, labels, "expert_labels")
        found = labels, losses, np.zeros(len(rows))
    else:
        if not answers.known:
            everything = slice(None) if len(rows) == len(every) else rows
            found = answers.evaluate(expert, samples, everything, slice(None))
            answers.known.update(rows=rows, found=found)
        rows, found = answers.known["rows"], answers.known["found"]
    place = np.searchsorted(rows, every)
    return tuple(
        () if part is None else tuple(values[place[part]] for values in found)
        for part in parts
    )
