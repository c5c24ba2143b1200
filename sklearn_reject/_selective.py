"""The classifier that rejects what it is too uncertain about."""

from sklearn_reject._base import BaseRejectClassifier
from sklearn_reject._reject_label import resolve_reject_label
from sklearn_reject._selective_base import BaseSelective
from sklearn_reject._sklearn_private import with_callbacks
from sklearn_reject.losses import check_loss

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
