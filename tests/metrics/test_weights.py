"""Of sample weights, only the ratios matter: to all metrics, at any scale."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import metrics
from sklearn_reject.scores import SELE, SELEBoosting

rng = np.random.default_rng(0)
N = 80
Y_TRUE = rng.integers(-1, 3, N)
Y_PRED = np.where(rng.random(N) < 0.7, np.maximum(Y_TRUE, 0), rng.integers(0, 3, N))
UNCERTAINTY = rng.integers(0, 20, N) / 20 + 0.4 * (Y_TRUE == -1)
NOVELTY = rng.integers(0, 20, N) / 4 + 2 * (Y_TRUE == -1)
# From a hundredth to ten, and zero.
WEIGHTS = 10.0 ** rng.uniform(-2, 1, N) * (rng.random(N) < 0.9)

WITHOUT_OOD = np.maximum(Y_TRUE, 0), Y_PRED, UNCERTAINTY
OF_LABELS = Y_TRUE, Y_PRED, UNCERTAINTY
OF_ORIGINS = Y_TRUE, UNCERTAINTY
TWO = {"novelty": NOVELTY}
TPR_FPR = {"min_tpr": 0.5, "max_fpr": 0.6}
PRECISION_RECALL = {"min_precision": 0.6, "min_tpr": 0.5, "ood_prior": 0.2}
TWO_OPINIONS = *WITHOUT_OOD[:2], np.roll(Y_PRED, 1), UNCERTAINTY
ACCEPTED = *WITHOUT_OOD[:2], UNCERTAINTY < 0.6
RATED = (Y_PRED > 0).astype(int), UNCERTAINTY

CASES = [
    ("risk_coverage_curve", WITHOUT_OOD, {}),
    ("risk_coverage_curve", OF_LABELS, {"ood_label": -1, "max_fpr": 0.7}),
    ("aurc_score", WITHOUT_OOD, {}),
    ("aurc_score", WITHOUT_OOD, {"normalize": "excess"}),
    ("aurc_score", WITHOUT_OOD, {"normalize": "prr"}),
    ("aurc_score", WITHOUT_OOD, {"interpolation": "trapezoid"}),
    (
        "aurc_score",
        WITHOUT_OOD,
        {"interpolation": "trapezoid", "normalize": "prr"},
    ),
    ("augrc_score", WITHOUT_OOD, {}),
    ("sele_score", WITHOUT_OOD, {}),
    ("sele_score", WITHOUT_OOD, {"ties": "midrank"}),
    ("selective_risk_at_coverage_score", WITHOUT_OOD, {"coverage": 0.6}),
    (
        "selective_risk_at_coverage_score",
        WITHOUT_OOD,
        {"coverage": 0.6, "randomize": True},
    ),
    ("coverage_at_risk_score", WITHOUT_OOD, {"risk": 0.2}),
    ("coverage_at_risk_score", WITHOUT_OOD, {"risk": 0.2, "randomize": True}),
    ("deferral_curve", TWO_OPINIONS, {}),
    ("deferral_area_score", TWO_OPINIONS, {}),
    ("deferral_area_score", TWO_OPINIONS, {"normalize": "excess"}),
    ("deferral_area_score", TWO_OPINIONS, {"normalize": "prr"}),
    ("selective_cost_score", ACCEPTED, {"reject_cost": 0.2}),
    ("ood_roc_curve", OF_ORIGINS, {}),
    ("ood_precision_recall_curve", OF_ORIGINS, {"ood_prior": None}),
    ("ood_auroc_score", OF_ORIGINS, {}),
    ("ood_auroc_score", OF_ORIGINS, TWO),
    ("ood_aupr_score", OF_ORIGINS, {"positive": "id"}),
    ("ood_aupr_score", OF_ORIGINS, {"positive": "ood", **TWO}),
    ("fpr_at_tpr_score", OF_ORIGINS, {"positive": "id", "tpr": 0.7}),
    ("roc_frontier", OF_ORIGINS, TWO),
    ("precision_recall_frontier", OF_ORIGINS, {"ood_prior": None, **TWO}),
    ("risk_coverage_frontier", OF_LABELS, {"max_fpr": 0.7, **TWO}),
    ("oscr_score", OF_LABELS, {}),
    ("oscr_score", OF_LABELS, {"definition": "franc", **TWO}),
    ("selective_risk_at_tpr_fpr_score", OF_LABELS, TPR_FPR),
    ("selective_risk_at_tpr_fpr_score", OF_LABELS, {**TPR_FPR, **TWO}),
    ("selective_risk_at_precision_recall_score", OF_LABELS, PRECISION_RECALL),
    ("pn_auc_score", RATED, {"normalize": True}),
    ("set_loss", (Y_PRED[:, np.newaxis] == [0, 1, 2],) * 2, {"loss": "jaccard"}),
]


def flat(value):
    """The numbers of a metric, those of a curve one after the other."""
    return np.concatenate(value) if isinstance(value, tuple) else np.array([value])


@pytest.mark.parametrize(("name", "samples", "options"), CASES)
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1 / 3, 1e12])
def test_scale_of_the_weights_does_not_matter(name, samples, options, scale):
    if name == "set_loss":
        samples = samples[0], np.roll(samples[1], 1, axis=0)
    metric = getattr(metrics, name)
    values = [
        metric(*samples, sample_weight=factor * WEIGHTS, **options)
        for factor in (1.0, scale)
    ]
    first, scaled = map(flat, values)
    assert len(first)
    assert not np.isnan(first).any()
    np.testing.assert_allclose(scaled, first, rtol=1e-9, atol=1e-12)
    assert not np.array_equal(first, flat(metric(*samples, **options)))


def test_all_weighted_metrics_are_above():
    weighted = {
        name
        for name in metrics.__all__
        if name.endswith(("_score", "_curve", "_frontier", "_loss"))
    }
    # Counts of documents are sums of weights, by definition.
    assert weighted == {name for name, *_ in CASES} | {"pn_curve"}


@pytest.mark.parametrize("name", ["aurc_score", "augrc_score", "sele_score"])
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e12])
def test_the_better_order_is_seen_at_any_scale(name, scale):
    losses = (Y_TRUE == Y_PRED) * 1.0
    metric = getattr(metrics, name)
    options = {"loss": losses, "sample_weight": scale * WEIGHTS}
    assert metric(None, None, losses, **options) < 0.7 * metric(
        None, None, -losses, **options
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("risk_coverage_curve", {}),
        ("aurc_score", {"normalize": "excess"}),
        ("augrc_score", {}),
        ("sele_score", {}),
        ("selective_risk_at_coverage_score", {"coverage": 0.6}),
        ("coverage_at_risk_score", {"risk": 0.2}),
    ],
)
def test_losses_themselves_take_the_place_of_labels(name, options):
    y_true, y_pred, uncertainty = WITHOUT_OOD
    metric = getattr(metrics, name)
    losses = (y_true != y_pred) * 1.0
    options = {"sample_weight": WEIGHTS, **options}
    value = metric(None, None, uncertainty, loss=losses, **options)
    expected = metric(*WITHOUT_OOD, **options)
    np.testing.assert_array_equal(flat(value), flat(expected))
    for missing, *labels in (("y_true", None, y_pred), ("y_pred", y_true, None)):
        with pytest.raises(ValueError, match=f"{missing} is None, so loss= must be"):
            metric(*labels, uncertainty, **options)
    with pytest.raises(
        ValueError, match=r"uncertainty has 80 elements, but there are 79"
    ):
        metric(None, None, uncertainty, loss=losses[1:], **options)
    with pytest.raises(ValueError, match="loss must be non-negative"):
        metric(None, None, uncertainty, loss=-losses, **options)


def test_validation_areas_of_learned_scores_do_not_depend_on_the_scale():
    X = rng.normal(size=(N, 2))
    labels = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
    classifier = GaussianNB().fit(X, labels)
    for score in (SELE(random_state=0), SELEBoosting(n_estimators=3, random_state=0)):
        areas = [
            clone(score)
            .fit(X, labels, estimator=classifier, sample_weight=scale * WEIGHTS)
            .areas_
            for scale in (1.0, 1e-9)
        ]
        areas = [[*of.values()] if isinstance(of, dict) else of for of in areas]
        assert len(areas[0]) > 1
        np.testing.assert_allclose(areas[1], areas[0], rtol=1e-6)
