"""What all uncertainty scores have in common."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response._response import Response
from sklearn_reject._typing import MatrixLike
from sklearn_reject._validation import LARGEST_EXACT_INTEGER, check_same_length


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

    A subclass writes `fit`, which sets `estimator_`, and `_uncertainty`, which gets a
    :class:`~sklearn_reject._response.Response` and returns one number per sample,
    higher = more uncertain. Derive from :class:`PlugInScore` or :class:`LearnedScore`
    rather than from this.

    Examples
    --------
    >>> from sklearn_reject.scores import Entropy, UncertaintyScore
    >>> isinstance(Entropy(), UncertaintyScore)
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
        values = self._uncertainty(response)
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
        uncertainty = self._uncertainty(response)
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


_N_SHOWN = 5


def check_scores(values, n_samples, name, *, finite=True):
    """Return one float64 number a sample, or say which samples have none.

    A vector is read by position, whatever index it has. Without `finite`, infinity is
    a number, too.
    """
    array = _as_vector(values, n_samples, name)
    if array.dtype.kind in "iuO":
        _check_exact(array, name)
    numbers = np.asarray(array, dtype=np.float64)
    if np.ma.isMaskedArray(values):
        numbers = np.where(np.ma.getmaskarray(values), np.nan, numbers)
    if not np.isfinite(numbers).all():
        rule = "must be finite" if finite else "must not be NaN"
        is_bad = ~np.isfinite(numbers) if finite else np.isnan(numbers)
        _refuse_rows(numbers, is_bad, name, rule)
    return numbers


def _check_exact(array, name):
    """Raise for objects that are no numbers, and for integers that float64 has not."""
    limit = LARGEST_EXACT_INTEGER
    if array.dtype.kind == "O":
        # Text, None and what stands for missing; a bool is a coarse score.
        objects = array.tolist()
        is_real = np.array([isinstance(x, (Real, np.bool_)) for x in objects])
        _refuse_rows(array, ~is_real, name, "must hold numbers")
        is_inexact = [isinstance(x, Integral) and abs(int(x)) > limit for x in objects]
    else:
        is_inexact = (array > limit) | (array < -limit)
    _refuse_rows(array, is_inexact, name, "must hold integers of at most 2**53")


def _as_vector(values, n_samples, name):
    """Return what may be numbers, in an array of the right shape."""
    if n_samples == 0:
        raise ValueError(f"{name} is empty. At least one sample is needed.")
    if sparse.issparse(values):
        raise ValueError(
            f"{name} returned a sparse matrix. Return a dense vector: "
            "`.toarray().ravel()`."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name} must return a vector of shape ({n_samples},): {error}"
        ) from error
    if array.shape != (n_samples,):
        raise ValueError(
            f"{name} returned an array of shape {array.shape}, expected one number for "
            f"each of the {n_samples} samples: shape ({n_samples},)."
        )
    if array.dtype.kind not in "biufO":
        raise ValueError(
            f"{name} must hold real numbers, got an array of dtype {array.dtype}. "
            "Convert it before you return it."
        )
    return array


def _refuse_rows(array, is_bad, name, rule):
    """Raise if some rows are bad, and say which."""
    rows = np.flatnonzero(is_bad)
    if not len(rows):
        return
    more = ", ..." if len(rows) > _N_SHOWN else ""
    shown = ", ".join(map(str, rows[:_N_SHOWN]))
    raise ValueError(
        f"{name} {rule}, got {array[rows].tolist()[0]!r} in row{'s' * (len(rows) > 1)} "
        f"{shown}{more} ({len(rows)} of the {len(array)} samples), so no decision is "
        "made. Return a finite number for every possible sample, and a large one if "
        "nothing is known about it."
    )
