"""Which score says best whom to ask: areas under the deferral curve on new samples.

All are in excess of the oracle's, relative to that of "confidence". "auto" is chosen
out of fold. A set is left out where it is not in the folder that SKLEARN_REJECT_DATA
names.
"""

from collections import Counter, defaultdict
from itertools import product

import numpy as np

from benchmarks._opinions import (
    Bayes,
    Boosting,
    Case,
    Few,
    Linear,
    PersonByClass,
    PersonByRegion,
)
from benchmarks._real_sets import is_there
from benchmarks._report import NOT_INSTALLED, Row, at_most
from sklearn_reject._curves._deferral import choose_by_area, deferral_area_score

TITLE = "excess area under the deferral curve on new samples, relative to confidence"

_SETS = (
    *("avila", "bank_additional", "codrna", "ijcnn", "image", "letter"),
    *("mammography", "marketing", "pendigit", "phishing", "sattelite", "shuttle"),
    *("spambase", "webpage"),
)
# What takes a minute or more to fit.
_SLOW = frozenset({"avila", "letter", "pendigit", "shuttle", "webpage"})
_SMALL = (
    *("bank_additional", "codrna", "ijcnn", "image", "letter", "marketing"),
    *("phishing", "sattelite", "spambase", "wdbc"),
)
_LINEAR, _BOOSTING = Linear(), Boosting()
_SITUATIONS = {
    "boosting first, linear second": (_BOOSTING, _LINEAR, 0.0),
    "naive Bayes first": (Bayes(), _BOOSTING, 0.0),
    "few features first": (Few(), _BOOSTING, 0.0),
    "half of the answers missing": (_LINEAR, _BOOSTING, 0.5),
    "nine in ten answers missing": (_LINEAR, _BOOSTING, 0.9),
    "a person who knows some classes": (_LINEAR, PersonByClass(), 0.0),
    "a person who knows a region": (_LINEAR, PersonByRegion(), 0.0),
    "the same, half of the answers missing": (_LINEAR, PersonByRegion(), 0.5),
    "the same, nine in ten missing": (_LINEAR, PersonByRegion(), 0.9),
}
_IN_SITUATIONS = (
    *("codrna", "image", "marketing", "phishing", "sattelite", "spambase", "pendigit"),
)
_SIZES = {False: (200,), True: (200, 500, 1000)}

# What is asked of "auto": on average over the sets, and of each.
_ON_AVERAGE, _AT_WORST = 0.80, 1.03
_FEWEST_ASKED = 8000


def run_in_full():
    """Return the rows of the table, of more draws."""
    yield from run(full=True)


def run(full=False):
    """Return the rows of the table."""
    if not _there(_SETS, full):
        yield Row("second opinions on real sets", "", NOT_INSTALLED)
        return
    yield from _of_sets(_there(_SETS, full), _FEWEST_ASKED if full else 1000, 1 + full)
    for size in _SIZES[full]:
        yield _of_size(_there(_SMALL, full), size, 6 if full else 1)
    situations = _IN_SITUATIONS if full else _IN_SITUATIONS[:3]
    for what, (first, second, missing) in _SITUATIONS.items():
        cases = [
            Case(name, 3000 if full else 500, first, second, missing, seed)
            for name, seed in product(_there(situations, full), range(1 + full))
        ]
        results = [Result.of(case) for case in cases]
        yield Row(what, "", _mean("auto", results), "", _describe(results))


def _there(names, full):
    """Return the sets that are there, without the slow ones unless in full."""
    return [name for name in names if is_there(name) and (full or name not in _SLOW)]


def _of_sets(names, size, n_draws):
    """Yield a row for each set, linear first and boosting second, and their mean."""
    means = []
    for name in names:
        results = [
            Result.of(Case(name, size, _LINEAR, _BOOSTING, seed=seed))
            for seed in range(n_draws)
        ]
        means.append(np.mean([result.relative["auto"] for result in results]))
        yield at_most(
            f"{name}, {size}: auto", _AT_WORST, means[-1], details=_describe(results)
        )
    if size < _FEWEST_ASKED:
        yield Row("mean of the sets", "", f"{np.mean(means):.3g}")
        return
    yield at_most("mean of the sets", _ON_AVERAGE, np.mean(means))


def _of_size(names, size, n_draws):
    """Return a row of small samples: by how much auto is worse than confidence."""
    results = defaultdict(list)
    for name, seed in product(names, range(n_draws)):
        case = Case(name, size, _LINEAR, _BOOSTING, seed=seed)
        results[name].append(Result.of(case))
    every = [result for group in results.values() for result in group]
    worse = [
        np.mean([result.areas["auto"] - result.areas["confidence"] for result in group])
        for group in results.values()
    ]
    error = np.std(worse, ddof=1) / np.sqrt(len(worse))
    details = f"areas differ by {np.mean(worse):+.5f} +- {error:.5f}; "
    measured = float(_mean("auto", every))
    return at_most(
        f"{size} samples, mean", 1.0, measured, details=details + _describe(every)
    )


class Result:
    """Areas on new samples by score, and which of them was chosen."""

    def __init__(self, areas, chosen, seconds):
        self.areas, self.chosen, self.seconds = areas, chosen, seconds
        room = areas["confidence"] - areas["oracle"]
        self.relative = {
            name: (area - areas["oracle"]) / room if room > 0 else 1.0
            for name, area in areas.items()
        }

    @classmethod
    def of(cls, case):
        """Measure a case."""
        known, new, seconds = case.measure()
        chosen, _ = choose_by_area(*known)
        first, second = new.loss_first, new.loss_second
        scores = new.scores | {"auto": new.scores[chosen], "oracle": first - second}
        areas = {
            name: deferral_area_score(values, first, second)
            for name, values in scores.items()
        }
        areas["random"] = (first.mean() + second.mean()) / 2
        return cls(areas, chosen, seconds)


def _mean(name, results):
    return f"{np.mean([result.relative[name] for result in results]):.2f}"


def _describe(results):
    """Return what the other scores have, what was chosen, and how long it took."""
    names = [name for name in results[0].relative if name not in ("auto", "oracle")]
    parts = [f"{name} {_mean(name, results)}" for name in names if name != "confidence"]
    chosen = Counter(result.chosen for result in results)
    parts.append("chosen " + ", ".join(f"{n} x {key}" for key, n in chosen.items()))
    areas = {
        name: np.mean([result.areas[name] for result in results])
        for name in ("confidence", "oracle")
    }
    parts.append(f"area {areas['confidence']:.4f}, oracle {areas['oracle']:.4f}")
    longest = max(sum(result.seconds.values()) for result in results)
    return "; ".join([*parts, f"learned within {longest:.0f} s"])
