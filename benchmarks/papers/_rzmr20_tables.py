"""Tables 1 and 2 of RZMR20: the paper's numbers above those measured here."""

from functools import partial
from itertools import product

import numpy as np

from benchmarks._report import at_least, at_most, print_table
from benchmarks.papers import _rzmr20_published as published
from benchmarks.papers._rzmr20_data import SETS, missing_file
from benchmarks.papers._rzmr20_measure import RULES
from benchmarks.papers._rzmr20_published import TYPES
from benchmarks.papers._rzmr20_summary import (
    BETTER_PATH,
    COLUMNS,
    JOINT,
    MEASURES,
    PATHS,
    all_records,
    area_gained,
    count_undefined,
    direct_is_best,
    experiments,
    less_chosen,
    less_mean_single,
    mean_cells,
    share_closed,
    summarize,
)

# The least median share of the gap that the analytic path of the paper closes.
LEAST_SHARES = {"any": 0.7, "all": 0.5}

TITLES = {"any": "union", "all": "intersection"}
_WIDTH = 14

_LEGEND = """
analytic, graph   both classifiers, thresholds of the best F1 on either path
direct            both classifiers, thresholds of the best F1 of all
first, second     each classifier alone, its usual decision
chosen            one classifier alone, its threshold of the best F1: the classifier
                  that is better in this on the samples of the tuning"""


def print_tables(records):
    """Print the tables beside what was measured, and judge them.

    Parameters
    ----------
    records : dict
        {set: records of its seeds}.
    """
    for name in SETS:
        if name not in records:
            print(f"{name}: not measured: no {missing_file(name)}")
    if not records:
        return
    n_seeds = min(map(len, records.values()))
    print(f"\ntables 1 and 2: samples held out, mean of {n_seeds} seeds{_LEGEND}")
    _print_experiments(records, "any", MEASURES)
    _print_experiments(records, "all", ("f1",))
    _print_differences(records)
    _print_areas(records)
    print_table("what is asked of tables 1 and 2", verdicts(records))


def _line(label, measure, source, cells):
    text = f"{label:<40}{measure:<11}{source:<6}"
    return (text + "".join(cell.rjust(_WIDTH) for cell in cells)).rstrip()


# Experiments


def _print_experiments(records, rule, measures):
    print(f"\n{TITLES[rule]}")
    print(_line("", "", "", COLUMNS))
    for key, of_seeds in experiments(records).items():
        cells = mean_cells(of_seeds, rule)
        for measure in measures:
            name, kind = key
            label = f"{name}, {TYPES[kind]}" if measure == measures[0] else ""
            if rule == "any" and key in published.TABLE:
                paper = _published_cells(published.TABLE[key], measure)
                print(_line(label, measure, "paper", paper))
                label = ""
            here = [_number(cells[column][measure]) for column in COLUMNS]
            print(_line(label, measure, "here", here))


def _published_cells(row, measure):
    for column in COLUMNS:
        yield _number(getattr(row[column], measure)) if column in row else ""


def _number(value):
    return "-" if value is None else f"{value:.4f}"


# Averages


def _print_differences(records):
    """Print what the joint rules are better by, in percent."""
    print("\nless the mean of both classifiers, in %, and standard errors")
    print(_line("", "", "", MEASURES))
    for source, values in published_differences().items():
        cells = [f"{100 * value:+.1f}" for value in values]
        print(_line(source, "", "paper", cells))
    for rule, alone in product(RULES, ("usual", "tuned")):
        for name in (BETTER_PATH, *JOINT):
            cells = [_difference(records, rule, name, of, alone) for of in MEASURES]
            print(_line(f"{TITLES[rule]}, {name}, {alone}", "", "here", cells))


def published_differences():
    """Return what the paper's text says on average, and what its tables say."""
    found = published.differences()
    some = [found[key] for key in found if key not in published.ALL_POSITIVE]
    n_all = len(published.TABLE)
    return {
        "text": published.CLAIMED,
        f"tables, {len(found)} of {n_all}": np.mean(list(found.values()), axis=0),
        f"tables, {len(some)} not all positive": np.mean(some, axis=0),
    }


def _difference(records, rule, name, measure, alone):
    value = partial(
        less_mean_single, rule=rule, name=name, measure=measure, alone=alone
    )
    return _percent(summarize(records, value))


def _percent(summary):
    return f"{100 * summary.mean:+.1f} ± {100 * summary.error:.1f}"


def _print_areas(records):
    names = ("analytic", "graph", "fine graph")
    print("\narea less that of the better classifier, in % of the largest")
    print(_line("", "", "", names))
    for rule, samples in product(RULES, ("tuning", "held out")):
        gained = partial(area_gained, rule=rule, samples=samples)
        cells = [
            _small_percent(summarize(records, partial(gained, path=name)))
            for name in names
        ]
        print(_line(f"{TITLES[rule]}, {samples}", "", "", cells))


def _small_percent(summary):
    return f"{100 * summary.mean:+.2f} ± {100 * summary.error:.2f}"


# Judging


def verdicts(records):
    """Yield the rows of what is asked, of means over sets and types."""
    yield from _judge_undefined(records)
    for rule in RULES:
        for name in JOINT:
            what = f"{TITLES[rule]}: F1 of {name} less chosen"
            yield _judge(what, records, partial(less_chosen, rule=rule, name=name))
        for name in PATHS:
            what = f"{TITLES[rule]}: precision of {name} less chosen, at its recall"
            yield _judge(what, records, partial(_gain, rule=rule, name=name))
        yield _judge_direct(records, rule)
    for rule in RULES:
        yield _judge_share(records, rule)


def _judge_undefined(records):
    n_dashes, n_numbers = published.count_undefined()
    details = f"the paper: {n_dashes} dashes for {n_numbers} numbers"
    for which, count in count_undefined(records).items():
        what = f"undefined precisions of {which} rules"
        yield at_most(what, 0, count, details=details)
        details = ""


def _judge(what, records, value):
    summary = summarize(records, value)
    behind = [name for name, mean in summary.of_sets.items() if mean < 0]
    details = f"s.e. {summary.error:.2g}, behind: {', '.join(behind) or '-'}"
    return at_least(what, 0, summary.mean, details=details)


def _gain(record, rule, name):
    return record["rules"][rule]["gains"][name]


def _judge_direct(records, rule):
    every = all_records(records)
    count = sum(not direct_is_best(record, rule) for record in every)
    what = f"{TITLES[rule]}: tunings of F1 where a path beats direct"
    return at_most(what, 0, count, details=f"of {len(every)}")


def _judge_share(records, rule):
    shares = [share_closed(record, rule) for record in all_records(records)]
    median = np.median([share for share in shares if share is not None])
    what = f"{TITLES[rule]}: share of the gap that the analytic path closes, median"
    return at_least(what, LEAST_SHARES[rule], median)
