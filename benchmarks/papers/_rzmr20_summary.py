"""Means, differences and shares of the records of RZMR20."""

from collections import namedtuple

import numpy as np

from benchmarks.papers._rzmr20_data import SETS

MEASURES = ("precision", "recall", "f1")
JOINT = ("analytic", "graph", "direct")
PATHS = ("analytic", "graph")
COLUMNS = (*JOINT, "first", "second", "chosen")

# The path with the better F1 on the samples held out. This is how the paper compares;
# which one it is only these samples tell.
BETTER_PATH = "better path"

# A mean over experiments with its standard error, and the mean of each set.
Summary = namedtuple("Summary", "mean error of_sets")


def experiments(records):
    """Return {(set, type): records of the seeds}, in the order of the tables.

    Parameters
    ----------
    records : dict
        {set: records of its seeds}.
    """
    return {
        (name, kind): [seed[kind] for seed in records[name]]
        for name in SETS
        if name in records
        for kind in records[name][0]
    }


def all_records(records):
    """Return the records of all sets, types and seeds in a list."""
    return [record for of_seeds in experiments(records).values() for record in of_seeds]


def cells_of(record, rule):
    """Return {column: precision, recall and F1} of one split."""
    first, second = record["usual"]
    alone = {"first": first, "second": second, "chosen": _chosen(record)}
    return record["rules"][rule]["cells"] | alone


def mean_cells(of_seeds, rule):
    """Return {column: {measure: mean over the seeds}}, None if one is not defined."""
    seeds = [cells_of(record, rule) for record in of_seeds]
    return {
        column: {
            measure: _mean([cells[column][measure] for cells in seeds])
            for measure in MEASURES
        }
        for column in COLUMNS
    }


def summarize(records, value):
    """Return the `Summary` of a number that each record has.

    Experiments differ more than the seeds of one, so that means over the seeds are what
    the standard error refers to.

    Parameters
    ----------
    records : dict
        {set: records of its seeds}.

    value : callable
        Returns the number of a record, or None if it has none.
    """
    means = {}
    for key, of_seeds in experiments(records).items():
        found = [value(record) for record in of_seeds]
        if None not in found:
            means[key] = np.mean(found)
    return _summary(means)


def _summary(means):
    values = list(means.values())
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    of_sets = {
        name: float(np.mean([mean for key, mean in means.items() if key[0] == name]))
        for name in dict.fromkeys(name for name, _ in means)
    }
    mean = float(np.mean(values)) if values else float("nan")
    return Summary(mean, float(error), of_sets)


def count_undefined(records):
    """Return how many precisions are not defined, of joint and of single rules."""
    counts = {"joint": 0, "single": 0}
    for record in all_records(records):
        for of_rule in record["rules"].values():
            counts["joint"] += _undefined(of_rule["cells"].values())
        counts["single"] += _undefined(record["usual"] + record["tuned"])
    return counts


# Numbers of one record


def joint_cell(record, rule, name):
    """Return precision, recall and F1 of a joint rule."""
    cells = record["rules"][rule]["cells"]
    if name == BETTER_PATH:
        return max((cells[path] for path in PATHS), key=lambda cell: cell["f1"])
    return cells[name]


def less_mean_single(record, rule, name, measure, alone):
    """Return a joint rule less the mean of both classifiers, None if not defined.

    Parameters
    ----------
    record : dict
        Of one split.

    rule : {"any", "all"}
        How the classifiers decide together.

    name : str
        Which joint rule.

    measure : {"precision", "recall", "f1"}
        Of what.

    alone : {"usual", "tuned"}
        How each classifier decides alone.
    """
    joint = joint_cell(record, rule, name)[measure]
    single = _mean([cell[measure] for cell in record[alone]])
    return None if joint is None or single is None else joint - single


def less_chosen(record, rule, name):
    """Return the F1 of a joint rule less that of the chosen classifier."""
    return joint_cell(record, rule, name)["f1"] - _chosen(record)["f1"]


def area_gained(record, rule, path, samples):
    """Return the area of a path less that of the better classifier."""
    areas = record["rules"][rule]["areas"][samples]
    return areas[path] - areas["single"]


def share_closed(record, rule):
    """Return the share of the gap from the better classifier to the graph, or None."""
    gap = area_gained(record, rule, "fine graph", "tuning")
    return area_gained(record, rule, "analytic", "tuning") / gap if gap > 0 else None


def direct_is_best(record, rule):
    """Say whether no path has a better F1 on the samples of the tuning."""
    f1 = record["rules"][rule]["tuning f1"]
    return f1["direct"] >= max(f1[path] for path in PATHS)


def _chosen(record):
    return record["tuned"][record["best"]]


def _mean(values):
    return None if None in values else float(np.mean(values))


def _undefined(cells):
    return sum(cell["precision"] is None for cell in cells)
