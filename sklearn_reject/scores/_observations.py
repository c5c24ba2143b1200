"""What learned scores learn from: samples, and what the estimator said about them."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import indexable

from sklearn_reject._sklearn_private import _safe_indexing
from sklearn_reject._validation import index_labels


@dataclass(frozen=True, eq=False)
class Observations:
    """Samples, and what an estimator or several of a kind said about them.

    Attributes
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    outputs : ndarray of shape (n_samples, n_outputs)
        Probabilities, else decision values, else indicators of the predicted label;
        the predictions of a regressor.

    labels : ndarray of shape (n_samples,)
        Position of the predicted label among all classes; zero for a regressor.

    n_labels : int
        Number of classes; one for a regressor.
    """

    X: object
    outputs: np.ndarray
    labels: np.ndarray
    n_labels: int

    def __len__(self):
        return len(self.labels)

    def take(self, rows):
        """Return some of the samples."""
        if isinstance(rows, slice) and rows == slice(None):
            return self
        X = _safe_indexing(*indexable(self.X), rows)
        return Observations(X, self.outputs[rows], self.labels[rows], self.n_labels)


def find_labels(response, classes):
    """Return the position of each predicted label among all classes.

    Parameters
    ----------
    response : Response
        Of an estimator that may know some of the classes only.

    classes : ndarray of shape (n_classes,) or None
        All classes; None for a regressor.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Positions, zero for a regressor.
    """
    if classes is None:
        return np.zeros(response.n_samples, dtype=np.intp)
    return _find_classes(response, classes)[response.label_indices]


def find_outputs(response, classes):
    """Return what the estimator says beside its label, in columns of all classes.

    Parameters
    ----------
    response : Response
        Of an estimator that may know some of the classes only.

    classes : ndarray of shape (n_classes,) or None
        All classes; None for a regressor.

    Returns
    -------
    outputs : ndarray of shape (n_samples, n_outputs)
        As in :class:`Observations`.
    """
    if classes is None:
        return np.asarray(response.labels, dtype=np.float64).reshape(
            response.n_samples, -1
        )
    positions = _find_classes(response, classes)
    if hasattr(response.estimator, "predict_proba"):
        return _align(response.probabilities, positions, len(classes), absent=0.0)
    if hasattr(response.estimator, "decision_function"):
        return _align_decisions(response.decision_values, positions, len(classes))
    return np.eye(len(classes))[positions[response.label_indices]]


def _find_classes(response, classes):
    positions, unknown = index_labels(response.classes, classes)
    if unknown.any():
        label = response.classes[unknown].tolist()[0]
        raise ValueError(
            f"The classifier knows the class {label!r}, which is not among the labels "
            f"{classes.tolist()} given."
        )
    return positions


def _align(outputs, positions, n_classes, absent):
    if np.array_equal(positions, np.arange(n_classes)):
        return outputs
    aligned = np.empty((len(outputs), n_classes))
    aligned[:] = absent
    aligned[:, positions] = outputs
    return aligned


def _align_decisions(values, positions, n_classes):
    if values.ndim == 1 and n_classes == 2:
        return values[:, np.newaxis]
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    # A class that the fold lacks is as far off as the farthest of the others.
    return _align(values, positions, n_classes, values.min(axis=1, keepdims=True))
