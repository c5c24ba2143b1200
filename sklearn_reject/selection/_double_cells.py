"""A summary of two scores that adds up, and what it certifies of rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._curves import refuse_iterator
from sklearn_reject._typing import Parts
from sklearn_reject._validation import check_count, check_other
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._double_measure import (
    RuleIntervals,
    check_part,
    measure_intervals,
    sum_accepted,
    view_cells,
    with_worst,
)
from sklearn_reject.selection._double_tuning import CellSearch
from sklearn_reject.selection._ood_rule import DoubleScoreRule, SingleScoreRule
from sklearn_reject.selection._plane_bounds import (
    Cells,
    accepted_shares,
    estimated_shares,
)
from sklearn_reject.selection._plane_cells import (
    COLUMNS,
    PLACES,
    empty_table,
    find_cells,
    make_table,
    merge_tables,
    n_rows_of,
)
from sklearn_reject.selection._plane_codes import N_BITS

# Samples that are made into cells at once, and times the cells of these that are kept
# until they are merged with the others.
_BLOCK = 2**20
_FINER = 4

# Infinite novelty, of either sign, has a cell of its own.
_FEWEST_CELLS = 4


@dataclass(eq=False)
class DoubleScoreSummary(DictMixin):
    """Cells of a risk and a novelty score, which add up over parts of a sample.

    A cell is a rectangle in the plane of both scores, of which rows, weights, least and
    largest scores and losses are kept. Cells are small where ID samples, OOD samples or
    losses are many, whatever the units and the tails of the scores are, and no range is
    needed beforehand. What a rule of two scores, or of one, accepts of the sample is
    then known but for the cells that its threshold cuts: about one in the root of their
    number.

    Parameters
    ----------
    max_cells : int >= 4, default=16384
        Most cells, of 88 bytes each. Up to so many distinct points are kept as they
        are, and all is exact. Intervals are half as wide with four times as many.

    cells : ndarray of shape (11, n_cells), default=None
        The table of the cells, for those that restore a summary. None for no samples.

    shift : int, default=None
        By how many leading bits the novelty is cut more finely than the risk. None has
        it chosen by the first samples of which there are more distinct points than
        cells. Summaries to be merged should have the same, which they have as a rule.

    Notes
    -----
    Summaries of the same samples may differ in their cells with the parts and the order
    in which these came, and intervals with them. Each contains the exact value.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import DoubleScoreSummary
    >>> rng = np.random.default_rng(0)
    >>> summary = DoubleScoreSummary(max_cells=1024)
    >>> for part in range(4):
    ...     is_ood = rng.random(5000) < 0.2
    ...     risk = rng.beta(1, 6, 5000)
    ...     novelty = rng.normal(2.0 * is_ood)
    ...     losses = rng.random(5000) < risk
    ...     scores = np.column_stack([risk, novelty])
    ...     summary = summary.update(scores, losses, is_ood)
    >>> summary.n_samples, summary.n_cells <= 1024
    (20000, True)
    >>> bounds = {"min_tpr": 0.7, "max_fpr": 0.2}
    >>> rule = summary.tune(**bounds)
    >>> rule.tpr >= 0.7, rule.fpr <= 0.2
    (True, True)
    >>> summary.lower_bound(**bounds) < rule.selective_risk
    True
    """

    max_cells: int = 2**14
    cells: np.ndarray | None = field(default=None, repr=False)
    shift: int | None = None

    def __post_init__(self):
        """Check the parameters, and start with no cells where none are given."""
        if check_count(self.max_cells, "max_cells") < _FEWEST_CELLS:
            raise ValueError(
                f"max_cells must be at least {_FEWEST_CELLS}, got {self.max_cells}, "
                "because infinite novelty of either sign has its own cell."
            )
        if self.shift is not None and self.shift not in range(-N_BITS, N_BITS + 1):
            raise ValueError(
                f"shift must be None or an int from {-N_BITS} to {N_BITS}, got "
                f"{self.shift!r}."
            )
        self.cells = empty_table() if self.cells is None else np.asarray(self.cells)
        if self.cells.ndim != 2 or len(self.cells) != len(COLUMNS):
            raise ValueError(
                f"cells must be of shape ({len(COLUMNS)}, n_cells), got "
                f"{self.cells.shape}. Pass the cells of another summary."
            )

    @property
    def n_samples(self) -> int:
        """Number of samples with positive weight so far."""
        return n_rows_of(self.cells)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.cells.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of the table of the cells."""
        return self.cells.nbytes

    def update(
        self,
        scores: ArrayLike,
        losses: ArrayLike,
        is_ood: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add samples.

        Parameters
        ----------
        scores : array-like of shape (n_samples, 2)
            Risk and novelty score of each sample, higher = rejected first. The risk is
            finite, the novelty may be infinite. No samples at all are fine.

        losses : array-like of shape (n_samples,)
            Non-negative losses of the ID samples. Those of OOD samples are not used.

        is_ood : array-like of shape (n_samples,), dtype bool
            Whether a sample is out of distribution.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        self : DoubleScoreSummary
            The summary itself.

        Raises
        ------
        ValueError
            If an array is invalid. The summary is then as it was.
        """
        samples = check_part(scores, losses, is_ood, sample_weight)
        tables, shift = [self.cells], self.shift
        for start in range(0, len(samples[0]), _BLOCK):
            block = (array[start : start + _BLOCK] for array in samples)
            table, found = make_table(*block, _FINER * self.max_cells, shift)
            table, shift = merge_tables(
                [*tables, table], [shift, found], self.max_cells
            )
            tables = [table]
        (self.cells,), self.shift = tables, shift
        return self

    def merge(self, other: DoubleScoreSummary) -> Self:
        """Return a summary of the samples of both.

        Parameters
        ----------
        other : DoubleScoreSummary
            One of other samples, with the same `max_cells`.

        Returns
        -------
        merged : DoubleScoreSummary
            A new one.

        Warns
        -----
        RejectionWarning
            If both have another `shift`, which makes cells larger than they could be.

        Raises
        ------
        ValueError
            If `other` is no such summary, has another `max_cells`, or is this one.
        """
        check_other(self, other, "summary", "summaries")
        if other.max_cells != self.max_cells:
            raise ValueError(
                f"other has max_cells={other.max_cells}, but this summary has "
                f"{self.max_cells}. Summaries with fewer cells have lost detail. Make "
                "all summaries with the same max_cells."
            )
        if self.shift != other.shift and None not in (self.shift, other.shift):
            warn_user(
                f"The summaries have shift={self.shift} and shift={other.shift}. "
                "Overlapping cells are joined, and intervals become wider. Use the "
                "same shift for all summaries, as in "
                f"DoubleScoreSummary(shift={self.shift})."
            )
        cells, shift = merge_tables(
            [self.cells, other.cells], [self.shift, other.shift], self.max_cells
        )
        return DoubleScoreSummary(self.max_cells, cells, shift)

    def measure(
        self,
        rule: DoubleScoreRule | SingleScoreRule,
        *,
        score: Literal["risk", "novelty"] | None = None,
        parts: Parts | None = None,
    ) -> RuleIntervals:
        """Return certified intervals of what a rule achieves on the samples.

        Parameters
        ----------
        rule : DoubleScoreRule or SingleScoreRule
            The rule. Samples at its threshold count with its probability.

        score : {"risk", "novelty"}, default=None
            Which of the scores a rule of a single score is for.

        parts : iterable or callable, default=None
            The samples once more, as tuples of scores, losses, is_ood and maybe
            sample_weight, in a list or whatever else can be run through again. A
            callable gets an array of shape (n_boxes, 4), of least and largest risk,
            least and largest novelty, and returns such an iterable, without rows
            outside of all these boxes if it likes. Of these, only the rows of cells
            that the threshold cuts are used, and all is exact.

        Returns
        -------
        intervals : RuleIntervals
            TPR, FPR, precision and selective risk, as `value`, `low` and `high`. What
            the rule achieves is between the latter two, but for rounding (1e-12 of it);
            the value is what it were if the samples of a cell were spread evenly.

        Raises
        ------
        ValueError
            If there is no ID sample, the rule is of another kind, `score` is missing,
            or the parts do not have the rows that were summarized.

        Notes
        -----
        Each cell is accepted, rejected or cut: sums of scores are computed as for a
        sample, at the corners between which rounding keeps their order. TPR and FPR are
        largest where all that is cut is accepted and least where none is; the precision
        is monotone in both. What is accepted of a cut cell has at least the loss that
        it had if all of its losses were the least or the largest one in the cell, with
        the same sum, and the former were accepted first; the least ratio of these is
        that of a prefix by increasing loss. The largest risk is found likewise. For
        losses of 0 and 1 this is the true range of all arrangements in the cells.
        """
        cells = self._cells_with_id()
        view, weights = view_cells(rule, score, cells)
        at_least, at_most = accepted_shares(
            view, weights, rule.threshold, rule.proba_at_threshold
        )
        if parts is not None:
            rows = np.flatnonzero(at_most > at_least)
            fetched = self._fetch(rule, score, rows, parts)
            at_most[rows] = at_least[rows] = 0.0
            return measure_intervals(rule, cells, at_least, at_least, at_most, fetched)
        shares = rule.threshold, at_least, at_most
        shares = estimated_shares(view, weights, *shares)
        return measure_intervals(rule, cells, shares, at_least, at_most)

    def tune(
        self,
        *,
        min_tpr: float | None = None,
        max_fpr: float | None = None,
        max_risk: float | None = None,
        min_precision: float | None = None,
        min_recall: float | None = None,
        costs: tuple[float, float, float] | None = None,
        ood_prior: float | None = None,
        n_directions: int = 181,
        allow_reversed: bool = False,
        parts: Parts | None = None,
    ) -> DoubleScoreRule:
        """Find the weights and threshold for which the cells certify most.

        All thresholds at the ends of cells are compared in each direction of a grid. A
        bound is kept if it is for all samples that the cells may stand for, and of the
        rules that keep all bounds the one is taken whose largest possible risk (FPR
        with `max_risk`, expected cost with `costs`) is least.

        Parameters
        ----------
        min_tpr : float in ]0, 1], default=None
            Least share of the ID samples to accept.

        max_fpr : float in [0, 1], default=None
            Largest share of the OOD samples to accept, in addition to `min_tpr`. None
            for no bound.

        max_risk : float >= 0, default=None
            Largest selective risk, in units of the loss, in addition to `min_tpr` and
            instead of `max_fpr`. The rule with the lowest FPR is then found.

        min_precision : float in ]0, 1], default=None
            Smallest share of ID samples among the accepted ones. Needs `min_recall` and
            `ood_prior`.

        min_recall : float in ]0, 1], default=None
            Smallest share of the ID samples to accept, in addition to `min_precision`.

        costs : tuple of three floats >= 0, default=None
            Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting
            one, in units of the loss. The second must be above the third. Needs
            `ood_prior`.

        ood_prior : float in [0, 1[, default=None
            Share of OOD samples in production, which may differ from that in the tuning
            sample.

        n_directions : int >= 2, default=181
            Number of directions of the grid, from the risk alone to the novelty alone.
            From each to the next about equally many pairs of cells change their order.

        allow_reversed : bool, default=False
            Whether as many directions with a risk weight of -1 are searched, too, in
            which samples of *high* risk score are accepted first.

        parts : iterable or callable, default=None
            The samples once more, as in `measure`. Then the direction is taken that is
            best if each cell is in its middle, of its thresholds the best one is found
            exactly, among rules that accept ties, and what it achieves is exact. Rows
            of cells are used that this threshold may be in, about 2 million at most.
            If the certified rule is better, it is taken.

        Returns
        -------
        rule : DoubleScoreRule
            The rule, which accepts ties. Its TPR and precision are the least possible,
            its FPR and selective risk the largest possible ones of the samples; with
            `parts` they are those of the samples.

        Raises
        ------
        InfeasibleTargetError
            If no rule of the grid keeps the bounds for certain or, with `parts`, in the
            direction that looks best. The message says
            whether any rule can; `attainable` is what is certain of each bound while
            the other one holds.
        ValueError
            If not exactly one model is asked for, a parameter is out of range or needs
            OOD samples that are not there, or there is no ID sample.

        See Also
        --------
        lower_bound : What no rule can be better than.
        tune_double_score : The best rule of samples in memory.

        Notes
        -----
        A rule that is certain to keep its bounds keeps a distance from them, about as
        large as the intervals of `measure` are wide; with `parts` there is none. Rules
        on one score cut fewer cells, so they are preferred where bounds are tight and
        cells few. Rules that draw at the threshold, mixtures for OOD samples and a
        tolerance of the risk are for :func:`tune_double_score` only.
        """
        asked = min_tpr, max_fpr, max_risk, min_precision, min_recall, costs, ood_prior
        search = CellSearch(self._cells_with_id(), asked, n_directions, allow_reversed)
        rule = search.solve(search.problem, self.measure)
        exact = None
        if parts is not None:
            exact = search.solve_exactly(rule, partial(self._read, parts=parts))
        if exact is not None:
            return exact
        if rule is None:
            raise search.infeasible(self)
        if parts is None:
            return rule
        return with_worst(rule, self.measure(rule, parts=parts))

    def lower_bound(
        self,
        *,
        min_tpr: float | None = None,
        max_fpr: float | None = None,
        max_risk: float | None = None,
        min_precision: float | None = None,
        min_recall: float | None = None,
        costs: tuple[float, float, float] | None = None,
        ood_prior: float | None = None,
        n_directions: int = 181,
        allow_reversed: bool = False,
    ) -> float:
        """Return a lower bound on the risk of any rule that meets the bounds.

        It bounds how much :meth:`tune` may miss: no :class:`DoubleScoreRule` whose
        weights are not negative (the risk weight may be with `allow_reversed`), of any
        direction and threshold, randomized ones included, keeps the bounds on these
        samples and has a lower risk.

        Parameters
        ----------
        min_tpr : float in ]0, 1], default=None
            Least share of the ID samples to accept.

        max_fpr : float in [0, 1], default=None
            Largest share of the OOD samples to accept, in addition to `min_tpr`. None
            for no bound.

        max_risk : float >= 0, default=None
            Largest selective risk, in units of the loss, in addition to `min_tpr` and
            instead of `max_fpr`. The rule with the lowest FPR is then found.

        min_precision : float in ]0, 1], default=None
            Smallest share of ID samples among the accepted ones. Needs `min_recall` and
            `ood_prior`.

        min_recall : float in ]0, 1], default=None
            Smallest share of the ID samples to accept, in addition to `min_precision`.

        costs : tuple of three floats >= 0, default=None
            Cost of rejecting an ID sample, of accepting an OOD sample and of rejecting
            one, in units of the loss. The second must be above the third. Needs
            `ood_prior`.

        ood_prior : float in [0, 1[, default=None
            Share of OOD samples in production, which may differ from that in the tuning
            sample.

        n_directions : int >= 2, default=181
            Number of directions between which all others are; more make the bound
            tighter.

        allow_reversed : bool, default=False
            Whether rules with a negative risk weight count, too.

        Returns
        -------
        bound : float
            A selective risk or, with `max_risk`, an FPR or, with `costs`, an expected
            cost; infinite where no rule keeps the bounds.

        Raises
        ------
        ValueError
            As for `tune`.

        Notes
        -----
        The sums of a cell are linear in the weights, so in all directions between two
        neighbors they are between the sums at the ends. A threshold there accepts at
        most what may reach it in one of them, at least what is below it in all, and
        from the rest the parts of least loss: a relaxation, whose least value over all
        thresholds and neighbors bounds that of all rules.
        """
        asked = min_tpr, max_fpr, max_risk, min_precision, min_recall, costs, ood_prior
        search = CellSearch(self._cells_with_id(), asked, n_directions, allow_reversed)
        cut = search.best_possible()
        return float("inf") if cut is None else max(float(cut.price), 0.0)

    def _cells_with_id(self):
        cells = Cells(self.cells)
        if not cells.id_rows.any():
            raise ValueError(
                "The summary has no ID sample (of positive weight). At least one is "
                "needed to measure the share that is accepted. Update it first."
            )
        return cells

    def _fetch(self, rule, score, rows, parts):
        """Return ID weight, OOD weight and loss of what is accepted in some cells."""
        sums = np.zeros(3)
        for samples in self._read(rows, parts):
            sums += sum_accepted(rule, score, *samples)
        return sums

    def _read(self, rows, parts):
        """Yield the samples of some cells, part by part."""
        refuse_iterator(parts)
        asked, found = Cells(self.cells).take(rows), 0
        if callable(parts):
            parts = parts(asked.table[: PLACES["novelty_high"] + 1].T.copy())
        for part in parts:
            samples = check_part(*part)
            inside = find_cells(asked.table, self.shift, *samples[:2]) >= 0
            inside = np.flatnonzero(inside & (samples[-1] > 0))
            found += len(inside)
            if len(inside):
                yield [array[inside] for array in samples]
        if found != n_rows_of(asked.table):
            raise ValueError(
                f"parts have {found} rows in the cells of interest, but "
                f"{n_rows_of(asked.table)} were summarized. Pass all samples that the "
                "summary was updated with, each of them once."
            )
