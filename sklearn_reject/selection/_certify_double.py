"""A threshold whose TPR, FPR and risk hold for the population with high probability.

The direction, the weights of both scores, is fixed before the calibration sample is
seen. The threshold is the ID sample of a rank that follows from sizes and levels alone.
Given it, the number of OOD samples up to it is binomial, and the ID samples below it
are draws of what the rule accepts. So each statement is an exact tail at an equal share
of 1 - confidence. Draws break ties; what ties in both is accepted together.
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
from sklearn_reject._curves._prefixes import snap
from sklearn_reject._typing import RandomState
from sklearn_reject._validation import of_arrays
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._bounds import (
    BOUNDS_OF_SUMS,
    binomial_upper,
    most_successes,
)
from sklearn_reject.selection._certify import check_confidence_level, choose_test
from sklearn_reject.selection._ood_model import OODModel, check_ood, check_wild_share
from sklearn_reject.selection._ood_rule import DoubleScoreRule, precision_of
from sklearn_reject.selection._rule import check_draws
from sklearn_reject.selection._tune import check_model

# By how much, relatively, an attainable rate is reported on the safe side.
_SLACK = 1e-9

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
        Least probability, in (0, 1), that all of them hold jointly.

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

    @property
    def largest_rate(self):
        """Share of the flagged samples that may be accepted at the least TPR."""
        tpr = self.model.min_tpr
        of_ood = self.wild_share * self.model.max_fpr_at(tpr)
        return of_ood + (1 - self.wild_share) * tpr

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

    def rates_to_certify(self, n_id, n_ood, *, bound="binomial", max_loss=1.0):
        """Return rates, as dicts, that make it likely that the bounds are certified.

        To tune with these finds the direction that serves the certified rule best. The
        first leave room for FPR or risk to be larger on the calibration sample than on
        the tuning sample; the second are just enough. `bound` and `max_loss` are those
        of the risk, where that has a bound.
        """
        self.refuse_few_samples(n_id, n_ood, max_loss)
        rank = self.rank(n_id)
        of_tpr = {"min_tpr": rank / n_id}
        if self.finds_fpr:
            if self.model.bound >= max_loss:
                return [of_tpr | {"max_risk": self.model.bound}]
            # The bound of Hoeffding and Bentkus is at most e times the binomial tail.
            delta = self.delta if bound == "binomial" else self.delta / math.e
            shares = _shares_to_certify(rank - 1, self.model.bound / max_loss, delta)
            return [of_tpr | {"max_risk": share * max_loss} for share in shares]
        if self.max_fpr is not None:
            shares = _shares_to_certify(n_ood, self.largest_rate, self.delta)
            fprs = [self.fpr_of_rate(share, rank / n_id) for share in shares]
            return [of_tpr | {"max_fpr": fpr} for fpr in fprs]
        if self.model.name is None:  # the FPR is a part of the risk
            return [of_tpr | {"ood_prior": self.model.ood_prior}]
        return [of_tpr | {"max_fpr": 1.0}]

    def refuse_few_finite(self, n_finite, n_id):
        """Raise where the ID samples of finite novelty are too few for the TPR."""
        if self.rank(n_id) <= n_finite:
            return
        # What all of them certify.
        most = float(beta.ppf(self.delta, n_finite, n_id + 1 - n_finite))
        needed = f"{_count(self.model.min_tpr, self.delta)} are needed"
        if n_finite < n_id:
            needed = f"{n_id - n_finite} have infinite novelty, which is rejected"
        raise InfeasibleTargetError(
            f"{n_id} ID samples cannot certify min_tpr={self.model.min_tpr:g}, even if "
            f"all are accepted: {needed}",
            "Use more samples, a lower min_tpr, a lower confidence, or another score.",
            {"min_tpr": most * (1 - _SLACK)} if n_finite else None,
        )

    def refuse_few_samples(self, n_id, n_ood, max_loss):
        """Raise where nothing that the samples could hold would certify the bounds."""
        self.refuse_few_finite(n_id, n_id)
        rank, delta = self.rank(n_id), self.delta
        wanted = f"min_tpr={self.model.min_tpr:g}"
        n_samples, kind, even = n_ood, "OOD", "if none is accepted"
        allowed = 1.0 if self.max_fpr is None else self.largest_rate
        if self.finds_fpr:
            check_ood(self.model, n_ood)
            n_samples, kind, even = rank - 1, "accepted ID", "without any loss"
            allowed = self.model.bound / max_loss
        if allowed >= 1 or (1 - allowed) ** n_samples <= delta:
            return
        attainable = {}
        if n_samples:
            best = 1 - delta ** (1 / n_samples)
            scale = max_loss * (1 + _SLACK)
            best = best * scale if self.finds_fpr else self.bound_of_rate(best)
            attainable[self.model.name] = best
        raise InfeasibleTargetError(
            f"{n_samples} {kind} samples cannot certify {self.model.asked} together "
            f"with {wanted}, even {even}: {_count(1 - allowed, delta)} are needed",
            f"Use more samples, relax {self.model.name}, or use a lower confidence.",
            attainable,
        )

    def certify_fpr(self, n_accepted, n_ood):
        """Return the FPR that so many accepted samples certify, None if none is."""
        if self.max_fpr is None and not self.finds_fpr:
            return None
        rate = binomial_upper(n_accepted, n_ood, self.delta)
        if self.finds_fpr:
            return min(1.0, self.fpr_of_rate(rate, self.model.min_tpr))
        if n_accepted > most_successes(n_ood, self.largest_rate, self.delta):
            reason = f"{n_accepted} of {n_ood} OOD samples are accepted"
            raise self._infeasible(self.bound_of_rate(rate), reason)
        return self.max_fpr

    def certify_risk(self, bound, shares, n_id, max_loss):
        """Return the risk that a kind of bound certifies, of losses as shares.

        Those below the ID sample of the rank are draws of what is strictly below. Those
        above tie with it and are accepted, too. Either bounds what all of them add: as
        a mixture, by the larger risk, or by their number, which does not depend on the
        losses below.
        """
        rank, min_tpr = self.rank(n_id), self.model.min_tpr
        below, tied = shares[: rank - 1], shares[rank:]
        upper, delta = bound.upper, self.delta
        risk = upper(below, delta / 2 if len(tied) else delta)
        if len(tied):
            mixture = max(risk, upper(tied, delta / 4))
            share = binomial_upper(len(tied), n_id - rank, delta / 4)
            # Of all, at most 1 - min_tpr is above where TPR is at least min_tpr.
            risk = min(mixture, risk + share * (1 - min_tpr) / min_tpr)
        risk *= max_loss
        if self.finds_fpr and risk > self.model.bound:
            mean = max_loss * shares.mean()
            reason = f"the mean loss of the accepted ID samples is {mean:.3g}"
            raise self._infeasible(risk * (1 + _SLACK), reason)
        return risk

    def _infeasible(self, best, reason):
        """Return the error of a bound beside that on the TPR: it can be certified."""
        name, extreme, rounded = self.model.name, "smallest", round_up(best)
        if self.model.bounds_precision:
            extreme, rounded = "largest", round_down(best)
        together = f"cannot be certified together with min_tpr={self.model.min_tpr:g}"
        return InfeasibleTargetError(
            f"{self.model.asked} {together}: {reason}, and the {extreme} {name} that "
            f"can be certified is {rounded}",
            f"Relax {name} up to this value, lower min_tpr, or use more samples or a "
            "lower confidence.",
            {name: best},
        )


def _shares_to_certify(n_trials, rate, delta):
    """Return a share that certifies a rate with high power, and the largest one."""
    most = max(most_successes(n_trials, rate, delta), 0)
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

    confidence_level : float in (0, 1)
        Probability with which all bounds are to hold jointly for the population.

    min_tpr, max_fpr, max_risk, min_precision, ood_prior : float, default=None
        Bounds as in :func:`tune_double_score`.

    wild_share : float in (0, 1], default=None
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
        Numbers in [0, 1) that break ties: those of :func:`keyed_draws` for the keys
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
    options = confidence_level, bound, max_loss, BOUNDS_OF_SUMS
    test = choose_test(losses[is_id], *options)
    bound, max_loss = test.bound, test.max_loss
    n_id, n_ood = int(is_id.sum()), int(is_ood.sum())
    levels.refuse_few_samples(n_id, n_ood, max_loss)
    if draws is None:
        draws = check_random_state(random_state).random_sample(len(scores))
    draws = check_draws(draws, len(scores))

    # The threshold is the ID sample of a rank by score and, where these tie, by draw;
    # minus infinity is accepted whatever it draws.
    pairs = scores + 1j * np.where(scores == -np.inf, 0.0, draws)
    places = np.unique(pairs, return_inverse=True)[1]
    order = np.flatnonzero(is_id)[np.argsort(places[is_id], kind="stable")]
    last = order[levels.rank(n_id) - 1]
    levels.refuse_few_finite(np.count_nonzero(scores[is_id] < np.inf), n_id)
    accepted = places <= places[last]
    n_accepted_id = int(accepted[is_id].sum())
    n_accepted_ood = int(accepted[is_ood].sum())
    shares = losses[order[:n_accepted_id]] / max_loss
    certificate = OODCertificate(
        model.min_tpr,
        levels.certify_fpr(n_accepted_ood, n_ood),
        levels.certify_risk(bound, shares, n_id, max_loss),
        confidence_level,
        *(n_id, n_ood, n_accepted_id, n_accepted_ood),
    )
    # Draws below the probability are accepted, and are multiples of 2^-53.
    proba = 1.0 if scores[last] == -np.inf else float(np.nextafter(draws[last], 1.0))
    rule = replace(
        rule,
        threshold=float(scores[last]),
        proba_at_threshold=proba,
        ood_prior=rule.ood_prior if ood_prior is None else float(ood_prior),
        certificate=certificate,
    )
    sample = uncertainty_scores, novelty_scores, losses, is_ood
    return rule.measure(*sample, wild_share=wild_share)
