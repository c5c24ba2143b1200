"""Tables 2 and 3 of NKRD16: the paper's numbers above those measured here."""

from collections import namedtuple

import numpy as np

from benchmarks._report import at_most, print_table
from benchmarks.papers._nkrd16_data import ALL_ARTICLES, missing_file
from benchmarks.papers._nkrd16_published import LEAST_POSITIVES, SIZES, TABLES, TITLES
from benchmarks.papers._summary import spread

# Methods and, of those in the paper, the columns of its tables.
METHODS = {
    "plain": "proposed",
    "sigmoid": None,
    "isotonic": None,
    "0.5": "baseline",
    "0.5, sigmoid": None,
    "tuned": "tuning",
    "tuned, folds": None,
    "S-SVM": "s_svm",
}
_DECIDED = ("plain", "sigmoid", "isotonic")

# What is to lose no more than what, on average over the sets. The threshold of the
# paper and the calibrated one are each compared on the same probabilities.
_ASKED = (("plain", "0.5"), ("sigmoid", "0.5, sigmoid"))
_ASKED_OF_F1 = (("plain", "tuned"), ("sigmoid", "tuned"), ("sigmoid", "tuned, folds"))

_ORDER = (*SIZES, ALL_ARTICLES)
_REUTERS = ("reuters", ALL_ARTICLES)
_WIDTH = 13

_LEGEND = """
plain               set of least expected loss, by a logistic regression
sigmoid, isotonic   the same by its probabilities calibrated
0.5                 the samples more likely positive than not
tuned               threshold of least loss on a held-out third, as in the paper
tuned, folds        threshold of least loss by probabilities out of fold
S-SVM               structured support vector machine
expected            what the decided sets were expected to lose, mean of the sets"""

# Means and standard errors over the seeds, {method: value}, and the number of problems.
Row = namedtuple("Row", "means errors n_problems n_seeds")


# Summing up


def table(records, loss, key="losses"):
    """Return the rows of one loss, {(set, least number of positives): Row}.

    Parameters
    ----------
    records : dict
        {set: records of its seeds}.

    loss : str
        Which loss.

    key : {"losses", "expected"}
        What was lost on the test samples, or what was expected to be.
    """
    return {
        (name, least): _row(records[name], loss, least, key)
        for name in _ORDER
        if name in records
        for least in (LEAST_POSITIVES if name in _REUTERS else (1,))
    }


def _row(records, loss, least, key):
    problems = [
        [one[key] for one in record["problems"] if min(one["positives"]) >= least]
        for record in records
    ]
    values = {
        method: [np.mean([one[method][loss] for one in of]) for of in problems]
        for method in problems[0][0]
    }
    spreads = {method: spread(of) for method, of in values.items()}
    n_seeds = len(records)
    return Row(
        {method: found.mean for method, found in spreads.items()},
        {method: found.sd / np.sqrt(n_seeds) for method, found in spreads.items()},
        len(problems[0]),
        n_seeds,
    )


def sets_compared(rows):
    """Return {set: losses} of the paper's sets; of Reuters all topics, once."""
    return {name: rows[name, 1].means for name in SIZES if (name, 1) in rows}


# Printing


def print_tables(records):
    """Print the tables beside what was measured, and judge them."""
    tables = {loss: table(records, loss) for loss in TITLES}
    print(_LEGEND)
    for loss, title in TITLES.items():
        print(f"\n{title} loss on test samples")
        _print_rows(tables[loss], TABLES[loss])
        _print_means(tables[loss], TABLES[loss])
        _print_expected(table(records, loss, "expected"))
    if sets_compared(tables["f1"]):
        print_table("what is asked of tables 2 and 3", verdicts(tables))


def _print_rows(rows, published):
    print(_line("", "", METHODS))
    for name in _ORDER:
        if (name, 1) not in rows:
            print(_line(name, "here", [f"  not measured: no {missing_file(name)}"]))
    for key, row in rows.items():
        if key in published:
            print(_line(_label(key, row), "paper", _published_cells(published[key])))
        label = "" if key in published else _label(key, row)
        print(_line(label, "here", _cells(row)))
        if row.n_seeds > 1:
            print(_line("", "s.e.", _number_cells(row.errors)))


def _label(key, row):
    name, least = key
    if name not in _REUTERS:
        return name
    return f"{name}, {row.n_problems} topics of >= {least}"


def _line(label, source, cells):
    text = f"{label:<32}{source:<9}" + "".join(cell.rjust(_WIDTH) for cell in cells)
    return text.rstrip()


def _published_cells(losses):
    for column in METHODS.values():
        yield f"{getattr(losses, column):.4f}" if column else ""


def _cells(row):
    """Return numbers, the least with a star."""
    least = min(row.means.values())
    for cell, method in zip(_number_cells(row.means), METHODS, strict=True):
        yield f"*{cell}" if row.means.get(method) == least else cell


def _number_cells(values):
    for method in METHODS:
        yield f"{values[method]:.4f}" if method in values else ""


def _print_means(rows, published):
    compared = sets_compared(rows)
    if not compared:
        return
    label = f"mean of {len(compared)} sets"
    paper = np.mean([published[name, 1] for name in compared], axis=0)
    print(_line(label, "paper", _published_cells(type(published["image", 1])(*paper))))
    means = {method: _mean(compared, method) for method in METHODS}
    print(_line("", "here", _number_cells(means)))


def _mean(compared, method):
    return float(np.mean([losses[method] for losses in compared.values()]))


def _print_expected(expected):
    """Print what the decided sets were expected to lose, below what they lost."""
    compared = sets_compared(expected)
    if compared:
        means = {method: _mean(compared, method) for method in _DECIDED}
        print(_line("", "expected", _number_cells(means)))


# Judging


def verdicts(tables):
    """Yield the rows of what is asked, of differences of means over the sets."""
    for loss, rows in tables.items():
        for pair in (*_ASKED, *(_ASKED_OF_F1 if loss == "f1" else ())):
            yield _compare(loss, sets_compared(rows), *pair)


def _compare(loss, compared, better, worse):
    differences = {
        name: losses[better] - losses[worse] for name, losses in compared.items()
    }
    behind = [name for name, difference in differences.items() if difference > 0]
    details = (
        f"{_paper(loss, compared, better, worse)}behind: {', '.join(behind) or '-'}"
    )
    what = f"{TITLES[loss].split(', ')[1]}: {better} less {worse}, {len(compared)} sets"
    return at_most(what, 0, np.mean(list(differences.values())), details=details)


def _paper(loss, compared, *methods):
    """Return the difference in the paper, where it has both methods."""
    columns = [METHODS[method] for method in methods]
    if None in columns:
        return ""
    means = [
        np.mean([getattr(TABLES[loss][name, 1], column) for name in compared])
        for column in columns
    ]
    return f"paper {means[0] - means[1]:+.4f}, "
