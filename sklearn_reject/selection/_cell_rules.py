"""Rules from the table of cells of a sample, and from rows of it that are read again.

A rule needs the samples near its threshold one by one, and of all others their sums.
So groups of ties are mixed: those of the cells that are read, and each other cell as if
it were one. Without any rows, thresholds are between cells.
"""

from dataclasses import replace

import numpy as np

from sklearn_reject._curves import (
    MOST_ROWS,
    RELATIVE_TOLERANCE,
    CellBounds,
    Parts,
    TieGroups,
    group_validated,
    last_within_risk,
    least_costs,
    merge_near_cells,
    share_reaching_coverage,
    share_within_risk,
)
from sklearn_reject.selection._certify_cells import choose_bound_of_sums
from sklearn_reject.selection._failure_rules import (
    allowed_failures,
    fewest_for_failures,
    refuse_least_rate,
    too_few_for_failures,
)
from sklearn_reject.selection._rule import Certificate
from sklearn_reject.selection._solve import (
    cheapest_prefix,
    infeasible_risk,
    make_rule_at,
)


class CellSample:
    """A sample by its cells, with `parts` to read rows from, or None.

    `near`: as a rule sees it, so that scores are finite, and near ones are tied.
    """

    def __init__(self, table, parts=None, *, near=True):
        if near and not (np.isfinite(table.low[0]) and np.isfinite(table.high[-1])):
            raise ValueError(
                "The summary has infinite scores, which a rule cannot compare. Remove "
                "these samples, or give them a finite score."
            )
        self.near = near
        self.table = merge_near_cells(table) if near else table
        self.bounds = CellBounds(self.table)
        self.parts = None if parts is None else Parts(parts, self.table)

    def __len__(self):
        return int(self.table.rows.sum())

    def group(self, cells=()):
        """Return groups of ties of some cells, and of the others as a whole.

        Comes with a flag for each that tells whether it is a tie group of the sample.
        """
        table, bounds = self.table, self.bounds
        cells = np.unique(cells).astype(np.intp)
        if not len(cells):
            whole = TieGroups(table.high, bounds.weights, bounds.losses)
            return whole, bounds.is_tied
        rows = group_validated(*self.parts.read(cells), near=self.near)
        others = np.setdiff1d(np.arange(len(table)), cells, assume_unique=True)
        scores = np.append(table.high[others], rows.scores)
        order = np.argsort(scores)
        weights = np.append(bounds.weights[others], rows.weights)[order]
        losses = np.append(bounds.losses[others], rows.losses)[order]
        is_tied = np.append(bounds.is_tied[others], np.ones(len(rows), dtype=bool))
        return TieGroups(scores[order], weights, losses), is_tied[order]

    def batches(self, cells):
        """Yield cells from the last to the first with those that follow, some a time.

        What follows may have the next group, that a rule accepts in part.
        """
        if not len(cells):
            return
        cells = np.sort(cells)[::-1]
        rows = self.table.rows
        following = np.minimum(cells + 1, len(rows) - 1)
        batch = np.cumsum(rows[cells] + rows[following]) // MOST_ROWS
        for some in np.split(cells, np.flatnonzero(np.diff(batch)) + 1):
            yield np.append(some, np.minimum(some + 1, len(rows) - 1))

    def around(self, cell):
        """Return one cell and the next one, as far as there are any."""
        return np.arange(cell, min(cell + 2, len(self.table)))


def solve_risk_of_cells(sample, risk, randomize):
    """Return the rule of largest coverage within a risk."""
    return make_rule_at(*_find_within_risk(sample, risk, randomize))


def coverage_of_cells_at(sample, risk, randomize):
    """Return the largest coverage within a risk."""
    groups, *accepted = _find_within_risk(sample, risk, randomize)
    return groups.prefix(*accepted)[0] / groups.total_weight


def _find_within_risk(sample, risk, randomize):
    """Return groups, how many are accepted, and the share of the next one or None."""
    groups, is_tied = sample.group()
    if sample.parts is not None:
        n_whole = groups.count_within_risk(risk)
        groups, is_tied = _read_for_risk(sample, risk, n_whole)
    n_groups = groups.count_within_risk(risk)
    if n_groups == 0:
        raise infeasible_risk(groups, risk)
    share = None
    if n_groups < len(groups) and is_tied[n_groups]:
        share = share_within_risk(groups, n_groups, risk) if randomize else 0.0
    return groups, n_groups, share


def _read_for_risk(sample, risk, n_whole):
    """Return groups with those of the cells in which the last prefix within ends."""
    bounds = sample.bounds
    inside = (last_within_risk(bounds, risk) > -np.inf) & ~bounds.is_tied
    inside[:n_whole] = False
    reached = bounds.ends[n_whole - 1] if n_whole else 0.0
    for batch in sample.batches(np.flatnonzero(inside)):
        found = sample.group(batch)
        n_groups = found[0].count_within_risk(risk)
        if n_groups and found[0].cumulative_weights[n_groups - 1] > reached:
            return found
    return sample.group(sample.around(n_whole))


def solve_coverage_of_cells(sample, coverage, randomize):
    """Return the rule of least risk that reaches a coverage."""
    return make_rule_at(*_find_coverage(sample, coverage, randomize))


def risk_of_cells_at(sample, coverage, randomize):
    """Return the risk of the first prefix that reaches a coverage."""
    groups, *accepted = _find_coverage(sample, coverage, randomize)
    weight, loss = groups.prefix(*accepted)
    return loss / weight


def _find_coverage(sample, coverage, randomize):
    """Return groups, how many are accepted, and the share of the next one or None."""
    groups, is_tied = sample.group()
    n_groups = groups.count_reaching_coverage(coverage)
    if sample.parts is not None:
        groups, is_tied = sample.group(sample.around(n_groups - 1))
        n_groups = groups.count_reaching_coverage(coverage)
    if randomize and is_tied[n_groups - 1]:
        share = share_reaching_coverage(groups, n_groups, coverage)
        if share < 1:
            return groups, n_groups - 1, share
    return groups, n_groups, None


def solve_cost_of_cells(sample, cost):
    """Return the rule of least loss and cost of rejecting the others."""
    found = [_cheapest(sample, cost, ())]
    if sample.parts is not None:
        bounds = sample.bounds
        least = _cost_of(found[0][0], cost)
        # Less what it costs to reject everything.
        lowest = least_costs(bounds, cost) / bounds.total + cost
        slack = RELATIVE_TOLERANCE * max(cost, least)
        possible = np.flatnonzero((lowest <= least + slack) & ~bounds.is_tied)
        found += [_cheapest(sample, cost, batch) for batch in sample.batches(possible)]
    costs = [_cost_of(rule, cost) for rule, _ in found]
    limit = min(costs) + RELATIVE_TOLERANCE * max(cost, min(costs))
    best = [each for each, value in zip(found, costs, strict=True) if value <= limit]
    # Of the same rule, the one whose threshold is a tie group that was read.
    return max(best, key=lambda pair: (pair[0].coverage, pair[1]))[0]


def _cheapest(sample, cost, cells):
    """Return the best rule where some cells are read, and whether its last one is."""
    groups, is_tied = sample.group(cells)
    n_groups = cheapest_prefix(groups, cost)
    return make_rule_at(groups, n_groups), bool(n_groups and is_tied[n_groups - 1])


def _cost_of(rule, cost):
    """Return the loss and the cost of rejecting, a sample."""
    return rule.failure_rate + cost * (1 - rule.coverage)


def solve_failures_of_cells(sample, rate, bound, max_loss):
    """Return the rule of largest coverage whose failures keep a rate on average."""
    _, max_loss = choose_bound_of_sums(sample.table, bound, max_loss)
    refuse_least_rate(rate, max_loss)
    n_samples = len(sample)
    certificate = Certificate(
        "failure_rate", rate, None, "conformal", n_samples, n_samples, None
    )
    groups, _ = sample.group()
    if rate >= max_loss:
        return replace(make_rule_at(groups, len(groups)), certificate=certificate)
    # The new sample may lose as much as any can.
    allowed = allowed_failures(rate / max_loss, n_samples) - 1
    if allowed < 0:
        raise too_few_for_failures(
            n_samples,
            f"{rate:g}",
            fewest_for_failures(rate / max_loss),
            max_loss / (n_samples + 1),
            " or use a larger rate",
        )
    limit = allowed * max_loss * (1 + RELATIVE_TOLERANCE)

    def count_within(groups):
        return int(np.searchsorted(groups.cumulative_losses, limit, side="right"))

    n_groups, share = count_within(groups), None
    if sample.parts is not None and n_groups < len(groups):
        groups, _ = sample.group(sample.around(n_groups))
        n_groups = count_within(groups)
        share = 0.0 if n_groups < len(groups) else None
    rule = make_rule_at(groups, n_groups, share)
    n_accepted = int(groups.prefix(n_groups)[0])
    return replace(rule, certificate=replace(certificate, n_accepted=n_accepted))
