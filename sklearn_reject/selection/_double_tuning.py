"""The rule of two scores that cells certify most of."""

from dataclasses import replace
from functools import partial

import numpy as np

from sklearn_reject._curves import (
    MOST_ROWS,
    combine,
    group_origins_validated,
    sizes_of_sums,
)
from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection._double_measure import sum_accepted, with_worst
from sklearn_reject.selection._one_score import find_best_cut
from sklearn_reject.selection._ood_model import MODEL_PARAMETERS, check_model
from sklearn_reject.selection._ood_rule import DoubleScoreRule, precision_of
from sklearn_reject.selection._ood_solve import refuse_without_ood
from sklearn_reject.selection._plane_cells import n_rows_of
from sklearn_reject.selection._plane_search import (
    arc_borders,
    directions_of,
    find_cell_cut,
    find_window,
    rule_borders,
    split_cells,
)

_MOST_HALVINGS = 60


def _sums_of(cells):
    """Return ID weight, OOD weight and loss of cells."""
    sums = cells.id_weight.sum(), cells.ood_weight.sum(), cells.loss.sum()
    return np.array(sums)


class CellSearch:
    """The model asked for, and its solution on cells."""

    def __init__(self, cells, asked, n_directions, allow_reversed):
        asked = dict(zip(MODEL_PARAMETERS, asked, strict=True))
        self.model, self.ood_prior = check_model(**asked)
        check_option(allow_reversed, "allow_reversed", (True, False))
        self.totals = float(cells.id_weight.sum()), float(cells.ood_weight.sum())
        if not self.totals[1]:
            refuse_without_ood(self.model)
        self.problem = self.model.problem(*self.totals)
        self.always = cells.take(cells.always)
        self.places = np.flatnonzero(~cells.always & ~cells.never)
        self.cells = cells.take(self.places)
        self.directions = directions_of(self.cells, n_directions, allow_reversed)

    def solve(self, problem, measure):
        """Return the rule of which most is certain, None if it keeps no bound."""
        borders = rule_borders(self.cells, self.directions)
        cut = find_cell_cut(self.cells, self.always, problem, borders)
        if cut is None:
            return None
        rule = self._make_rule(cut.weights, cut.threshold)
        return with_worst(rule, measure(rule))

    def solve_exactly(self, certain, read):
        """Return the best rule of the direction that looks best, as the rows have it.

        `read` yields the samples of cells by their places. None where the certain rule
        is better, or where there is none in this direction.
        """
        weights = self._promising_weights()
        if weights is None or not len(self.places):
            return None
        _, window = find_window(self.cells, self.always, self.problem, weights)
        if window is None:
            return None
        window = self._limit(weights, *window)
        inside, cut = split_cells(self.cells, weights, *window)
        base = sum(_sums_of(each) for each in (self.always, self.cells.take(inside)))
        samples = list(read(self.places[cut]))
        if not samples:
            return None
        samples = [np.concatenate(columns) for columns in zip(*samples, strict=True)]
        threshold = self._best_threshold(weights, window, base, samples)
        if threshold is None:
            return None
        rule = self._make_rule(weights, threshold)
        sums = base + sum_accepted(rule, None, *samples)
        return self._if_better(rule, sums, certain)

    def _promising_weights(self):
        """Return the weights that are best if each cell is in its middle, or None."""
        middle = self.cells.middle()
        borders = rule_borders(middle, self.directions)
        cut = find_cell_cut(middle, self.always, self.problem, borders)
        return None if cut is None else cut.weights

    def _limit(self, weights, start, end):
        """Return a range of thresholds that does not cut cells of too many rows."""
        middle = self.cells.middle()
        borders = rule_borders(middle, [weights])
        center = find_cell_cut(middle, self.always, self.problem, borders).threshold
        low, high, _, _ = self.cells.sums(weights)
        start, end = max(start, low.min()), min(end, high.max())
        for _ in range(_MOST_HALVINGS):
            _, cut = split_cells(self.cells, weights, start, end)
            if n_rows_of(self.cells.table[:, cut]) <= MOST_ROWS:
                break
            start, end = (start + center) / 2, (end + center) / 2
        return start, end

    def _best_threshold(self, weights, window, base, samples):
        """Return the best threshold of a range, None if none keeps the bounds."""
        risk, novelty, losses, is_ood, weight = samples
        sizes = sizes_of_sums(risk, novelty, weights)
        scores = combine(risk, novelty, weights)
        groups = group_origins_validated(scores, losses, is_ood, weight, sizes=sizes)
        after = groups.accepted_id, groups.accepted_ood, groups.accepted_losses
        after = np.array([part[1:] for part in after]) + base[:, np.newaxis]
        start, end = window
        kept = np.flatnonzero((groups.scores >= start) & (groups.scores <= end))
        cut = find_best_cut(self.problem, after[:, kept], None, randomize=False)
        return None if cut is None else float(groups.scores[kept[cut.index]])

    def _make_rule(self, weights, threshold):
        _, high, _, _ = self.cells.sums(weights)
        # The largest score seen would reject larger ones to come.
        is_all = len(high) > 0 and threshold >= high.max()
        return DoubleScoreRule(
            threshold=float("inf") if is_all else threshold,
            proba_at_threshold=1.0,
            risk_weight=weights[0],
            novelty_weight=weights[1],
            ood_prior=self.ood_prior,
        )

    def _if_better(self, rule, sums, certain):
        """Return the rule with what it achieves, None if it is not the better one."""
        if not self.problem.is_feasible(*sums):
            return None
        of_id, of_ood, loss = (float(each) for each in sums)
        tpr = of_id / self.totals[0]
        fpr = of_ood / self.totals[1] if self.totals[1] else float("nan")
        if certain is not None:
            worst = np.array([certain.tpr, certain.fpr]) * self.totals
            loss_of = np.nan_to_num(certain.selective_risk) * worst[0]
            price = self.problem.price(*np.nan_to_num(worst), loss_of)
            if price < self.problem.price(*sums):
                return None
        return replace(
            rule,
            tpr=tpr,
            fpr=fpr,
            precision=precision_of(tpr, fpr, self.ood_prior),
            selective_risk=loss / of_id if of_id else float("nan"),
        )

    def best_possible(self):
        """Return the cut of the least price that any rule may have, None if none."""
        borders = arc_borders(self.cells, self.directions)
        return find_cell_cut(self.cells, self.always, self.problem, borders)

    def infeasible(self, summary):
        """Return the error of bounds that no rule keeps for certain."""
        solve = partial(self.solve, measure=summary.measure)
        attainable = self.model.infeasible(solve, *self.totals).attainable
        is_open = self.best_possible() is not None
        certain = ", ".join(f"{name} {value:.4g}" for name, value in attainable.items())
        what = (
            "Such a rule may exist, but the cells are too coarse to find it. Relax a "
            "bound a little, summarize again with a larger max_cells than "
            f"{summary.max_cells}, or use tune_double_score on a part of the samples."
            if is_open
            else (
                "No rule of these scores can meet the bounds. Relax a bound, or use "
                "scores that separate ID from OOD samples better."
            )
        )
        return InfeasibleTargetError(
            f"No rule certainly meets all bounds on these {summary.n_samples} "
            "samples. While the other bound holds, the attainable value is "
            f"{certain}. {what}",
            attainable=attainable,
        )
