"""What a novelty score looks at: hidden features, or samples as complete numbers."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from sklearn_reject._response._network import join
from sklearn_reject._response._response import Response
from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject.scores._encoding import Encoder, options_for
from sklearn_reject.scores._novelty import NoveltyScore, call, sees_samples

# Squares of such values can be added.
_LARGEST = 1e150

# So many deviations from the mean have squares that can be added.
_FARTHEST = 1e100


class InputScore(NoveltyScore):
    """Base of the novelty scores of :class:`Inputs`, which have a `features`."""

    needs_samples = True

    def check(self, estimator: Estimator, X: MatrixLike) -> None:
        super().check(estimator, X)
        # What will be made of samples is known where they are seen as they are.
        view, is_raw = Response(estimator, X), sees_samples(estimator)
        if is_raw and not (self.features or isinstance(view.model, MLPClassifier)):
            _encoder_for(view, random_state=0).fit(X)


class Inputs:
    """Makes a float64 matrix (n_samples, n_columns) of what a score looks at.

    Columns of a function, and hidden layers of networks, are taken as they are. Other
    classifiers are looked at by what reaches them, see :class:`Encoder`, which makes
    what a `learner` can take. Once fitted, `is_number` tells which columns have a unit
    of their own, and `is_directed` whether a row is known by its direction rather than
    by its length: what is hidden, or reduced.
    """

    def __init__(self, function=None, random_state=0, learner=None):
        self.function = function
        self.options = {"random_state": random_state, **options_for(learner)}

    def fit(self, response):
        """Return the matrix of ID samples."""
        self.encoders, self.mean, self.is_directed = None, None, True
        views = response.views
        are_networks = all(isinstance(view.model, MLPClassifier) for view in views)
        if self.function is not None or are_networks:
            matrix = self._take(response)
            self.is_number = np.ones(matrix.shape[1], dtype=bool)
            return matrix
        options = {"strategy": "median", "add_indicator": True, **self.options}
        self.encoders = encoders = [_encoder_for(view, **options) for view in views]
        pairs = zip(encoders, views, strict=True)
        matrix = join([encoder.fit(view.transform()) for encoder, view in pairs])
        self.is_number = np.concatenate([one.is_number for one in encoders])
        self.is_directed = any(isinstance(e.on_numbers, TruncatedSVD) for e in encoders)
        return matrix

    def scale(self, matrix, weight=None):
        """Return the columns of ID samples at mean zero and variance one, by weight.

        From here on, all columns that have a unit are scaled so. One that is constant
        keeps its unit, and so do indicators: another category counts as two numbers do
        on average. Values are clipped far beyond all that matters.
        """
        largest = np.abs(matrix).max(axis=0)
        if largest.max() > _LARGEST:
            column = int(largest.argmax())
            raise ValueError(
                f"Training samples hold {largest[column]:.3g} in column {column} of "
                "the inputs of the classifier, whose variance is not finite. If it is "
                "a missing value, use NaN, or impute it in the classifier's pipeline."
            )
        scaler = StandardScaler().fit(matrix, sample_weight=weight)
        self.mean = np.where(self.is_number, scaler.mean_, 0.0)
        self.deviation = np.where(self.is_number, scaler.scale_, 1.0)
        return self._scaled(matrix)

    def transform(self, response):
        """Return the matrix, and how many values each row alone is missing.

        These are in columns of which no sample that was fitted on missed one.
        """
        if self.encoders is None:
            matrix = self._take(response)
            return self._scaled(matrix), np.zeros(len(matrix), dtype=int)
        pairs = zip(self.encoders, response.views, strict=True)
        parts = [encoder.transform(view.transform()) for encoder, view in pairs]
        matrices, n_missing = zip(*parts, strict=True)
        return self._scaled(join(matrices)), sum(n_missing)

    def complete(self, response):
        """Return the matrix, or raise for values that are missing in new columns."""
        matrix, n_missing = self.transform(response)
        if n_missing.any():
            raise ValueError(
                "A value is missing in a column that was complete when the score was "
                "fitted. Impute it in the classifier's pipeline, or use "
                "novelty_score='knn'."
            )
        return matrix

    def _take(self, response):
        """Return what is looked at as it is."""
        if self.function is not None:
            return call(self.function, "features", response.estimator, response.X)
        return np.hstack([view.features for view in response.views])

    def _scaled(self, matrix):
        if self.mean is None:
            return matrix
        scaled = (matrix - self.mean) / self.deviation
        return np.clip(scaled, -_FARTHEST, _FARTHEST, out=scaled)


def _encoder_for(view, **options):
    """Return an encoder of what reaches a classifier."""
    return Encoder(
        f"The inputs of {type(view.model).__name__} cannot be used as features",
        "Put the preprocessing into a Pipeline with the classifier, or pass a callable "
        "(estimator, X) -> (n_samples, n_features) as the `features` of the score.",
        **options,
    )
