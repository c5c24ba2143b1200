"""The regressor that says which of its predictions not to trust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from sklearn_reject._estimators._base import BaseWrapper
from sklearn_reject._estimators._calibration import Calibration, brief
from sklearn_reject._estimators._selective import SelectiveMixin
from sklearn_reject._estimators._targets import SELECTIVE_TARGETS
from sklearn_reject._sklearn import with_callbacks
from sklearn_reject._typing import (
    CV,
    Estimator,
    GroupBy,
    MatrixLike,
    Other,
    RandomState,
    ScoreLike,
    Target,
)
from sklearn_reject.losses import CostMatrixLoss, ZeroOneLoss, check_loss
from sklearn_reject.selection import RejectionRule

_OF_LABELS = (ZeroOneLoss, CostMatrixLoss)


def check_targets(y):
    """Return targets of one output or several as float64."""
    if y is None:
        raise ValueError(
            "SelectiveRegressor requires y to be passed, but the target y is None."
        )
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    is_column = y.ndim == 2 and y.shape[1] == 1
    return column_or_1d(y, warn=True) if is_column else y


def check_loss_of_numbers(loss, *, labels=None):
    """Return the loss, after refusing one of labels, which there are none of."""
    try:
        resolved = check_loss(loss)
    except ValueError:  # which names losses of labels, too
        resolved = None
    if resolved is None or isinstance(resolved, _OF_LABELS):
        raise ValueError(
            "loss must be 'squared', 'absolute' or a callable (y_true, y_pred) -> "
            f"(n_samples,) for numbers, got {brief(loss)}."
        )
    return resolved


class SelectiveRegressor(SelectiveMixin, RegressorMixin, BaseWrapper):
    """Regressor that rejects predictions that are too uncertain.

    It wraps a regressor, of one output or several, scores how uncertain each prediction
    is, and rejects above a threshold that solves one of the models of
    :class:`SelectiveClassifier`. No number can stand for "rejected", so `predict`
    returns the prediction for every sample, and `accept` says which to use.

    Read more in the :ref:`user guide <selective_regression>`.

    Parameters
    ----------
    estimator : estimator
        Regressor with `fit` and `predict`. A :class:`~sklearn.frozen.FrozenEstimator`
        is not fitted again, and the data given to `fit`, which it must not have seen,
        only fit the score and calibrate the rule.

    reject_cost : float >= 0 or dict, default=None
        Cost of rejecting a sample, in units of the loss: minimize the expected loss
        plus the cost of rejections. One of `reject_cost`, `target_risk`,
        `target_coverage` and `target_failure_rate` must be given.

    target_risk : float >= 0 or dict, default=None
        Bound on the expected loss of accepted samples: maximize the coverage. It is met
        on the calibration set, and usually exceeded on new ones: by 18% of the target
        on average with 100 samples, 8% with 300 and 3% with 1000 (33 classifiers on
        real data sets). If the target must hold on new data, set `confidence_level`, or
        use `target_failure_rate`, which few samples can guarantee.

    target_coverage : float in (0, 1] or dict, default=None
        Share of the samples to accept: minimize the risk.

    target_failure_rate : float > 0 or dict, default=None
        Bound on the expected loss of all samples, zero where they are rejected:
        maximize the coverage. With 0/1 loss it bounds the share of all samples that is
        accepted and wrong. It holds on average over calibration sets, however few they
        are, if nothing was fitted on them: with `cv` as a float, or a frozen estimator.
        With out-of-fold predictions it holds approximately. Needs `max_loss` if the
        loss has no largest value.

    group_by : "prediction", column or callable, default=None
        Groups of samples, each with its own rule, so that the target holds in every
        group: "prediction" is the predicted class (of a classifier), a str or an int
        the name or position of a column of X, and a callable is ``X -> (n_samples,)``.
        Targets may then be dicts of group to value. With a `confidence_level`, the
        targets of all groups hold together with that probability. A group in which no
        rule meets the target is rejected as a whole, and so are samples of a group that
        `fit` has not seen; both with a warning.

    uncertainty_score : {"auto", "loss_regression", "sele"}, score object \
            or callable, default="auto"
        How uncertain a prediction is, higher = more uncertain. "auto" is
        "loss_regression". The name or object of a novelty score that needs no class
        labels, such as "knn", rejects what is unlike the samples that the regressor was
        fitted on. A frozen score object is not fitted again. A callable is
        ``(estimator, X) -> (n_samples,)``.

    loss : {"squared", "absolute"} or callable, default="squared"
        Cost of a prediction, lower is better; the mean over several outputs. A callable
        is ``(y_true, y_pred) -> (n_samples,)``, for any structure that fits into
        vectors.

    confidence_level : float in (0, 1), default=None
        Probability, over the draw of the calibration set, that `target_risk`,
        `target_coverage` or `target_failure_rate` holds for the population. Needs
        samples on which neither the regressor nor the score was fitted: the share that
        `cv` holds out, or those given with a frozen regressor and a score that is not
        learned.

    max_loss : float > 0, default=None
        Largest possible loss, in units of the loss. Needed to certify a `target_risk`,
        and for a `target_failure_rate`, if the loss is neither "zero_one" nor a matrix:
        labels that are not in y may cost more than those that are.

    max_weight : float > 0, default=None
        Largest possible `sample_weight` over `inclusion_proba` of `fit`, fixed before
        the samples are drawn. Required where rows count unequally under a promise: with
        `confidence_level` or a `target_failure_rate`.

    randomize : bool, default=True
        Whether samples at the threshold are accepted with a probability such that a
        risk or coverage is met exactly in expectation, over the seeds of `fit`. Samples
        with equal values get the same decision, unless they have different `keys`. If
        False, samples at the threshold are rejected for a bound on the loss and
        accepted for `target_coverage`.

    cv : int, float, splitter, iterable or None, default=None
        Selects the predictions to calibrate on. An int or a splitter pools out-of-fold
        predictions and fits the regressor on all samples afterwards. A float holds that
        share of the samples out, and the regressor is fitted on the rest. None is five
        folds. But half of the samples are held out with a `confidence_level`, which
        needs them, and where the scores of folds are coarse, with a few levels that the
        final fit does not have. A learned score is learned from the same predictions,
        or from five folds of the rest if a share is held out. Each calibration sample
        gets a score that was learned without it.

    n_jobs : int, default=None
        Number of folds fitted in parallel.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws at the threshold, of the held-out samples, and of a learned
        score without its own `random_state`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted regressor.

    rule_ : RejectionRule or, with `group_by`, GroupedRule
        Threshold, acceptance probability at it, the coverage and risk achieved on the
        predictions that solved it, and the certificate of a `confidence_level`; with
        groups, those of each in ``rule_.rules``.

    group_by_ : str, int, callable or None
        What finds the groups of samples.

    uncertainty_score_ : score object
        The score, fitted.

    calibration_ : Calibration
        `scores`, `losses`, `rows`, `sample_weight` and `groups` of the predictions out
        of sample that the rule was solved on, for `retarget`.

    loss_ : TaskLoss
        The loss.

    seed_ : int
        Seed of the draws at the threshold.

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

    _targets, _default_target = SELECTIVE_TARGETS, None
    _check_y = staticmethod(check_targets)
    _check_loss = staticmethod(check_loss_of_numbers)

    rule_: RejectionRule | Other
    group_by_: GroupBy | None
    calibration_: Calibration

    def __init__(
        self,
        estimator: Estimator,
        *,
        reject_cost: Target | None = None,
        target_risk: Target | None = None,
        target_coverage: Target | None = None,
        target_failure_rate: Target | None = None,
        group_by: Literal["prediction"] | GroupBy | None = None,
        uncertainty_score: Literal["auto", "loss_regression", "sele"]
        | ScoreLike = "auto",
        loss: Literal["squared", "absolute"] | Callable[..., ArrayLike] = "squared",
        confidence_level: float | None = None,
        max_loss: float | None = None,
        max_weight: float | None = None,
        randomize: bool = True,
        cv: CV | None = None,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.reject_cost = reject_cost
        self.target_risk = target_risk
        self.target_coverage = target_coverage
        self.target_failure_rate = target_failure_rate
        self.group_by = group_by
        self.uncertainty_score = uncertainty_score
        self.loss = loss
        self.confidence_level = confidence_level
        self.max_loss = max_loss
        self.max_weight = max_weight
        self.randomize = randomize
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the regressor, learn the score and solve the rejection rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets; NaN or None where there is none, with `inclusion_proba`.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the calibration samples, except the items of a set,
            which are counted.

        **params : dict
            Parameters for the `fit` of the regressor, indexed by sample where they are
            as long as X. With metadata routing, parameters, and weights among them, go
            where they are requested.
            `groups`, array-like of shape (n_samples,), are clusters, such as patients:
            rows of one may depend on each other, what is promised is about a random
            row of a random cluster, and no split divides one. `inclusion_proba`, in (0,
            1], a number or one for each sample, is the chance that it was to be
            labelled, and y is NaN or None where it was not.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        InfeasibleTargetError
            If no threshold attains `target_risk` or, with a confidence, none can be
            certified; or if without `randomize` the samples are too few for
            `target_failure_rate`. With `group_by`, only if that is so in all groups.
            Its `attainable` has what can be met.
        ValueError
            If a parameter is invalid, or not exactly one target is given.
        """
        return self._fit(X, y, sample_weight=sample_weight, **params)

    def predict(self, X: MatrixLike) -> np.ndarray:
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
        self._require_fit(X)
        return self.estimator_.predict(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # `score` is the area under the risk-coverage curve.
        tags.regressor_tags.poor_score = True
        return tags
