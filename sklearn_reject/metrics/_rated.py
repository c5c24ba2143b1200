"""Scorers where only some documents are rated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from sklearn_reject._labels import find_rated
from sklearn_reject._sklearn import _num_samples, _safe_indexing
from sklearn_reject._typing import Label
from sklearn_reject._validation import check_sample_weight
from sklearn_reject.metrics._scoring import Scorer


class RatedScorer(Scorer):
    """Scorer that looks at rated documents only."""

    def __init__(self, scorer, unrated_label):
        self._scorer = scorer
        self._unrated_label = unrated_label
        self._requests = {"sample_weight": None}

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted estimator, a float, higher is better."""
        y, is_rated = find_rated(y, self._unrated_label)
        rows = np.flatnonzero(is_rated)
        if not len(rows):
            raise ValueError(
                f"y has no rated documents: all {len(y)} are missing or "
                f"{self._unrated_label!r}, the unrated_label. Use folds with rated "
                "documents, such as those of StratifiedKFold."
            )
        params = {}
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, _num_samples(X))
            params["sample_weight"] = weight[rows]
        labels = y[rows]
        if labels.dtype.kind == "O":
            # What is left of labels beside missing values is of one kind.
            labels = np.array(labels.tolist())
        return self._scorer(estimator, _safe_indexing(X, rows), labels, **params)

    def __repr__(self):
        return f"<{self._scorer!r} of rated documents>"


def make_rated_scorer(
    scoring: str | Callable[..., Any], *, unrated_label: Label = -1
) -> Callable[..., float]:
    """Make a scorer that uses rated documents only, from any other scorer.

    If documents that nobody has rated have a label such as -1, scorers like that of the
    precision treat it as a class, or raise an error. This scorer leaves these documents
    out, so their predictions do not count: a model that reports more unrated documents
    is not judged worse. Models are comparable only if documents were rated down to the
    same lowest thresholds.

    If missing ratings are NaN, pass a splitter such as `KFold()` as `cv` of a search:
    for a number of folds scikit-learn looks for classes, and refuses NaN.

    Parameters
    ----------
    scoring : str or callable
        Name of a scorer of scikit-learn, or a callable ``(estimator, X, y)`` such as
        :func:`~sklearn.metrics.make_scorer` returns, which takes `sample_weight`, too,
        where that is given.

    unrated_label : label, default=-1
        Label of documents that were not rated. Missing values always mean not rated.
        None if nothing else does.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, higher is better.

    Raises
    ------
    ValueError
        If there is no scorer of this name, or more than one is given. The scorer
        raises where no document is rated.

    See Also
    --------
    pn_auc_score : An area that does not depend on a threshold.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_reject import EnsembleThresholdTuner
    >>> from sklearn_reject.metrics import make_rated_scorer
    >>> scores, y = make_classification(
    ...     1000, 2, n_informative=2, n_redundant=0, weights=[0.9], random_state=0
    ... )
    >>> y[scores.max(axis=1) < 0] = -1  # nobody has looked
    >>> tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1)
    >>> precision = cross_val_score(
    ...     tuner, scores, y, scoring=make_rated_scorer("precision"), cv=3
    ... )
    >>> bool((precision > 0.5).all())
    True

    The gain at a price of two false positives for a true one:

    >>> from sklearn.metrics import confusion_matrix, make_scorer
    >>> def gain(y_true, y_pred):
    ...     tn, fp, fn, tp = confusion_matrix(y_true, y_pred).ravel()
    ...     return tp - fp / 2
    >>> scorer = make_rated_scorer(make_scorer(gain))
    >>> bool(scorer(tuner.fit(scores, y), scores, y) > 0)
    True
    """
    if not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(
            "scoring must be the name of one scorer, or a callable such as make_scorer "
            f"returns, got {scoring!r}. For several scorers, pass each to "
            "make_rated_scorer and collect the results in a dictionary."
        )
    # The estimator is not looked at where a scorer is given.
    return RatedScorer(check_scoring(scoring=scoring), unrated_label)
