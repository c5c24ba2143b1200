"""Joint thresholds beside other ways to make one alarm of several detectors."""

from collections import defaultdict, namedtuple

import numpy as np
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._real_sets import is_there, load_set
from benchmarks._report import Row
from sklearn_reject import InfeasibleTargetError
from sklearn_reject.thresholds import operating_point

TITLE = "gain (TP - FP / 3) / P on new documents, by how detectors are combined"

# So many false positives are worth a true one.
_PRICE = 3.0

_SPLIT = ("bank_additional", "marketing", "mammography", "ijcnn", "webpage", "codrna")

# Two rare classes each, one a detector.
_EVENTS = {
    "letter": (4, 17),
    "pendigit": (3, 8),
    "avila": (5, 7),
    "sattelite": (3, 4),
    "digits": (8, 9),
}
_SHARE_POSITIVE = 0.03
_MOST_ROWS = 12_000
_SEEDS = range(4)

# Of the documents the previous system reported so many for each true event.
_REPORTED_PER_EVENT = 5.0

Part = namedtuple("Part", "X y kinds")
# What the detectors say of documents, and the columns themselves.
Data = namedtuple("Data", "scores X y is_rated")


def run():
    """Yield a row for each situation and each way to combine."""
    for title, problems in (
        ("columns split", _split_problems),
        ("different events", _event_problems),
    ):
        for rates_all in (True, False):
            gains = defaultdict(list)
            for name, seed, detectors, train, test in problems():
                measured = _measure(detectors, train, test, seed, rates_all)
                for way, gain in measured.items():
                    gains[way].append((name, gain))
            what = f"{title}, {'all rated' if rates_all else 'reported ones rated'}"
            yield from _rows(what, gains)


def _rows(what, gains):
    best = _by_set(gains["joint, direct"])
    for way, of_way in gains.items():
        means = _by_set(of_way)
        values = np.array(list(means.values()))
        beyond = values - np.array([best[name] for name in means])
        error = beyond.std(ddof=1) / np.sqrt(len(beyond)) if len(beyond) > 1 else 0.0
        details = (
            f"less the joint rule {beyond.mean():+.3f} (standard error {error:.3f}), "
            f"better on {np.sum(beyond > 0)} of {len(beyond)} sets; "
            + ", ".join(f"{name} {value:.2f}" for name, value in means.items())
        )
        yield Row(f"{what}: {way}", "", f"{values.mean():.3f}", "", details)


def _by_set(pairs):
    found = defaultdict(list)
    for name, gain in pairs:
        found[name].append(gain)
    return {name: float(np.mean(values)) for name, values in found.items()}


# The problems


def _split_problems():
    """Yield sets whose columns are dealt out to two detectors of all events."""
    for name in filter(is_there, _SPLIT):
        X, y = load_set(name)
        kinds = (y == np.argmin(np.bincount(y))).astype(int)
        for seed in _SEEDS:
            columns = np.random.default_rng(seed).permutation(X.shape[1])
            halves = [(half, (1,)) for half in np.array_split(columns, 2)]
            yield (name, seed, halves, *_parts(X, kinds, seed))


def _event_problems():
    """Yield sets with events of two kinds, and a detector that knows one each."""
    for name, classes in filter(lambda item: is_there(item[0]), _EVENTS.items()):
        X, y = load_set(name)
        kinds = (y == classes[0]) + 2 * (y == classes[1])
        everything = np.arange(X.shape[1])
        detectors = [(everything, (1,)), (everything, (2,))]
        for seed in _SEEDS:
            yield (name, seed, detectors, *_parts(X, kinds, seed))


def _parts(X, kinds, seed):
    """Return two halves in which events are rare."""
    rng = np.random.default_rng(seed)
    others, events = np.flatnonzero(kinds == 0), np.flatnonzero(kinds)
    others = rng.permutation(others)[:_MOST_ROWS]
    n_events = min(len(events), round(len(others) * _SHARE_POSITIVE))
    rows = np.append(others, rng.permutation(events)[:n_events])
    halves = train_test_split(rows, stratify=kinds[rows] > 0, random_state=seed)
    return [
        Part(X[half], (kinds[half] > 0).astype(int), kinds[half]) for half in halves
    ]


# The detectors


def _measure(detectors, train, test, seed, rates_all):
    """Return the gain on new documents of each way to combine."""
    models = _models(seed)
    cv = StratifiedKFold(5, shuffle=True, random_state=seed)
    scores = [], []
    for model, (columns, kinds) in zip(models, detectors, strict=True):
        target = np.isin(train.kinds, kinds)
        parts = _out_of_fold(model, train.X[:, columns], target, test.X[:, columns], cv)
        for column, part in zip(scores, parts, strict=True):
            column.append(part)
    scores = [np.column_stack(columns) for columns in scores]
    is_rated = _reported(scores[0], train.y, rates_all)
    given = Data(scores[0], train.X, train.y, is_rated)
    new = Data(scores[1], test.X, test.y, None)
    return {
        way: _gain(*combine(given, new, models[0], cv), given, new)
        for way, combine in _WAYS.items()
    }


def _models(seed):
    """Return the kinds of the two detectors: alike, or one with poor probabilities."""
    first = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    if seed % 2:
        first = HistGradientBoostingClassifier(max_iter=60, random_state=seed)
    second = first if seed % 4 < 2 else GaussianNB(var_smoothing=1e-6)
    return first, second


def _out_of_fold(model, X, y, new_X, cv):
    """Return log-odds out of fold, and those of new documents."""
    given = cross_val_predict(model, X, y, cv=cv, method="predict_proba")[:, 1]
    new = clone(model).fit(X, y).predict_proba(new_X)[:, 1]
    return [logit(np.clip(part, 1e-9, 1 - 1e-9)) for part in (given, new)]


def _reported(scores, y, rates_all):
    """Return what was rated: all, or what the best of each detector are."""
    if rates_all:
        return np.full(len(y), True)
    n_best = round(_REPORTED_PER_EVENT * y.sum() / scores.shape[1])
    return (scores >= np.sort(scores, axis=0)[-n_best]).any(axis=1)


# The ways to combine: the columns that thresholds apply to, and how they are tuned


def _joint(method):
    return lambda given, new, model, cv: (given.scores, new.scores, method)


def _best_alone(given, new, model, cv):
    gains = [
        _tuned_gain(given.scores[:, [column]], given)
        for column in range(given.scores.shape[1])
    ]
    best = [int(np.argmax(gains))]
    return given.scores[:, best], new.scores[:, best], "direct"


def _voting(given, new, model, cv):
    mean = [np.mean(expit(part.scores), axis=1, keepdims=True) for part in (given, new)]
    return (*mean, "direct")


def _largest_calibrated(given, new, model, cv):
    rated, columns = given.is_rated, ([], [])
    for own, other in zip(given.scores.T, new.scores.T, strict=True):
        curve = IsotonicRegression(out_of_bounds="clip").fit(own[rated], given.y[rated])
        for part, values in zip(columns, (own, other), strict=True):
            # The score itself tells apart what the calibration makes equal.
            part.append(curve.predict(values) + 1e-6 * expit(values))
    return (*(np.max(part, axis=0)[:, None] for part in columns), "direct")


def _stacking(final):
    def combine(given, new, model, cv):
        return _learned(final, given, given.scores, new.scores, cv)

    return combine


def _on_all_columns(given, new, model, cv):
    return _learned(model, given, given.X, new.X, cv)


def _learned(model, given, X, new_X, cv):
    """Return the scores of a classifier that has learned from what was rated."""
    rated = given.is_rated
    own, other = _out_of_fold(
        model, X[rated], given.y[rated], np.vstack([X[~rated], new_X]), cv
    )
    scores = np.empty(len(rated))
    n_unrated = int(np.sum(~rated))
    scores[rated], scores[~rated] = own, other[:n_unrated]
    return scores[:, None], other[n_unrated:, None], "direct"


_WAYS = {
    "joint, direct": _joint("direct"),
    "joint, graph": _joint("graph"),
    "best detector alone": _best_alone,
    "soft voting": _voting,
    "largest of calibrated": _largest_calibrated,
    "stacking, logistic": _stacking(LogisticRegression()),
    "stacking, boosting": _stacking(HistGradientBoostingClassifier(max_iter=40)),
    "one classifier, all columns": _on_all_columns,
}


def _tune(scores, given, method):
    """Return the point from which on a true positive costs more than its price."""
    rated = given.is_rated
    # Nobody can tell from where on a combined score is rated: as users do, the
    # documents that are not are left out.
    leaves_out = scores.shape[1] != given.scores.shape[1]
    y = np.where(rated, given.y, -1)
    keep = rated if leaves_out else np.full(len(y), True)
    return operating_point(scores[keep], y[keep], max_fp_per_tp=_PRICE, method=method)


def _tuned_gain(scores, given):
    try:
        point = _tune(scores, given, "direct")
    except InfeasibleTargetError:
        return 0.0
    return point.tp - point.fp / _PRICE


def _gain(scores, new_scores, method, given, new):
    try:
        point = _tune(scores, given, method)
    except InfeasibleTargetError:
        return 0.0  # nothing is worth a report
    is_predicted = point.predict(new_scores)
    tp, fp = np.sum(is_predicted & (new.y == 1)), np.sum(is_predicted & (new.y == 0))
    return float((tp - fp / _PRICE) / new.y.sum())
