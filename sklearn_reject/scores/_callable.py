"""A user's function as a score."""

import numpy as np

from sklearn_reject.scores._base import PlugInScore


class CallableScore(PlugInScore):
    """A function ``(estimator, X) -> uncertainty of shape (n_samples,)``.

    Parameters
    ----------
    function : callable
        Gets the fitted classifier and the samples, returns one finite number a sample,
        higher = more uncertain.

    Raises
    ------
    ValueError
        If the function returns another shape, or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_reject.scores import CallableScore
    >>> X, y = load_iris(return_X_y=True)
    >>> distance = CallableScore(lambda knn, X: knn.kneighbors(X)[0].mean(axis=1))
    >>> distance.fit(estimator=KNeighborsClassifier().fit(X, y))
    CallableScore(function=<function <lambda> at ...>)
    >>> distance.uncertainty(X[:2]).round(2)
    array([0.1 , 0.12])
    """

    def __init__(self, function):
        self.function = function

    def _uncertainty(self, response):
        values = np.asarray(self.function(response.estimator, response.X))
        n_samples = response.n_samples
        if values.shape != (n_samples,):
            raise ValueError(
                f"uncertainty_score returned an array of shape {values.shape}, "
                f"expected one number for each of the {n_samples} samples: shape "
                f"({n_samples},)."
            )
        return values
