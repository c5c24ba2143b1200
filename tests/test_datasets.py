"""The synthetic example of FPP23, against its densities."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest, norm

from sklearn_reject.datasets import make_fpp23_mixture

MEANS, WEIGHTS = np.array([-1, 1, 3]), np.array([0.3, 0.3, 0.4])


def draw(n=20_000, seed=0, **options):
    return make_fpp23_mixture(n, return_X_y=False, random_state=seed, **options)


def test_shapes_and_kinds():
    X, y = make_fpp23_mixture(random_state=0)
    assert X.shape == (1000, 1)
    assert y.shape == (1000,)
    assert set(y) == {-1, 1, 2, 3}
    sample = make_fpp23_mixture(1000, return_X_y=False, random_state=0)
    np.testing.assert_array_equal(sample.data, X)
    np.testing.assert_array_equal(sample.target, y)
    for name in ("prediction", "risk", "likelihood_ratio"):
        assert sample[name].shape == (1000,)
    _, y = make_fpp23_mixture(200, ood_label=0, random_state=0)
    assert set(y) == {0, 1, 2, 3}
    stream = np.random.RandomState(0)
    np.testing.assert_array_equal(make_fpp23_mixture(random_state=stream)[0], X)
    assert (make_fpp23_mixture(random_state=1)[0] != X).all()


@pytest.mark.parametrize("options", [{}, {"ood_mean": 3, "ood_variance": 2.5}])
def test_distributions(options):
    sample = draw(**options)
    x, y = sample.data.ravel(), sample.target
    mean, variance = options.get("ood_mean", 2), options.get("ood_variance", 0.2)
    assert kstest(x[y == -1], norm(mean, np.sqrt(variance)).cdf).pvalue > 1e-3
    for label, center in zip((1, 2, 3), MEANS, strict=True):
        assert kstest(x[y == label], norm(center).cdf).pvalue > 1e-3


@pytest.mark.parametrize("ood_prior", [0.0, 0.25, 0.6, 1.0])
def test_shares(ood_prior):
    n = 20_000
    counts = np.array(
        [(draw(n, ood_prior=ood_prior).target == k).sum() for k in (-1, 1, 2, 3)]
    )
    shares = np.append(ood_prior, (1 - ood_prior) * WEIGHTS)
    some = shares > 0
    assert not counts[~some].any()
    deviation = (counts[some] - n * shares[some]) ** 2 / (n * shares[some])
    assert deviation.sum() < chi2(3).ppf(0.999)


def test_ood_samples_are_drawn_one_by_one():
    is_ood = np.array([draw(100, seed).target == -1 for seed in range(400)])
    counts = is_ood.sum(axis=1)
    # The variance of a binomial count, and not that of a fixed one.
    assert np.mean(counts) == pytest.approx(25, abs=3 * np.sqrt(18.75 / 400))
    assert np.var(counts) == pytest.approx(18.75, rel=0.25)
    # In random order: of each place, a quarter.
    assert abs(is_ood.mean(axis=0) - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 400)


def test_truth_against_densities():
    sample = draw(2000)
    x = sample.data
    joint = WEIGHTS * norm.pdf(x, MEANS)
    density = joint.sum(axis=1)
    np.testing.assert_array_equal(sample.prediction, joint.argmax(axis=1) + 1)
    np.testing.assert_allclose(sample.risk, 1 - joint.max(axis=1) / density, atol=1e-14)
    ratio = norm.pdf(x.ravel(), 2, np.sqrt(0.2)) / density
    np.testing.assert_allclose(sample.likelihood_ratio, ratio, rtol=1e-10)


def test_tails_keep_their_precision():
    # Half of the OOD samples are so far out that all densities of ID underflow.
    sample = draw(500, ood_mean=-60.0, ood_variance=4.0, ood_prior=0.5)
    x = sample.data.ravel()
    far = x < -45
    assert far.any()
    assert (sample.prediction[far] == 1).all()
    assert (sample.risk[far] > 0).all()
    # The odds of class 2 against class 1 are exp(2 x).
    np.testing.assert_allclose(sample.risk[far], np.exp(2 * x[far]), rtol=1e-12)
    assert (sample.likelihood_ratio[far] > 1e100).all()
    narrow = draw(500, ood_variance=0.01)
    assert narrow.likelihood_ratio.min() == 0
    assert np.isfinite(narrow.likelihood_ratio).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples must be a positive int"),
        ({"ood_prior": 1.2}, "ood_prior must be in"),
        ({"ood_mean": np.inf}, "ood_mean must be a finite number"),
        ({"ood_variance": 0}, "ood_variance must be in"),
        ({"ood_label": 2}, r"ood_label must be an int other than .*\[1, 2, 3\], got 2"),
        ({"ood_label": "ood"}, "ood_label must be an int"),
        ({"return_X_y": "no"}, "return_X_y must be one of"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        make_fpp23_mixture(**options)
