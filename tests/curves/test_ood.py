"""Curves and areas of ID against OOD, against brute force and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from sklearn_reject import metrics
from tests.origin_samples import origin_samples, weights_of
from tests.selection.ood_oracle import Sample, all_scores


def labels_of(is_ood):
    return np.where(is_ood, -1, 1)


def columns(scores):
    """Return one score, or two, as arguments."""
    if scores.ndim == 1:
        return {"uncertainty": scores}
    return {"uncertainty": scores[:, 0], "novelty": scores[:, 1]}


def of_origins(name, **options):
    def area(scores, _, is_ood, **more):
        arguments = columns(scores) | options | more
        return getattr(metrics, name)(labels_of(is_ood), **arguments)

    return area


AREAS = {
    "auroc": of_origins("ood_auroc_score"),
    "aupr in": of_origins("ood_aupr_score", positive="id"),
    "aupr out": of_origins("ood_aupr_score", positive="ood"),
    "aupr of a prior": of_origins("ood_aupr_score", positive="ood", ood_prior=0.3),
    "fpr in": of_origins("fpr_at_tpr_score", positive="id", tpr=0.7),
    "fpr out": of_origins("fpr_at_tpr_score", positive="ood", tpr=0.7),
}


both_kinds = st.sampled_from([1, 2]).flatmap(
    lambda n_scores: origin_samples(n_scores=n_scores, max_size=8)
)


def as_ordinary(scores):
    """Make infinities finite without a change of the order."""
    return np.clip(scores, -99.0, 99.0)


@given(origin_samples())
def test_auroc_counts_pairs(sample):
    scores, _, is_ood, weights = sample
    inside, outside = scores[~is_ood, np.newaxis], scores[is_ood]
    wins = (inside < outside) + 0.5 * (inside == outside)
    pairs = weights_of(sample)[~is_ood, np.newaxis] * weights_of(sample)[is_ood]
    area = AREAS["auroc"](*sample[:3], sample_weight=weights)
    np.testing.assert_allclose(area, np.average(wins, weights=pairs))
    theirs = roc_auc_score(is_ood, as_ordinary(scores), sample_weight=weights)
    np.testing.assert_allclose(area, theirs, atol=1e-14)


@given(origin_samples(), st.sampled_from(["id", "ood"]), st.booleans())
def test_aupr_equals_scikit_learn(sample, positive, with_prior):
    scores, _, is_ood, _ = sample
    weights = weights_of(sample)
    options = {"positive": positive, "sample_weight": sample[3]}
    if with_prior:
        # A prior is the same as weights that make the shares so.
        options["ood_prior"] = 0.3
        weights = weights * np.where(
            is_ood, 0.3 / weights[is_ood].sum(), 0.7 / weights[~is_ood].sum()
        )
    ordinary = as_ordinary(scores)
    flags, ranks = (is_ood, ordinary) if positive == "ood" else (~is_ood, -ordinary)
    area = metrics.ood_aupr_score(labels_of(is_ood), scores, **options)
    step = average_precision_score(flags, ranks, sample_weight=weights)
    np.testing.assert_allclose(area, step, rtol=1e-12)


@given(origin_samples(), st.integers(1, 12), st.sampled_from(["id", "ood"]))
def test_fpr_at_tpr_against_all_thresholds(sample, twelfths, positive):
    scores, _, is_ood, _ = sample
    weights = weights_of(sample)
    is_positive = ~is_ood if positive == "id" else is_ood
    rates = []
    for value in np.unique(scores[weights > 0]):
        found = scores <= value if positive == "id" else scores >= value
        total = weights[is_positive].sum()
        if weights[is_positive & found].sum() * 12 >= twelfths * total:
            rate = np.average(found[~is_positive], weights=weights[~is_positive])
            rates.append(rate)
    options = {"tpr": twelfths / 12, "sample_weight": sample[3], "positive": positive}
    fpr = metrics.fpr_at_tpr_score(labels_of(is_ood), scores, **options)
    assert fpr == pytest.approx(min(rates))


# Two scores


@given(origin_samples(n_scores=2, max_size=8))
def test_two_scores_count_as_the_best_of_their_sums(sample):
    scores, losses, is_ood, weights = sample
    present = weights_of(sample) > 0
    rows = [array[present] for array in sample[:3]]
    found = Sample(*rows[0].T, rows[1], rows[2])
    orders = [np.array(each, float) for each in all_scores(found)]
    for name, area in AREAS.items():
        options = {"sample_weight": None if weights is None else weights[present]}
        values = [area(order, *rows[1:], **options) for order in orders]
        best = min(values) if name.startswith("fpr") else max(values)
        both = area(scores, losses, is_ood, sample_weight=weights)
        assert both == pytest.approx(best, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_no_direction_between_those_of_the_grid_is_much_better(power, factor):
    rng = np.random.default_rng(0)
    is_ood = rng.random(3000) < 0.3
    risk, novelty = rng.random(3000) + 0.4 * is_ood, rng.normal(size=3000) + is_ood
    scores = np.column_stack([factor * risk**power, novelty / factor])
    area = AREAS["auroc"](scores, None, is_ood)
    # From all but the risk to all but the novelty, in equal steps of the ranks.
    i = rng.integers(0, 3000, 400)
    j = (i + rng.integers(1, 3000, 400)) % 3000
    slopes = abs((scores[i, 0] - scores[j, 0]) / (scores[i, 1] - scores[j, 1]))
    finer = [AREAS["auroc"](scores @ [1, slope], None, is_ood) for slope in slopes]
    alone = [AREAS["auroc"](score, None, is_ood) for score in scores.T]
    assert max(*alone) < area - 0.01
    assert max(finer) < area + 1e-3


# Errors

ID = {"positive": "id"}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ood_aupr_score", {"positive": "in"}, "positive must be one of"),
        ("ood_aupr_score", {}, "positive"),
        ("fpr_at_tpr_score", {}, "positive"),
        ("fpr_at_tpr_score", ID | {"tpr": 0}, r"tpr must be in \(0, 1\]"),
        ("ood_aupr_score", ID | {"ood_prior": 0}, "ood_prior must be in"),
    ],
)
def test_errors(name, options, message):
    arguments = {"y_true": [1, -1], "uncertainty": [1, 2]} | options
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(metrics, name)(**arguments)
