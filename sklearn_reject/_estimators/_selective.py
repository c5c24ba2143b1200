"""The classifier and the regressor that reject what they are too uncertain about."""

from functools import partial

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array, indexable
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_reject._estimators._base import BaseReject, BaseRejectClassifier
from sklearn_reject._fitting._folds import fit_on_all
from sklearn_reject._fitting._routing import RoutedFit, refuse_weights
from sklearn_reject._fitting._splits import check_cv_choice, is_share, make_inner_splits
from sklearn_reject._fitting._uncertainty import (
    ObservedSample,
    cross_fit_uncertainty,
    learns,
    observe_and_charge,
)
from sklearn_reject._labels._rejected import resolve_reject_label
from sklearn_reject._response import Response
from sklearn_reject._sklearn import (
    _check_method_params,
    _safe_indexing,
    _safe_split,
    with_callbacks,
)
from sklearn_reject._validation import check_number, take_weight
from sklearn_reject.curves import aurc_score
from sklearn_reject.losses import CostMatrixLoss, ZeroOneLoss, check_loss
from sklearn_reject.scores import resolve_score
from sklearn_reject.selection import (
    chow_rule,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from sklearn_reject.selection._certify import check_confidence


class BaseSelective(RoutedFit, BaseReject):
    """Base of the estimators that solve one of the three rejection models.

    A subclass has the parameters of :class:`SelectiveClassifier`, fits `loss_` and
    `uncertainty_score_` in `_resolve(y)`, and writes `_default_target`, `_check_kind`,
    `_check_y` and `_bound`.
    """

    #: All class labels, set in `_resolve`; None for a regressor.
    _classes = None

    def _fit(self, X, y, params):
        # A fit that fails leaves no rule of an earlier one behind.
        vars(self).pop("rule_", None)
        target = self._check_target()
        self._check_parameters()
        X, y = indexable(X, y)
        y = self._check_y(y)
        routed, weight = self._route(len(y), params)
        self._resolve(y)
        self._check_protocol(target, weight)
        judged = self._fit_and_judge(X, y, routed, target, weight)
        self.rule_ = self._solve(target, judged, weight)
        self._copy_feature_names()
        return self

    def score(self, X, y, sample_weight=None):
        """Return the negative area under the risk-coverage curve.

        It tells how well the uncertainty orders the losses, whatever the threshold, so
        that no search over hyper-parameters can win by rejecting everything.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            True labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        score : float
            At most zero, higher is better.
        """
        labels, uncertainty = self._predict_with_uncertainty(X)
        losses = self.loss_(y, labels)
        return -aurc_score(uncertainty, losses, sample_weight=sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            score = resolve_score(self.uncertainty_score, self.estimator)
        except (TypeError, ValueError):  # `fit` will say what is wrong with it
            return tags
        if not getattr(score, "takes_sparse", True):
            tags.input_tags.sparse = False
        return tags

    def _names_of_targets(self):
        names = ("reject_cost", "target_risk", "target_coverage")
        given = [name for name in names if getattr(self, name) is not None]
        return given or ["reject_cost"]

    def _check_target(self):
        """Return the name and the value of the one target."""
        given = self._names_of_targets()
        if len(given) > 1:
            values = ", ".join(f"{name}={getattr(self, name)!r}" for name in given)
            raise ValueError(
                f"At most one of reject_cost, target_risk and target_coverage may be "
                f"given, got {values}. Keep the one that matters and leave the others "
                "at None."
            )
        name = given[0]
        value = getattr(self, name)
        if value is None:
            value = self._default_target()
        is_coverage = name == "target_coverage"
        high = 1.0 if is_coverage else np.inf
        return name, check_number(value, name, high=high, open_low=is_coverage)

    def _check_parameters(self):
        self._check_inner()
        self._check_drawing()
        self._check_kind()

    def _check_protocol(self, target, weight):
        """Raise where samples would judge what they have trained."""
        check_cv_choice(self.cv, self.estimator, learns=learns(self.uncertainty_score_))
        if self.confidence is None:
            return
        check_confidence(self.confidence)
        if target[0] == "reject_cost":
            raise ValueError(
                f"confidence={self.confidence!r} needs a target_risk or a "
                "target_coverage to guarantee; a reject_cost has no bound to hold."
            )
        refuse_weights(weight)
        is_fresh = isinstance(self.estimator, FrozenEstimator) and not learns(
            self.uncertainty_score_
        )
        if not is_fresh and not is_share(self.cv):
            raise ValueError(
                f"confidence={self.confidence!r} needs samples on which neither the "
                "estimator nor the uncertainty score was fitted, and "
                f"cv={_brief(self.cv)} keeps none. Hold a share out, for example with "
                "cv=0.3, or freeze what was fitted on other samples with "
                "FrozenEstimator."
            )

    def _resolve_score(self):
        """Return the score, with the loss and a seed unless it has its own."""
        return resolve_score(
            self.uncertainty_score,
            self.estimator,
            loss=self.loss_,
            random_state=self._seed(),
        )

    def _is_chow(self, target):
        """Tell whether the score is in units of the reject cost already."""
        if isinstance(self.uncertainty_score_, FrozenEstimator):
            return False  # it may have been learned for another loss
        inherits_loss = getattr(self.uncertainty_score, "loss", None) is None
        estimates_risk = getattr(self.uncertainty_score_, "estimates_risk", False)
        return target[0] == "reject_cost" and estimates_risk and inherits_loss

    def _fit_and_judge(self, X, y, routed, target, weight):
        """Fit, and return scores, losses and rows that the rule is solved on."""
        needs_no_data = self.cv is None and self._is_chow(target)
        if learns(self.uncertainty_score_):
            return self._learn_and_judge(X, y, routed, weight)
        judge = partial(_judge, self.uncertainty_score_, self.loss_)
        # A frozen estimator is judged anyway: that tells what the rule achieves.
        is_frozen = isinstance(self.estimator, FrozenEstimator)
        judged, rows = self._fit_and_summarize(
            X, y, routed, judge, needs_data=is_frozen or not needs_no_data
        )
        if not isinstance(self.uncertainty_score_, FrozenEstimator):
            self.uncertainty_score_.fit(estimator=self.estimator_)
        return (*judged, rows) if judged else None

    def _learn_and_judge(self, X, y, routed, weight):
        """Fit estimator and score, and judge samples that the score has not seen."""
        self.uncertainty_score_.resolve(self._classes, self.loss_)
        splits, params = self._splits(X, y, routed), routed.estimator.fit
        if not is_share(self.cv):
            observed = self._observe_and_learn(X, y, splits, params, weight)
            folds = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
            uncertainty = cross_fit_uncertainty(
                self.uncertainty_score_, observed, folds, self.n_jobs
            )
            return uncertainty, observed.losses, observed.rows
        [(train, test)] = splits
        X_train, y_train = _safe_split(self.estimator, X, y, train)
        X_test, y_test = _safe_split(self.estimator, X, y, test, train)
        params = _check_method_params(X, params, indices=train)
        inner = make_inner_splits(X_train, y_train, stratify=self._stratifies)
        self._observe_and_learn(
            X_train, y_train, inner, params, take_weight(weight, train)
        )
        response = Response(self.estimator_, X_test)
        return *_judge(self.uncertainty_score_, self.loss_, response, y_test), test

    def _observe_and_learn(self, X, y, splits, params, weight):
        """Fit the estimator, and the score on what the estimator says out of fold."""
        observe = partial(observe_and_charge, self.uncertainty_score_, self.loss_)
        rows = np.concatenate([test for _, test in splits])
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_, _, _ = fit_on_all(self, X, y, [], observe, params)
            told = observe(Response(self.estimator_, X), y)
            told = tuple(values[rows] for values in told)
        else:
            self.estimator_, told, _ = fit_on_all(self, X, y, splits, observe, params)
        *told, losses = told
        observed = ObservedSample(
            _safe_indexing(X, rows), told, losses, rows, take_weight(weight, rows)
        )
        self.uncertainty_score_.fit_collected(*observed.training())
        self.uncertainty_score_.estimator_ = self.estimator_
        return observed

    def _solve(self, target, judged, weight):
        """Solve the rule on the samples that judged the estimator."""
        name, value = target
        if judged is None:
            return chow_rule(value)
        scores, losses, rows = judged
        samples = {
            "scores": scores,
            "losses": losses,
            "sample_weight": take_weight(weight, rows),
        }
        if self._is_chow(target):
            return chow_rule(value).measure(**samples)
        if name == "reject_cost":
            return solve_reject_cost(target=value, **samples)
        options = {"randomize": self.randomize}
        if self.confidence is not None:
            options |= {
                "confidence": self.confidence,
                "random_state": self.random_state,
            }
        if name == "target_coverage":
            return solve_target_coverage(target=value, **samples, **options)
        if self.confidence is not None:
            options |= self._bound()
        return solve_target_risk(target=value, **samples, **options)


def _judge(score, loss, response, y):
    """Return uncertainty and loss of each sample of a response."""
    labels, uncertainty = score.evaluate(response)
    if hasattr(response.estimator, "classes_"):
        _ = response.label_indices  # raises for labels that are no classes
    return uncertainty, loss(y, labels)


def _brief(value):
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


_DEFAULT_REJECT_COST = 0.5


class SelectiveClassifier(BaseSelective, BaseRejectClassifier):
    """Classifier that rejects the samples it is too uncertain about.

    It wraps a classifier, scores how uncertain each prediction is, and rejects above a
    threshold that solves one of three models (FPV23): a cost of rejecting, a bound on
    the risk of what is accepted, or a bound on the share that is accepted. Where the
    rule needs data it is solved on predictions out of sample.

    Read more in the :ref:`user guide <selective_classification>`.

    Parameters
    ----------
    estimator : estimator
        Classifier with `fit` and `predict`. A
        :class:`~sklearn.frozen.FrozenEstimator` is not fitted again, and the data given
        to `fit`, which it must not have seen, only solve the rule.

    reject_cost : float >= 0, default=None
        Cost of rejecting a sample, in units of the loss: minimise the expected loss
        plus the cost of rejections. At most one of `reject_cost`, `target_risk` and
        `target_coverage` may be given; with none it is 0.5: reject when the label is
        more likely wrong than right.

    target_risk : float >= 0, default=None
        Bound on the expected loss of accepted samples: maximise the coverage.

    target_coverage : float in ]0, 1], default=None
        Share of the samples to accept: minimise the risk.

    uncertainty_score : {"auto", "conditional_risk", "margin", "entropy", \
            "top_two_gap", "error_probability", "loss_regression", "sele", \
            "sele_boosting", "true_class_probability"}, score object or callable, \
            default="auto"
        How uncertain a prediction is, higher = more uncertain. "auto" is the
        conditional risk where the classifier has `predict_proba`, else the margin. The
        last five are learned, from predictions out of sample. A frozen score object is
        not fitted again. A callable is ``(estimator, X) -> (n_samples,)``. A score
        object with a `loss` of its own only orders the samples, and a `reject_cost` is
        solved on data for it.

    loss : {"zero_one", "absolute", "squared"}, array-like of shape \
            (n_classes, n_classes) or callable, default="zero_one"
        Cost of a wrong label, lower is better. A matrix has true labels by row and
        predicted labels by column, both in sorted order. A callable is
        ``(y_true, y_pred) -> (n_samples,)``.

    confidence : float in ]0, 1[, default=None
        Probability, over the draw of the samples that solve the rule, that
        `target_risk` or `target_coverage` holds for the population. None solves the
        rule on the samples as if they were the population. Needs samples on which
        neither the classifier nor the score was fitted: `cv` as a float, or a frozen
        classifier with a score that is not learned.

    cv : int, float, splitter, iterable or None, default=None
        Which predictions solve the rule. An int or a splitter pools predictions out of
        fold and fits the classifier on everything afterwards. A float holds that share
        of the samples out, and the classifier is fitted on the rest. None is five
        stratified folds where the rule needs data, and no extra fit where it needs
        none: a reject cost is compared with a conditional risk as it is. A learned
        score is learned from the same predictions, or from five folds of the rest
        where a share is held out, and each sample that solves the rule is judged by a
        score that was learned without it.

    reject_label : "auto", None or label, default="auto"
        What `predict` returns for rejected samples. "auto" is -1 for numeric classes,
        the smallest class minus 1 where -1 is a class, and "reject" for strings
        (``"reject_"`` where "reject" is a class). None makes `predict` return the label
        of every sample.

    randomize : bool, default=True
        Whether samples exactly at the threshold are accepted at random, so that a risk
        or coverage is met exactly in expectation. If False, they are rejected for
        `target_risk` and accepted for `target_coverage`.

    n_jobs : int, default=None
        Number of folds fitted in parallel.

    random_state : int, RandomState instance or None, default=None
        Source of the draws at the threshold, of the samples held out, and of a learned
        score that has no `random_state` of its own. With an int
        each call of `predict` repeats the same draws, which is no randomization where
        samples come one a call: leave it at None there.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.

    rule_ : RejectionRule
        Threshold, acceptance probability at it, the coverage and risk achieved on the
        predictions that solved it, and the certificate of a `confidence`.

    uncertainty_score_ : score object
        The score, fitted.

    loss_ : TaskLoss
        The loss.

    reject_label_ : label or None
        What `predict` returns for rejected samples.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    n_features_in_ : int
        Number of features, if the classifier knows it.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the classifier knows them.

    See Also
    --------
    sklearn_reject.metrics.aurc_score : How well a score orders the errors.
    sklearn.calibration.CalibratedClassifierCV : Makes probabilities honest, so that a
        conditional risk means what it says.

    References
    ----------
    V. Franc, D. Prusa, V. Voracek. Optimal Strategies for Reject Option Classifiers.
    JMLR 24(11), 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_reject import SelectiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> selective = SelectiveClassifier(model, target_coverage=0.9, random_state=0)
    >>> selective = selective.fit(X_train, y_train)
    >>> accepted = selective.accept(X_test)
    >>> round(float(accepted.mean()), 2)
    0.87
    >>> round(float((selective.predict(X_test) == y_test)[accepted].mean()), 2)
    0.99
    """

    def __init__(
        self,
        estimator,
        *,
        reject_cost=None,
        target_risk=None,
        target_coverage=None,
        uncertainty_score="auto",
        loss="zero_one",
        confidence=None,
        cv=None,
        reject_label="auto",
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
        self.cv = cv
        self.reject_label = reject_label
        self.randomize = randomize
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X, y, **params):
        """Fit the classifier and solve the rejection rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,)
            Class labels.

        **params : dict
            Parameters for the `fit` of the classifier, indexed by sample where they
            are as long as X. `sample_weight` weighs the samples for the rule too.
            With metadata routing, parameters go where they are requested.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        InfeasibleTargetError
            If no threshold attains `target_risk`.
        ValueError
            If a parameter is invalid, or two targets are given.
        """
        return self._fit(X, y, params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        draws = self.randomize and self._names_of_targets() != ["reject_cost"]
        if draws and self.reject_label is not None:
            tags.non_deterministic = True
        return tags

    def _default_target(self):
        return _DEFAULT_REJECT_COST

    def _resolve(self, y):
        """Turn loss, score and reject label into objects."""
        self._classes = self._find_classes(y)
        self.reject_label_ = resolve_reject_label(self.reject_label, self._classes)
        self.loss_ = check_loss(self.loss, labels=self._classes)
        self.uncertainty_score_ = self._resolve_score()

    def _bound(self):
        """Return the options of a guarantee."""
        return self._bound_of_losses("betting")


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
