"""The classifier that rejects what it is too uncertain about."""

from functools import partial
from inspect import signature

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, assert_all_finite, check_random_state, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_reject._base import BaseRejectClassifier
from sklearn_reject._cross_fitting import (
    check_cv_choice,
    fit_on_all,
    fit_on_part,
    is_share,
    make_splits,
)
from sklearn_reject._reject_label import resolve_reject_label
from sklearn_reject._response import Response
from sklearn_reject._sklearn_private import _routing_enabled, with_callbacks
from sklearn_reject._validation import check_number, check_option, check_sample_weight
from sklearn_reject.curves import aurc_score
from sklearn_reject.losses import check_loss
from sklearn_reject.scores import resolve_score
from sklearn_reject.selection import (
    chow_rule,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)

_DEFAULT_REJECT_COST = 0.5


class SelectiveClassifier(BaseRejectClassifier):
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
            "top_two_gap"}, score object or callable, default="auto"
        How uncertain a prediction is, higher = more uncertain. "auto" is the
        conditional risk where the classifier has `predict_proba`, else the margin. A
        callable is ``(estimator, X) -> (n_samples,)``. A score object with a `loss` of
        its own only orders the samples, and a `reject_cost` is solved on data for it.

    loss : {"zero_one", "absolute", "squared"}, array-like of shape \
            (n_classes, n_classes) or callable, default="zero_one"
        Cost of a wrong label, lower is better. A matrix has true labels by row and
        predicted labels by column, both in sorted order. A callable is
        ``(y_true, y_pred) -> (n_samples,)``.

    cv : int, float, splitter, iterable or None, default=None
        Which predictions solve the rule. An int or a splitter pools predictions out of
        fold and fits the classifier on everything afterwards. A float holds that share
        of the samples out, and the classifier is fitted on the rest. None is five
        stratified folds where the rule needs data, and no extra fit where it needs
        none: a reject cost is compared with a conditional risk as it is.

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
        Source of the draws at the threshold and of the samples held out. With an int
        each call of `predict` repeats the same draws, which is no randomization where
        samples come one a call: leave it at None there.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.

    rule_ : RejectionRule
        Threshold, acceptance probability at it, and the coverage and risk achieved on
        the predictions that solved it.

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

    # `fit` takes it through **params, where no request would be found.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def __init__(
        self,
        estimator,
        *,
        reject_cost=None,
        target_risk=None,
        target_coverage=None,
        uncertainty_score="auto",
        loss="zero_one",
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
        # A fit that fails leaves no rule of an earlier one behind.
        vars(self).pop("rule_", None)
        target = self._check_target()
        self._check_parameters()
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        routed, weight = self._route(len(y), params)
        self._resolve(y)
        judged = self._fit_and_judge(X, y, routed, target)
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

    def get_metadata_routing(self):
        """Return where metadata go: to this `fit`, to the classifier, to the splitter.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        if hasattr(self.cv, "get_metadata_routing"):
            router.add(splitter=self.cv, method_mapping=to_split)
        return router

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        draws = self.randomize and self._names_of_targets() != ["reject_cost"]
        if draws and self.reject_label is not None:
            tags.non_deterministic = True
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
            value = _DEFAULT_REJECT_COST
        is_coverage = name == "target_coverage"
        high = 1.0 if is_coverage else np.inf
        return name, check_number(value, name, high=high, open_low=is_coverage)

    def _check_parameters(self):
        for method in ("fit", "predict"):
            if not hasattr(self.estimator, method):
                raise ValueError(
                    f"estimator must be a classifier with `fit` and `predict`, got "
                    f"{self.estimator!r} without `{method}`."
                )
        if is_regressor(self.estimator):
            raise ValueError(
                f"estimator must be a classifier, got the regressor {self.estimator!r}."
            )
        check_cv_choice(self.cv, self.estimator)
        check_option(self.randomize, "randomize", (True, False))
        check_random_state(self.random_state)

    def _route(self, n_samples, params):
        """Return the parameters of the inner calls, and the weights of the rule."""
        params = {name: value for name, value in params.items() if value is not None}
        weight = check_sample_weight(params.get("sample_weight"), n_samples)
        if _routing_enabled():
            refuses = (
                self._get_metadata_request().fit.requests["sample_weight"] is False
            )
            routed = process_routing(self, "fit", **params)
            return routed, None if refuses else weight
        if isinstance(self.estimator, FrozenEstimator):
            params = {}
        elif weight is not None:
            _check_takes_weights(self.estimator)
        return Bunch(estimator=Bunch(fit=params)), weight

    def _resolve(self, y):
        """Turn loss, score and reject label into objects."""
        if isinstance(self.estimator, FrozenEstimator):
            check_is_fitted(self.estimator)
            classes = np.asarray(self.estimator.classes_)
        else:
            classes = np.unique(y)
        self.reject_label_ = resolve_reject_label(self.reject_label, classes)
        self.loss_ = check_loss(self.loss, labels=classes)
        self.uncertainty_score_ = resolve_score(
            self.uncertainty_score, self.estimator, loss=self.loss_
        )

    def _is_chow(self, target):
        """Tell whether the score is in units of the reject cost already."""
        inherits_loss = getattr(self.uncertainty_score, "loss", None) is None
        estimates_risk = getattr(self.uncertainty_score_, "estimates_risk", False)
        return target[0] == "reject_cost" and estimates_risk and inherits_loss

    def _fit_and_judge(self, X, y, routed, target):
        """Fit, and return scores, losses and rows that the rule is solved on."""
        judge = partial(_judge, clone(self.uncertainty_score_), self.loss_)
        splits = self._splits(X, y, routed, target)
        fit = fit_on_all
        if is_share(self.cv):
            fit, splits = fit_on_part, splits[0]
        self.estimator_, judged, rows = fit(
            self, X, y, splits, judge, routed.estimator.fit
        )
        self.uncertainty_score_.fit(estimator=self.estimator_)
        if isinstance(self.estimator, FrozenEstimator):
            judged, rows = judge(Response(self.estimator_, X), y), slice(None)
        return (*judged, rows) if judged else None

    def _splits(self, X, y, routed, target):
        """Return the splits that judge the classifier, none where nothing needs it."""
        needs_no_data = self.cv is None and self._is_chow(target)
        if isinstance(self.estimator, FrozenEstimator) or needs_no_data:
            return []
        # Not every router has a splitter, and an empty one answers `get` only.
        splitter = routed.get("splitter", Bunch(split={}))
        return make_splits(
            self.cv, X, y, random_state=self.random_state, split_params=splitter.split
        )

    def _solve(self, target, judged, weight):
        """Solve the rule on the samples that judged the classifier."""
        name, value = target
        if judged is None:
            return chow_rule(value)
        scores, losses, rows = judged
        samples = {
            "scores": scores,
            "losses": losses,
            "sample_weight": None if weight is None else weight[rows],
        }
        if self._is_chow(target):
            return chow_rule(value).measure(**samples)
        if name == "reject_cost":
            return solve_reject_cost(target=value, **samples)
        if name == "target_risk":
            return solve_target_risk(target=value, randomize=self.randomize, **samples)
        return solve_target_coverage(target=value, randomize=self.randomize, **samples)


def _judge(score, loss, response, y):
    """Return uncertainty and loss of each sample of a response."""
    labels, uncertainty = score.judge(response)
    if hasattr(response.estimator, "classes_"):
        _ = response.label_indices  # raises for labels that are no classes
    return uncertainty, loss(y, labels)


def _check_takes_weights(estimator):
    parameters = signature(estimator.fit).parameters.values()
    if not any(
        p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters
    ):
        raise ValueError(
            f"sample_weight was given, but {type(estimator).__name__}.fit does not "
            "take it. To weigh the samples for the rule only, enable metadata routing "
            "and call `set_fit_request(sample_weight=True)` on the SelectiveClassifier."
        )
