"""What learned scores have in common: what they see, and how they are fitted."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_regressor
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import (
    SILENT_CONTEXT,
    CallbackSupportMixin,
    _safe_indexing,
    with_callbacks,
)
from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject._validation import check_sample_weight, index_labels
from sklearn_reject.losses import TaskLoss, check_loss
from sklearn_reject.scores._base import UncertaintyScore, check_scores, forget


class LearnedScore(CallbackSupportMixin, UncertaintyScore):
    """Base class of scores that learn where a fitted classifier is wrong.

    A subclass writes ``learn(predictions, targets, sample_weight)`` and
    ``estimate(predictions)``, which returns one number per sample, higher = more
    uncertain. Both get :class:`Predictions`, with the samples in `X`. The targets are
    the losses, unless it defines ``targets_of(response, y)``; weights may be None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_reject.scores import LearnedScore
    >>> class NeighboursLoss(LearnedScore):
    ...     def learn(self, predictions, targets, sample_weight):
    ...         self.neighbours_ = KNeighborsRegressor().fit(predictions.X, targets)
    ...
    ...     def estimate(self, predictions):
    ...         return self.neighbours_.predict(predictions.X)
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[::2], y[::2])
    >>> score = NeighboursLoss().fit(X[1::2], y[1::2], estimator=classifier)
    >>> score.uncertainty(X[[0, 72]])
    array([0. , 0.4])
    """

    learns = True

    #: Whether the unit of the score means nothing. It is standardized, then, to mean 0
    #: and standard deviation 1 on the samples it was learned from: scores learned from
    #: different folds could not be compared with one threshold otherwise.
    only_orders = False

    #: Whether the score works on a sparse matrix of samples.
    takes_sparse = True

    #: Task loss of a prediction; None takes that of the meta-estimator around it.
    loss: Any = None

    # Steps of the pipelines around the model that the samples pass.
    _n_steps_ = 0

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        estimator: Estimator,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn where an estimator is wrong.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples that the estimator was not fitted on. On those that it was fitted
            on it errs less than it will.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their true labels, or the targets of a regressor.

        estimator : estimator
            Fitted classifier or regressor whose predictions the uncertainty is about.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        self : object
            The fitted score.

        Raises
        ------
        ValueError
            If a parameter is invalid, or the estimator lacks what the score needs.
        """
        check_is_fitted(estimator)
        self._collect_and_fit(X, y, estimator, sample_weight)
        return self

    # The decorator calls its own argument `estimator`.
    @with_callbacks
    def _collect_and_fit(self, X, y, inner, sample_weight, **given):
        if y is None:
            raise ValueError("y is None, but the score learns from the true labels.")
        X, y = indexable(X, np.asarray(y))
        weight = check_sample_weight(sample_weight, len(y))
        if not (is_regressor(inner) or hasattr(inner, "classes_")):
            raise ValueError(
                f"estimator must be a fitted classifier or regressor, got {inner!r}."
            )
        self.resolve(None if is_regressor(inner) else inner.classes_)
        self.choose_features(inner, X, is_new=True)
        response = Response(inner, X)
        collected = self.collect(response, y, **given)
        context = self._init_callback_context(max_subtasks=self._count_tasks())
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        seen = self.samples_of(response)
        self.fit_collected(seen, *collected, weight, estimator=inner, context=context)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)

    def resolve(self, classes: np.ndarray | None, loss: TaskLoss | None = None) -> Self:
        """Resolve the loss and check the options.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,) or None
            All class labels; None for a regressor.

        loss : TaskLoss, default=None
            Loss to take unless the score has one of its own.

        Returns
        -------
        self : object
            The score.
        """
        forget(self)
        self._check_options(classes)
        self.classes_ = None if classes is None else np.asarray(classes)
        if loss is None:
            loss = "squared" if classes is None else "zero_one"
        loss = loss if self.loss is None else self.loss
        self.loss_ = check_loss(loss, labels=self.classes_)
        return self

    def choose_features(
        self, estimator: Estimator, X: MatrixLike, *, is_new: bool = False
    ) -> Self:
        """Decide what the score sees, and refuse what cannot work before any fit.

        Parameters
        ----------
        estimator : estimator
            What the score is about, fitted or not.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        is_new : bool, default=False
            Whether the estimator was not fitted on them. One that is frozen was not.

        Returns
        -------
        self : object
            The score, which go to :meth:`clone_resolved`.

        Raises
        ------
        ValueError
            If no features can be made of such samples.
        """
        return self

    def clone_resolved(self) -> Self:
        """Return an unfitted clone that is resolved as this one is.

        Returns
        -------
        score : object
            The clone, with the loss, the classes and the features of this score.
        """
        score = clone(self)
        for name in ("classes_", "loss_", "features_", "_n_steps_"):
            if name in vars(self):
                setattr(score, name, getattr(self, name))
        return score

    def samples_of(self, response: Response) -> Any:
        """Return the samples of a response as the score sees them.

        Parameters
        ----------
        response : Response
            What an estimator says about samples.

        Returns
        -------
        samples : {array-like, sparse matrix, dataframe} of shape (n_samples, n_columns)
            The samples, or what the first steps of a pipeline make of them, which go to
            :meth:`fit_collected` and :meth:`predict_collected`.
        """
        return response.transform(self._n_steps_)

    def collect(
        self, response: Response, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what there is to learn from a response.

        Parameters
        ----------
        response : Response
            Response of an estimator to samples that it was not fitted on.

        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Their true labels or targets.

        Returns
        -------
        outputs, labels, targets : ndarray
            Arrays with one entry per sample, which go to :meth:`fit_collected`, perhaps
            together with those of other folds.
        """
        outputs, labels = self._outputs_and_labels(response)
        return outputs, labels, self.targets_of(response, y)

    def fit_collected(
        self,
        X: MatrixLike,
        outputs: np.ndarray,
        labels: np.ndarray,
        targets: np.ndarray,
        sample_weight: np.ndarray | None = None,
        *,
        estimator: Estimator | None = None,
        context: Any = None,
    ) -> Self:
        """Learn from what was collected.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_columns)
            What :meth:`samples_of` returned. For samples of several folds that is one
            estimator's, as each fold's columns are others.

        outputs, labels, targets : ndarray
            What :meth:`collect` returned for them.

        sample_weight : ndarray of shape (n_samples,), default=None
            Non-negative sample weights.

        estimator : estimator, default=None
            Fitted estimator whose predictions `uncertainty` will be about. Without one
            only :meth:`predict_collected` can be used.

        context : callback context, default=None
            Gets the progress.

        Returns
        -------
        self : object
            The fitted score.
        """
        self._check_columns(X, reset=True)
        predictions, weight = Predictions(X, outputs, labels), sample_weight
        if weight is not None:
            present = np.flatnonzero(weight)
            if not len(present):
                raise ValueError(
                    "sample_weight is zero for all samples that train an uncertainty "
                    "score. Choose a cv with positive weights in each training part."
                )
            predictions, targets = predictions.take(present), targets[present]
            # Weights of mean one, as learners have limits of absolute size.
            weight = weight[present] / weight.max()
            weight = weight / weight.mean()
        self._context_ = context or SILENT_CONTEXT
        try:
            self.learn(predictions, targets, weight)
        finally:
            del self._context_  # is not for pickles
        self.center_, self.scale_ = 0.0, 1.0
        if self.only_orders:
            scores = self.estimate(predictions)
            self.center_ = float(np.average(scores, weights=weight))
            variance = np.average((scores - self.center_) ** 2, weights=weight)
            self.scale_ = float(np.sqrt(variance)) or 1.0
        if estimator is not None:
            self.estimator_ = estimator
        return self

    def predict_collected(
        self, X: MatrixLike, outputs: np.ndarray, labels: np.ndarray
    ) -> np.ndarray:
        """Return the uncertainty of samples that were collected.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_columns)
            What :meth:`samples_of` returned.

        outputs, labels : ndarray
            What :meth:`collect` returned for them.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        self._check_columns(X, reset=False)
        values = self.estimate(Predictions(X, outputs, labels))
        values = check_scores(values, len(labels), "uncertainty_score")
        return (values - self.center_) / self.scale_

    def compute(self, response: Response) -> np.ndarray:
        seen = self.samples_of(response)
        return self.predict_collected(seen, *self._outputs_and_labels(response))

    def _outputs_and_labels(self, response):
        """Return the outputs and labels of :class:`Predictions`."""
        n_samples = response.n_samples
        outputs, labels = np.empty((n_samples, 0)), np.zeros(n_samples, dtype=np.intp)
        if self.classes_ is None:
            if self._needs_outputs():
                values = np.asarray(response.labels, dtype=np.float64)
                outputs = values.reshape(n_samples, -1)
            return outputs, labels
        positions, unknown = index_labels(response.classes, self.classes_)
        if unknown.any():
            label = response.classes[unknown].tolist()[0]
            raise ValueError(
                f"The classifier has the class {label!r}, not one of the labels "
                f"{self.classes_.tolist()} given."
            )
        # The outputs come first: labels may follow from them without a pass.
        if self._needs_outputs():
            outputs = _find_outputs(response, positions, len(self.classes_))
        return outputs, positions[response.label_indices]

    def targets_of(self, response: Response, y: Any) -> np.ndarray:
        """Return what to learn of each sample: the losses.

        Parameters
        ----------
        response : Response
            Response of an estimator to samples that it was not fitted on.

        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Their true labels or targets.

        Returns
        -------
        targets : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Numbers, which go to :meth:`learn`.
        """
        return self.loss_(y, response.labels)

    def learn(self, predictions: Predictions, targets: Any, sample_weight: Any) -> None:
        """Learn from predictions; to be written by a subclass.

        Parameters
        ----------
        predictions : Predictions
            Samples, and what the estimator predicted for them out of sample.

        targets : ndarray of shape (n_samples,) or (n_samples, n_targets)
            What :meth:`targets_of` returned for them.

        sample_weight : ndarray of shape (n_samples,) or None
            Positive sample weights of mean one.
        """
        raise NotImplementedError

    def estimate(self, predictions: Predictions) -> np.ndarray:
        """Return the uncertainty of predictions; to be written by a subclass.

        Parameters
        ----------
        predictions : Predictions
            Samples, and what the estimator predicted for them.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        raise NotImplementedError

    def _check_columns(self, X, reset):
        """Remember the columns of what :meth:`samples_of` returns, or compare them."""

    def _needs_outputs(self):
        return True

    def _check_options(self, classes):
        """Raise for options that make no sense, alone or for these classes."""

    def _count_tasks(self):
        """Return the most tasks that callbacks will see."""
        return 0

    @contextmanager
    def _task(self, name):
        """Run one task that callbacks see."""
        task = self._context_.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self)
        yield
        task.call_on_fit_task_end(estimator=self)


def check_classifier(classifier, way_out):
    """Raise unless the `classifier` of a score has probabilities, or is None."""
    if classifier is not None and not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"classifier must have `predict_proba`, got {classifier!r}. {way_out}"
        )


def weight_for(learner, sample_weight, name):
    """Return weights as an argument of `fit`, after checking that it takes them."""
    if sample_weight is None:
        return {}
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(
            f"{name} must take sample_weight in its `fit`, got {learner!r}. Use an "
            "estimator that does, or omit the weights."
        )
    return {"sample_weight": sample_weight}


@dataclass(frozen=True, eq=False)
class Predictions:
    """Samples, and what an estimator or several of a kind predicted for them.

    What a learned score of your own gets, see :class:`LearnedScore`.

    Attributes
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The samples.

    outputs : ndarray of shape (n_samples, n_outputs)
        Probabilities, else decision values, else indicators of the predicted label, or
        a regressor's predictions.

    labels : ndarray of shape (n_samples,)
        Positions of the predicted labels among all classes, zero for a regressor.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.scores import Predictions
    >>> predictions = Predictions(np.eye(2), np.array([[0.8, 0.2], [0.4, 0.6]]), [0, 1])
    >>> len(predictions)
    2
    """

    X: Any
    outputs: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Any) -> Predictions:
        """Return some of the samples.

        Parameters
        ----------
        rows : slice or array of int
            Which of them.

        Returns
        -------
        predictions : Predictions
            These samples.
        """
        X = _safe_indexing(*indexable(self.X), rows)
        return Predictions(X, self.outputs[rows], self.labels[rows])


def _find_outputs(response, positions, n_classes):
    """Return the outputs of :class:`Predictions`, in columns of all classes.

    The classes that the estimator knows are at `positions` among them.
    """
    if hasattr(response.estimator, "predict_proba"):
        values, absent = response.probabilities, 0.0
    elif hasattr(response.estimator, "decision_function"):
        values = response.decision_values
        if values.ndim == 1 and n_classes == 2:
            return values[:, np.newaxis]
        if values.ndim == 1:
            values = np.column_stack([-values, values])
        # A class that the fold lacks is as far off as the farthest of the others.
        absent = values.min(axis=1, keepdims=True)
    else:
        return np.eye(n_classes)[positions[response.label_indices]]
    outputs = np.full((len(values), n_classes), absent, dtype=np.float64)
    outputs[:, positions] = values
    return outputs
