"""A summary of scores and losses that adds up, and what can be told from it."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import Accumulator
from sklearn_reject._curves._cells import CellBounds, Cells, CellTable
from sklearn_reject._curves._cut import Cut, best_cut, cheapest, reaching_coverage
from sklearn_reject._curves._prefixes import Prefixes, tie_range
from sklearn_reject._interval import Interval
from sklearn_reject._validation import (
    as_real_array,
    check_count,
    check_number,
    check_option,
    check_part_weight,
    check_same_length,
    check_samples,
    check_vector,
)
from sklearn_reject.selection._bounds import BOUNDS_OF_SUMS
from sklearn_reject.selection._certify import (
    Tested,
    certify,
    certify_coverage,
    check_bound,
    check_confidence_level,
    choose_test,
    refuse_weights,
)
from sklearn_reject.selection._rule import RejectionRule, make_rule
from sklearn_reject.selection._solve import FailureTarget, cut_at_risk, refuse_few


class RiskCoverageSummary(Accumulator):
    """Compact summary of scores and losses for curves, areas and rules.

    Samples are counted in cells of their scores: rows, weight, losses. Summaries of
    parts add up to that of the whole, wherever each was made, so that samples that fit
    into no memory, or that come day by day, are summarized as they come.

    From the summary alone each area is known up to an interval that always contains the
    value of all samples, and each rule has its threshold between two cells. What the
    rule says of itself is exact, and at most one cell of coverage is missing.

    Parameters
    ----------
    n_bits : int in [13, 32], default=22
        Leading bits of a score, sign and exponent included, that name its cell. With 22
        a cell is as wide as a thousandth of its scores: some 25,000 cells, which take
        1.4 MB, where scores are uniform, however many there are. Each bit halves cells
        and intervals, and doubles the memory.

    Attributes
    ----------
    n_samples : int
        Number of samples, those of zero weight left out.

    n_cells : int
        Number of cells with samples.

    nbytes : int
        Bytes of the summary.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import RiskCoverageSummary
    >>> rng = np.random.RandomState(0)
    >>> days = []
    >>> for _ in range(3):
    ...     scores = rng.random_sample(1000)
    ...     days.append((scores, rng.random_sample(1000) < scores**2))
    >>> summary = RiskCoverageSummary(n_bits=16)  # large cells, for the example
    >>> for scores, losses in days:
    ...     summary = summary.update(scores, losses)
    >>> summary
    <RiskCoverageSummary(n_bits=16): n_samples=3000, n_cells=126>

    The area is known up to the order inside of cells:

    >>> area = summary.aurc()
    >>> bool(area.low <= area.value <= area.high), round(area.high - area.low, 4)
    (True, 0.0059)

    A rule, which is as good as that of all samples but for a cell:

    >>> round(summary.solve_target_risk(0.1).coverage, 4)
    0.5437
    """

    _known = "n_samples", "n_cells"

    def __init__(self, n_bits: int = 22) -> None:
        self.n_bits = check_count(n_bits, "n_bits")
        # Sign and exponent take twelve bits, and cells of more than 2^20 a power of two
        # would be as many as the samples.
        if not 13 <= n_bits <= 32:
            raise ValueError(f"n_bits must be in [13, 32], got {n_bits}.")
        self._state = CellTable.of((), (), None, self.n_bits)

    @property
    def n_samples(self) -> int:
        """Number of samples with positive weight."""
        return int(self._state.rows.sum())

    @property
    def n_cells(self) -> int:
        """Number of cells with samples."""
        return len(self._state)

    @property
    def nbytes(self) -> int:
        """Bytes of the summary."""
        return sum(column.nbytes for column in self._state.columns)

    def update(
        self,
        scores: ArrayLike,
        losses: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add samples.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Uncertainty scores, higher = more uncertain. There may be none.

        losses : array-like of shape (n_samples,)
            Non-negative losses.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights. None stands for one each.

        Returns
        -------
        self : RiskCoverageSummary
            The summary.

        Raises
        ------
        ValueError
            If an array is invalid. The summary then is what it was.
        """
        scores = as_real_array(scores, "scores")
        losses = as_real_array(losses, "losses")
        check_same_length(len(scores), losses=losses)
        weight = check_part_weight(sample_weight, len(scores))
        if len(scores):
            scores, losses, _ = check_samples(scores, losses)
            self._state += CellTable.of(scores, losses, weight, self.n_bits)
        return self

    def merge(self, other: RiskCoverageSummary) -> Self:
        """Return the summary of the samples of both.

        Parameters
        ----------
        other : RiskCoverageSummary
            Summary of other samples, of as many bits.

        Returns
        -------
        merged : RiskCoverageSummary
            A new summary.

        Raises
        ------
        ValueError
            If `other` is no such summary, has other cells, or is this one itself.
        """
        self._check_other(other)
        merged = RiskCoverageSummary(self.n_bits)
        merged._state = self._state + other._state
        return merged

    def aurc(self) -> Interval:
        """Return the area under the risk-coverage curve. Lower is better.

        That of :func:`~sklearn_reject.metrics.aurc_score` with
        ``interpolation="mean"``.

        Returns
        -------
        area : Interval
            The area that cells in random order have, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If there are no samples.
        """
        return self._interval(CellBounds(self._state).areas())

    def augrc(self) -> Interval:
        """Return the area under the generalized risk-coverage curve. Lower is better.

        That of :func:`~sklearn_reject.metrics.augrc_score`.

        Returns
        -------
        area : Interval
            The area that cells in random order have, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If there are no samples.
        """
        return self.sele(ties="midrank")

    def sele(self, *, ties: Literal["inclusive", "midrank"] = "inclusive") -> Interval:
        """Return the SELE statistic. Lower is better.

        That of :func:`~sklearn_reject.metrics.sele_score`.

        Parameters
        ----------
        ties : {"inclusive", "midrank"}, default="inclusive"
            Whether a pair of tied samples, a sample with itself included, counts in
            full as in the paper, or one half.

        Returns
        -------
        value : Interval
            The value that cells in random order have, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If there are no samples.
        """
        check_option(ties, "ties", ("inclusive", "midrank"))
        return self._interval(CellBounds(self._state).sele(ties))

    def selective_risk_at_coverage(
        self, coverage: float, *, randomize: bool = False
    ) -> Interval:
        """Return the risk at the smallest threshold that reaches a coverage.

        That of :func:`~sklearn_reject.metrics.selective_risk_at_coverage_score`. Lower
        is better.

        Parameters
        ----------
        coverage : float in (0, 1]
            Share of the samples to accept.

        randomize : bool, default=False
            If False, the whole tie group at the threshold is accepted. If True, the
            share of that group is accepted that makes the coverage exact.

        Returns
        -------
        risk : Interval
            The risk that a cell in random order has, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If `coverage` is not in (0, 1], or there are no samples.
        """
        coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
        check_option(randomize, "randomize", (True, False))
        bounds = CellBounds(self._state)
        return self._interval(bounds.risks(coverage, to_end=not randomize))

    def coverage_at_risk(self, risk: float, *, randomize: bool = False) -> Interval:
        """Return the largest coverage whose selective risk stays within a bound.

        That of :func:`~sklearn_reject.metrics.coverage_at_risk_score`. Higher is
        better.

        Parameters
        ----------
        risk : float >= 0
            Largest selective risk, in units of the loss.

        randomize : bool, default=False
            If False, tie groups are accepted as a whole or not at all. If True, a
            share of the one that would exceed the risk is accepted.

        Returns
        -------
        coverage : Interval
            The coverage up to the last cell within the risk, and an interval that
            always contains that of the samples. NaN where no threshold keeps the risk,
            and 0 as the lower end where maybe none does.

        Raises
        ------
        ValueError
            If `risk` is negative, or there are no samples.
        """
        risk = check_number(risk, "risk")
        check_option(randomize, "randomize", (True, False))
        return self._interval(CellBounds(self._state).coverage_at(risk, randomize))

    def risk_coverage_curve(
        self, *, max_points: int = 1000
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return points of the risk-coverage curve between cells, which are exact.

        Those of :func:`~sklearn_reject.metrics.risk_coverage_curve`, fewer of them.

        Parameters
        ----------
        max_points : int >= 1, default=1000
            Largest number of points, spread evenly over the coverage.

        Returns
        -------
        coverage : ndarray of shape (n_points,)
            Weighted share of accepted samples, increasing up to 1.

        risk : ndarray of shape (n_points,)
            Weighted mean loss of the accepted samples, in units of the loss.

        thresholds : ndarray of shape (n_points,)
            Scores up to which samples are accepted, increasing.

        Raises
        ------
        ValueError
            If `max_points` is no positive int, or there are no samples.
        """
        check_count(max_points, "max_points")
        cells = Cells(self._state)
        weights, losses = cells.sums("weight")[1:], cells.sums("loss")[1:]
        ends = np.arange(len(cells))
        if len(cells) > max_points:
            wanted = np.arange(1, max_points + 1) / max_points
            ends = np.unique(cells.locate(wanted * weights[-1]))
        coverage, risk = weights / weights[-1], losses / weights
        return coverage[ends], risk[ends], cells.scores[ends]

    def risk_coverage_band(self, coverage: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return a band that always contains the risk-coverage curve.

        Parameters
        ----------
        coverage : array-like of shape (n_points,)
            Coverages in (0, 1], reached exactly: tie groups are accepted in part.

        Returns
        -------
        low, high : ndarray of shape (n_points,)
            Lower and upper bound of the selective risk.

        Raises
        ------
        ValueError
            If a coverage is not in (0, 1], or there are no samples.
        """
        coverage = check_vector(coverage, "coverage")
        for end in (coverage.min(), coverage.max()):
            check_number(float(end), "coverage", high=1.0, open_low=True)
        return CellBounds(self._state).risks(coverage)[1:]

    def solve_target_risk(
        self,
        target: float,
        *,
        randomize: bool = True,
        confidence_level: float | None = None,
        bound: Literal["auto", "binomial", "hoeffding_bentkus"] = "auto",
        max_loss: float | None = None,
    ) -> RejectionRule:
        """Maximize the coverage under a bound on the selective risk.

        The rule of :func:`~sklearn_reject.selection.solve_target_risk` with its
        threshold between cells.

        Parameters
        ----------
        target : float >= 0
            Selective risk that must not be exceeded, in units of the loss.

        randomize : bool, default=True
            Whether a tie group that would exceed the risk may be accepted in part.

        confidence_level : float in (0, 1), default=None
            Probability with which the risk is to hold for the population. The
            thresholds between cells, which are fixed beforehand, are tested one after
            the other, from several starts. Not possible with weights.

        bound : {"auto", "binomial", "hoeffding_bentkus"}, default="auto"
            Where p-values come from: "binomial" is exact for losses that are 0 or 1,
            the other holds for all losses up to `max_loss`. "auto" is the binomial
            where `max_loss` is None.

        max_loss : float > 0, default=None
            Largest possible loss, not the largest one in the sample. None means that
            losses are 0 or 1.

        Returns
        -------
        rule : RejectionRule
            The rule. Its `reject_cost` is the slope of the hull of the cells. With
            `confidence_level` it has a certificate.

        Raises
        ------
        InfeasibleTargetError
            If no threshold attains the target or, with `confidence_level`, none can be
            certified.
        ValueError
            If a parameter is out of range or does not go with the others, or there are
            no samples.
        """
        risk = check_number(target, "target (the selective risk)")
        check_option(randomize, "randomize", (True, False))
        check_bound(bound, max_loss, BOUNDS_OF_SUMS)
        cells = _CellGroups(self._state)
        if confidence_level is None:
            cut = cells.as_whole(cut_at_risk(cells, risk, randomize))
            to_next = cells.is_tied[cut.n_groups :][:1].any()
            return make_rule(cells, cut, to_next=to_next)
        level = check_confidence_level(
            confidence_level, sample_weight=self._state.given_weight
        )
        test = cells.choose_test(level, bound, max_loss)

        def p_values(counts, risk, level):
            sums = cells.losses[np.searchsorted(cells.counts, counts)] / test.max_loss
            return test.bound.of_sums(counts, sums, risk)

        everything = Tested(risk, self.n_samples, test, None, p_values)
        certificate, _ = certify(cells.counts, everything)
        return cells.certified_rule(certificate)

    def solve_target_coverage(
        self,
        target: float,
        *,
        randomize: bool = True,
        confidence_level: float | None = None,
    ) -> RejectionRule:
        """Minimize the selective risk under a bound on the coverage.

        The rule of :func:`~sklearn_reject.selection.solve_target_coverage` with its
        threshold between cells.

        Parameters
        ----------
        target : float in (0, 1]
            Share of the samples to accept.

        randomize : bool, default=True
            Whether the tie group that reaches the coverage may be accepted in part.

        confidence_level : float in (0, 1), default=None
            Probability with which the coverage is to be reached in the population. Not
            possible with weights.

        Returns
        -------
        rule : RejectionRule
            The rule. With `confidence_level` it has a certificate.

        Raises
        ------
        ValueError
            If a parameter is out of range or does not go with the others, or there are
            no samples.
        """
        high = check_number(target, "target (the coverage)", high=1.0, open_low=True)
        check_option(randomize, "randomize", (True, False))
        cells = _CellGroups(self._state)
        if confidence_level is None:
            model = reaching_coverage(high, cells.total("weight"))
            cut = cells.as_whole(best_cut(cells, model, randomize), up=True)
            return make_rule(cells, cut)
        level = check_confidence_level(
            confidence_level, sample_weight=self._state.given_weight
        )
        certificate = certify_coverage(self.n_samples, high, confidence_level=level)
        return cells.certified_rule(certificate)

    def solve_reject_cost(self, target: float) -> RejectionRule:
        """Minimize the expected loss with a cost of rejection.

        The rule of :func:`~sklearn_reject.selection.solve_reject_cost` with its
        threshold between cells.

        Parameters
        ----------
        target : float >= 0
            Cost of rejecting a sample, in units of the loss.

        Returns
        -------
        rule : RejectionRule
            The rule.

        Raises
        ------
        ValueError
            If `target` is negative, or there are no samples.
        """
        cost = check_number(target, "target (the reject cost)")
        cells = _CellGroups(self._state)
        return make_rule(cells, best_cut(cells, cheapest(cost)))

    def solve_target_failure_rate(
        self,
        target: float,
        *,
        confidence_level: float | None = None,
        bound: Literal["auto", "binomial", "hoeffding_bentkus"] = "auto",
        max_loss: float | None = None,
    ) -> RejectionRule:
        """Maximize the coverage under a bound on the failure rate.

        The rule of :func:`~sklearn_reject.selection.solve_target_failure_rate` with
        ``randomize=False``, with its threshold between cells.

        Parameters
        ----------
        target : float > 0
            Failure rate that must not be exceeded, in units of the loss.

        confidence_level : float in (0, 1), default=None
            Probability with which the failure rate is to hold for the population. None
            bounds its expectation.

        bound : {"auto", "binomial", "hoeffding_bentkus"}, default="auto"
            Where p-values come from with `confidence_level`: "binomial" is exact for
            losses that are 0 or 1, the other holds for all losses up to `max_loss`.
            "auto" is the binomial where `max_loss` is None.

        max_loss : float > 0, default=None
            Largest possible loss, not the largest one in the sample. None means that
            losses are 0 or 1.

        Returns
        -------
        rule : RejectionRule
            The rule, with a certificate of the quantity "failure_rate".

        Warns
        -----
        RejectionWarning
            If no sample is accepted.

        Raises
        ------
        InfeasibleTargetError
            If the samples are too few. It says how many are needed.
        ValueError
            If a parameter is out of range or does not go with the others, samples have
            weights, or there are none.
        """
        rate = check_number(target, "target (the failure rate)", open_low=True)
        weight = self._state.given_weight
        refuse_weights("a failure rate", "use a target_risk", sample_weight=weight)
        cells = _CellGroups(self._state)
        test = cells.choose_test(confidence_level, bound, max_loss)
        asked = FailureTarget(rate, self.n_samples, test)
        refuse_few([asked])
        if confidence_level is None:
            cut = asked.cut(cells, randomize=False)
            certificate = asked.certificate(cells.at("weight", *cut))
            rule = make_rule(cells, cut, certificate=certificate)
        else:
            sums = cells.losses / test.max_loss
            border, p_value = asked.find_longest(np.arange(len(sums)), sums)
            certificate = asked.certificate(cells.counts[border], p_value)
            rule = cells.certified_rule(certificate)
        asked.warn_of_nothing_accepted(rule)
        return rule

    def _interval(self, found):
        return Interval(*map(float, found), self.n_samples)


class _CellGroups(Cells):
    """Cells as a rule sees them: groups of tied samples, and the borders between them.

    Near scores are tied. The borders are fixed before the sample is drawn, so that the
    losses below each of them are a plain sample of what a threshold there accepts:
    where a rule is certified, no noise has to break ties. There are `counts` samples
    below them, of which the losses sum up to `losses`.
    """

    def __init__(self, table):
        super().__init__(table.join_near())
        table = self.table
        # Not where a sample is so close below that it would tie with the threshold.
        is_clear = tie_range(table.high)[1] < np.append(table.edges[1:], np.inf)
        self.borders = np.flatnonzero(np.append(True, is_clear))
        counts = np.append(0, np.cumsum(table.rows)).astype(np.int64)
        self.counts, self.losses = counts[self.borders], self.sums("loss")[self.borders]

    def choose_test(self, confidence_level, name, max_loss):
        """Return how to certify the mean of the losses."""
        losses = np.append(self.table.least_loss, self.table.largest_loss)
        if not self.table.is_unit:
            # Of losses that are not all 0 or 1, one of these is neither.
            losses = np.append(losses, losses.reshape(2, -1).mean(axis=0))
        return choose_test(losses, confidence_level, name, max_loss, BOUNDS_OF_SUMS)

    def certified_rule(self, certificate):
        """Return the rule of the border that a certificate is for."""
        border = self.borders[np.searchsorted(self.counts, certificate.n_accepted)]
        cells = Prefixes(self.table.edges, **self.columns)
        return make_rule(cells, Cut(border), to_next=True, certificate=certificate)
