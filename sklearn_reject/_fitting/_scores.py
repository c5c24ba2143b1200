"""What is fitted and evaluated beside an estimator: scores, with the losses they order.

Each class has `clone`, `fit`, which fits an estimator and then itself on some rows, and
`evaluate`, which returns arrays with one entry for each of some rows.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_reject._fitting._folds import (
    evaluate_folds,
    fit_on_rows,
    respond,
    take_rows,
)
from sklearn_reject._fitting._splits import inner_folds
from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject._validation import take_weight


def learns(score):
    """Tell whether a score has to be learned from predictions out of sample."""
    return not isinstance(score, FrozenEstimator) and getattr(score, "learns", False)


def evaluation_of(score, loss, classes):
    """Return a score with the loss it is evaluated by, ready to be fitted on folds."""
    if not learns(score):
        return Uncertainty(score, loss)
    return Collected(score.resolve(classes, loss), loss, classes)


class FoldScore:
    """Base of what is evaluated on folds: the estimator alone is fitted."""

    def clone(self):
        """Return an unfitted copy."""
        return self

    def fit(self, estimator, X, y, sample_weight, rows, fit_params, caller, context):
        """Fit the estimator, and what belongs to the score, on some rows."""
        fit_on_rows(estimator, X, y, rows, fit_params, caller=caller, context=context)

    def evaluate(self, estimator, X, y, rows, train):
        """Return arrays with one entry for each of the rows: scores, and losses."""
        response, y = respond(estimator, X, y, rows, train)
        return self.evaluate_response(response, y)


@dataclass(frozen=True, eq=False)
class Uncertainty(FoldScore):
    """An uncertainty score that needs nothing but a fitted estimator, and a loss."""

    score: object
    loss: object

    def clone(self):
        """Return an unfitted copy."""
        return replace(self, score=clone(self.score))

    def fit(self, estimator, X, y, sample_weight, rows, fit_params, caller, context):
        """Fit the estimator, and tell the score of it."""
        super().fit(estimator, X, y, sample_weight, rows, fit_params, caller, context)
        if not isinstance(self.score, FrozenEstimator):
            self.score.fit(estimator=estimator)

    def evaluate_response(self, response, y):
        """Return uncertainty and loss of each sample."""
        labels, uncertainty = self.score.evaluate(response)
        check_labels(response)
        return uncertainty, self.loss(y, labels)


@dataclass(frozen=True, eq=False)
class Collected(FoldScore):
    """A learned score, which folds only collect predictions for, and a loss.

    `classes` are all class labels, None for a regressor.
    """

    score: object
    loss: object
    classes: np.ndarray | None

    def evaluate_response(self, response, y):
        """Return what the score learns from each sample, and its loss."""
        return *self.score.collect(response, y), self.loss(y, response.labels)


@dataclass(frozen=True, eq=False)
class RiskAndNovelty(FoldScore):
    """A score of risk and one of novelty; OOD rows train no classifier.

    `is_ood` says of every sample whether it is out of distribution. Both scores are
    fitted on the rows that the classifier is fitted on.
    """

    risk_score: object
    novelty_score: object
    loss: object
    classes: np.ndarray
    is_ood: np.ndarray

    @property
    def learns(self):
        """Whether a score learns from samples."""
        return learns(self.risk_score) or self.novelty_score.needs_samples

    def clone(self):
        """Return an unfitted copy."""
        return replace(
            self,
            risk_score=clone(self.risk_score),
            novelty_score=clone(self.novelty_score),
        )

    def fit(self, estimator, X, y, sample_weight, rows, fit_params, caller, context):
        """Fit the classifier and both scores on some rows."""
        inside, outside = self._split(rows)
        super().fit(estimator, X, y, sample_weight, inside, fit_params, caller, context)
        if learns(self.risk_score):
            score = evaluation_of(self.risk_score, self.loss, self.classes)
            samples = X, y, sample_weight, inside, fit_params
            learn_out_of_fold(score, estimator, *samples, caller)
        elif not isinstance(self.risk_score, FrozenEstimator):
            self.risk_score.fit(estimator=estimator)
        self._fit_novelty(estimator, X, y, sample_weight, inside, outside)

    def _split(self, rows):
        """Return which of the rows are ID, and which are OOD."""
        if isinstance(rows, slice):
            rows = np.arange(len(self.is_ood))
        is_ood = self.is_ood[rows]
        return rows[~is_ood], rows[is_ood]

    def _fit_novelty(self, estimator, X, y, sample_weight, inside, outside):
        response, y_inside = respond(estimator, X, y, inside)
        if sample_weight is not None:
            outside = outside[sample_weight[outside] > 0]
        needs_ood = self.novelty_score.needs_ood and len(outside)
        self.novelty_score.fit(
            response.X,
            y_inside,
            estimator=estimator,
            X_ood=rows_to_learn(estimator, X, outside, inside) if needs_ood else None,
            sample_weight=take_weight(sample_weight, inside),
        )

    def evaluate(self, estimator, X, y, rows, train):
        """Return risk and novelty, shape (n_rows, 2), and losses, zero for OOD rows."""
        response, y = respond(estimator, X, y, rows, self._split(train)[0])
        labels, risk = self.risk_score.evaluate(response)
        check_labels(response)
        novelty = self.novelty_score.from_response(response)
        inside = ~self.is_ood[rows]
        losses = np.zeros(len(risk))
        if inside.any():
            losses[inside] = self.loss(y[inside], labels[inside])
        return np.column_stack([risk, novelty]), losses


def check_labels(response):
    """Raise for predicted labels that are no classes, where there are classes."""
    if hasattr(response.estimator, "classes_"):
        _ = response.label_indices


def learn_out_of_fold(
    collected, estimator, X, y, sample_weight, rows, fit_params, caller
):
    """Learn a score from predictions that inner folds of some rows make."""
    folds = inner_folds(rows, y, collected.classes is not None)
    *values, _ = evaluate_folds(
        estimator, collected, X, y, sample_weight, folds, fit_params, caller=caller
    )
    tested = np.concatenate([test for _, test in folds])
    learn_from(collected, estimator, X, values, sample_weight, tested, rows)


def learn_from(collected, estimator, X, values, sample_weight, rows, train):
    """Learn a score from the values that were collected of some rows of X.

    `train` are the rows that the estimator was fitted on.
    """
    collected.score.fit_collected(
        rows_to_learn(estimator, X, rows, train),
        *values,
        take_weight(sample_weight, rows),
        estimator=estimator,
    )


def rows_to_learn(estimator, X, rows, train):
    """Return some rows of X, of a kernel matrix with the columns that it will have."""
    if isinstance(train, slice):
        return _safe_indexing(X, rows)
    return take_rows(estimator, X, None, rows, train)[0]
