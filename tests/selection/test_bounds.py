from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, comb, e, exp, log, prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection._bounds import BOUNDS

binomial_p_values, hoeffding_bentkus_p_values = (
    BOUNDS[name].of_sums for name in ("binomial", "hoeffding_bentkus")
)
betting_p_value = BOUNDS["betting"].of_losses

RISKS = [Fraction(1, 20), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)]


def exact_tail(errors, count, risk):
    """Sum the binomial law up to a number of errors, as a fraction."""
    return sum(
        comb(count, k) * risk**k * (1 - risk) ** (count - k) for k in range(errors + 1)
    )


def one(p_values, count, total, risk):
    return float(p_values(np.array([count]), np.array([float(total)]), float(risk))[0])


@pytest.mark.parametrize("risk", RISKS)
def test_binomial_is_the_exact_tail(risk):
    cells = [(m, k) for m in (0, 1, 2, 7, 40, 90) for k in range(m + 1)]
    counts, errors = np.array(cells).T
    exact = [float(exact_tail(k, m, risk)) for m, k in cells]
    got = binomial_p_values(counts, errors.astype(float), float(risk))
    np.testing.assert_allclose(got, exact, rtol=1e-11)


def hoeffding_bentkus_by_hand(count, total, risk):
    mean = total / count
    if mean >= risk:
        return 1.0
    kl = (1 - mean) * log((1 - mean) / (1 - risk))
    kl += mean * log(mean / risk) if mean else 0.0
    tail = float(exact_tail(ceil(total), count, Fraction(risk)))
    return min(exp(-count * kl), e * tail)


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0.01, 0.99))
def test_hoeffding_bentkus_by_hand(count, mean, risk):
    total = count * mean
    expected = hoeffding_bentkus_by_hand(count, total, risk)
    got = one(hoeffding_bentkus_p_values, count, total, risk)
    np.testing.assert_allclose(got, expected, rtol=1e-9)


def betting_by_hand(losses, risk, level):
    """Play the game sample by sample."""
    capital = best = 1.0
    seen, squares = [], 0.0
    for loss in losses:
        variance = (risk * (1 - risk) + squares) / (len(seen) + 1)
        stake = sqrt(2 * log(1 / level) / (len(losses) * variance))
        capital *= 1 + min(stake, 0.75 / (1 - risk)) * (risk - loss)
        best = max(best, capital)
        seen.append(loss)
        squares += (loss - (risk + sum(seen)) / (len(seen) + 1)) ** 2
    return 1 / best


@given(
    st.lists(st.floats(0, 1), max_size=40), st.floats(0.01, 0.99), st.floats(0.01, 0.99)
)
def test_betting_by_hand(losses, risk, level):
    got = betting_p_value(np.array(losses), risk, level)
    np.testing.assert_allclose(got, betting_by_hand(losses, risk, level), rtol=1e-9)


def law_of(p_value, values, chances, size):
    """Return the p-value of each sample of independent losses, and its probability."""
    for rows in product(range(len(values)), repeat=size):
        losses = np.array([values[row] for row in rows])
        yield p_value(losses), prod(chances[row] for row in rows)


def is_super_uniform(law):
    """Tell if no level is undercut with more than its probability."""
    law = sorted(law)
    return all(
        sum(chance for q, chance in law if q <= p) <= p + 1e-9
        for p in {p for p, _ in law}
    )


LAWS = [
    # Losses, and their chances: the mean is the risk, where it is hardest.
    ([0.0, 1.0], [0.7, 0.3], 0.3),
    ([0.0, 1.0], [0.95, 0.05], 0.05),
    ([0.0, 0.5, 1.0], [0.5, 0.4, 0.1], 0.3),
    ([0.1, 0.2, 0.9], [0.25, 0.5, 0.25], 0.35),
    ([0.29, 0.31], [0.5, 0.5], 0.3),
]


def p_value_of(name, losses, risk):
    counts = np.array([len(losses)])
    p_values = BOUNDS[name].test(losses, np.random.RandomState(0))
    return float(p_values(counts, risk, 0.1)[0])


P_VALUES = {name: partial(p_value_of, name) for name in BOUNDS}


CASES = [
    (name, law)
    for name in P_VALUES
    for law in LAWS
    if not BOUNDS[name].is_binary or law[0] == [0.0, 1.0]
]


@pytest.mark.parametrize("size", [1, 3, 6])
@pytest.mark.parametrize(("name", "law"), CASES)
def test_super_uniform_by_enumeration(name, law, size):
    values, chances, risk = law
    p_value = lambda losses: P_VALUES[name](losses, risk)  # noqa: E731
    assert is_super_uniform(law_of(p_value, values, chances, size))


@pytest.mark.parametrize("name", [name for name in BOUNDS if BOUNDS[name].upper])
@pytest.mark.parametrize(("count", "errors"), [(1, 0), (20, 0), (20, 3), (500, 400)])
def test_the_upper_bound_is_where_the_test_ends(name, count, errors):
    losses = np.repeat([0.0, 1.0], [count - errors, errors])
    upper = BOUNDS[name].upper(losses, 0.1)
    assert errors / count < upper < 1
    assert P_VALUES[name](losses, upper * (1 + 1e-6)) <= 0.1
    assert P_VALUES[name](losses, upper * (1 - 1e-6)) > 0.1


@pytest.mark.parametrize("losses", [[], [1.0], [1.0, 1.0, 1.0]])
def test_without_samples_or_success_the_upper_bound_is_one(losses):
    for bound in BOUNDS.values():
        assert bound.upper is None or bound.upper(np.array(losses), 0.1) == 1.0


def test_without_samples_nothing_is_certain():
    assert one(binomial_p_values, 0, 0, 0.1) == 1
    assert one(hoeffding_bentkus_p_values, 0, 0, 0.1) == 1
    assert betting_p_value(np.array([]), 0.1, 0.1) == 1


@pytest.mark.parametrize("risk", [0.001, 0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("level", [0.25, 0.1, 1e-6])
def test_fewest_samples_that_can_pass(risk, level):
    for name in ("binomial", "hoeffding_bentkus"):
        fewest = BOUNDS[name].fewest(risk, level)
        p_values = [P_VALUES[name](np.zeros(m), risk) for m in (fewest, fewest - 1)]
        assert p_values[0] <= level * (1 + 1e-9)
        assert fewest == 1 or p_values[1] > level
    fewest = BOUNDS["betting"].fewest(risk, level)
    assert betting_p_value(np.zeros(fewest - 1), risk, level) > level
    assert betting_p_value(np.zeros(8 * fewest), risk, level) <= level
