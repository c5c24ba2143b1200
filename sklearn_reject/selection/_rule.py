"""The rejection rule, its certificate, and what it achieves on its calibration set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_reject._as_dict import (
    Amount,
    Count,
    DictMixin,
    Number,
    Probability,
    Share,
    Size,
)
from sklearn_reject._curves._cut import hull_slope
from sklearn_reject._curves._prefixes import Prefixes, tie_range
from sklearn_reject._typing import Draws, RandomState
from sklearn_reject._validation import check_same_length, check_samples, check_vector
from sklearn_reject.selection._monitor import RiskMonitor


@dataclass(frozen=True)
class Certificate(DictMixin):
    """A bound that holds for the population with high probability, or on average.

    The probability is over the draw of the calibration sample, which must be
    independent of the classifier and of the score, and of the noise that breaks ties.
    It counts all draws, those among them in which no rule is found. So it says nothing
    of one sample: where a bound can hardly be certified a rule is mostly found by luck,
    and of the rules found more than one minus the `confidence_level` may break it (6 of
    12 in a simulation).

    Attributes
    ----------
    quantity : str
        "risk" if the selective risk is at most `target`, "coverage" if the coverage is
        at least `target`, "failure_rate" if the expected loss of a new sample, zero
        where it is rejected, is at most `target`. Of rules of deferral, "system_risk"
        and "deferral_rate" if that is at most `target`.

    target : float
        The certified bound.

    confidence_level : float or None
        Least probability, in (0, 1), that the bound holds. None for a failure rate that
        is bounded in expectation, over calibration samples and new sample together.

    bound : str
        Where the p-values come from: "binomial", "hoeffding_bentkus" or "betting" for
        a risk or a failure rate, "order_statistic" for a coverage or a deferral rate;
        "conformal" without confidence.

    n_samples : int
        Number of calibration samples. With weights or clusters, of the rows or clusters
        with a label, without the few that say where tests start; of several bounds, and
        of a failure rate, that of all.

    n_accepted : int
        Number of calibration samples, by increasing score and noise, that the test
        accepted. The rule accepts these and, of ties without noise, maybe more. Of a
        failure rate, those below the threshold. Of rules of deferral, those that
        the test keeps.

    p_value : float or None
        Chance, at most, of a calibration sample as favourable as this one at a rule
        that breaks the bound, for this rule on its own. None without confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import solve_target_risk
    >>> scores = np.arange(100)
    >>> rule = solve_target_risk(scores, scores >= 80, 0.1, confidence_level=0.9)
    >>> rule.certificate.bound, rule.certificate.n_accepted
    ('binomial', 84)
    """

    quantity: str
    target: Size
    confidence_level: Probability | None
    bound: str
    n_samples: Count
    n_accepted: Count
    p_value: Probability | None


def compare(scores, threshold, sizes=None):
    """Return which scores are below a threshold, and which are at it up to rounding."""
    low, high = tie_range(scores, sizes)
    is_below = high < threshold
    return is_below, ~is_below & (low <= threshold)


def weigh(is_below, is_at, probability):
    """Return the probability that each score is accepted."""
    return np.where(is_at, probability, is_below.astype(np.float64))


def decide(is_below, is_at, probability, draws, random_state):
    """Accept what is below a threshold, and at it what draws less than a probability.

    The probability is one number, or one a sample. `draws` are numbers for all rows, or
    a callable that maps the rows at the threshold to theirs; None takes them from the
    random state.
    """
    if draws is not None and random_state is not None:
        raise ValueError(
            f"random_state={random_state!r} is not used with draws. Pass one of them."
        )
    if not callable(draws) and draws is not None:
        draws = check_draws(draws, len(is_below))
    accepted, rows = is_below.copy(), np.flatnonzero(is_at)
    chances = np.broadcast_to(probability, is_at.shape)[rows]
    accepted[rows] = chances == 1
    is_open = (chances > 0) & (chances < 1)
    rows, chances = rows[is_open], chances[is_open]
    if draws is None:
        drawn = check_random_state(random_state).random_sample(len(rows))
    elif not callable(draws):
        drawn = draws[rows]
    else:
        drawn = check_draws(draws(rows), len(rows)) if len(rows) else np.empty(0)
    accepted[rows] = drawn < chances
    return accepted


def check_draws(draws, n_samples):
    """Return draws as a vector of numbers in [0, 1), one a sample."""
    draws = check_vector(draws, "draws") if n_samples else np.empty(0)
    check_same_length(n_samples, draws=draws)
    outside = draws[(draws < 0) | (draws >= 1)]
    if outside.size:
        raise ValueError(
            f"draws must be in [0, 1), got {outside[0]}. Pass those of keyed_draws."
        )
    return draws


class Monitored(DictMixin):
    """Rule whose risk can be watched in production.

    `_watched` is what a certificate calls it, and its name on the calibration set.
    Values times the `_sign` are decided on in increasing order.
    """

    def monitor(self, target: float | None = None, **options: Any) -> RiskMonitor:
        """Return a monitor of the losses of accepted samples or, of a system, of all.

        Parameters
        ----------
        target : float in (0, max_loss), default=None
            Largest risk that is tolerated, of a system that defers its risk whoever
            answers. None takes the certified one. It is required where no risk was
            certified: the risk on the calibration set is no promise, and a monitor of
            it would often alarm without a reason.

        **options : dict
            `confidence_level`, `max_loss`, `max_weight` and `since`, as
            :class:`RiskMonitor` takes them.

        Returns
        -------
        monitor : RiskMonitor
            Watches the risk of accepted samples or, of a system, of all.

        Raises
        ------
        ValueError
            If no target is given and no risk was certified, or the target is not below
            `max_loss`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_reject.selection import solve_target_risk
        >>> scores = np.arange(100)
        >>> rule = solve_target_risk(scores, scores >= 80, 0.1, confidence_level=0.9)
        >>> rule.monitor(confidence_level=0.99)
        <RiskMonitor(target=0.1, confidence_level=0.99, ...): n_samples=0, ...>
        """
        return RiskMonitor(
            self._certified_risk() if target is None else target, **options
        )

    def _compare(self, scores, groups=None):
        """Return what is beyond and at the threshold, and the chance at it."""
        if groups is not None:
            raise TypeError(f"{type(self).__name__} is of one score, without groups.")
        scores = self._sign * check_vector(scores, self._name)
        return *compare(scores, self._sign * self.threshold), self.proba_at_threshold

    def _certified_risk(self):
        """Return the target that the rule was certified for, or say what to pass."""
        quantity, name = self._watched
        if self.certificate is not None and self.certificate.quantity == quantity:
            return self.certificate.target
        raise ValueError(
            "The rule has no certified risk to watch. Pass as target the largest risk "
            f"that you accept, above {getattr(self, name):.3g}, which it is on the "
            "calibration set: on new samples it is often larger. To watch a failure "
            "rate, make a RiskMonitor of it, and give it zero for rejected samples."
        )


class Accepting:
    """Rule that accepts below a threshold. `_compare` takes what the methods do.

    It returns what is below and what is at the threshold, and the chance at it.
    """

    _name, _sign = "scores", 1

    def accept_proba(self, *scores: ArrayLike, **named: ArrayLike) -> np.ndarray:
        """Return the probability that each sample is accepted.

        Parameters
        ----------
        *scores : array-likes of shape (n_samples,)
            What the rule is for: a score, higher = rejected first, or a risk and a
            novelty score; of a rule by groups, a score and the group of each sample.
            Finite, but for rules of OOD samples.

        **named : array-likes of shape (n_samples,)
            The same by name: `scores`, `groups`, `uncertainty_scores` and
            `novelty_scores`.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            1 below the threshold, `proba_at_threshold` at it, 0 above, and in a group
            without a rule.
        """
        return weigh(*self._compare(*scores, **named))

    def at_threshold(self, *scores: ArrayLike, **named: ArrayLike) -> np.ndarray:
        """Return which samples are at the threshold.

        Parameters
        ----------
        *scores : array-likes of shape (n_samples,)
            As in :meth:`accept_proba`.

        **named : array-likes of shape (n_samples,)
            As in :meth:`accept_proba`.

        Returns
        -------
        is_at : ndarray of shape (n_samples,), dtype bool
            Whether the sample is accepted with `proba_at_threshold`.
        """
        return self._compare(*scores, **named)[1]

    def accept(
        self,
        *scores: ArrayLike,
        draws: Draws | None = None,
        random_state: RandomState | None = None,
        **named: ArrayLike,
    ) -> np.ndarray:
        """Accept or reject each sample, at random only at the threshold.

        Parameters
        ----------
        *scores : array-likes of shape (n_samples,)
            As in :meth:`accept_proba`.

        draws : array-like of shape (n_samples,) or callable, default=None
            Numbers in [0, 1), as :func:`keyed_draws` makes them. A sample is accepted
            if its number is below its probability; where that is 0 or 1, as it is away
            from the threshold, the number is not used. A callable maps the indices of
            the samples whose numbers are used to these, and is not called for none.

        random_state : int, RandomState instance or None, default=None
            Seed of the draws if `draws` is None. Decisions then depend on the call: the
            same row may be accepted in one batch and not in another.

        **named : array-likes of shape (n_samples,)
            As in :meth:`accept_proba`.

        Returns
        -------
        accepted : ndarray of shape (n_samples,), dtype bool
            Whether the sample is accepted.

        Raises
        ------
        ValueError
            If `draws` are not in [0, 1), or given together with `random_state`.

        Examples
        --------
        >>> from sklearn_reject.selection import RejectionRule, keyed_draws
        >>> rule = RejectionRule(threshold=0.4, proba_at_threshold=0.5)
        >>> rule.accept([0.3, 0.4, 0.4, 0.4], draws=keyed_draws(0, [10, 11, 12, 13]))
        array([ True,  True, False,  True])
        """
        return decide(*self._compare(*scores, **named), draws, random_state)


@dataclass(frozen=True)
class RejectionRule(Accepting, Monitored):
    """Rule that accepts below a threshold, and at random at it (FPV23, equation 25).

    A score is at the threshold if they differ by at most 2^-40 of the score's
    magnitude, as the scores of one sample do that are computed in other batches or on
    another machine.

    Attributes
    ----------
    threshold : float
        Scores below it are accepted, scores above it rejected. Infinite where all
        samples of the calibration set are accepted, minus infinity where none is.

    proba_at_threshold : float
        Probability in [0, 1] that a score equal to the threshold is accepted.

    coverage : float, default=nan
        Expected share of accepted samples on the calibration set, higher is better. NaN
        if the rule was made without a sample.

    selective_risk : float, default=nan
        Expected loss over the expected coverage on the calibration set, lower is
        better. NaN if nothing is accepted or the rule was made without a sample.

    reject_cost : float, default=nan
        The reject cost under which accepting up to the threshold is optimal: the slope
        of the lower convex hull of (accepted weight, accepted loss) at the threshold,
        on the calibration set. Zero if nothing is accepted there. Of a rule that was
        made without a sample, the cost that was asked for, or NaN.

    certificate : Certificate, default=None
        What holds for the population with high probability, if that was asked for, or
        on average, for a bound on failures.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_coverage
    >>> rule = solve_target_coverage([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1], 0.5)
    >>> rule.threshold, rule.proba_at_threshold, rule.coverage, rule.selective_risk
    (0.4, 0.5, 0.5, 0.25)
    >>> rule.accept_proba([0.3, 0.4, 0.5])
    array([1. , 0.5, 0. ])
    """

    threshold: Number
    proba_at_threshold: Probability
    coverage: Share = float("nan")
    selective_risk: Amount = float("nan")
    reject_cost: Amount = float("nan")
    certificate: Certificate | None = None

    _watched = "risk", "selective_risk"

    @property
    def failure_rate(self) -> float:
        """Mean loss over all samples of the calibration set, zero for rejected ones.

        The share of all samples that is accepted and wrong where the loss is 0 or 1:
        `coverage` times `selective_risk`, lower is better.
        """
        return self.coverage * self.selective_risk if self.coverage else 0.0

    def measure(
        self,
        scores: ArrayLike,
        losses: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Return the rule with what it achieves on another sample.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Uncertainty scores, higher = more uncertain.

        losses : array-like of shape (n_samples,)
            Non-negative losses.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        rule : RejectionRule
            Same `threshold`, `proba_at_threshold` and `certificate`; `coverage` and
            `selective_risk` are the expected ones on the sample given, the latter NaN
            if nothing is accepted, and `reject_cost` is the cost under which that
            sample would be accepted as far.

        Examples
        --------
        >>> from sklearn_reject.selection import RejectionRule
        >>> rule = RejectionRule(threshold=0.5, proba_at_threshold=1.0)
        >>> rule = rule.measure([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
        >>> rule.coverage, rule.reject_cost
        (0.75, 0.5)
        """
        scores, losses, weight = check_samples(scores, losses, sample_weight)
        accepted = self.accept_proba(scores)
        if weight is not None:
            accepted *= weight
        covered = float(accepted.sum())
        lost = float(accepted @ losses)
        del accepted
        prefixes = Prefixes.of(scores, weight, near=True, loss=losses)
        n_reached = np.count_nonzero(self.accept_proba(prefixes.scores))
        total = len(scores) if weight is None else float(weight.sum())
        return replace(
            self,
            coverage=covered / total,
            selective_risk=lost / covered if covered else np.nan,
            reject_cost=hull_slope(prefixes, n_reached),
        )


def place(prefixes, cut, to_next=False):
    """Return the threshold of a cut, and the probability at it.

    Where no share of a group is accepted, the threshold is the last score accepted or,
    with `to_next`, the next one. Where everything is accepted it is infinite: the
    largest score seen would reject larger ones to come.
    """
    n_groups, share = cut
    if n_groups == len(prefixes):
        return float("inf"), 1.0
    if share or to_next:
        return float(prefixes.scores[n_groups]), float(share)
    return (float(prefixes.scores[n_groups - 1]), 1.0) if n_groups else (-np.inf, 0.0)


def make_rule(prefixes, cut, *, to_next=False, certificate=None):
    """Return the rule that a cut is, see `place`, and what it achieves."""
    threshold, proba = place(prefixes, cut, to_next)
    weight, loss = (prefixes.at(name, *cut) for name in ("weight", "loss"))
    return RejectionRule(
        threshold=threshold,
        proba_at_threshold=proba,
        coverage=weight / prefixes.total("weight"),
        selective_risk=loss / weight if weight else float("nan"),
        reject_cost=hull_slope(prefixes, cut.n_groups + bool(cut.share)),
        certificate=certificate,
    )
