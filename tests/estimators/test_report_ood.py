"""What a rule achieves on new ID and OOD samples, with intervals of another origin."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.exceptions import RejectionWarning

X, Y = make_blobs(900, centers=5, n_features=3, random_state=2)
Y[Y >= 3] -= 100
GROUPS = np.array(["known", "third", "fourth"])[np.where(Y < 0, Y + 98, 0)]
Y[Y < 0] = -1
TRAIN, TEST = slice(0, 500), slice(500, 900)
MODEL = DoubleScoreOODClassifier(
    GaussianNB(),
    novelty_score="mahalanobis",
    min_tpr=0.8,
    min_precision=0.9,
    ood_prior=0.2,
    random_state=0,
).fit(X[TRAIN], Y[TRAIN])


def measure(model, X, y, **options):
    """Return what the report says of each quantity, and of parts by their name."""
    report = model.report(X, y, **options)
    found = {part.name: part for part in report.parts}
    inside = found["in distribution"]
    named = {"TPR": inside.coverage, "risk": inside.risk}
    named["FPR"] = found["out of distribution"].coverage
    achieved = {each.quantity: each.achieved for each in report.promises}
    for name in named.keys() & achieved.keys():
        assert achieved[name] == named[name]
    return named | achieved, {name: part.coverage for name, part in found.items()}


def assert_exact(interval, flags, level=0.95):
    """Compare with SciPy's exact interval of the share of flags."""
    expected = binomtest(int(flags.sum()), len(flags)).proportion_ci(level)
    assert interval.value == flags.mean()
    assert interval.n_samples == len(flags)
    np.testing.assert_allclose(interval[1:3], expected, rtol=1e-9, atol=1e-12)


def test_shares_and_risk_have_exact_intervals():
    y, groups = Y[TEST], GROUPS[TEST]
    options = {"groups": groups, "confidence_level": 0.9}
    found, parts = measure(MODEL, X[TEST], y, **options)
    labels, _, accepted = MODEL.predict_all(X[TEST])
    is_ood = y == -1
    assert_exact(found["TPR"], accepted[~is_ood], 0.9)
    assert_exact(found["FPR"], accepted[is_ood], 0.9)
    assert_exact(found["risk"], (labels != y)[accepted & ~is_ood], 0.9)
    assert [name for name in parts if name[:3] == "OOD"] == ["OOD fourth", "OOD third"]
    for group in ("third", "fourth"):
        assert_exact(parts[f"OOD {group}"], accepted[groups == group], 0.9)
    for label in range(3):
        assert_exact(parts[f"true {label}"], accepted[y == label], 0.9)
    tpr, fpr = accepted[~is_ood].mean(), accepted[is_ood].mean()
    value, low, high, n_samples = found["precision"]
    assert value == pytest.approx(0.8 * tpr / (0.8 * tpr + 0.2 * fpr))
    assert low < value < high <= 1
    assert n_samples == len(y)


def test_promises_say_what_was_asked_for():
    report = MODEL.report(X[TEST], Y[TEST])
    asked = [(each.quantity, each.sense, each.bound) for each in report.promises]
    assert asked == [("TPR", ">=", 0.8), ("precision", ">=", 0.9)]
    rule = MODEL.rule_
    assert [each.calibration for each in report.promises] == [rule.tpr, rule.precision]
    assert report.to_dict()["parts"][0]["coverage"]["n_samples"] == (Y[TEST] >= 0).sum()
    certified = clone(MODEL).set_params(
        confidence_level=0.8, cv=0.5, min_tpr=0.6, min_precision=0.6
    )
    certified.fit(X, Y)
    for promise in certified.report(X, Y).promises:
        assert promise.confidence_level == 0.8
    # The precision is there wherever it is known, and nothing is asked of it.
    rates = MODEL.retarget(min_tpr=0.7, max_fpr=0.9).report(X[TEST], Y[TEST])
    assert [each.quantity for each in rates.promises] == ["TPR", "FPR", "precision"]
    assert rates.promises[-1].verdict == ""
    line = next(line for line in str(rates).splitlines() if "precision" in line)
    assert line.split()[1] == "-"


def test_what_no_sample_tells_is_unknown():
    model = DoubleScoreOODClassifier(GaussianNB(), novelty_score="msp", min_tpr=0.9)
    found, _ = measure(model.fit(X[TRAIN], Y[TRAIN]), X[TEST], Y[TEST])
    assert "precision" not in found  # there is no prior
    inside = np.flatnonzero(Y[TEST] >= 0)
    found, _ = measure(MODEL, X[TEST][inside], Y[TEST][inside])
    assert np.isnan([found["FPR"].value, found["precision"].value]).all()
    assert found["FPR"][1:] == (0.0, 1.0, 0)
    assert found["precision"].low < 0.9 < found["precision"].high
    for label, known, unknown in ((0, "TPR", "FPR"), (-1, "FPR", "TPR")):
        row = [500 + int(np.argmax(Y[TEST] == label))]
        found, _ = measure(MODEL, X[row], Y[row])
        assert found[known].n_samples == 1
        assert found[unknown][1:] == (0.0, 1.0, 0)


def test_other_losses_are_bounded_where_they_have_a_bound():
    costs = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [4.0, 3.0, 0.0]])
    for loss, largest in ((costs, 4.0), ("absolute", np.inf)):
        model = clone(MODEL).set_params(loss=loss).fit(X[TRAIN], Y[TRAIN])
        risk = measure(model, X[TEST], Y[TEST])[0]["risk"]
        assert 0 <= risk.low <= risk.value <= risk.high <= largest
        assert np.isinf(risk.high) == np.isinf(largest)


def accepting(accepted, labels, *, prior=None, share=None, level=0.95):
    """Return the report of an estimator that accepts rows that are flagged.

    It predicts 0; `labels` are 0 or 1, -1 of OOD samples and 9 of wild ones.
    """
    rows = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = DoubleScoreOODClassifier(
        FrozenEstimator(GaussianNB().fit(rows, [0, 0, 1, 1])),
        uncertainty_score=lambda _, X: X[:, 0],
        novelty_score=lambda _, X: X[:, 0],
        min_tpr=0.5,
        ood_prior=prior,
        wild_label=None if share is None else 9,
        wild_share=share,
    )
    outside = -1 if share is None else 9
    model.fit(np.array([[0.0], [0.0], [9.0], [9.0]]), [0, 0, outside, outside])
    X = np.where(accepted, 0.0, 9.0)[:, np.newaxis]
    found, _ = measure(model, X, labels, confidence_level=level)
    return found


def test_wild_samples_tell_the_fpr_where_no_other_do():
    rng = np.random.default_rng(0)
    accepted, is_wild = rng.random(4000) < 0.7, np.arange(4000) < 2500
    truly_ood = is_wild & (rng.random(4000) < 0.4)
    accepted[truly_ood] &= rng.random(truly_ood.sum()) < 0.2
    fpr = accepting(accepted, np.where(is_wild, 9, 0), share=0.4)["FPR"]
    tpr, wild = accepted[~is_wild].mean(), accepted[is_wild].mean()
    assert fpr.value == pytest.approx((wild - 0.6 * tpr) / 0.4)
    assert fpr.low < accepted[truly_ood].mean() < fpr.high
    # Labeled ones are better evidence.
    labels = np.where(truly_ood, -1, np.where(is_wild, 9, 0))
    assert_exact(accepting(accepted, labels, share=0.4)["FPR"], accepted[truly_ood])


@pytest.mark.parametrize("rejected", [90, 10])
def test_ends_of_the_fpr_of_a_mixture_are_shares_in_order(rejected):
    is_wild = np.arange(200) >= 100
    accepted = np.where(is_wild, np.arange(200) % 100 >= rejected, False)
    accepted[:rejected] = True
    fpr = accepting(accepted, np.where(is_wild, 9, 0), share=0.2)["FPR"]
    assert 0 <= fpr.low <= fpr.high <= 1


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(1)
    truth = {"TPR": 0.8, "FPR": 0.8, "risk": 0.1, "precision": 0.5}
    held = []
    for _ in range(100):
        labels = np.where(np.arange(60) >= 40, -1, rng.random(60) < 0.1)
        found = accepting(rng.random(60) < 0.8, labels, prior=0.5, level=0.9)
        held.append([found[k].low <= x <= found[k].high for k, x in truth.items()])
    # As many misses as chance allows in one of a million runs.
    assert (np.mean(held, axis=0) > beta.ppf(1e-6, 0.9 * 100, 0.1 * 100)).all()


def test_labels_of_no_known_kind_are_told():
    y = np.where(Y[TEST] == -1, 7, Y[TEST])
    with pytest.warns(RejectionWarning, match=r"holds 7 .*ood_label=-1.* as errors"):
        assert measure(MODEL, X[TEST], y)[0]["FPR"].n_samples == 0
    with pytest.warns(RejectionWarning, match="holds 7"):
        assert MODEL.score(X[TEST], y) < 0


def test_groups_of_any_names_are_told_apart():
    y, named = Y[TEST], GROUPS[TEST].astype(object)
    named[named == "third"] = 3
    report = MODEL.report(X[TEST], y, groups=named)
    assert [part.name for part in report.parts[2:4]] == ["OOD 3", "OOD fourth"]
    only = np.where(y == -1, named, None)  # what is said of others is not used
    assert MODEL.report(X[TEST], y, groups=only) == report
    names = np.array(["a", "b", "c", "ood"])[Y]
    inside = np.flatnonzero(Y[TRAIN] >= 0)
    frozen = FrozenEstimator(GaussianNB().fit(X[inside], names[inside]))
    model = DoubleScoreOODClassifier(frozen, novelty_score="msp", min_tpr=0.9)
    model.fit(X[TRAIN], names[TRAIN])
    _, parts = measure(model, X[TEST], names[TEST], groups=names[TEST])
    assert parts["OOD ood"] == parts["out of distribution"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [0, 1]}, "groups has 2 elements"),
        (
            {"groups": np.where(Y[TEST] == -1, None, "a")},
            r"groups has no label \(None\)",
        ),
        ({"groups": np.where(Y[TEST] == -1, np.nan, 1.0)}, "groups has no label"),
        ({"groups": np.zeros((400, 2))}, "1d array"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"y": Y[:3]}, "y has 3 elements"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        MODEL.report(**{"X": X[TEST], "y": Y[TEST]} | options)
