"""What is minimized over rules for ID and OOD samples, and under which bounds."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._validation import check_number


@dataclass(frozen=True)
class Totals:
    """Weights of all ID samples and of those flagged as OOD, which may be a mixture.

    `wild_share` of the latter are OOD, and no ID sample has more than `largest_loss`.
    """

    of_id: float
    of_ood: float
    wild_share: float
    largest_loss: float

    def relative_prior(self, ood_prior):
        """Return how much more a unit of OOD than of ID weight counts in use.

        That is as in the sample where there is no prior.
        """
        if ood_prior is None:
            rest = (1 - self.wild_share) * self.of_ood
            return self.wild_share * self.of_id / (self.of_id + rest)
        return ood_prior / (1 - ood_prior) * self.of_id / self.of_ood


def total_weights(losses, is_ood, weight, wild_share):
    """Return the totals of validated samples."""
    is_id = ~is_ood & (weight > 0)
    return Totals(
        float(weight.sum(where=is_id)),
        float(weight.sum(where=is_ood)),
        check_wild_share(wild_share),
        # Where nothing is lost, it makes no difference what an OOD sample costs.
        float(losses.max(where=is_id, initial=0.0)) or 1.0,
    )


@dataclass(frozen=True)
class OODProblem:
    """Minimize a price over what a rule accepts, under bounds.

    A rule is valued by the weight of the ID samples that it accepts, that of the OOD
    samples and the loss of the former. The price never falls with the loss or with the
    OOD weight and never rises with the ID weight, and the bounds agree with that. So
    what is best in a box of such sums is best at its corner of most ID samples, fewest
    OOD samples and least loss: `price` and `is_feasible` there are bounds on the box.

    `offset` is paid in any case. With `is_mean` the price is divided by the accepted ID
    weight plus `ood_in_mean` times the OOD weight; an OOD weight then costs as many
    times the largest loss. OOD weight is at most `max_ood`, plus `ood_per_id` for each
    unit of ID weight, and the loss at most `max_loss`, plus `loss_per_id` for each.

    Such a mean, of loss l, ID weight i, OOD weight o, each times its share c, and the
    largest loss m, is (l + m c o) / (i + c o) = m - (m i - l) / (i + c o). It falls
    with i, as m (i + c o) >= m i - l, and rises with l; it rises with o where l <= m i,
    as it is for any rule and so for the most ID weight and the least loss of a box.
    """

    loss_price: float = 0.0
    id_price: float = 0.0
    ood_price: float = 0.0
    offset: float = 0.0
    is_mean: bool = False
    ood_in_mean: float = 0.0
    id_in_ood: float = 0.0
    min_id: float = 0.0
    max_ood: float = np.inf
    ood_per_id: float = 0.0
    max_loss: float = np.inf
    loss_per_id: float = 0.0

    def of_mixture(self, totals):
        """Return the problem where a wild mixture stands for the OOD samples.

        Of its weight, a share is OOD and the rest ID. What is accepted of the OOD
        weight, were it all of the mixture, is then estimated by a linear function of
        what is accepted of both samples, so that the problem is one of the same kind.
        """
        share = totals.wild_share
        if share == 1:
            return self
        of_id = (1 - share) * totals.of_ood / totals.of_id
        found = replace(
            self,
            ood_price=self.ood_price / share,
            max_ood=share * self.max_ood,
            ood_per_id=share * self.ood_per_id + of_id,
        )
        if self.ood_in_mean:
            # Not below zero, as no risk is that of accepting less than nothing.
            in_mean = self.ood_in_mean / share
            return replace(found, ood_in_mean=in_mean, id_in_ood=of_id)
        if self.is_mean:
            return found  # for each unit of ID weight the same is taken off
        # The offset is what can be taken off at most: the price stays positive.
        return replace(
            found,
            id_price=self.id_price - found.ood_price * of_id,
            offset=self.offset + found.ood_price * of_id * totals.of_id,
        )

    def price(self, id_weight, ood_weight, loss):
        """Return what is minimized; infinite or NaN where it is a mean of nothing."""
        if self.id_in_ood:
            rest = ood_weight - self.id_in_ood * id_weight
            ood_weight = np.where(rest > RELATIVE_TOLERANCE * ood_weight, rest, 0.0)
        price = self.loss_price * loss + self.ood_price * ood_weight
        price = price + (self.id_price * id_weight + self.offset)
        if self.is_mean:
            with np.errstate(divide="ignore", invalid="ignore"):
                price = price / (id_weight + self.ood_in_mean * ood_weight)
        return price

    def is_feasible(self, id_weight, ood_weight, loss):
        """Tell where all bounds hold, but for rounding."""
        kept = id_weight >= self.min_id * (1 - RELATIVE_TOLERANCE)
        for value, most, per_id in self._upper_bounds(ood_weight, loss):
            kept &= value <= (most + per_id * id_weight) * (1 + RELATIVE_TOLERANCE)
        return kept

    def rooms(self, id_weight, ood_weight, loss):
        """Yield by how much each bound is kept, negative where it is broken.

        One more is where the price has a kink: no OOD weight is left of a mixture.
        """
        if self.id_in_ood:
            yield ood_weight - self.id_in_ood * id_weight
        yield id_weight - self.min_id
        for value, most, per_id in self._upper_bounds(ood_weight, loss):
            yield most + per_id * id_weight - value

    def changes_of_rooms(self, id_weight, ood_weight, loss):
        """Yield how these sums, added to others, change each of the `rooms`."""
        if self.id_in_ood:
            yield ood_weight - self.id_in_ood * id_weight
        yield id_weight
        for value, _, per_id in self._upper_bounds(ood_weight, loss):
            yield per_id * id_weight - value

    def _upper_bounds(self, ood_weight, loss):
        """Yield what is bounded, the most of it, and how that grows with ID weight."""
        if self.max_ood < np.inf:
            yield ood_weight, self.max_ood, self.ood_per_id
        if self.max_loss < np.inf:
            yield loss, self.max_loss, self.loss_per_id

    def slack(self, price):
        """Return by how much equal prices may differ through rounding."""
        return RELATIVE_TOLERANCE * (abs(price) + self.offset)


def check_wild_share(wild_share):
    """Return the share of OOD samples among those flagged, 1 for None."""
    if wild_share is None:
        return 1.0
    return check_number(wild_share, "wild_share", high=1.0, open_low=True)
