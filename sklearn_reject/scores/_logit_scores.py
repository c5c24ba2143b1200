"""Novelty read off probabilities and logits."""

import numpy as np
from scipy.special import logsumexp

from sklearn_reject._validation import check_number
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import find_logits, find_probabilities
from sklearn_reject.scores._plug_in import _probability_of_others


class MSP(NoveltyScore):
    """One minus the maximum softmax probability: 1 - max_y p(y given x).

    The baseline of Hendrycks and Gimpel (2017). In [0, 1 - 1 / n_classes], higher =
    more novel. It is summed up from the other probabilities, so that confident
    predictions do not tie at zero.

    Parameters
    ----------
    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``, whose softmax is taken. None
        takes the classifier's `predict_proba`.

    Raises
    ------
    ValueError
        If the classifier has no `predict_proba`, or `logits` returns another shape or
        values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import MSP
    >>> X, y = load_iris(return_X_y=True)
    >>> score = MSP().fit(estimator=GaussianNB().fit(X, y))
    >>> score.novelty(X[[0, 70]]).round(2)
    array([0.  , 0.15])
    """

    def __init__(self, logits=None):
        self.logits = logits

    def _novelty(self, response):
        return miss_probability(find_probabilities(response, self.logits))


class MaxLogit(NoveltyScore):
    """Minus the largest logit: - max_y z_y (Hendrycks et al., 2022).

    In units of the logits, higher = more novel.

    Parameters
    ----------
    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``. None takes the classifier's
        `decision_function`, or what goes into the output activation of an
        MLPClassifier. The one value f of two classes is taken for (-f/2, f/2).

    Raises
    ------
    ValueError
        If the classifier has no logits, or `logits` returns another shape or values
        that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import MaxLogit
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> MaxLogit().fit(estimator=clf).novelty(X[[0, 70]]).round(1)
    array([-7.3, -1.9])
    """

    def __init__(self, logits=None):
        self.logits = logits

    def _novelty(self, response):
        return -find_logits(response, self.logits).max(axis=1)


class Energy(NoveltyScore):
    """Free energy of the logits: - T log sum_y exp(z_y / T) (Liu et al., 2020).

    In units of the logits, higher = more novel. It tends to :class:`MaxLogit` as T
    tends to zero.

    Parameters
    ----------
    temperature : float, default=1.0
        The positive T.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``. None takes the classifier's
        `decision_function`, or what goes into the output activation of an
        MLPClassifier. The one value f of two classes is taken for (-f/2, f/2).

    Raises
    ------
    ValueError
        If `temperature` is not positive, if the classifier has no logits, or if
        `logits` returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import Energy
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> Energy().fit(estimator=clf).novelty(X[[0, 70]]).round(1)
    array([-7.4, -2.5])
    """

    def __init__(self, temperature=1.0, logits=None):
        self.temperature = temperature
        self.logits = logits

    def _fit(self, response, y, sample_weight, X_ood):
        check_number(self.temperature, "temperature", open_low=True)

    def _novelty(self, response):
        logits = find_logits(response, self.logits)
        return free_energy(logits, self.temperature)


def miss_probability(probabilities):
    """Return one minus the largest probability, as the sum of the others."""
    return _probability_of_others(probabilities, probabilities.argmax(axis=1))


def free_energy(logits, temperature=1.0):
    """Return minus the temperature times the logarithm of the partition function."""
    temperature = check_number(temperature, "temperature", open_low=True)
    # The largest is taken out first: over a tiny temperature it would overflow.
    largest = logits.max(axis=1)
    with np.errstate(over="ignore"):
        lower = (logits - largest[:, np.newaxis]) / temperature
    return -(largest + temperature * logsumexp(lower, axis=1))
