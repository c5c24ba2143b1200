"""How far features are from the subspace that holds most of them."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._validation import check_count

# Weights of a softmax may sum to zero over the classes, up to rounding.
_SMALLEST_SINGULAR_VALUE = 1e-8


@dataclass(frozen=True, eq=False)
class ResidualSpace:
    """Orthogonal complement of a principal subspace.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        Point of the subspace.

    basis : ndarray of shape (n_features, n_features - n_components)
        Orthonormal vectors that are orthogonal to it.
    """

    origin: np.ndarray
    basis: np.ndarray

    def norms(self, features):
        """Return the distance of features to the principal subspace."""
        return np.linalg.norm((features - self.origin) @ self.basis, axis=1)


def fit_residual_space(features, origin, n_components=None, weight=None):
    """Return the space of the least second moments about an origin.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        ID features.

    origin : ndarray of shape (n_features,)
        Point of the subspace.

    n_components : int or None
        Dimension of the principal subspace; None takes 1000 of at least 2048 features,
        512 of at least 768, else half of them.

    weight : ndarray of shape (n_samples,) or None
        Sample weights.
    """
    n_features = features.shape[1]
    n_residual = n_features - _count_components(n_components, n_features)
    weight = np.ones(len(features)) if weight is None else weight
    centered = (features - origin) * np.sqrt(weight / weight.sum())[:, np.newaxis]
    _, vectors = np.linalg.eigh(centered.T @ centered)
    # Eigenvalues increase: the first vectors span what is left over.
    return ResidualSpace(origin, np.ascontiguousarray(vectors[:, :n_residual]))


def _count_components(n_components, n_features):
    if n_components is None:
        if n_features >= 2048:
            return 1000
        return 512 if n_features >= 768 else n_features // 2
    if check_count(n_components, "n_components") >= n_features:
        raise ValueError(
            f"n_components={n_components} leaves no residual of {n_features} features. "
            f"Use at most {n_features - 1}."
        )
    return n_components


def find_origin(features, head, weight=None):
    """Return where the logits are as close to zero as can be, without a head the mean.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        ID features.

    head : Head or None
        Last layer, with weights W and intercepts b: the origin is minus the
        pseudo-inverse of W times b.

    weight : ndarray of shape (n_samples,) or None
        Sample weights.
    """
    if head is None:
        return np.average(features, axis=0, weights=weight)
    inverse = np.linalg.pinv(head.weights.T, rcond=_SMALLEST_SINGULAR_VALUE)
    return -inverse @ head.intercepts
