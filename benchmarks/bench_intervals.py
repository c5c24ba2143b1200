"""Bootstrap intervals of the area: time against scipy, and how often they hold."""

import warnings
from functools import partial

import numpy as np
from scipy.stats import bootstrap

from benchmarks._data import make_real_losses, make_sample
from benchmarks._report import Row, at_most, ratio_row, show_time
from benchmarks._timing import interleaved_medians
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import RiskCoverageDisplay, aurc_score, bootstrap_interval

TITLE = "bootstrap_interval of aurc_score, against scipy.stats.bootstrap around it"

_N_SAMPLES, _N_RESAMPLES = 10**5, 1000
_N_RESAMPLES_OF_SCIPY = 25  # its time is proportional to them
_LONGEST = 0.3  # times that of scipy
_LONGEST_BAND = 3  # times that of an interval

_LEVEL, _ASKED = 0.9, (0.85, 0.95)
_N_REPETITIONS = {200: 1000, 1000: 500, 5000: 200}
_RISKS = 1 / 3, 0.1


def run():
    """Return the rows of the table."""
    return [*_time_rows(), _band_row(), *_coverage_rows()]


def _time_rows():
    for kind in ("uniform", "confident", "100 distinct"):
        sample = make_sample(kind, n_samples=_N_SAMPLES)
        labels = sample.y_true, sample.y_pred, sample.scores
        yield _time_row(f"0/1 loss, {kind} scores", labels)
    sample = make_sample("uniform", n_samples=_N_SAMPLES)
    labels = sample.y_true, sample.y_pred, sample.scores
    losses = make_real_losses(sample.scores)
    yield _time_row("real losses, uniform scores", _of_losses(sample.scores, losses))
    other = *labels[:2], make_sample("confident", n_samples=_N_SAMPLES).scores
    yield _time_row("difference of two scores", labels, other)


def _of_losses(scores, losses):
    return {"y_true": None, "y_pred": None, "uncertainty": scores, "loss": losses}


def _time_row(what, samples, other=None):
    options = {"n_resamples": _N_RESAMPLES, "random_state": 0}
    ours = partial(bootstrap_interval, aurc_score, samples, other=other, **options)
    metric, arrays = aurc_score, samples
    if isinstance(samples, dict):
        metric, arrays = _area_of_losses, (samples["uncertainty"], samples["loss"])
    elif other is not None:
        metric, arrays = _difference, (*samples, *other)
    scipys = partial(
        bootstrap,
        arrays,
        metric,
        n_resamples=_N_RESAMPLES_OF_SCIPY,
        method="percentile",
        vectorized=False,
        paired=True,
    )
    times = interleaved_medians({"ours": ours, "scipy": scipys}, repeats=5)
    scipy_time = times["scipy"] * _N_RESAMPLES / _N_RESAMPLES_OF_SCIPY
    details = f"{show_time(times['ours'])} against {show_time(scipy_time)}"
    return at_most(what, _LONGEST, times["ours"] / scipy_time, " x", details)


def _area_of_losses(scores, losses):
    return aurc_score(None, None, scores, loss=losses)


def _difference(*arrays):
    return aurc_score(*arrays[:3]) - aurc_score(*arrays[3:])


def _band_row():
    sample = make_sample("uniform", n_samples=_N_SAMPLES)
    options = {"n_resamples": _N_RESAMPLES, "random_state": 0}
    coverage = np.arange(1, _N_SAMPLES + 1) / _N_SAMPLES
    given = sample.scores, sample.errors, None
    display = RiskCoverageDisplay([coverage], [coverage])
    band = partial(display._add_band, given, 0.95, **options)
    labels = sample.y_true, sample.y_pred, sample.scores
    interval = partial(bootstrap_interval, aurc_score, labels, **options)
    what = "band of a display, against an interval of the area"
    return ratio_row(what, _LONGEST_BAND, band, interval, repeats=5)


def _coverage_rows():
    """Scores uniform on [0, 1], errors of chance 3 r s^2: the area is r / 3."""
    for risk in _RISKS:
        for n_samples in _N_REPETITIONS:
            what = f"nominal 90%, n = {n_samples}, risk {risk:.2f}"
            draw = partial(_draw, n_samples=n_samples, risk=risk)
            yield _coverage_row(what, draw, risk / 3, n_samples)
    for risk in _RISKS:
        for n_samples in _N_REPETITIONS:
            what = f"difference, n = {n_samples}, risk {risk:.2f}"
            draw = partial(_draw_pair, n_samples=n_samples, risk=risk)
            yield _coverage_row(what, draw, -risk / 3, n_samples)


def _draw(rng, n_samples, risk):
    scores = rng.random(n_samples)
    losses = (rng.random(n_samples) < 3 * risk * scores**2).astype(float)
    return {"samples": _of_losses(scores, losses)}


def _draw_pair(rng, n_samples, risk):
    """The other score is the same with chance 1/2, or knows nothing."""
    given = _draw(rng, n_samples, risk)
    scores = given["samples"]["uncertainty"]
    other = np.where(rng.random(n_samples) < 0.5, scores, rng.random(n_samples))
    return given | {"other": given["samples"] | {"uncertainty": other}}


def _coverage_row(what, draw, truth, n_samples):
    rng = np.random.default_rng(n_samples)
    n_repetitions = _N_REPETITIONS[n_samples]
    options = {"confidence_level": _LEVEL, "n_resamples": 500}
    hits, widths = [], []
    with warnings.catch_warnings():
        # Of a single confident error: such intervals count all the same.
        warnings.simplefilter("ignore", RejectionWarning)
        for seed in range(n_repetitions):
            _, low, high, _ = bootstrap_interval(
                aurc_score, random_state=seed, **draw(rng), **options
            )
            hits.append(low <= truth <= high)
            widths.append(high - low)
    share = np.mean(hits)
    error = np.sqrt(share * (1 - share) / n_repetitions)
    least, most = _ASKED
    verdict = "ok" if least <= share <= most else "miss"
    details = f"± {error:.3f}, mean width {np.mean(widths):.3g}"
    return Row(what, f"{least} - {most}", f"{share:.3f}", verdict, details)
