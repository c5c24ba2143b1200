"""Rules from the table of cells of a sample.

Each cell is taken as one group of ties, so that thresholds are between cells. The
borders of the cells are fixed before the sample is drawn, so that the losses below each
of them are a plain sample of what a threshold there accepts: where a rule is certified,
no noise has to break ties.
"""

from dataclasses import replace

import numpy as np

from sklearn_reject._curves._cell_bounds import CellBounds
from sklearn_reject._curves._cell_table import merge_near_cells
from sklearn_reject._curves._groups import TieGroups, tie_range
from sklearn_reject._curves._risk_coverage import (
    share_reaching_coverage,
    share_within_risk,
)
from sklearn_reject.selection._bounds import BOUNDS, FAILURE_BOUNDS
from sklearn_reject.selection._certify import (
    RiskTest,
    certify_counts,
    certify_coverage,
)
from sklearn_reject.selection._failure_rules import FailureTarget
from sklearn_reject.selection._solve import (
    cheapest_prefix,
    infeasible_risk,
    make_rule_at,
)

# Without the losses one by one, these are the tests that there are.
OF_SUMS = ("binomial", "hoeffding_bentkus")


class CellSample:
    """A sample by its cells, as groups of ties.

    `near`: as a rule sees it, so that scores are finite, and near ones are tied.
    """

    def __init__(self, table, *, near=True):
        if near and not (np.isfinite(table.low[0]) and np.isfinite(table.high[-1])):
            raise ValueError(
                "The summary has infinite scores, which a rule cannot compare. Remove "
                "these samples, or give them a finite score."
            )
        self.table = merge_near_cells(table) if near else table
        self.bounds = CellBounds(self.table)
        self.groups = TieGroups(
            self.table.high, self.bounds.weights, self.bounds.losses
        )

    def __len__(self):
        return int(self.table.rows.sum())


def solve_risk_of_cells(sample, risk, randomize):
    """Return the rule of largest coverage within a risk."""
    return make_rule_at(sample.groups, *_find_within_risk(sample, risk, randomize))


def coverage_of_cells_at(sample, risk, randomize):
    """Return the largest coverage within a risk."""
    groups = sample.groups
    accepted = _find_within_risk(sample, risk, randomize)
    return groups.prefix(*accepted)[0] / groups.total_weight


def _find_within_risk(sample, risk, randomize):
    """Return how many groups are accepted, and the share of the next one or None."""
    groups = sample.groups
    n_groups = groups.count_within_risk(risk)
    if n_groups == 0:
        raise infeasible_risk(groups, risk)
    if n_groups == len(groups) or not sample.bounds.is_tied[n_groups]:
        return n_groups, None
    return n_groups, share_within_risk(groups, n_groups, risk) if randomize else 0.0


def solve_coverage_of_cells(sample, coverage, randomize):
    """Return the rule of least risk that reaches a coverage."""
    groups = sample.groups
    n_groups = groups.count_reaching_coverage(coverage)
    if randomize and sample.bounds.is_tied[n_groups - 1]:
        share = share_reaching_coverage(groups, n_groups, coverage)
        if share < 1:
            return make_rule_at(groups, n_groups - 1, share)
    return make_rule_at(groups, n_groups)


def solve_cost_of_cells(sample, cost):
    """Return the rule of least loss and cost of rejecting the others."""
    return make_rule_at(sample.groups, cheapest_prefix(sample.groups, cost))


class Borders:
    """Thresholds between cells: how many samples each accepts, and the sum of losses.

    The first accepts nothing, the last everything. One is left out where a sample is so
    close below it that a rule would take it for a tie of the threshold.
    """

    def __init__(self, sample, max_loss):
        table = sample.table
        self.thresholds = np.append(table.edges, np.inf)
        _, high = tie_range(table.high)
        is_clear = np.append(True, high < self.thresholds[1:])
        self.places = np.flatnonzero(is_clear)
        self.counts = np.append(0, np.cumsum(table.rows)).astype(np.int64)[self.places]
        sums = np.append(0.0, sample.bounds.sums) / max_loss
        self.sums = sums[self.places]
        self._sample = sample

    def sums_at(self, counts):
        """Return the sum of the losses that thresholds accept, by how many they do."""
        return self.sums[np.searchsorted(self.counts, counts)]

    def rule(self, certificate):
        """Return the rule of the threshold that a certificate is for."""
        groups = self._sample.groups
        index = np.searchsorted(self.counts, certificate.n_accepted)
        place = int(self.places[index])
        is_inner = place < len(groups)
        rule = make_rule_at(groups, place, 0.0 if is_inner else None)
        if is_inner:
            rule = replace(rule, threshold=float(self.thresholds[place]))
        return replace(rule, certificate=certificate)


def choose_bound_of_sums(table, name, max_loss):
    """Return the bound of a name, which the losses allow for, and the largest loss."""
    if name == "betting":
        raise ValueError(
            "bound='betting' needs single losses, but a summary stores only their "
            "sums. Pass bound='hoeffding_bentkus', or all samples to the function."
        )
    is_unit = table.is_unit
    if max_loss is None and not is_unit:
        raise ValueError(
            "max_loss is needed to certify losses that are not all 0 or 1. Pass the "
            "largest possible loss, not the largest one in the sample, because the "
            "guarantee depends on it."
        )
    if name == "binomial" and (max_loss not in (None, 1) or not is_unit):
        raise ValueError(
            "bound='binomial' is for losses that are 0 or 1. Pass "
            "bound='hoeffding_bentkus'."
        )
    if name == "auto":
        name = "binomial" if max_loss is None else "hoeffding_bentkus"
    largest = 1.0 if max_loss is None else max_loss
    if table.largest.max() > largest:
        raise ValueError(
            f"losses contained {table.largest.max():g}, above max_loss={largest:g}. "
            "Pass the largest possible loss, or clip the losses to max_loss."
        )
    return name, largest


def certify_risk_of_cells(sample, risk, confidence_level, bound, max_loss):
    """Return the rule of largest coverage whose risk can be certified."""
    name, max_loss = choose_bound_of_sums(sample.table, bound, max_loss)
    test = RiskTest(confidence_level, BOUNDS[name], max_loss)
    borders = Borders(sample, max_loss)

    def p_values(counts, risk):
        return test.bound.of_sums(counts, borders.sums_at(counts), risk)

    return borders.rule(certify_counts(borders.counts, p_values, risk, test))


def certify_coverage_of_cells(sample, coverage, confidence_level):
    """Return the rule of smallest coverage that can be certified."""
    certificate = certify_coverage(
        len(sample), coverage, confidence_level=confidence_level
    )
    return Borders(sample, 1.0).rule(certificate)


def solve_failures_of_cells(sample, rate, confidence_level, bound, max_loss):
    """Return the rule of largest coverage that keeps a failure rate."""
    name, max_loss = choose_bound_of_sums(sample.table, bound, max_loss)
    asked = FailureTarget(
        rate, max_loss, FAILURE_BOUNDS[name], confidence_level, len(sample)
    )
    asked.refuse_few()
    if confidence_level is None:
        n_groups, _ = asked.find_prefix(sample.groups)
        rule = make_rule_at(sample.groups, n_groups)
        certificate = asked.certificate(sample.groups.prefix(n_groups)[0])
        rule = replace(rule, certificate=certificate)
    else:
        borders, p_value = Borders(sample, max_loss), None
        if asked.share < 1:
            p_value = asked.bound.tests_of_sums(borders.sums, len(sample), asked.share)
        index, p_value = asked.find_longest(p_value, np.arange(len(borders.counts)))
        rule = borders.rule(asked.certificate(borders.counts[index], p_value))
    asked.warn_of_nothing_accepted(rule)
    return rule
