"""The features that a learned score sees."""

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, get_tags

_NAMES = ("input", "response", "both")

# The samples, for weights of their own for each predicted label (FPV23, eq. 37).
PER_LABEL = "per_label_linear"


def uses_outputs(features):
    """Tell whether what the classifier said is among the features."""
    return isinstance(features, str) and features in ("response", "both")


def learner_takes_sparse(learner, features):
    """Tell whether a learner, None for trees, takes what is made of sparse samples."""
    if not isinstance(features, str) or features not in ("input", "both"):
        return True
    return learner is not None and get_tags(learner).input_tags.sparse


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

    others : tuple of str, default=()
        Names for the samples that the caller knows what to do with.
    """

    def __init__(self, features, others=()):
        self.features = features
        is_name = isinstance(features, str)
        names = [*_NAMES, *others]
        if not (features in names if is_name else hasattr(features, "transform")):
            raise ValueError(
                f"features must be one of {names} or a transformer with `fit` and "
                f"`transform`, got {features!r}."
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
        if self.features != "both":
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
