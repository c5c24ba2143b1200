"""What is minimized over rules for ID and OOD samples, and under which bounds."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._validation import check_number


@dataclass(frozen=True)
class OODProblem:
    """Minimize a price over what a rule accepts, under bounds.

    A rule is valued by the weight of the ID samples that it accepts, that of the OOD
    samples and the loss of the former. The price never falls with the loss or with the
    OOD weight and never rises with the ID weight, and the bounds agree with that. So
    what is best in a box of such sums is best at its corner of most ID samples, fewest
    OOD samples and least loss: `price` and `is_feasible` there are bounds on the box.

    `offset` is paid in any case; with `is_mean` the price is divided by the accepted ID
    weight. OOD weight is at most `max_ood`, plus `ood_per_id` for each unit of ID
    weight, and the loss at most `max_loss`, plus `loss_per_id` for each.
    """

    loss_price: float = 0.0
    id_price: float = 0.0
    ood_price: float = 0.0
    offset: float = 0.0
    is_mean: bool = False
    min_id: float = 0.0
    max_ood: float = np.inf
    ood_per_id: float = 0.0
    max_loss: float = np.inf
    loss_per_id: float = 0.0

    def of_mixture(self, share, total_id, total_wild):
        """Return the problem where a wild mixture stands for the OOD samples.

        Of its weight, `share` is OOD and the rest ID. What is accepted of the OOD
        weight, were it `total_wild`, is then estimated by a linear function of what is
        accepted of both samples, so that the problem is one of the same kind.
        """
        if share == 1:
            return self
        of_id = (1 - share) * total_wild / total_id
        found = replace(
            self,
            ood_price=self.ood_price / share,
            max_ood=share * self.max_ood,
            ood_per_id=share * self.ood_per_id + of_id,
        )
        if self.is_mean:
            return found  # for each unit of ID weight the same is taken off
        # The offset is what can be taken off at most: the price stays positive.
        return replace(
            found,
            id_price=self.id_price - found.ood_price * of_id,
            offset=self.offset + found.ood_price * of_id * total_id,
        )

    def price(self, id_weight, ood_weight, loss):
        """Return what is minimized; infinite or NaN where it is a mean of nothing."""
        price = self.loss_price * loss + self.ood_price * ood_weight
        price = price + (self.id_price * id_weight + self.offset)
        if self.is_mean:
            with np.errstate(divide="ignore", invalid="ignore"):
                price = price / id_weight
        return price

    def is_feasible(self, id_weight, ood_weight, loss):
        """Tell where all bounds hold, but for rounding."""
        kept = id_weight >= self.min_id * (1 - RELATIVE_TOLERANCE)
        for value, most, per_id in self._upper_bounds(ood_weight, loss):
            kept &= value <= (most + per_id * id_weight) * (1 + RELATIVE_TOLERANCE)
        return kept

    def rooms(self, id_weight, ood_weight, loss):
        """Yield by how much each bound is kept, negative where it is broken."""
        yield id_weight - self.min_id
        for value, most, per_id in self._upper_bounds(ood_weight, loss):
            yield most + per_id * id_weight - value

    def changes_of_rooms(self, id_weight, ood_weight, loss):
        """Yield how these sums, added to others, change each of the `rooms`."""
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
