"""The classifier that rejects what it is too uncertain about."""

from __future__ import annotations

from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from sklearn_reject._estimators._base import RejectClassifier, check_class_labels
from sklearn_reject._estimators._calibration import Calibration
from sklearn_reject._estimators._selective import SelectiveMixin
from sklearn_reject._estimators._targets import (
    CLASSIFIER_TARGETS,
    AchievedBound,
    RejectCost,
    given_targets,
)
from sklearn_reject._sklearn import with_callbacks
from sklearn_reject._typing import (
    CV,
    Estimator,
    GroupBy,
    Label,
    MatrixLike,
    Other,
    RandomState,
    Target,
    TaskLossLike,
    UncertaintyScoreLike,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import ZeroOneLoss, check_loss
from sklearn_reject.selection import RejectionRule

_DEFAULT_REJECT_COST = 0.5


class SelectiveClassifier(SelectiveMixin, RejectClassifier):
    """Classifier that rejects the samples it is too uncertain about.

    It wraps a classifier, scores how uncertain each prediction is, and rejects the
    samples above a threshold. The threshold solves one of three models (FPV23): a cost
    of rejection, a bound on the risk of accepted samples, or a bound on the coverage.
    Or it bounds the failure rate, the share of all samples that are accepted and wrong.
    If the rule needs data, it is tuned on out-of-sample predictions.

    Read more in the :ref:`user guide <selective_classification>`.

    Parameters
    ----------
    estimator : estimator
        Classifier with `fit` and `predict`. A :class:`~sklearn.frozen.FrozenEstimator`
        is not fitted again, and the data given to `fit`, which it must not have seen,
        only calibrate the rule.

    reject_cost : float >= 0 or dict, default=None
        Cost of rejecting a sample, in units of the loss: minimize the expected loss
        plus the cost of rejections. At most one of `reject_cost`, `target_risk`,
        `target_coverage` and `target_failure_rate` may be given; without any it is 0.5:
        reject a sample if its label is more likely wrong than right. With two classes
        this rejects almost nothing, and a warning says so.

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

    min_precision : float in (0, 1] or dict, default=None
        Lower bound on the precision of accepted samples: maximize the coverage. A dict
        class -> bound has a bound for each predicted class. A number is for the
        positive class, which is 1 for labels 0 and 1 or -1 and 1, or True; other labels
        need a dict. Bounds for both of two classes are the positive and negative
        predictive values. May be combined with `min_recall`, but not with another
        target. One threshold meets all bounds on the calibration set, and with a
        `confidence_level` all of them together in the population. Needs the loss
        "zero_one".

    min_recall : float in (0, 1] or dict, default=None
        Lower bound on the recall of accepted samples, or of each true class in a dict:
        the share of the accepted samples of the class that get its label. Bounds for
        two classes are sensitivity and specificity. Otherwise as `min_precision`.

    group_by : "prediction", "class", column or callable, default=None
        Groups of samples, each with its own rule, so that the target holds in every
        group: "prediction" is the predicted class (of a classifier), a str or an int
        the name or position of a column of X, and a callable is ``X -> (n_samples,)``.
        Targets may then be dicts of group to value. With a `confidence_level`, the
        targets of all groups hold together with that probability. A group in which no
        rule meets the target is rejected as a whole, and so are samples of a group that
        `fit` has not seen; both with a warning. "class" is the true class, which is
        unknown when predicting: one rule meets a `target_risk` or `target_failure_rate`
        in each class, or in the classes of a dict. A failure rate is then a share of
        all samples of the class, and the class needs a sample among those that tune the
        rule.

    uncertainty_score : {"auto", "conditional_risk", "margin", "error_probability", \
            "loss_regression", "sele", "true_class_probability"}, score object or \
            callable, default="auto"
        How uncertain a prediction is, higher = more uncertain. "auto" is the
        conditional risk if the fitted classifier has `predict_proba`, otherwise the
        margin. All others are learned from out-of-sample predictions. The name or
        object of a novelty score, such as "knn", rejects samples that are unlike the
        training samples. A frozen score object is not fitted again. A callable is
        ``(estimator, X) -> (n_samples,)``. A score object with its own `loss` only
        ranks the samples, so its threshold for a `reject_cost` is tuned on data.

    loss : {"zero_one", "absolute", "squared"}, {array-like, dataframe} of shape \
            (n_classes, n_classes) or callable, default="zero_one"
        Cost of a wrong label, lower is better. A matrix has true labels by row and
        predicted labels by column, both in sorted order; a data frame is read by its
        labels. A callable is ``(y_true, y_pred) -> (n_samples,)``.

    confidence_level : float in (0, 1), default=None
        Probability, over the draw of the calibration set, that `target_risk`,
        `target_coverage` or `target_failure_rate` holds for the population. None
        calibrates without such a guarantee; a failure rate then holds on average. Needs
        samples on which neither the classifier nor the score was fitted: the share that
        `cv` holds out, or those given with a frozen classifier and a score that is not
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

    cv : int, float, splitter, iterable, "plug_in" or None, default=None
        Selects the predictions to calibrate on. An int or a splitter pools out-of-fold
        predictions and fits the classifier on all samples afterwards. A float holds
        that share of the samples out, and the classifier is fitted on the rest. None is
        five stratified folds, or fewer if no class has five members. But half of the
        samples are held out with a `confidence_level`, which needs them, and where the
        scores of folds are coarse: those of a shallow tree have a few levels, of which
        the tree that is fitted on all samples has none. A learned score is learned from
        the same predictions, or from five folds of the rest if a share is held out.
        Each calibration sample gets a score that was learned without it. "plug_in" is
        Chow's rule for a `reject_cost`: it compares the conditional risk with the cost,
        without data and without another fit, and is as good as the probabilities.
        Otherwise a conditional risk counts as much as 30 samples when the threshold for
        a `reject_cost` is tuned.

    n_jobs : int, default=None
        Number of folds fitted in parallel.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws at the threshold, of the held-out samples, and of a learned
        score without its own `random_state`. The seed is drawn once in `fit`.
        Afterwards the decision for a sample depends on this sample only.

    reject_label : "auto", None or label, default="auto"
        Label that `predict` returns for rejected samples. "auto" is -1 for numeric
        classes, the smallest class minus 1 where -1 is a class, and "reject" for
        strings (``"reject_"`` where "reject" is a class). None makes `predict` return
        the label of every sample.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.

    rule_ : RejectionRule or, with `group_by`, GroupedRule
        Threshold, acceptance probability at it, the coverage and risk achieved on the
        predictions that solved it, and the certificate of a `confidence_level`; with
        groups, those of each in ``rule_.rules``.

    group_by_ : str, int, callable or None
        What finds the groups of samples.

    bounds_ : dict of (str, class) to AchievedBound, or None
        What the rule achieves on `calibration_` of each bound of `min_precision` and
        `min_recall`, or of `target_risk` or `target_failure_rate` with
        ``group_by="class"``, by parameter and class. None for other targets.

    uncertainty_score_ : score object
        The score, fitted.

    calibration_ : Calibration or None
        `scores`, `losses`, `rows`, `sample_weight`, `labels`, `predictions` and
        `groups` out of sample that the rule was solved on, for `retarget`. None where a
        rule without data was asked for.

    loss_ : TaskLoss
        The loss.

    reject_label_ : label or None
        Label that `predict` returns for rejected samples.

    seed_ : int
        Seed of the draws at the threshold.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    n_features_in_ : int
        Number of features, if the classifier knows it.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the classifier knows them.

    See Also
    --------
    sklearn_reject.metrics.aurc_score : How well a score orders the errors.
    sklearn.calibration.CalibratedClassifierCV : Calibrates probabilities, and with them
        the conditional risk.

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

    _targets, _default_target = CLASSIFIER_TARGETS, RejectCost(_DEFAULT_REJECT_COST)
    _check_y, _check_loss = staticmethod(check_class_labels), staticmethod(check_loss)

    rule_: RejectionRule | Other
    group_by_: GroupBy | None
    bounds_: dict[tuple[str, Any], AchievedBound] | Other
    calibration_: Calibration | Other

    def __init__(
        self,
        estimator: Estimator,
        *,
        reject_cost: Target | None = None,
        target_risk: Target | None = None,
        target_coverage: Target | None = None,
        target_failure_rate: Target | None = None,
        min_precision: Target | None = None,
        min_recall: Target | None = None,
        group_by: Literal["prediction", "class"] | GroupBy | None = None,
        uncertainty_score: UncertaintyScoreLike = "auto",
        loss: TaskLossLike = "zero_one",
        confidence_level: float | None = None,
        max_loss: float | None = None,
        max_weight: float | None = None,
        randomize: bool = True,
        cv: CV | Literal["plug_in"] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
        reject_label: Label = "auto",
    ) -> None:
        self.estimator = estimator
        self.reject_cost = reject_cost
        self.target_risk = target_risk
        self.target_coverage = target_coverage
        self.target_failure_rate = target_failure_rate
        self.min_precision = min_precision
        self.min_recall = min_recall
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
        self.reject_label = reject_label

    def __getstate__(self):
        state = super().__getstate__()
        if state.get("bounds_"):
            # Pairs, as skops writes keys as text.
            state = state | {"bounds_": list(state["bounds_"].items())}
        return state

    def __setstate__(self, state):
        if state.get("bounds_"):
            state = state | {"bounds_": dict(state["bounds_"])}
        super().__setstate__(state)

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier and solve the rejection rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,)
            Class labels; NaN or None where there is none, with `inclusion_proba`.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the calibration samples, except the items of a set,
            which are counted.

        **params : dict
            Parameters for the `fit` of the classifier, indexed by sample where they
            are as long as X. With metadata routing, parameters, and weights among them,
            go where they are requested.
            `groups`, array-like of shape (n_samples,), are clusters, such as patients:
            rows of one may depend on each other, what is promised is about a random
            row of a random cluster, and no split divides one. `inclusion_proba`, in (0,
            1], a number or one for each sample, is the chance that it was to be
            labelled, and y is NaN or None where it was not.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        InfeasibleTargetError
            If no threshold attains `target_risk`, or all bounds of `min_precision` and
            `min_recall`, or, with a confidence, none can be certified; or if without
            `randomize` the samples are too few for `target_failure_rate`, or without
            one of a class that it is asked of. With `group_by`, only if that is so in
            all groups, or in one of the true classes. Its `attainable` has what can be
            met.
        ValueError
            If a parameter is invalid, or two targets are given.
        """
        self._fit(X, y, sample_weight=sample_weight, **params)
        self._warn_of_default()
        return self

    def _warn_of_default(self):
        """Warn where no target is given, and the default one rejects nothing."""
        is_binary = len(self.classes_) <= 2 and type(self.loss_) is ZeroOneLoss
        rejects = self.rule_.coverage < 1
        if is_binary and not rejects and not given_targets(self):
            warn_user(
                f"Without a target, reject_cost={_DEFAULT_REJECT_COST}, which rejects "
                "a sample if its label is more likely wrong than right. With two "
                "classes this rejects nothing here. Pass a reject_cost below 0.5, a "
                "target_risk, a target_coverage or a target_failure_rate."
            )
