"""Linear scores, with weights of their own for each predicted label (FPV23, eq. 37)."""

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from sklearn_reject.scores._features import PER_LABEL, FeatureMap


class LabelledFeatures:
    """Standardised features of observed samples, sorted by label.

    Parameters
    ----------
    features : {"per_label_linear", "input", "response", "both"} or transformer
        All but the first give all labels the same weights.
    """

    def __init__(self, features):
        self.is_per_label = isinstance(features, str) and features == PER_LABEL
        self.map = FeatureMap(features, others=(PER_LABEL,))

    def fit_design(self, observations, aims, sample_weight):
        """Learn means and scales, and return the design of the samples."""
        self.map.fit(observations, aims)
        matrix = self._matrix(observations)
        self.scaler = StandardScaler(with_mean=not sparse.issparse(matrix))
        self.scaler.fit(matrix, sample_weight=sample_weight)
        self.n_labels = observations.n_labels if self.is_per_label else 1
        return self._design(matrix, observations)

    def design(self, observations):
        """Return the :class:`Design` of observed samples."""
        return self._design(self._matrix(observations), observations)

    def _design(self, matrix, observations):
        matrix = self.scaler.transform(matrix)
        labels = observations.labels
        if not self.is_per_label:
            labels = np.zeros(len(labels), dtype=np.intp)
        return Design(matrix, labels, self.n_labels)

    def _matrix(self, observations):
        features = self.map.transform(observations)
        values = features.data if sparse.issparse(features) else features
        if not np.isfinite(values).all():
            raise ValueError(
                f"features={self.map.features!r} holds values that are not finite, "
                "which a linear score cannot use. Impute them, for example by a "
                "transformer as `features`."
            )
        return features


class Design:
    """The linear map from weights (n_labels, n_features + 1) to scores.

    Parameters
    ----------
    matrix : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Standardised features.

    labels : ndarray of shape (n_samples,)
        Position of the predicted label.

    n_labels : int
        Number of labels.
    """

    def __init__(self, matrix, labels, n_labels):
        self.order = np.argsort(labels, kind="stable") if n_labels > 1 else None
        self.matrix = matrix if self.order is None else matrix[self.order]
        ends = np.cumsum(np.bincount(labels, minlength=n_labels))
        self.groups = list(zip(np.append(0, ends[:-1]), ends, strict=True))
        self.shape = (n_labels, matrix.shape[1] + 1)

    def sort(self, values):
        """Return values of the samples in the order of the rows."""
        return values if self.order is None else values[self.order]

    def unsort(self, values):
        """Return values of the rows in the order of the samples."""
        if self.order is None:
            return values
        result = np.empty_like(values)
        result[self.order] = values
        return result

    def predict(self, weights):
        """Return the score of each sample."""
        return self.unsort(self.scores(weights))

    def scores(self, weights):
        """Return the score of each row."""
        scores = np.empty(self.matrix.shape[0])
        for (start, end), row in zip(self.groups, weights, strict=True):
            scores[start:end] = self.matrix[start:end] @ row[:-1] + row[-1]
        return scores

    def adjoint(self, values):
        """Return the derivatives by the weights, from those by the scores."""
        result = np.empty(self.shape)
        for (start, end), row in zip(self.groups, result, strict=True):
            row[:-1] = self.matrix[start:end].T @ values[start:end]
            row[-1] = values[start:end].sum()
        return result
