"""Both definitions of the open-set classification rate, by sums and by an integral."""

import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import quad

from benchmarks.papers._fpp23_oscr import oscr_score
from sklearn_reject.datasets import make_fpp23_mixture
from tests.origin_samples import origin_samples, weights_of


@given(origin_samples(most_loss=1, max_size=7))
def test_definitions(sample):
    scores, losses, is_ood, given_weights = sample
    weights = weights_of(sample)
    total = weights[is_ood].sum()

    def accuracy(share, value, of_all):
        accepted = weights * ((scores < value) + share * (scores == value)) * ~is_ood
        whole = weights[~is_ood].sum() if of_all else accepted.sum() or 1.0
        return accepted @ (1 - losses) / whole

    for definition in ("dhamija", "franc"):
        expected = 0.0
        for value in np.unique(scores[is_ood & (weights > 0)]):
            height, _ = quad(accuracy, 0, 1, args=(value, definition == "dhamija"))
            expected += weights[is_ood & (scores == value)].sum() / total * height
        options = {"definition": definition, "sample_weight": given_weights}
        area = oscr_score(scores, losses, is_ood, **options)
        np.testing.assert_allclose(area, expected, atol=1e-9)


# Population values of FPP23, section 3.1, by numerical integration.
@pytest.mark.parametrize(
    ("weights", "franc", "dhamija"),
    [((0, 1), 0.820, 0.719), ((1, 0.2), 0.827, 0.711), ((1, 0), 0.862, 0.645)],
)
def test_table_1(weights, franc, dhamija):
    sample = make_fpp23_mixture(100_000, return_X_y=False, random_state=0)
    scores = np.column_stack([sample.risk, sample.likelihood_ratio]) @ weights
    losses = (sample.prediction != sample.target).astype(float)
    rows = scores, losses, sample.target == -1
    assert oscr_score(*rows, definition="franc") == pytest.approx(franc, abs=0.005)
    assert oscr_score(*rows) == pytest.approx(dhamija, abs=0.005)


def test_it_counts_correct_labels_only():
    scores, is_ood = np.array([1.0, 2.0]), np.array([False, True])
    with pytest.raises(ValueError, match=r"holds 0\.5, but .* counts correct"):
        oscr_score(scores, [0.5, 0], is_ood)
    with pytest.raises(ValueError, match="definition must be one of"):
        oscr_score(scores, [0, 0], is_ood, definition="usual")
