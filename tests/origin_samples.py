"""Small ID and OOD samples with ties, infinite scores and zero weights."""

import numpy as np
from hypothesis import strategies as st

from tests.samples import column


@st.composite
def origin_samples(draw, *, max_size=10, n_scores=1, most_loss=3):
    """Draw (scores, losses, is_ood, weights) with few distinct values.

    Weights are maybe None. There are an ID and an OOD sample of positive weight. Two
    scores are columns, of which only the second may be infinite.
    """
    n = draw(st.integers(2, max_size))

    def integers(low, high):
        return np.array(draw(column(n, low, high)))

    first = integers(-3, 3) / 4
    scores = first if n_scores == 1 else np.column_stack([first, integers(0, 4) / 2])
    last, codes = scores if n_scores == 1 else scores[:, 1], integers(0, 9)
    last[codes == 0], last[codes == 1] = -np.inf, np.inf
    losses = integers(0, most_loss) / most_loss
    is_ood = integers(0, 1).astype(bool)
    weights = integers(0, 3).astype(float) if draw(st.booleans()) else None
    is_ood[:2] = False, True
    if weights is not None:
        weights[:2] = np.maximum(weights[:2], 1)
    return scores, losses, is_ood, weights


def weights_of(sample):
    """Return the weights of a sample, ones where there are none."""
    return np.ones(len(sample[2])) if sample[3] is None else sample[3]


def thresholds_of(scores):
    """Return the thresholds of all rules, the strictest first."""
    return [-np.inf, *np.unique(scores[np.isfinite(scores)])]
