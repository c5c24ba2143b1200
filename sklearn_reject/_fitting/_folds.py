"""Fitting estimators with their scores on some rows, and evaluating them on others.

What is fitted beside an estimator is an :class:`Uncertainty`, a :class:`Collected` or
a :class:`RiskAndNovelty`. Each has `clone`, `fit`, which fits an estimator and then
itself on some rows, and `evaluate`, which returns arrays with one entry for each of
some rows.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._fitting._splits import inner_folds
from sklearn_reject._response import Response
from sklearn_reject._sklearn import (
    SILENT_CONTEXT,
    _check_method_params,
    _safe_indexing,
    _safe_split,
)
from sklearn_reject._validation import take_weight
from sklearn_reject.scores import evaluate_score


@dataclass(frozen=True, eq=False)
class Samples:
    """What `fit` was given: samples, labels, weights of theirs and other parameters."""

    X: object
    y: object
    sample_weight: np.ndarray | None = None
    fit_params: dict = field(default_factory=dict)

    def take(self, estimator, rows, train=None):
        """Return X and y of some rows, without a copy where it is all of them.

        `train` are the rows that the estimator was fitted on, the columns of a kernel
        matrix; None where it is to be fitted on these very rows.
        """
        if isinstance(rows, slice):
            return self.X, self.y
        if isinstance(train, slice):
            return _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        return _safe_split(estimator, self.X, self.y, rows, train)


def fit_in_context(estimator, X, y, fit_params, caller, context):
    """Fit an inner estimator as one task of its meta-estimator's callbacks."""
    # A frozen one is the same object in all threads, and has no fit to be told of.
    is_frozen = isinstance(estimator, FrozenEstimator)
    inner = SILENT_CONTEXT if is_frozen else context
    with inner.propagate_callback_context(estimator):
        context.call_on_fit_task_begin(estimator=caller, X=X, y=y)
        estimator.fit(X, y, **fit_params)
        context.call_on_fit_task_end(estimator=caller, X=X, y=y)
    return estimator


def evaluate_folds(
    estimator, score, samples, folds, *, caller, context=SILENT_CONTEXT, n_jobs=None
):
    """Return what a score says of the test part of each fold, one after the other.

    Estimator and score are cloned and fitted on the training part.
    """
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_evaluate_fold)(
            clone(estimator),
            score.clone(),
            # X, y and weights are arguments of their own: what carries tasks to other
            # machines then sends them once.
            *(samples.X, samples.y, samples.sample_weight, samples.fit_params),
            fold,
            caller,
            context.subcontext(task_name="fit-fold", task_id=number),
        )
        for number, fold in enumerate(folds)
    )
    return tuple(np.concatenate(values) for values in zip(*parts, strict=True))


def _evaluate_fold(
    estimator, score, X, y, sample_weight, fit_params, fold, caller, context
):
    samples = Samples(X, y, sample_weight, fit_params)
    train, test = fold
    score.fit(estimator, samples, train, caller, context)
    return score.evaluate(estimator, samples, test, train)


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

    def check(self, estimator, X):
        """Raise for what cannot work with such samples, before anything is fitted."""

    def for_final(self, rows, sample_weight):
        """Return this knowing the rows of the fit that is kept, which may matter."""
        return self

    def clone(self):
        """Return an unfitted copy."""
        return self

    def fit(self, estimator, samples, rows, caller, context):
        """Fit the estimator, and what belongs to the score, on some rows."""
        X, y = samples.take(estimator, rows)
        fit_params = samples.fit_params
        if not isinstance(rows, slice):
            fit_params = _check_method_params(samples.X, fit_params, indices=rows)
        fit_in_context(estimator, X, y, fit_params, caller, context)

    def evaluate(self, estimator, samples, rows, train):
        """Return arrays with one entry for each of the rows: scores, and losses.

        `train` are the rows that the estimator was fitted on.
        """
        X, y = samples.take(estimator, rows, train)
        return self.evaluate_response(Response(estimator, X), y)


@dataclass(frozen=True, eq=False)
class Uncertainty(FoldScore):
    """An uncertainty score that needs nothing but a fitted estimator, and a loss."""

    score: object
    loss: object

    def clone(self):
        """Return an unfitted copy."""
        return replace(self, score=clone(self.score))

    def fit(self, estimator, samples, rows, caller, context):
        """Fit the estimator, and tell the score of it."""
        super().fit(estimator, samples, rows, caller, context)
        if not isinstance(self.score, FrozenEstimator):
            self.score.fit(estimator=estimator)

    def evaluate_response(self, response, y):
        """Return uncertainty and loss of each sample."""
        labels, uncertainty = evaluate_score(self.score, response)
        _check_labels(response)
        return uncertainty, self.loss(y, labels)


@dataclass(frozen=True, eq=False)
class Collected(FoldScore):
    """A learned score, which folds only collect predictions for, and a loss.

    `classes` are all class labels, None for a regressor.
    """

    score: object
    loss: object
    classes: np.ndarray | None

    def check(self, estimator, X):
        """Let the score choose its features."""
        self.score.choose_features(estimator, X)

    def evaluate_response(self, response, y):
        """Return what the score learns from each sample, and its loss."""
        return *self.score.collect(response, y), self.loss(y, response.labels)

    def learn(self, estimator, samples, values, rows, train):
        """Learn the score from the values that were collected of some rows.

        `train` are the rows that the estimator was fitted on. Returned is what the
        score has seen of the samples: what this one estimator makes of them, as the
        preprocessing of each fold has columns of its own.
        """
        X, _ = samples.take(estimator, rows, train)
        seen = self.score.samples_of(Response(estimator, X))
        weight = take_weight(samples.sample_weight, rows)
        self.score.fit_collected(seen, *values, weight, estimator=estimator)
        return seen


@dataclass(frozen=True, eq=False)
class RiskAndNovelty(FoldScore):
    """A score of risk and one of novelty; OOD rows train no classifier.

    `is_ood` says of every sample whether it is out of distribution. Both scores are
    fitted on the rows that the classifier is fitted on. `n_final` is the number of ID
    rows of the fit that is kept, which scores that count samples go by.
    """

    risk_score: object
    novelty_score: object
    loss: object
    classes: np.ndarray
    is_ood: np.ndarray
    n_final: int | None = None

    @property
    def learns(self):
        """Whether a score learns from samples."""
        return learns(self.risk_score) or self.novelty_score.needs_samples

    def check(self, estimator, X):
        """Let a learned score of risk choose its features, and the other one object."""
        if learns(self.risk_score):
            risk = evaluation_of(clone(self.risk_score), self.loss, self.classes)
            risk.check(estimator, X)
        self.novelty_score.check(estimator, X)

    def for_final(self, rows, sample_weight):
        """Return this with the number of ID rows of the fit that is kept."""
        return replace(self, n_final=self._count_present(rows, sample_weight))

    def clone(self):
        """Return an unfitted copy."""
        return replace(
            self,
            risk_score=clone(self.risk_score),
            novelty_score=clone(self.novelty_score),
        )

    def fit(self, estimator, samples, rows, caller, context):
        """Fit the classifier and both scores on some rows."""
        inside, outside = self._split(rows)
        super().fit(estimator, samples, inside, caller, context)
        if learns(self.risk_score):
            # The score learns from predictions that inner folds make.
            risk = evaluation_of(self.risk_score, self.loss, self.classes)
            risk.check(estimator, samples.X)
            folds = inner_folds(inside, samples.y, stratify=True)
            *values, _ = evaluate_folds(estimator, risk, samples, folds, caller=caller)
            tested = np.concatenate([test for _, test in folds])
            risk.learn(estimator, samples, values, tested, inside)
        elif not isinstance(self.risk_score, FrozenEstimator):
            self.risk_score.fit(estimator=estimator)

        X, y = samples.take(estimator, inside)
        weight, X_ood = samples.sample_weight, None
        if weight is not None:
            outside = outside[weight[outside] > 0]
        if self.novelty_score.needs_ood:
            if not len(outside):
                raise ValueError(
                    f"cv: a training part has no OOD row (of positive weight), and "
                    f"novelty_score={self.novelty_score!r} learns from them. Use "
                    "stratified or fewer folds, or give more OOD samples."
                )
            X_ood, _ = samples.take(estimator, outside, inside)
        self.novelty_score.fit(
            X,
            y,
            estimator=estimator,
            X_ood=X_ood,
            sample_weight=take_weight(weight, inside),
            share=self._share_of_final(inside, weight),
        )

    def evaluate(self, estimator, samples, rows, train):
        """Return risk and novelty, shape (n_rows, 2), and losses, zero for OOD rows."""
        X, y = samples.take(estimator, rows, self._split(train)[0])
        response = Response(estimator, X)
        labels, risk = evaluate_score(self.risk_score, response, "risk_score")
        _check_labels(response)
        novelty = self.novelty_score.from_response(response)
        inside = ~self.is_ood[rows]
        losses = np.zeros(len(risk))
        if inside.any():
            losses[inside] = self.loss(y[inside], labels[inside])
        return np.column_stack([risk, novelty]), losses

    def _share_of_final(self, rows, sample_weight):
        """Return how many ID rows there are, as a share of those of the final fit."""
        if self.n_final is None:
            return 1.0
        return self._count_present(rows, sample_weight) / self.n_final

    def _count_present(self, rows, sample_weight):
        """Return how many of some rows are ID and of positive weight, at least one."""
        inside, _ = self._split(rows)
        weight = take_weight(sample_weight, inside)
        return max(1, len(inside) if weight is None else np.count_nonzero(weight))

    def _split(self, rows):
        """Return which of the rows are ID, and which are OOD."""
        if isinstance(rows, slice):
            rows = np.arange(len(self.is_ood))
        is_ood = self.is_ood[rows]
        return rows[~is_ood], rows[is_ood]


def _check_labels(response):
    """Raise for predicted labels that are no classes, where there are classes."""
    if hasattr(response.estimator, "classes_"):
        _ = response.label_indices
