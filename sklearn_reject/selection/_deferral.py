"""Deferral to a second opinion solved on a sample: by cost, by budget and by risk."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_reject._curves._deferral import DeferralSamples, check_deferral_samples
from sklearn_reject._typing import Other, RandomState, RiskBound, Target
from sklearn_reject._validation import (
    check_number,
    check_same_length,
    check_sample_weight,
    check_vector,
    find_missing_labels,
    take_weight,
)
from sklearn_reject.exceptions import InfeasibleTargetError, gather_warnings
from sklearn_reject.selection._calibrated_rule import one_of
from sklearn_reject.selection._certify import check_confidence_level, choose_test
from sklearn_reject.selection._deferral_cut import (
    CUTS,
    DeferralRule,
    GroupedDeferralRule,
    RankedOpinions,
    Search,
    certify_budget,
)
from sklearn_reject.selection._groups import (
    as_labels,
    encode_labels,
    make_partition,
    sort_rows,
    targets_by_group,
)
from sklearn_reject.selection._sample import ROWS, weigh
from sklearn_reject.selection._solver import collect_rules, options_by_group, solver

_OF_PILOT = "gain", "loss_first", "loss_second"


_FATE = (
    "use the rule of the lowest system risk, or defer everything if nothing is known"
)


def _solve_groups(
    solve,
    gain,
    loss_first,
    loss_second,
    groups,
    all_groups=None,
    sample_weight=None,
    pilot=None,
    **options,
):
    """Return the rule of each group, that of least risk where none meets the target."""
    name, target = one_of({name: options.pop(name, None) for name in CUTS})
    opinions = [np.asarray(each) for each in (gain, loss_first, loss_second)]
    sampling = {each: options.get(each) for each in ("inclusion_proba", "clusters")}
    with gather_warnings():  # said of each group
        samples, _ = _read_opinions(*opinions, sample_weight, **sampling)
    is_used = samples.is_used
    partition = make_partition(groups, len(is_used), all_groups)
    targets = targets_by_group(target, partition.labels, name)
    options_of = options_by_group(options, partition, len(is_used))
    given_weight = check_sample_weight(sample_weight, len(is_used))
    pilots = _pilots_by_group(pilot, partition.labels)

    def solve_rows(rows, **given):
        arrays = (each[rows] for each in opinions)
        return solve(*arrays, sample_weight=take_weight(given_weight, rows), **given)

    def solve_one(label, rows):
        if not is_used[rows].any():
            problem = "the second opinion is unknown for all its samples"
            raise InfeasibleTargetError(problem)
        given = {name: targets[label], "pilot": pilots.get(label)}
        return solve_rows(rows, **given, **options_of(label, rows))

    def give_up(label, rows):
        if not is_used[rows].any():
            return GroupedDeferralRule._otherwise
        of_rows = options_of(label, rows)
        with gather_warnings():
            of_rows = {each: of_rows.get(each) for each in sampling}
            return solve_rows(rows, deferral_cost=0.0, **of_rows)

    weight = samples.weight
    rules = collect_rules(partition, solve_one, give_up, targets, _FATE, weight)
    return GroupedDeferralRule(rules)._measure(samples, groups)


@partial(solver, by_group=_solve_groups)
def solve_deferral(
    gain: ArrayLike,
    loss_first: ArrayLike,
    loss_second: ArrayLike,
    *,
    deferral_cost: Target | None = None,
    max_deferral: Target | None = None,
    target_risk: Target | None = None,
    sample_weight: ArrayLike | None = None,
    inclusion_proba: ArrayLike | None = None,
    max_weight: float | None = None,
    clusters: ArrayLike | None = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    bound: RiskBound = "auto",
    max_loss: float | None = None,
    pilot: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
) -> DeferralRule | Other:
    """Find which samples to defer to a second opinion, by their gain.

    A first opinion answers, such as a small model; a second one, such as a larger model
    or a person, is asked instead about the samples of the highest gain. The gain of a
    sample estimates the loss of the first opinion minus that of the second, or orders
    the samples as that would. Asking may harm: where it is negative, the first one is
    better. The system risk is the mean loss of whoever answers.

    Exactly one of `deferral_cost`, `max_deferral` and `target_risk` must be given. The
    rule is the best on the sample among those that defer above a threshold, and at it
    with a probability; a budget, `max_deferral`, is left unused only where more
    deferrals would evidently do harm.

    With `confidence_level`, the target holds for the population that the sample was
    drawn from, except with a probability of at most 1 - `confidence_level`. The sample
    must then be independent of both opinions and of the gain: drawn one by one, and
    used to fit none of them. Rules to test for a system risk are chosen on the `pilot`;
    one that misleads leads to more deferrals, but never to a broken promise.

    Parameters
    ----------
    gain : array-like of shape (n_samples,)
        Finite gains, higher = deferred first, such as 1 minus the confidence of the
        first opinion. They may be negative.

    loss_first : array-like of shape (n_samples,)
        Non-negative losses of the first opinion, such as 1 where it was wrong.

    loss_second : array-like of shape (n_samples,)
        Non-negative losses of the second opinion, NaN or None where it was not asked.
        Risks, and with weights also rates, are those of the other samples, as if these
        had been drawn at random; a warning says if they apparently were not.

    deferral_cost : float >= 0 or dict of group to float, default=None
        Cost of asking about a sample, in units of the loss: minimize the system risk
        plus that times the deferral rate; of equal minima the fewest deferrals.

    max_deferral : float in [0, 1] or dict of group to float, default=None
        Largest share of samples to defer. It is used as far as the system risk exceeds
        the least one up to there by at most one standard error of this difference, as
        the least of a noisy curve is early by chance. Nothing is deferred where both
        opinions have the same losses up to there. With `confidence_level`, all of this
        is up to the share that is certified.

    target_risk : float >= 0 or dict of group to float, default=None
        System risk that must not be exceeded: minimize the deferral rate. The risk may
        go down and up again with more deferrals.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, such as the density of another population over that of
        the sample: the risk is that of the weighted population. A common factor does
        not matter.

    inclusion_proba : float or array-like of shape (n_samples,), default=None
        Chance, in (0, 1], that each row was to be labelled, which depends on nothing
        but what is known before its label. Losses of rows without a label are NaN.

    max_weight : float > 0, default=None
        Largest possible `sample_weight` over `inclusion_proba`, known before the sample
        is drawn. With `confidence_level`, required beside weights or several
        probabilities.

    clusters : array-like of shape (n_samples,), default=None
        Cluster of each row, such as a patient. Rows of one may depend on each other,
        and what is promised is about a random row of a random cluster. None takes all
        rows as independent.

    randomize : bool, default=True
        If True, the tie group at which a rate or risk is reached is deferred with the
        probability that meets it exactly or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is kept where it would exceed a rate, and
        deferred where it takes all of it to reach a risk.

    confidence_level : float in (0, 1), default=None
        Probability with which the largest share or risk is to hold for the population.
        Not possible with `deferral_cost`. `bound`, `max_loss` and `pilot` are used with
        it and a `target_risk` only, `draws` and `random_state` with it only.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        Bound that gives the p-values: "binomial" is exact for losses that are 0 or
        `max_loss` of independent rows that count alike, the others hold for all losses
        between. "auto" is the binomial for such rows if `max_loss` is None, otherwise
        betting.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    pilot : tuple of three array-likes of shape (n_pilot,), default=None
        Gain, loss of the first and loss of the second opinion on samples that are
        independent of the others, such as the values out of fold of those that the
        opinions were fitted on. With `groups`, a fourth array has the group of each.
        None sets a random fifth of the samples, or of a group without a pilot, aside.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1) that break ties, used with `confidence_level` only: those of
        :func:`keyed_draws` for the keys that the samples will have in use, so that
        score and draw of a row are the same at calibration and in use. Samples equal in
        both are deferred or kept together.

    random_state : int, RandomState instance or None, default=None
        Source of the draws where `draws` is None, of the order of bets, and of which
        samples are set aside. Pass an int to get the same rule again.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the label that the first opinion gives, which must
        be known before the second one is asked. Each group then has a rule of its own,
        solved on its samples. With a confidence, all of them hold together with that
        probability: each has an equal share of the chance of an error. A group in which
        no rule meets the target has that of the least system risk, with a warning.

    all_groups : array-like of shape (n_groups,), default=None
        All groups, fixed before the sample is drawn. None takes those that occur in
        `groups`. A group without samples is deferred.

    Returns
    -------
    rule : DeferralRule or, with groups, GroupedDeferralRule
        The rule. Its threshold is infinite where nothing is deferred. With
        `confidence_level` it has a certificate.

    Warns
    -----
    RejectionWarning
        If deferring at random would be better than by the gain, by more than chance.

    Raises
    ------
    InfeasibleTargetError
        If no rule attains `target_risk` or, with `confidence_level`, none can be
        certified. Its `attainable` has the lowest system risk that can be. With groups,
        only if that is so in all of them.
    ValueError
        If not exactly one target is given, `confidence_level`, `bound` or `max_loss` is
        out of range, losses and `max_loss` or `bound` do not agree, weights exceed
        `max_weight` or lack it, a cost is given with `confidence_level`, or an array is
        invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_deferral
    >>> gain, first, second = [0.9, 0.4, 0.4, -0.1], [1, 1, 0, 0], [0, 0, 0, 1]
    >>> solve_deferral(gain, first, second, deferral_cost=0.6).deferral_rate
    0.25
    >>> solve_deferral(gain, first, second, max_deferral=0.75).deferral_rate
    0.75
    >>> rule = solve_deferral(gain, first, second, target_risk=0.125)
    >>> rule.threshold, rule.proba_at_threshold, rule.deferral_rate
    (0.4, 0.5, 0.5)

    >>> import numpy as np
    >>> gain = np.arange(1000)
    >>> first, second = gain >= 800, np.zeros(1000)
    >>> rule = solve_deferral(gain, first, second, target_risk=0.1)
    >>> rule.deferral_rate
    0.1
    >>> rule = solve_deferral(
    ...     gain, first, second, target_risk=0.1, confidence_level=0.9, random_state=0)
    >>> rule.deferral_rate, rule.certificate.p_value
    (0.12, 0.08...)
    """
    asked = deferral_cost, max_deferral, target_risk
    name, target = one_of(dict(zip(CUTS, asked, strict=True)))
    target = check_number(target, name, high=1.0 if name == "max_deferral" else np.inf)
    if confidence_level is not None and name == "deferral_cost":
        raise ValueError(
            f"confidence_level={confidence_level!r} is not used with deferral_cost, "
            "which is no bound. Pass None, or max_deferral or target_risk."
        )
    promise = "" if confidence_level is None else "confidence_level"
    sampling = sample_weight, inclusion_proba, max_weight, clusters
    if name == "max_deferral" and promise:
        options = {"sample_weight": sample_weight, "clusters": clusters}
        options["inclusion_proba"] = inclusion_proba
        check_confidence_level(confidence_level, **options)
    samples, units = _read_opinions(gain, loss_first, loss_second, *sampling, promise)
    if not promise:
        opinions = RankedOpinions(samples, squares=name == "max_deferral")
        return opinions.make_rule(CUTS[name](opinions, target, randomize))
    noise = randomize, draws, check_random_state(random_state)
    if name == "max_deferral":
        return certify_budget(samples, target, confidence_level, *noise)
    losses = np.concatenate(samples.used[1:3])
    test = choose_test(losses, confidence_level, bound, max_loss, units=units)
    pilot = _read_pilot(pilot, _OF_PILOT)
    search = Search(samples, units, pilot, test, *noise)
    return search.solve(target)._measure(samples)


def _read_opinions(
    gain,
    loss_first,
    loss_second,
    sample_weight,
    inclusion_proba=None,
    max_weight=None,
    clusters=None,
    promise="",
):
    """Return samples, weighted where rows count unequally, and units of those used."""
    gain, weight = check_vector(gain, "gain"), sample_weight
    is_labelled, losses = np.ones(len(gain), dtype=bool), [loss_first, loss_second]
    if inclusion_proba is not None:
        losses = [np.asarray(each, dtype=object) for each in losses]
        for name, each in zip(("loss_first", "loss_second"), losses, strict=True):
            if each.ndim != 1:
                check_vector(each, name)
            check_same_length(len(gain), **{name: each})
        is_labelled = ~np.any([find_missing_labels(each) for each in losses], axis=0)
        losses = [np.where(is_labelled, each, 0.0) for each in losses]
    units = ROWS
    if promise or inclusion_proba is not None or clusters is not None:
        weight = check_sample_weight(weight, len(is_labelled))
        sampling = inclusion_proba, max_weight, clusters, promise
        weight, _, units = weigh(is_labelled, weight, *sampling)
    samples = check_deferral_samples(gain, *losses, weight, name="gain")
    return samples, units if units is ROWS else units.take(samples.is_used)


def _read_pilot(pilot, names):
    """Return the samples of a pilot that was given as arrays of some names, if any."""
    if pilot is None or isinstance(pilot, DeferralSamples):  # of a group
        return pilot
    if not isinstance(pilot, (tuple, list)) or len(pilot) != len(names):
        raise ValueError(
            f"pilot must be a tuple of {', '.join(names)} of other samples, or None to "
            f"set a fifth of these aside, got {type(pilot).__name__}."
        )
    try:
        # That it was not drawn at random may cost power, and is no concern.
        with gather_warnings():
            return check_deferral_samples(*pilot[:3], name="gain")
    except ValueError as error:
        raise ValueError(f"pilot: {error}") from error


def _pilots_by_group(pilot, labels):
    """Return the pilot of each group that there is one of."""
    samples = _read_pilot(pilot, (*_OF_PILOT, "groups"))
    if samples is None:
        return {}
    codes = encode_labels(as_labels(pilot[3], "pilot"), labels)
    check_same_length(len(codes), **{"gain of the pilot": samples.scores})
    parts = sort_rows(codes, labels)
    return {k: samples.take(rows) for k, rows in parts if samples.is_used[rows].any()}
