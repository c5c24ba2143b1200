"""A threshold whose TPR, FPR and risk hold for the population with high probability.

The direction, that is the weights of both scores, is fixed before the calibration
sample is seen. The threshold is then the ID sample of a rank that follows from sizes
and levels alone. Given it, the number of OOD samples up to it is binomial, and the ID
samples below it are independent draws of what the rule accepts. So each statement is an
exact tail at an equal share of 1 - confidence, and all hold together with `confidence`.
Draws break ties; samples of the same score and draw are accepted together, which
`_bound_risk` allows for.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import beta, binom
from sklearn.utils import check_random_state

from sklearn_reject._curves import check_origin_samples, starts_of_ties
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._bounds import BOUNDS, binomial_upper
from sklearn_reject.selection._certify import check_confidence, choose_bound
from sklearn_reject.selection._ood_model import (
    MODEL_PARAMETERS,
    BoundedModel,
    check_model,
)
from sklearn_reject.selection._ood_rule import snap_sums
from sklearn_reject.selection._rule import check_draws

# Chance that the FPR is certified with a rule whose true rates are those tuned with.
_POWER = 0.95


# By how much, relatively, an attainable rate is reported on the safe side.
_SLACK = 1e-9


_RISK_BOUNDS = {name: bound for name, bound in BOUNDS.items() if bound.upper}


@dataclass(frozen=True)
class OODCertificate:
    """Bounds on TPR, FPR and risk that hold together with high probability.

    The probability is over the draw of the calibration sample, which must be
    independent of the classifier, of both scores and of their weights, and over the
    draws that break ties.

    Attributes
    ----------
    min_tpr : float
        Certified least share of ID samples that is accepted.

    max_fpr : float or None
        Certified largest share of OOD samples that is accepted, None where no bound was
        asked for.

    max_risk : float
        Certified largest selective risk, in units of the loss. It is found, not asked
        for.

    confidence : float
        Least probability, in ]0, 1[, that all of them hold.

    n_id, n_ood : int
        Number of calibration samples.

    n_accepted_id, n_accepted_ood : int
        How many of them are accepted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import DoubleScoreRule, certify_double_score
    >>> rule = DoubleScoreRule(
    ...     threshold=0, proba_at_threshold=1, risk_weight=1, novelty_weight=0
    ... )
    >>> risk, zero = np.arange(100), np.zeros(100)
    >>> rule = certify_double_score(
    ...     rule, risk, zero, risk > 80, zero, min_tpr=0.6, confidence=0.9)
    >>> rule.certificate.n_accepted_id, round(rule.certificate.max_risk, 3)
    (69, 0.043)
    """

    min_tpr: float
    max_fpr: float | None
    max_risk: float
    confidence: float
    n_id: int
    n_ood: int
    n_accepted_id: int
    n_accepted_ood: int


@dataclass(frozen=True)
class _Levels:
    """The bounds as rates, and the chance of error that each of them may have."""

    min_tpr: float
    max_fpr: float | None
    delta: float

    def rank(self, n_id):
        """Return the rank of the ID sample that reaches the TPR, maybe above n_id."""
        # Beta(k, n + 1 - k) >= t is as likely as fewer than k of n samples below t.
        if self.min_tpr == 1:
            return n_id + 1
        return int(binom.ppf(1 - self.delta, n_id, self.min_tpr)) + 1

    def most_ood(self, n_ood):
        """Return the most OOD samples whose acceptance certifies the FPR, or -1."""
        count = int(binom.ppf(self.delta, n_ood, self.max_fpr))
        passes = binom.cdf(count, n_ood, self.max_fpr) <= self.delta
        return count if passes else count - 1


def _check_levels(confidence, bounds):
    model, _ = check_model(**{name: bounds.get(name) for name in MODEL_PARAMETERS})
    if not isinstance(model, BoundedModel):
        raise ValueError(
            f"costs={bounds['costs']!r} are no bounds that could be certified. Pass "
            "min_tpr and max_fpr, or min_precision, min_recall and ood_prior."
        )
    max_fpr = model.fpr_offset + model.fpr_per_tpr * model.min_tpr
    max_fpr = None if max_fpr >= 1 else float(max_fpr)
    n_statements = 2 if max_fpr is None else 3
    return _Levels(model.min_tpr, max_fpr, (1 - confidence) / n_statements)


def rates_to_certify(n_id, n_ood, confidence, bounds):
    """Return rates, as dicts, that make it likely that the bounds can be certified.

    To tune with these, rather than with the bounds, finds the direction that serves the
    certified rule best. The first rates leave room for the FPR on the calibration
    sample to be larger than it is on the tuning sample; the second are just enough.
    """
    levels = _check_levels(confidence, bounds)
    _refuse_few_samples(levels, n_id, n_ood)
    min_tpr = levels.rank(n_id) / n_id
    if levels.max_fpr is None:
        return [{"min_tpr": min_tpr, "max_fpr": None}]
    most = levels.most_ood(n_ood)
    # Bin(n, p) <= most is as likely as Beta(most + 1, n - most) > p.
    likely = float(beta.ppf(1 - _POWER, most + 1, n_ood - most))
    return [
        {"min_tpr": min_tpr, "max_fpr": max_fpr} for max_fpr in (likely, most / n_ood)
    ]


def _refuse_few_samples(levels, n_id, n_ood):
    if levels.rank(n_id) > n_id:
        raise InfeasibleTargetError(
            f"{n_id} ID samples cannot certify that {levels.min_tpr:g} of them are "
            f"accepted: {_count(levels.min_tpr, levels.delta)} are needed. Give more "
            "samples, or ask for a smaller share or less confidence."
        )
    if levels.max_fpr is not None and levels.most_ood(n_ood) < 0:
        raise InfeasibleTargetError(
            f"{n_ood} OOD samples cannot certify that at most {levels.max_fpr:g} of "
            "them are accepted, even if none is: "
            f"{_count(1 - levels.max_fpr, levels.delta)} are needed. Give more "
            "samples, or ask for a larger share or less confidence."
        )


def _count(share, delta):
    """Return how many samples of a share are all inside with probability delta."""
    if share == 1:
        return "infinitely many"
    return f"at least {int(np.ceil(np.log(delta) / np.log(share)))}"


def certify_double_score(
    rule,
    risk_scores,
    novelty_scores,
    losses,
    is_ood,
    *,
    confidence,
    min_tpr=None,
    max_fpr=None,
    min_precision=None,
    min_recall=None,
    ood_prior=None,
    bound="auto",
    max_loss=None,
    draws=None,
    random_state=None,
):
    """Set the threshold of a rule so that its bounds hold for the population.

    The weights of both scores stay. The smallest threshold whose TPR is certified is
    taken, the FPR there is tested, and the selective risk bounded from above; all
    bounds hold together, except with a probability of at most 1 - `confidence` over
    the draw of the calibration sample. A precision is certified by the FPR that implies
    it at `min_recall`.

    Parameters
    ----------
    rule : DoubleScoreRule
        Rule tuned on other samples.

    risk_scores : array-like of shape (n_samples,)
        Finite risk scores of the calibration sample, higher = more likely wrong. The
        sample must be drawn one by one, and used to fit or tune nothing.

    novelty_scores : array-like of shape (n_samples,)
        Novelty scores, higher = more novel. May be infinite.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution.

    confidence : float in ]0, 1[
        Probability with which all bounds are to hold for the population.

    min_tpr, max_fpr, min_precision, min_recall, ood_prior : float, default=None
        Bounds as in :func:`tune_double_score`.

    bound : {"auto", "binomial", "hoeffding_bentkus"}, default="auto"
        How the risk is bounded: "binomial" is exact for losses that are 0 or
        `max_loss`, the other holds for all losses between. "auto" is the binomial where
        `max_loss` is None.

    max_loss : float > 0, default=None
        Largest loss that is possible. None stands for a loss that is 0 or 1.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1[ that break ties: those of :func:`keyed_draws` for the keys
        that the samples will have in use, so that score and draw of a row are the same
        at calibration and in use. Samples equal in both are accepted or rejected
        together.

    random_state : int, RandomState instance or None, default=None
        Source of the draws where `draws` is None.

    Returns
    -------
    rule : DoubleScoreRule
        The rule with its new threshold, what it achieves on the calibration sample, and
        a `certificate`.

    Raises
    ------
    InfeasibleTargetError
        If there are too few samples, or the FPR cannot be certified beside the TPR. It
        says what can be.
    ValueError
        If a parameter or an array is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import certify_double_score, tune_double_score
    >>> rng = np.random.default_rng(0)
    >>> is_ood = np.arange(2000) % 4 == 0
    >>> risk, novelty = rng.random(2000), rng.random(2000) + is_ood
    >>> losses = rng.random(2000) < risk / 5
    >>> tune, calibrate = slice(0, 1000), slice(1000, 2000)
    >>> sample = risk, novelty, losses, is_ood
    >>> rule = tune_double_score(
    ...     *(values[tune] for values in sample), min_tpr=0.65, max_fpr=0.04)
    >>> rule = certify_double_score(
    ...     rule, *(values[calibrate] for values in sample), min_tpr=0.6, max_fpr=0.2,
    ...     confidence=0.9, random_state=0)
    >>> certificate = rule.certificate
    >>> certificate.min_tpr, certificate.max_fpr, certificate.n_accepted_id
    (0.6, 0.2, 476)
    """
    confidence = check_confidence(confidence)
    bounds = {
        "min_tpr": min_tpr,
        "max_fpr": max_fpr,
        "min_precision": min_precision,
        "min_recall": min_recall,
        "ood_prior": ood_prior,
    }
    levels = _check_levels(confidence, bounds)
    scores = snap_sums(rule, risk_scores, novelty_scores)
    scores, losses, is_ood, _ = check_origin_samples(scores, losses, is_ood)
    id_rows = np.flatnonzero(~is_ood)
    n_id, n_ood = len(id_rows), len(scores) - len(id_rows)
    bound, max_loss = choose_bound(
        losses[id_rows], bound, max_loss, _RISK_BOUNDS, of_many="hoeffding_bentkus"
    )
    _refuse_few_samples(levels, n_id, n_ood)
    if draws is None:
        draws = check_random_state(random_state).random_sample(len(scores))
    draws = check_draws(draws, len(scores))

    # The threshold is the ID sample of a rank by score and, where these tie, by draw.
    # Draws below the probability are accepted, and are multiples of 2^-53.
    places = _rank_densely(scores, draws)
    order = id_rows[np.argsort(places[id_rows], kind="stable")]
    rank = levels.rank(n_id)
    last = order[rank - 1]
    threshold, proba = float(scores[last]), float(np.nextafter(draws[last], 1.0))
    accepted = places <= places[last]
    if threshold == np.inf:
        raise _infeasible_tpr(levels, scores[id_rows])
    if threshold == -np.inf:
        accepted, proba = scores == threshold, 1.0  # whatever they draw

    n_accepted_ood = int(np.count_nonzero(accepted & is_ood))
    if levels.max_fpr is not None and n_accepted_ood > levels.most_ood(n_ood):
        raise _infeasible_fpr(levels, n_accepted_ood, places[id_rows], places[is_ood])
    tied = order[rank:][accepted[order[rank:]]]
    max_risk = _bound_risk(
        losses[order[: rank - 1]] / max_loss,
        losses[tied] / max_loss,
        n_id - rank,
        bound,
        levels,
    )
    rule = replace(
        rule,
        threshold=threshold,
        proba_at_threshold=proba,
        certificate=OODCertificate(
            min_tpr=levels.min_tpr,
            max_fpr=levels.max_fpr,
            max_risk=max_loss * max_risk,
            confidence=confidence,
            n_id=n_id,
            n_ood=n_ood,
            n_accepted_id=rank + len(tied),
            n_accepted_ood=n_accepted_ood,
        ),
    )
    return rule.measure(risk_scores, novelty_scores, losses, is_ood)


def _rank_densely(scores, draws):
    """Return the place of each sample by score and draw, the same where both tie."""
    order = np.lexsort((draws, scores))
    places = np.empty(len(order), np.intp)
    is_start = starts_of_ties(scores[order]) | starts_of_ties(draws[order])
    places[order] = np.cumsum(is_start)
    return places


def _bound_risk(below, tied, n_above, bound, levels):
    """Return an upper confidence bound of the risk of what is up to a sample.

    The losses below it are draws of what is strictly below. `tied` are those of the
    `n_above` other samples that have its score and draw, and are accepted, too. Either
    bounds what all of these add: as a mixture, by the larger risk, or by their number.
    Given the sample, how many there are does not depend on the losses below.
    """
    delta = levels.delta
    if not len(tied):
        return bound.upper(below, delta)
    risk = bound.upper(below, delta / 2)
    mixture = max(risk, bound.upper(tied, delta / 4))
    share = binomial_upper(len(tied), n_above, delta / 4)
    # Of all, at most 1 - min_tpr is above where TPR is at least min_tpr.
    return min(mixture, risk + share * (1 - levels.min_tpr) / levels.min_tpr)


def _infeasible_tpr(levels, of_id):
    """Return the error of too many ID samples of infinite score."""
    share = np.mean(of_id == np.inf)
    return InfeasibleTargetError(
        f"A TPR of {levels.min_tpr:g} cannot be certified: {share:.3g} of the ID "
        "samples have infinite novelty and are rejected by any rule. Ask for a smaller "
        "share, or use another novelty_score."
    )


def _infeasible_fpr(levels, n_accepted, of_id, of_ood):
    """Return the error of too many accepted OOD samples, given the places of all."""
    n_id, n_ood = len(of_id), len(of_ood)
    least = binomial_upper(n_accepted, n_ood, levels.delta)
    # The threshold could be at most the first OOD sample that must be rejected.
    first = np.sort(of_ood)[levels.most_ood(n_ood)]
    n_below = int(np.count_nonzero(of_id < first))
    most = float(beta.ppf(levels.delta, n_below, n_id + 1 - n_below)) if n_below else 0
    # Quantiles and tail probabilities agree up to rounding.
    least, most = min(1.0, least * (1 + _SLACK)), most * (1 - _SLACK)
    return InfeasibleTargetError(
        f"An FPR of {levels.max_fpr:g} cannot be certified beside a TPR of "
        f"{levels.min_tpr:g}: {n_accepted} of {n_ood} OOD samples are accepted, where "
        f"the smallest FPR that can be certified is {round_up(least)}. At an FPR of "
        f"{levels.max_fpr:g} a TPR of {round_down(most)} can be. Relax one of the "
        "bounds up to that, give more samples, or ask for less confidence.",
        attainable={"min_fpr": least, "max_tpr": most},
    )
