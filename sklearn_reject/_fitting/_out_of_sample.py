"""What an estimator and its score say about samples that neither has seen."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._curves._prefixes import snap
from sklearn_reject._fitting._folds import Collected, Uncertainty, fit_with_folds
from sklearn_reject._fitting._splits import DEFAULT_FOLDS, inner_folds, plan_to_hold_out
from sklearn_reject._sklearn import _num_samples, _safe_indexing
from sklearn_reject._travel import Carried, pack_rows, unpack_rows
from sklearn_reject._validation import take_weight

# Ties count from so many samples, and from this share of the calibration set on. Where
# more than that share of all samples are in such ties, at scores that the final
# estimator never gives, a target of .8 gave new samples a coverage of .03 to 1: on six
# sets with 1,000 samples, of ten kinds of classifiers. Otherwise it was .71 to .89.
_FEWEST_TIED = 5

_LEAST_TIE = 0.01

_LARGEST_SHARE = 0.4

# Of each class. With fewer, the half that is fitted would have none for a fold.
_FEWEST_TO_HOLD_OUT = 2 * DEFAULT_FOLDS


def avoid_coarse_scores(evaluate, plan, samples, random_state):
    """Return what `evaluate` finds by a plan, or by another one if scores are coarse.

    A threshold on levels that only folds have means nothing to the final estimator: of
    new samples it accepts any share. If the folds were left to us, a share is held out,
    unless there are too few samples.
    """
    evaluated, y = evaluate(plan=plan), samples.y
    if not plan.folds:
        return evaluated
    columns = evaluated.scores.reshape(len(evaluated.scores), -1).T
    weight = take_weight(samples.sample_weight, evaluated.rows)
    weight = np.ones(len(columns[0])) if weight is None else weight
    limit = _LARGEST_SHARE * weight.sum()
    if all(weight @ _are_tied(snap(column), weight) <= limit for column in columns):
        return evaluated
    final, *labels = evaluated.evaluate_final(samples)
    final = final.reshape(len(final), -1).T
    are_coarse = np.array(
        [
            weight @ _are_foreign(*pair, weight) > limit
            for pair in zip(columns, final, strict=True)
        ]
    )
    if not are_coarse.any():
        return evaluated
    members = np.unique(y, return_counts=True)[1] if plan.is_stratified else [len(y)]
    if plan.is_default and min(members) >= _FEWEST_TO_HOLD_OUT:
        held_out = plan_to_hold_out(samples, plan.is_stratified, random_state)
        return evaluate(plan=held_out)
    # Other scores may know the samples that they were fitted on.
    rows = evaluated.rows
    scores = np.where(are_coarse, final[:, rows].T, columns.T)
    scores = scores.reshape(evaluated.scores.shape)
    return replace(evaluated, final=(scores, *(each[rows] for each in labels)))


def _are_foreign(scores, others, weight):
    """Tell which scores are in large ties, and not among others."""
    scores, others = np.split(snap(np.append(scores, others)), [len(scores)])
    return _are_tied(scores, weight) & ~np.isin(scores, others)


def _are_tied(scores, weight):
    """Tell which scores are in large ties."""
    _, groups, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    totals = np.bincount(groups, weights=weight)
    is_large = (sizes >= _FEWEST_TIED) & (totals >= _LEAST_TIE * weight.sum())
    return is_large[groups]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A fitted estimator and its score, and what they say out of sample.

    `scores` has one entry or row, and `losses` one number, for each of `rows`, and so
    has `labels` one prediction, where the score keeps it; all are None where the plan,
    the one that was followed, evaluates nothing.
    """

    estimator: object
    score: object
    plan: object
    scores: np.ndarray | None = None
    losses: np.ndarray | None = None
    labels: np.ndarray | None = None
    rows: object = None
    #: Scores, and labels if any, of the rows by the final fit, if those are coarse.
    final: tuple | None = None

    def evaluate_final(self, samples):
        """Return scores, and labels if any, of all samples by the final fit."""
        every = np.arange(_num_samples(samples.X))
        found = self.score.evaluate(self.estimator, samples, every, self.plan.final)
        return found[0], *found[2:]


def evaluate_for_threshold(caller, score, samples, plan):
    """Evaluate as :func:`evaluate_out_of_sample` does, for a threshold on the scores.

    Default folds whose scores are coarse are replaced by a share held out.
    """
    given = evaluate_out_of_sample, caller, caller.estimator, score, samples
    return avoid_coarse_scores(partial(*given), plan, samples, caller.random_state)


def evaluate_out_of_sample(caller, estimator, score, samples, plan):
    """Fit an estimator and its score, and evaluate both on samples they have not seen.

    `score` is one of :mod:`sklearn_reject._fitting._folds`, `plan` of
    :mod:`sklearn_reject._fitting._splits`; `caller` is the meta-estimator, with
    `n_jobs`, whose callbacks see the fits.
    """
    samples = replace(samples, final=plan.final)
    score.check(estimator, samples.X)
    is_learned = isinstance(score, Collected)
    if is_learned and not plan.folds:
        # A score that is learned needs folds of the part that is not held out.
        folds = inner_folds(plan.final, samples, score.classes is not None)
        plan = replace(plan, folds=folds)
    context = caller._init_callback_context(
        max_subtasks=len(plan.folds) + 1, sequential_subtasks=False
    )
    estimator, score, values = fit_with_folds(
        estimator, score, samples, plan.folds, caller, context
    )
    rows = plan.tested
    if is_learned:
        *collected, losses = values
        seen = score.learn(estimator, samples, collected, rows, plan.final)
        labels, score = score.labels(collected), Uncertainty(score.score, score.loss)
        if plan.held_out is None:
            weight = take_weight(samples.sample_weight, rows)
            uncertainty = cross_fit(
                score.score, seen, collected, weight, plan, caller.n_jobs
            )
            values = uncertainty, losses, labels
    if plan.held_out is not None:
        rows = plan.held_out
        values = score.evaluate(estimator, samples, rows, plan.final)
    return Evaluated(estimator, score, plan, *values, rows=rows)


def cross_fit(score, seen, collected, weight, plan, n_jobs):
    """Return the uncertainty of each collected row, by a score learned without it.

    `collected` is what the score collected of the rows of the folds, which may repeat;
    `seen` and `weight` are samples and weights of the same rows.
    """
    sizes, rows = [len(test) for _, test in plan.folds], plan.tested
    number = np.repeat(np.arange(len(sizes)), sizes)
    tasks, tests = [], []
    shared = Carried((score, seen, weight, collected))
    for fold in np.unique(number):
        test = np.flatnonzero(number == fold)
        train = np.flatnonzero(~np.isin(rows, rows[test]))
        if not len(train):
            raise ValueError(
                "cv must have at least two splits with different test parts, as a "
                "score is learned without the samples that it is evaluated on. Use an "
                "int, or a float to hold a share out."
            )
        tests.append(test)
        packed = (pack_rows(part, len(rows)) for part in (train, test))
        tasks.append(delayed(_learn_and_predict)(shared, *packed))
    uncertainty = np.empty(len(number))
    for test, part in zip(tests, Parallel(n_jobs=n_jobs)(tasks), strict=True):
        uncertainty[test] = part
    return uncertainty


def _learn_and_predict(shared, train, test):
    score, seen, weight, collected = shared.value
    learned = score.clone_resolved()
    train, test = (unpack_rows(rows, len(collected[0])) for rows in (train, test))
    known = (values[train] for values in collected)
    weight = take_weight(weight, train)
    learned.fit_collected(_safe_indexing(seen, train), *known, weight)
    outputs, labels, _ = (values[test] for values in collected)
    return learned.predict_collected(_safe_indexing(seen, test), outputs, labels)
