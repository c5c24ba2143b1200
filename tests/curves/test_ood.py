"""Curves and areas of ID against OOD, against brute force and scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    auc,
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
)

from sklearn_reject import _curves as curves
from sklearn_reject._curves import combine, score_directions
from sklearn_reject.datasets import make_fpp23_mixture
from tests.origin_samples import (
    origin_samples,
    permute,
    repeat,
    thresholds_of,
    weights_of,
)

AREAS = {
    "auroc": lambda s, _, o, **kw: curves.ood_auroc_score(s, o, **kw),
    "aupr in": lambda s, _, o, **kw: curves.ood_aupr_score(s, o, positive="id", **kw),
    "aupr out": lambda s, _, o, **kw: curves.ood_aupr_score(s, o, positive="ood", **kw),
    "aupr trapezoid": lambda s, _, o, **kw: curves.ood_aupr_score(
        s, o, positive="ood", interpolation="trapezoid", ood_prior=0.3, **kw
    ),
    "oscr": lambda s, losses, o, **kw: curves.oscr_score(s, losses > 0, o, **kw),
    "oscr of franc": lambda s, losses, o, **kw: curves.oscr_score(
        s, losses > 0, o, definition="franc", **kw
    ),
    "fpr in": lambda s, _, o, **kw: curves.fpr_at_tpr_score(
        s, o, positive="id", tpr=0.7, **kw
    ),
    "fpr out": lambda s, _, o, **kw: curves.fpr_at_tpr_score(
        s, o, positive="ood", tpr=0.7, **kw
    ),
}


def as_ordinary(scores):
    """Make infinities finite without a change of the order."""
    return np.clip(scores, -99.0, 99.0)


def shares(accepted, sample):
    """Return FPR and TPR of what is accepted."""
    weights, is_ood = weights_of(sample), sample[2]
    return tuple(
        np.average(accepted[group], weights=weights[group])
        for group in (is_ood, ~is_ood)
    )


@given(origin_samples())
def test_roc_curve_is_the_rule_at_each_threshold(sample):
    scores, _, is_ood, weights = sample
    fpr, tpr, thresholds = curves.ood_roc_curve(scores, is_ood, sample_weight=weights)
    present = weights_of(sample) > 0
    assert thresholds.tolist() == thresholds_of(scores[present])
    for point in zip(fpr, tpr, thresholds, strict=True):
        np.testing.assert_allclose(point[:2], shares(scores <= point[2], sample))


@given(origin_samples(), st.sampled_from([None, 0.0, 0.25, 0.9]))
def test_precision_recall_curve_is_the_rule_at_each_threshold(sample, prior):
    scores, _, is_ood, weights = sample
    precision, recall, thresholds = curves.ood_precision_recall_curve(
        scores, is_ood, ood_prior=prior, sample_weight=weights
    )
    _, _, expected = curves.ood_roc_curve(scores, is_ood, sample_weight=weights)
    assert thresholds.tolist() == expected.tolist()
    if prior is None:
        prior = np.average(is_ood, weights=weights)
    for point in zip(precision, recall, thresholds, strict=True):
        fpr, tpr = shares(scores <= point[2], sample)
        inside, outside = (1 - prior) * tpr, prior * fpr
        nothing = inside + outside == 0
        share = 1 if nothing else inside / (inside + outside)
        np.testing.assert_allclose(point[:2], (share, tpr))


@given(origin_samples())
def test_auroc_counts_pairs_and_equals_scikit_learn(sample):
    scores, _, is_ood, _ = sample
    weights = weights_of(sample)
    area = curves.ood_auroc_score(scores, is_ood, sample_weight=sample[3])
    inside, outside = scores[~is_ood, np.newaxis], scores[is_ood]
    wins = (inside < outside) + 0.5 * (inside == outside)
    pairs = weights[~is_ood, np.newaxis] * weights[is_ood]
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
    labels, ranks = (is_ood, ordinary) if positive == "ood" else (~is_ood, -ordinary)
    step = average_precision_score(labels, ranks, sample_weight=weights)
    area = curves.ood_aupr_score(scores, is_ood, **options)
    np.testing.assert_allclose(area, step, rtol=1e-12)
    precision, recall, _ = precision_recall_curve(labels, ranks, sample_weight=weights)
    options["interpolation"] = "trapezoid"
    area = curves.ood_aupr_score(scores, is_ood, **options)
    np.testing.assert_allclose(area, auc(recall, precision), rtol=1e-12)


def test_in_and_out_are_not_swapped():
    # In order: ID, OOD, ID, ID. Precisions of ID at its recalls: 1, 2/3, 3/4; of OOD,
    # found third from above: 1/3.
    scores, is_ood = [0.1, 0.2, 0.3, 0.4], [False, True, False, False]
    inside = curves.ood_aupr_score(scores, is_ood, positive="id")
    assert inside == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    outside = curves.ood_aupr_score(scores, is_ood, positive="ood")
    assert outside == pytest.approx(1 / 3)
    # Accepting all ID samples accepts the OOD sample; finding it rejects two of three.
    options = {"tpr": 0.95}
    assert curves.fpr_at_tpr_score(scores, is_ood, positive="id", **options) == 1
    fpr = curves.fpr_at_tpr_score(scores, is_ood, positive="ood", **options)
    assert fpr == pytest.approx(2 / 3)


@given(origin_samples(), st.integers(1, 12))
def test_fpr_at_tpr_against_all_thresholds(sample, twelfths):
    scores, _, is_ood, _ = sample
    weights = weights_of(sample)
    options = {"tpr": twelfths / 12, "sample_weight": sample[3]}
    for positive in ("id", "ood"):
        is_positive = ~is_ood if positive == "id" else is_ood
        rates = []
        for value in np.unique(scores[weights > 0]):
            found = scores <= value if positive == "id" else scores >= value
            total = weights[is_positive].sum()
            if weights[is_positive & found].sum() * 12 >= twelfths * total:
                rates.append(
                    np.average(found[~is_positive], weights=weights[~is_positive])
                )
        fpr = curves.fpr_at_tpr_score(scores, is_ood, positive=positive, **options)
        assert fpr == pytest.approx(min(rates))


@given(origin_samples(most_loss=1))
def test_oscr_of_all_samples_counts_pairs(sample):
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    inside, outside = scores[~is_ood, np.newaxis], scores[is_ood]
    wins = (inside < outside) + 0.5 * (inside == outside)
    wins = wins * (losses[~is_ood] == 0)[:, np.newaxis]
    pairs = weights[~is_ood, np.newaxis] * weights[is_ood]
    area = curves.oscr_score(scores, losses, is_ood, sample_weight=sample[3])
    np.testing.assert_allclose(area, np.average(wins, weights=pairs))


@given(origin_samples(most_loss=1, max_size=7))
def test_oscr_of_accepted_samples_is_an_integral_over_rules(sample):
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    total = weights[is_ood].sum()

    def accuracy(share, value):
        accepted = weights * ((scores < value) + share * (scores == value)) * ~is_ood
        return accepted @ (1 - losses) / (accepted.sum() or 1.0)

    expected = 0.0
    for value in np.unique(scores[is_ood & (weights > 0)]):
        height, _ = quad(accuracy, 0, 1, args=(value,))
        expected += weights[is_ood & (scores == value)].sum() / total * height
    options = {"definition": "franc", "sample_weight": sample[3]}
    area = curves.oscr_score(scores, losses, is_ood, **options)
    np.testing.assert_allclose(area, expected, atol=1e-9)


@given(origin_samples(most_loss=1))
def test_right_end_of_oscr_is_the_closed_set_accuracy(sample):
    scores, losses, is_ood, weights = sample
    accuracy = 1 - np.average(losses[~is_ood], weights=weights_of(sample)[~is_ood])
    # Where all OOD samples come last, the curve is as high as at its right end.
    last = np.where(is_ood, 99.0, np.minimum(scores, 9.0))
    for definition in ("dhamija", "franc"):
        area = curves.oscr_score(
            last, losses, is_ood, definition=definition, sample_weight=weights
        )
        assert area == pytest.approx(accuracy)


@given(origin_samples())
def test_order_of_rows_does_not_matter_and_weights_repeat_them(sample):
    for area in AREAS.values():
        value = area(*sample[:3], sample_weight=sample[3])
        permuted = permute(sample)
        again = area(*permuted[:3], sample_weight=permuted[3])
        np.testing.assert_allclose(again, value, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(area(*repeat(sample)), value, rtol=1e-12, atol=1e-15)


@given(origin_samples(n_scores=2, max_size=8), st.integers(2, 8))
def test_two_scores_count_as_their_best_direction(sample, n_directions):
    scores, losses, is_ood, weights = sample
    present = weights_of(sample) > 0
    options = {"sample_weight": weights}
    for name, area in AREAS.items():
        values = [
            area(combine(*scores.T, weights_of_both), losses, is_ood, **options)
            for weights_of_both in score_directions(*scores[present].T, n_directions)
        ]
        best = min(values) if name.startswith("fpr") else max(values)
        both = area(scores, losses, is_ood, n_directions=n_directions, **options)
        assert both == pytest.approx(best, abs=1e-12)


@given(origin_samples(n_scores=2, max_size=6))
def test_two_scores_are_never_worse_than_either(sample):
    scores, losses, is_ood, weights = sample
    # Infinite novelty rules whatever the direction.
    scores = np.where(np.isinf(scores), 9.0, scores)
    for name, area in AREAS.items():
        sign = -1 if name.startswith("fpr") else 1
        options = {"sample_weight": weights}
        both = sign * area(scores, losses, is_ood, n_directions=5, **options)
        for column in scores.T:
            alone = sign * area(column, losses, is_ood, **options)
            assert both >= alone - 1e-12


# Population values of FPP23, section 3.1, by numerical integration.
TABLE_1 = {
    "A": ((0, 1), 0.878, 0.962, 0.820, 0.719),
    "B": ((1, 0.2), 0.865, 0.954, 0.827, 0.711),
    "C": ((1, 0), 0.758, 0.914, 0.862, 0.645),
}


@pytest.fixture(scope="module")
def mixture():
    sample = make_fpp23_mixture(100_000, return_X_y=False, random_state=0)
    scores = np.column_stack([sample.risk, sample.likelihood_ratio])
    losses = (sample.prediction != sample.target).astype(float)
    return scores, losses, sample.target == -1


@pytest.mark.parametrize("method", TABLE_1)
def test_table_1(mixture, method):
    weights, auroc, aupr, franc, dhamija = TABLE_1[method]
    scores, losses, is_ood = mixture
    score = scores @ weights
    prior = {"ood_prior": 0.25}
    assert curves.ood_auroc_score(score, is_ood) == pytest.approx(auroc, abs=0.005)
    for interpolation in ("step", "trapezoid"):
        options = {"positive": "id", "interpolation": interpolation, **prior}
        area = curves.ood_aupr_score(score, is_ood, **options)
        assert area == pytest.approx(aupr, abs=0.005)
    area = curves.oscr_score(score, losses, is_ood, definition="franc")
    assert area == pytest.approx(franc, abs=0.005)
    area = curves.oscr_score(score, losses, is_ood)
    assert area == pytest.approx(dhamija, abs=0.005)


@pytest.mark.slow
def test_two_scores_of_table_1(mixture):
    scores, losses, is_ood = (array[:5000] for array in mixture)
    franc = curves.oscr_score(scores, losses, is_ood, definition="franc")
    assert franc == pytest.approx(0.86, abs=0.02)
    for weights, *_ in TABLE_1.values():
        single = scores @ weights
        area = curves.ood_auroc_score(single, is_ood)
        assert curves.ood_auroc_score(scores, is_ood) >= area - 1e-4


UNDEFINED = [
    (curves.ood_auroc_score, {}),
    (curves.ood_aupr_score, {"positive": "id"}),
    (curves.fpr_at_tpr_score, {"positive": "ood"}),
]


@pytest.mark.parametrize(("metric", "options"), UNDEFINED)
def test_undefined_without_ood(metric, options):
    for is_ood, weights in ([False, False], None), ([False, True], [1, 0]):
        with pytest.warns(UndefinedMetricWarning, match="undefined without OOD"):
            value = metric([1, 2], is_ood, sample_weight=weights, **options)
        assert np.isnan(value)


def test_oscr_is_undefined_without_ood():
    with pytest.warns(UndefinedMetricWarning, match="open-set .* is undefined"):
        assert np.isnan(curves.oscr_score([1, 2], [0, 1], [False, False]))


def test_curves_need_ood_and_one_score():
    with pytest.raises(ValueError, match=r"OOD sample is needed for a ROC curve"):
        curves.ood_roc_curve([1, 2], [False, False])
    with pytest.raises(ValueError, match="needed for a precision-recall curve"):
        curves.ood_precision_recall_curve([1, 2], [False, False], ood_prior=0.2)
    with pytest.raises(ValueError, match=r"shape \(2, 2\).*use roc_frontier"):
        curves.ood_roc_curve([[1, 2], [3, 4]], [False, True])


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("ood_aupr_score", {"positive": "in"}, "positive must be one of"),
        ("ood_aupr_score", {"positive": None}, "positive must be one of"),
        ("fpr_at_tpr_score", {"positive": True}, "positive must be one of"),
        ("fpr_at_tpr_score", {"positive": "id", "tpr": 0}, r"tpr must be in \]0, 1\]"),
        ("fpr_at_tpr_score", {"positive": "id", "tpr": 95}, "tpr must be in"),
        (
            "ood_aupr_score",
            {"positive": "id", "interpolation": "linear"},
            "interpolation must be one of",
        ),
        ("ood_aupr_score", {"positive": "id", "ood_prior": 0}, "ood_prior must be in"),
        ("ood_aupr_score", {"positive": "id", "ood_prior": 1}, "ood_prior must be in"),
        ("ood_precision_recall_curve", {"ood_prior": 1.0}, "ood_prior must be in"),
        ("ood_precision_recall_curve", {"ood_prior": -0.1}, "ood_prior must be in"),
    ],
)
def test_bad_options(metric, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(curves, metric)([1, 2], [False, True], **options)


@pytest.mark.parametrize("metric", [curves.ood_aupr_score, curves.fpr_at_tpr_score])
def test_the_positive_class_has_no_default(metric):
    with pytest.raises(TypeError, match="positive"):
        metric([1, 2], [False, True])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], r"scores must be .*got an array of shape \(2, 3\)"),
        ([[np.inf, 1], [1, 2]], "the risk scores must be finite, got inf in row 0"),
        ([[1, np.nan], [1, 2]], "scores must be finite, got nan"),
        ([1, np.nan], "scores must be finite, got nan"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(ValueError, match=message):
        curves.ood_auroc_score(scores, [False, True])


@pytest.mark.parametrize("definition", ["dhamija", "franc"])
def test_oscr_counts_correct_labels_only(definition):
    with pytest.raises(ValueError, match=r"losses holds 0\.5, but .* counts correct"):
        curves.oscr_score([1, 2], [0.5, 0], [False, True], definition=definition)
    # Whatever the losses of OOD samples are, they are not used.
    options = {"definition": definition}
    assert curves.oscr_score([1, 2], [0, np.nan], [False, True], **options) == 1
    with pytest.raises(ValueError, match="definition must be one of"):
        curves.oscr_score([1, 2], [0, 0], [False, True], definition="usual")


def test_results_are_plain_floats():
    sample = (
        np.array([1.0, 2, 3]),
        np.array([0.0, 1, 0]),
        np.array([False, False, True]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for area in AREAS.values():
            assert type(area(*sample)) is float
