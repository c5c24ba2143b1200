"""Pictures of frontiers show what the metrics compute, and what was asked."""

from functools import partial

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from sklearn_reject import DoubleScoreOODClassifier, metrics
from sklearn_reject import _curves as curves
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import check_loss
from sklearn_reject.metrics import OODFrontierDisplay
from tests.metrics.plot.drawn import legend_of

SAMPLE = make_fpp23_mixture(300, return_X_y=False, random_state=0)
X, y = SAMPLE.data, SAMPLE.target
RISK, RATIO = SAMPLE.risk, SAMPLE.likelihood_ratio
PREDICTIONS = y, SAMPLE.prediction, RISK
WEIGHT = 1.0 + np.arange(300) % 3
BAYES = GaussianNB().fit(X[y != -1], y[y != -1])
KINDS = {
    "roc": {},
    "precision_recall": {"ood_prior": 0.1},
    "risk_coverage": {"max_fpr": 0.4, "loss": "squared"},
}
kinds = pytest.mark.parametrize("kind", KINDS)
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
from_predictions = OODFrontierDisplay.from_predictions


def double(**options):
    options |= {"min_tpr": 0.3, "novelty_score": "msp", "cv": 2}
    return DoubleScoreOODClassifier(GaussianNB(), **options)


@pytest.fixture(scope="module")
def fitted():
    return double().fit(X, y)


def curve(kind, uncertainty, y_pred=SAMPLE.prediction, **options):
    if kind == "roc":
        return curves.ood_roc_curve(uncertainty, y == -1, **options)[:2]
    if kind == "precision_recall":
        found = curves.ood_precision_recall_curve(uncertainty, y == -1, **options)
        return found[1::-1]
    options["ood_label"] = "auto"
    return metrics.risk_coverage_curve(y, y_pred, uncertainty, **options)[:2]


def frontier(kind, uncertainty, novelty, y_pred=SAMPLE.prediction, **options):
    scores, is_ood = np.column_stack([uncertainty, novelty]), y == -1
    if kind == "roc":
        return curves.roc_frontier(scores, is_ood, **options)
    if kind == "precision_recall":
        return curves.precision_recall_frontier(scores, is_ood, **options)[::-1]
    errors = check_loss(options.pop("loss", "zero_one"))(y, y_pred)
    return curves.risk_coverage_frontier(scores, errors, is_ood, **options)


def assert_steps(kind, line, points):
    """Check that a line has the value of a frontier between any two of its points."""
    x, y = line.get_data()
    assert (np.diff(x) >= 0).all()
    assert ((np.diff(x) == 0) | (np.diff(y) == 0)).all()
    assert set(zip(*points, strict=True)) <= set(zip(x, y, strict=True))
    middle = (points[0][1:] + points[0][:-1]) / 2
    held = points[1][:-1] if kind == "roc" else points[1][1:]
    np.testing.assert_array_equal(np.interp(middle, x, y), held)
    end = -1 if kind == "roc" else 0
    assert (x[end], y[end]) == (int(kind == "roc"), points[1][end])


@weights
@kinds
def test_a_curve_of_one_score_and_a_frontier_of_two(kind, weight):
    options = {"sample_weight": weight, **KINDS[kind]}
    display = from_predictions(*PREDICTIONS, kind=kind, name="risk", **options)
    expected = curve(kind, RISK, **options)
    np.testing.assert_array_equal(display.line_.get_data(), expected)
    assert legend_of(display) == ["risk"]
    display = from_predictions(*PREDICTIONS, novelty=RATIO, kind=kind, **options)
    assert_steps(kind, display.line_, frontier(kind, RISK, RATIO, **options))
    display = OODFrontierDisplay.from_estimator(BAYES, X, y, kind=kind, **options)
    uncertainty = np.sort(BAYES.predict_proba(X))[:, :2].sum(axis=1)
    expected = curve(kind, uncertainty, BAYES.predict(X), **options)
    np.testing.assert_allclose(display.line_.get_data(), expected)
    assert legend_of(display) == ["GaussianNB"]


@weights
@kinds
def test_frontier_rule_and_chance_of_a_double_score(kind, weight, fitted):
    options = {"sample_weight": weight, **KINDS[kind]}
    display = OODFrontierDisplay.from_estimator(fitted, X, y, kind=kind, **options)
    scores, labels = fitted.risk_and_novelty(X), fitted.predict_label(X)
    assert_steps(kind, display.line_, frontier(kind, *scores, labels, **options))
    weight = np.ones(len(y)) if weight is None else weight
    accepted = fitted.accept_proba(X)

    def mean(values, rows, extra=1.0):
        return np.average(values[rows], weights=(weight * extra)[rows])

    tpr, fpr = (mean(accepted, rows) for rows in (y != -1, y == -1))
    losses = (labels - y) ** 2.0
    loss = mean(losses, y != -1)
    precision = 0.9 * tpr / (0.9 * tpr + 0.1 * fpr)
    point, chance = {
        "roc": ((fpr, tpr), (0, 1)),
        "precision_recall": ((tpr, precision), (0.9, 0.9)),
        "risk_coverage": ((tpr, mean(losses, y != -1, accepted)), (loss, loss)),
    }[kind]
    np.testing.assert_allclose(display.point_.get_xydata(), [point])
    rule = "rule (FPR {:.3g}, TPR {:.3g})".format(*point)
    assert kind != "roc" or legend_of(display)[1:] == [rule, "target: TPR ≥ 0.3"]
    random = display.plot(plot_random=True).random_
    np.testing.assert_allclose(random.get_data(), ([0, 1], chance))


def test_no_rule_within_the_bound_draws_nothing():
    # The two most certain samples are OOD and always accepted.
    novelty = np.where(np.cumsum(y == -1) <= 2, -np.inf, RATIO)
    options = {"kind": "risk_coverage", "max_fpr": 0.0}
    display = from_predictions(*PREDICTIONS, novelty=novelty, **options)
    assert len(display.line_.get_xdata()) == 0


@kinds
def test_the_ood_label_is_that_of_the_estimator(kind):
    labels = np.where(y == -1, 99, y)
    model = make_pipeline(double(ood_label=99)).fit(X, labels)
    draw = partial(OODFrontierDisplay.from_estimator, model, X, kind=kind)
    display = draw(y=labels, **KINDS[kind])
    # One that is given wins, and a warning tells of what is no class either.
    given = draw(y=y, ood_label=-1, **KINDS[kind])
    np.testing.assert_array_equal(given.line_.get_data(), display.line_.get_data())
    some = np.where(np.arange(len(y)) % 2, y, labels)
    with pytest.warns(RejectionWarning, match=r"y holds -1 .* nor ood_label=99"):
        draw(y=some, **KINDS[kind])


@kinds
def test_the_classifier_inside_predicts_once(kind, fitted, monkeypatch):
    calls, predict = [], GaussianNB.predict_proba

    def count(self, X):
        calls.append(len(X))
        return predict(self, X)

    monkeypatch.setattr(GaussianNB, "predict_proba", count)
    OODFrontierDisplay.from_estimator(fitted, X, y, kind=kind)
    assert calls == [len(X)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pr"}, "kind must be one of"),
        ({"uncertainty": RISK[:3]}, "uncertainty has 3 elements, but there are 300"),
        ({"ood_label": 12}, "is_ood is False for all samples"),
        ({"kind": "precision_recall", "ood_prior": 2}, "ood_prior must be in"),
        ({"kind": "risk_coverage"}, "y_pred is None"),
    ],
)
def test_bad_input(options, message):
    arguments = {"uncertainty": RISK, **options}
    with pytest.raises(ValueError, match=message):  # only risks need predictions
        from_predictions(y, None, **arguments)
    with pytest.raises(ValueError, match=r"Mark OOD samples: .* with ood_label"):
        OODFrontierDisplay.from_estimator(BAYES, X[y != -1], y[y != -1])
