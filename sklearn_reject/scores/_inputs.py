"""What a novelty score looks at: hidden features, or samples as complete numbers."""

import numpy as np
from scipy import sparse
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from sklearn_reject._response._steps import find_steps
from sklearn_reject.scores._encoding import Encoder
from sklearn_reject.scores._novelty import call, sees_samples

# Squares of such values can be added.
_LARGEST = 1e150

# So many deviations from the mean have squares that can be added.
_FARTHEST = 1e100

_ADVICE = (
    "Put the preprocessing into a Pipeline with the classifier, or pass a callable "
    "(estimator, X) -> (n_samples, n_features) as the `features` of the score."
)


class Inputs:
    """Makes a float64 matrix (n_samples, n_columns) of what a score looks at.

    Columns of a function, and hidden layers of networks, are taken as they are. Other
    classifiers are looked at by what reaches them, see :class:`Encoder`, which gets
    `options`. Once fitted, `is_number` tells which columns have a unit of their
    own, and `is_directed` whether a row is known by its direction rather than by its
    length: what is hidden, or reduced.
    """

    def __init__(self, function=None, random_state=None, **options):
        self.function = function
        self.options = {"random_state": random_state, **options}

    def fit(self, response):
        """Return the matrix of ID samples."""
        self.encoders, self.is_directed = None, True
        views = _views(response)
        if self.function is not None or _are_networks(views):
            matrix = self._take(response)
            self.is_number = np.ones(matrix.shape[1], dtype=bool)
            return matrix
        self.encoders = [
            Encoder(statistic="median", indicates=True, **self.options) for _ in views
        ]
        pairs = zip(self.encoders, views, strict=True)
        matrix = _join([_encode(one.fit, view) for one, view in pairs])
        self.is_number = np.concatenate([one.is_number for one in self.encoders])
        self.is_directed = any(one.directions is not None for one in self.encoders)
        return matrix

    def transform(self, response):
        """Return the matrix, and how many values each row alone is missing.

        These are in columns of which no sample that was fitted on missed one.
        """
        if self.encoders is None:
            matrix = self._take(response)
            return matrix, np.zeros(len(matrix), dtype=int)
        pairs = zip(self.encoders, _views(response), strict=True)
        parts = [_encode(one.count_gaps, view) for one, view in pairs]
        matrices, n_missing = zip(*parts, strict=True)
        return _join(matrices), sum(n_missing)

    def complete(self, response):
        """Return the matrix, or raise for values that are missing in new columns."""
        matrix, n_missing = self.transform(response)
        if n_missing.any():
            raise ValueError(
                "A value is missing in a column that was complete when the score was "
                "fitted. Fit the score on samples with missing values in this column, "
                "impute them in the classifier's pipeline, or use novelty_score='knn'."
            )
        return matrix

    def _take(self, response):
        """Return what is looked at as it is."""
        if self.function is not None:
            return call(self.function, "features", response.estimator, response.X)
        return np.hstack([view.features for view in _views(response)])


def _join(matrices):
    if any(map(sparse.issparse, matrices)):
        return sparse.hstack(matrices, format="csr")
    return np.hstack(matrices)


def check_samples(score, estimator, X):
    """Raise for samples of which a score will not be able to make numbers.

    That is known before anything is fitted where they reach the classifier as they are.
    """
    model = find_steps(estimator).model
    is_raw = score.features is None and sees_samples(estimator)
    if is_raw and not isinstance(model, MLPClassifier):
        _explain(lambda: Encoder(random_state=0).fit(X), model)


def options_for(learner):
    """Return the options of :class:`Inputs` for a learner: what it can take."""
    if not hasattr(learner, "__sklearn_tags__"):
        return {}
    tags = get_tags(learner).input_tags
    return {"one_hot": not tags.allow_nan, "keeps_sparse": tags.sparse}


class Scaler:
    """Brings columns that have a unit to mean zero and variance one, by weight.

    A column that is constant keeps its unit, and so do indicators: another category
    counts as two numbers do on average. Values are clipped far beyond all that matters.
    """

    def fit(self, matrix, is_number, weight=None):
        """Learn means and deviations from ID samples, and return what is made of them.

        Weights are non-negative.
        """
        largest = np.abs(matrix).max(axis=0)
        if largest.max() > _LARGEST:
            column = int(largest.argmax())
            raise ValueError(
                f"Training samples hold values up to {largest[column]:.3g} (column "
                f"{column} of the inputs of the classifier), whose variance is not "
                "finite. If such values mean missing, use NaN with a classifier that "
                "supports it, or impute them in its pipeline."
            )
        scaler = StandardScaler().fit(matrix, sample_weight=weight)
        self.mean = np.where(is_number, scaler.mean_, 0.0)
        self.scale = np.where(is_number, scaler.scale_, 1.0)
        return self.transform(matrix)

    def transform(self, matrix):
        """Return the scaled matrix."""
        scaled = (matrix - self.mean) / self.scale
        return np.clip(scaled, -_FARTHEST, _FARTHEST, out=scaled)


def _views(response):
    """Return the responses of the classifiers inside, one for all that see the same."""
    if not response.inner:
        return [response]
    pairs = zip(response.members, response.inner, strict=True)
    return list({member.view: view for member, view in pairs}.values())


def _are_networks(views):
    return all(isinstance(view.model, MLPClassifier) for view in views)


def _encode(encode, view):
    """Return what is made of what reaches the classifier, or say what to do."""
    return _explain(lambda: encode(view.transform()), view.model)


def _explain(make, model):
    try:
        return make()
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"The inputs of {type(model).__name__} cannot be used as features: {error} "
            f"{_ADVICE}"
        ) from error
