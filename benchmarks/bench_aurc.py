"""Area under the risk-coverage curve: against sorting, peers and a memory bound."""

from functools import partial
from itertools import product

from benchmarks._data import (
    N_SAMPLES,
    make_real_losses,
    make_sample,
    sort_and_accumulate,
    sort_and_accumulate_ties,
)
from benchmarks._peers import LOADERS
from benchmarks._report import (
    NOT_INSTALLED,
    Row,
    at_least,
    at_most,
    ratio_row,
    show_time,
)
from benchmarks._timing import interleaved_medians, peak_bytes
from sklearn_reject import _curves as curves
from sklearn_reject import metrics

TITLE = "aurc_score, a million samples, in multiples of argsort + gather + cumsum"

_LIMITS = {0.02: 0.35, 0.1: 0.45, 0.4: 0.75}
_REAL_LIMIT = 1.3
_TIES_LIMIT = 1.15
_FASTER_THAN_PEERS = 4
_LARGEST_PEAK = 41  # bytes a sample
_WITHOUT_TIES, _WITH_TIES = ("uniform", "confident"), "100 distinct"


def run():
    """Return the rows of the table."""
    return [
        *_zero_one_rows(),
        *_peer_rows(),
        *_real_rows(),
        *_tied_rows(),
        *_memory_rows(),
    ]


def _zero_one_rows():
    for kind, (error_rate, limit) in product(_WITHOUT_TIES, _LIMITS.items()):
        sample = make_sample(kind, error_rate)
        reference = partial(sort_and_accumulate, sample.scores, sample.errors)
        what = f"0/1 loss, {kind} scores, {error_rate:.0%} errors"
        yield ratio_row(what, limit, _from_labels(sample), reference)


def _from_labels(sample):
    labels = sample.y_true, sample.y_pred, sample.scores
    return partial(metrics.aurc_score, *labels)


def _peer_rows():
    for kind, (name, load) in product(_WITHOUT_TIES, LOADERS.items()):
        what = f"times faster than {name}, {kind} scores, 10% errors"
        prepare = load()
        if prepare is None:
            yield Row(what, f">= {_FASTER_THAN_PEERS} x", NOT_INSTALLED)
        else:
            yield _peer_row(what, make_sample(kind), prepare)


def _peer_row(what, sample, prepare):
    peer = prepare(sample.scores, sample.errors)
    times = interleaved_medians({"ours": _from_labels(sample), "peer": peer})
    details = f"{show_time(times['ours'])} against {show_time(times['peer'])}"
    speedup = times["peer"] / times["ours"]
    return at_least(what, _FASTER_THAN_PEERS, speedup, " x", details)


def _real_rows():
    for kind in _WITHOUT_TIES:
        arrays = _scores_and_real_losses(kind)
        ours = partial(curves.aurc_score, *arrays)
        reference = partial(sort_and_accumulate, *arrays)
        yield ratio_row(f"real losses, {kind} scores", _REAL_LIMIT, ours, reference)


def _scores_and_real_losses(kind):
    scores = make_sample(kind).scores
    return scores, make_real_losses(scores)


def _tied_rows():
    what = f"{_WITH_TIES} scores (reference aware of ties)"
    sample = make_sample(_WITH_TIES)
    arrays = sample.scores, sample.errors
    reference = partial(sort_and_accumulate_ties, *arrays)
    yield ratio_row(f"0/1 loss, {what}", _TIES_LIMIT, _from_labels(sample), reference)
    arrays = _scores_and_real_losses(_WITH_TIES)
    ours = partial(curves.aurc_score, *arrays)
    reference = partial(sort_and_accumulate_ties, *arrays)
    yield ratio_row(f"real losses, {what}", _TIES_LIMIT, ours, reference)


def _memory_rows():
    for kind in (*_WITHOUT_TIES, _WITH_TIES):
        for error_rate in _LIMITS:
            ours = _from_labels(make_sample(kind, error_rate))
            yield _memory_row(f"0/1 loss, {kind} scores, {error_rate:.0%} errors", ours)
        ours = partial(curves.aurc_score, *_scores_and_real_losses(kind))
        yield _memory_row(f"real losses, {kind} scores", ours)


def _memory_row(what, function):
    peak = peak_bytes(function) / N_SAMPLES
    return at_most(f"peak bytes a sample, {what}", _LARGEST_PEAK, peak, " B")
