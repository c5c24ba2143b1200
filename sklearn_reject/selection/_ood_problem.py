"""What a rule for ID and OOD samples minimises, and under which bounds."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject.curves._groups import RELATIVE_TOLERANCE


@dataclass(frozen=True)
class OODProblem:
    """Minimise a price over what a rule accepts, under two bounds.

    A rule is judged by the weight of the ID samples that it accepts, that of the OOD
    samples and the loss of the former. The price never falls with the loss or with the
    OOD weight and never rises with the ID weight, and the bounds agree with that. So
    what is best in a box of such sums is best at its corner of most ID samples, fewest
    OOD samples and least loss: `price` and `is_feasible` there are bounds on the box.

    Attributes
    ----------
    loss_price, id_price, ood_price, offset : float
        Prices of the accepted loss, of a unit of ID and of OOD weight, and what is
        paid in any case.

    is_mean : bool
        Whether the price is divided by the accepted ID weight.

    min_id : float
        Least ID weight to accept.

    max_ood, ood_per_id : float
        The OOD weight accepted must be at most `max_ood`, plus `ood_per_id` for each
        unit of ID weight that is accepted.
    """

    loss_price: float = 0.0
    id_price: float = 0.0
    ood_price: float = 0.0
    offset: float = 0.0
    is_mean: bool = False
    min_id: float = 0.0
    max_ood: float = np.inf
    ood_per_id: float = 0.0

    def price(self, id_weight, ood_weight, loss):
        """Return what is minimised; infinite or NaN where it is a mean of nothing."""
        price = self.loss_price * loss + self.ood_price * ood_weight
        price = price + (self.id_price * id_weight + self.offset)
        if self.is_mean:
            with np.errstate(divide="ignore", invalid="ignore"):
                price = price / id_weight
        return price

    def is_feasible(self, id_weight, ood_weight):
        """Tell where both bounds hold, but for rounding."""
        enough = id_weight >= self.min_id * (1 - RELATIVE_TOLERANCE)
        return enough & (ood_weight <= self.allowed_ood(id_weight))

    def allowed_ood(self, id_weight):
        """Return the largest OOD weight beside an ID weight."""
        return (self.max_ood + self.ood_per_id * id_weight) * (1 + RELATIVE_TOLERANCE)

    def slack(self, price):
        """Return by how much equal prices may differ through rounding."""
        return RELATIVE_TOLERANCE * (abs(price) + self.offset)
