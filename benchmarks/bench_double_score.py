"""Two scores tuned together, against a sort for each direction."""

from functools import partial

import numpy as np

from benchmarks._report import Row, at_least, at_most, show_time
from benchmarks._timing import interleaved_medians, peak_bytes, seconds
from sklearn_reject._curves import score_directions
from sklearn_reject.selection import tune_double_score

TITLE = "tune_double_score, 20 % OOD, in multiples of a sort for each direction"

_N_DIRECTIONS = 181  # the default

# The reference takes the same time for each direction: at a million samples some are
# enough to tell it.
_N_TIMED = {10**5: 61, 10**6: 13}

_MODELS = {
    "TPR-FPR": {"min_tpr": 0.7, "max_fpr": 0.2},
    "precision-recall": {"min_precision": 0.9, "min_recall": 0.7, "ood_prior": 0.25},
    "costs": {"costs": (0.3, 0.5, 0.1), "ood_prior": 0.25},
}


def run():
    """Return the rows of the table."""
    yield _agreement_row()
    for n_samples in _N_TIMED:
        yield from _grid_rows(n_samples)
    yield from _jobs_rows()
    yield from _exact_rows()
    yield from _auto_rows()
    yield from _confident_rows()


def make_sample(n_samples, seed=0):
    """Return risk, novelty, losses and which samples are OOD."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n_samples) < 0.2
    risk = rng.beta(1, 4, n_samples)
    losses = (rng.random(n_samples) < risk) & ~is_ood
    risk += 0.05 * rng.normal(size=n_samples)
    novelty = rng.normal(size=n_samples) + 1.5 * is_ood
    return risk, novelty, losses.astype(float), is_ood


def sort_each_direction(
    risk,
    novelty,
    losses,
    is_ood,
    min_tpr,
    max_fpr,
    n_directions=_N_DIRECTIONS,
    n_timed=None,
):
    """Return the least risk over the grid, or over evenly drawn directions of it."""
    least_id = np.ceil(min_tpr * (~is_ood).sum() - 1e-9)
    most_ood = np.floor(max_fpr * is_ood.sum() + 1e-9)
    directions = score_directions(risk, novelty, n_directions)
    best = np.inf
    for of_risk, of_novelty in directions[
        :: max(1, n_directions // (n_timed or n_directions))
    ]:
        order = np.argsort(of_risk * risk + of_novelty * novelty)
        of_ood = np.cumsum(is_ood[order])
        of_id = np.arange(1, len(order) + 1) - of_ood
        loss = np.cumsum(losses[order])
        feasible = (of_id >= least_id) & (of_ood <= most_ood)
        risks = loss[feasible] / of_id[feasible]
        best = min(best, risks.min(initial=np.inf))
    return best


def _grid(sample, model, **options):
    return tune_double_score(
        *sample, method="grid", randomize=False, **_MODELS[model], **options
    )


def _agreement_row():
    sample = make_sample(10**5)
    rule = _grid(sample, "TPR-FPR")
    expected = sort_each_direction(*sample, **_MODELS["TPR-FPR"])
    error = abs(rule.selective_risk / expected - 1)
    return at_most("100,000 samples: risk apart from the reference", 1e-12, error)


def _grid_rows(n_samples):
    sample = make_sample(n_samples)
    n_timed = _N_TIMED[n_samples]
    contenders = {name: partial(_grid, sample, name) for name in _MODELS}
    contenders["reference"] = partial(
        sort_each_direction, *sample, **_MODELS["TPR-FPR"], n_timed=n_timed
    )
    times = interleaved_medians(contenders, repeats=3)
    n_timed = len(range(0, _N_DIRECTIONS, _N_DIRECTIONS // n_timed))
    reference = times["reference"] * _N_DIRECTIONS / n_timed
    for name in _MODELS:
        details = f"{show_time(times[name])} against {show_time(reference)}"
        what = f"{n_samples:,} samples, {_N_DIRECTIONS} directions, {name}: faster"
        yield at_least(what, 5, reference / times[name], " x", details)
    arrays = max(peak_bytes(contenders[name]) for name in _MODELS) / (8 * n_samples)
    yield at_most(f"{n_samples:,} samples, peak memory", 10, arrays, " arrays")


def _exact(sample, model, **options):
    return tune_double_score(*sample, method="exact", **_MODELS[model], **options)


def _exact_rows():
    for n_samples, repeats in ((5000, 5), (20_000, 1)):
        sample = make_sample(n_samples)
        contenders = {name: partial(_exact, sample, name) for name in _MODELS}
        times = interleaved_medians(contenders, repeats=repeats)
        for name, time in times.items():
            what = f"{n_samples:,} samples, exact, {name}"
            if n_samples == 5000:
                yield at_most(what, 1.5, time, " s")
            else:
                yield Row(what, "", show_time(time))
    yield from _gain_rows(make_sample(5000))


def _gain_rows(sample):
    """Compare risks: the exact one is the least there is."""
    model = _MODELS["TPR-FPR"]
    exact = tune_double_score(*sample, method="exact", **model).selective_risk
    for n_directions, asked in ((19, None), (_N_DIRECTIONS, None), (3600, 0)):
        rule = tune_double_score(
            *sample, method="grid", n_directions=n_directions, **model
        )
        excess = 100 * (rule.selective_risk / exact - 1)
        what = f"5,000 samples: risk of {n_directions} directions above the exact one"
        if asked is None:
            yield Row(what, "", f"{excess:.3g} %")
        else:
            yield at_least(what, asked, excess, " %")


def _jobs_rows():
    sample = make_sample(20_000)
    times = interleaved_medians(
        {n_jobs: partial(_exact, sample, "costs", n_jobs=n_jobs) for n_jobs in (1, 2)},
        repeats=2,
    )
    details = f"{show_time(times[2])} against {show_time(times[1])}"
    gain = times[1] / times[2]
    yield at_least(
        "20,000 samples, exact, costs: two jobs faster", 1.6, gain, " x", details
    )


def _auto_rows():
    sample = make_sample(10**6)
    for name in _MODELS:
        grid = seconds(partial(_grid, sample, name))
        auto = seconds(partial(tune_double_score, *sample, **_MODELS[name]))
        what = f"1,000,000 samples, {name}: auto in multiples of the grid"
        yield at_most(what, 2, auto / grid, " x", show_time(auto))


def make_confident_sample(n_samples, seed=0):
    """Return a sample of a classifier that is sure of most of its predictions."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n_samples) < 0.3
    unsure = rng.random(n_samples) < np.where(is_ood, 0.8, 0.045)
    risk = np.where(unsure, np.where(is_ood, 0.3, 0.6), 1e-4) * rng.random(n_samples)
    losses = (rng.random(n_samples) < risk) & ~is_ood
    return risk, rng.normal(size=n_samples) + 1.5 * is_ood, losses * 1.0, is_ood


def _confident_rows():
    bounds = {"min_tpr": 0.97, "max_fpr": 0.62}
    for n_samples in (10_000, 100_000):
        sample = make_confident_sample(n_samples)
        exact, auto = (
            tune_double_score(*sample, method=method, **bounds).selective_risk
            for method in ("exact", "auto")
        )
        what = f"{n_samples:,} samples, confident: risk of auto above the exact one"
        time = seconds(partial(tune_double_score, *sample, **bounds))
        excess = 100 * (auto / exact - 1)
        yield at_most(what, 0.1, excess, " %", show_time(time))
