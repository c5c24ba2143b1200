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
from sklearn_reject._curves._cut import Cut, best_cut, reaching_coverage
from sklearn_reject._curves._prefixes import Prefixes
from sklearn_reject._curves._ties import tie_range
from sklearn_reject.selection._bounds import BOUNDS
from sklearn_reject.selection._certify import RiskTest, certify_counts, choose_bound
from sklearn_reject.selection._failure_rate import FailureTarget
from sklearn_reject.selection._rule import make_rule
from sklearn_reject.selection._solve import cut_at_risk

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
        self.groups = Prefixes(
            self.table.high, weight=self.bounds.weights, loss=self.bounds.losses
        )

    def __len__(self):
        return int(self.table.rows.sum())

    def rule_within_risk(self, risk, randomize):
        """Return the rule of largest coverage within a risk.

        In cells whose samples differ, a share would be of a score that few have.
        """
        cut = cut_at_risk(self.groups, risk, randomize)
        is_tied = cut.n_groups < len(self.groups) and self.bounds.is_tied[cut.n_groups]
        cut = cut if is_tied else Cut(cut.n_groups)
        return make_rule(self.groups, cut, to_next=is_tied)

    def rule_reaching_coverage(self, coverage, randomize):
        """Return the rule of the least coverage that is enough."""
        model = reaching_coverage(coverage, self.bounds.total)
        cut = best_cut(self.groups, model, randomize)
        if cut.share and not self.bounds.is_tied[cut.n_groups]:
            cut = Cut(cut.n_groups + 1)
        return make_rule(self.groups, cut)

    def choose_bound(self, name, max_loss, bounds=BOUNDS):
        """Return a bound that the losses allow for, and the largest loss."""
        if name == "betting":
            raise ValueError(
                "bound='betting' needs single losses, but a summary stores only their "
                "sums. Pass bound='hoeffding_bentkus', or all samples to the function."
            )
        table, losses = self.table, np.array([0.0, 1.0])
        if not table.is_unit:
            # Of losses that are not all 0 or 1, one of these is neither.
            means = table.loss / table.weights
            losses = np.concatenate([table.least, table.largest, means])
        of_sums = {each: bounds[each] for each in OF_SUMS}
        return choose_bound(
            losses, name, max_loss, of_sums, of_many="hoeffding_bentkus"
        )


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
        rule = make_rule(groups, Cut(place), to_next=True)
        if is_inner:
            rule = replace(rule, threshold=float(self.thresholds[place]))
        return replace(rule, certificate=certificate)


def certify_risk_of_cells(sample, risk, confidence_level, bound, max_loss):
    """Return the rule of largest coverage whose risk can be certified."""
    test = RiskTest(confidence_level, *sample.choose_bound(bound, max_loss))
    borders = Borders(sample, test.max_loss)

    def p_values(counts, risk):
        return test.bound.of_sums(counts, borders.sums_at(counts), risk)

    return borders.rule(certify_counts(borders.counts, p_values, risk, test))


def solve_failures_of_cells(sample, rate, confidence_level, bound, max_loss):
    """Return the rule of largest coverage that keeps a failure rate."""
    bound, max_loss = sample.choose_bound(bound, max_loss)
    asked = FailureTarget(rate, max_loss, bound, confidence_level, len(sample))
    asked.refuse_few()
    if confidence_level is None:
        cut = asked.cut(sample.groups, randomize=False)
        certificate = asked.certificate(sample.groups.at("weight", *cut))
        rule = make_rule(sample.groups, cut, certificate=certificate)
    else:
        borders, p_value = Borders(sample, max_loss), None
        if asked.share < 1:
            p_value = asked.bound.failure_test_of_sums(
                borders.sums, len(sample), asked.share
            )
        index, p_value = asked.find_longest(p_value, np.arange(len(borders.counts)))
        rule = borders.rule(asked.certificate(borders.counts[index], p_value))
    asked.warn_of_nothing_accepted(rule)
    return rule
