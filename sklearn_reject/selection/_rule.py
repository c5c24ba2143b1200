"""The rejection rule, its certificate, and what it achieves on its calibration set."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._validation import check_number, check_samples, check_vector


@dataclass(frozen=True)
class Certificate:
    """A bound that holds for the population with high probability.

    The probability is over the draw of the calibration sample, which must be
    independent of the classifier and of the score, and of the noise that breaks ties.

    Attributes
    ----------
    quantity : str
        "risk" if the selective risk is at most `target`, "coverage" if the coverage is
        at least `target`.

    target : float
        The certified bound.

    confidence : float
        Least probability, in ]0, 1[, that the bound holds.

    bound : str
        Where the p-values come from: "binomial", "hoeffding_bentkus" or "betting" for
        a risk, "order_statistic" for a coverage.

    search : str or None
        How the threshold was found among those tested: "fixed_sequence", "bonferroni"
        or "sgr". None for a coverage, where a single threshold is tested.

    n_samples : int
        Number of calibration samples.

    n_accepted : int
        Number of calibration samples, by increasing score and noise, that the test
        accepted. The rule accepts these and, of ties without noise, maybe more.

    p_value : float
        Chance, at most, of a calibration sample as favourable as this one at a rule
        that breaks the bound, for this rule on its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import solve_target_risk
    >>> scores = np.arange(100)
    >>> rule = solve_target_risk(scores, scores >= 80, 0.1, confidence=0.9)
    >>> rule.certificate.bound, rule.certificate.search, rule.certificate.n_accepted
    ('binomial', 'fixed_sequence', 84)
    """

    quantity: str
    target: float
    confidence: float
    bound: str
    search: str | None
    n_samples: int
    n_accepted: int
    p_value: float


@dataclass(frozen=True)
class RejectionRule:
    """Accept below a threshold, at random at it, reject above (FPV23, eq. 25).

    Attributes
    ----------
    threshold : float
        Scores below it are accepted, scores above it rejected. Infinite where all
        samples of the tuning sample are accepted, minus infinity where none is.

    proba_at_threshold : float
        Probability in [0, 1] that a score equal to the threshold is accepted.

    coverage : float, default=nan
        Expected share of accepted samples on the tuning sample, higher is better. NaN
        if the rule was made without a sample.

    selective_risk : float, default=nan
        Expected loss over the expected coverage on the tuning sample, lower is better.
        NaN if nothing is accepted or the rule was made without a sample.

    reject_cost : float, default=nan
        The reject cost under which accepting up to the threshold is optimal: the slope
        of the lower convex hull of (accepted weight, accepted loss) at the threshold.

    certificate : Certificate, default=None
        What holds for the population with high probability, if that was asked for.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_coverage
    >>> rule = solve_target_coverage([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1], 0.5)
    >>> rule.threshold, rule.proba_at_threshold, rule.coverage, rule.selective_risk
    (0.4, 0.5, 0.5, 0.25)
    >>> rule.accept_proba([0.3, 0.4, 0.5])
    array([1. , 0.5, 0. ])
    """

    threshold: float
    proba_at_threshold: float
    coverage: float = float("nan")
    selective_risk: float = float("nan")
    reject_cost: float = float("nan")
    certificate: Certificate | None = None

    def accept_proba(self, scores):
        """Return the probability that each sample is accepted.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Finite uncertainty scores, higher = more uncertain.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            1 below the threshold, `proba_at_threshold` at it, 0 above.
        """
        scores = check_vector(scores, "scores")
        probability = (scores < self.threshold).astype(np.float64)
        if self.proba_at_threshold > 0:
            probability[scores == self.threshold] = self.proba_at_threshold
        return probability

    def accept(self, scores, random_state=None):
        """Accept or reject each sample, drawing only at the threshold.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Finite uncertainty scores, higher = more uncertain.

        random_state : int, RandomState instance or None, default=None
            Source of the draws. Not used where `proba_at_threshold` is 0 or 1.

        Returns
        -------
        accepted : ndarray of shape (n_samples,), dtype bool
            Whether the sample is accepted.
        """
        scores = check_vector(scores, "scores")
        if self.proba_at_threshold == 1:
            return scores <= self.threshold
        accepted = scores < self.threshold
        if self.proba_at_threshold > 0:
            tied = np.flatnonzero(scores == self.threshold)
            draws = check_random_state(random_state).random_sample(len(tied))
            accepted[tied] = draws < self.proba_at_threshold
        return accepted

    def measure(self, scores, losses, *, sample_weight=None):
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
            Same `threshold`, `proba_at_threshold`, `reject_cost` and `certificate`;
            `coverage` and `selective_risk` are the expected ones on the sample given,
            the latter NaN if nothing is accepted.

        Examples
        --------
        >>> from sklearn_reject.selection import chow_rule
        >>> chow_rule(0.5).measure([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]).coverage
        0.75
        """
        scores, losses, weight = check_samples(scores, losses, sample_weight)
        accepted = self.accept_proba(scores)
        if weight is not None:
            accepted *= weight
        covered = float(accepted.sum())
        total = len(scores) if weight is None else float(weight.sum())
        return replace(
            self,
            coverage=covered / total,
            selective_risk=float(accepted @ losses) / covered if covered else np.nan,
        )

    def equivalent_targets(self):
        """Return the three targets that lead to this rule on its tuning sample.

        Returns
        -------
        targets : dict
            With keys "reject_cost", "target_risk" and "target_coverage". Each alone
            gives a rule of equal coverage or, where several thresholds attain the same
            risk or cost, of a larger one.
        """
        return {
            "reject_cost": self.reject_cost,
            "target_risk": self.selective_risk,
            "target_coverage": self.coverage,
        }


def chow_rule(reject_cost):
    """Return the rule for a score that estimates the conditional risk itself.

    Rejecting costs `reject_cost`, so a sample is accepted if its risk is at most that
    (Chow 1970; FPV23, eq. 4). No data is needed.

    Parameters
    ----------
    reject_cost : float >= 0
        Cost of rejecting a sample, in units of the loss.

    Returns
    -------
    rule : RejectionRule
        Accepts scores up to and including `reject_cost`.

    Raises
    ------
    ValueError
        If `reject_cost` is negative or not a finite number.

    Examples
    --------
    >>> from sklearn_reject.selection import chow_rule
    >>> chow_rule(0.2).accept([0.1, 0.2, 0.3])
    array([ True,  True, False])
    """
    reject_cost = check_number(reject_cost, "reject_cost")
    return RejectionRule(
        threshold=reject_cost, proba_at_threshold=1.0, reject_cost=reject_cost
    )
