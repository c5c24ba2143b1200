"""The pairwise SELE loss over all pairs: accuracy, time, growth, and a whole fit."""

from functools import partial
from itertools import pairwise

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks._report import Row, at_least, at_most, show_time
from benchmarks._timing import interleaved_medians, peak_bytes
from benchmarks.papers._datasets import MissingDatasetError, load
from sklearn_reject.losses import sele_loss_and_gradient
from sklearn_reject.scores import SELE

TITLE = "value and gradient of the SELE loss, one job"

_N = 10**5
_CHUNK = 500
_SPREADS = (1e-3, 1.0, 1e2, 1e3, 1e4, 1e5)


def run():
    """Return the rows of the table."""
    yield from _accuracy_rows()
    yield from _peer_rows()
    yield from _growth_rows()
    yield from _sort_rows()
    yield from _fit_rows()


def _make(n_samples, spread, error_rate=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return spread * rng.normal(size=n_samples), rng.random(n_samples) < error_rate


def _peer_rows():
    scores, losses = _make(_N, 5.0)
    contenders = {
        "exact": partial(sele_loss_and_gradient, scores, losses),
        "dense chunks": partial(_dense_chunks, scores, losses.astype(float)),
        "chunked": partial(sele_loss_and_gradient, scores, losses, method="chunked"),
    }
    for spread in _SPREADS:
        samples = _make(_N, spread)
        contenders[f"{spread:g}"] = partial(sele_loss_and_gradient, *samples)
    times = interleaved_medians(contenders, repeats=5)
    exact = times["exact"]
    for peer, limit in (("dense chunks", 20), ("chunked", 1)):
        details = f"{show_time(exact)} against {show_time(times[peer])}"
        what = f"{_N:,} samples, 10% errors, sd 5: faster than {peer}"
        yield at_least(what, limit, times[peer] / exact, " x", details)
    worst = max(_SPREADS, key=lambda spread: times[f"{spread:g}"])
    time = times[f"{worst:g}"]
    yield at_most(
        f"{_N:,} samples, the slowest spread against chunked",
        8,
        time / times["chunked"],
        " x",
        f"{show_time(time)} at sd {worst:g}",
    )
    arrays = peak_bytes(contenders["exact"]) / (8 * _N)
    yield Row(f"{_N:,} samples, peak memory", "O(n)", f"{arrays:.3g} arrays")


def _dense_chunks(scores, losses):
    """Compute every pair of each chunk, as a program without further ideas does."""
    rows = np.random.default_rng(0).permutation(len(scores))
    gradient, value = np.empty(len(scores)), 0.0
    chunks = np.array_split(rows, round(len(scores) / _CHUNK))
    for chunk in chunks:
        difference = scores[chunk] - scores[chunk, np.newaxis]
        loss = losses[chunk, np.newaxis]
        value += (loss * np.logaddexp(0, difference)).mean() / len(chunks)
        pull = loss / (1 + np.exp(-difference)) / len(chunk) ** 2
        gradient[chunk] = (pull.sum(axis=0) - pull.sum(axis=1)) / len(chunks)
    return value, gradient


def _growth_rows():
    sizes = (10**4, 10**5, 10**6)
    for spread in (1.0, 5.0, 1e2):
        samples = {size: _make(size, spread) for size in sizes}
        contenders = {
            size: partial(sele_loss_and_gradient, *sample)
            for size, sample in samples.items()
        }
        times = interleaved_medians(contenders, repeats=7)
        for small, large in pairwise(sizes):
            what = f"{small:,} to {large:,} samples, sd {spread:g}: growth"
            details = f"{show_time(times[small])} to {show_time(times[large])}"
            yield at_most(what, 13, times[large] / times[small], " x", details)


def _sort_rows():
    for spread in _SPREADS:
        scores, losses = _make(10**6, spread)
        times = interleaved_medians(
            {
                "exact": partial(sele_loss_and_gradient, scores, losses),
                "argsort": partial(np.argsort, scores),
            },
            repeats=5,
        )
        what = f"1,000,000 samples, sd {spread:g}: against one argsort"
        ratio, details = times["exact"] / times["argsort"], show_time(times["exact"])
        if spread <= 1e3:
            yield at_most(what, 10, ratio, " x", details)
        else:
            yield Row(what, "", f"{ratio:.3g} x", "", details)


def _accuracy_rows():
    rng = np.random.default_rng(0)
    worst = [0.0, 0.0]
    for scores in _ranges(rng, 2000):
        for losses in (rng.random(2000) < 0.1, rng.exponential(size=2000)):
            errors = _relative_errors(scores, losses.astype(float))
            worst = np.maximum(worst, errors)
    for gap in (10.0, 20.0, 30.0):  # all errors last: sums of about exp(-gap)
        losses = (np.arange(2000) >= 1950) * 1.0
        errors = _relative_errors(rng.normal(size=2000) + gap * losses, losses)
        worst = np.maximum(worst, errors)
    for name, error in zip(("value", "gradient"), worst, strict=True):
        what = f"2,000 samples, all ranges: relative error of the {name}"
        yield at_most(what, 1e-12, float(error))


def _ranges(rng, n):
    for power in range(-3, 6):
        yield 10.0**power * rng.normal(size=n)
    yield np.append(rng.normal(size=n - 3), [1e8, -1e8, 3e7])
    yield 200 * rng.normal(size=n) - 1e8
    yield rng.integers(0, 9, n) * 3.0
    yield np.full(n, 0.1)
    yield 100 * rng.standard_cauchy(n)


def _relative_errors(scores, losses):
    value, gradient = sele_loss_and_gradient(scores, losses)
    s, losses = np.longdouble(scores), np.longdouble(losses)
    total, expected = np.longdouble(0), np.zeros(len(s), np.longdouble)
    for i in np.flatnonzero(losses):
        difference = s - s[i]
        small = np.exp(-np.abs(difference))
        pull = losses[i] * np.where(difference > 0, 1, small) / (1 + small)
        pull[i] = 0
        total += losses[i] * (np.maximum(difference, 0) + np.log1p(small)).sum()
        expected += pull
        expected[i] -= pull.sum()
    pairs = len(s) ** 2
    total, expected = total / pairs, expected / pairs
    scale = max(np.abs(expected).max(), np.finfo(float).tiny)
    return float(abs(value - total) / total), float(
        np.abs(gradient - expected).max() / scale
    )


def _fit_rows():
    what = "SELE().fit on codrna, 66,230 x 8, against a logistic regression"
    try:
        data = load("codrna")
    except MissingDatasetError:
        yield Row(what, "<= 40 x", "no data")
        return
    X_base, X, y_base, y = train_test_split(
        data.X, data.y, test_size=0.2, random_state=0
    )
    scaler = StandardScaler().fit(X_base)
    base = LogisticRegression().fit(scaler.transform(X_base), y_base)
    X = scaler.transform(X)
    times = interleaved_medians(
        {
            "SELE": lambda: SELE(random_state=0).fit(X, y, estimator=base),
            "logistic": lambda: LogisticRegression().fit(X, y),
        },
        repeats=5,
    )
    details = f"{show_time(times['SELE'])} against {show_time(times['logistic'])}"
    yield at_most(what, 40, times["SELE"] / times["logistic"], " x", details)
