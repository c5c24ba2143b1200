"""The best cut of sorted samples by brute force, for every model of one threshold.

Samples are accepted up to a score, with a part of the tie group that comes next. Those
of score minus infinity are accepted by every cut, those of infinity by none. A model is
data: a price and forms, both linear in sums of columns over what is accepted.
The best cut has the least price among those where no form is negative. All cuts are
tried, and all shares of tie groups at which a form is zero, in exact arithmetic.
"""

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Model:
    """What is minimized, and what must not be negative, by column.

    `price` and `ties`, which decide between equal prices, are coefficients; the price
    is divided by the form `per`. `forms` are coefficients and a constant.
    """

    price: tuple
    forms: tuple = ()
    per: tuple | None = None
    ties: tuple = ()


def dot(coefficients, sums):
    return sum(Fraction(c) * s for c, s in zip(coefficients, sums, strict=True))


def exact_columns(*columns):
    """Return columns of fractions: products of arrays of floats, one a column."""
    return [
        [_product(numbers) for numbers in zip(*factors, strict=True)]
        for factors in columns
    ]


def _product(numbers):
    product = Fraction(1)
    for number in numbers:
        product *= Fraction(float(number))
    return product


def tie_groups(scores, columns):
    """Return the sums of what is always accepted, and of each tie group by score."""
    groups = {}
    for score, *row in zip(scores, *columns, strict=True):
        if any(row):
            sums = groups.setdefault(score, [Fraction(0)] * len(row))
            groups[score] = [a + b for a, b in zip(sums, row, strict=True)]
    always = groups.pop(-math.inf, [Fraction(0)] * len(columns))
    groups.pop(math.inf, None)
    return always, [groups[score] for score in sorted(groups)]


def all_cuts(before, groups, forms, randomize):
    """Yield the sums over what each cut accepts, from what is always accepted on."""
    yield before
    for group in groups:
        shares = {Fraction(1)}
        for coefficients, constant in forms if randomize else ():
            start, slope = (
                dot(coefficients, before) + constant,
                dot(coefficients, group),
            )
            if slope and 0 < -start / slope < 1:
                shares.add(-start / slope)
        for share in shares:
            yield [b + share * g for b, g in zip(before, group, strict=True)]
        before = [b + g for b, g in zip(before, group, strict=True)]


def value_of(model, sums):
    """Return price and ties of sums, None for a ratio to nothing."""
    divisor = 1 if model.per is None else dot(model.per, sums)
    if not divisor:
        return None
    price = dot(model.price, sums) / divisor
    return [price, *(dot(tie, sums) for tie in model.ties)]


def best_cut(scores, columns, model, randomize=True):
    """Return price and ties of the best cut, None where no cut keeps all forms."""
    found = []
    for sums in all_cuts(*tie_groups(scores, columns), model.forms, randomize):
        if all(dot(form, sums) + constant >= 0 for form, constant in model.forms):
            value = value_of(model, sums)
            if value is not None:
                found.append(value)
    return min(found, default=None)
