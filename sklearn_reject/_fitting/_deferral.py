"""What a first classifier and an expert say about samples that neither has seen."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from sklearn_reject._curves._deferral import choose_by_area
from sklearn_reject._fitting._experts import consult, in_rows, is_fixed
from sklearn_reject._fitting._folds import (
    Collected,
    FoldScore,
    Uncertainty,
    check_labels,
    evaluation_of,
    fit_with_folds,
    learns,
)
from sklearn_reject._fitting._out_of_sample import (
    Evaluated,
    avoid_coarse_scores,
    cross_fit,
)
from sklearn_reject._fitting._splits import ALL_ROWS, inner_folds
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import _num_samples
from sklearn_reject._validation import take_weight
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.losses import losses_where_known
from sklearn_reject.scores import evaluate_score


@dataclass(frozen=True, eq=False)
class ReadOffGain(Uncertainty):
    """A score of what asking gains that is read off a fitted classifier, and a loss."""

    def evaluate_response(self, response, y):
        """Return gain, loss and prediction of each sample."""
        labels, gain = evaluate_score(self.score, response, "gain_score")
        check_labels(response)
        return gain, self.loss(y, labels), labels


@dataclass(frozen=True, eq=False)
class Gains(FoldScore):
    """Scores of what asking an expert gains, by name, each with the loss.

    There is one, or one that is read off a classifier before one that is learned.
    """

    scores: dict

    @classmethod
    def of(cls, scores, loss, classes):
        """Return scores with the loss of a classifier of all these classes."""
        found = {name: ReadOffGain(score, loss) for name, score in scores.items()}
        for name, score in scores.items():
            if learns(score):
                found[name] = evaluation_of(score, loss, classes)
        return cls(found)

    @property
    def last(self):
        """The score that is learned from what folds collect, or the only one."""
        return list(self.scores.values())[-1]

    @property
    def learns(self):
        """Whether samples are needed that the classifier was not fitted on."""
        return any(score.learns for score in self.scores.values())

    @property
    def is_learned(self):
        """Whether a score is learned from what folds collect."""
        return isinstance(self.last, Collected)

    @property
    def needs_expert(self):
        """Whether it is learned from what an expert says, too."""
        return getattr(self.last.score, "needs_expert", False)

    def check(self, estimator, X):
        """Let scores choose their features, or object to the samples."""
        for score in self.scores.values():
            score.check(estimator, X)

    def clone(self):
        """Return an unfitted copy; what is learned is not fitted on folds."""
        return Gains({name: score.clone() for name, score in self.scores.items()})

    def fit(self, *args):
        """Fit the classifier, and tell the score of it that is read off, if any."""
        next(iter(self.scores.values())).fit(*args)

    def evaluate_response(self, response, y):
        """Return what each score finds, one after the other."""
        found = (x.evaluate_response(response, y) for x in self.scores.values())
        return tuple(chain.from_iterable(found))

    def learn(self, estimator, samples, values, second, plan, n_jobs):
        """Return the score of least area, and areas; gains, losses and labels of folds.

        `values` are what folds said of the first classifier, `second` of the expert.
        """
        if not self.is_learned:
            return self.last.score, {}, values
        score, rows = self.last.score, plan.tested
        *plain, outputs, labels, targets, first = values
        if self.needs_expert:
            targets = np.column_stack([first, second[1]])
        collected = outputs, labels, targets
        weight = take_weight(samples.sample_weight, rows)
        X, _ = samples.take(estimator, rows, plan.final)
        seen = score.samples_of(Response(estimator, X))
        gain = cross_fit(score, seen, collected, weight, plan, n_jobs)
        areas = {}
        if plain:
            gains = dict(zip(self.scores, [plain[0], gain], strict=True))
            name, areas = choose_by_area(gains, first, second[1], sample_weight=weight)
            if self.scores[name] is not self.last:
                return self.scores[name].score, areas, plain
        score.fit_collected(seen, *collected, weight, estimator=estimator)
        return score, areas, (gain, first, self.last.labels(collected))


@dataclass(eq=False)
class Consultation(FoldScore):
    """What an expert says, by its loss, and what it costs where it asks in turn.

    `labels` are those that users give (n_samples,), some of which may be missing, or
    None. What is not fitted is asked once, about some rows, and `known` then.
    """

    loss: object
    labels: np.ndarray | None = None
    known: tuple | None = None

    def fit(self, estimator, samples, rows, *context):
        """Fit an expert; where one inside fails, its rows are those of all samples."""
        try:
            super().fit(estimator, samples, rows, *context)
        except ExpertError as error:
            every = np.arange(_num_samples(samples.X))
            raise in_rows(error, every[rows]) from (error.__cause__ or error)

    def evaluate(self, estimator, samples, rows, train):
        """Return label, loss and cost of each row; None and NaN where not known."""
        X, y = samples.take(estimator, rows, train)
        rows = np.arange(_num_samples(samples.X))[rows]
        labels, costs = consult(estimator, X, rows, self.labels)
        name = "expert" if self.labels is None else "expert_labels"
        losses = losses_where_known(self.loss, y, labels, name)
        return labels.astype(object), losses, costs

    def evaluate_fixed(self, expert, samples, plan):
        """Return what an expert who is not fitted says of rows of folds, and held out.

        It is asked about all of them at once.
        """
        every = np.arange(_num_samples(samples.X))
        parts = plan.tested, plan.held_out
        parts = [every[:0] if rows is None else every[rows] for rows in parts]
        if self.known is None:
            rows = np.union1d(*parts)
            asked = ALL_ROWS if len(rows) == len(every) else rows
            self.known = rows, self.evaluate(expert, samples, asked, ALL_ROWS)
        rows, found = self.known
        places = (np.searchsorted(rows, part) for part in parts)
        return [[values[place] for values in found] for place in places]


@dataclass(frozen=True, eq=False)
class DeferralCalibration:
    """What a rule of deferral is solved on: opinions on samples not fitted on.

    Attributes
    ----------
    gain : ndarray of shape (n_calibration,)
        Score of what asking gains.

    loss_first, loss_second : ndarray of shape (n_calibration,)
        Loss of each by the first classifier, and by the expert: NaN where the expert
        was not asked.

    predictions, expert_labels : ndarray of shape (n_calibration,)
        Labels by the first classifier, and by the expert: None where not asked.

    cost_second : ndarray of shape (n_calibration,)
        What the expert has paid for asking others in turn.

    rows : ndarray of shape (n_calibration,)
        Which of the samples given to `fit` they are.

    sample_weight : ndarray of shape (n_calibration,) or None
        Their weights.

    draws : ndarray of shape (n_calibration,) or None
        Draws in [0, 1) that break ties for a certificate; None where nothing can be
        certified.

    pilot : DeferralCalibration or None
        What was found out of fold of the samples fitted on, where others are held out:
        it tells which thresholds to test.

    groups : ndarray of shape (n_calibration,) or None
        Group of each, None without `group_by`.

    grouping : Groups or None
        The groups of all samples given to `fit`.

    clusters : Clusters or None
        Numbers of their clusters, and sizes of these in all of `fit`. None without
        `groups` in `fit`.
    """

    gain: np.ndarray
    loss_first: np.ndarray
    predictions: np.ndarray
    expert_labels: np.ndarray
    loss_second: np.ndarray
    cost_second: np.ndarray
    rows: np.ndarray
    sample_weight: np.ndarray | None = None
    draws: np.ndarray | None = None
    pilot: object = None
    groups: np.ndarray | None = None
    grouping: object = None
    clusters: object = None

    @property
    def samples(self):
        """What every solver takes."""
        names = "gain", "loss_first", "loss_second", "sample_weight"
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class EvaluatedDeferral(Evaluated):
    """A fitted classifier, expert and score of gain, and what they say out of sample.

    `areas` are the areas under the deferral curve of the scores to choose from.
    """

    expert: object = None
    calibration: DeferralCalibration | None = None
    areas: dict | None = None


def evaluate_gains(caller, gains, expert_labels, samples, plan):
    """Fit a classifier, an expert and a score of gain, and evaluate them out of sample.

    `gains` are scores for folds, `expert_labels` those that users give, or None, and
    `plan` is of :mod:`sklearn_reject._fitting._splits`.
    """
    consultation = Consultation(gains.last.loss, expert_labels)
    evaluate = partial(_evaluate, caller, gains, consultation, samples)
    return avoid_coarse_scores(evaluate, plan, samples, caller.random_state)


def _evaluate(caller, gains, consultation, samples, plan):
    """Evaluate by a plan: of folds, or of a share held out.

    Where samples are held out, others are evaluated out of fold to learn from, and for
    a pilot.
    """
    gains.check(caller.estimator, samples.X)
    every, of_expert = np.arange(len(samples.y)), plan
    has_pilot = caller.confidence_level is not None and plan.final is not ALL_ROWS
    if not plan.folds and (gains.is_learned or has_pilot):
        folds = inner_folds(every[plan.final], samples, stratify=True)
        plan = replace(plan, folds=folds)
        if gains.needs_expert or has_pilot:  # otherwise it is not asked in vain
            of_expert = plan
    samples, expert = replace(samples, final=plan.final), caller.expert
    context = caller._init_callback_context(max_subtasks=2, sequential_subtasks=False)
    context.call_on_fit_task_begin(estimator=caller, X=samples.X, y=samples.y)
    # The expert, who may be dear, comes last: samples that no one can use cost nothing.
    estimator, gains, values = _fit("estimator", gains, samples, plan, caller, context)
    if is_fixed(expert):
        given = expert, samples, of_expert
        second, second_held_out = consultation.evaluate_fixed(*given)
    else:
        given = replace(samples, fit_params=samples.expert_params), of_expert
        expert, of_fit, second = _fit("expert", consultation, *given, caller, context)
        if plan.held_out is not None:
            held_out = plan.held_out, plan.final
            second_held_out = of_fit.evaluate(expert, samples, *held_out)
    context.call_on_fit_task_end(estimator=caller, X=samples.X, y=samples.y)

    of_folds, found = (values, second, plan, caller.n_jobs), None
    score, areas, values = gains.learn(estimator, samples, *of_folds)
    if of_expert.folds:
        found = DeferralCalibration(*values, *second, plan.tested)
    score = ReadOffGain(score, consultation.loss)
    if plan.held_out is not None:
        values = score.evaluate(estimator, samples, plan.held_out, plan.final)
        second = *second_held_out, every[plan.held_out]
        found = DeferralCalibration(*values, *second, pilot=found)
    of_rows = samples.sample_weight, samples.clusters
    weight, clusters = (take_weight(each, found.rows) for each in of_rows)
    found = replace(found, sample_weight=weight, clusters=clusters)
    given = estimator, score, plan, found.gain, found.loss_first, found.predictions
    return EvaluatedDeferral(*given, found.rows, None, expert, found, areas)


def _fit(name, score, samples, plan, caller, context):
    """Return classifier or expert, fitted, and with its score what folds say of it."""
    options = {"max_subtasks": len(plan.folds) + 1, "sequential_subtasks": False}
    number = ("estimator", "expert").index(name)
    task = context.subcontext(task_name=f"fit-{name}", task_id=number, **options)
    given = getattr(caller, name), score, samples, plan.folds, caller, task
    return fit_with_folds(*given, name)
