"""A threshold whose TPR, FPR and risk hold for the population with high probability.

The direction, that is the weights of both scores, is fixed before the calibration
sample is seen. The threshold is then the ID sample of a rank that follows from sizes
and levels alone. Given it, the number of OOD samples up to it is binomial, and the ID
samples below it are independent draws of what the rule accepts. So each statement is an
exact tail at an equal share of 1 - confidence, and all hold together with
`confidence_level`. Draws break ties; samples of the same score and draw are accepted
together, which the bound on the risk allows for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, binom
from sklearn.utils import check_random_state

from sklearn_reject._as_dict import DictMixin, check_state
from sklearn_reject._curves._ood import check_origin_samples
from sklearn_reject._curves._ties import starts_of_ties
from sklearn_reject._typing import RandomState
from sklearn_reject._validation import of_arrays
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._bounds import BOUNDS, binomial_upper
from sklearn_reject.selection._certify import check_confidence_level, choose_bound
from sklearn_reject.selection._certify_levels import Levels, refuse_few_samples
from sklearn_reject.selection._ood_model import check_model, check_wild_share
from sklearn_reject.selection._ood_rule import DoubleScoreRule, snap_sums
from sklearn_reject.selection._rule import check_draws

# By how much, relatively, an attainable rate is reported on the safe side.
_SLACK = 1e-9


# By how much, relatively, six digits of a rate may differ from it.
_PRINTED = 1e-5


_RISK_BOUNDS = {name: bound for name, bound in BOUNDS.items() if bound.upper}


@dataclass(frozen=True)
class OODCertificate(DictMixin):
    """Bounds on TPR, FPR and risk that hold together with high probability.

    The probability is over the draw of the calibration sample, which must be
    independent of the classifier, of both scores and of their weights, and over the
    draws that break ties. `confidence_level` is about all bounds jointly: it is the
    chance that none of them is broken, and each of them alone holds with more.

    Attributes
    ----------
    min_tpr : float
        Certified least share of ID samples that is accepted, as asked for.

    max_fpr : float or None
        Certified largest share of OOD samples that is accepted: the one asked for (or
        that a precision asked for takes), or the one found where a bound on the risk
        was asked for in its place. None where neither was.

    max_risk : float
        Certified largest selective risk, in units of the loss, as found. It is not
        above the one asked for, where one was.

    confidence_level : float
        Least probability, in ]0, 1[, that all of them hold jointly.

    n_id, n_ood : int
        Number of calibration samples, those flagged as OOD in the latter.

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
    ...     rule, risk, zero, risk > 80, zero, min_tpr=0.6, confidence_level=0.9)
    >>> rule.certificate.n_accepted_id, round(rule.certificate.max_risk, 3)
    (69, 0.043)
    """

    min_tpr: float
    max_fpr: float | None
    max_risk: float
    confidence_level: float
    n_id: int
    n_ood: int
    n_accepted_id: int
    n_accepted_ood: int

    def __post_init__(self):
        """Refuse what no certificate says."""
        check_state(
            self,
            numbers=["max_risk"],
            probabilities=["min_tpr", "max_fpr", "confidence_level"],
            amounts=["max_risk"],
            counts=["n_id", "n_ood", "n_accepted_id", "n_accepted_ood"],
        )
        if self.n_accepted_id > self.n_id or self.n_accepted_ood > self.n_ood:
            raise ValueError("an OODCertificate accepts at most all of its samples.")


@of_arrays
def certify_double_score(
    rule: DoubleScoreRule,
    uncertainty_scores: ArrayLike,
    novelty_scores: ArrayLike,
    losses: ArrayLike,
    is_ood: ArrayLike,
    *,
    confidence_level: float,
    min_tpr: float | None = None,
    max_fpr: float | None = None,
    max_risk: float | None = None,
    min_precision: float | None = None,
    ood_prior: float | None = None,
    wild_share: float | None = None,
    bound: Literal["auto", "binomial", "hoeffding_bentkus"] = "auto",
    max_loss: float | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
) -> DoubleScoreRule:
    """Set the threshold of a rule so that its bounds hold for the population.

    The weights of both scores stay. The smallest threshold whose TPR is certified is
    taken, the FPR there is tested, and the selective risk bounded from above; or, where
    `max_risk` is asked for, the risk is tested and the FPR bounded. All bounds hold
    jointly, except with a probability of at most 1 - `confidence_level` over the draw
    of the calibration sample: that one of TPR, FPR and risk is missed, whichever, is no
    more likely than that. A precision is certified by the FPR that implies it at
    `min_tpr`.

    Parameters
    ----------
    rule : DoubleScoreRule
        Rule tuned on other samples.

    uncertainty_scores : array-like of shape (n_samples,)
        Finite risk scores of the calibration sample, higher = more likely wrong. The
        sample must be drawn one by one, and used to fit or tune nothing.

    novelty_scores : array-like of shape (n_samples,)
        Novelty scores, higher = more novel. May be infinite.

    losses : array-like of shape (n_samples,)
        Non-negative losses of the ID samples. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool
        Whether a sample is out of distribution or, with `wild_share`, of the mixture.

    confidence_level : float in ]0, 1[
        Probability with which all bounds are to hold jointly for the population.

    min_tpr, max_fpr, max_risk, min_precision, ood_prior : float, default=None
        Bounds as in :func:`tune_double_score`.

    wild_share : float in ]0, 1], default=None
        Share of OOD samples among those flagged by `is_ood`, where these are a wild
        mixture of OOD samples and of ID samples like the others. At least `min_tpr` of
        the latter are accepted, and what is left of what is accepted of the mixture
        bounds the FPR. A share below the true one makes the bound too small, one above
        it does not. None, as 1, where all are OOD.

    bound : {"auto", "binomial", "hoeffding_bentkus"}, default="auto"
        How the risk is bounded: "binomial" is exact for losses that are 0 or
        `max_loss`, the other holds for all losses between. "auto" is the binomial where
        `max_loss` is None.

    max_loss : float > 0, default=None
        Largest possible loss. None stands for a loss that is 0 or 1.

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
        If there are too few samples, or one of the bounds cannot be certified beside
        the TPR. It says what can be.
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
    ...     confidence_level=0.9, random_state=0)
    >>> certificate = rule.certificate
    >>> certificate.min_tpr, certificate.max_fpr, certificate.n_accepted_id
    (0.6, 0.2, 476)
    """
    model = check_model(
        min_tpr=min_tpr,
        max_fpr=max_fpr,
        max_risk=max_risk,
        min_precision=min_precision,
        ood_prior=ood_prior,
    )
    levels = Levels(
        model, check_wild_share(wild_share), check_confidence_level(confidence_level)
    )
    scores = snap_sums(rule, uncertainty_scores, novelty_scores)
    scores, losses, is_ood, _ = check_origin_samples(scores, losses, is_ood)
    is_id = ~is_ood
    bound, max_loss = choose_bound(
        losses[is_id], bound, max_loss, _RISK_BOUNDS, of_many="hoeffding_bentkus"
    )
    n_id = int(np.count_nonzero(is_id))
    refuse_few_samples(levels, n_id, len(scores) - n_id, max_loss)
    if draws is None:
        draws = check_random_state(random_state).random_sample(len(scores))
    draws = check_draws(draws, len(scores))

    # The threshold is the ID sample of a rank by score and, where these tie, by draw;
    # minus infinity is accepted whatever it draws.
    places = _rank_densely(scores, np.where(scores == -np.inf, 0.0, draws))
    order = np.flatnonzero(is_id)[np.argsort(places[is_id], kind="stable")]
    sample = _Calibration(
        places[order], losses[order], np.sort(places[is_ood]), bound, max_loss
    )
    rank = levels.rank(n_id)
    last = order[rank - 1]
    if scores[last] == np.inf:
        raise _infeasible_tpr(levels, scores[is_id])
    certificate = sample.certify(levels, rank)
    # Draws below the probability are accepted, and are multiples of 2^-53.
    proba = 1.0 if scores[last] == -np.inf else float(np.nextafter(draws[last], 1.0))
    rule = replace(
        rule,
        threshold=float(scores[last]),
        proba_at_threshold=proba,
        ood_prior=rule.ood_prior if ood_prior is None else float(ood_prior),
        certificate=certificate,
    )
    return rule.measure(
        uncertainty_scores, novelty_scores, losses, is_ood, wild_share=wild_share
    )


def _rank_densely(scores, draws):
    """Return the place of each sample by score and draw, the same where both tie."""
    order = np.lexsort((draws, scores))
    places = np.empty(len(order), np.intp)
    is_start = starts_of_ties(scores[order]) | starts_of_ties(draws[order])
    places[order] = np.cumsum(is_start)
    return places


@dataclass(frozen=True, eq=False)
class _Calibration:
    """Samples by place: of ID samples with their losses, and of those flagged as OOD.

    `bound` is the kind of bound on a mean of losses of at most `max_loss`.
    """

    of_id: np.ndarray
    losses: np.ndarray
    of_ood: np.ndarray
    bound: object
    max_loss: float

    def certify(self, levels, rank):
        """Return the certificate of a threshold at an ID sample, or raise."""
        n_id, n_ood = len(self.of_id), len(self.of_ood)
        n_accepted_ood = int(self._count_ood(rank))
        if levels.max_fpr is not None and n_accepted_ood > levels.most_ood(n_ood):
            raise self._infeasible_fpr(levels, rank)
        max_risk = self._bound_risk(levels, rank, levels.min_tpr)
        if max_risk > levels.max_risk:
            raise self._infeasible_risk(levels, rank, max_risk)
        max_fpr = levels.max_fpr
        if levels.finds_fpr:
            max_fpr = self._bound_fpr(levels, rank)
        return OODCertificate(
            min_tpr=levels.min_tpr,
            max_fpr=max_fpr,
            max_risk=max_risk,
            confidence_level=levels.confidence_level,
            n_id=n_id,
            n_ood=n_ood,
            n_accepted_id=self._n_reached(rank),
            n_accepted_ood=n_accepted_ood,
        )

    def _count_ood(self, ranks):
        """Return how many flagged samples are accepted up to some ID samples."""
        return np.searchsorted(self.of_ood, self.of_id[ranks - 1], side="right")

    def _n_reached(self, rank):
        """Return how many ID samples are accepted, those that tie included."""
        return int(np.searchsorted(self.of_id, self.of_id[rank - 1], side="right"))

    def _bound_fpr(self, levels, rank):
        """Return an upper confidence bound of the FPR."""
        n_accepted = int(self._count_ood(rank))
        rate = binomial_upper(n_accepted, len(self.of_ood), levels.delta)
        return min(1.0, levels.fpr_of_rate(rate, levels.min_tpr))

    def _bound_risk(self, levels, rank, min_tpr):
        """Return an upper confidence bound of the risk of what is up to an ID sample.

        The losses below it are draws of what is strictly below. Other samples may have
        its score and draw, and are accepted, too. Either bounds what all of these add:
        as a mixture, by the larger risk, or by their number. Given the sample, how many
        there are does not depend on the losses below.
        """
        upper, delta = self.bound.upper, levels.delta
        below = self.losses[: rank - 1] / self.max_loss
        tied = self.losses[rank : self._n_reached(rank)] / self.max_loss
        if not len(tied):
            return self.max_loss * upper(below, delta)
        risk = upper(below, delta / 2)
        mixture = max(risk, upper(tied, delta / 4))
        share = binomial_upper(len(tied), len(self.of_id) - rank, delta / 4)
        # Of all, at most 1 - min_tpr is above where TPR is at least min_tpr.
        return self.max_loss * min(mixture, risk + share * (1 - min_tpr) / min_tpr)

    def _infeasible_fpr(self, levels, rank):
        """Return the error of too many OOD samples up to an ID sample."""
        least = min(1.0, self._bound_fpr(levels, rank) * (1 + _SLACK))
        n_accepted, n_ood = self._count_ood(rank), len(self.of_ood)
        reason = f"{n_accepted} of {n_ood} OOD samples are accepted"
        return self._infeasible(levels, rank, levels.bound_of_fpr(least), reason)

    def _infeasible_risk(self, levels, rank, max_risk):
        """Return the error of too large losses up to an ID sample."""
        mean = self.losses[:rank].mean()
        reason = f"the mean loss of the accepted ID samples is {mean:.3g}"
        return self._infeasible(levels, rank, max_risk * (1 + _SLACK), reason)

    def _infeasible(self, levels, rank, best, reason):
        """Return an error that says how far either bound can be relaxed to.

        `best` is what can be certified of the bound beside that on the TPR.
        """
        name, asked = levels.model.name, levels.model.asked
        shown = f"smallest {name} that can be certified is {round_up(best)}"
        if levels.model.bounds_precision:
            shown = f"largest {name} that can be certified is {round_down(best)}"
        most = self._largest_tpr(levels, rank)
        attainable, what = {name: best}, name
        beside = f"No min_tpr can be certified together with {asked}"
        if not np.isnan(most):
            attainable, what = {"min_tpr": most, name: best}, "one of the bounds"
            beside = (
                f"Together with {asked}, the largest min_tpr that can be certified is "
                f"{round_down(most)}"
            )
        return InfeasibleTargetError(
            f"{asked} cannot be certified together with min_tpr={levels.min_tpr:g}: "
            f"{reason}, and the {shown}. {beside}",
            f"Relax {what} up to this value, use more samples, or use a lower "
            "confidence.",
            attainable,
        )

    def _largest_tpr(self, levels, rank):
        """Return the largest TPR that can be certified with the other bound, or NaN."""
        n_id, n_ood = len(self.of_id), len(self.of_ood)
        ranks = np.arange(1, rank)
        # Quantiles and tail probabilities agree up to rounding.
        rates = beta.ppf(levels.delta, ranks, n_id + 1 - ranks) * (1 - _SLACK)
        possible = rates > 0
        if levels.max_fpr is not None:
            # As much less as a rate loses when it is printed.
            most = np.minimum(1.0, levels.largest_rate(rates * (1 - _PRINTED)))
            tails = binom.cdf(self._count_ood(ranks), n_ood, most)
            possible &= (tails <= levels.delta) | (most == 1)
        possible &= self._has_risk(levels, ranks)
        for index in np.flatnonzero(possible)[::-1]:
            tpr = float(rates[index])
            if self._bound_risk(levels, ranks[index], tpr) <= levels.max_risk:
                return tpr
        return np.nan

    def _has_risk(self, levels, ranks):
        """Tell which ranks of ID samples have a certified risk, but for ties."""
        share = levels.max_risk / self.max_loss
        if share >= 1:
            return np.ones(len(ranks), bool)
        sums = np.append(0.0, np.cumsum(self.losses / self.max_loss))
        return self.bound.of_sums(ranks - 1, sums[ranks - 1], share) <= levels.delta


def _infeasible_tpr(levels, of_id):
    """Return the error of too many ID samples of infinite score."""
    share, n_finite = np.mean(of_id == np.inf), np.count_nonzero(of_id < np.inf)
    attainable = {}
    if n_finite:
        rate = beta.ppf(levels.delta, n_finite, len(of_id) + 1 - n_finite)
        attainable["min_tpr"] = float(rate) * (1 - _SLACK)
    return InfeasibleTargetError(
        f"min_tpr={levels.min_tpr:g} cannot be certified: {share:.3g} of the ID "
        "samples have infinite novelty and are rejected by every rule",
        "Lower min_tpr, or use another novelty_score.",
        attainable,
    )
