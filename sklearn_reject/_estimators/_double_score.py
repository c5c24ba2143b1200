"""The classifier that rejects what is ambiguous and what is novel by one rule."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator

from sklearn_reject._curves._prefixes import make_finite
from sklearn_reject._curves._risk_coverage import aurc_score
from sklearn_reject._estimators._base import (
    RejectClassifier,
    check_class_labels,
    find_classes,
    read_samples,
    takes_sparse,
    warn_of_lost_classes,
)
from sklearn_reject._estimators._calibration import warn_of_coarse_scores
from sklearn_reject._estimators._ood_target import (
    OODCalibration,
    OODTarget,
    keep_calibration,
)
from sklearn_reject._estimators._report import report_ood
from sklearn_reject._fitting._folds import (
    RiskAndNovelty,
    Samples,
    evaluate_both,
    losses_inside,
)
from sklearn_reject._fitting._out_of_sample import evaluate_for_threshold
from sklearn_reject._fitting._routing import check_inner, draw_seeds, route_params
from sklearn_reject._fitting._splits import (
    Plan,
    check_cv_choice,
    inner_folds,
    plan_fits,
)
from sklearn_reject._labels import Origins, resolve_reject_label
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import with_callbacks
from sklearn_reject._typing import (
    CV,
    Estimator,
    Label,
    MatrixLike,
    NoveltyScoreLike,
    Other,
    RandomState,
    TaskLossLike,
    UncertaintyScoreLike,
)
from sklearn_reject._validation import (
    check_sample_weight,
    require_in_memory,
    take_weight,
)
from sklearn_reject.losses import check_loss
from sklearn_reject.scores import NoveltyScore, resolve_novelty, resolve_score
from sklearn_reject.selection import MODEL_PARAMETERS, DoubleScoreRule, Report

# What may be asked for beside `min_tpr`, one of them.
_BESIDE = {"max_fpr", "max_risk", "min_precision"}


class DoubleScoreOODClassifier(RejectClassifier):
    """Classifier that rejects ambiguous and out-of-distribution samples by one rule.

    It wraps a classifier and combines two scores: how likely the prediction is wrong,
    r(x), and how novel the sample is, g(x). A sample is accepted where ``r(x) + mu
    g(x)`` is below a threshold. Weight and threshold solve one of four models (FPP23):
    bounds on the shares of in-distribution (ID) and out-of-distribution (OOD) samples
    that are accepted (TPR and FPR), on the TPR and the risk, on precision and recall
    (the TPR), or costs. Of the rules that meet two bounds and have, up to one standard
    error, the lowest loss on accepted ID samples, the one that accepts the fewest OOD
    samples is taken. With `min_tpr` alone an accepted OOD sample is an error, and the
    risk of all that is accepted is lowest.

    OOD samples are rows of `y` with `ood_label`. They calibrate the rule and are never
    shown to the classifier. Unlabeled rows, of which some are OOD, can stand in for
    them, and `min_tpr` alone needs neither.

    Read more in the :ref:`user guide <ood>`.

    Parameters
    ----------
    estimator : estimator
        Classifier with `fit` and `predict`. A :class:`~sklearn.frozen.FrozenEstimator`
        is not fitted again, and the data given to `fit`, which it must not have seen,
        only calibrate the rule and the scores.

    min_tpr : float in (0, 1], default=None
        Smallest share of ID samples to accept. Without a bound beside it, an accepted
        OOD sample loses as much as the largest loss of the ID samples, and the mean
        loss of all that is accepted is minimized. Without OOD samples the share is met
        exactly, with risk and novelty combined by equal weights.

    max_fpr : float in [0, 1], default=None
        Beside `min_tpr`: largest share of OOD samples to accept. With 1 it does not
        matter how many are.

    max_risk : float >= 0, default=None
        Instead of `max_fpr`: largest selective risk, in units of the loss. Of the rules
        that meet it, the one that accepts the fewest OOD samples is taken.

    min_precision : float in (0, 1], default=None
        Beside `min_tpr` (the recall), instead of `max_fpr`: least share of ID samples
        among those that are accepted, where a share `ood_prior` of all samples is OOD.

    costs : tuple of three floats, default=None
        Cost-based model: the costs of rejecting an ID sample, of accepting an OOD
        sample and of rejecting an OOD sample, in units of the loss. The second exceeds
        the third. It takes `ood_prior`.

    ood_prior : float in [0, 1), default=None
        Share of OOD samples among those that `predict` will see. The share among those
        given to `fit` does not matter, but for `min_tpr` alone where this is None.

    uncertainty_score : str, score object or callable, default="auto"
        How likely a prediction is wrong, higher = more likely, as in
        :class:`SelectiveClassifier`. "auto" is the conditional risk, or the margin
        without `predict_proba`. A learned score is learned from out-of-fold
        predictions, within each fold; these inner folds are stratified ones, whatever
        `cv` is.

    novelty_score : {"energy", "gen", "knn", "likelihood_ratio", "mahalanobis", \
            "max_logit", "msp", "odin", "outlier_detector", "react", \
            "relative_mahalanobis", "sirc", "vim"}, score object or callable, \
            default="knn"
        How novel a sample is, higher = more novel. It is fitted on the samples that the
        classifier is fitted on; a frozen score object is not fitted again. A callable
        is ``(estimator, X) -> (n_samples,)``. Samples of infinite novelty are always
        rejected.

    loss : {"zero_one", "absolute", "squared"}, {array-like, dataframe} of shape \
            (n_classes, n_classes) or callable, default="zero_one"
        Cost of a wrong label of an ID sample, lower is better, as in
        :class:`SelectiveClassifier`. A `confidence_level` takes a loss that says how
        large it can be: "zero_one", a cost matrix, or a
        ``sklearn_reject.losses.TaskLoss`` with `max_loss`.

    confidence_level : float in (0, 1), default=None
        Probability, over the draw of a calibration part, that all bounds hold for the
        population. Weight and threshold are tuned on the other samples, then the
        threshold is set anew on this part, the share that `cv` holds out.
        ``rule_.certificate`` includes a bound on the risk.

    cv : int, float, splitter, iterable or None, default=None
        Selects the predictions to calibrate on. An int or a splitter pools out-of-fold
        predictions and scores, and fits everything on all samples afterwards. A float
        holds that share of the samples out. None is five stratified folds, and no folds
        for a frozen classifier with scores that learn nothing. But half of the samples
        are held out with a `confidence_level`, which needs them, and where the scores
        of folds are coarse, as those of shallow trees are.

    n_jobs : int, default=None
        Number of folds fitted in parallel.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws at the threshold, of the held-out samples, and of scores
        without their own `random_state`.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y`. "auto" is -1 for numbers and "ood" for strings; if
        `y` has exactly two labels and -1 is one of them, as in {-1, 1}, it is a class
        and no sample is OOD, with a warning. Strings such as "OOD" are classes, with a
        warning, too. A frozen classifier defines whether -1 is a class. With None no
        sample is OOD.

    wild_label : label, default=None
        Label of unlabeled samples in `y`, which replace OOD samples: data from
        production, of which a share `wild_share` is OOD and the rest is like the ID
        samples.

    wild_share : float in (0, 1], default=None
        Share of OOD samples among those with `wild_label`. With it, the accepted shares
        of these and of the ID samples give the FPR: (P(accepted given wild) - (1 -
        `wild_share`) TPR) / `wild_share`, which may be below zero by chance.

    reject_label : "auto", None or label, default="auto"
        What `predict` returns for rejected samples, as in :class:`SelectiveClassifier`.
        It may be the `ood_label`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.

    rule_ : DoubleScoreRule
        Weights of both scores with their ratio `mu`, threshold, and the TPR, FPR,
        precision and selective risk achieved on the predictions that tuned it. With a
        `confidence_level`, these are of the calibration part, and it has a certificate.
        A
        :class:`~sklearn_reject.selection.TailScoreRule` where the combination is not
        tuned.

    calibration_ : OODCalibration
        What tuned the rule, and what :meth:`retarget` tunes another one on: `scores` of
        shape (n_samples, 2), risk and novelty, `losses`, `is_ood` (or wild), `rows`,
        positions among the samples given to `fit`, and `sample_weight` or None. With a
        `confidence_level`, `held_out` has the same of the calibration part, with the
        `draws` that break ties; else it is None. About 40 bytes per sample.

    uncertainty_score_, novelty_score_ : score object
        The scores, fitted.

    loss_ : TaskLoss
        The loss.

    ood_label_ : label or None
        Label of OOD samples, None where there cannot be any.

    reject_label_ : label or None
        Label that `predict` returns for rejected samples.

    seed_ : int
        Seed of the draws at the threshold.

    classes_ : ndarray of shape (n_classes,)
        Class labels, without that of OOD samples.

    n_features_in_ : int
        Number of features, if the classifier knows it.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the classifier knows them.

    See Also
    --------
    SelectiveClassifier : For samples that all come from the known classes.
    sklearn_reject.metrics.OODFrontierDisplay : Which bounds can be met together.
    sklearn_reject.selection.tune_double_score : The same from arrays of scores.

    References
    ----------
    V. Franc, D. Prusa, J. Paplham. Reject option models comprising out-of-distribution
    detection. 2023.

    Examples
    --------
    Digits 0 to 7 are known, 8 and 9 are novel:

    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_reject import DoubleScoreOODClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> y = np.where(y < 8, y, -1)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> double = DoubleScoreOODClassifier(model, min_tpr=0.8, max_fpr=0.1)
    >>> double = double.fit(X_train, y_train)
    >>> accepted, is_ood = double.accept(X_test), y_test == -1
    >>> print(f"{accepted[~is_ood].mean():.2f} of the known digits accepted, "
    ...       f"{accepted[is_ood].mean():.2f} of the novel ones")
    0.77 of the known digits accepted, 0.00 of the novel ones
    """

    rule_: DoubleScoreRule
    calibration_: OODCalibration
    novelty_score_: NoveltyScore | Other
    ood_label_: Any

    def __init__(
        self,
        estimator: Estimator,
        *,
        min_tpr: float | None = None,
        max_fpr: float | None = None,
        max_risk: float | None = None,
        min_precision: float | None = None,
        costs: tuple[float, float, float] | None = None,
        ood_prior: float | None = None,
        uncertainty_score: UncertaintyScoreLike = "auto",
        novelty_score: NoveltyScoreLike = "knn",
        loss: TaskLossLike = "zero_one",
        confidence_level: float | None = None,
        cv: CV | None = None,
        n_jobs: int | None = None,
        random_state: RandomState | None = None,
        ood_label: Label = "auto",
        wild_label: Label = None,
        wild_share: float | None = None,
        reject_label: Label = "auto",
    ) -> None:
        self.estimator = estimator
        self.min_tpr = min_tpr
        self.max_fpr = max_fpr
        self.max_risk = max_risk
        self.min_precision = min_precision
        self.costs = costs
        self.ood_prior = ood_prior
        self.uncertainty_score = uncertainty_score
        self.novelty_score = novelty_score
        self.loss = loss
        self.confidence_level = confidence_level
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.ood_label = ood_label
        self.wild_label = wild_label
        self.wild_share = wild_share
        self.reject_label = reject_label

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier and both scores, and calibrate the rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            ID and OOD samples.

        y : array-like of shape (n_samples,)
            Class labels, and `ood_label` for OOD or `wild_label` for unlabeled
            samples.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the calibration samples, except the items of a set,
            which are counted.

        **params : dict
            Parameters for the `fit` of the classifier, indexed by sample where they
            are as long as X. With metadata routing, parameters, and weights among them,
            go where they are requested.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        InfeasibleTargetError
            If no rule meets the bounds. Its `attainable` has what can be met.
        ValueError
            If a parameter is invalid, bounds of different models are given, or there
            are no ID samples, or no OOD samples where a bound or a score needs them.
        """
        # Ask: all that can be wrong is found before anything is fitted.
        target, known = OODTarget.of(self), None
        check_inner(self, "classifier")
        params["sample_weight"] = sample_weight
        X, y = read_samples(X, y, params, check_class_labels)
        samples = Samples(X, y, *route_params(self, len(y), params))
        is_frozen = isinstance(self.estimator, FrozenEstimator)
        if is_frozen:
            known = find_classes(self.estimator, None)
        origins = Origins.to_fit(y, self.ood_label, self.wild_label, known)
        classes, is_ood = origins.classes, origins.is_outside
        reject_label = resolve_reject_label(self.reject_label, classes)
        loss = check_loss(self.loss, labels=classes)
        score_seed, row_seed = draw_seeds(self.random_state)
        given = {"estimator": self.estimator, "random_state": score_seed}
        risk = resolve_score(self.uncertainty_score, **given, loss=loss)
        novelty = resolve_novelty(self.novelty_score, **given)
        score = RiskAndNovelty(risk, novelty, loss, classes, is_ood)
        is_certified = self.confidence_level is not None
        learns = score.learns or is_certified
        check_cv_choice(self, learns=learns)
        target.check_samples(origins, novelty, loss, samples.sample_weight)
        origins.warn_of_classes(self.ood_label, self.wild_label, is_frozen=is_frozen)

        # Plan: a certificate is about samples that are drawn independently.
        options = {"learns": learns, "stratify": not is_certified, "outside": is_ood}
        plan, held_out = plan_fits(self, samples, **options), None
        if is_certified:
            held_out = plan.held_out
            target.rates_to_tune(is_ood[held_out], loss)  # raises for too few
            plan = Plan(plan.final, inner_folds(plan.final, samples, stratify=True))

        # Evaluate
        evaluated = evaluate_for_threshold(self, score, samples, plan)
        warn_of_lost_classes(self, evaluated.estimator, classes)
        calibration = keep_calibration(evaluated, samples, held_out, row_seed)

        # Solve and store
        rule = target.solve(calibration, loss)
        self._store(
            evaluated.estimator,
            uncertainty_score_=evaluated.score.uncertainty_score,
            novelty_score_=evaluated.score.novelty_score,
            loss_=loss,
            rule_=rule,
            calibration_=calibration,
            ood_label_=origins.ood_label,
            reject_label_=reject_label,
            seed_=row_seed,
        )
        if held_out is None:  # which would set the threshold anew
            weight = samples.sample_weight
            inside = ~is_ood * (1.0 if weight is None else weight)
            warn_of_coarse_scores(self, evaluated, X, inside, rule.tpr, "accepts")
        return self

    def retarget(self, **target: Any) -> Self:
        """Return a copy with the rule of another target, without another fit.

        The rule is the one that `fit` would tune with these parameters, on the same
        samples and with the same seeds. Classifier, scores and `calibration_` are
        shared with this estimator, which stays as it is.

        Parameters
        ----------
        **target : dict
            Any of `min_tpr`, `max_fpr`, `max_risk`, `min_precision`, `costs`,
            `ood_prior` and `confidence_level`. Those that are not given keep their
            values, or become None where they are of another model than those given.

        Returns
        -------
        copy : DoubleScoreOODClassifier
            The copy, whose parameters say the new target.

        Raises
        ------
        InfeasibleTargetError
            If no rule meets the bounds. It says what can be met.
        ValueError
            If a parameter is invalid, or needs OOD samples that are not there, or a
            `confidence_level` is given where `fit` had none, or taken away where it had
            one: another calibration set is needed then, which takes another fit.
        TypeError
            If another parameter is given.

        Notes
        -----
        Each certificate holds with its `confidence_level` by itself. It is not the
        confidence that those of several targets hold together, nor that of the best of
        them: who looks at all and takes one has used the samples held out to choose.
        For m targets, each at ``1 - (1 - confidence_level) / m``, all hold together.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sklearn_reject import DoubleScoreOODClassifier
        >>> X, y = make_blobs(400, centers=4, cluster_std=2, random_state=0)
        >>> y[y == 3] = -1
        >>> model = DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.7).fit(X, y)
        >>> for min_tpr in (0.7, 0.8, 0.9):
        ...     rule = model.retarget(min_tpr=min_tpr).rule_
        ...     print(f"{rule.tpr:.2f} {rule.selective_risk:.3f}")
        0.70 0.200
        0.80 0.237
        0.94 0.270
        """
        asked = {name for name, value in target.items() if value is not None}
        dropped = {"costs"} if asked & {"min_tpr", *_BESIDE} else set()
        dropped |= _BESIDE if asked & _BESIDE else set()
        dropped |= {"min_tpr", *_BESIDE} if "costs" in asked else set()
        allowed = (*MODEL_PARAMETERS, "confidence_level")
        twin = self._copy_fitted(dict.fromkeys(dropped) | target, allowed)
        is_certified = self.calibration_.held_out is not None
        if is_certified != (twin.confidence_level is not None):
            some = "some" if is_certified else "no"
            raise ValueError(
                f"confidence_level={twin.confidence_level!r} takes another fit: this "
                f"one has held out {some} samples for it. Fit a clone with this level."
            )
        twin.rule_ = OODTarget.of(twin).solve(self.calibration_, self.loss_)
        return twin

    def risk_and_novelty(self, X: MatrixLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the two scores that the rule combines.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        risk, novelty : ndarray of shape (n_samples,)
            Higher = more likely wrong, and more novel.
        """
        return self._predict_with_scores(X)[1:]

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the negative area under the risk-coverage curve of all samples.

        Predicting for an OOD sample costs as much as the worst error: what `loss` says
        or, where it does not, the largest loss between `classes_`. It tells how well
        the uncertainty puts errors and OOD samples last, whatever the threshold, so
        that no search over hyper-parameters can win by rejecting everything.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            ID and OOD samples.

        y : array-like of shape (n_samples,)
            True labels, `ood_label_` for OOD samples.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        score : float
            At most zero, higher is better.
        """
        require_in_memory(X=X, y=y, sample_weight=sample_weight)
        labels, uncertainty = self._predict_with_uncertainty(X)
        found = self._as_fitted()._origins(y)
        largest = self.loss_.max_loss
        if largest is None:
            largest = self.loss_.matrix(self.classes_).max()
        losses = losses_inside(self.loss_, found.y, labels, ~found.is_outside, largest)
        labeled = ~found.is_wild
        weight = take_weight(check_sample_weight(sample_weight, len(losses)), labeled)
        scores = make_finite(uncertainty)[labeled]
        return -aurc_score(scores, losses[labeled], sample_weight=weight)

    def report(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        confidence_level: float = 0.95,
    ) -> Report:
        """Compare what was asked for with what new samples show.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            ID and OOD samples that `fit` has not seen.

        y : array-like of shape (n_samples,)
            True labels, `ood_label_` for OOD samples. Where there are none of these,
            samples with `wild_label` tell the FPR.

        groups : array-like of shape (n_samples,), default=None
            Where OOD samples come from: the FPR is reported for each, too. What it says
            of other samples is not used.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, with which all intervals are approximate.

        confidence_level : float in (0, 1), default=0.95
            Probability of each interval by itself, over the draw of the samples, which
            are drawn one by one.

        Returns
        -------
        report : Report
            Prints as a table: each promise, and the precision where there is an
            `ood_prior`, with what was achieved on the samples that solved the rule and
            on these; and the accepted share and the risk of ID and OOD samples, which
            are the TPR, the risk and the FPR, of each group of OOD samples and of each
            true class. Its `to_dict` has the same as dictionaries.

        Raises
        ------
        ValueError
            If an argument is invalid.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sklearn_reject import DoubleScoreOODClassifier
        >>> X, y = make_blobs(600, centers=4, random_state=0)
        >>> y[y == 3] = -1
        >>> model = DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.7)
        >>> report = model.fit(X[:300], y[:300]).report(X[300:], y[300:])
        >>> value, low, high, n_samples = report.parts[0].coverage
        >>> report.parts[0].name, low < value < high, n_samples
        ('in distribution', True, 220)
        """
        require_in_memory(X=X, y=y, groups=groups, sample_weight=sample_weight)
        options = groups, sample_weight, confidence_level
        return report_ood(self._as_fitted(), X, y, *options)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if not takes_sparse(self.novelty_score, self.estimator, resolve_novelty):
            tags.input_tags.sparse = False
        return tags

    def _origins(self, y):
        """Return the origins of samples to judge."""
        labels = self.ood_label_, self.wild_label
        y, name = check_class_labels(y), type(self).__name__
        return Origins.to_judge(y, *labels, np.asarray(self.classes_), name)

    def _predict_with_scores(self, X):
        """Return labels, risk and novelty of one pass of the inner estimator."""
        self._require_fit()
        labels, scores = self._evaluate(Response(self.estimator_, X))
        return labels, *scores.T

    def _evaluate(self, response):
        """Return labels, and risk and novelty as the columns of a matrix."""
        return evaluate_both(self.uncertainty_score_, self.novelty_score_, response)

    def _combine(self, scores):
        return self.rule_.combine(*scores.T)

    def _probability(self, X, labels, scores):
        return self.rule_.accept_proba(*scores.T)
