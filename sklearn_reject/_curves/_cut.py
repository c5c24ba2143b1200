"""One threshold on a sample: the best cut of its prefix sums.

Whatever a rule of one threshold is to do is the same small problem. It accepts the
first groups of tied samples and a share of the next one, and of what it accepts, some
columns add up. Among the cuts at which no linear form of these sums is negative, it is
the one that accepts most, or least, or has the least price: another linear form, or
its ratio to one of the columns. Between the ends of a group everything is linear, so
the best share of it is none, all, or one at which a form is zero.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE, Prefixes


@dataclass(frozen=True, eq=False)
class Form:
    """A linear form of prefix sums, by column.

    `of` are the prefixes of the samples that it is about, None for all of them.
    """

    coefficients: dict
    constant: float = 0.0
    of: Prefixes | None = None

    def evaluate(self, prefixes, groups):
        """Return the form before each of some groups and after the last one.

        With it come the size of its terms, to tell what rounding explains.
        """
        of, places = prefixes, slice(groups.start, groups.stop + 1)
        if self.of is not None:
            of, scores = self.of, prefixes.scores[groups]
            first = np.searchsorted(of.scores, scores[:1])
            places = np.append(first, np.searchsorted(of.scores, scores, side="right"))
        values, sizes = self.constant, abs(self.constant)
        for name, coefficient in self.coefficients.items():
            term = coefficient * of.sums(name)[places]
            values = values + term
            sizes = np.maximum(sizes, np.abs(term, out=term))
        return values, sizes

    def changes(self, prefixes, groups):
        """Return by how much some groups, which have samples of it, change the form."""
        of = prefixes if self.of is None else self.of
        if self.of is not None:
            groups = np.searchsorted(of.scores, prefixes.scores[groups])
        return sum(
            c * of.columns[name][groups] for name, c in self.coefficients.items()
        )


@dataclass(frozen=True, eq=False)
class Model:
    """What a cut is to minimize, and the forms that it must not make negative.

    Without a `price` it accepts as much as it may or, with `most` False, as little.
    The same is preferred among equal prices.
    """

    forms: tuple = ()
    price: Form | None = None
    most: bool = True


class Cut(NamedTuple):
    """How many groups are accepted as a whole, and which share of the next one."""

    n_groups: int
    share: float = 0.0


def best_cut(prefixes, model, randomize=True):
    """Return the best cut of a model, None where none keeps all forms."""
    if model.price is not None:
        return _cheapest_end(prefixes, model)
    accepts_nothing = all(form.constant >= 0 for form in model.forms)
    if accepts_nothing and not model.most:
        return Cut(0)
    batches = prefixes.batches()
    for groups in batches[::-1] if model.most else batches:
        low, high = allowed_shares(prefixes, model.forms, groups, randomize)
        some = np.flatnonzero((low <= high * (1 + RELATIVE_TOLERANCE)) & (high > 0))
        if some.size:
            last = some[-1] if model.most else some[0]
            share = float(high[last] if model.most else low[last])
            n_groups = groups.start + int(last)
            return Cut(n_groups, share) if share < 1 else Cut(n_groups + 1)
    return Cut(0) if accepts_nothing else None


def allowed_shares(prefixes, forms, groups, randomize):
    """Return the least and the largest share of each group that keeps all forms.

    Where there is none, the former is larger. Without `randomize` the share is one.
    """
    n_groups = groups.stop - groups.start
    low, high = np.full(n_groups, float(not randomize)), np.ones(n_groups)
    for form in forms:
        values, slack = form.evaluate(prefixes, groups)
        slack *= RELATIVE_TOLERANCE
        is_out = values < -slack
        before, after = is_out[:-1], is_out[1:]
        falls = np.flatnonzero(after > before)
        most = high[falls]
        high[after] = -1.0
        if not randomize:
            continue
        shares = -values[falls] / form.changes(prefixes, groups.start + falls)
        # What rounding explains is none of a group, or all of it.
        shares[values[falls] <= slack[falls]] = 0.0
        high[falls] = np.minimum(most, shares)
        rises = np.flatnonzero(before > after)
        if rises.size:
            shares = -values[rises] / form.changes(prefixes, groups.start + rises)
            shares[values[rises + 1] <= slack[rises + 1]] = 1.0
            low[rises] = np.maximum(low[rises], shares)
    return low, high


def _cheapest_end(prefixes, model):
    """Return the end of a group at which the price is least."""
    found, lowest = [], np.inf
    for groups in prefixes.batches():
        prices, sizes = model.price.evaluate(prefixes, groups)
        lowest = min(lowest, float(prices.min()))
        prices -= RELATIVE_TOLERANCE * sizes  # as low as rounding allows
        near = np.flatnonzero(prices <= lowest)
        found.append((groups.start + near, prices[near]))
    places, prices = map(np.concatenate, zip(*found, strict=True))
    return Cut(int(places[prices <= lowest][-1 if model.most else 0]))


def within_risk(risk):
    """Return the model of the largest coverage whose risk is at most a bound."""
    return Model((Form({"weight": risk, "loss": -1.0}),))


def reaching_coverage(coverage, total):
    """Return the model of the least weight that is a share of the total."""
    return Model((Form({"weight": 1.0}, -coverage * total),), most=False)


def cheapest(cost):
    """Return the model of the least loss, and cost of what is rejected."""
    unit = max(1.0, cost)  # so that nothing overflows
    return Model(price=Form({"loss": 1 / unit, "weight": -cost / unit}))


def hull_slope(prefixes, n_groups):
    """Return the reject cost at which accepting some groups is optimal, 0 for none.

    That is the slope, at the last of them, of the lower convex hull of the prefixes:
    its value in the isotonic regression of the mean losses.
    """
    if n_groups == 0:
        return 0.0
    losses, weights = prefixes.columns["loss"], prefixes.columns["weight"]
    blocks = isotonic_regression(losses / weights, weights=weights).blocks
    block = blocks.searchsorted(n_groups)
    inside = slice(blocks[block - 1], blocks[block])
    return float(losses[inside].sum() / weights[inside].sum())
