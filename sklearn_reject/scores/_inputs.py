"""What a novelty score looks at: hidden features, or samples as complete numbers."""

import numpy as np
from scipy import sparse
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, get_tags

from sklearn_reject._response._network import row_products
from sklearn_reject._response._steps import find_steps
from sklearn_reject.scores._encoding import Encoder
from sklearn_reject.scores._features import is_wide, leading_directions
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
    classifiers are looked at by what reaches them, see :class:`SampleEncoder`, which
    gets `options`. Once fitted, `is_number` tells which columns have a unit of their
    own, and `is_directed` whether a row is known by its direction rather than by its
    length: what is hidden, or reduced.
    """

    def __init__(self, function=None, random_state=None, **options):
        self.function = function
        self.options = {"random_state": random_state, **options}

    def fit(self, response):
        """Return the matrix of ID samples."""
        self.encoders = None
        views = _views(response)
        if self.function is None and not _are_networks(views):
            self.encoders = [SampleEncoder(**self.options) for _ in views]
        matrix, _ = self._join(response, "fit")
        self.is_number = np.ones(matrix.shape[1], dtype=bool)
        self.is_directed = True
        if self.encoders is not None:
            self.is_number = np.concatenate([one.is_number for one in self.encoders])
            self.is_directed = any(one.directions is not None for one in self.encoders)
        return matrix

    def transform(self, response):
        """Return the matrix, and how many values each row alone is missing.

        These are in columns of which no sample that was fitted on missed one.
        """
        return self._join(response, "transform")

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

    def _join(self, response, method):
        if self.function is not None:
            matrix = call(self.function, "features", response.estimator, response.X)
            return matrix, np.zeros(len(matrix), dtype=int)
        views = _views(response)
        if self.encoders is None:
            matrix = np.hstack([view.features for view in views])
            return matrix, np.zeros(len(matrix), dtype=int)
        pairs = zip(self.encoders, views, strict=True)
        parts = [_encode(getattr(one, method), view) for one, view in pairs]
        matrices, n_missing = zip(*parts, strict=True)
        if any(map(sparse.issparse, matrices)):
            return sparse.hstack(matrices, format="csr"), sum(n_missing)
        return np.hstack(matrices), sum(n_missing)


class SampleEncoder:
    """Makes numbers of samples in any container.

    Categories become indicators. Medians stand for numbers that are missing, beside an
    indicator of each column that misses some; without `one_hot` categories are codes,
    and what is missing is NaN. A sparse matrix stays one if that `keeps_sparse`; else
    few directions are taken of many columns.
    """

    def __init__(self, one_hot=True, keeps_sparse=False, random_state=None):
        self.one_hot = one_hot
        self.keeps_sparse = keeps_sparse
        self.random_state = random_state

    def fit(self, X):
        """Find out what the columns hold, and return what `transform` does."""
        self.directions, self.encoder = None, None
        if sparse.issparse(X) and (self.keeps_sparse or is_wide(X)):
            matrix = _as_csr(X)
            if not self.keeps_sparse:
                self.directions = leading_directions(matrix, self.random_state)
            n_columns = (matrix if self.keeps_sparse else self.directions).shape[1]
            self.is_number = np.ones(n_columns, dtype=bool)
            return self.transform(X)
        self.encoder = Encoder(self.one_hot, keeps_missing=True)
        matrix = self.encoder.fit(_as_dense(X))
        self.misses = np.zeros(matrix.shape[1], dtype=bool)
        if self.one_hot:
            self.misses = np.isnan(matrix).any(axis=0)
            self.medians = np.nanmedian(matrix, axis=0)
        n_columns = matrix.shape[1] + self.misses.sum()
        self.is_number = np.arange(n_columns) < self.encoder.n_numbers
        return self._fill(matrix)

    def transform(self, X):
        """Return the matrix, and how many values are missing where none was."""
        if self.encoder is not None:
            return self._fill(self.encoder.transform(_as_dense(X)))
        matrix = _as_csr(X)
        if self.directions is not None:
            matrix = row_products(matrix, self.directions)
        return matrix, np.zeros(matrix.shape[0], dtype=int)

    def _fill(self, matrix):
        if not self.one_hot:
            return matrix, np.zeros(len(matrix), dtype=int)
        is_missing = np.isnan(matrix)
        n_new = is_missing[:, ~self.misses].sum(axis=1)
        if is_missing.any():
            matrix = np.where(is_missing, self.medians, matrix)
        return np.hstack([matrix, is_missing[:, self.misses]]), n_new


def check_samples(score, estimator, X):
    """Raise for samples of which a score will not be able to make numbers.

    That is known before anything is fitted where they reach the classifier as they are.
    """
    model = find_steps(estimator).model
    is_raw = score.features is None and sees_samples(estimator)
    if is_raw and not isinstance(model, MLPClassifier):
        _explain(lambda: SampleEncoder(random_state=0).fit(X), model)


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


def _as_csr(X):
    return check_array(X, accept_sparse="csr", dtype=np.float64)


def _as_dense(X):
    return X.toarray() if sparse.issparse(X) else X
