"""Fitting estimators with their scores on some rows, and evaluating them on others.

What is fitted beside an estimator is an :class:`Uncertainty`, a :class:`Collected` or
a :class:`RiskAndNovelty`. Each has `clone`, `fit`, which fits an estimator and then
itself on some rows, and `evaluate`, which returns arrays with one entry for each of
some rows.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._fitting._splits import ALL_ROWS, inner_folds
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import (
    SILENT_CONTEXT,
    _check_method_params,
    _num_samples,
    _safe_indexing,
    _safe_split,
    has_callbacks,
)
from sklearn_reject._travel import Carried, pack_rows, unpack_rows
from sklearn_reject._validation import take_weight
from sklearn_reject.exceptions import repeated_fit
from sklearn_reject.scores import evaluate_score


@dataclass(frozen=True, eq=False)
class Samples:
    """What `fit` was given: samples, labels, their weights and what else is for whom.

    `final` are the rows of the fit that is kept, which folds are parts of, and
    `least_share` is the least share of them that a fit has. `are_in_task` tells that
    they have traveled to a parallel task, which does the rest itself.
    """

    X: object
    y: object
    sample_weight: np.ndarray | None = None
    fit_params: dict = field(default_factory=dict)
    split_params: dict = field(default_factory=dict)
    expert_params: dict = field(default_factory=dict)
    clusters: object = None
    final: np.ndarray | slice = field(default_factory=lambda: ALL_ROWS)
    least_share: float = 1.0
    are_in_task: bool = False

    def take(self, estimator, rows, train=None):
        """Return X and y of some rows, without a copy where it is all of them.

        `train` are the rows that the estimator was fitted on, the columns of a kernel
        matrix; None where it is to be fitted on these very rows.
        """
        X, y = self.X, self.y
        if isinstance(rows, slice):
            return X, y
        if type(X) is type(y) is np.ndarray and X.ndim == 2 and len(X) != X.shape[1]:
            return X[rows], y[rows]  # a kernel would be square
        if isinstance(train, slice):
            return _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        return _safe_split(estimator, self.X, self.y, rows, train)

    def share(self, rows, final):
        """Return the share of the final rows that some rows are, of positive weight."""
        weight = self.sample_weight
        n_samples = _num_samples(self.y)
        is_present = np.ones(n_samples) if weight is None else weight > 0
        return np.count_nonzero(is_present[rows]) / np.count_nonzero(is_present[final])

    def to_learn(self, estimator, rows, final):
        """Return some rows as the arguments of the `fit` of a score.

        A score that counts its samples counts in folds as many as these stand for.
        """
        X, y = self.take(estimator, rows)
        return {
            "X": X,
            "y": y,
            "sample_weight": take_weight(self.sample_weight, rows),
            "share": self.share(rows, final),
            "least_share": self.least_share,
        }


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


def fit_with_folds(estimator, score, samples, folds, caller, context, name="estimator"):
    """Return a fitted estimator with its score, and what folds say, nothing without.

    Both are clones, fitted on the final rows, and on the training part of each fold.
    """
    shares = [samples.share(train, samples.final) for train, _ in folds]
    samples = replace(samples, least_share=min(shares, default=1.0))
    context.call_on_fit_task_begin(estimator=caller, X=samples.X, y=samples.y)
    values = ()
    if folds:
        values = evaluate_folds(estimator, score, samples, folds, caller, context)
    task = context.subcontext(task_name=f"fit-final-{name}", task_id=len(folds))
    estimator, score = clone(estimator), score.clone()
    score.fit(estimator, samples, samples.final, caller, task)
    context.call_on_fit_task_end(estimator=caller, X=samples.X, y=samples.y)
    return estimator, score, values


def evaluate_folds(estimator, score, samples, folds, caller, context=SILENT_CONTEXT):
    """Return what a score says of the test part of each fold, one after the other.

    Estimator and score are cloned and fitted on the training part.
    """
    n_jobs = None if caller is None else caller.n_jobs
    listener = caller if has_callbacks(context) else None
    inside = replace(samples, are_in_task=True, split_params={}, expert_params={})
    shared = Carried((estimator, score, inside, listener))
    n_samples = _num_samples(samples.X)
    where = {"n_jobs": 1, "require": "sharedmem"} if samples.are_in_task else {}
    parts = Parallel(**{"n_jobs": n_jobs, **where})(
        delayed(_evaluate_fold)(
            shared,
            *(pack_rows(rows, n_samples) for rows in fold),
            context.subcontext(task_name="fit-fold", task_id=number),
        )
        for number, fold in enumerate(folds)
    )
    return tuple(
        vstack(values, format="csr") if issparse(values[0]) else np.concatenate(values)
        for values in zip(*parts, strict=True)
    )


def _evaluate_fold(shared, train, test, context):
    estimator, score, samples, caller = shared.value
    estimator, score = clone(estimator), score.clone()
    n_samples = _num_samples(samples.X)
    train, test = (unpack_rows(rows, n_samples) for rows in (train, test))
    with repeated_fit():
        score.fit(estimator, samples, train, caller, context)
    return score.evaluate(estimator, samples, test, train)


def learns(score):
    """Tell whether a score has to be learned from predictions out of sample."""
    return not isinstance(score, FrozenEstimator) and getattr(score, "learns", False)


def needs_samples(score):
    """Tell whether a score has to be fitted on the samples of the estimator."""
    is_frozen = isinstance(score, FrozenEstimator)
    return not is_frozen and getattr(score, "needs_samples", False)


def learns_from_samples(score):
    """Tell whether a score knows the samples that it is fitted on."""
    return learns(score) or needs_samples(score)


def fit_score(score, estimator, samples, rows, final):
    """Fit a score that is read off a fitted estimator, unless it is frozen.

    `rows` are those that the estimator was fitted on, `final` those of the fit that is
    kept.
    """
    if not isinstance(score, FrozenEstimator):
        known = needs_samples(score) and samples.to_learn(estimator, rows, final)
        score.fit(estimator=estimator, **known or {})


def evaluation_of(score, loss, classes):
    """Return a score with the loss it is evaluated by, ready to be fitted on folds."""
    if not learns(score):
        return Uncertainty(score, loss)
    return Collected(score.resolve(classes, loss), loss, classes)


class FoldScore:
    """Base of what is evaluated on folds: the estimator alone is fitted."""

    def check(self, estimator, X):
        """Raise for what cannot work with such samples, before anything is fitted."""

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
    """A score that is read off a fitted estimator and its samples, and a loss."""

    score: object
    loss: object

    @property
    def learns(self):
        """Whether the score learns from the samples of the estimator."""
        return needs_samples(self.score)

    def check(self, estimator, X):
        """Let a novelty score object to the samples."""
        if hasattr(self.score, "check") and not isinstance(self.score, FrozenEstimator):
            self.score.check(estimator, X)

    def clone(self):
        """Return an unfitted copy."""
        return replace(self, score=clone(self.score))

    def fit(self, estimator, samples, rows, caller, context):
        """Fit the estimator, and tell the score of it."""
        super().fit(estimator, samples, rows, caller, context)
        fit_score(self.score, estimator, samples, rows, samples.final)

    def evaluate_response(self, response, y):
        """Return uncertainty, loss and prediction of each sample."""
        labels, uncertainty = evaluate_score(self.score, response)
        check_labels(response)
        return uncertainty, self.loss(y, labels), labels


@dataclass(frozen=True, eq=False)
class Collected(FoldScore):
    """A learned score, which folds only collect predictions for, and a loss.

    `classes` are all class labels, None for a regressor.
    """

    score: object
    loss: object
    classes: np.ndarray | None

    #: A score that is learned from predictions learns.
    learns = True

    def check(self, estimator, X):
        """Let the score choose its features."""
        self.score.choose_features(estimator, X)

    def evaluate_response(self, response, y):
        """Return what the score learns from each sample, and its loss."""
        return *self.score.collect(response, y), self.loss(y, response.labels)

    def labels(self, collected):
        """Return the class labels that were collected, None for a regressor."""
        return None if self.classes is None else self.classes[collected[1]]

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
    fitted on the rows that the classifier is fitted on.
    """

    uncertainty_score: object
    novelty_score: object
    loss: object
    classes: np.ndarray
    is_ood: np.ndarray

    @property
    def learns(self):
        """Whether a score learns from samples."""
        return (
            learns_from_samples(self.uncertainty_score)
            or self.novelty_score.needs_samples
        )

    def check(self, estimator, X):
        """Let a learned score of risk choose its features, and the other one object."""
        if learns(self.uncertainty_score):
            risk = evaluation_of(clone(self.uncertainty_score), self.loss, self.classes)
            risk.check(estimator, X)
        self.novelty_score.check(estimator, X)

    def clone(self):
        """Return an unfitted copy."""
        return replace(
            self,
            uncertainty_score=clone(self.uncertainty_score),
            novelty_score=clone(self.novelty_score),
        )

    def fit(self, estimator, samples, rows, caller, context):
        """Fit the classifier and both scores on some rows."""
        inside, outside = self._split(rows)
        final, _ = self._split(samples.final)
        super().fit(estimator, samples, inside, caller, context)
        if learns(self.uncertainty_score):
            # The score learns from predictions that inner folds make.
            risk = evaluation_of(self.uncertainty_score, self.loss, self.classes)
            risk.check(estimator, samples.X)
            folds = inner_folds(inside, samples, stratify=True)
            *values, _ = evaluate_folds(estimator, risk, samples, folds, caller)
            tested = np.concatenate([test for _, test in folds])
            risk.learn(estimator, samples, values, tested, inside)
        else:
            fit_score(self.uncertainty_score, estimator, samples, inside, final)

        weight, X_ood = samples.sample_weight, None
        if weight is not None:
            outside = outside[weight[outside] > 0]
        if self.novelty_score.needs_ood:
            if not len(outside):
                raise ValueError(
                    "cv: a training part has no OOD row (of positive weight), which "
                    f"novelty_score={self.novelty_score!r} learns from. Pass two or "
                    "more OOD rows, and use stratified or fewer folds."
                )
            X_ood, _ = samples.take(estimator, outside, inside)
        known = samples.to_learn(estimator, inside, final)
        self.novelty_score.fit(estimator=estimator, X_ood=X_ood, **known)

    def evaluate(self, estimator, samples, rows, train):
        """Return risk and novelty, shape (n_rows, 2), and losses, zero for OOD rows."""
        X, y = samples.take(estimator, rows, self._split(train)[0])
        response = Response(estimator, X)
        scores = self.uncertainty_score, self.novelty_score
        labels, both = evaluate_both(*scores, response)
        check_labels(response)
        return both, losses_inside(self.loss, y, labels, ~self.is_ood[rows])

    def _split(self, rows):
        """Return which of the rows are ID, and which are OOD."""
        if isinstance(rows, slice):
            rows = np.arange(len(self.is_ood))
        is_ood = self.is_ood[rows]
        return rows[~is_ood], rows[is_ood]


def evaluate_both(uncertainty_score, novelty_score, response):
    """Return labels, and risk and novelty as the columns of a matrix."""
    labels, risk = evaluate_score(uncertainty_score, response, "uncertainty_score")
    return labels, np.column_stack([risk, novelty_score.from_response(response)])


def losses_inside(loss, y, labels, inside, elsewhere=0.0):
    """Return the losses of samples in distribution, and a number for the others."""
    losses = np.full(len(y), elsewhere)
    if inside.any():
        losses[inside] = loss(y[inside], labels[inside])
    return losses


def check_labels(response):
    """Raise for predicted labels that are no classes, where there are classes."""
    if hasattr(response.estimator, "classes_"):
        _ = response.label_indices
