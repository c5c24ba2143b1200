"""What all uncertainty scores have in common."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._response import Response
from sklearn_reject._typing import MatrixLike
from sklearn_reject._validation import (
    check_extended_vector,
    check_same_length,
    check_vector,
    refuse_unread,
)


def forget(score):
    """Leave nothing behind of an earlier fit, in case that a new one fails."""
    for name in list(vars(score)):
        if name.endswith("_"):
            delattr(score, name)


def evaluate_score(score, response, name="uncertainty_score"):
    """Return predictions and their uncertainty, checked; `name` is the user's for it.

    The score may be anything with `evaluate`.
    """
    labels, uncertainty = score.evaluate(response)
    uncertainty = check_scores(uncertainty, response.n_samples, name)
    labels = np.asarray(labels)
    check_same_length(response.n_samples, **{f"{name}, by its labels,": labels})
    return labels, uncertainty


def find_labels(score, response):
    """Return the predictions that a score is about; it may have no method for them."""
    if hasattr(score, "labels"):
        return score.labels(response)
    return np.asarray(score.evaluate(response)[0])


class UncertaintyScore(BaseEstimator):
    """Base class of uncertainty scores.

    A subclass writes `fit`, which sets `estimator_`, and `compute`, which gets a
    :class:`Response` and returns one number per sample, higher = more uncertain. Derive
    from :class:`PlugInScore` or :class:`LearnedScore`
    rather than from this.

    Examples
    --------
    >>> from sklearn_reject.scores import Margin, UncertaintyScore
    >>> isinstance(Margin(), UncertaintyScore)
    True
    """

    #: What `uncertainty_score` calls it; one of your own needs no name.
    name: str | None = None

    #: Whether the score estimates the conditional risk, so that it can be compared
    #: with a reject cost without any data.
    estimates_risk = False

    #: Whether `fit` learns from samples, which the classifier must not have seen.
    learns = False

    def uncertainty(self, X: MatrixLike) -> np.ndarray:
        """Return how uncertain the classifier's prediction is for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        check_is_fitted(self, "estimator_")
        return self.from_response(Response(self.estimator_, X))

    def compute(self, response: Response) -> np.ndarray:
        """Return the uncertainty of a response; to be written by a subclass.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `compute(response)`.")

    def from_response(self, response: Response) -> np.ndarray:
        """Return the uncertainty of a response that is computed already.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        values = self.compute(response)
        return check_scores(values, response.n_samples, "uncertainty_score")

    def evaluate(self, response: Response) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions, and how uncertain they are.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        labels, uncertainty : ndarray of shape (n_samples,)
            What :meth:`labels` and :meth:`from_response` return.
        """
        # The uncertainty comes first: labels may follow from what it is read off. It is
        # checked by who knows what the user calls it, in `evaluate_score`.
        uncertainty = self.compute(response)
        return self.labels(response), uncertainty

    def labels(self, response: Response) -> np.ndarray:
        """Return the predictions that the uncertainty is about.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The classifier's own predictions, unless the score decides itself.
        """
        return response.labels


def check_scores(values, n_samples, name, *, finite=True):
    """Return one float64 number a sample; unless `finite`, infinity is one, too.

    A vector is read by position, whatever index it has.
    """
    refuse_unread(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a vector, got {error}") from error
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} must hold real numbers, not {array.dtype}.")
    if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
        rows = np.flatnonzero(~np.isfinite(array))
        raise ValueError(
            f"{name} must be finite, got {array.flat[rows[0]]} in row {rows[0]} "
            f"({len(rows)} such values). Return a finite number for every possible "
            "sample, and a large one if nothing is known about it."
        )
    numbers = (check_vector if finite else check_extended_vector)(array, name)
    check_same_length(n_samples, **{name: numbers})
    return numbers
