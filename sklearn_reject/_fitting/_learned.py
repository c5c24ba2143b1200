"""Learning an uncertainty score, and evaluating it on samples it has not seen."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject._validation import take_weight


def cross_fit(score, X, collected, sample_weight, rows, folds, n_jobs):
    """Return the uncertainty of each collected row, by a score learned without it.

    `collected` is what the score collected of the `rows` of X, which may repeat, and
    `folds` the number of the fold of each.
    """
    splits = [_split(rows, folds == fold) for fold in np.unique(folds)]
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_learn_and_predict)(
            score,
            _safe_indexing(X, rows[train]),
            [values[train] for values in collected],
            take_weight(sample_weight, rows[train]),
            _safe_indexing(X, rows[test]),
            [values[test] for values in collected],
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
            "uncertainty score: samples are evaluated by a score that was learned "
            "without them. Use an int, or a float to hold a share out."
        )
    return np.flatnonzero(others), np.flatnonzero(is_test)


def _learn_and_predict(score, X, collected, sample_weight, X_test, test):
    learned = clone(score).resolve(score.classes_, score.loss_)
    learned.fit_collected(X, *collected, sample_weight)
    outputs, labels, _ = test
    return learned.predict_collected(X_test, outputs, labels)
