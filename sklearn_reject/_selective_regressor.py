"""The regressor that says which of its predictions not to trust."""

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_reject._base import BaseReject
from sklearn_reject._selective_base import BaseSelective
from sklearn_reject._sklearn_private import with_callbacks
from sklearn_reject._validation import check_number
from sklearn_reject.losses import CostMatrixLoss, ZeroOneLoss, check_loss

_OF_LABELS = (ZeroOneLoss, CostMatrixLoss)


class SelectiveRegressor(BaseSelective, RegressorMixin, BaseReject):
    """Regressor that tells which of its predictions are too uncertain.

    It wraps a regressor, of one output or several, scores how uncertain each prediction
    is, and rejects above a threshold that solves one of the three models of
    :class:`SelectiveClassifier`. No number can stand for "rejected", so `predict`
    returns the prediction for every sample, and `accept` says which to use.

    Read more in the :ref:`user guide <selective_regression>`.

    Parameters
    ----------
    estimator : estimator
        Regressor with `fit` and `predict`. A
        :class:`~sklearn.frozen.FrozenEstimator` is not fitted again, and the data given
        to `fit`, which it must not have seen, learn the score and solve the rule.

    reject_cost : float >= 0, default=None
        Cost of rejecting a sample, in units of the loss: minimise the expected loss
        plus the cost of rejections. One of `reject_cost`, `target_risk` and
        `target_coverage` must be given.

    target_risk : float >= 0, default=None
        Bound on the expected loss of accepted samples: maximise the coverage.

    target_coverage : float in ]0, 1], default=None
        Share of the samples to accept: minimise the risk.

    uncertainty_score : {"auto", "loss_regression", "sele", "sele_boosting"}, \
            score object or callable, default="auto"
        How uncertain a prediction is, higher = more uncertain. "auto" is
        "loss_regression". A frozen score object is not fitted again. A callable is
        ``(estimator, X) -> (n_samples,)``.

    loss : {"squared", "absolute"} or callable, default="squared"
        Cost of a prediction, lower is better; the mean over several outputs. A callable
        is ``(y_true, y_pred) -> (n_samples,)``, for any structure that fits into
        vectors.

    confidence : float in ]0, 1[, default=None
        Probability, over the draw of the samples that solve the rule, that
        `target_risk` or `target_coverage` holds for the population. Needs `cv` as a
        float, or a frozen regressor with a score that is not learned.

    max_loss : float > 0, default=None
        Largest loss that is possible, which a `target_risk` with `confidence` needs.

    cv : int, float, splitter, iterable or None, default=None
        Which predictions solve the rule. An int or a splitter pools predictions out of
        fold and fits the regressor on everything afterwards; None is five folds. A
        float holds that share of the samples out, and the regressor is fitted on the
        rest. A learned score is learned from the same predictions, or from five folds
        of the rest where a share is held out, and each sample that solves the rule is
        judged by a score that was learned without it.

    randomize : bool, default=True
        Whether samples exactly at the threshold are accepted at random, so that a risk
        or coverage is met exactly in expectation. If False, they are rejected for
        `target_risk` and accepted for `target_coverage`.

    n_jobs : int, default=None
        Number of folds fitted in parallel.

    random_state : int, RandomState instance or None, default=None
        Source of the draws at the threshold, of the samples held out, and of a learned
        score that has no `random_state` of its own.

    Attributes
    ----------
    estimator_ : estimator
        The fitted regressor.

    rule_ : RejectionRule
        Threshold, acceptance probability at it, the coverage and risk achieved on the
        predictions that solved it, and the certificate of a `confidence`.

    uncertainty_score_ : score object
        The score, fitted.

    loss_ : TaskLoss
        The loss.

    n_features_in_ : int
        Number of features, if the regressor knows it.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the regressor knows them.

    See Also
    --------
    SelectiveClassifier : The same for labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn_reject import SelectiveRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> selective = SelectiveRegressor(
    ...     RidgeCV(), target_coverage=0.5, uncertainty_score="sele", loss="absolute",
    ...     random_state=0,
    ... )
    >>> selective = selective.fit(X_train, y_train)
    >>> errors = abs(selective.predict(X_test) - y_test)
    >>> accepted = selective.accept(X_test)
    >>> bool(errors[accepted].mean() < errors[~accepted].mean())
    True
    """

    _kind = "regressor"
    _stratifies = False

    def __init__(
        self,
        estimator,
        *,
        reject_cost=None,
        target_risk=None,
        target_coverage=None,
        uncertainty_score="auto",
        loss="squared",
        confidence=None,
        max_loss=None,
        cv=None,
        randomize=True,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.reject_cost = reject_cost
        self.target_risk = target_risk
        self.target_coverage = target_coverage
        self.uncertainty_score = uncertainty_score
        self.loss = loss
        self.confidence = confidence
        self.max_loss = max_loss
        self.cv = cv
        self.randomize = randomize
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X, y, **params):
        """Fit the regressor, learn the score and solve the rejection rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        **params : dict
            Parameters for the `fit` of the regressor, indexed by sample where they are
            as long as X. `sample_weight` weighs the samples for score and rule too.
            With metadata routing, parameters go where they are requested.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        InfeasibleTargetError
            If no threshold attains `target_risk`.
        ValueError
            If a parameter is invalid, or not exactly one target is given.
        """
        return self._fit(X, y, params)

    def predict(self, X):
        """Predict the targets of all samples, rejected or not.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            What the regressor inside predicts. See `accept` for which to use.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # `score` is the area under the risk-coverage curve.
        tags.regressor_tags.poor_score = True
        return tags

    def _default_target(self):
        raise ValueError(
            "One of reject_cost, target_risk and target_coverage must be given: in the "
            "units of a regression no default fits all."
        )

    def _check_kind(self):
        if is_classifier(self.estimator):
            raise ValueError(
                "estimator must be a regressor, got the classifier "
                f"{self.estimator!r}. Use SelectiveClassifier."
            )

    def _check_y(self, y):
        if y is None:
            raise ValueError(
                "SelectiveRegressor requires y to be passed, but the target y is None."
            )
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        is_column = y.ndim == 2 and y.shape[1] == 1
        return column_or_1d(y, warn=True) if is_column else y

    def _resolve(self, y):
        """Turn loss and score into objects."""
        if isinstance(self.estimator, FrozenEstimator):
            check_is_fitted(self.estimator)
        self.loss_ = check_loss(self.loss)
        if isinstance(self.loss_, _OF_LABELS):
            raise ValueError(
                f"loss={self.loss!r} is one of labels. Use 'squared', 'absolute' or a "
                "callable (y_true, y_pred) -> (n_samples,)."
            )
        certifies_risk = self.confidence is not None and self.target_risk is not None
        if self.max_loss is not None:
            check_number(self.max_loss, "max_loss", open_low=True)
        elif certifies_risk:
            raise ValueError(
                "max_loss is needed to certify a target_risk: pass the largest loss "
                "that is possible, in units of the loss."
            )
        self.uncertainty_score_ = self._resolve_score()

    def _bound(self):
        """Return the options of a guarantee."""
        return {"bound": "betting", "max_loss": self.max_loss}
