"""Two scores tuned together, against a sort for each direction."""

from functools import partial

import numpy as np

from benchmarks._report import at_least, at_most, show_time
from benchmarks._timing import interleaved_medians, peak_bytes, seconds
from sklearn_reject._curves._directions import score_directions
from sklearn_reject.selection import InfeasibleTargetError, tune_double_score

TITLE = "tune_double_score, 20 % OOD, in multiples of a sort for each direction"

_N_DIRECTIONS = 181

# The reference takes the same time for each direction: at a million samples some are
# enough to tell it.
_N_TIMED = {10**5: 61, 10**6: 13}

_MODELS = {
    "TPR-FPR": {"min_tpr": 0.7, "max_fpr": 0.2},
    "precision-recall": {"min_tpr": 0.7, "min_precision": 0.9, "ood_prior": 0.25},
    "costs": {"costs": (0.3, 0.5, 0.1), "ood_prior": 0.25},
}


def run():
    """Return the rows of the table."""
    yield _agreement_row()
    for n_samples in _N_TIMED:
        yield from _rows(n_samples)
    yield from _exact_rows()
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
    risk, novelty, losses, is_ood, min_tpr, max_fpr, n_timed=_N_DIRECTIONS
):
    """Return the least risk over the grid, or over evenly drawn directions of it."""
    least_id = np.ceil(min_tpr * (~is_ood).sum() - 1e-9)
    most_ood = np.floor(max_fpr * is_ood.sum() + 1e-9)
    best = np.inf
    for of_risk, of_novelty in score_directions(risk, novelty)[
        :: _N_DIRECTIONS // n_timed
    ]:
        order = np.argsort(of_risk * risk + of_novelty * novelty)
        of_ood = np.cumsum(is_ood[order])
        of_id = np.arange(1, len(order) + 1) - of_ood
        loss = np.cumsum(losses[order])
        feasible = (of_id >= least_id) & (of_ood <= most_ood)
        risks = loss[feasible] / of_id[feasible]
        best = min(best, risks.min(initial=np.inf))
    return best


def _tune(sample, model):
    return tune_double_score(*sample, randomize=False, **_MODELS[model])


def _agreement_row():
    sample = make_sample(10**5)
    rule = _tune(sample, "TPR-FPR")
    reference = sort_each_direction(*sample, **_MODELS["TPR-FPR"])
    excess = rule.selective_risk / reference - 1
    return at_most("100,000 samples: risk above the reference", 1e-12, excess)


def _rows(n_samples):
    sample = make_sample(n_samples)
    n_timed = _N_TIMED[n_samples]
    contenders = {name: partial(_tune, sample, name) for name in _MODELS}
    contenders["reference"] = partial(
        sort_each_direction, *sample, **_MODELS["TPR-FPR"], n_timed=n_timed
    )
    times = interleaved_medians(contenders, repeats=3)
    n_timed = len(range(0, _N_DIRECTIONS, _N_DIRECTIONS // n_timed))
    reference = times["reference"] * _N_DIRECTIONS / n_timed
    for name in _MODELS:
        details = f"{show_time(times[name])} against {show_time(reference)}"
        what = f"{n_samples:,} samples, {name}: faster"
        yield at_least(what, 2.5, reference / times[name], " x", details)
    arrays = max(peak_bytes(contenders[name]) for name in _MODELS) / (8 * n_samples)
    yield at_most(f"{n_samples:,} samples, peak memory", 10, arrays, " arrays")


def _exact_rows():
    """Time what is exact: few samples, and the error of bounds that cannot be met."""
    few = make_sample(1000)
    for name in _MODELS:
        time = seconds(partial(_tune, few, name))
        yield at_most(f"1,000 samples, exact, {name}", 0.5, time, " s")
    many = make_sample(10**5)
    time = seconds(partial(_fail, many))
    yield at_most("100,000 samples, what is attainable", 10, time, " s")


def _fail(sample):
    try:
        tune_double_score(*sample, min_tpr=0.95, max_fpr=0.05)
    except InfeasibleTargetError as error:
        return error.attainable
    raise AssertionError("These bounds cannot be met.")


def make_confident_sample(n_samples, seed=0):
    """Return a sample of a classifier that is sure of most of its predictions."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n_samples) < 0.3
    unsure = rng.random(n_samples) < np.where(is_ood, 0.8, 0.045)
    risk = np.where(unsure, np.where(is_ood, 0.3, 0.6), 1e-4) * rng.random(n_samples)
    losses = (rng.random(n_samples) < risk) & ~is_ood
    return risk, rng.normal(size=n_samples) + 1.5 * is_ood, losses * 1.0, is_ood


def _confident_rows():
    for n_samples in (10_000, 100_000):
        sample = make_confident_sample(n_samples)
        tune = partial(tune_double_score, *sample, min_tpr=0.97, max_fpr=0.62)
        what = f"{n_samples:,} samples, confident: risk"
        time = show_time(seconds(tune))
        yield at_most(what, 0.0026, tune().selective_risk, details=time)
