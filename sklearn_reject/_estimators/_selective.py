"""What selective estimators do alike: ask, plan, evaluate, solve and store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._base import (
    RejectMixin,
    find_classes,
    read_sampled,
    warn_of_lost_classes,
)
from sklearn_reject._estimators._calibration import (
    calibration_of,
    warn_of_costly_rule,
    warn_of_few_accepted,
    warn_of_few_accepted_of_classes,
    warn_of_risky_rule,
    warn_of_wrong_sign,
)
from sklearn_reject._estimators._groups import find_groups
from sklearn_reject._estimators._problem import Problem, retarget, solve_and_store
from sklearn_reject._estimators._report import report_selective
from sklearn_reject._estimators._targets import RejectCost, TargetRisk, find_target
from sklearn_reject._fitting._folds import evaluation_of, learns
from sklearn_reject._fitting._out_of_sample import evaluate_for_threshold
from sklearn_reject._fitting._routing import (
    OF_SAMPLING,
    check_inner,
    draw_seeds,
    route_params,
)
from sklearn_reject._fitting._splits import (
    PLUG_IN,
    check_cv_choice,
    cv_of,
    is_share,
    plan_fits,
)
from sklearn_reject._labels import resolve_reject_label
from sklearn_reject._typing import MatrixLike
from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import warn_user
from sklearn_reject.scores import resolve_score
from sklearn_reject.selection import (
    GroupedRule,
    RejectionRule,
    Report,
    enumerate_labels,
    make_partition,
    order_told,
    share_confidence,
    solve_by_group,
)


class SelectiveMixin(RejectMixin):
    """Fits, solves and reports, whether classes are predicted or numbers."""

    __metadata_request__fit = OF_SAMPLING

    def _fit(self, X, y, **params):
        # Ask: all that can be wrong is found before anything is fitted.
        target, of_classes = find_target(self), isinstance(self, ClassifierMixin)
        kind, other = "classifier", "Regressor"
        if not of_classes:
            kind, other = "regressor", "Classifier"
        check_inner(self, kind, way_out=f" Use Selective{other}.")
        check_option(self.randomize, "randomize", (True, False))
        given = self, X, y, params, self._check_y, route_params
        samples, _ = read_sampled(*given)
        X, y = samples.X, samples.y
        classes, fitted = find_classes(self.estimator, y, kind), {}
        if of_classes:
            fitted["reject_label_"] = resolve_reject_label(self.reject_label, classes)
        groups = find_groups(self, X, classes)
        loss = self._check_loss(self.loss, labels=classes)
        score_seed, row_seed = draw_seeds(self.random_state)
        options = {"loss": loss, "random_state": score_seed}
        score = resolve_score(self.uncertainty_score, self.estimator, **options)
        evaluation = evaluation_of(score, loss, classes)
        check_cv_choice(self, learns=evaluation.learns, takes_plug_in=of_classes)
        problem = Problem(target, groups, loss, score, row_seed)
        problem = problem.posed_by(self, samples, classes)

        # Plan: what is promised is about samples that are drawn independently.
        plan = plan_fits(
            self,
            samples,
            learns=evaluation.learns,
            stratify=of_classes and not self._keeps_promise(target),
            needs_data=not _uses_plain_rule(self, problem),
        )

        # Evaluate
        evaluated = evaluate_for_threshold(self, evaluation, samples, plan)
        if of_classes:
            warn_of_lost_classes(self, evaluated.estimator, classes)
        labels = y if of_classes else None
        calibration = calibration_of(evaluated, samples, row_seed, labels, groups)

        # Solve and store. What "auto" stands for may have shown on the fitted
        # classifier only.
        score = fitted["uncertainty_score_"] = evaluated.score.score
        problem = replace(problem, score=score)
        return solve_and_store(self, problem, evaluated, samples, calibration, **fitted)

    def _keeps_promise(self, target):
        """Tell whether a share is held out for what needs samples drawn alike.

        What holds on average does so, approximately, with folds, too, and those are
        better drawn class by class.
        """
        on_average = target.needs_equal_draws and is_share(cv_of(self))
        return self.confidence_level is not None or on_average

    def _solve(self, problem, calibration):
        """Return the attributes that keep a rule, and what it achieves of bounds."""
        known = calibration is not None and self.max_loss is not None
        if known and calibration.losses.max() > problem.max_loss:
            raise ValueError(
                f"losses holds {calibration.losses.max():g}, above max_loss="
                f"{problem.max_loss:g}. Pass the largest possible loss, or clip the "
                "losses."
            )
        rule = _solve_rule(self, problem, calibration)
        if not isinstance(self, ClassifierMixin):
            return {"rule_": rule}
        target, bounds = problem.target, None
        if calibration is not None:
            bounds = target.bind(calibration).measure(rule)
        is_promised = self.confidence_level is not None or target.holds_on_average
        if bounds is not None and not is_promised:
            warn_of_few_accepted_of_classes(bounds, calibration)
        return {"rule_": rule, "bounds_": bounds}

    def retarget(self, **target: Any) -> Self:
        """Return a copy with a rule for another target, without another fit.

        The rule is solved on `calibration_`, and is the one that `fit` would have
        found. The copy shares everything that is fitted.

        Parameters
        ----------
        **target : dict
            What the constructor calls targets, in place of those of `fit`; and
            `confidence_level`, `max_loss`, `max_weight`, `randomize` or `group_by`,
            which stay as they are where they are not given. Of columns and callables,
            `group_by` may only be the one of `fit`.

        Returns
        -------
        estimator : object
            The copy. With a `confidence_level`, each of several certificates from the
            same samples holds with that probability, but not all of them at once.
            Without one, after a `fit` with one, the share held out stays as it was,
            drawn without stratification. It is drawn class by class for other targets,
            and a `target_failure_rate` then holds but approximately, as with folds,
            unless it is one of each true class.

        Raises
        ------
        InfeasibleTargetError
            If no threshold attains what is asked for.
        TypeError
            If anything else is to be changed.
        ValueError
            If a parameter is invalid, or nothing was evaluated out of sample.
        """
        return retarget(self, target)

    def report(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        inclusion_proba: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
    ) -> Report:
        """Compare what was asked for with what new samples show.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples that `fit` has not seen.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True labels or targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, with which all intervals are approximate.

        inclusion_proba : float or array-like of shape (n_samples,), default=None
            Chance, in (0, 1], of each sample to be labelled. y is NaN or None where it
            was not, and those with a label stand for the others of their kind.

        groups : array-like of shape (n_samples,), default=None
            Clusters, such as patients, of which intervals take account.

        confidence_level : float in (0, 1), default=0.95
            Probability of each interval by itself, over the draw of the samples, which
            are drawn one by one.

        Returns
        -------
        report : Report
            Prints as a table: each promise with what was achieved on the samples that
            solved the rule and on these, and coverage and risk of each predicted and
            each true class, and of each group. Its `to_dict` has the same as
            dictionaries.

        Raises
        ------
        ValueError
            If an argument is invalid.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sklearn_reject import SelectiveClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> selective = SelectiveClassifier(GaussianNB(), target_risk=0.04)
        >>> selective = selective.fit(X[:300], y[:300])
        >>> print(selective.report(X[300:], y[300:]))
        SelectiveClassifier on 269 samples, intervals of 95% confidence each
        <BLANKLINE>
        promise  bound    calibration  these samples
        risk     <= 0.04  0.040        0.012 (0.002 to 0.034)  kept
        <BLANKLINE>
        samples      number  accepted                risk of accepted
        all          269     0.952 (0.919 to 0.974)  0.012 (0.002 to 0.034)
        predicted 0  69      0.913 (0.820 to 0.967)  0.032 (0.004 to 0.110)
        predicted 1  200     0.965 (0.929 to 0.986)  0.005 (0.000 to 0.029)
        true 0       66      0.939 (0.852 to 0.983)  0.016 (0.000 to 0.087)
        true 1       203     0.956 (0.918 to 0.980)  0.010 (0.001 to 0.037)
        """
        given = {"inclusion_proba": inclusion_proba, "groups": groups}
        given["sample_weight"] = sample_weight
        samples, _ = read_sampled(self, X, y, given, self._check_y)
        options = samples.sample_weight, confidence_level, samples.clusters
        return report_selective(self._as_fitted(), samples.X, samples.y, *options)


def _claims_risk(estimator, score):
    """Tell whether a score is a probability-based risk in units of the reject cost.

    One with a loss of its own only orders the samples, and a frozen one may have been
    learned for another loss.
    """
    return (
        getattr(score, "estimates_risk", False)
        and getattr(estimator.uncertainty_score, "loss", None) is None
        and not learns(score)
        and not isinstance(score, FrozenEstimator)
    )


def _uses_plain_rule(estimator, problem):
    """Tell whether a reject cost is to be compared with probabilities as they are."""
    target, score = problem.target, problem.score
    if not (isinstance(estimator.cv, str) and estimator.cv == PLUG_IN):
        return False
    is_cost, name = isinstance(target, RejectCost), estimator.uncertainty_score
    if not is_cost or not _claims_risk(estimator, score):
        # What "auto" stands for may show on the fitted classifier only.
        raise ValueError(
            f"cv={PLUG_IN!r} compares a reject_cost with the conditional risk of the "
            f"probabilities, and not {target} with uncertainty_score={name!r}. Set "
            "cv=None, or pass a reject_cost and uncertainty_score='conditional_risk'."
        )
    return True


def _solve_rule(estimator, problem, calibration):
    """Return the rule that solves a problem on a calibration set, which may be None.

    With groups it is one for each of them.
    """
    target, groups = problem.target, problem.groups
    if _uses_plain_rule(estimator, problem):
        return _plain_rule(target, calibration, groups)
    warn_of_wrong_sign(calibration, estimator.uncertainty_score)
    target, level = target.bind(calibration), estimator.confidence_level
    claims = _claims_risk(estimator, problem.score)

    def solve(target, calibration, confidence_level):
        if isinstance(target, RejectCost):
            return _solve_cost(target, calibration, claims)
        given = confidence_level, calibration, estimator
        options = problem.options(*given)
        rule = target.solve(calibration.samples, options)
        if confidence_level is None and isinstance(target, TargetRisk):
            warn_of_few_accepted(rule, target, calibration, is_group=groups is not None)
        return rule

    with order_told():
        if groups is None:
            rule = solve(target, calibration, level)
        else:
            targets, n_samples = target.by_group(groups.known), len(calibration.scores)
            if level is not None:
                level = share_confidence(level, len(targets))
            rule = solve_by_group(
                make_partition(calibration.groups, n_samples, groups.known),
                lambda k, rows: solve(targets[k], calibration.take(rows), level),
                {label: each.value for label, each in targets.items()},
                calibration.sample_weight,
            )
    _warn(rule, target, calibration)
    return rule


def _warn(rule, target, calibration):
    """Warn of a rule, or of rules by group, that cannot be meant."""
    is_grouped = isinstance(rule, GroupedRule)
    rules = rule.rules if is_grouped else {None: rule}
    rejected = [label for label, each in rules.items() if each.coverage == 0]
    if isinstance(target, RejectCost):
        if rejected and max(target.values) > 0:
            where = f" in the groups {enumerate_labels(rejected)}" * is_grouped
            warn_user(
                f"Everything is rejected{where}: no samples of low scores cost less "
                f"than {target} each. Use a better score, or a larger cost."
            )
    # Where one group may be worse than another, all that is accepted may be, too.
    elif not is_grouped or (not rejected and len(set(target.values)) == 1):
        warn_of_risky_rule(rule, calibration)


def _plain_rule(target, calibration, groups):
    """Return the rule of Chow, or of each group, that takes scores as they are."""
    known, cost = {}, target.value
    if groups is None:
        rule = RejectionRule(cost, 1.0, reject_cost=cost)
    else:
        costs = {k: each.value for k, each in target.by_group(groups.known).items()}
        rule = GroupedRule(
            {k: RejectionRule(x, 1.0, reject_cost=x) for k, x in costs.items()}
        )
    if calibration is None:
        return rule
    if groups is not None:
        known = {"groups": calibration.groups}
        cost = [costs[label] for label in calibration.groups]
    rule = rule.measure(**calibration.samples, **known)
    warn_of_costly_rule(
        rule.accept_proba(calibration.scores, **known), cost, calibration
    )
    return rule


# What probabilities say counts as much as so many rows. On 19 sets and 11 classifiers
# (benchmarks/bench_reject_cost.py) that is better than data alone below 300 rows, and
# the same from there on; from 100 rows on, anything from 20 to 50 does as well.
_ROWS_OF_CLAIM = 30


def _solve_cost(target, calibration, scores_are_risks):
    """Return the rule of least cost; risks that a score claims count as evidence."""
    samples = calibration.samples
    if not scores_are_risks:
        return target.solve(samples, {})
    scores, losses = calibration.scores, calibration.losses
    share = _ROWS_OF_CLAIM / (len(losses) + _ROWS_OF_CLAIM)
    claimed = (1 - share) * losses + share * scores
    return target.solve(samples | {"losses": claimed}, {}).measure(**samples)
