"""Metrics of risk and coverage are their definitions, and tell reject labels."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import polygamma
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier, metrics
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import CostMatrixLoss
from sklearn_reject.metrics import RiskCoverageDisplay, aurc_score
from tests.metrics.tables import ORDER, Data, draw_data
from tests.samples import exact_groups, exact_prefixes, samples

EPS = np.finfo(float).eps


def of(name, scores, losses, weights=None, **options):
    """Call a metric with the losses themselves."""
    options |= {"loss": losses, "sample_weight": weights}
    return getattr(metrics, name)(None, None, scores, **options)


def mean_of_selective_risks(losses):
    """Evaluate FPV23, eq. 27 for losses that are in the order of their scores."""
    return np.mean(np.cumsum(losses) / np.arange(1, len(losses) + 1))


def mean_over_orders(scores, losses):
    orders = map(list, permutations(range(len(scores))))
    kept = [order for order in orders if (np.diff(scores[order]) >= 0).all()]
    return np.mean([mean_of_selective_risks(losses[order]) for order in kept])


def expected_area(scores, losses):
    """Return the same of many samples: within a tie group the loss grows evenly."""
    groups = np.unique(scores, return_inverse=True)[1]
    n = np.append(0, np.cumsum(np.bincount(groups)))
    loss = np.append(0, np.cumsum(np.bincount(groups, losses)))
    k = np.arange(1, len(scores) + 1)
    return np.mean(np.interp(k, n, loss) / k)


@given(samples())
def test_curve_is_the_rule_at_each_threshold(sample):
    scores, losses, weights = sample
    coverage, risk, thresholds = of("risk_coverage_curve", *sample)
    weights = np.ones(len(scores)) if weights is None else weights
    assert coverage[-1] == 1
    assert (np.diff(thresholds) > 0).all()
    for point in zip(coverage, risk, thresholds, strict=True):
        accepted = weights * (scores <= point[2])
        np.testing.assert_allclose(point[0], accepted.sum() / weights.sum())
        np.testing.assert_allclose(point[1], accepted @ losses / accepted.sum())


@given(samples(), st.integers(1, 12))
def test_risk_at_coverage_against_all_thresholds(sample, twelfths):
    groups = exact_groups(*sample)
    prefixes = exact_prefixes(groups)
    wanted = prefixes[-1][0] * twelfths / 12
    last = next(k for k, (weight, _) in enumerate(prefixes) if weight >= wanted)
    call = "selective_risk_at_coverage_score"
    value = of(call, *sample, coverage=twelfths / 12)
    np.testing.assert_allclose(value, float(prefixes[last][1] / prefixes[last][0]))
    share = (wanted - prefixes[last - 1][0]) / groups[last - 1][1]
    loss = prefixes[last - 1][1] + share * groups[last - 1][2]
    value = of(call, *sample, coverage=twelfths / 12, randomize=True)
    np.testing.assert_allclose(value, float(loss / wanted), atol=1e-15)


@given(samples(), st.integers(0, 12))
def test_coverage_at_risk_against_all_thresholds(sample, eighths):
    """A later prefix may be within the risk where an earlier one is not."""
    prefixes = exact_prefixes(exact_groups(*sample))
    within = [w for w, loss in prefixes[1:] if loss * 8 <= eighths * w]
    call, options = "coverage_at_risk_score", {"risk": eighths / 8}
    if within:
        value = of(call, *sample, **options)
        np.testing.assert_allclose(value, float(max(within) / prefixes[-1][0]))
        assert value <= of(call, *sample, randomize=True, **options) <= 1
    else:
        with pytest.warns(UndefinedMetricWarning, match="No threshold has"):
            assert np.isnan(of(call, *sample, **options))


@given(samples(max_size=6, weighted=False))
def test_aurc_is_the_mean_over_tie_breaking_orders(sample):
    scores, losses, _ = sample
    area, expected = of("aurc_score", scores, losses), mean_over_orders(scores, losses)
    assert area == pytest.approx(expected, rel=1e-13, abs=1e-15)
    assert area == pytest.approx(expected_area(scores, losses), rel=1e-13, abs=1e-15)
    best = min(map(mean_of_selective_risks, permutations(losses)))
    excess = of("aurc_score", scores, losses, normalize="excess")
    assert excess == pytest.approx(expected - best, rel=1e-13, abs=1e-15)
    assume(losses.min() < losses.max())
    ratio = of("aurc_score", scores, losses, normalize="prr")
    mean = losses.mean()
    assert ratio == pytest.approx((mean - expected) / (mean - best), abs=1e-12)


def as_integral(scores, losses, weights):
    """Integrate the mean selective risk for real weights, group by group."""
    total, below, loss_below, area = weights.sum(), 0.0, 0.0, 0.0
    for value in np.unique(scores):
        rows = scores == value
        weight = weights[rows].sum()
        if weight == 0:
            continue
        mean = weights[rows] @ losses[rows] / weight
        ends = below, below + weight
        slope = quad(lambda t: polygamma(1, t + 1), *ends, epsrel=1e-12)[0]
        area += (loss_below - mean * below) * slope + mean * weight
        below, loss_below = below + weight, loss_below + mean * weight
    return area / total


@pytest.mark.parametrize("scale", [1e-90, 1e-6, 1.0, 30.0, 1e90])
@pytest.mark.parametrize("smallest", [0.1, 1e-9])
def test_real_weights_give_the_integral(scale, smallest):
    """Of weights whose mean is one: a weight of two is a share, no repeated row."""
    rng = np.random.default_rng(0)
    scores, losses = rng.integers(0, 8, 30) / 8, rng.random(30)
    weights = np.maximum(rng.random(30), smallest) * (np.arange(30) % 7 > 0)
    weights[1::5] = smallest
    of_mean_one = weights / weights[weights > 0].mean()
    area = of("aurc_score", scores, losses, scale * weights)
    assert area == pytest.approx(as_integral(scores, losses, of_mean_one), rel=1e-10)


N = 2**16 + 7  # few losses of so many samples are counted, not sorted
SCORES = {
    "uniform": lambda rng: rng.random(N),
    "skewed": lambda rng: rng.exponential(size=N) ** 8,
    "clusters": lambda rng: rng.integers(0, 50, N) + 1e-12 * rng.random(N),
    "constant": lambda rng: np.full(N, 0.3),
    "widest": lambda rng: np.append(rng.normal(size=N - 2), [-1.7e308, 1.7e308]),
    "denormal": lambda rng: rng.integers(0, 1000, N) * 5e-324,
    "signed zeros": lambda rng: rng.choice([0.0, -0.0, 1.0], N),
}


@pytest.mark.parametrize("name", SCORES)
def test_many_samples_at_every_error_rate(name):
    rng = np.random.default_rng(1)
    scores = SCORES[name](rng)
    for rate in (1e-4, 0.14, 1.0):
        losses = rng.exponential(size=N) * (rng.random(N) < rate)
        for each in (losses, np.sign(losses)):
            area = of("aurc_score", scores, each)
            assert area == pytest.approx(expected_area(scores, each), rel=N * EPS)


@given(samples())
def test_pairs_and_the_generalized_curve(sample):
    """SELE is a mean over pairs, AUGRC a trapezoid from the origin, and its half."""
    scores, losses, weights = sample
    weights = np.ones(len(scores)) if weights is None else weights
    for ties, tied in (("inclusive", 1.0), ("midrank", 0.5)):
        pairs = (scores[:, None] < scores) + tied * (scores[:, None] == scores)
        expected = (weights * losses) @ pairs @ weights / weights.sum() ** 2
        value = of("sele_score", *sample, ties=ties)
        assert value == pytest.approx(expected, rel=1e-13, abs=1e-15)
    coverage, risk, _ = of("risk_coverage_curve", *sample)
    x, y = np.append(0, coverage), np.append(0, coverage * risk)
    area = np.diff(x) @ (y[1:] + y[:-1]) / 2
    augrc = of("augrc_score", *sample)
    assert augrc == pytest.approx(area, rel=1e-13, abs=1e-15)
    assert augrc == pytest.approx(value, rel=1e-13, abs=1e-15)
    excess, area = (
        of("aurc_score", *sample, normalize=way) for way in ("excess", None)
    )
    assert 0 <= excess <= area + 1e-15


@pytest.mark.parametrize("weights", [None, [0.3, 0.3, 0.7, 0]])
def test_prr_is_undefined_where_all_losses_are_equal(weights):
    losses = [0.1, 0.1, 0.1, 0.1 if weights is None else 5]
    options = {"normalize": "prr"}
    with pytest.warns(UndefinedMetricWarning, match="All losses are equal"):
        assert np.isnan(of("aurc_score", [1, 2, 3, 4], losses, weights, **options))


def test_labels_order_the_cost_matrix():
    costs = [[0, 1, 5], [2, 0, 1], [3, 4, 0]]
    y_true, y_pred = np.array([0, 1, 2, 1, 0]), np.array([1, 1, 0, 2, 0])
    losses = CostMatrixLoss(costs, labels=[2, 0, 1])(y_true, y_pred)
    scores = np.arange(5)
    options = {"loss": costs, "labels": [2, 0, 1]}
    value = metrics.aurc_score(y_true, y_pred, scores, **options)
    assert value == of("aurc_score", scores, losses)
    # Classes that do not occur need labels.
    few = y_true[[0, 1, 4]], y_pred[[0, 1, 4]], scores[:3]
    with pytest.raises(ValueError, match=r"shape \(3, 3\) for 2 labels.*Pass `labels`"):
        metrics.aurc_score(*few, loss=costs)
    assert metrics.aurc_score(*few, loss=costs, labels=[0, 1, 2]) > 0


NONE = {"y_true": None, "y_pred": None}
VALUE_ERRORS = [
    ({"y_pred": [0]}, "y_pred has 1 elements, but there are 2"),
    ({"uncertainty": [1, np.inf]}, "uncertainty must be finite, got inf in row 1"),
    ({"y_true": [], "y_pred": [], "uncertainty": []}, "y_true is empty"),
    ({"y_pred": ["a", "b"]}, "mix strings and numbers"),
    ({"y_true": None}, "y_true is None, so loss= must be"),
    ({**NONE, "loss": [[0], [1]]}, r"but it is of shape \(2, 1\)\."),
    ({"y_true": [[0, 1]] * 2, "y_pred": [[0, 1]] * 2}, "y_true must be a vector of la"),
    ({**NONE, "loss": [1]}, r"uncertainty has 2 elements, but there are 1"),
    ({**NONE, "loss": [0, -1]}, "loss must be non-negative, got -1.0 in row 1"),
    ({**NONE, "loss": [0, np.nan]}, "loss must be finite"),
    ({**NONE, "loss": [1e308] * 2}, r"loss holds 1e\+308, which is too large to be"),
]


@pytest.mark.parametrize(("change", "message"), VALUE_ERRORS)
def test_bad_arrays(change, message):
    given = {"y_true": [0, 1], "y_pred": [0, 0], "uncertainty": [1, 2], **change}
    loss = given.pop("loss", "zero_one")
    data = Data(**given, y_second=None, novelty=None)
    for metric in ORDER.values():
        with pytest.raises(ValueError, match=message):
            metric(data, as_labels=True, loss=loss)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("aurc_score", {"normalize": True}, r"normalize must be one of.*got True"),
        ("sele_score", {"ties": "first"}, "ties must be one of"),
        ("selective_risk_at_coverage_score", {"coverage": 0}, r"must be in \(0, 1\]"),
        ("selective_risk_at_coverage_score", {"coverage": None}, "must be a number"),
        ("coverage_at_risk_score", {"risk": np.inf}, r"risk must be .*\[0, inf\), got"),
    ],
)
def test_bad_options(name, options, message):
    with pytest.raises(ValueError, match=message):
        of(name, [1, 2], [0, 1], **options)


DATA = draw_data(n=60, with_ood=False)
Y_TRUE, Y_PRED = DATA.y_true, DATA.y_pred
UNCERTAINTY = np.random.default_rng(1).random(60)
TARGETS = np.random.default_rng(2).normal(size=60)
REJECTED = UNCERTAINTY > 0.8
SOME_ARE = np.where(REJECTED, -1, Y_PRED)
NAMES = np.array(["ant", "bee", "cat"])
OBJECTS = NAMES.astype(object)
COSTS = [[0, 1, 5], [2, 0, 1], [3, 4, 0]]
AUTOMATIC = "is that of reject_label='auto'.*`predict_label`"


@pytest.mark.parametrize("labels", [np.arange(3), np.arange(-1, 2), NAMES, OBJECTS])
def test_the_automatic_reject_label_is_refused(labels):
    """What `predict` returns, of a classifier that is fitted here."""
    X = np.column_stack([DATA.uncertainty + Y_TRUE, Y_TRUE]) + TARGETS[:, np.newaxis]
    model = SelectiveClassifier(GaussianNB(), target_coverage=0.7, cv=2)
    model.fit(X, labels[Y_TRUE])
    samples = labels[Y_TRUE], model.predict(X), model.uncertainty(X)
    data = Data(*samples[:2], y_second=None, uncertainty=samples[2], novelty=None)
    for metric in ORDER.values():
        with pytest.raises(ValueError, match=AUTOMATIC):
            metric(data, as_labels=True)
        metric(replace(data, y_pred=model.predict_label(X)), as_labels=True)
    with pytest.raises(ValueError, match=AUTOMATIC):
        RiskCoverageDisplay.from_predictions(*samples)


LISTED = CostMatrixLoss(COSTS, labels=[0, 1, 2])


@pytest.mark.parametrize(
    "loss",
    ["zero_one", COSTS, LISTED, "absolute", "squared", lambda y, k: abs(y - k)],
    ids=["name", "table", "table with labels", "absolute", "squared", "function"],
)
def test_only_losses_of_labels_tell_unknown_labels(loss):
    with pytest.raises(ValueError, match=AUTOMATIC):
        aurc_score(Y_TRUE, SOME_ARE, UNCERTAINTY, loss=loss)
    # Another unknown label may be a class, such as the third one of the table.
    y_true, odd = np.minimum(Y_TRUE, 1), np.where(REJECTED, 9, np.minimum(Y_PRED, 1))
    if loss is LISTED:
        with pytest.raises(ValueError, match="not one of the labels"):
            aurc_score(y_true, odd, UNCERTAINTY, loss=loss)
    elif isinstance(loss, str | list) and loss in ("zero_one", COSTS):
        words = r"holds 9.*`predict_label`.*labels="
        with pytest.warns(RejectionWarning, match=words) as record:
            aurc_score(y_true, odd, UNCERTAINTY, loss=loss)
        assert record[0].filename == __file__
    else:  # of numbers, such as those of a regression
        rounded = np.append(-1.0, TARGETS[1:].round())
        for truth, predicted in (
            (y_true, odd),
            (Y_TRUE, SOME_ARE.astype(float)),
            (TARGETS, rounded.astype(int)),
        ):
            assert aurc_score(truth, predicted, UNCERTAINTY, loss=loss) > 0


def test_labels_say_what_is_a_class():
    here = Y_TRUE < 2
    samples = Y_TRUE[here], np.where(REJECTED, 2, Y_TRUE)[here], UNCERTAINTY[here]
    with pytest.warns(RejectionWarning, match="y_pred holds 2, which is not in"):
        value = aurc_score(*samples)
    assert aurc_score(*samples, labels=[0, 1, 2]) == value
    # Of the classes -1, 0 and 1 the first is missing.
    samples = Y_TRUE[here], np.where(REJECTED, -1, Y_TRUE)[here], UNCERTAINTY[here]
    with pytest.raises(ValueError, match="pass all classes as labels="):
        aurc_score(*samples)
    assert aurc_score(*samples, labels=[-1, 0, 1]) == value
    assert aurc_score(*samples, loss="absolute", labels=[-1, 0, 1]) > 0
    # Of -1 and 1, -1 may be both a class and a reject label.
    ones = np.ones(60, dtype=int)
    with pytest.warns(RejectionWarning, match="y_pred holds -1"):
        aurc_score(ones, np.where(REJECTED, -1, 1), UNCERTAINTY)
    signs = np.where(Y_TRUE > 0, 1, -1)
    assert aurc_score(signs, np.where(REJECTED, -1, 1), UNCERTAINTY) > 0


def test_what_are_no_labels():
    """Targets, and the arguments of a function that took scores and losses."""
    with pytest.warns(RejectionWarning, match="A regressor needs loss='squared'"):
        aurc_score(TARGETS, TARGETS + 0.1, np.ones(60))
    with pytest.warns(RejectionWarning, match="are loss= with None as y_true"):
        aurc_score(UNCERTAINTY, 1 * (Y_TRUE != Y_PRED), np.ones(60))
