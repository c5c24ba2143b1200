"""What a first classifier and an expert say about samples that neither has seen."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from sklearn_reject._curves._deferral import choose_by_area
from sklearn_reject._fitting._experts import evaluate_expert, is_fixed
from sklearn_reject._fitting._folds import (
    FoldScore,
    Uncertainty,
    check_labels,
    fit_score,
    fit_with_folds,
    learns,
    learns_from_samples,
    needs_samples,
)
from sklearn_reject._fitting._out_of_sample import Evaluated, cross_fit
from sklearn_reject._fitting._splits import inner_folds
from sklearn_reject._response._response import Response
from sklearn_reject._validation import take_weight
from sklearn_reject.scores import evaluate_score


@dataclass(frozen=True, eq=False)
class Gains(FoldScore):
    """Scores of what asking an expert gains, by name, a loss, and all class labels.

    There is one, or one that is read off a classifier before one that is learned.
    """

    scores: dict
    loss: object
    classes: np.ndarray

    @property
    def learned(self):
        """The score that is learned from what folds collect, None without."""
        return next((s for s in self.scores.values() if learns(s)), None)

    @property
    def learns(self):
        """Whether samples are needed that the classifier was not fitted on."""
        return any(map(learns_from_samples, self.scores.values()))

    @property
    def needs_expert(self):
        """Whether a score is learned from what an expert says."""
        return getattr(self.learned, "needs_expert", False)

    def check(self, estimator, X):
        """Let scores choose their features, or object to the samples."""
        for score in self.scores.values():
            if learns(score):
                score.resolve(self.classes, self.loss).choose_features(estimator, X)
            elif needs_samples(score):
                score.check(estimator, X)

    def clone(self):
        """Return an unfitted copy; what is learned is not fitted on folds."""
        scores = self.scores.items()
        return replace(
            self, scores={n: s if learns(s) else clone(s) for n, s in scores}
        )

    def fit(self, estimator, samples, rows, caller, context):
        """Fit the classifier, and tell the scores of it."""
        super().fit(estimator, samples, rows, caller, context)
        for score in self.scores.values():
            if not learns(score):
                fit_score(score, estimator, samples, rows, samples.final)

    def evaluate_response(self, response, y):
        """Return labels, losses, gains read off, and what others are learned from."""
        # Scores come first: labels may follow from what they are read off.
        found = []
        for score in self.scores.values():
            if learns(score):
                found += score.collect(response, y)
            else:
                found.append(evaluate_score(score, response, "gain_score")[1])
        check_labels(response)
        return response.labels, self.loss(y, response.labels), *found

    def learn(self, estimator, samples, values, second, plan, n_jobs):
        """Return the score of the least area, its gains of all folds, and the areas.

        `values` are what folds said of the first classifier, `second` of the expert.
        """
        _, first, *found = values
        names, score = list(self.scores), self.learned
        if score is None:
            return self.scores[names[0]], found[0], {}
        X, _ = samples.take(estimator, plan.tested, plan.final)
        seen = score.samples_of(Response(estimator, X))
        *plain, outputs, labels, targets = found
        if self.needs_expert:
            targets = np.column_stack([first, second[1]])
        collected = outputs, labels, targets
        weight = take_weight(samples.sample_weight, plan.tested)
        gains = cross_fit(score, seen, collected, weight, plan, n_jobs)
        name, areas = names[-1], {}
        gains = dict(zip(names, [*plain, gains], strict=True))
        if plain:
            losses = first, second[1]
            name, areas = choose_by_area(gains, *losses, sample_weight=weight)
        if self.scores[name] is score:
            score.fit_collected(seen, *collected, weight, estimator=estimator)
        return self.scores[name], gains[name], areas


@dataclass(frozen=True, eq=False)
class DeferralCalibration:
    """What a rule of deferral is solved on: opinions on samples not fitted on.

    Attributes
    ----------
    gain : ndarray of shape (n_calibration,)
        Score of what asking gains, higher = deferred first.

    predictions, expert_labels : ndarray of shape (n_calibration,)
        Labels by the first classifier, and by the expert: None where not asked.

    loss_first, loss_second : ndarray of shape (n_calibration,)
        Loss of each by the first classifier, and by the expert: NaN where the expert
        was not asked.

    cost_second : ndarray of shape (n_calibration,)
        What the expert has paid for asking others in turn.

    rows : ndarray of shape (n_calibration,)
        Which of the samples given to `fit` they are.

    sample_weight : ndarray of shape (n_calibration,) or None
        Their weights.

    draws : ndarray of shape (n_calibration,) or None
        Draws in [0, 1[ that break ties for a certificate; None where nothing can be
        certified.

    pilot : DeferralCalibration or None
        What was found out of fold of the samples fitted on, where others are held out:
        it tells which thresholds to test.

    groups : ndarray of shape (n_calibration,) or None
        Group of each, None without `group_by`.

    grouping : Groups or None
        The groups of all samples given to `fit`.
    """

    gain: np.ndarray
    predictions: np.ndarray
    loss_first: np.ndarray
    expert_labels: np.ndarray
    loss_second: np.ndarray
    cost_second: np.ndarray
    rows: np.ndarray
    sample_weight: np.ndarray | None = None
    draws: np.ndarray | None = None
    pilot: object = None
    groups: np.ndarray | None = None
    grouping: object = None

    @property
    def samples(self):
        """What every solver takes."""
        names = "gain", "loss_first", "loss_second", "sample_weight"
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Gain(Uncertainty):
    """A score of what asking gains that is read off, and a loss."""

    def evaluate_response(self, response, y):
        """Return gain, loss and prediction of each sample."""
        labels, gain = evaluate_score(self.score, response, "gain_score")
        check_labels(response)
        return gain, self.loss(y, labels), labels


@dataclass(frozen=True, eq=False)
class EvaluatedDeferral(Evaluated):
    """A fitted classifier, expert and score of gain, and what they say out of sample.

    `areas` are the areas under the deferral curve of the scores to choose from.
    """

    expert: object = None
    calibration: DeferralCalibration | None = None
    areas: dict | None = None


def evaluate_deferral(caller, gains, consultation, samples, needs_pilot, plan):
    """Fit a classifier, an expert and a score of gain, and evaluate them out of sample.

    `gains` and `consultation` are what folds evaluate of classifier and expert, `plan`
    is of :mod:`sklearn_reject._fitting._splits`. Where samples are held out, others are
    evaluated out of fold to learn from, and for a pilot.
    """
    estimator, expert, X, y = caller.estimator, caller.expert, samples.X, samples.y
    gains.check(estimator, X)
    # Where samples are held out, and nothing is learned of it, that will do.
    of_expert = plan
    if not plan.folds and (gains.learned is not None or needs_pilot):
        folds = inner_folds(np.arange(len(y))[plan.final], y, stratify=True)
        plan = replace(plan, folds=folds)
        of_expert = plan if gains.needs_expert or needs_pilot else of_expert
    samples = replace(samples, final=plan.final)
    context = caller._init_callback_context(max_subtasks=2, sequential_subtasks=False)
    context.call_on_fit_task_begin(estimator=caller, X=X, y=y)
    # The expert, who may be dear, comes last: samples that no one can use cost nothing.
    task = _part_of(context, "fit-estimator", 0, plan)
    estimator, gains, values = fit_with_folds(
        estimator, gains, samples, plan.folds, caller, task
    )
    task = None if is_fixed(expert) else _part_of(context, "fit-expert", 1, of_expert)
    given = replace(samples, fit_params=samples.expert_params)
    expert, second, second_held_out = evaluate_expert(
        expert, consultation, given, of_expert, caller, task
    )
    context.call_on_fit_task_end(estimator=caller, X=X, y=y)

    [*_, score], found, areas = gains.scores.values(), None, {}
    if plan.folds:
        of_folds = estimator, samples, values, second, plan, caller.n_jobs
        score, gain, areas = gains.learn(*of_folds)
        if second:
            found = DeferralCalibration(gain, *values[:2], *second, plan.tested)
    score = Gain(score, gains.loss)
    if plan.held_out is not None:
        of_held_out = estimator, samples, plan.held_out, plan.final
        gain, losses, labels = score.evaluate(*of_held_out)
        rows = np.arange(len(y))[plan.held_out]
        second = labels, losses, *second_held_out, rows
        found = DeferralCalibration(gain, *second, pilot=found)
    found_of = {"expert": expert, "calibration": found, "areas": areas}
    return EvaluatedDeferral(
        estimator, score, plan, found.gain, rows=found.rows, **found_of
    )


def _part_of(context, name, number, plan):
    """Return the context of all fits of one of both."""
    n_fits = len(plan.folds) + 1
    options = {"max_subtasks": n_fits, "sequential_subtasks": False}
    return context.subcontext(task_name=name, task_id=number, **options)
