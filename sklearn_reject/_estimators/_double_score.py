"""The classifier that rejects what is ambiguous and what is novel by one rule."""

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import indexable

from sklearn_reject._curves import aurc_score, direction_grid, make_finite
from sklearn_reject._estimators._base import (
    RejectClassifier,
    check_class_labels,
    find_classes,
    require_fit,
    store_fitted,
)
from sklearn_reject._estimators._ood_calibration import keep_calibration
from sklearn_reject._estimators._rejection_models import bound_of_losses, takes_sparse
from sklearn_reject._estimators._retarget import check_target_names, copy_fitted
from sklearn_reject._fitting import (
    Plan,
    RiskAndNovelty,
    check_cv_choice,
    check_inner,
    draw_seeds,
    evaluate_out_of_sample,
    inner_folds,
    is_share,
    plan_fits,
    refuse_weights,
    route_params,
)
from sklearn_reject._labels import resolve_reject_label, split_origin
from sklearn_reject._sklearn import with_callbacks
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.losses import check_loss
from sklearn_reject.scores import (
    evaluate_score,
    find_labels,
    resolve_novelty,
    resolve_score,
)
from sklearn_reject.selection import (
    MODEL_PARAMETERS,
    certify_double_score,
    check_confidence,
    check_model,
    rates_to_certify,
    tune_double_score,
)

# What a rule of any model depends on beside its target.
_OF_ANY = ("confidence", "max_loss", "randomize")

# What belongs to each model alone; a prior may serve all of them.
_MODELS = (("min_tpr", "max_fpr"), ("min_precision", "min_recall"), ("costs",))


class DoubleScoreOODClassifier(RejectClassifier):
    """Classifier that rejects ambiguous and out-of-distribution samples by one rule.

    It wraps a classifier and combines two scores: how likely the prediction is wrong,
    r(x), and how novel the sample is, g(x). A sample is accepted where
    ``r(x) + mu g(x)`` is below a threshold. Weight and threshold solve one of three
    models (FPP23): bounds on the shares of in-distribution (ID) and out-of-distribution
    (OOD) samples that are accepted, bounds on precision and recall, or costs. Of all
    rules that keep the bounds, the one with the least loss on accepted ID samples is
    taken.

    OOD samples are rows of `y` with `ood_label`. They tune the rule and are never shown
    to the classifier.

    Read more in the :ref:`user guide <ood>`.

    Parameters
    ----------
    estimator : estimator
        Classifier with `fit` and `predict`. A
        :class:`~sklearn.frozen.FrozenEstimator` is not fitted again, and the data given
        to `fit`, which it must not have seen, only tune the rule and the scores.

    risk_score : str, score object or callable, default="conditional_risk"
        How likely a prediction is wrong, higher = more likely: whatever
        :class:`SelectiveClassifier` takes as `uncertainty_score`. A learned score is
        learned from predictions out of fold, within each fold; these inner folds are
        stratified ones, whatever `cv` is.

    novelty_score : {"energy", "knn", "likelihood_ratio", "mahalanobis", \
            "max_logit", "msp", "odin", "outlier_detector", "react", "sirc", "vim"}, \
            score object or callable, default="knn"
        How novel a sample is, higher = more novel. It is fitted on the samples that the
        classifier is fitted on; a frozen score object is not fitted again. A callable
        is ``(estimator, X) -> (n_samples,)``. Samples of infinite novelty are always
        rejected.

    min_tpr : float in ]0, 1], default=None
        Bounded TPR-FPR model: least share of ID samples to accept. Without `max_fpr`
        there is no bound on the OOD samples.

    max_fpr : float in [0, 1], default=None
        Largest share of OOD samples to accept.

    min_precision : float in ]0, 1], default=None
        Bounded precision-recall model: least share of ID samples among those that are
        accepted, where a share `ood_prior` of all samples is OOD. It takes `min_recall`
        and `ood_prior`.

    min_recall : float in ]0, 1], default=None
        Least share of ID samples to accept, the same as `min_tpr`.

    costs : tuple of three floats, default=None
        Cost-based model: the costs of rejecting an ID sample, of accepting an OOD
        sample and of rejecting an OOD sample, in units of the loss. The second exceeds
        the third. It takes `ood_prior`.

    ood_prior : float in [0, 1[, default=None
        Share of OOD samples among those that `predict` will see. The share among those
        given to `fit` does not matter.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y`. "auto" is -1 for numbers and "ood" for strings;
        where `y` has exactly two labels and -1 is one of them, as in {-1, 1}, it is a
        class, and no sample is OOD, of which a warning tells. A frozen classifier
        settles whether -1 is a class. With None no sample is OOD.

    loss : {"zero_one", "absolute", "squared"}, {array-like, dataframe} of shape \
            (n_classes, n_classes) or callable, default="zero_one"
        Cost of a wrong label of an ID sample, lower is better, as in
        :class:`SelectiveClassifier`.

    n_directions : int >= 2, default=181
        Number of directions in the plane of both scores that are tried; the two scores
        alone are among them.

    method : {"auto", "exact", "grid"}, default="auto"
        How the direction is searched, see
        :func:`~sklearn_reject.selection.tune_double_score`.

    confidence : float in ]0, 1[, default=None
        Probability, over the draw of a calibration part, that all bounds hold for the
        population. It takes `cv` as a float, the share of the samples in that part;
        weight and threshold are tuned on the others, then the threshold is set anew. A
        bound on the risk comes along in ``rule_.certificate``.

    max_loss : float > 0, default=None
        Largest loss that is possible, which a `confidence` needs where `loss` does not
        say: for "absolute", "squared" and callables, as a class that is not in `y` may
        be further off than all that are.

    cv : int, float, splitter, iterable or None, default=None
        Which predictions tune the rule. An int or a splitter pools predictions out of
        fold, of scores fitted out of fold too, and fits everything on all samples
        afterwards. A float holds that share of the samples out. None is five
        stratified folds, and no fold where a frozen classifier is judged by scores that
        learn nothing.

    reject_label : "auto", None or label, default="auto"
        What `predict` returns for rejected samples, as in :class:`SelectiveClassifier`.
        It may be the `ood_label`.

    randomize : bool, default=True
        Whether samples at the threshold are accepted with a probability that serves the
        bounds, over the seeds of `fit`. Samples of equal values are accepted or
        rejected alike, unless `predict` and `accept` get `keys`. If False, all samples
        at the threshold are accepted or rejected.

    n_jobs : int, default=None
        Number of folds fitted, and of parts of an exact search, in parallel.

    random_state : int, RandomState instance or None, default=None
        Source of the seed of the draws at the threshold, of the samples held out, and
        of scores that have no `random_state` of their own.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.

    rule_ : DoubleScoreRule
        Weights of both scores with their ratio `mu`, threshold, and the TPR, FPR,
        precision and selective risk achieved on the predictions that tuned it. With a
        `confidence`, these are of the calibration part, and it has a certificate.

    calibration_ : OODCalibration
        What tuned the rule, and what :meth:`retarget` tunes another one on: `scores` of
        shape (n_samples, 2), risk and novelty, `losses`, `is_ood`, `rows`, positions
        among the samples given to `fit`, and `sample_weight` or None. With a
        `confidence`, `held_out` has the same of the calibration part, with the `draws`
        that break ties; else it is None. Some 40 bytes a sample.

    risk_score_, novelty_score_ : score object
        The scores, fitted.

    loss_ : TaskLoss
        The loss.

    ood_label_ : label or None
        Label of OOD samples, None where there cannot be any.

    reject_label_ : label or None
        What `predict` returns for rejected samples.

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
    0.88 of the known digits accepted, 0.07 of the novel ones
    """

    def __init__(
        self,
        estimator,
        *,
        risk_score="conditional_risk",
        novelty_score="knn",
        min_tpr=None,
        max_fpr=None,
        min_precision=None,
        min_recall=None,
        costs=None,
        ood_prior=None,
        ood_label="auto",
        loss="zero_one",
        n_directions=181,
        method="auto",
        confidence=None,
        max_loss=None,
        cv=None,
        reject_label="auto",
        randomize=True,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.risk_score = risk_score
        self.novelty_score = novelty_score
        self.min_tpr = min_tpr
        self.max_fpr = max_fpr
        self.min_precision = min_precision
        self.min_recall = min_recall
        self.costs = costs
        self.ood_prior = ood_prior
        self.ood_label = ood_label
        self.loss = loss
        self.n_directions = n_directions
        self.method = method
        self.confidence = confidence
        self.max_loss = max_loss
        self.cv = cv
        self.reject_label = reject_label
        self.randomize = randomize
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X, y, sample_weight=None, **params):
        """Fit the classifier and both scores, and tune the rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            ID and OOD samples.

        y : array-like of shape (n_samples,)
            Class labels, and `ood_label` for OOD samples.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They go to the `fit` of what is wrapped, which has to
            take them, and weigh the samples that tune the decisions, except the items
            of a set, which are counted.

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
            If no rule meets the bounds. It says what can be met.
        ValueError
            If a parameter is invalid, bounds of different models are given, or there
            are no ID samples, or no OOD samples where a bound or a score needs them.
        """
        self._check_parameters()
        X, y = indexable(X, y)
        y = check_class_labels(y)
        params = {"sample_weight": sample_weight, **params}
        fit_params, split_params, weight = route_params(
            self, len(y), params, estimator=self.estimator
        )
        if self.confidence is not None:
            refuse_weights(weight)

        ood_label, is_ood, classes = self._split_labels(y)
        reject_label = resolve_reject_label(self.reject_label, classes)
        score_seed, row_seed = draw_seeds(self.random_state)
        score = self._resolve_scores(classes, is_ood, score_seed)
        self._check_has_ood(
            is_ood,
            f"y has no row with ood_label={ood_label!r}",
            is_learned=score.novelty_score.needs_ood,
        )
        self._warn_of_labels(is_ood, classes)
        self._check_max_loss(score.loss)
        learns = score.learns or self.confidence is not None
        check_cv_choice(self.cv, self.estimator, learns=learns)

        plan, held_out = self._plan(X, y, split_params, is_ood, learns)
        evaluated = evaluate_out_of_sample(
            self.estimator,
            score,
            X,
            y,
            plan=plan,
            fit_params=fit_params,
            sample_weight=weight,
            caller=self,
        )
        calibration = keep_calibration(
            evaluated, X, y, weight, train=plan.final, held_out=held_out, seed=row_seed
        )
        rule = self._solve(calibration, score.loss)
        return store_fitted(
            self,
            evaluated.estimator,
            risk_score_=evaluated.score.risk_score,
            novelty_score_=evaluated.score.novelty_score,
            loss_=score.loss,
            rule_=rule,
            calibration_=calibration,
            ood_label_=ood_label,
            reject_label_=reject_label,
            seed_=row_seed,
        )

    def retarget(self, **target):
        """Return a copy with the rule of another target, without another fit.

        The rule is the one that `fit` would tune with these parameters, on the same
        samples and with the same seeds. Classifier, scores and `calibration_` are
        shared with this estimator, which stays as it is.

        Parameters
        ----------
        **target : dict
            Any of `min_tpr`, `max_fpr`, `min_precision`, `min_recall`, `costs`,
            `ood_prior`, `confidence`, `max_loss` and `randomize`. Those that are not
            given keep their values, or become None where they are of another model than
            those given.

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
            `confidence` is given where `fit` had none, or taken away where it had one:
            other samples would tune the rule then, which takes another fit.
        TypeError
            If another parameter is given.

        Notes
        -----
        Each certificate holds with its `confidence` by itself. It is not the confidence
        that those of several targets hold together, nor that of the best of them: who
        looks at all and takes one has used the samples held out to choose. For m
        targets, each at ``1 - (1 - confidence) / m``, all hold together.

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
        0.71 0.170
        0.80 0.212
        0.90 0.251
        """
        require_fit(self)
        check_target_names(target, (*MODEL_PARAMETERS, *_OF_ANY))
        given = {name for name, value in target.items() if value is not None}
        for names in _MODELS:
            if given - {"ood_prior", *_OF_ANY, *names}:
                target = dict.fromkeys(names) | target
        twin = copy_fitted(self, target)
        twin._check_confidence_kept()
        twin._check_parameters()
        twin._check_max_loss(self.loss_)
        twin.rule_ = twin._solve(self.calibration_, self.loss_)
        return twin

    def risk_and_novelty(self, X):
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
        risk, novelty = self._scores(X).T
        return risk, novelty

    def score(self, X, y, sample_weight=None):
        """Return the negative area under the risk-coverage curve of all samples.

        Predicting for an OOD sample costs as much as the worst error: what `loss` or
        `max_loss` says or, where neither does, the largest loss between `classes_`. It
        tells how well the uncertainty puts errors and OOD samples last, whatever the
        threshold, so that no search over hyper-parameters can win by rejecting
        everything.

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
        labels, uncertainty, _ = self.predict_all(X)
        y = check_class_labels(y)
        inside = np.ones(len(y), dtype=bool)
        if self.ood_label_ is not None:
            inside = y != self.ood_label_
        largest = self._known_max_loss(self.loss_)
        if largest is None:
            largest = self.loss_.matrix(self.classes_).max()
        losses = np.full(len(y), largest)
        if inside.any():
            losses[inside] = self.loss_(y[inside], labels[inside])
        uncertainty = make_finite(uncertainty)
        return -aurc_score(uncertainty, losses, sample_weight=sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = (
            tags.input_tags.sparse
            and takes_sparse(self.risk_score, self.estimator)
            and takes_sparse(self.novelty_score, self.estimator, resolve_novelty)
        )
        return tags

    def _bounds(self):
        return {name: getattr(self, name) for name in MODEL_PARAMETERS}

    def _check_parameters(self):
        check_model(**self._bounds())
        check_inner(self, "classifier")
        check_option(self.randomize, "randomize", (True, False))
        direction_grid(self.n_directions)  # raises for too few
        check_option(self.method, "method", ("auto", "exact", "grid"))
        if self.confidence is not None:
            check_confidence(self.confidence)
            self._check_calibration()

    def _check_calibration(self):
        if self.costs is not None:
            raise ValueError(
                f"confidence={self.confidence!r} needs bounds to guarantee, and costs "
                "have none. Pass min_tpr and max_fpr, or min_precision and min_recall."
            )
        if not self.randomize:
            raise ValueError(
                f"confidence={self.confidence!r} needs randomize=True: noise breaks "
                "the ties of a calibrated threshold."
            )
        if not is_share(self.cv):
            raise ValueError(
                f"confidence={self.confidence!r} needs samples that neither fit nor "
                f"tune anything, and cv={self.cv!r} keeps none. Hold a share out, for "
                "example with cv=0.3."
            )

    def _split_labels(self, y):
        """Return the label of OOD samples, which rows have it, and the classes."""
        known = None
        if self._is_frozen():
            known = find_classes(self.estimator, None)
        ood_label, is_ood = split_origin(y, self.ood_label, known)
        if is_ood.all():
            raise ValueError(
                f"y holds ood_label={ood_label!r} only. Add samples of the known "
                "classes: they are needed to fit the classifier and to measure its "
                "risk."
            )
        if known is not None:
            _check_known(y[~is_ood], known, ood_label)
        return ood_label, is_ood, find_classes(self.estimator, y[~is_ood])

    def _resolve_scores(self, classes, is_ood, seed):
        """Return both scores, with the loss and a seed unless they have their own."""
        loss = check_loss(self.loss, labels=classes)
        risk = resolve_score(
            self.risk_score,
            self.estimator,
            loss=loss,
            random_state=seed,
            name="risk_score",
        )
        novelty = resolve_novelty(self.novelty_score, self.estimator, random_state=seed)
        return RiskAndNovelty(risk, novelty, loss, classes, is_ood)

    def _check_max_loss(self, loss):
        """Raise where a bound would rest on the classes that happen to be in y."""
        if self.max_loss is not None:
            check_number(self.max_loss, "max_loss", open_low=True)
            if loss.max_loss is not None and self.max_loss < loss.max_loss:
                raise ValueError(
                    f"max_loss={self.max_loss!r} is below {loss.max_loss:g}, which "
                    f"loss={self.loss!r} can reach. Leave max_loss=None."
                )
        elif self.confidence is not None and loss.max_loss is None:
            raise ValueError(
                f"max_loss is needed with confidence={self.confidence!r} and "
                f"loss={self.loss!r}: the certificate bounds the risk, and a class "
                "that is not in y may be further off than all that are. Pass the "
                "largest loss that is possible, in units of the loss."
            )

    def _check_has_ood(self, present, without, is_learned=False):
        """Raise where a bound or a score needs OOD samples, and none are present."""
        if present.any():
            return
        needy = [
            f"{name}={getattr(self, name)!r}"
            for name, is_needy in (
                ("max_fpr", self.max_fpr is not None and self.max_fpr < 1),
                ("min_precision", self.min_precision is not None and self.ood_prior),
                ("costs", self.costs is not None and self.ood_prior),
                ("novelty_score", is_learned),
            )
            if is_needy
        ]
        if needy:
            raise ValueError(
                f"{without}, and {needy[0]} needs OOD samples. Add some, or name the "
                "label that marks them by ood_label. Without any, use "
                "SelectiveClassifier."
            )

    def _warn_of_labels(self, is_ood, classes):
        """Warn where OOD samples may be there, and are taken for a class."""
        if is_ood.any() or self.ood_label is None:
            return
        is_auto = isinstance(self.ood_label, str) and self.ood_label == "auto"
        if is_auto and (-1 not in classes.tolist() or self._is_frozen()):
            return
        reason, way_out = (
            ("-1 is one of two labels of y and so, by ood_label='auto', a class", -1)
            if is_auto
            else (f"ood_label={self.ood_label!r} is no label of y", "'auto'")
        )
        warn_user(
            f"{reason}: no sample is OOD, and {classes.tolist()[:5]} are classes. Pass "
            f"ood_label={way_out}, or None if that is meant.",
        )

    def _is_frozen(self):
        return isinstance(self.estimator, FrozenEstimator)

    def _check_confidence_kept(self):
        """Raise where a copy asks for samples that `fit` has not held out, or has."""
        is_certified = self.calibration_.held_out is not None
        if is_certified == (self.confidence is not None):
            return
        held_out, way_out = (
            ("a part of the samples for it", "Fit a clone with confidence=None")
            if is_certified
            else ("no samples for it", "Fit with a confidence, and with cv=0.3 or so")
        )
        raise ValueError(
            f"confidence={self.confidence!r} cannot be had from this fit, which has "
            f"held out {held_out}. {way_out}."
        )

    def _plan(self, X, y, split_params, is_ood, learns):
        """Return the plan that tunes the rule, and rows kept to certify it, or None."""
        # A certificate is about samples that are drawn independently.
        stratify = self.confidence is None
        plan = plan_fits(self, X, y, split_params, learns=learns, stratify=stratify)
        if self.confidence is None:
            return plan, None
        self._rates(is_ood[plan.held_out])  # raises for too few, before any fit
        folds = inner_folds(plan.final, y, stratify=True)
        return Plan(plan.final, folds), plan.held_out

    def _rates(self, is_ood):
        """Return bounds to tune with, the first of which that can be met is taken.

        A rule that will be certified has to do better than asked for.
        """
        n_ood = int(is_ood.sum())
        n_id = len(is_ood) - n_ood
        return rates_to_certify(n_id, n_ood, self.confidence, self._bounds())

    def _solve(self, calibration, loss):
        """Return the best rule and, where that is asked for, certify it."""
        if calibration.held_out is None:
            return self._tune(calibration, self._bounds())
        for rates in self._rates(calibration.held_out.is_ood):
            try:
                rule = self._tune(calibration, rates)
            except InfeasibleTargetError as error:
                failure = error
            else:
                return self._certify(rule, calibration.held_out, loss)
        # What can be had of these rates would, as a bound, ask for better ones again.
        told, _, _ = str(failure).partition(" Relax ")
        raise InfeasibleTargetError(
            f"To be certified with confidence={self.confidence:g} on the samples held "
            f"out, a rule has to do better than the bounds asked for. {told} Relax the "
            "bounds asked for by more than what is missing, hold more samples out, ask "
            "for less confidence, or use scores that tell ID from OOD samples better.",
            attainable=failure.attainable,
        ) from failure

    def _tune(self, calibration, bounds):
        """Return the best rule for some bounds."""
        is_ood, weight = calibration.is_ood, calibration.sample_weight
        self._check_has_ood(
            is_ood if weight is None else is_ood & (weight > 0),
            "No OOD row (of positive weight) is among those that tune the rule",
        )
        return tune_double_score(
            *calibration.scores.T,
            calibration.losses,
            is_ood,
            **bounds,
            n_directions=self.n_directions,
            method=self.method,
            randomize=self.randomize,
            sample_weight=weight,
            n_jobs=self.n_jobs,
        )

    def _certify(self, rule, held_out, loss):
        """Set the threshold anew on rows that nothing has seen, so that bounds hold."""
        bounds = self._bounds()
        del bounds["costs"]
        return certify_double_score(
            rule,
            *held_out.scores.T,
            held_out.losses,
            held_out.is_ood,
            **bounds,
            **bound_of_losses(loss, self._known_max_loss(loss), "hoeffding_bentkus"),
            confidence=self.confidence,
            draws=held_out.draws,
        )

    def _known_max_loss(self, loss):
        return self.max_loss if loss.max_loss is None else loss.max_loss

    def _evaluate(self, response):
        """Return labels, and risk and novelty as the columns of a matrix."""
        labels, risk = evaluate_score(self.risk_score_, response, "risk_score")
        novelty = self.novelty_score_.from_response(response)
        return labels, np.column_stack([risk, novelty])

    def _labels(self, response):
        return find_labels(self.risk_score_, response)

    def _combine(self, scores):
        return self.rule_.combine(*scores.T)

    def _probability(self, scores):
        return self.rule_.accept_proba(*scores.T)


def _check_known(y, classes, ood_label):
    """Raise for labels that a frozen classifier does not know, or that are OOD."""
    known = classes.tolist()
    if ood_label is not None and ood_label in known:
        raise ValueError(
            f"ood_label={ood_label!r} is one of the classes {known} that the "
            "frozen classifier knows. Mark OOD samples with another label."
        )
    unknown = np.setdiff1d(y, classes).tolist()
    if unknown:
        raise ValueError(
            f"y holds {unknown[0]!r}, which is neither one of the classes {known} "
            f"that the frozen classifier knows nor ood_label={ood_label!r}. "
            "Name the label of OOD samples by ood_label."
        )
