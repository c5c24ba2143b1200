from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import polygamma

from sklearn_reject.curves._area import digamma_increment


@pytest.mark.parametrize("low", [1, 2, 19, 20, 21, 400])
@pytest.mark.parametrize("step", [1, 2, 7, 300])
def test_integers_give_sums_of_reciprocals(low, step):
    exact = float(sum(Fraction(1, i) for i in range(low, low + step)))
    np.testing.assert_allclose(digamma_increment(low, step), exact, rtol=4e-16 * 8)


@pytest.mark.parametrize("low", [1.0, 1.3, 5.5, 19.99, 20.0, 33.3, 1e6])
@pytest.mark.parametrize("step", [1e-9, 1e-3, 0.4, 1.7, 50.0])
def test_reals_give_the_integral_of_trigamma(low, step):
    mean, _ = quad(lambda t: polygamma(1, low + t * step), 0, 1, epsabs=0, epsrel=1e-12)
    np.testing.assert_allclose(digamma_increment(low, step), mean * step, rtol=1e-11)


def test_tiny_steps_keep_their_digits():
    # digamma itself cannot tell these arguments apart.
    np.testing.assert_allclose(
        digamma_increment(1.0, 1e-17), np.pi**2 / 6 * 1e-17, rtol=1e-14
    )


def test_broadcasts():
    assert digamma_increment(np.arange(1.0, 40.0), 1.0).shape == (39,)
