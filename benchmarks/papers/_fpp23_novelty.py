"""Table 2 of FPP23: single and double scores on digits among other images."""

import numpy as np

from benchmarks._report import Row, print_table
from benchmarks.papers._fpp23_network import (
    DOUBLE_SCORES,
    HIDDEN_LAYERS,
    N_EPOCHS,
    score_images,
)
from benchmarks.papers._fpp23_protocol import (
    N_DIVISIONS,
    Measured,
    measure_as_in_the_paper,
    measure_on_halves,
)
from benchmarks.papers._fpp23_published import MAX_FPR, TABLE_2
from benchmarks.papers._summary import spread

_PROTOCOLS = {
    "paper": "as in the paper: tuned and judged on the same samples",
    "halves": "tuned on one half of the samples, judged on the other",
}
_COLUMNS = ("risk", "TPR", "FPR", "AUROC", "OSCR", "OSCR, usual")

# What a double score is compared in, and the sign of what is better.
_COMPARED = {"risk": -1, "auroc": 1, "oscr_franc": 1, "oscr_dhamija": 1}


# Measuring


def measure_images(seed, n_divisions=N_DIVISIONS, **options):
    """Return what one network says about all sets, by both protocols."""
    scored = score_images(seed, **options)
    record = {"accuracy": scored.accuracy, "seconds": scored.seconds}
    record["sets"] = {
        name: _measure(samples, seed, n_divisions)
        for name, samples in scored.sets.items()
    }
    return record


def _measure(samples, seed, n_divisions):
    results = {
        "paper": measure_as_in_the_paper(samples),
        "halves": measure_on_halves(samples, seed, n_divisions),
    }
    return {
        protocol: {"max_fpr": max_fpr, "methods": _as_dicts(found)}
        for protocol, (max_fpr, found) in results.items()
    }


def _as_dicts(found):
    return {method: measured._asdict() for method, measured in found.items()}


# Printing


def print_images(records):
    """Print table 2 beside what was measured, and judge it."""
    accuracy, seconds = (
        spread([record[name] for record in records]) for name in ("accuracy", "seconds")
    )
    print("\nTable 2: MNIST as ID, selective risk at TPR .8, AUROC and OSCR")
    print(
        f"network with hidden layers {HIDDEN_LAYERS}, {N_EPOCHS} epochs: accuracy "
        f"{accuracy.mean:.4f} ± {accuracy.sd:.4f}, {seconds.mean:.0f} s with all scores"
    )
    print(f"mean ± standard deviation of {len(records)} networks")
    for name in MAX_FPR:
        for protocol, title in _PROTOCOLS.items():
            print(f"\n{name}, {title}")
            _print_block(records, name, protocol)
    for protocol, title in _PROTOCOLS.items():
        what = "double score less the better of its parts"
        print_table(f"{what}, {title}", verdicts(records, protocol))


def _print_block(records, name, protocol):
    found = [record["sets"][name][protocol] for record in records]
    max_fpr = np.mean([one["max_fpr"] for one in found])
    print(f"FPR at most {MAX_FPR[name]:.2f} in the paper, {max_fpr:.3f} here")
    print(_line("", ("risk", "AUROC", "OSCR"), _COLUMNS))
    for method, row in TABLE_2.items():
        risk, *others = row[name]
        printed = [f"{risk:.5f}", *(f"{area:.3f}" for area in others)]
        print(_line(method, printed, _cells(_values(found, method))))


def _values(found, method):
    """Return the numbers of a method, shape (n_seeds, n_measures)."""
    return np.array([list(one["methods"][method].values()) for one in found])


def _cells(values):
    for number, column in enumerate(values.T):
        mean, deviation = spread(column)
        digits = 5 if number == 0 else 4
        yield f"{mean:.{digits}f} ± {deviation:.{digits}f}"


def _line(name, published, cells):
    text = f"{name:<9}" + "".join(f"{cell:>9}" for cell in published) + "  |"
    return (text + "".join(f"{cell:>19}" for cell in cells)).rstrip()


# Judging


def verdicts(records, protocol):
    """Yield the rows of what is asked of each double score on each set."""
    for name in MAX_FPR:
        found = [record["sets"][name][protocol] for record in records]
        for double, parts in DOUBLE_SCORES.items():
            for measure in _COMPARED:
                yield _compare(f"{name}, {double}: ", found, double, parts, measure)


def _compare(what, found, double, parts, measure):
    """Judge the mean difference to the part that is better on average."""
    sign, column = _COMPARED[measure], Measured._fields.index(measure)
    values = {name: _values(found, name)[:, column] for name in (double, *parts)}
    better = max(parts, key=lambda part: sign * values[part].mean())
    difference = spread(values[double] - values[better])
    error = difference.sd / np.sqrt(len(found))
    # Where only one network differs, it is by exactly one standard error.
    is_close = sign * difference.mean >= -error * (1 + 1e-9)
    return Row(
        what + measure.replace("_", " "),
        f"{'<=' if sign < 0 else '>='} 0 within 1 s.e.",
        f"{difference.mean:+.6f}",
        "ok" if is_close else "miss",
        f"s.e. {error:.6f}, better part {better}",
    )
