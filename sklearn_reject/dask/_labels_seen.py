"""Labels of partitions, of which no single one need have all classes."""

from dataclasses import dataclass, field

import numpy as np

from sklearn_reject.exceptions import warn_user
from sklearn_reject.metrics import ComparedLabels

# More than so many are targets rather than classes.
_MOST_LABELS = 2**16


@dataclass(frozen=True)
class SeenLabels:
    """Distinct true labels, and distinct predictions that cost something.

    `kinds` has, for labels that are texts and for those that are not, a partition that
    has them.
    """

    y_true: frozenset = frozenset()
    wrong: frozenset = frozenset()
    kinds: dict = field(default_factory=dict)
    may_warn: bool = False
    is_continuous: bool = False

    @classmethod
    def of_partition(cls, index, compared):
        """Return the labels that a loss compared, None where those are targets."""
        if compared is None:
            return cls(is_continuous=True)
        y_true, wrong = compared.distinct()
        is_text = any(isinstance(label, str) for label in y_true)
        return cls(
            frozenset(y_true), frozenset(wrong), {is_text: index}, compared.may_warn
        )._without_targets()

    def merge(self, other):
        """Return the labels of both."""
        return SeenLabels(
            self.y_true | other.y_true,
            self.wrong | other.wrong,
            {**other.kinds, **self.kinds},
            self.may_warn or other.may_warn,
            self.is_continuous or other.is_continuous,
        )._without_targets()

    def _without_targets(self):
        """Keep no sets of what are too many values for labels."""
        is_many = len(self.y_true) + len(self.wrong) > _MOST_LABELS
        if not (is_many or self.is_continuous):
            return self
        return SeenLabels(
            frozenset(), frozenset(), self.kinds, self.may_warn, is_continuous=True
        )

    def check(self, labels):
        """Raise and warn as in memory of a reject label among the predictions."""
        if len(self.kinds) > 1:
            raise ValueError(
                f"y_true holds texts in partition {self.kinds[True]} and numbers in "
                f"partition {self.kinds[False]}. Use labels of one kind."
            )
        if not self.is_continuous:
            y_true, wrong = (np.array([*found]) for found in (self.y_true, self.wrong))
            ComparedLabels(y_true, wrong, self.may_warn).refuse_reject_label(labels)
        elif self.may_warn:
            warn_user(
                f"y_true and y_pred hold more than {_MOST_LABELS} labels, so no reject "
                "label is searched among them. For a regressor use another loss, such "
                "as loss='squared'."
            )
