"""Bootstrap intervals hold the area of the population as often as they say.

The score s is uniform on [0, 1] and an error has probability 3 r s^2, so that accepting
up to t has selective risk r t^2. The area of a sample is larger than that of the
population by less than r / n, on average.
"""

import numpy as np
import pytest

from sklearn_reject.metrics import (
    augrc_score,
    aurc_score,
    bootstrap_interval,
    selective_risk_at_coverage_score,
)

N_REPETITIONS = {200: 1000, 1000: 500, 5000: 200}
SIZES = list(N_REPETITIONS)
LEVEL = 0.9

# Of samples with a single confident error, whose intervals count all the same.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)
N_CELLS = 10


def draw(rng, n_samples, risk):
    scores = rng.random(n_samples)
    return scores, (rng.random(n_samples) < 3 * risk * scores**2).astype(float)


def covered(metric, make, truth, n_samples, n_repetitions=None, **options):
    """Return the share of intervals that hold the truth, and its standard error."""
    rng = np.random.default_rng(n_samples)
    n_repetitions = n_repetitions or N_REPETITIONS[n_samples]
    hits = []
    for repetition in range(n_repetitions):
        _, low, high, _ = bootstrap_interval(
            metric,
            n_resamples=500,
            confidence_level=LEVEL,
            random_state=repetition,
            **make(rng),
            **options,
        )
        hits.append(low <= truth <= high)
    share = np.mean(hits)
    return share, np.sqrt(share * (1 - share) / n_repetitions)


def assert_held(metric, make, truth, n_samples, **options):
    share, error = covered(metric, make, truth, n_samples, **options)
    # Between .85 and .95; the number of repetitions leaves some doubt.
    assert 0.85 - 2 * error < share < 0.95 + 2 * error, share


def of_losses(scores, losses):
    samples = {"y_true": None, "y_pred": None, "uncertainty": scores, "loss": losses}
    return {"samples": samples}


@pytest.mark.parametrize("n_samples", SIZES)
@pytest.mark.parametrize("risk", [1 / 3, 0.1])
def test_area(risk, n_samples):
    def make(rng):
        return of_losses(*draw(rng, n_samples, risk))

    assert_held(aurc_score, make, risk / 3, n_samples)


@pytest.mark.parametrize("n_samples", SIZES)
def test_area_under_the_generalized_risk(n_samples):
    def make(rng):
        return of_losses(*draw(rng, n_samples, 0.1))

    assert_held(augrc_score, make, 0.1 / 4, n_samples)


@pytest.mark.parametrize("n_samples", SIZES)
def test_area_of_tied_scores(n_samples):
    risk, ends = 0.2, np.arange(N_CELLS + 1) / N_CELLS
    mean = np.diff(risk * ends**3) * N_CELLS  # loss within a cell
    before = risk * ends[:-1] ** 3
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (before - mean * ends[:-1]) * np.log(ends[1:] / ends[:-1])
    parts[0] = 0
    truth = (parts + mean / N_CELLS).sum()

    def make(rng):
        scores, losses = draw(rng, n_samples, risk)
        return of_losses(np.floor(scores * N_CELLS), losses)

    assert_held(aurc_score, make, truth, n_samples)


def pairs(n_samples, risk):
    """Return what makes two scores, and the difference of their areas.

    The other score is s with chance 1/2, or knows nothing: risk r (t^2 + 1) / 2.
    """

    def make(rng):
        scores, losses = draw(rng, n_samples, risk)
        other = np.where(rng.random(n_samples) < 0.5, scores, rng.random(n_samples))
        given = of_losses(scores, losses)
        return given | {"other": given["samples"] | {"uncertainty": other}}

    return make, risk / 3 - 2 * risk / 3


@pytest.mark.parametrize("n_samples", SIZES)
@pytest.mark.parametrize("risk", [1 / 3, 0.1])
def test_paired_difference_of_two_scores(n_samples, risk):
    assert_held(aurc_score, *pairs(n_samples, risk), n_samples)


def test_metric_that_is_called():
    def make(rng):
        return of_losses(*draw(rng, 200, 0.2)) | {"metric_params": {"coverage": 0.8}}

    truth = 0.2 * 0.8**2
    assert_held(selective_risk_at_coverage_score, make, truth, 200, n_repetitions=400)


def test_groups_of_rows():
    # Ten rows each of 100 patients, who are alike among themselves.
    def make(rng):
        scores, losses = draw(rng, 100, 1 / 3)
        return of_losses(np.repeat(scores, 10), np.repeat(losses, 10))

    groups = np.repeat(np.arange(100), 10)
    truth = 1 / 9
    assert_held(aurc_score, make, truth, 1000, groups=groups)
    share, _ = covered(aurc_score, make, truth, 1000)
    assert share < 0.6
