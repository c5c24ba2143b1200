"""Joint thresholds of several classifiers: time, exactness, memory, smooth paths."""

import os
from functools import partial
from statistics import median

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import bellman_ford
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from threadpoolctl import threadpool_limits

from benchmarks._report import Row, at_least, at_most, ratio_row, show_time
from benchmarks._timing import interleaved_medians, peak_bytes, seconds
from benchmarks.papers._rzmr20_classifiers import KINDS, out_of_fold
from benchmarks.papers._rzmr20_data import SETS, load, missing_file
from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.metrics import pn_auc_score
from sklearn_reject.thresholds import operating_point, optimal_path, pn_table

TITLE = "joint thresholds, 1 % positives, one thread"

# False positives that a true positive may cost.
_PRICE = 5

# Of those in the paper's tables, the ones that are fitted in seconds.
_KINDS = ("svm", "tree", "bayes")
_SHARES_ASKED = {"any": 0.7, "all": 0.5}


def run():
    """Return the rows of the table."""
    with threadpool_limits(1):
        yield from _table_rows()
        yield from _grid_rows()
        yield from _bellman_ford_rows()
        yield from _pairs_rows()
        yield from _direct_rows()
        yield from _never_below_rows()
        yield from _single_rows()
        yield from _smooth_rows()


def _make_scores(n_documents, n_classifiers, seed=0, rate=0.01):
    """Return scores that find different positives, and labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_documents) < rate).astype(int)
    lift = rng.normal(1.5, 1.5, (n_documents, n_classifiers))
    return rng.normal(size=lift.shape) + lift * y[:, np.newaxis], y


def _spell(n_classifiers):
    return f"{n_classifiers} classifier{'s' * (n_classifiers > 1)}"


def _table_rows():
    scores, y = _make_scores(10**6, 2)
    shuffled = scores[:, 0].copy()
    what = "1,000,000 documents, 2 classifiers, m = 1,000: grid and table, in np.sort"
    ours = partial(pn_table, scores, y, n_thresholds=1000)
    yield ratio_row(what, 20, ours, partial(np.sort, shuffled), repeats=5)
    tabulate = partial(pn_table, *_make_scores(10**4, 2), n_thresholds=1000)
    table = tabulate()
    for name, function in (("table", tabulate), ("best path", table.optimal_path)):
        what = f"m = 1,000: peak memory of the {name}, bytes a node"
        details = "32 are reckoned with, and the documents"
        measured = f"{peak_bytes(function) / table.fp.size:.3g}"
        yield Row(what, "", measured, "", details)


def _grid_rows():
    for n_classifiers, m, limit in ((2, 1000, 0.15), (3, 200, 2)):
        table = pn_table(*_make_scores(10**5, n_classifiers), n_thresholds=m)
        contenders = {"ours": table.optimal_path}
        time = interleaved_medians(contenders, repeats=3)["ours"]
        what = f"{_spell(n_classifiers)}, m = {m:,}: best path after the table"
        yield at_most(what, limit, time, " s")


def _bellman_ford_rows():
    table = pn_table(*_make_scores(10**5, 2))
    ours = table.optimal_path
    repeated = interleaved_medians({"ours": ours}, repeats=11)["ours"]
    graph, shift = _as_graph(table)
    lengths = []
    theirs = seconds(lambda: lengths.append(bellman_ford(graph, indices=0)[-1]))
    details = f"{show_time(repeated)} against {show_time(theirs)}"
    what = "2 classifiers, m = 100: faster than Bellman-Ford of scipy"
    yield at_least(what, 100, theirs / repeated, " x", details)
    difference = ours().area - (shift - lengths[0])
    yield at_most("the same: areas apart", 1e-9, abs(difference))


def _as_graph(table):
    """Return the graph of a table, and what all paths are longer by.

    Edges are longer by a quarter: areas are multiples of one half, so that no edge has
    length zero, which in a sparse matrix is none.
    """
    numbers = np.arange(table.fp.size).reshape(table.fp.shape)
    tails = np.concatenate([numbers[:-1].ravel(), numbers[:, :-1].ravel()])
    heads = np.concatenate([numbers[1:].ravel(), numbers[:, 1:].ravel()])
    fp, tp = table.fp.ravel(), table.tp.ravel()
    lengths = 0.25 - (fp[tails] - fp[heads]) * (tp[tails] + tp[heads]) / 2
    shape = (numbers.size, numbers.size)
    n_steps = sum(numbers.shape) - numbers.ndim
    return csr_array((lengths, (tails, heads)), shape=shape), 0.25 * n_steps


def _pairs_rows():
    for n_classifiers in (10, 20):
        time = seconds(partial(optimal_path, *_make_scores(10**5, n_classifiers)))
        what = f"100,000 documents, {_spell(n_classifiers)}, m = 100: pairs"
        if n_classifiers == 10:
            yield at_most(what, 60, time, " s")
        else:
            yield Row(what, "", show_time(time))


def _direct_rows():
    for n_classifiers, limit in ((1, None), (2, None), (5, 1), (10, 3)):
        time = seconds(partial(_find_point, *_make_scores(10**5, n_classifiers)))
        what = f"100,000 documents, {_spell(n_classifiers)}: direct optimum"
        if limit is None:
            yield Row(what, "", show_time(time))
        else:
            yield at_most(what, limit, time, " s")
    # So many pairs of thresholds, 1e8, that a table of all takes seconds.
    scores, y = _make_scores(10**5, 2, rate=0.1)
    time = seconds(partial(_find_point, scores, y, rule="all"))
    what = "100,000 documents, 10 % positives, 2 classifiers: direct optimum of all"
    yield at_most(what, 1, time, " s")


def _find_point(scores, y, method="direct", rule="any"):
    return operating_point(scores, y, method=method, rule=rule, max_fp_per_tp=_PRICE)


def _never_below_rows():
    """Compare what the direct optimum attains with the best points of both paths."""
    for n_classifiers in (1, 2, 3):
        margins = [
            _margin(*_make_scores(5000, n_classifiers, seed), rule)
            for seed in range(5)
            for rule in ("any", "all")
        ]
        what = f"{_spell(n_classifiers)}, 10 samples: direct above the better path"
        details = f"by {max(margins):.3g} at most"
        yield at_least(what, 0, min(margins), "", details)


def _margin(scores, y, rule):
    direct, *others = (
        _find_point(scores, y, method, rule)
        for method in ("direct", "graph", "analytic")
    )
    return _gain(direct) - max(map(_gain, others))


def _gain(point):
    return point.tp - point.fp / _PRICE


# One classifier


class ScoreColumn(ClassifierMixin, BaseEstimator):
    """Classifier whose decision value is the only column of X."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] >= 0).astype(int)]


def _objective(y_true, y_pred):
    _, fp, _, tp = confusion_matrix(y_true, y_pred).ravel()
    return tp - fp / _PRICE


def _lean_objective(y_true, y_pred):
    """Return the same without any check, which is most of the time."""
    positive, predicted = y_true == 1, y_pred == 1
    tp = np.count_nonzero(positive & predicted)
    return tp - (np.count_nonzero(predicted) - tp) / _PRICE


def _single_rows():
    X, y = _make_scores(10**5, 1)
    theirs = _search_a_grid(X, y, _objective)
    lean = _search_a_grid(X, y, _lean_objective)
    ours = EnsembleThresholdTuner(
        None, method="direct", max_fp_per_tp=_PRICE, cv="prefit"
    )
    contenders = {"ours": ours, "theirs": theirs, "lean": lean}
    times = interleaved_medians(
        {name: partial(tuner.fit, X, y) for name, tuner in contenders.items()},
        repeats=3,
    )
    details = f"{show_time(times['ours'])} against {show_time(times['theirs'])}"
    what = "100,000 documents, 1 classifier: faster than TunedThresholdClassifierCV"
    yield at_least(what, 100, times["theirs"] / times["ours"], " x", details)
    gain = f"{times['lean'] / times['ours']:.3g} x"
    what = "the same, with a metric of theirs that checks nothing"
    yield Row(what, "", gain, "", f"against {show_time(times['lean'])}")
    values = [_objective(y, tuned.predict(X)) for tuned in (ours, theirs)]
    what = f"the same: TP - FP / {_PRICE} above that of TunedThresholdClassifierCV"
    details = f"{values[0]:.6g} against {values[1]:.6g}"
    yield at_least(what, 0, values[0] - values[1], "", details)


def _search_a_grid(X, y, objective):
    return TunedThresholdClassifierCV(
        FrozenEstimator(ScoreColumn().fit(X, y)),
        scoring=make_scorer(objective),
        response_method="decision_function",
        cv="prefit",
        refit=False,
    )


# Smooth paths


def _smooth_rows():
    """Ask which share of the gap between one classifier and the graph is closed."""
    what = "sets of the papers: share of the gap that the analytic path closes"
    missing = [missing_file(name) for name in SETS if missing_file(name)]
    if missing:
        folder = os.environ.get("SKLEARN_REJECT_DATA") or "not set"
        reason = f"no {', '.join(missing)} in SKLEARN_REJECT_DATA ({folder})"
        yield Row(what, "", "skipped", "", reason)
        return
    samples = {name: _score(load(name, 0)) for name in SETS}
    for rule, asked in _SHARES_ASKED.items():
        shares = {
            name: [_share_closed(*sample, rule) for sample in samples[name]]
            for name in SETS
        }
        for name, values in shares.items():
            details = ", ".join(f"{value:.2f}" for value in values)
            yield Row(f"{name}, {rule}: {', '.join(_KINDS)}", "", details)
        pooled = [value for values in shares.values() for value in values]
        yield at_least(f"{what}, {rule}: median", asked, median(pooled))


def _score(split):
    """Return scores out of fold and labels for each kind of classifier."""
    y = split.y_train
    columns = [
        [out_of_fold(_make_classifier(kind), X, y, 0) for X in split.X_train]
        for kind in _KINDS
    ]
    return [(np.column_stack(pair), y.astype(int)) for pair in columns]


def _make_classifier(kind):
    """Return a classifier with the first of the hyper-parameters compared there."""
    classifier, grid = KINDS[kind]
    first = {name: values[0] for name, values in grid.items()}
    return clone(classifier).set_params(**first)


def _share_closed(scores, y, rule):
    single = max(pn_auc_score(y, column) for column in scores.T)
    graph, analytic = (
        optimal_path(scores, y, rule=rule, method=method, n_thresholds=1000).area
        for method in ("graph", "analytic")
    )
    return (analytic - single) / (graph - single)
