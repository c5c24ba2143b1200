"""What learned scores have in common: what they see, and how they are fitted."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import check_array, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_reject._response import Response
from sklearn_reject._sklearn import (
    SILENT_CONTEXT,
    CallbackSupportMixin,
    _safe_indexing,
    with_callbacks,
)
from sklearn_reject._validation import check_sample_weight, index_labels
from sklearn_reject.losses import check_loss
from sklearn_reject.scores._base import UncertaintyScore, forget
from sklearn_reject.scores._values import check_scores


class LearnedScore(CallbackSupportMixin, UncertaintyScore):
    """Base of the scores that learn where a fitted classifier goes wrong.

    A subclass writes `_learn`, which gets predictions (with the samples in `X`), what
    to learn from them (the losses, unless it defines `_targets`), sample weights or
    None, and a callback context; and `_predict`, which gets predictions and returns one
    number a sample, higher = more uncertain.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_reject.scores import LearnedScore
    >>> class NeighboursLoss(LearnedScore):
    ...     def _learn(self, predictions, targets, sample_weight, context):
    ...         self.neighbours_ = KNeighborsRegressor().fit(predictions.X, targets)
    ...
    ...     def _predict(self, predictions):
    ...         return self.neighbours_.predict(predictions.X)
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[::2], y[::2])
    >>> score = NeighboursLoss().fit(X[1::2], y[1::2], estimator=classifier)
    >>> score.uncertainty(X[[0, 72]])
    array([0. , 0.4])
    """

    learns = True

    #: Whether the unit of the score means nothing. It is standardised, then, to mean 0
    #: and standard deviation 1 on the samples it was learned from: scores learned from
    #: different folds could not be compared with one threshold otherwise.
    only_orders = False

    #: Whether the score works on a sparse matrix of samples.
    takes_sparse = True

    #: Task loss of a prediction; None takes that of the meta-estimator around it.
    loss = None

    def fit(self, X, y, *, estimator, sample_weight=None):
        """Learn where an estimator goes wrong.

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
    def _collect_and_fit(self, X, y, inner, sample_weight):
        if y is None:
            raise ValueError("y is None: the true labels are needed to learn from.")
        X, y = indexable(X, np.asarray(y))
        weight = check_sample_weight(sample_weight, len(y))
        if not (is_regressor(inner) or hasattr(inner, "classes_")):
            raise ValueError(
                f"estimator must be a fitted classifier or regressor, got {inner!r}."
            )
        self.resolve(None if is_regressor(inner) else inner.classes_)
        collected = self.collect(Response(inner, X), y)
        context = self._init_callback_context(max_subtasks=self._count_tasks())
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        self.fit_collected(X, *collected, weight, estimator=inner, context=context)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)

    def resolve(self, classes, loss=None):
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

    def collect(self, response, y):
        """Return what there is to learn from a response.

        Parameters
        ----------
        response : Response
            What an estimator says about samples that it was not fitted on.

        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Their true labels or targets.

        Returns
        -------
        outputs, labels, targets : ndarray
            Arrays with one entry a sample, to be given to :meth:`fit_collected`,
            perhaps together with those of other folds.
        """
        outputs, labels = self._outputs_and_labels(response)
        return outputs, labels, self._targets(response, y)

    def fit_collected(
        self,
        X,
        outputs,
        labels,
        targets,
        sample_weight=None,
        *,
        estimator=None,
        context=None,
    ):
        """Learn from what was collected.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

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
        predictions, weight = Predictions(X, outputs, labels), sample_weight
        if weight is not None:
            present = np.flatnonzero(weight)
            if not len(present):
                raise ValueError(
                    "sample_weight is zero for all samples that an uncertainty score "
                    "would be learned from. Give some a positive weight, or choose a "
                    "cv that leaves such samples in each part."
                )
            predictions, targets = predictions.take(present), targets[present]
            # Weights of mean one, as learners have limits of absolute size.
            weight = weight[present] / weight.max()
            weight = weight / weight.mean()
        self._learn(predictions, targets, weight, context or SILENT_CONTEXT)
        self.center_, self.scale_ = 0.0, 1.0
        if self.only_orders:
            scores = self._predict(predictions)
            self.center_ = float(np.average(scores, weights=weight))
            variance = np.average((scores - self.center_) ** 2, weights=weight)
            self.scale_ = float(np.sqrt(variance)) or 1.0
        if estimator is not None:
            self.estimator_ = estimator
        return self

    def predict_collected(self, X, outputs, labels):
        """Return the uncertainty of samples that were collected.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        outputs, labels : ndarray
            What :meth:`collect` returned for them.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        values = self._predict(Predictions(X, outputs, labels))
        values = check_scores(values, len(labels), "uncertainty_score")
        return (values - self.center_) / self.scale_

    def _uncertainty(self, response):
        return self.predict_collected(response.X, *self._outputs_and_labels(response))

    def _outputs_and_labels(self, response):
        """Return the outputs and labels of :class:`Predictions`."""
        # A score without a parameter of that name may look at everything.
        features = getattr(self, "features", "both")
        needs_outputs = isinstance(features, str) and features in ("response", "both")
        outputs = np.empty((response.n_samples, 0))
        if self.classes_ is None:
            if needs_outputs:
                values = np.asarray(response.labels, dtype=np.float64)
                outputs = values.reshape(len(outputs), -1)
            return outputs, np.zeros(len(outputs), dtype=np.intp)
        positions, unknown = index_labels(response.classes, self.classes_)
        if unknown.any():
            label = response.classes[unknown].tolist()[0]
            raise ValueError(
                f"The classifier knows the class {label!r}, which is not among the "
                f"labels {self.classes_.tolist()} given."
            )
        # The outputs come first: labels may follow from them without a pass.
        if needs_outputs:
            outputs = _find_outputs(response, positions, len(self.classes_))
        return outputs, positions[response.label_indices]

    def _targets(self, response, y):
        return self.loss_(y, response.labels)

    def _check_options(self, classes):
        """Raise for options that make no sense, alone or for these classes."""

    def _count_tasks(self):
        """Return the most tasks that callbacks will see."""
        return 0

    @contextmanager
    def _task(self, context, name):
        """Run one task that callbacks see."""
        task = context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self)
        yield
        task.call_on_fit_task_end(estimator=self)


def own_classifier(score, way_out):
    """Return a clone of the `classifier` of a score, or the default one for None."""
    classifier = score.classifier
    if classifier is None:
        return HistGradientBoostingClassifier(random_state=score.random_state)
    if not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"classifier must have `predict_proba`, got {classifier!r}. {way_out}"
        )
    return clone(classifier)


def weight_for(learner, sample_weight, name):
    """Return weights as an argument of `fit`, after checking that it takes them."""
    if sample_weight is None:
        return {}
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(
            f"{name} must take sample_weight in its `fit`, got {learner!r}. Choose one "
            "that does, or leave the weights out."
        )
    return {"sample_weight": sample_weight}


@dataclass(frozen=True, eq=False)
class Predictions:
    """Samples, and what an estimator or several of a kind predicted for them.

    `outputs` (n_samples, n_outputs) are probabilities, else decision values, else
    indicators of the predicted label, or a regressor's predictions; `labels` positions
    of the predicted labels among all classes, zero for a regressor.
    """

    X: object
    outputs: np.ndarray
    labels: np.ndarray

    def __len__(self):
        return len(self.labels)

    def take(self, rows):
        """Return some of the samples."""
        X = _safe_indexing(*indexable(self.X), rows)
        return Predictions(X, self.outputs[rows], self.labels[rows])


def _find_outputs(response, positions, n_classes):
    """Return the outputs of :class:`Predictions`, in columns of all classes.

    The classes that the estimator knows are at `positions` among them.
    """
    if hasattr(response.estimator, "predict_proba"):
        outputs, absent = response.probabilities, 0.0
    elif hasattr(response.estimator, "decision_function"):
        outputs = response.decision_values
        if outputs.ndim == 1 and n_classes == 2:
            return outputs[:, np.newaxis]
        if outputs.ndim == 1:
            outputs = np.column_stack([-outputs, outputs])
        # A class that the fold lacks is as far off as the farthest of the others.
        absent = outputs.min(axis=1, keepdims=True)
    else:
        return np.eye(n_classes)[positions[response.label_indices]]
    if np.array_equal(positions, np.arange(n_classes)):
        return outputs
    aligned = np.empty((len(outputs), n_classes))
    aligned[:] = absent
    aligned[:, positions] = outputs
    return aligned


# The samples, for weights of their own for each predicted label (FPV23, eq. 37).
PER_LABEL = "per_label_linear"


def learner_takes_sparse(learner, features):
    """Tell whether a learner, None for trees, takes what is made of sparse samples."""
    if not isinstance(features, str) or features not in ("input", "both"):
        return True
    return learner is not None and get_tags(learner).input_tags.sparse


@dataclass(eq=False)
class FeatureMap:
    """Numeric features: samples, outputs, both, or what a transformer makes of samples.

    A linear score has another name for the samples, where each predicted label has
    weights of its own, and needs finite values.
    """

    features: object
    is_linear: bool = False

    def fit(self, predictions, targets):
        """Fit the transformer, if there is one, on samples and what to learn."""
        is_name = isinstance(self.features, str)
        names = ["input", "response", "both"]
        if self.is_linear:
            names.append(PER_LABEL)
        is_known = is_name and self.features in names
        if not is_known and (is_name or not hasattr(self.features, "transform")):
            raise ValueError(
                f"features must be one of {names} or a transformer with `fit` and "
                f"`transform`, got {self.features!r}."
            )
        self.is_per_label = is_name and self.features == PER_LABEL
        self.transformer = None if is_name else clone(self.features)
        if self.transformer is not None:
            self.transformer.fit(predictions.X, targets)
        return self

    def transform(self, predictions):
        """Return the features, a float64 matrix of shape (n_samples, n_features)."""
        name = self.features if self.transformer is None else None
        features = outputs = predictions.outputs
        if name != "response":
            features = self._to_matrix(predictions.X)
        if name == "both" and sparse.issparse(features):
            features = sparse.hstack([features, outputs], format="csr")
        elif name == "both":
            features = np.hstack([features, outputs])
        values = features.data if sparse.issparse(features) else features
        if self.is_linear and not np.isfinite(values).all():
            raise ValueError(
                f"features={self.features!r} holds values that are not finite, which a "
                "linear score cannot use. Impute them, for example by a transformer "
                "as `features`."
            )
        return features

    def _to_matrix(self, X):
        if self.transformer is not None:
            X = self.transformer.transform(X)
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
