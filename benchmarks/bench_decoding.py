"""Expected losses of sets and their optimum: time, exactness, other packages."""

from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._report import (
    NOT_INSTALLED,
    Row,
    at_least,
    at_most,
    ratio_row,
    show_time,
)
from benchmarks._timing import interleaved_medians, peak_bytes, seconds
from sklearn_reject.decoding import decode, expected_loss_curve, tune_threshold
from sklearn_reject.decoding._curves import dense_curves
from sklearn_reject.losses import check_set_loss

TITLE = "sets of the least expected loss, one thread unless said"

_BY_QUADRATURE = ("f1", "jaccard", "am", "g_tp_pr")

# Probabilities of items: how many are likely is what differs.
_KINDS = {
    "even": lambda rng, n: rng.random(n),
    "few": lambda rng, n: rng.beta(0.3, 3, n),
    "many": lambda rng, n: rng.beta(5, 1, n),
    "rare": lambda rng, n: rng.beta(0.05, 5, n),
}

_LARGE = 10**6
_SECONDS_AT_MOST = {10**5: 0.6, _LARGE: 7}


def run():
    """Return the rows of the table."""
    with threadpool_limits(1):
        yield from _error_rows()
        yield from _curve_rows()
        yield from _optimum_rows()
        yield from _reference_rows()
        yield from _peer_rows()
        yield from _threshold_rows()
    yield from _matrix_rows()


def make_probabilities(kind, n_items, seed=0):
    """Return probabilities of items, sorted decreasing."""
    return -np.sort(-_KINDS[kind](np.random.default_rng(seed), n_items))


def _curve(eta, loss, **options):
    return expected_loss_curve(eta, loss=loss, **options)


def _error_rows():
    """Compare quadrature and windows with the sum over all counts."""
    of_names, of_functions = 0.0, 0.0
    losses = (*_BY_QUADRATURE, "g_mean")
    for kind in _KINDS:
        eta = make_probabilities(kind, 250)
        for loss in losses:
            expected, function = _reference(eta, loss), _as_function(loss)
            of_name = np.abs(_curve(eta, loss) - expected).max()
            of_function = np.abs(_curve(eta, function) - expected).max()
            of_names, of_functions = (
                max(of_names, of_name),
                max(of_functions, of_function),
            )
    for what, worst in (("by name", of_names), ("as functions", of_functions)):
        what = f"250 items: error of {len(losses)} losses {what}"
        yield at_most(what, 1e-11, float(worst))


def _as_function(loss):
    """Return a loss of which nothing is known but its values."""
    loss = check_set_loss(loss)
    return lambda tp, fp, fn, tn: loss(tp, fp, fn, tn)


def _reference(eta, loss):
    """Return the curve by algorithm 1 of NKRD16, which four short sets have."""
    return _curve(np.tile(eta, (4, 1)), _as_function(loss))[0]


def _curve_rows():
    times = {}
    for n_items, limit in _SECONDS_AT_MOST.items():
        for kind in ("few", "even"):
            eta = make_probabilities(kind, n_items)
            shuffled = np.random.default_rng(0).permutation(eta)
            contenders = {loss: partial(_curve, eta, loss) for loss in _BY_QUADRATURE}
            contenders["sort"] = partial(np.sort, shuffled)
            times[n_items, kind] = interleaved_medians(contenders, repeats=3)
            yield from _curve_rows_of(n_items, kind, times[n_items, kind], limit)
    yield from _growth_rows(times)
    eta = make_probabilities("few", _LARGE)
    arrays = peak_bytes(partial(_curve, eta, "f1")) / eta.nbytes
    yield Row(f"{_LARGE:,} items, f1: peak memory", "", f"{arrays:.3g} arrays")


def _curve_rows_of(n_items, kind, times, limit):
    for loss in _BY_QUADRATURE:
        details = f"{times[loss] / times['sort']:.0f} x np.sort"
        what = f"{n_items:,} items, {kind} positive, {loss}, all k"
        yield at_most(what, limit, times[loss], " s", details)


def _growth_rows(times):
    for loss in _BY_QUADRATURE:
        ratio = times[_LARGE, "few"][loss] / times[_LARGE // 10, "few"][loss]
        yield at_most(f"ten times as many items, {loss}: longer", 12, ratio, " x")


def _optimum_rows():
    for kind in _KINDS:
        eta = make_probabilities(kind, 10**4)
        time = interleaved_medians({"": partial(decode, eta, loss="g_mean")}, 3)[""]
        what = f"10,000 items, {kind} positive, g_mean: certified optimum"
        yield at_most(what, 1, time, " s")


def _reference_rows():
    eta = make_probabilities("even", 2000)[None]
    loss = check_set_loss("f1")
    times = interleaved_medians(
        {
            "ours": partial(_curve, eta, "f1"),
            "reference": partial(dense_curves, eta, loss),
        },
        repeats=2,
    )
    gain = times["reference"] / times["ours"]
    details = f"{show_time(times['ours'])} against {show_time(times['reference'])}"
    what = "2,000 items, f1, all k: faster than algorithm 1"
    yield at_least(what, 1000, gain, " x", details)


def _peer_rows():
    yield from _xcolumns_rows()
    what = "10,000 items: decode for g_mean in multiples of one pmf of scipy"
    try:
        from scipy.stats import poisson_binom
    except ImportError:  # scipy < 1.15
        yield Row(what, "", NOT_INSTALLED)
        return
    eta = make_probabilities("few", 10**4)
    ours = seconds(partial(decode, eta, loss="g_mean"))
    theirs = seconds(lambda: poisson_binom.pmf(np.arange(len(eta) + 1), eta))
    details = f"{show_time(ours)} against {show_time(theirs)}"
    yield Row(what, "", f"{ours / theirs:.3g} x", "", details)


def _xcolumns_rows():
    """Compare F1 of one set with block coordinate ascent, run once after a warm-up."""
    what = "100,000 items, F1"
    try:
        from xcolumns.block_coordinate import (
            predict_optimizing_macro_f1_score_using_bc as ascend,
        )
    except ImportError:
        yield Row(f"{what}: faster than xCOLUMNs", ">= 50 x", NOT_INSTALLED)
        return
    eta = make_probabilities("few", 10**5)
    ascend(eta[:100, None], k=0, init_y_pred="top", seed=0)
    found = []
    theirs = seconds(
        lambda: found.append(ascend(eta[:, None], k=0, init_y_pred="top", seed=0))
    )
    ours = interleaved_medians({"ours": partial(decode, eta, loss="f1")}, 3)["ours"]
    details = f"{show_time(ours)} against {show_time(theirs)}"
    yield at_least(f"{what}: faster than xCOLUMNs", 50, theirs / ours, " x", details)
    yield _excess_row(what, eta, found[0][:, 0] > 0)


def _excess_row(what, eta, their_mask):
    """Compare true expected losses, where theirs is a top-k set."""
    k = np.count_nonzero(their_mask)
    what = f"{what}: expected loss of ours above theirs"
    if not their_mask[:k].all():
        return Row(what, "<= 0", "theirs is no top-k set")
    curve = _curve(eta, "f1")
    mask, _ = decode(eta, loss="f1")
    excess = curve[np.count_nonzero(mask)] - curve[k]
    return at_most(what, 0, float(excess), "", f"k = {mask.sum()} against {k}")


def _threshold_rows():
    rng = np.random.default_rng(0)
    for kind in ("few", "even"):
        eta = rng.permutation(make_probabilities(kind, _LARGE))
        y = (rng.random(_LARGE) < eta).astype(int)
        for loss in ("f1", "balanced_accuracy"):
            what = f"1,000,000 items, {kind} positive, tune_threshold, {loss}"
            ours = partial(tune_threshold, y, eta, loss=loss)
            yield ratio_row(what, 2, ours, partial(_sort_and_accumulate, y, eta))
    sets = rng.integers(0, 1000, _LARGE)
    ours = partial(tune_threshold, y, eta, loss="f1", groups=sets)
    what = "the same in 1,000 groups, f1"
    times = interleaved_medians(
        {"ours": ours, "reference": partial(_sort_and_accumulate, y, eta)}, repeats=3
    )
    ratio = times["ours"] / times["reference"]
    yield Row(what, "", f"{ratio:.3g} x", "", show_time(times["ours"]))


def _sort_and_accumulate(y, eta):
    return np.cumsum(y[np.argsort(eta)])


def _matrix_rows():
    """Decode many rows of labels with two jobs, each with one thread."""
    n_rows, n_labels = 10**5, 100
    eta = _KINDS["few"](np.random.default_rng(0), (n_rows, n_labels))
    for n_jobs in (1, 2):
        work = partial(decode, eta, loss="f1", n_jobs=n_jobs)
        decode(eta[:1000], loss="f1", n_jobs=n_jobs)  # warms up
        with threadpool_limits(1):
            time = min(seconds(work) for _ in range(2))
        what = (
            f"{n_rows:,} rows x {n_labels} labels, F1, n_jobs={n_jobs}: rows a second"
        )
        if n_jobs == 2:
            yield at_least(what, 20_000, n_rows / time, "", show_time(time))
        else:
            yield Row(what, "", f"{n_rows / time:.3g}", "", show_time(time))
