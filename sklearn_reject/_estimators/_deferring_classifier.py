"""The classifier that asks a second opinion where that is worth it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter

from sklearn_reject._estimators._base import (
    BaseWrapper,
    check_class_labels,
    find_classes,
    read_sampled,
    warn_of_lost_classes,
)
from sklearn_reject._estimators._calibration import draws_of
from sklearn_reject._estimators._deferring import DeferMixin
from sklearn_reject._estimators._groups import find_groups, is_word
from sklearn_reject._estimators._problem import Problem, retarget, solve_and_store
from sklearn_reject._estimators._targets import (
    DEFERRAL_TARGETS,
    DeferralCost,
    find_target,
)
from sklearn_reject._fitting._deferral import DeferralCalibration, Gains, evaluate_gains
from sklearn_reject._fitting._experts import check_expert, is_fixed, read_labels_of_fit
from sklearn_reject._fitting._routing import (
    OF_SAMPLING,
    check_inner,
    draw_seeds,
    route_of_fit,
    route_to_both,
)
from sklearn_reject._fitting._splits import check_cv_choice, plan_fits
from sklearn_reject._labels import resolve_reject_label
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
from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import gather_warnings, warn_user
from sklearn_reject.losses import TaskLoss, check_loss
from sklearn_reject.scores import UncertaintyScore, resolve_gain
from sklearn_reject.selection import DeferralRule, enumerate_labels


class DeferringClassifier(DeferMixin, ClassifierMixin, BaseWrapper):
    """Classifier that defers samples to a second opinion if that is worth its cost.

    A first, cheap classifier answers, and an expert is asked about the samples with the
    largest predicted gain: the loss of the first classifier minus that of the expert.
    The expert is a stronger model, a person, or another deferring classifier. The
    threshold on the gain takes the cost of asking into account, keeps a budget of
    questions, or bounds the risk of the whole system.

    Read more in the :ref:`user guide <deferring>`.

    Parameters
    ----------
    estimator : estimator
        First classifier, with `fit` and `predict`, asked about every sample. A
        :class:`~sklearn.frozen.FrozenEstimator` is not fitted again.

    expert : estimator, callable or None, default=None
        Second opinion. An estimator is fitted on the same samples as the first. One
        that is frozen, an object with `predict` and no `fit`, or a callable ``X ->
        (n_samples,)`` is only asked: in `fit` about all calibration samples, those that
        train a gain, and those of a pilot if a target is certified on a held-out share.
        Another :class:`DeferringClassifier` makes a cascade. None is a person, whose
        labels `fit` gets as `expert_labels`.

    deferral_cost : float >= 0 or dict, default=None
        Cost of asking about a sample, in units of the loss: minimize the expected loss
        plus the cost. If the expert is a :class:`DeferringClassifier`, the cost that it
        pays is added. At most one of `deferral_cost`, `max_deferral` and `target_risk`
        may be given; without any it is 0: ask wherever the expert is expected to be
        better.

    max_deferral : float in [0, 1] or dict, default=None
        Largest share of the samples to ask about: minimize the risk. It is fewer if
        more would do harm, which is when the risk exceeds the least one within that
        share by more than one standard error of the difference.

    target_risk : float >= 0 or dict, default=None
        Bound on the expected loss of the whole system over all samples: minimize the
        deferred share. It is met on the calibration set. If it must hold on new data,
        set `confidence_level`.

    group_by : "prediction", column or callable, default=None
        Groups of samples, each with its own rule, so that the target holds in every
        group: "prediction" is the label by the first classifier, a str or an int the
        name or position of a column of X, and a callable is ``X -> (n_samples,)``.
        Targets may then be dicts of group to value. With a `confidence_level`, the
        targets of all groups hold together with that probability. Samples of a group
        that `fit` has not seen are deferred, with a warning.

    gain_score : {"auto", "confidence", "error_probability", "gain"}, name of an \
            uncertainty score, score object or callable, default="auto"
        Score that ranks the samples, higher = deferred first. "confidence" is the
        conditional risk if the first classifier has `predict_proba`, otherwise the
        margin. "error_probability" is the learned risk of the first, for the 0/1 loss,
        "loss_regression" for any loss, and "gain" is the learned difference of both
        risks, from out-of-sample predictions. "auto" is "confidence", and "gain" if its
        out-of-fold area under the deferral curve is smaller by more than chance, or if
        the classifier has no confidence; with fewer than 1,000 samples, that is not
        tried. A callable is ``(estimator, X) -> (n_samples,)``.

    loss : {"zero_one", "absolute", "squared"}, {array-like, dataframe} of shape \
            (n_classes, n_classes) or callable, default="zero_one"
        Cost of a wrong label, lower is better. A matrix has true labels by row and
        predicted labels by column, both in sorted order; a data frame is read by its
        labels. A callable is ``(y_true, y_pred) -> (n_samples,)``.

    confidence_level : float in (0, 1), default=None
        Probability, over the draw of the calibration set, that `target_risk` or
        `max_deferral` holds for the population. None calibrates without such a
        guarantee. Needs samples on which neither classifier, expert nor gain was
        fitted: the share that `cv` holds out, or those given with frozen parts and
        ``gain_score="confidence"``.

    max_loss : float > 0, default=None
        Largest possible loss, in units of the loss. Needed to certify a `target_risk`
        if the loss is neither "zero_one" nor a matrix: labels that are not in y may
        cost more than those that are.

    max_weight : float > 0, default=None
        Largest possible `sample_weight` over `inclusion_proba` of `fit`, fixed before
        the samples are drawn. Required where rows count unequally under a promise: with
        `confidence_level`.

    randomize : bool, default=True
        Whether samples at the threshold are deferred with a probability such that a
        risk or share is met exactly in expectation, over the seeds of `fit`. Samples
        with equal values get the same decision, unless they have different `keys`. If
        False, samples at the threshold are deferred for a `target_risk` and kept for a
        `max_deferral`.

    cv : int, float, splitter, iterable or None, default=None
        Selects the predictions to calibrate on. An int or a splitter pools out-of-fold
        predictions and fits both on all samples afterwards. A float holds that share of
        the samples out, and both are fitted on the rest. None is five stratified folds,
        or fewer if no class has five members. But half of the samples are held out with
        a `confidence_level`, which needs them, and where the gains of folds are coarse,
        as those of shallow trees are. A learned gain is learned from the same
        predictions, or from five folds of the rest if a share is held out. Each
        calibration sample gets a gain that was learned without it.

    n_jobs : int, default=None
        Number of folds fitted in parallel.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws at the threshold, of the held-out samples, and of a learned
        gain without its own `random_state`. The seed is drawn once in `fit`. Afterwards
        the decision for a sample depends on this sample only.

    defer_label : "auto", None or label, default="auto"
        Label that `predict` returns for samples that a person must answer. "auto" is -1
        for numeric classes, the smallest class minus 1 where -1 is a class, and "defer"
        for strings (``"defer_"`` where "defer" is a class). None makes `predict` return
        the label of the first classifier there.

    Attributes
    ----------
    estimator_ : estimator
        The fitted first classifier.

    expert_ : estimator, callable or None
        The fitted expert, None for a person.

    rule_ : DeferralRule or, with `group_by`, GroupedDeferralRule
        Threshold on the gain, probability of deferral at it, the share deferred and the
        risks of the system and of both opinions on the predictions that solved it, of
        how many of them the expert's answer was known, and the certificate of a
        `confidence_level`; with groups, those of each in ``rule_.rules``.

    gain_score_ : score object
        The score, fitted.

    areas_ : dict of str to float
        Area under the deferral curve, out of fold, of each score that "auto" has chosen
        from; empty where there was nothing to choose.

    group_by_ : str, int, callable or None
        What finds the groups of samples.

    calibration_ : DeferralCalibration
        `gain`, `predictions`, `expert_labels`, `loss_first`, `loss_second`,
        `cost_second`, `rows`, `sample_weight` and `groups` out of sample that the rule
        was solved on, for `retarget`.

    loss_ : TaskLoss
        The loss.

    defer_label_ : label or None
        Label that `predict` returns for samples that a person must answer.

    seed_ : int
        Seed of the draws at the threshold.

    classes_ : ndarray of shape (n_classes,)
        Class labels: those of y, of the first classifier and of the expert.

    n_features_in_ : int
        Number of features, if the first classifier knows it.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the first classifier knows them.

    See Also
    --------
    SelectiveClassifier : Rejects samples, without a second opinion that learns where
        asking helps.
    sklearn_reject.selection.solve_deferral : The rule, from logged scores and losses.
    sklearn_reject.metrics.deferral_curve : System risk against the share deferred.

    References
    ----------
    H. Mozannar, D. Sontag. Consistent Estimators for Learning to Defer to an Expert.
    ICML, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.svm import SVC
    >>> from sklearn_reject import DeferringClassifier
    >>> X_train, X_test, y_train, y_test = train_test_split(
    ...     *load_digits(return_X_y=True), test_size=0.5, random_state=0)
    >>> model = DeferringClassifier(
    ...     GaussianNB(), SVC(), max_deferral=0.3, gain_score="confidence")
    >>> model = model.fit(X_train, y_train)
    >>> deferred = model.defer(X_test)
    >>> round(float(deferred.mean()), 2)
    0.31
    >>> first, system = model.predict_first(X_test), model.predict(X_test)
    >>> [round(float((labels == y_test).mean()), 2) for labels in (first, system)]
    [0.83, 0.95]
    """

    _targets, _default_target = DEFERRAL_TARGETS, DeferralCost(0.0)
    __metadata_request__fit = OF_SAMPLING

    expert_: Any
    rule_: DeferralRule | Other
    gain_score_: UncertaintyScore | Other
    areas_: dict[str, float]
    group_by_: GroupBy | None
    calibration_: DeferralCalibration
    loss_: TaskLoss
    defer_label_: Any
    seed_: int
    classes_: np.ndarray

    def __init__(
        self,
        estimator: Estimator,
        expert: Estimator | Callable[..., Any] | None = None,
        *,
        deferral_cost: Target | None = None,
        max_deferral: Target | None = None,
        target_risk: Target | None = None,
        group_by: Literal["prediction"] | GroupBy | None = None,
        gain_score: Literal["confidence", "gain"] | UncertaintyScoreLike = "auto",
        loss: TaskLossLike = "zero_one",
        confidence_level: float | None = None,
        max_loss: float | None = None,
        max_weight: float | None = None,
        randomize: bool = True,
        cv: CV | None = None,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
        defer_label: Label = "auto",
    ) -> None:
        self.estimator = estimator
        self.expert = expert
        self.deferral_cost = deferral_cost
        self.max_deferral = max_deferral
        self.target_risk = target_risk
        self.group_by = group_by
        self.gain_score = gain_score
        self.loss = loss
        self.confidence_level = confidence_level
        self.max_loss = max_loss
        self.max_weight = max_weight
        self.randomize = randomize
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.defer_label = defer_label

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        expert_labels: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit both classifiers and tune the deferral rule.

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

        expert_labels : array-like of shape (n_samples,), default=None
            What the expert says about each sample, missing (NaN, None, NA or masked)
            where nobody was asked, which should be at random; a code such as -1 that is
            no class is refused. Needed where a person is the last one to be asked. Of a
            frozen expert they stand for its predictions, which `fit` then does not ask
            for; one that is fitted here takes none, unless it asks a person.

        **params : dict
            Parameters for the `fit` of the first classifier, indexed by sample where
            they are as long as X. With metadata routing, parameters, weights and labels
            among them, go where they are requested.
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
            If no threshold attains `target_risk` or, with a confidence, none can be
            certified. With `group_by`, only if that is so in all groups. Its
            `attainable` has what can be met.
        ExpertError
            If a frozen expert fails, with the rows of X that it was asked about.
        ValueError
            If a parameter is invalid, two targets are given, or labels of the expert
            are missing, or given to one that is fitted.
        """
        # Ask: all that can be wrong is found before anything is fitted or asked.
        target = find_target(self)
        check_inner(self, "classifier")
        check_expert(self.expert)
        check_option(self.randomize, "randomize", (True, False))
        params |= {"sample_weight": sample_weight, "expert_labels": expert_labels}
        given = self, X, y, params, check_class_labels, route_to_both
        samples, params = read_sampled(*given)
        X, y, expert_labels = samples.X, samples.y, params["expert_labels"]
        classes = np.union1d(find_classes(self.estimator, y), y)
        known = _join_classes(classes, self.expert)
        labels = read_labels_of_fit(expert_labels, len(y), known, self.expert)
        words = {"name": "defer_label", "automatic": "defer"}
        defer_label = resolve_reject_label(self.defer_label, known, **words)
        groups = find_groups(self, X, classes)
        loss = check_loss(self.loss, labels=classes)
        score_seed, row_seed = draw_seeds(self.random_state)
        options = {"n_samples": len(y), "loss": loss, "random_state": score_seed}
        scores = resolve_gain(self.gain_score, self.estimator, **options)
        gains = Gains.of(scores, loss, classes)
        learns = gains.learns or not is_fixed(self.expert)
        check_cv_choice(self, learns=learns or is_word(self.gain_score, "auto"))
        problem = Problem(target, groups, loss, gains, row_seed)
        problem = problem.posed_by(self, samples, classes)

        # Plan: what is promised is about samples that are drawn independently.
        stratify = self.confidence_level is None
        plan = plan_fits(self, samples, learns=learns, stratify=stratify)

        # Evaluate
        evaluated = evaluate_gains(self, gains, labels, samples, plan)
        warn_of_lost_classes(self, evaluated.estimator, classes)
        classes = _join_classes(classes, evaluated.expert)
        _warn_of_unknown_labels(evaluated.calibration.expert_labels, classes)
        draws = draws_of(evaluated, samples, row_seed)
        calibration = replace(evaluated.calibration, draws=draws, grouping=groups)
        if groups is not None:
            calibration = groups.add_to(calibration)

        # Solve and store
        fitted = {"expert_": evaluated.expert, "gain_score_": evaluated.score.score}
        fitted |= {"areas_": evaluated.areas, "classes_": classes}
        fitted["defer_label_"] = defer_label
        return solve_and_store(self, problem, evaluated, samples, calibration, **fitted)

    def _solve(self, problem, calibration):
        """Return the attribute that the rule of a problem is kept in."""
        target, groups, level = problem.target, problem.groups, self.confidence_level
        options = problem.options(level, calibration, self)
        samples, known, pilot = calibration.samples, {}, calibration.pilot
        if groups is not None:
            known = {"groups": calibration.groups}
            options |= {**known, "all_groups": groups.known}
        if level is not None and pilot is not None:
            options["pilot"] = pilot.gain, pilot.loss_first, pilot.loss_second
            if groups is not None:
                options["pilot"] += (groups.of_rows(pilot.predictions, pilot.rows),)
        is_cost = isinstance(target, DeferralCost)
        if is_cost:
            # A learned gain could be compared with the cost as it is. On six real sets,
            # with four draws and four costs, the best cut saves as much with 100
            # samples, and more with 1,000: .0039 of the loss of the better opinion
            # alone, instead of .0022. What the expert asks in turn counts, too.
            samples["loss_second"] = calibration.loss_second + calibration.cost_second
        rule = target.solve(samples, options)
        if is_cost:
            with gather_warnings():  # of what the solver has said
                rule = rule.measure(**calibration.samples, **known)
        # A bound on the risk, or on the share, may be why nothing is deferred.
        is_bound = target.bounds_losses or level is not None or max(target.values) == 0
        if is_cost or not is_bound:
            _warn_of_useless_expert(rule)
        return {"rule_": rule}

    def retarget(self, **target: Any) -> Self:
        """Return a copy with a rule for another target, without another fit.

        The rule is solved on `calibration_`, and is the one that `fit` would have
        found. The copy shares everything that is fitted.

        Parameters
        ----------
        **target : dict
            One of `deferral_cost`, `max_deferral` and `target_risk` in place of what
            was asked for in `fit`; and `confidence_level`, `max_loss`, `max_weight`,
            `randomize` or `group_by`, which stay as they are where they are not given.
            Of columns and callables, `group_by` may only be the one of `fit`.

        Returns
        -------
        estimator : object
            The copy. With a `confidence_level`, each of several certificates from the
            same samples holds with that probability, but not all of them at once.

        Raises
        ------
        InfeasibleTargetError
            If no threshold attains what is asked for.
        TypeError
            If anything else is to be changed.
        ValueError
            If a parameter is invalid.
        """
        return retarget(self, target)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to `fit`, both estimators and the splitter.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        parts = {"estimator": self.estimator}
        if self.expert is not None and hasattr(self.expert, "fit"):
            parts["expert"] = self.expert
        return route_of_fit(self, **parts)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        parts = self.estimator, self.expert
        for part in (get_tags(x) for x in parts if hasattr(x, "__sklearn_tags__")):
            tags.input_tags.sparse &= part.input_tags.sparse
            tags.input_tags.allow_nan &= part.input_tags.allow_nan
            if part.classifier_tags is not None:
                tags.classifier_tags.multi_class &= part.classifier_tags.multi_class
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "rule_")


def _join_classes(classes, expert):
    """Return all classes in order, those that only the expert knows among them."""
    known = np.asarray(getattr(expert, "classes_", classes))
    is_alike = known.dtype.kind == classes.dtype.kind
    return np.union1d(classes, known) if is_alike else classes


def _warn_of_useless_expert(rule):
    """Warn of an expert who is no better than the first, wherever it is asked."""
    # Nobody is missed where the first makes no error.
    if not min(rule.second_risk, rule.system_risk) >= rule.first_risk > 0:
        return
    what = "Nothing is deferred, as no part of high gain is worth the cost of asking"
    way_out = ""
    if rule.deferral_rate > 0:
        what = f"Deferring {rule.deferral_rate:.3g} of the samples saves nothing"
        way_out = "a smaller max_deferral, "
    warn_user(
        f"{what}: on the calibration set the expert has risk {rule.second_risk:.3g} "
        f"and the first classifier {rule.first_risk:.3g}. Use another expert, {way_out}"
        "or more samples to learn where this one is better.",
        once=True,
    )


def _warn_of_unknown_labels(labels, classes):
    """Warn where the expert says what is no class, which counts as a wrong label."""
    known = {*classes.tolist(), None}
    unknown = [label for label in labels if label not in known]
    if unknown:
        warn_user(
            f"The expert returned {enumerate_labels(dict.fromkeys(unknown))} about "
            f"{len(unknown)} of {len(labels)} samples, which is not a class and counts "
            "as a wrong label. Use None for labels that a person does not know, "
            "reject_label=None for an expert that rejects samples itself, and a "
            "DeferringClassifier with expert=None for one that defers to a person.",
            once=True,
        )
