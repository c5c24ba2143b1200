"""The classifier that predicts sets of the least expected loss."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED

from sklearn_reject._estimators._base import ClassifierWrapper, inner_has, read_samples
from sklearn_reject._estimators._sets import (
    check_set_labels,
    find_items,
    is_by_item,
    learn_out_of_sample,
    warn_of_few_rows,
)
from sklearn_reject._fitting._folds import Samples
from sklearn_reject._fitting._out_of_sample import evaluate_out_of_sample
from sklearn_reject._fitting._routing import check_inner, own_param, route_params
from sklearn_reject._fitting._splits import (
    ALL_ROWS,
    Plan,
    check_cv_choice,
    plan_fits,
    splits_by_groups,
)
from sklearn_reject._sklearn import (
    _num_samples,
    _routing_enabled,
    available_if,
    with_callbacks,
)
from sklearn_reject._typing import (
    CV,
    Estimator,
    Label,
    MatrixLike,
    Other,
    RandomState,
    SetLossLike,
)
from sklearn_reject._validation import (
    check_number,
    check_option,
    check_sample_weight,
    require_in_memory,
)
from sklearn_reject.decoding import SetRule, check_bounds, choose_items
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import SetLoss, check_set_loss

# What is learned out of sample, if anything.
_LEARNED = ("threshold_", "tuned_loss_", "_calibrate")


class ExpectedLossDecoder(ClassifierWrapper):
    """Classifier that predicts the set of items with the lowest expected loss.

    It wraps a classifier with `predict_proba`. Instead of all items above 0.5 it
    predicts the set that is best for a loss of the confusion matrix, such as F1 or the
    balanced error (NKRD16). The definition of a set depends on the labels:

    - Two classes: the samples are the items, and the set has those that are predicted
      to be positive. Those of one of the `groups` are a set, or all of a call.
    - Several labels a sample (a matrix of indicators): the labels of each sample, or
      what `average` says.
    - More than two classes: the classes of each sample, of which one is true.
      `predict_set` predicts several of them, `predict` remains a single class.

    By default the decision on a sample depends on its group at most, and never on the
    other samples of the call. Items are assumed to be independent given the samples.

    Read more in the :ref:`user guide <decoding>`.

    Parameters
    ----------
    estimator : estimator
        Classifier with `fit` and `predict_proba`. For several labels a sample one that
        takes them, such as :class:`~sklearn.multiclass.OneVsRestClassifier` of another
        one, which may be calibrated. A :class:`~sklearn.frozen.FrozenEstimator` is not
        fitted again.

    loss : {"f1", "f_beta", "jaccard", "am", "balanced_accuracy", "g_tp_pr", \
            "g_mean", "hamming"} or callable, default="f1"
        Loss of a set, as :func:`~sklearn_reject.decoding.decode` takes it, lower is
        better.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    strategy : {"auto", "dta", "eum"} or float in [0, 1], default="auto"
        How items are chosen. "dta" (decision theory) minimizes the expected loss of
        each set, with the probabilities as they are. "eum" (empirical utility
        maximization) learns one threshold on the probabilities with the lowest mean
        loss on out-of-sample predictions. A number is the threshold itself. "auto" is
        "eum" where all samples of a call are a set, with two classes without `groups`
        and for the averages "macro" and "micro"; so the decision on a sample does not
        depend on the call. Elsewhere it is "dta", with probabilities that are
        calibrated by isotonic curves, one for each label or class, which are fitted to
        out-of-sample predictions.

    zero_division : float in [0, 1], default=0.0
        Value of a score that is 0/0, as in the metrics of scikit-learn. With 0 an empty
        set is never rewarded.

    average : {"samples", "macro", "micro"}, default="samples"
        Definition of a set for multilabel targets: the labels of each sample, the
        samples of each label, or all entries of a call. Otherwise "samples".

    min_positive : int >= 0, default=0
        Smallest number of items to predict in a set. Of a smaller set all items are
        predicted, with a warning. A threshold is tuned without bounds.

    max_positive : int >= 0, default=None
        Largest number of items of a set to predict. None for no bound. If it equals
        `min_positive`, each set has exactly so many. Of equally probable items a bound
        takes those that come first.

    cv : int, float, splitter, iterable or None, default=None
        Selects the out-of-sample predictions that tune a threshold or fit curves. "dta"
        and a number need none, and are fitted once. An int or a splitter pools
        out-of-fold predictions and fits the classifier on all samples afterwards. A
        float holds that share of the samples out, and the classifier is fitted on the
        rest. None is five folds. A frozen classifier is evaluated on the samples given
        to `fit`.

    n_jobs : int, default=None
        Number of folds fitted in parallel, and of chunks of sets.

    random_state : int, RandomState instance or None, default=None
        Seed of the held-out share.

    pos_label : label, default=None
        The positive one of two classes. None is the last of the sorted classes. A
        single one is positive as well, unless it is 0, -1 or False: then the positive
        class, 1 or True, is absent.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.

    set_loss_ : callable
        The loss of arrays of counts tp, fp, fn and tn.

    target_type_ : {"binary", "multilabel", "multiclass"}
        What the items are.

    strategy_ : {"dta", "eum"} or float
        The strategy in use.

    threshold_ : float, ndarray of shape (n_labels,) or None
        The threshold, tuned or given. One a label where they are tuned for the average
        "macro". None for "dta".

    tuned_loss_ : float or None
        Mean loss that the threshold has on the predictions that tuned it. None unless
        the strategy is "eum".

    classes_ : ndarray of shape (n_classes,)
        Class labels, as the classifier has them.

    n_features_in_ : int
        Number of features, if the classifier knows it.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the classifier knows them.

    See Also
    --------
    sklearn_reject.decoding.decode : The same for probabilities.
    sklearn_reject.metrics.set_loss : The loss of sets whose truth is known.
    sklearn.model_selection.TunedThresholdClassifierCV : A threshold for any score of
        labels, on a grid.

    References
    ----------
    N. Natarajan, O. Koyejo, P. Ravikumar, I. Dhillon. Optimal Classification with
    Multivariate Losses. ICML, 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import f1_score
    >>> from sklearn_reject import ExpectedLossDecoder
    >>> X, y = make_classification(
    ...     2000, weights=[0.95], class_sep=0.5, flip_y=0.02, random_state=1
    ... )
    >>> clf = LogisticRegression().fit(X[:1000], y[:1000])
    >>> round(f1_score(y[1000:], clf.predict(X[1000:])), 2)
    0.14
    >>> decoder = ExpectedLossDecoder(LogisticRegression(), loss="f1")
    >>> decoder = decoder.fit(X[:1000], y[:1000])
    >>> round(f1_score(y[1000:], decoder.predict(X[1000:])), 2)
    0.35
    """

    # There is nothing else to do with groups than to make sets of them. Weights are for
    # the classifier only.
    __metadata_request__fit = {"groups": True, "sample_weight": UNUSED}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    set_loss_: SetLoss
    target_type_: Literal["binary", "multilabel", "multiclass"]
    strategy_: Literal["dta", "eum"] | float
    threshold_: Any
    tuned_loss_: float | Other

    def __init__(
        self,
        estimator: Estimator,
        *,
        loss: SetLossLike = "f1",
        beta: float = 1.0,
        strategy: float | Literal["auto", "dta", "eum"] = "auto",
        zero_division: float = 0.0,
        average: Literal["samples", "macro", "micro"] = "samples",
        min_positive: int = 0,
        max_positive: int | None = None,
        cv: CV | None = None,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
        pos_label: Label = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.beta = beta
        self.strategy = strategy
        self.zero_division = zero_division
        self.average = average
        self.min_positive = min_positive
        self.max_positive = max_positive
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.pos_label = pos_label

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier, and learn how its probabilities make sets.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples.

        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or indicators of several labels a sample.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the calibration samples, except the items of a set,
            which are counted.

        **params : dict
            Parameters for the `fit` of the classifier, indexed by sample where they
            are as long as X. `groups`, the set of each sample where there are two
            classes, are for all that is learned out of sample, and for a splitter that
            works on groups. With metadata routing, parameters, and weights among them,
            go where they are requested.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If a parameter is invalid, the classifier has no `predict_proba`, or its
            probabilities are not within [0, 1].

        Warns
        -----
        RejectionWarning
            If "auto" cannot make folds: then the threshold is 0.5, or probabilities are
            decoded as they are.
        RejectionWarning
            If the loss may increase with the number of true positives, so that the best
            set may not consist of the most probable items.
        """
        check_inner(self, "classifier", methods=("fit", "predict_proba"))
        check_cv_choice(self, learns=False)
        if isinstance(self.strategy, Real):
            check_number(self.strategy, "strategy, as a threshold,", high=1.0)
        else:
            name = "strategy, unless a number in [0, 1],"
            check_option(self.strategy, name, ("auto", "dta", "eum"))
        options = {"beta": self.beta, "zero_division": self.zero_division}
        set_loss = check_set_loss(self.loss, **options)
        bounds = check_bounds(self.min_positive, self.max_positive)
        params["sample_weight"] = sample_weight
        X, y = read_samples(X, y, params, check_set_labels)
        items = find_items(self, y)
        groups, *given = self._route(_num_samples(y), params, items)
        # Items of a set are counted; rows that are sets weigh in the mean.
        weight = sample_weight if items.are_in_rows else None
        weight = check_sample_weight(weight, _num_samples(y))

        rule, strategy = SetRule(set_loss, items.distribution, *bounds), self.strategy
        if strategy == "auto":
            strategy = "dta" if items.are_in_rows or groups is not None else "eum"
        evaluated = self._evaluate(Samples(X, y, None, *given), items)
        learned = dict.fromkeys(_LEARNED)
        if evaluated.scores is not None:
            known = items, evaluated, y, groups, weight
            learned |= learn_out_of_sample(rule, strategy, *known)
        elif strategy != "dta":
            strategy = 0.5 if strategy == "eum" else float(strategy)
            learned["threshold_"] = strategy
        return self._store(
            evaluated.estimator,
            set_loss_=set_loss,
            target_type_=items.target_type,
            strategy_=strategy,
            _items=items,
            _rule=replace(rule, threshold=learned["threshold_"]),
            _has_groups=groups is not None,
            **learned,
        )

    def predict(self, X: MatrixLike, groups: ArrayLike | None = None) -> np.ndarray:
        """Predict the best sets, as labels or as multilabel indicators.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        groups : array-like of shape (n_samples,), default=None
            Samples of equal value are a set, where there are two classes. Needed where
            `fit` had them, unless a threshold decides alone.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or indicators of labels. Where there are more than two
            classes, the most probable one.

        Raises
        ------
        ValueError
            If `fit` had groups that the decisions depend on, and `predict` has none.

        Warns
        -----
        RejectionWarning
            If all samples of the call are decided as a set by "dta", and fewer than
            five of one of the classes are expected.
        """
        self._require_fit()
        if self.target_type_ == "multiclass":
            self._items.groups(groups, _num_samples(X))  # there are none
            return self._items.classes[self._probabilities(X).argmax(axis=1)]
        return self._items.labels(self._choose(X, groups)[0])

    @available_if(inner_has("predict_proba"))
    def predict_proba(self, X: MatrixLike) -> np.ndarray | Other:
        """Return the probabilities that sets are decoded with.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), or as the classifier's
            Those of the classifier, unless `strategy` is "auto" and sets are groups, or
            labels or classes of a sample. Then they are calibrated, with columns in the
            order of `classes_`; for several labels a sample they are an array of shape
            (n_samples, n_labels).
        """
        self._require_fit()
        if self._calibrate is None:
            return super().predict_proba(X)
        eta = self._probabilities(X)
        if self.target_type_ != "binary":
            return eta
        positive = self._items.classes[-1]
        columns = [eta if each == positive else 1 - eta for each in self.classes_]
        return np.column_stack(columns)

    @available_if(inner_has("predict_log_proba"))
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray | Other:
        """Return the logarithms of the probabilities that sets are decoded with.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Those of :meth:`predict_proba`.
        """
        self._require_fit()
        if self._calibrate is None:
            return super().predict_log_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_set(self, X: MatrixLike) -> np.ndarray:
        """Predict the best set of classes of each sample (multiclass only).

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        mask : ndarray of shape (n_samples, n_classes), dtype bool
            Whether each class is in the set, in the order of `classes_`.

        Raises
        ------
        ValueError
            If there are two classes, or several labels a sample.
        """
        self._require_fit()
        if self.target_type_ != "multiclass":
            raise ValueError(
                "predict_set is for multiclass targets, but y of `fit` was "
                f"{self.target_type_}. Use predict."
            )
        return self._choose(X)[0]

    def expected_loss(self, X: MatrixLike, groups: ArrayLike | None = None) -> Any:
        """Return the expected loss of the predicted sets.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        groups : array-like of shape (n_samples,), default=None
            Samples of equal value are a set, where there are two classes.

        Returns
        -------
        expected_loss : float or ndarray of shape (n_sets,)
            Lower is better: one number where all samples are one set, else one for
            each set, which is a label where the average is "macro". Groups are in the
            order of their sorted values.

        Raises
        ------
        ValueError
            If `fit` had groups, and this call has none.

        Notes
        -----
        It is as good as the probabilities, and items may depend on each other:
        compare it with minus :meth:`score` on samples with labels.
        """
        _, losses = self._choose(X, groups, with_loss=True)
        items = self._items
        is_one_set = items.target_type == "binary" and groups is None
        return float(losses[0]) if is_one_set or items.average == "micro" else losses

    def score(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> float:
        """Return minus the mean loss of the predicted sets.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            True labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the mean, where each sample is a set.

        groups : array-like of shape (n_samples,), default=None
            Samples of equal value are a set, where there are two classes.

        Returns
        -------
        score : float
            Higher is better. It is in units of the estimator's own loss: to compare
            losses, take "neg_set_loss" of
            :func:`~sklearn_reject.metrics.get_selective_scorer`.

        Raises
        ------
        ValueError
            If `fit` had groups, and this call has none.
        """
        self._require_fit()
        require_in_memory(X=X, y=y, sample_weight=sample_weight)
        if sample_weight is not None and not self._items.are_in_rows:
            raise ValueError(
                "sample_weight weighs sets, but with two classes, or with average "
                "'macro' or 'micro', samples are the items of sets. Omit it."
            )
        weight = check_sample_weight(sample_weight, _num_samples(y))
        y = self._items.check_labels(y)
        mask, _ = self._choose(X, groups, for_score=True)
        seen = getattr(self.estimator_, "classes_", None)
        losses = self.set_loss_(*self._items.count(y, seen, mask, groups))
        return -float(np.average(losses, weights=weight))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "target_type_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).classifier_tags
        if inner is not None:
            tags.classifier_tags.multi_label = inner.multi_label
        return tags

    def _route(self, n_samples, params, items):
        """Return the sets of samples, and the parameters of inner `fit` and split."""
        groups, request = own_param(self, "groups", params)
        may_split = splits_by_groups(self.cv)
        sets = items.groups(groups, n_samples, may_split=may_split)
        if not (_routing_enabled() or may_split):
            params = {name: each for name, each in params.items() if name != "groups"}
        _, *given = route_params(self, n_samples, params)
        return None if request is False else sets, *given

    def _evaluate(self, samples, items):
        """Return the fitted classifier, and probabilities out of sample, if needed."""
        given, reason = (self, self.estimator, items, samples), None
        if self.strategy in ("auto", "eum"):
            try:
                plan = plan_fits(self, samples, learns=False, stratify=True)
                return evaluate_out_of_sample(*given, plan)
            except ValueError as error:
                if self.strategy == "eum" or self.cv is not None:
                    raise
                reason = str(error).rstrip(". ")
        evaluated = evaluate_out_of_sample(*given, Plan(ALL_ROWS))
        # What is wrong with all probabilities is no matter of folds.
        first, _ = samples.take(evaluated.estimator, [0], ALL_ROWS)
        items.probabilities(evaluated.estimator, first)
        if reason is not None:
            warn_user(
                "No samples could be predicted out of sample, so probabilities are "
                "decoded as they are, or cut at 0.5. Pass more samples, or cv=. The "
                f"error in a fold was: {reason}.",
                once=True,
            )
        return evaluated

    def _choose(self, X, groups=None, *, with_loss=False, for_score=False):
        """Return the mask of the sets and, `with_loss`, their expected losses.

        Groups of `fit` are missed where they decide, or the loss is that of sets.
        """
        self._require_fit()
        require_in_memory(groups=groups)
        rule, items = self._rule, self._items
        groups = items.groups(groups, _num_samples(X))
        are_needed = with_loss or for_score or not is_by_item(rule)
        if groups is None and self._has_groups and are_needed:
            raise ValueError(
                "groups is None, but fit had groups, which are the sets. Pass the "
                "group of each sample, or np.zeros(len(X)) for one set of all of them."
            )
        eta = self._probabilities(X)
        if is_by_item(rule) and not with_loss:
            return eta >= rule.threshold, None
        # Exactly k of a call are wanted as they are, however small it is.
        is_open = rule.threshold is None and rule.min_positive != rule.max_positive
        if is_open and groups is None and not items.are_in_rows:
            warn_of_few_rows(eta, rule.loss, items.average)
        options = {"groups": groups, "n_jobs": self.n_jobs, "with_loss": with_loss}
        return choose_items(eta, rule, items.average, **options)

    def _probabilities(self, X):
        """Return the probabilities of the items, calibrated as in use."""
        eta = self._items.probabilities(self.estimator_, X)
        return eta if self._calibrate is None else self._calibrate(eta)
