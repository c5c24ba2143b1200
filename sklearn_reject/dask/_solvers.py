"""Rejection rules, and the summary that they are solved from, of dask collections."""

from __future__ import annotations

from typing import Any, Literal

from sklearn_reject._typing import Other
from sklearn_reject.dask._samples import partition_losses
from sklearn_reject.selection import RejectionRule, RiskCoverageSummary


def summarize(
    scores: Any,
    losses: Any,
    sample_weight: Any = None,
    *,
    n_bits: int = 22,
    compute: bool = True,
) -> RiskCoverageSummary | Other:
    """Reduce scores and losses to a table of cells, which answers many questions.

    One summary a partition, made where the data are, and a tree of merges. It can be
    kept, merged with later ones and asked again without the data.

    Parameters
    ----------
    scores : dask array or column of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : dask array or column of shape (n_samples,)
        Non-negative losses.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights.

    n_bits : int, default=22
        Leading bits of a score that tell its cell, as
        :class:`~sklearn_reject.selection.RiskCoverageSummary` takes them.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the summary. Warnings then come where it
        is computed.

    Returns
    -------
    summary : RiskCoverageSummary
        The summary of all samples.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import summarize
    >>> scores = da.from_array([0.1, 0.4, 0.4, 0.8], chunks=2)
    >>> losses = da.from_array([0, 0, 1, 1], chunks=2)
    >>> summary = summarize(scores, losses)
    >>> summary.n_samples
    4
    >>> summary.solve_target_coverage(0.25).selective_risk
    0.0
    """
    samples = partition_losses(scores, losses, sample_weight, n_bits)
    return samples.answer(lambda summary, parts: summary, compute=compute)


def solve_reject_cost(
    scores: Any,
    losses: Any,
    target: float,
    *,
    sample_weight: Any = None,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> RejectionRule | Other:
    """Minimize the expected loss with a cost of rejection (Chow's model).

    The rule of :func:`sklearn_reject.selection.solve_reject_cost`.

    Parameters
    ----------
    scores : dask array or column of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : dask array or column of shape (n_samples,)
        Non-negative losses.

    target : float >= 0
        Cost of rejecting a sample, in units of the loss.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights.

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data a second time, and fetches the rows that decide the rule,
        which is that of the function in memory. "cells" reads them once: the threshold
        then lies between two cells of scores, and the rule keeps the target, too, with
        a coverage that is at most one cell away.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    rule : RejectionRule
        The optimal rule; it never needs to randomize.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import solve_reject_cost
    >>> scores = da.from_array([0.1, 0.4, 0.4, 0.8], chunks=2)
    >>> losses = da.from_array([0, 0, 1, 1], chunks=2)
    >>> solve_reject_cost(scores, losses, 0.3).coverage
    0.25
    """
    samples = partition_losses(scores, losses, sample_weight)

    def ask(summary, parts):
        return summary.solve_reject_cost(target, parts=parts)

    return samples.answer(ask, method=method, compute=compute)


def solve_target_risk(
    scores: Any,
    losses: Any,
    target: float,
    *,
    sample_weight: Any = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    bound: Literal["auto", "binomial", "hoeffding_bentkus"] = "auto",
    max_loss: float | None = None,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> RejectionRule | Other:
    """Maximize the coverage under a bound on the selective risk.

    The rule of :func:`sklearn_reject.selection.solve_target_risk`. With
    `confidence_level`, the thresholds that are tested are the borders of cells of
    scores, which do not depend on the data, so that no draws break ties.

    Parameters
    ----------
    scores : dask array or column of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : dask array or column of shape (n_samples,)
        Non-negative losses.

    target : float >= 0
        Selective risk that must not be exceeded, in units of the loss.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Not possible with `confidence_level`.

    randomize : bool, default=True
        If True, the tie group that would exceed the risk is accepted with the
        probability that meets it exactly. If False, it is rejected.

    confidence_level : float in ]0, 1[, default=None
        Probability with which the risk is to hold for the population. The parameters
        below are used with it only.

    bound : {"auto", "binomial", "hoeffding_bentkus"}, default="auto"
        Where p-values come from: "binomial" is exact for losses that are 0 or 1, the
        other holds for all losses up to `max_loss`. "auto" is the binomial where
        `max_loss` is None.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data a second time, and fetches the rows that decide the rule,
        which is that of the function in memory. "cells" reads them once: the threshold
        then lies between two cells of scores, and the rule keeps the target, too, with
        a coverage that is at most one cell away. With a `confidence_level` it makes no
        difference: the rule of cells is the one that is certified.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    rule : RejectionRule
        The rule of largest coverage. With `confidence_level` it has a certificate.

    Raises
    ------
    InfeasibleTargetError
        If every prefix of the sample has a higher risk or, with `confidence_level`,
        none can be certified. It says what can be met, or how many samples are needed.
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import solve_target_risk
    >>> scores = da.from_array([0.1, 0.4, 0.4, 0.8], chunks=2)
    >>> losses = da.from_array([0, 0, 1, 1], chunks=2)
    >>> rule = solve_target_risk(scores, losses, 0.2)
    >>> round(rule.coverage, 4), round(rule.selective_risk, 4)
    (0.4167, 0.2)
    """
    samples = partition_losses(scores, losses, sample_weight)

    def ask(summary, parts):
        return summary.solve_target_risk(
            target,
            randomize=randomize,
            confidence_level=confidence_level,
            bound=bound,
            max_loss=max_loss,
            parts=parts,
        )

    return samples.answer(
        ask, method=method, certify=confidence_level is not None, compute=compute
    )


def solve_target_coverage(
    scores: Any,
    losses: Any,
    target: float,
    *,
    sample_weight: Any = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> RejectionRule | Other:
    """Minimize the selective risk under a bound on the coverage.

    The rule of :func:`sklearn_reject.selection.solve_target_coverage`.

    Parameters
    ----------
    scores : dask array or column of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : dask array or column of shape (n_samples,)
        Non-negative losses. They do not change the rule, only what it reports.

    target : float in ]0, 1]
        Share of the samples to accept.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Not possible with `confidence_level`.

    randomize : bool, default=True
        If True, the tie group that reaches the coverage is accepted with the
        probability that meets it exactly. If False, it is accepted as a whole.

    confidence_level : float in ]0, 1[, default=None
        Probability with which the coverage is to be reached in the population. Where
        the sample is too small to tell, everything is accepted.

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data a second time, and fetches the rows that decide the rule,
        which is that of the function in memory. "cells" reads them once: the threshold
        then lies between two cells of scores, and the rule keeps the target, too, with
        a coverage that is at most one cell away. With a `confidence_level` it makes no
        difference: the rule of cells is the one that is certified.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    rule : RejectionRule
        The rule. With `confidence_level` it has a certificate.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import solve_target_coverage
    >>> scores = da.from_array([0.1, 0.4, 0.4, 0.8], chunks=2)
    >>> losses = da.from_array([0, 0, 1, 1], chunks=2)
    >>> solve_target_coverage(scores, losses, 0.5).coverage
    0.5
    """
    samples = partition_losses(scores, losses, sample_weight)

    def ask(summary, parts):
        return summary.solve_target_coverage(
            target, randomize=randomize, confidence_level=confidence_level, parts=parts
        )

    return samples.answer(
        ask, method=method, certify=confidence_level is not None, compute=compute
    )


def solve_target_failure_rate(
    scores: Any,
    losses: Any,
    target: float,
    *,
    confidence_level: float | None = None,
    bound: Literal["auto", "binomial", "hoeffding_bentkus"] = "auto",
    max_loss: float | None = None,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> RejectionRule | Other:
    """Maximize the coverage under a bound on the failure rate.

    The rule of :func:`sklearn_reject.selection.solve_target_failure_rate` that does not
    randomize. Its bound is one for samples drawn alike: there are no weights.

    Parameters
    ----------
    scores : dask array or column of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : dask array or column of shape (n_samples,)
        Non-negative losses.

    target : float > 0
        Failure rate that must not be exceeded, in units of the loss.

    confidence_level : float in ]0, 1[, default=None
        Probability with which the failure rate is to hold for the population. None
        bounds its expectation.

    bound : {"auto", "binomial", "hoeffding_bentkus"}, default="auto"
        Where p-values come from: "binomial" is exact for losses that are 0 or 1, the
        other holds for all losses up to `max_loss`. "auto" is the binomial where
        `max_loss` is None.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data a second time, and fetches the rows that decide the rule,
        which is that of the function in memory. "cells" reads them once: the threshold
        then lies between two cells of scores, and the rule keeps the target, too, with
        a coverage that is at most one cell away. With a `confidence_level` it makes no
        difference: the rule of cells is the one that is certified.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    rule : RejectionRule
        The rule, with a certificate of the quantity "failure_rate".

    Raises
    ------
    InfeasibleTargetError
        If the samples are too few. It says how many are needed.
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import solve_target_failure_rate
    >>> scores = da.arange(100, chunks=25) / 100
    >>> rule = solve_target_failure_rate(scores, scores >= 0.8, 0.1)
    >>> round(rule.coverage, 3), round(rule.failure_rate, 3)
    (0.89, 0.09)
    """
    samples = partition_losses(scores, losses, None)

    def ask(summary, parts):
        return summary.solve_target_failure_rate(
            target,
            confidence_level=confidence_level,
            bound=bound,
            max_loss=max_loss,
            parts=parts,
        )

    return samples.answer(
        ask, method=method, certify=confidence_level is not None, compute=compute
    )
