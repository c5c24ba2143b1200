"""Learning an uncertainty score, and judging samples by one that has not seen them."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject._validation import take_weight


def learns(score):
    """Tell whether a score has to be learned from predictions out of sample."""
    return not isinstance(score, FrozenEstimator) and getattr(score, "learns", False)


def observe_and_charge(score, loss, response, y):
    """Return what a score may learn from a response, and the losses.

    Parameters
    ----------
    score : LearnedScore
        Prepared score.

    loss : TaskLoss
        What the rule is charged by.

    response : Response
        What the estimator says about samples it was not fitted on.

    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their true labels or targets.

    Returns
    -------
    outputs, labels, targets, losses : ndarray
        One entry a sample.
    """
    return *score.collect(response, y), loss(y, response.labels)


@dataclass(frozen=True, eq=False)
class ObservedSample:
    """What there is to learn from samples, and what is known of them.

    Attributes
    ----------
    X : array-like
        The samples.

    told : tuple of (outputs, labels, targets)
        What the score has observed of each.

    losses : ndarray of shape (n_samples,)
        Their losses.

    rows : ndarray of shape (n_samples,)
        Which row of the data each is. A row may be observed several times.

    weight : ndarray of shape (n_samples,) or None
        Sample weights.
    """

    X: object
    told: tuple
    losses: np.ndarray
    rows: np.ndarray
    weight: np.ndarray | None

    def training(self, part=None):
        """Return the arguments of `fit_collected` for all samples or for a part."""
        if part is None:
            return self.X, *self.told, self.weight
        weight = take_weight(self.weight, part)
        told = (values[part] for values in self.told)
        return _safe_indexing(self.X, part), *told, weight


def cross_fit_uncertainty(score, observed, folds, n_jobs):
    """Judge the samples of each fold by a score learned from all others.

    Parameters
    ----------
    score : LearnedScore
        Prepared score.

    observed : ObservedSample
        All samples.

    folds : ndarray of shape (n_samples,)
        Number of the fold of each. A row that several folds share is never judged by a
        score that has learned from it.

    n_jobs : int or None
        Number of parallel jobs.

    Returns
    -------
    uncertainty : ndarray of shape (n_samples,)
        Higher = more uncertain.
    """
    splits = [_split(observed.rows, folds == fold) for fold in np.unique(folds)]
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_learn_and_judge)(
            score, observed.training(train), observed.training(test)
        )
        for train, test in splits
    )
    uncertainty = np.empty(len(folds))
    for (_, test), part in zip(splits, parts, strict=True):
        uncertainty[test] = part
    return uncertainty


def _split(rows, is_test):
    others = ~np.isin(rows, rows[is_test])
    if not others.any():
        raise ValueError(
            "cv must have at least two splits with different test parts to learn an "
            "uncertainty score: samples are judged by a score that was learned "
            "without them. Use an int, or a float to hold a share out."
        )
    return np.flatnonzero(others), np.flatnonzero(is_test)


def _learn_and_judge(score, train, test):
    learned = clone(score).resolve(score.classes_, score.loss_).fit_collected(*train)
    X, outputs, labels, _, _ = test
    return learned.predict_collected(X, outputs, labels)
