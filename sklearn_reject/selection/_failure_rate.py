"""The largest coverage under a bound on failures."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sklearn_reject._typing import Other, RandomState, RiskBound, Target
from sklearn_reject._validation import (
    check_number,
    check_option,
    check_samples,
    of_arrays,
)
from sklearn_reject.selection._bounds import FAILURE_BOUNDS
from sklearn_reject.selection._certify import check_confidence_level, choose_bound
from sklearn_reject.selection._failure_rules import FailureTarget, solve_failures
from sklearn_reject.selection._order import tell_order
from sklearn_reject.selection._rule import RejectionRule
from sklearn_reject.selection._solve_by_group import by_group


@of_arrays
@tell_order
@by_group
def solve_target_failure_rate(
    scores: ArrayLike,
    losses: ArrayLike,
    target: Target,
    *,
    sample_weight: None = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    bound: RiskBound = "auto",
    max_loss: float | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
) -> RejectionRule | Other:
    """Maximize the coverage under a bound on the failure rate.

    The failure rate is the expected loss of all samples, zero where they are rejected:
    with 0/1 loss the share of all samples that is accepted and wrong. It never falls as
    more is accepted, so that no sample is too small for a bound that holds.

    Without `confidence_level`, the failure rate is at most `target` on average over the
    draw of the calibration samples and of the new sample: conformal risk control. It is
    no statement about the selective risk, the expected loss among what is accepted, nor
    about one rule; with `confidence_level`, the rule is one that keeps the target,
    except with a probability of at most 1 - `confidence_level`. Either way the samples
    must be independent of the classifier and of the score: drawn one by one, and used
    to fit neither. Of out-of-fold predictions that is true but approximately.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    target : float > 0, or dict of group to float
        Failure rate that must not be exceeded, in units of the loss. With `groups`, it
        may be a dict with one for each.

    sample_weight : None, default=None
        Refused: the bound is one for samples drawn alike.

    randomize : bool, default=True
        If True, the tie group that would exceed the rate is accepted with the
        probability that the rate leaves or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is rejected.

    confidence_level : float in ]0, 1[, default=None
        Probability with which the failure rate is to hold for the population. None
        bounds its expectation.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        What losses there are and, with `confidence_level`, where p-values come from:
        "binomial" is for losses that are 0 or `max_loss`, the others for all losses
        between. "auto" is the binomial where `max_loss` is None, else betting.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1[ that break ties, used with `confidence_level` only. Use
        :func:`keyed_draws` with the keys that the samples will have in production, so
        that a row has the same score and draw at calibration and in production. Samples
        with equal scores and draws get the same decision.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws if `draws` is None, used with `confidence_level` only. Pass an
        int for reproducible rules.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as its predicted class, which must be known before a
        sample is accepted. Each group has its own rule, solved on its samples. With a
        confidence, the targets of all groups hold together with that probability: each
        gets an equal share of the error probability. A group in which no rule meets the
        target is rejected as a whole, with a warning.

    all_groups : array-like of shape (n_groups,), default=None
        All groups, fixed before the sample is drawn. None takes those that occur in
        `groups`. A group without samples is rejected.

    Returns
    -------
    rule : RejectionRule or, with groups, GroupedRule
        The rule, with a certificate of the quantity "failure_rate".

    Warns
    -----
    RejectionWarning
        If the half of the samples with the lowest scores has a larger risk than all,
        by more than chance, or if no sample is accepted.

    Raises
    ------
    InfeasibleTargetError
        If the sample is too small to promise the rate, even if none of it is wrong. It
        says how many samples are needed, and which rate so many can promise. With
        groups, only if that is so in all of them.
    ValueError
        If `target`, `confidence_level`, `bound` or `max_loss` is out of range, if
        losses and `max_loss` or `bound` do not agree, if weights are given, if a dict
        of targets lacks a group, or an array is invalid.

    Notes
    -----
    Without `confidence_level`, the rule is the longest prefix whose losses, plus
    `max_loss` for the new sample, are at most `target` times n + 1 in sum.

    References
    ----------
    A. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster. Conformal Risk Control.
    ICLR 2024.

    J. Traub, T. Bungert, C. Lueth, M. Baumgartner, K. Maier-Hein, L. Maier-Hein, P.
    Jaeger. Overcoming Common Flaws in the Evaluation of Selective Classification
    Systems. NeurIPS 2024.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_failure_rate
    >>> scores = [k / 100 for k in range(100)]
    >>> losses = [k >= 80 for k in range(100)]
    >>> rule = solve_target_failure_rate(scores, losses, 0.1)
    >>> round(rule.coverage, 3), round(rule.failure_rate, 3)
    (0.891, 0.091)
    >>> rule.certificate.quantity, rule.certificate.confidence_level
    ('failure_rate', None)
    >>> solve_target_failure_rate(scores, losses, 0.1, confidence_level=0.9).coverage
    0.85
    """
    rate = check_number(target, "target (the failure rate)")
    confidence_level = check_failure_options(
        randomize, bound, confidence_level, sample_weight
    )
    scores, losses, _ = check_samples(scores, losses)
    bound, max_loss = choose_bound(losses, bound, max_loss, FAILURE_BOUNDS)
    asked = FailureTarget(rate, max_loss, bound, confidence_level, len(scores))
    asked.refuse_few()
    rule = solve_failures(asked, scores, losses, randomize, draws, random_state)
    asked.warn_of_nothing_accepted(rule)
    return rule


def check_failure_options(randomize, bound, confidence_level, sample_weight):
    """Return the confidence, after checking it and what is asked beside the target."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot be combined with a failure rate, because its bound "
            "needs samples from one distribution. Pass sample_weight=None, or use a "
            "target_risk."
        )
    check_option(randomize, "randomize", (True, False))
    check_option(bound, "bound", ("auto", *FAILURE_BOUNDS))
    if confidence_level is None:
        return None
    return check_confidence_level(confidence_level)
