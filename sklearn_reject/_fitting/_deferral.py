"""What a first classifier and an expert say about samples that neither has seen."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.base import clone

from sklearn_reject._curves._deferral import choose_by_area
from sklearn_reject._fitting._experts import evaluate_expert, is_fixed
from sklearn_reject._fitting._folds import (
    FoldScore,
    Samples,
    check_labels,
    fit_score,
    fit_with_folds,
    learns,
    learns_from_samples,
    needs_samples,
)
from sklearn_reject._fitting._out_of_sample import cross_fit
from sklearn_reject._fitting._splits import inner_folds
from sklearn_reject._response._response import Response
from sklearn_reject._validation import take_weight
from sklearn_reject.scores import evaluate_score


@dataclass(frozen=True, eq=False)
class Gains(FoldScore):
    """Scores of what asking an expert gains, by name, a loss, and all class labels.

    Those that are learned are learned from what folds collect.
    """

    scores: dict
    loss: object
    classes: np.ndarray

    @property
    def learned(self):
        """Those that are learned, by name."""
        return {name: score for name, score in self.scores.items() if learns(score)}

    @property
    def plug_in(self):
        """Those that are read off a fitted classifier, by name."""
        return {n: score for n, score in self.scores.items() if not learns(score)}

    @property
    def learns(self):
        """Whether samples are needed that the classifier was not fitted on."""
        return len(self.scores) > 1 or any(
            map(learns_from_samples, self.scores.values())
        )

    @property
    def needs_expert(self):
        """Whether a score is learned from what an expert says."""
        return any(getattr(s, "needs_expert", False) for s in self.learned.values())

    def check(self, estimator, X):
        """Let scores choose their features, or object to the samples."""
        for score in self.scores.values():
            if learns(score):
                score.resolve(self.classes, self.loss).choose_features(estimator, X)
            elif needs_samples(score):
                score.check(estimator, X)

    def clone(self):
        """Return an unfitted copy; what is learned is not fitted on folds."""
        copies = {name: clone(score) for name, score in self.plug_in.items()}
        return replace(self, scores={**copies, **self.learned})

    def fit(self, estimator, samples, rows, caller, context):
        """Fit the classifier, and tell the scores of it."""
        super().fit(estimator, samples, rows, caller, context)
        if len(self.scores) > 1 and not _has_scores(estimator):
            # Of several, those that are learned need no more than labels.
            for name in self.plug_in:
                del self.scores[name]
        for score in self.plug_in.values():
            fit_score(score, estimator, samples, rows, samples.final)

    def evaluate_response(self, response, y):
        """Return labels, losses, plug-in scores, and what others are learned from."""
        # Scores come first: labels may follow from what they are read off.
        scores = [
            evaluate_score(score, response, "gain_score")[1]
            for score in self.plug_in.values()
        ]
        collected = [score.collect(response, y) for score in self.learned.values()]
        check_labels(response)
        scores = np.column_stack(scores) if scores else np.empty((len(y), 0))
        losses = self.loss(y, response.labels)
        arrays = [array for parts in collected for array in parts]
        return response.labels, losses, scores, *arrays


def _has_scores(estimator):
    """Tell whether a fitted classifier says how sure it is."""
    return any(hasattr(estimator, n) for n in ("predict_proba", "decision_function"))


@dataclass(frozen=True, eq=False)
class Opinions:
    """What both say about some samples: gain of asking, labels, losses, costs.

    Arrays of shape (n_samples,); labels and losses of the second opinion are None and
    NaN where it is not known, and its costs are those of what it asks in turn. `rows`
    are the samples of `fit` that these are.
    """

    gain: np.ndarray
    predictions: np.ndarray
    loss_first: np.ndarray
    expert_labels: np.ndarray
    loss_second: np.ndarray
    cost_second: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class EvaluatedDeferral:
    """A fitted classifier, expert and score of gain, and what they say out of sample.

    `calibration` and `pilot` are :class:`Opinions`; the latter, None unless samples are
    held out, are those of the part fitted on, out of fold. `areas` are the areas under
    the deferral curve of the scores to choose from. `plan` is the one that was
    followed.
    """

    estimator: object
    expert: object
    score: object
    calibration: Opinions
    pilot: Opinions | None
    areas: dict
    plan: object
    #: Gains and labels of the rows by the final fit, if those of folds are coarse.
    final: tuple | None = None

    @property
    def scores(self):
        """What a threshold is set on."""
        return self.calibration.gain

    @property
    def rows(self):
        """Which samples were evaluated."""
        return self.calibration.rows

    def evaluate_final(self, samples):
        """Return gains and labels of all samples by the final fit."""
        response = Response(self.estimator, samples.X)
        _, gain = evaluate_score(self.score, response, "gain_score")
        return gain, response.labels


def evaluate_deferral(caller, gains, answers, samples, needs_pilot, plan):
    """Fit a classifier, an expert and a score of gain, and evaluate them out of sample.

    `gains` and `answers` are what folds evaluate of classifier and expert, `plan` is of
    :mod:`sklearn_reject._fitting._splits`. Where samples are held out, others are
    evaluated out of fold to learn from, and for a pilot.
    """
    estimator, expert, X, y = caller.estimator, caller.expert, samples.X, samples.y
    gains.check(estimator, X)
    # Where samples are held out, and nothing is learned of it, that will do.
    of_expert = plan
    if not plan.folds and (gains.learned or len(gains.scores) > 1 or needs_pilot):
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
        expert, answers, given, of_expert, caller, task
    )
    context.call_on_fit_task_end(estimator=caller, X=X, y=y)
    _check_answers(second, second_held_out, plan.folds, gains.needs_expert)

    calibration, pilot, areas = None, None, {}
    [(name, score), *others] = gains.scores.items()
    if plan.folds:
        learner = _Learner(gains, estimator, samples, plan, values, second)
        of_name = learner.out_of_fold(caller.n_jobs)
        if others:
            losses, weight = (values[1], second[1]), learner.weight
            name, areas = choose_by_area(of_name, *losses, sample_weight=weight)
            score = gains.scores[name]
        learner.fit(name)
        if second:
            calibration = Opinions(of_name[name], *values[:2], *second, plan.tested)
    if plan.held_out is not None:
        X, y_held_out = samples.take(estimator, plan.held_out, plan.final)
        response = Response(estimator, X)
        _, gain = evaluate_score(score, response, "gain_score")
        check_labels(response)
        first, rows = response.labels, np.arange(len(y))[plan.held_out]
        losses, pilot = gains.loss(y_held_out, first), calibration
        calibration = Opinions(gain, first, losses, *second_held_out, rows)
    return EvaluatedDeferral(estimator, expert, score, calibration, pilot, areas, plan)


def _check_answers(second, held_out, folds, learns_gain):
    """Raise where answers of a person are so few that a part of the samples has none.

    A gain is learned from some folds, and evaluated on others.
    """
    if second:
        ends = np.cumsum([len(test) for _, test in folds])[:-1]
        parts = [~np.isnan(losses) for losses in np.split(second[1], ends)]
        if sum(part.any() for part in parts) < 1 + learns_gain:
            _refuse_answers(parts, "to learn from")
    if held_out and np.isnan(held_out[1]).all():
        _refuse_answers([~np.isnan(held_out[1])], "among the held-out samples")


def _refuse_answers(parts, what_for):
    n_known = sum(np.count_nonzero(part) for part in parts)
    raise ValueError(
        f"expert_labels has too few labels {what_for}: {n_known}. Ask about more "
        "samples, drawn at random, or use gain_score='confidence' with cv=None, which "
        "needs the fewest."
    )


def _part_of(context, name, number, plan):
    """Return the context of all fits of one of both."""
    n_fits = len(plan.folds) + 1
    options = {"max_subtasks": n_fits, "sequential_subtasks": False}
    return context.subcontext(task_name=name, task_id=number, **options)


@dataclass(frozen=True, eq=False)
class _Learner:
    """Learns scores of gain from what folds have collected."""

    gains: Gains
    estimator: object
    samples: Samples
    plan: object
    values: tuple
    second: tuple

    @property
    def weight(self):
        """The weights of the rows of the folds."""
        return take_weight(self.samples.sample_weight, self.plan.tested)

    def out_of_fold(self, n_jobs):
        """Return the gain of each row by each score, learned without it, by name."""
        columns = dict(zip(self.gains.plug_in, self.values[2].T, strict=True))
        for name, score in self.gains.learned.items():
            seen, collected = self._collected(name)
            columns[name] = cross_fit(
                score, seen, collected, self.weight, self.plan, n_jobs
            )
        return {name: columns[name] for name in self.gains.scores}

    def fit(self, name):
        """Learn the score of that name from all rows."""
        if name not in self.gains.learned:
            return
        seen, collected = self._collected(name)
        score = self.gains.scores[name]
        score.fit_collected(seen, *collected, self.weight, estimator=self.estimator)

    @cached_property
    def _response(self):
        """What the final classifier makes of the rows, for all scores alike."""
        X, _ = self.samples.take(self.estimator, self.plan.tested, self.plan.final)
        return Response(self.estimator, X)

    def _collected(self, name):
        """Return the samples as a score sees them, and what it learns from them."""
        score, place = self.gains.scores[name], [*self.gains.learned].index(name)
        seen = score.samples_of(self._response)
        outputs, labels, targets = self.values[3 + 3 * place : 6 + 3 * place]
        if getattr(score, "needs_expert", False):
            targets = np.column_stack([self.values[1], self.second[1]])
        return seen, (outputs, labels, targets)
