"""Networks and linear classifiers as layers, and sums along rows of any batch.

Such sums do not depend, to the last bit, on the other rows of a call. BLAS and
reductions of NumPy add in an order that depends on the shape and the memory layout of
what they get. Here they always get the same shape: rows in C order, in blocks of one
size, the last of which is filled up with zeros.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.neural_network import MLPClassifier

from sklearn_reject._sklearn import ACTIVATIONS, DERIVATIVES, LinearClassifierMixin

# Rows in one matrix product: few, as a single row costs as much as all of them.
_BLOCK = 32

# Einsum takes more columns than its buffer holds in parts, which other rows decide on.
_MOST_COLUMNS = 2**13


def row_products(rows, matrix):
    """Return rows (n, d), dense or csr, times a dense matrix (d, k) or vector (d,)."""
    if sparse.issparse(rows):  # scipy goes through the entries of a row one by one
        return rows @ matrix
    columns = np.asarray(matrix, dtype=np.float64).reshape(len(matrix), -1)
    if columns.shape[1] == 1:
        # A product with one column takes another path of BLAS, which adds otherwise.
        columns = np.repeat(columns, 2, axis=1)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    columns = np.ascontiguousarray(columns)
    products = np.empty((len(rows), columns.shape[1]))
    n_blocks, n_left = divmod(len(rows), _BLOCK)
    full = rows[: len(rows) - n_left].reshape(n_blocks, _BLOCK, rows.shape[1])
    out = products[: len(rows) - n_left].reshape(n_blocks, _BLOCK, columns.shape[1])
    np.matmul(full, columns, out=out)
    if n_left:
        padded = np.zeros((1, _BLOCK, rows.shape[1]))
        padded[0, :n_left] = rows[-n_left:]
        products[-n_left:] = np.matmul(padded, columns)[0, :n_left]
    return products[:, 0] if matrix.ndim == 1 else products[:, : matrix.shape[1]]


def row_sums(values):
    """Return the sum of each row of a dense matrix, shape (n,)."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape[1] > _MOST_COLUMNS:
        return np.add.reduce(values, axis=1)
    return np.einsum("ij->i", values)


def row_norms(values):
    """Return the Euclidean length of each row of a dense matrix, shape (n,)."""
    # Squares are rounded before they are added: rows that are mirrored stay equal.
    return np.sqrt(row_sums(np.square(values)))


def join(matrices):
    """Return columns of several matrices in one, sparse where one of them is."""
    if len(matrices) == 1:
        return matrices[0]
    if any(map(sparse.issparse, matrices)):
        return sparse.hstack(matrices, format="csr")
    return np.hstack(matrices)


def softmax(logits):
    """Return the softmax of each row, shape (n, k)."""
    powers = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    return powers / row_sums(powers)[:, np.newaxis]


def symmetrize(values):
    """Return the decision value f of two classes as the pair of logits (-f/2, f/2).

    Its softmax is the logistic function of f, and it favors neither class.
    """
    half = np.asarray(values, dtype=np.float64) / 2
    return np.stack([-half, half], axis=-1)


@dataclass(frozen=True, eq=False)
class Network:
    """Hidden layers, none in a linear classifier, and the last one, which makes logits.

    Layers are weights (n_inputs, n_outputs) and intercepts (n_outputs,).
    """

    hidden: list
    activation: str
    weights: np.ndarray
    intercepts: np.ndarray

    def activations(self, X):
        """Return X and what each hidden layer makes of it, (n_samples, n_units)."""
        activations = [X]
        for weights, intercepts in self.hidden:
            values = row_products(activations[-1], weights) + intercepts
            ACTIVATIONS[self.activation](values)  # in place, as the derivatives
            activations.append(values)
        return activations

    def head(self, features):
        """Return the logits (n_samples, n_classes) of the last of these."""
        return row_products(features, self.weights) + self.intercepts

    def logits(self, X):
        """Return the logits (n_samples, n_classes) of samples."""
        return self.head(self.activations(X)[-1])

    def pull_back(self, X, directions):
        """Return the gradient of ``(directions * logits).sum()`` by X, of its shape.

        `directions` (n_samples, n_classes) are constants.
        """
        gradient = row_products(directions, self.weights.T)
        layers = zip(self.activations(X)[1:], self.hidden, strict=True)
        for activation, (weights, _) in reversed(list(layers)):
            DERIVATIVES[self.activation](activation, gradient)
            gradient = row_products(gradient, weights.T)
        return gradient


def find_network(model):
    """Return the layers of a network or linear classifier, None for other models."""
    hidden, activation = [], "identity"
    # A class of someone else may inherit the attributes and decide otherwise.
    is_known = type(model).__module__.startswith("sklearn.")
    if isinstance(model, MLPClassifier):
        layers = zip(model.coefs_, model.intercepts_, strict=True)
        *hidden, (weights, intercepts) = layers
        activation = model.activation
    elif is_known and isinstance(model, LinearClassifierMixin):
        # `sparsify` of a linear classifier makes a sparse matrix of it.
        weights = getattr(model.coef_, "toarray", lambda: model.coef_)()
        weights, intercepts = np.atleast_2d(weights).T, model.intercept_
    else:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    # Without an intercept, scikit-learn stores one zero for all classes.
    intercepts = np.broadcast_to(np.float64(intercepts), weights.shape[1])
    if weights.shape[1] == 1:
        weights, intercepts = symmetrize(weights[:, 0]), symmetrize(intercepts[0])
    return Network(hidden, activation, weights, intercepts)
