"""The best threshold of one score, and the best direction and threshold of two."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._curves._ood import check_ood_prior, check_origin_samples
from sklearn_reject._validation import check_number, check_option, of_arrays
from sklearn_reject.selection._ood_model import OODModel, Totals
from sklearn_reject.selection._ood_rule import (
    DoubleScoreRule,
    SingleScoreRule,
    TailScoreRule,
    check_two_scores,
    fit_tail,
)
from sklearn_reject.selection._sweep import DirectionSearch, ThresholdSearch, weights_of


def check_model(
    min_tpr=None,
    max_fpr=None,
    max_risk=None,
    min_precision=None,
    costs=None,
    ood_prior=None,
):
    """Return the model that the parameters ask for."""
    ood_prior = check_ood_prior(ood_prior)
    others = {"max_fpr": max_fpr, "max_risk": max_risk, "min_precision": min_precision}
    others = {name: bound for name, bound in others.items() if bound is not None}
    name, bound = next(iter(others.items()), (None, None))
    is_bounded = min_tpr is not None or bool(others)
    if is_bounded == (costs is not None):
        what = "more than one" if is_bounded else "none"
        raise ValueError(
            f"Exactly one target must be given, got {what}. Pass min_tpr (alone, or "
            "with max_fpr, max_risk, or min_precision and ood_prior), or costs."
        )
    if ood_prior is None and (costs is not None or min_precision is not None):
        raise ValueError(
            "ood_prior is needed with min_precision and costs, got None. Pass the "
            "share of OOD samples that you expect in production."
        )
    if costs is not None:
        return OODModel(None, "costs", _check_costs(costs), ood_prior)
    if len(others) > 1:
        given = " and ".join(f"{name}={bound!r}" for name, bound in others.items())
        raise ValueError(
            f"{given} exclude each other. Pass one of them beside min_tpr."
        )
    if min_tpr is None:
        raise ValueError(
            f"{name}={bound!r} needs min_tpr, the share of ID samples to accept: "
            "without it, a rule that rejects nearly everything would be the best."
        )
    min_tpr = check_number(min_tpr, "min_tpr", high=1.0, open_low=True)
    if name is not None:
        high = np.inf if name == "max_risk" else 1.0
        bound = check_number(bound, name, high=high, open_low=name == "min_precision")
    return OODModel(min_tpr, name, bound, ood_prior)


#: What says which model to solve, as every function that solves one calls it.
MODEL_PARAMETERS = tuple(signature(check_model).parameters)


def _check_costs(costs):
    """Return the costs as three floats, the second above the third."""
    if np.shape(costs) == (3,):
        found = tuple(check_number(cost, f"costs[{i}]") for i, cost in enumerate(costs))
        if found[1] > found[2]:
            return found
    raise ValueError(
        "costs must be three numbers, of rejecting an ID sample, of accepting an OOD "
        f"sample and, below that, of rejecting one, got {costs!r}."
    )


@of_arrays
def tune_single_score(
    scores: ArrayLike,
    losses: ArrayLike,
    is_ood: ArrayLike,
    *,
    min_tpr: float | None = None,
    max_fpr: float | None = None,
    max_risk: float | None = None,
    min_precision: float | None = None,
    costs: tuple[float, float, float] | None = None,
    ood_prior: float | None = None,
    wild_share: float | None = None,
    randomize: bool = True,
    sample_weight: ArrayLike | None = None,
) -> SingleScoreRule:
    """Find the best threshold of one score for ID and OOD samples.

    Solves one of four models (FPP23): least selective risk at a bounded TPR and FPR, or
    at a bounded TPR and precision, least FPR at a bounded TPR and risk, or least
    expected cost. With `min_tpr` alone the risk of all that is accepted is least, OOD
    samples included: each loses the largest loss of the ID samples. All thresholds
    are compared. Of equally good ones the one of the largest TPR is taken, then of the
    smallest FPR.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores, higher = rejected first. Minus infinity is always accepted, infinity
        never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution or, with `wild_share`, of the mixture.
        Without any (of positive weight) the FPR is NaN, and targets that need it raise
        an error.

    min_tpr : float in (0, 1], default=None
        Least share of the ID samples to accept (the recall of ID samples). Where
        nothing is asked for beside it, an accepted OOD sample is an error.

    max_fpr : float in [0, 1], default=None
        Largest share of the OOD samples to accept, in addition to `min_tpr`. With 1 any
        share will do, and the risk of the ID samples alone is least.

    max_risk : float >= 0, default=None
        Largest selective risk, in units of the loss, in addition to `min_tpr` and
        instead of `max_fpr`. The rule with the lowest FPR is then found.

    min_precision : float in (0, 1], default=None
        Smallest share of ID samples among the accepted ones, in addition to `min_tpr`
        and instead of `max_fpr`. Needs `ood_prior`.

    costs : tuple of three floats >= 0, default=None
        Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting one,
        in units of the loss. The second must be above the third. Needs `ood_prior`.

    ood_prior : float in [0, 1), default=None
        Share of OOD samples in production, which may differ from that in the tuning
        sample. None stands for the latter where `min_tpr` is alone.

    wild_share : float in (0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. The FPR is then
        estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
        `wild_share`, and may be slightly negative; a share that is too small makes it
        too small, as long as more is accepted of ID than of OOD samples. None, as 1,
        where all are OOD.

    randomize : bool, default=True
        Whether samples at the threshold may be accepted with a probability between 0
        and 1, which then meets a bound exactly. If False, ties are accepted together.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    rule : SingleScoreRule
        The rule, with what it achieves on the sample.

    Raises
    ------
    InfeasibleTargetError
        If no threshold meets both bounds. Its `attainable` says how far each can be met
        while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range or needs OOD
        samples that are not there, an array is invalid, or there is no ID sample.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_single_score
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> losses, is_ood = [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]
    >>> rule = tune_single_score(scores, losses, is_ood, min_tpr=0.75, max_fpr=0.5)
    >>> rule.threshold, rule.tpr, rule.fpr, round(rule.selective_risk, 3)
    (0.4, 0.75, 0.5, 0.333)
    """
    model = check_model(min_tpr, max_fpr, max_risk, min_precision, costs, ood_prior)
    check_option(randomize, "randomize", (True, False))
    sample = check_origin_samples(scores, losses, is_ood, sample_weight)
    search = ThresholdSearch(*sample, randomize)
    rule = SingleScoreRule(threshold=0.0, proba_at_threshold=1.0)
    solve, totals = _solver(model, search, rule, sample[:1], sample, wild_share)
    return model.solve(solve, totals)


@of_arrays
def tune_double_score(
    uncertainty_scores: ArrayLike,
    novelty_scores: ArrayLike,
    losses: ArrayLike,
    is_ood: ArrayLike,
    *,
    min_tpr: float | None = None,
    max_fpr: float | None = None,
    max_risk: float | None = None,
    min_precision: float | None = None,
    costs: tuple[float, float, float] | None = None,
    ood_prior: float | None = None,
    wild_share: float | None = None,
    randomize: bool = True,
    sample_weight: ArrayLike | None = None,
) -> DoubleScoreRule:
    """Find the best weights and threshold of two scores for ID and OOD samples.

    Solves one of four models (FPP23): least selective risk at a bounded TPR and FPR, or
    at a bounded TPR and precision, least FPR at a bounded TPR and risk, or least
    expected cost, among the rules that accept where a sum of both scores, neither
    weight negative, is below a threshold. With `min_tpr` alone the risk of all that is
    accepted is least, OOD samples included: each loses the largest loss of the ID
    samples. Each score on its own is among them, so on the calibration set two scores
    are never worse than one. All thresholds of a direction are compared, with more than
    the least TPR too. Of equally good rules the one of the largest TPR is taken, then
    of the smallest FPR, then of the smallest weight of the novelty.

    Parameters
    ----------
    uncertainty_scores : array-like of shape (n_samples,)
        Finite risk scores, higher = more likely wrong.

    novelty_scores : array-like of shape (n_samples,)
        Novelty scores, higher = more novel. Minus infinity is always accepted, infinity
        never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution or, with `wild_share`, of the mixture.
        Without any (of positive weight) the FPR is NaN, and targets that need it raise
        an error.

    min_tpr : float in (0, 1], default=None
        Least share of the ID samples to accept (the recall of ID samples). Where
        nothing is asked for beside it, an accepted OOD sample is an error.

    max_fpr : float in [0, 1], default=None
        Largest share of the OOD samples to accept, in addition to `min_tpr`. With 1 any
        share will do, and the risk of the ID samples alone is least.

    max_risk : float >= 0, default=None
        Largest selective risk, in units of the loss, in addition to `min_tpr` and
        instead of `max_fpr`. The rule with the lowest FPR is then found.

    min_precision : float in (0, 1], default=None
        Smallest share of ID samples among the accepted ones, in addition to `min_tpr`
        and instead of `max_fpr`. Needs `ood_prior`.

    costs : tuple of three floats >= 0, default=None
        Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting one,
        in units of the loss. The second must be above the third. Needs `ood_prior`.

    ood_prior : float in [0, 1), default=None
        Share of OOD samples in production, which may differ from that in the tuning
        sample. None stands for the latter where `min_tpr` is alone.

    wild_share : float in (0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. The FPR is then
        estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
        `wild_share`, and may be slightly negative; a share that is too small makes it
        too small, as long as more is accepted of ID than of OOD samples. None, as 1,
        where all are OOD.

    randomize : bool, default=True
        Whether samples at the threshold may be accepted with a probability between 0
        and 1, which then meets a bound exactly. If False, ties are accepted together.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    rule : DoubleScoreRule
        The rule, with what it achieves on the sample.

    Raises
    ------
    InfeasibleTargetError
        If no rule meets both bounds. Its `attainable` says how far each can be met
        while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range or needs OOD
        samples that are not there, an array is invalid, there is no ID sample, or
        scores are too large or too close to each other to be added up.

    Notes
    -----
    Up to 2,000 samples, or points that many samples share, the search finds the best of
    all directions, except for the few at which different samples happen to tie: there a
    rule that draws would depend on rounding. Beyond, it compares 181 directions, from
    the risk alone to the novelty alone, with all their thresholds, and then looks
    closer and closer around the best. From each direction to the next about equally
    many pairs of samples change their order, so units and tails of the scores do not
    matter. On 107 problems of 3,000 to 12,000 samples, three times as many directions
    changed the least risk, FPR or cost by .01% on average and by .7% at most.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_double_score
    >>> risk = [0.1, 0.4, 0.2, 0.3, 0.1, 0.2]
    >>> novelty = [1.0, 2.0, 3.0, 1.0, 4.0, 5.0]
    >>> losses, is_ood = [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]
    >>> rule = tune_double_score(
    ...     risk, novelty, losses, is_ood, min_tpr=0.75, max_fpr=0.1
    ... )
    >>> rule.selective_risk, rule.tpr, rule.fpr
    (0.0, 0.75, 0.0)
    >>> rule.accept(risk, novelty)
    array([ True, False,  True,  True, False, False])
    """
    model = check_model(min_tpr, max_fpr, max_risk, min_precision, costs, ood_prior)
    sample = uncertainty_scores, novelty_scores, losses, is_ood, sample_weight
    return find_double_score_rule(model, *sample, wild_share, randomize)


def find_double_score_rule(
    model,
    uncertainty_scores,
    novelty_scores,
    losses,
    is_ood,
    sample_weight=None,
    wild_share=None,
    randomize=True,
    spares_ood=False,
):
    """Return the best rule of a model.

    With `spares_ood` it is, where the risk of ID samples is minimized, the rule of the
    lowest FPR (or of the largest precision) among those whose risk is within a standard
    error of the lowest one.
    """
    check_option(randomize, "randomize", (True, False))
    risk, novelty = check_two_scores(uncertainty_scores, novelty_scores)
    sample = check_origin_samples(novelty, losses, is_ood, sample_weight)
    search = DirectionSearch(risk, *sample, randomize)
    rule = DoubleScoreRule(threshold=0.0, proba_at_threshold=1.0)
    scores = risk, novelty
    solve, totals = _solver(model, search, rule, scores, sample, wild_share)
    rule = model.solve(solve, totals)
    if spares_ood and totals.of_ood and model.name in ("max_fpr", "min_precision"):
        _, losses, is_ood, weight = sample
        share = rule.accept_proba(*scores) * weight * ~is_ood
        share /= share.sum()
        # The root of the variance over the number, which is effective with weights.
        error = np.sqrt(share @ (losses - share @ losses) ** 2 * (share @ share))
        rule = model.spare(solve, totals, rule, float(error))
    return rule


def _solver(model, search, rule, scores, sample, wild_share):
    """Return a function from a problem to a rule like one, and the totals."""
    _, losses, is_ood, weight = sample
    options = {"sample_weight": weight, "wild_share": wild_share}

    def solve(problem):
        cut = search.find_cut(problem)
        if cut is None:
            return None
        values = {"threshold": cut.threshold, "proba_at_threshold": cut.share}
        if isinstance(search, DirectionSearch):
            weights = weights_of(cut.slope)
            values["risk_weight"], values["novelty_weight"] = weights
        found = replace(rule, **values, ood_prior=model.ood_prior)
        return found.measure(*scores, losses, is_ood, **options)

    return solve, Totals.of_samples(losses, is_ood, weight, wild_share)


@of_arrays
def tune_tail_score(
    uncertainty_scores,
    novelty_scores,
    losses,
    is_ood,
    *,
    min_tpr,
    ood_prior=None,
    wild_share=None,
    sample_weight=None,
):
    """Accept a share of the ID samples by a stated combination of two scores.

    For want of OOD samples nothing can be tuned but the threshold. Risk and novelty are
    each turned into minus the logarithm of the share of ID samples that score higher,
    and added with equal weights. The rule meets `min_tpr` exactly: of what is novel the
    less is accepted, the lower the threshold is.

    Parameters
    ----------
    uncertainty_scores : array-like of shape (n_samples,)
        Finite risk scores, higher = more likely wrong.

    novelty_scores : array-like of shape (n_samples,)
        Novelty scores, higher = more novel. Minus infinity is always accepted, infinity
        never.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. They do not change the rule, only what it
        reports. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution. Such samples do not change the rule,
        only what it reports.

    min_tpr : float in (0, 1]
        Share of the ID samples to accept.

    ood_prior : float in [0, 1), default=None
        Share of OOD samples in use. It does not change the rule, which reports the
        precision there.

    wild_share : float in (0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. The FPR is then
        estimated as (accepted share of the mixture - (1 - `wild_share`) TPR) /
        `wild_share`. None, as 1, where all of them are OOD.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    rule : TailScoreRule
        The rule, with what it achieves on the sample.

    Raises
    ------
    InfeasibleTargetError
        If too many ID samples have infinite novelty.
    ValueError
        If a parameter is out of range or an array invalid, or there is no ID sample.

    References
    ----------
    R. A. Fisher. Statistical methods for research workers. Section 21.1, 1932.

    Examples
    --------
    >>> from sklearn_reject.selection import tune_tail_score
    >>> risk, novelty = [0.1, 0.2, 0.3, 0.4], [7.0, 5.0, 6.0, 8.0]
    >>> rule = tune_tail_score(risk, novelty, [0, 0, 0, 1], [0] * 4, min_tpr=0.75)
    >>> rule.tpr, rule.selective_risk
    (0.75, 0.0)
    """
    min_tpr = check_number(min_tpr, "min_tpr", high=1.0, open_low=True)
    model = OODModel(min_tpr, None, None, check_ood_prior(ood_prior))
    risk, novelty = check_two_scores(uncertainty_scores, novelty_scores)
    sample = check_origin_samples(novelty, losses, is_ood, sample_weight)
    _, losses, is_ood, weight = sample
    present = ~is_ood & (weight > 0)
    finite = present & np.isfinite(novelty)
    # Where every rule decides alike about all samples, any tail will do.
    known = finite if finite.any() else present
    usual = np.where(np.isfinite(novelty), novelty, 0.0)
    tails = [fit_tail(each[known], weight[known]) for each in (risk, usual)]
    rule = TailScoreRule(
        threshold=0.0,
        proba_at_threshold=1.0,
        risk_weight=0.5,
        novelty_weight=0.5,
        risk_tail=tails[0],
        novelty_tail=tails[1],
    )
    combined, sizes = rule._combine_with_sizes(risk, novelty)
    search = ThresholdSearch(combined, losses, is_ood, weight, True, sizes)
    solve, totals = _solver(model, search, rule, (risk, novelty), sample, wild_share)
    return model.solve(solve, totals, totals.reach(min_tpr))
