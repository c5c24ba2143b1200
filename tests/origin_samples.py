"""Small ID and OOD samples with ties, infinite scores and zero weights."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def origin_samples(draw, *, max_size=10, n_scores=1, most_loss=3, with_ood=True):
    """Draw (scores, losses, is_ood, weights) with few distinct values.

    Weights are maybe None. There is an ID sample of positive weight and, if wanted, an
    OOD sample. Two scores are columns, of which only the second may be infinite.
    """
    n = draw(st.integers(2, max_size))
    column = lambda low, high: np.array(  # noqa: E731
        draw(st.lists(st.integers(low, high), min_size=n, max_size=n))
    )
    first = column(-3, 3) / 4
    scores = first if n_scores == 1 else np.column_stack([first, column(0, 4) / 2])
    _make_infinite(scores if n_scores == 1 else scores[:, 1], column(0, 9))
    losses = column(0, most_loss) / most_loss
    is_ood = column(0, 1).astype(bool)
    weights = column(0, 3).astype(float) if draw(st.booleans()) else None
    is_ood[0] = False
    if with_ood:
        is_ood[1] = True
    if weights is not None:
        weights[:2] = np.maximum(weights[:2], 1)
    return scores, losses, is_ood, weights


def _make_infinite(scores, codes):
    scores[codes == 0] = -np.inf
    scores[codes == 1] = np.inf


def weights_of(sample):
    """Return the weights of a sample, ones where there are none."""
    return np.ones(len(sample[2])) if sample[3] is None else sample[3]


def thresholds_of(scores):
    """Return the thresholds of all rules, the strictest first."""
    return [-np.inf, *np.unique(scores[np.isfinite(scores)])]
