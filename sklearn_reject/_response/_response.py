"""What a fitted classifier says about a batch of samples, computed once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from sklearn_reject._response._network import Network, find_network, join, symmetrize
from sklearn_reject._response._steps import find_inside, find_members, find_steps
from sklearn_reject._sklearn import LinearClassifierMixin, _num_samples, take_rows
from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject._validation import index_labels, refuse_unmapped

# Classifiers of scikit-learn whose `predict` is the class of the largest probability.
# Others, such as TunedThresholdClassifierCV and SVC, decide otherwise.
_PREDICT_MOST_PROBABLE = {
    *("BaggingClassifier", "CalibratedClassifierCV", "HistGradientBoostingClassifier"),
    *("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    *("DecisionTreeClassifier", "ExtraTreeClassifier", "ExtraTreesClassifier"),
    *("LinearDiscriminantAnalysis", "LogisticRegression", "LogisticRegressionCV"),
    *("MLPClassifier", "RandomForestClassifier"),
}


class Response:
    """What a classifier says about samples, for a score of one's own.

    A score reads what it needs: everything is computed at its first use, in one pass of
    the estimator, and kept. Where the labels follow from probabilities or decision
    values that are there already, `predict` is not called.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier, or a regressor, which has `labels` only.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    Attributes
    ----------
    estimator : estimator
        The fitted classifier.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The samples.

    n_samples : int
        Number of samples.

    classes : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    labels : ndarray of shape (n_samples,)
        Predicted labels.

    label_indices : ndarray of shape (n_samples,)
        Position of each predicted label in `classes`.

    probabilities : ndarray of shape (n_samples, n_classes)
        Class probabilities.

    decision_values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decision values, one a sample or one a class.

    logits : ndarray of shape (n_samples, n_classes)
        Unnormalized log-probabilities: the decision values, one a class.

    features : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The last hidden layer of an MLPClassifier, or what reaches another classifier.

    Raises
    ------
    ValueError
        Where the classifier has not what is read, or returns it in another shape.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import PlugInScore
    >>> class GiniImpurity(PlugInScore):
    ...     def compute(self, response):
    ...         return 1 - (response.probabilities**2).sum(axis=1)
    >>> X, y = load_iris(return_X_y=True)
    >>> score = GiniImpurity().fit(estimator=GaussianNB().fit(X, y))
    >>> score.uncertainty(X[[0, 70]]).round(2)
    array([0.  , 0.26])
    """

    def __init__(self, estimator: Estimator, X: MatrixLike) -> None:
        refuse_unmapped(X)
        self.estimator = estimator
        self.X = X
        self._steps = find_steps(estimator)
        self.model = self._steps.model

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return _num_samples(self.X)

    @property
    def classes(self) -> np.ndarray:
        """Labels in the order of the columns, ndarray of shape (n_classes,)."""
        return np.asarray(self.estimator.classes_)

    @cached_property
    def inner(self) -> list[Response]:
        """Responses of the classifiers inside a search or the like, none of others."""
        inside = find_inside(self.model)
        X = self.transform() if inside else None
        outer = [Response(estimator, X) for estimator in inside]
        return [innermost for each in outer for innermost in each.inner or [each]]

    @property
    def views(self) -> list[Response]:
        """Responses inside, or this one: one for all that have the same features."""
        seen = {}
        for each in self.inner or [self]:
            parts = [*each._steps.transformers, each.X]
            parts += [each.model] * isinstance(each.model, MLPClassifier)
            seen[tuple(map(id, parts))] = each
        return list(seen.values())

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Class probabilities, ndarray of shape (n_samples, n_classes)."""
        return self._check_columns(self._ask("predict_proba"), "predict_proba")

    @cached_property
    def decision_values(self) -> np.ndarray:
        """Decision values, shape (n_samples,) or (n_samples, n_classes)."""
        values = self._ask("decision_function")
        # With three classes there are three pairs, so the columns would not tell.
        model = find_members(self.estimator)[0].model
        is_of_pairs = getattr(model, "decision_function_shape", "") == "ovo"
        if is_of_pairs and len(self.classes) > 2:
            raise ValueError(
                "decision_function_shape='ovo' gives one value per pair of classes. Use"
                " 'ovr', which gives one per class."
            )
        if values.ndim == 1 and len(self.classes) == 2:
            return values
        return self._check_columns(values, "decision_function")

    def transform(self, n_steps: int | None = None) -> Any:
        """Return what the first steps of the pipelines around the model make of X.

        Parameters
        ----------
        n_steps : int, default=None
            How many of the steps; None for all of them.

        Returns
        -------
        X : {array-like, sparse matrix, dataframe}
            The samples after these steps, in the container that comes out of them.
        """
        X = self.X
        for step in self._steps.transformers[:n_steps]:
            X = step.transform(X)
        return X

    @cached_property
    def model_input(self) -> Any:
        """What reaches the classifier inside pipelines, float64, dense or sparse.

        Of shape (n_samples, n_features).
        """
        X = self.transform()
        options = {"accept_sparse": "csr", "dtype": np.float64}
        if isinstance(self.model, MLPClassifier):
            return validate_data(self.model, X, reset=False, **options)
        try:
            return check_array(X, **options)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The inputs of {type(self.model).__name__} are no features: {error} "
                "Put the preprocessing into a Pipeline with it, or pass a callable "
                "(estimator, X) -> (n_samples, n_features)."
            ) from error

    @cached_property
    def features(self) -> Any:
        """Features of the samples, float64 matrix of shape (n_samples, n_features).

        The last hidden layer of an MLPClassifier; for any other classifier what
        reaches it. Within a pipeline that is the output of the step before the last.
        It is dense unless that output is sparse. A search or the like has those of the
        classifier inside, and of several members all that differ side by side.
        """
        if not self.inner:
            network, X = find_network(self.model), self.model_input
            return X if network is None else network.activations(X)[-1]
        return join([view.features for view in self.views])

    @cached_property
    def network(self) -> Network | None:
        """Layers that make logits of what reaches the only classifier, or None.

        MLPClassifier and the linear classifiers of scikit-learn have some, and what
        goes by one of them.
        """
        model, *others = [steps.model for steps in find_members(self.estimator)]
        is_of_labels = getattr(model, "out_activation_", None) == "logistic"
        if is_of_labels and model.n_outputs_ > 1:
            raise ValueError(f"{model!r} has labels side by side. Fit one for each.")
        return None if others else find_network(model)

    @cached_property
    def logits(self) -> np.ndarray:
        """Unnormalized log-probabilities, ndarray of shape (n_samples, n_classes).

        The decision values, one a class; the one value f of two classes becomes
        (-f/2, f/2), whose softmax is the logistic function of f and which favors
        neither class. For an MLPClassifier, what goes into the output activation,
        halved alike for two classes. Those of several members are averaged.
        """
        if isinstance(self.model, MLPClassifier):
            return self._check_columns(self.network.head(self.features), "logits")
        if self.inner:
            # One after the other: a reduction adds in an order that the shape decides.
            return sum(map(self._logits_of, self.inner)) / len(self.inner)
        # Logarithms of probabilities are no substitute: their energy tells nothing.
        values = np.asarray(self.decision_values, dtype=np.float64)
        return symmetrize(values) if values.ndim == 1 else values

    def _logits_of(self, inner):
        """Return the logits of a member, which must be of the same classes."""
        if not np.array_equal(inner.classes, self.classes):
            raise ValueError(
                f"Of the classes {self.classes.tolist()}, {type(inner.model).__name__} "
                f"inside {type(self.model).__name__} has {inner.classes.tolist()}. Use "
                "fewer folds, ensemble=False or novelty_score='msp'."
            )
        # Of a linear classifier, its own product would depend on the other rows.
        network = inner.network
        return inner.logits if network is None else network.head(inner.features)

    @cached_property
    def labels(self) -> np.ndarray:
        """Predicted labels, ndarray of shape (n_samples,)."""
        if self._deciding_values() is None:
            return np.asarray(self.estimator.predict(self.X))
        return self.classes[self.label_indices]

    @cached_property
    def label_indices(self) -> np.ndarray:
        """Position of each predicted label in `classes`, shape (n_samples,)."""
        values = self._deciding_values()
        if values is None:
            return self._index(self.labels)
        indices, tied = _largest(values)
        if len(tied):
            # Rounding has hidden from us what the classifier goes by.
            rows = take_rows(self.X, tied)
            indices[tied] = self._index(np.asarray(self.estimator.predict(rows)))
        return indices

    def _index(self, labels):
        indices, unknown = index_labels(labels, self.classes)
        if unknown.any():
            raise ValueError(
                f"{type(self.model).__name__}.predict returned the label "
                f"{labels[unknown].tolist()[0]!r}, which is not in its classes_. If it "
                "rejects or defers samples, set its reject_label=None or "
                "defer_label=None."
            )
        return indices

    def _deciding_values(self):
        """Return computed values whose largest is what `predict` returns, or None."""
        kind, known = type(self.model), vars(self)
        if kind.__module__.startswith("sklearn."):
            if kind.__name__ in _PREDICT_MOST_PROBABLE and "probabilities" in known:
                return self.probabilities
            if isinstance(self.model, LinearClassifierMixin):
                return known.get("decision_values")
        return None

    def _ask(self, method):
        """Return what a method of the estimator says, or raise if it has none."""
        if hasattr(self.estimator, method):
            return np.asarray(getattr(self.estimator, method)(self.X))
        raise ValueError(
            f"{type(self.model).__name__} has no `{method}`, which this "
            "uncertainty_score or novelty_score needs. Add it (CalibratedClassifierCV "
            "adds probabilities), use another, such as 'knn', or pass `logits` of it."
        )

    def _check_columns(self, values, method):
        n_classes = len(self.classes)
        if values.shape[1:] != (n_classes,) or not np.isfinite(values).all():
            raise ValueError(
                f"{method} of {type(self.model).__name__} returned an array of shape "
                f"{values.shape}, expected a column for each of the {n_classes} "
                "classes of one label a sample, and finite values."
            )
        return values


def _largest(values):
    """Return the column of the largest value, and the rows where it is not unique."""
    if values.ndim == 1:
        return (values > 0).view(np.uint8), ()
    if values.shape[1] == 2:
        # Several times faster than argmax along a short axis.
        first, second = values.T
        return (second > first).view(np.uint8), np.flatnonzero(first == second)
    indices = values.argmax(axis=1)
    largest = np.take_along_axis(values, indices[:, np.newaxis], axis=1)
    return indices, np.flatnonzero((values == largest).sum(axis=1) > 1)
