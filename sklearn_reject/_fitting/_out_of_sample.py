"""What an estimator and its score say about samples that neither has seen."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from sklearn_reject._fitting._folds import begin_fits, evaluate_folds
from sklearn_reject._fitting._learned import cross_fit
from sklearn_reject._fitting._scores import Collected, Uncertainty, learn_from
from sklearn_reject._fitting._splits import inner_folds


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A fitted estimator and its score, and what they say out of sample.

    `scores` has one entry or row, and `losses` one number, for each of `rows`; all
    three are None where the plan evaluates nothing.
    """

    estimator: object
    score: object
    scores: np.ndarray | None = None
    losses: np.ndarray | None = None
    rows: object = None


def evaluate_out_of_sample(
    estimator, score, X, y, *, plan, caller, fit_params=None, sample_weight=None
):
    """Fit an estimator and its score, and evaluate both on samples they have not seen.

    `score` is one of :mod:`sklearn_reject._fitting._scores`, `plan` of
    :mod:`sklearn_reject._fitting._splits`; `caller` is the meta-estimator, with
    `n_jobs`, whose callbacks see the fits.
    """
    fit_params = fit_params or {}
    if isinstance(score, Collected) and not plan.folds:
        # A score that is learned needs folds of the part that is not held out.
        folds = inner_folds(plan.final, y, score.classes is not None)
        plan = replace(plan, folds=folds)
    context = begin_fits(caller, X, y, n_fits=len(plan.folds) + 1)
    values = evaluate_folds(
        estimator,
        score,
        *(X, y, sample_weight, plan.folds, fit_params),
        caller=caller,
        context=context,
    )
    task = context.subcontext(task_name="fit-final-estimator", task_id=len(plan.folds))
    estimator, score = clone(estimator), score.clone()
    score.fit(estimator, X, y, sample_weight, plan.final, fit_params, caller, task)
    context.call_on_fit_task_end(estimator=caller, X=X, y=y)
    rows = np.concatenate([test for _, test in plan.folds]) if plan.folds else None
    if isinstance(score, Collected):
        learn_from(score, estimator, X, values[:-1], sample_weight, rows, plan.final)
        if plan.held_out is None:
            scores = _cross_fit(
                score.score, X, values, sample_weight, rows, plan, caller
            )
            values = scores, values[-1]
        score = Uncertainty(score.score, score.loss)
    if plan.held_out is not None:
        rows = plan.held_out
        values = score.evaluate(estimator, X, y, rows, plan.final)
    return Evaluated(estimator, score, *values, rows=rows)


def _cross_fit(score, X, values, sample_weight, rows, plan, caller):
    sizes = [len(test) for _, test in plan.folds]
    folds = np.repeat(np.arange(len(sizes)), sizes)
    return cross_fit(score, X, values[:-1], sample_weight, rows, folds, caller.n_jobs)
