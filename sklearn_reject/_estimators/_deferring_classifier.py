"""The classifier that asks a second opinion where that is worth it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter

from sklearn_reject._curves._deferral import deferral_area_score
from sklearn_reject._estimators._base import (
    BaseWrapper,
    check_class_labels,
    check_keys,
    draw_rows,
    find_classes,
    read_samples,
    warn_of_lost_classes,
)
from sklearn_reject._estimators._deferral_rules import (
    check_expert,
    check_expert_labels,
    deferral_calibration_of,
    solve_deferral_rule,
    warn_of_unknown_labels,
)
from sklearn_reject._estimators._groups import find_groups, is_word, labels_of
from sklearn_reject._estimators._problem import Problem, retarget, solve_and_store
from sklearn_reject._estimators._report import Report, report_deferral
from sklearn_reject._estimators._targets import (
    DEFERRAL_TARGETS,
    DeferralCost,
    find_target,
)
from sklearn_reject._fitting._deferral import (
    DeferralCalibration,
    Gains,
    evaluate_deferral,
)
from sklearn_reject._fitting._experts import (
    Answers,
    Consultation,
    ask,
    asks_person,
    consult,
    is_fixed,
    read_labels,
)
from sklearn_reject._fitting._folds import Samples
from sklearn_reject._fitting._out_of_sample import avoid_coarse_scores
from sklearn_reject._fitting._routing import (
    check_inner,
    draw_seeds,
    route_of_fit,
    route_to_both,
)
from sklearn_reject._fitting._splits import check_cv_choice, plan_fits
from sklearn_reject._labels import mark_rejected, merge_labels, resolve_reject_label
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import (
    _num_samples,
    available_if,
    take_rows,
    with_callbacks,
)
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
from sklearn_reject._validation import check_option, index_labels, require_in_memory
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.losses import TaskLoss, check_loss, losses_where_known
from sklearn_reject.scores import UncertaintyScore, evaluate_score, resolve_gain
from sklearn_reject.selection import DeferralRule, targets_by_group


class DeferralDecisions(NamedTuple):
    """What a deferring classifier says about samples, all of it.

    The arrays have one entry per sample, so that
    ``pandas.DataFrame(decisions._asdict())`` is a table of them.

    Attributes
    ----------
    label : ndarray of shape (n_samples,)
        The label of each sample, by whoever answers; `defer_label_` where that is a
        person.

    gain : ndarray of shape (n_samples,)
        Score of what asking gains, higher = deferred first.

    deferred : ndarray of shape (n_samples,), dtype bool
        Whether the expert is asked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.svm import SVC
    >>> from sklearn_reject import DeferralDecisions, DeferringClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DeferringClassifier(GaussianNB(), SVC(), max_deferral=0.1).fit(X, y)
    >>> decisions = model.predict_all(X[[0, 77]])
    >>> isinstance(decisions, DeferralDecisions)
    True
    """

    label: np.ndarray
    gain: np.ndarray
    deferred: np.ndarray


def _both_have_probabilities(self):
    """Tell `available_if` whether classifier and expert have `predict_proba`."""
    parts = ("estimator_", self.estimator), ("expert_", self.expert)
    found = (getattr(self, name, given) for name, given in parts)
    return all(part is None or part.predict_proba for part in found)


class DeferringClassifier(ClassifierMixin, BaseWrapper):
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
        (n_samples,)`` is only asked: in `fit` about all samples that tune the rule,
        those that train a gain, and those of a pilot if a target is certified on a
        held-out share. Another :class:`DeferringClassifier` makes a cascade. None is a
        person, whose labels `fit` gets as `expert_labels`.

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
        deferred share. It is met on the samples that tune the rule. If it must hold on
        new data, set `confidence_level`.

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

    confidence_level : float in ]0, 1[, default=None
        Probability, over the draw of the samples that tune the rule, that `target_risk`
        or `max_deferral` holds for the population. None tunes the rule on the samples
        without such a guarantee. Needs samples on which neither classifier, expert nor
        gain was fitted: the share that `cv` holds out, or those given with frozen parts
        and ``gain_score="confidence"``.

    max_loss : float > 0, default=None
        Largest possible loss, in units of the loss. Needed to certify a `target_risk`
        if the loss is neither "zero_one" nor a matrix: labels that are not in y may
        cost more than those that are.

    randomize : bool, default=True
        Whether samples at the threshold are deferred with a probability such that a
        risk or share is met exactly in expectation, over the seeds of `fit`. Samples
        with equal values get the same decision, unless they have different `keys`. If
        False, samples at the threshold are deferred for a `target_risk` and kept for a
        `max_deferral`.

    cv : int, float, splitter, iterable or None, default=None
        Selects the predictions that tune the rule. An int or a splitter pools
        out-of-fold predictions and fits both on all samples afterwards. A float holds
        that share of the samples out, and both are fitted on the rest. None is five
        stratified folds, or fewer if no class has five members. But half of the samples
        are held out with a `confidence_level`, which needs them, and where the gains of
        folds are coarse, as those of shallow trees are. A learned gain is learned from
        the same predictions, or from five folds of the rest if a share is held out.
        Each sample that tunes the rule gets a gain that was learned without it.

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
    _solve = solve_deferral_rule
    _score_name, _share_name, _verb = "gain_score_", "deferral_rate", "defers"

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
            Class labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the samples that tune the decisions, except the items
            of a set, which are counted.

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
        target = find_target(self)
        check_inner(self, "classifier")
        check_expert(self.expert)
        check_option(self.randomize, "randomize", (True, False))
        params |= {"sample_weight": sample_weight, "expert_labels": expert_labels}
        X, y = read_samples(X, y, params, check_class_labels)
        classes = np.union1d(find_classes(self.estimator, y), y)
        known = _join_classes(classes, self.expert)
        labels = check_expert_labels(self.expert, expert_labels, y, known)
        samples = Samples(X, y, *route_to_both(self, len(y), params))

        names = {"name": "defer_label", "automatic": "defer"}
        defer_label = resolve_reject_label(self.defer_label, known, **names)
        groups = find_groups(self, X, classes)
        loss = check_loss(self.loss, labels=classes)
        score_seed, row_seed = draw_seeds(self.random_state)
        options = {"n_samples": len(y), "loss": loss, "random_state": score_seed}
        scores = resolve_gain(self.gain_score, self.estimator, **options)
        gains = Gains(scores, loss, classes)
        learns = gains.learns or not is_fixed(self.expert)
        check_cv_choice(self, learns=learns or is_word(self.gain_score, "auto"))
        problem = Problem(target, groups, loss, gains, row_seed)
        problem = problem.posed_by(self, samples.sample_weight, classes)

        # What is promised is about samples that are drawn independently.
        is_certified = self.confidence_level is not None
        plan = plan_fits(self, samples, learns=learns, stratify=not is_certified)
        needs_pilot = is_certified and not isinstance(plan.final, slice)
        given = self, gains, Consultation(loss, labels), samples, needs_pilot
        evaluate = partial(evaluate_deferral, *given)
        evaluated = avoid_coarse_scores(evaluate, plan, samples, self.random_state)
        warn_of_lost_classes(self, evaluated.estimator, classes)
        calibration = deferral_calibration_of(evaluated, samples, row_seed, groups)
        classes = _join_classes(classes, evaluated.expert)
        warn_of_unknown_labels(calibration, classes)
        fitted = {"expert_": evaluated.expert, "gain_score_": evaluated.score.score}
        fitted |= {"areas_": evaluated.areas, "classes_": classes}
        fitted["defer_label_"] = defer_label
        return solve_and_store(self, problem, evaluated, samples, calibration, **fitted)

    def predict(self, X: MatrixLike, keys: ArrayLike | None = None) -> np.ndarray:
        """Predict labels; the expert predicts those of deferred samples.

        The expert is asked once, about the deferred samples and no others, and not at
        all where there are none.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            What the draws at the threshold depend on, as in :meth:`defer`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels, `defer_label_` for samples that a person has to answer, in a dtype
            that holds all of them.

        Raises
        ------
        ExpertError
            If the expert fails. It has the rows that the expert was asked about, and
            all other labels.
        """
        return self.predict_all(X, keys).label

    def predict_first(self, X: MatrixLike) -> np.ndarray:
        """Predict labels of all samples with the first classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        self._require_fit()
        return Response(self.estimator_, X).labels

    def predict_all(
        self, X: MatrixLike, keys: ArrayLike | None = None
    ) -> DeferralDecisions:
        """Return predictions, the gain of asking, and which samples are deferred.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            What the draws at the threshold depend on, as in :meth:`defer`.

        Returns
        -------
        decisions : DeferralDecisions
            A named tuple of `label`, `gain` and `deferred`, arrays with one
            entry per sample.

        Raises
        ------
        ExpertError
            If the expert fails. It has the rows that the expert was asked about, and
            all other labels.
        """
        labels, gain, deferred = self._decide(X, keys)
        answers = self._ask(X, labels, deferred)
        labels, marks = answers.labels, self.defer_label_
        if marks is not None and asks_person(self.expert_):
            labels = mark_rejected(labels, ~answers.is_open, marks)
        return DeferralDecisions(labels, gain, deferred)

    @available_if(_both_have_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return class probabilities by whoever answers.

        Those of a sample that a person has to answer are those of the last classifier
        before.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`, zero for classes that whoever answers
            does not know.

        Raises
        ------
        ExpertError
            If the expert fails. It has the rows that the expert was asked about.
        """
        self._require_fit()
        response = Response(self.estimator_, X)
        # The probabilities come first: labels may follow from them without a pass.
        own = response.probabilities
        probabilities = self._align(own, self.estimator_)
        _, _, deferred = self._decide(X, None, response)
        rows = np.flatnonzero(deferred)
        if self.expert_ is not None and len(rows):
            asked = ask(self.expert_, _take(X, rows), rows, "probabilities")
            probabilities[rows] = self._align(asked, self.expert_)
        return probabilities

    def defer(self, X: MatrixLike, keys: ArrayLike | None = None) -> np.ndarray:
        """Return which samples the expert would be asked about, without asking it.

        A sample at the threshold is deferred or not by a draw that depends on the
        fitted `seed_` and on the sample alone: the answer is the same in every call,
        whatever the other samples are.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            An integer or text for each sample, such as its identifier, that the draw
            depends on instead of the values in X: samples of equal values then have
            independent draws, at this level of a cascade. Not where the rule has a
            certificate.

        Returns
        -------
        deferred : ndarray of shape (n_samples,), dtype bool
            Whether the expert is to be asked.
        """
        return self._decide(X, keys)[2]

    def defer_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the probability that each sample is deferred.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            0 or 1 except for samples at the threshold; over the seeds of `fit`, or over
            samples of different `keys`.
        """
        labels, gain = self._evaluate(X)
        return self._probability(X, labels, gain)

    def gain(self, X: MatrixLike) -> np.ndarray:
        """Return the gain of asking the expert, or a score that ranks samples by it.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        gain : ndarray of shape (n_samples,)
            Higher = deferred first. In units of the loss where `gain_score_` is a
            learned gain.
        """
        return self._evaluate(X)[1]

    def retarget(self, **target: Any) -> Self:
        """Return a copy with a rule for another target, without another fit.

        The rule is solved on `calibration_`, and is the one that `fit` would have
        found. The copy shares everything that is fitted.

        Parameters
        ----------
        **target : dict
            One of `deferral_cost`, `max_deferral` and `target_risk` in place of what
            was asked for in `fit`; and `confidence_level`, `max_loss`, `randomize` or
            `group_by`, which stay as they are where they are not given. Of columns and
            callables, `group_by` may only be the one of `fit`.

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

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        expert_labels: ArrayLike | None = None,
    ) -> float:
        """Return the negative area under the deferral curve.

        It tells how well the gain orders the samples, and how good both opinions are,
        whatever the threshold. The expert is asked about all samples, unless labels
        stand for its answers.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            True labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        expert_labels : array-like of shape (n_samples,), default=None
            What a person, or a frozen expert, says about each sample, as in
            :meth:`fit`. Samples where it is missing are left out.

        Returns
        -------
        score : float
            At most zero, higher is better.
        """
        require_in_memory(
            X=X, y=y, sample_weight=sample_weight, expert_labels=expert_labels
        )
        X, y = indexable(X, y)
        first, second, gain = self._opinions(X, expert_labels)
        return -deferral_area_score(
            gain,
            self.loss_(y, first),
            losses_where_known(self.loss_, y, second, "expert_labels"),
            sample_weight=sample_weight,
        )

    def report(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        expert_labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        confidence_level: float = 0.95,
    ) -> Report:
        """Compare what was asked for with what new samples show.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples that `fit` has not seen.

        y : array-like of shape (n_samples,)
            True labels.

        expert_labels : array-like of shape (n_samples,), default=None
            What a person says about each sample; only those of samples that reach the
            person are used. Some may be missing: intervals then allow them any loss.
            Without any, the report has the shares and the risks of those who have
            answered, and no verdict on what depends on the person.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, with which all intervals are approximate.

        confidence_level : float in ]0, 1[, default=0.95
            Probability of each interval by itself, over the draw of the samples, which
            are drawn one by one.

        Returns
        -------
        report : Report
            Prints as a table: each promise with what was achieved on the samples that
            solved the rule and on these, and, for all samples and for each level of a
            cascade, the share that is answered there, the risk of these answers and
            what asking has cost. Its `to_dict` has the same as dictionaries.

        Raises
        ------
        ValueError
            If an argument is invalid.
        """
        fitted, given = self._as_fitted(), {"expert_labels": expert_labels}
        given["sample_weight"] = sample_weight
        X, y = read_samples(X, y, given, check_class_labels)
        if expert_labels is not None:
            if not asks_person(self.expert_):
                self._refuse_labels()
            expert_labels = read_labels(expert_labels, len(y), self.classes_)
        options = expert_labels, sample_weight, confidence_level
        return report_deferral(fitted, X, y, *options)

    def _evaluate(self, X, response=None):
        """Return labels of the first classifier, and gains, of one pass."""
        self._require_fit()
        response = Response(self.estimator_, X) if response is None else response
        return evaluate_score(self.gain_score_, response, "gain_score")

    def _probability(self, X, labels, gain):
        """Return how likely samples of these first labels and gains are deferred."""
        if self.group_by_ is not None:
            return self.rule_.defer_proba(gain, labels_of(self.group_by_, X, labels))
        return self.rule_.defer_proba(gain)

    def _decide(self, X, keys=None, response=None):
        """Return first labels, gains, and which samples are deferred."""
        self._require_fit()
        keys = check_keys(X, keys, self.rule_)
        labels, gain = self._evaluate(X, response)
        probability = self._probability(X, labels, gain)
        deferred = draw_rows(probability, self._fitted_columns(X), keys, self.seed_)
        return labels, gain, deferred

    def _answer_all(self, X):
        """Return :class:`Answers`, for what asks this classifier."""
        labels, _, deferred = self._decide(X)
        return self._ask(X, labels, deferred)

    def _ask(self, X, labels, deferred):
        """Return :class:`Answers`: labels of the expert where samples are deferred."""
        rows = np.flatnonzero(deferred)
        levels, costs = (
            deferred.astype(np.intp),
            np.zeros((len(labels), len(self._names) - 1)),
        )
        costs[rows, 0] = self._unit_costs(X, labels)[rows]
        if labels.dtype.kind == self.classes_.dtype.kind:
            labels = labels.astype(np.result_type(labels, self.classes_), copy=False)
        if self.expert_ is None or not len(rows):
            return Answers(labels, levels, costs, deferred & (self.expert_ is None))
        try:
            found = ask(self.expert_, _take(X, rows), rows)
        except ExpertError as error:
            if error.labels is not None:  # of a cascade, whose others have answered
                labels = merge_labels(labels, rows, error.labels)
            if self.defer_label_ is not None:
                has_label = ~np.isin(np.arange(len(labels)), error.rows)
                labels = mark_rejected(labels, has_label, self.defer_label_)
            raise ExpertError(str(error), error.rows, labels) from error.__cause__
        levels[rows] += found.levels
        costs[rows, 1:] = found.costs
        is_open = np.zeros(len(labels), dtype=bool)
        is_open[rows] = found.is_open
        return Answers(merge_labels(labels, rows, found.labels), levels, costs, is_open)

    def _unit_costs(self, X, labels):
        """Return what asking about each sample costs, be it done or not."""
        cost = self._asked["deferral_cost"]
        if not isinstance(cost, Mapping):
            return np.full(len(labels), 0.0 if cost is None else float(cost))
        costs = targets_by_group(cost, tuple(self.rule_.rules), "deferral_cost")
        groups = labels_of(self.group_by_, X, labels)
        # Of groups that are not known, all samples are deferred, at no known cost.
        return np.array([costs.get(group, np.nan) for group in groups])

    @property
    def _names(self):
        """The name of whoever answers, at each level."""
        last = "person" if self.expert_ is None else _name(self.expert_)
        return [_name(self.estimator_), *getattr(self.expert_, "_names", [last])]

    def _opinions(self, X, expert_labels=None):
        """Return labels of both for all samples, and the gain of asking."""
        labels, gain = self._evaluate(X)
        if expert_labels is not None:
            if not (is_fixed(self._asked["expert"]) or asks_person(self.expert_)):
                self._refuse_labels()
            expert_labels = read_labels(expert_labels, len(gain), self.classes_)
        rows = np.arange(len(gain))
        return labels, consult(self.expert_, X, rows, expert_labels)[0], gain

    def _refuse_labels(self):
        raise ValueError(
            f"expert_labels were given, but the expert {self._asked['expert']!r} is "
            "not a person and is asked here. Omit expert_labels."
        )

    def _align(self, probabilities, estimator):
        """Return probabilities in columns of `classes_`."""
        places, unknown = index_labels(np.asarray(estimator.classes_), self.classes_)
        aligned = np.zeros((len(probabilities), len(self.classes_)))
        aligned[:, places[~unknown]] = np.asarray(probabilities)[:, ~unknown]
        return aligned

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
        parts = [get_tags(x) for x in parts if hasattr(x, "__sklearn_tags__")]
        for name in ("sparse", "allow_nan"):
            both = all(getattr(part.input_tags, name) for part in parts)
            setattr(tags.input_tags, name, both)
        tags.classifier_tags.multi_class = all(
            part.classifier_tags is None or part.classifier_tags.multi_class
            for part in parts
        )
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "rule_")


def _join_classes(classes, expert):
    """Return all classes in order, those that only the expert knows among them."""
    known = np.asarray(getattr(expert, "classes_", classes))
    is_alike = known.dtype.kind == classes.dtype.kind
    return np.union1d(classes, known) if is_alike else classes


def _take(X, rows):
    """Return some rows of samples, without a copy where these are all."""
    return X if len(rows) == _num_samples(X) else take_rows(X, rows)


def _name(estimator):
    """Return the name of what is inside pipelines."""
    while isinstance(estimator, FrozenEstimator) or hasattr(estimator, "steps"):
        is_frozen = isinstance(estimator, FrozenEstimator)
        estimator = estimator.estimator if is_frozen else estimator.steps[-1][1]
    return getattr(estimator, "__name__", type(estimator).__name__)
