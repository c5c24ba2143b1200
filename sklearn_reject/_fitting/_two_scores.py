"""Fitting a classifier and two scores on some samples, and judging others by them."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._fitting._folds import fit_in_context, respond_out_of_fold
from sklearn_reject._fitting._splits import make_inner_splits
from sklearn_reject._fitting._uncertainty import learns
from sklearn_reject._response import Response
from sklearn_reject._sklearn import (
    SILENT_CONTEXT,
    _check_method_params,
    _safe_indexing,
    _safe_split,
)
from sklearn_reject._validation import take_weight
from sklearn_reject.losses import TaskLoss


@dataclass(frozen=True, eq=False)
class MixedSamples:
    """ID and OOD samples, and what `fit` was given along with them.

    Attributes
    ----------
    X : array-like
        All samples.

    y : ndarray of shape (n_samples,)
        Labels; those of OOD samples are not used.

    is_ood : ndarray of shape (n_samples,), dtype bool
        Whether a sample is out of distribution.

    fit_params : dict
        For the `fit` of the classifier, as long as X where they belong to samples.

    weight : ndarray of shape (n_samples,) or None
        Weights for the rule and for a learned risk score.
    """

    X: object
    y: np.ndarray
    is_ood: np.ndarray
    fit_params: dict
    weight: np.ndarray | None

    def origins(self, rows):
        """Return which of the rows are ID, and which are OOD."""
        is_ood = self.is_ood[rows]
        return rows[~is_ood], rows[is_ood]


@dataclass(frozen=True, eq=False)
class ScoredClassifier:
    """A classifier, a score of its risk and a score of novelty.

    Attributes
    ----------
    estimator : estimator
        Classifier.

    risk_score : UncertaintyScore
        How likely the classifier errs.

    novelty_score : NoveltyScore
        How far a sample is from what the classifier was fitted on.

    loss : TaskLoss
        What errors cost.

    classes : ndarray of shape (n_classes,)
        All class labels.
    """

    estimator: object
    risk_score: object
    novelty_score: object
    loss: TaskLoss
    classes: np.ndarray

    def clone(self):
        """Return an unfitted copy."""
        return ScoredClassifier(
            clone(self.estimator),
            clone(self.risk_score),
            clone(self.novelty_score),
            self.loss,
            self.classes,
        )

    @property
    def needs_fit(self):
        """Whether any part learns from samples."""
        return not isinstance(self.estimator, FrozenEstimator) or self.scores_need_fit

    @property
    def scores_need_fit(self):
        """Whether a score learns from samples."""
        return learns(self.risk_score) or self.novelty_score.needs_samples

    def fit(self, samples, rows, caller, context):
        """Fit the classifier and the scores on some rows; OOD rows train no classifier.

        Parameters
        ----------
        samples : MixedSamples
            All samples.

        rows : ndarray of int
            Those to fit on.

        caller : estimator
            The meta-estimator whose callbacks are told.

        context : callback context
            Of this fit.

        Returns
        -------
        self : object
            With everything fitted.
        """
        inside, outside = samples.origins(rows)
        X, y = _safe_split(self.estimator, samples.X, samples.y, inside)
        params = _check_method_params(samples.X, samples.fit_params, indices=inside)
        fit_in_context(self.estimator, X, y, params, caller, context)
        if learns(self.risk_score):
            self._learn_risk(X, y, params, take_weight(samples.weight, inside), caller)
        elif not isinstance(self.risk_score, FrozenEstimator):
            self.risk_score.fit(estimator=self.estimator)
        self._fit_novelty(X, y, samples, inside, outside)
        return self

    def _learn_risk(self, X, y, params, weight, caller):
        """Learn the risk score from predictions out of fold."""
        splits = make_inner_splits(X, y, stratify=True)
        score = self.risk_score.resolve(self.classes, self.loss)
        told = respond_out_of_fold(
            self.estimator,
            X,
            y,
            splits,
            score.collect,
            fit_params=params,
            n_jobs=None,
            caller=caller,
            contexts=[SILENT_CONTEXT] * len(splits),
        )
        told = (np.concatenate(parts) for parts in zip(*told, strict=True))
        rows = np.concatenate([test for _, test in splits])
        score.fit_collected(_safe_indexing(X, rows), *told, take_weight(weight, rows))
        score.estimator_ = self.estimator

    def _fit_novelty(self, X, y, samples, inside, outside):
        score = self.novelty_score
        score.fit(
            X,
            y,
            estimator=self.estimator,
            X_ood=self._present(samples, outside) if score.needs_ood else None,
            sample_weight=take_weight(samples.weight, inside),
        )

    def _present(self, samples, rows):
        """Return the samples of some rows, None without one of positive weight."""
        if samples.weight is not None:
            rows = rows[samples.weight[rows] > 0]
        return _safe_indexing(samples.X, rows) if len(rows) else None

    def evaluate(self, samples, rows, train=None):
        """Return risk, novelty and loss of some rows.

        Parameters
        ----------
        samples : MixedSamples
            All samples.

        rows : ndarray of int
            Those to judge.

        train : ndarray of int, default=None
            Those that the classifier was fitted on: the columns of a kernel matrix.

        Returns
        -------
        risk, novelty, losses : ndarray of shape (n_rows,)
            The losses of OOD samples are zero.
        """
        if train is not None:
            train, _ = samples.origins(train)
        X, y = _safe_split(self.estimator, samples.X, samples.y, rows, train)
        response = Response(self.estimator, X)
        labels, risk = self.risk_score.evaluate(response)
        _ = response.label_indices  # raises for labels that are no classes
        novelty = self.novelty_score.from_response(response)
        inside = ~samples.is_ood[rows]
        losses = np.zeros(len(rows))
        if inside.any():
            losses[inside] = self.loss(y[inside], labels[inside])
        return risk, novelty, losses


def judge_out_of_fold(template, samples, splits, caller, contexts):
    """Judge the test part of each split by what was fitted on the training part.

    Parameters
    ----------
    template : ScoredClassifier
        Unfitted.

    samples : MixedSamples
        All samples.

    splits : list of (train, test)
        Row indices.

    caller : estimator
        The meta-estimator, with `n_jobs`, whose callbacks are told.

    contexts : list of callback contexts
        One a split.

    Returns
    -------
    risk, novelty, losses : ndarray
        Of the test parts, one after the other.
    """
    parts = Parallel(n_jobs=caller.n_jobs)(
        delayed(_fit_and_judge)(template.clone(), samples, split, caller, context)
        for split, context in zip(splits, contexts, strict=True)
    )
    return tuple(np.concatenate(values) for values in zip(*parts, strict=True))


def _fit_and_judge(scored, samples, split, caller, context):
    train, test = split
    return scored.fit(samples, train, caller, context).evaluate(samples, test, train)
