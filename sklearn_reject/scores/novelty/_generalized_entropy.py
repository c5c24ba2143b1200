"""The generalized entropy of class probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_reject._response import row_sums
from sklearn_reject._validation import check_count, check_number
from sklearn_reject.scores.novelty._base import NoveltyScore, find_probabilities
from sklearn_reject.scores.novelty._logits import miss_probability
from sklearn_reject.scores.novelty._members import warn_of_one_probability


class GEN(NoveltyScore):
    """Generalized entropy of the class probabilities (Liu et al., 2023).

    sum_y p_y^gamma (1 - p_y)^gamma over the largest probabilities p_y. A small gamma
    makes it sensitive to probabilities that are close to zero or one; at gamma = 1, of
    all classes, it is the Gini impurity. At least 0, higher = more novel. The largest
    probability is taken from one as the sum of the others, so that confident
    predictions do not tie.

    With two classes it is a function of one probability, as the probability of an error
    is. It then adds nothing to the conditional risk, and `fit` warns.

    Parameters
    ----------
    gamma : float, default=0.1
        The exponent, in ]0, 1].

    n_largest : int, default=100
        How many of the largest probabilities count, all if there are fewer classes. The
        many small ones of a large number of classes are not known well.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``, whose softmax is taken. None
        takes the classifier's `predict_proba`.

    Raises
    ------
    ValueError
        If a parameter is invalid, if the classifier has no `predict_proba`, or if
        `logits` returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import GEN
    >>> X, y = load_iris(return_X_y=True)
    >>> score = GEN().fit(estimator=GaussianNB().fit(X, y))
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.04, 1.63])
    """

    name = "gen"

    needs_classes = True

    def __init__(
        self,
        gamma: float = 0.1,
        n_largest: int = 100,
        logits: Callable[..., Any] | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_largest = n_largest
        self.logits = logits

    def _fit(self, response, y, sample_weight, X_ood):
        check_number(self.gamma, "gamma", high=1, open_low=True)
        check_count(self.n_largest, "n_largest")
        warn_of_one_probability(self, response)

    def _novelty(self, response):
        given = find_probabilities(response, self.logits)
        probabilities = np.array(given, dtype=np.float64, order="C")
        others = 1 - probabilities
        largest = probabilities.argmax(axis=1)[:, np.newaxis]
        miss = miss_probability(probabilities)[:, np.newaxis]
        np.put_along_axis(others, largest, miss, axis=1)
        if self.n_largest < probabilities.shape[1]:
            columns = probabilities.argsort(axis=1)[:, -self.n_largest :]
            probabilities = np.take_along_axis(probabilities, columns, axis=1)
            others = np.take_along_axis(others, columns, axis=1)
        return row_sums((probabilities * others) ** self.gamma)
