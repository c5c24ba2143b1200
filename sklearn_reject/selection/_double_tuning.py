"""The rule of two scores that cells certify most of."""

from functools import partial

from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection._double_measure import with_worst
from sklearn_reject.selection._ood_model import MODEL_PARAMETERS, check_model
from sklearn_reject.selection._ood_rule import DoubleScoreRule
from sklearn_reject.selection._ood_solve import refuse_without_ood
from sklearn_reject.selection._plane_search import (
    arc_borders,
    directions_of,
    find_cell_cut,
    rule_borders,
)


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
        self.cells = cells.take(~cells.always & ~cells.never)
        self.directions = directions_of(self.cells, n_directions, allow_reversed)

    def solve(self, problem, measure):
        """Return the rule of which most is certain, None if it keeps no bound."""
        borders = rule_borders(self.cells, self.directions)
        cut = find_cell_cut(self.cells, self.always, problem, borders)
        if cut is None:
            return None
        _, high, _, _ = self.cells.sums(cut.weights)
        is_all = len(high) and cut.threshold == high.max()
        rule = DoubleScoreRule(
            # The largest score seen would reject larger ones to come.
            threshold=float("inf") if is_all else cut.threshold,
            proba_at_threshold=1.0,
            risk_weight=cut.weights[0],
            novelty_weight=cut.weights[1],
            ood_prior=self.ood_prior,
        )
        return with_worst(rule, measure(rule))

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
            "A rule may, but the cells cannot tell: relax a bound a little, pass a "
            f"larger max_cells than {summary.max_cells} and summarise again, or use "
            "tune_double_score on a part of the samples."
            if is_open
            else "No rule of these scores can: relax a bound, or use scores that tell "
            "ID from OOD samples better."
        )
        return InfeasibleTargetError(
            f"No rule is certain to keep all bounds on these {summary.n_samples} "
            f"samples. Certain, while the other bound holds, is {certain}. {what}",
            attainable=attainable,
        )
