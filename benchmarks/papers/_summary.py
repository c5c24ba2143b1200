"""Means, deviations, ranks and improvements of the records of a table."""

from collections import namedtuple

import numpy as np

from benchmarks.papers._experiments import EXPERIMENTS
from benchmarks.papers._fpv23_published import TABLES, Spread
from benchmarks.papers._ranks import rank_methods

# A share below this is a subset; a few samples more or less are not.
_COMPLETE = 0.95

# What a table says about one set: {column: Spread}, and the share of its samples.
Row = namedtuple("Row", "spreads share")


def spread(values):
    """Return mean and standard deviation over the splits."""
    deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return Spread(float(np.mean(values)), float(deviation))


def row(results, table, name):
    """Return the measured row of a set, or None unless all of it was measured."""
    records = results.records(table, name)
    if not records:
        return None
    unit = EXPERIMENTS[table].unit
    columns = {
        method: [unit * record["aurc"][method] for record in records]
        for method in EXPERIMENTS[table].methods
    }
    columns["R@100"] = [unit * record["risk"] for record in records]
    spreads = {column: spread(values) for column, values in columns.items()}
    return Row(spreads, records[0]["share"])


def rows(results, table, sets):
    """Return the measured rows, {set: Row}, of the sets that were measured."""
    found = {name: row(results, table, name) for name in sets}
    return {name: row for name, row in found.items() if row}


def is_complete(row):
    """Say whether the set has as many samples as in the paper."""
    return row.share >= _COMPLETE


def measured_ranking(table, rows):
    """Rank the methods by their mean areas over the given rows."""
    return _rank(table, {name: row.spreads for name, row in rows.items()})


def published_ranking(table, sets):
    """Rank the methods by what the paper has for these sets."""
    return _rank(table, {name: TABLES[table][name] for name in sets})


def _rank(table, spreads):
    methods = EXPERIMENTS[table].methods
    return rank_methods(
        {method: [row[method].mean for row in spreads.values()] for method in methods}
    )


def improvements(records, baseline, method):
    """Return 100 (baseline - method) / baseline of the areas, one number a split."""
    areas = [(record["aurc"][baseline], record["aurc"][method]) for record in records]
    return [100 * (before - after) / before for before, after in areas]
