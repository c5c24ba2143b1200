"""The features that a learned score sees."""

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

_NAMES = ("input", "response", "both")

# The samples, for weights of their own for each predicted label (FPV23, eq. 37).
PER_LABEL = "per_label_linear"


def are_samples(features):
    """Tell whether the samples are among the features as they are."""
    return isinstance(features, str) and features in ("input", "both")


def uses_outputs(features):
    """Tell whether what the classifier said is among the features."""
    return isinstance(features, str) and features in ("response", "both")


def refuse_sparse(features, name):
    """Raise for a sparse matrix that a default learner cannot take."""
    if sparse.issparse(features):
        raise ValueError(
            f"X is a sparse matrix, which the default {name} cannot take. Use "
            "features='response', a transformer to dense features, or a learner that "
            "takes sparse features."
        )


class FeatureMap:
    """Numeric features of observed samples.

    Parameters
    ----------
    features : {"input", "response", "both"} or transformer
        The samples, what the classifier said about them, both side by side, or what a
        transformer makes of the samples.
    """

    def __init__(self, features):
        self.features = features
        is_name = isinstance(features, str)
        known = features in _NAMES if is_name else hasattr(features, "transform")
        if not known and features != PER_LABEL:
            raise ValueError(
                f"features must be one of {[*_NAMES, PER_LABEL]}, the last for linear "
                "scores only, or a transformer with `fit` and `transform`, got "
                f"{features!r}."
            )
        self.transformer = None if is_name else clone(features)

    def fit(self, observations, aims):
        """Fit the transformer, if there is one, on samples and what to learn."""
        if self.transformer is not None:
            self.transformer.fit(observations.X, aims)
        return self

    def transform(self, observations):
        """Return the features, a float64 matrix of shape (n_samples, n_features)."""
        if self.transformer is not None:
            return self._to_matrix(self.transformer.transform(observations.X))
        if self.features == "response":
            return observations.outputs
        samples = self._to_matrix(observations.X)
        if self.features in ("input", PER_LABEL):
            return samples
        if sparse.issparse(samples):
            return sparse.hstack([samples, observations.outputs], format="csr")
        return np.hstack([samples, observations.outputs])

    def _to_matrix(self, X):
        try:
            return check_array(
                X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False
            )
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"features={self.features!r} needs samples that are numbers: {error} "
                "Use features='response', or pass a transformer that makes numbers of "
                "them, such as the preprocessing of the classifier's pipeline."
            ) from error
