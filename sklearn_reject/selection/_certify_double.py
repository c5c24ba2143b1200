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

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, binom
from sklearn.utils import check_random_state

from sklearn_reject._as_dict import Count, DictMixin, Probability, Size
from sklearn_reject._curves._ood import check_origin_samples
from sklearn_reject._curves._prefixes import snap, starts_of_ties
from sklearn_reject._typing import RandomState
from sklearn_reject._validation import of_arrays
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._bounds import BOUNDS_OF_SUMS, binomial_upper
from sklearn_reject.selection._certify import check_confidence_level, choose_bound
from sklearn_reject.selection._ood_model import (
    OODModel,
    check_model,
    check_ood,
    check_wild_share,
)
from sklearn_reject.selection._ood_rule import DoubleScoreRule, precision_of
from sklearn_reject.selection._rule import check_draws

# By how much, relatively, an attainable rate is reported on the safe side.
_SLACK = 1e-9


# By how much, relatively, six digits of a rate may differ from it.
_PRINTED = 1e-5


# Chance that a bound is certified with a rule whose true rates are those tuned with.
_POWER = 0.95


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

    min_tpr: Probability
    max_fpr: Probability | None
    max_risk: Size
    confidence_level: Probability
    n_id: Count
    n_ood: Count
    n_accepted_id: Count
    n_accepted_ood: Count

    def __post_init__(self):
        """Refuse what no certificate says."""
        super().__post_init__()
        if self.n_accepted_id > self.n_id or self.n_accepted_ood > self.n_ood:
            raise ValueError("an OODCertificate accepts at most all of its samples.")


@dataclass(frozen=True)
class Levels:
    """The bounds, and the chance of error that each of the statements may have.

    `wild_share` of the samples flagged as OOD are so, the others ID.
    """

    model: OODModel
    wild_share: float
    confidence_level: float

    @property
    def finds_fpr(self):
        """Whether a bound on the FPR is found, and one on the risk asked for."""
        return self.model.name == "max_risk"

    @property
    def max_risk(self):
        """Largest risk; infinite where it is found, and not asked for."""
        return self.model.bound if self.finds_fpr else math.inf

    @property
    def max_fpr(self):
        """Largest FPR beside the least TPR, None where none is asked for."""
        fpr = self.model.max_fpr_at(self.model.min_tpr)
        return None if fpr >= 1 else fpr

    @property
    def delta(self):
        """Chance of error of each statement: on TPR, risk and maybe FPR."""
        n_statements = 2 if self.max_fpr is None and not self.finds_fpr else 3
        return (1 - self.confidence_level) / n_statements

    def rank(self, n_id):
        """Return the rank of the ID sample that reaches the TPR, maybe above n_id."""
        # Beta(k, n + 1 - k) >= t is as likely as fewer than k of n samples below t.
        if self.model.min_tpr == 1:
            return n_id + 1
        return int(binom.ppf(1 - self.delta, n_id, self.model.min_tpr)) + 1

    def largest_rate(self, tpr):
        """Return which share of the flagged samples may be accepted beside a TPR."""
        of_id = (1 - self.wild_share) * tpr
        return self.wild_share * self.model.max_fpr_at(tpr) + of_id

    def fpr_of_rate(self, rate, tpr):
        """Return the FPR where a share of the flagged samples is accepted."""
        return max(0.0, (rate - (1 - self.wild_share) * tpr) / self.wild_share)

    def bound_of_rate(self, rate):
        """Return an FPR that is certified, or the precision that it implies."""
        fpr = min(1.0, self.fpr_of_rate(rate * (1 + _SLACK), self.model.min_tpr))
        if not self.model.bounds_precision:
            return fpr
        precision = precision_of(self.model.min_tpr, fpr, self.model.ood_prior)
        return precision * (1 - _SLACK)

    def most_ood(self, n_ood):
        """Return the most OOD samples whose acceptance certifies the FPR, or -1."""
        share = self.largest_rate(self.model.min_tpr)
        return most_successes(n_ood, share, self.delta)

    def rates_to_certify(self, n_id, n_ood, *, bound="binomial", max_loss=1.0):
        """Return rates, as dicts, that make it likely that the bounds are certified.

        To tune with these, rather than with the bounds, finds the direction that serves
        the certified rule best. The first rates leave room for FPR or risk on the
        calibration sample to be larger than it is on the tuning sample; the second are
        just enough. `bound` and `max_loss` are those of the risk, where that has a
        bound.
        """
        self.refuse_few_samples(n_id, n_ood, max_loss)
        rank = self.rank(n_id)
        of_tpr = {"min_tpr": rank / n_id}
        if self.finds_fpr:
            if self.max_risk >= max_loss:
                return [of_tpr | {"max_risk": self.max_risk}]
            # The bound of Hoeffding and Bentkus is at most e times the binomial tail.
            delta = self.delta if bound == "binomial" else self.delta / math.e
            most = most_successes(rank - 1, self.max_risk / max_loss, delta)
            shares = _shares_to_certify(max(most, 0), rank - 1)
            return [of_tpr | {"max_risk": share * max_loss} for share in shares]
        if self.max_fpr is not None:
            shares = _shares_to_certify(self.most_ood(n_ood), n_ood)
            fprs = [self.fpr_of_rate(share, rank / n_id) for share in shares]
            return [of_tpr | {"max_fpr": fpr} for fpr in fprs]
        if self.model.name is None:  # the FPR is a part of the risk
            return [of_tpr | {"ood_prior": self.model.ood_prior}]
        return [of_tpr | {"max_fpr": 1.0}]

    def refuse_few_samples(self, n_id, n_ood, max_loss):
        """Raise where nothing that the samples could hold would certify the bounds."""
        rank, delta = self.rank(n_id), self.delta
        wanted = f"min_tpr={self.model.min_tpr:g}"
        if rank > n_id:
            # What all of them certify.
            most = delta ** (1 / n_id) * (1 - _SLACK) if n_id else 0.0
            raise InfeasibleTargetError(
                f"{n_id} ID samples cannot certify {wanted}, even if all are accepted: "
                f"{_count(self.model.min_tpr, delta)} are needed",
                "Use more samples, a lower min_tpr, or a lower confidence.",
                {"min_tpr": most} if n_id else None,
            )
        if self.finds_fpr:
            check_ood(self.model, n_ood)
            share = 1 - self.max_risk / max_loss
            if share > 0 and share ** (rank - 1) > delta:
                # What is certified of these without any loss.
                best = None
                if rank > 1:
                    best = (1 - delta ** (1 / (rank - 1))) * max_loss * (1 + _SLACK)
                n_accepted = f"{rank - 1} accepted ID"
                raise self._too_few(n_accepted, "without any loss", share, best)
        if self.max_fpr is not None and self.most_ood(n_ood) < 0:
            share = 1 - self.largest_rate(self.model.min_tpr)
            best = None
            if n_ood:
                best = self.bound_of_rate(1 - delta ** (1 / n_ood))
            raise self._too_few(f"{n_ood} OOD", "if none is accepted", share, best)

    def _too_few(self, samples, even, share, best):
        """Return the error of samples that are too few even if a share of one counts.

        `best` is what they certify, or None.
        """
        name, verb = self.model.name, "raise" if self.finds_fpr else "relax"
        return InfeasibleTargetError(
            f"{samples} samples cannot certify {self.model.asked} together with "
            f"min_tpr={self.model.min_tpr:g}, even {even}: "
            f"{_count(share, self.delta)} are needed",
            f"Use more samples, {verb} {name}, or use a lower confidence.",
            {} if best is None else {name: best},
        )


def most_successes(n_trials, share, delta):
    """Return the largest count that is as small with a chance of delta, or -1."""
    count = int(binom.ppf(delta, n_trials, share))
    return count if binom.cdf(count, n_trials, share) <= delta else count - 1


def _shares_to_certify(most, n_trials):
    """Return a share that leads to at most so many with high power, and that itself."""
    # Bin(n, p) <= most is as likely as Beta(most + 1, n - most) > p.
    return float(beta.ppf(1 - _POWER, most + 1, n_trials - most)), most / n_trials


def _count(share, delta):
    """Return how many samples of a share are all inside with probability delta."""
    if share == 1:
        return "infinitely many"
    return f"at least {int(np.ceil(np.log(delta) / np.log(share)))}"


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
    model = check_model(min_tpr, max_fpr, max_risk, min_precision, None, ood_prior)
    confidence_level = check_confidence_level(confidence_level)
    levels = Levels(model, check_wild_share(wild_share), confidence_level)
    # One value for all sums that tie up to rounding.
    scores = snap(*rule._combine_with_sizes(uncertainty_scores, novelty_scores))
    scores, losses, is_ood, _ = check_origin_samples(scores, losses, is_ood)
    is_id = ~is_ood
    bound, max_loss = choose_bound(losses[is_id], bound, max_loss, BOUNDS_OF_SUMS)
    n_id = int(np.count_nonzero(is_id))
    levels.refuse_few_samples(n_id, len(scores) - n_id, max_loss)
    if draws is None:
        draws = check_random_state(random_state).random_sample(len(scores))
    draws = check_draws(draws, len(scores))

    # The threshold is the ID sample of a rank by score and, where these tie, by draw;
    # minus infinity is accepted whatever it draws.
    places = _rank_densely(scores, np.where(scores == -np.inf, 0.0, draws))
    order = np.flatnonzero(is_id)[np.argsort(places[is_id], kind="stable")]
    rank = levels.rank(n_id)
    last = order[rank - 1]
    if scores[last] == np.inf:
        raise _infeasible_tpr(levels, scores[is_id])
    of_ood = np.sort(places[is_ood])
    sample = _Calibration(
        levels, rank, places[order], losses[order], of_ood, bound, max_loss
    )
    certificate = sample.certify()
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

    The threshold is at the ID sample of a rank. `bound` is the kind of bound on a mean
    of losses of at most `max_loss`.
    """

    levels: Levels
    rank: int
    of_id: np.ndarray
    losses: np.ndarray
    of_ood: np.ndarray
    bound: object
    max_loss: float

    def certify(self):
        """Return the certificate, or raise."""
        levels, n_id, n_ood = self.levels, len(self.of_id), len(self.of_ood)
        min_tpr, n_accepted = levels.model.min_tpr, int(self._count_ood(self.rank))
        rate = None
        if levels.finds_fpr or levels.max_fpr is not None:
            rate = binomial_upper(n_accepted, n_ood, levels.delta)
        if levels.max_fpr is not None and n_accepted > levels.most_ood(n_ood):
            reason = f"{n_accepted} of {n_ood} OOD samples are accepted"
            raise self._infeasible(levels.bound_of_rate(rate), reason)
        max_risk = self._bound_risk(self.rank, min_tpr)
        if max_risk > levels.max_risk:
            mean = self.losses[: self.rank].mean()
            reason = f"the mean loss of the accepted ID samples is {mean:.3g}"
            raise self._infeasible(max_risk * (1 + _SLACK), reason)
        max_fpr = levels.max_fpr
        if levels.finds_fpr:
            max_fpr = min(1.0, levels.fpr_of_rate(rate, min_tpr))
        return OODCertificate(
            min_tpr=min_tpr,
            max_fpr=max_fpr,
            max_risk=max_risk,
            confidence_level=levels.confidence_level,
            n_id=n_id,
            n_ood=n_ood,
            n_accepted_id=self._n_reached(self.rank),
            n_accepted_ood=n_accepted,
        )

    def _count_ood(self, ranks):
        """Return how many flagged samples are accepted up to some ID samples."""
        return np.searchsorted(self.of_ood, self.of_id[ranks - 1], side="right")

    def _n_reached(self, rank):
        """Return how many ID samples are accepted, those that tie included."""
        return int(np.searchsorted(self.of_id, self.of_id[rank - 1], side="right"))

    def _bound_risk(self, rank, min_tpr):
        """Return an upper confidence bound of the risk of what is up to an ID sample.

        The losses below it are draws of what is strictly below. Other samples may have
        its score and draw, and are accepted, too. Either bounds what all of these add:
        as a mixture, by the larger risk, or by their number. Given the sample, how many
        there are does not depend on the losses below.
        """
        upper, delta = self.bound.upper, self.levels.delta
        below = self.losses[: rank - 1] / self.max_loss
        tied = self.losses[rank : self._n_reached(rank)] / self.max_loss
        if not len(tied):
            return self.max_loss * upper(below, delta)
        risk = upper(below, delta / 2)
        mixture = max(risk, upper(tied, delta / 4))
        share = binomial_upper(len(tied), len(self.of_id) - rank, delta / 4)
        # Of all, at most 1 - min_tpr is above where TPR is at least min_tpr.
        return self.max_loss * min(mixture, risk + share * (1 - min_tpr) / min_tpr)

    def _infeasible(self, best, reason):
        """Return an error that says how far either bound can be relaxed to.

        `best` is what can be certified of the bound beside that on the TPR.
        """
        model = self.levels.model
        name, asked = model.name, model.asked
        shown = f"smallest {name} that can be certified is {round_up(best)}"
        if model.bounds_precision:
            shown = f"largest {name} that can be certified is {round_down(best)}"
        most = self._largest_tpr()
        attainable, what = {name: best}, name
        beside = f"No min_tpr can be certified together with {asked}"
        if not np.isnan(most):
            attainable, what = {"min_tpr": most, name: best}, "one of the bounds"
            beside = (
                f"Together with {asked}, the largest min_tpr that can be certified is "
                f"{round_down(most)}"
            )
        return InfeasibleTargetError(
            f"{asked} cannot be certified together with min_tpr={model.min_tpr:g}: "
            f"{reason}, and the {shown}. {beside}",
            f"Relax {what} up to this value, use more samples, or use a lower "
            "confidence.",
            attainable,
        )

    def _largest_tpr(self):
        """Return the largest TPR that can be certified with the other bound, or NaN."""
        levels, n_id, n_ood = self.levels, len(self.of_id), len(self.of_ood)
        ranks = np.arange(1, self.rank)
        # Quantiles and tail probabilities agree up to rounding.
        rates = beta.ppf(levels.delta, ranks, n_id + 1 - ranks) * (1 - _SLACK)
        possible = rates > 0
        if levels.max_fpr is not None:
            # As much less as a rate loses when it is printed.
            most = np.minimum(1.0, levels.largest_rate(rates * (1 - _PRINTED)))
            tails = binom.cdf(self._count_ood(ranks), n_ood, most)
            possible &= (tails <= levels.delta) | (most == 1)
        possible &= self._has_risk(ranks)
        for index in np.flatnonzero(possible)[::-1]:
            tpr = float(rates[index])
            if self._bound_risk(ranks[index], tpr) <= levels.max_risk:
                return tpr
        return np.nan

    def _has_risk(self, ranks):
        """Tell which ranks of ID samples have a certified risk, but for ties."""
        share = self.levels.max_risk / self.max_loss
        if share >= 1:
            return np.ones(len(ranks), bool)
        sums = np.append(0.0, np.cumsum(self.losses / self.max_loss))
        return (
            self.bound.of_sums(ranks - 1, sums[ranks - 1], share) <= self.levels.delta
        )


def _infeasible_tpr(levels, of_id):
    """Return the error of too many ID samples of infinite score."""
    share, n_finite = np.mean(of_id == np.inf), np.count_nonzero(of_id < np.inf)
    attainable = {}
    if n_finite:
        rate = beta.ppf(levels.delta, n_finite, len(of_id) + 1 - n_finite)
        attainable["min_tpr"] = float(rate) * (1 - _SLACK)
    return InfeasibleTargetError(
        f"min_tpr={levels.model.min_tpr:g} cannot be certified: {share:.3g} of the ID "
        "samples have infinite novelty and are rejected by every rule",
        "Lower min_tpr, or use another novelty_score.",
        attainable,
    )
