"""The classifier that predicts sets of the least expected loss."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED

from sklearn_reject._estimators._base import (
    ClassifierWrapper,
    inner_has,
    store_fitted,
)
from sklearn_reject._estimators._rows import (
    features_of,
    require_fit,
)
from sklearn_reject._estimators._set_choice import (
    CalibrationGap,
    SetProblem,
    choose,
    draw_calls,
)
from sklearn_reject._estimators._set_items import check_set_labels, find_items
from sklearn_reject._estimators._set_options import (
    can_do_without_folds,
    check_batches,
    check_choices_for,
    check_open_choices,
    choice_without_folds,
    dense_rows,
    fewest_rows,
    is_threshold,
    needs_folds,
    parts_of,
    warn_of_few_rows,
    warn_without_folds,
)
from sklearn_reject._estimators._sets_of_call import (
    check_average_of,
    groups_of_sets,
    order_of_samples,
    several_labels,
)
from sklearn_reject._fitting import (
    ALL_ROWS,
    Plan,
    check_cv_choice,
    check_inner,
    evaluate_out_of_sample,
    own_param,
    plan_fits,
    route_params,
    splits_by_groups,
)
from sklearn_reject._response import (
    check_has_probabilities,
    check_known,
    refuse_stacks,
    widen_sets,
    with_unseen,
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
    check_same_length,
    check_sample_weight,
    require_in_memory,
    take_weight,
)
from sklearn_reject.decoding import (
    check_bounds,
    choose_sets,
    count_sets,
    expected_curves,
    find_positive,
    items_in_place,
    sets_as_rows,
    size_within,
)
from sklearn_reject.losses import SetLoss, check_set_loss


class ExpectedLossDecoder(ClassifierWrapper):
    """Classifier that predicts the set of items with the lowest expected loss.

    It wraps a classifier with `predict_proba`. Instead of all items above 0.5 it
    predicts the set that is best for a loss of the confusion matrix, such as F1 or the
    balanced error (NKRD16). The definition of a set depends on the labels:

    - Two classes: the samples of one call of `predict`, or of each of the `groups`, are
      the items, and the set has those that are predicted to be positive.
    - Several labels a sample (a matrix of indicators): the labels of each sample, or
      what `average` says.
    - More than two classes: the classes of each sample, of which one is true.
      `predict_set` predicts several of them, `predict` remains a single class.

    Items are assumed to be independent given the samples. The expected loss is only
    right if the probabilities are calibrated: `fit` checks this, and `calibration`
    corrects them.

    Read more in the :ref:`user guide <decoding>`.

    Parameters
    ----------
    estimator : estimator
        Classifier with `fit` and `predict_proba`. A
        :class:`~sklearn.frozen.FrozenEstimator` is not fitted again.

    loss : {"f1", "f_beta", "jaccard", "am", "balanced_accuracy", "g_tp_pr", \
            "g_mean", "h_mean", "hamming", "auc", "precision", "recall"}, array-like \
            of shape (2, 4), callable or SetLoss, default="f1"
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it, lower
        is better. "auc", "precision" and "recall" need bounds on the size of the sets.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    strategy : {"auto", "dta", "eum"} or float in [0, 1], default="auto"
        How items are chosen. "dta" (decision theory) minimizes the expected loss of
        each set. "eum" (empirical utility maximization) learns one threshold on the
        probabilities with the lowest mean loss on out-of-sample predictions. "auto" is
        the one of the two with the lower loss on these, at the size of `batch_size`,
        and "dta" if there are too few samples for folds. A number is the threshold
        itself.

    calibration : {"auto", "isotonic", "sigmoid"} or None, default="auto"
        How probabilities are calibrated before they are decoded, with a curve per label
        that is fitted to out-of-sample predictions: a step function, or a logistic
        curve on the log odds. "auto" takes None, "sigmoid" or, from 1000 samples on,
        "isotonic", a later one only if its log loss on other folds is significantly
        lower. It takes None for a `strategy` that is a threshold, and for more than two
        classes. The curves ignore weights, as items of sets have none. A label with one
        class is not calibrated, and entries that sparse probabilities do not store stay
        impossible. For sparse probabilities, strategies and calibrations are compared
        on at most some thousands of random rows, to save memory.

    batch_size : int > 0, default=None
        Number of samples in a call of `predict`, for two classes without `groups` and
        for the averages "macro" and "micro". "auto" compares strategies that decide
        this number of samples at once, with the loss of all samples together. None is
        the number in `fit`.

    zero_division : float in [0, 1], default=0.0
        Value of a score that is 0/0, as in the metrics of scikit-learn. With 0 an empty
        set is never rewarded.

    average : {"samples", "macro", "micro"}, default="samples"
        Definition of a set for multilabel targets: the labels of each sample, the
        samples of each label, or all entries of a call. Otherwise "samples".

    min_positive : int >= 0, default=0
        Smallest number of items to predict in a set. Of a smaller set all items are
        predicted, with a warning.

    max_positive : int >= 0, default=None
        Largest number of items of a set to predict. None for no bound. If it equals
        `min_positive`, each set has exactly so many.

    pos_label : label, default=None
        The positive one of two classes. None is the last of the sorted classes. A
        single one is positive as well, unless it is 0, -1 or False: then the positive
        class, 1 or True, is absent.

    cv : int, float, splitter, iterable or None, default=None
        Selects the out-of-sample predictions that choose a strategy, fit a calibration
        and tune the threshold of "eum". "dta" and a number with ``calibration=None``
        need none, and are fitted once. An int or a splitter pools out-of-fold
        predictions and fits the classifier on all samples afterwards. A float holds
        that share of the samples out, and the classifier is fitted on the rest. None is
        five folds. A frozen classifier is evaluated on the samples given to `fit`. The
        items are those of the predictions: fewer than in `fit` if a share is held out,
        more if a splitter repeats samples. This matters for sets of all samples with
        bounds on their size.

    n_jobs : int, default=None
        Number of folds fitted in parallel, and of chunks of sets.

    random_state : int, RandomState instance or None, default=None
        Seed of the held-out share.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.

    set_loss_ : SetLoss
        The loss.

    target_type_ : {"binary", "multilabel", "multiclass"}
        What the items are.

    strategy_ : {"dta", "eum"} or float
        The strategy in use.

    calibration_ : {"isotonic", "sigmoid"} or None
        The calibration in use.

    calibration_gap_ : CalibrationGap or None
        `expected_loss` and `realised_loss` out of sample of the strategy and
        calibration in use, and the `standard_error` between them that is chance. None
        if nothing was predicted out of sample.

    threshold_ : float or ndarray of shape (n_labels,)
        The threshold, tuned or given, on calibrated probabilities. One a label where
        "eum" tunes them for the average "macro". Not for "dta".

    tuned_loss_ : float
        Mean loss that the threshold has on the predictions that tuned it. For "eum"
        only.

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
    ...     2000, weights=[0.95], class_sep=0.5, flip_y=0.02, random_state=0
    ... )
    >>> clf = LogisticRegression().fit(X[:1000], y[:1000])
    >>> round(f1_score(y[1000:], clf.predict(X[1000:])), 2)
    0.76
    >>> decoder = ExpectedLossDecoder(LogisticRegression(), strategy="dta")
    >>> decoder = decoder.fit(X[:1000], y[:1000])
    >>> round(f1_score(y[1000:], decoder.predict(X[1000:])), 2)
    0.82
    """

    # There is nothing else to do with groups than to make sets of them. Weights are for
    # the classifier only.
    __metadata_request__fit = {"groups": True, "sample_weight": UNUSED}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    estimator_: Any
    set_loss_: SetLoss
    target_type_: Literal["binary", "multilabel", "multiclass"]
    strategy_: Literal["dta", "eum"] | float
    calibration_: Literal["isotonic", "sigmoid"] | None
    calibration_gap_: CalibrationGap | Other
    threshold_: Any
    tuned_loss_: float
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init__(
        self,
        estimator: Estimator,
        *,
        loss: SetLossLike = "f1",
        beta: float = 1.0,
        strategy: float | Literal["auto", "dta", "eum"] = "auto",
        calibration: Literal["auto", "isotonic", "sigmoid"] | None = "auto",
        batch_size: int | None = None,
        zero_division: float = 0.0,
        average: Literal["samples", "macro", "micro"] = "samples",
        min_positive: int = 0,
        max_positive: int | None = None,
        pos_label: Label = None,
        cv: CV | None = None,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.beta = beta
        self.strategy = strategy
        self.calibration = calibration
        self.batch_size = batch_size
        self.zero_division = zero_division
        self.average = average
        self.min_positive = min_positive
        self.max_positive = max_positive
        self.pos_label = pos_label
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier, and tune the threshold if the strategy has one.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples.

        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or indicators of several labels a sample.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the samples that tune the decisions, except the items
            of a set, which are counted.

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
            If expected and realized loss differ by more than chance and 0.05, unless
            "auto" has calibrated several labels a sample as well as curves can; or
            folds could not be made.
        RejectionWarning
            If the loss may increase with the number of true positives, so that the best
            set may not consist of the most probable items.
        """
        check_inner(self, "classifier", methods=("fit", "predict_proba"))
        check_open_choices(self)
        check_cv_choice(self.cv, self.estimator, learns=False)
        set_loss = check_set_loss(
            self.loss, beta=self.beta, zero_division=self.zero_division
        )
        bounds = self.min_positive, self.max_positive
        check_bounds(None if is_threshold(self.strategy) else set_loss, np.inf, *bounds)
        require_in_memory(X=X, y=y, sample_weight=sample_weight, **params)
        X, y = indexable(X, y)
        y = check_set_labels(y)
        items = find_items(self.estimator, y, self.pos_label)
        check_average_of(self.average, items.target_type)
        if items.classes is None:
            refuse_stacks(self.estimator)
        check_choices_for(self, items)
        params = {"sample_weight": sample_weight, **params}
        fit_params, split_params, groups = self._route_groups(X, params, items)
        check_batches(self, groups)

        with several_labels(self.estimator, y):
            evaluated, plan = self._evaluate(X, y, items, fit_params, split_params)
        check_has_probabilities(evaluated.estimator)
        # Items of a set are counted; rows that are sets weigh in the mean.
        is_set = items.target_type != "binary" and self.average == "samples"
        weight = check_sample_weight(sample_weight, _num_samples(y)) if is_set else None
        found = self._choose_and_tune(
            set_loss, items, evaluated, plan, y, groups, weight
        )
        fewest = fewest_rows(
            set_loss, items.truth(y), self.batch_size, groups, self.average
        )
        for name in ("threshold_", "tuned_loss_"):
            vars(self).pop(name, None)
        self._items, self._fewest_rows = items, fewest
        return store_fitted(
            self,
            evaluated.estimator,
            set_loss_=set_loss,
            target_type_=items.target_type,
            **found,
        )

    def predict(
        self, X: MatrixLike, groups: ArrayLike | None = None
    ) -> np.ndarray | Other:
        """Predict the best sets, as labels or as multilabel indicators.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples. Where there are two classes, these samples are one set: the label
            of one depends on the others. It does not depend on their order.

        groups : array-like of shape (n_samples,), default=None
            Samples of equal value are a set, where there are two classes.

        Returns
        -------
        labels : {ndarray, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or indicators of labels; sparse where the probabilities are.
            Where there are more than two classes, what the classifier predicts.

        Warns
        -----
        RejectionWarning
            If samples of two classes are decided by "dta" without groups, and are fewer
            than `batch_size` or, by default, than it takes to expect five of the
            positive class, and of both where the loss counts both.
        """
        require_fit(self, X)
        if self.target_type_ == "multiclass":
            groups_of_sets(groups, self.target_type_)
            return self.estimator_.predict(X)
        mask, _ = self._choose(X, groups, tells_loss=False)
        if self.target_type_ == "multilabel":
            return mask.astype(np.int64)
        # One class only: there is no other label.
        other = len(self._items.classes) - 1 - self._items.positive
        return self._items.classes[np.where(mask, self._items.positive, other)]

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
            Those of the classifier where `calibration_` is None. Calibrated ones have
            columns in the order of `classes_`; for several labels a sample they are an
            array of shape (n_samples, n_labels).
        """
        require_fit(self)
        if self._calibrate is None:
            return super().predict_proba(X)
        eta = self._decoded_probabilities(X)
        if self.target_type_ == "multilabel":
            return eta
        columns = [1 - eta, eta]
        return np.column_stack(columns if self._items.positive == 1 else columns[::-1])

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
        require_fit(self)
        if self._calibrate is None:
            return super().predict_log_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(inner_has("decision_function"))
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Return the decision values of the inner classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As the inner classifier defines them. They decide nothing here.
        """
        return super().decision_function(X)

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
        require_fit(self)
        self._check_has_classes()
        return self._choose(X, tells_loss=False)[0]

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
        """
        losses = self._choose(X, groups)[1]
        is_one = self.target_type_ == "binary" and groups is None
        return float(losses[0]) if is_one or self.average == "micro" else losses

    def expected_loss_curves(
        self, X: MatrixLike, groups: ArrayLike | None = None
    ) -> list[np.ndarray]:
        """Return the expected loss of the k most probable items of sets, for all k.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        groups : array-like of shape (n_samples,), default=None
            Samples of equal value are a set, where there are two classes.

        Returns
        -------
        curves : list of ndarray of shape (n_items + 1,)
            One a set, lower is better, for k = 0, 1, ... items. Groups are in the order
            of their sorted values, labels in that of their columns.
        """
        sets, chooser = self._probabilities(X, groups)
        groups = groups_of_sets(groups, self.target_type_)
        return expected_curves(sets, chooser, groups=groups)

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
        """
        require_fit(self)
        require_in_memory(X=X, y=y, sample_weight=sample_weight, groups=groups)
        if sample_weight is not None and self._samples_are_items():
            raise ValueError(
                "sample_weight weighs sets, but with two classes, or with average "
                "'macro' or 'micro', samples are the items of sets and have no "
                "weights. Omit sample_weight."
            )
        weight = check_sample_weight(sample_weight, _num_samples(y))
        losses = self.set_loss_(*self._counts(X, self._check_kind(y), groups))
        return -float(np.average(losses, weights=weight))

    def _counts(self, X, y, groups):
        """Return tp, fp, fn and tn of the sets; unseen classes are in none of them."""
        if self._items.classes is None:
            mask, _ = self._choose(X, groups, tells_loss=False)
            return count_sets(self._items.truth(y), mask, average=self.average)
        seen = np.asarray(self.estimator_.classes_)
        classes = with_unseen(seen, y)
        if len(classes) <= 2:
            positive = find_positive(classes, self.pos_label)
            labels = self.predict(X, groups)
            truth = y == positive
            return count_sets(truth, labels == positive, groups=groups, pos_label=True)
        if self.target_type_ == "multiclass":
            sets = self._choose(X, groups, tells_loss=False)[0]
        else:
            sets = self.predict(X)[:, None] == seen
        return count_sets(y, widen_sets(sets, seen, classes), labels=classes)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "target_type_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).classifier_tags
        if inner is not None:
            tags.classifier_tags.multi_label = inner.multi_label
        return tags

    def _route_groups(self, X, params, items):
        """Return the parameters of inner `fit` and split, and the sets of samples."""
        n_samples, is_binary = _num_samples(X), items.target_type == "binary"
        groups, request = own_param(self, "groups", params)
        if _routing_enabled():
            is_ours = request is not False and is_binary
        else:
            is_ours = is_binary
            if not splits_by_groups(self.cv):
                params = {
                    key: value for key, value in params.items() if key != "groups"
                }
                groups_of_sets(groups, items.target_type)
        fit_params, split_params, _ = route_params(
            self, n_samples, params, estimator=self.estimator
        )
        groups = groups if is_ours else None
        if groups is not None:
            check_same_length(n_samples, groups=groups)
        return fit_params, split_params, groups

    def _check_kind(self, y):
        """Return labels of samples, of the kind that they had in `fit`."""
        y = check_set_labels(y)
        if y.ndim != (1 if self.target_type_ != "multilabel" else 2):
            raise ValueError(
                f"y has shape {y.shape}, but the labels of `fit` were "
                f"{self.target_type_}. Pass the same kind of labels."
            )
        if self._items.classes is None:
            self._items.check_number(y.shape[1])
        return y

    def _truth(self, y):
        """Return whether each item is positive, in sets as those of probabilities."""
        y = self._check_kind(y)
        if self._items.classes is not None:
            check_known(y, self._items.classes)
        return sets_as_rows(self._items.truth(y), self.average)

    def _evaluate(self, X, y, items, fit_params, split_params):
        """Return the fitted classifier, probabilities out of sample, and their plan."""
        plan = Plan(ALL_ROWS)
        options = {"fit_params": fit_params, "caller": self}
        if needs_folds(self):
            options_of_plan = {"learns": False, "stratify": y.ndim == 1}
            try:
                plan = plan_fits(self, X, y, split_params, **options_of_plan)
                return evaluate_out_of_sample(
                    self.estimator, items, X, y, plan=plan, **options
                ), plan
            except ValueError as error:
                if not can_do_without_folds(self):
                    raise
                plan, reason = Plan(ALL_ROWS), error
        evaluated = evaluate_out_of_sample(
            self.estimator, items, X, y, plan=plan, **options
        )
        if needs_folds(self):
            # What is wrong with all of its probabilities is no matter of folds.
            check_has_probabilities(evaluated.estimator)
            items.probabilities(evaluated.estimator, X)
            warn_without_folds(reason)
        return evaluated, plan

    def _choose_and_tune(self, set_loss, items, evaluated, plan, y, groups, weight):
        """Return the strategy, the calibration, and all that was learned for them."""
        if evaluated.scores is None:
            return choice_without_folds(self)
        rows = np.arange(_num_samples(y))[evaluated.rows]
        eta, parts = evaluated.scores, parts_of(plan, rows, y)
        is_sparse = issparse(eta)
        if is_sparse:
            some, parts = dense_rows(self, eta, parts)
            eta, rows = eta[some].toarray(), rows[some]
        truth = items.truth(y[rows])
        has_calls = items.target_type == "binary" or self.average != "samples"
        problem = SetProblem(
            eta=eta,
            truth=truth.toarray() if issparse(truth) else truth,
            parts=parts,
            loss=set_loss,
            distribution=items.distribution,
            average=self.average,
            min_positive=self.min_positive,
            max_positive=self.max_positive,
            groups=None if groups is None else np.asarray(groups)[rows],
            calls=draw_calls(len(rows), self.batch_size) if has_calls else None,
            keep_zeros=is_sparse,
            weight=take_weight(weight, rows),
        )
        return choose(problem, self.strategy, self.calibration)

    def _choose(self, X, groups=None, *, tells_loss=True):
        """Return the mask of the sets and, if `tells_loss`, their expected losses."""
        order = (
            order_of_samples(features_of(self, X)) if self._samples_are_cut() else None
        )
        eta, groups = self._items_in_order(X, groups, order)
        sets, chooser = self._sets(eta, groups, tells_loss=tells_loss)
        # Exactly k of a call are wanted as they are, however small it is.
        is_chosen = chooser.threshold is None and not chooser.is_fixed
        if self._samples_are_items() and groups is None and is_chosen:
            warn_of_few_rows(eta.shape[0], self._fewest_rows, self.target_type_)
        mask, losses = choose_sets(sets, chooser, groups=groups, n_jobs=self.n_jobs)
        mask = items_in_place(mask, eta.shape, self.average)
        return mask if order is None else mask[np.argsort(order)], losses

    def _check_has_classes(self):
        """Raise unless sets are of classes."""
        if self.target_type_ != "multiclass":
            raise ValueError(
                "predict_set is for multiclass targets, but y was "
                f"{self.target_type_}. Use predict, whose sets consist of "
                f"{'samples' if self.target_type_ == 'binary' else 'labels'}."
            )

    def _samples_are_items(self):
        return self.target_type_ == "binary" or self.average != "samples"

    def _samples_are_cut(self):
        """Tell whether a bound may part samples of equal probability."""
        is_bounded = self.min_positive > 0 or self.max_positive is not None
        return is_bounded and self._samples_are_items()

    def _items_in_order(self, X, groups, order):
        """Return the probabilities of items and their groups, samples in order."""
        require_fit(self)
        groups = groups_of_sets(groups, self.target_type_)
        eta = self._decoded_probabilities(X)
        if groups is not None:
            check_same_length(len(eta), groups=groups)
        if order is None:
            return eta, groups
        return eta[order], None if groups is None else np.asarray(groups)[order]

    def _probabilities(self, X, groups):
        """Return the probabilities of sets, and what chooses their sizes."""
        return self._sets(*self._items_in_order(X, groups, None))

    def _sets(self, eta, groups, *, tells_loss=True):
        """Return the probabilities of sets, and what chooses their sizes."""
        sets = sets_as_rows(eta, self.average)
        return sets, size_within(
            (self.min_positive, self.max_positive),
            sets.shape,
            groups,
            self.set_loss_,
            self._items.distribution,
            needs_bounds=not is_threshold(self.strategy),
            threshold=getattr(self, "threshold_", None),
            with_loss=tells_loss,
            ties="whole",
        )

    def _decoded_probabilities(self, X):
        """Return the probabilities of the items, calibrated as in use."""
        eta = self._items.probabilities(self.estimator_, X)
        return eta if self._calibrate is None else self._calibrate(eta)
